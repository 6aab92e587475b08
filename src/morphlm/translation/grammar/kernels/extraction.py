"""Rules from the occurrences of a pattern: consistent with the links, each target side once with its count.

A pattern here is a row of words and inner gaps; from every occurrence of it rules are taken without and with further
gaps before and after the words, of all lengths that the span allows.
"""

from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing, inlined, owning
from morphlm.translation.grammar.kernels.links import HALF, AlignedPairs, hull, is_linked, links_stay_inside
from morphlm.translation.grammar.kernels.patterns import AFTER, BEFORE, BOTH, MAX_GAPS, NEITHER
from morphlm.translation.grammar.kernels.search import (
    BEGIN,
    FIRST_WORD,
    LENGTH,
    MAX_CHUNKS,
    ZERO,
    IndexedText,
    MatchLimits,
    Pattern,
    evenly,
    find_matches,
    length_of,
    split_chunks,
)

FIRST, LAST = 0, 1  # columns of gaps: target positions


class ExtractionLimits(NamedTuple):
    """What rules may be, and how much of the text is looked at."""

    symbols: int  # of a source side: words and gaps
    gap: int  # words of the source in a gap, at least
    span: int  # words of the source that a rule covers in the training text, at most
    targets: int  # symbols of a target side
    sample: int  # occurrences of a pattern that are looked at
    anchors: int  # occurrences of its rarest chunk around which they are looked for
    kept: int  # target sides of a source side, those with the highest counts
    tight: bool  # the first and the last word of a gap must have links
    tight_edges: bool  # so must the first and the last symbol of a source side, if it is a word
    linked: bool  # at least one word of a rule must have links


class TargetSides(NamedTuple):
    """The different target sides that were found for a pattern, in a hash table."""

    slots: Array  # int64: the number of a side, or -1; a power of two of them, more than there can be sides
    taken: Array  # int64: the slot of each side
    hashes: Array  # uint64
    outer_gaps: Array  # int64: NEITHER .. BOTH
    starts: Array  # int64 (+ 1) into symbols
    counts: Array  # int64: the occurrences that it follows from
    last: Array  # int64: the last of these
    origins: Array  # int64 (., 3): the first of these, and how many words the outer gaps have there
    symbols: Array  # int32
    best: Array  # int64: the numbers of the sides that are kept


class ExtractedRules(NamedTuple):
    """Rules of many patterns one behind the other."""

    patterns: Array  # int32: the number of the pattern
    outer_gaps: Array  # uint8
    counts: Array  # int64
    target_starts: Array  # int64 (+ 1)
    target_symbols: Array  # int32
    link_starts: Array  # int64 (+ 1)
    links: Array  # int16 (., 2)


class OccurrenceArrays(NamedTuple):
    """Working space for one occurrence."""

    gaps: Array  # int64 (gaps, 2): first and last target position, in the order of the source
    before: Array  # int64 (span, 3): of the possible gaps before: words, target positions
    after: Array  # int64 (span, 3)
    symbols: Array  # int32: a target side
    positions: Array  # int64 (chunks): in the sentence


class Extraction(NamedTuple):
    """What the extraction of all rules reads and writes."""

    pairs: AlignedPairs
    limits: ExtractionLimits
    arrays: OccurrenceArrays
    sides: TargetSides


class Span(NamedTuple):
    """Source words begin .. end - 1 and target words low .. high of a sentence pair, around one occurrence."""

    sentence: int
    occurrence: int
    begin: int
    end: int
    low: int
    high: int


FULL: Any = np.int64(-1)  # instead of a number of sides or rules: there is no space for more


# ---------------------------------------------------------------- gaps


