"""The test text under one model, sentence by sentence: what perplexities and their comparisons are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from morphlm.analysis.scores import SentenceScores, score_sentences, scores_from_json
from morphlm.artefacts import Producer
from morphlm.costs import Cost
from morphlm.experiments.cell import Cell
from morphlm.experiments.steps.base import START, Description, Measured, RunContext, Step, StepResult
from morphlm.experiments.steps.model import ModelStep
from morphlm.experiments.store import Store

BYTES = 60_000


@dataclass(frozen=True, eq=False)
class ScoresStep(Step[SentenceScores]):
    """The log-probabilities of all test sentences."""

    model: ModelStep

    producer = Producer("scores", 2, ("morphlm.analysis.scores", "morphlm.language_model.perplexity"))
    is_evaluation = True

    def describe(self) -> Description:
        return Description(f"{self.model.name}: test", inputs=(self.model,))

    @classmethod
    def for_cell(cls, cell: Cell) -> dict[str, ScoresStep]:
        return {name: cls(model) for name, model in cell.models.items()}

    def estimate(self, store: Store, measured: Measured) -> Cost:
        return Cost(START + self.model.model_cost(measured).scoring, BYTES)

    def run(self, context: RunContext) -> StepResult:
        test = self.model.data.texts.path(context.store, "test")
        scores = score_sentences(self.model.load(context.store), test)
        return StepResult(scores.to_json() | {"text": test.name}, [self.model.manifest(context.store), test])

    def read(self, content: dict[str, Any]) -> SentenceScores:
        return scores_from_json(content)
