"""Sentence pairs laid out for EM: the rows of links of every given word, and the shapes of the sentences."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from morphlm.arrays import Array, starts_of
from morphlm.translation.alignment.kernels.expectation import LinkRows, rows_by_word
from morphlm.translation.alignment.kernels.tension import Shapes
from morphlm.translation.alignment.parallel_text import Side

_PIECES = 256  # of the given words; a word's result does not depend on how they are cut


@dataclass(frozen=True, eq=False)
class AlignmentLayout:
    """The pairs of which both sides have words, for one direction."""

    pairs: Array  # their numbers in the text
    rows: LinkRows
    shapes: Shapes
    given_words: int  # with NULL, which is number 0
    generated_words: int
    pieces: list[tuple[int, int]]  # ranges of given words with about equally many links, where they can be

    @property
    def links(self) -> int:
        """The number of links that could be, with those to NULL."""
        return int(self.rows.link_starts[-1])


def lay_out(given: Side, generated: Side) -> AlignmentLayout:
    """Lay out the pairs for a model of the generated words."""
    pairs = np.flatnonzero((given.lengths > 0) & (generated.lengths > 0))
    m, n = given.lengths[pairs], generated.lengths[pairs]
    given_starts, generated_starts, link_starts = starts_of(m + 1), starts_of(n), starts_of((m + 1) * n)
    tokens = _with_nulls(_tokens_of(given, pairs), given_starts)
    words = len(given.words) + 1
    by_word = rows_by_word(tokens, given_starts, generated_starts, link_starts, words)
    rows = LinkRows(given_starts, _tokens_of(generated, pairs), generated_starts, link_starts, *by_word)
    pieces = _pieces(rows)
    return AlignmentLayout(pairs, rows, _shapes(m, n), words, len(generated.words), pieces)


def _tokens_of(side: Side, pairs: Array) -> Array:
    if len(pairs) == len(side.starts) - 1:
        return side.tokens
    kept = np.zeros(len(side.starts) - 1, np.bool_)
    kept[pairs] = True
    return side.tokens[np.repeat(kept, side.lengths)]


def _with_nulls(tokens: Array, starts: Array) -> Array:
    """Words numbered from 1, and NULL before each sentence."""
    whole = np.zeros(starts[-1], np.int32)
    is_word = np.ones(starts[-1], np.bool_)
    is_word[starts[:-1]] = False
    whole[is_word] = tokens + 1
    return whole


def _pieces(rows: LinkRows) -> list[tuple[int, int]]:
    """Cut the given words, most frequent first, where another share of the links is full."""
    costs = starts_of(np.diff(rows.generated_starts)[rows.row_sentence])[rows.first_row]
    cuts = np.searchsorted(costs, costs[-1] * np.arange(1, _PIECES) / _PIECES, side="left")
    bounds = np.unique(np.concatenate([[0], cuts, [len(costs) - 1]])).tolist()
    return list(itertools.pairwise(bounds))


def _shapes(m: Array, n: Array) -> Shapes:
    order = np.lexsort((n, m))
    sizes, counts = np.unique(np.stack([m, n], 1), axis=0, return_counts=True)
    return Shapes(sizes, starts_of(counts), order.astype(np.int32), starts_of(sizes[:, 1]))
