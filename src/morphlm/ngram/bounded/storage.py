"""Arrays in nameless temporary files: written at their end, read in blocks, mapped when they are done.

Files without a name are gone with the process, however it ends.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np

from morphlm.arrays import Array
from morphlm.costs import format_size
from morphlm.errors import FileAccessError
from morphlm.files import FULL_DISK, cannot_write
from morphlm.wording import option

MOST_BYTES = 1 << 30  # that one call of the operating system is asked for


class TemporaryFolder:
    """Where temporary arrays lie until the block ends, and how much space they need: a message tells it."""

    def __init__(self, path: str | Path | None = None, needed_bytes: float = 0.0) -> None:
        self.path = Path(path or tempfile.gettempdir())
        self.needed_bytes = needed_bytes
        self._open: set[ArrayFile] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._open:
            self._open.pop().close()

    def array(self, dtype: Any) -> ArrayFile:
        """A new array without items."""
        array = ArrayFile(self, np.dtype(dtype))
        self._open.add(array)
        return array

    def collect(self, blocks: Iterable[Array], dtype: Any) -> Array:
        """Blocks as one array, a map of a file."""
        array = self.array(dtype)
        for block in blocks:
            array.append(block)
        return array.mapped()

    def forget(self, array: ArrayFile) -> None:
        """An array that was closed."""
        self._open.discard(array)

    def error(self, error: OSError) -> FileAccessError:
        """What to say of a file here that could not be written."""
        if error.errno not in FULL_DISK or not self.needed_bytes:
            return cannot_write(self.path, error)
        needed = format_size(self.needed_bytes)
        message = (
            f"the disk is full; counting needs about {needed} of temporary files here: make room or name another "
            f"folder by {option('--temporary')}"
        )
        return FileAccessError.of(message, str(self.path), error)


class ArrayFile:
    """A one-dimensional array in a file without a name."""

    def __init__(self, folder: TemporaryFolder, dtype: np.dtype[Any]) -> None:
        self._folder, self._dtype, self._length = folder, dtype, 0
        try:
            self._file = tempfile.TemporaryFile(dir=folder.path, buffering=0)  # noqa: SIM115
        except OSError as error:
            raise cannot_write(folder.path, error) from error

    def __len__(self) -> int:
        return self._length

    def append(self, items: Array) -> None:
        """Write items behind those that are there."""
        self.write(self._length, items)

    def write(self, begin: int, items: Array) -> None:
        """Write items from a place on that is in the array, or its end."""
        data = np.ascontiguousarray(items, self._dtype).view(np.uint8).data
        offset, written = begin * self._dtype.itemsize, 0
        try:
            while written < len(data):
                written += os.pwrite(self._file.fileno(), data[written : written + MOST_BYTES], offset + written)
        except OSError as error:
            raise self._folder.error(error) from error
        self._length = max(self._length, begin + len(items))

    def read(self, begin: int, end: int) -> Array:
        """The items from `begin` up to `end`."""
        items = np.empty(end - begin, self._dtype)
        self.read_into(begin, items)
        return items

    def read_into(self, begin: int, items: Array) -> None:
        """Fill an array with the items from `begin` on."""
        if not len(items):
            return
        data, done = items.view(np.uint8).data, 0
        offset = begin * self._dtype.itemsize
        while done < len(data):
            got = os.preadv(self._file.fileno(), [data[done : done + MOST_BYTES]], offset + done)
            if not got:
                raise EOFError(f"a temporary array has no {begin + len(items)} items")
            done += got

    def blocks(self, size: int, begin: int = 0, end: int | None = None) -> Iterator[tuple[int, Array]]:
        """The items from `begin` to `end` in blocks, each with the place of its first item."""
        end = self._length if end is None else end
        for start in range(begin, end, size):
            yield start, self.read(start, min(start + size, end))

    def mapped(self) -> Array:
        """The whole array as a map of the file, which is closed and outlives this object."""
        if self._length == 0:
            return np.zeros(0, self._dtype)
        data = mmap.mmap(self._file.fileno(), self._length * self._dtype.itemsize, access=mmap.ACCESS_READ)
        self.close()
        return np.frombuffer(data, self._dtype)

    def close(self) -> None:
        """Give the space back, unless a map of it is in use."""
        self._file.close()
        self._folder.forget(self)
