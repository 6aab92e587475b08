"""Python threads for compiled code that releases the interpreter's lock.

Work is cut into pieces whose results do not depend on the thread, so results do not depend on the number of threads.
BLAS is limited to one thread meanwhile: two layers of threads would compete for the same cores.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from morphlm import command

Item = TypeVar("Item")
Result = TypeVar("Result")
PIECES_PER_THREAD = 3  # more than one, so that a thread that is done early takes work from the others


def available_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Workers:
    """A pool of threads, the calling one among them. Use `workers` to make one."""

    def __init__(self, threads: int, pool: ThreadPoolExecutor | None) -> None:
        """One thread, the calling one, needs no pool."""
        self.threads, self._pool = threads, pool

    def run_pieces(self, task: Callable[[int, int], None], pieces: int) -> None:
        """Call `task(piece, worker)` for every piece, in order of their numbers as threads become free.

        `worker` is below `threads` and belongs to one thread at a time: the number of the scratch space to use.
        """
        numbers = iter(range(pieces))

        def work(worker: int) -> None:
            for number in numbers:  # `next` of a range's iterator is atomic under the interpreter's lock
                task(number, worker)

        others = [self._pool.submit(work, worker) for worker in range(1, min(self.threads, pieces)) if self._pool]
        try:
            work(0)
        finally:
            for _ in numbers:  # after an error or Ctrl-C the others find nothing more to do
                pass
            wait(others)
        for other in others:
            other.result()

    def run_ranges(self, task: Callable[[int, int], None], items: int, smallest: int = 1) -> None:
        """Call `task(begin, end)` for consecutive ranges that cover `items`; none is empty."""
        units = -(-items // smallest)
        pieces = max(1, min(self.threads * PIECES_PER_THREAD, units))
        bounds = list(dict.fromkeys(min(cut * smallest, items) for cut in tapered_bounds(units, pieces)))
        self.run_pieces(lambda piece, _: task(bounds[piece], bounds[piece + 1]), len(bounds) - 1)


def _load_blas() -> None:
    """The BLAS of compiled code, which Numba takes from SciPy; if it were loaded later, it would not be found here.

    A command loads it alone: the rest of SciPy's linear algebra takes longer to import than a short command to run. In
    other programs somebody may want to find it as an attribute of its package.
    """
    name = "scipy.linalg.cython_blas"
    if command.arguments is None or "scipy.linalg" in sys.modules:
        importlib.import_module(name)
    elif name not in sys.modules:
        folder = Path(importlib.import_module("scipy").__file__ or "").parent / "linalg"
        found = PathFinder.find_spec(name, [str(folder)])
        if found is None or found.loader is None:
            importlib.import_module(name)
            return
        sys.modules[name] = module = module_from_spec(found)
        found.loader.exec_module(module)


@cache
def _libraries() -> ThreadpoolController:
    """The thread pools of the BLAS libraries; finding them takes some milliseconds."""
    _load_blas()
    return ThreadpoolController()


def blas_pools() -> list[dict[str, Any]]:
    """What is known of the libraries with threads of their own: BLAS and others."""
    pools: list[dict[str, Any]] = _libraries().info()
    return pools


@contextmanager
def workers(threads: int) -> Iterator[Workers]:
    """A pool of threads for the duration of the block, with BLAS limited to one thread."""
    with _libraries().limit(limits=1, user_api="blas"), ThreadPoolExecutor(max(threads - 1, 1)) as pool:
        yield Workers(threads, pool)


@contextmanager
def one_worker() -> Iterator[Workers]:
    """The calling thread alone, for work without BLAS: it begins at once, and may be a thread of somebody's pool."""
    yield Workers(1, None)


def map_in_order(
    task: Callable[[Item], Result], items: Iterable[Item], threads: int, *, ahead: int = 2
) -> Iterator[Result]:
    """What `task` gives for each item, several at a time; results come in order.

    For each thread `ahead` items are worked on or wait, so that memory is bounded.
    """
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(task, item))
                if len(waiting) >= threads * ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def tapered_sizes(pieces: int) -> list[int]:
    """Relative sizes of pieces, large ones first, so that threads finish at about the same time."""
    return [pieces - number // 2 * 2 for number in range(pieces)]


def tapered_bounds(items: int, pieces: int) -> list[int]:
    """The bounds of consecutive pieces of these relative sizes, from 0 to `items`."""
    ends = list(accumulate(tapered_sizes(pieces)))
    return [0, *(items * end // ends[-1] for end in ends)]


def balance_by_cost(costs: Iterable[tuple[float, int]], bins: int) -> list[list[int]]:
    """Spread items over bins of falling sizes, the most expensive first, each where there is least for the size."""
    sizes = tapered_sizes(bins)
    loads = [0.0] * bins
    contents: list[list[int]] = [[] for _ in range(bins)]
    for cost, item in sorted(costs, reverse=True):
        least = loads.index(min(loads))
        loads[least] += cost / sizes[least]
        contents[least].append(item)
    return contents
