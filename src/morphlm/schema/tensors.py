"""Schemas of tensors: type, shape in named sizes that belong together, range of the values.

Sizes have names, as in ("V", "d"): the same name is the same number everywhere in an artefact. "V+1" is one more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from morphlm.arrays import Array, blocks_of, is_rising
from morphlm.display import dataclass_repr
from morphlm.schema.values import SchemaError

Size = int | str  # a number, or the name of one


@dataclass(frozen=True)
class Tensor:
    """What a tensor is. Values are finite; bounds are numbers or names of sizes."""

    dtype: str  # of NumPy: "float32", "int32", ...
    shape: tuple[Size, ...]
    at_least: float | Size = -math.inf
    at_most: float | Size = math.inf
    below: float | Size = math.inf
    or_minus_infinity: bool = False  # besides the range: the logarithm of 0
    offsets_to: Size | None = None  # values rise from 0 to this, as the bounds of consecutive pieces do

    __repr__ = dataclass_repr


@dataclass(frozen=True)
class TensorLayout:
    """What the header of a safetensors file says of a tensor; `begin` and `end` are bytes of the data."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def size_of(size: Size, sizes: Mapping[str, int]) -> int | None:
    """The number behind a size; None if nothing has told it yet."""
    if isinstance(size, int):
        return size
    name, plus, more = size.partition("+")
    return sizes[name] + (int(more) if plus else 0) if name in sizes else None


def check_layout(
    declared: Mapping[str, Tensor], present: Mapping[str, TensorLayout], sizes: MutableMapping[str, int]
) -> None:
    """All tensors are there, no others, with their types and shapes; sizes that are met for the first time are noted.

    Raises SchemaError.
    """
    if missing := sorted(declared.keys() - present.keys()):
        raise SchemaError(f"the tensor {missing[0]} is missing")
    if unknown := sorted(present.keys() - declared.keys()):
        raise SchemaError(f"a tensor {ascii(unknown[0])[:60]} does not belong there")
    for name, tensor in declared.items():
        _check_shape(name, tensor, present[name], sizes)


def _check_shape(name: str, tensor: Tensor, layout: TensorLayout, sizes: MutableMapping[str, int]) -> None:
    if np.dtype(layout.dtype) != np.dtype(tensor.dtype):
        raise SchemaError(f"the tensor {name} has the type {np.dtype(layout.dtype)}, not {tensor.dtype}")
    if len(layout.shape) != len(tensor.shape):
        raise SchemaError(f"the tensor {name} has {len(layout.shape)} dimensions, not {len(tensor.shape)}")
    for declared, actual in zip(tensor.shape, layout.shape, strict=True):
        expected = size_of(declared, sizes)
        if expected is None and isinstance(declared, str):
            base, plus, more = declared.partition("+")
            least = int(more) if plus else 0
            sizes[base] = max(actual - least, 0)
            expected = max(actual, least)
        if actual != expected:
            raise SchemaError(f"the tensor {name} has the shape {layout.shape}, but {declared} is {expected}")


def check_values(name: str, tensor: Tensor, array: Array, sizes: Mapping[str, int]) -> None:
    """All values are in the range. Raises SchemaError."""
    if tensor.offsets_to is not None:
        _check_offsets(name, array, _bound(tensor.offsets_to, sizes))
    if array.size == 0:
        return
    extremes = _extremes(array, but_minus_infinity=tensor.or_minus_infinity)
    if extremes is None:
        return
    least, greatest = extremes
    in_range = (
        least >= _bound(tensor.at_least, sizes)
        and greatest <= _bound(tensor.at_most, sizes)
        and greatest < _bound(tensor.below, sizes)
        and -np.inf < least
        and greatest < np.inf
    )
    if not in_range:
        raise SchemaError(f"the tensor {name} has values from {least} to {greatest}, which is out of its range")


def _extremes(array: Array, *, but_minus_infinity: bool) -> tuple[Any, Any] | None:
    """The least and the greatest value, NaN if there is one; None of no values. In blocks: it may exceed memory."""
    found: list[Any] = []
    for block in blocks_of(array.reshape(-1)):
        values = block[block != -np.inf] if but_minus_infinity else block
        found += [values.min(), values.max()] if len(values) else []
    return (np.min(found), np.max(found)) if found else None


def _bound(bound: float | Size, sizes: Mapping[str, int]) -> Any:
    return size_of(bound, sizes) if isinstance(bound, str) else bound


def _check_offsets(name: str, array: Array, last: int) -> None:
    if len(array) == 0 or array[0] != 0 or array[-1] != last or not is_rising(array):
        raise SchemaError(f"the tensor {name} does not rise from 0 to {last}")
