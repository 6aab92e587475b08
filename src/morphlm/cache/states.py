"""States of caches: the text before the sentence, which counts, and the words of the sentence, which will."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Int32Array
from morphlm.text.reading import END
from morphlm.vocabulary.corpus import check_tokens


class CacheState(NamedTuple):
    """What the words of a sentence, and those of the sentences after it, depend on; the nearest words first."""

    before: tuple[int, ...]  # the text before the sentence, sentence ends included
    words: tuple[int, ...]  # of the sentence so far

    def after(self, word: int, window: int) -> CacheState:
        """The state after one more word of the sentence."""
        return CacheState(self.before, (word, *self.words[: window - 1]))

    def next_sentence(self, window: int) -> CacheState:
        """The sentence has become part of the text before."""
        return CacheState((*self.words, *self.before)[:window], ())


def is_cache_state(state: Any, words: int, window: int) -> bool:
    """Whether it is one, of a model with so many words."""
    if type(state) is not CacheState or type(state.before) is not tuple or type(state.words) is not tuple:
        return False
    return max(len(state.before), len(state.words)) <= window and _are_ids((*state.before, *state.words), words)


def _are_ids(numbers: tuple[Any, ...], end: int) -> bool:
    if not {int}.issuperset(map(type, numbers)):
        return False
    try:
        return max(array("I", numbers), default=0) < end
    except (TypeError, OverflowError):
        return False


def history_of(before: Sequence[int]) -> Int32Array:
    """The words before a sentence in the order of the text, as the kernels take them."""
    return np.array(before[::-1], np.int32)


def tokens_before(sentences: Iterable[Sequence[str]], window: int) -> list[str]:
    """The last tokens of a text, with the ends of its sentences."""
    text: list[str] = []
    for number, sentence in enumerate(sentences, 1):
        check_tokens(sentence, allow_unknown=True, number=number)
        text = [*text, *sentence, END][-window:]
    return text
