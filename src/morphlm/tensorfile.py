"""Tensors on disk: safetensors files, mapped when they are read and written array by array."""

from __future__ import annotations

import io
import json
import math
import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Array, blocks_of
from morphlm.schema import Integer, ListOf, MapOf, Record, SchemaError, String, TensorLayout, parse_json

DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "U64": "<u8",
    "U32": "<u4",
    "U8": "|u1",
}
LONGEST_HEADER = 1 << 22  # bytes
BLOCK_BYTES = 1 << 24  # written at a time: of maps of other files, no more is in memory
LARGEST_SHAPE = 1 << 50  # items, dimensions of 0 left aside
_OFFSET = Integer(0, 1 << 50)
_HEADER = MapOf(
    Record(
        {
            "dtype": String(choices=tuple(DTYPES)),
            "shape": ListOf(_OFFSET, longest=8),
            "data_offsets": ListOf(_OFFSET, shortest=2, longest=2),
        }
    ),
    longest=10_000,
)


def read_layouts(file: io.BufferedReader) -> dict[str, TensorLayout]:
    """What the header of a safetensors file says. Raises SchemaError unless they cover the data, each byte once."""
    file.seek(0)
    size, header = os.fstat(file.fileno()).st_size, _read_header(file)
    layouts = {
        name: TensorLayout(DTYPES[entry["dtype"]], tuple(entry["shape"]), *entry["data_offsets"])
        for name, entry in header.items()
    }
    end = 0
    for name, layout in sorted(layouts.items(), key=lambda item: (item[1].begin, item[1].end)):
        length = np.dtype(layout.dtype).itemsize * math.prod(layout.shape)
        if layout.begin != end or layout.end - layout.begin != length:
            raise SchemaError(f"the tensor {ascii(name)[:60]} is not where it should be")
        if math.prod(max(size, 1) for size in layout.shape) > LARGEST_SHAPE:  # of one without items; NumPy refuses it
            raise SchemaError(f"the tensor {ascii(name)[:60]} has a shape that is too large")
        end = layout.end
    if file.tell() + end != size:
        raise SchemaError(f"there are {size:,} bytes where the header says {file.tell() + end:,}")
    return layouts


def _read_header(file: io.BufferedReader) -> dict[str, Any]:
    length = int.from_bytes(file.read(8), "little")
    if length > LONGEST_HEADER:
        raise SchemaError(f"a header of {length:,} bytes, of at most {LONGEST_HEADER:,}")
    raw = file.read(length)
    if len(raw) < length:
        raise SchemaError("the header ends early")
    header = parse_json(raw, "the header")
    if isinstance(header, dict):
        header.pop("__metadata__", None)
    _HEADER.check(header, "the header")
    return dict(header)


def map_tensors(file: io.BufferedReader) -> dict[str, Array]:
    """The tensors of an open safetensors file as read-only maps: readers of one model share its memory.

    The maps know no name of a file, as the name may belong to another file by the time that somebody asks.
    """
    layouts = read_layouts(file)
    begin = file.tell()
    data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return {name: _mapped(data, begin + layout.begin, layout) for name, layout in layouts.items()}


def _mapped(data: mmap.mmap, begin: int, layout: TensorLayout) -> Array:
    if layout.begin == layout.end:
        return np.zeros(layout.shape, layout.dtype)
    array = np.frombuffer(data, layout.dtype, math.prod(layout.shape), begin).reshape(layout.shape)
    return array if array.flags.aligned else array.copy()  # of other tools; kernels take aligned arrays only


def write_tensors(path: Path, tensors: Mapping[str, Array]) -> None:
    """A safetensors file, written array by array: the library would hold a second copy of all of them in memory.

    Larger items come first, then by name, as the library orders them, so that every array is aligned to its items.
    """
    # np.ascontiguousarray would make a vector of an array without dimensions.
    arrays = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    codes = {np.dtype(dtype): code for code, dtype in DTYPES.items()}
    header: dict[str, Any] = {}
    end = 0
    for name in order:
        begin, end = end, end + arrays[name].nbytes
        header[name] = {
            "dtype": codes[arrays[name].dtype],
            "shape": list(arrays[name].shape),
            "data_offsets": [begin, end],
        }
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 8)
    with path.open("wb") as file:
        file.write(len(encoded).to_bytes(8, "little") + encoded)
        for name in order:
            for block in blocks_of(arrays[name].reshape(-1).view(np.uint8), BLOCK_BYTES):
                file.write(block.data)
