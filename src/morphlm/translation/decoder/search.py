"""The search: rounds of equally wide spans, then the glue from left to right, then the end of the sentence.

Compiled code finds the best hypotheses of all spans of a round, and collects what it has to ask the language models
beside the heuristic; they are scored in one batch, and the hypotheses are recombined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from morphlm.arrays import Array
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.decoder.kernels.cubes import pop_cubes
from morphlm.translation.decoder.kernels.heuristic import new_memo
from morphlm.translation.decoder.kernels.matching import cubes_of_glue, cubes_of_width, match_width
from morphlm.translation.decoder.kernels.queries import new_queries, sum_logprobs
from morphlm.translation.decoder.kernels.recombination import new_state_groups, recombine
from morphlm.translation.decoder.kernels.records import (
    NONE,
    Cells,
    Cubes,
    DottedItems,
    Heuristic,
    Hyperedges,
    Nodes,
    SearchArrays,
)
from morphlm.translation.decoder.models import Caches
from morphlm.translation.decoder.sentence_grammar import SentenceGrammar, model_weights

ChartArrays = TypeVar("ChartArrays", Nodes, Hyperedges)


@dataclass(frozen=True, eq=False)
class Chart:
    """The result: a hypergraph in arrays. The last node is the goal; a node comes after those it is made of."""

    grammar: SentenceGrammar
    widest: int
    nodes: Nodes
    edges: Hyperedges

    @property
    def goal(self) -> int:
        """The node of whole translations."""
        return len(self.nodes.cell) - 1


def search(grammar: SentenceGrammar, config: DecoderConfig, caches: Caches) -> Chart:
    """Decode a sentence. The caches are of this thread alone; what they hold changes nothing but the time."""
    return ChartSearch(grammar, config, caches).run()


class ChartSearch:
    """The arrays that grow while a sentence is decoded."""

    def __init__(self, grammar: SentenceGrammar, config: DecoderConfig, caches: Caches) -> None:
        self.grammar, self.config, self.caches = grammar, config, caches
        self.models = grammar.rules.models
        self.words = len(grammar.tokens)
        self.widest = config.span_of(self.words)
        cells = self.words * self.widest + self.words + 2
        self.cells = Cells(np.zeros(cells, np.int64), np.zeros(cells, np.int64))
        self.nodes = _new_nodes(256, self.models.max_left, self.models.context_size)
        self.edges = _new_edges(256, len(self.models.columns))
        self.used_nodes, self.used_edges = 0, 0
        self.orders, self.estimates = self.models.orders, self.models.estimates
        self.weights = model_weights(self.models, grammar.rules.weights)
        self.heuristic = Heuristic(self.models.heuristic, grammar.ids[0], new_memo())
        self.queries, self.scored_queries = new_queries(256, self.models.context_size), 0
        self.rules = grammar.arrays

    def run(self) -> Chart:
        self._begin_at(self.words * self.widest)
        self._spans()
        self._glue()
        end = self.words * self.widest + self.words
        self._round(_single_cube(end + 1, self.grammar.group_of(self.grammar.goal), end), is_last=True)
        return self._chart()

    def _chart(self) -> Chart:
        return Chart(
            self.grammar,
            self.widest,
            Nodes(*(array[: self.used_nodes].copy() for array in self.nodes)),
            Hyperedges(*(array[: self.used_edges].copy() for array in self.edges)),
        )

    def _begin_at(self, cell: int) -> None:
        """S over nothing: after the beginning of the sentence every context is known."""
        nodes = self.nodes
        for array in nodes:
            array[0] = 0
        nodes.cell[0] = cell
        nodes.state[0] = self.models.begin
        nodes.full[0] = True
        nodes.right_length[0] = self.models.context_size
        nodes.right[0] = self.grammar.begin_word
        self.cells.ends[cell] = self.used_nodes = 1

    def _spans(self) -> None:
        for cubes in self._cubes_by_width(self.cells):
            self._round(cubes)

    def _cubes_by_width(self, filled: Cells) -> Iterator[Cubes]:
        """Rules and the spans that they match, the shortest first; what is `filled` meanwhile can be matched by X."""
        grammar, trie = self.grammar, self.grammar.rules.trie
        ranges = np.zeros((2, self.words, self.widest + 1), np.int64)
        items, used = DottedItems(np.zeros(64, np.int32), np.zeros((64, 2), np.int32), ranges[0], ranges[1]), 0
        first_pass = grammar.group_of(grammar.first_pass)
        for width in range(1, min(self.widest, self.words) + 1):
            items, used = match_width(width, self.widest, grammar.sentence, trie, filled, items, used)
            yield cubes_of_width(width, self.widest, self.words, items, trie, first_pass, self.config.pass_all)

    def _glue(self) -> None:
        glue = self.grammar.group_of(self.grammar.first_glue), self.grammar.group_of(self.grammar.glue)
        for end in range(1, self.words + 1):
            self._round(cubes_of_glue(end, self.widest, self.words, self.cells, *glue))

    def _round(self, cubes: Cubes, *, is_last: bool = False) -> None:
        """The best hypotheses of some cells, scored by all models and recombined."""
        if not len(cubes.cell):
            return
        search = SearchArrays(
            self.rules, self.heuristic, self.cells, self.nodes, self.orders, self.estimates, self.weights
        )
        output, used = pop_cubes(search, cubes, self.config.pop_limit, self.queries, self.scored_queries)
        hypotheses, self.queries = output.hypotheses, output.queries
        if is_last:  # nothing follows, so that all contexts are the same
            hypotheses.state[:], hypotheses.right[:] = 0, 0
        self.models.score_queries(self.queries, self.scored_queries, used.queries, self.grammar.ids, self.caches)
        self.scored_queries = used.queries
        logprobs, rest_costs = sum_logprobs(output.uses, self.queries, used, self.orders)
        self.nodes = _grown_to(self.nodes, self.used_nodes + used.hypotheses)
        self.edges = _grown_to(self.edges, self.used_edges + used.hypotheses)
        search = search._replace(nodes=self.nodes)
        groups = new_state_groups(used.hypotheses)
        self.used_nodes = recombine(
            search,
            hypotheses,
            used.hypotheses,
            logprobs,
            rest_costs,
            self.edges,
            self.used_nodes,
            self.used_edges,
            groups,
        )
        self.used_edges += used.hypotheses


def _grown_to(arrays: ChartArrays, needed: int) -> ChartArrays:
    """The same arrays with at least so many rows; sizes grow by factors, so that copying takes linear time."""
    size = len(arrays[0])
    if needed <= size:
        return arrays
    more = max(needed, 2 * size) - size

    def extended(array: Array) -> Array:
        return np.concatenate([array, np.empty((more, *array.shape[1:]), array.dtype)])

    return type(arrays)(*map(extended, arrays))


def _single_cube(cell: int, group: int, tail: int) -> Cubes:
    return Cubes(np.array([cell], np.int32), np.array([group], np.int32), np.array([[tail, NONE]], np.int32))


def _new_nodes(size: int, max_left: int, context_size: int) -> Nodes:
    return Nodes(
        cell=np.zeros(size, np.int32),
        inside=np.zeros(size),
        estimated=np.zeros(size),
        left=np.zeros((size, max_left), np.int32),
        left_length=np.zeros(size, np.int32),
        state=np.zeros(size, np.int32),
        pending=np.zeros(size, np.int32),
        full=np.zeros(size, bool),
        rest_cost=np.zeros(size),
        batch_pending=np.zeros(size, np.int32),
        right=np.zeros((size, context_size), np.int32),
        right_length=np.zeros(size, np.int32),
        first_logprobs=np.zeros((size, context_size)),
        edges=np.zeros((size, 2), np.int64),
    )


def _new_edges(size: int, columns: int) -> Hyperedges:
    return Hyperedges(
        rule=np.zeros(size, np.int32),
        tails=np.zeros((size, 2), np.int32),
        score=np.zeros(size),
        logprobs=np.zeros((size, columns)),
    )
