"""States of a log-bilinear model: what the next word depends on, as tuples that can be hashed, and as arrays.

A word of a state is its id; NOTHING where no word is known; or, in states that compose unknown words, the tuple of its
factors in rising order. Words with the same known factors have the same future, so they are the same in a state.
"""

from __future__ import annotations

import operator
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np

from morphlm.arrays import Int32Array, Int64Array, starts_of
from morphlm.language_model.guards import no_state, state_list
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.kernels.prediction import Windows
from morphlm.segmentation.factors import Factors
from morphlm.vocabulary.vocabulary import BEGIN_ID, NOTHING, UNK_ID

FactorIds = tuple[int, ...]  # a word that is composed of these
StateWord = int | FactorIds
MOST_FACTORS = 10_000  # of one word
REMEMBERED = 1 << 16  # new words whose factors are kept


class WideState(NamedTuple):
    """What the next word depends on in a model with a wide context."""

    words: tuple[int, ...]  # the n - 1 words before in the sentence, the nearest first
    before: tuple[int, ...]  # those of the wide context, which go on across sentences, the nearest first


class ComposedState(NamedTuple):
    """The same with unknown words as the sums of their factors, for models with and without a wide context."""

    words: tuple[StateWord, ...]
    before: tuple[StateWord, ...]
    unknown_contexts: str = "composed"  # tells it from other states, whose future is another


State = tuple[int, ...] | WideState | ComposedState


class NewWords:
    """Words that are not in the vocabulary, as states have them; the last ones asked are remembered."""

    def __init__(self) -> None:
        self._known: dict[str, StateWord] = {}

    def of(self, word: str, factors: Factors) -> StateWord:
        """Its known factors, UNK if there are none."""
        found = self._known.get(word)
        if found is None:
            found = tuple(np.sort(factors.of_new_word(word)).tolist()) or UNK_ID
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[word] = found
        return found


class ContextArrays(NamedTuple):
    """Many states as arrays. Words that are composed have the ids V, V + 1, ..."""

    contexts: Int32Array  # (m, n - 1), the nearest word first
    windows: Windows  # the words of the wide contexts; of length 0 without
    composed: list[FactorIds]  # the factors of the word V + k

    def some(self, rows: Int64Array) -> ContextArrays:
        """Those of some states."""
        windows = self.windows._replace(firsts=self.windows.firsts[rows], lengths=self.windows.lengths[rows])
        return self._replace(contexts=self.contexts[rows], windows=windows)


