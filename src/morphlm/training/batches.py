"""Minibatches: the sentences of the training text in a new order each epoch, cut into stretches of L tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from morphlm.arrays import Int32Array, Int64Array, blocks_of
from morphlm.vocabulary.vocabulary import END_ID

Positions = NDArray[np.integer[Any]]

BLOCK_SENTENCES = 1 << 14  # sentences whose positions are computed at a time


def shuffled_positions(tokens: Int32Array, seed: int, epoch: int) -> Positions:
    """The positions of all tokens, sentence by sentence in an order that depends on seed and epoch alone.

    They take 4 bytes a token and 16 a sentence.
    """
    ends = _sentence_ends(tokens)
    order = np.random.default_rng([seed, epoch]).permutation(len(ends))
    result: Positions = np.empty(len(tokens), np.int32 if len(tokens) < 1 << 31 else np.int64)
    filled = 0
    for begin in range(0, len(order), BLOCK_SENTENCES):
        chosen = order[begin : begin + BLOCK_SENTENCES]
        starts = np.where(chosen == 0, 0, ends[chosen - 1])
        lengths = ends[chosen] - starts
        offsets = np.cumsum(lengths) - lengths
        sources = np.repeat(starts - offsets, lengths) + np.arange(lengths.sum())
        result[filled : filled + len(sources)] = sources
        filled += len(sources)
    return result


def _sentence_ends(tokens: Int32Array) -> Int64Array:
    """Where each sentence ends; in blocks, as the comparison takes a byte a token."""
    ends, begin = [np.zeros(0, np.int64)], 0
    for block in blocks_of(tokens):
        ends.append(np.flatnonzero(block == END_ID) + (begin + 1))
        begin += len(block)
    return np.concatenate(ends)


def minibatch_key(seed: int, epoch: int, number: int) -> int:
    """The seed of everything random in a minibatch; it depends on nothing that came before."""
    return int(np.random.SeedSequence([seed, epoch, number]).generate_state(1, np.uint64)[0] >> np.uint64(4))
