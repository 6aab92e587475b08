"""Compiled loops of the word classes: counting bigrams, scoring every class for a word, moving words.

With N[g,h] the number of times a word of class g stands before one of class h, L and R the row and column sums, T
their total and phi(x) = x ln x, the objective is T x AMI = sum phi(N[g,h]) - sum phi(L[g]) - sum phi(R[h]) + phi(T).
Moving a word changes one row and one column of N, so that every class can be scored from the difference
phi(x + n) - phi(x), the *increment* of a cell with x by n. Four of five increments are by 1 or 2, hence the tables.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing, owning

UNPLACED = -1

SMALL = 8  # increments up to this come from a table of float32
SMALL_CELL = 1 << 14  # ... if the cell is below this
SMALL_WORD = 16  # words up to this count have the increments of L and R ready
SERIES = 1 << 14  # L and R from this size on have increments that a short series gives
PHI_TABLE = 1 << 17
FORBIDDEN = -1e300
ANY_GAIN = -1e300


class Bigrams(NamedTuple):
    """Sparse counts of adjacent words in both directions, a word's bigrams with itself kept apart."""

    successor_starts: Array  # int64 (V + 1): where the successors of each word begin
    successors: Array  # int32, ascending
    successor_counts: Array  # int32
    predecessor_starts: Array
    predecessors: Array
    predecessor_counts: Array
    repeats: Array  # int32 (V): how often the word follows itself
    left: Array  # int64 (V): how often it is the first of a bigram
    right: Array  # int64 (V): how often the second


class PartitionState(NamedTuple):
    """A partition under way and all that scoring needs of it; every array is changed in place."""

    class_of: Array  # int32 (V), UNPLACED for words that are not in yet
    stale: Array  # bool (V): a neighbour has moved since the word was scored
    sizes: Array  # int64 (C): words in each class
    counts: Array  # int32 (C, C): N
    transposed: Array  # its transpose
    gains: Array  # float32 (C, C): the increment by 1 of each cell of N
    gains_transposed: Array
    left: Array  # int64 (C): L
    right: Array  # int64 (C): R
    left_gains: Array  # float32 (SMALL_WORD + 1, C): the increment of L by each n
    right_gains: Array
    phi: Array  # float64: x ln x
    ones: Array  # float32 (SMALL_CELL): phi(x + 1) - phi(x)
    curvature: Array  # float32 (SMALL + 1, SMALL_CELL): in [n, x] phi(x + n) - phi(x) - n (phi(x + 1) - phi(x))


class ScoringBuffers(NamedTuple):
    """Working memory in which one thread scores a word; the counts are all 0 between two words."""

    after: Array  # int32 (C): how often a word of each class comes after the word
    before: Array
    classes_after: Array  # int32 (C): the classes where `after` is not 0
    classes_before: Array
    small: Array  # float32 (C): the sum of the small increments
    scores: Array  # float64 (C)
    weights: Array  # int32 (C)


class ClassesBeside(NamedTuple):
    """How many classes stand beside a word; `ScoringBuffers` says which."""

    after: int
    before: int


class PassSettings(NamedTuple):
    """What a pass over the words goes by."""

    cap: int  # the most words a class may have
    temperature: float  # 0: the best class; above: a random one, by exp(score / temperature)
    seed: int


# ---------------------------------------------------------------- counting


@owning
def begins_of_parts(counts: Array) -> Array:
    """Where each part begins in an array of parts that have these sizes."""
    begins = np.empty(len(counts), np.int64)
    total = 0
    for i in range(len(counts)):
        begins[i] = total
        total += counts[i]
    return begins


@owning
def firsts_by_second(tokens: Array, boundary: int, vocabulary_size: int) -> tuple[Array, Array]:
    """The word before each token, ordered by the token's word, and where each word's part ends.

    Before the first token stands the boundary.
    """
    counts = np.zeros(vocabulary_size, np.int64)
    for word in tokens:
        counts[word] += 1
    ends = begins_of_parts(counts)  # they move as a part is filled
    firsts = np.empty(len(tokens), np.int32)
    previous = boundary
    for word in tokens:
        firsts[ends[word]] = previous
        ends[word] += 1
        previous = word
    return firsts, ends


