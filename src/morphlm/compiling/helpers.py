"""Processes that compile kernels beside the command that needs them, so that a first start takes half of the time.

Numba compiles one function at a time in a process. Which kernels a command needs is written in `plans.tsv`. When
one of them is not in the cache, and there are idle cores, the command forks: helpers compile from the end of the list,
the command from its beginning, and each looks into the cache before. Training and perplexity look for the first of
their kernels before they read any text, so that helpers work meanwhile. A helper ends with the command, however that
ends: it is stopped, or the system tells it that its parent is gone. Where processes cannot be forked safely, that is
beside other threads, in programs of others, and on other systems than Linux, the command compiles alone.
"""

from __future__ import annotations

import atexit
import ctypes
import mmap
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from morphlm import command
from morphlm.signals import signals_blocked

PLANS = Path(__file__).with_name("plans.tsv")
# Commands that run others.
PARTS = {
    "learn": ("train mkn", "train clbl++", "mix", "ppl"),
    "demo": ("train mkn", "train clbl++", "mix", "ppl"),
    "train --all": ("train mkn", "train clbl++"),
}
MOST_HELPERS = 3  # more would compile the same callees again and again
FREE, DONE, OURS, FIRST_HELPER = 0, 1, 2, 3  # states of a kernel: the last is that of the first helper at work on it
PATIENCE = 0.005  # seconds between looks at what a helper does
_PARENT_DEATH_SIGNAL = 1  # of prctl(2)


def planned_kernels(words: Sequence[str] | None = None) -> list[str]:
    """The kernels, as text, that a command usually needs, in the order in which it needs them."""
    words = command.arguments or () if words is None else words
    names = [" ".join(words[:2]), *words[:1]]
    rows = [line.split("\t", 1) for line in PLANS.read_text(encoding="utf-8").splitlines()]
    known = {name for name, _ in rows}
    chosen = next((PARTS.get(name, (name,)) for name in names if name in PARTS or name in known), ())
    return list(dict.fromkeys(kernel for part in chosen for name, kernel in rows if name == part))


def helpers_wanted() -> int:
    """How many helpers may be started here and now."""
    is_alone = threading.active_count() == 1 and threading.current_thread() is threading.main_thread()
    if not (command.arguments and is_alone and sys.platform == "linux"):
        return 0
    return min(len(os.sched_getaffinity(0)) - 1, MOST_HELPERS)


class Helpers:
    """Processes that compile some kernels, each kernel once; `compile_kernel` compiles and keeps one."""

    def __init__(self, kernels: Sequence[str], compile_kernel: Callable[[str], None], processes: int) -> None:
        """The first kernel is the one that the parent needs next and compiles itself."""
        self._kernels, self._compile = kernels, compile_kernel
        self._index = {kernel: i for i, kernel in enumerate(kernels)}
        self._states = mmap.mmap(-1, len(kernels))  # memory that parent and children share
        self._states[0] = OURS
        self._processes: dict[int, int] = {}
        self._is_helper = False
        atexit.register(self.stop)
        for number in range(FIRST_HELPER, FIRST_HELPER + min(processes, len(kernels) - 1)):
            self._fork(number)

    @property
    def done(self) -> int:
        """The number of kernels that are compiled."""
        return sum(state == DONE for state in self._states[:])

    def take(self, kernel: str, tell: Callable[[int], None]) -> bool:
        """Whether a kernel is in the cache by now; if not, it is the caller's. Waits for a helper that is at it.

        Meanwhile other kernels are compiled here, and `tell` is told how many are done.
        """
        at = self._index.get(kernel)
        if at is None or self._is_helper:
            return False
        while self._states[at] >= FIRST_HELPER and self._is_alive(self._states[at]):
            tell(self.done)
            if not self._compile_next(range(len(self._kernels)), OURS):
                time.sleep(PATIENCE)
        if self._states[at] == DONE:
            return True
        self._states[at] = OURS
        return False

    def finish(self, kernel: str) -> None:
        """The caller has compiled and kept a kernel."""
        if kernel in self._index and not self._is_helper:
            self._states[self._index[kernel]] = DONE

    def stop(self) -> None:
        """End all helpers, at once; what they have compiled stays."""
        for process in self._processes.values():
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(process, signal.SIGTERM)
                os.waitpid(process, 0)
        self._processes = {}

    def _compile_next(self, order: Sequence[int], worker: int) -> bool:
        """Compile the first kernel that nobody has taken; False if there is none."""
        for at in order:
            if self._states[at] == FREE:
                self._states[at] = worker
                self._compile(self._kernels[at])
                self._states[at] = DONE
                return True
        return False

    def _is_alive(self, number: int) -> bool:
        if number in self._processes:
            with suppress(ChildProcessError):
                if os.waitpid(self._processes[number], os.WNOHANG) == (0, 0):
                    return True
            del self._processes[number]  # its number may soon be that of another process
        return False

    def _fork(self, number: int) -> None:
        parent = os.getpid()
        # No Ctrl-C reaches the child before it ignores it.
        with signals_blocked(signal.SIGINT), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # about threads, of which Python has none here
            process = os.fork()
            if process == 0:
                try:
                    self._serve(parent, number)
                finally:
                    os._exit(0)
        self._processes[number] = process

    def _serve(self, parent: int, number: int) -> None:
        """The life of a helper. Ctrl-C is for the parent, which ends us."""
        self._is_helper = True
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, int(signal.SIGTERM), 0, 0, 0)
        _close_files()
        while os.getppid() == parent and self._compile_next(range(len(self._kernels) - 1, -1, -1), number):
            pass


def _close_files() -> None:
    """Let go of the parent's files: whoever waits for the end of a pipe or for a lock does not wait for us."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    os.closerange(3, max(int(name) for name in os.listdir("/proc/self/fd")) + 1)  # noqa: PTH208
