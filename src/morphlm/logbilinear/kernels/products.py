"""Products of predictions with rows of a table, in vector instructions that are written out.

Every product p . x is summed up in one way, to the last bit, whichever function computes it: four sums s0 .. s3, of the
k with the same remainder by 4, each in rising order of k and by fused multiply-add; then (s0 + s2) + (s1 + s3), and the
bias. One prediction has its four sums in one vector. LANES predictions have a vector for each of the sums, so that
nothing is left to add up across a vector. A compiler that may reorder sums would find another order in each place.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from morphlm.arrays import Array
from morphlm.compiling import njit

SUMS = 4
LANES = 16  # predictions that are multiplied with a row at a time
ROWS_OF_MANY = 4  # rows that are multiplied with LANES predictions at a time
ROWS_OF_ONE = 8  # rows that are multiplied with one prediction at a time

# No sums may be reordered. To say nothing would not do: a kernel is then compiled with the flags of its first caller.
in_order: Any = njit(cache=True, fastmath={"nsz"}, error_model="numpy", nogil=True)

FLOAT, INT32, INT64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_cgutils: Any = cgutils


class _Code:
    """Writes the instructions of one function; arrays are those of its arguments."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> None:
        self.context, self.builder, self._signature, self.arguments = context, builder, signature, arguments

    def pointer(self, argument: int, *indices: Any) -> Any:
        """To an element of an array."""
        kind = self._signature.args[argument]
        array = self.context.make_array(kind)(self.context, self.builder, self.arguments[argument])
        return _cgutils.get_item_pointer(self.context, self.builder, kind, array, list(indices))

    def widths(self) -> tuple[Any, Any]:
        """d, of the table, and the multiple of SUMS in it."""
        array = self.context.make_array(self._signature.args[0])(self.context, self.builder, self.arguments[0])
        width = self.builder.extract_value(array.shape, 1)
        return width, self.builder.and_(width, INT64(-SUMS))

    def sums(self, count: int, lanes: int) -> list[Any]:
        """Vectors of zeros, as variables."""
        kind = ir.VectorType(FLOAT, lanes)
        slots = [_cgutils.alloca_once(self.builder, kind) for _ in range(count)]
        for slot in slots:
            self.builder.store(ir.Constant(kind, [0.0] * lanes), slot)
        return slots

    def load(self, pointer: Any, lanes: int) -> Any:
        """A vector of neighbours."""
        return self.builder.load(self.builder.bitcast(pointer, ir.VectorType(FLOAT, lanes).as_pointer()), align=4)

    def repeated(self, number: Any, lanes: int) -> Any:
        """A vector of equal numbers."""
        kind = ir.VectorType(FLOAT, lanes)
        nothing, first = ir.Constant(kind, ir.Undefined), ir.Constant(ir.VectorType(INT32, lanes), [0] * lanes)
        return self.builder.shuffle_vector(self.builder.insert_element(nothing, number, INT32(0)), nothing, first)

    def add_product(self, slot: Any, x: Any, y: Any) -> None:
        """slot = x y + slot, rounded once."""
        kind = ir.FunctionType(x.type, [x.type] * 3)
        fused = _cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.fma.v{x.type.count}f32")
        self.builder.store(self.builder.call(fused, [x, y, self.builder.load(slot)]), slot)

    def some_of(self, vector: Any, numbers: Sequence[int], other: Any = None) -> Any:
        """A vector of some elements of one vector, or of two that are put together."""
        chosen = ir.Constant(ir.VectorType(INT32, len(numbers)), list(numbers))
        return self.builder.shuffle_vector(vector, vector if other is None else other, chosen)

    def first_or_zero(self, pointer: Any, count: Any) -> Any:
        """A vector of SUMS numbers, of which only the first `count` are there; the others are 0."""
        builder, vector = self.builder, ir.Constant(ir.VectorType(FLOAT, SUMS), [0.0] * SUMS)
        for k in range(SUMS - 1):
            there = builder.icmp_signed("<", INT64(k), count)
            number = builder.load(builder.gep(pointer, [builder.select(there, INT64(k), INT64(0))]))
            vector = builder.insert_element(vector, builder.select(there, number, FLOAT(0.0)), INT32(k))
        return vector