@owning
def seconds_by_first(firsts: Array, ends: Array) -> tuple[Array, Array]:
    """The word after each token, ordered by the token's word, ascending within each part."""
    vocabulary_size = len(ends)
    counts = np.zeros(vocabulary_size, np.int64)
    for first in firsts:
        counts[first] += 1
    seconds_end = begins_of_parts(counts)
    seconds = np.empty(len(firsts), np.int32)
    begin = 0
    for second in range(vocabulary_size):
        for i in range(begin, ends[second]):
            first = firsts[i]
            seconds[seconds_end[first]] = second
            seconds_end[first] += 1
        begin = ends[second]
    return seconds, seconds_end


@owning
def run_lengths(seconds: Array, ends: Array, repeats: Array) -> tuple[Array, Array, Array]:
    """Equal neighbours become one entry with a count; a word's bigrams with itself go to `repeats`.

    The entries are collected at the front of `seconds`, which is overwritten, before they are copied.
    """
    vocabulary_size = len(ends)
    starts = np.zeros(vocabulary_size + 1, np.int64)
    entries, begin = 0, 0
    for first in range(vocabulary_size):
        last = -1
        for i in range(begin, ends[first]):
            second = seconds[i]
            if second != last and second != first:  # noqa: PLR1714 - a tuple takes longer to compile
                entries += 1
            last = second
        begin = ends[first]
    counts = np.zeros(entries, np.int32)
    at, begin = -1, 0
    for first in range(vocabulary_size):
        last = -1
        for i in range(begin, ends[first]):
            second = seconds[i]
            if second == first:
                repeats[first] += 1
                continue
            if second != last:
                at += 1
                seconds[at] = second
                last = second
            counts[at] += 1
        begin = ends[first]
        starts[first + 1] = at + 1
    return starts, seconds[:entries].copy(), counts


@owning
def add_counts(
    starts: Array, columns: Array, counts: Array, other_starts: Array, other_columns: Array, other_counts: Array
) -> tuple[Array, Array, Array]:
    """The sum of two sparse matrices whose rows have ascending columns."""
    total = np.zeros(len(starts), np.int64)
    for row in range(len(starts) - 1):
        shared, j, end = 0, other_starts[row], other_starts[row + 1]
        for i in range(starts[row], starts[row + 1]):
            while j < end and other_columns[j] < columns[i]:
                j += 1
            if j < end and other_columns[j] == columns[i]:
                shared += 1
        entries = starts[row + 1] - starts[row] + end - other_starts[row] - shared
        total[row + 1] = total[row] + entries
    sum_columns, sum_counts = np.empty(total[-1], np.int32), np.empty(total[-1], np.int32)
    at = 0
    for row in range(len(starts) - 1):
        i, j, end = starts[row], other_starts[row], other_starts[row + 1]
        while i < starts[row + 1] or j < end:
            if j == end or (i < starts[row + 1] and columns[i] < other_columns[j]):
                sum_columns[at], sum_counts[at] = columns[i], counts[i]
                i += 1
            elif i == starts[row + 1] or other_columns[j] < columns[i]:
                sum_columns[at], sum_counts[at] = other_columns[j], other_counts[j]
                j += 1
            else:
                sum_columns[at], sum_counts[at] = columns[i], counts[i] + other_counts[j]
                i += 1
                j += 1
            at += 1
    return total, sum_columns, sum_counts


@owning
def transpose(starts: Array, columns: Array, counts: Array) -> tuple[Array, Array, Array]:
    """A sparse matrix by columns instead of rows."""
    vocabulary_size = len(starts) - 1
    column_starts = np.zeros(vocabulary_size + 2, np.int64)
    for column in columns:
        column_starts[column + 2] += 1
    for column in range(vocabulary_size):
        column_starts[column + 2] += column_starts[column + 1]
    rows = np.empty(len(columns), np.int32)
    row_counts = np.empty(len(columns), np.int32)
    for row in range(vocabulary_size):
        for i in range(starts[row], starts[row + 1]):
            at = column_starts[columns[i] + 1]
            rows[at] = row
            row_counts[at] = counts[i]
            column_starts[columns[i] + 1] += 1
    return column_starts[:-1].copy(), rows, row_counts


# ---------------------------------------------------------------- scoring


@borrowing
def phi_of(x: int, table: Array) -> float:
    """x ln x"""
    if x < PHI_TABLE:
        return float(table[np.uint64(x)])  # an unsigned index spares the check for a negative one
    return float(x * np.log(float(x)))


