"""The k best derivations of a hypergraph, lazily: algorithm 3 of Huang and Chiang (2005).

A *way* is a derivation of a node: an edge with a way for each of its parts. The ways of a node that were found, the
best first, are linked; those that may come next are in a pairing heap (Fredman et al. 1986), linked too, so that
only the ways themselves need room. Edges of a node are best first, so each enters the heap when the one before has
left it. Words are told from other words by their hashes first, then themselves. Nothing is recursive: long sentences
are deep.

Nodes, edges and ways are arrays of records: a function that is handed ten arrays spends its time on counting who
uses them.
"""

from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.translation.compiling import called_inside, compiled
from morphlm.translation.decoder.kernels.records import FIRST_GAP, NONE, Int, room_for

Records = Any  # an array of those below

BASE, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1342543DE82EF95)
WAYS, SEEN, GOALS = 0, 1, 2  # counters: ways, those of them in the hash table, those of the goal
AT_ONCE = 4  # ways that one step makes at most

NODE = np.dtype(
    [
        ("inside", np.float64),  # the score of the best way
        ("begin", np.int32),  # its edges, the best first
        ("end", np.int32),
        ("first", np.int32),  # the best way
        ("last", np.int32),  # the last one that was found
        ("top", np.int32),  # of the heap
        ("follow", np.int32),  # the last one out of the heap, as long as its successors are not in it
    ]
)
EDGE = np.dtype(
    [
        ("score", np.float64),  # without the tails
        ("rule", np.int32),
        ("first", np.int32),  # nodes or NONE
        ("second", np.int32),
    ],
    align=True,
)
WAY = np.dtype(
    [
        ("score", np.float64),
        ("code", np.uint64),  # hash of the words, a polynomial in BASE
        ("power", np.uint64),  # BASE to the number of words
        ("length", np.int32),  # number of words
        ("node", np.int32),
        ("edge", np.int32),  # NONE for the beginning of the sentence, which is made of nothing
        ("first", np.int32),  # ways of the tails; NONE where there is no tail, or its best way is not known yet
        ("second", np.int32),
        ("rank", np.int32),  # among those of its node
        ("after", np.int32),  # the next best of its node, NONE if not known
        ("child", np.int32),  # the first of those below it in the heap
        ("sibling", np.int32),  # the next one under the same
    ],
    align=True,
)


class Targets(NamedTuple):
    """The target sides of rules."""

    starts: Array  # int64 (rules + 1,)
    symbols: Array  # int32: numbers that tell all words apart, or FIRST_GAP, SECOND_GAP


@compiled
def ways_grown_to(ways: Records, needed: Int) -> Records:
    """The same ways; at least as many as needed."""
    larger = np.empty(room_for(needed, len(ways)), ways.dtype)
    larger[: len(ways)] = ways
    return larger


@compiled
def seen_grown_to(ways: Records, seen: Array) -> Array:
    """The same hash table with twice the slots."""
    larger = np.full(2 * len(seen), NONE, np.int32)
    for way in seen:
        if way != NONE:
            slot = slot_of(ways, way, len(larger))
            while larger[slot] != NONE:
                slot = (slot + 1) & (len(larger) - 1)
            larger[slot] = way
    return larger


@called_inside
def slot_of(ways: Records, way: Int, size: Int) -> Int:
    """Where a way belongs in a hash table of 2^n slots, by its node and words."""
    code = (ways[way].code ^ np.uint64(ways[way].node) * BASE) * MIX
    code ^= code >> np.uint64(32)
    return np.int64((code * MIX) >> np.uint64(24)) & (size - 1)


# ---------------------------------------------------------------- heaps


@called_inside
def is_before(ways: Records, a: Int, b: Int) -> bool:
    """The higher score first, then the lower edge, then the lower ranks of the parts."""
    if ways[a].score != ways[b].score:
        return bool(ways[a].score > ways[b].score)
    if ways[a].edge != ways[b].edge:
        return bool(ways[a].edge < ways[b].edge)
    # The parts are known, since each edge's best way has left the heap before its successors enter.
    if ways[a].first != ways[b].first:
        return bool(ways[ways[a].first].rank < ways[ways[b].first].rank)
    return bool(ways[ways[a].second].rank < ways[ways[b].second].rank)


@called_inside
def merged(ways: Records, a: Int, b: Int) -> Int:
    """Two heaps, of which either may be NONE, as one."""
    if a == NONE:
        return b
    if b == NONE:
        return a
    if is_before(ways, b, a):
        a, b = b, a
    ways[b].sibling = ways[a].child
    ways[a].child = b
    return a


