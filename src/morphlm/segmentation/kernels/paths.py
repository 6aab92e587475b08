# mypy: disallow-untyped-decorators=False, warn-return-any=False
# mypy: disable-error-code="arg-type, assignment, return-value"
"""Best paths through the hidden Markov model of categories: labels for given morphs, and morphs with labels for words.

The states are the categories PRE, STM, SUF and ZZZ (0 to 3) and the word's edge (4). Costs are negative logarithms:
transitions[from, to], and emissions[morph, category].
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing, owning
from morphlm.segmentation.kernels.strings import NOT_FOUND, Letters, StringTable, find

PRE, STM, SUF, ZZZ, EDGE = range(5)
CATEGORIES = 4
NEVER = 1e15  # the cost of what cannot be


class LabelledWords(NamedTuple):
    """The words as labelled morphs: those of word w begin at slot bounds[w]; every letter has a slot."""

    bounds: Array  # int64
    sizes: Array  # int32, the number of morphs
    morphs: Array  # int32
    labels: Array  # int8
    weights: Array  # int64, what the word counts


class UnknownStems(NamedTuple):
    """What a stem outside the lexicon costs: `base`, and something for each of its letters."""

    base: float
    letters: Array  # float64, by letter; the last is for letters outside the alphabet


class PathCosts(NamedTuple):
    """What the paths of a word cost: over the morphs of a table, and over stems that are not in it."""

    table: StringTable
    longest_morph: int
    emissions: Array  # float64 (morphs, categories)
    transitions: Array  # float64 (5, 5)
    unknown: UnknownStems


class Trellis(NamedTuple):
    """The search of one word: by position and category, the lowest cost and where it comes from."""

    cost: Array  # float64 (letters + 1, categories)
    start: Array  # int32, where the morph that ends here begins
    before: Array  # int8, the category before it
    morph: Array  # int32


@owning
def label_words(words: LabelledWords, emissions: Array, transitions: Array) -> int:
    """Give every word its best labels; returns how many words changed."""
    longest = 0
    for size in words.sizes:
        longest = max(longest, size)
    back = np.empty((longest, CATEGORIES), np.int8)
    changed = 0
    for word in range(len(words.sizes)):
        if label_word(words, word, emissions, transitions, back):
            changed += 1
    return changed


@borrowing
def best_end(cost: Array, transitions: Array) -> int:
    """The category with which a word ends best."""
    lowest, best = np.inf, STM
    for category in range(CATEGORIES):
        if cost[category] + transitions[category, EDGE] < lowest:
            lowest, best = cost[category] + transitions[category, EDGE], category
    return best


@owning
def label_word(words: LabelledWords, word: int, emissions: Array, transitions: Array, back: Array) -> bool:
    """Give a word its best labels; returns whether they changed."""
    begin, size = words.bounds[word], words.sizes[word]
    cost, following = np.empty(CATEGORIES), np.empty(CATEGORIES)
    for category in range(CATEGORIES):
        cost[category] = transitions[EDGE, category] + emissions[words.morphs[begin], category]
    for k in range(1, size):
        morph = words.morphs[begin + k]
        for category in range(CATEGORIES):
            lowest, best = np.inf, 0
            for previous in range(CATEGORIES):
                value = cost[previous] + transitions[previous, category]
                if value < lowest:
                    lowest, best = value, previous
            following[category] = lowest + emissions[morph, category]
            back[k, category] = best
        for category in range(CATEGORIES):
            cost[category] = following[category]
    label = best_end(cost, transitions)
    changed = False
    for k in range(size - 1, -1, -1):
        changed |= words.labels[begin + k] != label
        words.labels[begin + k] = label
        if k > 0:
            label = np.int64(back[k, label])
    return changed


@borrowing
def extend(trellis: Trellis, begin: int, end: int, morph: int, category: int, cost: float, transitions: Array) -> None:
    """Consider a morph from `begin` to `end` with a category, after everything that ends at `begin`."""
    if begin == 0:
        value = transitions[EDGE, category] + cost
        if value < trellis.cost[end, category]:
            trellis.cost[end, category], trellis.start[end, category] = value, 0
            trellis.before[end, category], trellis.morph[end, category] = EDGE, morph
        return
    for previous in range(CATEGORIES):
        value = trellis.cost[begin, previous] + transitions[previous, category] + cost
        if value < trellis.cost[end, category]:
            trellis.cost[end, category], trellis.start[end, category] = value, begin
            trellis.before[end, category], trellis.morph[end, category] = previous, morph


@borrowing
def fill_trellis(trellis: Trellis, query: Letters, start: int, length: int, costs: PathCosts) -> None:
    """All morphs of the table in a word of `query`, and all stems outside it, in order of where they begin."""
    emissions, transitions, unknown = costs.emissions, costs.transitions, costs.unknown
    for end in range(length + 1):
        for category in range(CATEGORIES):
            trellis.cost[end, category] = NEVER
    for begin in range(length):
        key = np.uint64(0)
        spelling = unknown.base
        for end in range(begin + 1, length + 1):
            letter = query.text[start + end - 1]
            spelling += unknown.letters[letter]
            if end - begin <= costs.longest_morph:
                key += query.codes[letter] * query.powers[end - begin - 1]
                morph = find(costs.table, key, query.text, start + begin, end - begin)
            else:
                morph = NOT_FOUND
            if morph != NOT_FOUND:
                for category in range(CATEGORIES):
                    if emissions[morph, category] < NEVER:
                        extend(trellis, begin, end, morph, category, emissions[morph, category], transitions)
            if spelling < NEVER:
                extend(trellis, begin, end, NOT_FOUND, STM, spelling, transitions)


@borrowing
def best_path(
    trellis: Trellis, length: int, transitions: Array, first: int, starts: Array, morphs: Array, labels: Array
) -> int:
    """Read the best path from a filled trellis into the arrays, from `first` on; returns its number of morphs, or 0."""
    last = best_end(trellis.cost[length], transitions)
    if trellis.cost[length, last] + transitions[last, EDGE] >= NEVER:
        return 0
    size, end, label = 0, length, last
    while end > 0:
        end, label = np.int64(trellis.start[end, label]), np.int64(trellis.before[end, label])
        size += 1
    end, label = length, last
    for k in range(first + size - 1, first - 1, -1):
        starts[k], morphs[k], labels[k] = trellis.start[end, label], trellis.morph[end, label], label
        end, label = np.int64(trellis.start[end, label]), np.int64(trellis.before[end, label])
    return size


@owning
def make_trellis(longest: int) -> Trellis:
    """A trellis for words up to this length."""
    shape = (longest + 1, CATEGORIES)
    return Trellis(np.empty(shape), np.empty(shape, np.int32), np.empty(shape, np.int8), np.empty(shape, np.int32))


@owning
def segment_words(query: Letters, bounds: Array, costs: PathCosts, sizes: Array, starts: Array, labels: Array) -> None:
    """The best path of each word; the pieces of word w begin at starts[bounds[w]] ..., sizes[w] is their number."""
    longest = 1
    for word in range(len(sizes)):
        longest = max(longest, bounds[word + 1] - bounds[word])
    trellis = make_trellis(longest)
    morphs = np.empty(len(starts), np.int32)
    for word in range(len(sizes)):
        begin, length = bounds[word], bounds[word + 1] - bounds[word]
        fill_trellis(trellis, query, begin, length, costs)
        sizes[word] = best_path(trellis, length, costs.transitions, begin, starts, morphs, labels)
