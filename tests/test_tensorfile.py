"""Safetensors files: those of the library are read as the library reads them, others are refused."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

from morphlm.schema import SchemaError
from morphlm.tensorfile import DTYPES, map_tensors, read_layouts, write_tensors


def file_of(folder: Path, raw: bytes) -> io.BufferedReader:
    path = folder / "tensors"
    path.write_bytes(raw)
    return path.open("rb")


def packed(header: Any, data: bytes, pad: int = 0) -> bytes:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    raw += b" " * pad
    return struct.pack("<Q", len(raw)) + raw + data


def entry(dtype: str, shape: list[int], begin: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=5).filter(lambda name: name != "__metadata__"),
        st.tuples(st.sampled_from(list(DTYPES.values())), st.lists(st.integers(0, 3), max_size=3)),
        max_size=4,
    ),
    st.integers(0, 9),
)
def test_the_library_is_read_and_reads_us(
    tmp_path_factory: pytest.TempPathFactory, declared: dict[str, tuple[str, list[int]]], pad: int
) -> None:
    """Copies with other padding too: there arrays are not aligned in the file."""
    folder, rng = tmp_path_factory.mktemp("tensors"), np.random.default_rng(1)
    arrays = {name: rng.integers(0, 99, shape).astype(dtype) for name, (dtype, shape) in declared.items()}
    write_tensors(folder / "ours", arrays)
    theirs = save(arrays)
    length = int.from_bytes(theirs[:8], "little")
    for raw in ((folder / "ours").read_bytes(), theirs, packed(theirs[8 : 8 + length], theirs[8 + length :], pad)):
        with file_of(folder, raw) as file:
            layouts, tensors = read_layouts(file), map_tensors(file)
        oracle = load(raw)
        assert layouts.keys() == tensors.keys() == oracle.keys() == arrays.keys()
        for name, array in arrays.items():
            assert layouts[name].shape == array.shape and np.dtype(layouts[name].dtype) == array.dtype
            assert tensors[name].dtype == array.dtype and np.array_equal(tensors[name], oracle[name])
            assert tensors[name].flags.aligned


A = entry("F32", [2], 0, 8)
FORGED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "the header is no JSON"),
    "a cut length": (b"\x02\0\0", "the header ends early"),
    "a huge header": (struct.pack("<Q", 2**63), "a header of 9,223,372,036,854,775,808 bytes, of at most 4,194,304"),
    "a cut header": (packed({"a": A}, b"")[:-5], "the header ends early"),
    "no object": (packed([], b""), "the header is a list, not an object"),
    "a list in a list": (packed(b"[" * 100_000, b""), "the header is nested too deeply"),
    "a hole": (packed({"a": A, "b": entry("F32", [1], 12, 16)}, bytes(16)), "the tensor 'b' is not where it should be"),
    "an overlap": (packed({"a": A, "b": entry("F32", [2], 4, 12)}, bytes(12)), "the tensor 'b' is not where it should"),
    "the same place": (packed({"a": A, "b": A}, bytes(8)), "the tensor 'b' is not where it should be"),
    "a late begin": (packed({"a": entry("F32", [1], 4, 8)}, bytes(8)), "the tensor 'a' is not where it should be"),
    "a wrong length": (packed({"a": entry("F32", [3], 0, 8)}, bytes(8)), "the tensor 'a' is not where it should be"),
    "backwards": (packed({"a": entry("F32", [2], 8, 0)}, bytes(8)), "the tensor 'a' is not where it should be"),
    "cut data": (packed({"a": A}, bytes(7)), "there are 7"),
    "more data": (packed({"a": A}, bytes(9)), "there are 7"),
    "an unknown type": (packed({"a": entry("BF16", [4], 0, 8)}, bytes(8)), "the header.a.dtype is 'BF16', not one of"),
    "a negative size": (packed({"a": entry("F32", [-2], 0, 8)}, bytes(8)), "the header.a.shape[0] is -2, not a whole"),
    "a float size": (packed({"a": entry("F32", [2.0], 0, 8)}, bytes(8)), "the header.a.shape[0] is 2.0"),  # type: ignore[list-item]
    "a boolean size": (packed({"a": entry("F32", [True, 2], 0, 8)}, bytes(8)), "the header.a.shape[0] is True"),
    "a huge size": (packed({"a": entry("F32", [2**62, 4], 0, 8)}, bytes(8)), "the header.a.shape[0] is 46116860184"),
    "huge and empty": (packed({"a": entry("F32", [0, 2**40, 2**40], 0, 0)}, b""), "the tensor 'a' has a shape that is"),
    "many dimensions": (packed({"a": entry("F32", [1] * 9, 0, 4)}, bytes(4)), "the header.a.shape is a list, not a"),
    "three offsets": (packed({"a": {**A, "data_offsets": [0, 4, 8]}}, bytes(8)), "the header.a.data_offsets is a list"),
    "an unknown field": (packed({"a": {**A, "x": 1}}, bytes(8)), "the header.a has a field 'x', which is not known"),
    "a name twice": (
        packed(b'{"a": %b, "a": %b}' % ((json.dumps(A).encode(),) * 2), bytes(8)),
        "the header is no JSON (an object has a key twice)",
    ),
}


@pytest.mark.parametrize("what", FORGED)
def test_forged_headers(tmp_path: Path, what: str) -> None:
    raw, message = FORGED[what]
    with file_of(tmp_path, raw) as file, pytest.raises(SchemaError) as refused:
        read_layouts(file)
    assert str(refused.value).startswith(message)


def test_metadata_of_other_tools_is_passed_over(tmp_path: Path) -> None:
    with file_of(tmp_path, packed({"__metadata__": {"format": "pt"}, "a": A}, bytes(8))) as file:
        assert list(read_layouts(file)) == ["a"]
