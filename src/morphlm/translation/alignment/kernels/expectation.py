"""Compiled loops of EM for fast_align's model: posteriors sentence by sentence, translation probabilities word by word.

There is one array of `links`: for every sentence a matrix with a row for NULL and for each given word and a column for
each generated word, row after row. It holds t(f|e), becomes the posteriors in place, and t(f|e) again. A word's counts
are collected by going through all rows of that word, in a dense array over the other vocabulary: so nothing is ever
searched, and no two threads add to the same count.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import njit
from morphlm.logbilinear.kernels.numerics import CACHE_LINE, prefetch

FLOOR = 1e-25  # the least t(f|e): far below what decides anything, and its products stay normal in 32 bits
_MORE = 1.0 + 1e-9  # what exceeds by less is equal
AHEAD = 8  # rows of a word are far apart: begin to load them so much earlier, which doubles the speed
_FLOOR_BELOW = 0.017539  # where exp(digamma(x)) has risen to the floor


class LinkRows(NamedTuple):
    """Sentence pairs for one direction, and where the rows of links of each given word are."""

    given_starts: Array  # (S+1,) int64: a sentence's given words; NULL is the first of each
    generated: Array  # int32: the generated words of all sentences
    generated_starts: Array  # (S+1,) int64
    link_starts: Array  # (S+1,) int64: where the sentence's links begin
    first_row: Array  # (V+1,) int64: a given word's part of the two arrays below
    row_sentence: Array  # int32
    row_links: Array  # int64: where the row begins among the links


@njit(cache=True, nogil=True)
def rows_by_word(
    given: Array, given_starts: Array, generated_starts: Array, link_starts: Array, words: int
) -> tuple[Array, Array, Array]:
    """A counting sort of all rows by their word: first_row, row_sentence and row_links of `LinkRows`."""
    first = np.zeros(words + 1, np.int64)
    for word in given:
        first[word + 1] += 1
    for word in range(words):
        first[word + 1] += first[word]
    at = first[:-1].copy()
    sentences, relative = np.empty(len(given), np.int32), np.empty(len(given), np.int64)
    for s in range(len(given_starts) - 1):
        width = generated_starts[s + 1] - generated_starts[s]
        offset = link_starts[s]
        for i in range(given_starts[s], given_starts[s + 1]):
            k = at[given[i]]
            at[given[i]] += 1
            sentences[k], relative[k] = s, offset
            offset += width
    return first, sentences, relative


# ---------------------------------------------------------------- E: posteriors


@njit(cache=True, nogil=True)
def _rising_powers(tension: float, length: int, rising: Array, falling: Array) -> None:
    """exp(tension k / length) for k = 1 .. length, and 1 over it, by multiplication with a constant ratio."""
    ratio, power = math.exp(tension / length), 1.0
    for k in range(length):
        power *= ratio
        rising[k], falling[k] = power, 1.0 / power


@njit(cache=True, nogil=True)
def posteriors(rows: LinkRows, links: Array, begin: int, end: int, tension: float, p0: float, sums: Array) -> None:
    """Turn t(f|e) into p(a_j = i | e, f) for some sentences.

    exp(-tension |x - y|) is the smaller of exp(tension x) exp(-tension y) and its inverse: no exp inside the loops, and
    Z is a sum beside the others. `sums` gets the log-likelihood, the expected distance from the diagonal, and the
    expected number of links to NULL.
    """
    widest = 1
    for s in range(begin, end):
        widest = max(widest, rows.generated_starts[s + 1] - rows.generated_starts[s])
    rising, falling = np.empty(widest, np.float32), np.empty(widest, np.float32)  # exp(+- tension j/n)
    relative, distances = np.empty(widest, np.float32), np.empty(widest, np.float32)
    norms, masses = np.empty(widest, np.float32), np.empty(widest, np.float32)
    likelihood, distance, nulls = 0.0, 0.0, 0.0
    for s in range(begin, end):
        n = rows.generated_starts[s + 1] - rows.generated_starts[s]
        m = rows.given_starts[s + 1] - rows.given_starts[s] - 1
        null = links[rows.link_starts[s] : rows.link_starts[s] + n]
        _rising_powers(tension, n, rising, falling)
        for j in range(n):
            norms[j] = masses[j] = distances[j] = 0.0
            relative[j] = (j + 1) / n
        ratio, power = math.exp(tension / m), 1.0
        for i in range(1, m + 1):
            row = links[rows.link_starts[s] + i * n : rows.link_starts[s] + (i + 1) * n]
            power *= ratio
            up, down = np.float32(power), np.float32(1.0 / power)
            for j in range(n):
                after, before = up * falling[j], down * rising[j]
                prior = after if after < before else before
                joint = prior * row[j]
                norms[j] += prior
                masses[j] += joint
                row[j] = joint
        for j in range(n):
            weight = (1.0 - p0) / norms[j]
            of_null = p0 * null[j]
            total = of_null + weight * masses[j]
            likelihood += math.log(total)
            nulls += of_null / total
            null[j] = of_null / total
            masses[j] = weight / total
        for i in range(1, m + 1):
            row = links[rows.link_starts[s] + i * n : rows.link_starts[s] + (i + 1) * n]
            offset = np.float32(i / m)
            for j in range(n):
                posterior = row[j] * masses[j]
                row[j] = posterior
                distances[j] += posterior * abs(offset - relative[j])
        for j in range(n):
            distance += distances[j]
    sums[0], sums[1], sums[2] = likelihood, distance, nulls


@njit(cache=True, nogil=True)
def best_links(rows: LinkRows, links: Array, begin: int, end: int, tension: float, p0: float, best: Array) -> None:
    """The likeliest given position (from 0) of each generated word, -1 for NULL; `links` holds t(f|e).

    Of positions that are equally likely but for rounding, the first is taken; NULL before all.
    """
    widest = 1
    for s in range(begin, end):
        widest = max(widest, rows.generated_starts[s + 1] - rows.generated_starts[s])
    rising, falling, norms, highest = np.empty(widest), np.empty(widest), np.empty(widest), np.empty(widest)
    for s in range(begin, end):
        first, offset = rows.generated_starts[s], rows.link_starts[s]
        n = rows.generated_starts[s + 1] - first
        m = rows.given_starts[s + 1] - rows.given_starts[s] - 1
        _rising_powers(tension, n, rising, falling)
        norms[:n] = highest[:n] = 0.0
        ratio, power = math.exp(tension / m), 1.0
        best_of_sentence = best[first : first + n]
        for i in range(1, m + 1):
            power *= ratio
            row = links[offset + i * n : offset + (i + 1) * n]
            for j in range(n):
                prior = min(power * falling[j], rising[j] / power)
                joint = prior * row[j]
                norms[j] += prior
                if joint > highest[j] * _MORE:
                    highest[j], best_of_sentence[j] = joint, i - 1
        for j in range(n):
            if (1.0 - p0) * highest[j] / norms[j] <= p0 * links[offset + j] * _MORE:
                best_of_sentence[j] = -1


# ---------------------------------------------------------------- M: translation probabilities


@njit(cache=True, nogil=True)
def exp_digamma(x: float) -> float:
    """exp(digamma(x)) to seven digits; what is below FLOOR is FLOOR.

    digamma(x) = digamma(x + 4) - 1/x - 1/(x+1) - 1/(x+2) - 1/(x+3), and a series for exp(digamma(1/2 + z)) at z >= 3.5.
    """
    if x < _FLOOR_BELOW:
        return FLOOR
    shift = 1.0
    if x < 8.0:
        u = x * (x + 3.0)
        shift = math.exp(-(2.0 * x + 3.0) * (2.0 * u + 2.0) / (u * (u + 2.0)))
        x += 4.0
    z = x - 0.5
    v = 1.0 / (z * z)
    series = 1.0 / 24.0 - v * (37.0 / 5760.0 - v * (10313.0 / 2903040.0 - v * (5509121.0 / 1393459200.0)))
    return (z + series / z) * shift


@njit(cache=True, nogil=True)
def load_early(rows: LinkRows, links: Array, words: Array, k: int) -> None:
    """Begin to load a row of links and its words, both given as columns; long rows go on by themselves."""
    if k < len(rows.row_links):
        offset, first = rows.row_links[k], rows.generated_starts[rows.row_sentence[k]]
        for line in range(2):
            prefetch(links, np.int64(offset + line * CACHE_LINE), np.int64(0))  # type: ignore[call-arg]
            prefetch(words, np.int64(first + line * CACHE_LINE), np.int64(0))


@njit(cache=True, nogil=True)
def translation_probabilities(
    rows: LinkRows, links: Array, begin: int, end: int, alpha: float, counts: Array, seen: Array, values: Array
) -> None:
    """Turn posteriors into t(f|e) for some given words; alpha = 0: the likeliest ones, else variational Bayes.

    t(f|e) = count(f, e) / count(e), or exp(digamma(count(f, e) + alpha)) / exp(digamma(count(e) + alpha K)), where K
    words occur beside e. `counts` is -1 everywhere before and after; it, `seen` (one longer) and `values` are as long
    as the vocabulary of the generated words.
    """
    link_column, word_column = links.reshape(-1, 1), rows.generated.reshape(-1, 1)
    for word in range(begin, end):
        distinct = 0
        for k in range(rows.first_row[word], rows.first_row[word + 1]):
            load_early(rows, link_column, word_column, k + AHEAD)
            first = rows.generated_starts[rows.row_sentence[k]]
            n = rows.generated_starts[rows.row_sentence[k] + 1] - first
            row, others = links[rows.row_links[k] : rows.row_links[k] + n], rows.generated[first : first + n]
            for j in range(n):
                other = others[j]
                count = counts[other]
                seen[distinct] = other
                distinct += count < 0.0  # no branch: whether a word is new cannot be predicted
                counts[other] = max(count, 0.0) + row[j]
        total = 0.0
        for d in range(distinct):
            total += counts[seen[d]]
        scale = 1.0 / (exp_digamma(total + alpha * distinct) if alpha > 0.0 else max(total, FLOOR))
        for d in range(distinct):
            count = counts[seen[d]]
            value = (exp_digamma(count + alpha) if alpha > 0.0 else count) * scale
            values[seen[d]] = max(value, FLOOR)
            counts[seen[d]] = -1.0
        for k in range(rows.first_row[word], rows.first_row[word + 1]):
            load_early(rows, link_column, word_column, k + AHEAD)
            first = rows.generated_starts[rows.row_sentence[k]]
            n = rows.generated_starts[rows.row_sentence[k] + 1] - first
            row, others = links[rows.row_links[k] : rows.row_links[k] + n], rows.generated[first : first + n]
            for j in range(n):
                row[j] = values[others[j]]


@njit(cache=True, nogil=True)
def count_entries(rows: LinkRows, links: Array, begin: int, end: int, least: float, marks: Array, sizes: Array) -> None:
    """How many entries t(f|e) >= least some given words have; `marks` is -1 everywhere before the first word."""
    for word in range(begin, end):
        sizes[word] = 0
        for k in range(rows.first_row[word], rows.first_row[word + 1]):
            first = rows.generated_starts[rows.row_sentence[k]]
            for j in range(rows.generated_starts[rows.row_sentence[k] + 1] - first):
                other = rows.generated[first + j]
                sizes[word] += marks[other] != word and links[rows.row_links[k] + j] >= least
                marks[other] = word


class TableArrays(NamedTuple):
    """Entries t(f|e), those of a given word together, by the number of the generated word."""

    starts: Array  # int64 (V+1,)
    words: Array  # int32: generated words
    probabilities: Array  # float32


@njit(cache=True, nogil=True)
def list_entries(
    rows: LinkRows, links: Array, begin: int, end: int, least: float, values: Array, table: TableArrays
) -> None:
    """Write the entries that `count_entries` counted; `values` is -1 everywhere."""
    for word in range(begin, end):
        entry = table.starts[word]
        for k in range(rows.first_row[word], rows.first_row[word + 1]):
            first = rows.generated_starts[rows.row_sentence[k]]
            for j in range(rows.generated_starts[rows.row_sentence[k] + 1] - first):
                other, value = rows.generated[first + j], links[rows.row_links[k] + j]
                if value >= least and values[other] < 0.0:
                    table.words[entry] = other
                    values[other] = value
                    entry += 1
        table.words[table.starts[word] : entry].sort()
        for k in range(table.starts[word], entry):
            table.probabilities[k] = values[table.words[k]]
            values[table.words[k]] = -1.0
