"""Recombination: combinations that no language model can tell apart from outside become edges of one node."""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.translation.compiling import borrowing, called_inside, compiled
from morphlm.translation.decoder.kernels.heap import best_first
from morphlm.translation.decoder.kernels.records import (
    NONE,
    Cells,
    Edges,
    Grammar,
    Int,
    Nodes,
    Popped,
    longer,
    room_for,
    taller,
)

MULTIPLIER = np.uint64(0xD1342543DE82EF95)


@compiled
def nodes_grown_to(nodes: Nodes, needed: Int) -> Nodes:
    """The same nodes; at least as many rows as needed."""
    if needed <= len(nodes.cell):
        return nodes
    size = room_for(needed, len(nodes.cell))
    return Nodes(
        longer(nodes.cell, size),
        longer(nodes.inside, size),
        longer(nodes.value, size),
        taller(nodes.left, size),
        longer(nodes.lefts, size),
        longer(nodes.state, size),
        longer(nodes.pending, size),
        longer(nodes.full, size),
        longer(nodes.estimate, size),
        longer(nodes.first, size),
        taller(nodes.right, size),
        longer(nodes.rights, size),
        taller(nodes.guess, size),
        taller(nodes.edges, size),
    )


@compiled
def edges_grown_to(edges: Edges, needed: Int) -> Edges:
    """The same edges; at least as many rows as needed."""
    if needed <= len(edges.rule):
        return edges
    size = room_for(needed, len(edges.rule))
    return Edges(
        longer(edges.rule, size), taller(edges.tails, size), longer(edges.score, size), taller(edges.logprobs, size)
    )


@called_inside
def hash_state(popped: Popped, p: Int) -> Int:
    """A number that depends on all that `same_state` compares."""
    code = np.uint64(popped.lefts[p] * 64 + popped.first[p] * 8 + popped.rights[p])
    for k in range(popped.lefts[p]):
        code = code * MULTIPLIER + np.uint64(popped.left[p, k] + 1)
    for k in range(popped.rights[p]):
        code = code * MULTIPLIER + np.uint64(popped.right[p, k] + 1)
    code = code * MULTIPLIER + np.uint64(popped.state[p] + 1)
    code = code * MULTIPLIER + np.uint64(popped.pending[p] * 2 + (1 if popped.full[p] else 0))
    code ^= code >> np.uint64(29)
    return np.int64((code * MULTIPLIER) >> np.uint64(24))


@called_inside
def same_state(popped: Popped, p: Int, q: Int) -> bool:
    """Whether two combinations have the same future under all language models."""
    same = popped.lefts[p] == popped.lefts[q] and popped.first[p] == popped.first[q]
    same = same and popped.rights[p] == popped.rights[q]
    same = same and popped.state[p] == popped.state[q] and popped.pending[p] == popped.pending[q]
    same = same and popped.full[p] == popped.full[q]
    if same:
        for k in range(popped.lefts[p]):
            same = same and popped.left[p, k] == popped.left[q, k]
        for k in range(popped.rights[p]):
            same = same and popped.right[p, k] == popped.right[q, k]
    return same


@called_inside
def value_of(popped: Popped, p: Int, inside: float, weights: Array, orders: Array) -> float:
    """The score with the estimates for words whose context is not known. The guide's weight comes first."""
    value = inside + weights[0] * popped.estimate[p]
    for b in range(len(orders)):
        for k in range(min(popped.first[p], orders[b] - 1)):
            value += weights[1 + b] * popped.guess[p, k]
    return value


@called_inside
def keep_node(nodes: Nodes, to: Int, popped: Popped, p: Int, inside: float, value: float) -> None:
    """Write down a node."""
    nodes.cell[to], nodes.inside[to], nodes.value[to] = popped.cell[p], inside, value
    nodes.lefts[to], nodes.first[to], nodes.rights[to] = popped.lefts[p], popped.first[p], popped.rights[p]
    for k in range(popped.lefts[p]):
        nodes.left[to, k] = popped.left[p, k]
    for k in range(popped.rights[p]):
        nodes.right[to, k] = popped.right[p, k]
    nodes.state[to], nodes.pending[to] = popped.state[p], popped.pending[p]
    nodes.full[to], nodes.estimate[to] = popped.full[p], popped.estimate[p]
    for k in range(popped.guess.shape[1]):
        nodes.guess[to, k] = popped.guess[p, k]


class Groups(NamedTuple):
    """The combinations of a cell by their states, which are numbered in order of appearance."""

    score: Array  # float64: of a combination, its own
    total: Array  # float64: that with its parts
    head: Array  # int64: its state
    sample: Array  # int64: of a state, the first combination that has it
    inside: Array  # float64: the best total
    size: Array  # int64: how many combinations have it
    value: Array  # float64: see `value_of`
    free: Array  # int64: the place of its next edge
    table: Array  # int64: hash table of states, more than twice as many slots as combinations
    heap: Array  # int64: space to sort in
    order: Array  # int64


@compiled
def new_groups(most: Int) -> Groups:
    """Room for as many combinations."""
    slots = 16
    while slots < 2 * most:
        slots *= 2
    return Groups(
        np.empty(most),
        np.empty(most),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most),
        np.empty(most, np.int64),
        np.empty(most),
        np.empty(most, np.int64),
        np.empty(slots, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
    )


