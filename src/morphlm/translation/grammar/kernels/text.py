"""Compiled loops that read rules as text, `[X] ||| source ||| target ||| features ||| links`.

What is refused here is read again by `parse_rule` in rules.py, which says what is wrong; both accept the same lines.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import njit
from morphlm.ngram.arpa.kernels import EMPTY, ID_BITS, WordTable, parse_decimal, word_slot

TAB, NEWLINE, SPACE, COMMA, MINUS, ZERO, NINE, EQUALS = 9, 10, 32, 44, 45, 48, 57, 61
LETTER_X, OPEN, BACKSLASH, CLOSE, BAR = 88, 91, 92, 93, 124
FIRST_GAP, SECOND_GAP, REFUSED = -1, -2, -1
MOST_DIGITS = 4  # of the number of a gap or of a position
NO_NUMBER = -1
RULES, SOURCE, TARGET, VALUES, LINKS = 0, 1, 2, 3, 4  # what is counted
UNNAMED = np.frombuffer(b"PhraseModel_", np.uint8)  # and the position, the name of a value that has none, as in cdec


class NumberedWords(NamedTuple):
    """Words by their bytes, numbered as they appear; there is room for all that a block of text may add."""

    table: WordTable
    used: Array  # int64 (2,): how many words, and how many bytes they have in `table.forms`


class ParsedRules(NamedTuple):
    """The rules of a block. Where a number is not plain, the value is NaN, and Python reads its span."""

    source_ends: Array  # int64 (rules,): where its symbols end
    source_symbols: Array  # int32: word, FIRST_GAP or SECOND_GAP
    target_ends: Array
    target_symbols: Array
    value_rules: Array  # int32 (values,)
    value_names: Array  # int32: the number of the feature
    values: Array  # float64
    value_spans: Array  # int32 (values, 2): where `name=value` begins and ends
    link_ends: Array  # int64 (rules,)
    links: Array  # int16 (links, 2)
    counts: Array  # int64 (5,): RULES, SOURCE symbols, TARGET symbols, VALUES, LINKS


# ---------------------------------------------------------------- tokens


@njit(cache=True, nogil=True)
def skip_blanks(data: Array, at: int) -> int:
    """Where the next token of the line begins, or its newline is."""
    while data[at] == SPACE or data[at] == TAB:
        at += 1
    return at


@njit(cache=True, nogil=True)
def end_of_token(data: Array, at: int) -> int:
    """Where the token ends that begins here; a newline always follows."""
    while data[at] != SPACE and data[at] != TAB and data[at] != NEWLINE:
        at += 1
    return at


@njit(cache=True, nogil=True)
def is_bar(data: Array, begin: int, end: int) -> bool:
    """Whether a token separates fields."""
    return bool(end - begin == 3 and data[begin] == BAR and data[begin + 1] == BAR and data[begin + 2] == BAR)


@njit(cache=True, nogil=True)
def in_brackets(data: Array, begin: int, end: int) -> bool:
    """Whether a token looks like a gap."""
    return bool(end - begin >= 2 and data[begin] == OPEN and data[end - 1] == CLOSE)


@njit(cache=True, nogil=True)
def unescaped(data: Array, begin: int, end: int) -> int:
    """Where a word begins without the backslash that keeps it from being read as something else."""
    at = begin
    while at < end and data[at] == BACKSLASH:
        at += 1
    return begin + 1 if at > begin and (is_bar(data, at, end) or in_brackets(data, at, end)) else begin


@njit(cache=True, nogil=True)
def whole_number(data: Array, begin: int, end: int) -> int:
    """A number of few digits, or NO_NUMBER."""
    if not 1 <= end - begin <= MOST_DIGITS:
        return NO_NUMBER
    number = 0
    for at in range(begin, end):
        if not ZERO <= data[at] <= NINE:
            return NO_NUMBER
        number = 10 * number + (data[at] - ZERO)
    return number


@njit(cache=True, nogil=True)
def number_of_word(data: Array, begin: int, end: int, words: NumberedWords) -> int:
    """The number of a word; a new one gets the next."""
    slot = word_slot(data, begin, end, words.table)
    entry = words.table.slots[slot]
    if entry != EMPTY:
        return entry & ((1 << ID_BITS) - 1)
    number, first = words.used[0], words.used[1]
    for k in range(end - begin):
        words.table.forms[first + k] = data[begin + k]
    words.table.forms[first + end - begin] = NEWLINE
    words.table.slots[slot] = (first << ID_BITS) | number
    words.used[0], words.used[1] = number + 1, first + end - begin + 1
    return number


# ---------------------------------------------------------------- fields


@njit(cache=True, nogil=True)
def skip_left_side(data: Array, line: int) -> int:
    """Where the source begins of a line whose left side is `[X]`, or REFUSED."""
    begin = skip_blanks(data, line)
    at = end_of_token(data, begin)
    if not (in_brackets(data, begin, at) and at - begin == 3 and data[begin + 1] == LETTER_X):
        return REFUSED
    begin = skip_blanks(data, at)
    at = end_of_token(data, begin)
    return at if is_bar(data, begin, at) else REFUSED


@njit(cache=True, nogil=True)
def source_gap(data: Array, begin: int, end: int, next_number: int) -> int:
    """The number of `[X,1]`; of `[X]` the next one; NO_NUMBER for all else."""
    if end - begin == 3 and data[begin + 1] == LETTER_X:
        return next_number
    if end - begin >= 5 and data[begin + 1] == LETTER_X and data[begin + 2] == COMMA:
        return whole_number(data, begin + 3, end - 1)
    return NO_NUMBER


@njit(cache=True, nogil=True)
def parse_source(data: Array, at: int, words: NumberedWords, out: ParsedRules) -> tuple[int, int, int, int]:
    """The source from here to its separator: where that ends or REFUSED, symbols, and the numbers of both gaps."""
    size, first, second = out.counts[SOURCE], NO_NUMBER, NO_NUMBER
    while True:
        begin = skip_blanks(data, at)
        at = end_of_token(data, begin)
        if begin == at:
            return REFUSED, 0, 0, 0
        if is_bar(data, begin, at):
            break
        if not in_brackets(data, begin, at):
            out.source_symbols[size] = number_of_word(data, unescaped(data, begin, at), at, words)
            size += 1
            continue
        number = source_gap(data, begin, at, 1 + (first != NO_NUMBER))
        if number in (NO_NUMBER, first) or second != NO_NUMBER:
            return REFUSED, 0, 0, 0
        if first == NO_NUMBER:
            first = number
            out.source_symbols[size] = FIRST_GAP
        else:
            second = number
            out.source_symbols[size] = SECOND_GAP
        size += 1
    symbols = size - out.counts[SOURCE]
    if symbols == 0 or (symbols == 1 and first != NO_NUMBER):
        return REFUSED, 0, 0, 0
    return at, symbols, first, second


@njit(cache=True, nogil=True)
def parse_target(
    data: Array, at: int, first: int, second: int, words: NumberedWords, out: ParsedRules
) -> tuple[int, int]:
    """The target from here to a separator or the end of the line: where it ends or REFUSED, and its symbols."""
    size, has_first, has_second = out.counts[TARGET], first == NO_NUMBER, second == NO_NUMBER
    while True:
        begin = skip_blanks(data, at)
        at = end_of_token(data, begin)
        if begin == at or is_bar(data, begin, at):
            at = begin
            break
        if not in_brackets(data, begin, at):
            out.target_symbols[size] = number_of_word(data, unescaped(data, begin, at), at, words)
            size += 1
            continue
        has_letter = at - begin >= 5 and data[begin + 1] == LETTER_X and data[begin + 2] == COMMA
        number = whole_number(data, begin + (3 if has_letter else 1), at - 1)
        if number != NO_NUMBER and number == first and not has_first:
            has_first = True
            out.target_symbols[size] = FIRST_GAP
        elif number != NO_NUMBER and number == second and not has_second:
            has_second = True
            out.target_symbols[size] = SECOND_GAP
        else:
            return REFUSED, 0
        size += 1
    symbols = size - out.counts[TARGET]
    return (at if has_first and has_second and symbols > 0 else REFUSED), symbols


@njit(cache=True, nogil=True)
def number_of_unnamed(position: int, scratch: Array, names: NumberedWords) -> int:
    """The number of the feature PhraseModel_0 and so on; `scratch` has room for its name."""
    size, power = len(UNNAMED), 1
    for k in range(size):
        scratch[k] = UNNAMED[k]
    while position // power >= 10:
        power *= 10
    while power:
        scratch[size] = ZERO + position // power % 10
        power //= 10
        size += 1
    return number_of_word(scratch, 0, size, names)


@njit(cache=True, nogil=True)
def parse_features(
    data: Array, at: int, names: NumberedWords, most: int, scratch: Array, out: ParsedRules
) -> tuple[int, int]:
    """Features from here to a separator or the end of the line: where they end or REFUSED, and how many these are."""
    value, position = out.counts[VALUES], 0
    while True:
        begin = skip_blanks(data, at)
        at = end_of_token(data, begin)
        if begin == at or is_bar(data, begin, at):
            return begin, position
        equals = at - 1
        while equals >= begin and data[equals] != EQUALS:
            equals -= 1
        if equals > begin:
            name = number_of_word(data, begin, equals, names)
        else:
            name = number_of_unnamed(position, scratch, names)
        if names.used[0] > most:
            return REFUSED, 0
        first = max(equals + 1, begin)
        out.value_rules[value], out.value_names[value] = out.counts[RULES], name
        out.values[value] = parse_decimal(data, first, at)
        out.value_spans[value, 0], out.value_spans[value, 1] = begin, at
        value += 1
        position += 1


@njit(cache=True, nogil=True)
def parse_rule_links(data: Array, at: int, source: int, target: int, out: ParsedRules) -> tuple[int, int]:
    """Links from here to the end of the line: where that is or REFUSED, and how many these are."""
    link = out.counts[LINKS]
    while True:
        begin = skip_blanks(data, at)
        at = end_of_token(data, begin)
        if begin == at:
            return begin, link - out.counts[LINKS]
        dash = begin
        while dash < at and data[dash] != MINUS:
            dash += 1
        one = whole_number(data, begin, dash)
        other = whole_number(data, dash + 1, at)
        if not (0 <= one < source and 0 <= other < target):
            return REFUSED, 0
        if out.source_symbols[out.counts[SOURCE] + one] < 0 or out.target_symbols[out.counts[TARGET] + other] < 0:
            return REFUSED, 0
        out.links[link, 0], out.links[link, 1] = one, other
        link += 1


# ---------------------------------------------------------------- lines


@njit(cache=True, nogil=True)
def parse_line(
    data: Array,
    line: int,
    sources: NumberedWords,
    targets: NumberedWords,
    names: NumberedWords,
    most: int,
    scratch: Array,
    out: ParsedRules,
) -> int:
    """Add the rule of a line to the others; returns where its newline is, or REFUSED."""
    at = skip_left_side(data, line)
    source, target, first, second, features, links = 0, 0, NO_NUMBER, NO_NUMBER, 0, 0
    if at != REFUSED:
        at, source, first, second = parse_source(data, at, sources, out)
    if at != REFUSED:
        at, target = parse_target(data, at, first, second, targets, out)
    if at != REFUSED and data[at] != NEWLINE:
        at, features = parse_features(data, at + 3, names, most, scratch, out)
    if at != REFUSED and data[at] != NEWLINE:
        at, links = parse_rule_links(data, at + 3, source, target, out)
    if at == REFUSED:
        return REFUSED
    counts = out.counts
    rule = counts[RULES]
    counts[SOURCE] += source
    counts[TARGET] += target
    counts[VALUES] += features
    counts[LINKS] += links
    out.source_ends[rule], out.target_ends[rule], out.link_ends[rule] = counts[SOURCE], counts[TARGET], counts[LINKS]
    counts[RULES] = rule + 1
    return at


@njit(cache=True, nogil=True)
def parse_rules(
    data: Array,
    sources: NumberedWords,
    targets: NumberedWords,
    names: NumberedWords,
    most: int,
    scratch: Array,
    out: ParsedRules,
) -> int:
    """The rules of whole lines, blank ones left out; returns where the first line begins that is refused, or the end.

    There are at most so many different features. What was added to the words for a line that is refused stays.
    """
    at = 0
    while at < len(data):
        line = at
        at = skip_blanks(data, at)
        if data[at] != NEWLINE:
            at = parse_line(data, line, sources, targets, names, most, scratch, out)
            if at == REFUSED:
                return line
        at += 1
    return at
