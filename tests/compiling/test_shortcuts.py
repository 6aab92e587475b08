"""What makes compiling fast leaves types, values and messages as Numba has them."""

from __future__ import annotations

import gc
import importlib
import operator
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from morphlm.compiling import borrowing, owning
from morphlm.compiling.kernel import argument_type
from morphlm.compiling.shortcuts import call_type, list_variables, make_objects_old, shortcuts
from morphlm.compiling.wrappers import ADAPT, MISMATCH

ir: Any = importlib.import_module("numba.core.ir")
cpu_target: Any = importlib.import_module("numba.core.registry").cpu_target
typeof: Any = importlib.import_module("numba").typeof
run_frontend: Any = importlib.import_module("numba.core.compiler").run_frontend


class Inner(NamedTuple):
    numbers: Any
    flag: Any


class Outer(NamedTuple):
    weights: Any
    inner: Any
    scale: Any
    counts: Any


class Pair(NamedTuple):
    first: Any
    second: Any


@borrowing
def add_up(record: Outer, extra: Any, pair: Pair) -> Any:
    total = 0.0
    for i in range(record.weights.shape[0]):
        for j in range(record.weights.shape[1]):
            total += record.scale * record.weights[i, j]
    if record.inner.flag:
        for i in range(len(record.inner.numbers)):
            total += record.inner.numbers[i]
    record.counts[0] += 1
    return total + extra[0] + pair.first[0] - pair.second[-1]


@owning
def exchange(pair: Pair, rounds: int) -> Any:
    """Arrays in variables that are assigned again and again."""
    left, right = pair.first, pair.second
    made = np.zeros(2)
    for i in range(rounds):
        left, right = right, left
        made = np.array([left[0], float(i)])
    return Pair(left, made)


def _outer(n: int) -> Outer:
    numbers = np.arange(4, dtype=np.float32)
    numbers.flags.writeable = False
    return Outer(np.ones((n, 3)), Inner(numbers, True), 0.5, np.zeros(1, np.int64))


def test_nested_records_arrive_as_they_are() -> None:
    outer, pair = _outer(2), Pair(np.array([10, 20]), np.array([1, 2]))
    assert add_up(outer, np.array([100], np.int16), pair) == 3.0 + 6.0 + 100 + 10 - 2
    assert outer.counts[0] == 1
    assert add_up(outer, np.array([100], np.int16)[::-1], pair) == 3.0 + 6.0 + 100 + 10 - 2  # another layout
    assert outer.counts[0] == 2


def test_arrays_are_counted_once_per_use() -> None:
    first, second = np.array([1.0]), np.array([2.0])
    for rounds in (0, 1, 2, 5):
        result = exchange(Pair(first, second), rounds)
        assert result.first is (first, second)[rounds % 2]
        assert result.second.tolist() == ([0.0, 0.0] if rounds == 0 else [result.first[0], rounds - 1.0])
    del result
    assert first.base is None and second.base is None
    first.resize(3)  # NumPy refuses if anybody still has it
    second.resize(3)


def test_what_is_no_array_is_refused_as_by_numba() -> None:
    kernel = add_up.overloads  # compiled by the tests before, or now
    add_up(_outer(1), np.zeros(1, np.int16), Pair(np.zeros(1), np.zeros(1)))
    entry = next(iter(kernel.values())).entry_point
    with pytest.raises(TypeError, match=MISMATCH.split(".")[0]):
        entry(_outer(1)._replace(weights="no array"), np.zeros(1, np.int16), Pair(np.zeros(1), np.zeros(1)))
    with pytest.raises(TypeError, match="can't unbox array"):
        entry(_outer(1), np.zeros(1, np.int16), Pair(np.zeros(1, np.int8), np.zeros(1)))  # of another size


def test_one_function_takes_all_arrays() -> None:
    add_up(_outer(1), np.zeros(1, np.int16), Pair(np.zeros(1), np.zeros(1)))
    compiled = next(iter(add_up.overloads.values())).library
    if not compiled._final_module.functions:
        pytest.skip("from the cache")
    assert sum(ADAPT in function.name for function in compiled._final_module.functions) <= 1


@settings(max_examples=200)
@given(
    arrays.arrays(
        st.sampled_from(["i1", "i4", "<i8", ">i8", "u8", "f4", "f8", "?", "c8", "U3"]),
        arrays.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3),
    ),
    st.booleans(),
    st.sampled_from(["C", "F", "every other"]),
)
def test_types_of_arguments_are_numbas(array: Any, is_frozen: bool, layout: str) -> None:
    array = array[::2] if layout == "every other" else array.copy(order=layout)
    array.flags.writeable = not is_frozen
    for value in (array, (array, 3), Inner(array, True), Pair(array, array), Outer(2.5, Inner(1, array), array, 1)):
        try:
            expected = typeof(value)
        except Exception as error:
            with pytest.raises(type(error)):
                argument_type(value)
        else:
            assert argument_type(value) == expected


def test_arguments_without_a_type_are_refused() -> None:
    with pytest.raises(numba.TypingError, match="Cannot determine Numba type of"):
        exchange(object(), 1)


def _some_function(a: Any, b: Any, c: Any) -> Any:
    found = {"x": a}
    for i in range(len(b)):
        if b[i] > c:
            found["y"] = [a, (b, c)][0]
    return found, f"{a}{b}"


def test_variables_are_listed_as_numba_lists_them() -> None:
    found = [statement for block in run_frontend(_some_function).blocks.values() for statement in block.body]
    values = [*found, *(statement.value for statement in found if hasattr(statement, "value"))]
    assert len(values) > 40
    for value in values:
        if isinstance(value, ir.Inst):
            expected = value.list_vars()
            with shortcuts():
                assert value.list_vars() == expected
    parts = {"a": [found[0].target, None], "b": (1, {"c": found[0].target}), "d": "text"}
    assert list_variables(found[0], parts) == found[0]._rec_list_vars(parts) == [found[0].target] * 2


NUMBERS = (
    numba.int8,
    numba.int64,
    numba.uint64,
    numba.float32,
    numba.float64,
    numba.boolean,
    typeof(np.zeros(1)),
)


@pytest.mark.parametrize("operation", [operator.add, operator.truediv, operator.lt, operator.getitem, operator.and_])
def test_operations_have_the_types_that_numba_gives_them(operation: Any) -> None:
    context = cpu_target.typing_context
    context.refresh()
    function = context.resolve_value_type(operation)
    for arguments in [(a, b) for a in NUMBERS for b in NUMBERS]:
        try:
            expected = function.get_call_type(context, arguments, {})
        except numba.TypingError:
            with pytest.raises(numba.TypingError):
                call_type(function, context, arguments, {})
        else:
            assert call_type(function, context, arguments, {}) == expected
            assert call_type(function, context, arguments, {}) == expected  # now from memory


def test_objects_grow_old_and_stay_collectable() -> None:
    class Node:
        alive = 0

        def __init__(self) -> None:
            self.me = self
            Node.alive += 1

        def __del__(self) -> None:
            Node.alive -= 1

    gc.collect()
    with shortcuts():
        assert not gc.isenabled()
        for _ in range(10):
            Node()
    assert gc.isenabled() and gc.get_freeze_count() == 0
    assert Node.alive == 10
    gc.collect(1)
    assert Node.alive == 10  # old
    gc.collect()
    assert Node.alive == 0


def test_what_others_have_frozen_stays_frozen() -> None:
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        make_objects_old()
        assert gc.get_freeze_count() >= frozen - 100 > 0
    finally:
        gc.unfreeze()
