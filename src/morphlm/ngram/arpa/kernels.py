"""Compiled loops that read ARPA files: lines to numbers and words, words and n-grams to their indices.

Both tables are open-addressed: an entry stands in the first free slot from its hash on. The multiplier of the hashes is
random, so that nobody can write a file whose words all fall into one slot; results do not depend on it.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import njit

TAB, NEWLINE, SPACE, PLUS, MINUS, POINT, ZERO, NINE = 9, 10, 32, 43, 45, 46, 48, 57
EMPTY = -1
ID_BITS = 31
NEAR_ROWS = 4  # that are tried before the hash table
LARGEST_EXACT = 1 << 53  # whole numbers below it are exact as float64
POWERS_OF_TEN = np.array([float(f"1e{k}") for k in range(23)])  # larger ones are not exact


# ---------------------------------------------------------------- lines


@njit(cache=True, nogil=True)
def parse_decimal(data: Array, begin: int, end: int) -> float:
    """A number of plain digits as Python reads it, to the last bit; NaN for all others, which Python has to read.

    Its digits as a whole number and the power of ten that divides them are exact, so it is rounded only once.
    """
    at = begin
    if data[at] == MINUS or data[at] == PLUS:
        at += 1
    number, digits, decimals, has_point = 0, 0, 0, False
    while at < end:
        if ZERO <= data[at] <= NINE:
            number = 10 * number + (data[at] - ZERO)
            digits += 1
            decimals += has_point
        elif data[at] == POINT and not has_point:
            has_point = True
        else:
            return np.nan
        if number >= LARGEST_EXACT:
            return np.nan
        at += 1
    if digits == 0 or decimals >= len(POWERS_OF_TEN):
        return np.nan
    value = number / POWERS_OF_TEN[decimals]
    return -value if data[begin] == MINUS else value


@njit(cache=True, nogil=True)
def parse_ngrams(
    data: Array, at: int, order: int, most_fields: int, logprobs: Array, backoffs: Array, spans: Array
) -> tuple[int, int]:
    """Read lines `log10(p) word ... [log10(back-off)]` until one has too few or too many fields.

    `data` ends with a newline. A line fills a row of `logprobs` and `backoffs`, NaN where a number is not plain, and of
    `spans`: where each word begins and ends. Returns the number of rows, and where the next line begins.
    """
    row = 0
    while row < len(logprobs) and at < len(data):
        line, fields = at, 0
        backoffs[row] = 0.0
        while data[at] != NEWLINE:
            if data[at] == SPACE or data[at] == TAB:
                at += 1
                continue
            begin = at
            while data[at] != NEWLINE and data[at] != SPACE and data[at] != TAB:
                at += 1
            if fields == 0:
                logprobs[row] = parse_decimal(data, begin, at)
            elif fields <= order:
                spans[row, fields - 1, 0] = begin
                spans[row, fields - 1, 1] = at
            elif fields < most_fields:
                backoffs[row] = parse_decimal(data, begin, at)
            fields += 1
        if not order < fields <= most_fields:
            return row, line
        at += 1
        row += 1
    return row, at


# ---------------------------------------------------------------- words


class WordTable(NamedTuple):
    """Words by their bytes."""

    forms: Array  # uint8, all words, each followed by a newline
    starts: Array  # int64 (V + 1)
    slots: Array  # int64: where the word begins in `forms`, and its id in the lower 31 bits; or EMPTY. A power of two
    multiplier: int  # odd


@njit(cache=True, nogil=True)
def word_slot(data: Array, begin: int, end: int, table: WordTable) -> int:
    """The slot that holds the word data[begin:end], or the empty one where it belongs."""
    forms, slots = table.forms, table.slots
    code = table.multiplier
    for k in range(begin, end):
        code = (code ^ data[k]) * table.multiplier
    last = len(slots) - 1
    slot = (code ^ (code >> 32)) & last  # the upper bits depend on all of the word
    while slots[slot] != EMPTY:
        first = slots[slot] >> ID_BITS
        k = 0
        while k < end - begin and forms[first + k] == data[begin + k]:  # no word has a newline, where it would stop
            k += 1
        if k == end - begin and forms[first + k] == NEWLINE:
            break
        slot = (slot + 1) & last
    return slot


@njit(cache=True, nogil=True)
def fill_word_table(table: WordTable) -> None:
    """Give all words a slot."""
    for word in range(len(table.starts) - 1):
        begin, end = table.starts[word], table.starts[word + 1] - 1
        table.slots[word_slot(table.forms, begin, end, table)] = (begin << ID_BITS) | word


@njit(cache=True, nogil=True)
def same_bytes(data: Array, begin: int, end: int, other_begin: int, other_end: int) -> bool:
    """Whether two pieces of the data are alike."""
    if end - begin != other_end - other_begin:
        return False
    k = 0
    while k < end - begin and data[begin + k] == data[other_begin + k]:
        k += 1
    return k == end - begin


@njit(cache=True, nogil=True)
def find_words(data: Array, spans: Array, table: WordTable, words: Array) -> int:
    """Put the ids of all words into `words` until one is not in the table; returns the rows before that.

    Files are sorted, from the left or from the right, so many words stand in the line before, too.
    """
    for row in range(len(words)):
        for k in range(words.shape[1]):
            begin, end = spans[row, k, 0], spans[row, k, 1]
            if row > 0 and same_bytes(data, begin, end, spans[row - 1, k, 0], spans[row - 1, k, 1]):
                words[row, k] = words[row - 1, k]
                continue
            entry = table.slots[word_slot(data, begin, end, table)]
            if entry == EMPTY:
                return row
            words[row, k] = entry & ((1 << ID_BITS) - 1)
    return len(words)


# ---------------------------------------------------------------- n-grams


@njit(cache=True, nogil=True)
def is_row(table: Array, entry: int, words: Array, row: int, first: int) -> bool:
    """Whether a row of `table` is words[row, first:], cut to its length."""
    k = 0
    while k < table.shape[1] and table[entry, k] == words[row, first + k]:
        k += 1
    return k == table.shape[1]


@njit(cache=True, nogil=True)
def ngram_slot(words: Array, row: int, first: int, table: Array, slots: Array, multiplier: int) -> int:
    """The slot of the row of `table` that is words[row, first:], cut to its length, or the empty one for it."""
    code = multiplier
    for k in range(first, first + table.shape[1]):
        code = (code ^ words[row, k]) * multiplier
        code ^= code >> 29
    last = len(slots) - 1
    slot = code & last
    while slots[slot] != EMPTY and not is_row(table, slots[slot], words, row, first):
        slot = (slot + 1) & last
    return slot


@njit(cache=True, nogil=True)
def fill_ngram_table(table: Array, slots: Array, multiplier: int) -> int:
    """Give all n-grams a slot; returns how many before one that comes twice."""
    for row in range(len(table)):
        slot = ngram_slot(table, row, 0, table, slots, multiplier)
        if slots[slot] != EMPTY:
            return row
        slots[slot] = row
    return len(table)


@njit(cache=True, nogil=True)
def find_ngrams(words: Array, first: int, table: Array, slots: Array, multiplier: int, found: Array) -> None:
    """The row of `table` for the words of each row from `first` on: its context (0) or suffix (1); EMPTY for none.

    Files are sorted, so it is often the row of the n-gram before, or one soon after that.
    """
    near = 0
    for row in range(len(words)):
        entry = near
        end = min(near + NEAR_ROWS, len(table))
        while entry < end and not is_row(table, entry, words, row, first):
            entry += 1
        if entry == end:
            entry = slots[ngram_slot(words, row, first, table, slots, multiplier)]
        found[row] = entry
        near = max(entry, 0)
