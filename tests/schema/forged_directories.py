"""Directories with a manifest as somebody hostile would write them: one thing changed, and all hashes right again."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.modelfile import COMPONENTS, MANIFEST, TENSORS, canonical_json
from morphlm.tensorfile import map_tensors, write_tensors
from tests.schema.forge import forged_texts, forged_values

HUGE = 1 << 40  # bytes of a file without content


@dataclass(frozen=True)
class Forgery:
    """What is changed in a copy of a directory."""

    description: str
    apply: Callable[[Path], None]


def forgeries(directory: Path) -> Iterator[Forgery]:
    """Every way in which a directory is forged, those of the models in it too."""
    for inside in [directory, *sorted(path.parent for path in directory.glob(f"{COMPONENTS}/**/{MANIFEST}"))]:
        where = inside.relative_to(directory)
        for forgery in _forgeries_of(inside):
            yield Forgery(f"{where}: {forgery.description}", partial(_apply_inside, where, forgery))


def _apply_inside(where: Path, forgery: Forgery, root: Path) -> None:
    forgery.apply(root / where)
    folder = root / where
    while folder != root:  # the digests of the manifests that contain this one
        folder = folder.parent.parent
        _change_manifest(folder, {})


def _forgeries_of(directory: Path) -> Iterator[Forgery]:
    manifest = json.loads((directory / MANIFEST).read_bytes())
    yield from _forged_manifests(manifest)
    with (directory / TENSORS).open("rb") as file:
        tensors = map_tensors(file)
    for name, array in tensors.items():
        for description, changed in _forged_arrays(array):
            yield Forgery(f"the tensor {name}: {description}", partial(_write_tensors, tensors | {name: changed}))
    yield from _forged_tensor_sets(tensors)
    for description, raw in _forged_headers((directory / TENSORS).read_bytes()):
        yield Forgery(f"{TENSORS}: {description}", partial(_write_file, TENSORS, raw))
    for name in manifest["files"]:
        if name != TENSORS:
            for description, raw in _forged_lines((directory / name).read_bytes()):
                yield Forgery(f"{name}: {description}", partial(_write_file, name, raw))
        for description, put in OTHER_FILES.items():
            yield Forgery(f"{name}: {description}", partial(_put_other_file, name, put))
    for description, put in OTHER_FILES.items():
        yield Forgery(f"{MANIFEST}: {description}", partial(_put_other_file, MANIFEST, put))


# ---------------------------------------------------------------- manifests


def _forged_manifests(manifest: dict[str, Any]) -> Iterator[Forgery]:
    for field in ("configuration", "training", "self_test", "kind", "version", "format", "parts", "files"):
        for description, value in forged_values(manifest.get(field), field):
            yield Forgery(description, partial(_change_manifest, change={field: value}))
    for description, raw in forged_texts(canonical_json(manifest)):
        yield Forgery(f"{MANIFEST}: {description}", partial(_write_raw_file, MANIFEST, raw))


def _change_manifest(directory: Path, change: dict[str, Any]) -> None:
    """Change fields of the manifest; all digests are made right for what is there."""
    path = directory / MANIFEST
    manifest = json.loads(path.read_bytes())
    for name in manifest["files"]:
        if _is_hashable(directory / name):
            manifest["files"][name] = hashlib.sha256((directory / name).read_bytes()).hexdigest()
    for name in manifest.get("parts", {}):
        inner = directory / COMPONENTS / name / MANIFEST
        if _is_hashable(inner):
            manifest["parts"][name] = hashlib.sha256(inner.read_bytes()).hexdigest()
    manifest |= change
    manifest.pop("sha256")
    try:
        manifest["sha256"] = hashlib.sha256(canonical_json(manifest)).hexdigest()
        raw = canonical_json(manifest)
    except ValueError:  # NaN, half a surrogate pair, too many digits: no manifest can hold it
        manifest["sha256"] = "0" * 64
        raw = json.dumps(manifest, indent=1, sort_keys=True).encode()
    _write_raw(path, raw)


def _is_hashable(path: Path) -> bool:
    return path.is_file() and path.stat().st_size < HUGE


def _write_raw(path: Path, raw: bytes) -> None:
    """In place of what may be a hard link to another model."""
    path.unlink(missing_ok=True)
    path.write_bytes(raw)


def _write_raw_file(name: str, raw: bytes, directory: Path) -> None:
    _write_raw(directory / name, raw)


def _write_file(name: str, raw: bytes, directory: Path) -> None:
    _write_raw(directory / name, raw)
    _change_manifest(directory, {})


# ---------------------------------------------------------------- tensors


def _write_tensors(tensors: dict[str, np.ndarray], directory: Path) -> None:
    (directory / TENSORS).unlink()
    write_tensors(directory / TENSORS, tensors)
    _change_manifest(directory, {})


_FLOATS = (np.nan, np.inf, -np.inf, 3e38, -3e38, -1e300, 1e16, -1.0, 0.0, 2.0, 1e7)
_INTEGERS = (-1, 0, 1, 2, 1000, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63), 2**62)


def _forged_arrays(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Other values in single places and everywhere, other shapes and types."""
    values = _FLOATS if array.dtype.kind == "f" else (*_INTEGERS, array.size, array.size - 1, array.size + 1)
    places: dict[str, Any] = {"first": 0, "middle": array.size // 2, "last": -1, "all": slice(None)}
    for value in values if array.size else ():
        for place, index in places.items():
            changed = array.copy().reshape(-1)
            changed[index] = _as_type(value, array.dtype)
            if not np.array_equal(changed, array.reshape(-1), equal_nan=array.dtype.kind == "f"):
                yield f"{value} {place}", changed.reshape(array.shape)
    for dtype in ("<f8", "<f4", "<f2", "<i8", "<i4", "<u8", "<u4", "|u1"):
        if np.dtype(dtype) != array.dtype:
            with np.errstate(all="ignore"):
                yield f"as {np.dtype(dtype)}", array.astype(dtype)
    yield "nothing", array[:0]
    yield "a row less", array[:-1]
    yield "a row more", np.concatenate([array, array[-1:]])
    yield "reversed", array[::-1].copy()
    yield "flat", array.reshape(-1, 1)
    yield "with one more dimension", array[None]
    yield "without dimensions", np.array(array.reshape(-1)[0] if array.size else 0, array.dtype)
    yield "shuffled", np.random.default_rng(1).permutation(array)
    yield "random bytes", np.frombuffer(np.random.default_rng(2).bytes(array.nbytes), array.dtype).reshape(array.shape)


def _as_type(value: float, dtype: np.dtype[Any]) -> Any:
    """The number in a type; whole ones that are too large wrap around."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.float64(value).astype(dtype)
    bits = 8 * dtype.itemsize
    offset = 2 ** (bits - 1) if dtype.kind == "i" else 0
    return np.array((int(value) + offset) % 2**bits - offset, dtype)[()]


def _forged_tensor_sets(tensors: dict[str, np.ndarray]) -> Iterator[Forgery]:
    names = list(tensors)
    yield Forgery("no tensors", partial(_write_tensors, {}))
    yield Forgery("a tensor more", partial(_write_tensors, tensors | {"more": np.ones(3)}))
    for name in names:
        rest = {other: array for other, array in tensors.items() if other != name}
        yield Forgery(f"without the tensor {name}", partial(_write_tensors, rest))
        yield Forgery(f"{name} under another name", partial(_write_tensors, rest | {f"{name}x": tensors[name]}))
    for one, other in pairwise(names):
        swapped = tensors | {one: tensors[other], other: tensors[one]}
        yield Forgery(f"{one} and {other} exchanged", partial(_write_tensors, swapped))


def _forged_headers(raw: bytes) -> Iterator[tuple[str, bytes]]:
    """Headers with right and wrong lengths: tensors that overlap, leave gaps or reach beyond the end."""
    length = struct.unpack("<Q", raw[:8])[0]
    header, data = json.loads(raw[8 : 8 + length]), raw[8 + length :]

    def with_header(changed: Any, data: bytes = data) -> bytes:
        encoded = json.dumps(changed).encode()
        encoded += b" " * (-len(encoded) % 8)
        return struct.pack("<Q", len(encoded)) + encoded + data

    for wrong in (0, 1, length - 8, length + 8, len(raw), 1 << 31, 1 << 62, (1 << 64) - 1):
        yield f"a header of {wrong} bytes", struct.pack("<Q", wrong) + raw[8:]
    yield "data after the end", with_header(header, data + bytes(8))
    yield "data that ends early", with_header(header, data[:-1])
    yield "no data", with_header(header, b"")
    for description, changed in forged_texts(raw[8 : 8 + length]):
        yield f"header: {description}", struct.pack("<Q", len(changed)) + changed + data
    for name in list(header)[:4]:
        for description, entry in forged_values(header[name], name, most_items=2):
            try:
                yield f"header: {description}", with_header(header | {name: entry})
            except ValueError:
                continue
        begin, end = header[name]["data_offsets"]
        for moved in ((begin - 4, end - 4), (begin + 4, end + 4), (begin, end + 8), (0, 0), (end, begin)):
            yield f"{name} at {moved}", with_header(header | {name: header[name] | {"data_offsets": list(moved)}})


# ---------------------------------------------------------------- texts and files


def _forged_lines(raw: bytes) -> Iterator[tuple[str, bytes]]:
    lines = raw.splitlines(keepends=True)
    yield "nothing", b""
    yield "one end of line", b"\n"
    yield "no end of the last line", raw[:-1]
    yield "cut in the middle", raw[: len(raw) // 2]
    for where in sorted({0, len(lines) // 2, len(lines) - 1}):
        line = lines[where] if lines else b"\n"
        for description, changed in _forged_line(line.rstrip(b"\n")):
            yield f"line {where + 1}: {description}", b"".join([*lines[:where], *changed, *lines[where + 1 :]])
    yield "reversed", b"".join(lines[::-1])


def _forged_line(line: bytes) -> Iterator[tuple[str, list[bytes]]]:
    first, _, rest = line.partition(b"\t")
    yield "gone", []
    yield "twice", [line + b"\n"] * 2
    yield "empty", [b"\n"]
    for description, word in {
        "an escape sequence": b"\x1b[2J\x1b]0;title\x07",
        "not UTF-8": b"\xff\xfe",
        "a NUL": b"a\0b",
        "a carriage return": b"a\rb",
        "a line separator": "a\u2028b".encode(),
        "a space": b"a b",
        "nothing": b"",
        "a mark": b"<s>",
        "a megabyte": b"a" * (1 << 20),
        "combining marks": "\u0301\u0301".encode(),
    }.items():
        yield f"{description} as its first column", [word + b"\t" + rest + b"\n"]
    for number in (b"", b"-1", b"1.5", b"1e5", b"nan", b"9" * 18, b"9" * 19, b"9" * 400, "١".encode(), b"1_0", b" 1"):
        yield f"{number.decode()[:20]!r} as its second column", [first + b"\t" + number + b"\n"]
        yield f"{number.decode()[:20]!r} as its first word", [number + b" " + line.partition(b" ")[2] + b"\n"]
    yield "a third column", [line + b"\tmore\n"]
    yield "no columns", [line.replace(b"\t", b"") + b"\n"]


def _put_other_file(name: str, put: Callable[[Path], None], directory: Path) -> None:
    path = directory / name
    path.unlink()
    put(path)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HUGE)


OTHER_FILES: dict[str, Callable[[Path], None]] = {
    "missing": lambda path: None,
    "a named pipe": os.mkfifo,
    "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "a link to /dev/stdin": lambda path: path.symlink_to("/dev/stdin"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a folder": Path.mkdir,
    "a terabyte without content": _sparse,
}
