"""Compiled loops of tuning: counting n-grams, BLEU, and exact line search."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from morphlm.arrays import Float64Array, Int32Array, Int64Array
from morphlm.compiling import njit

ORDER = 4
SIZE = 2 + 2 * ORDER


@njit(cache=True, nogil=True)
def _same(a: Int32Array, i: int, b: Int32Array, j: int, n: int) -> bool:
    for k in range(n):  # noqa: SIM110
        if a[i + k] != b[j + k] or a[i + k] < 0:
            return False
    return True


@njit(cache=True, nogil=True)
def count_matches(words: Int32Array, references: Int32Array, starts: Int64Array) -> Int32Array:
    """The statistics of a translation; words that are in no reference are negative."""
    length = len(words)
    row = np.zeros(SIZE, np.int32)
    row[0] = length
    row[1] = _nearest_length(length, starts)
    for n in range(1, ORDER + 1):
        row[1 + ORDER + n] = max(length - n + 1, 0)
        for i in range(length - n + 1):
            # The n-gram is right if it came up fewer times before than a reference has it.
            before = 0
            for k in range(i):
                before += _same(words, k, words, i, n)
            most = 0
            for r in range(len(starts) - 1):
                matches = 0
                for j in range(starts[r], starts[r + 1] - n + 1):
                    matches += _same(references, j, words, i, n)
                most = max(most, matches)
            row[1 + n] += before < most
    return row


@njit(cache=True, nogil=True)
def count_all_matches(
    words: Int32Array, word_starts: Int64Array, references: Int32Array, starts: Int64Array
) -> Int32Array:
    """The statistics of several translations, which stand one after the other."""
    rows = np.empty((len(word_starts) - 1, SIZE), np.int32)
    for number in range(len(rows)):
        rows[number] = count_matches(words[word_starts[number] : word_starts[number + 1]], references, starts)
    return rows


@njit(cache=True, nogil=True)
def _nearest_length(length: int, starts: Int64Array) -> int:
    best = starts[1] - starts[0]
    for r in range(1, len(starts) - 1):
        other = starts[r + 1] - starts[r]
        near, nearer = abs(best - length), abs(other - length)
        if nearer < near or (nearer == near and other < best):
            best = other
    return best


@njit(cache=True, nogil=True)
def bleu(sums: Int64Array) -> float:
    """BLEU x 100 of summed statistics: exp(mean ln p_n) times the brevity penalty."""
    if sums[2] + sums[3] + sums[4] + sums[5] == 0:
        return 0.0
    logs, smoothing = 0.0, 1.0
    for n in range(ORDER):
        right, total = sums[2 + n], sums[2 + ORDER + n]
        if total == 0:
            return 0.0
        if right == 0:
            smoothing *= 2.0
            logs += math.log(100.0 / (smoothing * total))
        else:
            logs += math.log(100.0 * right / total)
    brevity = 1.0 if sums[0] >= sums[1] else math.exp(1.0 - sums[1] / sums[0])
    return brevity * math.exp(logs / ORDER)


@njit(cache=True, nogil=True)
def upper_envelope(offsets: Float64Array, slopes: Float64Array, envelope: Int64Array, steps: Float64Array) -> int:
    """The lines offset + slope x that are highest somewhere, from left to right.

    Writes their numbers to `envelope` and where each begins to be the highest to `steps` (the first at -inf); gives how
    many they are. Of equal lines the first is taken.
    """
    order = np.argsort(slopes, kind="mergesort")
    count = 0
    for line in order:
        begin = -np.inf
        skip = False
        while count > 0:
            top = envelope[count - 1]
            if slopes[line] == slopes[top]:
                if offsets[line] <= offsets[top]:
                    skip = True
                    break
                count -= 1
                continue
            begin = (offsets[top] - offsets[line]) / (slopes[line] - slopes[top])
            if begin <= steps[count - 1]:
                count -= 1
                continue
            break
        if skip:
            continue
        envelope[count] = line
        steps[count] = begin if count > 0 else -np.inf
        count += 1
    return count


SLACK = 1e-6  # much more than rounding errors
COMPARING = {"nnan", "nsz"}  # lets minima and maxima be taken of several numbers at a time; no sum changes
REFINEMENTS = 2  # after which few lines are left that are the highest nowhere
CORNERS = 2 ** (REFINEMENTS + 1)


@njit(cache=True, nogil=True)
def keep_high_lines(offsets: Float64Array, slopes: Float64Array, kept: Int64Array) -> int:
    """Write the lines that may be the highest somewhere to `kept`, in their order; gives their number.

    Take some lines of the upper envelope, among them the first and the last: the maximum of these is convex, and a line
    that is below all of its corners is below it everywhere. They are the highest lines at minus infinity, at 0 and at
    infinity; then also those that are the highest at the corners of these; and so on.
    """
    tops = np.empty((2, CORNERS + 1), np.float64)  # offsets and slopes, from left to right
    corners = np.zeros((2, CORNERS), np.float64)  # between two neighbours of these: where, and how high
    low, high, top = _least(slopes), _largest(slopes), _largest(offsets)
    tops[0, 0], tops[1, 0] = _largest_where(offsets, slopes, low), low
    tops[0, 1], tops[1, 1] = top, _largest_where(slopes, offsets, top)
    tops[0, 2], tops[1, 2] = _largest_where(offsets, slopes, high), high
    _find_corners(tops, corners, 2)
    count = 0
    for line in range(len(slopes)):
        kept[count] = line
        is_high = offsets[line] + slopes[line] * corners[0, 0] >= corners[1, 0]
        count += is_high or offsets[line] + slopes[line] * corners[0, 1] >= corners[1, 1]
    number = 2
    for _ in range(REFINEMENTS):
        _add_highest(offsets, slopes, kept[:count], tops, corners, number)
        number *= 2
        _find_corners(tops, corners, number)
        count = _keep_above(offsets, slopes, kept[:count], corners, number)
    return count


@njit(cache=True, nogil=True)
def _find_corners(tops: Float64Array, corners: Float64Array, number: int) -> None:
    """Where neighbours meet, and a little less than how high; parallel ones leave a corner where it is."""
    for k in range(number):
        if tops[1, k] != tops[1, k + 1]:
            corners[0, k] = (tops[0, k] - tops[0, k + 1]) / (tops[1, k + 1] - tops[1, k])
        height = tops[0, k] + tops[1, k] * corners[0, k]
        corners[1, k] = height - SLACK * (1.0 + abs(height))


@njit(cache=True, nogil=True)
def _add_highest(
    offsets: Float64Array,
    slopes: Float64Array,
    lines: Int64Array,
    tops: Float64Array,
    corners: Float64Array,
    number: int,
) -> None:
    """Put the line that is the highest at a corner between its neighbours, which makes two corners of it."""
    for k in range(number - 1, -1, -1):  # from the right, so that nothing is overwritten that is still needed
        corner = corners[0, k]
        best, highest = lines[0], -np.inf
        for line in lines:
            height = offsets[line] + slopes[line] * corner
            if height > highest:
                best, highest = line, height
        tops[:, 2 * k + 2] = tops[:, k + 1]
        tops[0, 2 * k + 1], tops[1, 2 * k + 1] = offsets[best], slopes[best]
        corners[0, 2 * k], corners[0, 2 * k + 1] = corner, corner


@njit(cache=True, nogil=True)
def _keep_above(
    offsets: Float64Array, slopes: Float64Array, lines: Int64Array, corners: Float64Array, number: int
) -> int:
    """Move the lines that are above a corner to the front, in their order; gives their number."""
    count = 0
    for line in lines:
        offset, slope, is_above = offsets[line], slopes[line], False
        for k in range(number):
            is_above |= offset + slope * corners[0, k] >= corners[1, k]
        lines[count] = line
        count += is_above
    return count


@njit(cache=True, nogil=True, fastmath=COMPARING)
def _least(values: Float64Array) -> float:
    least = np.inf
    for value in values:
        least = value if value < least else least
    return least


@njit(cache=True, nogil=True, fastmath=COMPARING)
def _largest(values: Float64Array) -> float:
    largest = -np.inf
    for value in values:
        largest = value if value > largest else largest
    return largest


@njit(cache=True, nogil=True, fastmath=COMPARING)
def _largest_where(values: Float64Array, keys: Float64Array, key: float) -> float:
    """The largest of the values whose key is this one."""
    largest = -np.inf
    for k in range(len(values)):
        value = values[k] if keys[k] == key else -np.inf
        largest = value if value > largest else largest
    return largest


@njit(cache=True, nogil=True)
def line_search(
    columns: Any, statistics: Any, starts: Int64Array, scores: Float64Array, direction: Float64Array
) -> tuple[float, float]:
    """The step along a direction after which the best translations have the highest BLEU, and that BLEU (Och 2003).

    Features (K, H), statistics (H, SIZE) and scores (H,) without a step belong to all translations, those of sentence
    s from starts[s] on. Between two neighbouring steps at which the best translation of some sentence changes, BLEU is
    constant; all are visited. Gives step and BLEU.
    """
    size, longest = columns.shape[1], np.diff(starts).max()
    products_of_sentence = np.empty(longest, np.float64)
    kept, envelope, steps = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.float64)
    changes = np.empty(size, np.float64)
    olds, news = np.empty(size, np.int64), np.empty(size, np.int64)
    sums = np.zeros(SIZE, np.int64)
    number = 0
    for s in range(len(starts) - 1):
        begin, end = starts[s], starts[s + 1]
        if begin == end:
            continue
        offsets, slopes = scores[begin:end], products_of_sentence[: end - begin]
        _products(columns, direction, begin, slopes)
        high = kept[: keep_high_lines(offsets, slopes, kept)]
        count = upper_envelope(offsets[high], slopes[high], envelope, steps)
        sums += statistics[begin + high[envelope[0]]]
        for k in range(1, count):
            changes[number] = steps[k]
            olds[number], news[number] = begin + high[envelope[k - 1]], begin + high[envelope[k]]
            number += 1
    order = np.argsort(changes[:number], kind="mergesort")
    return _sweep(changes, olds, news, order, statistics, sums)


@njit(cache=True, nogil=True)
def products(columns: Any, vector: Float64Array) -> Float64Array:
    """Of each translation, its features times a vector; summed in float64 and in their order."""
    out = np.empty(columns.shape[1], np.float64)
    _products(columns, vector, 0, out)
    return out


@njit(cache=True, nogil=True)
def _products(columns: Any, vector: Float64Array, begin: int, out: Float64Array) -> None:
    """The same for as many translations as `out` has room for, from `begin` on."""
    out[:] = 0.0
    for k in range(len(vector)):
        factor = vector[k]
        if factor != 0.0:
            column = columns[k][begin : begin + len(out)]
            for h in range(len(out)):
                out[h] += float(column[h]) * factor


@njit(cache=True, nogil=True)
def bleu_of_best(scores: Float64Array, statistics: Any, starts: Int64Array) -> float:
    """BLEU of the translation of each sentence with the highest score, the first of equal ones."""
    sums = np.zeros(SIZE, np.int64)
    for s in range(len(starts) - 1):
        if starts[s] < starts[s + 1]:
            best = starts[s]
            for h in range(starts[s] + 1, starts[s + 1]):
                if scores[h] > scores[best]:
                    best = h
            sums += statistics[best]
    return bleu(sums)


BEYOND = 0.1  # a step into an interval without an end
NARROW = 1e-9  # intervals that are narrower are no place to stay


@njit(cache=True, nogil=True)
def _sweep(
    changes: Float64Array, olds: Int64Array, news: Int64Array, order: Int64Array, statistics: Any, sums: Int64Array
) -> tuple[float, float]:
    """Go through the steps at which sums change, and remember the middle of the best interval."""
    number = len(order)
    best, step = bleu(sums), 0.0
    if number > 0:
        step = min(changes[order[0]] - BEYOND, 0.0)
    k = 0
    while k < number:
        left = changes[order[k]]
        while k < number and changes[order[k]] == left:  # all sentences that change at this step
            for i in range(SIZE):
                sums[i] += statistics[news[order[k]], i] - statistics[olds[order[k]], i]
            k += 1
        right = changes[order[k]] if k < number else left + 2 * BEYOND
        score = bleu(sums)
        if right - left > NARROW and score > best:
            best, step = score, (left + right) / 2.0
    return step, best
