"""Where the parameters of a training lie: each rank has some of their rows, checkpoints and models have all of them.

Rank 0 hands out the rows of a checkpoint, and collects them for the next one, a chunk at a time, so that no rank ever
holds a whole model in its own memory.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from morphlm.arrays import Array, Float32Array, Int32Array, Int64Array, release_pages
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.kernels.softmax import OutputLayout
from morphlm.logbilinear.parameters import Parameters, shapes
from morphlm.logbilinear.shards import LocalModel, Sharding, divide
from morphlm.logbilinear.shared_rows import dense_owners
from morphlm.logbilinear.structure import Structure, arranged_by_class

CHUNK = 1 << 20  # numbers that are handed out or collected at a time


@dataclass(frozen=True, eq=False)
class Arrangement:
    """The structure in the order in which a training keeps it: classes by shard, rows of R by class."""

    structure: Structure
    sharding: Sharding
    class_order: Int32Array  # the class that each of the arranged ones is in the model
    row_order: Int32Array  # the factor of each row of R

    @classmethod
    def of(cls, structure: Structure, shards: int, batch: int) -> Arrangement:
        divided, sharding, class_order = divide(structure, shards, batch)
        arranged, row_order = arranged_by_class(divided)
        return cls(arranged, sharding, class_order, row_order)

    def classes_arranged(self, parameters: Parameters) -> Parameters:
        """S and t in the order of the training; all else as it is."""
        if not len(parameters.S):
            return parameters
        return parameters._replace(S=parameters.S[self.class_order], t=parameters.t[self.class_order])

    def classes_of_model(self, parameters: Parameters) -> Parameters:
        """S and t in the order of the model, as copies; all else as it is."""
        if not len(parameters.S):
            return parameters
        classes = {name: np.empty_like(getattr(parameters, name)) for name in ("S", "t")}
        for name, array in classes.items():
            array[self.class_order] = getattr(parameters, name)
        return parameters._replace(**classes)


@dataclass(frozen=True, eq=False)
class _TableRows:
    """The rows of one table: who owns each, and which are here."""

    shape: tuple[int, ...]  # of the whole table
    owner: Int64Array  # by row: the rank that has the valid one, and its sum of squares
    here: Int64Array | None  # the rows that are here, in rising order; None: all

    @property
    def width(self) -> int:
        """The numbers of a row."""
        return int(np.prod(self.shape)) // max(len(self.owner), 1)

    @property
    def rows_here(self) -> int:
        return len(self.owner) if self.here is None else len(self.here)

    @property
    def chunks(self) -> Iterator[tuple[int, int]]:
        """Ranges of rows that are moved at a time."""
        rows, size = len(self.owner), max(1, CHUNK // max(1, self.width))
        return ((begin, min(begin + size, rows)) for begin in range(0, rows, size))


class RankState:
    """Moves whole tables to the ranks and back."""

    def __init__(
        self, config: LogBilinearConfig, whole: Structure, local: LocalModel, members: Int32Array | None = None
    ) -> None:
        """Of a model with this structure; `members` are all output words in the order of the training."""
        self._local, self._members = local, whole.layout.members if members is None else members
        self._comm, self._shapes = local.place.comm, shapes(config, whole)
        place, shards, width = local.place, local.sharding.shards, config.width
        words = np.maximum(local.output_shards, 0)  # BEGIN, which is never predicted, goes with shard 0
        self._tables = {}
        for name, shape in self._shapes.items():
            here = None
            if name in ("Q", "R"):
                side = local.context if name == "Q" else local.output
                owner, here = side.owner, side.rows
            elif name == "b":
                owner = words
            else:  # C, S and t are everywhere
                owner = dense_owners(_row_count(name, shape, width), shards)
            self._tables[name] = _TableRows(shape, place.rank_of(owner), here)

    # ------------------------------------------------------------ rank 0 -> all

    def hand_out(self, whole: Parameters | None) -> Parameters:
        """This rank's part of parameters that rank 0 has."""
        return Parameters(*(self._hand_out(name, None if whole is None else getattr(whole, name)) for name in _NAMES))

    def _hand_out(self, name: str, whole: Array | None) -> Float32Array:
        table = self._tables[name]
        flat = None if whole is None else whole.reshape(len(table.owner), table.width)
        out = np.empty((table.rows_here, table.width), np.float32)
        for begin, end in table.chunks:
            chunk = self._comm.broadcast(None if flat is None else np.array(flat[begin:end]))
            if flat is not None:
                release_pages(flat)
            if table.here is None:
                out[begin:end] = chunk
            else:
                first, last = np.searchsorted(table.here, (begin, end))
                out[first:last] = chunk[table.here[first:last] - begin]
        return out if table.here is not None else out.reshape(table.shape)

    # ------------------------------------------------------------ all -> rank 0

    def collect(self, parts: Parameters, folder: Path | None, order: Int32Array | None = None) -> Parameters | None:
        """The whole parameters at rank 0, None at the others. They are maps of a file in `folder`, if there is one.

        `order` says which row of the whole R each row is.
        """
        if self._comm.size == 1:
            return parts
        whole = [self._collect(name, getattr(parts, name), folder, order if name == "R" else None) for name in _NAMES]
        return Parameters(*whole) if self._comm.is_first else None  # type: ignore[arg-type]

    def _collect(
        self, name: str, part: Float32Array, folder: Path | None, order: Int32Array | None
    ) -> Float32Array | None:
        table, comm = self._tables[name], self._comm
        flat = part.reshape(table.rows_here, table.width)
        whole = _new_table((len(table.owner), table.width), folder) if comm.is_first else None
        for begin, end in table.chunks:
            owners = table.owner[begin:end]
            own = begin + np.flatnonzero(owners == comm.rank)
            local = own if table.here is None else np.searchsorted(table.here, own)
            counts = np.bincount(owners, minlength=comm.size).tolist()
            collected = comm.collect_rows(flat[local], counts)
            if whole is not None and collected is not None:
                rows = begin + np.argsort(owners, kind="stable")
                whole[rows if order is None else order[rows]] = collected
                release_pages(whole)
        return None if whole is None else whole.reshape(table.shape)

    def collect_output(self, vectors: Float32Array, model: OutputLayout, folder: Path | None) -> Float32Array | None:
        """The composed vectors of all output words at rank 0, in the order of a model's positions."""
        comm, place = self._comm, self._local.place
        bounds = np.array(place.rank_bounds(self._local.sharding.position_bounds))
        whole = _new_table((int(bounds[-1]), vectors.shape[1]), folder) if comm.is_first else None
        size = max(1, CHUNK // vectors.shape[1])
        for begin in range(0, int(bounds[-1]), size):
            cuts = np.clip(bounds, begin, begin + size)
            first, last = cuts[comm.rank : comm.rank + 2] - bounds[comm.rank]
            collected = comm.collect_rows(vectors[first:last], np.diff(cuts).tolist())
            if whole is not None and collected is not None:
                words = self._members[begin : begin + len(collected)]
                whole[model.position_of[words]] = collected
                release_pages(whole)
        return whole


_NAMES = Parameters._fields


def _row_count(name: str, shape: tuple[int, ...], width: int) -> int:
    """Rows of a table that all ranks have, as they are updated: all class biases are one."""
    return min(1, shape[0]) if name == "t" else int(np.prod(shape)) // width


def _new_table(shape: tuple[int, int], folder: Path | None) -> Float32Array:
    """A table in memory, or in a file without a name, which is gone with the process."""
    size = int(np.prod(shape)) * 4
    if folder is None or not size:
        return np.empty(shape, np.float32)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.truncate(size)
        data = mmap.mmap(file.fileno(), size)
    return np.frombuffer(data, np.float32).reshape(shape)
