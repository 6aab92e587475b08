"""Space for what compiled code extracts, enlarged when it is not enough."""

from __future__ import annotations

import numpy as np

from morphlm.arrays import Array
from morphlm.translation.grammar.bitext import Bitext
from morphlm.translation.grammar.kernels.extraction import (
    ExtractedRules,
    Extraction,
    ExtractionLimits,
    OccurrenceArrays,
    PatternCounts,
    TargetSides,
    extract_patterns,
)
from morphlm.translation.grammar.kernels.patterns import MAX_GAPS
from morphlm.translation.grammar.kernels.search import MAX_CHUNKS


def new_sides(size: int) -> TargetSides:
    """Space for so many target sides; a power of two."""
    return TargetSides(
        slots=np.full(2 * size, -1, np.int64),
        taken=np.empty(size, np.int64),
        hashes=np.empty(size, np.uint64),
        outer_gaps=np.empty(size, np.int64),
        starts=np.zeros(size + 1, np.int64),
        counts=np.empty(size, np.int64),
        last=np.empty(size, np.int64),
        origins=np.empty((size, 3), np.int64),
        symbols=np.empty(8 * size, np.int32),
        best=np.empty(size, np.int64),
    )


def new_rules(size: int, old: ExtractedRules | None = None) -> ExtractedRules:
    """Space for so many rules, with those that there are already."""
    rules = ExtractedRules(
        patterns=np.empty(size, np.int32),
        outer_gaps=np.empty(size, np.uint8),
        counts=np.empty(size, np.int64),
        target_starts=np.zeros(size + 1, np.int64),
        target_symbols=np.empty(8 * size, np.int32),
        link_starts=np.zeros(size + 1, np.int64),
        links=np.empty((8 * size, 2), np.int16),
    )
    for array, before in zip(rules, old or (), strict=False):
        array[: len(before)] = before
    return rules


def new_occurrence_arrays(limits: ExtractionLimits) -> OccurrenceArrays:
    """Working space for one occurrence."""
    return OccurrenceArrays(
        gaps=np.zeros((MAX_GAPS + 1, 2), np.int64),
        before=np.zeros((limits.span + 1, 3), np.int64),
        after=np.zeros((limits.span + 1, 3), np.int64),
        symbols=np.zeros(limits.targets + 1, np.int32),
        positions=np.zeros(MAX_CHUNKS, np.int64),
    )


def run_extraction(
    bitext: Bitext, rows: Array, limits: ExtractionLimits, size: int = 1 << 13
) -> tuple[ExtractedRules, int, PatternCounts]:
    """The rules of some patterns and their number, and how often each pattern occurs."""
    counts = PatternCounts(np.zeros(len(rows), np.int64), np.zeros(len(rows), np.float64))
    extraction = Extraction(bitext.pairs, limits, new_occurrence_arrays(limits), new_sides(size))
    matches, rules = np.empty((size, 3), np.int64), new_rules(4 * size)
    done, used = 0, 0
    while True:
        done, used = extract_patterns(bitext.source, extraction, rows, done, matches, rules, used, counts)
        if done == len(rows):
            return rules, used, counts
        size *= 4
        extraction = extraction._replace(sides=new_sides(size))
        matches, rules = np.empty((size, 3), np.int64), new_rules(4 * size, rules)
