"""The context side: q = M Q^(f), p = sum_j q_j C_j, and the way back.

Every word of a minibatch's contexts is composed and transformed once. On the way back, the gradients of the tokens in
which a word occurs are gathered in a fixed order, so that no two threads add to the same number.
"""

import numpy as np

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.batch import DROPPED, Batch
from morphlm.logbilinear.kernels.numerics import Rows, adagrad, compiled, dropped, inlined, surface_weight

F = np.float32
BLOCK = 128  # words that are transformed at a time


@inlined
def compose(out: Array, table: Array, word: int, rows: Rows, weight: float) -> None:
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
    begin: int, end: int, words: Array, table: Array, rows: Rows, surfaces: int, key: int, rate: float, out: Array
) -> None:
    """out[u] = the vector of words[u], for u in begin .. end - 1, with factor dropout at a rate."""
    for u in range(begin, end):
        word = words[u]
        first = rows.starts[word]
        weight = surface_weight(word, rows.starts[word + 1] - first, rows.items[first], surfaces, key, rate)
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
            if slots[i, j] != DROPPED:
                for k in range(predictions.shape[1]):
                    predictions[i, k] += vectors[slots[i, j], k] * diagonals[j, k]


@compiled
def drop_out(begin: int, end: int, places: Array, key: int, rate: float, table: Array) -> None:
    """Set a random share of the numbers to 0 and multiply the others by 1 / (1 - rate); equal keys choose the same."""
    scale = F(1.0) / (F(1.0) - rate)
    for i in range(begin, end):
        for k in range(table.shape[1]):
            if dropped(key, places[i] * table.shape[1] + k, rate):
                table[i, k] = 0
            else:
                table[i, k] *= scale


@inlined
def gather_rows(out: Array, rows: Rows, row: int, table: Array) -> None:
    """out = the sum of the table's rows that a row lists."""
    for k in range(out.size):
        out[k] = 0
    for at in range(rows.starts[row], rows.starts[row + 1]):
        i = rows.items[at]
        for k in range(out.size):
            out[k] += table[i, k]


@compiled
def back_diagonal(
    begin: int, end: int, batch: Batch, errors: Array, vectors: Array, diagonals: Array, out: Array, gradient: Array
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
            gather_rows(gathered, batch.occurrences, u * distances + j, errors)
            for k in range(width):
                out[u, k] += diagonals[j, k] * gathered[k]
                gradient[j, k] += vectors[u, k] * gathered[k]


@compiled
def back_full(
    begin: int, end: int, batch: Batch, errors: Array, vectors: Array, transforms: Array, out: Array, gradient: Array
) -> None:
    """The same for full C_j: dL/dq_u = sum_j g_uj C_j', dL/dC_j = sum_u q_u' g_uj, in blocks of words."""
    distances, width = transforms.shape[0], transforms.shape[1]
    gathered, part, square = np.empty((BLOCK, width), F), np.empty((BLOCK, width), F), np.empty((width, width), F)
    gradient[:] = 0
    for a in range(begin, end, BLOCK):
        b = min(a + BLOCK, end)
        for j in range(distances):
            g = gathered[: b - a]
            for u in range(a, b):
                gather_rows(g[u - a], batch.occurrences, u * distances + j, errors)
            np.dot(vectors[a:b].T, g, square)
            for m in range(width):
                for k in range(width):
                    gradient[j, m, k] += square[m, k]
            np.dot(g, transforms[j].T, part[: b - a])
            for u in range(a, b):
                for k in range(width):
                    out[u, k] = part[u - a, k] if j == 0 else out[u, k] + part[u - a, k]


@compiled
def update_factors(
    begin: int,
    end: int,
    factors: Array,
    holders: Rows,
    words: Array,
    rows: Rows,
    surfaces: int,
    key: int,
    rate: float,
    gradients: Array,
    table: Array,
    squares: Array,
    step: float,
    shrink: float,
) -> None:
    """AdaGrad on the factors in slots begin .. end - 1; a factor's gradient is the sum over the words that hold it."""
    gradient = np.empty(table.shape[1], F)
    for slot in range(begin, end):
        factor = factors[slot]
        gather_rows(gradient, holders, slot, gradients)
        if rate > 0 and factor < surfaces:
            word = words[holders.items[holders.starts[slot]]]
            weight = surface_weight(word, rows.starts[word + 1] - rows.starts[word], factor, surfaces, key, rate)
            if weight == 0:
                continue
            for k in range(gradient.size):
                gradient[k] *= weight
        adagrad(table[factor], squares[factor], gradient, step, shrink)
