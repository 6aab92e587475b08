"""Finding phrases by the suffix array, and phrases with gaps from the occurrences of their rarest part."""

from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.translation.compiling import borrowing

ZERO: Any = np.int64(0)  # for arguments: Numba compiles a function once more for every literal that it is called with

END, UNKNOWN, FIRST_WORD = 0, 1, 2  # ids: the end of a sentence, what is never matched, and words
GAP = -1  # in a pattern
MAX_CHUNKS = 3  # what two gaps leave between and beside them
BEGIN, LENGTH, LOW, HIGH = 0, 1, 2, 3  # columns of chunks: where in the pattern, words, range of suffixes


class Text(NamedTuple):
    """Sentences, each followed by END, and where in them what can be found."""

    tokens: Array  # int32 (T)
    suffixes: Array  # int32 (T): positions in the order of the words that follow
    word_starts: Array  # int64 (V + 1): suffixes[word_starts[w] : word_starts[w + 1]] begin with word w


@borrowing
def lower_bound(text: Text, low: int, high: int, depth: int, word: int) -> int:
    """The first suffix of [low, high) whose token at this depth is not below the word."""
    while low < high:
        middle = (low + high) // 2
        at = text.suffixes[middle] + depth
        if at < len(text.tokens) and text.tokens[at] >= word:
            high = middle
        else:
            low = middle + 1
    return low


@borrowing
def narrow(text: Text, low: int, high: int, depth: int, word: int) -> tuple[int, int]:
    """Those of the suffixes [low, high), equal up to this depth, that go on with the word."""
    if depth == 0:
        return text.word_starts[word], text.word_starts[word + 1]
    begin = lower_bound(text, low, high, depth, word)
    return begin, lower_bound(text, begin, high, depth, word + 1)


@borrowing
def find_phrase(text: Text, words: Array) -> tuple[int, int]:
    """The range of suffixes that begin with these words; (0, 0) if there is none."""
    low, high = ZERO, len(text.suffixes)
    for depth in range(len(words)):
        low, high = narrow(text, low, high, depth, words[depth])
        if low >= high:
            return 0, 0
    return low, high


@borrowing
def split_chunks(text: Text, pattern: Array, chunks: Array) -> int:
    """Fill in the chunks, the words between gaps; how many there are, or 0 if one of them does not occur."""
    count, at = 0, 0
    while at < len(pattern):
        if pattern[at] < 0:
            at += 1
            continue
        end = at
        while end < len(pattern) and pattern[end] >= 0:
            end += 1
        low, high = find_phrase(text, pattern[at:end])
        if low >= high:
            return 0
        chunks[count, BEGIN] = at
        chunks[count, LENGTH] = end - at
        chunks[count, LOW] = low
        chunks[count, HIGH] = high
        count += 1
        at = end
    return count


@borrowing
def rarest(chunks: Array, count: int) -> int:
    """The number of the chunk with the fewest occurrences."""
    best = 0
    for k in range(1, count):
        if chunks[k, HIGH] - chunks[k, LOW] < chunks[best, HIGH] - chunks[best, LOW]:
            best = k
    return best


@borrowing
def stands_at(tokens: Array, words: Array, at: int) -> bool:
    """Whether these words are in the text at this position; it must be above -1."""
    if at + len(words) > len(tokens):
        return False
    for k in range(len(words)):  # noqa: SIM110
        if tokens[at + k] != words[k]:
            return False
    return True


@borrowing
def next_right(tokens: Array, words: Array, begin: int, first: int, stop: int) -> int:
    """The first place from `first` on where the words stand and end by `stop`, in the sentence of `begin`; or -1."""
    for at in range(begin, stop - len(words) + 1):
        if at >= len(tokens) or tokens[at] == END:
            return -1
        if at >= first and stands_at(tokens, words, at):
            return at
    return -1


@borrowing
def next_left(tokens: Array, words: Array, begin: int, last: int, stop: int) -> int:
    """The last place up to `last` where the words stand, not before `stop`, in the sentence of `begin`; or -1."""
    for at in range(begin, max(stop, 0) - 1, -1):
        if tokens[at] == END:
            return -1
        if at <= last and stands_at(tokens, words, at):
            return at
    return -1


@borrowing
def add_row(rows: Array, count: int, one: int, two: int, three: int) -> int:
    """Set row `count`, if there is room for it; the number of rows, which may be more than there is room for."""
    if count < len(rows):
        rows[count, 0] = one
        rows[count, 1] = two
        rows[count, 2] = three
    return count + 1