@borrowing
def gather(
    starts: Array, words: Array, counts: Array, word: int, class_of: Array, totals: Array, classes: Array
) -> int:
    """Add up a word's neighbours by class, without those not placed yet. Returns the number of their classes."""
    size = 0
    for i in range(starts[word], starts[word + 1]):
        neighbour_class = class_of[words[i]]
        if neighbour_class != UNPLACED:
            if totals[neighbour_class] == 0:
                classes[size] = neighbour_class
                size += 1
            totals[neighbour_class] += counts[i]
    return size


@borrowing
def gather_both(word: int, bigrams: Bigrams, state: PartitionState, buffers: ScoringBuffers) -> ClassesBeside:
    """Add up the neighbours on both sides by class."""
    starts, words, counts = bigrams.successor_starts, bigrams.successors, bigrams.successor_counts
    after_size = gather(starts, words, counts, word, state.class_of, buffers.after, buffers.classes_after)
    starts, words, counts = bigrams.predecessor_starts, bigrams.predecessors, bigrams.predecessor_counts
    before_size = gather(starts, words, counts, word, state.class_of, buffers.before, buffers.classes_before)
    return ClassesBeside(after_size, before_size)


@borrowing
def begin_with_margins(small: Array, left_gains: Array, left: int, right_gains: Array, right: int) -> None:
    """small = -(the increments of L and R by a rare word's counts)."""
    for k in range(len(small)):
        small[k] = -left_gains[left, k] - right_gains[right, k]


@borrowing
def add_gains(small: Array, gains: Array, row: int) -> None:
    """Add to every class the increment by 1 of its cell in a row of N or of its transpose."""
    for k in range(len(small)):
        small[k] += gains[row, k]


@borrowing
def add_small_increments(small: Array, gains: Array, cells: Array, row: int, n: int, curvature: Array) -> None:
    """Add the increments by a small n: n increments by 1 and what the curve of phi adds to them."""
    factor, table = np.float32(n), curvature[n]
    for k in range(len(small)):
        small[k] += factor * gains[row, k]
    for k in range(len(small)):
        small[k] += table[np.uint64(min(np.uint32(cells[row, k]), np.uint32(SMALL_CELL - 1)))]


@borrowing
def add_increments(scores: Array, cells: Array, row: int, n: int, phi: Array) -> None:
    """Add the increments by any n."""
    for k in range(len(scores)):
        x = cells[row, k]
        scores[k] += phi_of(x + n, phi) - phi_of(x, phi)


@borrowing
def add_rows(
    classes: Array, size: int, totals: Array, cells: Array, gains: Array, state: PartitionState, buffers: ScoringBuffers
) -> None:
    """Add the increments of all cells in the rows of the classes on one side of the word, by their `totals`."""
    for i in range(size):
        h = classes[i]
        n = totals[h]
        if n == 1:
            add_gains(buffers.small, gains, h)
        elif n <= SMALL:
            add_small_increments(buffers.small, gains, cells, h, n, state.curvature)
        else:
            add_increments(buffers.scores, cells, h, n, state.phi)


@borrowing
def correct_own_class(
    cells: Array, own: int, n: int, opposite: Array, size: int, removed: Array, phi: Array, scores: Array
) -> None:
    """Where the neighbours include words of the own class, their row has the word itself in it: take that out again.

    Only the cells of the classes on the opposite side of the word are concerned.
    """
    for i in range(size):
        k = opposite[i]
        x, without = cells[own, k], cells[own, k] - removed[k]
        scores[k] += phi_of(without + n, phi) - phi_of(without, phi) - phi_of(x + n, phi) + phi_of(x, phi)


@borrowing
def subtract_margins(scores: Array, sums: Array, n: int, phi: Array) -> None:
    """Subtract from every class the increment of its L or R by a frequent word's count."""
    for k in range(len(scores)):
        scores[k] -= phi_of(sums[k] + n, phi) - phi_of(sums[k], phi)