@called_inside
def score_edges(
    popped: Popped,
    first: Int,
    last: Int,
    answers: Array,
    grammar: Grammar,
    weights: Array,
    nodes: Nodes,
    groups: Groups,
) -> None:
    """Of each combination: its own score, and that with its parts."""
    for p in range(first, last):
        score = grammar.scores[popped.rule[p]] + weights[0] * popped.logprob[p]
        for b in range(answers.shape[1]):
            score += weights[1 + b] * answers[p, b]
        total = score
        for d in range(2):
            if popped.tails[p, d] != NONE:
                total += nodes.inside[popped.tails[p, d]]
        groups.score[p - first], groups.total[p - first] = score, total


@called_inside
def group_states(popped: Popped, first: Int, count: Int, groups: Groups) -> Int:
    """Find the state of each combination; gives the number of states."""
    slots, states = np.int64(16), np.int64(0)
    while slots < 2 * count:
        slots *= 2
    groups.table[:slots] = NONE
    for p in range(count):
        slot = hash_state(popped, first + p) & (slots - 1)
        state = groups.table[slot]
        while state != NONE and not same_state(popped, first + groups.sample[state], first + p):
            slot = (slot + 1) & (slots - 1)
            state = groups.table[slot]
        if state == NONE:
            state = states
            groups.table[slot], groups.sample[state] = state, p
            groups.inside[state], groups.size[state] = -np.inf, 0
            states += 1
        groups.head[p] = state
        groups.inside[state] = max(groups.inside[state], groups.total[p])
        groups.size[state] += 1
    return states


@called_inside
def make_nodes(
    popped: Popped,
    first: Int,
    states: Int,
    groups: Groups,
    weights: Array,
    orders: Array,
    nodes: Nodes,
    used_nodes: Int,
    used_edges: Int,
) -> None:
    """A node for each state, the best first, with room for its edges."""
    for s in range(states):
        groups.value[s] = value_of(popped, first + groups.sample[s], groups.inside[s], weights, orders)
    best_first(groups.value, states, groups.heap, groups.order)
    for k in range(states):
        s, to = groups.order[k], used_nodes + k
        keep_node(nodes, to, popped, first + groups.sample[s], groups.inside[s], groups.value[s])
        groups.free[s] = used_edges
        nodes.edges[to, 0] = used_edges
        used_edges += groups.size[s]
        nodes.edges[to, 1] = used_edges


@called_inside
def make_edges(popped: Popped, first: Int, count: Int, answers: Array, groups: Groups, edges: Edges) -> None:
    """Each combination becomes an edge of its node, the best first."""
    best_first(groups.total, count, groups.heap, groups.order)
    for k in range(count):
        p = groups.order[k]
        head = groups.head[p]
        to = groups.free[head]
        groups.free[head] += 1
        edges.rule[to], edges.score[to] = popped.rule[first + p], groups.score[p]
        for d in range(2):
            edges.tails[to, d] = popped.tails[first + p, d]
        edges.logprobs[to, 0] = popped.logprob[first + p]
        for b in range(answers.shape[1]):
            edges.logprobs[to, 1 + b] = answers[first + p, b]


@called_inside
def end_of_cell(of_cell: Array, first: Int, end: Int) -> Int:
    """Where what belongs to the same cell as the first ends."""
    last = first + 1
    while last < end and of_cell[last] == of_cell[first]:
        last += 1
    return last


@borrowing
def fill_cells(
    popped: Popped,
    pops: Int,
    answers: Array,
    grammar: Grammar,
    weights: Array,
    orders: Array,
    cells: Cells,
    nodes: Nodes,
    used_nodes: Int,
    edges: Edges,
    used_edges: Int,
    groups: Groups,
) -> Int:
    """Make nodes and edges where there is room for them; gives the number of nodes. Each combination is an edge."""
    first = np.int64(0)
    while first < pops:
        last = end_of_cell(popped.cell, first, pops)
        score_edges(popped, first, last, answers, grammar, weights, nodes, groups)
        states = group_states(popped, first, last - first, groups)
        make_nodes(popped, first, states, groups, weights, orders, nodes, used_nodes, used_edges)
        make_edges(popped, first, last - first, answers, groups, edges)
        cell = popped.cell[first]
        cells.begins[cell], cells.ends[cell] = used_nodes, used_nodes + states
        used_nodes += states
        used_edges += last - first
        first = last
    return used_nodes


@compiled
def close_cells(
    popped: Popped,
    pops: Int,
    answers: Array,
    grammar: Grammar,
    weights: Array,
    orders: Array,
    cells: Cells,
    nodes: Nodes,
    used_nodes: Int,
    edges: Edges,
    used_edges: Int,
) -> tuple[Nodes, Int, Edges, Int]:
    """Make the nodes and edges of the cells of a round. `answers` are those of the other models, (pops, B)."""
    nodes = nodes_grown_to(nodes, used_nodes + pops)
    edges = edges_grown_to(edges, used_edges + pops)
    most, first = np.int64(0), np.int64(0)
    while first < pops:
        last = end_of_cell(popped.cell, first, pops)
        most, first = max(most, last - first), last
    used_nodes = fill_cells(
        popped,
        pops,
        answers,
        grammar,
        weights,
        orders,
        cells,
        nodes,
        used_nodes,
        edges,
        used_edges,
        new_groups(most),
    )
    return nodes, used_nodes, edges, used_edges + pops
