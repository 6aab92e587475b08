"""Recombination: combinations that no language model can tell apart from outside become edges of one node."""

import numpy as np

from morphlm.translation.decoder.kernels.heap import best_first
from morphlm.translation.decoder.kernels.records import (
    NONE,
    Array,
    Cells,
    Edges,
    Grammar,
    Int,
    Nodes,
    Popped,
    called_inside,
    compiled,
    longer,
    room_for,
    taller,
)

MULTIPLIER = np.uint64(0xD1342543DE82EF95)


@compiled
def nodes_with_room(nodes: Nodes, needed: Int) -> Nodes:
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
def edges_with_room(edges: Edges, needed: Int) -> Edges:
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


@called_inside
def score_edges(
    popped: Popped,
    first: Int,
    last: Int,
    answers: Array,
    grammar: Grammar,
    weights: Array,
    nodes: Nodes,
    edge_scores: Array,
    totals: Array,
) -> None:
    """Of each combination: its own score, and that with its parts."""
    for p in range(first, last):
        score = grammar.scores[popped.rule[p]] + weights[0] * popped.logprob[p]
        for b in range(answers.shape[1]):
            score += weights[1 + b] * answers[p, b]
        edge_scores[p - first], totals[p - first] = score, score
        for d in range(2):
            if popped.tails[p, d] != NONE:
                totals[p - first] += nodes.inside[popped.tails[p, d]]


@called_inside
def group_states(popped: Popped, first: Int, count: Int, heads: Array, samples: Array) -> Int:
    """heads[p]: the number of each combination's state in order of appearance; samples: the first that has it."""
    size = 16
    while size < 2 * count:
        size *= 2
    table = np.full(size, NONE, np.int64)
    states = 0
    for p in range(count):
        slot = hash_state(popped, first + p) & (size - 1)
        while table[slot] != NONE and not same_state(popped, first + samples[table[slot]], first + p):
            slot = (slot + 1) & (size - 1)
        if table[slot] == NONE:
            table[slot], samples[states] = states, p
            states += 1
        heads[p] = table[slot]
    return states


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
    nodes = nodes_with_room(nodes, used_nodes + pops)
    edges = edges_with_room(edges, used_edges + pops)
    first = np.int64(0)
    while first < pops:
        last = first + 1
        while last < pops and popped.cell[last] == popped.cell[first]:
            last += 1
        count = last - first
        edge_scores, totals = np.empty(count), np.empty(count)
        score_edges(popped, first, last, answers, grammar, weights, nodes, edge_scores, totals)
        heads, samples = np.empty(count, np.int64), np.empty(count, np.int64)
        states = group_states(popped, first, count, heads, samples)
        inside, sizes = np.full(states, -np.inf), np.zeros(states, np.int64)
        for p in range(count):
            inside[heads[p]] = max(inside[heads[p]], totals[p])
            sizes[heads[p]] += 1
        values = np.empty(states)
        for s in range(states):
            values[s] = value_of(popped, first + samples[s], inside[s], weights, orders)
        cell = popped.cell[first]
        cells.begins[cell] = used_nodes
        free = np.empty(states, np.int64)
        for s in best_first(values):
            keep_node(nodes, used_nodes, popped, first + samples[s], inside[s], values[s])
            free[s] = used_edges
            nodes.edges[used_nodes, 0] = used_edges
            used_edges += sizes[s]
            nodes.edges[used_nodes, 1] = used_edges
            used_nodes += 1
        cells.ends[cell] = used_nodes
        for p in best_first(totals):
            to = free[heads[p]]
            free[heads[p]] += 1
            edges.rule[to], edges.score[to] = popped.rule[first + p], edge_scores[p]
            for d in range(2):
                edges.tails[to, d] = popped.tails[first + p, d]
            edges.logprobs[to, 0] = popped.logprob[first + p]
            for b in range(answers.shape[1]):
                edges.logprobs[to, 1 + b] = answers[first + p, b]
        first = last
    return nodes, used_nodes, edges, used_edges
