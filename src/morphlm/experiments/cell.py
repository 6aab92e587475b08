"""A cell of an experiment: the models of one training text at one rate kappa, and the steps that evaluate them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from morphlm.experiments.recipe import Recipe
from morphlm.experiments.steps.base import Step
from morphlm.experiments.steps.inputs import InputsStep
from morphlm.experiments.steps.model import ModelStep
from morphlm.experiments.steps.texts import TextsStep
from morphlm.experiments.text_source import TextSource

StepKind = TypeVar("StepKind", bound=Step[Any])


@dataclass(frozen=True)
class Cell:
    """What is compared with each other: models of the same text and vocabulary."""

    recipe: Recipe
    source: TextSource
    vocabulary: str  # growing or fixed
    inputs: InputsStep
    models: Mapping[str, ModelStep]  # by kind, with WIDE after it for those with a wide context
    evaluations: tuple[tuple[str, Step[Any]], ...] = ()  # with the names that reports use

    @property
    def texts(self) -> TextsStep:
        return self.inputs.data.texts

    @property
    def language(self) -> str:
        return self.texts.language

    @property
    def tokens(self) -> int | None:
        """Of the training text; None: all there is."""
        return self.texts.tokens

    @property
    def kappa(self) -> float:
        return self.inputs.data.kappa

    @property
    def seed(self) -> int:
        return self.inputs.data.seed

    def of(self, kind: type[StepKind]) -> dict[str, StepKind]:
        return {name: step for name, step in self.evaluations if isinstance(step, kind)}

    def steps(self) -> Iterator[Step[Any]]:
        """In an order in which a run that stops has something to show: each model is tested before the next begins."""
        yield self.texts
        yield self.inputs
        evaluations = [step for _, step in self.evaluations]
        for model in self.models.values():
            yield model
            yield from (step for step in evaluations if step.inputs == (model,))
        yield from evaluations
