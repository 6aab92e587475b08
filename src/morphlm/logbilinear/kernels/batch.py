"""Planning a minibatch: contexts of its tokens, tokens in order of their classes, every context word once."""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.numerics import Rows, compiled, dropped

DROPPED = -1


class Batch(NamedTuple):
    """L tokens in order of their classes, with the U different words of their contexts in *slots* 0 .. U - 1."""

    targets: Array  # int32 (L): the words to predict
    places: Array  # int64 (L): where they stand in the stretch of text
    class_starts: Array  # int64 (C + 1): the tokens of class c are class_starts[c] .. class_starts[c + 1] - 1
    slots: Array  # int32 (L, n - 1): the slots of the words before each, the nearest first; DROPPED: left out
    words: Array  # int32 (U): the word in each slot
    occurrences: Rows  # U x (n - 1) rows: the tokens that have the word of slot u at distance j in row u (n - 1) + j


@compiled
def plan_batch(
    stream: Array,
    contexts: Array,
    begin: int,
    end: int,
    distances: int,
    boundary: tuple[int, int],
    class_of: Array,
    classes: int,
    slot_of: Array,
    key: int,
    rate: float,
) -> Batch:
    """The tokens begin .. end - 1 of a stream of sentences. `boundary` is (BEGIN, END); contexts end at a BEGIN.

    `contexts` are the same sentences as the words after them see them: the stream itself, or with other words in place
    of some. `slot_of` is working space, -1 for every word before and after. Each context word is left out with
    probability `rate`.
    """
    length = end - begin
    targets, places, class_starts = sort_by_class(stream, begin, end, class_of, classes)
    slots = np.empty((length, distances), np.int32)
    words = np.empty(length * distances, np.int32)
    size = 0
    for i in range(length):
        at = begin + places[i]
        inside = True
        for j in range(distances):
            at -= 1
            inside = inside and at >= 0 and contexts[at] != boundary[1]
            word = contexts[at] if inside else boundary[0]
            if rate > 0 and dropped(key, places[i] * distances + j, rate):
                slots[i, j] = DROPPED
                continue
            if slot_of[word] < 0:
                slot_of[word] = size
                words[size] = word
                size += 1
            slots[i, j] = slot_of[word]
    for slot in range(size):
        slot_of[words[slot]] = -1
    return Batch(targets, places, class_starts, slots, words[:size].copy(), list_occurrences(slots, size))


@compiled
def sort_by_class(stream: Array, begin: int, end: int, class_of: Array, classes: int) -> tuple[Array, Array, Array]:
    """The tokens in stable order of their classes, where they stood, and where each class begins."""
    starts = np.zeros(classes + 1, np.int64)
    for at in range(begin, end):
        starts[class_of[stream[at]] + 1] += 1
    for c in range(classes):
        starts[c + 1] += starts[c]
    free = starts[:-1].copy()
    targets, places = np.empty(end - begin, np.int32), np.empty(end - begin, np.int64)
    for at in range(begin, end):
        c = class_of[stream[at]]
        targets[free[c]], places[free[c]] = stream[at], at - begin
        free[c] += 1
    return targets, places, starts


@compiled
def list_occurrences(slots: Array, size: int) -> Rows:
    """The tokens by slot and distance."""
    length, distances = slots.shape
    starts = np.zeros(size * distances + 1, np.int64)
    for i in range(length):
        for j in range(distances):
            if slots[i, j] != DROPPED:
                starts[slots[i, j] * distances + j + 1] += 1
    for row in range(size * distances):
        starts[row + 1] += starts[row]
    free = starts[:-1].copy()
    items = np.empty(starts[-1], np.int32)
    for i in range(length):
        for j in range(distances):
            if slots[i, j] != DROPPED:
                row = slots[i, j] * distances + j
                items[free[row]] = i
                free[row] += 1
    return Rows(starts, items)


@compiled
def touched_factors(words: Array, rows: Rows, slot_of: Array) -> tuple[Array, Rows]:
    """The factors of some words, each once, and for each the positions of its words in the list.

    `slot_of` is working space by factor, -1 before and after.
    """
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
    starts = np.cumsum(counts[: size + 1])
    free = starts[:-1].copy()
    items = np.empty(entries, np.int32)
    for u in range(len(words)):
        for at in range(rows.starts[words[u]], rows.starts[words[u] + 1]):
            slot = slot_of[rows.items[at]]
            items[free[slot]] = u
            free[slot] += 1
    for slot in range(size):
        slot_of[factors[slot]] = -1
    return factors[:size].copy(), Rows(starts, items)
