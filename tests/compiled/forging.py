"""Compiled files as somebody hostile would write them: something is changed, and size and digest are right again."""

from __future__ import annotations

import hashlib
import random
import struct
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from morphlm.compiledfile import ELEMENT_TYPES

HEADER, ENTRY, SHA_AT, DIGESTED_FROM = 128, 64, 32, 64
COUNTS = {"sections": 64, "models": 68, "words": 72, "listed": 76}  # uint32 of the header
FIELDS = {"model": (16, "I"), "type": (20, "H"), "dimensions": (22, "H"), "length": (56, "Q"), "offset": (48, "Q")}
FIELDS |= {f"shape[{k}]": (24 + 8 * k, "Q") for k in range(3)}
WHOLE = (0, 1, 2, 3, 7, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)


class Part(NamedTuple):
    """A section as the table has it."""

    name: str
    model: int
    dtype: str
    begin: int
    end: int
    entry: int  # where its entry is


def parts_of(raw: bytes) -> list[Part]:
    (count,) = struct.unpack_from("<I", raw, COUNTS["sections"])
    entries = [HEADER + ENTRY * k for k in range(count)]
    return [_part(raw, at) for at in entries]


def _part(raw: bytes, at: int) -> Part:
    name, model, code, _, *_, offset, length = struct.unpack_from("<16sIHHQQQQQ", raw, at)
    return Part(name.rstrip(b"\0").decode(), model, ELEMENT_TYPES[code], offset, offset + length, at)


def signed(raw: bytes | bytearray) -> bytes:
    """With the size and the digest of the content."""
    forged = bytearray(raw)
    struct.pack_into("<Q", forged, 16, len(forged))
    forged[SHA_AT : SHA_AT + 32] = hashlib.sha256(forged[DIGESTED_FROM:]).digest()
    return bytes(forged)


def forgeries(raw: bytes, random_ones: int = 200) -> Iterator[tuple[str, bytes]]:
    """Every field and section of a file in many ways, one at a time; then several bytes at random."""
    for (name, at), value in product(COUNTS.items(), WHOLE[:11]):
        yield f"{name} is {value}", _packed(raw, "<I", at, value)
    for part in parts_of(raw):
        for field, (at, code) in FIELDS.items():
            largest = {"H": 2**16, "I": 2**32, "Q": 2**64}[code]
            for value in (value for value in WHOLE if value < largest):
                description = f"{field} of {part.name} of model {part.model} is {value}"
                yield description, _packed(raw, f"<{code}", part.entry + at, value)
        yield f"{part.name} of model {part.model} has another name", _packed(raw, "<16s", part.entry, b"other")
        for description, values in _forged_values(raw, part):
            changed = bytearray(raw)
            changed[part.begin : part.end] = values.tobytes()
            yield f"{part.name} of model {part.model}: {description}", signed(changed)
    yield from _shortened(raw)
    for seed in range(random_ones):
        yield f"random bytes {seed}", signed(_with_random_bytes(raw, random.Random(seed)))


def _packed(raw: bytes, code: str, at: int, value: object) -> bytes:
    changed = bytearray(raw)
    struct.pack_into(code, changed, at, value)
    return signed(changed)


def _forged_values(raw: bytes, part: Part) -> Iterator[tuple[str, np.ndarray]]:
    values = np.frombuffer(raw[part.begin : part.end], part.dtype)
    if values.size == 0:
        return
    if values.dtype.kind == "f":
        extremes = [0.0, -1.0, 1e30, -1e30, np.nan, np.inf, -np.inf, 1e-45]
    else:
        limits = np.iinfo(values.dtype)
        extremes = [0, 1, limits.min, limits.max, limits.min + 1, limits.max - 1, len(values), int(values.max()) + 1]
    with np.errstate(over="ignore"):
        wanted = [np.array(extreme).astype(values.dtype) for extreme in extremes if _fits(extreme, values.dtype)]
    for extreme in wanted:
        pieces = {"first": slice(1), "middle": slice(len(values) // 2, len(values) // 2 + 1), "last": slice(-1, None)}
        for where, places in {**pieces, "all": slice(None)}.items():
            changed = values.copy()
            changed[places] = extreme
            yield f"{where} is {extreme}", changed
    yield "reversed", values[::-1]
    yield "shuffled", np.random.default_rng(1).permutation(values)


def _fits(value: float, dtype: np.dtype) -> bool:
    return dtype.kind == "f" or np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


def _shortened(raw: bytes) -> Iterator[tuple[str, bytes]]:
    for length in (200, len(raw) // 2, len(raw) - 64, len(raw) - 1):
        yield f"the first {length} bytes", signed(raw[:length])
    yield "64 bytes more", signed(raw + bytes(64))


def _with_random_bytes(raw: bytes, rng: random.Random) -> bytearray:
    changed = bytearray(raw)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(DIGESTED_FROM, len(raw))
        changed[at] = rng.randrange(256)
    return changed
