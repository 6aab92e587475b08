"""The operations of the page and the API, without HTTP: each takes plain values and returns a frozen dataclass.

Every model is named by its name or number in the list. Nothing here opens a file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from morphlm.display import described
from morphlm.errors import ConfigError, InputError
from morphlm.language_model.base import LanguageModel
from morphlm.report.explorer.comparison import ComparisonView, compare
from morphlm.report.explorer.examples import ExamplesView, examples_of
from morphlm.report.explorer.limits import Deadline, RequestLimits
from morphlm.report.explorer.maps import MapKeeper, MapPosition, MapView
from morphlm.report.explorer.models import ExploredModel, ModelCard, TextIs, explored_models, find_model
from morphlm.report.explorer.sentences import CompletionView, SentenceView, complete, view_sentence
from morphlm.report.explorer.words import MorphemeView, WordView, view_morpheme, view_word
from morphlm.text.reading import RESERVED

MAX_MODELS = 8  # that can be seen beside each other
NEW_WORD = "abcdefg"  # most likely unknown to every model
LONG_SENTENCE = 50  # words; models score short ones in another way


@dataclass(frozen=True)
class PlaceView:
    """Where a word lies on the map of a model's morphemes."""

    model: str
    form: str
    place: MapPosition | None  # None: there is no map yet, or nothing of the word is known


class Explorer:
    """Some models, and what can be asked of them. All operations may be called from several threads."""

    def __init__(self, models: Sequence[tuple[str | Path, LanguageModel]], limits: RequestLimits | None = None) -> None:
        """Each model comes with the path that it was read from, which gives its name."""
        if not 1 <= len(models) <= MAX_MODELS:
            raise ConfigError(f"{len(models)} models; name 1 to {MAX_MODELS}")
        self.limits = limits or RequestLimits()
        self.models: list[ExploredModel] = explored_models(models)
        self._cards = [explored.card for explored in self.models]
        self._examples: dict[int, ExamplesView] = {}
        self._maps = [MapKeeper(explored) for explored in self.models]

    def __repr__(self) -> str:
        return described(self, models=[explored.name for explored in self.models])

    def warm(self) -> None:
        """Run each operation once, so that the first request need not wait for compilation and caches."""
        for explored in self.models:
            view_sentence([explored], "a", "raw", 1, self.limits, Deadline.after(math.inf))
            explored.model.sentence(["a"] * LONG_SENTENCE)
            complete(explored, "a a", "raw", 1, self.limits)
            self.examples(explored.name)
            for word in (*explored.model.vocabulary.words[len(RESERVED) : len(RESERVED) + 1], NEW_WORD):
                view_word(explored, word, 1, self.limits)

    def deadline(self) -> Deadline:
        """When an operation that begins now has to end."""
        return Deadline.after(self.limits.seconds)

    # ------------------------------------------------------------ operations

    def cards(self) -> list[ModelCard]:
        """The models, and what each can do."""
        return self._cards

    def examples(self, model: str) -> ExamplesView:
        """Words, sentences and morphemes that are worth asking for; drawn once from each model."""
        explored = self._find(model)
        with explored.lock:
            if explored.number not in self._examples:
                self._examples[explored.number] = examples_of(explored)
            return self._examples[explored.number]

    def word(self, model: str, word: str, k: int = 10) -> WordView:
        """A word's morphemes, class and neighbours, and the neighbours of each morpheme."""
        return view_word(self._find(model), word, k, self.limits)

    def morpheme(self, model: str, name: str, k: int = 10) -> MorphemeView:
        """A morpheme's neighbours and the words that contain it."""
        return view_morpheme(self._find(model), name, k, self.limits)

    def sentence(
        self,
        text: str,
        models: Sequence[str] | None = None,
        text_is: TextIs = "raw",
        k: int = 5,
        deadline: Deadline | None = None,
    ) -> SentenceView:
        """Each token's probability under each of the models, and the words that were expected instead."""
        chosen = self.models if models is None else [self._find(model) for model in models]
        if not chosen or len({explored.number for explored in chosen}) < len(chosen):
            raise InputError("models are missing or named twice; name each once")
        return view_sentence(chosen, text, text_is, k, self.limits, deadline or self.deadline())

    def complete(self, model: str, text: str, text_is: TextIs = "raw", k: int = 10) -> CompletionView:
        """The likely next words, or the completions of the last one if no space follows it."""
        return complete(self._find(model), text, text_is, k, self.limits)

    def compare(
        self,
        baseline: str,
        other: str,
        text: str,
        text_is: TextIs = "raw",
        k: int = 10,
        deadline: Deadline | None = None,
    ) -> ComparisonView:
        """Two models on a text: the totals, and where they differ most."""
        first, second = self._find(baseline), self._find(other)
        return compare(first, second, text, text_is, k, self.limits, deadline or self.deadline())

    def map(self, model: str) -> MapView:
        """The map of a model's morphemes; it is made when it is first asked for, so ask again."""
        return self.map_keeper(model).view()

    def place(self, model: str, word: str) -> PlaceView:
        """Where a word lies on the map of a model."""
        view = view_word(self._find(model), word, 0, self.limits)
        position = None if view.understood == "unknown" else self.map_keeper(model).place(view.form)
        return PlaceView(view.model, view.form, position)

    def map_keeper(self, model: str) -> MapKeeper:
        """What makes and keeps the map of a model."""
        return self._maps[self._find(model).number]

    def _find(self, key: str) -> ExploredModel:
        return find_model(self.models, key)
