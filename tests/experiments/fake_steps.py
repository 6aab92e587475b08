"""Steps that do nothing but what a test gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from morphlm.artefacts import Producer
from morphlm.costs import Cost
from morphlm.experiments.steps.base import Description, Measured, RunContext, Step, StepResult
from morphlm.experiments.store import Store


@dataclass(frozen=True, eq=False)
class FakeStep(Step[dict[str, Any]]):
    """Takes `n` seconds, it says."""

    title: str
    numbers: Mapping[str, Any] = field(default_factory=lambda: {"n": 1})
    needed: tuple[Step[Any], ...] = ()
    helpers: tuple[Step[Any], ...] = ()
    paths: Mapping[str, Path] = field(default_factory=dict)
    work: Callable[[FakeStep], StepResult] | None = None

    producer = Producer("fake", 1)
    is_evaluation = True

    def describe(self) -> Description:
        return Description(self.title, self.numbers, self.needed, self.paths, self.helpers)

    def estimate(self, store: Store, measured: Measured) -> Cost:
        return Cost(float(self.numbers["n"]), 100.0, 1000.0 * self.numbers["n"])

    def run(self, context: RunContext) -> StepResult:
        return StepResult({"value": self.title}) if self.work is None else self.work(self)


@dataclass(frozen=True, eq=False)
class FakeTraining(FakeStep):
    """No evaluation: it is not run after the time is up, however quick it is."""

    producer = Producer("training", 1)
    is_evaluation = False
