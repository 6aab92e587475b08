"""JSON as somebody hostile would write it: a value with one place changed, and text that is no JSON at all.

`forged_values` walks any JSON value and changes one place at a time; unchanged parts are shared, so that a variant must
not be modified. `forged_texts` are bytes for a reader of files. Neither knows any schema: what a reader accepts, it
must be able to live with.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

MOST_ITEMS = 3  # of a list or object with many of one sort: the first, one in the middle and the last are forged
MANY = 10_000  # items of a list that is too long
DEPTH = 100  # of what is nested too deeply; Python's own writer still manages it


def nested(depth: int) -> Any:
    """Lists in lists."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


_NUMBERS: dict[str, Any] = {
    "0": 0,
    "1": 1,
    "-1": -1,
    "0.5": 0.5,
    "1e-320": 1e-320,
    "-1e300": -1e300,
    "1e308": 1e308,
    "NaN": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "2^31 - 1": 2**31 - 1,
    "2^31": 2**31,
    "2^63 - 1": 2**63 - 1,
    "2^63": 2**63,
    "-2^63 - 1": -(2**63) - 1,
    "2^200": 2**200,
    "10^4299": 10**4299,  # no more digits are written by Python
}
_TEXTS: dict[str, Any] = {
    "an empty text": "",
    "a NUL": "\0",
    "control characters": "\x1b[2J\r\n\t\x7f",
    "half a surrogate pair": "\ud800",
    "a path upwards": "../../../../../../etc/passwd",
    "an absolute path": "/dev/zero",
    "two dots": "..",
    "a long text": "a" * 5000,
    "a very long text": "\u0161" * 1_100_000,
    "white space": " \u2028 ",
    "a number as text": "1",
}
_OTHERS: dict[str, Any] = {
    "null": None,
    "true": True,
    "false": False,
    "an empty list": [],
    "a list": [1],
    "an empty object": {},
    "an object": {"a": 1},
    "deep lists": nested(DEPTH),
}
REPLACEMENTS = _NUMBERS | _TEXTS | _OTHERS


def forged_values(value: Any, where: str = "the content", most_items: int = MOST_ITEMS) -> Iterator[tuple[str, Any]]:
    """Variants of a JSON value, each with one place changed, and what was changed; never the value itself."""
    yield from _replaced(value, where)
    if isinstance(value, dict):
        yield from _forged_object(value, where, most_items)
    if isinstance(value, list | tuple):
        yield from _forged_list(list(value), where, most_items)
    if isinstance(value, str) and value:
        yield from _forged_text(value, where)
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from _forged_number(value, where)


def _replaced(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    for name, replacement in REPLACEMENTS.items():
        if not _is_same(value, replacement):
            yield f"{where}: {name}", replacement


def _is_same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def _forged_number(value: float, where: str) -> Iterator[tuple[str, Any]]:
    yield f"{where}: one more", value + 1
    yield f"{where}: one less", value - 1
    if isinstance(value, int) and abs(value) < 2**53:
        yield f"{where}: as a float", float(value)
    if value not in (0, 1, -1):
        yield f"{where}: negated", -value


def _forged_text(value: str, where: str) -> Iterator[tuple[str, Any]]:
    yield f"{where}: cut", value[:-1]
    yield f"{where}: with a NUL", value + "\0"
    yield f"{where}: with an end of line", value + "\n"
    if value.upper() != value:
        yield f"{where}: in capitals", value.upper()


def _forged_object(value: dict[str, Any], where: str, most_items: int) -> Iterator[tuple[str, Any]]:
    for name, addition in {
        "an unknown field": ("forged", 1),
        "an empty key": ("", 1),
        "a NUL as key": ("\0", 1),
    }.items():
        yield f"{where}: {name}", value | dict([addition])
    yield f"{where}: half a surrogate pair as key", value | {"\ud800": 1}
    yield f"{where}: a path as key", value | {"../forged": next(iter(value.values()), 1)}
    keys = list(value)
    for key in keys:
        yield f"{where}: without {key}", {name: entry for name, entry in value.items() if name != key}
        yield (
            f"{where}: {key} renamed",
            {f"{name}x" if name == key else name: entry for name, entry in value.items()},
        )
    for key in keys if _is_record(value) else _some(keys, most_items):
        for description, entry in forged_values(value[key], f"{where}.{key}", most_items):
            yield description, value | {key: entry}


def _is_record(value: dict[str, Any]) -> bool:
    """Fields of different sorts; else it is a map, of which a few entries stand for all."""
    return len(value) <= 40


def _forged_list(value: list[Any], where: str, most_items: int) -> Iterator[tuple[str, Any]]:
    if value:
        yield f"{where}: without its last item", value[:-1]
        yield f"{where}: its first item twice", [value[0], *value]
        yield f"{where}: reversed", value[::-1]
        yield f"{where}: very long", value[:1] * MANY
    for number in _some(list(range(len(value))), most_items):
        for description, item in forged_values(value[number], f"{where}[{number}]", most_items):
            yield description, [*value[:number], item, *value[number + 1 :]]


def _some(items: list[Any], most: int) -> list[Any]:
    """The first and the last, and some between."""
    if len(items) <= most:
        return items
    return [items[round(number * (len(items) - 1) / (most - 1))] for number in range(most)]


def encoded(value: Any) -> bytes:
    """A forged value as JSON; NaN and half surrogate pairs are written as Python's own reader takes them."""
    return json.dumps(value, indent=1, sort_keys=True).encode()


def forged_texts(raw: bytes, cuts: int = 20) -> Iterator[tuple[str, bytes]]:
    """Bytes that are not what was written: cut, damaged, no JSON, or JSON that costs its reader much."""
    yield "nothing", b""
    for number in range(cuts):
        yield f"cut after {number * len(raw) // cuts} bytes", raw[: number * len(raw) // cuts]
    middle = len(raw) // 2
    yield "bytes that are not UTF-8", raw[:middle] + b"\xff\xfe" + raw[middle:]
    yield "a NUL inside", raw[:middle] + b"\0" + raw[middle:]
    yield "a byte order mark", b"\xef\xbb\xbf" + raw
    yield "UTF-16", raw.decode(errors="replace").encode("utf-16")
    yield "more after the end", raw + b"{}"
    yield "twice", raw + raw
    yield "nested 100,000 lists deep", b"[" * 100_000
    yield "nested 100,000 lists deep and closed", b"[" * 100_000 + b"]" * 100_000
    yield "nested 100,000 objects deep", b'{"a":' * 100_000
    yield "a number of 100,000 digits", b"9" * 100_000
    yield "a number beyond all bounds", b"1e999999999"
    yield "NaN", b"NaN"
    if raw.lstrip().startswith(b"{") and raw.rstrip().endswith(b"}"):
        body = raw.strip()[1:-1].strip()
        yield "each key twice", b"{" + body + b", " + body + b"}" if body else b"{}"
        yield "a deep field", b'{"forged": ' + b"[" * 100_000 + b"]" * 100_000 + (b", " + body if body else b"") + b"}"
