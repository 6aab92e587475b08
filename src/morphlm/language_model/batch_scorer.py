"""How a decoder asks a model: many words at once, each after the last n - 1 words before it.

A kind of model may have a scorer of its own with compiled queries (`kinds.ModelKind.decoder_scorer`). Any other model
is asked through its states.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from morphlm.arguments import finite_number, word_ids
from morphlm.arrays import Float64Array, Int32Array, Int64Array
from morphlm.errors import ConfigError
from morphlm.kinds import find_kind
from morphlm.language_model.base import LanguageModel
from morphlm.tables import counted
from morphlm.text.reading import UNKNOWN
from morphlm.vocabulary.vocabulary import BEGIN_ID, NOTHING, UNK_ID, Vocabulary

STATE_BYTES = 512  # an estimate of what a cached state takes, with its key


class NewWordIds:
    """Ids beyond the vocabulary for unknown words that contexts tell apart, for all threads that ask one scorer."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary, self._lock = vocabulary, threading.Lock()
        self._numbers: dict[str, int] = {}
        self.forms: list[str] = []  # the word V + k is forms[k]

    def encode(self, words: Sequence[str]) -> Int32Array:
        """The ids of words; <unk>, which stands for no word, is UNK."""
        ids = self._vocabulary.encode(words)
        for position in np.flatnonzero(ids == UNK_ID).tolist():
            if words[position] != UNKNOWN:
                ids[position] = len(self._vocabulary) + self._number(words[position])
        return ids

    def _number(self, word: str) -> int:
        with self._lock:
            number = self._numbers.get(word)
            if number is None:
                self.forms.append(word)
                number = self._numbers[word] = len(self.forms) - 1
            return number

    def known(self, ids: Int32Array) -> Int32Array:
        """The same with UNK for unknown words."""
        return np.where(ids < len(self._vocabulary), ids, np.int32(UNK_ID))


class BatchScorer(ABC):
    """Log-probabilities for a search. Used by several threads at once, each with a cache of its own."""

    order: int  # n: a word depends on the n - 1 words before it
    new_words: NewWordIds | None = None  # of scorers that compose unknown words in contexts: their ids
    gives_estimates: bool = False  # whether there is `estimate`; if not, the heuristic stands in for it

    @abstractmethod
    def new_cache(self, megabytes: float) -> Any:
        """A cache for one thread; it never grows beyond about this size, and does not change any score."""

    @abstractmethod
    def log_probabilities(self, contexts: Int32Array, words: Int32Array, cache: Any) -> Float64Array:
        """ln p of words, (m,), each after its own context, (m, n - 1), the nearest word first.

        Before the first word of a sentence a context holds BEGIN, in as many places as there are.
        """

    def estimate(self, contexts: Int32Array, words: Int32Array, cache: Any) -> Float64Array:
        """`log_probabilities` where contexts may end with NOTHING, since words further left are not known yet.

        They only order a search.
        """
        raise NotImplementedError

    def context_buckets(self, contexts: Int32Array, cache: Any) -> Int64Array:
        """The bucket of each context, (m, n - 1), of a model that sorts contexts (see scoring/contexts.py)."""
        raise NotImplementedError


class ComposingScorer(BatchScorer):
    """A scorer that may be given ids of new words when it is made: `contexts` then have these, and words too."""

    @abstractmethod
    def __init__(self, model: Any, new_words: NewWordIds | None = None) -> None:
        """Without `new_words`, unknown words are UNK."""


def checked_queries(
    contexts: Int32Array, words: Int32Array, order: int, size: int, *, partial: bool = False
) -> tuple[Int32Array, Int32Array]:
    """Contexts, (m, n - 1), and words, (m,), as compiled code wants them, for a model of `size` words."""
    before, ids = checked_contexts(contexts, order, size, partial=partial), word_ids(words, size)
    if len(before) != len(ids):
        raise ConfigError(
            f"{counted(len(before), 'context')} and {counted(len(ids), 'word')}; give a word for each context"
        )
    return before, ids


def checked_contexts(contexts: Int32Array, order: int, size: int, *, partial: bool = False) -> Int32Array:
    """The words before words, (m, n - 1), for a model of `size` words; `partial` ones may end with NOTHING."""
    ids = word_ids(contexts, size, dimensions=2, first=NOTHING if partial else 0)
    if ids.shape[1] != order - 1:
        raise ConfigError(f"contexts of {ids.shape[1]} words for a model of order {order}; give {order - 1} for each")
    return ids


def batch_scorer(model: LanguageModel, new_words: NewWordIds | None = None) -> BatchScorer:
    """The scorer of the model's kind; one that asks states if the kind has none, or is not registered.

    Given ids of new words, it composes them in contexts, if the model can and its kind has a `ComposingScorer`.
    """
    kind = find_kind(model.kind)
    if kind is None or not kind.decoder_scorer:
        return StateScorer(model)
    make: Any = kind.load("decoder_scorer")
    composes = new_words is not None and model.composes_contexts and issubclass(make, ComposingScorer)
    scorer: BatchScorer = make(model, new_words) if composes else make(model)
    return scorer


class StateScorer(BatchScorer):
    """Asks any model: feeds it the words of each context, and remembers the state that it reaches."""

    def __init__(self, model: LanguageModel) -> None:
        self.model, self.order = model, model.order

    def new_cache(self, megabytes: float) -> StateCache:
        megabytes = finite_number("the size of a cache in MB", megabytes, at_least=0)
        return StateCache(int(megabytes * (1 << 20)) // STATE_BYTES)

    def log_probabilities(self, contexts: Int32Array, words: Int32Array, cache: StateCache) -> Float64Array:
        contexts, words = checked_queries(contexts, words, self.order, len(self.model.vocabulary))
        logprobs, _ = self.model.score_many(self._states(contexts, cache), words)
        return logprobs

    def context_buckets(self, contexts: Int32Array, cache: StateCache) -> Int64Array:
        model: Any = self.model
        contexts = checked_contexts(contexts, self.order, len(model.vocabulary))
        return np.array([model.bucket_of_state(state) for state in self._states(contexts, cache)], np.int64)

    def _states(self, contexts: Int32Array, cache: StateCache) -> list[Any]:
        keys = list(map(tuple, contexts.tolist()))
        states = {key: cache.states[key] for key in keys if key in cache.states}
        missing = [key for key in dict.fromkeys(keys) if key not in states]
        added = dict(zip(missing, self._states_after(missing), strict=True))
        cache.add(added)
        states |= added
        return [states[key] for key in keys]

    def _states_after(self, contexts: list[tuple[int, ...]]) -> list[Any]:
        """The states after contexts: each step feeds one word to all whose words are not used up."""
        begins = [context.index(BEGIN_ID) if BEGIN_ID in context else None for context in contexts]
        states = [self.model.begin(sentence=begin is not None) for begin in begins]
        sequences = [context[:begin][::-1] for context, begin in zip(contexts, begins, strict=True)]
        for step in range(self.order - 1):
            active = [number for number, sequence in enumerate(sequences) if step < len(sequence)]
            if active:
                words = np.array([sequences[number][step] for number in active], np.int32)
                _, after = self.model.score_many([states[number] for number in active], words)
                for number, state in zip(active, after, strict=True):
                    states[number] = state
        return states


class StateCache:
    """States by their contexts; when it is full, it begins anew."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.states: dict[tuple[int, ...], Any] = {}

    def add(self, states: dict[tuple[int, ...], Any]) -> None:
        """Keep states, as far as there is room."""
        if len(self.states) + len(states) > self.capacity:
            self.states.clear()
        if len(states) <= self.capacity:
            self.states |= states
