"""All places of a text in the order of the words that follow, so that every phrase is one range of them.

The order is right for so many words from each place, which is all that rules need; places with the same words further
on stay in the order of the text.
"""

from __future__ import annotations

import numpy as np

from morphlm.arrays import Array, read_only, starts_of
from morphlm.translation.grammar.kernels.search import IndexedText

DEPTH = 16  # words to which suffixes are in order; no phrase of a rule is longer


def sort_suffixes(tokens: Array, depth: int = DEPTH) -> Array:
    """Positions in the order of the words from there on, to at least this depth (prefix doubling, Manber & Myers 1993).

    In each round the ranks by the first k words, taken in pairs k words apart, give the order by the first 2k. What is
    beyond the end of the text comes before every word.
    """
    ranks = tokens.astype(np.int64)
    order, known, different = np.argsort(ranks, kind="stable"), 1, 0
    while known < depth and different < len(tokens):
        keys = ranks * (int(ranks.max(initial=0)) + 2)
        keys[: len(tokens) - known] += ranks[known:] + 1
        order = np.argsort(keys, kind="stable")
        in_order = keys[order]
        steps = np.cumsum(in_order[1:] != in_order[:-1])
        ranks[order[:1]] = 0
        ranks[order[1:]] = steps
        different = 1 + int(steps[-1]) if len(steps) else len(tokens)
        known *= 2
    return order.astype(np.int32)


def searchable(tokens: Array, words: int, depth: int = DEPTH) -> IndexedText:
    """Sentences, each followed by END, with what is needed to find phrases in them."""
    starts = starts_of(np.bincount(tokens, minlength=words))
    return IndexedText(*map(read_only, (tokens, sort_suffixes(tokens, depth), starts)))
