"""Steps that do nothing but what a test gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from morphlm.artefacts import Producer
from morphlm.costs import Cost
from morphlm.experiments.steps.base import Measured, RunContext, Step, StepResult
from morphlm.experiments.store import Store


@dataclass(frozen=True, eq=False)
class FakeStep(Step[dict[str, Any]]):
    """Takes `n` seconds, it says."""

    title: str
    numbers: Mapping[str, Any] = field(default_factory=lambda: {"n": 1})
    needs: tuple[Step[Any], ...] = ()
    helpers: tuple[Step[Any], ...] = ()
    paths: Mapping[str, Path] = field(default_factory=dict)
    work: Callable[[FakeStep], StepResult] | None = None

    producer = Producer("fake", 1)
    is_evaluation = True

    @property
    def name(self) -> str:
        return self.title

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.numbers

    @property
    def inputs(self) -> tuple[Step[Any], ...]:
        return self.needs

    @property
    def run_after(self) -> tuple[Step[Any], ...]:
        return self.helpers

    @property
    def files(self) -> Mapping[str, Path]:
        return self.paths

    def estimate(self, store: Store, measured: Measured) -> Cost:
        return Cost(float(self.numbers["n"]), 100.0, 1000.0 * self.numbers["n"])

    def run(self, context: RunContext) -> StepResult:
        return StepResult({"value": self.title}) if self.work is None else self.work(self)


@dataclass(frozen=True, eq=False)
class FakeTraining(FakeStep):
    """No evaluation: it is not run after the time is up, however quick it is."""

    producer = Producer("training", 1)
    is_evaluation = False