@borrowing
def score_of_staying(
    word: int,
    own: int,
    beside: ClassesBeside,
    bigrams: Bigrams,
    state: PartitionState,
    buffers: ScoringBuffers,
) -> float:
    """What the objective loses when the word is taken out of its class."""
    counts, phi = state.counts, state.phi
    after, before = buffers.after, buffers.before
    score = 0.0
    for i in range(beside.after):
        h = buffers.classes_after[i]
        if h != own:
            score += phi_of(counts[own, h], phi) - phi_of(counts[own, h] - after[h], phi)
    for i in range(beside.before):
        h = buffers.classes_before[i]
        if h != own:
            score += phi_of(counts[h, own], phi) - phi_of(counts[h, own] - before[h], phi)
    within = counts[own, own]
    score += phi_of(within, phi) - phi_of(within - after[own] - before[own] - bigrams.repeats[word], phi)
    left, right = state.left[own], state.right[own]
    score -= phi_of(left, phi) - phi_of(left - bigrams.left[word], phi)
    score -= phi_of(right, phi) - phi_of(right - bigrams.right[word], phi)
    return score


@borrowing
def correct_diagonal(
    word: int,
    own: int,
    beside: ClassesBeside,
    bigrams: Bigrams,
    state: PartitionState,
    buffers: ScoringBuffers,
) -> None:
    """A class's own cell N[k,k] grows by the word's bigrams in both directions at once, not one after the other."""
    counts, phi, scores = state.counts, state.phi, buffers.scores
    after, before, repeats = buffers.after, buffers.before, bigrams.repeats[word]
    for i in range(beside.after):
        k = buffers.classes_after[i]
        if k != own:
            x = counts[k, k]
            scores[k] += phi_of(x + after[k] + before[k] + repeats, phi) - phi_of(x + after[k], phi)
            if before[k] > 0:
                scores[k] -= phi_of(x + before[k], phi) - phi_of(x, phi)
    if repeats == 0:  # a class on one side only has been counted right already
        return
    for k in range(len(scores)):
        if k != own and after[k] == 0:
            x = counts[k, k] + before[k]
            scores[k] += phi_of(x + repeats, phi) - phi_of(x, phi)


@borrowing
def score_classes(word: int, bigrams: Bigrams, state: PartitionState, buffers: ScoringBuffers) -> None:
    """For every class, by how much the objective grows when the word, taken out of its own, is put into it."""
    own = state.class_of[word]
    buffers.scores[:] = 0.0
    beside = gather_both(word, bigrams, state, buffers)
    left, right = bigrams.left[word], bigrams.right[word]
    if left <= SMALL_WORD and right <= SMALL_WORD:
        begin_with_margins(buffers.small, state.left_gains, left, state.right_gains, right)
    else:
        buffers.small[:] = 0.0
        subtract_margins(buffers.scores, state.left, left, state.phi)
        subtract_margins(buffers.scores, state.right, right, state.phi)
    after, before, phi, scores = buffers.after, buffers.before, state.phi, buffers.scores
    classes_after, classes_before = buffers.classes_after, buffers.classes_before
    add_rows(classes_after, beside.after, after, state.transposed, state.gains_transposed, state, buffers)
    add_rows(classes_before, beside.before, before, state.counts, state.gains, state, buffers)
    if own != UNPLACED and after[own] > 0:
        correct_own_class(state.transposed, own, after[own], classes_before, beside.before, before, phi, scores)
    if own != UNPLACED and before[own] > 0:
        correct_own_class(state.counts, own, before[own], classes_after, beside.after, after, phi, scores)
    correct_diagonal(word, own, beside, bigrams, state, buffers)
    for k in range(len(buffers.scores)):
        buffers.scores[k] += buffers.small[k]
    if own != UNPLACED:
        buffers.scores[own] = score_of_staying(word, own, beside, bigrams, state, buffers)
    clear(beside, buffers)


@borrowing
def clear(beside: ClassesBeside, buffers: ScoringBuffers) -> None:
    """Set back to 0 what `gather` has added up."""
    for i in range(beside.after):
        buffers.after[buffers.classes_after[i]] = 0
    for i in range(beside.before):
        buffers.before[buffers.classes_before[i]] = 0


# ---------------------------------------------------------------- choosing


@borrowing
def uniform(seed: int, word: int) -> float:
    """A random number in (0, 1) that depends on nothing but the seed and the word (the finaliser of SplitMix64)."""
    z = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(word) * np.uint64(0xD1B54A32D192ED03)
    for _ in range(2):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (float(z >> np.uint64(11)) + 0.5) / 9007199254740992.0


