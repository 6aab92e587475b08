"""Links between words as extents: of every word the first and the last position that it is linked to.

An extent is one number, the first position in its lower 16 bits, the last in the upper ones; a word without links has
a first position above the last, so that taking the least and the greatest of several words needs no special case.
"""

from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing, owning

MAX_SENTENCE = 65_000  # words; positions need 16 bits
HALF = 0xFFFF
NO_LINK = np.uint32(HALF)


class AlignedPairs(NamedTuple):
    """The links of all sentence pairs. Positions in extents and links count from the beginning of the sentence."""

    source_starts: Array  # int64 (S + 1): where each sentence begins in the source text, END included
    target_starts: Array  # int64 (S + 1)
    sentence_of: Array  # int32: the sentence of every source token
    source_extents: Array  # uint32: what each source token is linked to
    target_extents: Array  # uint32
    link_starts: Array  # int64 (S + 1)
    links: Array  # uint32: source position in the lower 16 bits, target position in the upper ones
    target_tokens: Array  # int32


@owning
def make_extents(begins: Array, own: Array, other: Array, size: int) -> Array:
    """Extents of all tokens of a text, from links: where the sentence begins, the token's and the other position."""
    low, high = np.full(size, HALF, np.uint32), np.zeros(size, np.uint32)
    for k in range(len(own)):
        token, linked = begins[k] + own[k], np.uint32(other[k])
        low[token], high[token] = min(low[token], linked), max(high[token], linked)
    return low | (high << np.uint32(16))


@borrowing
def hull(extents: Array, begin: int, end: int) -> tuple[int, int]:
    """The first and the last position that any of these tokens is linked to; the first is above the last if none is."""
    low, high = HALF, 0
    for token in range(begin, end):
        extent: Any = np.int64(extents[token])
        low, high = min(low, extent & HALF), max(high, extent >> 16)
    return low, high


@borrowing
def is_linked(extents: Array, token: int) -> bool:
    """Whether a token has links."""
    return extents[token] != NO_LINK


@borrowing
def links_stay_inside(extents: Array, begin: int, end: int, low: int, high: int) -> bool:
    """Whether all links of these tokens go to low .. high - 1."""
    first, last = hull(extents, begin, end)
    return first > last or (first >= low and last < high)
