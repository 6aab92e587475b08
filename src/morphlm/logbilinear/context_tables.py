"""Tables that predictions are made from: Q C_j of all words of a model, or of those that some contexts have.

Whichever table it is in, the row of a word is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from morphlm.arrays import Float32Array, Float64Array, Int32Array, read_only
from morphlm.lazy import cached_property
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.kernels import context
from morphlm.logbilinear.kernels.prediction import ContextTable, WideTable, Windows, transform_range
from morphlm.logbilinear.kernels.records import SparseRows, SurfaceDropout
from morphlm.logbilinear.parameters import Parameters
from morphlm.logbilinear.states import ContextArrays, FactorIds
from morphlm.logbilinear.structure import Structure
from morphlm.logbilinear.wide import content_weights
from morphlm.threads import Workers

SMALLEST_PIECE = 256  # words, of the work for a thread
REMEMBERED = 1 << 12  # composed words whose rows are kept
NO_DROPOUT = SurfaceDropout(0, np.uint64(0), np.float32(0.0))


class ContextSide(NamedTuple):
    """The tables of some words."""

    table: ContextTable
    wide: WideTable


@dataclass(frozen=True, eq=False)
class ContextTables:
    """Makes the tables of one model."""

    config: LogBilinearConfig
    structure: Structure
    parameters: Parameters
    _composed: dict[FactorIds, ContextSide] = field(default_factory=dict)  # of single words, as they were asked

    def of_vocabulary(self, pool: Workers) -> ContextSide:
        """Of all words. Where Q belongs to words and C_j is diagonal, Q is not copied."""
        words, rows = np.arange(len(self.structure.vocabulary), dtype=np.int32), self.structure.context.rows
        vectors = self._vectors(words, rows, pool) if self.config.context_factors else self.parameters.Q
        return self._side(vectors, self._weights, pool)

    def of_words(self, words: Int32Array, structure: Structure, pool: Workers) -> ContextSide:
        """Of some rows of a structure, which may have more words than the vocabulary."""
        weights = self._weights if structure is self.structure else _weights(self.config, structure)
        chosen = weights[words] if len(weights) else weights
        return self._side(self._vectors(words, structure.context.rows, pool), chosen, pool)

    def with_composed(
        self, side: ContextSide, arrays: ContextArrays, pool: Workers
    ) -> tuple[ContextSide, Int32Array, Windows]:
        """Tables of the words of some states, of which some are composed, and the states in numbers of their rows.

        `side` are the tables of the vocabulary.
        """
        contexts, items = arrays.contexts, arrays.windows.items
        used = np.unique(np.concatenate([contexts.ravel(), items]))
        used = used[used >= 0].astype(np.int32)
        known = used[used < len(self.structure.vocabulary)]
        parts = [_selected(side, known), *(self._of_composed(factors, pool) for factors in arrays.composed)]
        slots = np.where(contexts < 0, contexts, np.searchsorted(used, contexts)).astype(np.int32)
        windows = arrays.windows._replace(items=np.searchsorted(used, items).astype(np.int32))
        return _joined(parts), slots, windows

    def _of_composed(self, factors: FactorIds, pool: Workers) -> ContextSide:
        found = self._composed.get(factors)
        if found is None:
            rows = SparseRows(np.array([0, len(factors)], np.int64), np.array(factors, np.int32))
            weights = np.ones(1) if self.config.wide else np.zeros(0)
            found = self._side(self._vectors(np.zeros(1, np.int32), rows, pool), weights, pool)
            if len(self._composed) >= REMEMBERED:
                self._composed.clear()
            self._composed[factors] = found
        return found

    # ------------------------------------------------------------ the rows

    def _vectors(self, words: Int32Array, rows: SparseRows, pool: Workers) -> Float32Array:
        """(U, d): q, the sum of each word's factors."""
        return compose_words(rows, self.parameters.Q, words, pool)

    def _side(self, vectors: Float32Array, weights: Float64Array, pool: Workers) -> ContextSide:
        config, transforms = self.config, self.parameters.C
        wide = (
            (transforms[-1:] if config.diagonal else transforms[-1])
            if config.wide
            else transforms[:0].reshape(0, config.width)
        )
        of_wide = vectors if config.wide else vectors[:0]
        return ContextSide(
            ContextTable(*self._rows(vectors, read_only(transforms[: config.distances]), pool)),
            WideTable(read_only(of_wide), read_only(weights), read_only(wide), config.wide_decay),
        )

    def _rows(
        self, vectors: Float32Array, transforms: Float32Array, pool: Workers
    ) -> tuple[Float32Array, int, Float32Array]:
        """The fields of a ContextTable."""
        if self.config.diagonal:
            return read_only(vectors), 0, transforms
        out, vectors = np.empty((len(transforms), *vectors.shape), np.float32), read_only(vectors)
        pool.run_ranges(lambda a, b: transform_range(a, b, vectors, transforms, out), len(vectors), SMALLEST_PIECE)
        none = np.zeros((0, self.config.width), np.float32)
        return read_only(out.reshape(-1, self.config.width)), len(vectors), read_only(none)

    @cached_property
    def _weights(self) -> Float64Array:
        return _weights(self.config, self.structure)


def compose_words(rows: SparseRows, table: Float32Array, words: Int32Array, pool: Workers) -> Float32Array:
    """The vectors of some words: the sums of their factors' rows."""
    out, table = np.empty((len(words), table.shape[1]), np.float32), read_only(table)
    pool.run_ranges(
        lambda a, b: context.compose_words(a, b, words, table, rows, NO_DROPOUT, out), len(words), SMALLEST_PIECE
    )
    return out


def _weights(config: LogBilinearConfig, structure: Structure) -> Float64Array:
    """omega of the words of contexts; none without wide contexts."""
    return content_weights(structure).astype(np.float64) if config.wide else np.zeros(0)


def _selected(side: ContextSide, words: Int32Array) -> ContextSide:
    """The rows of some words."""
    table, wide = side
    numbers = words if not table.offset else _numbers(words, table.offset, len(table.rows) // table.offset)
    of_wide = words if len(wide.transform) else words[:0]
    return ContextSide(
        table._replace(rows=table.rows[numbers], offset=len(words) if table.offset else 0),
        wide._replace(vectors=wide.vectors[of_wide], weights=wide.weights[of_wide]),
    )


def _numbers(words: Int32Array, offset: int, distances: int) -> Int32Array:
    """The rows of words for j = 0, 1, ..."""
    return (np.arange(distances)[:, None] * offset + words).ravel()


def _joined(sides: Sequence[ContextSide]) -> ContextSide:
    """One table of several; the words keep their order."""
    table, wide = sides[0]
    width = table.rows.shape[1]
    if table.offset or len(table.diagonals) == 0:
        distances = len(sides[-1].table.rows) // sides[-1].table.offset
        parts = [side.table.rows.reshape(distances, -1, width) for side in sides]
        joined = np.concatenate(parts, axis=1)
        rows, offset = joined.reshape(-1, width), joined.shape[1]
    else:
        rows, offset = np.concatenate([side.table.rows for side in sides]), 0
    return ContextSide(
        table._replace(rows=read_only(rows), offset=offset),
        wide._replace(
            vectors=read_only(np.concatenate([side.wide.vectors for side in sides])),
            weights=read_only(np.concatenate([side.wide.weights for side in sides])),
        ),
    )
