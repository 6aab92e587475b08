"""The k best derivations of a hypergraph, lazily: algorithm 3 of Huang and Chiang (2005).

A derivation of a node is a hyperedge with a derivation for each of its tails. Those of a node that were found, the best
first, are linked; those that may come next are in a pairing heap (Fredman et al. 1986), linked too, so that only the
derivations themselves need space. Hyperedges of a node are best first, so each enters the heap when the one before has
left it. Words are told from other words by their hashes first, then themselves. Nothing is recursive: long sentences
are deep.

Nodes, hyperedges and derivations are arrays of records: a function that is handed ten arrays spends its time on
counting who uses them.
"""

from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import inlined, owning
from morphlm.translation.decoder.kernels.records import FIRST_GAP, NONE, Int, grown_to

Records = Any  # an array of those below

BASE, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1342543DE82EF95)
DERIVATIONS, SEEN, GOAL_DERIVATIONS = 0, 1, 2  # counters: all derivations, those in the hash table, those of the goal
MAX_PER_STEP = 4  # derivations that one step makes at most

NODE = np.dtype(
    [
        ("inside", np.float64),  # the score of the best derivation
        ("begin", np.int32),  # its edges, the best first
        ("end", np.int32),
        ("first", np.int32),  # the best derivation
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
DERIVATION = np.dtype(
    [
        ("score", np.float64),
        ("code", np.uint64),  # hash of the words, a polynomial in BASE
        ("power", np.uint64),  # BASE to the number of words
        ("length", np.int32),  # number of words
        ("node", np.int32),
        ("edge", np.int32),  # NONE for the beginning of the sentence, which is made of nothing
        ("first", np.int32),  # derivations of the tails; NONE where there is no tail, or none is known yet
        ("second", np.int32),
        ("rank", np.int32),  # among those of its node
        ("after", np.int32),  # the next best of its node, NONE if not known
        ("child", np.int32),  # the first of those below it in the heap
        ("sibling", np.int32),  # the next one under the same
    ],
    align=True,
)


class Forest(NamedTuple):
    """The hypergraph of a search, and the target sides of its rules."""

    nodes: Records  # of NODE; the last one is the goal
    edges: Records  # of EDGE
    target_starts: Array  # int64 (rules + 1,)
    target_symbols: Array  # int32: numbers that tell all words apart, or FIRST_GAP, SECOND_GAP


@owning
def seen_grown_to(derivations: Records, seen: Array) -> Array:
    """The same hash table with twice the slots."""
    larger = np.full(2 * len(seen), NONE, np.int32)
    for d in seen:
        if d != NONE:
            slot = slot_of(derivations, d, len(larger))
            while larger[slot] != NONE:
                slot = (slot + 1) & (len(larger) - 1)
            larger[slot] = d
    return larger


@inlined
def slot_of(derivations: Records, d: Int, size: Int) -> Int:
    """Where a derivation belongs in a hash table of 2^n slots, by its node and words."""
    code = (derivations[d].code ^ np.uint64(derivations[d].node) * BASE) * MIX
    code ^= code >> np.uint64(32)
    return np.int64((code * MIX) >> np.uint64(24)) & (size - 1)


# ---------------------------------------------------------------- heaps


@inlined
def is_before(derivations: Records, a: Int, b: Int) -> bool:
    """The higher score first, then the lower edge, then the lower ranks of the tails."""
    if derivations[a].score != derivations[b].score:
        return bool(derivations[a].score > derivations[b].score)
    if derivations[a].edge != derivations[b].edge:
        return bool(derivations[a].edge < derivations[b].edge)
    # The tails are known, since each edge's best derivation has left the heap before its successors enter.
    if derivations[a].first != derivations[b].first:
        return bool(derivations[derivations[a].first].rank < derivations[derivations[b].first].rank)
    return bool(derivations[derivations[a].second].rank < derivations[derivations[b].second].rank)


@inlined
def merged(derivations: Records, a: Int, b: Int) -> Int:
    """Two heaps, of which either may be NONE, as one."""
    if a == NONE:
        return b
    if b == NONE:
        return a
    if is_before(derivations, b, a):
        a, b = b, a
    derivations[b].sibling = derivations[a].child
    derivations[a].child = b
    return a


@inlined
def without_top(derivations: Records, top: Int) -> Int:
    """The heap without its first derivation: pairs of what is below it, then all pairs, the last first."""
    pairs, d = np.int64(NONE), np.int64(derivations[top].child)
    while d != NONE:
        second = np.int64(derivations[d].sibling)
        following = second if second == NONE else np.int64(derivations[second].sibling)
        pair = np.int64(merged(derivations, d, second))
        derivations[pair].sibling = pairs
        pairs, d = pair, following
    rest = np.int64(NONE)
    while pairs != NONE:
        following = np.int64(derivations[pairs].sibling)
        rest = np.int64(merged(derivations, rest, pairs))
        pairs = following
    return rest


# ---------------------------------------------------------------- words


@inlined
def hash_words(forest: Forest, derivations: Records, d: Int) -> None:
    """Of a derivation whose tails are known."""
    code, power, length = np.uint64(0), np.uint64(1), np.int64(0)
    rule = forest.edges[derivations[d].edge].rule
    for position in range(forest.target_starts[rule], forest.target_starts[rule + 1]):
        symbol = forest.target_symbols[position]
        if symbol >= 0:
            code = code * BASE + (np.uint64(symbol) + np.uint64(1)) * MIX
            power, length = power * BASE, length + 1
        else:
            tail = derivations[d].first if symbol == FIRST_GAP else derivations[d].second
            code = code * derivations[tail].power + derivations[tail].code
            power, length = power * derivations[tail].power, length + derivations[tail].length
    derivations[d].code, derivations[d].power, derivations[d].length = code, power, length


@inlined
def write_words(forest: Forest, derivations: Records, d: Int, out: Array, path: Array) -> None:
    """The words of a derivation. `path` is space."""
    at, depth = 0, 0
    path[0, 0], path[0, 1] = d, 0
    while depth >= 0:
        d, position = path[depth, 0], path[depth, 1]
        edge = derivations[d].edge
        rule = forest.edges[edge].rule if edge != NONE else 0
        if edge == NONE or forest.target_starts[rule] + position == forest.target_starts[rule + 1]:
            depth -= 1
            continue
        path[depth, 1] += 1
        symbol = forest.target_symbols[forest.target_starts[rule] + position]
        if symbol >= 0:
            out[at] = symbol
            at += 1
        else:
            depth += 1
            path[depth, 0] = derivations[d].first if symbol == FIRST_GAP else derivations[d].second
            path[depth, 1] = 0


@owning
def same_words(forest: Forest, derivations: Records, a: Int, b: Int, path: Array) -> bool:
    """Whether two derivations of a node have the same words; hardly ever called if they do not."""
    both = np.empty((2, derivations[a].length), np.int32)
    write_words(forest, derivations, a, both[0], path)
    write_words(forest, derivations, b, both[1], path)
    for k in range(both.shape[1]):  # noqa: SIM110
        if both[0, k] != both[1, k]:
            return False
    return True


@inlined
def is_new(forest: Forest, derivations: Records, d: Int, seen: Array, path: Array) -> bool:
    """Whether no derivation of the same node had these words; they are written down."""
    slot = slot_of(derivations, d, len(seen))
    while seen[slot] != NONE:
        other = seen[slot]
        same = derivations[other].code == derivations[d].code and derivations[other].length == derivations[d].length
        if same and derivations[other].node == derivations[d].node and same_words(forest, derivations, other, d, path):
            return False
        slot = (slot + 1) & (len(seen) - 1)
    seen[slot] = d
    return True


# ---------------------------------------------------------------- further derivations


@inlined
def push_derivation(
    forest: Forest, derivations: Records, counts: Array, node: Int, edge: Int, first: Int, second: Int, score: float
) -> None:
    """Put a new derivation into the heap of its node."""
    d = counts[DERIVATIONS]
    counts[DERIVATIONS] += 1
    derivations[d].node, derivations[d].edge, derivations[d].score = node, edge, score
    derivations[d].first, derivations[d].second, derivations[d].rank = first, second, 0
    derivations[d].after, derivations[d].child, derivations[d].sibling = NONE, NONE, NONE
    forest.nodes[node].top = merged(derivations, forest.nodes[node].top, d)


@inlined
def push_edge(forest: Forest, derivations: Records, counts: Array, node: Int, edge: Int) -> None:
    """Put the best derivation of an edge into the heap of its node."""
    score = forest.edges[edge].score
    # In the order in which the search has added them, so that the sums are the same.
    if forest.edges[edge].first != NONE:
        score += forest.nodes[forest.edges[edge].first].inside
    if forest.edges[edge].second != NONE:
        score += forest.nodes[forest.edges[edge].second].inside
    push_derivation(forest, derivations, counts, node, edge, NONE, NONE, score)


@inlined
def open_node(forest: Forest, derivations: Records, counts: Array, node: Int) -> None:
    """Put the best hyperedge into the heap. The beginning of the sentence has none, but a derivation without words."""
    if forest.nodes[node].begin < forest.nodes[node].end:
        push_edge(forest, derivations, counts, node, forest.nodes[node].begin)
        return
    d = counts[DERIVATIONS]
    push_derivation(forest, derivations, counts, node, NONE, NONE, NONE, 0.0)
    derivations[d].code, derivations[d].power, derivations[d].length = np.uint64(0), np.uint64(1), 0
    forest.nodes[node].top, forest.nodes[node].first, forest.nodes[node].last = NONE, d, d


@inlined
def is_exhausted(forest: Forest, node: Int) -> bool:
    """Whether an opened node has no more derivations than those found."""
    return bool(forest.nodes[node].top == NONE and forest.nodes[node].follow == NONE)


@inlined
def waits_for(forest: Forest, derivations: Records, tail: Int) -> bool:
    """Whether it is not known yet what comes after a tail."""
    return bool(tail != NONE and derivations[tail].after == NONE and not is_exhausted(forest, derivations[tail].node))


@inlined
def needed_to_follow(forest: Forest, derivations: Records, d: Int) -> Int:
    """The tail of a derivation whose next derivation must be found first; NONE if all successors can be made."""
    first, second = derivations[d].first, derivations[d].second
    if waits_for(forest, derivations, second):
        return second
    # Where the second tail is not the best one, derivations with another first tail are reached otherwise.
    if (second == NONE or derivations[second].rank == 0) and waits_for(forest, derivations, first):
        return first
    return NONE


@inlined
def push_successors(forest: Forest, derivations: Records, counts: Array, d: Int) -> None:
    """Put what comes after a derivation into the heap: the next derivations of its tails, and the next edge."""
    node, edge = np.int64(derivations[d].node), np.int64(derivations[d].edge)
    first, second, own = derivations[d].first, derivations[d].second, forest.edges[edge].score
    is_best = second == NONE or derivations[second].rank == 0
    if second != NONE and derivations[second].after != NONE:
        following = derivations[second].after
        score = own + derivations[first].score + derivations[following].score
        push_derivation(forest, derivations, counts, node, edge, first, following, score)
    if is_best and first != NONE and derivations[first].after != NONE:
        following = derivations[first].after
        score = own + derivations[following].score
        if second != NONE:
            score += derivations[second].score
        push_derivation(forest, derivations, counts, node, edge, following, second, score)
    if is_best and (first == NONE or derivations[first].rank == 0) and edge + 1 < forest.nodes[node].end:
        push_edge(forest, derivations, counts, node, edge + 1)
    forest.nodes[node].follow = NONE


@inlined
def unopened_tail(forest: Forest, derivations: Records, d: Int) -> Int:
    """A tail of a derivation that has no derivation yet; NONE if all have, and then the best of each is taken."""
    first, second = forest.edges[derivations[d].edge].first, forest.edges[derivations[d].edge].second
    if derivations[d].first != NONE or first == NONE:
        return NONE
    if forest.nodes[first].first == NONE:
        return first
    if second != NONE and forest.nodes[second].first == NONE:
        return second
    derivations[d].first = forest.nodes[first].first
    if second != NONE:
        derivations[d].second = forest.nodes[second].first
    return NONE


@inlined
def take_top(
    forest: Forest,
    derivations: Records,
    seen: Array,
    counts: Array,
    path: Array,
    distinct: bool,
    top: Int,
) -> None:
    """The first derivation out of a heap becomes the next of its node, unless its words have to be new and are not."""
    node = derivations[top].node
    last = forest.nodes[node].last
    forest.nodes[node].top, forest.nodes[node].follow = without_top(derivations, top), top
    hash_words(forest, derivations, top)
    if distinct:
        if not is_new(forest, derivations, top, seen, path):
            return
        counts[SEEN] += 1
    if last == NONE:
        forest.nodes[node].first = top
    else:
        derivations[last].after = top
        derivations[top].rank = derivations[last].rank + 1
    forest.nodes[node].last = top


@owning
def find_derivations(  # noqa: PLR0912 - what grows here cannot be handed to functions and back for nothing
    forest: Forest,
    derivations: Records,
    seen: Array,
    counts: Array,
    wanted: Int,
    distinct: bool,
) -> tuple[Records, Array]:
    """Find the best derivations of the goal, the last node, until there are as many as wanted or no more.

    `seen` is a hash table of derivations with different words. Gives both tables, which may have been enlarged.
    """
    goal = len(forest.nodes) - 1
    stack, path = new_path(forest), new_path(forest)
    while counts[GOAL_DERIVATIONS] < wanted:
        # Each request: a node, and its last derivation, after which one more is needed.
        depth, before = 0, forest.nodes[goal].last
        stack[0, 0], stack[0, 1] = goal, before
        while depth >= 0:
            node = np.int64(stack[depth, 0])
            if forest.nodes[node].last != stack[depth, 1] or (
                forest.nodes[node].last != NONE and is_exhausted(forest, node)
            ):
                depth -= 1
                continue
            if counts[DERIVATIONS] + MAX_PER_STEP > len(derivations):
                derivations = grown_to(derivations, counts[DERIVATIONS] + MAX_PER_STEP)
            if 2 * (counts[SEEN] + 1) > len(seen):
                seen = seen_grown_to(derivations, seen)
            follow, top = np.int64(forest.nodes[node].follow), np.int64(forest.nodes[node].top)
            if follow != NONE:
                tail = needed_to_follow(forest, derivations, follow)
                if tail != NONE:
                    depth += 1
                    stack[depth, 0], stack[depth, 1] = derivations[tail].node, tail
                else:
                    push_successors(forest, derivations, counts, follow)
            elif top == NONE:
                open_node(forest, derivations, counts, node)
            else:
                tail = unopened_tail(forest, derivations, top)
                if tail != NONE:
                    depth += 1
                    stack[depth, 0], stack[depth, 1] = tail, NONE
                else:
                    take_top(forest, derivations, seen, counts, path, distinct, top)
        if forest.nodes[goal].last == before:
            break
        counts[GOAL_DERIVATIONS] += 1
    return derivations, seen


@owning
def new_path(forest: Forest) -> Array:
    """Room for the deepest path: each node of a derivation comes after its tails."""
    return np.empty((len(forest.nodes) + 2, 2), np.int32)


# ---------------------------------------------------------------- results


@owning
def goal_derivations(forest: Forest, derivations: Records, begin: Int, end: Int) -> Array:
    """The derivations of these ranks."""
    chosen = np.empty(end - begin, np.int32)
    d = forest.nodes[len(forest.nodes) - 1].first
    for rank in range(end):
        if rank >= begin:
            chosen[rank - begin] = d
        d = derivations[d].after
    return chosen


@owning
def words_of(forest: Forest, derivations: Records, chosen: Array) -> tuple[Array, Array]:
    """The words of some derivations one after the other, and where those of each begin."""
    path, starts = new_path(forest), np.zeros(len(chosen) + 1, np.int64)
    for i in range(len(chosen)):
        starts[i + 1] = starts[i] + derivations[chosen[i]].length
    words = np.empty(starts[-1], np.int32)
    for i in range(len(chosen)):
        write_words(forest, derivations, chosen[i], words[starts[i] : starts[i + 1]], path)
    return starts, words


class FeatureArrays(NamedTuple):
    """Where the features of derivations come from."""

    own: Array  # float64 (rules, F): of the rules of the table
    added: Array  # float64 (., F): of the rules that the decoder adds after them
    logprobs: Array  # float64 (edges, models)
    columns: Array  # int64 (models): the feature that each model's ln p goes to, or NONE


@owning
def features_of(forest: Forest, derivations: Records, chosen: Array, features: FeatureArrays) -> Array:
    """The features of some derivations: sums over their hyperedges."""
    path = new_path(forest)
    values = np.zeros((len(chosen), features.own.shape[1]))
    for i in range(len(chosen)):
        depth = 0
        path[0, 0] = chosen[i]
        while depth >= 0:
            d, edge = path[depth, 0], derivations[path[depth, 0]].edge
            depth -= 1
            if edge == NONE:
                continue
            add_features(values[i], forest.edges[edge].rule, features.own, features.added)
            for b in range(len(features.columns)):
                if features.columns[b] != NONE:
                    values[i, features.columns[b]] += features.logprobs[edge, b]
            if derivations[d].first != NONE:
                depth += 1
                path[depth, 0] = derivations[d].first
            if derivations[d].second != NONE:
                depth += 1
                path[depth, 0] = derivations[d].second
    return values


@inlined
def add_features(row: Array, rule: Int, own: Array, added: Array) -> None:
    """Add those of one rule."""
    if rule < len(own):
        for k in range(len(row)):
            row[k] += own[rule, k]
    else:
        for k in range(len(row)):
            row[k] += added[rule - len(own), k]
