"""Compiled loops of fastText's vectors: the rows of a word's subwords, and their sum."""

from morphlm.arrays import Array
from morphlm.compiling import njit

FNV_BASIS, FNV_PRIME, MASK = 2166136261, 16777619, 0xFFFFFFFF


@njit(cache=True, nogil=True)
def hash_byte(code: int, byte: int) -> int:
    """A step of FNV-1a in 32 bits; fastText takes bytes as signed, so those from 128 on bring 24 bits more."""
    return ((code ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * FNV_PRIME) & MASK


@njit(cache=True, nogil=True)
def find_subwords(
    data: Array,
    starts: Array,
    own: Array,
    shortest: int,
    longest: int,
    buckets: int,
    known: int,
    rows: Array,
    ends: Array,
) -> int:
    """The rows of each word: its own, unless that is -1, and those of its n-grams, from its begin on, short ones first.

    `data` holds the words with their edges, in UTF-8; `known` is the number of rows that words have, those of n-grams
    come after them. ends[i] is where the rows of word i end. Returns how many there are; those that fit into `rows` are
    written. The edge of a word alone is no n-gram.
    """
    found = 0
    for word in range(len(own)):
        if own[word] >= 0:
            if found < len(rows):
                rows[found] = own[word]
            found += 1
        begin, end = starts[word], starts[word + 1]
        for first in range(begin, end):
            if data[first] & 0xC0 == 0x80:  # inside of a letter
                continue
            code, at, n = FNV_BASIS, first, 1
            while at < end and n <= longest:
                code = hash_byte(code, data[at])
                at += 1
                while at < end and data[at] & 0xC0 == 0x80:
                    code = hash_byte(code, data[at])
                    at += 1
                if n >= shortest and not (n == 1 and (first == begin or at == end)):
                    if found < len(rows):
                        rows[found] = known + code % buckets
                    found += 1
                n += 1
        ends[word] = found
    return found


@njit(cache=True, nogil=True)
def add_rows(rows: Array, owners: Array, sums: Array) -> None:
    """Add each row to the sum of its owner, one after the other: sums do not depend on what else is asked for."""
    for row in range(len(rows)):
        for k in range(rows.shape[1]):
            sums[owners[row], k] += rows[row, k]
