# mypy: disallow-untyped-decorators=False, warn-return-any=False
# mypy: disable-error-code="arg-type, assignment, return-value"
"""The recursive search of the Morfessor baseline (Creutz & Lagus 2005): split each string where the cost falls most.

Strings form a forest: an entry that is split has two children, an entry that is not is a morph of the lexicon. The
count of an entry is how often words and larger strings use it; a change of it runs down to the morphs below.
"""

import math
from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing, owning
from morphlm.segmentation.kernels.strings import (
    NOT_FOUND,
    Letters,
    StringTable,
    copy_into,
    find,
    insert,
    keys_of_parts,
)

# The elements of `Totals.sums`: what the cost is made of.
TOKENS, LOG_TOKENS, WORDS, LETTERS, LOG_LETTERS, MORPHS, ALPHABET, FEATURES, CONDITIONALS = range(9)
SUMS = 9

_LOG_TWO_PI = math.log(2 * math.pi)
_LOG_FACTORIALS = np.array([math.log(math.factorial(n)) for n in range(20)])


class Totals(NamedTuple):
    """The sums from which the cost follows; updating them is what a change of segmentation costs."""

    sums: Array  # float64, see the names above
    letter_counts: Array  # int64, how often each letter stands in the lexicon
    x_log_x: Array  # float64, n log n for small n
    steps: Array  # float64, (n + 1) log (n + 1) - n log n for small n


class SplitForest(NamedTuple):
    """How the strings of the table are split."""

    count: Array  # int64
    cut: Array  # int32, letters before the cut; 0: a morph
    left: Array  # int32, the entry before the cut
    right: Array  # int32, the entry after it


class SearchBuffers(NamedTuple):
    """Working memory of the search, for words up to a length."""

    stack: Array  # int32, entries whose count is to change
    waiting: Array  # int32, entries that are to be searched
    prefixes: Array  # uint64, keys of the beginnings of a string
    suffixes: Array  # uint64, keys of its ends
    saved_sums: Array  # float64


class BaselineState(NamedTuple):
    """All that the search reads and changes."""

    letters: Letters
    table: StringTable
    forest: SplitForest
    totals: Totals
    corpus_weight: float
    buffers: SearchBuffers


@borrowing
def x_log_x(totals: Totals, count: int) -> float:
    """Count times its logarithm; 0 at 0."""
    return totals.x_log_x[count] if count < len(totals.x_log_x) else count * math.log(count)


@borrowing
def step(totals: Totals, count: int) -> float:
    """How much x_log_x grows when a count grows by 1."""
    if count < len(totals.steps):
        return totals.steps[count]
    return x_log_x(totals, count + 1) - x_log_x(totals, count)


@borrowing
def log_factorial(n: int) -> float:
    """log n!, by Stirling's formula from 20 on, as the `morfessor` package has it."""
    if n < 20:
        return _LOG_FACTORIALS[max(n, 0)]
    log_n = math.log(n)
    return n * log_n - n + 0.5 * (log_n + _LOG_TWO_PI)


@borrowing
def frequency_cost(sums: Array) -> float:
    """The code length of how N tokens divide into M morphs: log (N-1)! / ((M-1)! (N-M)!)."""
    if sums[MORPHS] < 1:
        return 0.0
    return (
        log_factorial(np.int64(sums[TOKENS] - 1))
        - log_factorial(np.int64(sums[MORPHS] - 1))
        - log_factorial(np.int64(sums[TOKENS] - sums[MORPHS]))
    )


@borrowing
def lexicon_cost(sums: Array) -> float:
    """The code length of the lexicon: its letters with an end mark for each morph, in no particular order."""
    morphs, alphabet = sums[MORPHS], sums[ALPHABET]
    if morphs < 1:
        return 0.0
    n = sums[LETTERS] + morphs
    spelling = n * math.log(n) - morphs * math.log(morphs) - sums[LOG_LETTERS] - log_factorial(np.int64(morphs))
    return (
        spelling
        + log_factorial(np.int64(n - 1))
        - log_factorial(np.int64(alphabet))
        - log_factorial(np.int64(n - alphabet - 1))
    )


@borrowing
def baseline_cost(sums: Array, corpus_weight: float) -> float:
    """The cost of the words, as morphs and word ends drawn from one distribution, and of the lexicon."""
    if sums[WORDS] < 1:
        return 0.0
    n = sums[TOKENS] + sums[WORDS]
    corpus = n * math.log(n) - sums[WORDS] * math.log(sums[WORDS]) - sums[LOG_TOKENS]
    return corpus_weight * corpus + frequency_cost(sums) + lexicon_cost(sums)


@borrowing
def change_letters(totals: Totals, text: Array, start: int, length: int, sign: int) -> None:
    """A morph enters the lexicon (sign 1) or leaves it (sign -1)."""
    sums, counts = totals.sums, totals.letter_counts
    change = 0.0
    for position in range(start, start + length):
        letter = text[position]
        count = counts[letter]
        counts[letter] = count + sign
        change += sign * step(totals, min(count, count + sign))
    sums[LOG_LETTERS] += change
    sums[LETTERS] += sign * length
    sums[MORPHS] += sign


@borrowing
def change_morph(totals: Totals, text: Array, start: int, length: int, old: int, new: int) -> None:
    """The count of a morph changes."""
    sums = totals.sums
    sums[TOKENS] += new - old
    sums[LOG_TOKENS] += x_log_x(totals, new) - x_log_x(totals, old)
    if old == 0 and new > 0:
        change_letters(totals, text, start, length, 1)
    elif old > 0 and new == 0:
        change_letters(totals, text, start, length, -1)


