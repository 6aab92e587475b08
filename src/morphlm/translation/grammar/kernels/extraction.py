"""Rules from the places of a pattern: consistent with the links, each target side once with its count.

A pattern here is a row of words and inner gaps; from every place of it rules are taken without and with further gaps
before and after the words, of all lengths that the span allows.
"""

from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.translation.compiling import borrowing, compiled
from morphlm.translation.grammar.kernels.links import HALF, Pairs, hull, is_linked, links_stay_inside
from morphlm.translation.grammar.kernels.patterns import AFTER, BEFORE, BOTH, MAX_GAPS, NEITHER
from morphlm.translation.grammar.kernels.search import (
    BEGIN,
    END,
    FIRST_WORD,
    LENGTH,
    MAX_CHUNKS,
    ZERO,
    Text,
    evenly,
    find_matches,
    split_chunks,
)

FIRST, LAST = 0, 1  # columns of gaps: target positions


class Limits(NamedTuple):
    """What rules may be."""

    symbols: int  # of a source side: words and gaps
    gap: int  # words of the source in a gap, at least
    span: int  # words of the source that a rule covers in the training text, at most
    targets: int  # symbols of a target side
    sample: int  # places of a pattern that are looked at
    anchors: int  # places of its rarest chunk around which they are looked for
    kept: int  # target sides of a source side, those with the highest counts
    tight: bool  # the first and the last word of a gap must have links
    linked: bool  # at least one word of a rule must have links


class Sides(NamedTuple):
    """The different target sides that were found for a pattern, in a hash table."""

    slots: Array  # int64: the number of a side, or -1; a power of two of them, more than there can be sides
    taken: Array  # int64: the slot of each side
    hashes: Array  # uint64
    edges: Array  # int64: NEITHER .. BOTH
    starts: Array  # int64 (+ 1) into symbols
    counts: Array  # int64: the places that it follows from
    last: Array  # int64: the last of these places
    wheres: Array  # int64 (., 3): the first one, and how many words the outer gaps have there
    symbols: Array  # int32
    best: Array  # int64: the numbers of the sides that are kept


class Rules(NamedTuple):
    """Rules of many patterns one behind the other."""

    patterns: Array  # int32: the number of the pattern
    edges: Array  # uint8
    counts: Array  # int64
    target_starts: Array  # int64 (+ 1)
    target_symbols: Array  # int32
    link_starts: Array  # int64 (+ 1)
    links: Array  # int16 (., 2)


FULL: Any = np.int64(-1)  # instead of a number of sides or rules: there is no room for more


# ---------------------------------------------------------------- one place


@borrowing
def gap_hull(pairs: Pairs, sentence: int, begin: int, end: int, tight: bool) -> tuple[bool, int, int]:
    """Whether source words begin .. end - 1 can be a gap, and which target positions it has."""
    source, target = pairs.source_starts[sentence], pairs.target_starts[sentence]
    low, high = hull(pairs.source_extents, source + begin, source + end)
    if low > high:
        return False, 0, 0
    if tight and not (
        is_linked(pairs.source_extents, source + begin) and is_linked(pairs.source_extents, source + end - 1)
    ):
        return False, 0, 0
    return links_stay_inside(pairs.target_extents, target + low, target + high + 1, begin, end), low, high


@borrowing
def inner_gaps(
    pairs: Pairs, sentence: int, chunks: Array, count: int, places: Array, tight: bool, gaps: Array
) -> tuple[bool, int, int, int, int]:
    """The target positions of the gaps between chunks; whether all are gaps; the hull of the words, and of all."""
    source = pairs.source_starts[sentence]
    low, high = hull(pairs.source_extents, source + places[0], source + places[0] + chunks[0, LENGTH])
    all_low, all_high = low, high
    for k in range(1, count):
        ok, gap_low, gap_high = gap_hull(pairs, sentence, places[k - 1] + chunks[k - 1, LENGTH], places[k], tight)
        if not ok:
            return False, 0, 0, 0, 0
        gaps[k - 1, FIRST], gaps[k - 1, LAST] = gap_low, gap_high
        more_low, more_high = hull(pairs.source_extents, source + places[k], source + places[k] + chunks[k, LENGTH])
        low, high = min(low, more_low), max(high, more_high)
        all_low, all_high = min(all_low, gap_low, more_low), max(all_high, gap_high, more_high)
    return True, low, high, all_low, all_high


