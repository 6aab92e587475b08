"""Minibatches: the sentences of the training text in a new order each epoch, cut into stretches of L tokens."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from morphlm.vocabulary.vocabulary import END_ID

Tokens = NDArray[np.int32]


def shuffled_sentences(tokens: Tokens, seed: int, epoch: int) -> Tokens:
    """The same sentences in an order that depends on seed and epoch alone."""
    ends = np.flatnonzero(tokens == END_ID) + 1
    starts = np.concatenate([[0], ends[:-1]])
    order = np.random.default_rng([seed, epoch]).permutation(len(ends))
    result = np.empty_like(tokens)
    lengths = (ends - starts)[order]
    places = np.concatenate([[0], np.cumsum(lengths)])
    for sentence, place in zip(order.tolist(), places.tolist(), strict=False):
        result[place : place + ends[sentence] - starts[sentence]] = tokens[starts[sentence] : ends[sentence]]
    return result


def key_of(seed: int, epoch: int, number: int) -> int:
    """What decides all that is random in a minibatch: its place in the training, nothing that came before."""
    return int(np.random.SeedSequence([seed, epoch, number]).generate_state(1, np.uint64)[0] >> np.uint64(4))