@borrowing
def match_two(
    tokens: Array, pattern: Array, chunks: Array, anchor: int, at: int, gap: int, span: int, rows: Array, count: int
) -> int:
    """All places of a pattern of two chunks one of which stands at `at`."""
    one = pattern[chunks[0, BEGIN] : chunks[0, BEGIN] + chunks[0, LENGTH]]
    two = pattern[chunks[1, BEGIN] : chunks[1, BEGIN] + chunks[1, LENGTH]]
    if anchor == 0:
        begin = at + len(one)
        other = next_right(tokens, two, begin, begin + gap, at + span)
        while other >= 0:
            count = add_row(rows, count, at, other, ZERO)
            other = next_right(tokens, two, other + 1, other + 1, at + span)
        return count
    stop = at + len(two) - span
    other = next_left(tokens, one, at - 1, at - gap - len(one), stop)
    while other >= 0:
        count = add_row(rows, count, other, at, ZERO)
        other = next_left(tokens, one, other - 1, other - 1, stop)
    return count


@borrowing
def match_three(
    tokens: Array, pattern: Array, chunks: Array, anchor: int, at: int, gap: int, span: int, rows: Array, count: int
) -> int:
    """All places of a pattern of three chunks one of which stands at `at`."""
    one = pattern[chunks[0, BEGIN] : chunks[0, BEGIN] + chunks[0, LENGTH]]
    two = pattern[chunks[1, BEGIN] : chunks[1, BEGIN] + chunks[1, LENGTH]]
    three = pattern[chunks[2, BEGIN] : chunks[2, BEGIN] + chunks[2, LENGTH]]
    if anchor == 0:
        begin = at + len(one)
        middle = next_right(tokens, two, begin, begin + gap, at + span)
        while middle >= 0:
            begin = middle + len(two)
            last = next_right(tokens, three, begin, begin + gap, at + span)
            while last >= 0:
                count = add_row(rows, count, at, middle, last)
                last = next_right(tokens, three, last + 1, last + 1, at + span)
            middle = next_right(tokens, two, middle + 1, middle + 1, at + span)
        return count
    if anchor == 1:
        end = at + len(two)
        stop = end + gap + len(three) - span
        first = next_left(tokens, one, at - 1, at - gap - len(one), stop)
        while first >= 0:
            last = next_right(tokens, three, end, end + gap, first + span)
            while last >= 0:
                count = add_row(rows, count, first, at, last)
                last = next_right(tokens, three, last + 1, last + 1, first + span)
            first = next_left(tokens, one, first - 1, first - 1, stop)
        return count
    stop = at + len(three) - span
    middle = next_left(tokens, two, at - 1, at - gap - len(two), stop)
    while middle >= 0:
        first = next_left(tokens, one, middle - 1, middle - gap - len(one), stop)
        while first >= 0:
            count = add_row(rows, count, first, middle, at)
            first = next_left(tokens, one, first - 1, first - 1, stop)
        middle = next_left(tokens, two, middle - 1, middle - 1, stop)
    return count


@borrowing
def evenly(number: int, size: int, sample: int) -> int:
    """The place among `size` things of the one with this number in an evenly spaced sample."""
    return number * size // sample if sample < size else number


@borrowing
def find_matches(
    text: Text, pattern: Array, chunks: Array, count: int, anchors: int, gap: int, span: int, rows: Array
) -> tuple[int, float]:
    """Places of a pattern: rows with the position of each chunk, their number, and how many there are in the text.

    The places are found around at most so many `anchors`, occurrences of the rarest chunk; from their share of all its
    occurrences the number in the text is estimated. Those for which there is no room in `rows` are counted only.
    """
    anchor = rarest(chunks, count)
    low, size = chunks[anchor, LOW], chunks[anchor, HIGH] - chunks[anchor, LOW]
    tried = min(size, anchors) if count > 1 or len(pattern) <= span else ZERO
    found = ZERO
    for number in range(tried):
        at: Any = np.int64(text.suffixes[low + evenly(number, size, tried)])
        if count == 1:
            found = add_row(rows, found, at, ZERO, ZERO)
        elif count == 2:
            found = match_two(text.tokens, pattern, chunks, anchor, at, gap, span, rows, found)
        else:
            found = match_three(text.tokens, pattern, chunks, anchor, at, gap, span, rows, found)
    return found, found * (size / max(tried, 1))