@owning
def make_buffers(longest: int) -> SearchBuffers:
    """Buffers for words of at most `longest` letters."""
    return SearchBuffers(
        np.empty(2 * longest + 2, np.int32),
        np.empty(2 * longest + 2, np.int32),
        np.empty(longest + 1, np.uint64),
        np.empty(longest + 1, np.uint64),
        np.empty(SUMS),
    )


@borrowing
def change_count(state: BaselineState, entry: int, change: int) -> None:
    """The count of an entry changes, and with it the counts of all below. What is used no more forgets its cut."""
    table, forest, stack = state.table, state.forest, state.buffers.stack
    stack[0] = entry
    top = 1
    while top > 0:
        top -= 1
        at = np.int64(stack[top])
        old = forest.count[at]
        forest.count[at] = old + change
        if forest.cut[at] > 0:
            stack[top], stack[top + 1] = forest.left[at], forest.right[at]
            top += 2
            if old + change == 0:
                forest.cut[at] = 0
        else:
            change_morph(state.totals, table.text, table.start[at], np.int64(table.length[at]), old, old + change)


@borrowing
def add_words(state: BaselineState, roots: Array, counts: Array) -> None:
    """The start of the search: every word is a morph."""
    for word in range(len(roots)):
        state.totals.sums[WORDS] += counts[word]
        change_count(state, np.int64(roots[word]), counts[word])


@borrowing
def try_part(state: BaselineState, entry: int, change: int, start: int, length: int) -> None:
    """Add to the count of a part, or take it back; a part that was never used is not entered into the table for it."""
    if entry == NOT_FOUND:
        change_morph(state.totals, state.table.text, start, length, max(-change, 0), max(change, 0))
    else:
        change_count(state, entry, change)


@borrowing
def best_cut(state: BaselineState, entry: int, count: int) -> int:
    """Where to cut a string whose count has been taken out of the totals; 0: nowhere."""
    table, forest, totals = state.table, state.forest, state.totals
    prefixes, suffixes, saved = state.buffers.prefixes, state.buffers.suffixes, state.buffers.saved_sums
    text, start, length = table.text, table.start[entry], np.int64(table.length[entry])
    copy_into(saved, totals.sums, 0, SUMS)
    change_morph(totals, text, start, length, 0, count)
    lowest, best = baseline_cost(totals.sums, state.corpus_weight), 0
    change_morph(totals, text, start, length, count, 0)
    copy_into(totals.sums, saved, 0, SUMS)
    keys_of_parts(state.letters, start, length, prefixes, suffixes)
    for k in range(1, length):
        left = find(table, prefixes[k], text, start, k)
        right = find(table, suffixes[k], text, start + k, length - k)
        new_left = left == NOT_FOUND or forest.count[left] == 0
        if new_left and (right == NOT_FOUND or forest.count[right] == 0):
            continue  # two new morphs spell the same letters as one and cost more
        try_part(state, left, count, start, k)
        try_part(state, right, count, start + k, length - k)
        cost = baseline_cost(totals.sums, state.corpus_weight)
        try_part(state, right, -count, start + k, length - k)
        try_part(state, left, -count, start, k)
        copy_into(totals.sums, saved, 0, SUMS)  # no drift from adding and subtracting
        if cost <= lowest:
            lowest, best = cost, k
    return best


@borrowing
def cut_entry(state: BaselineState, entry: int, count: int, k: int) -> None:
    """Cut an entry after k letters; the keys of its parts are still there from the search."""
    table, forest, buffers = state.table, state.forest, state.buffers
    start, length = table.start[entry], np.int64(table.length[entry])
    left = insert(table, buffers.prefixes[k], start, k)
    right = insert(table, buffers.suffixes[k], start + k, length - k)
    forest.count[entry], forest.cut[entry] = count, k
    forest.left[entry], forest.right[entry] = left, right
    change_count(state, left, count)
    change_count(state, right, count)


@borrowing
def search(state: BaselineState, roots: Array) -> None:
    """Take each word's tree apart and build it again, the words in the given order.

    The table needs room for two new entries a letter of these words.
    """
    forest, waiting = state.forest, state.buffers.waiting
    for root in roots:
        waiting[0] = root
        top = 1
        while top > 0:
            top -= 1
            entry = np.int64(waiting[top])
            count = forest.count[entry]
            if count == 0 or state.table.length[entry] == 1:
                continue
            change_count(state, entry, -count)
            k = best_cut(state, entry, count)
            if k == 0:
                change_count(state, entry, count)
                continue
            cut_entry(state, entry, count, k)
            left, right = forest.left[entry], forest.right[entry]
            waiting[top] = right
            top += 1
            if left != right:
                waiting[top] = left
                top += 1


@owning
def collect_morphs(roots: Array, bounds: Array, forest: SplitForest, longest: int, morphs: Array, sizes: Array) -> None:
    """The morphs of each word: word w's are morphs[bounds[w]] .. and sizes[w] is their number."""
    stack = np.empty(2 * longest + 2, np.int32)
    for word in range(len(roots)):
        at = bounds[word]
        stack[0] = roots[word]
        top = 1
        while top > 0:
            top -= 1
            entry = stack[top]
            if forest.cut[entry] > 0:
                stack[top], stack[top + 1] = forest.right[entry], forest.left[entry]
                top += 2
            else:
                morphs[at] = entry
                at += 1
        sizes[word] = at - bounds[word]