@borrowing
def gap_hull(pairs: AlignedPairs, sentence: int, begin: int, end: int, tight: bool) -> tuple[bool, int, int]:
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
    pairs: AlignedPairs, sentence: int, pattern: Pattern, arrays: OccurrenceArrays, tight: bool
) -> tuple[bool, int, int, int, int]:
    """The target positions of the gaps between chunks; whether all are gaps; the hull of the words, and of all."""
    chunks, positions, gaps = pattern.chunks, arrays.positions, arrays.gaps
    source = pairs.source_starts[sentence]
    low, high = hull(pairs.source_extents, source + positions[0], source + positions[0] + chunks[0, LENGTH])
    all_low, all_high = low, high
    for k in range(1, pattern.chunk_count):
        begin, end = positions[k - 1] + chunks[k - 1, LENGTH], positions[k]
        ok, gap_low, gap_high = gap_hull(pairs, sentence, begin, end, tight)
        if not ok:
            return False, 0, 0, 0, 0
        gaps[k - 1, FIRST], gaps[k - 1, LAST] = gap_low, gap_high
        more_low, more_high = hull(pairs.source_extents, source + end, source + end + chunks[k, LENGTH])
        low, high = min(low, more_low), max(high, more_high)
        all_low, all_high = min(all_low, gap_low, more_low), max(all_high, gap_high, more_high)
    return True, low, high, all_low, all_high


@borrowing
def outer_candidates(pairs: AlignedPairs, span: Span, limits: ExtractionLimits, outer: int, candidates: Array) -> int:
    """All gaps that may stand before (or after) the words of a span; how many."""
    length = pairs.source_starts[span.sentence + 1] - pairs.source_starts[span.sentence] - 1  # without END
    longest = min(limits.span - (span.end - span.begin), span.begin if outer == BEFORE else length - span.end)
    count = 0
    for words in range(limits.gap, longest + 1):
        first, last = (span.begin - words, span.begin) if outer == BEFORE else (span.end, span.end + words)
        ok, low, high = gap_hull(pairs, span.sentence, first, last, limits.tight)
        if ok:
            candidates[count, 0], candidates[count, 1], candidates[count, 2] = words, low, high
            count += 1
    return count


@borrowing
def set_gap(gaps: Array, number: int, low: int, high: int) -> None:
    """Set the target positions of a gap."""
    gaps[number, FIRST] = low
    gaps[number, LAST] = high


@borrowing
def make_first_gap_free(gaps: Array, count: int) -> None:
    """Move all gaps one row on: the gap before is the first one."""
    for k in range(count, 0, -1):
        set_gap(gaps, k, gaps[k - 1, FIRST], gaps[k - 1, LAST])


# ---------------------------------------------------------------- target sides


@borrowing
def write_target(pairs: AlignedPairs, span: Span, gaps: int, most: int, arrays: OccurrenceArrays) -> int:
    """The target side of a span with its gaps replaced, -1 and -2 in the order of the source; its length, or 0."""
    target = pairs.target_starts[span.sentence]
    size, position = 0, span.low
    while position <= span.high:
        if size >= most:
            return 0
        symbol = pairs.target_tokens[target + position]
        after = position + 1
        for k in range(gaps):
            if arrays.gaps[k, FIRST] == position:
                symbol, after = -1 - k, arrays.gaps[k, LAST] + 1
        if 0 <= symbol < FIRST_WORD:
            return 0
        arrays.symbols[size] = symbol
        size += 1
        position = after
    return size


