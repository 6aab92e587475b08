"""The wide context: u = sum_k gamma^(k-1) omega(w_k) q_k / (c + sum_k gamma^(k-1) omega(w_k)) over the words before.

Consecutive tokens share almost all of their words, so that u is carried from token to token. On the way back the errors
are carried from the last token to the first in the same way, and gathered for each word in a fixed order.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.numerics import compiled, group_by, inlined
from morphlm.logbilinear.kernels.records import SparseRows

F = np.float32
NEUTRAL = F(5.0)  # c: few words before give a short vector
BLOCK = 128  # tokens that are transformed at a time


class TokenOrigin(NamedTuple):
    """Where the tokens of a stream, whose sentences may be in another order, come from."""

    text: Array  # int32: the text in its own order
    positions: Array  # of integers: the position in it of each token of the stream


class WideWindows(NamedTuple):
    """The words before the tokens of a minibatch. A *piece* is a run of tokens that are neighbours in the text.

    The rows of a piece are the words before its first token, at most as many as the context is wide, and then its
    tokens but the last.
    """

    tokens: Array  # int64 (P + 1): piece p has the tokens at offsets tokens[p] .. tokens[p + 1] - 1 of the minibatch
    starts: Array  # int64 (P + 1): its rows are starts[p] .. starts[p + 1] - 1
    slots: Array  # int32: the word of each row
    weights: Array  # float32: omega of each row
    size: int  # the most words of a wide context


class WideVectors(NamedTuple):
    """The wide vectors of a minibatch, by the offsets of its tokens."""

    vectors: Array  # float32 (L, d): u
    scales: Array  # float32 (L,): 1 / (c + the sum of the weights)


@compiled
def plan_wide(
    origin: TokenOrigin, size: int, weight_of: Array, words: Array, slot_of: Array
) -> tuple[Array, WideWindows]:
    """The words of the minibatch with those of the wide contexts added, and the windows.

    `origin` is of the minibatch alone. `slot_of` is working space, -1 before and after.
    """
    text, positions = origin.text, origin.positions
    tokens, starts = piece_bounds(positions, size)
    rows = starts[-1]
    slots, weights = np.empty(rows, np.int32), np.empty(rows, F)
    listed = np.empty(len(words) + rows, np.int32)
    slots_used = len(words)
    for slot in range(slots_used):
        listed[slot] = words[slot]
        slot_of[words[slot]] = slot
    for piece in range(len(tokens) - 1):
        rows_before = starts[piece + 1] - starts[piece] - (tokens[piece + 1] - tokens[piece]) + 1
        first = positions[tokens[piece]] - rows_before
        for row in range(starts[piece], starts[piece + 1]):
            word = text[first + row - starts[piece]]
            weights[row] = weight_of[word]
            if weights[row] == 0:
                slots[row] = 0  # any slot: its weight is 0
                continue
            if slot_of[word] < 0:
                slot_of[word] = slots_used
                listed[slots_used] = word
                slots_used += 1
            slots[row] = slot_of[word]
    for slot in range(slots_used):
        slot_of[listed[slot]] = -1
    return listed[:slots_used].copy(), WideWindows(tokens, starts, slots, weights, size)


@compiled
def list_holders(wide: WideWindows, slots: int) -> SparseRows:
    """The rows by slot; those without weight are left out."""
    return group_by(np.where(wide.weights > 0, wide.slots, np.int32(-1)), slots)


@compiled
def piece_bounds(positions: Array, size: int) -> tuple[Array, Array]:
    """Where the pieces begin in the minibatch, and where their rows begin."""
    length = len(positions)
    tokens, starts = np.zeros(length + 1, np.int64), np.zeros(length + 1, np.int64)
    pieces = 0
    for i in range(1, length + 1):
        if i == length or positions[i] != positions[i - 1] + 1:
            begin = tokens[pieces]
            tokens[pieces + 1] = i
            starts[pieces + 1] = starts[pieces] + min(size, positions[begin]) + i - begin - 1
            pieces += 1
    return tokens[: pieces + 1].copy(), starts[: pieces + 1].copy()


@inlined
def add_row(out: Array, table: Array, row: int, weight: float) -> None:
    """out += weight x a row."""
    for k in range(out.size):
        out[k] += weight * table[row, k]


@compiled
def wide_vectors(begin: int, end: int, wide: WideWindows, vectors: Array, decay: float, out: WideVectors) -> None:
    """u of the tokens of pieces begin .. end - 1; `decay` is gamma."""
    total = np.empty(vectors.shape[1], F)
    window = wide.size
    last = F(decay**window)
    for piece in range(begin, end):
        first, size = wide.starts[piece], wide.tokens[piece + 1] - wide.tokens[piece]
        before = wide.starts[piece + 1] - first - size + 1
        total[:] = 0
        mass = F(0.0)
        for row in range(first, first + before + size - 1):
            at = row - first - before  # the token of this row; its context are the rows before it
            if at >= 0:
                write_mean(out, wide.tokens[piece] + at, total, mass)
            for k in range(total.size):
                total[k] *= decay
            add_row(total, vectors, wide.slots[row], wide.weights[row])
            mass = mass * decay + wide.weights[row]
            if row - window >= first:
                add_row(total, vectors, wide.slots[row - window], -last * wide.weights[row - window])
                mass -= last * wide.weights[row - window]
        write_mean(out, wide.tokens[piece + 1] - 1, total, mass)


@inlined
def write_mean(out: WideVectors, offset: int, total: Array, mass: float) -> None:
    """u = total / (c + mass)."""
    out.scales[offset] = F(1.0) / (NEUTRAL + mass)
    for k in range(total.size):
        out.vectors[offset, k] = out.scales[offset] * total[k]


@compiled
def predict_wide_diagonal(
    begin: int, end: int, offsets: Array, wide: Array, diagonal: Array, predictions: Array
) -> None:
    """p += u C with diagonal C."""
    for i in range(begin, end):
        for k in range(diagonal.size):
            predictions[i, k] += wide[offsets[i], k] * diagonal[k]


@compiled
def predict_wide_full(begin: int, end: int, offsets: Array, wide: Array, transform: Array, predictions: Array) -> None:
    """p += u C with full C."""
    gathered, part = np.empty((BLOCK, len(transform)), F), np.empty((BLOCK, len(transform)), F)
    for a in range(begin, end, BLOCK):
        b = min(a + BLOCK, end)
        for i in range(a, b):
            gathered[i - a] = wide[offsets[i]]
        np.dot(gathered[: b - a], transform, part[: b - a])
        for i in range(a, b):
            for k in range(len(transform)):
                predictions[i, k] += part[i - a, k]


@compiled
def back_wide_diagonal(
    begin: int,
    end: int,
    offsets: Array,
    errors: Array,
    wide: WideVectors,
    diagonal: Array,
    out: Array,
    gradient: Array,
) -> None:
    """dL/dC, and dL/du times the scale of each token, by offset."""
    gradient[:] = 0
    for i in range(begin, end):
        at = offsets[i]
        for k in range(diagonal.size):
            gradient[k] += wide.vectors[at, k] * errors[i, k]
            out[at, k] = wide.scales[at] * diagonal[k] * errors[i, k]


@compiled
def back_wide_full(
    begin: int,
    end: int,
    offsets: Array,
    errors: Array,
    wide: WideVectors,
    transform: Array,
    out: Array,
    gradient: Array,
) -> None:
    """`back_wide_diagonal` with full C."""
    width = len(transform)
    gathered, part, square = np.empty((BLOCK, width), F), np.empty((BLOCK, width), F), np.empty((width, width), F)
    gradient[:] = 0
    for a in range(begin, end, BLOCK):
        b = min(a + BLOCK, end)
        for i in range(a, b):
            gathered[i - a] = wide.vectors[offsets[i]]
        np.dot(gathered[: b - a].T, errors[a:b], square)
        for m in range(width):
            for k in range(width):
                gradient[m, k] += square[m, k]
        np.dot(errors[a:b], transform.T, part[: b - a])
        for i in range(a, b):
            for k in range(width):
                out[offsets[i], k] = wide.scales[offsets[i]] * part[i - a, k]


@compiled
def back_pieces(begin: int, end: int, wide: WideWindows, errors: Array, decay: float, out: Array) -> None:
    """The gradient of each row of pieces begin .. end - 1: the decayed sum of the errors after it, times its weight."""
    total = np.empty(errors.shape[1], F)
    window = wide.size
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
            if token + window < size:
                add_row(total, errors, wide.tokens[piece] + token + window, -last)
            for k in range(total.size):
                out[row, k] = wide.weights[row] * total[k]


@compiled
def add_wide_gradients(begin: int, end: int, holders: SparseRows, rows: Array, out: Array) -> None:
    """Add to the gradients of the words in slots begin .. end - 1 those of their rows."""
    for slot in range(begin, end):
        for at in range(holders.starts[slot], holders.starts[slot + 1]):
            add_row(out[slot], rows, holders.items[at], F(1.0))
