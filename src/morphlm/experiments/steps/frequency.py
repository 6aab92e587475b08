"""CLBL++ against CLBL by the frequency of words in the training text (figure 3)."""

from __future__ import annotations

from dataclasses import dataclass

from morphlm.analysis.frequency import frequency_comparison
from morphlm.artefacts import Producer
from morphlm.experiments.cell import Cell
from morphlm.experiments.steps.base import RunContext, StepResult
from morphlm.experiments.steps.comparing import BOOTSTRAP_SEED, NAMES, ComparisonOfGroups, compared_models
from morphlm.experiments.steps.model import hashes_of_models


@dataclass(frozen=True, eq=False)
class FrequencyStep(ComparisonOfGroups):
    """Two models on the test text, by the frequency of words."""

    producer = Producer("frequency", 2, ("morphlm.analysis.frequency", "morphlm.analysis.groups"))

    @property
    def name(self) -> str:
        return f"{self.other.data.name}: by frequency"

    @classmethod
    def for_cell(cls, cell: Cell) -> dict[str, FrequencyStep]:
        models = compared_models(cell)
        return {} if models is None else {"frequency": cls(*models)}

    def run(self, context: RunContext) -> StepResult:
        store = context.store
        test = self.other.data.texts.path(store, "test")
        baseline, other = self.baseline.load(store), self.other.load(store)
        compared = frequency_comparison(baseline, other, test, names=NAMES, seed=BOOTSTRAP_SEED)
        hashes = hashes_of_models([self.baseline, self.other], store, test)
        return StepResult(compared.to_json() | {"text": test.name}, hashes)
