"""Compiled loops of counting on disk: what is done with one block that is in memory.

A record is the end of one n-gram in the text. Its key is the number of the context and the last word, so that keys are
64 bits at any order and sort as n-grams do; its payload is the number of the suffix and the position in the text.
"""

from __future__ import annotations

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import njit

DIGIT_BITS = 12  # of the radix sort: 48 bits in four passes; with 8, six passes take 1.7 times as long
LOW_HALF = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


@njit(cache=True, nogil=True)
def make_records(
    stream: Array,
    depth: Array,
    shorter: Array,
    before: int,
    n: int,
    position: int,
    word_bits: int,
    keys: Array,
    payloads: Array,
) -> int:
    """The records of all n-grams that end in a block of the stream; gives their number.

    shorter[i] is the number of the (n-1)-gram that ends at i, `before` that of the position before the block.
    """
    made = 0
    for i in range(len(stream)):
        if depth[i] >= n - 1:
            keys[made] = (np.uint64(before) << np.uint64(word_bits)) | np.uint64(stream[i])
            payloads[made] = (np.uint64(shorter[i]) << HALF) | np.uint64(position + i)
            made += 1
        before = shorter[i]
    return made


@njit(cache=True, nogil=True)
def sort_by_digit(shift: int, keys: Array, payloads: Array, sorted_keys: Array, sorted_payloads: Array) -> bool:
    """One pass of a radix sort: records in order of twelve bits of their keys; False if these are all equal."""
    starts = np.zeros((1 << DIGIT_BITS) + 1, np.int64)
    digits = np.uint64((1 << DIGIT_BITS) - 1)
    bits = np.uint64(shift)
    for key in keys:
        starts[np.int64((key >> bits) & digits) + 1] += 1
    for k in range(1 << DIGIT_BITS):
        if starts[k + 1] == len(keys):
            return False
        starts[k + 1] += starts[k]
    for i in range(len(keys)):
        key = keys[i]
        digit = np.int64((key >> bits) & digits)
        at = starts[digit]
        starts[digit] = at + 1
        sorted_keys[at] = key
        sorted_payloads[at] = payloads[i]
    return True


# ---------------------------------------------------------------- merging


@njit(cache=True, nogil=True)
def sift_down(heap: Array, heads: Array, length: int, at: int) -> None:
    """Put the run at a place of the heap where it belongs; heads[run] is the smallest key that a run still has."""
    run = heap[at]
    key = heads[run]
    while True:
        child = 2 * at + 1
        if child >= length:
            break
        if child + 1 < length and heads[heap[child + 1]] < heads[heap[child]]:
            child += 1
        if heads[heap[child]] >= key:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = run


@njit(cache=True, nogil=True)
def merge_runs(
    keys: Array,
    payloads: Array,
    next_items: Array,
    ends: Array,
    heap: Array,
    heads: Array,
    length: int,
    merged_keys: Array,
    merged_payloads: Array,
) -> tuple[int, int]:
    """Merge what is in memory of several sorted runs until the output is full or a run needs its next block.

    keys[run], (runs, block), has its unread keys from next_items[run] to ends[run]. The first `length` places of the
    heap hold the runs that are not at their end. Gives how many records were merged, and the run that needs its next
    block, or -1; that run is on top of the heap.
    """
    for filled in range(len(merged_keys)):
        if length == 0:
            return filled, -1
        run = heap[0]
        item = next_items[run]
        merged_keys[filled] = heads[run]
        merged_payloads[filled] = payloads[run, item]
        item += 1
        next_items[run] = item
        if item == ends[run]:
            return filled + 1, run
        heads[run] = keys[run, item]
        sift_down(heap, heads, length, 0)
    return len(merged_keys), -1


@njit(cache=True, nogil=True)
def number_sorted(
    keys: Array,
    payloads: Array,
    word_bits: int,
    state: Array,
    words: Array,
    suffixes: Array,
    counts: Array,
    contexts: Array,
    numbers: Array,
) -> tuple[int, int, int]:
    """Number n-grams in sorted order: the next records of all.

    `state` holds the last key, how many n-grams there are, the count of the last one so far, and the last context.
    For each new n-gram its word and suffix are stored; the count of the one before, which is complete then; and if the
    context is new, (context, number) in `contexts`, (records, 2). numbers[i] is the n-gram of record i. Gives how many
    n-grams, counts and contexts were stored.
    """
    last_key, total, count, last_context = np.uint64(state[0]), state[1], state[2], state[3]
    mask = (np.uint64(1) << np.uint64(word_bits)) - np.uint64(1)
    bits = np.uint64(word_bits)
    new, closed, opened = 0, 0, 0
    for i in range(len(keys)):
        key = keys[i]
        if key != last_key or total == 0:
            if total > 0:
                counts[closed] = count
                closed += 1
            context = np.int64(key >> bits)
            if context != last_context:
                contexts[opened, 0] = context
                contexts[opened, 1] = total
                opened += 1
                last_context = context
            words[new] = np.int32(key & mask)
            suffixes[new] = np.int32(payloads[i] >> HALF)
            new += 1
            total += 1
            count = 0
            last_key = key
        count += 1
        numbers[i] = total - 1
    state[0], state[1], state[2], state[3] = np.int64(last_key), total, count, last_context
    return new, closed, opened


