"""Several translation systems on one text: mean BLEU and chrF over tuning runs, and p-values against a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.display import Row, Tabular, dataclass_repr, flattened
from morphlm.errors import ConfigError, InputError
from morphlm.files import source_name
from morphlm.tables import Table, counted
from morphlm.text.reading import read_blocks
from morphlm.translation.evaluation.metrics import Evaluation, evaluate
from morphlm.translation.evaluation.significance import SHUFFLES, RunScores, randomisation_p

BASELINE = "baseline"


@dataclass(frozen=True)
class SystemScores:
    """A system with one or several runs."""

    name: str
    bleu: RunScores
    chrf: RunScores
    length_ratio: float  # the mean over the runs
    p: float | None  # that it differs from the baseline by chance; None for the baseline
    p_before: float | None  # that it differs from the system before it by chance; None for the baseline

    __repr__ = dataclass_repr

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"bleu": self.bleu.to_json(), "chrf": self.chrf.to_json()}


@dataclass(frozen=True)
class SystemComparison(Tabular):
    """All systems, the baseline first."""

    systems: tuple[SystemScores, ...]
    sentences: int
    bleu_signature: str
    chrf_signature: str
    shuffles: int

    __repr__ = dataclass_repr

    def to_table(self) -> Table:
        both = len(self.systems) > 2  # else the system before is the baseline
        before = ["from the one before", "p"] if both else []
        header = [f"{counted(self.sentences, 'sentence')}", "runs", "BLEU", "± runs", "change", "p", *before]
        rows = [self._row(number, both=both) for number in range(len(self.systems))]
        notes = (
            f"BLEU|{self.bleu_signature}",
            f"chrF|{self.chrf_signature}",
            f"p: approximate randomisation of BLEU, {self.shuffles:,} shuffles",
        )
        return Table([*header, "chrF", "length ratio"], rows, notes)

    def _row(self, number: int, *, both: bool) -> list[str]:
        system = self.systems[number]
        others = [(0, system.p), *([(number - 1, system.p_before)] if both else [])]
        changes = [cell for other, p in others for cell in change_cells(self._change(number, other), p)]
        bleu = [f"{system.bleu.mean:.2f}", f"{system.bleu.deviation:.2f}"]
        last = [f"{system.chrf.mean:.2f}", f"{system.length_ratio:.3f}"]
        return [system.name, str(len(system.bleu.scores)), *bleu, *changes, *last]

    def _change(self, number: int, other: int) -> float:
        return self.systems[number].bleu.mean - self.systems[other].bleu.mean

    def frame_rows(self) -> list[Row]:
        return [flattened(system.to_json()) for system in self.systems]

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"systems": [system.to_json() for system in self.systems]}


def change_cells(change: float, p: float | None) -> list[str]:
    """A difference of BLEU and its p-value; empty for a system that is compared with none."""
    return ["", ""] if p is None else [f"{change:+.2f}", f"{p:.4f}"]


def compare_systems(
    systems: Mapping[str, Sequence[Sequence[str]]],
    references: Sequence[str],
    *,
    lowercase: bool = True,
    seed: int = 1,
    shuffles: int = SHUFFLES,
) -> SystemComparison:
    """Compare `systems`, each with the translations of one or several runs, with the first and the one before.

    `references` are lines as people write them; `shuffles` is how often p-values shuffle the translations.
    """
    counts = {len(runs) for runs in systems.values()}
    if len(counts) != 1 or 0 in counts:
        listed = ", ".join(f"{name} {len(runs)}" for name, runs in systems.items())
        raise ConfigError(f"systems are compared by equally many runs, and these have {listed}; give the same number")
    scores = {name: [evaluate(run, references, lowercase=lowercase) for run in runs] for name, runs in systems.items()}
    statistics = [np.stack([run.statistics for run in runs]) for runs in scores.values()]

    def p_of(number: int, other: int) -> float:
        return randomisation_p(statistics[other], statistics[number], seed=seed, shuffles=shuffles)

    def of(number: int, name: str, runs: list[Evaluation]) -> SystemScores:
        p = p_of(number, 0) if number else None
        return SystemScores(
            name,
            RunScores(tuple(run.bleu for run in runs)),
            RunScores(tuple(run.chrf for run in runs)),
            float(np.mean([run.brevity for run in runs])),
            p,
            p_of(number, number - 1) if number > 1 else p,
        )

    any_run = next(iter(scores.values()))[0]
    scored = tuple(of(number, name, runs) for number, (name, runs) in enumerate(scores.items()))
    return SystemComparison(scored, any_run.sentences, any_run.bleu_signature, any_run.chrf_signature, shuffles)


def read_translations(path: str | Path, expected: int | None = None) -> list[str]:
    """The lines of a file; there must be as many as expected."""
    lines = [line for block in read_blocks(path, marks="any") for line in block.lines()]
    if expected is not None and len(lines) != expected:
        problem = f"{counted(len(lines), 'line')} for {counted(expected, 'reference')}; give one translation for each"
        raise InputError(problem, source=source_name(path))
    return lines
