"""The context side: q = M Q^(f), p = sum_j q_j C_j, and the way back.

Every word of a minibatch's contexts is composed and transformed once. On the way back, the gradients of the tokens in
which a word occurs are gathered in a fixed order, so that no two threads add to the same number.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.batch import DROPPED, TouchedFactors
from morphlm.logbilinear.kernels.numerics import (
    compiled,
    dropped,
    inlined,
    prefetch_row,
    surface_weight,
    update_row,
)
from morphlm.logbilinear.kernels.records import AdaGrad, SparseRows, SurfaceDropout
from morphlm.logbilinear.kernels.shards import NOWHERE

F = np.float32
BLOCK = 128  # words that are transformed at a time
PREFETCHED = 4  # rows, or tokens with their context words, that are loaded before they are needed


@inlined
def compose(out: Array, table: Array, word: int, rows: SparseRows, weight: float) -> None:
    """out = the sum of the vectors of a word's factors, the first of them times `weight`."""
    first = rows.items[rows.starts[word]]
    for k in range(out.size):
        out[k] = weight * table[first, k]
    for at in range(rows.starts[word] + 1, rows.starts[word + 1]):
        factor = rows.items[at]
        for k in range(out.size):
            out[k] += table[factor, k]


@compiled
def compose_words(
    begin: int, end: int, words: Array, table: Array, rows: SparseRows, dropout: SurfaceDropout, out: Array
) -> None:
    """out[u] = the vector of words[u], for u in begin .. end - 1, with factor dropout."""
    for u in range(begin, end):
        word = words[u]
        first = rows.starts[word]
        weight = surface_weight(word, rows.starts[word + 1] - first, rows.items[first], dropout)
        compose(out[u], table, word, rows, weight)


@compiled
def transform_words(begin: int, end: int, vectors: Array, transforms: Array, out: Array) -> None:
    """out[j, u] = q_u C_j with full C_j: (U, d) x (d, d)."""
    for a in range(begin, end, BLOCK):
        b = min(a + BLOCK, end)
        for j in range(len(transforms)):
            np.dot(vectors[a:b], transforms[j], out[j, a:b])


@compiled
def predict_full(begin: int, end: int, slots: Array, transformed: Array, predictions: Array) -> None:
    """p = sum_j q_j C_j, gathered from the transformed words."""
    for i in range(begin, end):
        for k in range(predictions.shape[1]):
            predictions[i, k] = 0
        for j in range(slots.shape[1]):
            if slots[i, j] != DROPPED:
                for k in range(predictions.shape[1]):
                    predictions[i, k] += transformed[j, slots[i, j], k]


@compiled
def predict_diagonal(begin: int, end: int, slots: Array, vectors: Array, diagonals: Array, predictions: Array) -> None:
    """p = sum_j q_j C_j with diagonal C_j."""
    for i in range(begin, end):
        for k in range(predictions.shape[1]):
            predictions[i, k] = 0
        for j in range(slots.shape[1]):
            prefetch_row(vectors, max(slots[min(i + PREFETCHED, end - 1), j], 0))
            if slots[i, j] != DROPPED:
                for k in range(predictions.shape[1]):
                    predictions[i, k] += vectors[slots[i, j], k] * diagonals[j, k]


@compiled
def drop_out(begin: int, end: int, offsets: Array, key: int, rate: float, table: Array) -> None:
    """Set a random share of the numbers to 0 and multiply the others by 1 / (1 - rate); equal keys choose the same."""
    scale = F(1.0) / (F(1.0) - rate)
    for i in range(begin, end):
        for k in range(table.shape[1]):
            if dropped(key, offsets[i] * table.shape[1] + k, rate):
                table[i, k] = 0
            else:
                table[i, k] *= scale


