"""An ordered map over worker processes; the results do not depend on their number."""

from __future__ import annotations

import contextlib
import itertools
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from morphlm.errors import ConfigError, MorphlmError
from morphlm.signals import signals_blocked
from morphlm.wording import command_line, is_command, option

Item = TypeVar("Item")
Result = TypeVar("Result")

PATIENCE = 0.3  # seconds of work before processes are started, which takes about as long
ITEMS_AHEAD = 4  # for each process, how many items may be read ahead of the results taken


def ordered_map(
    work: Callable[[Item], Result], items: Iterable[Item], processes: int, *, patience: float = PATIENCE
) -> Generator[Result, None, None]:
    """Yield `work(item)` for every item, in order, computed by `processes` worker processes; 1 starts none.

    The work of the first `patience` seconds is done here, so that a small input starts no process either. Items are
    taken only a few ahead of the results. `work` and the items travel to other processes, so `work` is a function of a
    module or a frozen dataclass. Close the iterator (`contextlib.closing`) to end the processes early.
    """
    source, spent = iter(items), 0.0
    for item in source:
        if processes > 1 and spent >= patience:
            with contextlib.closing(_WorkerPool(work, processes)) as pool:
                yield from pool.map(itertools.chain([item], source))
            return
        begin = time.perf_counter()
        result = work(item)
        spent += time.perf_counter() - begin
        yield result


class _WorkerPool(Generic[Item, Result]):
    """Worker processes that take the items in turn; a thread sends the items while the caller receives the results.

    Memory is bounded: a slow worker, or a caller that does not take results, blocks the thread and so the reading.
    """

    def __init__(self, work: Callable[[Item], Result], processes: int) -> None:
        context = get_context("spawn")  # the same on every system, and safe beside threads
        resource_tracker.ensure_running()  # else the first start does it, and lets Ctrl-C through again
        self._slots = threading.Semaphore(ITEMS_AHEAD * processes)
        # For each item sent False, at the end True; or the error of the source.
        self._sent: SimpleQueue[bool | BaseException] = SimpleQueue()
        self._stopped = False
        self._sender: threading.Thread | None = None
        self._pipes: list[Connection] = []
        self._processes = []
        for _ in range(processes):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, work, is_command()), daemon=True)
            self._pipes.append(ours)
            self._processes.append(process)
            with signals_blocked(signal.SIGINT):  # Ctrl-C is for the main thread
                process.start()
            theirs.close()

    def map(self, items: Iterable[Item]) -> Iterator[Result]:
        self._sender = threading.Thread(target=self._send_items, args=(items,), daemon=True)
        with signals_blocked(signal.SIGINT):  # Ctrl-C is for the main thread
            self._sender.start()
        for pipe in itertools.cycle(self._pipes):
            event = self._sent.get()
            if isinstance(event, BaseException):
                raise event
            if event:
                return
            yield _receive(pipe)
            self._slots.release()

    def _send_items(self, items: Iterable[Item]) -> None:
        try:
            for item, pipe in zip(items, itertools.cycle(self._pipes), strict=False):
                self._slots.acquire()
                if self._stopped:
                    return
                self._sent.put(False)
                pipe.send(item)
            self._sent.put(True)
        except BaseException as error:  # it belongs to the caller, after the results that come before it
            self._sent.put(error)

    def close(self) -> None:
        self._stopped = True
        self._slots.release()
        for process in self._processes:
            if process.pid is not None:
                process.terminate()
                process.join()
        if self._sender is not None:
            self._sender.join(0.2)  # it may be waiting for a pipe that stays silent; then it ends with the program
        for pipe in self._pipes:
            pipe.close()


def _serve(pipe: Connection, work: Callable[[Item], Result], for_command: bool) -> None:
    """The main loop of a worker: errors of morphlm are results too, and it ends when its parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it could not be held back from the start
    # A parent that is gone closes the pipe: no complaint, nobody is there to read it.
    with contextlib.suppress(EOFError, OSError), command_line(for_command):
        while True:
            item = pipe.recv()
            try:
                pipe.send(work(item))
            except MorphlmError as error:
                pipe.send(error)


def _receive(pipe: Connection) -> Any:
    try:
        result = pipe.recv()
    except (EOFError, OSError) as error:
        raise ConfigError(
            f"a worker process ended early (killed for lack of memory?); try again with fewer {option('--processes')}"
        ) from error
    if isinstance(result, MorphlmError):
        raise result
    return result
