"""Capitals of words that the text does not have: as rare words of it are written in the same context, with that ending.

An unknown word is taken for one that was seen once. How likely such a word has a capital after these words is the share
of the model's probability that words with a capital have among those seen once; how it ends (-ung, -lich) is an
observation, whose probability with and without a capital comes from them, too, by successive abstraction over endings
(Brants 2000).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np

from morphlm.arrays import Float64Array, Int64Array
from morphlm.ngram.model import NgramModel
from morphlm.text.reading import RESERVED
from morphlm.translation.recasing.positions import has_letters

RAREST = 1  # most occurrences of a rare word
LONGEST_ENDING = 5
STRENGTH = 5.0  # how many words the shorter ending counts as


class UnknownWords:
    """Whether a word that was never seen has a capital."""

    def __init__(self, model: NgramModel, lowercase: Callable[[str], str]) -> None:
        self._model = model
        words, counts = model.vocabulary.words, model.vocabulary.counts
        rare = [
            number
            for number in np.flatnonzero(counts <= RAREST).tolist()
            if number >= len(RESERVED) and has_letters(words[number])
        ]
        small = [lowercase(words[number]) for number in rare]
        is_plain = [words[number] == form for number, form in zip(rare, small, strict=True)]
        numbers, plain_ones = np.array(rare, np.int64), np.array(is_plain, bool)
        self._small: Int64Array = numbers[plain_ones]
        self._capital: Int64Array = numbers[~plain_ones]
        self._endings: Counter[str] = Counter()
        self._with_capital: Counter[str] = Counter()
        for form, plain in zip(small, is_plain, strict=True):
            for ending in _endings(form):
                self._endings[ending] += 1
                self._with_capital[ending] += not plain
        self._share = (len(self._capital) + 1) / (len(rare) + 2)

    def has_capital(self, state: int, word: str) -> bool:
        """Whether a capital is likelier than none, for a word in small letters after a state of the model."""
        if not has_letters(word):
            return False
        by_ending = _log_odds(self._share_by_ending(word)) - _log_odds(self._share)
        return self._context_odds(state) + by_ending > 0

    def _context_odds(self, state: int) -> float:
        """ln of how much likelier rare words with a capital are after these words than those without."""
        distribution: Float64Array = self._model.distribution(state)
        capital, small = distribution[self._capital].sum(), distribution[self._small].sum()
        return math.log((capital + 1e-12) / (small + 1e-12))

    def _share_by_ending(self, word: str) -> float:
        """The share of words with a capital among the rare ones with the same ending, from short to long endings."""
        share = self._share
        for ending in _endings(word):
            count = self._endings[ending]
            share = (self._with_capital[ending] + STRENGTH * share) / (count + STRENGTH)
        return share


def _log_odds(share: float) -> float:
    return math.log(share) - math.log1p(-share)


def _endings(word: str) -> list[str]:
    """From the shortest to the longest; a word does not end in itself."""
    return [word[-length:] for length in range(1, min(LONGEST_ENDING, len(word) - 1) + 1)]
