"""The words in the order of their spelling, in which those that begin alike stand next to each other."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from morphlm.arrays import Int64Array
from morphlm.lazy import PickledWithoutCaches, cached_property
from morphlm.text.reading import RESERVED


@dataclass(frozen=True, eq=False)
class SpellingOrder(PickledWithoutCaches):
    """The entries of a vocabulary: first the reserved marks, then the words by the code points of their NFC."""

    forms: tuple[str, ...]  # of the words, in NFC
    ids: Int64Array  # of all entries

    def range_of(self, prefix: str) -> tuple[int, int]:
        """Where in `ids` the words with a prefix, which is in NFC, begin and end."""
        length = len(prefix)
        first = bisect_left(self.forms, prefix)
        last = bisect_right(self.forms, prefix, lo=first, key=lambda form: form[:length])
        return len(RESERVED) + first, len(RESERVED) + last

    @cached_property
    def has_capitals(self) -> bool:
        """Whether any word has a capital letter."""
        return any(form != form.lower() for form in self.forms)


def sort_by_spelling(words: Sequence[str]) -> SpellingOrder:
    """Sort the words of a vocabulary; the reserved marks come first."""
    forms = [unicodedata.normalize("NFC", word) for word in words]
    order = sorted(range(len(RESERVED), len(words)), key=forms.__getitem__)
    ids = np.array([*range(len(RESERVED)), *order], np.int64)
    return SpellingOrder(tuple(forms[number] for number in order), ids)
