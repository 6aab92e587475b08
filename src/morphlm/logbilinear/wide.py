"""The wide context: one more context vector, the weighted mean of the words of the text before, across sentences.

u = sum_k gamma^(k-1) omega(w_k) q_k / (c + sum_k gamma^(k-1) omega(w_k)), where w_k is the word at distance k, and
p = sum_j q_j C_j + u C with a matrix C of its own, the last of the parameters C. omega leaves little of words that are
everywhere, so that u says what the text is about.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.kernels import wide as kernels
from morphlm.logbilinear.kernels.batch import Batch
from morphlm.logbilinear.kernels.wide import Wide
from morphlm.logbilinear.structure import Structure
from morphlm.logbilinear.working import SHARDS, SMALLEST_PIECE, Workspace, ranged
from morphlm.text.reading import RESERVED
from morphlm.threads import Workers
from morphlm.vocabulary.vocabulary import UNK_ID

Array = NDArray[np.float32]
Tokens = NDArray[np.int32]

CONTENT = 1e-4  # t: a word with a larger share of the text counts less


def content_weights(structure: Structure) -> Array:
    """omega(w) = sqrt(t / f(w)), at most 1, with f the word's share of the training text; marks and UNK say nothing."""
    counts = structure.vocabulary.counts.astype(np.float64)
    shares = np.maximum(counts, 0.5) / max(counts.sum(), 1.0)
    weights = np.minimum(1.0, np.sqrt(CONTENT / shares))
    weights[: len(RESERVED)] = 0.0
    return np.concatenate([weights, _weights_of_new_words(structure)]).astype(np.float32)


def _weights_of_new_words(structure: Structure) -> NDArray[np.float64]:
    """1 for words of contexts that are not in the vocabulary but have known factors, as rare words have."""
    rows, words = structure.context.rows, len(structure.vocabulary)
    factors = [
        rows.items[begin:end] for begin, end in zip(rows.starts[words:-1], rows.starts[words + 1 :], strict=True)
    ]
    unknown = rows.items[rows.starts[UNK_ID] : rows.starts[UNK_ID + 1]]
    return np.array([not np.array_equal(items, unknown) for items in factors], np.float64)


class Origin(NamedTuple):
    """Where the tokens of a stream of sentences in another order come from."""

    text: Tokens  # the text as it is
    places: NDArray[np.integer[Any]]  # the place in it of each token of the stream


class Means(NamedTuple):
    """The wide vectors of a minibatch, by the places of its tokens."""

    vectors: Array  # (L, d): u
    scales: Array  # (L,): 1 / (c + sum of the weights)


class WideContexts:
    """The wide contexts of one engine's minibatches."""

    def __init__(self, config: LogBilinearConfig, structure: Structure, workers: Workers, space: Workspace) -> None:
        """The space is shared with the engine."""
        self.config, self.workers, self.space = config, workers, space
        self.weights = content_weights(structure)
        self._reach = config.wide, np.float32(config.wide_decay)

    def plan(self, origin: Origin, batch: Batch, slot_of_word: Tokens) -> tuple[Batch, Wide]:
        """The words before the tokens of a minibatch, which are added to its words. `origin` is of its tokens alone."""
        words, wide = kernels.plan_wide(
            origin.text, origin.places, self.config.wide, self.weights, batch.words, slot_of_word
        )
        added = (len(words) - len(batch.words)) * self.config.distances
        starts = np.append(batch.occurrences.starts, np.full(added, batch.occurrences.starts[-1]))
        return batch._replace(words=words, occurrences=batch.occurrences._replace(starts=starts)), wide

    def add(self, batch: Batch, wide: Wide, vectors: Array, transform: Array, predictions: Array) -> Means:
        """p += u C; returns u."""
        means = Means(self.space.rows("wide", *predictions.shape), self.space.rows("scales", len(predictions)))
        self.workers.over(partial(ranged, kernels.wide_vectors, wide, vectors, *self._reach, *means), _pieces(wide))
        kernel = kernels.predict_wide_diagonal if self.config.diagonal else kernels.predict_wide_full
        task = partial(ranged, kernel, batch.places, means.vectors, transform, predictions)
        self.workers.over(task, len(predictions), SMALLEST_PIECE)
        return means

    def learn(
        self,
        batch: Batch,
        wide: Wide,
        means: Means,
        errors: Array,
        transform: Array,
        gradients: Array,
        transform_shards: Array,
    ) -> None:
        """Writes dL/dC in shards, and adds to the gradients of the minibatch's words."""
        length = len(errors)
        by_place = self.space.rows("wide errors", *errors.shape)
        back = kernels.back_wide_diagonal if self.config.diagonal else kernels.back_wide_full

        def transformed(shard: int, _: int) -> None:
            begin, end = length * shard // SHARDS, length * (shard + 1) // SHARDS
            back(begin, end, batch.places, errors, *means, transform, by_place, transform_shards[shard])

        self.workers.each(transformed, SHARDS)
        rows = self.space.rows("wide rows", int(wide.starts[-1]), errors.shape[1])
        self.workers.over(partial(ranged, kernels.back_pieces, wide, by_place, *self._reach, rows), _pieces(wide))
        task = partial(ranged, kernels.add_wide_gradients, wide.holders, rows, gradients)
        self.workers.over(task, len(batch.words), SMALLEST_PIECE)


def _pieces(wide: Wide) -> int:
    return len(wide.tokens) - 1
