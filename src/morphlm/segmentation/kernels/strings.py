# mypy: disallow-untyped-decorators=False, warn-return-any=False
# mypy: disable-error-code="arg-type, assignment, return-value"
"""A hash table of letter strings, each held as a position in one long array of letters, never as a copy.

The key of letters c_0 .. c_(n-1) is the sum of code(c_t) B^t modulo 2^64, so that the keys of all prefixes and all
suffixes of a string cost one multiplication a letter, and the key of a concatenation follows from its parts. Equal keys
are not trusted: the letters are compared as well.
"""

from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing, owning

BASE = np.uint64(0x9E3779B97F4A7C15)
_SCATTER = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(31)

NOT_FOUND = -1


class Letters(NamedTuple):
    """The text behind all strings, and what hashing needs."""

    text: Array  # int32, the letters of all words one after the other
    codes: Array  # uint64, a random number for each letter of the alphabet
    powers: Array  # uint64, BASE^t for every length of a string


class StringTable(NamedTuple):
    """Entry i is text[start[i] : start[i] + length[i]]."""

    text: Array  # int32, the letters that the entries are positions of
    slots: Array  # int32, entry or -1; their number is a power of 2
    keys: Array  # uint64
    start: Array  # int64
    length: Array  # int32
    size: Array  # int64, one element: the number of entries


@borrowing
def copy_into(target: Array, source: Array, first: int, size: int) -> None:
    """target[first], ... become source[0], ...; a loop, because compiling slices takes seconds."""
    for i in range(size):
        target[first + i] = source[i]


@borrowing
def slot_of(key: Any, slots: Array) -> int:
    """The first slot for a key."""
    scattered = (key ^ (key >> _SHIFT)) * _SCATTER
    return np.int64((scattered ^ (scattered >> _SHIFT)) & np.uint64(len(slots) - 1))


@borrowing
def same_letters(text: Array, start: int, other_text: Array, other_start: int, length: int) -> bool:
    """Whether two positions hold the same letters."""
    offset = 0
    while offset < length and text[start + offset] == other_text[other_start + offset]:
        offset += 1
    return offset == length


@borrowing
def find(table: StringTable, key: Any, query: Array, start: int, length: int) -> int:
    """The entry of a string, or NOT_FOUND; the string is `length` letters of `query` from `start` on."""
    slots = table.slots
    slot = slot_of(key, slots)
    entry = slots[slot]
    while entry >= 0:
        if (
            table.keys[entry] == key
            and table.length[entry] == length
            and same_letters(table.text, table.start[entry], query, start, length)
        ):
            return np.int64(entry)
        slot = (slot + 1) & (len(slots) - 1)
        entry = slots[slot]
    return NOT_FOUND


@borrowing
def insert(table: StringTable, key: Any, start: int, length: int) -> int:
    """The entry of a string of the table's text, made if it is new. The caller has seen to it that there is room."""
    entry = find(table, key, table.text, start, length)
    if entry != NOT_FOUND:
        return entry
    entry = table.size[0]
    table.size[0] = entry + 1
    table.keys[entry], table.start[entry], table.length[entry] = key, start, length
    put_in_slot(table, entry)
    return np.int64(entry)


@borrowing
def put_in_slot(table: StringTable, entry: int) -> None:
    """Make an entry findable."""
    slots = table.slots
    slot = slot_of(table.keys[entry], slots)
    while slots[slot] >= 0:
        slot = (slot + 1) & (len(slots) - 1)
    slots[slot] = entry


@owning
def fill_slots(table: StringTable, first: int) -> None:
    """Make the entries from `first` on findable, after the table has grown."""
    table.slots[:] = -1
    for entry in range(first, table.size[0]):
        put_in_slot(table, entry)


@borrowing
def key_of(letters: Letters, start: int, length: int) -> Any:
    """The key of a string."""
    key = np.uint64(0)
    for offset in range(length):
        key += letters.codes[letters.text[start + offset]] * letters.powers[offset]
    return key


@borrowing
def keys_of_parts(letters: Letters, start: int, length: int, prefixes: Array, suffixes: Array) -> None:
    """For each k: the key of the first k letters of a string, and of the others."""
    text, codes, powers = letters.text, letters.codes, letters.powers
    prefixes[0] = np.uint64(0)
    for k in range(length):
        prefixes[k + 1] = prefixes[k] + codes[text[start + k]] * powers[k]
    suffixes[length] = np.uint64(0)
    for k in range(length - 1, -1, -1):
        suffixes[k] = codes[text[start + k]] + BASE * suffixes[k + 1]


@owning
def insert_all(table: StringTable, letters: Letters, starts: Array, lengths: Array) -> Array:
    """Insert many strings of the table's text, which `letters` has too; returns their entries."""
    entries = np.empty(len(starts), np.int32)
    for i in range(len(starts)):
        entries[i] = insert(table, key_of(letters, starts[i], lengths[i]), starts[i], lengths[i])
    return entries
