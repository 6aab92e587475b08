"""When the words of a class are learned: not in every minibatch, but when enough of the class's tokens have gathered.

ln P(w|h) = ln P(c|h) + ln P(w|h,c). The first term of a token is always learned in its own minibatch. To learn the
second, all words of the class are composed, scored and updated, which takes as long for ten tokens as for a hundred. So
the tokens of a class wait until there are enough; then their terms are learned with the parameters of that moment, from
contexts composed anew. Nothing is approximated: the terms of an epoch are learned in another order. They are learned in
pieces, one after the other, as they would have been in minibatches of their own: one large step instead of several
small ones would learn less. What waits depends on the tokens alone, so that a resumed training finds it again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Int32Array, Int64Array
from morphlm.logbilinear.config import LearningConfig, LogBilinearConfig
from morphlm.logbilinear.structure import Structure

LONGEST_WAIT = 8  # minibatches until a token is learned, its own included
SMALLEST_PIECE = 24  # tokens of a class, if there are several pieces: updating its words takes as long as scoring some
NONE = np.zeros(0, np.int64)


class Gathered(NamedTuple):
    """Which classes learn their words in a minibatch, and from which tokens besides those of the minibatch."""

    pieces: Int64Array  # (C,): in how many pieces, at most as many as there are minibatches in them; 0: not now
    earlier: Int64Array  # positions in the stream, in order of the classes


def gathering_of_epoch(
    config: LogBilinearConfig, structure: Structure, learning: LearningConfig
) -> WordGathering | None:
    """For an epoch that begins; None if every minibatch learns all that is in it."""
    tokens = learning.tokens_to_gather(config, len(structure.class_of))
    return WordGathering(structure.class_of, np.diff(structure.layout.starts), tokens) if tokens > 1 else None


class WordGathering:
    """The minibatches of one epoch, from its first on."""

    def __init__(self, class_of: Int32Array, words: Int64Array, tokens: int) -> None:
        """`class_of` each word, the number of `words` of each class, and how many tokens of a class are enough."""
        self._class_of, self._tokens = class_of, tokens
        # The first time, some classes need fewer tokens and minibatches, so that later they do not all learn at once.
        turn = np.arange(len(words)) % LONGEST_WAIT
        self._enough, self._waited = tokens * (LONGEST_WAIT - turn) // LONGEST_WAIT, turn
        self._has_choice = words > 1  # a class of one word has nothing to learn
        self._waiting, self._counts = NONE, np.zeros(len(words), np.int64)

    def skip(self, stream: Int32Array, end: int, length: int) -> None:
        """Find again what waits after the minibatches of `length` tokens up to `end`."""
        for begin in range(0, end, length):
            self.next(stream, begin, begin + length)

    def next(self, stream: Int32Array, begin: int, end: int) -> Gathered:
        """For the minibatch of tokens begin .. end - 1, which follows the one before; the last one learns all."""
        classes = self._class_of[stream[begin:end]]
        counts = self._counts + np.bincount(classes, minlength=len(self._counts))
        self._waited = self._waited + 1
        learns = (counts >= self._enough) | (self._waited >= LONGEST_WAIT) | (end >= len(stream))
        waiting = self._class_of[stream[self._waiting]]
        earlier = self._waiting[learns[waiting]]
        earlier = earlier[np.argsort(self._class_of[stream[earlier]], kind="stable")]
        delayed = begin + np.flatnonzero(~learns[classes] & self._has_choice[classes])
        self._waiting = np.concatenate([self._waiting[~learns[waiting]], delayed])
        pieces = np.clip(counts // SMALLEST_PIECE, 1, self._waited) * learns
        self._counts, self._waited = np.where(learns, 0, counts), np.where(learns, 0, self._waited)
        self._enough = np.where(learns, self._tokens, self._enough)
        return Gathered(pieces, earlier)
