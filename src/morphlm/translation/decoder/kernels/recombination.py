"""Recombination: hypotheses that no language model can tell apart from outside become hyperedges of one node."""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing, inlined, owning
from morphlm.translation.decoder.kernels.heap import best_first
from morphlm.translation.decoder.kernels.records import (
    NONE,
    Hyperedges,
    Hypotheses,
    Int,
    Nodes,
    SearchArrays,
    end_of_cell,
)

MULTIPLIER = np.uint64(0xD1342543DE82EF95)


# ---------------------------------------------------------------- states


@inlined
def hash_state(hypotheses: Hypotheses, h: Int) -> Int:
    """A number that depends on all that `same_state` compares."""
    code = np.uint64(hypotheses.left_length[h] * 64 + hypotheses.batch_pending[h] * 8 + hypotheses.right_length[h])
    for k in range(hypotheses.left_length[h]):
        code = code * MULTIPLIER + np.uint64(hypotheses.left[h, k] + 1)
    for k in range(hypotheses.right_length[h]):
        code = code * MULTIPLIER + np.uint64(hypotheses.right[h, k] + 1)
    code = code * MULTIPLIER + np.uint64(hypotheses.state[h] + 1)
    code = code * MULTIPLIER + np.uint64(hypotheses.pending[h] * 2 + (1 if hypotheses.full[h] else 0))
    code ^= code >> np.uint64(29)
    return np.int64((code * MULTIPLIER) >> np.uint64(24))


@inlined
def same_state(hypotheses: Hypotheses, g: Int, h: Int) -> bool:
    """Whether two hypotheses have the same future under all language models."""
    same = hypotheses.left_length[g] == hypotheses.left_length[h]
    same = same and hypotheses.batch_pending[g] == hypotheses.batch_pending[h]
    same = same and hypotheses.right_length[g] == hypotheses.right_length[h]
    same = same and hypotheses.state[g] == hypotheses.state[h] and hypotheses.pending[g] == hypotheses.pending[h]
    same = same and hypotheses.full[g] == hypotheses.full[h]
    if same:
        for k in range(hypotheses.left_length[g]):
            same = same and hypotheses.left[g, k] == hypotheses.left[h, k]
        for k in range(hypotheses.right_length[g]):
            same = same and hypotheses.right[g, k] == hypotheses.right[h, k]
    return same


class StateGroups(NamedTuple):
    """The hypotheses of a cell by their states, which are numbered in order of appearance."""

    score: Array  # float64: of a hypothesis, without its tails
    total: Array  # float64: that with its tails
    state: Array  # int64: its state
    sample: Array  # int64: of a state, the first hypothesis that has it
    inside: Array  # float64: the best total
    size: Array  # int64: how many hypotheses have it
    estimated: Array  # float64: see `with_rest_costs`
    next_edge: Array  # int64: where its next hyperedge goes
    table: Array  # int64: hash table of states, more than twice as many slots as hypotheses
    heap: Array  # int64: space to sort in
    order: Array  # int64


