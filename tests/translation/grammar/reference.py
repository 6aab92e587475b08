"""Chiang's rules by definition: all phrase pairs of all sentence pairs, with all their sub-phrases replaced by gaps."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from morphlm.arrays import Array
from morphlm.translation.grammar.config import GrammarConfig
from morphlm.translation.grammar.kernels.search import IndexedText, find_phrase

Span = tuple[int, int]  # begin, end
Symbols = tuple[str | int, ...]
Pair = tuple[Sequence[str], Sequence[str], Sequence[tuple[int, int]]]  # source, target, links


def occurrences(text: IndexedText, phrase: Sequence[int]) -> Array:
    """Where a phrase stands, in the order of the suffix array."""
    low, high = find_phrase(text, np.array(phrase, np.int32))
    return text.suffixes[low:high]


def target_span(links: Sequence[tuple[int, int]], source: Span) -> Span | None:
    """The smallest target span that a source span is linked to, if nothing in it is linked to the outside."""
    inside = [t for s, t in links if source[0] <= s < source[1]]
    if not inside:
        return None
    low, high = min(inside), max(inside) + 1
    back = [s for s, t in links if low <= t < high]
    return (low, high) if all(source[0] <= s < source[1] for s in back) else None


def replaced(words: Sequence[str], span: Span, gaps: Sequence[Span]) -> Symbols:
    """The words of a span with gaps in place of some spans; they are numbered as they are given."""
    symbols: list[str | int] = []
    at = span[0]
    while at < span[1]:
        number = next((k for k, gap in enumerate(gaps, 1) if gap[0] == at), None)
        symbols.append(words[at] if number is None else number)
        at = at + 1 if number is None else gaps[number - 1][1]
    return tuple(symbols)


def rules_of_pair(pair: Pair, config: GrammarConfig) -> Iterator[tuple[Symbols, Symbols, tuple[int, ...]]]:
    """All rules: source side, target side, and the places of the source words."""
    source, target, links = pair
    linked = {s for s, _ in links}
    spans = list(combinations(range(len(source) + 1), 2))
    gap_spans = [
        span
        for span in spans
        if span[1] - span[0] >= config.min_gap
        and target_span(links, span) is not None
        and (not config.tight_gaps or {span[0], span[1] - 1} <= linked)
    ]
    for span in spans:
        if span[1] - span[0] > config.max_training_span or (whole := target_span(links, span)) is None:
            continue
        inside = [gap for gap in gap_spans if span[0] <= gap[0] and gap[1] <= span[1] and gap != span]
        choices: list[tuple[Span, ...]] = [(), *((gap,) for gap in inside)]
        choices += [(one, two) for one in inside for two in inside if one[1] < two[0]]  # not side by side
        for gaps in choices:
            words = tuple(s for s in range(*span) if not any(gap[0] <= s < gap[1] for gap in gaps))
            left = replaced(source, span, gaps)
            right = replaced(target, whole, [target_span(links, gap) or (0, 0) for gap in gaps])
            if not words or len(left) > config.max_symbols or len(right) > config.max_target_symbols:
                continue
            if config.linked_word and not linked & set(words):
                continue
            if config.tight_phrases and not {span[0], span[1] - 1} & set(words) <= linked:
                continue
            yield left, right, words


def count_rules(pairs: Sequence[Pair], config: GrammarConfig) -> dict[Symbols, Counter[Symbols]]:
    """Of each source side the target sides, with the number of different places of its words that they follow from."""
    places: dict[tuple[Symbols, Symbols], set[tuple[int, tuple[int, ...]]]] = defaultdict(set)
    for number, pair in enumerate(pairs):
        for left, right, words in rules_of_pair(pair, config):
            places[left, right].add((number, words))
    counts: dict[Symbols, Counter[Symbols]] = defaultdict(Counter)
    for (left, right), found in places.items():
        counts[left][right] = len(found)
    return counts


def chunks_of(side: Symbols) -> list[tuple[str, ...]]:
    """The words between gaps."""
    chunks: list[tuple[str, ...]] = [()]
    for symbol in side:
        if isinstance(symbol, int):
            chunks.append(())
        else:
            chunks[-1] += (symbol,)
    return [chunk for chunk in chunks if chunk]


def count_places(sentences: Sequence[Sequence[str]], side: Symbols, gap: int, span: int) -> int:
    """How often the words of a side stand in the text with something between them, outer gaps left out."""
    chunks = chunks_of(side)

    def from_here(sentence: Sequence[str], number: int, first: int, stop: int) -> int:
        if number == len(chunks):
            return 1
        size = len(chunks[number])
        return sum(
            from_here(sentence, number + 1, at + size + gap, min(stop, at + span) if number == 0 else stop)
            for at in range(first, min(stop, len(sentence)) - size + 1)
            if tuple(sentence[at : at + size]) == chunks[number]
        )

    return sum(from_here(sentence, 0, 0, len(sentence)) for sentence in sentences)


def is_in(sentence: Sequence[str], side: Symbols, config: GrammarConfig) -> bool:
    """Whether a source side can be applied somewhere in a sentence within the span of the input."""

    def fits(k: int, at: int, stop: int) -> bool:
        if k == len(side):
            return at <= stop
        symbol = side[k]
        if isinstance(symbol, str):
            return at < stop and sentence[at] == symbol and fits(k + 1, at + 1, stop)
        return any(fits(k + 1, end, stop) for end in range(at + config.min_gap, stop + 1))

    stops = [min(len(sentence), begin + config.max_input_span) for begin in range(len(sentence))]
    return any(fits(0, begin, stop) for begin, stop in enumerate(stops))
