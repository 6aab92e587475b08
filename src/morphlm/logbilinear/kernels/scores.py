"""Scores p . r_w + b_w and the logarithms of sums of their exponentials, always computed in the same way.

Each score is summed up in the same order, to the last bit, whether one word is asked after one context, many after
many, or a whole text. So all ways to ask a model agree, and what a cache holds changes nothing. Exponentials are exact
to 3e-10, so that probabilities add up to 1.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.numerics import compiled, inlined
from morphlm.logbilinear.kernels.products import (
    LANES,
    ROWS_OF_MANY,
    ROWS_OF_ONE,
    in_order,
    multiply_many,
    multiply_row,
    multiply_rows,
    pack_lanes,
)

F = np.float32
TILE = 1024  # rows that are scored at a time
FEW = 5  # from so many predictions on, a group of LANES is faster than one by one
BLOCK = 4 * LANES  # predictions that are multiplied with the rows of a tile, while these are in the cache
LOWEST = F(-3e38)

LOG2_E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 6.93145751953125e-1, 1.42860682030941723212e-6
EXP_LOWEST = -700.0


@intrinsic
def double_of_bits(typing_context: Any, bits: Any) -> Any:
    """The float64 that has these 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@inlined
def precise_exponential(x: float) -> Any:
    """exp(x) of a float64 x <= 0 to 3e-10, in operations that the compiler can do on several numbers at once.

    x = n ln 2 + f with |f| <= ln 2 / 2; exp(f) is its Taylor polynomial of degree 8, 2^n is set in the bits.
    """
    x = max(x, EXP_LOWEST)
    n = np.floor(x * LOG2_E + 0.5)
    f = x - n * LN2_HIGH - n * LN2_LOW
    y = f * (1.0 / 40320.0) + 1.0 / 5040.0
    y = y * f + 1.0 / 720.0
    y = y * f + 1.0 / 120.0
    y = y * f + 1.0 / 24.0
    y = y * f + 1.0 / 6.0
    y = y * f + 0.5
    y = y * f + 1.0
    y = y * f + 1.0
    return y * double_of_bits((np.int64(np.int32(n)) + np.int64(1023)) << np.int64(52))  # type: ignore[call-arg]


@in_order
def score_block(table: Array, biases: Array, begin: int, end: int, block: Array, size: int, out: Array) -> None:
    """out[i, w] = the score of row begin + w with the prediction block[i], for i < size.

    There are few predictions for a class: BLAS, which copies both sides to where it wants them, takes longer. Where a
    group of rows is not full, it takes rows that were scored before.
    """
    i, rows = 0, end - begin
    while size - i >= FEW and rows >= ROWS_OF_MANY and i + LANES <= len(out):
        packed = np.empty((table.shape[1], LANES), F)
        pack_lanes(block, i, size, packed)
        for first in range(0, rows, ROWS_OF_MANY):
            w = min(first, rows - ROWS_OF_MANY)
            multiply_many(table, begin + w, biases, packed, out, i, w)  # type: ignore[call-arg]
        i += LANES
    while i < size:
        if rows >= ROWS_OF_ONE:
            for first in range(0, rows, ROWS_OF_ONE):
                w = min(first, rows - ROWS_OF_ONE)
                multiply_rows(table, begin + w, biases, block, i, out, w)  # type: ignore[call-arg]
        else:
            for w in range(rows):
                multiply_row(table, begin + w, biases, block, i, out, w)  # type: ignore[call-arg]
        i += 1


@inlined
def copy_row(source: Array, target: Array) -> None:
    """target[:] = source; Numba takes a second to compile that, as it checks shapes and words an error."""
    for k in range(target.size):
        target[k] = source[k]


@inlined
def add_exponentials(scores: Array, highest: float, total: float) -> tuple[Any, Any]:
    """Continue a sum of exponentials, relative to the highest score so far; returns that score and the sum."""
    most = highest
    for i in range(scores.size):
        most = max(most, scores[i])
    reference, part = np.float64(most), 0.0
    for i in range(scores.size):
        part += precise_exponential(np.float64(scores[i]) - reference)
    return most, total * np.exp(np.float64(highest) - reference) + part


@compiled
def log_sums(table: Array, biases: Array, begin: int, end: int, chosen: Array, predictions: Array, out: Array) -> None:
    """out[i] = ln of the sum of exp(score) over rows begin .. end - 1, with p = predictions[chosen[i]].

    To the last bit, it does not depend on what else is chosen.
    """
    lanes = min(BLOCK, -(-len(chosen) // LANES) * LANES if len(chosen) >= FEW else FEW)
    block, scores = np.zeros((lanes, predictions.shape[1]), F), np.empty((lanes, min(TILE, end - begin)), F)
    highest, total = np.empty(lanes, F), np.empty(lanes)
    for a in range(0, len(chosen), BLOCK):
        size = min(BLOCK, len(chosen) - a)
        for i in range(size):
            highest[i], total[i] = LOWEST, 0.0
            copy_row(predictions[chosen[a + i]], block[i])
        for tile in range(begin, end, TILE):
            rows = min(TILE, end - tile)
            score_block(table, biases, tile, tile + rows, block, size, scores)
            for i in range(size):
                highest[i], total[i] = add_exponentials(scores[i, :rows], highest[i], total[i])
        for i in range(size):
            out[a + i] = np.float64(highest[i]) + np.log(total[i])
