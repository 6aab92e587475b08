"""First stage of the word classes: how often which word stands beside which, as sparse counts in both directions.

A sentence begins and ends at a boundary, so `<s>` before it and `</s>` after it count as the two sides of one symbol,
END. Two counting sorts find all bigrams of a block of the text, without hashing; the counts of blocks are added row by
row, so that memory grows with the number of different bigrams. Nothing of the size |V| x |V| exists.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from morphlm.arrays import Array, Int32Array, Int64Array, blocks_of
from morphlm.classes import kernels
from morphlm.classes.kernels import Bigrams
from morphlm.errors import ConfigError
from morphlm.vocabulary.corpus import Corpus
from morphlm.vocabulary.vocabulary import END_ID

MAX_TOKENS = 2**31 - 1
BLOCK_TOKENS = 1 << 24  # counted at once, in 8 bytes each
SparseCounts = tuple[Array, Array, Array]  # where rows begin, columns, counts


def count_bigrams(corpus: Corpus) -> Bigrams:
    """The bigrams of a text, from the boundary before its first word to the one after its last."""
    check_text(corpus)
    return count_pairs(blocks_of(corpus.tokens, BLOCK_TOKENS), END_ID, len(corpus.vocabulary))


def check_text(corpus: Corpus) -> None:
    """Refuse a text that is empty, or too long for counts of 32 bits."""
    tokens = len(corpus.tokens)
    if tokens == 0:
        raise ConfigError("the text is empty; word classes need text")
    if tokens > MAX_TOKENS:
        raise ConfigError(f"{tokens:,} tokens are too many for one partition; take less text")


def count_pairs(blocks: Iterable[Int32Array], boundary: int, types: int) -> Bigrams:
    """Count adjacent ids in a stream, given in blocks, that begins after the boundary."""
    left, right, repeats = np.zeros(types, np.int64), np.zeros(types, np.int64), np.zeros(types, np.int32)
    counted: list[SparseCounts] = []
    before = boundary
    for block in blocks:
        firsts, ends = kernels.firsts_by_second(block, before, types)
        before = int(block[-1])
        right += np.diff(ends, prepend=0)
        seconds, ends = kernels.seconds_by_first(firsts, ends)
        left += np.diff(ends, prepend=0)
        counted.append(kernels.run_lengths(seconds, ends, repeats))
        # Only counts of like sizes are added, so that none is added to others again and again.
        while len(counted) > 1 and len(counted[-2][1]) <= 2 * len(counted[-1][1]):
            counted[-2:] = [kernels.add_counts(*counted[-2], *counted[-1])]
    while len(counted) > 1:
        counted[-2:] = [kernels.add_counts(*counted[-2], *counted[-1])]
    (by_first,) = counted
    by_second: SparseCounts = kernels.transpose(*by_first)
    return Bigrams(*by_first, *by_second, repeats, left, right)


def mutual_information(bigrams: Bigrams) -> float:
    """The mutual information of adjacent ids, in nats: sum of n(a,b)/T ln(n(a,b) T / (n(a) n(b)))."""
    total = int(bigrams.left.sum())
    joint = _sum_of_phi(bigrams.successor_counts) + _sum_of_phi(bigrams.repeats)
    margins = _sum_of_phi(bigrams.left) + _sum_of_phi(bigrams.right)
    return float((joint - margins) / total + np.log(total))


def _sum_of_phi(counts: Int64Array | Int32Array) -> float:
    """The sum of x ln x."""
    numbers, times = np.unique(counts[counts > 1], return_counts=True)  # few different counts, so few logarithms
    return float((numbers * np.log(numbers) * times).sum())
