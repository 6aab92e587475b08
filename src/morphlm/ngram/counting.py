"""First stage of modified Kneser-Ney: the n-grams of all orders up to n, with their adjusted counts.

Each order is found from the one below by sorting end positions: once by word, then for each order by the number of the
context, so that a million n-grams take a fraction of a second and nothing is hashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from morphlm.arguments import whole_number
from morphlm.arrays import Array, BoolArray, Int32Array, Int64Array
from morphlm.errors import ConfigError
from morphlm.ngram import kernels
from morphlm.vocabulary.corpus import Corpus
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID
from morphlm.wording import option

MAX_ORDER = 100
MAX_TOKENS = 2**31 - 1


@dataclass
class OrderCounts:
    """The n-grams of one order, sorted by their words; `counts` are raw first, then adjusted in place."""

    words: Int32Array  # last word of each n-gram
    counts: Int64Array  # negative: pruned
    suffixes: Int32Array  # number, in the order below, of the n-gram without its first word
    at_begin: BoolArray  # its first word is BEGIN
    first_child: Int64Array  # for each context (the order below): where its n-grams begin

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True)
class NgramCounts:
    """All orders with adjusted counts, and for each how many n-grams have adjusted count 0, 1, 2, 3, 4."""

    orders: list[OrderCounts]
    counts_of_counts: list[Int64Array]
    is_pruned: bool = False  # whether any order has a threshold


def check_order(order: int) -> None:
    """Refuse an order that no model can have."""
    if not 1 <= order <= MAX_ORDER:
        raise ConfigError(f"the order of an n-gram model lies in 1..{MAX_ORDER}, not {order}")


def check_number_of_tokens(tokens: int, sentences: int) -> None:
    """Positions in the text are numbered in 32 bits."""
    if tokens + sentences > MAX_TOKENS:
        raise ConfigError(
            f"{tokens:,} tokens are too many for one model, which takes {MAX_TOKENS:,} with the begins of sentences; "
            "train on less text"
        )


def pruning_thresholds(prune: Sequence[int], order: int) -> tuple[int, ...]:
    """For each order, up to which count n-grams are pruned, as lmplz takes it: the last number is for all that follow.

    They rise, so that what is left holds all contexts and suffixes of its n-grams.
    """
    given = [whole_number("a pruning threshold", threshold) for threshold in prune]
    if len(given) > order:
        raise ConfigError(f"there are {len(given)} pruning thresholds for an order of {order}; give at most one each")
    if any(lower > higher for lower, higher in pairwise(given)):
        raise ConfigError(f"the pruning thresholds {_listed(given)} fall; each must be at least the one before it")
    if given and given[0]:
        raise ConfigError(
            f"the pruning thresholds {_listed(given)} begin with {given[0]}, but single words are not pruned by their "
            f"count; begin with 0, and prune words by {option('--kappa')} or {option('--vocab')}"
        )
    return (*given, *[(given or [0])[-1]] * (order - len(given)))


def _listed(numbers: list[int]) -> str:
    return " ".join(map(str, numbers))


def count_ngrams(corpus: Corpus, order: int, prune: Sequence[int] = ()) -> NgramCounts:
    """Count all n-grams up to `order` and adjust the counts of the lower orders (Kneser-Ney's continuation counts).

    N-grams that occur as often as `prune` says for their order, or less, are marked as pruned.
    """
    check_order(order)
    thresholds = pruning_thresholds(prune, order)
    sentences = corpus.sentences
    check_number_of_tokens(len(corpus.tokens), sentences)
    stream, depth = kernels.with_begins(corpus.tokens, sentences)
    orders = _count_orders(stream, depth, order, len(corpus.vocabulary))
    counts_of_counts = []
    last_counts = _counts_of_last_ngrams(stream, orders)
    pruned = [counts.counts <= threshold for counts, threshold in zip(orders, thresholds, strict=True) if threshold]
    for lower, higher in pairwise(orders):
        kernels.adjust_counts(lower.counts, lower.at_begin, higher.suffixes)
    orders[0].counts[BEGIN_ID] = 0  # never predicted
    for counts, correction in zip(orders, [*last_counts, None], strict=True):
        counts_of_counts.append(_count_counts(counts.counts, correction))
    for counts, mask in zip(orders[len(orders) - len(pruned) :], pruned, strict=True):
        np.negative(counts.counts, out=counts.counts, where=mask)
    return NgramCounts(orders, counts_of_counts, bool(pruned))


def _count_orders(stream: Int32Array, depth: NDArray[np.uint8], order: int, vocabulary_size: int) -> list[OrderCounts]:
    by_word = kernels.positions_by_word(stream, depth, vocabulary_size)
    orders = [_unigrams(stream, vocabulary_size)]
    shorter = stream  # the number of a unigram is its word
    for n in range(2, order + 1):
        contexts = len(orders[-1])
        positions = kernels.positions_by_ngram(by_word, depth, shorter, n, contexts)
        longer = np.empty(len(stream), np.int32)
        ngrams = kernels.number_ngrams(positions, stream, shorter, longer)
        orders.append(
            OrderCounts(*kernels.collect_ngrams(positions, stream, depth, shorter, longer, n, ngrams, contexts))
        )
        shorter = longer
    return orders


def _unigrams(stream: Int32Array, vocabulary_size: int) -> OrderCounts:
    at_begin = np.zeros(vocabulary_size, np.bool_)
    at_begin[BEGIN_ID] = True
    return OrderCounts(
        words=np.arange(vocabulary_size, dtype=np.int32),
        counts=np.bincount(stream, minlength=vocabulary_size).astype(np.int64),
        suffixes=np.full(vocabulary_size, kernels.ROOT, np.int32),
        at_begin=at_begin,
        first_child=np.array([0, vocabulary_size], np.int64),
    )


@dataclass(frozen=True)
class LastNgram:
    """The n-gram that lmplz counts by its raw count when it collects counts of counts."""

    number: int
    raw_count: int


def _counts_of_last_ngrams(stream: Int32Array, orders: list[OrderCounts]) -> list[LastNgram | None]:
    """For each lower order, the last n-gram in lmplz's order of sorting, with its raw count.

    lmplz emits an n-gram's statistics when the next one differs; the ones still open at the end of its input enter the
    statistics with their raw instead of their adjusted count. That shifts the discounts of small texts beyond the
    printed precision, so we do the same. Its order: last word first, words in order of first appearance.
    """
    appearance = np.zeros(len(orders[0]), np.int64)
    appearance[stream[::-1]] = np.arange(len(stream), 0, -1)  # of several assignments the last one, the earliest, stays
    appearance[BEGIN_ID], appearance[END_ID] = -2, -1
    latest = int(np.argmax(appearance))
    ends = np.flatnonzero(stream == latest)
    last_ngrams: list[LastNgram | None] = [None] * (len(orders) - 1)
    for back in range(len(orders) - 1):
        words = stream[ends - back]
        latest = words[np.argmax(appearance[words])]
        ends = ends[words == latest]
        number = _ngram_number(stream, int(ends[0]), back + 1, orders)
        last_ngrams[back] = LastNgram(number, int(orders[back].counts[number]))
        if latest == BEGIN_ID:
            break
    return last_ngrams


def _ngram_number(stream: Int32Array, end: int, n: int, orders: list[OrderCounts]) -> int:
    """The number, within its order, of the n-gram that ends at a position."""
    number = int(stream[end - n + 1])
    for level in range(1, n):
        counts = orders[level]
        begin, stop = counts.first_child[number], counts.first_child[number + 1]
        number = int(begin + np.searchsorted(counts.words[begin:stop], stream[end - n + 1 + level]))
    return number


def _count_counts(counts: Int64Array, last: LastNgram | None) -> Int64Array:
    """How many n-grams have count 0, 1, 2, 3 and 4."""
    histogram = histogram_of(counts)
    if last is not None:
        histogram = with_raw_count(histogram, int(counts[last.number]), last)
    return histogram[:5]


def histogram_of(counts: Array) -> Int64Array:
    """How many n-grams have count 0, 1, 2, 3, 4, and more."""
    return np.bincount(np.minimum(counts, 5), minlength=6).astype(np.int64)


def with_raw_count(histogram: Int64Array, adjusted: int, last: LastNgram) -> Int64Array:
    """The histogram with the last n-gram, whose adjusted count is in it, under its raw count."""
    corrected = histogram.copy()
    corrected[min(adjusted, 5)] -= 1
    corrected[min(last.raw_count, 5)] += 1
    return corrected
