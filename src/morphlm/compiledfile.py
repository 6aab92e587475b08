"""The container of a compiled model: a header, a table of sections, and the sections, which are arrays.

Everything is little-endian, and every section begins at a multiple of 64 bytes, so that a mapped file is used as it
is. The layout leaves no choice: sections follow each other in the order of the table without gaps, and what is
reserved is 0. The digest covers all bytes behind the first 64, which have no other freedom than the digest itself.
"""

from __future__ import annotations

import hashlib
import io
import math
import mmap
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from morphlm.arrays import Array
from morphlm.display import dataclass_repr
from morphlm.errors import FormatError
from morphlm.files import atomic_writer, open_regular
from morphlm.schema import SchemaError, TensorLayout

MAGIC = b"morphlm\x1a"
VERSION = 1
BYTE_ORDER_MARK = 0x01020304
ALIGNMENT = 64
DIGESTED_FROM = 64  # bytes; those before are checked by their values
HEADER_SIZE = 128
LARGEST_FILE = 1 << 38  # bytes
MOST_SECTIONS = 10_000
MOST_DIMENSIONS = 3
ELEMENT_TYPES = {1: "|u1", 2: "<u2", 3: "<u4", 4: "<i4", 5: "<i8", 6: "<f2", 7: "<f4", 8: "<f8"}

_HEADER = struct.Struct("<8sIIQQ32sIIII48x")  # magic, version, byte order, size, 0, SHA-256, counts of `Sizes`
_ENTRY = struct.Struct("<16sIHHQQQQQ")  # name, model, element type, dimensions, shape, offset, length
_CODES = {np.dtype(dtype): code for code, dtype in ELEMENT_TYPES.items()}


@dataclass(frozen=True)
class Sizes:
    """What the header counts."""

    models: int  # the model itself, and those that it is made of
    words: int  # V, of the vocabulary
    listed: int  # V and the words beyond it that contexts compose

    __repr__ = dataclass_repr


@dataclass(frozen=True, eq=False)
class Section:
    """One array of one of the models."""

    model: int
    name: str  # at most 16 ASCII characters
    array: Array

    __repr__ = dataclass_repr


@dataclass(frozen=True, eq=False)
class Container:
    """What a file holds, after its structure and its digest have been checked; the arrays are maps of it."""

    sizes: Sizes
    layouts: Sequence[Mapping[str, TensorLayout]]  # of each model
    arrays: Sequence[Mapping[str, Array]]  # of each model
    digest: str

    __repr__ = dataclass_repr


