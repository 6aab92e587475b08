"""Names for the types of arrays, and what many folders do with arrays."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # of any type: inside kernels, where the compiler knows it
BoolArray = NDArray[np.bool_]
Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]
Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]


def starts_of(lengths: Array | Sequence[int]) -> Int64Array:
    """Where pieces of these lengths begin that stand one after the other, and where the last ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def without_file(mapped: Array) -> Array:
    """The same map of a file without its name.

    Of an array that knows its file, joblib sends only the name; the file may have been replaced since.
    """
    if not isinstance(mapped, np.memmap):
        return mapped
    begin, strides = mapped.offset % mmap.ALLOCATIONGRANULARITY, mapped.strides
    return np.ndarray(mapped.shape, mapped.dtype, mapped.base, begin, strides)


def read_only(array: Array) -> Array:
    """A view that cannot be written to, as arrays are when they are mapped: compiled code is the same for both."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