@called_inside
def without_top(ways: Records, top: Int) -> Int:
    """The heap without its first way: pairs of what is below it, then all pairs, the last first."""
    pairs, way = np.int64(NONE), np.int64(ways[top].child)
    while way != NONE:
        second = np.int64(ways[way].sibling)
        following = second if second == NONE else np.int64(ways[second].sibling)
        pair = np.int64(merged(ways, way, second))
        ways[pair].sibling = pairs
        pairs, way = pair, following
    rest = np.int64(NONE)
    while pairs != NONE:
        following = np.int64(ways[pairs].sibling)
        rest = np.int64(merged(ways, rest, pairs))
        pairs = following
    return rest


# ---------------------------------------------------------------- words


@called_inside
def hash_words(edges: Records, targets: Targets, ways: Records, way: Int) -> None:
    """Of a way whose parts are known."""
    code, power, length = np.uint64(0), np.uint64(1), np.int64(0)
    rule = edges[ways[way].edge].rule
    for place in range(targets.starts[rule], targets.starts[rule + 1]):
        symbol = targets.symbols[place]
        if symbol >= 0:
            code = code * BASE + (np.uint64(symbol) + np.uint64(1)) * MIX
            power, length = power * BASE, length + 1
        else:
            part = ways[way].first if symbol == FIRST_GAP else ways[way].second
            code = code * ways[part].power + ways[part].code
            power, length = power * ways[part].power, length + ways[part].length
    ways[way].code, ways[way].power, ways[way].length = code, power, length


@called_inside
def write_words(edges: Records, targets: Targets, ways: Records, way: Int, out: Array, walk: Array) -> None:
    """The words of a derivation. `walk` is space."""
    at, depth = 0, 0
    walk[0, 0], walk[0, 1] = way, 0
    while depth >= 0:
        way, place = walk[depth, 0], walk[depth, 1]
        edge = ways[way].edge
        rule = edges[edge].rule if edge != NONE else 0
        if edge == NONE or targets.starts[rule] + place == targets.starts[rule + 1]:
            depth -= 1
            continue
        walk[depth, 1] += 1
        symbol = targets.symbols[targets.starts[rule] + place]
        if symbol >= 0:
            out[at] = symbol
            at += 1
        else:
            depth += 1
            walk[depth, 0] = ways[way].first if symbol == FIRST_GAP else ways[way].second
            walk[depth, 1] = 0


@compiled
def same_words(edges: Records, targets: Targets, ways: Records, a: Int, b: Int, walk: Array) -> bool:
    """Whether two ways of a node have the same words; hardly ever called if they do not."""
    both = np.empty((2, ways[a].length), np.int32)
    write_words(edges, targets, ways, a, both[0], walk)
    write_words(edges, targets, ways, b, both[1], walk)
    for k in range(both.shape[1]):  # noqa: SIM110
        if both[0, k] != both[1, k]:
            return False
    return True


@called_inside
def is_new(edges: Records, targets: Targets, ways: Records, way: Int, seen: Array, walk: Array) -> bool:
    """Whether no way of the same node had these words; they are written down."""
    slot = slot_of(ways, way, len(seen))
    while seen[slot] != NONE:
        other = seen[slot]
        same = ways[other].code == ways[way].code and ways[other].length == ways[way].length
        if same and ways[other].node == ways[way].node and same_words(edges, targets, ways, other, way, walk):
            return False
        slot = (slot + 1) & (len(seen) - 1)
    seen[slot] = way
    return True


# ---------------------------------------------------------------- further ways


@called_inside
def push_way(
    nodes: Records, ways: Records, counts: Array, node: Int, edge: Int, first: Int, second: Int, score: float
) -> None:
    """Put a new way into the heap of its node."""
    way = counts[WAYS]
    counts[WAYS] += 1
    ways[way].node, ways[way].edge, ways[way].score = node, edge, score
    ways[way].first, ways[way].second, ways[way].rank = first, second, 0
    ways[way].after, ways[way].child, ways[way].sibling = NONE, NONE, NONE
    nodes[node].top = merged(ways, nodes[node].top, way)


@called_inside
def push_edge(nodes: Records, edges: Records, ways: Records, counts: Array, node: Int, edge: Int) -> None:
    """Put the best way of an edge into the heap of its node."""
    score = edges[edge].score
    if edges[edge].first != NONE:  # in the order in which the search has added them, so that the sums are the same
        score += nodes[edges[edge].first].inside
    if edges[edge].second != NONE:
        score += nodes[edges[edge].second].inside
    push_way(nodes, ways, counts, node, edge, NONE, NONE, score)


