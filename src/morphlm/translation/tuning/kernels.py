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


@njit(cache=True, nogil=True)
def line_search(features: Any, statistics: Any, starts: Ids, weights: Floats, direction: Floats) -> tuple[float, float]:
    """The step along a direction after which the best translations have the highest BLEU, and that BLEU (Och 2003).

    features (H, K) and statistics (H, SIZE) belong to all translations, those of sentence s from starts[s] on. Between
    two neighbouring steps at which the best translation of some sentence changes, BLEU is constant; all are visited.
    Gives step and BLEU.
    """
    size = len(features)
    places, steps = np.empty(size, np.int64), np.empty(size, np.float64)
    changes = np.empty(size, np.float64)
    olds, news = np.empty(size, np.int64), np.empty(size, np.int64)
    sums = np.zeros(SIZE, np.int64)
    number = 0
    for s in range(len(starts) - 1):
        begin, end = starts[s], starts[s + 1]
        if begin == end:
            continue
        offsets = _dots(features[begin:end], weights)
        slopes = _dots(features[begin:end], direction)
        count = upper_envelope(offsets, slopes, places, steps)
        sums += statistics[begin + places[0]]
        for k in range(1, count):
            changes[number] = steps[k]
            olds[number], news[number] = begin + places[k - 1], begin + places[k]
            number += 1
    order = np.argsort(changes[:number], kind="mergesort")
    return _sweep(changes, olds, news, order, statistics, sums)


@njit(cache=True, nogil=True)
def _dots(rows: Any, vector: Floats) -> Floats:
    """Products of each row with a vector, in float64 and in the order of its numbers."""
    out = np.zeros(len(rows), np.float64)
    for h in range(len(rows)):
        total = 0.0
        for k in range(len(vector)):
            total += float(rows[h, k]) * vector[k]
        out[h] = total
    return out


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
