"""CLBL++ against CLBL on groups of tokens, here by the frequency of words (figure 3); tags.py has parts of speech."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.analysis.bootstrap import PerplexityChange
from morphlm.analysis.frequency import frequency_comparison
from morphlm.analysis.groups import Group, GroupComparison
from morphlm.artefacts import Producer
from morphlm.costs import Cost
from morphlm.experiments.cell import Cell
from morphlm.experiments.steps.base import START, Description, Measured, RunContext, Step, StepResult
from morphlm.experiments.steps.model import ModelStep
from morphlm.experiments.store import Store

BASELINE, OTHER = "clbl", "clbl++"  # what the analyses compare
NAMES = ("CLBL", "CLBL++")
BOOTSTRAP_SEED = 1
SECONDS = 6.0  # of two models on a text, with their bootstrap


@dataclass(frozen=True, eq=False)
class GroupsStep(Step[GroupComparison]):
    """Two models on groups of the tokens of a text."""

    baseline: ModelStep
    other: ModelStep

    is_evaluation = True

    def manifests(self, store: Store) -> list[Path]:
        return [self.baseline.manifest(store), self.other.manifest(store)]

    def estimate(self, store: Store, measured: Measured) -> Cost:
        return Cost(START + SECONDS)

    def read(self, content: dict[str, Any]) -> GroupComparison:
        return comparison_from_json(content)


@dataclass(frozen=True, eq=False)
class FrequencyStep(GroupsStep):
    """Two models on the test text, by the frequency of words."""

    producer = Producer("frequency", 2, ("morphlm.analysis.frequency", "morphlm.analysis.groups"))

    def describe(self) -> Description:
        settings, inputs = {"bootstrap_seed": BOOTSTRAP_SEED}, (self.baseline, self.other)
        return Description(f"{self.other.data.name}: by frequency", settings, inputs)

    @classmethod
    def for_cell(cls, cell: Cell) -> dict[str, FrequencyStep]:
        models = compared_models(cell)
        return {} if models is None else {"frequency": cls(*models)}

    def run(self, context: RunContext) -> StepResult:
        store = context.store
        test = self.other.data.texts.path(store, "test")
        baseline, other = self.baseline.load(store), self.other.load(store)
        compared = frequency_comparison(baseline, other, test, names=NAMES, seed=BOOTSTRAP_SEED)
        return StepResult(compared.to_json() | {"text": test.name}, [*self.manifests(store), test])


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

    change = PerplexityChange(*(real(content["change"][name]) for name in ("value", "low", "high")))
    baseline, other = (real(content[name]) for name in ("baseline", "other"))
    return Group(content["name"], content["tokens"], content["share"], baseline, other, change)
