"""The weights of a translation system: to begin with, tuned, and given by hand.

`weights.json` holds those of every tuning run and says which system they belong to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, FormatError
from morphlm.scoring.kbest import read_weights
from morphlm.tables import Table, counted
from morphlm.translation.decoder.config import GLUE, OOV, PASS_THROUGH, WORD_PENALTY
from morphlm.translation.evaluation.significance import RunScores
from morphlm.translation.system.directory import WEIGHTS, read_signed, write_signed
from morphlm.translation.system.schema import FORMAT, WEIGHTS_FILE
from morphlm.translation.tuning.loop import TuningRun
from morphlm.version import __version__
from morphlm.wording import either

# Of natural logarithms; from these, tuning begins. They are near what it found on English-German news.
START = {
    "EgivenF": 0.6,
    "FgivenE": 0.25,
    "LexEgivenF": 0.5,
    "LexFgivenE": 0.4,
    "IsSingletonF": -1.0,
    "IsSingletonFE": -0.5,
    WORD_PENALTY: 2.5,  # without it, language models would leave words out
    GLUE: -0.1,
    PASS_THROUGH: -3.0,
}
START_MODELS, START_UNKNOWN = 0.5, -4.0  # of all language models together, and of words they do not know


def start_weights(models: Sequence[str]) -> dict[str, float]:
    """Weights that give readable translations before any tuning."""
    share = START_MODELS / max(len(models), 1)
    unknown = START_UNKNOWN / max(len(models), 1)
    return START | dict.fromkeys(models, share) | {name + OOV: unknown for name in models}


@dataclass(frozen=True)
class TunedWeights:
    """What tuning has found."""

    key: str  # a hash of all that the tuning depends on
    system: str  # a hash of what the weights are for
    runs: tuple[TuningRun, ...]

    __repr__ = dataclass_repr

    @property
    def best(self) -> TuningRun:
        """The run with the highest BLEU on the tuning set; of equal ones the first."""
        return max(self.runs, key=lambda run: run.bleu)

    def run(self, seed: int | None = None) -> TuningRun:
        """That of a seed, or the best."""
        if seed is None:
            return self.best
        seeds = [run.seed for run in self.runs]
        if seed not in seeds:
            raise ConfigError(f"there is no tuning run with the seed {seed}; there are {', '.join(map(str, seeds))}")
        return self.runs[seeds.index(seed)]

    def write(self, directory: Path) -> None:
        runs = [run.to_json() for run in self.runs]
        content = {"format": FORMAT, "version": __version__, "key": self.key, "system": self.system, "runs": runs}
        write_signed(directory / WEIGHTS, content)

    def to_table(self) -> Table:
        """BLEU of each run, and the weights of the best."""
        rows = [[f"run {run.seed}", str(len(run.iterations)), f"{run.bleu:.2f}"] for run in self.runs]
        scores = RunScores(tuple(run.bleu for run in self.runs))
        mean = [["mean", "", f"{scores.mean:.2f} ± {scores.deviation:.2f}"]] if len(self.runs) > 1 else []
        weights = " ".join(f"{name}={value:.4g}" for name, value in self.best.weights.items())
        notes = (f"the weights of run {self.best.seed} are used: {weights}",)
        return Table(["", "iterations", "BLEU of the tuning set"], rows + mean, notes)

    def to_json(self) -> dict[str, Any]:
        return {"best": self.best.seed, "runs": [run.to_json() for run in self.runs]}


def read_tuned(directory: Path, system: str) -> TunedWeights | None:
    """The weights in a directory, None if it has none; those of another system are refused."""
    path = directory / WEIGHTS
    if not path.exists():
        return None
    content = read_signed(path, WEIGHTS_FILE)
    runs = tuple(map(TuningRun.from_json, content["runs"]))
    tuned = TunedWeights(content["key"], content["system"], runs)
    if tuned.system != system or not runs:
        raise FormatError(f"{path}: these weights belong to another system; remove the file and tune again")
    return tuned


def given_weights(argument: str) -> dict[str, float]:
    """Weights from a file or as they stand, `Name=1 Other=0.5`."""
    values: Mapping[str, tuple[float, ...]] = read_weights(argument)
    for name, numbers in values.items():
        if len(numbers) != 1:
            raise ConfigError(
                f"{either('--weights', 'weights')}: {name} has {counted(len(numbers), 'weight')}; give one"
            )
    return {name: numbers[0] for name, numbers in values.items()}
