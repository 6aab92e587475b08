"""The table t(f|e) of a trained alignment model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from morphlm.arrays import Array
from morphlm.display import dataclass_repr
from morphlm.lazy import PickledWithoutCaches, cached_property
from morphlm.threads import Workers
from morphlm.translation.alignment.kernels.expectation import TableArrays, count_entries, list_entries
from morphlm.translation.alignment.rows import AlignmentLayout

NULL = "<eps>"  # the given word of what translates nothing; as fast_align writes it
LEAST = 1e-6  # smaller probabilities are not kept: they are most of the table and say nothing


@dataclass(frozen=True, eq=False)
class TranslationTable(PickledWithoutCaches):
    """p(generated word | given word) for words that occur in the same pairs; rows by given word."""

    given: tuple[str, ...]  # the first is NULL
    generated: tuple[str, ...]
    starts: Array  # (V+1,) int64
    words: Array  # int32: numbers of generated words, rising in a row
    probabilities: Array  # float32

    __repr__ = dataclass_repr

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.given)}

    def translations(self, word: str, most: int = 10) -> list[tuple[str, float]]:
        """The likeliest translations of a given word, best first; none if it is not known."""
        number = self._numbers.get(word)
        if number is None:
            return []
        part = slice(self.starts[number], self.starts[number + 1])
        best = np.argsort(-self.probabilities[part], kind="stable")[:most]
        return [(self.generated[self.words[part][k]], float(self.probabilities[part][k])) for k in best]


def collect_translation_table(
    layout: AlignmentLayout, links: Array, given: tuple[str, ...], generated: tuple[str, ...], pool: Workers
) -> TranslationTable:
    """The entries of at least LEAST, from the links that hold t(f|e)."""
    pieces, words = layout.pieces if len(layout.pairs) else [], layout.given_words
    counts = np.zeros(words + 1, np.int64)
    marks = [np.full(layout.generated_words, -1, np.int32) for _ in range(pool.threads)]
    pool.run_pieces(
        lambda k, worker: count_entries(layout.rows, links, *pieces[k], LEAST, marks[worker], counts[1:]), len(pieces)
    )
    starts = np.cumsum(counts)
    table = TableArrays(starts, np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32))
    values = [np.full(layout.generated_words, -1.0, np.float32) for _ in range(pool.threads)]
    pool.run_pieces(
        lambda k, worker: list_entries(layout.rows, links, *pieces[k], LEAST, values[worker], table), len(pieces)
    )
    return TranslationTable((NULL, *given), generated, *table)
