"""The wide context: u = sum_k gamma^(k-1) omega(w_k) q_k / (c + sum_k gamma^(k-1) omega(w_k)) over the words before.

Consecutive tokens share almost all of their words, so that u is carried from token to token. On the way back the errors
are carried from the last token to the first in the same way, and gathered for each word in a fixed order.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.numerics import Rows, compiled, inlined

F = np.float32
NEUTRAL = F(5.0)  # c: few words before give a short vector
BLOCK = 128  # tokens that are transformed at a time


class Wide(NamedTuple):
    """The words before the tokens of a minibatch. A *piece* is a stretch of tokens that stand together in the text.

    The rows of a piece are the words before its first token, at most as many as the context is wide, and then its
    tokens but the last.
    """

    tokens: (
        Array  # int64 (P + 1): the tokens of piece p stand at places tokens[p] .. tokens[p + 1] - 1 of the minibatch
    )
    starts: Array  # int64 (P + 1): its rows are starts[p] .. starts[p + 1] - 1
    slots: Array  # int32: the word of each row
    weights: Array  # float32: omega of each row
    holders: Rows  # the rows by slot


@compiled
def plan_wide(
    text: Array, places: Array, window: int, weight_of: Array, words: Array, slot_of: Array
) -> tuple[Array, Wide]:
    """The words of the minibatch with those of the wide contexts added, and the pieces.

    `places` says where in `text` the tokens of the minibatch stand. `slot_of` is working space, -1 before and after.
    """
    tokens, starts = piece_bounds(places, window)
    rows = starts[-1]
    slots, weights = np.empty(rows, np.int32), np.empty(rows, F)
    listed = np.empty(len(words) + rows, np.int32)
    size = len(words)
    for slot in range(size):
        listed[slot] = words[slot]
        slot_of[words[slot]] = slot
    for piece in range(len(tokens) - 1):
        rows_before = starts[piece + 1] - starts[piece] - (tokens[piece + 1] - tokens[piece]) + 1
        first = places[tokens[piece]] - rows_before
        for row in range(starts[piece], starts[piece + 1]):
            word = text[first + row - starts[piece]]
            weights[row] = weight_of[word]
            if weights[row] == 0:
                slots[row] = 0  # whatever it is, it counts nothing
                continue
            if slot_of[word] < 0:
                slot_of[word] = size
                listed[size] = word
                size += 1
            slots[row] = slot_of[word]
    for slot in range(size):
        slot_of[listed[slot]] = -1
    return listed[:size].copy(), Wide(tokens, starts, slots, weights, rows_by_slot(slots, weights, size))


@compiled
def piece_bounds(places: Array, window: int) -> tuple[Array, Array]:
    """Where the pieces begin in the minibatch, and where their rows begin."""
    tokens, starts = np.zeros(len(places) + 1, np.int64), np.zeros(len(places) + 1, np.int64)
    pieces = 0
    for i in range(1, len(places) + 1):
        if i == len(places) or places[i] != places[i - 1] + 1:
            begin = tokens[pieces]
            tokens[pieces + 1] = i
            starts[pieces + 1] = starts[pieces] + min(window, places[begin]) + i - begin - 1
            pieces += 1
    return tokens[: pieces + 1].copy(), starts[: pieces + 1].copy()


@compiled
def rows_by_slot(slots: Array, weights: Array, size: int) -> Rows:
    """The rows that count, by their words."""
    starts = np.zeros(size + 1, np.int64)
    for row in range(len(slots)):
        if weights[row] > 0:
            starts[slots[row] + 1] += 1
    for slot in range(size):
        starts[slot + 1] += starts[slot]
    free, items = starts[:-1].copy(), np.empty(starts[-1], np.int32)
    for row in range(len(slots)):
        if weights[row] > 0:
            items[free[slots[row]]] = row
            free[slots[row]] += 1
    return Rows(starts, items)


@inlined
def add_row(out: Array, table: Array, row: int, weight: float) -> None:
    """out += weight x a row."""
    for k in range(out.size):
        out[k] += weight * table[row, k]


@compiled
def wide_vectors(
    begin: int, end: int, wide: Wide, vectors: Array, window: int, decay: float, out: Array, scales: Array
) -> None:
    """u of the tokens of pieces begin .. end - 1, by place; `scales` are 1 / (c + the sum of the weights)."""
    total = np.empty(vectors.shape[1], F)
    last = F(decay**window)
    for piece in range(begin, end):
        first, size = wide.starts[piece], wide.tokens[piece + 1] - wide.tokens[piece]
        before = wide.starts[piece + 1] - first - size + 1
        total[:] = 0
        mass = F(0.0)
        for row in range(first, first + before + size - 1):
            at = row - first - before  # the token at this row, which has the rows before it
            if at >= 0:
                write_mean(out, scales, wide.tokens[piece] + at, total, mass)
            for k in range(total.size):
                total[k] *= decay
            add_row(total, vectors, wide.slots[row], wide.weights[row])
            mass = mass * decay + wide.weights[row]
            if row - window >= first:
                add_row(total, vectors, wide.slots[row - window], -last * wide.weights[row - window])
                mass -= last * wide.weights[row - window]
        write_mean(out, scales, wide.tokens[piece + 1] - 1, total, mass)


@inlined
def write_mean(out: Array, scales: Array, place: int, total: Array, mass: float) -> None:
    """u = total / (c + mass)."""
    scales[place] = F(1.0) / (NEUTRAL + mass)
    for k in range(total.size):
        out[place, k] = scales[place] * total[k]


@compiled
def predict_wide_diagonal(
    begin: int, end: int, places: Array, wide: Array, diagonal: Array, predictions: Array
) -> None:
    """p += u C with diagonal C."""
    for i in range(begin, end):
        for k in range(diagonal.size):
            predictions[i, k] += wide[places[i], k] * diagonal[k]


@compiled
def predict_wide_full(begin: int, end: int, places: Array, wide: Array, transform: Array, predictions: Array) -> None:
    """p += u C with full C."""
    gathered, part = np.empty((BLOCK, len(transform)), F), np.empty((BLOCK, len(transform)), F)
    for a in range(begin, end, BLOCK):
        b = min(a + BLOCK, end)
        for i in range(a, b):
            gathered[i - a] = wide[places[i]]
        np.dot(gathered[: b - a], transform, part[: b - a])
        for i in range(a, b):
            for k in range(len(transform)):
                predictions[i, k] += part[i - a, k]


@compiled
def back_wide_diagonal(
    begin: int,
    end: int,
    places: Array,
    errors: Array,
    wide: Array,
    scales: Array,
    diagonal: Array,
    out: Array,
    gradient: Array,
) -> None:
    """dL/dC, and dL/du times the scale of each token, by place."""
    gradient[:] = 0
    for i in range(begin, end):
        place = places[i]
        for k in range(diagonal.size):
            gradient[k] += wide[place, k] * errors[i, k]
            out[place, k] = scales[place] * diagonal[k] * errors[i, k]


@compiled
def back_wide_full(
    begin: int,
    end: int,
    places: Array,
    errors: Array,
    wide: Array,
    scales: Array,
    transform: Array,
    out: Array,
    gradient: Array,
) -> None:
    """The same with full C."""
    width = len(transform)
    gathered, part, square = np.empty((BLOCK, width), F), np.empty((BLOCK, width), F), np.empty((width, width), F)
    gradient[:] = 0
    for a in range(begin, end, BLOCK):
        b = min(a + BLOCK, end)
        for i in range(a, b):
            gathered[i - a] = wide[places[i]]
        np.dot(gathered[: b - a].T, errors[a:b], square)
        for m in range(width):
            for k in range(width):
                gradient[m, k] += square[m, k]
        np.dot(errors[a:b], transform.T, part[: b - a])
        for i in range(a, b):
            for k in range(width):
                out[places[i], k] = scales[places[i]] * part[i - a, k]


@compiled
def back_pieces(begin: int, end: int, wide: Wide, errors: Array, window: int, decay: float, out: Array) -> None:
    """The gradient of each row of pieces begin .. end - 1: what the tokens behind it want, times its weight."""
    total = np.empty(errors.shape[1], F)
    last = F(decay**window)
    for piece in range(begin, end):
        first, size = wide.starts[piece], wide.tokens[piece + 1] - wide.tokens[piece]
        before = wide.starts[piece + 1] - first - size + 1
        total[:] = 0
        for row in range(first + before + size - 2, first - 1, -1):
            for k in range(total.size):
                total[k] *= decay
            token = row - first - before + 1  # the next token, for which this row is the nearest word
            if token >= 0:
                add_row(total, errors, wide.tokens[piece] + token, F(1.0))
            if 0 <= token + window < size:
                add_row(total, errors, wide.tokens[piece] + token + window, -last)
            for k in range(total.size):
                out[row, k] = wide.weights[row] * total[k]


@compiled
def add_wide_gradients(begin: int, end: int, holders: Rows, rows: Array, out: Array) -> None:
    """Add to the gradients of the words in slots begin .. end - 1 those of their rows."""
    for slot in range(begin, end):
        for at in range(holders.starts[slot], holders.starts[slot + 1]):
            add_row(out[slot], rows, holders.items[at], F(1.0))
