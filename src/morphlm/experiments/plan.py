"""From a recipe to its steps: a cell for each training text and rate kappa, with the evaluations that it prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from morphlm.errors import InputError
from morphlm.experiments.cell import Cell
from morphlm.experiments.parts import step_kinds
from morphlm.experiments.recipe import FIXED, Recipe
from morphlm.experiments.steps.base import Step, in_order
from morphlm.experiments.steps.inputs import DataSetting, InputsStep
from morphlm.experiments.steps.model import ModelStep
from morphlm.experiments.steps.texts import TextsStep
from morphlm.experiments.text_source import TextSource
from morphlm.kinds import kind_named
from morphlm.training.pipeline import ModelOptions

WIDE = " wide"  # after the kind, where models are named within a cell


@dataclass(frozen=True)
class Plan:
    """A recipe with all its steps."""

    recipe: Recipe
    cells: tuple[Cell, ...]
    failed: Mapping[str, str] = field(default_factory=dict)  # languages whose files are missing, and why
    missing: tuple[str, ...] = ()  # what else the data lack

    @property
    def steps(self) -> list[Step[Any]]:
        """All of them, each once, after those that it needs."""
        return in_order(step for cell in self.cells for step in cell.steps())


def make_plan(recipe: Recipe, source: TextSource) -> Plan:
    """All steps of a recipe. A language whose files are missing is left out and named."""
    cells: list[Cell] = []
    failed: dict[str, str] = {}
    for language in recipe.languages:
        try:
            cells += _cells_of(recipe, source, language)
        except InputError as error:
            failed[f"texts of {language}"] = str(error)
    missing = (what for kind in step_kinds(recipe.print) for what in kind.missing_data(recipe, source))
    return Plan(recipe, tuple(cells), failed, tuple(missing))


def _cells_of(recipe: Recipe, source: TextSource, language: str) -> list[Cell]:
    """Models for translation learn from the target side of the pair; others from all text of the language."""
    sides = [source.target_side(pair) for pair in recipe.pairs_into(language)]
    return [cell for side in sides or [source] for cell in _cells_of_source(recipe, side, language)]


def _cells_of_source(recipe: Recipe, source: TextSource, language: str) -> list[Cell]:
    texts = [TextsStep(source, language, tokens) for tokens in recipe.tokens]
    return [
        _cell(recipe, source, DataSetting(step, kappa, seed, _vocabulary(step, texts[0], vocabulary)), vocabulary)
        for step in texts
        for vocabulary in recipe.vocabularies
        for kappa in recipe.kappas
        for seed in recipe.seeds
    ]


def _vocabulary(texts: TextsStep, smallest: TextsStep, vocabulary: str) -> TextsStep | None:
    """The vocabulary of the smallest text is its own, fixed or growing."""
    return smallest if vocabulary == FIXED and texts != smallest else None


def _cell(recipe: Recipe, source: TextSource, data: DataSetting, vocabulary: str) -> Cell:
    kinds = [kind_named(kind) for kind in (*recipe.kinds, *recipe.wide)]
    inputs = InputsStep(data, any(kind.needs_factors for kind in kinds), any(kind.needs_classes for kind in kinds))
    models = {kind: ModelStep.of(inputs, kind, recipe.options) for kind in recipe.kinds}
    wide = ModelOptions(recipe.options.settings, wide_context=True)
    models |= {kind + WIDE: ModelStep.of(inputs, kind, wide) for kind in recipe.wide}
    cell = Cell(recipe, source, vocabulary, inputs, models)
    evaluations = (entry for kind in step_kinds(recipe.print) for entry in kind.for_cell(cell).items())
    return replace(cell, evaluations=tuple(evaluations))
