"""Logical shards: which part of a model owns what, however many ranks there are.

A model has a fixed number of shards. A shard owns classes, with the tokens of a minibatch that are to be predicted in
them and the output words in them (without classes, a share of the words), and a share of the words of contexts. Rows of
Q and R that belong to one word alone are owned with it; the others have an owner among the shards that need them, which
updates them, and are copied to the rest. A rank has consecutive shards, and of Q and R only the rows that they need.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from morphlm.arrays import Array, BoolArray, Float64Array, Int32Array, Int64Array, starts_of
from morphlm.logbilinear.kernels.records import SparseRows
from morphlm.logbilinear.kernels.shards import NOWHERE
from morphlm.logbilinear.kernels.softmax import OutputLayout
from morphlm.logbilinear.structure import FactorRows, Structure, build_layout, selected_rows
from morphlm.ranks import Communicator
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID

WORD_COST = 8  # of composing and updating an output word, in tokens that are scored against it


def spread(costs: Float64Array, bins: int) -> Int32Array:
    """The bin of each item: the most expensive first, each to where there is least."""
    loads = [(0.0, number) for number in range(bins)]
    bin_of = np.zeros(len(costs), np.int32)
    for item in np.argsort(-costs, kind="stable").tolist():
        load, number = loads[0]
        bin_of[item] = number
        heapq.heapreplace(loads, (load + float(costs[item]), number))
    return bin_of


@dataclass(frozen=True, eq=False)
class Sharding:
    """What each shard owns; the same on all ranks."""

    shards: int  # a power of two
    class_bounds: Int64Array  # (shards + 1): where the classes of each begin
    position_bounds: Int64Array  # (shards + 1): where the output words of each begin, in order of the layout
    shard_of_word: Int32Array  # the shard of each word of contexts

    def output_shards(self, layout: OutputLayout) -> Int32Array:
        """The shard of each output word; NOWHERE for those that are never predicted."""
        shard_of = np.full(len(layout.position_of), NOWHERE, np.int32)
        shard_of[layout.members] = np.repeat(np.arange(self.shards, dtype=np.int32), np.diff(self.position_bounds))
        return shard_of


def undivided(structure: Structure) -> Sharding:
    """One shard that owns everything."""
    words = len(structure.context.rows.starts) - 1
    classes, positions = structure.classes, len(structure.layout.members)
    return Sharding(1, np.array([0, classes]), np.array([0, positions]), np.zeros(words, np.int32))


def contiguous(structure: Structure, shards: int, has_classes: bool) -> Sharding:
    """Shards of classes as they stand, each with about as many as the others."""
    classes, words = structure.classes, len(structure.context.rows.starts) - 1
    class_bounds = np.arange(shards + 1) * classes // shards
    if has_classes:
        position_bounds = structure.layout.starts[class_bounds]
    else:
        position_bounds = np.arange(shards + 1) * len(structure.layout.members) // shards
    return Sharding(shards, class_bounds, position_bounds, (np.arange(words) % shards).astype(np.int32))


def divide(structure: Structure, shards: int, batch: int) -> tuple[Structure, Sharding, Int32Array]:
    """Shards of about equal cost for minibatches of `batch` tokens.

    The classes come in another order, that of their shards, which is given too: first the number of the class that is
    now class 0, and so on. Without classes it is the output words that change their order.
    """
    counts = structure.vocabulary.counts.astype(np.float64)
    counts[BEGIN_ID] = 0.0
    members = np.split(structure.layout.members, structure.layout.starts[1:-1])
    if structure.partition is None:
        order, class_of = np.zeros(1, np.int32), structure.class_of
        members, sizes = _dealt(members[0], shards)
        class_bounds = np.zeros(shards + 1, np.int64)
        class_bounds[-1] = 1
    else:
        shard_of = spread(_class_costs(structure, counts, batch), shards)
        order = np.argsort(shard_of, kind="stable").astype(np.int32)
        members = [members[c] for c in order]
        new_number = np.empty(len(order), np.int32)
        new_number[order] = np.arange(len(order), dtype=np.int32)
        class_of, class_bounds = new_number[structure.class_of], starts_of(np.bincount(shard_of, minlength=shards))
        sizes = np.diff(starts_of([len(words) for words in members])[class_bounds])
    layout = build_layout(members, structure.output)
    divided = replace(structure, layout=layout, class_of=class_of)
    counts[BEGIN_ID] = counts[END_ID]
    words = spread(counts + max(counts.sum(), 1.0) / len(counts), shards)
    return divided, Sharding(shards, class_bounds, starts_of(sizes), words), order


def _class_costs(structure: Structure, counts: Float64Array, batch: int) -> Float64Array:
    """Products that a minibatch takes: its tokens with all classes and with the words of their class."""
    words = np.diff(structure.layout.starts).astype(np.float64)
    tokens = np.bincount(structure.class_of, counts, minlength=len(words)) * (batch / max(counts.sum(), 1.0))
    costs: Float64Array = tokens * len(words) + words * (tokens + WORD_COST)
    return costs


def _dealt(words: Int32Array, shards: int) -> tuple[list[Int32Array], Int64Array]:
    """Words in order of frequency, dealt like cards: every shard has frequent and rare ones."""
    hands = [words[shard::shards] for shard in range(shards)]
    return [np.concatenate(hands)], np.array([len(hand) for hand in hands])


# ---------------------------------------------------------------- the shards of one rank


@dataclass(frozen=True, eq=False)
class Place:
    """A rank's place among the shards."""

    comm: Communicator
    bounds: tuple[int, ...]  # rank r has shards bounds[r] .. bounds[r + 1] - 1

    @classmethod
    def among(cls, comm: Communicator, shards: int) -> Place:
        """Consecutive shards for each rank, as even as can be."""
        return cls(comm, tuple(shards * rank // comm.size for rank in range(comm.size + 1)))

    @property
    def own(self) -> range:
        """The shards of this rank."""
        return self.shards_of(self.comm.rank)

    def shards_of(self, rank: int) -> range:
        return range(self.bounds[rank], self.bounds[rank + 1])

    def rank_of(self, shards: Array) -> Int64Array:
        """The ranks that have some shards."""
        return np.searchsorted(self.bounds, shards, side="right") - 1

    def own_part(self, bounds: Sequence[int] | Int64Array) -> tuple[int, int]:
        """Where the items of this rank begin and end, of items that lie in order of their shards."""
        return int(bounds[self.own.start]), int(bounds[self.own.stop])

    def rank_bounds(self, bounds: Sequence[int] | Int64Array) -> list[int]:
        """Where the items of each rank begin."""
        return [int(bounds[shard]) for shard in self.bounds]


@dataclass(frozen=True, eq=False)
class SharedFactors:
    """The factors of one side that several words have; the same on all ranks."""

    factors: Int32Array  # (X,): their numbers in the table
    held: BoolArray  # (shards, X): which shards have words with them
    owner: Int32Array  # (X,): the shard that updates each
    of_word: SparseRows  # by word: the indices of its shared factors in this list


@dataclass(frozen=True, eq=False)
class FactorShards:
    """The rows of one side's table that a rank has."""

    side: FactorRows  # the factors of the words of this rank as rows of its part of the table; no others have any
    rows: Int64Array  # the rows of the whole table that are here, in rising order
    owner: Int32Array  # the shard that updates each row of the whole table
    shared: SharedFactors
    local_of_shared: Int32Array  # (X,): where each shared factor is in this rank's part; NOWHERE if it is not here
    shared_of_local: Int32Array  # the other way round; NOWHERE for rows of one word alone


def by_shard(words: Int32Array, shard_of: Int32Array, shards: int) -> tuple[Int64Array, Int32Array, Int32Array]:
    """Slots of words in order of their shards: where those of each shard begin, new slots by old ones, and the words.

    There is one more new slot than words: -1 for the slot -1, which stands for none.
    """
    shard_of_slot = shard_of[words].astype(np.int16)  # NumPy sorts 16 bits several times as fast as 32
    order = np.argsort(shard_of_slot, kind="stable")
    slots = np.full(len(words) + 1, NOWHERE, np.int32)
    slots[order] = np.arange(len(words), dtype=np.int32)
    return starts_of(np.bincount(shard_of_slot, minlength=shards)), slots, words[order]


def touched_by(words: Int32Array, bounds: Int64Array, shared: SharedFactors) -> BoolArray:
    """(shards, X): whether a word of a shard has a shared factor; the words of each shard begin at its bound."""
    rows, touched = selected_rows(shared.of_word, words), np.zeros(shared.held.shape, np.bool_)
    shards = np.repeat(np.arange(len(touched)), np.diff(rows.starts[bounds]))
    touched[shards, rows.items] = True
    return touched


def factor_shards(side: FactorRows, shard_of_word: Int32Array, shards: int, place: Place) -> FactorShards:
    """Divide one side of a model. Words that belong to no shard (NOWHERE) do not count; their rows go to shard 0."""
    shared, owner = _share_factors(side, shard_of_word, shards)
    own, is_here = place.own, np.zeros(side.factors, np.bool_)
    is_own = (owner >= own.start) & (owner < own.stop)
    is_here[:] = is_own
    is_here[shared.factors[shared.held[own.start : own.stop].any(axis=0)]] = True
    rows = np.flatnonzero(is_here)
    local_of = np.full(side.factors, NOWHERE, np.int32)
    local_of[rows] = np.arange(len(rows), dtype=np.int32)
    local_of_shared = local_of[shared.factors]
    shared_of_local = np.full(len(rows), NOWHERE, np.int32)
    here = np.flatnonzero(local_of_shared != NOWHERE)
    shared_of_local[local_of_shared[here]] = here
    is_word_here = (shard_of_word >= own.start) & (shard_of_word < own.stop)
    local = FactorRows(
        _restricted(side.rows, is_word_here, local_of), len(rows), int(np.searchsorted(rows, side.surfaces))
    )
    return FactorShards(local, rows, owner, shared, local_of_shared, shared_of_local)


def _share_factors(side: FactorRows, shard_of_word: Int32Array, shards: int) -> tuple[SharedFactors, Int32Array]:
    """The shared factors, and the shard that owns each factor."""
    lengths = np.diff(side.rows.starts)
    counted = np.repeat(shard_of_word != NOWHERE, lengths)
    shard_of_item, items = np.repeat(shard_of_word, lengths), side.rows.items
    counts = np.bincount(items[counted], minlength=side.factors)
    owner = np.zeros(side.factors, np.int32)
    owner[items[counted]] = shard_of_item[counted]
    factors = np.flatnonzero(counts > 1).astype(np.int32)
    number_of = np.full(side.factors, NOWHERE, np.int32)
    number_of[factors] = np.arange(len(factors), dtype=np.int32)
    of_shared = counted & (number_of[items] != NOWHERE)
    held = np.zeros((shards, len(factors)), np.bool_)
    held[shard_of_item[of_shared], number_of[items[of_shared]]] = True
    owner[factors] = owners = _owners(held)
    word_of_item = np.repeat(np.arange(len(lengths)), lengths)[of_shared]
    starts = starts_of(np.bincount(word_of_item, minlength=len(lengths)))
    return SharedFactors(factors, held, owners, SparseRows(starts, number_of[items[of_shared]])), owner


def _owners(held: BoolArray) -> Int32Array:
    """For each shared row one of the shards that have it, in turn."""
    if not held.size:
        return np.zeros(held.shape[1], np.int32)
    turn = np.arange(held.shape[1]) % np.maximum(held.sum(axis=0), 1)
    owners: Int32Array = np.argmax(held & (held.cumsum(axis=0) == turn + 1), axis=0).astype(np.int32)
    return owners


def _restricted(rows: SparseRows, is_here: BoolArray, local_of: Int32Array) -> SparseRows:
    """The rows of some words, with other numbers for the items; the rows of all other words are empty."""
    if is_here.all():
        return SparseRows(rows.starts, local_of[rows.items])
    lengths = np.where(is_here, np.diff(rows.starts), 0)
    kept = selected_rows(rows, np.flatnonzero(is_here).astype(np.int32))
    return SparseRows(starts_of(lengths), local_of[kept.items])


def local_layout(layout: OutputLayout, output: FactorRows, sharding: Sharding, place: Place) -> OutputLayout:
    """The output words of one rank, counted from 0; classes of other ranks have no words in it."""
    begin, end = place.own_part(sharding.position_bounds)
    if (begin, end) == (0, len(layout.members)):
        return layout._replace(rows=selected_rows(output.rows, layout.members))
    members = layout.members[begin:end]
    position_of = np.full(len(layout.position_of), NOWHERE, np.int32)
    position_of[members] = np.arange(len(members), dtype=np.int32)
    return layout._replace(
        members=members,
        position_of=position_of,
        starts=np.clip(layout.starts, begin, end) - begin,
        class_of=layout.class_of[begin:end],
        rows=selected_rows(output.rows, members),
    )


@dataclass(frozen=True, eq=False)
class LocalModel:
    """What one rank has of a model."""

    sharding: Sharding
    place: Place
    structure: Structure  # with its own words and rows only
    context: FactorShards
    output: FactorShards
    output_shards: Int32Array  # the shard of each output word

    @classmethod
    def of(cls, structure: Structure, sharding: Sharding, comm: Communicator) -> LocalModel:
        """The part of a model whose classes are in order of their shards."""
        place, output_shards = Place.among(comm, sharding.shards), sharding.output_shards(structure.layout)
        context = factor_shards(structure.context, sharding.shard_of_word, sharding.shards, place)
        output = factor_shards(structure.output, output_shards, sharding.shards, place)
        layout = local_layout(structure.layout, output.side, sharding, place)
        local = replace(structure, context=context.side, output=output.side, layout=layout)
        return cls(sharding, place, local, context, output, output_shards)
