"""First stage in bounded memory: the n-grams of all orders in sorted order, with their adjusted counts, in files.

The text lies on disk. For each order the end of every n-gram is a record, whose key is the number of its context and
its last word: these are sorted in runs and merged, and the place in the merged order is the number of the n-gram. The
numbers go back to the places of the text, where they are the contexts of the next order. What comes out are the arrays
of the trie, order by order, as `ngram.counting` makes them in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from morphlm.arrays import BLOCK_ITEMS, Array, Int32Array, Int64Array, blocks_of
from morphlm.ngram.bounded import kernels
from morphlm.ngram.bounded.sorting import SORTING_BYTES, RecordRuns
from morphlm.ngram.bounded.storage import ArrayFile, TemporaryFolder
from morphlm.ngram.counting import LastNgram, check_number_of_tokens, histogram_of, with_raw_count
from morphlm.ngram.kernels import ROOT, add_begins
from morphlm.ngram.trie import check_number_of_nodes
from morphlm.progress import progress_bar
from morphlm.vocabulary.corpus import Corpus
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID


@dataclass(frozen=True)
class BlockSizes:
    """How much is in memory at a time, in items."""

    tokens: int  # of the text
    records: int  # of a sorted run
    merged: int  # records in sorted order
    merge_bytes: int  # of the runs while they are merged
    place_bits: int  # 2^bits numbers go to their places at once
    range_bits: int  # 2^bits n-grams are looked up at once
    ngrams: int  # whose probabilities are computed at once


def block_sizes(memory: int) -> BlockSizes:
    """Sizes so that no stage takes more than so many bytes."""

    def bits(items: int) -> int:
        return max(10, items.bit_length() - 1)

    return BlockSizes(
        tokens=min(1 << 20, memory // 256),
        records=memory // SORTING_BYTES,
        merged=min(1 << 20, memory // 256),
        merge_bytes=memory // 2,
        place_bits=bits(min(1 << 24, memory // 8)),
        range_bits=bits(memory // 16),
        ngrams=min(1 << 20, memory // 256),
    )


class TextStream:
    """The text with BEGIN before each sentence, read from the mapped file block by block."""

    def __init__(self, corpus: Corpus, block: int) -> None:
        self._tokens, self._block = corpus.tokens, block
        self.positions = len(corpus.tokens) + corpus.sentences

    def blocks(self) -> Iterator[tuple[int, Int32Array, Array]]:
        """The position of the first word, the words, and the distance of each from BEGIN, at most 255."""
        position, distance = 0, 0
        stream, depth = np.empty(2 * self._block, np.int32), np.empty(2 * self._block, np.uint8)
        for tokens in blocks_of(self._tokens, self._block):
            length, distance = add_begins(tokens, distance, stream, depth)
            yield position, stream[:length], depth[:length]
            position += length


@dataclass
class CountsOnDisk:
    """All orders in files; the arrays of the trie hold one order after the other, as the trie does."""

    words: ArrayFile
    suffixes: ArrayFile  # as nodes of the trie
    first_child: ArrayFile  # of all orders but the highest
    sizes: list[int] = field(default_factory=list)  # number of n-grams of each order
    counts: list[ArrayFile] = field(default_factory=list)  # of each order: raw, then adjusted; negative: pruned
    at_begin: list[tuple[int, int]] = field(default_factory=list)  # of each order: the n-grams that begin with BEGIN
    counts_of_counts: list[Int64Array] = field(default_factory=list)

    def start(self, n: int) -> int:
        """The first node of order n."""
        return sum(self.sizes[: n - 1])


def count_on_disk(
    corpus: Corpus, order: int, thresholds: tuple[int, ...], folder: TemporaryFolder, sizes: BlockSizes
) -> CountsOnDisk:
    """Count all n-grams up to `order` and adjust the counts of the lower orders.

    N-grams of order n that occur thresholds[n - 1] times or less are marked as pruned.
    """
    check_number_of_tokens(len(corpus.tokens), corpus.sentences)
    counting = _Counting(TextStream(corpus, sizes.tokens), len(corpus.vocabulary), order, folder, sizes)
    with progress_bar("counting", counting.stream.positions * order, "n-gram") as bar:
        counting.count_unigrams()
        bar.update(counting.stream.positions)
        for n in range(2, order + 1):
            counting.count_order(n, bar)
            counting.finish_order(n - 1, thresholds[n - 2])
        counting.finish_order(order, thresholds[order - 1])
    counting.found.first_child.append(np.array([counting.found.start(order + 1)]))
    return counting.found


class _Counting:
    """Counting, order by order."""

    def __init__(self, stream: TextStream, words: int, order: int, folder: TemporaryFolder, sizes: BlockSizes) -> None:
        self.stream, self._order, self._folder, self._sizes = stream, order, folder, sizes
        self._vocabulary_size, self._word_bits = words, max(1, (words - 1).bit_length())
        self.found = CountsOnDisk(folder.array(np.int32), folder.array(np.int32), folder.array(np.int64))
        self._shorter: ArrayFile | None = None  # by position, the n-gram that ends there; None: the words themselves
        self._last_ends: list[int | None] = []  # for each lower order, where lmplz's last n-gram ends in the text
        self._last_ngrams: list[LastNgram | None] = []  # for each order that is counted

    # ------------------------------------------------------------ unigrams

    def count_unigrams(self) -> None:
        """Count all words of the vocabulary."""
        counts, first = np.zeros(self._vocabulary_size, np.int64), np.zeros(self._vocabulary_size, np.int64)
        for position, stream, _ in self.stream.blocks():
            counts += np.bincount(stream, minlength=len(counts))
            kernels.note_first_positions(stream, position, first)
        found = self.found
        found.words.append(np.arange(len(counts), dtype=np.int32))
        found.suffixes.append(np.full(len(counts), ROOT, np.int32))
        found.sizes.append(len(counts))
        found.at_begin.append((BEGIN_ID, BEGIN_ID + 1))
        found.counts.append(self._folder.array(np.int32))
        found.counts[0].append(counts)
        self._find_last_ngrams(first)

    def _find_last_ngrams(self, order_of: Int64Array) -> None:
        """Where the last n-grams in lmplz's order of sorting end: `ngram.counting` tells why they matter."""
        order_of[BEGIN_ID], order_of[END_ID] = -2, -1
        words: list[int] = []
        self._last_ends = [None] * self._order
        for n in range(1, self._order):
            word, end = self._latest_before(np.array(words, np.int32), order_of)
            words.append(word)
            self._last_ends[n - 1] = end
            if word == BEGIN_ID:
                break
        self._last_ngrams.append(self._last_ngram(words[0]) if words else None)

    def _last_ngram(self, number: int) -> LastNgram:
        """An n-gram of the order that was counted last, with its raw count."""
        return LastNgram(number, int(self.found.counts[-1].read(number, number + 1)[0]))

    def _latest_before(self, words: Int32Array, order_of: Int64Array) -> tuple[int, int]:
        """The last word, by an order of words, that stands before the others, and the first end of all of them."""
        best, end = np.array([-3, 0, 0]), 0
        tail = np.zeros(0, np.int32)
        for position, stream, _ in self.stream.blocks():
            joined, before = np.concatenate([tail, stream]), best[0]
            kernels.latest_before(joined, len(tail), words, order_of, best)
            if best[0] != before:
                end = position + int(best[2])
            tail = joined[max(0, len(joined) - len(words)) :]
        return int(best[1]), end

    # ------------------------------------------------------------ higher orders

    def count_order(self, n: int, bar: Any) -> None:
        """Find the n-grams of order n from the numbers of those of the order below."""
        runs = self._sort_records(n)
        places = _Places(self._folder, self.stream.positions, self._sizes.place_bits) if n < self._order else None
        self._number(n, runs, places, bar)
        runs.close()
        if self._shorter is not None:
            self._shorter.close()
        self._shorter = None if places is None else places.collect()
        self._last_ngrams.append(self._last_ngram_at(self._last_ends[n - 1]))

    def _last_ngram_at(self, end: int | None) -> LastNgram | None:
        """The n-gram of the order that was counted last that ends at a position; none is asked of the highest."""
        if end is None or self._shorter is None:
            return None
        return self._last_ngram(int(self._shorter.read(end, end + 1)[0]))

    def _sort_records(self, n: int) -> RecordRuns:
        contexts = self.found.sizes[-1]
        key_bits = self._word_bits + max(1, (contexts - 1).bit_length())
        most = 2 * self._sizes.tokens
        records = max(most, min(self._sizes.records, self.stream.positions))
        runs = RecordRuns(self._folder, records, key_bits)
        before = 0
        for position, stream, depth in self.stream.blocks():
            shorter = stream if self._shorter is None else self._shorter.read(position, position + len(stream))
            room = runs.room(len(stream))
            runs.added(kernels.make_records(stream, depth, shorter, before, n, position, self._word_bits, *room))
            before = int(shorter[-1])
        return runs

    def _number(self, n: int, runs: RecordRuns, places: _Places | None, bar: Any) -> None:
        """Number the n-grams of the merged records and store what the trie holds of them."""
        found, sizes = self.found, self._sizes
        below, start = found.start(n - 1), found.start(n)
        state = np.array([0, 0, 0, -1])
        outputs = [np.empty(sizes.merged, np.int32) for _ in range(3)]
        contexts, numbers = np.empty((sizes.merged, 2), np.int64), np.empty(sizes.merged, np.int32)
        counts = self._folder.array(np.int32)
        children = _FirstChildren(found.first_child, found.sizes[-1], start, sizes.merged)
        for keys, payloads in runs.merged(sizes.merged, sizes.merge_bytes):
            new, closed, opened = kernels.number_sorted(
                keys, payloads, self._word_bits, state, *outputs, contexts, numbers
            )
            words, suffixes, complete = outputs
            found.words.append(words[:new])
            found.suffixes.append(suffixes[:new] + np.int32(below))
            counts.append(complete[:closed])
            children.append(contexts[:opened])
            if places is not None:
                places.append(payloads, numbers[: len(keys)])
            bar.update(len(keys))
        total = int(state[1])
        counts.append(state[2:3] if total else np.zeros(0, np.int32))
        children.finish(total)
        check_number_of_nodes(start + total)
        begin, end = (children.of(context) for context in found.at_begin[-1])
        found.at_begin.append((begin, end))
        found.counts.append(counts)
        found.sizes.append(total)

    # ------------------------------------------------------------ counts

    def finish_order(self, n: int, threshold: int) -> None:
        """Adjust the counts of order n, where the order above is known, mark pruned ones, and count the counts."""
        counts, last = self.found.counts[n - 1], self._last_ngrams[n - 1]
        histogram = np.zeros(6, np.int64)
        for begin, raw in counts.blocks(1 << self._sizes.range_bits):
            adjusted = raw if n == self._order else self._adjusted(n, begin, raw)
            if n == 1 and begin <= BEGIN_ID < begin + len(raw):
                adjusted[BEGIN_ID - begin] = 0  # never predicted
            for block in blocks_of(adjusted):
                histogram += histogram_of(block)
            if last is not None and begin <= last.number < begin + len(raw):
                histogram = with_raw_count(histogram, int(adjusted[last.number - begin]), last)
            if threshold:
                np.negative(adjusted, out=adjusted, where=raw <= threshold)
            counts.write(begin, adjusted)
        self.found.counts_of_counts.append(histogram[:5])

    def _adjusted(self, n: int, begin: int, raw: Int32Array) -> Int32Array:
        """Kneser-Ney's counts of a range: how many different words stand before each; at a sentence's begin the raw."""
        found = self.found
        adjusted = np.zeros(len(raw), np.int32)
        first = found.start(n + 1)
        for _, suffixes in found.suffixes.blocks(self._sizes.ngrams, first, first + found.sizes[n]):
            kernels.count_in_range(suffixes, found.start(n) + begin, adjusted)
        from_begin, to_begin = (min(max(0, bound - begin), len(raw)) for bound in found.at_begin[n - 1])
        adjusted[from_begin:to_begin] = raw[from_begin:to_begin]
        return adjusted


