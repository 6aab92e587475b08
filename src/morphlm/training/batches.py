"""Minibatches: the sentences of the training text in a new order each epoch, cut into stretches of L tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from morphlm.arrays import Int32Array, Int64Array, blocks_of
from morphlm.display import dataclass_repr
from morphlm.vocabulary.vocabulary import END_ID

Positions = NDArray[np.integer[Any]]

BLOCK_SENTENCES = 1 << 14  # sentences whose positions are computed at a time


@dataclass(frozen=True)
class Replay:
    """Old text that stands behind the new one; every epoch has all of the new text and another part of the old."""

    begin: int  # the token with which the old text begins
    share: float  # of the old text among the tokens of an epoch, as long as there is enough of it

    __repr__ = dataclass_repr

    def tokens_of_epoch(self, tokens: int) -> int:
        """How many tokens of old text an epoch has, up to the rest of a sentence, if both texts have so many."""
        return min(round(self.share / (1.0 - self.share) * self.begin), tokens - self.begin)

    def sentences(self, ends: Int64Array, seed: int, epoch: int) -> Int64Array:
        """The sentences of an epoch, not in their order: from epoch to epoch they go around the old text, shuffled."""
        new = int(np.searchsorted(ends, self.begin, side="right"))
        old = np.random.default_rng([seed, 0, 0, 1]).permutation(len(ends) - new)  # not a stream of an epoch's own
        lengths = np.diff(ends[new:], prepend=self.begin)[old]
        offsets, total = np.cumsum(lengths) - lengths, int(lengths.sum())
        wanted = self.tokens_of_epoch(self.begin + total)
        is_taken = (offsets - epoch * wanted) % max(total, 1) < wanted
        return np.concatenate([np.arange(new), new + old[is_taken]])


def shuffled_positions(tokens: Int32Array, seed: int, epoch: int, replay: Replay | None = None) -> Positions:
    """The positions of all tokens, sentence by sentence in an order that depends on seed and epoch alone.

    They take 4 bytes a token and 16 a sentence. With a `replay`, the epoch has only some of the old text.
    """
    ends = _sentence_ends(tokens)
    sentences = len(ends) if replay is None else replay.sentences(ends, seed, epoch)
    order = np.random.default_rng([seed, epoch]).permutation(sentences)
    size = len(tokens) if replay is None else int(np.diff(ends, prepend=0)[order].sum())
    result: Positions = np.empty(size, np.int32 if len(tokens) < 1 << 31 else np.int64)
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
