"""Names for the types of arrays, and what many folders do with arrays."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]  # of any type: inside kernels, where the compiler knows it
BoolArray = NDArray[np.bool_]
Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]
Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]
BLOCK_ITEMS = 1 << 22  # of a long array that is worked through: its intermediate results stay small


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


def blocks_of(array: Array, size: int = BLOCK_ITEMS) -> Iterator[Array]:
    """A long array piece by piece; of a map of a file, only the piece that is in use takes memory."""
    for begin in range(0, len(array), size):
        yield array[begin : begin + size]
        if len(array) > size:
            release_pages(array)


def is_rising(array: Array, size: int = BLOCK_ITEMS) -> bool:
    """Whether no item is smaller than the one before it; looked at in blocks."""
    last: Any = None
    for block in blocks_of(array, size):
        if (last is not None and block[0] < last) or (block[:-1] > block[1:]).any():
            return False
        last = block[-1]
    return True


def release_pages(array: Array) -> None:
    """Give back the memory of the file that an array is a map of; what is read again comes from the disk's cache."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    base = base.obj if isinstance(base, memoryview) else base
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)