@borrowing
def write_target(
    pairs: Pairs, sentence: int, low: int, high: int, gaps: Array, count: int, most: int, symbols: Array
) -> int:
    """The target side of low .. high with its gaps replaced, -1 and -2 in the order of the source; its length, or 0."""
    target = pairs.target_starts[sentence]
    size, at = 0, low
    while at <= high:
        if size >= most:
            return 0
        symbol = pairs.target_tokens[target + at]
        after = at + 1
        for k in range(count):
            if gaps[k, FIRST] == at:
                symbol, after = -1 - k, gaps[k, LAST] + 1
        if 0 <= symbol < FIRST_WORD:
            return 0
        symbols[size] = symbol
        size += 1
        at = after
    return size


@borrowing
def hash_of(symbols: Array, size: int, edges: int) -> Any:
    """A hash code of a target side (FNV-1a on whole numbers, mixed at the end)."""
    code = np.uint64(14695981039346656037) ^ np.uint64(edges)
    for k in range(size):
        code = (code ^ np.uint64(np.int64(symbols[k]) + 8)) * np.uint64(1099511628211)
        code ^= code >> np.uint64(29)
    return (code ^ (code >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)


@borrowing
def same_symbols(sides: Sides, number: int, symbols: Array, size: int) -> bool:
    """Whether a side has these symbols."""
    start = sides.starts[number]
    if sides.starts[number + 1] - start != size:
        return False
    for k in range(size):  # noqa: SIM110
        if sides.symbols[start + k] != symbols[k]:
            return False
    return True


@borrowing
def add_side(
    sides: Sides, count: int, edges: int, symbols: Array, size: int, place: int, before: int, after: int
) -> int:
    """Count a target side that follows from a place, once for the place; the number of sides, or FULL."""
    code = hash_of(symbols, size, edges)
    mask = len(sides.slots) - 1
    at = np.int64(code & np.uint64(mask))
    while sides.slots[at] >= 0:
        number = sides.slots[at]
        if sides.hashes[number] == code and sides.edges[number] == edges and same_symbols(sides, number, symbols, size):
            if sides.last[number] != place:
                sides.last[number] = place
                sides.counts[number] += 1
            return count
        at = (at + 1) & mask
    start = sides.starts[count]
    if count + 1 >= len(sides.hashes) or start + size > len(sides.symbols):
        return FULL
    sides.slots[at] = count
    sides.taken[count] = at
    sides.hashes[count] = code
    sides.edges[count] = edges
    sides.counts[count] = 1
    sides.last[count] = place
    sides.wheres[count, 0] = place
    sides.wheres[count, 1] = before
    sides.wheres[count, 2] = after
    for k in range(size):
        sides.symbols[start + k] = symbols[k]
    sides.starts[count + 1] = start + size
    return count + 1


class Scratch(NamedTuple):
    """Working space for one place."""

    gaps: Array  # int64 (gaps, 2): first and last target position, in the order of the source
    before: Array  # int64 (span, 3): of the possible gaps before: words, target positions
    after: Array  # int64 (span, 3)
    symbols: Array  # int32: a target side
    places: Array  # int64 (chunks): their positions in the sentence


@borrowing
def outer_candidates(pairs: Pairs, sentence: int, begin: int, end: int, limits: Limits, edge: int, found: Array) -> int:
    """All gaps that may stand before (or after) the words begin .. end - 1; how many."""
    length = pairs.source_starts[sentence + 1] - pairs.source_starts[sentence] - 1  # without END
    room = min(limits.span - (end - begin), begin if edge == BEFORE else length - end)
    count = 0
    for words in range(limits.gap, room + 1):
        first, last = (begin - words, begin) if edge == BEFORE else (end, end + words)
        ok, low, high = gap_hull(pairs, sentence, first, last, limits.tight)
        if ok:
            found[count, 0], found[count, 1], found[count, 2] = words, low, high
            count += 1
    return count


@borrowing
def try_rule(
    pairs: Pairs,
    sentence: int,
    begin: int,
    end: int,
    low: int,
    high: int,
    gaps: int,
    limits: Limits,
    scratch: Scratch,
) -> int:
    """The target side of source words begin .. end - 1, if target words low .. high belong to them; its length or 0."""
    target = pairs.target_starts[sentence]
    if low > high or not links_stay_inside(pairs.target_extents, target + low, target + high + 1, begin, end):
        return 0
    return write_target(pairs, sentence, low, high, scratch.gaps, gaps, limits.targets, scratch.symbols)


@borrowing
def extract_plain(
    pairs: Pairs,
    sentence: int,
    begin: int,
    end: int,
    low: int,
    high: int,
    gaps: int,
    place: int,
    limits: Limits,
    scratch: Scratch,
    sides: Sides,
    found: int,
) -> int:
    """Add the rule of a place without outer gaps."""
    size = try_rule(pairs, sentence, begin, end, low, high, gaps, limits, scratch)
    return add_side(sides, found, NEITHER, scratch.symbols, size, place, ZERO, ZERO) if size else found


@borrowing
def put_gap(gaps: Array, number: int, low: int, high: int) -> None:
    """Set the target positions of a gap."""
    gaps[number, FIRST] = low
    gaps[number, LAST] = high


@borrowing
def make_first_gap_free(gaps: Array, count: int) -> None:
    """Move all gaps one place on: the gap before is the first one."""
    for k in range(count, 0, -1):
        put_gap(gaps, k, gaps[k - 1, FIRST], gaps[k - 1, LAST])


@borrowing
def extract_outer(
    pairs: Pairs,
    sentence: int,
    begin: int,
    end: int,
    low: int,
    high: int,
    inner: int,
    both: bool,
    place: int,
    limits: Limits,
    scratch: Scratch,
    sides: Sides,
    found: int,
) -> int:
    """Add all rules of a place with outer gaps; low .. high are the target words without them."""
    gaps, before, after = scratch.gaps, scratch.before, scratch.after
    befores = outer_candidates(pairs, sentence, begin, end, limits, BEFORE, before)
    afters = outer_candidates(pairs, sentence, begin, end, limits, AFTER, after)
    for k in range(afters):
        put_gap(gaps, inner, after[k, 1], after[k, 2])
        low2, high2, end2 = min(low, after[k, 1]), max(high, after[k, 2]), end + after[k, 0]
        size = try_rule(pairs, sentence, begin, end2, low2, high2, inner + 1, limits, scratch)
        if size and found != FULL:
            found = add_side(sides, found, AFTER, scratch.symbols, size, place, ZERO, after[k, 0])
    make_first_gap_free(gaps, inner)
    for k in range(befores):
        put_gap(gaps, 0, before[k, 1], before[k, 2])
        low1, high1, begin1 = min(low, before[k, 1]), max(high, before[k, 2]), begin - before[k, 0]
        size = try_rule(pairs, sentence, begin1, end, low1, high1, inner + 1, limits, scratch)
        if size and found != FULL:
            found = add_side(sides, found, BEFORE, scratch.symbols, size, place, before[k, 0], ZERO)
        for m in range(afters if both else 0):
            end2 = end + after[m, 0]
            if end2 - begin1 > limits.span:
                break
            put_gap(gaps, 1, after[m, 1], after[m, 2])
            low2, high2 = min(low1, after[m, 1]), max(high1, after[m, 2])
            size = try_rule(pairs, sentence, begin1, end2, low2, high2, inner + 2, limits, scratch)
            if size and found != FULL:
                found = add_side(sides, found, BOTH, scratch.symbols, size, place, before[k, 0], after[m, 0])
    return found


@borrowing
def extract_place(
    pairs: Pairs,
    sentence: int,
    chunks: Array,
    count: int,
    place: int,
    words: int,
    limits: Limits,
    scratch: Scratch,
    sides: Sides,
    found: int,
) -> int:
    """Add all rules that follow from one place of a pattern, without and with outer gaps; the number of sides."""
    ok, low, high, all_low, all_high = inner_gaps(
        pairs, sentence, chunks, count, scratch.places, limits.tight, scratch.gaps
    )
    if not ok or (limits.linked and low > high):
        return found
    begin, end = scratch.places[0], scratch.places[count - 1] + chunks[count - 1, LENGTH]
    gaps = count - 1
    found = extract_plain(pairs, sentence, begin, end, all_low, all_high, gaps, place, limits, scratch, sides, found)
    room = min(limits.symbols - words - gaps, MAX_GAPS - gaps)
    if room < 1 or found == FULL:
        return found
    return extract_outer(
        pairs, sentence, begin, end, all_low, all_high, gaps, room > 1, place, limits, scratch, sides, found
    )


# ---------------------------------------------------------------- all places of all patterns


@borrowing
def set_places(pairs: Pairs, matches: Array, number: int, count: int, places: Array) -> int:
    """The positions of the chunks within their sentence; the number of the sentence."""
    sentence: Any = np.int64(pairs.sentence_of[matches[number, 0]])
    for k in range(count):
        places[k] = matches[number, k] - pairs.source_starts[sentence]
    return sentence


@borrowing
def choose_best(sides: Sides, count: int, edges: int, kept: int) -> int:
    """Put the sides with these outer gaps that have the highest counts into `best`, equal ones as they were found."""
    size = 0
    for number in range(count):
        if sides.edges[number] != edges:
            continue
        at = min(size, kept)
        while at > 0 and sides.counts[sides.best[at - 1]] < sides.counts[number]:
            if at < kept:
                sides.best[at] = sides.best[at - 1]
            at -= 1
        if at < kept:
            sides.best[at] = number
        size = min(size + 1, kept)
    return size


@borrowing
def set_gaps(
    pairs: Pairs, sentence: int, chunks: Array, count: int, before: int, after: int, tight: bool, scratch: Scratch
) -> tuple[int, int]:
    """Find the gaps of a rule again, in the order of the source; how many, and where its target side begins."""
    gaps, places = scratch.gaps, scratch.places
    _, _, _, low, _ = inner_gaps(pairs, sentence, chunks, count, places, tight, gaps)
    size = count - 1
    if before > 0:
        make_first_gap_free(gaps, size)
        _, first, last = gap_hull(pairs, sentence, places[0] - before, places[0], tight)
        put_gap(gaps, 0, first, last)
        low, size = min(low, first), size + 1
    if after > 0:
        end = places[count - 1] + chunks[count - 1, LENGTH]
        _, first, last = gap_hull(pairs, sentence, end, end + after, tight)
        put_gap(gaps, size, first, last)
        low, size = min(low, first), size + 1
    return size, low


@borrowing
def source_symbol(chunks: Array, count: int, places: Array, at: int) -> int:
    """The number of the symbol of the pattern that stands at this position of the sentence; -1 if it is no word."""
    for k in range(count):
        if places[k] <= at < places[k] + chunks[k, LENGTH]:
            return chunks[k, BEGIN] + at - places[k]
    return -1


@borrowing
def target_symbol(gaps: Array, size: int, low: int, at: int) -> int:
    """The number of the symbol of the target side that stands at this position of the sentence."""
    symbol = at - low
    for k in range(size):
        if gaps[k, LAST] < at:
            symbol -= gaps[k, LAST] - gaps[k, FIRST]
    return symbol


@borrowing
def add_links(
    pairs: Pairs,
    sentence: int,
    chunks: Array,
    count: int,
    before: int,
    after: int,
    tight: bool,
    scratch: Scratch,
    rules: Rules,
    rule: int,
) -> bool:
    """The links between the words of a rule, as they are where it was found first; False if there is no room."""
    size, low = set_gaps(pairs, sentence, chunks, count, before, after, tight, scratch)
    used = rules.link_starts[rule]
    for k in range(pairs.link_starts[sentence], pairs.link_starts[sentence + 1]):
        link: Any = np.int64(pairs.links[k])
        source = source_symbol(chunks, count, scratch.places, link & HALF)
        if source >= 0:
            if used >= len(rules.links):
                return False
            rules.links[used, 0] = source + (1 if before > 0 else 0)
            rules.links[used, 1] = target_symbol(scratch.gaps, size, low, link >> 16)
            used += 1
    rules.link_starts[rule + 1] = used
    return True


@borrowing
def add_rule(rules: Rules, rule: int, pattern: int, sides: Sides, number: int) -> bool:
    """Write a target side as a rule, but for its links; False if there is no room."""
    begin, end, at = sides.starts[number], sides.starts[number + 1], rules.target_starts[rule]
    if rule >= len(rules.patterns) or at + end - begin > len(rules.target_symbols):
        return False
    rules.patterns[rule] = pattern
    rules.edges[rule] = sides.edges[number]
    rules.counts[rule] = sides.counts[number]
    for k in range(begin, end):
        rules.target_symbols[at + k - begin] = sides.symbols[k]
    rules.target_starts[rule + 1] = at + end - begin
    return True


@borrowing
def add_best(
    pairs: Pairs,
    pattern: int,
    chunks: Array,
    count: int,
    matches: Array,
    sampled: tuple[int, int],
    found: int,
    limits: Limits,
    scratch: Scratch,
    sides: Sides,
    rules: Rules,
    used: int,
) -> int:
    """Add the best target sides of a pattern as rules; the number of rules, or FULL."""
    for edges in range(NEITHER, BOTH + 1):
        size = choose_best(sides, found, edges, limits.kept)
        for k in range(size):
            number = sides.best[k]
            match = evenly(sides.wheres[number, 0], sampled[1], sampled[0])
            sentence = set_places(pairs, matches, match, count, scratch.places)
            before, after = sides.wheres[number, 1], sides.wheres[number, 2]
            if not add_rule(rules, used, pattern, sides, number):
                return FULL
            if not add_links(pairs, sentence, chunks, count, before, after, limits.tight, scratch, rules, used):
                return FULL
            used += 1
    return used


@borrowing
def length_of(row: Array) -> int:
    """The symbols of a pattern, which END fills up."""
    size = 0
    while size < len(row) and row[size] != END:
        size += 1
    return size


@compiled
def extract_patterns(
    text: Text,
    pairs: Pairs,
    rows: Array,
    first: int,
    limits: Limits,
    matches: Array,
    scratch: Scratch,
    sides: Sides,
    rules: Rules,
    used: int,
    sampled: Array,
    totals: Array,
) -> tuple[int, int]:
    """Add the rules of all patterns from `first` on, which stops where there is no room for those of the next one.

    Also, for each pattern, the number of places that were looked at and that of all there are. Returns the number of
    the pattern to go on with, and of the rules.
    """
    chunks = np.zeros((MAX_CHUNKS, 4), np.int64)
    for p in range(first, len(rows)):
        pattern = rows[p][: length_of(rows[p])]
        count = split_chunks(text, pattern, chunks)
        if count == 0:
            continue
        anchors = limits.sample if count == 1 else limits.anchors
        size, total = find_matches(text, pattern, chunks, count, anchors, limits.gap, limits.span, matches)
        if size > len(matches):
            return p, used
        sample = min(size, limits.sample)
        found, words = ZERO, len(pattern) - count + 1
        for place in range(sample):
            sentence = set_places(pairs, matches, evenly(place, size, sample), count, scratch.places)
            found = extract_place(pairs, sentence, chunks, count, place, words, limits, scratch, sides, found)
            if found == FULL:
                return p, used
        more = add_best(pairs, p, chunks, count, matches, (sample, size), found, limits, scratch, sides, rules, used)
        for k in range(found):
            sides.slots[sides.taken[k]] = -1
        if more == FULL:
            return p, used
        used, sampled[p], totals[p] = more, sample, total
    return len(rows), used
