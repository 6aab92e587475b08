"""How the development perplexity falls while models learn: the logs of trainings, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.errors import ConfigError
from morphlm.tables import Table, finite_or_none
from morphlm.training.log import Log, read_log


@dataclass(frozen=True)
class LearningCurves:
    """The development perplexity after so many epochs, for each model."""

    curves: Mapping[str, tuple[tuple[float, float], ...]]  # name -> (epoch, perplexity)

    def best(self, name: str) -> tuple[float, float]:
        """The epoch with the lowest perplexity of a model, and the perplexity."""
        return min(self.curves[name], key=lambda point: point[1])

    def to_table(self) -> Table:
        """A row an epoch, a column a model."""
        epochs = sorted({epoch for curve in self.curves.values() for epoch, _ in curve})
        at = {name: dict(curve) for name, curve in self.curves.items()}
        rows = [[f"{epoch:g}", *(_cell(at[name].get(epoch)) for name in self.curves)] for epoch in epochs]
        return Table(["epoch", *self.curves], rows)

    def to_json(self) -> dict[str, Any]:
        """All points."""
        return {name: [[epoch, finite_or_none(value)] for epoch, value in curve] for name, curve in self.curves.items()}


def _cell(perplexity: float | None) -> str:
    return "-" if perplexity is None else f"{perplexity:.2f}"


def learning_curves(logs: Mapping[str, Log]) -> LearningCurves:
    """From the logs of trainings; those without an evaluation are left out."""
    curves = {name: _curve(log) for name, log in logs.items()}
    found = {name: curve for name, curve in curves.items() if curve}
    if not found:
        raise ConfigError("no model has a log of its training; name log-bilinear models that `morphlm train` has made")
    return LearningCurves(found)


def read_learning_curves(models: Mapping[str, str | Path]) -> LearningCurves:
    """From the directories of models by their names; n-gram models and mixtures have no log."""
    return learning_curves({name: read_log(Path(path)) for name, path in models.items()})


def _curve(log: Sequence[Mapping[str, Any]]) -> tuple[tuple[float, float], ...]:
    """Evaluations inside an epoch lie between epochs by the tokens seen."""
    whole = [entry["tokens"] / entry["epoch"] for entry in log if entry["epoch"] and not entry["minibatch"]]
    points = [(_epoch(entry, whole), entry["development_perplexity"]) for entry in log]
    return tuple(point for point in points if point[1] is not None and np.isfinite(point[1]))


def _epoch(entry: Mapping[str, Any], whole: Sequence[float]) -> float:
    return float(entry["epoch"]) if not entry["minibatch"] or not whole else round(entry["tokens"] / whole[0], 3)
