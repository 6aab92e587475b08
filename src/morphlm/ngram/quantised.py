"""Quantised n-grams: 256 values for the probabilities of an order, and as many for its back-offs, in a compact file.

Probabilities and back-offs from order 2 on are rounded to values that are chosen by Lloyd's algorithm, so that the mean
squared error is small; words keep theirs, and 0 stays 0 among the back-offs, as it says that a context backs off for
free. The file holds a byte for each value, words in as few bytes as they need, and how many children each n-gram has;
suffixes follow from the rest. It is unpacked when it is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from morphlm.arrays import (
    BLOCK_ITEMS,
    Array,
    BoolArray,
    Float32Array,
    Float64Array,
    Int32Array,
    Int64Array,
    blocks_of,
    release_pages,
    starts_of,
)
from morphlm.ngram import kernels
from morphlm.ngram.trie import NgramTrie, siblings_are_sorted
from morphlm.schema import SchemaError

LEVELS = 256  # values of 8 bits
FINE_BINS = 1 << 16  # of equal width, in which values are counted before the levels are chosen
LLOYD_ROUNDS = 30
MANY = 255  # children of an n-gram from this number on are counted elsewhere
Collect = Callable[[Iterable[Array], Any], Array]  # joins blocks of a type, in memory or in a file


def in_memory(blocks: Iterable[Array], dtype: Any) -> Array:
    """Blocks as one array."""
    return np.concatenate([np.zeros(0, dtype), *(block.astype(dtype, copy=False) for block in blocks)])


# ---------------------------------------------------------------- levels


def quantise(trie: NgramTrie, collect: Collect = in_memory) -> NgramTrie:
    """The trie with its values rounded to the levels of their orders."""
    return NgramTrie(
        sizes=trie.sizes,
        words=trie.words,
        logprob=collect(_rounded(trie.logprob, trie.sizes), np.float32),
        suffix=trie.suffix,
        backoff=collect(_rounded(trie.backoff, trie.sizes[:-1]), np.float32),
        first_child=trie.first_child,
    )


def _rounded(values: Float32Array, sizes: tuple[int, ...]) -> Iterator[Float32Array]:
    """The values of all orders in blocks; those of the unigrams as they are."""
    for n, (begin, end) in enumerate(pairwise([0, *accumulate(sizes)]), 1):
        of_order = values[begin:end]
        levels = np.zeros(0, np.float32) if n == 1 else choose_levels(of_order)
        for block in blocks_of(of_order):
            yield block if n == 1 else round_to_levels(block, levels)


def choose_levels(values: Float32Array) -> Float32Array:
    """At most 254 values, ascending, near to which all are but 0 and minus infinity, which stay as they are.

    Values are counted in narrow bins; levels begin with equal numbers of values each, and move to the means of what is
    nearest to them.
    """
    counts, sums = _fine_counts(values)
    filled = counts > 0
    return _lloyd(sums[filled] / counts[filled], counts[filled], LEVELS - 2).astype(np.float32)


def _fine_counts(values: Float32Array) -> tuple[Float64Array, Float64Array]:
    """How many values are in each of many bins of equal width, and their sums."""
    counts, sums = np.zeros(FINE_BINS), np.zeros(FINE_BINS)
    bounds = [(block.min(), block.max()) for block in map(_ordinary, blocks_of(values)) if len(block)]
    if not bounds:
        return counts, sums
    least, greatest = float(min(low for low, _ in bounds)), float(max(high for _, high in bounds))
    width = max(greatest - least, 1e-6) / FINE_BINS
    for block in blocks_of(values):
        kept = _ordinary(block).astype(np.float64)
        bins = np.minimum(((kept - least) / width).astype(np.int64), FINE_BINS - 1)
        counts += np.bincount(bins, minlength=FINE_BINS)
        sums += np.bincount(bins, kept, minlength=FINE_BINS)
    return counts, sums


def _ordinary(values: Float32Array) -> Float32Array:
    """Those that are rounded."""
    ordinary: Float32Array = values[_is_ordinary(values)]
    return ordinary


def _is_ordinary(values: Float32Array) -> BoolArray:
    ordinary: BoolArray = np.isfinite(values) & (values != 0)
    return ordinary


def _lloyd(points: Float64Array, weights: Float64Array, most: int) -> Float64Array:
    """At most so many centres of weighted points, which ascend."""
    if len(points) <= most:
        return points
    share = (np.cumsum(weights) - weights / 2) / weights.sum()
    nearest = np.minimum((share * most).astype(np.int64), most - 1)
    centres = points
    for _ in range(LLOYD_ROUNDS):
        total = np.bincount(nearest, weights, minlength=most)
        centres = np.bincount(nearest, weights * points, minlength=most)[total > 0] / total[total > 0]
        nearest = np.searchsorted((centres[:-1] + centres[1:]) / 2, points)
    return centres


def round_to_levels(values: Float32Array, levels: Float32Array) -> Float32Array:
    """The level nearest to each value; 0 and minus infinity stay."""
    rounded = values.copy()
    ordinary = _is_ordinary(values)
    middles = (levels[:-1].astype(np.float64) + levels[1:]) / 2
    rounded[ordinary] = levels[np.searchsorted(middles, values[ordinary])]
    return rounded


# ---------------------------------------------------------------- files


def bytes_of_a_word(vocabulary_size: int) -> int:
    """How many bytes the id of a word needs."""
    return max(1, ((vocabulary_size - 1).bit_length() + 7) // 8)


def pack(trie: NgramTrie, collect: Collect = in_memory) -> dict[str, Array]:
    """The tensors of a trie whose values are quantised."""
    words = trie.sizes[0]
    width = bytes_of_a_word(words)
    spelled = (_low_bytes(block, width) for block in blocks_of(trie.words[words:]))
    logprob_codes, logprob_levels = _coded(trie.logprob, trie.sizes, collect)
    backoff_codes, backoff_levels = _coded(trie.backoff, trie.sizes[:-1], collect)
    many = [children[children >= MANY] for children in _numbers_of_children(trie)]
    return {
        "unigram_logprob": np.array(trie.logprob[:words]),
        "unigram_backoff": np.array(trie.backoff[:words]),
        "words": collect(spelled, np.uint8),
        "children": collect((np.minimum(children, MANY) for children in _numbers_of_children(trie)), np.uint8),
        "many_children": in_memory(many, np.int64),
        "logprob": logprob_codes,
        "logprob_levels": logprob_levels,
        "backoff": backoff_codes,
        "backoff_levels": backoff_levels,
    }


def _low_bytes(words: Int32Array, width: int) -> Array:
    return words.astype("<i4").view(np.uint8).reshape(-1, 4)[:, :width].reshape(-1)


def _numbers_of_children(trie: NgramTrie) -> Iterator[Int64Array]:
    """How many children each node has, in blocks."""
    for begin in range(0, trie.contexts, BLOCK_ITEMS):
        yield np.diff(trie.first_child[begin : min(begin + BLOCK_ITEMS, trie.contexts) + 1])
        release_pages(trie.first_child)


def _coded(values: Float32Array, sizes: tuple[int, ...], collect: Collect) -> tuple[Array, Float32Array]:
    """A byte for each value from order 2 on, and the levels of the orders, (orders, 256)."""
    bounds = list(pairwise(accumulate(sizes)))
    levels = [_distinct(values[begin:end]) for begin, end in bounds]
    codes = (
        np.searchsorted(of_order, block)
        for of_order, (begin, end) in zip(levels, bounds, strict=True)
        for block in blocks_of(values[begin:end])
    )
    table = np.zeros((len(bounds), LEVELS), np.float32)
    for row, of_order in zip(table, levels, strict=True):
        row[: len(of_order)] = of_order
    return collect(codes, np.uint8), table


def _distinct(values: Float32Array) -> Float32Array:
    found = in_memory((np.unique(block) for block in blocks_of(values)), np.float32)
    return np.unique(found)


def unpack(tensors: Mapping[str, Array], sizes: tuple[int, ...]) -> NgramTrie:
    """The trie of a checked file, in memory. Raises SchemaError where it is no trie."""
    starts = [0, *accumulate(sizes)]
    words = np.concatenate([np.arange(sizes[0], dtype=np.int32), _words(tensors["words"], sizes[0])])
    if (words >= sizes[0]).any():
        raise SchemaError("a word is not in the vocabulary")
    first_child = sizes[0] + starts_of(_children(tensors["children"], tensors["many_children"]))
    if first_child[starts[:-1]].tolist() != starts[1:]:
        raise SchemaError("the n-grams of an order are not the children of those of the order below")
    if not siblings_are_sorted(words, first_child, sizes[0]):
        raise SchemaError("the words after a context are not sorted")
    suffix = np.full(len(words), kernels.ROOT, np.int32)
    if not kernels.link_suffixes(words, first_child, suffix):
        raise SchemaError("the suffix of an n-gram is missing")
    logprob, backoff = (
        np.concatenate([tensors[f"unigram_{name}"], _values(tensors[name], tensors[f"{name}_levels"], starts)])
        for name in ("logprob", "backoff")
    )
    return NgramTrie(sizes, words, logprob, suffix, backoff, first_child)


def _words(packed: Array, vocabulary_size: int) -> Int32Array:
    width = bytes_of_a_word(vocabulary_size)
    wide = np.zeros((len(packed) // width, 4), np.uint8)
    wide[:, :width] = packed.reshape(-1, width)
    words: Int32Array = wide.view("<i4").reshape(-1).astype(np.int32, copy=False)
    if (words < 0).any():
        raise SchemaError("a word is not in the vocabulary")
    return words


def _children(few: Array, many: Int64Array) -> Int64Array:
    children = few.astype(np.int64)
    if np.count_nonzero(few == MANY) != len(many):
        raise SchemaError("there are not as many large numbers of children as n-grams with them")
    children[few == MANY] = many
    return children


def _values(codes: Array, levels: Float32Array, starts: list[int]) -> Float32Array:
    """The levels that codes stand for; `starts` of the orders, of which the unigrams have no codes."""
    values = np.empty(len(codes), np.float32)
    for of_order, (begin, end) in zip(levels, pairwise(start - starts[1] for start in starts[1:]), strict=False):
        values[begin:end] = of_order[codes[begin:end]]
    return values
