"""Sorting more records than fit into memory: sorted runs in a file, then one merge of all of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from morphlm.arrays import Array
from morphlm.ngram.bounded import kernels
from morphlm.ngram.bounded.storage import TemporaryFolder

RECORD_BYTES = 16  # key and payload
SORTING_BYTES = 2 * RECORD_BYTES  # of a record while a run is sorted
MOST_BUFFERED = 1 << 18  # records of a run that are read at a time while merging


class RecordRuns:
    """Takes records (key, payload) and gives them back sorted by key; those with equal keys in any order."""

    def __init__(self, folder: TemporaryFolder, capacity: int, key_bits: int) -> None:
        """Sort runs of `capacity` records in memory, 32 bytes each."""
        self._capacity, self._key_bits = capacity, key_bits
        self._keys, self._payloads = folder.array(np.uint64), folder.array(np.uint64)
        self._ends = [0]
        self._filled = 0
        self._buffer: tuple[Array, Array] | None = None

    def room(self, most: int) -> tuple[Array, Array]:
        """Where to put the next records, at most so many and not more than the capacity; then say `added`."""
        if self._buffer is None:
            self._buffer = _new_records(self._capacity)
        if self._filled + most > self._capacity:
            self._store_run()
        keys, payloads = self._buffer
        return keys[self._filled :], payloads[self._filled :]

    def added(self, records: int) -> None:
        """So many records are in the room that was given."""
        self._filled += records

    def _store_run(self) -> None:
        if not self._filled or self._buffer is None:
            return
        filled = self._buffer[0][: self._filled], self._buffer[1][: self._filled]
        keys, payloads = _sorted(*filled, self._key_bits)
        self._keys.append(keys)
        self._payloads.append(payloads)
        self._ends.append(len(self._keys))
        self._filled = 0

    def merged(self, batch: int, memory: int) -> Iterator[tuple[Array, Array]]:
        """All records in order of their keys, up to `batch` at a time, in `memory` bytes for what is read of the runs.

        The arrays are used again for the next batch.
        """
        self._store_run()
        self._buffer = None
        runs = list(pairwise(self._ends))
        if runs:
            block = max(1, min(MOST_BUFFERED, memory // (RECORD_BYTES * len(runs))))
            yield from _Merge(self, runs, block).batches(batch)

    def read(self, begin: int, keys: Array, payloads: Array) -> None:
        """Read the stored records from `begin` on."""
        self._keys.read_into(begin, keys)
        self._payloads.read_into(begin, payloads)

    def close(self) -> None:
        """Give the space back."""
        self._keys.close()
        self._payloads.close()


def _new_records(capacity: int) -> tuple[Array, Array]:
    return np.empty(capacity, np.uint64), np.empty(capacity, np.uint64)


def _sorted(keys: Array, payloads: Array, key_bits: int) -> tuple[Array, Array]:
    """A radix sort from the lowest digit on. The arrays that are given are overwritten."""
    spare = _new_records(len(keys))
    given = (keys, payloads)
    for shift in range(0, key_bits, kernels.DIGIT_BITS):
        if kernels.sort_by_digit(shift, *given, *spare):
            given, spare = spare, given
    return given


class _Merge:
    """Merges runs of a file, of each of which one block is in memory."""

    def __init__(self, records: RecordRuns, runs: list[tuple[int, int]], block: int) -> None:
        self._records, self._block = records, block
        self._rest = [list(bounds) for bounds in runs]  # what is not read yet
        self._keys, self._payloads = (np.empty((len(runs), block), np.uint64) for _ in range(2))
        self._next_items, self._ends = np.zeros(len(runs), np.int64), np.zeros(len(runs), np.int64)
        self._heads = np.zeros(len(runs), np.uint64)
        for run in range(len(runs)):
            self._refill(run)
        self._heap = np.argsort(self._heads, kind="stable")  # sorted is a heap
        self._length = len(runs)

    def batches(self, batch: int) -> Iterator[tuple[Array, Array]]:
        merged = _new_records(batch)
        filled = 0
        while self._length:
            room = tuple(array[filled:] for array in merged)
            state = self._next_items, self._ends, self._heap, self._heads
            added, run = kernels.merge_runs(self._keys, self._payloads, *state, self._length, *room)
            filled += added
            if run >= 0:
                self._advance(run)
            if filled == batch or not self._length:
                yield merged[0][:filled], merged[1][:filled]
                filled = 0

    def _advance(self, run: int) -> None:
        """Read the next block of the run on top of the heap, or take it out at its end."""
        if not self._refill(run):
            self._length -= 1
            self._heap[0] = self._heap[self._length]
        if self._length:
            kernels.sift_down(self._heap, self._heads, self._length, 0)

    def _refill(self, run: int) -> bool:
        begin, end = self._rest[run]
        size = min(self._block, end - begin)
        if not size:
            return False
        self._records.read(begin, self._keys[run, :size], self._payloads[run, :size])
        self._rest[run][0] += size
        self._next_items[run], self._ends[run] = 0, size
        self._heads[run] = self._keys[run, 0]
        return True
