"""Counts of target sides in the target text, and lexical weights."""

from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing, owning
from morphlm.translation.grammar.kernels.search import (
    FIRST_WORD,
    HIGH,
    LOW,
    MAX_CHUNKS,
    IndexedText,
    MatchLimits,
    Pattern,
    find_matches,
    length_of,
    split_chunks,
)

ONE: Any = np.int64(1)


class LexicalTable(NamedTuple):
    """Word translation probabilities; those of a source word are in its row, by target word."""

    starts: Array  # int64 (V_source + 1)
    targets: Array  # int32
    forward: Array  # float32: p(target word | source word)
    backward: Array  # float32: p(source word | target word)
    null_forward: Array  # float32 (V_target): p(target word | no word)
    null_backward: Array  # float32 (V_source): p(source word | no word)


@borrowing
def entry_of(lexicon: LexicalTable, source: int, target: int) -> int:
    """The entry of a pair of words, or -1."""
    low, high = lexicon.starts[source], lexicon.starts[source + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if lexicon.targets[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low if low < end and lexicon.targets[low] == target else -1


@borrowing
def lexical_weights(lexicon: LexicalTable, source: Array, target: Array, best: Array) -> tuple[float, float]:
    """log p(target words | source words) and log p(source words | target words): each word by its likeliest partner."""
    floor = 1e-12
    for t in range(len(target)):
        best[t] = lexicon.null_forward[target[t]] if target[t] >= 0 else 1.0
    backward = 0.0
    for s in range(len(source)):
        if source[s] < 0:
            continue
        back = lexicon.null_backward[source[s]]
        for t in range(len(target)):
            if target[t] < 0:
                continue
            entry = entry_of(lexicon, source[s], target[t])
            if entry >= 0:
                best[t] = max(best[t], lexicon.forward[entry])
                back = max(back, lexicon.backward[entry])
        backward += np.log(max(back, floor))
    forward = 0.0
    for t in range(len(target)):
        forward += np.log(max(best[t], floor))
    return forward, backward


@owning
def weigh_rules(
    lexicon: LexicalTable, rows: Array, patterns: Array, target_starts: Array, target_symbols: Array
) -> tuple[Array, Array]:
    """The lexical weights of all rules, both ways."""
    forward, backward = np.empty(len(patterns), np.float64), np.empty(len(patterns), np.float64)
    best = np.empty(1024, np.float64)
    for r in range(len(patterns)):
        row = rows[patterns[r]]
        target = target_symbols[target_starts[r] : target_starts[r + 1]]
        forward[r], backward[r] = lexical_weights(lexicon, row[: length_of(row)], target, best)
    return forward, backward


@borrowing
def without_outer_gaps(symbols: Array) -> tuple[int, int]:
    """Where the first word of a side is, and where its last word ends."""
    begin, end = 0, len(symbols)
    while begin < end and symbols[begin] < FIRST_WORD:
        begin += 1
    while end > begin and symbols[end - 1] < FIRST_WORD:
        end -= 1
    return begin, end


@owning
def count_sides(text: IndexedText, starts: Array, symbols: Array, anchors: int, span: int) -> Array:
    """How often each side is in the text, estimated from at most so many occurrences of its rarest chunk."""
    counts = np.zeros(len(starts) - 1, np.float64)
    chunks = np.zeros((MAX_CHUNKS, 4), np.int64)
    limits = MatchLimits(anchors, ONE, span)
    no_rows = np.zeros((0, 3), np.int64)
    for k in range(len(counts)):
        side = symbols[starts[k] : starts[k + 1]]
        begin, end = without_outer_gaps(side)
        symbols_between = side[begin:end]
        count = split_chunks(text, symbols_between, chunks) if begin < end else 0
        if count == 1:
            counts[k] = chunks[0, HIGH] - chunks[0, LOW]
        elif count > 1:
            _, counts[k] = find_matches(text, Pattern(symbols_between, chunks, count), limits, no_rows)
    return counts
