"""Rows of parameters whose gradients are sums over shards: summed along a tree, updated by one rank, copied to others.

Each shard writes its part of a row's gradient into a row of its own. A rank adds up the subtrees of its shards and
sends them to the row's owner, who completes the sum, makes the update and sends the row to all ranks that have it. So
every number is computed once, in one order, and replicas cannot drift.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from morphlm.arrays import Array, BoolArray, Float32Array, Int32Array, Int64Array
from morphlm.logbilinear.kernels import shards as kernels
from morphlm.logbilinear.kernels.records import AdaGrad
from morphlm.logbilinear.kernels.shards import NOWHERE
from morphlm.logbilinear.shards import Place
from morphlm.logbilinear.workspace import SMALLEST_PIECE
from morphlm.threads import Workers


def subtrees(shards: range, count: int) -> list[range]:
    """The largest subtrees of a binary tree over `count` shards that consecutive shards consist of."""
    found, begin = [], shards.start
    while begin < shards.stop:
        size = 1
        while begin % (2 * size) == 0 and begin + 2 * size <= shards.stop and 2 * size <= count:
            size *= 2
        found.append(range(begin, begin + size))
        begin += size
    return found


@dataclass(frozen=True, eq=False)
class _Route:
    """Which rows go where: of this rank's subtrees to the owners, and of the updated rows to those who have them."""

    sent: list[tuple[int, Int64Array]]  # (first shard of a subtree, shared rows) in the order of sending
    send_counts: list[int]  # rows for each rank
    received: list[tuple[int, Int64Array]]
    receive_counts: list[int]
    copied: Int64Array  # shared rows that this rank has updated, for one rank after the other
    copy_counts: list[int]
    renewed: Int64Array  # shared rows that others have updated, of one rank after the other
    renew_counts: list[int]


