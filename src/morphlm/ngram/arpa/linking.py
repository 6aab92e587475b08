"""n-grams of all orders, as an ARPA file lists them, to the trie that answers queries.

From the highest order down, each n-gram's context and suffix are found by hashing, and added where a pruned model lacks
them. From the lowest order up, n-grams are then sorted by their context's place and their last word.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np

from morphlm.arrays import Array, Float32Array, Int32Array, Int64Array
from morphlm.errors import FormatError
from morphlm.ngram.arpa import kernels
from morphlm.ngram.kernels import ROOT
from morphlm.ngram.trie import NgramTrie, check_number_of_nodes
from morphlm.vocabulary.vocabulary import BEGIN_ID

NgramRows = Int32Array  # (n-grams of one order, n) word ids


@dataclass(frozen=True)
class Ngrams:
    """The n-grams of one order, in any order; those that were added have a NaN for ln p."""

    words: NgramRows
    logprob: Float32Array
    backoff: Float32Array

    def with_missing(self, missing: NgramRows) -> Ngrams:
        """With n-grams that others need added at the end."""
        return Ngrams(
            np.concatenate([self.words, missing]),
            np.concatenate([self.logprob, np.full(len(missing), np.nan, np.float32)]),
            np.concatenate([self.backoff, np.zeros(len(missing), np.float32)]),
        )


def hash_table(entries: int, dtype: type[np.integer[Any]] = np.int32) -> tuple[Array, int]:
    """Empty slots for so many entries, and the multiplier of their hashes."""
    return np.full(1 << (2 * entries).bit_length(), kernels.EMPTY, dtype), secrets.randbits(62) | 1


def build_trie(orders: list[Ngrams], vocabulary_size: int) -> NgramTrie:
    """Link n-grams of all orders to their contexts and suffixes; nodes of one order are sorted by their words."""
    orders = [_all_unigrams(orders[0], vocabulary_size), *orders[1:]]
    links: list[tuple[Int32Array, Int32Array]] = []
    for n in range(len(orders) - 1, 0, -1):
        orders[n - 1], context, suffix = _link(orders[n].words, orders[n - 1])
        links.insert(0, (context, suffix))
    sizes = tuple(len(order.words) for order in orders)
    check_number_of_nodes(sum(sizes))
    return _sorted_trie(orders, links, sizes)


def _all_unigrams(unigrams: Ngrams, vocabulary_size: int) -> Ngrams:
    """Unigrams in order of word ids; marks the file does not have get probability 0, as BEGIN always does."""
    ids = unigrams.words[:, 0]
    if len(np.unique(ids)) < len(ids):
        raise _repeated(1)
    logprob = np.full(vocabulary_size, -np.inf, np.float32)
    backoff = np.zeros(vocabulary_size, np.float32)
    logprob[ids], backoff[ids] = unigrams.logprob, unigrams.backoff
    logprob[BEGIN_ID] = -np.inf
    return Ngrams(np.arange(vocabulary_size, dtype=np.int32)[:, None], logprob, backoff)


def _repeated(n: int) -> FormatError:
    return FormatError(f"the model has a {n}-gram twice; remove one of them or make the model again")


def _link(words: NgramRows, shorter: Ngrams) -> tuple[Ngrams, Int32Array, Int32Array]:
    """The rows of each n-gram's context and suffix in the order below, to which those are added that it lacks."""
    if words.shape[1] == 2:
        return shorter, words[:, 0], words[:, 1]
    slots, multiplier = hash_table(len(shorter.words))
    if kernels.fill_ngram_table(shorter.words, slots, multiplier) < len(shorter.words):
        raise _repeated(words.shape[1] - 1)
    found = np.empty((2, len(words)), np.int32)
    for first in (0, 1):
        kernels.find_ngrams(words, first, shorter.words, slots, multiplier, found[first])
    lacking = found == kernels.EMPTY
    if lacking.any():
        needed = np.concatenate([words[lacking[0], :-1], words[lacking[1], 1:]])
        missing, which = np.unique(needed, axis=0, return_inverse=True)
        found[lacking] = len(shorter.words) + which.ravel()
        shorter = shorter.with_missing(missing)
    return shorter, found[0], found[1]


def _sorted_trie(orders: list[Ngrams], links: list[tuple[Int32Array, Int32Array]], sizes: tuple[int, ...]) -> NgramTrie:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rank: Int64Array = np.arange(sizes[0])  # of each row among the sorted rows of its order
    words, logprobs, backoffs = [orders[0].words[:, 0]], [orders[0].logprob], [orders[0].backoff]
    suffixes, first_child = [np.full(sizes[0], ROOT, np.int64)], []
    for n, ((context, suffix), order) in enumerate(zip(links, orders[1:], strict=True), 1):
        place = rank[context]
        key = place * sizes[0] + order.words[:, -1]  # both are below 2^31
        rows = np.argsort(key, kind="stable")
        if not np.diff(key[rows]).all():
            raise _repeated(n + 1)
        children = np.bincount(place, minlength=sizes[n - 1])
        first_child.append(starts[n] + np.concatenate([[0], np.cumsum(children)[:-1]]))
        suffixes.append(starts[n - 1] + rank[suffix][rows])
        words.append(order.words[rows, -1])
        logprobs.append(_with_added(order.logprob[rows], starts[n - 1] + place[rows], suffixes[-1], logprobs, backoffs))
        backoffs.append(order.backoff[rows])
        rank = np.empty(sizes[n], np.int64)
        rank[rows] = np.arange(sizes[n])
    return NgramTrie(
        sizes=sizes,
        words=np.concatenate(words),
        logprob=np.concatenate(logprobs),
        suffix=np.concatenate(suffixes).astype(np.int32),
        backoff=np.concatenate([np.zeros(0, np.float32), *backoffs[:-1]]),
        first_child=np.concatenate([*first_child, [starts[-1]]]).astype(np.int64),
    )


def _with_added(
    logprob: Float32Array,
    contexts: Int64Array,
    suffixes: Int64Array,
    logprobs: list[Float32Array],
    backoffs: list[Float32Array],
) -> Float32Array:
    """ln p of an order whose added n-grams get what backing off gives: ln b(context) + ln p(suffix)."""
    added = np.flatnonzero(np.isnan(logprob))
    if len(added):
        below = sum(map(len, logprobs[:-1]))  # both nodes are of the order below
        logprob[added] = backoffs[-1][contexts[added] - below] + logprobs[-1][suffixes[added] - below]
    return logprob
