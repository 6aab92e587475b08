"""Minibatches: the sentences of the training text in a new order each epoch, cut into stretches of L tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from morphlm.arrays import Int32Array
from morphlm.vocabulary.vocabulary import END_ID

Positions = NDArray[np.integer[Any]]

BLOCK_SENTENCES = 1 << 14  # sentences whose positions are computed at a time


def shuffled_positions(tokens: Int32Array, seed: int, epoch: int) -> Positions:
    """The positions of all tokens, sentence by sentence in an order that depends on seed and epoch alone."""
    ends = np.flatnonzero(tokens == END_ID) + 1
    starts = np.concatenate([[0], ends[:-1]])
    order = np.random.default_rng([seed, epoch]).permutation(len(ends))
    result: Positions = np.empty(len(tokens), np.int32 if len(tokens) < 1 << 31 else np.int64)
    filled = 0
    for begin in range(0, len(order), BLOCK_SENTENCES):
        chosen = order[begin : begin + BLOCK_SENTENCES]
        lengths = (ends - starts)[chosen]
        offsets = np.cumsum(lengths) - lengths
        sources = np.repeat(starts[chosen] - offsets, lengths) + np.arange(lengths.sum())
        result[filled : filled + len(sources)] = sources
        filled += len(sources)
    return result


def minibatch_key(seed: int, epoch: int, number: int) -> int:
    """The seed of everything random in a minibatch; it depends on nothing that came before."""
    return int(np.random.SeedSequence([seed, epoch, number]).generate_state(1, np.uint64)[0] >> np.uint64(4))
