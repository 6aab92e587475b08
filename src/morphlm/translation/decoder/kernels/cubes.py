"""Cube pruning (Chiang 2007): the best combinations of rules and partial translations of each cell, lazily.

All combinations of a cell are in one heap. Each is scored once, since only one of its predecessors leads to it
(Gesmundo and Henderson 2010). The order is that of the guide, an n-gram model, which also stands in for the other
models; these are asked later, in one batch, about what was good enough.
"""

import numpy as np

from morphlm.arrays import Array
from morphlm.translation.compiling import borrowing, called_inside, compiled
from morphlm.translation.decoder.kernels.guide import Guide, combine
from morphlm.translation.decoder.kernels.heap import heap_pop, heap_push
from morphlm.translation.decoder.kernels.questions import (
    Asked,
    collect_left,
    new_queries,
    queries_grown_to,
    questions_grown_to,
    walk,
)
from morphlm.translation.decoder.kernels.records import (
    NONE,
    Candidates,
    Cells,
    Cubes,
    Grammar,
    Int,
    Nodes,
    Popped,
    Queries,
    Questions,
    longer,
    room_for,
    taller,
)

# ---------------------------------------------------------------- room


@compiled
def new_candidates(size: Int, reach: Int) -> Candidates:
    """Room for a cell's candidates."""
    return Candidates(
        np.empty(size, np.int32),
        np.empty((size, 3), np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.bool_),
        np.empty(size, np.float64),
        np.zeros((size, reach), np.float64),
        np.empty(size, np.float64),
        np.empty(size, np.float64),
        np.empty(size, np.int64),
    )


