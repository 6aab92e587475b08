"""Finding the nearest rows of a matrix by their cosine: the last step of every question about neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from morphlm.arguments import shown, whole_number
from morphlm.arrays import Array, Float32Array, Int64Array
from morphlm.errors import ConfigError

RankedRows = tuple[Int64Array, Float32Array]  # rows, nearest first, and their cosines

QUERIES_A_CALL = 64  # their cosines with 200,000 rows take 50 MB


class Neighbour(NamedTuple):
    """A word or morpheme, and its cosine with what was asked for."""

    name: str
    similarity: float


def checked_vectors(vectors: object, dimensions: int) -> Array:
    """Vectors to be compared with others: a matrix of finite numbers, with a row for each."""
    if not isinstance(vectors, np.ndarray) or vectors.dtype.kind not in "fiu":
        raise ConfigError(f"{shown(vectors)} is no vector; give words, or arrays of {dimensions} numbers")
    if vectors.ndim != 2 or vectors.shape[1] != dimensions:
        raise ConfigError(f"a vector of shape {vectors.shape[1:]} among those of {dimensions}; give one alike")
    if not np.isfinite(vectors).all():
        raise ConfigError("a vector has a number that is not finite; give finite ones")
    return vectors


def unit_rows(rows: Array) -> Float32Array:
    """The rows with length 1; those of zeros stay."""
    rows = rows.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    lengths[lengths == 0] = 1
    rows /= lengths[:, None].astype(np.float32)
    return rows


def nearest(
    units: Float32Array, queries: Float32Array, k: int, excluded: Sequence[Sequence[int]]
) -> Iterator[RankedRows]:
    """For each query the k rows with the highest cosine, without those that are excluded for it; of equals the first.

    `units` are rows of length 1, queries are rows of any length.
    """
    k, queries = whole_number("the number of neighbours", k), unit_rows(queries)
    for begin in range(0, len(queries), QUERIES_A_CALL):
        batch = queries[begin : begin + QUERIES_A_CALL]
        table = batch @ units.T if len(batch) > 1 else (units @ batch[0])[None]  # (queries, rows)
        for scores, rows in zip(table, excluded[begin : begin + QUERIES_A_CALL], strict=True):
            scores[list(rows)] = -np.inf
            best = largest(scores, min(k, len(scores) - len(set(rows))))
            yield best, scores[best]


def largest(values: Array, k: int, ties: Int64Array | None = None) -> Int64Array:
    """The indices of the k largest values, the largest first; of equals the first, or the one with the least `ties`."""
    if k < 1:
        return np.zeros(0, np.int64)
    if k < len(values):
        least = np.partition(values, len(values) - k)[len(values) - k]
        candidates = np.flatnonzero(values >= least)  # more than k, if several are equal to the least
    else:
        candidates = np.arange(len(values))
    descending = -values[candidates]
    order = np.argsort(descending, kind="stable") if ties is None else np.lexsort((ties[candidates], descending))
    indices: Int64Array = candidates[order][:k]
    return indices
