"""Predictions p = sum_j q_j C_j + u C of many contexts, from tables of the words that occur in them.

u is the mean of the words before, for models with wide contexts: see kernels/wide.py, which trains it.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.numerics import compiled, inlined
from morphlm.logbilinear.kernels.wide import NEUTRAL

F = np.float32
FOUR = 4  # words that are transformed at a time


class ContextTable(NamedTuple):
    """What contexts are made of. The rows are those of the vocabulary, or of the words that some contexts have."""

    rows: Array  # float32 ((n - 1) U, d): Q C_j of each word, one j after the other; with diagonal C_j (U, d): Q
    offset: int  # between the rows of a word in it: U; 0 with diagonal C_j
    diagonals: Array  # float32 (n - 1, d): C_j if it is diagonal; no rows if it is full


class WideTable(NamedTuple):
    """What wide contexts are made of."""

    vectors: Array  # float32 (U, d): Q
    weights: Array  # float64 (U,): omega
    transform: Array  # float32: C, (d, d), or (1, d) if it is diagonal; no rows without wide contexts
    decay: float  # gamma


class Windows(NamedTuple):
    """The words before each context, the nearest first: items[first], items[first + step], ..."""

    items: Array  # int32
    firsts: Array  # int64 (m,)
    lengths: Array  # int64 (m,)
    step: int  # 1, or -1 for a text in its own order


@inlined
def predict(table: ContextTable, context: Array, out: Array) -> None:
    """p = sum_j q_j C_j."""
    for k in range(out.size):
        out[k] = 0
    for j in range(context.size):
        if context[j] >= 0:
            row = j * table.offset + context[j]
            if len(table.diagonals):
                for k in range(out.size):
                    out[k] += table.rows[row, k] * table.diagonals[j, k]
            else:
                for k in range(out.size):
                    out[k] += table.rows[row, k]


@inlined
def add_wide(table: WideTable, windows: Windows, i: int, u: Array, out: Array) -> None:
    """p += u C for context i; `u` is working space."""
    for k in range(u.size):
        u[k] = 0
    weight, mass, at = 1.0, np.float64(NEUTRAL), windows.firsts[i]
    for _ in range(windows.lengths[i]):
        word = windows.items[at]
        share = weight * table.weights[word]
        if share > 0:
            mass += share
            for k in range(u.size):
                u[k] += F(share) * table.vectors[word, k]
        weight *= table.decay
        at += windows.step
    scale = F(1.0 / mass)
    if len(table.transform) == 1:
        for k in range(u.size):
            out[k] += scale * u[k] * table.transform[0, k]
    else:
        for m in range(u.size):
            for k in range(u.size):
                out[k] += scale * u[m] * table.transform[m, k]


@compiled
def predict_contexts(table: ContextTable, wide: WideTable, contexts: Array, windows: Windows) -> Array:
    """(m, d): p of each context, int32 (m, n - 1), the nearest word first."""
    width = table.rows.shape[1]
    predictions, u = np.empty((len(contexts), width), F), np.empty(width, F)
    for i in range(len(contexts)):
        predict(table, contexts[i], predictions[i])
        if len(wide.transform):
            add_wide(wide, windows, i, u, predictions[i])
    return predictions


@compiled
def token_contexts(stream: Array, begin: int, distances: int, begin_word: int, end_word: int) -> Array:
    """(m, n - 1): the words before tokens begin, begin + 1, ... of sentences that each end with `end_word`."""
    contexts = np.empty((len(stream) - begin, distances), np.int32)
    for i in range(begin, len(stream)):
        is_before = False  # the beginning of the sentence
        for j in range(distances):
            at = i - 1 - j
            is_before = is_before or at < 0 or stream[at] == end_word
            contexts[i - begin, j] = begin_word if is_before else stream[at]
    return contexts


@compiled
def transform_range(begin: int, end: int, vectors: Array, transforms: Array, out: Array) -> None:
    """out[j, u] = q_u C_j for u in begin .. end - 1, with full C_j.

    The sum over the features of q has the same order for every word, which it would not have in BLAS.
    """
    width = vectors.shape[1]
    for j in range(len(transforms)):
        for a in range(begin, end, FOUR):
            b, c, d = min(a + 1, end - 1), min(a + 2, end - 1), min(a + 3, end - 1)
            sums = np.zeros((FOUR, width), F)
            for m in range(width):
                p, q, r, s = vectors[a, m], vectors[b, m], vectors[c, m], vectors[d, m]
                for k in range(width):
                    x = transforms[j, m, k]
                    sums[0, k] += p * x
                    sums[1, k] += q * x
                    sums[2, k] += r * x
                    sums[3, k] += s * x
            out[j, a], out[j, b], out[j, c], out[j, d] = sums[0], sums[1], sums[2], sums[3]
