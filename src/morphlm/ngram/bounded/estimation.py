"""Third stage in bounded memory: probabilities order by order, in blocks of contexts, into the files of the trie.

The numbers come from the kernel that also works in memory; a block holds all n-grams of its contexts, so that every sum
is the same. The probabilities of suffixes are looked up in ranges that fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from morphlm.arrays import Array, BoolArray, Float32Array, Int32Array, Int64Array
from morphlm.ngram import kernels as ngram_kernels
from morphlm.ngram.bounded import kernels
from morphlm.ngram.bounded.counting import BlockSizes, CountsOnDisk
from morphlm.ngram.bounded.storage import ArrayFile, TemporaryFolder
from morphlm.ngram.discounts import Discounts, estimate_discounts
from morphlm.ngram.estimation import natural_logs, unigram_probabilities
from morphlm.ngram.trie import NgramTrie
from morphlm.progress import progress_bar


def estimate_on_disk(
    counts: CountsOnDisk, *, open_vocabulary: bool, folder: TemporaryFolder, sizes: BlockSizes, is_pruned: bool
) -> tuple[NgramTrie, list[Discounts]]:
    """Probabilities and back-offs of all orders; the trie is a map of files."""
    discounts = [estimate_discounts(n, histogram) for n, histogram in enumerate(counts.counts_of_counts, 1)]
    trie = _KeptTrie(counts, folder) if is_pruned else _WholeTrie(counts, folder)
    unigrams = counts.counts[0].read(0, counts.sizes[0]).astype(np.int64)
    probabilities = unigram_probabilities(unigrams, discounts[0], open_vocabulary)
    trie.add_unigrams(natural_logs(probabilities))
    lower = folder.array(np.float64)
    lower.append(probabilities)
    with progress_bar("estimating", sum(counts.sizes[1:]), "n-gram") as bar:
        for n in range(2, len(counts.sizes) + 1):
            is_highest = n == len(counts.sizes)
            higher = folder.array(np.float64)
            suffix_probabilities = SuffixLookup(lower, counts, n, folder, sizes)
            trie.begin_order(n, sizes)
            for block in _blocks(counts, n, sizes.ngrams):
                p, gamma = ngram_kernels.interpolate(
                    block.first_child,
                    block.counts,
                    np.arange(len(block.counts), dtype=np.int32),
                    discounts[n - 1].table(),
                    suffix_probabilities.of(block.suffixes),
                )
                trie.add(block, natural_logs(p), natural_logs(gamma))
                if not is_highest:
                    higher.append(p)
                bar.update(len(p))
            lower.close()
            lower = higher
    return trie.finished(), discounts


@dataclass(frozen=True)
class ContextBlock:
    """Some contexts with all n-grams that extend them."""

    n: int  # order of the n-grams
    contexts: tuple[int, int]  # from and to, within their order
    ngrams: tuple[int, int]
    first_child: Int64Array  # from the first n-gram of the block on
    counts: Int64Array
    suffixes: Int32Array  # nodes


def _blocks(counts: CountsOnDisk, n: int, most: int) -> Iterator[ContextBlock]:
    """All contexts with their n-grams of order n, about `most` of these at a time."""
    context, contexts = 0, counts.sizes[n - 2]
    origin, start = counts.start(n - 1), counts.start(n)
    while context < contexts:
        end = min(context + most, contexts)
        first_child = counts.first_child.read(origin + context, origin + end + 1) - start
        if first_child[-1] - first_child[0] > most:
            end = context + max(1, int(np.searchsorted(first_child, first_child[0] + most, side="right")) - 1)
            first_child = first_child[: end - context + 1]
        ngrams = int(first_child[0]), int(first_child[-1])
        yield ContextBlock(
            n,
            (context, end),
            ngrams,
            first_child - ngrams[0],
            counts.counts[n - 1].read(*ngrams).astype(np.int64),
            counts.suffixes.read(start + ngrams[0], start + ngrams[1]),
        )
        context = end


class SuffixLookup:
    """A value of the suffix of each n-gram of an order, in the order of the n-grams.

    If the values of all suffixes do not fit into memory, they are looked up range by range beforehand: the suffixes
    are split by range, the values of each range found, and these taken in turn when the suffixes come again.
    """

    def __init__(
        self, values: ArrayFile, counts: CountsOnDisk, n: int, folder: TemporaryFolder, sizes: BlockSizes
    ) -> None:
        self._begin, self._bits = counts.start(n - 1), sizes.range_bits
        self._table: Array | None = None
        self._found: list[ArrayFile] = []
        ranges = len(range(0, len(values), 1 << self._bits))
        if ranges <= 1:
            self._table = values.read(0, len(values))
            return
        start = counts.start(n)
        suffixes = (block for _, block in counts.suffixes.blocks(sizes.ngrams, start, start + counts.sizes[n - 1]))
        offsets = self._split(suffixes, [folder.array(np.int32) for _ in range(ranges)])
        self._found = [self._looked_up(values, k, offsets[k], folder, sizes.ngrams) for k in range(ranges)]
        self._next = np.zeros(ranges, np.int64)

    def _split(self, blocks: Iterator[Int32Array], offsets: list[ArrayFile]) -> list[ArrayFile]:
        for suffixes in blocks:
            split, sizes = self._split_block(suffixes, len(offsets))
            for target, (begin, end) in zip(offsets, pairwise([0, *np.cumsum(sizes).tolist()]), strict=True):
                target.append(split[begin:end])
        return offsets

    def _split_block(self, suffixes: Int32Array, ranges: int) -> tuple[Int32Array, Int64Array]:
        split, sizes = np.empty(len(suffixes), np.int32), np.zeros(ranges, np.int64)
        kernels.split_by_range(suffixes, self._begin, self._bits, split, sizes)
        return split, sizes

    def _looked_up(
        self, values: ArrayFile, number: int, offsets: ArrayFile, folder: TemporaryFolder, block: int
    ) -> ArrayFile:
        """The values that the offsets into one range ask for."""
        begin = number << self._bits
        table = values.read(begin, min(begin + (1 << self._bits), len(values)))
        found = folder.array(table.dtype)
        for _, wanted in offsets.blocks(block):
            found.append(table[wanted])
        offsets.close()
        return found

    def of(self, suffixes: Int32Array) -> Array:
        """The values of the next suffixes."""
        if self._table is not None:
            return self._table[suffixes - self._begin]
        _, sizes = self._split_block(suffixes, len(self._found))
        pieces = [
            found.read(begin, begin + size)
            for found, begin, size in zip(self._found, self._next.tolist(), sizes.tolist(), strict=True)
        ]
        self._next += sizes
        split = np.concatenate(pieces)
        joined = np.empty_like(split)
        kernels.join_ranges(suffixes, self._begin, self._bits, split, sizes, joined)
        return joined


class _WholeTrie:
    """Collects the trie of all n-grams: structure and numbers are as they were counted."""

    def __init__(self, counts: CountsOnDisk, folder: TemporaryFolder) -> None:
        self._counts, self._folder = counts, folder
        self._words, self._suffixes, self._first_child = counts.words, counts.suffixes, counts.first_child
        self._logprob, self._backoff = folder.array(np.float32), folder.array(np.float32)

    def add_unigrams(self, logprob: Float32Array) -> None:
        """The probabilities of the words."""
        self._logprob.append(logprob)

    def begin_order(self, n: int, sizes: BlockSizes) -> None:
        """What follows are n-grams of this order."""

    def add(self, block: ContextBlock, logprob: Float32Array, backoff: Float32Array) -> None:
        """The probabilities of a block, and the back-offs of its contexts."""
        self._logprob.append(logprob)
        self._backoff.append(backoff)

    @property
    def _sizes(self) -> list[int]:
        return self._counts.sizes

    def finished(self) -> NgramTrie:
        """The trie as maps of the files."""
        return NgramTrie(
            sizes=tuple(self._sizes),
            words=self._words.mapped(),
            logprob=self._logprob.mapped(),
            suffix=self._suffixes.mapped(),
            backoff=self._backoff.mapped(),
            first_child=self._first_child.mapped(),
        )


class _KeptTrie(_WholeTrie):
    """Collects the trie of the n-grams that are not pruned, under new numbers."""

    def __init__(self, counts: CountsOnDisk, folder: TemporaryFolder) -> None:
        super().__init__(counts, folder)
        vocabulary = counts.sizes[0]
        self._words, self._suffixes = folder.array(np.int32), folder.array(np.int32)
        self._first_child = folder.array(np.int64)
        self._words.append(counts.words.read(0, vocabulary))
        self._suffixes.append(counts.suffixes.read(0, vocabulary))
        self._kept_sizes = [vocabulary]
        self._numbers = folder.array(np.int32)  # the new number of each n-gram, within its order
        self._numbers.append(np.arange(vocabulary, dtype=np.int32))
        self._lookup: SuffixLookup | None = None

    @property
    def _sizes(self) -> list[int]:
        return self._kept_sizes

    def begin_order(self, n: int, sizes: BlockSizes) -> None:
        self._lookup = SuffixLookup(self._numbers, self._counts, n, self._folder, sizes)
        self._numbers.close()
        self._numbers = self._folder.array(np.int32)
        self._kept_sizes.append(0)

    def add(self, block: ContextBlock, logprob: Float32Array, backoff: Float32Array) -> None:
        assert self._lookup is not None
        kept, kept_contexts = block.counts >= 0, self._kept_contexts(block)
        super().add(block, logprob[kept], backoff[kept_contexts])
        start, below = sum(self._kept_sizes[:-1]), sum(self._kept_sizes[:-2])
        numbers = self._kept_sizes[-1] + np.concatenate([[0], np.cumsum(kept)])  # of those before each n-gram
        begin, end = (self._counts.start(block.n) + bound for bound in block.ngrams)
        self._words.append(self._counts.words.read(begin, end)[kept])
        self._suffixes.append(self._lookup.of(block.suffixes)[kept] + np.int32(below))
        self._first_child.append(start + numbers[block.first_child[:-1][kept_contexts]])
        self._numbers.append(numbers[:-1])
        self._kept_sizes[-1] = int(numbers[-1])

    def _kept_contexts(self, block: ContextBlock) -> BoolArray:
        kept: BoolArray = self._counts.counts[block.n - 2].read(*block.contexts) >= 0
        return kept

    def finished(self) -> NgramTrie:
        self._first_child.append(np.array([sum(self._kept_sizes)]))
        for unneeded in (self._counts.words, self._counts.suffixes, self._counts.first_child):
            unneeded.close()
        return super().finished()
