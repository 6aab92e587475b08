"""Compiled loops of the neural cache: how alike a prediction is to those of the words before the sentence.

Sums go over the keys in the order of the text, whatever is asked, so that texts and states agree to the last bit.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.cache.config import CacheShape
from morphlm.logbilinear.kernels.numerics import compiled, exponential, inlined

F = np.float32
FOUR = 4  # predictions that are compared at a time
SHORTEST = F(1e-12)  # of a vector that has a direction


class Keys(NamedTuple):
    """The words that may come again."""

    vectors: Array  # float32 (m, d), of length 1: what predicted each of them
    words: Array  # int32 (m,)
    positions: Array  # int64 (m,): where each stands in the text, rising


@compiled
def normalise(vectors: Array, centre: Array) -> Array:
    """Differences from the centre, with length 1."""
    result = np.empty(vectors.shape, F)
    for i in range(len(vectors)):
        square = F(0.0)
        for k in range(centre.size):
            result[i, k] = vectors[i, k] - centre[k]
            square += result[i, k] * result[i, k]
        scale = F(1.0) / max(np.sqrt(square), SHORTEST)
        for k in range(centre.size):
            result[i, k] *= scale
    return result


@compiled
def cosines(queries: Array, vectors: Array, out: Array) -> None:
    """Of FOUR queries and all vectors, two at a time, so that what is loaded from memory is used several times.

    Each sum has the same order wherever its query and its vector stand.
    """
    a, b, c, d = queries[0], queries[1], queries[2], queries[3]
    for i in range(0, len(vectors), 2):
        j = min(i + 1, len(vectors) - 1)
        first, second = vectors[i], vectors[j]
        a1, b1, c1, d1, a2, b2, c2, d2 = F(0.0), F(0.0), F(0.0), F(0.0), F(0.0), F(0.0), F(0.0), F(0.0)
        for k in range(first.size):
            x, y = first[k], second[k]
            a1 += a[k] * x
            b1 += b[k] * x
            c1 += c[k] * x
            d1 += d[k] * x
            a2 += a[k] * y
            b2 += b[k] * y
            c2 += c[k] * y
            d2 += d[k] * y
        out[0, i], out[1, i], out[2, i], out[3, i] = a1, b1, c1, d1
        out[0, j], out[1, j], out[2, j], out[3, j] = a2, b2, c2, d2


@compiled
def similarity_weights(queries: Array, vectors: Array, powers: Array, theta: float, out: Array) -> None:
    """(FOUR, m): the weights for FOUR queries of keys with these vectors and powers of the decay."""
    cosines(queries, vectors, out)
    for q in range(FOUR):
        row = out[q]
        for j in range(len(powers)):
            row[j] = powers[j] * exponential(theta * (row[j] - F(1.0)))


@compiled
def decay_powers(positions: Array, start: int, decay: float) -> Array:
    """gamma^(distance - 1) of keys before a sentence that begins at `start`."""
    powers = np.empty(len(positions), F)
    for j in range(len(positions)):
        powers[j] = decay ** (start - 1 - positions[j])
    return powers


@compiled
def text_masses(
    begin: int, end: int, starts: Array, tokens: Array, queries: Array, keys: Keys, shape: CacheShape, out: Array
) -> None:
    """For the tokens of sentences begin .. end - 1: the weight of the keys that are the same word, and of all keys."""
    block = np.empty((FOUR, queries.shape[1]), F)
    for s in range(begin, end):
        first = np.searchsorted(keys.positions, starts[s] - shape.window)
        last = np.searchsorted(keys.positions, starts[s])
        vectors, words = keys.vectors[first:last], keys.words[first:last]
        powers = decay_powers(keys.positions[first:last], starts[s], shape.decay)
        weights = np.empty((FOUR, len(powers)), F)
        for i in range(starts[s], starts[s + 1], FOUR):
            asked = min(FOUR, starts[s + 1] - i)
            for q in range(FOUR):
                block[q] = queries[i + min(q, asked - 1)]
            similarity_weights(block, vectors, powers, F(shape.sharpness), weights)
            for q in range(asked):
                out[i + q, 0], out[i + q, 1] = masses_of(weights[q], words, tokens[i + q])


@inlined
def masses_of(weights: Array, words: Array, word: int) -> tuple[float, float]:
    """The weight of the keys that are a word, and of all keys."""
    same, total = 0.0, 0.0
    for j in range(len(weights)):
        total += weights[j]
        if words[j] == word:
            same += weights[j]
    return same, total


@compiled
def word_masses(query: Array, keys: Keys, start: int, shape: CacheShape, words: int) -> tuple[Array, float]:
    """The weights of all words, by id, after a text with these keys; and their sum."""
    first = np.searchsorted(keys.positions, start - shape.window)
    vectors, own = keys.vectors[first:], keys.words[first:]
    powers = decay_powers(keys.positions[first:], start, shape.decay)
    block, weights = np.empty((FOUR, query.size), F), np.empty((FOUR, len(powers)), F)
    for q in range(FOUR):
        block[q] = query
    similarity_weights(block, vectors, powers, F(shape.sharpness), weights)
    masses, total = np.zeros(words), 0.0
    for j in range(len(own)):
        total += weights[0, j]
        masses[own[j]] += weights[0, j]
    return masses, total
