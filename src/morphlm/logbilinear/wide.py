"""The wide context: one more context vector, the weighted mean of the words of the text before, across sentences.

u = sum_k gamma^(k-1) omega(w_k) q_k / (c + sum_k gamma^(k-1) omega(w_k)), where w_k is the word at distance k, and
p = sum_j q_j C_j + u C with a matrix C of its own, the last of the parameters C. omega leaves little of words that are
everywhere, so that u says what the text is about.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from morphlm.arrays import BoolArray, Float32Array, Float64Array, Int32Array
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.kernels import wide as kernels
from morphlm.logbilinear.kernels.batch import Batch
from morphlm.logbilinear.kernels.wide import TokenOrigin, WideVectors, WideWindows
from morphlm.logbilinear.structure import Structure
from morphlm.logbilinear.workspace import SMALLEST_PIECE, Workspace
from morphlm.text.reading import RESERVED
from morphlm.threads import Workers
from morphlm.vocabulary.vocabulary import UNK_ID

CONTENT = 1e-4  # t: a word with a larger share of the text has a smaller weight


def content_weights(structure: Structure) -> Float32Array:
    """omega(w) = sqrt(t / f(w)), at most 1, f the word's share of the training text; 0 for sentence marks and UNK."""
    counts = structure.vocabulary.counts.astype(np.float64)
    shares = np.maximum(counts, 0.5) / max(counts.sum(), 1.0)
    weights = np.minimum(1.0, np.sqrt(CONTENT / shares))
    weights[: len(RESERVED)] = 0.0
    if structure.added:
        weights[-structure.added :] = _weights_of_added_words(structure)
    return np.concatenate([weights, _weights_of_new_words(structure)]).astype(np.float32)


def _weights_of_added_words(structure: Structure) -> BoolArray:
    """As for new words; those that have at most a surface factor are UNK in contexts."""
    (starts, items), words = structure.context.rows, len(structure.vocabulary)
    last = items[starts[words - structure.added + 1 : words + 1] - 1]
    has_known_factors: BoolArray = last >= structure.context.surfaces
    return has_known_factors


def _weights_of_new_words(structure: Structure) -> Float64Array:
    """1, as for rare words, for words of contexts that are not in the vocabulary but have known factors; else 0."""
    rows, words = structure.context.rows, len(structure.vocabulary)
    factors = [
        rows.items[begin:end] for begin, end in zip(rows.starts[words:-1], rows.starts[words + 1 :], strict=True)
    ]
    unknown = rows.items[rows.starts[UNK_ID] : rows.starts[UNK_ID + 1]]
    return np.array([not np.array_equal(items, unknown) for items in factors], np.float64)


class WideContexts:
    """The wide contexts of one engine's minibatches."""

    def __init__(self, config: LogBilinearConfig, structure: Structure, workers: Workers, space: Workspace) -> None:
        self.config, self.workers, self.space = config, workers, space
        self.weights, self._decay = content_weights(structure), np.float32(config.wide_decay)

    def plan(self, origin: TokenOrigin, batch: Batch, slot_of_word: Int32Array) -> tuple[Batch, WideWindows]:
        """Add the words before the tokens of a minibatch to its words. `origin` is of its tokens alone."""
        words, wide = kernels.plan_wide(origin, self.config.wide, self.weights, batch.words, slot_of_word)
        return batch._replace(words=words), wide

    def add(
        self,
        batch: Batch,
        own_tokens: tuple[int, int],
        wide: WideWindows,
        vectors: Float32Array,
        transform: Float32Array,
        predictions: Float32Array,
    ) -> WideVectors:
        """p += u C of the tokens of this rank; returns u of all of them."""
        u = WideVectors(self.space.rows("wide", *predictions.shape), self.space.rows("scales", len(predictions)))
        self.workers.run_ranges(lambda a, b: kernels.wide_vectors(a, b, wide, vectors, self._decay, u), _pieces(wide))
        predict = kernels.predict_wide_diagonal if self.config.diagonal else kernels.predict_wide_full
        begin, end = own_tokens
        if end > begin:
            self.workers.run_ranges(
                lambda a, b: predict(begin + a, begin + b, batch.offsets, u.vectors, transform, predictions),
                end - begin,
                SMALLEST_PIECE,
            )
        return u

    def learn(
        self,
        batch: Batch,
        token_bounds: list[int],
        own_slots: tuple[int, int],
        wide: WideWindows,
        u: WideVectors,
        errors: Float32Array,
        transform: Float32Array,
        gradients: Float32Array,
        transform_parts: Mapping[int, Float32Array],
    ) -> None:
        """Writes dL/dC of the shards of this rank, and adds to the gradients of its slots.

        The errors of all tokens are carried back on every rank: a piece of the text has tokens of all shards.
        """
        by_offset = self.space.rows("wide errors", *errors.shape)
        back = kernels.back_wide_diagonal if self.config.diagonal else kernels.back_wide_full

        def transformed(shard: int, _: int) -> None:
            begin, end = token_bounds[shard : shard + 2]
            part = transform_parts.get(shard)
            gradient = np.empty(transform.shape, np.float32) if part is None else part
            back(begin, end, batch.offsets, errors, u, transform, by_offset, gradient)

        self.workers.run_pieces(transformed, len(token_bounds) - 1)
        rows = self.space.rows("wide rows", int(wide.starts[-1]), errors.shape[1])
        self.workers.run_ranges(
            lambda a, b: kernels.back_pieces(a, b, wide, by_offset, self._decay, rows), _pieces(wide)
        )
        holders = kernels.list_holders(wide, len(batch.words))
        begin, end = own_slots
        if end > begin:
            self.workers.run_ranges(
                lambda a, b: kernels.add_wide_gradients(begin + a, begin + b, holders, rows, gradients),
                end - begin,
                SMALLEST_PIECE,
            )


def _pieces(wide: WideWindows) -> int:
    return len(wide.tokens) - 1
