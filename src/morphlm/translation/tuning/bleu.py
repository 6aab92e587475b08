"""BLEU as sums over sentences, equal to sacreBLEU's, in a form that can be added up millions of times.

A translation's statistics are its length, that of the reference, and for n = 1..4 the n-grams that are right and all
that there are. BLEU is a function of their sums over a text (Papineni et al. 2002), so tuning works with the sums only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from morphlm.arrays import Array, Int32Array, Int64Array
from morphlm.translation.tuning import kernels
from morphlm.translation.tuning.kernels import SIZE

Statistics = Int32Array  # (..., SIZE): length, reference's length, right 1- to 4-grams, all 1- to 4-grams
__all__ = ["SIZE", "Reference", "Statistics", "bleu", "statistics_of"]


@dataclass(frozen=True, eq=False)
class Reference:
    """The references of one sentence, with their words numbered, for counting n-grams of many translations."""

    ids: dict[str, int]
    words: Int32Array  # of all references, one after the other
    starts: Int64Array

    @classmethod
    def of(cls, references: Sequence[Sequence[str]]) -> Reference:
        ids: dict[str, int] = {}
        words = [ids.setdefault(word, len(ids)) for reference in references for word in reference]
        starts = np.cumsum([0, *map(len, references)])
        return cls(ids, np.array(words, np.int32), starts.astype(np.int64))

    def statistics(self, tokens: Sequence[str]) -> Statistics:
        """Of one translation: n-grams are right as often as they are in the reference that has them most often.

        The reference's length is that of the reference nearest in length, the shorter of two.
        """
        # Words that no reference has differ from those that do, and among each other it does not matter.
        words = np.fromiter((self.ids.get(token, -1) for token in tokens), np.int32, len(tokens))
        row: Statistics = kernels.count_matches(words, self.words, self.starts)
        return row

    def statistics_of_ids(self, words: Int32Array, starts: Int64Array) -> Statistics:
        """Of several translations, a row each; numbers above those of `ids` are words that no reference has."""
        known = np.where(words < len(self.ids), words, np.int32(-1))
        rows: Statistics = kernels.count_all_matches(known, starts, self.words, self.starts)
        return rows


def statistics_of(translations: Iterable[Sequence[str]], references: Iterable[Sequence[str]]) -> Statistics:
    """The statistics of `translations`, a row a sentence, with one of `references` each; all are lists of tokens."""
    pairs = zip(translations, references, strict=True)
    rows = [Reference.of([reference]).statistics(translation) for translation, reference in pairs]
    return np.array(rows, np.int32).reshape(len(rows), SIZE)


def bleu(sums: Array) -> float:
    """BLEU x 100 of `sums` of statistics, where orders without a match are smoothed as sacreBLEU does (`exp`)."""
    return float(kernels.bleu(np.asarray(sums, np.int64)))
