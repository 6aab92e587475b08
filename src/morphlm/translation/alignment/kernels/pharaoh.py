"""Compiled loops that read and write alignments as text, `0-0 1-2`."""

from __future__ import annotations

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import njit

_NEWLINE, _SPACE, _TAB, _DASH, _ZERO = 10, 32, 9, 45, 48
_MOST = 10_000_000  # no sentence is so long: a line has at most a million bytes


@njit(cache=True, nogil=True)
def parse_links(data: Array, sources: Array, targets: Array, counts: Array) -> tuple[int, int]:
    """The links of whole lines, and how many each line has. Returns (lines, -1), or where something is wrong.

    Then the second number is the place of the byte that is no part of a link, and the first that of its line.
    """
    line, links, at = 0, 0, 0
    counts[0] = 0
    while at < len(data):
        byte = data[at]
        if byte == _NEWLINE:
            line += 1
            counts[line] = 0
            at += 1
        elif byte in (_SPACE, _TAB):
            at += 1
        else:
            source, at = _number(data, at)
            if source < 0 or data[at] != _DASH:
                return line, at
            target, at = _number(data, at + 1)
            if target < 0 or data[at] not in (_SPACE, _TAB, _NEWLINE):
                return line, at
            sources[links], targets[links] = source, target
            links += 1
            counts[line] += 1
    return line, -1


@njit(cache=True, nogil=True)
def _number(data: Array, at: int) -> tuple[int, int]:
    """The number that stands here, -1 if none or too large, and the place after it; a newline always follows."""
    value = -1
    while 0 <= data[at] - _ZERO <= 9 and value < _MOST:
        value = max(value, 0) * 10 + (data[at] - _ZERO)
        at += 1
    return (value if value < _MOST else -1), at


@njit(cache=True, nogil=True)
def _put(value: int, out: Array, at: int) -> int:
    """Write the digits of a number; returns the place after them."""
    power = 1
    while value // power >= 10:
        power *= 10
    while power:
        out[at] = _ZERO + value // power % 10
        power //= 10
        at += 1
    return at


@njit(cache=True, nogil=True)
def format_links(starts: Array, sources: Array, targets: Array) -> Array:
    """The links as lines of text."""
    out = np.empty((starts[-1] - starts[0]) * 20 + len(starts), np.uint8)  # two numbers of at most 8 digits
    at = 0
    for s in range(len(starts) - 1):
        for k in range(starts[s], starts[s + 1]):
            at = _put(sources[k], out, at)
            out[at] = _DASH
            at = _put(targets[k], out, at + 1)
            out[at] = _SPACE
            at += 1
        at -= starts[s + 1] > starts[s]
        out[at] = _NEWLINE
        at += 1
    return out[:at]
