"""Finding phrases by the suffix array, and patterns with gaps around the occurrences of their rarest chunk."""

from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing

ZERO: Any = np.int64(0)  # for arguments: Numba compiles a function once more for every literal that it is called with

END, UNKNOWN, FIRST_WORD = 0, 1, 2  # ids: the end of a sentence, what is never matched, and words
GAP = -1  # in a pattern
MAX_CHUNKS = 3  # what two gaps leave between and beside them
BEGIN, LENGTH, LOW, HIGH = 0, 1, 2, 3  # columns of chunks: where in the pattern, words, range of suffixes


class IndexedText(NamedTuple):
    """Sentences, each followed by END, with their suffix array."""

    tokens: Array  # int32 (T)
    suffixes: Array  # int32 (T): positions in the order of the words that follow
    word_starts: Array  # int64 (V + 1): suffixes[word_starts[w] : word_starts[w + 1]] begin with word w


class Pattern(NamedTuple):
    """Words with gaps between them, and the chunks of words that the gaps leave."""

    symbols: Array  # int32: words and GAP
    chunks: Array  # int64 (MAX_CHUNKS, 4), of which the first `chunk_count` are used
    chunk_count: int


class MatchLimits(NamedTuple):
    """How occurrences of a pattern with gaps are looked for."""

    anchors: int  # occurrences of the rarest chunk around which they are looked for
    gap: int  # words in a gap, at least
    span: int  # words of an occurrence, at most


@borrowing
def lower_bound(text: IndexedText, low: int, high: int, depth: int, word: int) -> int:
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
def narrow(text: IndexedText, low: int, high: int, depth: int, word: int) -> tuple[int, int]:
    """Those of the suffixes [low, high), equal up to this depth, that go on with the word."""
    if depth == 0:
        return text.word_starts[word], text.word_starts[word + 1]
    begin = lower_bound(text, low, high, depth, word)
    return begin, lower_bound(text, begin, high, depth, word + 1)


@borrowing
def find_phrase(text: IndexedText, words: Array) -> tuple[int, int]:
    """The range of suffixes that begin with these words; (0, 0) if there is none."""
    low, high = ZERO, len(text.suffixes)
    for depth in range(len(words)):
        low, high = narrow(text, low, high, depth, words[depth])
        if low >= high:
            return 0, 0
    return low, high


@borrowing
def split_chunks(text: IndexedText, symbols: Array, chunks: Array) -> int:
    """Fill in the chunks, the words between gaps; how many there are, or 0 if one of them does not occur."""
    count, begin = 0, 0
    while begin < len(symbols):
        if symbols[begin] < 0:
            begin += 1
            continue
        end = begin
        while end < len(symbols) and symbols[end] >= 0:
            end += 1
        low, high = find_phrase(text, symbols[begin:end])
        if low >= high:
            return 0
        chunks[count, BEGIN] = begin
        chunks[count, LENGTH] = end - begin
        chunks[count, LOW] = low
        chunks[count, HIGH] = high
        count += 1
        begin = end
    return count


@borrowing
def length_of(row: Array) -> int:
    """The number of symbols of a pattern, which END fills up."""
    size = 0
    while size < len(row) and row[size] != END:
        size += 1
    return size


@borrowing
def rarest_chunk(pattern: Pattern) -> int:
    """The number of the chunk with the fewest occurrences."""
    chunks, best = pattern.chunks, 0
    for k in range(1, pattern.chunk_count):
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
    """The first position from `first` on where the words stand and end by `stop`, in the sentence of `begin`; or -1."""
    for at in range(begin, stop - len(words) + 1):
        if at >= len(tokens) or tokens[at] == END:
            return -1
        if at >= first and stands_at(tokens, words, at):
            return at
    return -1


@borrowing
def next_left(tokens: Array, words: Array, begin: int, last: int, stop: int) -> int:
    """The last position up to `last` where the words stand, not before `stop`, in the sentence of `begin`; or -1."""
    for at in range(begin, max(stop, 0) - 1, -1):
        if tokens[at] == END:
            return -1
        if at <= last and stands_at(tokens, words, at):
            return at
    return -1


@borrowing
def add_row(rows: Array, count: int, first: int, second: int, third: int) -> int:
    """Set row `count`, if there is one; the number of rows needed, which may be more than there are."""
    if count < len(rows):
        rows[count, 0] = first
        rows[count, 1] = second
        rows[count, 2] = third
    return count + 1


