"""The word vectors of a model against ratings of word pairs (Tables 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.artefacts import Producer
from morphlm.costs import Cost
from morphlm.experiments.cell import Cell
from morphlm.experiments.recipe import Recipe
from morphlm.experiments.steps.base import START, Description, Measured, RunContext, Step, StepResult
from morphlm.experiments.steps.model import ModelStep
from morphlm.experiments.store import Store
from morphlm.experiments.text_source import TextSource
from morphlm.kinds import kind_named
from morphlm.vectors.similarity import evaluate_similarity, read_pairs

BOOTSTRAP_SEED = 1


@dataclass(frozen=True, eq=False)
class SimilarityStep(Step[dict[str, Any]]):
    """Rank correlations on all sets of word pairs of a language."""

    model: ModelStep
    sets: tuple[Path, ...]

    producer = Producer("similarity", 1, ("morphlm.vectors",))
    is_evaluation = True

    def describe(self) -> Description:
        files = {path.stem: path for path in self.sets}
        settings = {"bootstrap_seed": BOOTSTRAP_SEED}
        return Description(f"{self.model.name}: word similarity", settings, (self.model,), files)

    @classmethod
    def for_cell(cls, cell: Cell) -> dict[str, SimilarityStep]:
        sets = tuple(cell.source.beside("wordsim", f"{cell.language}-*.tsv"))
        with_vectors = {name: model for name, model in cell.models.items() if kind_named(model.kind).has_vectors}
        return {name: cls(model, sets) for name, model in with_vectors.items()} if sets else {}

    @classmethod
    def missing_data(cls, recipe: Recipe, source: TextSource) -> Iterator[str]:
        for language in recipe.languages:
            if not source.beside("wordsim", f"{language}-*.tsv"):
                yield f"ratings of word pairs in {language}: there is no wordsim/{language}-*.tsv in the folder of data"

    def estimate(self, store: Store, measured: Measured) -> Cost:
        return Cost(START + 1.0)

    def run(self, context: RunContext) -> StepResult:
        vectors = self.model.load(context.store).vectors
        results = [
            evaluate_similarity(vectors, read_pairs(path), seed=BOOTSTRAP_SEED).to_json() | {"set": path.stem}
            for path in self.sets
        ]
        return StepResult({"sets": results}, [self.model.manifest(context.store)])
