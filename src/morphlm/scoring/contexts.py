"""How a mixture sorts contexts into buckets, each of which has its own weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from morphlm.arrays import Int32Array, Int64Array
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, Vocabulary

COUNT_BUCKETS = 16  # of words, by powers of two of their count


@runtime_checkable
class SortsContexts(Protocol):
    """What a model of any kind needs so that the weights of a mixture can depend on its contexts: n-grams have it."""

    @property
    def context_buckets(self) -> int:
        """The number of buckets."""

    def buckets_before(self, tokens: Int32Array) -> Int64Array:
        """The bucket of the context of every token of encoded sentences."""

    def bucket_of_state(self, state: Any) -> int:
        """The bucket of a state of the model."""

    def describe_bucket(self, bucket: int) -> str:
        """A readable description of a bucket, for the table of weights."""


@runtime_checkable
class SortsManyContexts(Protocol):
    """What such a model may have too."""

    def buckets_of_states(self, states: Sequence[Any]) -> list[int]:
        """The buckets of several states."""


class Contexts(ABC):
    """Sorts contexts into buckets."""

    buckets: int
    decisive: int | None = None  # which component's states decide the bucket, if any do
    words: int = 0  # how many words before a word decide its bucket, beyond what a component's buckets depend on

    @abstractmethod
    def before(self, tokens: Int32Array) -> Int64Array:
        """The bucket of the context of every token of encoded sentences."""

    @abstractmethod
    def after(self, word: int, states: Sequence[Any]) -> int:
        """The bucket once a word has been seen, after which the components are in these states.

        Of them, only that of the decisive component is looked at.
        """

    def after_many(self, words: Int32Array, states: Sequence[Sequence[Any]]) -> list[int]:
        """The same for many words; `states` has a list for each component."""
        return [self.after(word, own) for word, *own in zip(words.tolist(), *states, strict=True)]

    @abstractmethod
    def of_contexts(self, contexts: Int32Array, of_component: Callable[[int, Int32Array], Int64Array]) -> Int64Array:
        """The bucket of each context, (m, words), the nearest word first; `of_component` gives those of a component."""

    @abstractmethod
    def describe(self, bucket: int) -> str:
        """A readable description of a bucket, for the table of weights."""


class AllContexts(Contexts):
    """A single bucket for all contexts."""

    buckets = 1

    def before(self, tokens: Int32Array) -> Int64Array:
        return np.zeros(len(tokens), np.int64)

    def after(self, word: int, states: Sequence[Any]) -> int:
        return 0

    def of_contexts(self, contexts: Int32Array, of_component: Callable[[int, Int32Array], Int64Array]) -> Int64Array:
        return np.zeros(len(contexts), np.int64)

    def describe(self, bucket: int) -> str:
        return "all"


class ComponentContexts(Contexts):
    """The buckets of a component that sorts contexts itself.

    `index` is its position in the mixture, `ids` are its ids of the mixture's words, if they differ.
    """

    def __init__(self, model: SortsContexts, index: int, ids: Int32Array | None) -> None:
        self._model, self.index, self._ids = model, index, ids
        self.decisive = index
        self.buckets = model.context_buckets

    def before(self, tokens: Int32Array) -> Int64Array:
        return self._model.buckets_before(tokens if self._ids is None else self._ids[tokens])

    def after(self, word: int, states: Sequence[Any]) -> int:
        return self._model.bucket_of_state(states[self.index])

    def after_many(self, words: Int32Array, states: Sequence[Sequence[Any]]) -> list[int]:
        if isinstance(self._model, SortsManyContexts):
            return self._model.buckets_of_states(states[self.index])
        return list(map(self._model.bucket_of_state, states[self.index]))

    def of_contexts(self, contexts: Int32Array, of_component: Callable[[int, Int32Array], Int64Array]) -> Int64Array:
        return of_component(self.index, contexts)

    def describe(self, bucket: int) -> str:
        return self._model.describe_bucket(bucket)


class LastWordContexts(Contexts):
    """Buckets by powers of two of the last word's count, for mixtures in which no component sorts contexts."""

    words = 1

    def __init__(self, vocabulary: Vocabulary) -> None:
        powers = np.floor(np.log2(np.maximum(vocabulary.counts, 1)))
        self._bucket_of = np.minimum(powers, COUNT_BUCKETS - 1).astype(np.int64)
        self.buckets = COUNT_BUCKETS

    def before(self, tokens: Int32Array) -> Int64Array:
        last = np.concatenate([[END_ID], tokens[:-1]])
        return self._bucket_of[np.where(last == END_ID, BEGIN_ID, last)]

    def after(self, word: int, states: Sequence[Any]) -> int:
        return int(self._bucket_of[BEGIN_ID if word == END_ID else word])

    def of_contexts(self, contexts: Int32Array, of_component: Callable[[int, Int32Array], Int64Array]) -> Int64Array:
        return self._bucket_of[contexts[:, 0]]

    def describe(self, bucket: int) -> str:
        return f"last word, count from {2**bucket}"
