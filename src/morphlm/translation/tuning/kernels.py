"""Compiled loops of tuning: counting n-grams, BLEU, and exact line search."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Words = NDArray[np.int32]
Ids = NDArray[np.int64]
Floats = NDArray[np.float64]

ORDER = 4
SIZE = 2 + 2 * ORDER


@njit(cache=True, nogil=True)
def _same(a: Words, i: int, b: Words, j: int, n: int) -> bool:
    for k in range(n):  # noqa: SIM110
        if a[i + k] != b[j + k] or a[i + k] < 0:
            return False
    return True


@njit(cache=True, nogil=True)
def count_matches(words: Words, references: Words, starts: Ids) -> Words:
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
                here = 0
                for j in range(starts[r], starts[r + 1] - n + 1):
                    here += _same(references, j, words, i, n)
                most = max(most, here)
            row[1 + n] += before < most
    return row


@njit(cache=True, nogil=True)
def count_all_matches(words: Words, word_starts: Ids, references: Words, starts: Ids) -> Words:
    """The statistics of several translations, which stand one after the other."""
    rows = np.empty((len(word_starts) - 1, SIZE), np.int32)
    for number in range(len(rows)):
        rows[number] = count_matches(words[word_starts[number] : word_starts[number + 1]], references, starts)
    return rows


@njit(cache=True, nogil=True)
def _nearest_length(length: int, starts: Ids) -> int:
    best = starts[1] - starts[0]
    for r in range(1, len(starts) - 1):
        other = starts[r + 1] - starts[r]
        near, nearer = abs(best - length), abs(other - length)
        if nearer < near or (nearer == near and other < best):
            best = other
    return best


@njit(cache=True, nogil=True)
def bleu(sums: Ids) -> float:
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
def upper_envelope(offsets: Floats, slopes: Floats, places: Ids, steps: Floats) -> int:
    """The lines offset + slope x that are highest somewhere, from left to right.

    Writes their numbers to `places` and where each begins to be the highest to `steps` (the first at -inf); gives their
    number. Of equal lines the first is taken.
    """
    order = np.argsort(slopes, kind="mergesort")
    count = 0
    for line in order:
        begin = -np.inf
        skip = False
        while count > 0:
            top = places[count - 1]
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
        places[count] = line
        steps[count] = begin if count > 0 else -np.inf
        count += 1
    return count


SLACK = 1e-6  # much more than rounding errors
COMPARING = {"nnan", "nsz"}  # lets minima and maxima be taken of several numbers at a time; no sum changes


@njit(cache=True, nogil=True)
def keep_high_lines(offsets: Floats, slopes: Floats, kept: Ids) -> int:
    """Write the lines that may be the highest somewhere to `kept`, in their order; gives their number.

    Take the highest lines at minus infinity, at 0 and at infinity. The maximum of these three is convex and has two
    corners; a line with a slope between theirs that is below both corners is below it everywhere.
    """
    low, high, top = _least(slopes), _largest(slopes), _largest(offsets)
    level = _largest_where(slopes, offsets, top)  # the slope of the highest line at 0
    left = _crossing(_largest_where(offsets, slopes, low), low, top, level)
    right = _crossing(top, level, _largest_where(offsets, slopes, high), high)
    left_bound, right_bound = top + level * left, top + level * right
    left_bound -= SLACK * (1.0 + abs(left_bound))
    right_bound -= SLACK * (1.0 + abs(right_bound))
    count = 0
    for line in range(len(slopes)):
        kept[count] = line
        is_high = offsets[line] + slopes[line] * left >= left_bound
        count += is_high or offsets[line] + slopes[line] * right >= right_bound
    return count


@njit(cache=True, nogil=True)
def _crossing(offset: float, slope: float, other_offset: float, other_slope: float) -> float:
    """Where two lines meet; 0 for parallel ones."""
    return 0.0 if slope == other_slope else (offset - other_offset) / (other_slope - slope)


@njit(cache=True, nogil=True, fastmath=COMPARING)
def _least(values: Floats) -> float:
    least = np.inf
    for value in values:
        least = value if value < least else least
    return least


@njit(cache=True, nogil=True, fastmath=COMPARING)
def _largest(values: Floats) -> float:
    largest = -np.inf
    for value in values:
        largest = value if value > largest else largest
    return largest


@njit(cache=True, nogil=True, fastmath=COMPARING)
def _largest_where(values: Floats, keys: Floats, key: float) -> float:
    """The largest of the values whose key is this one."""
    largest = -np.inf
    for k in range(len(values)):
        value = values[k] if keys[k] == key else -np.inf
        largest = value if value > largest else largest
    return largest


@njit(cache=True, nogil=True)
def line_search(columns: Any, statistics: Any, starts: Ids, scores: Floats, direction: Floats) -> tuple[float, float]:
    """The step along a direction after which the best translations have the highest BLEU, and that BLEU (Och 2003).

    Features (K, H), statistics (H, SIZE) and scores (H,) without a step belong to all translations, those of sentence
    s from starts[s] on. Between two neighbouring steps at which the best translation of some sentence changes, BLEU is
    constant; all are visited. Gives step and BLEU.
    """
    size = columns.shape[1]
    kept, places, steps = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.float64)
    changes = np.empty(size, np.float64)
    olds, news = np.empty(size, np.int64), np.empty(size, np.int64)
    sums = np.zeros(SIZE, np.int64)
    number = 0
    for s in range(len(starts) - 1):
        begin, end = starts[s], starts[s + 1]
        if begin == end:
            continue
        offsets, slopes = scores[begin:end], products(columns, direction, begin, end)
        high = kept[: keep_high_lines(offsets, slopes, kept)]
        count = upper_envelope(offsets[high], slopes[high], places, steps)
        sums += statistics[begin + high[places[0]]]
        for k in range(1, count):
            changes[number] = steps[k]
            olds[number], news[number] = begin + high[places[k - 1]], begin + high[places[k]]
            number += 1
    order = np.argsort(changes[:number], kind="mergesort")
    return _sweep(changes, olds, news, order, statistics, sums)


@njit(cache=True, nogil=True)
def products(columns: Any, vector: Floats, begin: int, end: int) -> Floats:
    """Of each translation of begin .. end - 1, its features times a vector; summed in float64 and in their order."""
    out = np.zeros(end - begin, np.float64)
    for k in range(len(vector)):
        if vector[k] != 0.0:
            column = columns[k][begin:end]
            for h in range(len(out)):
                out[h] += float(column[h]) * vector[k]
    return out


@njit(cache=True, nogil=True)
def bleu_of_best(scores: Floats, statistics: Any, starts: Ids) -> float:
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
def _sweep(changes: Floats, olds: Ids, news: Ids, order: Ids, statistics: Any, sums: Ids) -> tuple[float, float]:
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