@called_inside
def open_node(nodes: Records, edges: Records, ways: Records, counts: Array, node: Int) -> None:
    """At first the best edge is in the heap. The beginning of the sentence has no edge, and one way without words."""
    if nodes[node].begin < nodes[node].end:
        push_edge(nodes, edges, ways, counts, node, nodes[node].begin)
        return
    way = counts[WAYS]
    push_way(nodes, ways, counts, node, NONE, NONE, NONE, 0.0)
    ways[way].code, ways[way].power, ways[way].length = np.uint64(0), np.uint64(1), 0
    nodes[node].top, nodes[node].first, nodes[node].last = NONE, way, way


@called_inside
def is_exhausted(nodes: Records, node: Int) -> bool:
    """Whether an opened node has no more ways than those found."""
    return bool(nodes[node].top == NONE and nodes[node].follow == NONE)


@called_inside
def waits_for(nodes: Records, ways: Records, part: Int) -> bool:
    """Whether it is not known yet what comes after a part."""
    return bool(part != NONE and ways[part].after == NONE and not is_exhausted(nodes, ways[part].node))


@called_inside
def needed_to_follow(nodes: Records, ways: Records, way: Int) -> Int:
    """The part of a way whose next way must be found first; NONE if all successors can be made."""
    first, second = ways[way].first, ways[way].second
    if waits_for(nodes, ways, second):
        return second
    # Where the second part is not the best one, ways with another first part are reached otherwise.
    if (second == NONE or ways[second].rank == 0) and waits_for(nodes, ways, first):
        return first
    return NONE


@called_inside
def push_successors(nodes: Records, edges: Records, ways: Records, counts: Array, way: Int) -> None:
    """Put what comes after a way into the heap: the next ways of its parts, and the next edge."""
    node, edge = np.int64(ways[way].node), np.int64(ways[way].edge)
    first, second, own = ways[way].first, ways[way].second, edges[edge].score
    is_best = second == NONE or ways[second].rank == 0
    if second != NONE and ways[second].after != NONE:
        following = ways[second].after
        score = own + ways[first].score + ways[following].score
        push_way(nodes, ways, counts, node, edge, first, following, score)
    if is_best and first != NONE and ways[first].after != NONE:
        following = ways[first].after
        score = own + ways[following].score
        if second != NONE:
            score += ways[second].score
        push_way(nodes, ways, counts, node, edge, following, second, score)
    if is_best and (first == NONE or ways[first].rank == 0) and edge + 1 < nodes[node].end:
        push_edge(nodes, edges, ways, counts, node, edge + 1)
    nodes[node].follow = NONE


@called_inside
def unopened_tail(nodes: Records, edges: Records, ways: Records, way: Int) -> Int:
    """A tail of a way that has no way yet; NONE if all have, and then they are the parts."""
    first, second = edges[ways[way].edge].first, edges[ways[way].edge].second
    if ways[way].first != NONE or first == NONE:
        return NONE
    if nodes[first].first == NONE:
        return first
    if second != NONE and nodes[second].first == NONE:
        return second
    ways[way].first = nodes[first].first
    if second != NONE:
        ways[way].second = nodes[second].first
    return NONE


@called_inside
def take_top(
    nodes: Records,
    edges: Records,
    targets: Targets,
    ways: Records,
    seen: Array,
    counts: Array,
    walk: Array,
    distinct: bool,
    top: Int,
) -> None:
    """The first way out of a heap becomes the next of its node, unless its words have to be new and are not."""
    node = ways[top].node
    last = nodes[node].last
    nodes[node].top, nodes[node].follow = without_top(ways, top), top
    hash_words(edges, targets, ways, top)
    if distinct:
        if not is_new(edges, targets, ways, top, seen, walk):
            return
        counts[SEEN] += 1
    if last == NONE:
        nodes[node].first = top
    else:
        ways[last].after = top
        ways[top].rank = ways[last].rank + 1
    nodes[node].last = top


