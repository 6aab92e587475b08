"""Cube pruning (Chiang 2007): the best combinations of rules and partial translations of each cell, lazily.

All combinations of a cell are in one heap. Each is scored once, since only one of its predecessors leads to it
(Gesmundo and Henderson 2010). The order is that of the heuristic, an n-gram model, which also stands in for the other
models, corrected by what these think of the words of each rule alone and of the first words of partial translations;
they are asked later, in one batch, about what was good enough.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing, inlined, owning
from morphlm.translation.decoder.kernels.heap import heap_pop, heap_push
from morphlm.translation.decoder.kernels.heuristic import score_words
from morphlm.translation.decoder.kernels.queries import collect_left, queries_grown_to, query_words
from morphlm.translation.decoder.kernels.records import (
    NONE,
    Cells,
    CubeCandidates,
    Cubes,
    Hypotheses,
    Int,
    LmQueries,
    QueryUses,
    RoundOutput,
    RuleArrays,
    SearchArrays,
    Used,
    end_of_cell,
)

# ---------------------------------------------------------------- space


@owning
def new_candidates(size: Int, context_size: Int) -> CubeCandidates:
    """Space for the candidates of a cell."""
    return CubeCandidates(
        np.empty(size, np.int32),
        np.empty((size, 3), np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.bool_),
        np.empty(size, np.float64),
        np.zeros((size, context_size), np.float64),
        np.empty(size, np.float64),
        np.empty(size, np.float64),
        np.empty(size, np.int64),
    )


@owning
def new_hypotheses(size: Int, max_left: Int, context_size: Int) -> Hypotheses:
    """Space for the hypotheses of a round."""
    return Hypotheses(
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty((size, 2), np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.bool_),
        np.empty(size, np.float64),
        np.zeros((size, context_size), np.float64),
        np.empty(size, np.float64),
        np.empty((size, max_left), np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty((size, context_size), np.int32),
        np.empty(size, np.int32),
    )


# ---------------------------------------------------------------- combinations


class CellCubes(NamedTuple):
    """The cubes first .. last - 1 of one cell, and how many hypotheses it may have."""

    cubes: Cubes
    first: Int
    last: Int
    limit: Int


@inlined
def cell_size(cells: Cells, cell: Int) -> Int:
    """The number of nodes of a gap; 1 where there is no gap."""
    return 1 if cell == NONE else cells.ends[cell] - cells.begins[cell]


@inlined
def node_at(cells: Cells, cell: Int, rank: Int) -> Int:
    """A node of a gap; NONE where there is no gap."""
    return NONE if cell == NONE else cells.begins[cell] + rank


@inlined
def rule_of(cubes: Cubes, rules: RuleArrays, candidates: CubeCandidates, row: Int) -> Int:
    """The rule of a candidate."""
    begin = rules.group_starts[cubes.group[candidates.cube[row]]]
    return np.int64(rules.group_rules[begin + candidates.ranks[row, 0]])


@inlined
def score_candidate(search: SearchArrays, cubes: Cubes, weight: float, candidates: CubeCandidates, row: Int) -> float:
    """Fill in the heuristic's scores of a candidate; returns its priority."""
    rules, cells, nodes = search.rules, search.cells, search.nodes
    cube, rule = candidates.cube[row], rule_of(cubes, rules, candidates, row)
    tail = node_at(cells, cubes.tails[cube, 0], candidates.ranks[row, 1])
    second = node_at(cells, cubes.tails[cube, 1], candidates.ranks[row, 2])
    total = rules.scores[rule] + rules.corrections[rule]
    if tail != NONE:
        total += nodes.estimated[tail]
    if second != NONE:
        total += nodes.estimated[second]
    score_words(search, rule, tail, second, candidates, row)
    change = candidates.logprob[row] + candidates.rest_cost[row]
    if tail != NONE:
        change -= nodes.rest_cost[tail]
    if second != NONE:
        change -= nodes.rest_cost[second]
    return total + weight * change


@inlined
def set_hypothesis(
    search: SearchArrays, cubes: Cubes, candidates: CubeCandidates, row: Int, hypotheses: Hypotheses, to: Int
) -> None:
    """Copy a candidate: what it is made of, and the heuristic's scores."""
    cube = candidates.cube[row]
    hypotheses.cell[to], hypotheses.rule[to] = cubes.cell[cube], rule_of(cubes, search.rules, candidates, row)
    for d in range(2):
        hypotheses.tails[to, d] = node_at(search.cells, cubes.tails[cube, d], candidates.ranks[row, d + 1])
    hypotheses.state[to], hypotheses.pending[to] = candidates.state[row], candidates.pending[row]
    hypotheses.full[to], hypotheses.rest_cost[to] = candidates.full[row], candidates.rest_cost[row]
    hypotheses.logprob[to] = candidates.logprob[row]
    for k in range(hypotheses.first_logprobs.shape[1]):
        hypotheses.first_logprobs[to, k] = candidates.first_logprobs[row, k]


@inlined
def longest_target(rules: RuleArrays) -> Int:
    """The length of the longest target side."""
    longest = 0
    for rule in range(len(rules.starts) - 1):
        longest = max(longest, rules.starts[rule + 1] - rules.starts[rule])
    return longest