class SharedRows:
    """Some rows of one table."""

    def __init__(
        self, held: BoolArray, owner: Int32Array, rows: Int32Array, width: int, place: Place, workers: Workers
    ) -> None:
        """`held` says which shards have a part in which rows, `rows` where these are in this rank's table."""
        self._held, self._rows, self._place, self._workers = held, rows, place, workers
        self._owner = place.rank_of(owner)
        self._chosen = np.flatnonzero(self._owner == place.comm.rank)
        ranks = [place.shards_of(rank) for rank in range(place.comm.size)]
        self._subtrees = [subtrees(shards, len(held)) for shards in ranks]
        self._held_by = np.array([held[shards.start : shards.stop].any(axis=0) for shards in ranks])
        own = held[place.own.start : place.own.stop]
        self.row_of = np.full(held.shape, NOWHERE, np.int32)  # (shards, X): where a shard of this rank writes
        self.row_of[place.own.start : place.own.stop][own] = np.arange(own.sum(), dtype=np.int32)
        self._all_at = np.ascontiguousarray(self.row_of.T)
        self._written, self._width = int(own.sum()), width
        self._static = self._route(held) if place.comm.size > 1 else None
        received = 0 if self._static is None else sum(self._static.receive_counts)
        self.sums = np.zeros((self._written + received, width), np.float32)
        self.touched = np.zeros(self._written + 1, np.bool_)  # by row of the sums: whether something was added

    def __len__(self) -> int:
        return len(self._rows)

    def part(self, shard: int) -> Float32Array:
        """The rows of one shard, if it has a part in all of them."""
        first = int(self.row_of[shard, 0])
        return self.sums[first : first + len(self)]

    def forget(self) -> None:
        """Free the sums, which hold nothing between two steps; they take memory again where they are touched."""
        self.sums = np.zeros(self.sums.shape, np.float32)

    def update(self, table: AdaGrad, touched: BoolArray | None = None) -> None:
        """Add up and make the update; `touched` says which shards have written to which rows.

        If nobody knows that, all that have a part in a row send it; a rank alone looks at the flags `self.touched`.
        """
        if not len(self):
            return
        at = self._all_at.copy() if touched is None else np.where(touched.T, self._all_at, np.int32(NOWHERE))
        if self.touched.any():
            if self._place.comm.size == 1:
                at[~self.touched[at]] = NOWHERE  # the last flag, that of NOWHERE, is never set
            self.touched[:] = False
        if self._place.comm.size == 1:
            self._update_own(at, table)
            return
        route = self._static if touched is None else self._route(touched)
        assert route is not None
        own = self._place.own
        self._run(lambda a, b: kernels.reduce_rows(a, b, own.start, own.stop, at, self.sums), len(self))
        self._send_sums(at, route)
        self._update_own(at, table)
        self._copy_updated(route, table.weights)

    def _run(self, task: Callable[[int, int], None], rows: int) -> None:
        if rows:
            self._workers.run_ranges(task, rows, SMALLEST_PIECE)

    def _update_own(self, at: Int32Array, table: AdaGrad) -> None:
        """AdaGrad on the rows that this rank owns."""
        chosen = self._chosen
        self._run(lambda a, b: kernels.update_reduced(a, b, chosen, at, self.sums, self._rows, table), len(chosen))

    def _send_sums(self, at: Int32Array, route: _Route) -> None:
        """The sums of subtrees go to the owners of their rows."""
        sources = [at[rows, first] for first, rows in route.sent]
        sent = self._taken(np.concatenate(sources) if sources else np.zeros(0, np.int32), self.sums, clears=True)
        count = sum(route.receive_counts)
        received = self.sums[self._written : self._written + count]
        self._place.comm.exchange_rows(sent, route.send_counts, received, route.receive_counts)
        row = self._written
        for first, rows in route.received:
            at[rows, first] = np.arange(row, row + len(rows), dtype=np.int32)
            row += len(rows)

    def _copy_updated(self, route: _Route, weights: Float32Array) -> None:
        sent = self._taken(self._rows[route.copied], weights, clears=False)
        received = np.empty((len(route.renewed), self._width), np.float32)
        self._place.comm.exchange_rows(sent, route.copy_counts, received, route.renew_counts)
        rows = self._rows[route.renewed]
        self._run(lambda a, b: kernels.put_rows(a, b, rows, received, weights), len(rows))

    def _taken(self, rows: Int32Array, table: Float32Array, *, clears: bool) -> Float32Array:
        out = np.empty((len(rows), self._width), np.float32)
        self._run(lambda a, b: kernels.take_rows(a, b, rows, table, out, clears), len(rows))
        return out

    # ------------------------------------------------------------ who sends what to whom

    def _route(self, touched: BoolArray) -> _Route:
        me, size = self._place.comm.rank, self._place.comm.size
        others = [rank for rank in range(size) if rank != me]
        sent = {rank: self._sums_for(touched, me, rank) for rank in others}
        received = {rank: self._sums_for(touched, rank, me) for rank in others}
        is_touched = touched.any(axis=0)
        copied = {rank: np.flatnonzero(is_touched & self._held_by[rank] & (self._owner == me)) for rank in others}
        renewed = {rank: np.flatnonzero(is_touched & self._held_by[me] & (self._owner == rank)) for rank in others}

        def counts(lists: dict[int, list[tuple[int, Int64Array]]]) -> list[int]:
            return [sum(len(rows) for _, rows in lists.get(rank, [])) for rank in range(size)]

        def lengths(rows: dict[int, Array]) -> list[int]:
            return [len(rows.get(rank, ())) for rank in range(size)]

        return _Route(
            [part for rank in others for part in sent[rank]],
            counts(sent),
            [part for rank in others for part in received[rank]],
            counts(received),
            np.concatenate([copied[rank] for rank in others]),
            lengths(copied),
            np.concatenate([renewed[rank] for rank in others]),
            lengths(renewed),
        )

    def _sums_for(self, touched: BoolArray, source: int, owner: int) -> list[tuple[int, Int64Array]]:
        """What one rank sends to another: for each of its subtrees the rows in which that has a part."""
        owned = self._owner == owner
        return [
            (tree.start, np.flatnonzero(owned & touched[tree.start : tree.stop].any(axis=0)))
            for tree in self._subtrees[source]
        ]


def dense_owners(count: int, shards: int) -> Int32Array:
    """The shard that updates each of some rows that all ranks have."""
    return (np.arange(count) * shards // max(count, 1)).astype(np.int32)


def dense_rows(count: int, shards: int, width: int, place: Place, workers: Workers) -> SharedRows:
    """Rows in which all shards have a part and that all ranks have."""
    held, rows = np.ones((shards, count), np.bool_), np.arange(count, dtype=np.int32)
    return SharedRows(held, dense_owners(count, shards), rows, width, place, workers)
