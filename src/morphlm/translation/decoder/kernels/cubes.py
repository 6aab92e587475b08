"""Cube pruning (Chiang 2007): the best combinations of rules and partial translations of each cell, lazily.

All combinations of a cell are in one heap. Each is scored once, since only one of its predecessors leads to it
(Gesmundo and Henderson 2010). The order is that of the guide, an n-gram model, which also stands in for the other
models; these are asked later, in one batch, about what was good enough.
"""

import numpy as np

from morphlm.translation.decoder.kernels.heap import heap_pop, heap_push
from morphlm.translation.decoder.kernels.records import (
    NONE,
    Array,
    Candidates,
    Cells,
    Cubes,
    Grammar,
    Int,
    Ngram,
    Nodes,
    Popped,
    Queries,
    called_inside,
    compiled,
    longer,
    room_for,
    taller,
)
from morphlm.translation.decoder.kernels.words import collect_left, combine, walk, with_room_for_queries

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
def popped_with_room(popped: Popped, needed: Int) -> Popped:
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
def score_candidate(
    cubes: Cubes,
    cells: Cells,
    grammar: Grammar,
    gram: Ngram,
    ids: Array,
    weight: float,
    nodes: Nodes,
    candidates: Candidates,
    row: Int,
) -> float:
    """Fill in what the guide says to a candidate; returns its priority."""
    cube = candidates.cube[row]
    rule = np.int64(grammar.group_rules[grammar.group_starts[cubes.group[cube]] + candidates.place[row, 0]])
    tail = node_at(cells, cubes.tails[cube, 0], candidates.place[row, 1])
    second = node_at(cells, cubes.tails[cube, 1], candidates.place[row, 2])
    total = grammar.scores[rule]
    if tail != NONE:
        total += nodes.value[tail]
    if second != NONE:
        total += nodes.value[second]
    combine(gram, ids, grammar, rule, tail, second, nodes, candidates, row)
    change = candidates.logprob[row] + candidates.estimate[row]
    if tail != NONE:
        change -= nodes.estimate[tail]
    if second != NONE:
        change -= nodes.estimate[second]
    return total + weight * change


@called_inside
def keep_popped(candidates: Candidates, row: Int, popped: Popped, to: Int) -> None:
    """Copy what the guide said."""
    popped.state[to], popped.pending[to] = candidates.state[row], candidates.pending[row]
    popped.full[to], popped.estimate[to] = candidates.full[row], candidates.estimate[row]
    popped.logprob[to] = candidates.logprob[row]
    for k in range(popped.guess.shape[1]):
        popped.guess[to, k] = candidates.guess[row, k]


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


@compiled
def pop_cubes(  # noqa: PLR0912, PLR0915 - what grows here cannot be handed to functions and back for nothing
    cubes: Cubes,
    cells: Cells,
    grammar: Grammar,
    gram: Ngram,
    ids: Array,
    weight: float,
    nodes: Nodes,
    orders: Array,
    limit: Int,
) -> tuple[Popped, Int, Queries, Int]:
    """The best combinations of each cell and the questions that they raise, with the number of both.

    `orders` are those of the models other than the guide, `weight` is that of the guide for finding the order.
    """
    reach, most = nodes.right.shape[1], nodes.left.shape[1]
    longest_target = 0
    for rule in range(len(grammar.starts) - 1):
        longest_target = max(longest_target, grammar.starts[rule + 1] - grammar.starts[rule])
    questions = len(orders) * (longest_target + 2 * reach)
    candidates, room = new_candidates(64, reach), 64
    heap, scores = np.empty(room, np.int64), np.empty(room, np.float64)
    # np.int64(0), not 0: with a literal, Numba would compile every function that takes it twice.
    popped, pops = new_popped(256, most, reach), np.int64(0)
    queries = Queries(
        np.empty(64, np.int64), np.empty(64, np.int32), np.empty(64, np.int32), np.empty((64, reach), np.int32)
    )
    asked, context = 0, np.zeros(reach, np.int32)
    first = np.int64(0)
    while first < len(cubes.cell):
        last = first + 1
        while last < len(cubes.cell) and cubes.cell[last] == cubes.cell[first]:
            last += 1
        needed, results = bounds_of_cell(cubes, first, last, cells, grammar, limit)
        if needed > room:
            room = room_for(needed, room)
            candidates = new_candidates(room, reach)
            heap, scores = np.empty(room, np.int64), np.empty(room, np.float64)
        popped = popped_with_room(popped, pops + results)
        used, size = np.int64(0), np.int64(0)
        for cube in range(first, last):
            candidates.cube[used] = cube
            for d in range(3):
                candidates.place[used, d] = 0
            used += 1
        waiting = np.int64(0)  # candidates from here on are not scored yet
        for _ in range(results):
            while waiting < used:
                scores[waiting] = score_candidate(cubes, cells, grammar, gram, ids, weight, nodes, candidates, waiting)
                heap_push(heap, size, scores, waiting)
                size += 1
                waiting += 1
            row = heap_pop(heap, size, scores)
            size -= 1
            chosen = np.int64(candidates.cube[row])
            group, places = cubes.group[chosen], candidates.place[row]
            begin = grammar.group_starts[group]
            best = np.int64(grammar.group_rules[begin + places[0]])
            popped.cell[pops], popped.rule[pops] = cubes.cell[chosen], best
            for d in range(2):
                popped.tails[pops, d] = node_at(cells, cubes.tails[chosen, d], places[d + 1])
            keep_popped(candidates, row, popped, pops)
            queries = with_room_for_queries(queries, asked + questions)
            asked = walk(grammar, best, nodes, orders, context, popped, pops, queries, asked)
            collect_left(grammar, best, nodes, popped, pops)
            pops += 1
            # Its successors: one step in the last dimension in which it is not at the beginning, or in a later one.
            for d in range(2, -1, -1):
                size_of_d = (
                    grammar.group_starts[group + 1] - begin if d == 0 else width_of(cells, cubes.tails[chosen, d - 1])
                )
                if places[d] + 1 < size_of_d:
                    candidates.cube[used] = chosen
                    for other in range(3):
                        candidates.place[used, other] = places[other]
                    candidates.place[used, d] += 1
                    used += 1
                if places[d] > 0:
                    break
        first = last
    return popped, pops, queries, asked
