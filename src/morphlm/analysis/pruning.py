"""MKN, CLBL and CLBL++ with few and with all words that occur once pruned (paper, Table 2).

If CLBL++ gains by its rare words, it gains less over CLBL where the vocabulary has none (kappa = 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from morphlm.analysis.bootstrap import RESAMPLES, bootstrap_note, bootstrap_record
from morphlm.analysis.model_triple import COLUMNS, ModelTriple, triple_from_scores
from morphlm.analysis.scores import SentenceScores, shared_signature
from morphlm.display import Row, Tabular, dataclass_repr, flattened
from morphlm.errors import ConfigError
from morphlm.tables import Table


@dataclass(frozen=True)
class PruningRow:
    """The three models of a language at one rate kappa."""

    language: str
    kappa: float
    models: ModelTriple

    __repr__ = dataclass_repr

    def to_json(self) -> dict[str, Any]:
        return {"language": self.language, "kappa": self.kappa, **self.models.to_json()}


@dataclass(frozen=True)
class Pruning(Tabular):
    """The three models in all languages at all pruning rates."""

    rows: tuple[PruningRow, ...]
    seed: int = 1
    resamples: int = RESAMPLES

    __repr__ = dataclass_repr

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages, in the order of the rows."""
        return tuple(dict.fromkeys(row.language for row in self.rows))

    @property
    def kappas(self) -> tuple[float, ...]:
        """In ascending order."""
        return tuple(sorted({row.kappa for row in self.rows}))

    def row(self, language: str, kappa: float) -> PruningRow | None:
        """The figures of a language at a rate, if they are there."""
        return next((row for row in self.rows if (row.language, row.kappa) == (language, kappa)), None)

    @property
    def gains_less(self) -> dict[str, bool]:
        """For each language with several rates: whether CLBL++ gains less over CLBL at the highest than at the lowest.

        So it does in the paper, whose highest rate is 1.
        """
        result = {}
        for language in self.languages:
            rows = sorted((row for row in self.rows if row.language == language), key=lambda row: row.kappa)
            if len(rows) > 1:
                result[language] = bool(rows[-1].models.second.value > rows[0].models.second.value)
        return result

    def to_table(self) -> Table:
        """As the paper lays it out: a block of languages for each rate."""
        rows = [
            [f"{row.kappa:g}", row.language, *row.models.cells()]
            for row in sorted(self.rows, key=lambda row: (row.kappa, self.languages.index(row.language)))
        ]
        return Table(["kappa", "language", *COLUMNS], rows, self._notes())

    def _notes(self) -> list[str]:
        notes = ["Rel.1: CLBL against MKN; Rel.2: CLBL++ against CLBL"]
        less = self.gains_less
        if less:
            languages = "language" if len(less) == 1 else "languages"
            exceptions = [language for language, does in less.items() if not does]
            notes.append(
                f"CLBL++ gains less over CLBL at kappa = {self.kappas[-1]:g} in {sum(less.values())} of {len(less)} "
                f"{languages}" + (f"; not in {', '.join(exceptions)}" if exceptions else "")
            )
        if any(row.models.has_intervals for row in self.rows):
            notes.append(bootstrap_note(self.seed, self.resamples))
        signatures = [signature for row in self.rows for signature in row.models.signatures]
        notes += [f"signatures: {shared_signature(signatures)}"] if signatures else []
        return notes

    def frame_rows(self) -> list[Row]:
        return [flattened(row.to_json()) for row in self.rows]

    def to_json(self) -> dict[str, Any]:
        return {
            "rows": [row.to_json() for row in self.rows],
            "gains_less_at_highest_kappa": self.gains_less,
            "bootstrap": bootstrap_record(self.seed, self.resamples),
        }


def compare_pruning(rows: Iterable[PruningRow], *, seed: int = 1, resamples: int = RESAMPLES) -> Pruning:
    """Collect the rows; each language has one row for each rate."""
    all_rows = tuple(rows)
    if not all_rows:
        raise ConfigError("there is no language; name at least one")
    keys = [(row.language, row.kappa) for row in all_rows]
    for language, kappa in keys:
        if keys.count((language, kappa)) > 1:
            raise ConfigError(f"{language} is there twice with kappa = {kappa:g}; name each rate once")
    return Pruning(all_rows, seed, resamples)


def pruning_row(
    language: str, scores: Mapping[str, SentenceScores], *, seed: int = 1, resamples: int = RESAMPLES
) -> PruningRow:
    """From the sentence scores of the models trained at one rate; the rate is in their records."""
    kappas = {score.kappa for score in scores.values()}
    if len(kappas) > 1 or None in kappas:
        listed = ", ".join("none" if kappa is None else f"{kappa:g}" for kappa in sorted(kappas, key=str))
        raise ConfigError(f"{language}: the models were not trained at one kappa ({listed}); train all with the same")
    kappa = kappas.pop()
    assert kappa is not None
    return PruningRow(language, kappa, triple_from_scores(scores, seed=seed, resamples=resamples))
