"""Putting the rules of a sentence together."""

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import owning
from morphlm.translation.grammar.kernels.patterns import AFTER, BEFORE, BOTH
from morphlm.translation.grammar.kernels.search import END


@owning
def take_rows(starts: Array, items: Array, rows: Array) -> tuple[Array, Array]:
    """Some of the rows that stand one behind the other in `items`."""
    new = np.zeros(len(rows) + 1, np.int64)
    for k in range(len(rows)):
        new[k + 1] = new[k] + starts[rows[k] + 1] - starts[rows[k]]
    taken = np.empty(new[-1], items.dtype)
    for k in range(len(rows)):
        for i in range(new[k], new[k + 1]):
            taken[i] = items[starts[rows[k]] + i - new[k]]
    return new, taken


@owning
def source_sides(rows: Array, patterns: Array, outer_gaps: Array) -> tuple[Array, Array]:
    """The source sides of rules: their patterns with the outer gaps, gaps numbered -1, -2 from the left."""
    starts = np.zeros(len(patterns) + 1, np.int64)
    symbols = np.empty(len(patterns) * (rows.shape[1] + 2), np.int32)
    at = 0
    for r in range(len(patterns)):
        gap = -1
        if outer_gaps[r] == BEFORE or outer_gaps[r] == BOTH:
            symbols[at] = gap
            at, gap = at + 1, gap - 1
        for symbol in rows[patterns[r]]:
            if symbol == END:
                break
            symbols[at] = symbol if symbol >= 0 else gap
            at, gap = at + 1, gap - (symbol < 0)
        if outer_gaps[r] == AFTER or outer_gaps[r] == BOTH:
            symbols[at] = gap
            at += 1
        starts[r + 1] = at
    return starts, symbols[:at].copy()


@owning
def renumber(symbols: Array, words: int) -> Array:
    """Replace words, in place, by numbers in order of appearance; the words by these numbers."""
    numbers = np.full(words, -1, np.int32)
    order = np.empty(min(words, len(symbols)), np.int32)
    count = 0
    for k in range(len(symbols)):
        word = symbols[k]
        if word < 0:
            continue
        if numbers[word] < 0:
            numbers[word] = count
            order[count] = word
            count += 1
        symbols[k] = numbers[word]
    return order[:count].copy()
