"""How the gains of CLBL and CLBL++ change with the amount of training text (paper, figure 5).

In one series the vocabulary stays the same for all amounts of text, in the other it grows with the text.
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
from morphlm.wording import option


@dataclass(frozen=True)
class ScalingPoint:
    """The three models trained on one amount of text."""

    tokens: int  # of the training text
    vocabulary: int  # words
    models: ModelTriple

    __repr__ = dataclass_repr

    def to_json(self) -> dict[str, Any]:
        return {"tokens": self.tokens, "vocabulary": self.vocabulary, **self.models.to_json()}


@dataclass(frozen=True)
class Scaling(Tabular):
    """Two series, each in order of the amounts of text; one may be empty."""

    fixed: tuple[ScalingPoint, ...]  # the vocabulary stays
    growing: tuple[ScalingPoint, ...]  # it grows with the text
    text: str = ""  # what was scored
    seed: int = 1
    resamples: int = RESAMPLES

    __repr__ = dataclass_repr

    @property
    def series(self) -> dict[str, tuple[ScalingPoint, ...]]:
        """The series that are not empty, by name."""
        by_name = {"fixed": self.fixed, "growing": self.growing}
        return {name: points for name, points in by_name.items() if points}

    def to_table(self) -> Table:
        rows = [
            [
                name,
                f"{point.tokens:,}",
                f"{point.vocabulary:,}",
                *point.models.cells(),
                point.models.both.format(),
            ]
            for name, points in self.series.items()
            for point in points
        ]
        return Table(["vocabulary", "training tokens", "words", *COLUMNS, "both"], rows, self._notes())

    def _notes(self) -> list[str]:
        points = [point for points in self.series.values() for point in points]
        notes = ["Rel.1: CLBL against MKN; Rel.2: CLBL++ against CLBL; both: CLBL++ against MKN"]
        if any(point.models.has_intervals for point in points):
            notes.append(bootstrap_note(self.seed, self.resamples))
        signatures = [signature for point in points for signature in point.models.signatures]
        notes += [f"signatures: {shared_signature(signatures)}"] if signatures else []
        return notes

    def frame_rows(self) -> list[Row]:
        return [
            {"series": name, **flattened(point.to_json())} for name, points in self.series.items() for point in points
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "fixed": [point.to_json() for point in self.fixed],
            "growing": [point.to_json() for point in self.growing],
            "bootstrap": bootstrap_record(self.seed, self.resamples),
        }


def compare_scaling(
    fixed: Iterable[ScalingPoint],
    growing: Iterable[ScalingPoint],
    *,
    text: str = "",
    seed: int = 1,
    resamples: int = RESAMPLES,
) -> Scaling:
    """Sort points of `scaling_point` by the amount of text; each amount occurs once in a series.

    Those of `fixed` have one vocabulary; in `growing` it grows with the text. `text` is what was scored.
    """
    series = [tuple(sorted(points, key=lambda point: point.tokens)) for points in (fixed, growing)]
    if not any(series):
        raise ConfigError("there is no amount of training text; give models of at least one")
    for points in series:
        amounts = [point.tokens for point in points]
        if len(set(amounts)) < len(amounts):
            twice = next(amount for amount in amounts if amounts.count(amount) > 1)
            raise ConfigError(f"{twice:,} training tokens are in a series twice; give each amount once")
    _check_vocabulary_stays(series[0])
    return Scaling(series[0], series[1], text, seed, resamples)


def _check_vocabulary_stays(points: tuple[ScalingPoint, ...]) -> None:
    sizes = {point.vocabulary for point in points}
    if len(sizes) > 1:
        listed = ", ".join(f"{size:,}" for size in sorted(sizes))
        raise ConfigError(
            f"models with a fixed vocabulary have {listed} words; train them with one {option('--vocab')}"
        )


def scaling_point(scores: Mapping[str, SentenceScores], *, seed: int = 1, resamples: int = RESAMPLES) -> ScalingPoint:
    """From the sentence scores of the models trained on one amount of text; the amount is in their records."""
    amounts = {score.training_tokens for score in scores.values()}
    sizes = {score.vocabulary for score in scores.values()}
    if len(amounts) > 1 or len(sizes) > 1 or None in amounts:
        raise ConfigError("models of one folder were not trained on the same text and words; train them together")
    tokens = amounts.pop()
    assert tokens is not None
    return ScalingPoint(tokens, sizes.pop(), triple_from_scores(scores, seed=seed, resamples=resamples))
