"""Shapes in named sizes, ranges of values, offsets: what is refused before an array reaches a kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from morphlm.schema import SchemaError, Tensor, TensorLayout, check_layout, check_values
from morphlm.schema.tensors import size_of


def layout(dtype: str, *shape: int) -> TensorLayout:
    return TensorLayout(dtype, shape, 0, math.prod(shape) * np.dtype(dtype).itemsize)


def test_sizes_have_names() -> None:
    sizes = {"V": 3}
    assert [size_of(size, sizes) for size in (5, "V", "V+1", "V+10", "d", "d+1")] == [5, 3, 4, 13, None, None]
    check_layout(
        {"Q": Tensor("float32", ("V", "d")), "starts": Tensor("int64", ("n+1",)), "S": Tensor("float32", (2, "d"))},
        {"Q": layout("<f4", 3, 7), "starts": layout("<i8", 1), "S": layout("<f4", 2, 7)},
        sizes,
    )
    assert sizes == {"V": 3, "d": 7, "n": 0}


@pytest.mark.parametrize(
    ("declared", "present", "message"),
    [
        ({"Q": Tensor("float32", ())}, {}, "the tensor Q is missing"),
        ({}, {"Q\n": layout("<f4", 1)}, "a tensor 'Q\\n' does not belong there"),
        ({"Q": Tensor("float32", (1,))}, {"Q": layout("<f8", 1)}, "the tensor Q has the type float64, not float32"),
        ({"Q": Tensor("int32", (1,))}, {"Q": layout("<u4", 1)}, "the tensor Q has the type uint32, not int32"),
        ({"Q": Tensor("int32", (1,))}, {"Q": layout("<i4", 1, 1)}, "the tensor Q has 2 dimensions, not 1"),
        ({"Q": Tensor("int32", ("V",))}, {"Q": layout("<i4", 4)}, "the tensor Q has the shape (4,), but V is 3"),
        ({"Q": Tensor("int32", ("V+1",))}, {"Q": layout("<i4", 3)}, "the tensor Q has the shape (3,), but V+1 is 4"),
        ({"Q": Tensor("int32", ("n+1",))}, {"Q": layout("<i4", 0)}, "the tensor Q has the shape (0,), but n+1 is 1"),
        (
            {"Q": Tensor("int32", ("n", "n"))},
            {"Q": layout("<i4", 2, 3)},
            "the tensor Q has the shape (2, 3), but n is 2",
        ),
    ],
)
def test_layouts_that_do_not_fit(
    declared: Mapping[str, Tensor], present: Mapping[str, TensorLayout], message: str
) -> None:
    with pytest.raises(SchemaError) as refused:
        check_layout(declared, present, {"V": 3})
    assert str(refused.value) == message


INF, NAN = np.inf, np.nan
LOGS = Tensor("float32", ("n",), -10, 0, or_minus_infinity=True)
IDS = Tensor("int32", ("n",), at_least=0, below="V")
RIGHT: list[tuple[Tensor, list[Any]]] = [
    (Tensor("float32", ("n",)), [0, -3e38, 3e38]),
    (Tensor("float32", ("n",)), []),
    (IDS, [0, 2]),
    (LOGS, [-10, 0, -INF]),
    (LOGS, [-INF, -INF]),
    (Tensor("uint64", ("n",)), [0, 2**64 - 1]),
    (Tensor("int64", ("n",), at_least=-1, at_most="V+1"), [-1, 4]),
    (Tensor("int64", ("n",), offsets_to="V"), [0, 0, 2, 3, 3]),
    (Tensor("int64", ("n",), offsets_to=0), [0]),
]
WRONG: list[tuple[Tensor, list[Any]]] = [
    *((Tensor("float32", ("n",)), [0, value]) for value in (NAN, INF, -INF)),
    *((IDS, [0, value]) for value in (-1, 3, -(2**31))),
    *((LOGS, [0, value]) for value in (NAN, INF, 1, -11)),
    (LOGS, [-INF, NAN]),
    (LOGS, [-INF, 1]),
    (LOGS, [-INF, -11]),
    (Tensor("int64", ("n",), at_least=-1, at_most="V+1"), [-1, 5]),
    *(
        (Tensor("int64", ("n",), offsets_to="V"), values)
        for values in ([], [3], [1, 3], [0, 2], [0, 4], [0, 2, 1, 3], [0, 5, 3], [0, -1, 3], [0, 2**62, 3])
    ),
]


@pytest.mark.parametrize(("tensor", "values"), RIGHT, ids=str)
def test_values_in_range(tensor: Tensor, values: list[Any]) -> None:
    check_values("x", tensor, np.array(values, tensor.dtype), {"V": 3})


@pytest.mark.parametrize(("tensor", "values"), WRONG, ids=str)
def test_values_out_of_range(tensor: Tensor, values: list[Any]) -> None:
    with pytest.raises(SchemaError, match=r"^the tensor x (has values from|does not rise from 0 to 3)"):
        check_values("x", tensor, np.array(values, tensor.dtype), {"V": 3})