@borrowing
def match_two(
    tokens: Array, pattern: Pattern, limits: MatchLimits, anchor: int, at: int, rows: Array, count: int
) -> int:
    """All occurrences of a pattern of two chunks, of which chunk `anchor` stands at `at`."""
    symbols, chunks, gap, span = pattern.symbols, pattern.chunks, limits.gap, limits.span
    first_words = symbols[chunks[0, BEGIN] : chunks[0, BEGIN] + chunks[0, LENGTH]]
    second_words = symbols[chunks[1, BEGIN] : chunks[1, BEGIN] + chunks[1, LENGTH]]
    if anchor == 0:
        begin = at + len(first_words)
        other = next_right(tokens, second_words, begin, begin + gap, at + span)
        while other >= 0:
            count = add_row(rows, count, at, other, ZERO)
            other = next_right(tokens, second_words, other + 1, other + 1, at + span)
        return count
    stop = at + len(second_words) - span
    other = next_left(tokens, first_words, at - 1, at - gap - len(first_words), stop)
    while other >= 0:
        count = add_row(rows, count, other, at, ZERO)
        other = next_left(tokens, first_words, other - 1, other - 1, stop)
    return count


@borrowing
def match_three(
    tokens: Array, pattern: Pattern, limits: MatchLimits, anchor: int, at: int, rows: Array, count: int
) -> int:
    """All occurrences of a pattern of three chunks, of which chunk `anchor` stands at `at`."""
    symbols, chunks, gap, span = pattern.symbols, pattern.chunks, limits.gap, limits.span
    first_words = symbols[chunks[0, BEGIN] : chunks[0, BEGIN] + chunks[0, LENGTH]]
    second_words = symbols[chunks[1, BEGIN] : chunks[1, BEGIN] + chunks[1, LENGTH]]
    third_words = symbols[chunks[2, BEGIN] : chunks[2, BEGIN] + chunks[2, LENGTH]]
    if anchor == 0:
        begin = at + len(first_words)
        middle = next_right(tokens, second_words, begin, begin + gap, at + span)
        while middle >= 0:
            begin = middle + len(second_words)
            last = next_right(tokens, third_words, begin, begin + gap, at + span)
            while last >= 0:
                count = add_row(rows, count, at, middle, last)
                last = next_right(tokens, third_words, last + 1, last + 1, at + span)
            middle = next_right(tokens, second_words, middle + 1, middle + 1, at + span)
        return count
    if anchor == 1:
        end = at + len(second_words)
        stop = end + gap + len(third_words) - span
        first = next_left(tokens, first_words, at - 1, at - gap - len(first_words), stop)
        while first >= 0:
            last = next_right(tokens, third_words, end, end + gap, first + span)
            while last >= 0:
                count = add_row(rows, count, first, at, last)
                last = next_right(tokens, third_words, last + 1, last + 1, first + span)
            first = next_left(tokens, first_words, first - 1, first - 1, stop)
        return count
    stop = at + len(third_words) - span
    middle = next_left(tokens, second_words, at - 1, at - gap - len(second_words), stop)
    while middle >= 0:
        first = next_left(tokens, first_words, middle - 1, middle - gap - len(first_words), stop)
        while first >= 0:
            count = add_row(rows, count, first, middle, at)
            first = next_left(tokens, first_words, first - 1, first - 1, stop)
        middle = next_left(tokens, second_words, middle - 1, middle - 1, stop)
    return count


@borrowing
def evenly(number: int, size: int, sample: int) -> int:
    """The position among `size` things of the one with this number in an evenly spaced sample."""
    return number * size // sample if sample < size else number


@borrowing
def find_matches(text: IndexedText, pattern: Pattern, limits: MatchLimits, rows: Array) -> tuple[int, float]:
    """Occurrences of a pattern: rows with the position of each chunk, their number, and how many the text has.

    They are looked for around at most so many anchors, occurrences of the rarest chunk; from their share of all its
    occurrences the number in the text is estimated. Those for which there is no row are counted only.
    """
    anchor = rarest_chunk(pattern)
    low, size = pattern.chunks[anchor, LOW], pattern.chunks[anchor, HIGH] - pattern.chunks[anchor, LOW]
    tried = min(size, limits.anchors) if pattern.chunk_count > 1 or len(pattern.symbols) <= limits.span else ZERO
    count = ZERO
    for number in range(tried):
        at: Any = np.int64(text.suffixes[low + evenly(number, size, tried)])
        if pattern.chunk_count == 1:
            count = add_row(rows, count, at, ZERO, ZERO)
        elif pattern.chunk_count == 2:
            count = match_two(text.tokens, pattern, limits, anchor, at, rows, count)
        else:
            count = match_three(text.tokens, pattern, limits, anchor, at, rows, count)
    return count, count * (size / max(tried, 1))