@dataclass(frozen=True, eq=False)
class StateSpace:
    """The states of a model: which there are, which follow each other, and what they are as arrays."""

    config: LogBilinearConfig
    words: int  # V
    factors: int  # those that a composed word may have are below; 0: states compose nothing
    weights: Sequence[float]  # omega of each word, which is 0 where it is left out of wide contexts

    def begin(self, *, sentence: bool, composed: bool) -> State:
        """After <s>, or after nothing."""
        words = (BEGIN_ID if sentence else NOTHING,) * self.config.distances
        if composed and self.factors:
            return ComposedState(words, ())
        return WideState(words, ()) if self.config.wide else words

    def after(self, state: State, word: StateWord) -> State:
        """The state after a word. A sentence begins after <s>."""
        if word == BEGIN_ID:
            return self.begin(sentence=True, composed=isinstance(state, ComposedState))
        if isinstance(state, ComposedState):
            return ComposedState((word, *state.words[:-1]), self._wide_after(state.before, word))
        known = cast(int, word)
        if isinstance(state, WideState):
            before = cast(tuple[int, ...], self._wide_after(state.before, known))
            return WideState((known, *state.words[:-1]), before)
        return (known, *state[:-1])

    def all_after(self, states: Sequence[State], words: Sequence[StateWord]) -> list[State]:
        """The state after each word."""
        if BEGIN_ID in words or not {tuple}.issuperset(map(type, states)):
            return list(map(self.after, states, words))
        ids = cast(Sequence[int], words)
        return [(word, *state[:-1]) for state, word in zip(states, ids, strict=True)]

    def next_sentence(self, state: State) -> State:
        """The state at the start of the sentence after a state: wide contexts go on."""
        words = (BEGIN_ID,) * self.config.distances
        return state._replace(words=words) if isinstance(state, WideState | ComposedState) else words

    def _wide_after(self, before: tuple[StateWord, ...], word: StateWord) -> tuple[StateWord, ...]:
        """The words of a wide context; those of weight 0 at the far end are dropped: equal futures, equal states."""
        before = (word, *before)[: self.config.wide]
        while before and isinstance(before[-1], int) and not self.weights[before[-1]]:
            before = before[:-1]
        return before

    # ------------------------------------------------------------ checks

    def is_state(self, state: object) -> bool:
        """Whether a model with this configuration can have such a state."""
        parts = self._parts(state)
        if parts is None:
            return False
        words, before = parts
        is_tuple = type(words) is tuple and type(before) is tuple
        if not is_tuple or len(words) != self.config.distances or len(before) > self.config.wide:
            return False
        known = next((k for k, word in enumerate(words) if type(word) is int and word == NOTHING), len(words))
        if any(type(word) is not int or word != NOTHING for word in words[known:]):
            return False
        return self._are_words((*words[:known], *before), isinstance(state, ComposedState))

    def check(self, state: object) -> None:
        """Raise StateError for what is no state."""
        if not self.is_state(state):
            raise no_state(state)

    def _parts(self, state: object) -> tuple[Any, Any] | None:
        """The words before and those of the wide context; None for what is no state at all."""
        if type(state) is ComposedState:
            return state[:2] if self.factors and state.unknown_contexts == "composed" else None
        if type(state) is not (WideState if self.config.wide else tuple):
            return None
        return tuple(state) if self.config.wide else (state, ())

    def _are_words(self, words: tuple[Any, ...], may_compose: bool) -> bool:
        if may_compose:
            composed = [word for word in words if type(word) is tuple]
            if not all(map(self._is_composed, composed)):
                return False
            words = tuple(word for word in words if type(word) is not tuple)
        return _are_ids(words, self.words)

    def _is_composed(self, factors: FactorIds) -> bool:
        """Whether these can be the factors of a word: in rising order, so that equal words are equal."""
        is_short = 0 < len(factors) <= MOST_FACTORS
        return is_short and _are_ids(factors, self.factors) and all(map(operator.le, factors, factors[1:]))

    # ------------------------------------------------------------ as arrays

    def arrays(self, states: Sequence[Any]) -> ContextArrays:
        """Many states at once; what is none is refused."""
        listed = state_list(states)
        if not self.config.wide:
            contexts = self._plain_contexts(listed)
            if contexts is not None:
                return ContextArrays(contexts, no_windows(len(contexts)), [])
        for state in listed:
            self.check(state)
        return self._general_arrays([self._parts(state) for state in listed])

    def _plain_contexts(self, states: list[Any]) -> Int32Array | None:
        """The usual case, quickly; None for anything else, be it right or wrong."""
        if not {tuple}.issuperset(map(type, states)):
            return None
        try:
            found = np.array(states)
        except Exception:  # different lengths, or what an object of somebody else's raises
            return None
        if found.shape != (len(states), self.config.distances) or found.dtype.kind not in "iu":
            return np.zeros((0, self.config.distances), np.int32) if not states else None
        lowest = int(found.min())
        if lowest < NOTHING or int(found.max()) >= self.words:
            return None
        if lowest == NOTHING and ((found[:, :-1] < 0) & (found[:, 1:] >= 0)).any():
            return None
        return found.astype(np.int32)

    def _general_arrays(self, parts: list[Any]) -> ContextArrays:
        numbers: dict[FactorIds, int] = {}
        contexts = _numbered(chain.from_iterable(words for words, _ in parts), numbers, self.words)
        items = _numbered(chain.from_iterable(before for _, before in parts), numbers, self.words)
        lengths = np.array([len(before) for _, before in parts], np.int64)
        windows = Windows(items, starts_of(lengths)[:-1], lengths, 1)
        return ContextArrays(contexts.reshape(len(parts), self.config.distances), windows, list(numbers))


def no_windows(contexts: int) -> Windows:
    """For contexts that are not wide."""
    return Windows(np.zeros(0, np.int32), np.zeros(contexts, np.int64), np.zeros(contexts, np.int64), 1)


def text_windows(text: Int32Array, positions: Int64Array, size: int, start_of: Int64Array | None = None) -> Windows:
    """Of the tokens at some positions of a text: the words before, at most `size`, none of which is before `start_of`.

    `start_of` has a number for each position of the text; without it, the text has no such bounds.
    """
    before = positions if start_of is None else positions - start_of[positions]
    return Windows(text, positions - 1, np.minimum(before, size), -1)


def _numbered(words: Iterable[StateWord], numbers: dict[FactorIds, int], first: int) -> Int32Array:
    """Ids; a composed word that is new gets the next number."""
    ids = [first + numbers.setdefault(word, len(numbers)) if type(word) is tuple else word for word in words]
    return np.array(ids, np.int32)


def _are_ids(numbers: tuple[Any, ...], end: int) -> bool:
    try:
        ids = array("I", numbers)  # not made of what is negative or no whole number
    except (TypeError, OverflowError):
        return False
    return max(ids, default=0) < end