@inlined
def max_sizes(search: SearchArrays, cubes: Cubes, first: Int, last: Int, pop_limit: Int) -> tuple[Int, Int]:
    """How many candidates and how many hypotheses a cell can have at most; a limit of 0 is none."""
    rules, cells, total = search.rules, search.cells, 0
    for cube in range(first, last):
        group = cubes.group[cube]
        size = rules.group_starts[group + 1] - rules.group_starts[group]
        total += size * cell_size(cells, cubes.tails[cube, 0]) * cell_size(cells, cubes.tails[cube, 1])
    if pop_limit == 0:
        return total, total
    return min(total, last - first + 3 * pop_limit), min(total, pop_limit)


@inlined
def open_cubes(cell: CellCubes, candidates: CubeCandidates) -> Int:
    """The best corner of each cube of a cell becomes a candidate; gives the number of candidates."""
    for cube in range(cell.first, cell.last):
        candidates.cube[cube - cell.first] = cube
        for d in range(3):
            candidates.ranks[cube - cell.first, d] = 0
    return cell.last - cell.first


@inlined
def add_successors(search: SearchArrays, cubes: Cubes, candidates: CubeCandidates, row: Int, used: Int) -> Int:
    """One step in the last dimension in which a candidate is not at the beginning, or in a later one.

    Gives the number of candidates.
    """
    rules, cube = search.rules, candidates.cube[row]
    group = cubes.group[cube]
    for d in range(2, -1, -1):
        if d == 0:
            size = rules.group_starts[group + 1] - rules.group_starts[group]
        else:
            size = cell_size(search.cells, cubes.tails[cube, d - 1])
        if candidates.ranks[row, d] + 1 < size:
            candidates.cube[used] = cube
            for other in range(3):
                candidates.ranks[used, other] = candidates.ranks[row, other]
            candidates.ranks[used, d] += 1
            used += 1
        if candidates.ranks[row, d] > 0:
            break
    return used


@borrowing
def pop_cell(
    search: SearchArrays,
    cell: CellCubes,
    weight: float,
    candidates: CubeCandidates,
    context: Array,
    output: RoundOutput,
    used: Used,
) -> Used:
    """The best hypotheses of a cell. `candidates` and `context` are space; `weight` is that of all models together."""
    cubes, hypotheses = cell.cubes, output.hypotheses
    opened, scored, size = open_cubes(cell, candidates), np.int64(0), np.int64(0)
    for to in range(used.hypotheses, used.hypotheses + cell.limit):
        while scored < opened:
            candidates.priority[scored] = score_candidate(search, cubes, weight, candidates, scored)
            heap_push(candidates.heap, size, candidates.priority, scored)
            size += 1
            scored += 1
        row = heap_pop(candidates.heap, size, candidates.priority)
        size -= 1
        set_hypothesis(search, cubes, candidates, row, hypotheses, to)
        used = query_words(search, context, output, used, to)
        collect_left(search.rules, search.nodes, hypotheses, to)
        opened = add_successors(search, cubes, candidates, row, opened)
    return Used(used.hypotheses + cell.limit, used.uses, used.queries)


@owning
def pop_cubes(
    search: SearchArrays, cubes: Cubes, pop_limit: Int, queries: LmQueries, known: Int
) -> tuple[RoundOutput, Used]:
    """The best hypotheses of each cell, and the queries that they need beside the first `known` ones."""
    orders, weight = search.orders, search.weights.sum()
    context_size, max_left = search.nodes.right.shape[1], search.nodes.left.shape[1]
    most_uses = len(orders) * (longest_target(search.rules) + 2 * context_size)  # of one hypothesis
    # np.int64(0), not 0: with a literal, Numba would compile every function that takes it twice.
    most_candidates, hypotheses, first = np.int64(0), np.int64(0), np.int64(0)
    while first < len(cubes.cell):
        last = end_of_cell(cubes.cell, first, len(cubes.cell))
        candidates_of_cell, limit = max_sizes(search, cubes, first, last, pop_limit)
        most_candidates, hypotheses, first = max(most_candidates, candidates_of_cell), hypotheses + limit, last
    candidates, context = new_candidates(most_candidates, context_size), np.zeros(context_size, np.int32)
    uses = QueryUses(np.empty(hypotheses * most_uses, np.int32), np.empty(hypotheses * most_uses, np.int32))
    output = RoundOutput(new_hypotheses(hypotheses, max_left, context_size), uses, queries)
    used, first = Used(np.int64(0), np.int64(0), np.int64(known)), np.int64(0)
    while first < len(cubes.cell):
        last = end_of_cell(cubes.cell, first, len(cubes.cell))
        _, limit = max_sizes(search, cubes, first, last, pop_limit)
        queries = queries_grown_to(output.queries, used.queries, used.queries + limit * most_uses)
        output = RoundOutput(output.hypotheses, uses, queries)
        used = pop_cell(search, CellCubes(cubes, first, last, limit), weight, candidates, context, output, used)
        first = last
    return output, used
