"""Small functions that the other kernels share: a vectorised exponential, counter-based random numbers, AdaGrad."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from morphlm.arrays import Array
from morphlm.compiling import njit
from morphlm.logbilinear.kernels.records import AdaGrad, SparseRows, SurfaceDropout

F = np.float32

# Sums may be reordered, so that they become vector code; infinities and NaNs keep their meaning, so that they show.
FAST = {"reassoc", "contract", "nsz", "arcp"}
_FLAGS: dict[str, Any] = {"fastmath": FAST, "error_model": "numpy", "nogil": True}  # numpy: 1/0 is infinite, no check
compiled: Any = njit(cache=True, **_FLAGS)
inlined: Any = njit(inline="always", **_FLAGS)

LOG2_E, LN2_HIGH, LN2_LOW = F(1.4426950408889634), F(0.693359375), F(-2.12194440e-4)
CACHE_LINE = 16  # numbers of 4 bytes
MAGNITUDE = np.int32(0x7FFFFFFF)  # all bits but the sign
LOWEST_ORDER = np.int32(-2137108967)  # `order_of` -3e38
EXP_LOWEST, EXP_HIGHEST = F(-87.0), F(88.0)


@intrinsic
def float_of_bits(typing_context: Any, bits: Any) -> Any:
    """The float32 that has these 32 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate


@intrinsic
def bits_of_float(typing_context: Any, number: Any) -> Any:
    """The 32 bits of a float32."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(32))

    return types.int32(types.float32), generate


@inlined
def in_turned_order(bits: Any) -> Any:
    """Negative numbers in the opposite order, which is that of floats; twice is nothing."""
    return bits ^ ((bits >> np.int32(31)) & MAGNITUDE)


@inlined
def order_of(x: Any) -> Any:
    """An int32 that grows with x; NaN is above infinity (below, if its sign is set).

    The compiler finds the largest of integers for many numbers at once, but not that of floats, where NaN has no place.
    """
    return in_turned_order(bits_of_float(x))  # type: ignore[call-arg]


@inlined
def float_of_order(order: Any) -> Any:
    """The x whose `order_of` this is."""
    return float_of_bits(in_turned_order(order))  # type: ignore[call-arg]


@intrinsic
def prefetch(typing_context: Any, table: Any, row: Any, column: Any) -> Any:
    """Begin to load an element of a table into the cache; nothing happens otherwise."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        indices = list(arguments[1:])
        pointer = cgutils.get_item_pointer(context, builder, signature.args[0], array, indices)  # type: ignore[no-untyped-call]
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")  # type: ignore[no-untyped-call]
        to_read, to_all_levels, data = (number(value) for value in (0, 3, 1))
        builder.call(function, [builder.bitcast(pointer, byte), to_read, to_all_levels, data])
        return context.get_dummy_value()

    return types.void(table, types.int64, types.int64), generate


@inlined
def prefetch_row(table: Array, row: int) -> None:
    """Begin to load a row, cache line by cache line: rows are far apart, so the hardware cannot predict the next."""
    for column in range(0, table.shape[1], CACHE_LINE):
        prefetch(table, np.int64(row), np.int64(column))  # type: ignore[call-arg]


@inlined
def exponential(x: Any) -> Any:
    """exp(x) to 3e-7, in operations that the compiler can do on eight numbers at once (a call of the C library is not).

    x = n ln 2 + f with |f| <= ln 2 / 2; exp(f) is a polynomial (Cephes' coefficients), 2^n is set in the bits.
    """
    x = min(max(x, EXP_LOWEST), EXP_HIGHEST)
    n = np.floor(x * LOG2_E + F(0.5))
    f = x - n * LN2_HIGH - n * LN2_LOW
    y = F(1.9875691500e-4) * f + F(1.3981999507e-3)
    y = y * f + F(8.3334519073e-3)
    y = y * f + F(4.1665795894e-2)
    y = y * f + F(1.6666665459e-1)
    y = y * f + F(5.0000001201e-1)
    y = y * f * f + f + F(1.0)
    return y * float_of_bits((np.int32(n) + np.int32(127)) << np.int32(23))  # type: ignore[call-arg]


@inlined
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return F(1.0) / (F(1.0) + exponential(-x))


@inlined
def mixed(key: Any, counter: Any) -> Any:
    """A random 64-bit number that depends on a key and a counter alone (splitmix64)."""
    z = np.uint64(key) + np.uint64(counter) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inlined
def dropped(key: int, counter: int, rate: float) -> bool:
    """True with probability `rate`."""
    return (mixed(key, counter) >> np.uint64(40)) < np.uint64(rate * F(16777216.0))


@inlined
def surface_weight(word: int, factors: int, first: int, dropout: SurfaceDropout) -> Any:
    """The weight of a word's first factor: 1, or under factor dropout of a surface form 0 or 1 / (1 - rate).

    A word that has only its surface form keeps it.
    """
    if dropout.rate == F(0.0) or factors < 2 or first >= dropout.surfaces:
        return F(1.0)
    return F(0.0) if dropped(dropout.key, word, dropout.rate) else F(1.0) / (F(1.0) - dropout.rate)


@inlined
def adagrad(weights: Array, squares: Array, gradient: Array, step: float, shrink: float) -> None:
    """G += g^2, w -= xi g / sqrt(G) with g the gradient plus shrink x w (L2 inside the gradient; 0: none)."""
    for k in range(weights.size):
        g = gradient[k] + shrink * weights[k]
        squares[k] += g * g
        weights[k] -= step * g / np.sqrt(squares[k])


@inlined
def update_row(table: AdaGrad, row: int, gradient: Array) -> None:
    """AdaGrad on one row of a table."""
    adagrad(table.weights[row], table.squares[row], gradient, table.step, table.shrink)


@compiled
def update_biases(words: Array, gradients: Array, biases: AdaGrad) -> None:
    """AdaGrad on the biases of some words, each listed once."""
    weights, squares = biases.weights, biases.squares
    for u in range(len(words)):
        squares[words[u]] += gradients[u] * gradients[u]
        weights[words[u]] -= biases.step * gradients[u] / np.sqrt(squares[words[u]])


@compiled
def scale_rows(table: Array, begin: int, end: int, factor: float) -> None:
    """Multiply some rows of a table."""
    for row in range(begin, end):
        for k in range(table.shape[1]):
            table[row, k] *= factor


@compiled
def group_by(rows: Array, size: int) -> SparseRows:
    """The indices i by rows[i], which is below `size`; negative ones are left out."""
    starts = np.zeros(size + 1, np.int64)
    for row in rows:
        if row >= 0:
            starts[row + 1] += 1
    for row in range(size):
        starts[row + 1] += starts[row]
    free, items = starts[:-1].copy(), np.empty(starts[-1], np.int32)
    for i in range(len(rows)):
        if rows[i] >= 0:
            items[free[rows[i]]] = i
            free[rows[i]] += 1
    return SparseRows(starts, items)