@borrowing
def hash_of(symbols: Array, size: int, outer: int) -> Any:
    """A hash code of a target side (FNV-1a on whole numbers, mixed at the end)."""
    code = np.uint64(14695981039346656037) ^ np.uint64(outer)
    for k in range(size):
        code = (code ^ np.uint64(np.int64(symbols[k]) + 8)) * np.uint64(1099511628211)
        code ^= code >> np.uint64(29)
    return (code ^ (code >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)


@borrowing
def same_symbols(sides: TargetSides, number: int, symbols: Array, size: int) -> bool:
    """Whether a side has these symbols."""
    start = sides.starts[number]
    if sides.starts[number + 1] - start != size:
        return False
    for k in range(size):  # noqa: SIM110
        if sides.symbols[start + k] != symbols[k]:
            return False
    return True


class OuterGaps(NamedTuple):
    """The gaps outside the words of a rule."""

    kind: int  # NEITHER .. BOTH
    before: int  # words
    after: int


@borrowing
def add_side(sides: TargetSides, count: int, symbols: Array, size: int, outer: OuterGaps, occurrence: int) -> int:
    """Count a target side that follows from an occurrence, once for each; the number of sides, or FULL."""
    code = hash_of(symbols, size, outer.kind)
    mask = len(sides.slots) - 1
    slot = np.int64(code & np.uint64(mask))
    while sides.slots[slot] >= 0:
        number = sides.slots[slot]
        same = sides.hashes[number] == code and sides.outer_gaps[number] == outer.kind
        if same and same_symbols(sides, number, symbols, size):
            if sides.last[number] != occurrence:
                sides.last[number] = occurrence
                sides.counts[number] += 1
            return count
        slot = (slot + 1) & mask
    start = sides.starts[count]
    if count + 1 >= len(sides.hashes) or start + size > len(sides.symbols):
        return FULL
    sides.slots[slot] = count
    sides.taken[count] = slot
    sides.hashes[count] = code
    sides.outer_gaps[count] = outer.kind
    sides.counts[count] = 1
    sides.last[count] = occurrence
    sides.origins[count, 0] = occurrence
    sides.origins[count, 1] = outer.before
    sides.origins[count, 2] = outer.after
    for k in range(size):
        sides.symbols[start + k] = symbols[k]
    sides.starts[count + 1] = start + size
    return count + 1


# ---------------------------------------------------------------- one occurrence


@inlined
def try_rule(extraction: Extraction, span: Span, gaps: int, outer: OuterGaps, count: int) -> int:
    """Add the target side of a span, if the words of both sides are linked only with each other."""
    pairs, arrays = extraction.pairs, extraction.arrays
    target = pairs.target_starts[span.sentence]
    if span.low > span.high or not links_stay_inside(
        pairs.target_extents, target + span.low, target + span.high + 1, span.begin, span.end
    ):
        return count
    size = write_target(pairs, span, gaps, extraction.limits.targets, arrays)
    return add_side(extraction.sides, count, arrays.symbols, size, outer, span.occurrence) if size else count


@borrowing
def may_be_edge(pairs: AlignedPairs, limits: ExtractionLimits, sentence: int, position: int) -> bool:
    """Whether a source side may begin or end with the word at this position."""
    return not limits.tight_edges or is_linked(pairs.source_extents, pairs.source_starts[sentence] + position)


class Edges(NamedTuple):
    """Whether the first and the last word of an occurrence may be the edges of a source side."""

    first: bool
    last: bool


@inlined
def extract_outer(extraction: Extraction, span: Span, edges: Edges, inner: int, both: bool, count: int) -> int:
    """Add all rules of an occurrence with outer gaps; the span is without them."""
    arrays, limits = extraction.arrays, extraction.limits
    gaps, before, after = arrays.gaps, arrays.before, arrays.after
    befores = outer_candidates(extraction.pairs, span, limits, BEFORE, before)
    afters = outer_candidates(extraction.pairs, span, limits, AFTER, after)
    for k in range(afters if edges.first else 0):
        set_gap(gaps, inner, after[k, 1], after[k, 2])
        right = widened(span, ZERO, after[k, 0], after[k, 1], after[k, 2])
        if count != FULL:
            count = try_rule(extraction, right, inner + 1, OuterGaps(AFTER, ZERO, after[k, 0]), count)
    make_first_gap_free(gaps, inner)
    for k in range(befores):
        set_gap(gaps, 0, before[k, 1], before[k, 2])
        left = widened(span, before[k, 0], ZERO, before[k, 1], before[k, 2])
        if count != FULL and edges.last:
            count = try_rule(extraction, left, inner + 1, OuterGaps(BEFORE, before[k, 0], ZERO), count)
        for m in range(afters if both else 0):
            wide = widened(left, ZERO, after[m, 0], after[m, 1], after[m, 2])
            if wide.end - wide.begin > limits.span:
                break
            set_gap(gaps, 1, after[m, 1], after[m, 2])
            if count != FULL:
                count = try_rule(extraction, wide, inner + 2, OuterGaps(BOTH, before[k, 0], after[m, 0]), count)
    return count


@inlined
def widened(span: Span, before: int, after: int, low: int, high: int) -> Span:
    """A span with so many source words more on both sides, and target words low .. high."""
    return Span(
        span.sentence,
        span.occurrence,
        span.begin - before,
        span.end + after,
        min(span.low, low),
        max(span.high, high),
    )


@borrowing
def extract_occurrence(extraction: Extraction, pattern: Pattern, sentence: int, occurrence: int, count: int) -> int:
    """Add all rules that follow from one occurrence of a pattern, with and without outer gaps; the number of sides."""
    limits, positions = extraction.limits, extraction.arrays.positions
    ok, low, high, all_low, all_high = inner_gaps(extraction.pairs, sentence, pattern, extraction.arrays, limits.tight)
    if not ok or (limits.linked and low > high):
        return count
    inner = pattern.chunk_count - 1
    end = positions[inner] + pattern.chunks[inner, LENGTH]
    span = Span(sentence, occurrence, positions[0], end, all_low, all_high)
    edges = Edges(
        may_be_edge(extraction.pairs, limits, sentence, span.begin),
        may_be_edge(extraction.pairs, limits, sentence, span.end - 1),
    )
    if edges.first and edges.last:
        count = try_rule(extraction, span, inner, OuterGaps(NEITHER, ZERO, ZERO), count)
    more = min(limits.symbols - len(pattern.symbols), MAX_GAPS - inner)
    if more < 1 or count == FULL:
        return count
    return extract_outer(extraction, span, edges, inner, more > 1, count)


# ---------------------------------------------------------------- the links of a rule


@borrowing
def set_positions(pairs: AlignedPairs, matches: Array, number: int, chunks: int, positions: Array) -> int:
    """The positions of the chunks of a match within their sentence; the number of the sentence."""
    sentence: Any = np.int64(pairs.sentence_of[matches[number, 0]])
    for k in range(chunks):
        positions[k] = matches[number, k] - pairs.source_starts[sentence]
    return sentence


@borrowing
def set_gaps(extraction: Extraction, sentence: int, pattern: Pattern, before: int, after: int) -> tuple[int, int]:
    """Find the gaps of a rule again, in the order of the source; how many, and where its target side begins."""
    pairs, tight = extraction.pairs, extraction.limits.tight
    gaps, positions = extraction.arrays.gaps, extraction.arrays.positions
    _, _, _, low, _ = inner_gaps(pairs, sentence, pattern, extraction.arrays, tight)
    size = pattern.chunk_count - 1
    end = positions[size] + pattern.chunks[size, LENGTH]
    if before > 0:
        make_first_gap_free(gaps, size)
        _, first, last = gap_hull(pairs, sentence, positions[0] - before, positions[0], tight)
        set_gap(gaps, 0, first, last)
        low, size = min(low, first), size + 1
    if after > 0:
        _, first, last = gap_hull(pairs, sentence, end, end + after, tight)
        set_gap(gaps, size, first, last)
        low, size = min(low, first), size + 1
    return size, low


@borrowing
def source_symbol(pattern: Pattern, positions: Array, position: int) -> int:
    """The number of the symbol of the pattern that stands at this position of the sentence; -1 if it is no word."""
    for k in range(pattern.chunk_count):
        if positions[k] <= position < positions[k] + pattern.chunks[k, LENGTH]:
            return pattern.chunks[k, BEGIN] + position - positions[k]
    return -1


@borrowing
def target_symbol(gaps: Array, size: int, low: int, position: int) -> int:
    """The number of the symbol of the target side that stands at this position of the sentence."""
    symbol = position - low
    for k in range(size):
        if gaps[k, LAST] < position:
            symbol -= gaps[k, LAST] - gaps[k, FIRST]
    return symbol


@borrowing
def add_links(
    extraction: Extraction,
    sentence: int,
    pattern: Pattern,
    before: int,
    after: int,
    rules: ExtractedRules,
    rule: int,
) -> bool:
    """The links between the words of a rule, as they are where it was found first; False if there is no space."""
    pairs, arrays = extraction.pairs, extraction.arrays
    size, low = set_gaps(extraction, sentence, pattern, before, after)
    used = rules.link_starts[rule]
    for k in range(pairs.link_starts[sentence], pairs.link_starts[sentence + 1]):
        link: Any = np.int64(pairs.links[k])
        source = source_symbol(pattern, arrays.positions, link & HALF)
        if source >= 0:
            if used >= len(rules.links):
                return False
            rules.links[used, 0] = source + (1 if before > 0 else 0)
            rules.links[used, 1] = target_symbol(arrays.gaps, size, low, link >> 16)
            used += 1
    rules.link_starts[rule + 1] = used
    return True


# ---------------------------------------------------------------- all occurrences of all patterns


@borrowing
def choose_best(sides: TargetSides, count: int, outer: int, kept: int) -> int:
    """Put the sides with these outer gaps that have the highest counts into `best`, equal ones as they were found."""
    size = 0
    for number in range(count):
        if sides.outer_gaps[number] != outer:
            continue
        rank = min(size, kept)
        while rank > 0 and sides.counts[sides.best[rank - 1]] < sides.counts[number]:
            if rank < kept:
                sides.best[rank] = sides.best[rank - 1]
            rank -= 1
        if rank < kept:
            sides.best[rank] = number
        size = min(size + 1, kept)
    return size


@borrowing
def add_rule(rules: ExtractedRules, rule: int, pattern: int, sides: TargetSides, number: int) -> bool:
    """Write a target side as a rule, but for its links; False if there is no space."""
    begin, end, start = sides.starts[number], sides.starts[number + 1], rules.target_starts[rule]
    if rule >= len(rules.patterns) or start + end - begin > len(rules.target_symbols):
        return False
    rules.patterns[rule] = pattern
    rules.outer_gaps[rule] = sides.outer_gaps[number]
    rules.counts[rule] = sides.counts[number]
    for k in range(begin, end):
        rules.target_symbols[start + k - begin] = sides.symbols[k]
    rules.target_starts[rule + 1] = start + end - begin
    return True


class Sample(NamedTuple):
    """The matches of a pattern, of which `size` out of `total` are looked at."""

    matches: Array
    size: int
    total: int


@borrowing
def add_best(
    extraction: Extraction,
    number: int,
    pattern: Pattern,
    sample: Sample,
    count: int,
    rules: ExtractedRules,
    used: int,
) -> int:
    """Add the best target sides of a pattern as rules; the number of rules, or FULL."""
    pairs, sides, positions = extraction.pairs, extraction.sides, extraction.arrays.positions
    for outer in range(NEITHER, BOTH + 1):
        size = choose_best(sides, count, outer, extraction.limits.kept)
        for k in range(size):
            side = sides.best[k]
            match = evenly(sides.origins[side, 0], sample.total, sample.size)
            sentence = set_positions(pairs, sample.matches, match, pattern.chunk_count, positions)
            before, after = sides.origins[side, 1], sides.origins[side, 2]
            if not add_rule(rules, used, number, sides, side):
                return FULL
            if not add_links(extraction, sentence, pattern, before, after, rules, used):
                return FULL
            used += 1
    return used


class PatternCounts(NamedTuple):
    """How often each pattern occurs."""

    sampled: Array  # int64: the occurrences that were looked at
    total: Array  # float64: those in the text, which may be an estimate


@owning
def extract_patterns(
    text: IndexedText,
    extraction: Extraction,
    rows: Array,
    first: int,
    matches: Array,
    rules: ExtractedRules,
    used: int,
    counts: PatternCounts,
) -> tuple[int, int]:
    """Add the rules of all patterns from `first` on, which stops where there is no space for those of the next one.

    Returns the number of the pattern to go on with, and of the rules.
    """
    pairs, limits, sides = extraction.pairs, extraction.limits, extraction.sides
    chunks = np.zeros((MAX_CHUNKS, 4), np.int64)
    for p in range(first, len(rows)):
        symbols = rows[p][: length_of(rows[p])]
        pattern = Pattern(symbols, chunks, split_chunks(text, symbols, chunks))
        if pattern.chunk_count == 0:
            continue
        anchors = limits.sample if pattern.chunk_count == 1 else limits.anchors
        size, total = find_matches(text, pattern, MatchLimits(anchors, limits.gap, limits.span), matches)
        if size > len(matches):
            return p, used
        sample = Sample(matches, min(size, limits.sample), size)
        side_count = ZERO
        for number in range(sample.size):
            match = evenly(number, size, sample.size)
            sentence = set_positions(pairs, matches, match, pattern.chunk_count, extraction.arrays.positions)
            side_count = extract_occurrence(extraction, pattern, sentence, number, side_count)
            if side_count == FULL:
                return p, used
        more = add_best(extraction, p, pattern, sample, side_count, rules, used)
        for k in range(side_count):
            sides.slots[sides.taken[k]] = -1
        if more == FULL:
            return p, used
        used, counts.sampled[p], counts.total[p] = more, sample.size, total
    return len(rows), used
