"""Planning a minibatch: contexts of its tokens, tokens in order of their classes, every context word once."""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.numerics import compiled, dropped, group_by
from morphlm.logbilinear.kernels.records import SparseRows
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID

DROPPED = -1


class Batch(NamedTuple):
    """Tokens in *rows*, with the U different words of their contexts in *slots* 0 .. U - 1.

    The first L rows are the tokens of the stretch in order of their classes. After them come earlier tokens whose words
    are learned only now (see `gathering`).
    """

    targets: Array  # int32 (rows): the words to predict
    offsets: Array  # int64 (rows): where they stand in the text, from 0 for the first of the stretch; earlier: below 0
    class_starts: Array  # int64 (C + 1): the first L tokens of class c are class_starts[c] .. class_starts[c + 1] - 1
    slots: Array  # int32 (rows, n - 1): the slots of the words before each, the nearest first; DROPPED: left out
    words: Array  # int32 (U): the word in each slot
    slot_bounds: Array  # int64 (shards + 1): where the slots of the words of each shard begin


class Stretch(NamedTuple):
    """The tokens begin .. end - 1 of a stream of sentences."""

    stream: Array  # int32: the words to predict
    contexts: Array  # int32: the same sentences as contexts see them: the stream itself, or with some words replaced
    begin: int
    end: int
    earlier: Array  # int64: positions in the stream of more tokens, before `begin`


class ContextDropout(NamedTuple):
    """Context words are left out at a rate."""

    key: np.uint64  # decides which
    rate: np.float32


@compiled
def plan_batch(
    stretch: Stretch, distances: int, class_of: Array, classes: int, slot_of: Array, dropout: ContextDropout
) -> Batch:
    """Sort the tokens of a stretch by class, add the earlier ones and list the words of the contexts of all.

    Before a sentence there is BEGIN. `slot_of` is working space, -1 for every word before and after.
    """
    contexts, length = stretch.contexts, stretch.end - stretch.begin + len(stretch.earlier)
    targets, offsets, class_starts = sort_by_class(stretch, class_of, classes)
    slots = np.empty((length, distances), np.int32)
    words = np.empty(length * distances, np.int32)
    size = 0
    for i in range(length):
        at = stretch.begin + offsets[i]
        inside = True
        for j in range(distances):
            at -= 1
            inside = inside and at >= 0 and contexts[at] != END_ID
            word = contexts[at] if inside else BEGIN_ID
            if dropout.rate > 0 and dropped(dropout.key, offsets[i] * distances + j, dropout.rate):
                slots[i, j] = DROPPED
                continue
            if slot_of[word] < 0:
                slot_of[word] = size
                words[size] = word
                size += 1
            slots[i, j] = slot_of[word]
    for slot in range(size):
        slot_of[words[slot]] = -1
    return Batch(targets, offsets, class_starts, slots, words[:size].copy(), np.array([0, size]))


@compiled
def sort_by_class(stretch: Stretch, class_of: Array, classes: int) -> tuple[Array, Array, Array]:
    """The tokens in stable order of their classes, their offsets in the stretch, and where each class begins.

    The earlier tokens follow in their own order.
    """
    stream, begin, end = stretch.stream, stretch.begin, stretch.end
    starts = np.zeros(classes + 1, np.int64)
    for at in range(begin, end):
        starts[class_of[stream[at]] + 1] += 1
    for c in range(classes):
        starts[c + 1] += starts[c]
    free = starts[:-1].copy()
    rows = end - begin + len(stretch.earlier)
    targets, offsets = np.empty(rows, np.int32), np.empty(rows, np.int64)
    for row in range(len(stretch.earlier)):
        at = stretch.earlier[row]
        targets[end - begin + row], offsets[end - begin + row] = stream[at], at - begin
    for at in range(begin, end):
        c = class_of[stream[at]]
        targets[free[c]], offsets[free[c]] = stream[at], at - begin
        free[c] += 1
    return targets, offsets, starts


@compiled
def list_occurrences(slots: Array, size: int) -> SparseRows:
    """The tokens by slot and distance: row u (n - 1) + j has those with the word of slot u at distance j."""
    length, distances = slots.shape
    rows = np.empty(length * distances, np.int64)
    for i in range(length):
        for j in range(distances):
            is_dropped = slots[i, j] == DROPPED
            rows[i * distances + j] = DROPPED if is_dropped else slots[i, j] * distances + j
    occurrences = group_by(rows, size * distances)
    for at in range(len(occurrences.items)):
        occurrences.items[at] //= distances
    return occurrences


class TouchedFactors(NamedTuple):
    """The factors of some words, each once."""

    words: Array  # int32
    factors: Array  # int32
    holders: SparseRows  # by factor: the indices of its words in the list


@compiled
def touched_factors(words: Array, rows: SparseRows, slot_of: Array) -> TouchedFactors:
    """List the factors of some words. `slot_of` is working space by factor, -1 before and after."""
    entries = 0
    for word in words:
        entries += rows.starts[word + 1] - rows.starts[word]
    factors, counts = np.empty(entries, np.int32), np.zeros(entries + 1, np.int64)
    size = 0
    for word in words:
        for at in range(rows.starts[word], rows.starts[word + 1]):
            factor = rows.items[at]
            if slot_of[factor] < 0:
                slot_of[factor] = size
                factors[size] = factor
                size += 1
            counts[slot_of[factor] + 1] += 1
    starts, free = np.zeros(size + 1, np.int64), np.empty(size, np.int64)
    for slot in range(size):
        free[slot] = starts[slot]
        starts[slot + 1] = starts[slot] + counts[slot + 1]
    items = np.empty(entries, np.int32)
    for u in range(len(words)):
        for at in range(rows.starts[words[u]], rows.starts[words[u] + 1]):
            slot = slot_of[rows.items[at]]
            items[free[slot]] = u
            free[slot] += 1
    for slot in range(size):
        slot_of[factors[slot]] = -1
    return TouchedFactors(words, factors[:size].copy(), SparseRows(starts, items))
