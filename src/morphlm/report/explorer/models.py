"""The models that are explored: what each is called, what it can do, and how text is brought to the form that it knows.

This is where a request's `model` becomes a model: by its name or number in the list, and by nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from morphlm.errors import InputError
from morphlm.language_model.base import LanguageModel
from morphlm.lazy import cached_property
from morphlm.report.descriptions import describe_model
from morphlm.report.models import model_names, vectors_of
from morphlm.scoring.prediction import Predictor
from morphlm.scoring.streaming import Normaliser, normaliser_of
from morphlm.segmentation.encoding import normalised
from morphlm.text.preparation import PrepareOptions
from morphlm.text.prepare import prepare_line
from morphlm.text.reading import BEGIN, END, RESERVED, UNKNOWN, split_tokens
from morphlm.vectors.forms import word_forms
from morphlm.vectors.search import largest
from morphlm.vectors.vectors import WordVectors
from morphlm.vocabulary.vocabulary import UNK_ID

# What a text is: as people write it; tokens between spaces; or in all respects like the model's training text.
TextIs = Literal["raw", "tokenised", "prepared"]
KEPT_ANSWERS = 8192  # while a sentence is being typed, most of it stays as it was


@dataclass(frozen=True)
class ModelCard:
    """The capabilities of a model, for the list of models."""

    number: int
    name: str
    kind: str
    description: str  # what it is, in a sentence
    signature: str
    order: int
    words: int  # in the vocabulary, the reserved marks included
    vectors: int  # their length; 0: it has none
    morphemes: int
    classes: int
    composes: bool  # whether words that were never seen get vectors from their morphemes
    tokeniser: str | None  # of its training text, as far as that is on record
    normalisation: str | None


@dataclass(frozen=True)
class Expected:
    """A word and its probability at a position."""

    word: str
    probability: float


@dataclass(frozen=True, eq=False)
class ExploredModel:
    """A model with its name in the list, and what is cached for it."""

    number: int
    name: str
    model: LanguageModel
    lock: threading.Lock = field(default_factory=threading.Lock)  # for what only one request at a time may use

    @cached_property
    def vectors(self) -> WordVectors | None:
        return vectors_of(self.model)

    @cached_property
    def predictor(self) -> Predictor:
        return Predictor(self.model)

    @property
    def card(self) -> ModelCard:
        vectors, model = self.vectors, self.model
        factors = None if vectors is None else vectors.factors
        return ModelCard(
            number=self.number,
            name=self.name,
            kind=model.kind,
            description=describe_model(model),
            signature=str(model.signature),
            order=model.order,
            words=len(model.vocabulary),
            vectors=0 if vectors is None else vectors.dimensions,
            morphemes=0 if vectors is None else len(vectors.morphemes),
            classes=0 if model.partition is None else model.partition.classes,
            composes=factors is not None and factors.analyser is not None,
            tokeniser=self._record.get("tokeniser"),
            normalisation=self._record.get("normalisation"),
        )

    @cached_property
    def expected_at(self) -> Callable[[Hashable, int, int], tuple[int, list[Expected]]]:
        """The rank of a word after a state, and the k likeliest words there; the last answers are kept."""
        return lru_cache(KEPT_ANSWERS)(self._expected_at)

    def _expected_at(self, state: Hashable, word: int, k: int) -> tuple[int, list[Expected]]:
        probabilities = self.model.distribution(state)
        rank = 1 + int(np.count_nonzero(probabilities > probabilities[word]))
        probabilities[UNK_ID] = -1.0  # not a word to show
        words = self.model.vocabulary.words
        best = largest(probabilities, min(k, len(probabilities) - 2)).tolist()  # neither UNK nor BEGIN
        return rank, [Expected(words[word_id], float(probabilities[word_id])) for word_id in best]

    # ------------------------------------------------------------ text

    @property
    def _record(self) -> dict[str, str]:
        return self.model.training.get("preparation") or {}

    @cached_property
    def _options(self) -> PrepareOptions | None:
        """How the training text was prepared, if that is on record."""
        return self.model.preparation

    @cached_property
    def _normalise(self) -> Normaliser:
        """As the training text; without a record tokens stay as they are."""
        return list if self._options is None else normaliser_of(self.model)

    def prepare(self, line: str, text_is: TextIs) -> list[str]:
        """The tokens that the model sees: those of its training text were made in the same way."""
        tokens = self._tokenise(line) if text_is == "raw" else split_tokens(line)
        _check_marks(tokens)
        return tokens if text_is == "prepared" else self._normalise(tokens)

    def _tokenise(self, line: str) -> list[str]:
        """By the tokeniser on record; the normaliser does the rest."""
        if self._options is None or self._options.tokeniser == "none":
            return line.split()
        return prepare_line(line, replace(self._options, case="keep", digits=False, cyrillic_share=0.0))

    def word_form(self, word: str) -> str:
        """A word as a person writes it, in the form that the model knows."""
        if self._options is None:
            return normalised(word) if self.vectors is None else word_forms(self.vectors)(word)
        _check_marks([word])
        return "".join(self._normalise([word]))


def _check_marks(tokens: Sequence[str]) -> None:
    """Also of those that come about by lowercasing; only <unk> itself may stand in a text."""
    if any(token.lower() in RESERVED and token != UNKNOWN for token in tokens):
        raise InputError(f"{BEGIN}, {END} and {UNKNOWN} are marks that the models set themselves; leave them out")


# ---------------------------------------------------------------- the list


def explored_models(models: Sequence[tuple[str | Path, LanguageModel]]) -> list[ExploredModel]:
    """The models in their order, named after where they come from."""
    names = model_names([path for path, _ in models])
    return [
        ExploredModel(number, name, model) for number, (name, (_, model)) in enumerate(zip(names, models, strict=True))
    ]


def find_model(models: Sequence[ExploredModel], key: str) -> ExploredModel:
    """A model by its name, or by its number from 0."""
    for explored in models:
        if key == explored.name:
            return explored
    if key.isascii() and key.isdecimal() and len(key) < 6 and int(key) < len(models):
        return models[int(key)]
    raise InputError(f"no such model; there are {', '.join(explored.name for explored in models)}")
