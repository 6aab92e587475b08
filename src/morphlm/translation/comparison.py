"""Several translation systems on one text: mean BLEU and chrF over tuning runs, and p-values against a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.errors import ConfigError, InputError
from morphlm.files import source_name
from morphlm.tables import Table
from morphlm.text.reading import read_blocks
from morphlm.translation.evaluation import Evaluation, evaluate
from morphlm.translation.tuning.significance import SHUFFLES, RunScores, randomisation_p

BASELINE = "baseline"


@dataclass(frozen=True)
class SystemScores:
    """A system with one or several runs."""

    name: str
    bleu: RunScores
    chrf: RunScores
    length_ratio: float  # the mean over the runs
    p: float | None  # that it differs from the baseline by chance; None for the baseline

    def to_json(self) -> dict[str, Any]:
        """All figures."""
        figures = {"bleu": self.bleu.to_json(), "chrf": self.chrf.to_json()}
        plain = {name: {key: value for key, value in part.items() if key != "name"} for name, part in figures.items()}
        return {"name": self.name, **plain, "length_ratio": self.length_ratio, "p": self.p}


@dataclass(frozen=True)
class Comparison:
    """All systems, the baseline first."""

    systems: tuple[SystemScores, ...]
    sentences: int
    bleu_signature: str
    chrf_signature: str
    shuffles: int

    def to_table(self) -> Table:
        """A row for each system."""
        header = [f"{self.sentences:,} sentences", "runs", "BLEU", "± runs", "change", "p", "chrF", "length ratio"]
        first = self.systems[0].bleu.mean
        rows = [
            [
                system.name,
                str(len(system.bleu.scores)),
                f"{system.bleu.mean:.2f}",
                f"{system.bleu.deviation:.2f}",
                "" if system.p is None else f"{system.bleu.mean - first:+.2f}",
                "" if system.p is None else f"{system.p:.4f}",
                f"{system.chrf.mean:.2f}",
                f"{system.length_ratio:.3f}",
            ]
            for system in self.systems
        ]
        notes = (
            f"BLEU|{self.bleu_signature}",
            f"chrF|{self.chrf_signature}",
            f"p: approximate randomisation of BLEU, {self.shuffles:,} shuffles",
        )
        return Table(header, rows, notes)

    def to_json(self) -> dict[str, Any]:
        """All figures."""
        return {
            "systems": [system.to_json() for system in self.systems],
            "sentences": self.sentences,
            "bleu_signature": self.bleu_signature,
            "chrf_signature": self.chrf_signature,
            "shuffles": self.shuffles,
        }


def compare_systems(
    systems: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[str],
    *,
    lowercase: bool = True,
    seed: int = 1,
    shuffles: int = SHUFFLES,
) -> Comparison:
    """Compare systems, each with the translations of one or several runs, with the first of them."""
    counts = {len(runs) for runs in systems.values()}
    if len(counts) != 1 or 0 in counts:
        listed = ", ".join(f"{name} {len(runs)}" for name, runs in systems.items())
        raise ConfigError(f"systems are compared by equally many runs, and these have {listed}; give the same number")
    scores = {name: [evaluate(run, references, lowercase=lowercase) for run in runs] for name, runs in systems.items()}
    baseline = _statistics(next(iter(scores.values())))

    def of(number: int, name: str, runs: list[Evaluation]) -> SystemScores:
        p = randomisation_p(baseline, _statistics(runs), seed=seed, shuffles=shuffles) if number else None
        return SystemScores(
            name,
            RunScores(name, tuple(run.bleu for run in runs)),
            RunScores(name, tuple(run.chrf for run in runs)),
            float(np.mean([run.brevity for run in runs])),
            p,
        )

    one = next(iter(scores.values()))[0]
    found = tuple(of(number, name, runs) for number, (name, runs) in enumerate(scores.items()))
    return Comparison(found, one.sentences, one.bleu_signature, one.chrf_signature, shuffles)


def _statistics(runs: list[Evaluation]) -> Any:
    return np.stack([run.statistics for run in runs])


def read_translations(path: str | Path, expected: int | None = None) -> list[str]:
    """The lines of a file; there must be as many as expected."""
    lines = [line for block in read_blocks(path, marks="any") for line in block.lines()]
    if expected is not None and len(lines) != expected:
        what = f"{len(lines):,} lines where there are {expected:,} references; give one translation for each"
        raise InputError(what, source=source_name(path))
    return lines
