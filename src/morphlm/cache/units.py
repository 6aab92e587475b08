"""What is counted in a cache: words, or what several words share, which are their classes or their stems.

A word w that was seen gives each of its units u the share A(u | w), and a unit gives its words the probability
P(w | u), in proportion to their counts in the training text and to their shares of u.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array, BoolArray, Float64Array, Int32Array, Int64Array, starts_of
from morphlm.classes.partition import Partition
from morphlm.language_model.addition import Addition
from morphlm.segmentation.factors import Factors
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import BEGIN_ID, UNK_ID, Vocabulary

STEM = "/STM"  # how the name of a stem ends
CONTENT = 1e-3  # t: a word with a larger share of the training text counts less


class Units(NamedTuple):
    """The units of all words, in rows; an entry for each word and unit of it."""

    starts: Int64Array  # (V + 1,): the entries of word w are starts[w] .. starts[w + 1] - 1
    items: Int32Array  # the unit of each entry
    shares: Float64Array  # A(u | w)
    emissions: Float64Array  # P(w | u)

    @property
    def size(self) -> int:
        """How many units there are."""
        return int(self.items.max(initial=-1)) + 1


def word_units(words: int) -> Units:
    """Every word is a unit of its own."""
    emissions = np.ones(words)
    emissions[BEGIN_ID] = 0.0  # it is never predicted
    return Units(np.arange(words + 1), np.arange(words, dtype=np.int32), np.ones(words), emissions)


def class_units(vocabulary: Vocabulary, partition: Partition) -> Units:
    """The class of each word."""
    words = len(vocabulary)
    return _with_emissions(vocabulary, np.arange(words + 1), partition.class_of.astype(np.int32))


def morpheme_units(vocabulary: Vocabulary, factors: Factors) -> Units:
    """The stems of each word, in equal shares; other factors where a source has no labels.

    A word without any is a unit of its own.
    """
    is_unit = _are_units(factors)[factors.indices]
    word_of = np.repeat(np.arange(len(vocabulary)), np.diff(factors.indptr))[is_unit]
    items = factors.indices[is_unit].astype(np.int64)
    alone = np.setdiff1d(np.arange(len(vocabulary)), word_of)
    words, units = np.concatenate([word_of, alone]), np.concatenate([items, len(factors) + alone])
    order = np.argsort(words, kind="stable")
    _, numbers = np.unique(units[order], return_inverse=True)
    starts = starts_of(np.bincount(words, minlength=len(vocabulary)))
    return _with_emissions(vocabulary, starts, numbers.astype(np.int32))


def _are_units(factors: Factors) -> BoolArray:
    """Which factors are stems or, if nothing is known of that, all but the surface forms."""
    is_surface = np.arange(len(factors)) < factors.surfaces
    is_stem = np.array([name.endswith(STEM) for name in factors.names], bool) & ~is_surface
    return is_stem if is_stem.any() else ~is_surface


def _with_emissions(vocabulary: Vocabulary, starts: Int64Array, items: Int32Array) -> Units:
    lengths = np.diff(starts)
    shares = np.repeat(1.0 / np.maximum(lengths, 1), lengths)
    joint = shares * np.repeat(predicted_counts(vocabulary), lengths)
    totals = np.bincount(items, joint)
    return Units(starts, items, shares, joint / np.where(totals > 0, totals, 1.0)[items])


def predicted_counts(vocabulary: Vocabulary) -> Float64Array:
    """Counts of words in the training text; those that it has not count a half, and BEGIN, never predicted, nothing."""
    counts = np.maximum(vocabulary.counts.astype(np.float64), 0.5)
    counts[BEGIN_ID] = 0.0
    return counts


def background_of(vocabulary: Vocabulary) -> Float64Array:
    """P_0, the word frequencies of the training text."""
    counts = predicted_counts(vocabulary)
    shares: Float64Array = counts / counts.sum()
    return shares


def share_unknown(
    units: Units, background: Float64Array, earlier: int, addition: Addition
) -> tuple[Units, Float64Array]:
    """Units and P_0 with words that share the probabilities of UNK; `earlier` words, the last ones, do so already."""
    weights = np.exp(addition.log_weights)  # relative to what is left of UNK
    before = 1.0 + background[len(background) - earlier :].sum() / background[UNK_ID]
    left = before / (before + weights.sum())
    members = np.arange(len(background)) >= len(background) - earlier
    members[UNK_ID] = True
    background = np.where(members, background * left, background)
    lengths = np.diff(units.starts)
    emissions = np.where(np.repeat(members, lengths), units.emissions * left, units.emissions)
    row, added = slice(units.starts[UNK_ID], units.starts[UNK_ID + 1]), len(weights)
    shared = Units(
        starts_of(np.append(lengths, np.full(added, lengths[UNK_ID]))),
        np.append(units.items, np.tile(units.items[row], added)),
        np.append(units.shares, np.tile(units.shares[row], added)),
        np.append(emissions, np.outer(weights, emissions[row])),
    )
    return shared, np.append(background, weights * background[UNK_ID])


def word_weights(vocabulary: Vocabulary, *, unknown: bool = False) -> Float64Array:
    """How much a word that was seen counts: sqrt(t / P_0), at most 1, since frequent words come again anyway.

    Sentence marks count nothing, nor does UNK, unless `unknown` says so: it stands for many words.
    """
    shares = background_of(vocabulary)
    weights = np.minimum(1.0, np.sqrt(CONTENT / np.maximum(shares, CONTENT)))
    kept = weights[UNK_ID]
    weights[: len(RESERVED)] = 0.0
    if unknown:
        weights[UNK_ID] = kept
    return weights


def units_problem(units: Units, weights: Array) -> str:
    """What keeps the cache from being a distribution, or ''."""
    starts, words = units.starts, len(weights)
    if starts[0] != 0 or starts[-1] != len(units.items) or (np.diff(starts) < 1).any():
        return "the rows of the words are not one after the other"
    if weights[BEGIN_ID] != 0 or units.emissions[starts[BEGIN_ID] : starts[BEGIN_ID + 1]].any():
        return "<s> is predicted"
    if not np.allclose(np.add.reduceat(units.shares, starts[:-1]), 1.0, rtol=0, atol=1e-6):
        return "the shares of a word's units do not add up to 1"
    seen = np.repeat(np.arange(words) != BEGIN_ID, np.diff(starts))
    sums = np.bincount(units.items, units.emissions)[units.items[seen]]
    return "" if np.allclose(sums, 1.0, rtol=0, atol=1e-6) else "the probabilities of a unit's words do not add up to 1"
