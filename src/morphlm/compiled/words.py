"""The words of a compiled model: a pool of their bytes for everybody, and a hash table for readers without one.

Words stand in the pool in order of their ids, each with a NUL behind it. A word is in the first free of the slots from
the one of its hash on, at most PROBES of them, so that looking up is bounded, whatever a file holds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from morphlm.arrays import Array, Int32Array, Int64Array, starts_of
from morphlm.errors import ConfigError
from morphlm.schema import SchemaError

PROBES = 64  # slots that are looked at for a word
FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
FREE = -1

Hashes = NDArray[np.uint64]


def pack_words(words: Sequence[str]) -> tuple[Array, Int64Array]:
    """The pool, uint8, and where each word begins and the last one ends."""
    forms = [word.encode() for word in words]
    spoilt = next((word for word in words if "\0" in word), None)
    if spoilt is not None:
        raise ConfigError(f"the word {spoilt!a} has a NUL, which ends words in a compiled file; train without it")
    starts = starts_of([len(form) + 1 for form in forms])
    return np.frombuffer(b"".join(form + b"\0" for form in forms), np.uint8), starts


def unpack_words(pool: Array, starts: Int64Array) -> tuple[str, ...]:
    """The words of a pool. Raises SchemaError for what is none."""
    if len(pool) == 0 or pool[-1] != 0 or not np.array_equal(np.flatnonzero(pool == 0) + 1, starts[1:]):
        raise SchemaError("the words do not end where they should")
    try:
        words = tuple(pool.tobytes().decode().split("\0")[:-1])
    except UnicodeDecodeError as error:
        raise SchemaError(f"byte {error.start} of the words is not UTF-8") from error
    if "" in words:
        raise SchemaError("a word is empty")
    return words


def hash_table(pool: Array, starts: Int64Array) -> Int32Array:
    """(slots, 2): 32 more bits of a word's hash, and its id; FREE for none. At most half of the slots are taken."""
    hashes = hash_words(pool, starts)
    slots = 4
    while slots < 2 * len(hashes):
        slots *= 2
    while (table := _filled(hashes, slots)) is None:
        slots *= 2
    return table


def hash_words(pool: Array, starts: Int64Array) -> Hashes:
    """FNV-1a of 64 bits of each word without its NUL, then mixed, since its low bits differ too little."""
    lengths = np.diff(starts) - 1
    hashes = np.full(len(lengths), FNV_OFFSET, np.uint64)
    for k in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > k)
        hashes[longer] = (hashes[longer] ^ pool[starts[longer] + k]) * np.uint64(FNV_PRIME)
    hashes ^= hashes >> np.uint64(32)
    hashes *= np.uint64(0x9E3779B97F4A7C15)
    return hashes ^ (hashes >> np.uint64(29))


def _filled(hashes: Hashes, slots: int) -> Int32Array | None:
    """The table of so many slots; None if a word would be too far from its slot."""
    table = np.empty((slots, 2), np.int32)
    table[:, 0], table[:, 1] = 0, FREE
    taken, marks = [FREE] * slots, (hashes >> np.uint64(32)).astype(np.uint32).view(np.int32)
    for word, first in enumerate((hashes & np.uint64(slots - 1)).tolist()):
        slot = next((at for at in range(first, first + PROBES) if taken[at & (slots - 1)] == FREE), None)
        if slot is None:
            return None
        taken[slot & (slots - 1)] = word
    table[:, 1] = taken
    used = table[:, 1] >= 0
    table[used, 0] = marks[table[used, 1]]
    return table
