"""How long steps take and how much they write: the estimate of each step, corrected by what was measured here.

Each step that is done keeps its time in the store; the next estimate takes the ratio of the real times to the expected
ones into account.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from morphlm.costs import Cost, format_duration, format_size
from morphlm.experiments.steps.base import Step
from morphlm.experiments.steps.inputs import InputsStep
from morphlm.experiments.steps.texts import TextsStep
from morphlm.experiments.store import Record, Store
from morphlm.tables import counted

PRIOR = 60.0  # expected seconds after which what was measured counts as much as what was assumed
TELL_SIZES = (TextsStep.producer.name, InputsStep.producer.name)  # kinds of steps whose results other estimates need
ALL_STEPS = ""  # the group of all steps


@dataclass
class _Times:
    real: float = 0.0
    expected: float = 0.0


@dataclass
class Estimator:
    """Estimates for one store; it learns from each record."""

    store: Store
    _times: dict[str, _Times] = field(default_factory=lambda: defaultdict(_Times))  # by group
    _measured: dict[str, dict[str, Any]] = field(default_factory=dict)  # results of TELL_SIZES, by key

    def learn(self, records: Iterable[Record]) -> None:
        """Take real times and sizes into account."""
        for record in records:
            if record.kind in TELL_SIZES:
                self._measured[record.key] = record.result
            if record.fresh:
                for group in (record.group or record.kind, ALL_STEPS):
                    self._times[group].real += record.seconds
                    self._times[group].expected += record.expected

    def expected(self, step: Step[Any]) -> Cost:
        """Before the correction."""
        return step.estimate(self.store, self._measured)

    def seconds(self, step: Step[Any]) -> float:
        """After the correction."""
        return self.expected(step).seconds * self._ratio(step.group)

    def _ratio(self, group: str) -> float:
        """Real to expected time of a group; while little is known, nearer to that of all steps, and that to 1."""
        ratio = 1.0
        for name in (ALL_STEPS, group):
            times = self._times[name]
            ratio = (times.real + PRIOR * ratio) / (times.expected + PRIOR)
        return ratio


@dataclass(frozen=True)
class Forecast:
    """What is still to be done."""

    steps: int
    done: int
    seconds: float
    bytes: float

    def format(self, name: str, store: Store) -> str:
        """`data-1m: 40 steps, 12 done; about 2 h and 300 MB in morphlm-store`."""
        left = "nothing is left"
        if self.done < self.steps:
            left = f"about {format_duration(self.seconds)} and {format_size(self.bytes)}"
        return f"{name}: {counted(self.steps, 'step')}, {self.done} done; {left} in {store.folder}"


def forecast(steps: Sequence[Step[Any]], done: set[str], estimator: Estimator) -> Forecast:
    """Sum up the steps whose keys are not among those that are done."""
    left = [step for step in steps if step.key not in done]
    costs = [estimator.expected(step) for step in left]
    seconds = sum(estimator.seconds(step) for step in left)
    space = sum(cost.bytes for cost in costs) + max((cost.temporary_bytes for cost in costs), default=0.0)
    return Forecast(len(steps), len(steps) - len(left), seconds, space)
