"""Which rules match where: a trie of source sides, and dotted items that grow with the width of spans (CKY+)."""

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import inlined, owning
from morphlm.translation.decoder.kernels.records import (
    NONE,
    Cells,
    Cubes,
    DottedItems,
    Int,
    SourceTrie,
    grown_to,
)

GAP = -1
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@inlined
def slot_of(keys: Array, key: Int) -> Int:
    """Where a key is in the hash table, or would be; the table's size is a power of two and it is never full."""
    slot = np.int64((np.uint64(key) * MULTIPLIER) >> np.uint64(20)) & (len(keys) - 1)
    while keys[slot] != NONE and keys[slot] != key:
        slot = (slot + 1) & (len(keys) - 1)
    return slot


@inlined
def key_of(node: Int, symbol: Int) -> Int:
    """Of the child of a node; all gaps are one symbol."""
    return (np.int64(node) << 32) | np.int64(max(symbol, GAP) + 1)


@inlined
def child_of(trie: SourceTrie, node: Int, symbol: Int) -> Int:
    """The node one symbol further, or NONE."""
    slot = slot_of(trie.keys, key_of(node, symbol))
    return np.int64(trie.children[slot]) if trie.keys[slot] != NONE else NONE


@owning
def build_trie(starts: Array, symbols: Array) -> tuple[SourceTrie, Array]:
    """The trie of all source sides and the group of each rule: rules with the same source side, gaps being equal."""
    size = 64
    while size < 2 * len(symbols):
        size *= 2
    keys, children = np.full(size, NONE, np.int64), np.zeros(size, np.int32)
    group = np.full(len(symbols) + 1, NONE, np.int32)
    group_of_rule = np.empty(len(starts) - 1, np.int32)
    nodes, groups = 1, 0
    for rule in range(len(starts) - 1):
        node = np.int64(0)
        for position in range(starts[rule], starts[rule + 1]):
            key = key_of(node, symbols[position])
            slot = slot_of(keys, key)
            if keys[slot] == NONE:
                keys[slot], children[slot] = key, nodes
                nodes += 1
            node = np.int64(children[slot])
        if group[node] == NONE:
            group[node] = groups
            groups += 1
        group_of_rule[rule] = group[node]
    return SourceTrie(keys, children, group[:nodes].copy()), group_of_rule


@owning
def items_grown_to(items: DottedItems, needed: Int) -> DottedItems:
    """The same items; at least as many rows as needed."""
    if needed <= len(items.node):
        return items
    return DottedItems(grown_to(items.node, needed), grown_to(items.tails, needed), items.begins, items.ends)


@inlined
def is_filled(cells: Cells, cell: Int) -> bool:
    """Whether a span has a translation."""
    return bool(cells.begins[cell] < cells.ends[cell])


@owning
def match_width(
    width: Int, widest: Int, sentence: Array, trie: SourceTrie, cells: Cells, items: DottedItems, used: Int
) -> tuple[DottedItems, Int]:
    """Add the items of all spans of a width: those one word or one filled gap shorter, extended.

    An item that begins with a gap is not kept: it is made of the root whenever it is extended.
    """
    after_gap = child_of(trie, 0, GAP)
    for i in range(len(sentence) - width + 1):
        items.begins[i, width] = used
        word = sentence[i + width - 1]
        if width == 1:
            items = items_grown_to(items, used + 1)
            node = child_of(trie, 0, word)
            if node != NONE:
                items.node[used], items.tails[used, 0], items.tails[used, 1] = node, NONE, NONE
                used += 1
        for shorter in range(1, width):
            by_word = shorter == width - 1
            rest = (i + shorter) * widest + width - shorter - 1
            by_gap = is_filled(cells, rest)
            if not (by_word or by_gap):
                continue
            begin, end = items.begins[i, shorter], items.ends[i, shorter]
            items = items_grown_to(items, used + 2 * (end - begin + 1))
            whole = i * widest + shorter - 1
            leading = after_gap != NONE and is_filled(cells, whole)
            for item in range(begin, end + 1):
                if item == end and not leading:
                    continue
                node = after_gap if item == end else np.int64(items.node[item])
                first = whole if item == end else np.int64(items.tails[item, 0])
                second = NONE if item == end else np.int64(items.tails[item, 1])
                if by_word:
                    child = child_of(trie, node, word)
                    if child != NONE:
                        items.node[used], items.tails[used, 0], items.tails[used, 1] = child, first, second
                        used += 1
                if by_gap and second == NONE:
                    child = child_of(trie, node, GAP)
                    if child != NONE:
                        items.node[used] = child
                        items.tails[used, 0] = rest if first == NONE else first
                        items.tails[used, 1] = NONE if first == NONE else rest
                        used += 1
        items.ends[i, width] = used
    return items, used


@owning
def cubes_of_width(
    width: Int, widest: Int, words: Int, items: DottedItems, trie: SourceTrie, first_pass: Int, pass_all: bool
) -> Cubes:
    """The matches of a width. `first_pass` is the group of the rule that leaves the first word as it is; others follow.

    A word is left as it is where it has no rule of its own, or always.
    """
    spans = words - width + 1
    size = spans + items.ends[spans - 1, width] - items.begins[0, width]
    cell, group = np.empty(size, np.int32), np.empty(size, np.int32)
    tails = np.empty((size, 2), np.int32)
    used = 0
    for i in range(spans):
        own = used
        for item in range(items.begins[i, width], items.ends[i, width]):
            if trie.group[items.node[item]] != NONE:
                cell[used], group[used] = i * widest + width - 1, trie.group[items.node[item]]
                tails[used, 0], tails[used, 1] = items.tails[item, 0], items.tails[item, 1]
                used += 1
        if width == 1 and (pass_all or used == own):
            cell[used], group[used] = i * widest, first_pass + i
            tails[used, 0], tails[used, 1] = NONE, NONE
            used += 1
    return Cubes(cell[:used], group[:used], tails[:used])


@owning
def cubes_of_glue(end: Int, widest: Int, words: Int, cells: Cells, first_glue: Int, glue: Int) -> Cubes:
    """S over the first `end` words: S over fewer of them, and X over the rest."""
    longest = min(widest, end)
    cell, group = np.full(longest, words * widest + end, np.int32), np.empty(longest, np.int32)
    tails = np.empty((longest, 2), np.int32)
    used = 0
    for width in range(longest, 0, -1):
        before, last = words * widest + end - width, (end - width) * widest + width - 1
        if is_filled(cells, before) and is_filled(cells, last):
            group[used] = first_glue if width == end else glue
            tails[used, 0], tails[used, 1] = before, last
            used += 1
    return Cubes(cell[:used], group[:used], tails[:used])