@borrowing
def best_class(own: int, cap: int, sizes: Array, scores: Array) -> int:
    """The class with the highest score that has room; the own one, or else the first, if they are equal."""
    best, highest = own, FORBIDDEN
    if own != UNPLACED:
        highest = scores[own]
    for k in range(len(scores)):
        if scores[k] > highest and sizes[k] < cap:
            best, highest = k, scores[k]
    return best


@borrowing
def fill_weights(highest: float, temperature: float, scores: Array, weights: Array) -> None:
    """weights = 2^20 exp((score - highest) / temperature), to three digits and rounded down.

    e^x = 2^i 2^f with an integer i is a polynomial in f and the exponent of a float, so that it runs on vectors.
    """
    scale = 1.4426950408889634 / temperature  # 1 / ln 2
    for k in range(len(scores)):
        x = np.float32(max((scores[k] - highest) * scale, -40.0))
        whole = np.floor(x)
        f = x - whole
        power = np.int32((np.int32(whole) + np.int32(127 + 20)) << np.int32(23)).view(np.float32)
        polynomial = np.float32(0.0558) + f * np.float32(0.0090)
        polynomial = np.float32(0.2402265) + f * polynomial
        polynomial = np.float32(1.0) + f * (np.float32(0.6931472) + f * polynomial)
        weights[k] = np.int32(power * polynomial)


@borrowing
def total_of(weights: Array) -> int:
    """The sum; of integers, so that its order does not matter."""
    total = 0
    for k in range(len(weights)):
        total += weights[k]
    return total


@borrowing
def random_class(own: int, cap: int, temperature: float, random: float, sizes: Array, buffers: ScoringBuffers) -> int:
    """A class with probability proportional to exp(score / temperature), among those that have room."""
    scores, weights = buffers.scores, buffers.weights
    highest = FORBIDDEN
    for k in range(len(scores)):
        if k != own and sizes[k] >= cap:
            scores[k] = FORBIDDEN
        if scores[k] > highest:  # noqa: PLR1730 (a predicted branch is faster than a chain of max)
            highest = scores[k]
    fill_weights(highest, temperature, scores, weights)
    rest = np.int64(random * total_of(weights))
    for k in range(len(scores)):
        rest -= weights[k]
        if rest < 0:
            return k
    return own


@borrowing
def choose_classes(
    words: Array,
    chosen: Array,
    first: int,
    step: int,
    settings: PassSettings,
    bigrams: Bigrams,
    state: PartitionState,
    buffers: ScoringBuffers,
) -> None:
    """For each word of a thread's share (first, first + step, ...) the class it would go to; nothing is moved yet.

    A class is never emptied.
    """
    cap, temperature = settings.cap, settings.temperature
    for i in range(first, len(words), step):
        word = words[i]
        own = state.class_of[word]
        if own != UNPLACED and state.sizes[own] == 1:
            chosen[i] = own
            continue
        score_classes(word, bigrams, state, buffers)
        if temperature > 0.0:
            chosen[i] = random_class(own, cap, temperature, uniform(settings.seed, word), state.sizes, buffers)
        else:
            chosen[i] = best_class(own, cap, state.sizes, buffers.scores)


# ---------------------------------------------------------------- moving


@borrowing
def increment(x: int, n: int, phi: Array) -> float:
    """phi(x + n) - phi(x)"""
    return phi_of(x + n, phi) - phi_of(x, phi)


@borrowing
def gain_of_move(
    word: int,
    own: int,
    target: int,
    beside: ClassesBeside,
    bigrams: Bigrams,
    state: PartitionState,
    buffers: ScoringBuffers,
) -> float:
    """The exact change of the objective when the word moves, from what `gather` has added up."""
    counts, phi = state.counts, state.phi
    after, before, repeats = buffers.after, buffers.before, bigrams.repeats[word]
    gain = 0.0
    for i in range(beside.after):
        h = buffers.classes_after[i]
        if h != own and h != target:  # noqa: PLR1714
            gain += increment(counts[target, h], after[h], phi) + increment(counts[own, h], -after[h], phi)
    for i in range(beside.before):
        h = buffers.classes_before[i]
        if h != own and h != target:  # noqa: PLR1714
            gain += increment(counts[h, target], before[h], phi) + increment(counts[h, own], -before[h], phi)
    # the four cells where the two rows and the two columns cross
    gain += increment(counts[own, own], -after[own] - before[own] - repeats, phi)
    gain += increment(counts[target, target], after[target] + before[target] + repeats, phi)
    gain += increment(counts[own, target], before[own] - after[target], phi)
    gain += increment(counts[target, own], after[own] - before[target], phi)
    left, right = bigrams.left[word], bigrams.right[word]
    gain -= increment(state.left[target], left, phi) + increment(state.left[own], -left, phi)
    gain -= increment(state.right[target], right, phi) + increment(state.right[own], -right, phi)
    return gain


