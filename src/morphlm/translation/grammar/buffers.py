"""Room for what compiled code finds, enlarged when it is not enough."""

from __future__ import annotations

import numpy as np

from morphlm.arrays import Array
from morphlm.translation.grammar.bitext import Bitext
from morphlm.translation.grammar.kernels.extraction import Limits, Rules, Scratch, Sides, extract_patterns
from morphlm.translation.grammar.kernels.patterns import MAX_GAPS
from morphlm.translation.grammar.kernels.search import MAX_CHUNKS


def new_sides(size: int) -> Sides:
    """Room for so many target sides; a power of two."""
    return Sides(
        slots=np.full(2 * size, -1, np.int64),
        taken=np.empty(size, np.int64),
        hashes=np.empty(size, np.uint64),
        edges=np.empty(size, np.int64),
        starts=np.zeros(size + 1, np.int64),
        counts=np.empty(size, np.int64),
        last=np.empty(size, np.int64),
        wheres=np.empty((size, 3), np.int64),
        symbols=np.empty(8 * size, np.int32),
        best=np.empty(size, np.int64),
    )


def new_rules(size: int, old: Rules | None = None) -> Rules:
    """Room for so many rules, with those that there are already."""
    rules = Rules(
        patterns=np.empty(size, np.int32),
        edges=np.empty(size, np.uint8),
        counts=np.empty(size, np.int64),
        target_starts=np.zeros(size + 1, np.int64),
        target_symbols=np.empty(8 * size, np.int32),
        link_starts=np.zeros(size + 1, np.int64),
        links=np.empty((8 * size, 2), np.int16),
    )
    for array, before in zip(rules, old or (), strict=False):
        array[: len(before)] = before
    return rules


def new_scratch(limits: Limits) -> Scratch:
    """Working space for one place."""
    return Scratch(
        gaps=np.zeros((MAX_GAPS + 1, 2), np.int64),
        before=np.zeros((limits.span + 1, 3), np.int64),
        after=np.zeros((limits.span + 1, 3), np.int64),
        symbols=np.zeros(limits.targets + 1, np.int32),
        places=np.zeros(MAX_CHUNKS, np.int64),
    )


def run_extraction(bitext: Bitext, rows: Array, limits: Limits, size: int = 1 << 13) -> tuple[Rules, int, Array, Array]:
    """The rules of some patterns and their number; for each pattern the places looked at and all there are."""
    sampled, totals = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.float64)
    scratch, sides, rules = new_scratch(limits), new_sides(size), new_rules(4 * size)
    matches = np.empty((size, 3), np.int64)
    done, used = 0, 0
    while True:
        done, used = extract_patterns(
            bitext.source, bitext.pairs, rows, done, limits, matches, scratch, sides, rules, used, sampled, totals
        )
        if done == len(rows):
            return rules, used, sampled, totals
        size *= 4
        matches, sides, rules = np.empty((size, 3), np.int64), new_sides(size), new_rules(4 * size, rules)
