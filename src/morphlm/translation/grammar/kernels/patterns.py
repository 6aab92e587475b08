"""The patterns of an input sentence: words with gaps between them, and whether gaps may stand before and after them."""

from typing import Any

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing, owning
from morphlm.translation.grammar.kernels.search import END, FIRST_WORD, GAP, ZERO, IndexedText, narrow

# Where a pattern has gaps outside its words.
NEITHER: Any = np.int64(0)
BEFORE: Any = np.int64(1)
AFTER: Any = np.int64(2)
BOTH: Any = np.int64(3)
MAX_GAPS = 2


@owning
def phrase_ends(text: IndexedText, sentence: Array, longest: int) -> Array:
    """For each position the end of the longest phrase from there that the text has, of at most so many words."""
    ends = np.empty(len(sentence), np.int64)
    for begin in range(len(sentence)):
        low, high, at = ZERO, len(text.suffixes), begin
        while at < len(sentence) and at - begin < longest and sentence[at] >= FIRST_WORD:
            low, high = narrow(text, low, high, at - begin, sentence[at])
            if low >= high:
                break
            at += 1
        ends[begin] = at
    return ends


@borrowing
def allowed_outer_gaps(begin: int, end: int, words: int, gaps: int, length: int, limits: tuple[int, int, int]) -> int:
    """Bit e is set if gaps may stand where e (NEITHER .. BOTH) says; limits: symbols, words in a gap, span."""
    symbols, gap, span = limits
    allowed = 1 if end - begin <= span else 0
    before, after = begin >= gap, end + gap <= length
    if words + gaps + 1 <= symbols and gaps + 1 <= MAX_GAPS and end - begin + gap <= span:
        allowed |= (before << BEFORE) | (after << AFTER)
    if words + gaps + 2 <= symbols and gaps + 2 <= MAX_GAPS and end - begin + 2 * gap <= span:
        allowed |= (before and after) << BOTH
    return allowed


@borrowing
def add_pattern(rows: Array, masks: Array, count: int, row: Array, size: int, mask: int) -> int:
    """Write a pattern of so many symbols, if there is a row for it; the number of patterns."""
    if count < len(rows):
        masks[count] = mask
        for k in range(size):
            rows[count, k] = row[k]
        for k in range(size, rows.shape[1]):
            rows[count, k] = END
    return count + 1


@borrowing
def copy_words(sentence: Array, begin: int, end: int, row: Array, at: int) -> int:
    """Write words of the sentence into a row; where they end."""
    for k in range(begin, end):
        row[at + k - begin] = sentence[k]
    return at + end - begin


@owning
def find_patterns(text: IndexedText, sentence: Array, gap: int, span: int, rows: Array, masks: Array) -> int:
    """All patterns whose chunks the text has: rows of words and GAP, filled up with END, and their possible outer gaps.

    A pattern that is in the sentence several times comes several times. The number of patterns may be larger than that
    of the rows; then those at the end are missing.
    """
    length, symbols = len(sentence), rows.shape[1]
    ends = phrase_ends(text, sentence, symbols)
    row = np.empty(symbols, np.int32)
    limits = (symbols, gap, span)
    count = ZERO
    for first in range(length):
        stop = min(length, first + span)
        for first_end in range(first + 1, min(ends[first], stop) + 1):
            words = copy_words(sentence, first, first_end, row, ZERO)
            mask = allowed_outer_gaps(first, first_end, words, 0, length, limits)
            count = add_pattern(rows, masks, count, row, words, mask)
            for second in range(first_end + gap, stop):
                for second_end in range(second + 1, min(ends[second], stop, second + symbols - words - 1) + 1):
                    row[words] = GAP
                    used = copy_words(sentence, second, second_end, row, words + 1)
                    mask = allowed_outer_gaps(first, second_end, used - 1, 1, length, limits)
                    count = add_pattern(rows, masks, count, row, used, mask)
                    for third in range(second_end + gap, stop):
                        for third_end in range(third + 1, min(ends[third], stop, third + symbols - used - 1) + 1):
                            row[used] = GAP
                            size = copy_words(sentence, third, third_end, row, used + 1)
                            count = add_pattern(rows, masks, count, row, size, 1 << NEITHER)
    return count