def is_compiled(path: str | Path) -> bool:
    """Whether a file begins as compiled models do; False for what cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, FormatError):
        return False


def stored_digest(path: str | Path) -> str:
    """The digest that the header of a file claims."""
    with open_regular(path, LARGEST_FILE) as file:
        return _read_header(file, os.fstat(file.fileno()).st_size)[1]


# ---------------------------------------------------------------- writing


def write_container(path: str | Path, sizes: Sizes, sections: Sequence[Section]) -> int:
    """Write a file, which appears when it is complete; gives its size in bytes."""
    arrays = [np.asarray(section.array, order="C") for section in sections]
    offsets, size = _offsets(arrays)
    table = b"".join(map(_entry, sections, arrays, offsets))
    counts = len(sections), sizes.models, sizes.words, sizes.listed

    def header(digest: bytes) -> bytes:
        return _HEADER.pack(MAGIC, VERSION, BYTE_ORDER_MARK, size, 0, digest, *counts)

    digest = hashlib.sha256(header(b"")[DIGESTED_FROM:])
    for piece in _body(table, arrays, offsets):
        digest.update(piece)
    with atomic_writer(path) as file:
        file.write(header(digest.digest()))
        for piece in _body(table, arrays, offsets):
            file.write(piece)
    return size


def _offsets(arrays: Sequence[Array]) -> tuple[list[int], int]:
    """Where each array begins, and where the last one ends."""
    offsets, end = [], HEADER_SIZE + _ENTRY.size * len(arrays)
    for array in arrays:
        offsets.append(_aligned(end))
        end = offsets[-1] + array.nbytes
    return offsets, end


def _aligned(offset: int) -> int:
    return -(-offset // ALIGNMENT) * ALIGNMENT


def _entry(section: Section, array: Array, offset: int) -> bytes:
    shape = (*array.shape, 0, 0)[:MOST_DIMENSIONS]
    code = _CODES[array.dtype.newbyteorder("<")]
    return _ENTRY.pack(section.name.encode(), section.model, code, array.ndim, *shape, offset, array.nbytes)


def _body(table: bytes, arrays: Sequence[Array], offsets: Sequence[int]) -> Iterator[bytes | memoryview]:
    """What follows the header."""
    yield table
    end = HEADER_SIZE + len(table)
    for array, offset in zip(arrays, offsets, strict=True):
        yield b"\0" * (offset - end)
        yield array.astype(array.dtype.newbyteorder("<"), copy=False).reshape(-1).view(np.uint8).data
        end = offset + array.nbytes


# ---------------------------------------------------------------- reading


def map_container(path: str | Path) -> Container:
    """Map a file whose structure and digest are right; anything else is refused with a FormatError."""
    try:
        with open_regular(path, LARGEST_FILE) as file:
            return _map_file(file)
    except SchemaError as problem:
        raise FormatError(f"{path}: {problem}; copy or export the model again") from problem
    except OSError as error:
        raise FormatError(f"{path}: it cannot be read ({error.strerror}); check it with `ls -l`") from error


def _map_file(file: io.BufferedReader) -> Container:
    """From the small to the large: header, table of sections, digest."""
    size = os.fstat(file.fileno()).st_size
    sizes, digest, sections = _read_header(file, size)
    layouts = _read_table(file, sections, sizes.models, size)
    file.seek(DIGESTED_FROM)
    if hashlib.file_digest(file, "sha256").hexdigest() != digest:
        raise SchemaError("it was changed or damaged after it was written")
    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    arrays = [{name: _mapped(data, layout) for name, layout in of_model.items()} for of_model in layouts]
    return Container(sizes, layouts, arrays, digest)


def _read_header(file: io.BufferedReader, size: int) -> tuple[Sizes, str, int]:
    """Counts, digest and the number of sections."""
    raw = file.read(HEADER_SIZE)
    if len(raw) < HEADER_SIZE:
        raise SchemaError(f"{len(raw)} bytes are no compiled model")
    magic, version, mark, claimed, zero, digest, sections, models, words, listed = _HEADER.unpack(raw)
    if magic != MAGIC:
        raise SchemaError("this is no compiled model")
    if version != VERSION:
        raise SchemaError(f"version {version} of the format, this morphlm reads {VERSION}")
    if mark != BYTE_ORDER_MARK or zero or any(raw[-48:]):
        raise SchemaError("the header is damaged")
    if claimed != size:
        raise SchemaError(f"there are {size:,} bytes where the header says {claimed:,}")
    if not 0 < sections <= MOST_SECTIONS or not 0 < models <= sections:
        raise SchemaError(f"{sections:,} sections of {models:,} models")
    return Sizes(models, words, listed), digest.hex(), sections


def _read_table(file: io.BufferedReader, sections: int, models: int, size: int) -> list[dict[str, TensorLayout]]:
    """The layout of every section, by model and name; they follow each other and end with the file."""
    raw = file.read(_ENTRY.size * sections)
    if len(raw) < _ENTRY.size * sections:
        raise SchemaError("the table of sections ends early")
    layouts: list[dict[str, TensorLayout]] = [{} for _ in range(models)]
    end = HEADER_SIZE + len(raw)
    for name, model, layout in map(_parse_entry, _ENTRY.iter_unpack(raw)):
        if model >= models or name in layouts[model]:
            raise SchemaError(f"the section {name} of the model {model} does not belong there")
        if layout.begin != _aligned(end) or layout.end > size:
            raise SchemaError(f"the section {name} is not where it should be")
        layouts[model][name] = layout
        end = layout.end
    if end != size:
        raise SchemaError(f"there are {size:,} bytes where the sections end at {end:,}")
    return layouts


def _parse_entry(entry: tuple[bytes, int, int, int, int, int, int, int, int]) -> tuple[str, int, TensorLayout]:
    padded, model, code, dimensions, *shape, offset, length = entry
    name = padded.rstrip(b"\0").decode("ascii", "replace")
    if not name.isidentifier() or code not in ELEMENT_TYPES or not 1 <= dimensions <= MOST_DIMENSIONS:
        raise SchemaError(f"the section {name!a} has the type {code} and {dimensions} dimensions")
    if any(shape[dimensions:]) or max(shape) > LARGEST_FILE:
        raise SchemaError(f"the section {name} has the shape {shape}")
    dtype = ELEMENT_TYPES[code]
    if length != np.dtype(dtype).itemsize * math.prod(shape[:dimensions]):
        raise SchemaError(f"the section {name} has {length:,} bytes, which is not what its shape takes")
    return name, model, TensorLayout(dtype, tuple(shape[:dimensions]), offset, offset + length)


def _mapped(data: mmap.mmap, layout: TensorLayout) -> Array:
    if layout.begin == layout.end:
        return np.zeros(layout.shape, layout.dtype)
    array = np.frombuffer(data, layout.dtype, math.prod(layout.shape), layout.begin)
    return array.reshape(layout.shape)
