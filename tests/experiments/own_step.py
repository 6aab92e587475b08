"""A kind of step and its section, as somebody would add them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from morphlm.artefacts import Producer
from morphlm.costs import Cost
from morphlm.experiments.cell import Cell
from morphlm.experiments.sections.section import PlanResults, ReportSection
from morphlm.experiments.steps.base import Description, Measured, RunContext, Step, StepResult
from morphlm.experiments.steps.model import ModelStep
from morphlm.experiments.store import Store
from morphlm.tables import Table


@dataclass(frozen=True, eq=False)
class UnknownWordsStep(Step[float]):
    """The share of the test tokens that a model does not know."""

    model: ModelStep

    # Raise the number when the same inputs give another result; the modules are those whose code decides it.
    producer = Producer("unknown-words", 1, ("morphlm.experiments.steps.unknown_words",))
    is_evaluation = True

    def describe(self) -> Description:
        return Description(f"{self.model.name}: unknown words", inputs=(self.model,))

    @classmethod
    def for_cell(cls, cell: Cell) -> dict[str, UnknownWordsStep]:
        return {name: cls(model) for name, model in cell.models.items()}

    def estimate(self, store: Store, measured: Measured) -> Cost:
        return Cost(seconds=1.0)

    def run(self, context: RunContext) -> StepResult:
        test = self.model.data.texts.path(context.store, "test")
        vocabulary, tokens = self.model.load(context.store).vocabulary, test.read_text().split()
        share = sum(token not in vocabulary for token in tokens) / len(tokens)
        return StepResult({"share": share}, [self.model.manifest(context.store), test])

    def read(self, content: dict[str, Any]) -> float:
        return float(content["share"])


def unknown_words(results: PlanResults) -> Iterator[ReportSection]:
    """A row per text and model."""
    rows = [
        [results.label(cell), model, f"{share:.3f}"]
        for cell in results.plan.cells
        for model, share in results.of(cell, UnknownWordsStep).items()
    ]
    yield ReportSection("unknown-words", "Unknown words", (Table(["text", "model", "share"], rows),), {"rows": rows})