@owning
def new_state_groups(size: Int) -> StateGroups:
    """Space for so many hypotheses."""
    slots = 16
    while slots < 2 * size:
        slots *= 2
    return StateGroups(
        np.empty(size),
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(slots, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )


class ScoredCell(NamedTuple):
    """The hypotheses first .. last - 1 of one cell, with what the batch models say to them."""

    hypotheses: Hypotheses
    logprobs: Array  # float64 (hypotheses, models)
    rest_costs: Array  # float64 (hypotheses, models): estimates for words whose context is not known
    first: Int
    last: Int


@inlined
def score_hypotheses(search: SearchArrays, cell: ScoredCell, groups: StateGroups) -> None:
    """Of each hypothesis: its own score, and that with its tails."""
    hypotheses, weights = cell.hypotheses, search.weights
    for h in range(cell.first, cell.last):
        score = search.rules.scores[hypotheses.rule[h]] + weights[0] * hypotheses.logprob[h]
        for b in range(cell.logprobs.shape[1]):
            score += weights[1 + b] * cell.logprobs[h, b]
        total = score
        for d in range(2):
            if hypotheses.tails[h, d] != NONE:
                total += search.nodes.inside[hypotheses.tails[h, d]]
        groups.score[h - cell.first], groups.total[h - cell.first] = score, total


@inlined
def group_states(cell: ScoredCell, groups: StateGroups) -> Int:
    """Find the state of each hypothesis; gives the number of states."""
    hypotheses, first, count = cell.hypotheses, cell.first, cell.last - cell.first
    slots, states = np.int64(16), np.int64(0)
    while slots < 2 * count:
        slots *= 2
    groups.table[:slots] = NONE
    for h in range(count):
        slot = hash_state(hypotheses, first + h) & (slots - 1)
        state = groups.table[slot]
        while state != NONE and not same_state(hypotheses, first + groups.sample[state], first + h):
            slot = (slot + 1) & (slots - 1)
            state = groups.table[slot]
        if state == NONE:
            state = states
            groups.table[slot], groups.sample[state] = state, h
            groups.inside[state], groups.size[state] = -np.inf, 0
            states += 1
        groups.state[h] = state
        groups.inside[state] = max(groups.inside[state], groups.total[h])
        groups.size[state] += 1
    return states


# ---------------------------------------------------------------- nodes and hyperedges


@inlined
def with_rest_costs(search: SearchArrays, cell: ScoredCell, h: Int, inside: float) -> float:
    """The score with estimates for words whose context is not known: of each model, or else of the heuristic."""
    hypotheses, weights, orders = cell.hypotheses, search.weights, search.orders
    estimated = inside + weights[0] * hypotheses.rest_cost[h]
    for b in range(len(orders)):
        if search.estimates[b]:
            estimated += weights[1 + b] * cell.rest_costs[h, b]
        else:
            for k in range(min(hypotheses.batch_pending[h], orders[b] - 1)):
                estimated += weights[1 + b] * hypotheses.first_logprobs[h, k]
    return estimated


@inlined
def set_node(nodes: Nodes, to: Int, hypotheses: Hypotheses, h: Int, inside: float, estimated: float) -> None:
    """Make a node of a hypothesis, but for its hyperedges."""
    nodes.cell[to], nodes.inside[to], nodes.estimated[to] = hypotheses.cell[h], inside, estimated
    nodes.left_length[to], nodes.right_length[to] = hypotheses.left_length[h], hypotheses.right_length[h]
    nodes.batch_pending[to] = hypotheses.batch_pending[h]
    for k in range(hypotheses.left_length[h]):
        nodes.left[to, k] = hypotheses.left[h, k]
    for k in range(hypotheses.right_length[h]):
        nodes.right[to, k] = hypotheses.right[h, k]
    nodes.state[to], nodes.pending[to] = hypotheses.state[h], hypotheses.pending[h]
    nodes.full[to], nodes.rest_cost[to] = hypotheses.full[h], hypotheses.rest_cost[h]
    for k in range(hypotheses.first_logprobs.shape[1]):
        nodes.first_logprobs[to, k] = hypotheses.first_logprobs[h, k]


@inlined
def make_nodes(
    search: SearchArrays, cell: ScoredCell, states: Int, groups: StateGroups, used_nodes: Int, used_edges: Int
) -> None:
    """A node for each state, the best first, with space for its hyperedges."""
    nodes, first = search.nodes, cell.first
    for s in range(states):
        groups.estimated[s] = with_rest_costs(search, cell, first + groups.sample[s], groups.inside[s])
    best_first(groups.estimated, states, groups.heap, groups.order)
    for k in range(states):
        s, to = groups.order[k], used_nodes + k
        set_node(nodes, to, cell.hypotheses, first + groups.sample[s], groups.inside[s], groups.estimated[s])
        groups.next_edge[s] = used_edges
        nodes.edges[to, 0] = used_edges
        used_edges += groups.size[s]
        nodes.edges[to, 1] = used_edges


@inlined
def make_edges(cell: ScoredCell, groups: StateGroups, edges: Hyperedges) -> None:
    """Each hypothesis becomes a hyperedge of its node, the best first."""
    hypotheses, count = cell.hypotheses, cell.last - cell.first
    best_first(groups.total, count, groups.heap, groups.order)
    for k in range(count):
        h = cell.first + groups.order[k]
        state = groups.state[groups.order[k]]
        to = groups.next_edge[state]
        groups.next_edge[state] += 1
        edges.rule[to], edges.score[to] = hypotheses.rule[h], groups.score[groups.order[k]]
        for d in range(2):
            edges.tails[to, d] = hypotheses.tails[h, d]
        edges.logprobs[to, 0] = hypotheses.logprob[h]
        for b in range(cell.logprobs.shape[1]):
            edges.logprobs[to, 1 + b] = cell.logprobs[h, b]


@borrowing
def recombine(
    search: SearchArrays,
    hypotheses: Hypotheses,
    count: Int,
    logprobs: Array,
    rest_costs: Array,
    edges: Hyperedges,
    used_nodes: Int,
    used_edges: Int,
    groups: StateGroups,
) -> Int:
    """Make the nodes and hyperedges of the cells of a round, for which there must be space; gives the number of nodes.

    `logprobs` and `rest_costs` are of the batch models, (count, models); `groups` is space for all hypotheses.
    """
    cells, first = search.cells, np.int64(0)
    while first < count:
        last = end_of_cell(hypotheses.cell, first, count)
        cell = ScoredCell(hypotheses, logprobs, rest_costs, first, last)
        score_hypotheses(search, cell, groups)
        states = group_states(cell, groups)
        make_nodes(search, cell, states, groups, used_nodes, used_edges)
        make_edges(cell, groups, edges)
        number = hypotheses.cell[first]
        cells.begins[number], cells.ends[number] = used_nodes, used_nodes + states
        used_nodes += states
        used_edges += last - first
        first = last
    return used_nodes