class _Places:
    """Brings the numbers of n-grams, which come in sorted order, to the positions in the text where they end."""

    def __init__(self, folder: TemporaryFolder, positions: int, place_bits: int) -> None:
        self._folder, self._positions, self._bits = folder, positions, place_bits
        self._ranges = [folder.array(np.uint64) for _ in range(0, positions, 1 << place_bits)]

    def append(self, payloads: Array, numbers: Int32Array) -> None:
        """The numbers of the next records."""
        split = np.empty(len(payloads), np.uint64)
        ends = kernels.split_by_place(payloads, numbers, self._bits, len(self._ranges), split)
        for target, (begin, end) in zip(self._ranges, pairwise([0, *ends.tolist()]), strict=True):
            target.append(split[begin:end])

    def collect(self) -> ArrayFile:
        """All numbers by position; 0 where no n-gram of this order ends."""
        collected = self._folder.array(np.int32)
        for number, source in enumerate(self._ranges):
            longer = np.zeros(min(1 << self._bits, self._positions - (number << self._bits)), np.int32)
            for _, packed in source.blocks(BLOCK_ITEMS // 4):
                kernels.place_numbers(packed, longer)
            collected.append(longer)
            source.close()
        return collected


class _FirstChildren:
    """Writes, for one context after the other, where its children begin."""

    def __init__(self, target: ArrayFile, contexts: int, start: int, block: int) -> None:
        self._target, self._contexts, self._start, self._block = target, contexts, start, block
        self._origin, self._next, self._children = len(target), 0, 0

    def append(self, contexts: Int64Array) -> None:
        """The next contexts that have children, (context, number of the first child)."""
        at = 0
        while len(contexts) and self._next <= contexts[-1, 0]:
            first_child = np.empty(min(self._block, int(contexts[-1, 0]) + 1 - self._next), np.int64)
            at = kernels.fill_first_children(self._next, contexts, at, first_child)
            self._put(first_child)

    def finish(self, children: int) -> None:
        """The contexts that are left have no children; `children` is the number of all."""
        self._children = children
        while self._next < self._contexts:
            self._put(np.full(min(self._block, self._contexts - self._next), children, np.int64))

    def _put(self, first_child: Int64Array) -> None:
        self._target.append(first_child + self._start)
        self._next += len(first_child)

    def of(self, context: int) -> int:
        """The number of the first child of a context, or how many children there are for the end of the contexts."""
        if context == self._contexts:
            return self._children
        return int(self._target.read(self._origin + context, self._origin + context + 1)[0]) - self._start
