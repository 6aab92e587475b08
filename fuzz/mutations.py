"""Mutations of inputs: of bytes, of lines and their fields, of values in JSON, of numbers in safetensors files.

Blind changes of bytes seldom keep JSON readable or a header in step with its data; those that know the structure do.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Sequence
from typing import Any

Mutation = Callable[[random.Random, bytes, Sequence[bytes]], bytes]

LONGEST = 1 << 15  # bytes of an input
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**32, 2**63, -(2**63) - 1, 10**30, 0.5, -0.0, 1e308, 1e-320),
    *("", "..", "/", "a/b", "\0", "\ud800", "x" * 300, "<s>", [], {}, [[]], [None], {"": 0}),
)
FORMATS = "bBhHiIqQfd"
NUMBERS = (0, 1, -1, 127, 128, 255, 2**15, 2**16, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), -float("inf"), 3e38, 1e-45, 1e308)


def mutate(rng: random.Random, data: bytes, tokens: Sequence[bytes] = ()) -> bytes:
    """One to four changes, half of them of the kind that suits the input."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        change = _suitable(data) if rng.random() < 0.5 else rng.choice(MUTATIONS)
        data = change(rng, data, tokens)
    return data[:LONGEST]


def _suitable(data: bytes) -> Mutation:
    """By how the input begins, with or without the byte of a choice before it."""
    if data[:1] in (b"{", b"[") or data[1:2] in (b"{", b"["):
        return change_json
    if data[8:9] == b"{" or data[9:10] == b"{":  # after the length of the header
        return change_tensors
    return change_lines


# ---------------------------------------------------------------- bytes


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    begin = rng.randrange(len(data) + 1)
    return begin, min(len(data), begin + rng.choice((1, 2, 4, 8, 32, len(data))))


def change_bytes(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Flip a bit, or set a byte."""
    changed = bytearray(data or b"\0")
    position = rng.randrange(len(changed))
    changed[position] = rng.choice((changed[position] ^ (1 << rng.randrange(8)), rng.randrange(256)))
    return bytes(changed)


def cut(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Leave a part out."""
    begin, end = _span(rng, data)
    return data[:begin] + data[end:]


def duplicate(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Put a part in a second time."""
    begin, end = _span(rng, data)
    position = rng.randrange(len(data) + 1)
    return data[:position] + data[begin:end] + data[position:]


def insert_token(rng: random.Random, data: bytes, tokens: Sequence[bytes]) -> bytes:
    """Put a word of the format in, or in the place of others."""
    begin, end = _span(rng, data)
    token = rng.choice(tokens or (b"\0", b"\n", b" ", b"-1"))
    return data[:begin] + token + data[rng.choice((begin, end)) :]


def set_number(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """An interesting number of some width, little-endian."""
    code = rng.choice(FORMATS)
    size = struct.calcsize(f"<{code}")
    if len(data) < size:
        return data
    position = rng.randrange(len(data) - size + 1)
    return data[:position] + _packed(rng, code) + data[position + size :]


def _packed(rng: random.Random, code: str) -> bytes:
    if code == "f":
        return struct.pack("<f", rng.choice(FLOATS[:-1]))
    if code == "d":
        return struct.pack("<d", rng.choice(FLOATS))
    size = struct.calcsize(f"<{code}")
    return int(rng.choice(NUMBERS) % 256**size).to_bytes(size, "little")


# ---------------------------------------------------------------- lines


def change_lines(rng: random.Random, data: bytes, tokens: Sequence[bytes]) -> bytes:
    """Remove, repeat or swap lines, or replace a field of one."""
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.randrange(4)
    if change == 0:
        del lines[one]
    elif change == 1:
        lines.insert(other, lines[one])
    elif change == 2:
        lines[one], lines[other] = lines[other], lines[one]
    else:
        mark = rng.choice((b" ", b"\t", b"=", b"|||"))
        fields = lines[one].split(mark)
        fields[rng.randrange(len(fields))] = rng.choice(tokens or (b"", b"-1"))
        lines[one] = mark.join(fields)
    return b"\n".join(lines)


# ---------------------------------------------------------------- JSON and safetensors


def change_json(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Replace, remove, rename or add a value somewhere in JSON; the first byte of a choice stays in front of it."""
    head = data[:1] if data[:1] not in (b"{", b"[") else b""
    try:
        content = json.loads(data[len(head) :])
    except (ValueError, RecursionError):
        return change_bytes(rng, data, ())
    return head + json.dumps(_changed(rng, content), ensure_ascii=rng.random() < 0.5).encode(errors="surrogatepass")


def _changed(rng: random.Random, content: Any) -> Any:
    """Go down at random, and change what is there."""
    if not isinstance(content, dict | list) or not content or rng.random() < 0.1:
        return rng.choice(VALUES)
    key = rng.choice(list(content) if isinstance(content, dict) else range(len(content)))
    change = rng.random()
    if change < 0.1:
        del content[key]
    elif change < 0.2 and isinstance(content, dict):
        content[rng.choice(("", "x", "..", key.upper()))] = content.pop(key)
    elif change < 0.3 and isinstance(content, list):
        content.insert(key, content[key])
    else:
        content[key] = _changed(rng, content[key])
    return content


def change_tensors(rng: random.Random, data: bytes, _: Sequence[bytes]) -> bytes:
    """Change a number of a tensor, or the header, whose length is then made right."""
    for start in (0, 1):  # after the byte of a choice
        length = int.from_bytes(data[start : start + 8], "little")
        header, body = data[start + 8 : start + 8 + length], data[start + 8 + length :]
        if length and header[:1] == b"{" and len(header) == length:
            break
    else:
        return set_number(rng, data, ())
    if body and rng.random() < 0.7:
        return data[: start + 8 + length] + _changed_numbers(rng, header, body)
    header = change_json(rng, header, ())
    return data[:start] + len(header).to_bytes(8, "little") + header + body


def _changed_numbers(rng: random.Random, header: bytes, body: bytes) -> bytes:
    """An interesting number in a tensor, of its own type and in its place."""
    codes = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "U32": "I", "U8": "B"}
    try:
        entries = [entry for entry in json.loads(header).values() if entry.get("dtype") in codes]
        entry = rng.choice(entries)
        code = codes[entry["dtype"]]
        begin, end = entry["data_offsets"]
        size = struct.calcsize(f"<{code}")
        position = int(begin + size * rng.randrange(int((end - begin) // size)))  # a header may have any numbers by now
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        return set_number(rng, body, ())
    return body[:position] + _packed(rng, code) + body[position + size :]


MUTATIONS: tuple[Mutation, ...] = (
    *(change_bytes, cut, duplicate, insert_token, insert_token, set_number),
    *(change_lines, change_json, change_tensors),
)
