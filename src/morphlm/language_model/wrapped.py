"""A model around another one, whose words, classes and vectors it shares."""

from __future__ import annotations

from morphlm.classes.partition import Partition
from morphlm.language_model.base import LanguageModel
from morphlm.vectors.vectors import WordVectors


class WrappedModel(LanguageModel, checks_itself=True):
    """What it is follows from the `model` in it; how it scores is for the classes below."""

    model: LanguageModel

    def _compile_queries(self) -> None:
        self.model._compile_queries()

    @property
    def composes_contexts(self) -> bool:
        return self.model.composes_contexts

    @property
    def partition(self) -> Partition | None:
        return self.model.partition

    @property
    def vectors(self) -> WordVectors:
        return self.model.vectors
