"""Compiled loops of the neural cache: how alike a prediction is to those of the words before the sentence.

Sums go over the keys in the order of the text, whatever is asked, so that texts and states agree to the last bit.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.cache.config import CacheShape
from morphlm.logbilinear.kernels.numerics import compiled, exponential

F = np.float32
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
def similarity_weights(query: Array, vectors: Array, powers: Array, theta: float, out: Array) -> None:
    """The weights of keys with these vectors and powers of the decay."""
    for j in range(len(vectors)):
        cosine = F(0.0)
        for k in range(query.size):
            cosine += query[k] * vectors[j, k]
        out[j] = cosine
    for j in range(len(powers)):
        out[j] = powers[j] * exponential(theta * (out[j] - F(1.0)))


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
    for s in range(begin, end):
        first = np.searchsorted(keys.positions, starts[s] - shape.window)
        last = np.searchsorted(keys.positions, starts[s])
        vectors, words = keys.vectors[first:last], keys.words[first:last]
        powers, weights = decay_powers(keys.positions[first:last], starts[s], shape.decay), np.empty(last - first, F)
        for i in range(starts[s], starts[s + 1]):
            similarity_weights(queries[i], vectors, powers, F(shape.sharpness), weights)
            same, total = 0.0, 0.0
            for j in range(len(weights)):
                total += weights[j]
                if words[j] == tokens[i]:
                    same += weights[j]
            out[i, 0], out[i, 1] = same, total


@compiled
def word_masses(query: Array, keys: Keys, start: int, shape: CacheShape, words: int) -> tuple[Array, float]:
    """The weights of all words, by id, after a text with these keys; and their sum."""
    first = np.searchsorted(keys.positions, start - shape.window)
    vectors, own = keys.vectors[first:], keys.words[first:]
    weights, masses, total = np.empty(len(own), F), np.zeros(words), 0.0
    powers = decay_powers(keys.positions[first:], start, shape.decay)
    similarity_weights(query, vectors, powers, F(shape.sharpness), weights)
    for j in range(len(own)):
        total += weights[j]
    for j in range(len(own)):
        masses[own[j]] += weights[j]
    return masses, total