@compiled
def new_popped(size: Int, most: Int, reach: Int) -> Popped:
    """Room for what a round yields."""
    return Popped(
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty((size, 2), np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.bool_),
        np.empty(size, np.float64),
        np.zeros((size, reach), np.float64),
        np.empty(size, np.float64),
        np.empty((size, most), np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty((size, reach), np.int32),
        np.empty(size, np.int32),
    )


@compiled
def popped_grown_to(popped: Popped, needed: Int) -> Popped:
    """The same; at least as many rows as needed."""
    if needed <= len(popped.cell):
        return popped
    size = room_for(needed, len(popped.cell))
    return Popped(
        longer(popped.cell, size),
        longer(popped.rule, size),
        taller(popped.tails, size),
        longer(popped.state, size),
        longer(popped.pending, size),
        longer(popped.full, size),
        longer(popped.estimate, size),
        taller(popped.guess, size),
        longer(popped.logprob, size),
        taller(popped.left, size),
        longer(popped.lefts, size),
        longer(popped.first, size),
        taller(popped.right, size),
        longer(popped.rights, size),
    )


# ---------------------------------------------------------------- combinations


@called_inside
def width_of(cells: Cells, cell: Int) -> Int:
    """The number of nodes of a gap; 1 where there is no gap."""
    return 1 if cell == NONE else cells.ends[cell] - cells.begins[cell]


@called_inside
def node_at(cells: Cells, cell: Int, place: Int) -> Int:
    """A node of a gap; NONE where there is no gap."""
    return NONE if cell == NONE else cells.begins[cell] + place


@called_inside
def rule_at(cubes: Cubes, grammar: Grammar, candidates: Candidates, row: Int) -> Int:
    """The rule of a candidate."""
    begin = grammar.group_starts[cubes.group[candidates.cube[row]]]
    return np.int64(grammar.group_rules[begin + candidates.place[row, 0]])


@called_inside
def score_candidate(
    cubes: Cubes,
    cells: Cells,
    grammar: Grammar,
    guide: Guide,
    weight: float,
    nodes: Nodes,
    candidates: Candidates,
    row: Int,
) -> float:
    """Fill in what the guide says to a candidate; returns its priority."""
    cube, rule = candidates.cube[row], rule_at(cubes, grammar, candidates, row)
    tail = node_at(cells, cubes.tails[cube, 0], candidates.place[row, 1])
    second = node_at(cells, cubes.tails[cube, 1], candidates.place[row, 2])
    total = grammar.scores[rule]
    if tail != NONE:
        total += nodes.value[tail]
    if second != NONE:
        total += nodes.value[second]
    combine(guide, grammar, rule, tail, second, nodes, candidates, row)
    change = candidates.logprob[row] + candidates.estimate[row]
    if tail != NONE:
        change -= nodes.estimate[tail]
    if second != NONE:
        change -= nodes.estimate[second]
    return total + weight * change


@called_inside
def keep_popped(
    cubes: Cubes, cells: Cells, grammar: Grammar, candidates: Candidates, row: Int, popped: Popped, to: Int
) -> None:
    """Write down of what a candidate is made and what the guide said."""
    cube = candidates.cube[row]
    popped.cell[to], popped.rule[to] = cubes.cell[cube], rule_at(cubes, grammar, candidates, row)
    for d in range(2):
        popped.tails[to, d] = node_at(cells, cubes.tails[cube, d], candidates.place[row, d + 1])
    popped.state[to], popped.pending[to] = candidates.state[row], candidates.pending[row]
    popped.full[to], popped.estimate[to] = candidates.full[row], candidates.estimate[row]
    popped.logprob[to] = candidates.logprob[row]
    for k in range(popped.guess.shape[1]):
        popped.guess[to, k] = candidates.guess[row, k]


@called_inside
def longest_target(grammar: Grammar) -> Int:
    """The length of the longest target side."""
    longest = 0
    for rule in range(len(grammar.starts) - 1):
        longest = max(longest, grammar.starts[rule + 1] - grammar.starts[rule])
    return longest


@called_inside
def bounds_of_cell(cubes: Cubes, first: Int, last: Int, cells: Cells, grammar: Grammar, limit: Int) -> tuple[Int, Int]:
    """How many candidates and how many results a cell can have at most; a limit of 0 is none."""
    total = 0
    for cube in range(first, last):
        group = cubes.group[cube]
        rules = grammar.group_starts[group + 1] - grammar.group_starts[group]
        total += rules * width_of(cells, cubes.tails[cube, 0]) * width_of(cells, cubes.tails[cube, 1])
    if limit == 0:
        return total, total
    return min(total, last - first + 3 * limit), min(total, limit)


@called_inside
def open_cubes(first: Int, last: Int, candidates: Candidates) -> Int:
    """The first combination of each cube of a cell becomes a candidate; gives the number of candidates."""
    for cube in range(first, last):
        candidates.cube[cube - first] = cube
        for d in range(3):
            candidates.place[cube - first, d] = 0
    return last - first


@called_inside
def add_successors(cubes: Cubes, cells: Cells, grammar: Grammar, candidates: Candidates, row: Int, used: Int) -> Int:
    """One step in the last dimension in which a candidate is not at the beginning, or in a later one.

    Gives the number of candidates.
    """
    cube = candidates.cube[row]
    group = cubes.group[cube]
    for d in range(2, -1, -1):
        if d == 0:
            size = grammar.group_starts[group + 1] - grammar.group_starts[group]
        else:
            size = width_of(cells, cubes.tails[cube, d - 1])
        if candidates.place[row, d] + 1 < size:
            candidates.cube[used] = cube
            for other in range(3):
                candidates.place[used, other] = candidates.place[row, other]
            candidates.place[used, d] += 1
            used += 1
        if candidates.place[row, d] > 0:
            break
    return used


@borrowing
def pop_cell(
    cubes: Cubes,
    first: Int,
    last: Int,
    results: Int,
    cells: Cells,
    grammar: Grammar,
    guide: Guide,
    weight: float,
    nodes: Nodes,
    orders: Array,
    context: Array,
    candidates: Candidates,
    popped: Popped,
    pops: Int,
    queries: Queries,
    questions: Questions,
    asked: Asked,
) -> Asked:
    """The best combinations of a cell, whose cubes are first .. last - 1."""
    used, scored, size = open_cubes(first, last, candidates), np.int64(0), np.int64(0)
    for to in range(pops, pops + results):
        while scored < used:
            candidates.priority[scored] = score_candidate(
                cubes, cells, grammar, guide, weight, nodes, candidates, scored
            )
            heap_push(candidates.heap, size, candidates.priority, scored)
            size += 1
            scored += 1
        row = heap_pop(candidates.heap, size, candidates.priority)
        size -= 1
        keep_popped(cubes, cells, grammar, candidates, row, popped, to)
        asked = walk(grammar, np.int64(popped.rule[to]), nodes, orders, context, popped, to, queries, questions, asked)
        collect_left(grammar, np.int64(popped.rule[to]), nodes, popped, to)
        used = add_successors(cubes, cells, grammar, candidates, row, used)
    return asked


@compiled
def pop_cubes(
    cubes: Cubes,
    cells: Cells,
    grammar: Grammar,
    guide: Guide,
    weight: float,
    nodes: Nodes,
    orders: Array,
    limit: Int,
    questions: Questions,
    known: Int,
) -> tuple[Popped, Int, Queries, Questions, Asked]:
    """The best combinations of each cell, their number, and the questions that they raise after those that are known.

    `orders` are those of the models other than the guide, `weight` is that of the guide for finding the order.
    """
    reach, most = nodes.right.shape[1], nodes.left.shape[1]
    most_asked = len(orders) * (longest_target(grammar) + 2 * reach)  # about one combination
    # np.int64(0), not 0: with a literal, Numba would compile every function that takes it twice.
    candidates, context = new_candidates(64, reach), np.zeros(reach, np.int32)
    popped, pops = new_popped(256, most, reach), np.int64(0)
    queries, asked = new_queries(64), Asked(np.int64(0), np.int64(known))
    first = np.int64(0)
    while first < len(cubes.cell):
        last = first + 1
        while last < len(cubes.cell) and cubes.cell[last] == cubes.cell[first]:
            last += 1
        needed, results = bounds_of_cell(cubes, first, last, cells, grammar, limit)
        if needed > len(candidates.cube):
            candidates = new_candidates(room_for(needed, len(candidates.cube)), reach)
        popped = popped_grown_to(popped, pops + results)
        queries = queries_grown_to(queries, asked.queries + results * most_asked)
        questions = questions_grown_to(questions, asked.questions, asked.questions + results * most_asked, orders)
        asked = pop_cell(
            cubes,
            first,
            last,
            results,
            cells,
            grammar,
            guide,
            weight,
            nodes,
            orders,
            context,
            candidates,
            popped,
            pops,
            queries,
            questions,
            asked,
        )
        pops += results
        first = last
    return popped, pops, queries, questions, asked
