"""Compiled loops that join two directions of alignment, as in Och & Ney (2003) and in Moses' symal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import njit

# Bits of a cell: in which alignments it is, and whether it is in the result.
FORWARD, BACKWARD, BOTH, TAKEN = 1, 2, 3, 4
INTERSECT, UNION, GROW, GROW_FINAL, GROW_FINAL_AND = range(5)  # in the order of symmetrise.METHODS


class LinkArrays(NamedTuple):
    """Links by sentence, each by source, then target position."""

    starts: Array  # int64 (S + 1)
    sources: Array  # int32
    targets: Array  # int32


@njit(cache=True, nogil=True)
def _take(cells: Array, target: int, source: int, targets: Array, sources: Array) -> None:
    cells[target, source] |= TAKEN
    targets[target] = sources[source] = True


@njit(cache=True, nogil=True)
def _grow(cells: Array, targets: Array, sources: Array) -> None:
    """Add neighbours, also diagonal ones, that are in the union and link a word that has no link yet.

    Points are visited by target, then source position; one that is added further on is visited in the same sweep.
    """
    height, width = cells.shape
    steps = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))
    added = True
    while added:
        added = False
        for target in range(height):
            for source in range(width):
                if not cells[target, source] & TAKEN:
                    continue
                for down, right in steps:
                    row, column = target + down, source + right
                    if row < 0 or row >= height or column < 0 or column >= width or not cells[row, column] & BOTH:
                        continue
                    if not (targets[row] and sources[column]):
                        _take(cells, row, column, targets, sources)
                        added = True


@njit(cache=True, nogil=True)
def _final(cells: Array, direction: int, both_free: bool, targets: Array, sources: Array) -> None:
    """Add what only one direction has, where a word (or both words) of the link has none yet."""
    height, width = cells.shape
    for target in range(height):
        for source in range(width):
            if cells[target, source] == direction:
                free = not targets[target], not sources[source]
                if (free[0] and free[1]) if both_free else (free[0] or free[1]):
                    _take(cells, target, source, targets, sources)


@njit(cache=True, nogil=True)
def _mark(cells: Array, bit: int, sources: Array, targets: Array) -> None:
    for k in range(len(sources)):
        cells[targets[k], sources[k]] |= bit


@njit(cache=True, nogil=True)
def _choose(cells: Array, method: int) -> None:
    """Set TAKEN in the cells of the result."""
    height, width = cells.shape
    targets, sources = np.zeros(height, np.bool_), np.zeros(width, np.bool_)
    for target in range(height):
        for source in range(width):
            cell = cells[target, source]
            if cell == BOTH or (method == UNION and cell):
                _take(cells, target, source, targets, sources)
    if method >= GROW:
        _grow(cells, targets, sources)
    if method >= GROW_FINAL:
        _final(cells, FORWARD, method == GROW_FINAL_AND, targets, sources)
        _final(cells, BACKWARD, method == GROW_FINAL_AND, targets, sources)


@njit(cache=True, nogil=True)
def _extent(values: Array, others: Array) -> int:
    most = -1
    for value in values:
        most = max(most, value)
    for value in others:
        most = max(most, value)
    return most + 1


@njit(cache=True, nogil=True)
def join_links(
    forward: LinkArrays, backward: LinkArrays, begin: int, end: int, method: int, counts: Array, joined: LinkArrays
) -> None:
    """Join the links of the sentences begin .. end - 1; those of a sentence go to joined.starts[s] and further."""
    for s in range(begin, end):
        own, other = forward.starts[s : s + 2], backward.starts[s : s + 2]
        sources, targets = forward.sources[own[0] : own[1]], forward.targets[own[0] : own[1]]
        other_sources, other_targets = backward.sources[other[0] : other[1]], backward.targets[other[0] : other[1]]
        height, width = _extent(targets, other_targets), _extent(sources, other_sources)
        cells = np.zeros((height, width), np.uint8)
        _mark(cells, FORWARD, sources, targets)
        _mark(cells, BACKWARD, other_sources, other_targets)
        _choose(cells, method)
        link = joined.starts[s]
        for source in range(width):
            for target in range(height):
                if cells[target, source] & TAKEN:
                    joined.sources[link], joined.targets[link] = source, target
                    link += 1
        counts[s] = link - joined.starts[s]