@njit(cache=True, nogil=True)
def fill_first_children(begin: int, contexts: Array, at: int, first_child: Array) -> int:
    """Where the children of the contexts from `begin` on begin, from those that have any; gives the place in these.

    A context without children has them where those of the next one begin.
    """
    for i in range(len(first_child)):
        while contexts[at, 0] < begin + i:
            at += 1
        first_child[i] = contexts[at, 1]
    return at


# ---------------------------------------------------------------- numbers by place


@njit(cache=True, nogil=True)
def split_by_place(payloads: Array, numbers: Array, range_bits: int, ranges: int, split: Array) -> Array:
    """Pack the number of each record with its position, in order of ranges of positions; gives the ends of these."""
    starts = np.zeros(ranges + 1, np.int64)
    for payload in payloads:
        starts[np.int64(payload & LOW_HALF) >> range_bits] += 1
    before = 0
    for k in range(ranges + 1):
        size = starts[k]
        starts[k] = before
        before += size
    for i in range(len(payloads)):
        position = np.int64(payloads[i] & LOW_HALF)
        place = position >> range_bits
        offset = np.uint64(position - (place << range_bits))
        split[starts[place]] = (offset << HALF) | np.uint64(numbers[i])
        starts[place] += 1
    return starts[:ranges]


@njit(cache=True, nogil=True)
def place_numbers(packed: Array, longer: Array) -> None:
    """Unpack numbers to their places within a range of positions."""
    for entry in packed:
        longer[np.int64(entry >> HALF)] = np.int32(entry & LOW_HALF)


@njit(cache=True, nogil=True)
def count_in_range(suffixes: Array, begin: int, counts: Array) -> None:
    """Add one for each suffix in the range from `begin` on that `counts` covers."""
    for suffix in suffixes:
        place = suffix - begin
        if 0 <= place < len(counts):
            counts[place] += 1


@njit(cache=True, nogil=True)
def split_by_range(suffixes: Array, begin: int, range_bits: int, split: Array, sizes: Array) -> None:
    """Offsets of suffixes within their ranges, those of one range after those of the one before; `sizes` of each."""
    sizes[:] = 0
    for suffix in suffixes:
        sizes[(suffix - begin) >> range_bits] += 1
    at = starts_of(sizes)
    for suffix in suffixes:
        k = (suffix - begin) >> range_bits
        split[at[k]] = suffix - begin - (k << range_bits)
        at[k] += 1


@njit(cache=True, nogil=True)
def starts_of(sizes: Array) -> Array:
    """Where pieces of these sizes begin."""
    starts = np.zeros(len(sizes), np.int64)
    for k in range(1, len(sizes)):
        starts[k] = starts[k - 1] + sizes[k - 1]
    return starts


@njit(cache=True, nogil=True)
def join_ranges(suffixes: Array, begin: int, range_bits: int, split: Array, sizes: Array, joined: Array) -> None:
    """Values that stand in the order of `split_by_range`, in the order of the suffixes again."""
    at = starts_of(sizes)
    for i in range(len(suffixes)):
        k = (suffixes[i] - begin) >> range_bits
        joined[i] = split[at[k]]
        at[k] += 1


# ---------------------------------------------------------------- surveys of the text


@njit(cache=True, nogil=True)
def note_first_positions(stream: Array, position: int, first: Array) -> None:
    """first[word] becomes the first position of a word, counted from 1."""
    for i in range(len(stream)):
        if first[stream[i]] == 0:
            first[stream[i]] = position + i + 1


@njit(cache=True, nogil=True)
def latest_before(stream: Array, begin: int, words: Array, order_of: Array, best: Array) -> None:
    """Among the places where `words`, the last word first, end: which word before them is last by `order_of`?

    Looks at ends from `begin` on; before it stand the last words of the block before. `best` holds the order of the
    best word so far, the word, and the end where it was met first, from `begin` on.
    """
    back = len(words)
    for i in range(max(begin, back), len(stream)):
        matches = True
        for k in range(back):
            if stream[i - k] != words[k]:
                matches = False
                break
        if matches and order_of[stream[i - back]] > best[0]:
            best[0], best[1], best[2] = order_of[stream[i - back]], stream[i - back], i - begin


@njit(cache=True, nogil=True)
def mixed(value: np.uint64 | int) -> np.uint64:
    """A hash of 64 bits, all of which depend on all of the value's (the finaliser of SplitMix64)."""
    mixed_value = np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    mixed_value = (mixed_value ^ (mixed_value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed_value = (mixed_value ^ (mixed_value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed_value ^ (mixed_value >> np.uint64(31))


@njit(cache=True, nogil=True)
def sketch_ngrams(stream: Array, depth: Array, hashes: Array, bits: int, registers: Array) -> None:
    """HyperLogLog over the n-grams of each order from 2 on: registers[n - 1] holds the longest runs of zeros.

    hashes[n - 1] is the hash of the n-gram that ends at the position before.
    """
    rest = np.uint64(64 - bits)
    for i in range(len(stream)):
        word = np.uint64(stream[i])
        for n in range(min(len(hashes), depth[i] + 1), 1, -1):
            value = mixed(hashes[n - 2] ^ (word << np.uint64(1)))
            hashes[n - 1] = value
            register = np.int64(value >> rest)
            run, bit = 1, np.uint64(1)
            while run <= 64 - bits and not value & bit:
                run += 1
                bit <<= np.uint64(1)
            registers[n - 1, register] = max(registers[n - 1, register], run)
        hashes[0] = mixed(word)