def _write_products(code: _Code, count: int) -> None:
    """out[i, w + r] = block[i] . table[row + r] + biases[row + r], for so many rows; for the arguments see below."""
    builder, zero = code.builder, INT64(0)
    _, row, _, _, i, _, w = code.arguments
    xs = [code.pointer(0, builder.add(row, INT64(r)), zero) for r in range(count)]
    p, slots, (width, whole) = code.pointer(3, i, zero), code.sums(count, SUMS), code.widths()
    with _cgutils.for_range_slice(builder, zero, whole, INT64(SUMS), inc=True) as (k, _):
        vector = code.load(builder.gep(p, [k]), SUMS)
        for x, slot in zip(xs, slots, strict=True):
            code.add_product(slot, vector, code.load(builder.gep(x, [k]), SUMS))
    rest = builder.sub(width, whole)
    with builder.if_then(builder.icmp_signed(">", rest, zero), likely=False):
        vector = code.first_or_zero(builder.gep(p, [whole]), rest)
        for x, slot in zip(xs, slots, strict=True):
            code.add_product(slot, vector, code.first_or_zero(builder.gep(x, [whole]), rest))
    for r, slot in enumerate(slots):
        sums = builder.load(slot)
        pairs = builder.fadd(code.some_of(sums, (0, 1)), code.some_of(sums, (2, 3)))
        total = builder.fadd(*(builder.extract_element(pairs, INT32(k)) for k in range(2)))
        bias = builder.load(code.pointer(2, builder.add(row, INT64(r))))
        builder.store(builder.fadd(total, bias), code.pointer(5, i, builder.add(w, INT64(r))))


@intrinsic
def multiply_row(typing_context: Any, table: Any, row: Any, biases: Any, block: Any, i: Any, out: Any, w: Any) -> Any:
    """out[i, w] = block[i] . table[row] + biases[row]."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _write_products(_Code(context, builder, signature, arguments), 1)
        return context.get_dummy_value()

    return types.void(table, types.int64, biases, block, types.int64, out, types.int64), generate


@intrinsic
def multiply_rows(typing_context: Any, table: Any, row: Any, biases: Any, block: Any, i: Any, out: Any, w: Any) -> Any:
    """out[i, w + r] = block[i] . table[row + r] + biases[row + r], of ROWS_OF_ONE rows."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _write_products(_Code(context, builder, signature, arguments), ROWS_OF_ONE)
        return context.get_dummy_value()

    return types.void(table, types.int64, biases, block, types.int64, out, types.int64), generate


@intrinsic
def multiply_many(typing_context: Any, table: Any, row: Any, biases: Any, packed: Any, out: Any, i: Any, w: Any) -> Any:
    """out[i + lane, w + r] = packed[:, lane] . table[row + r] + biases[row + r], of LANES and ROWS_OF_MANY."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code, zero, first = _Code(context, builder, signature, arguments), INT64(0), arguments[1]
        xs = [code.pointer(0, builder.add(first, INT64(r)), zero) for r in range(ROWS_OF_MANY)]
        slots = [code.sums(SUMS, LANES) for _ in xs]

        def add(k: Any, remainder: int) -> None:
            vector = code.load(code.pointer(3, k, zero), LANES)
            for x, own in zip(xs, slots, strict=True):
                code.add_product(own[remainder], vector, code.repeated(builder.load(builder.gep(x, [k])), LANES))

        width, whole = code.widths()
        with _cgutils.for_range_slice(builder, zero, whole, INT64(SUMS), inc=True) as (k, _):
            for remainder in range(SUMS):
                add(builder.add(k, INT64(remainder)), remainder)
        for remainder in range(SUMS - 1):
            k = builder.add(whole, INT64(remainder))
            with builder.if_then(builder.icmp_signed("<", k, width)):
                add(k, remainder)
        columns = []
        for r, own in enumerate(slots):
            s = list(map(builder.load, own))
            total = builder.fadd(builder.fadd(s[0], s[2]), builder.fadd(s[1], s[3]))
            bias = builder.load(code.pointer(2, builder.add(first, INT64(r))))
            columns.append(builder.fadd(total, code.repeated(bias, LANES)))
        _store_transposed(code, columns)
        return context.get_dummy_value()

    return types.void(table, types.int64, biases, packed, out, types.int64, types.int64), generate


def _store_transposed(code: _Code, columns: Sequence[Any]) -> None:
    """out[i + lane, w : w + ROWS_OF_MANY] = the elements `lane` of the columns."""
    builder, kind = code.builder, ir.VectorType(FLOAT, ROWS_OF_MANY)
    pairs = [range(2 * LANES)[k // 2 + LANES * (k % 2)] for k in range(2 * LANES)]
    left, right = (code.some_of(columns[a], pairs, columns[a + 1]) for a in (0, 2))
    for lane in range(LANES):
        four = code.some_of(left, (2 * lane, 2 * lane + 1, 2 * LANES + 2 * lane, 2 * LANES + 2 * lane + 1), right)
        target = code.pointer(4, builder.add(code.arguments[5], INT64(lane)), code.arguments[6])
        builder.store(four, builder.bitcast(target, kind.as_pointer()), align=4)


@in_order
def pack_lanes(block: Array, begin: int, end: int, packed: Array) -> None:
    """packed[:, lane] = block[begin + lane]; 0 beyond `end`."""
    for lane in range(LANES):
        for k in range(packed.shape[0]):
            packed[k, lane] = block[begin + lane, k] if begin + lane < end else np.float32(0.0)
