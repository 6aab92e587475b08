"""The k best derivations of a hypergraph without any laziness: all combinations of the k best of each part, sorted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True)
class Edge:
    rule: int
    tails: tuple[int, ...]
    score: float


@dataclass(frozen=True)
class Derived:
    score: float
    words: tuple[int, ...]
    edges: tuple[int, ...]  # of the whole derivation, the top one first, then those of each part


def k_best(
    ranges: Sequence[tuple[int, int]], edges: Sequence[Edge], targets: Sequence[Sequence[int]], k: int, distinct: bool
) -> list[Derived]:
    """Of the last node. `ranges` are the edges of each node; target sides have -1 and -2 as gaps."""
    lists: list[list[Derived]] = []
    for begin, end in ranges:
        found = []
        for number in range(begin, end):
            edge = edges[number]
            for ranks in product(*(range(len(lists[tail])) for tail in edge.tails)):
                score = edge.score
                for tail, rank in zip(edge.tails, ranks, strict=True):
                    score += lists[tail][rank].score
                found.append((-score, number, ranks))
        ways = [_derived(-minus, edges, number, ranks, lists, targets) for minus, number, ranks in sorted(found)]
        if begin == end:
            ways = [Derived(0.0, (), ())]
        if distinct:
            first = {way.words: way for way in reversed(ways)}
            ways = [way for way in ways if first[way.words] is way]
        lists.append(ways[:k])
    return lists[-1]


def _derived(
    score: float,
    edges: Sequence[Edge],
    number: int,
    ranks: tuple[int, ...],
    lists: list[list[Derived]],
    targets: Sequence[Sequence[int]],
) -> Derived:
    edge = edges[number]
    parts = [lists[tail][rank] for tail, rank in zip(edge.tails, ranks, strict=True)]
    words: list[int] = []
    for symbol in targets[edge.rule]:
        words += [symbol] if symbol >= 0 else parts[-symbol - 1].words
    return Derived(score, tuple(words), (number, *(one for part in parts for one in part.edges)))
