"""The k best derivations of a hypergraph, lazily: algorithm 3 of Huang and Chiang (2005).

Each node keeps its best derivations so far and a heap of those that may come next. A derivation is an edge with the
ranks of the derivations of its parts. Equal words in the same span are always in the same node, so that lists of
distinct translations come from nodes that leave out what they had before. Nothing is recursive: long sentences are
deep.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

from morphlm.translation.decoder.search import Chart

Ranks = tuple[int, ...]
Words = tuple[str, ...]
Place = tuple[int, int]  # a node and the rank of one of its derivations


@dataclass
class _Ranked:
    """What is known of one node."""

    best: list[tuple[float, int, Ranks]] = field(default_factory=list)  # score, edge, ranks of its parts
    words: list[Words] = field(default_factory=list)  # of these
    seen: set[Words] = field(default_factory=set)  # the same, if they have to be distinct
    heap: list[tuple[float, int, Ranks]] = field(default_factory=list)  # minus the score, ...
    to_follow: tuple[int, Ranks] | None = None  # the last one taken, as long as its successors are not in the heap

    @property
    def is_exhausted(self) -> bool:
        """Whether there are no more derivations than those in `best`."""
        return self.to_follow is None and not self.heap


class KBest:
    """The derivations of a chart in order of their scores; equal ones in the order in which they were found."""

    def __init__(self, chart: Chart, *, distinct: bool) -> None:
        """Nothing is computed yet. If distinct, only the best derivation of equal words counts."""
        self._chart, self._distinct = chart, distinct
        self._inside, self._scores = chart.nodes.inside, chart.edges.score
        self._ranked: dict[int, _Ranked] = {}
        self._targets: dict[int, tuple[str | int, ...]] = {}
        self._tails: dict[int, list[int]] = {}

    def __iter__(self) -> Iterator[tuple[float, Place]]:
        """Score and place of each derivation of the goal."""
        goal, rank = self._chart.goal, 0
        while self._reach(goal, rank):
            yield self._ranked[goal].best[rank][0], (goal, rank)
            rank += 1

    def at(self, place: Place) -> tuple[int, list[Place]]:
        """The edge of a derivation that was found, and the derivations of its parts; -1: the sentence's beginning."""
        _, edge, ranks = self._ranked[place[0]].best[place[1]]
        return edge, list(zip(self.tails(edge), ranks, strict=True)) if edge >= 0 else []

    def words(self, place: Place) -> Words:
        """The translation of a derivation that was found."""
        return self._ranked[place[0]].words[place[1]]

    def tails(self, edge: int) -> list[int]:
        """The nodes an edge is made of."""
        found = self._tails.get(edge)
        if found is None:
            found = self._tails[edge] = [tail for tail in self._chart.edges.tails[edge].tolist() if tail >= 0]
        return found

    # ------------------------------------------------------------ nodes

    def _open(self, node: int) -> _Ranked:
        """The best derivation of a node, and of all nodes that it is made of; their edges are best first."""
        if node in self._ranked:
            return self._ranked[node]
        stack = [node]
        while stack:
            begin, end = self._chart.nodes.edges[stack[-1]].tolist()
            needed = [tail for tail in self.tails(begin) if tail not in self._ranked] if begin < end else []
            if stack[-1] in self._ranked or not needed:
                self._begin(stack.pop(), begin, end)
            stack += needed
        return self._ranked[node]

    def _begin(self, node: int, begin: int, end: int) -> None:
        """At first, the best derivations of all edges are in the heap."""
        if node in self._ranked:
            return
        ranked = self._ranked[node] = _Ranked()
        for edge in range(begin, end):
            tails = self.tails(edge)
            score = float(self._scores[edge] + sum(self._inside[tail] for tail in tails))
            ranked.heap.append((-score, edge, (0,) * len(tails)))
        heapq.heapify(ranked.heap)
        if ranked.heap:
            self._take(ranked)
        else:  # the beginning of the sentence, which is made of nothing
            ranked.best.append((0.0, -1, ()))
            ranked.words.append(())

    def _take(self, ranked: _Ranked) -> None:
        """The next derivation out of the heap."""
        minus, edge, ranks = heapq.heappop(ranked.heap)
        ranked.to_follow = edge, ranks
        words = self._words_of(edge, ranks)
        if words not in ranked.seen:
            ranked.best.append((-minus, edge, ranks))
            ranked.words.append(words)
            if self._distinct:
                ranked.seen.add(words)

    def _words_of(self, edge: int, ranks: Ranks) -> Words:
        parts = [self._open(tail).words[rank] for tail, rank in zip(self.tails(edge), ranks, strict=True)]
        rule = int(self._chart.edges.rule[edge])
        if rule not in self._targets:
            self._targets[rule] = self._chart.grammar.target_of(rule)
        words: list[str] = []
        for symbol in self._targets[rule]:
            words += [symbol] if isinstance(symbol, str) else parts[symbol - 1]
        return tuple(words)

    # ------------------------------------------------------------ further derivations

    def _reach(self, node: int, rank: int) -> bool:
        """Find the derivations of a node up to a rank, as far as there are so many."""
        stack = [(node, rank)]
        while stack:
            ranked = self._open(stack[-1][0])
            if len(ranked.best) > stack[-1][1] or ranked.is_exhausted:
                stack.pop()
            elif ranked.to_follow is not None:
                stack += self._follow(ranked, *ranked.to_follow)
            else:
                self._take(ranked)
        return len(self._ranked[node].best) > rank

    def _follow(self, ranked: _Ranked, edge: int, ranks: Ranks) -> list[Place]:
        """Put the successors of a derivation into the heap; or, if a part must be found first, tell which."""
        tails, new = self.tails(edge), []
        for at in range(len(tails) - 1, -1, -1):
            rank, part = ranks[at] + 1, self._open(tails[at])
            if len(part.best) > rank:
                new.append((*ranks[:at], rank, *ranks[at + 1 :]))
            elif not part.is_exhausted:
                return [(tails[at], rank)]
            if ranks[at]:  # others lead to what lies further
                break
        for successor in new:
            parts = zip(tails, successor, strict=True)
            score = float(self._scores[edge]) + sum(self._ranked[tail].best[rank][0] for tail, rank in parts)
            heapq.heappush(ranked.heap, (-score, edge, successor))
        ranked.to_follow = None
        return []
