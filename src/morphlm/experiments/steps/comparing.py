"""What the steps share that compare the two models of the paper's analyses on groups of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from morphlm.analysis.bootstrap import Change
from morphlm.analysis.groups import Group, GroupComparison
from morphlm.costs import Cost
from morphlm.experiments.cell import Cell
from morphlm.experiments.steps.base import START, Measured, Step
from morphlm.experiments.steps.model import ModelStep
from morphlm.experiments.store import Store

BASELINE, OTHER = "clbl", "clbl++"  # what the analyses compare
NAMES = ("CLBL", "CLBL++")
BOOTSTRAP_SEED = 1
SECONDS = 6.0  # of two models on a text, with their bootstrap


@dataclass(frozen=True, eq=False)
class ComparisonOfGroups(Step[GroupComparison]):
    """Two models on groups of the tokens of a text."""

    baseline: ModelStep
    other: ModelStep

    is_evaluation = True

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"bootstrap_seed": BOOTSTRAP_SEED}

    @property
    def inputs(self) -> tuple[Step[Any], ...]:
        return (self.baseline, self.other)

    def estimate(self, store: Store, measured: Measured) -> Cost:
        return Cost(START + SECONDS)

    def read(self, content: dict[str, Any]) -> GroupComparison:
        return comparison_from_json(content)


def compared_models(cell: Cell) -> tuple[ModelStep, ModelStep] | None:
    """CLBL and CLBL++; None if the cell lacks one of them."""
    return (cell.models[BASELINE], cell.models[OTHER]) if {BASELINE, OTHER} <= cell.models.keys() else None


def comparison_from_json(content: Mapping[str, Any]) -> GroupComparison:
    """The inverse of `GroupComparison.to_json`."""
    signatures, models = content["signatures"], content["models"]
    bootstrap = content["bootstrap"]
    return GroupComparison(
        content["by"],
        content["text"],
        (models[0], models[1]),
        tuple(map(_group_from_json, content["groups"])),
        _group_from_json(content["whole"]),
        (signatures[0], signatures[1]),
        bootstrap["seed"],
        bootstrap["resamples"],
        tuple(content["notes"]),
    )


def _group_from_json(content: Mapping[str, Any]) -> Group:
    def real(value: float | None) -> float:
        return float("nan") if value is None else value

    change = Change(*(real(content["change"][name]) for name in ("value", "low", "high")))
    baseline, other = (real(content[name]) for name in ("baseline", "other"))
    return Group(content["name"], content["tokens"], content["share"], baseline, other, change)
