"""First stage of the word classes: how often which word stands beside which, as sparse counts in both directions.

A sentence begins and ends at a boundary, so `<s>` before it and `</s>` after it count as the two sides of one symbol,
END. Two counting sorts find all bigrams in 8 bytes a token and no hashing; nothing of the size |V| x |V| exists.
"""

from __future__ import annotations

import numpy as np

from morphlm.arrays import Array, Int32Array, Int64Array
from morphlm.classes import kernels
from morphlm.classes.kernels import Bigrams
from morphlm.errors import ConfigError
from morphlm.vocabulary.corpus import Corpus
from morphlm.vocabulary.vocabulary import END_ID

MAX_TOKENS = 2**31 - 1


def count_bigrams(corpus: Corpus) -> Bigrams:
    """The bigrams of a text, from the boundary before its first word to the one after its last."""
    return count_pairs(corpus.tokens, END_ID, len(corpus.vocabulary))


def count_pairs(tokens: Int32Array, boundary: int, types: int) -> Bigrams:
    """Count adjacent ids in a stream that begins after the boundary."""
    if len(tokens) == 0:
        raise ConfigError("the text is empty; word classes need text")
    if len(tokens) > MAX_TOKENS:
        raise ConfigError(f"{len(tokens):,} tokens are too many for one partition; take less text")
    firsts, ends = kernels.firsts_by_second(tokens, boundary, types)
    right = np.diff(ends, prepend=0)
    seconds, ends = kernels.seconds_by_first(firsts, ends)
    del firsts  # as large as the text
    left = np.diff(ends, prepend=0)
    repeats = np.zeros(types, np.int32)
    by_first: tuple[Array, Array, Array] = kernels.run_lengths(seconds, ends, repeats)
    del seconds
    by_second: tuple[Array, Array, Array] = kernels.transpose(*by_first)
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
