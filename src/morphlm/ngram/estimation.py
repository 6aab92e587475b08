"""Third stage: interpolated modified Kneser-Ney probabilities, order by order, into the trie that answers queries."""

from __future__ import annotations

import numpy as np

from morphlm.arrays import Float32Array, Float64Array, Int64Array, starts_of
from morphlm.ngram import kernels
from morphlm.ngram.counting import NgramCounts, OrderCounts
from morphlm.ngram.discounts import Discounts, estimate_discounts
from morphlm.ngram.trie import NgramTrie, check_number_of_nodes
from morphlm.vocabulary.vocabulary import BEGIN_ID, UNK_ID


def estimate(counts: NgramCounts, *, open_vocabulary: bool) -> tuple[NgramTrie, list[Discounts]]:
    """Probabilities and back-offs of all orders."""
    discounts = [estimate_discounts(n, histogram) for n, histogram in enumerate(counts.counts_of_counts, 1)]
    probabilities = [unigram_probabilities(counts.orders[0].counts, discounts[0], open_vocabulary)]
    gammas: list[Float64Array] = []
    for order, discount in zip(counts.orders[1:], discounts[1:], strict=True):
        p, gamma = kernels.interpolate(
            order.first_child, order.counts, order.suffixes, discount.table(), probabilities[-1]
        )
        probabilities.append(p)
        gammas.append(gamma)
    found = counts.orders, probabilities, gammas
    return _assemble(*(_without_pruned(*found) if counts.is_pruned else found)), discounts


def unigram_probabilities(counts: Int64Array, discounts: Discounts, open_vocabulary: bool) -> Float64Array:
    """p(w) = (a(w) - D(a(w))) / sum a + gamma / |V|: interpolated with the uniform distribution over |V| words.

    BEGIN is never predicted. UNK takes part like a word that was not seen; with a closed vocabulary it gets nothing.
    """
    predicted = np.ones(len(counts), np.bool_)
    predicted[BEGIN_ID] = False
    predicted[UNK_ID] = open_vocabulary
    taken = discounts.table()[np.minimum(counts, 3)]
    gamma = taken.sum() / counts.sum()
    return np.where(predicted, (counts - taken) / counts.sum() + gamma / predicted.sum(), 0.0)


def natural_logs(values: Float64Array) -> Float32Array:
    """As a trie stores them; ln 0 is minus infinity, for what is never predicted."""
    with np.errstate(divide="ignore"):
        return np.log(values).astype(np.float32)


def _without_pruned(
    orders: list[OrderCounts], probabilities: list[Float64Array], gammas: list[Float64Array]
) -> tuple[list[OrderCounts], list[Float64Array], list[Float64Array]]:
    """The same for the n-grams that are kept, under new numbers."""
    kept = [order.counts >= 0 for order in orders]
    numbers = [starts_of(mask) for mask in kept]  # how many n-grams before each one are kept
    shorter = [orders[0]]
    for n, order in enumerate(orders[1:], 1):
        contexts = np.append(kept[n - 1], True)  # and the end of the last one's children
        shorter.append(
            OrderCounts(
                words=order.words[kept[n]],
                counts=order.counts[kept[n]],
                suffixes=numbers[n - 1][order.suffixes[kept[n]]].astype(np.int32),
                at_begin=order.at_begin[kept[n]],
                first_child=numbers[n][order.first_child[contexts]],
            )
        )
    return (
        shorter,
        [p[mask] for p, mask in zip(probabilities, kept, strict=True)],
        [gamma[mask] for gamma, mask in zip(gammas, kept[:-1], strict=True)],
    )


def _assemble(orders: list[OrderCounts], probabilities: list[Float64Array], gammas: list[Float64Array]) -> NgramTrie:
    """Join the orders into one numbering of nodes."""
    sizes = tuple(len(order) for order in orders)
    starts = starts_of(sizes)
    check_number_of_nodes(int(starts[-1]))
    # Children of a context are numbered from the start of the next order; each order's last entry, the end of its
    # children, is the first entry of the order that follows.
    first_child = [order.first_child[:-1] + starts[n] for n, order in enumerate(orders[1:], 1)]
    suffixes = [orders[0].suffixes, *(order.suffixes + starts[n - 1] for n, order in enumerate(orders[1:], 1))]
    return NgramTrie(
        sizes=sizes,
        words=np.concatenate([order.words for order in orders]),
        logprob=np.concatenate([natural_logs(p) for p in probabilities]),
        suffix=np.concatenate(suffixes).astype(np.int32),
        backoff=np.concatenate([np.zeros(0, np.float32), *(natural_logs(gamma) for gamma in gammas)]),
        first_child=np.concatenate([*first_child, [starts[-1]]]).astype(np.int64),
    )