@borrowing
def change_cell(g: int, h: int, n: int, state: PartitionState) -> None:
    """Add n to N[g,h] and to all that is derived from it."""
    x = state.counts[g, h] + n
    state.counts[g, h] = x
    state.transposed[h, g] = x
    gain = state.ones[x] if x < SMALL_CELL else np.float32(increment(x, 1, state.phi))
    state.gains[g, h] = gain
    state.gains_transposed[h, g] = gain


@borrowing
def renew_margin(ready: Array, k: int, x: int, phi: Array) -> None:
    """The increments of one L or R, from their series where that is exact to the last digit of float32."""
    if x < SERIES:
        for n in range(SMALL_WORD + 1):
            ready[n, k] = increment(x, n, phi)
        return
    slope = np.log(float(x)) + 1.0
    for n in range(SMALL_WORD + 1):
        ready[n, k] = n * (slope + n / (2.0 * x) - n * n / (6.0 * x * x))


@borrowing
def change_margins(k: int, left: int, right: int, state: PartitionState) -> None:
    """Add to L and R of a class and renew their increments."""
    state.left[k] += left
    state.right[k] += right
    renew_margin(state.left_gains, k, state.left[k], state.phi)
    renew_margin(state.right_gains, k, state.right[k], state.phi)


@borrowing
def change_class(
    word: int,
    k: int,
    sign: int,
    beside: ClassesBeside,
    bigrams: Bigrams,
    state: PartitionState,
    buffers: ScoringBuffers,
) -> None:
    """Put the word into a class (sign 1) or take it out (sign -1), from what `gather` has added up."""
    for i in range(beside.after):
        h = buffers.classes_after[i]
        change_cell(k, h, sign * buffers.after[h], state)
    for i in range(beside.before):
        h = buffers.classes_before[i]
        change_cell(h, k, sign * buffers.before[h], state)
    if bigrams.repeats[word] > 0:
        change_cell(k, k, sign * bigrams.repeats[word], state)
    change_margins(k, sign * bigrams.left[word], sign * bigrams.right[word], state)
    state.sizes[k] += sign


@borrowing
def mark_neighbours(word: int, bigrams: Bigrams, stale: Array) -> None:
    """The words beside a word that has moved are to be scored again."""
    for i in range(bigrams.successor_starts[word], bigrams.successor_starts[word + 1]):
        stale[bigrams.successors[i]] = True
    for i in range(bigrams.predecessor_starts[word], bigrams.predecessor_starts[word + 1]):
        stale[bigrams.predecessors[i]] = True


@borrowing
def move_words(
    words: Array,
    chosen: Array,
    cap: int,
    least_gain: float,
    bigrams: Bigrams,
    state: PartitionState,
    buffers: ScoringBuffers,
) -> tuple[int, float]:
    """Move words one by one to the classes chosen for them, each only if its exact gain, after all the moves before it,
    is above `least_gain` and there is room. Returns the number of moves and their gain.

    A word that is not placed yet is put in. With `least_gain` at ANY_GAIN every word moves, as annealing wants, and no
    gain is computed.
    """
    moves, total = 0, 0.0
    for i in range(len(words)):
        word, target = words[i], chosen[i]
        own = state.class_of[word]
        if target == own or state.sizes[target] >= cap or (own != UNPLACED and state.sizes[own] == 1):
            continue
        beside = gather_both(word, bigrams, state, buffers)
        gain = 0.0
        if own != UNPLACED and least_gain > ANY_GAIN:
            gain = gain_of_move(word, own, target, beside, bigrams, state, buffers)
        if own == UNPLACED or gain > least_gain:
            if own != UNPLACED:
                change_class(word, own, -1, beside, bigrams, state, buffers)
            change_class(word, target, 1, beside, bigrams, state, buffers)
            state.class_of[word] = target
            if least_gain > ANY_GAIN:
                mark_neighbours(word, bigrams, state.stale)
            moves += 1
            total += gain
        clear(beside, buffers)
    return moves, total
