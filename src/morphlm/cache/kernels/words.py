"""Compiled loops of the cache: what the words before a sentence say about each of its words.

The history of a sentence is a part of an array of tokens. Its words are looked at from the last to the first, always in
the same order, so that texts, states and distributions have the same sums to the last bit.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import njit
from morphlm.vocabulary.vocabulary import END_ID


class CacheTables(NamedTuple):
    """A cache as the kernels take it."""

    starts: Array  # int64 (V + 1,): see `units.Units`
    items: Array  # int32
    shares: Array  # float64
    emissions: Array  # float64
    weights: Array  # float64 (V,): how much a word that was seen counts
    background: Array  # float64 (V,): P_0
    decay: float  # gamma
    pseudo_count: float  # mu, the weight of P_0


@njit(cache=True, nogil=True)
def add_history(history: Array, cache: CacheTables, sums: Array) -> float:
    """Add A(u | w_k) gamma^(k-1) omega(w_k) to `sums` of the units; gives the sum of gamma^(k-1) omega(w_k)."""
    total, power = 0.0, 1.0
    for k in range(len(history) - 1, -1, -1):
        word = history[k]
        weight = power * cache.weights[word]
        power *= cache.decay
        if weight > 0:
            total += weight
            for entry in range(cache.starts[word], cache.starts[word + 1]):
                sums[cache.items[entry]] += weight * cache.shares[entry]
    return total


@njit(cache=True, nogil=True)
def clear_history(history: Array, cache: CacheTables, sums: Array) -> None:
    """Undo `add_history`: all sums are 0 again."""
    for word in history:
        for entry in range(cache.starts[word], cache.starts[word + 1]):
            sums[cache.items[entry]] = 0.0


@njit(cache=True, nogil=True)
def word_probability(word: int, cache: CacheTables, sums: Array, total: float) -> float:
    """(sum_u sums_u P(w | u) + mu P_0(w)) / (total + mu)."""
    mass = cache.pseudo_count * cache.background[word]
    for entry in range(cache.starts[word], cache.starts[word + 1]):
        mass += sums[cache.items[entry]] * cache.emissions[entry]
    return mass / (total + cache.pseudo_count)


@njit(cache=True, nogil=True)
def score_text(tokens: Array, window: int, cache: CacheTables, units: int) -> Array:
    """ln p of every token of sentences that each end with END; the words before a sentence are its history."""
    logprobs, sums = np.empty(len(tokens)), np.zeros(units)
    begin, first, total = 0, 0, 0.0
    for i in range(len(tokens)):
        logprobs[i] = np.log(word_probability(tokens[i], cache, sums, total))
        if tokens[i] == END_ID:
            clear_history(tokens[first:begin], cache, sums)
            begin = i + 1
            first = max(0, begin - window)
            total = add_history(tokens[first:begin], cache, sums)
    return logprobs


@njit(cache=True, nogil=True)
def score_words(history: Array, words: Array, cache: CacheTables, units: int) -> Array:
    """p of words in a sentence after a history."""
    sums, result = np.zeros(units), np.empty(len(words))
    total = add_history(history, cache, sums)
    for i in range(len(words)):
        result[i] = word_probability(words[i], cache, sums, total)
    return result
