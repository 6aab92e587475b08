"""Minibatches: the sentences of the training text in a new order each epoch, cut into stretches of L tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from morphlm.arrays import Int32Array
from morphlm.vocabulary.vocabulary import END_ID

Places = NDArray[np.integer[Any]]

BLOCK_SENTENCES = 1 << 14  # whose places are computed at a time


def shuffled_places(tokens: Int32Array, seed: int, epoch: int) -> Places:
    """The places of all tokens, sentence by sentence in an order that depends on seed and epoch alone."""
    ends = np.flatnonzero(tokens == END_ID) + 1
    starts = np.concatenate([[0], ends[:-1]])
    order = np.random.default_rng([seed, epoch]).permutation(len(ends))
    result: Places = np.empty(len(tokens), np.int32 if len(tokens) < 1 << 31 else np.int64)
    filled = 0
    for begin in range(0, len(order), BLOCK_SENTENCES):
        chosen = order[begin : begin + BLOCK_SENTENCES]
        lengths = (ends - starts)[chosen]
        places = np.cumsum(lengths) - lengths
        sources = np.repeat(starts[chosen] - places, lengths) + np.arange(lengths.sum())
        result[filled : filled + len(sources)] = sources
        filled += len(sources)
    return result


def key_of(seed: int, epoch: int, number: int) -> int:
    """What decides all that is random in a minibatch: its place in the training, nothing that came before."""
    return int(np.random.SeedSequence([seed, epoch, number]).generate_state(1, np.uint64)[0] >> np.uint64(4))