@compiled
def find_ways(  # noqa: PLR0912 - what grows here cannot be handed to functions and back for nothing
    nodes: Records,
    edges: Records,
    targets: Targets,
    ways: Records,
    seen: Array,
    counts: Array,
    wanted: Int,
    distinct: bool,
) -> tuple[Records, Array]:
    """Find the best ways of the goal, the last node, until there are as many as wanted or no more.

    `seen` is a hash table of ways with different words. Gives both, since they may have moved to where there is room.
    """
    goal = len(nodes) - 1
    stack, walk = new_walk(nodes), new_walk(nodes)
    while counts[GOALS] < wanted:
        # Each request: a node, and its last way, after which one more is needed.
        depth, before = 0, nodes[goal].last
        stack[0, 0], stack[0, 1] = goal, before
        while depth >= 0:
            node = np.int64(stack[depth, 0])
            if nodes[node].last != stack[depth, 1] or (nodes[node].last != NONE and is_exhausted(nodes, node)):
                depth -= 1
                continue
            if counts[WAYS] + AT_ONCE > len(ways):
                ways = ways_grown_to(ways, counts[WAYS] + AT_ONCE)
            if 2 * (counts[SEEN] + 1) > len(seen):
                seen = seen_grown_to(ways, seen)
            follow, top = np.int64(nodes[node].follow), np.int64(nodes[node].top)
            if follow != NONE:
                part = needed_to_follow(nodes, ways, follow)
                if part != NONE:
                    depth += 1
                    stack[depth, 0], stack[depth, 1] = ways[part].node, part
                else:
                    push_successors(nodes, edges, ways, counts, follow)
            elif top == NONE:
                open_node(nodes, edges, ways, counts, node)
            else:
                tail = unopened_tail(nodes, edges, ways, top)
                if tail != NONE:
                    depth += 1
                    stack[depth, 0], stack[depth, 1] = tail, NONE
                else:
                    take_top(nodes, edges, targets, ways, seen, counts, walk, distinct, top)
        if nodes[goal].last == before:
            break
        counts[GOALS] += 1
    return ways, seen


@compiled
def new_walk(nodes: Records) -> Array:
    """Room for the deepest walk: each node of a derivation comes after its parts."""
    return np.empty((len(nodes) + 2, 2), np.int32)


# ---------------------------------------------------------------- results


@compiled
def ways_of_goal(nodes: Records, ways: Records, begin: Int, end: Int) -> Array:
    """The ways of these ranks."""
    chosen = np.empty(end - begin, np.int32)
    way = nodes[len(nodes) - 1].first
    for rank in range(end):
        if rank >= begin:
            chosen[rank - begin] = way
        way = ways[way].after
    return chosen


@compiled
def words_of(nodes: Records, edges: Records, targets: Targets, ways: Records, chosen: Array) -> tuple[Array, Array]:
    """The words of some ways one after the other, and where those of each begin."""
    walk, starts = new_walk(nodes), np.zeros(len(chosen) + 1, np.int64)
    for i in range(len(chosen)):
        starts[i + 1] = starts[i] + ways[chosen[i]].length
    words = np.empty(starts[-1], np.int32)
    for i in range(len(chosen)):
        write_words(edges, targets, ways, chosen[i], words[starts[i] : starts[i + 1]], walk)
    return starts, words


@compiled
def features_of(
    nodes: Records,
    edges: Records,
    ways: Records,
    chosen: Array,
    own: Array,
    added: Array,
    logprobs: Array,
    columns: Array,
) -> Array:
    """The features of some ways: sums over their edges.

    `own` are those of the rules of the table, `added` those of the rules after them; `logprobs` (edges, models) go to
    the features `columns`, unless these are NONE.
    """
    walk = new_walk(nodes)
    values = np.zeros((len(chosen), own.shape[1]))
    for i in range(len(chosen)):
        depth = 0
        walk[0, 0] = chosen[i]
        while depth >= 0:
            way, edge = walk[depth, 0], ways[walk[depth, 0]].edge
            depth -= 1
            if edge == NONE:
                continue
            add_features(values[i], edges[edge].rule, own, added)
            for b in range(len(columns)):
                if columns[b] != NONE:
                    values[i, columns[b]] += logprobs[edge, b]
            if ways[way].first != NONE:
                depth += 1
                walk[depth, 0] = ways[way].first
            if ways[way].second != NONE:
                depth += 1
                walk[depth, 0] = ways[way].second
    return values


@called_inside
def add_features(row: Array, rule: Int, own: Array, added: Array) -> None:
    """Add those of one rule."""
    if rule < len(own):
        for k in range(len(row)):
            row[k] += own[rule, k]
    else:
        for k in range(len(row)):
            row[k] += added[rule - len(own), k]
