"""How the development perplexity falls while models learn: the logs of trainings, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.analysis.scores import format_perplexity
from morphlm.display import Row, Tabular, dataclass_repr
from morphlm.errors import ConfigError, InputError
from morphlm.tables import Table, finite_or_none
from morphlm.training.log import LOG_FILE, Log, read_edited_log
from morphlm.wording import either

Point = tuple[float, float]  # epoch, perplexity
Curve = tuple[Point, ...]


@dataclass(frozen=True)
class LearningCurves(Tabular):
    """The development perplexity of each model by epoch."""

    curves: Mapping[str, Curve]  # by name

    __repr__ = dataclass_repr

    def best(self, name: str) -> Point:
        """The epoch with the lowest perplexity of a model, and the perplexity."""
        return min(self.curves[name], key=lambda point: point[1])

    def to_table(self) -> Table:
        """A row for each epoch, a column for each model."""
        epochs = sorted({epoch for curve in self.curves.values() for epoch, _ in curve})
        at = {name: dict(curve) for name, curve in self.curves.items()}
        rows = [
            [f"{epoch:g}", *(format_perplexity(at[name].get(epoch, math.nan)) for name in self.curves)]
            for epoch in epochs
        ]
        return Table(["epoch", *self.curves], rows)

    def frame_rows(self) -> list[Row]:
        return [
            {"model": name, "epoch": epoch, "development_perplexity": perplexity}
            for name, curve in self.curves.items()
            for epoch, perplexity in curve
        ]

    def to_json(self) -> dict[str, Any]:
        return {name: [[epoch, finite_or_none(value)] for epoch, value in curve] for name, curve in self.curves.items()}


def learning_curves(logs: Mapping[str, Log]) -> LearningCurves:
    """From the logs of trainings; those without an evaluation are left out."""
    return _with_points({name: curve_of(log) for name, log in logs.items()})


def read_learning_curves(models: Mapping[str, str | Path]) -> LearningCurves:
    """From the directories of models by their names; n-gram models and mixtures have no log."""
    return _with_points(
        {
            name: curve_of(read_edited_log(Path(path)), source=str(Path(path) / LOG_FILE))
            for name, path in models.items()
        }
    )


def _with_points(curves: Mapping[str, Curve]) -> LearningCurves:
    with_points = {name: curve for name, curve in curves.items() if curve}
    if not with_points:
        raise ConfigError(
            "no model has a log of its training; name log-bilinear models that "
            f"{either('`morphlm train`', '`train`')} has made"
        )
    return LearningCurves(with_points)


# ---------------------------------------------------------------- one log


@dataclass(frozen=True)
class _LogEntry:
    """An evaluation in the log of a training."""

    epoch: float  # complete ones
    minibatch: float  # of the next
    tokens: float  # seen
    perplexity: float  # of the development text; nan if there is none

    def point(self, epoch_tokens: float | None) -> Point:
        """Within an epoch, the number of tokens seen gives the fraction."""
        if not self.minibatch or not epoch_tokens:
            return self.epoch, self.perplexity
        return round(self.tokens / epoch_tokens, 4), self.perplexity


def curve_of(log: Sequence[Any], *, tokens: float | None = None, source: str | None = None) -> Curve:
    """(epochs, development perplexity) of each evaluation that came out finite.

    `tokens` are those of the training text, for a log without a complete epoch. A log may have been edited by
    hand: lines that are no evaluations are skipped or, if `source` names the file, refused.
    """
    lines = (_evaluation(entry, number, source) for number, entry in enumerate(log, 1))
    evaluations = [evaluation for evaluation in lines if evaluation is not None]
    tokens_per_epoch = (
        evaluation.tokens / evaluation.epoch
        for evaluation in evaluations
        if evaluation.epoch and evaluation.tokens and not evaluation.minibatch
    )
    epoch_tokens = next(tokens_per_epoch, tokens)
    points = (evaluation.point(epoch_tokens) for evaluation in evaluations)
    return tuple(point for point in points if all(map(math.isfinite, point)))


def _evaluation(entry: Any, line: int, source: str | None) -> _LogEntry | None:
    try:
        perplexity = entry["development_perplexity"]
        figures = (entry["epoch"], entry.get("minibatch", 0), entry["tokens"], perplexity)
        return _LogEntry(*(float("nan") if figure is None else float(figure) for figure in figures))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        if source is None:
            return None
        message = "this line is no evaluation of a training; put it back as `morphlm train` wrote it, or remove it"
        raise InputError(message, source=source, line=line) from error