@inlined
def gather_rows(out: Array, rows: SparseRows, row: int, table: Array) -> None:
    """out = the sum of the table's rows that a row lists."""
    for k in range(out.size):
        out[k] = 0
    for at in range(rows.starts[row], rows.starts[row + 1]):
        prefetch_row(table, rows.items[min(at + PREFETCHED, len(rows.items) - 1)])  # of this row or the next ones
        i = rows.items[at]
        for k in range(out.size):
            out[k] += table[i, k]


@compiled
def back_diagonal(
    begin: int,
    end: int,
    occurrences: SparseRows,
    errors: Array,
    vectors: Array,
    diagonals: Array,
    out: Array,
    gradient: Array,
) -> None:
    """Gradients of the words in slots begin .. end - 1 and, summed over them, of the diagonals.

    With g_uj the sum of dL/dp over the tokens that have word u at distance j: dL/dq_u = sum_j C_j g_uj and
    dL/dC_j = sum_u q_u g_uj, all element by element.
    """
    distances, width = diagonals.shape
    gathered = np.empty(width, F)
    gradient[:] = 0
    for u in range(begin, end):
        for k in range(width):
            out[u, k] = 0
        for j in range(distances):
            gather_rows(gathered, occurrences, u * distances + j, errors)
            for k in range(width):
                out[u, k] += diagonals[j, k] * gathered[k]
                gradient[j, k] += vectors[u, k] * gathered[k]


@compiled
def back_full(
    begin: int,
    end: int,
    occurrences: SparseRows,
    errors: Array,
    vectors: Array,
    transforms: Array,
    out: Array,
    gradient: Array,
) -> None:
    """`back_diagonal` for full C_j: dL/dq_u = sum_j g_uj C_j', dL/dC_j = sum_u q_u' g_uj, in blocks of words."""
    distances, width = transforms.shape[0], transforms.shape[1]
    gathered, part, square = np.empty((BLOCK, width), F), np.empty((BLOCK, width), F), np.empty((width, width), F)
    gradient[:] = 0
    for a in range(begin, end, BLOCK):
        b = min(a + BLOCK, end)
        for j in range(distances):
            g = gathered[: b - a]
            for u in range(a, b):
                gather_rows(g[u - a], occurrences, u * distances + j, errors)
            np.dot(vectors[a:b].T, g, square)
            for m in range(width):
                for k in range(width):
                    gradient[j, m, k] += square[m, k]
            np.dot(g, transforms[j].T, part[: b - a])
            for u in range(a, b):
                for k in range(width):
                    out[u, k] = part[u - a, k] if j == 0 else out[u, k] + part[u - a, k]


class SharedFactorSums(NamedTuple):
    """Where the gradients of factors go that other words have too: to one row for each shard."""

    number_of: Array  # int32, by row of the table: the number of a shared factor; NOWHERE if it is of one word alone
    row_of: Array  # int32, by number: the row of this shard
    sums: Array  # float32 (rows, d)


@compiled
def update_factors(
    begin: int,
    end: int,
    touched: TouchedFactors,
    rows: SparseRows,
    dropout: SurfaceDropout,
    gradients: Array,
    table: AdaGrad,
    shared: SharedFactorSums,
) -> None:
    """AdaGrad on the touched factors begin .. end - 1; a factor's gradient is the sum over the words that hold it.

    The gradients of shared factors are written down, to be added to those of other shards.
    """
    own = np.empty(table.weights.shape[1], F)
    for slot in range(begin, end):
        factor = touched.factors[slot]
        number = shared.number_of[factor]
        gradient = own if number == NOWHERE else shared.sums[shared.row_of[number]]
        gather_rows(gradient, touched.holders, slot, gradients)
        if dropout.rate > 0 and factor < dropout.surfaces:
            word = touched.words[touched.holders.items[touched.holders.starts[slot]]]
            weight = surface_weight(word, rows.starts[word + 1] - rows.starts[word], factor, dropout)
            for k in range(gradient.size):
                gradient[k] *= weight
            if weight == 0:
                continue
        if number == NOWHERE:
            update_row(table, factor, gradient)
