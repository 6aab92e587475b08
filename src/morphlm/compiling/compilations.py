"""What is compiled in this process: people are told, and helpers compile what a command will need next."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.registry import cpu_target

from morphlm.compiling import code_files, helpers
from morphlm.compiling.libraries import kernel_target
from morphlm.compiling.shortcuts import shortcuts
from morphlm.compiling.signatures import kernel_named, parse_signature, signature_text
from morphlm.compiling.wrappers import shared_unboxing
from morphlm.progress import SilentBar, notify, shows_bars, step_bar

config: Any = importlib.import_module("numba.core.config")  # Numba has no types for it

QUIETLY = "MORPHLM_COMPILING"  # an environment variable; with the value `quiet` nothing is said


class Compilations:
    """What is compiled in this process: people are told, and helpers compile what will be needed next."""

    def __init__(self) -> None:
        self.requested: list[tuple[Any, tuple[Any, ...]]] = []  # kernels and signatures that Python called
        self._has_begun, self._is_told = False, False
        self._expected, self._compiled = 0, 0
        self.seconds = 0.0  # that the program has waited for machine code
        self._shown: Any = None  # the bar, while something is compiled
        self._helpers: helpers.Helpers | None = None

    def begin_early(self) -> None:
        """Start helpers while the command still reads its input, if the first kernel that it will need is missing."""
        if self._has_begun or not helpers.helpers_wanted():
            return
        planned = helpers.planned_kernels()
        if planned and not _is_kept(planned[0]):
            self._has_begun = True
            self._start_helpers(planned[0])

    def was_done_by_helper(self, kernel: Any, arguments: tuple[Any, ...]) -> bool:
        """Whether a kernel that was missing is in the cache by now. The first time, helpers are started."""
        name = text_of(kernel, arguments)
        if not self._has_begun:
            self._has_begun = True
            self._start_helpers(name)
        if self._helpers is None:
            return False
        with self._bar(kernel) as bar:
            return self._helpers.take(name, lambda done: bar.update(done - bar.n))

    @contextmanager
    def announced(self, kernel: Any, arguments: tuple[Any, ...]) -> Iterator[None]:
        """While a kernel is compiled."""
        if not self._is_told and not shows_bars() and os.environ.get(QUIETLY) != "quiet":
            notify(f"{_description(kernel)} ...", important=True)  # it takes up to a minute
        self._is_told = True
        with self._bar(kernel), shortcuts(), shared_unboxing(), kernel_target():
            yield
        self._compiled += 1
        if self._helpers is not None:
            self._helpers.finish(text_of(kernel, arguments))

    @contextmanager
    def _bar(self, kernel: Any) -> Iterator[Any]:
        """The bar that is shown, or a new one; it goes away when the work of the command goes on."""
        if self._shown is not None:
            yield self._shown
            return
        is_quiet, total = os.environ.get(QUIETLY) == "quiet", self._expected or None
        done = self._compiled if self._helpers is None else self._helpers.done
        with SilentBar() if is_quiet else step_bar(_description(kernel), done, total) as bar:
            self._shown, began = bar, time.perf_counter()
            try:
                yield bar
            finally:
                self._shown = None
                self.seconds += time.perf_counter() - began

    def _start_helpers(self, first: str) -> None:
        """For the kernels that the command will need, `first` before all others."""
        planned, processes = helpers.planned_kernels(), helpers.helpers_wanted()
        if first not in planned or code_files.code_folder(code_files.PACKAGE, config.CACHE_DIR) is None:
            return
        missing = [first, *(name for name in planned if name != first and not _is_kept(name))]
        self._expected = len(missing)
        if processes and len(missing) > 1:
            cpu_target.typing_context.refresh()  # what Numba knows of NumPy is loaded once, for all processes
            cpu_target.target_context.refresh()
            self._helpers = helpers.Helpers(missing, compile_planned, processes)


COMPILATIONS = Compilations()


def _description(kernel: Any) -> str:
    return "compiling" + (", once after installation" if kernel._cache.cache_path is not None else "")


def text_of(kernel: Any, arguments: tuple[Any, ...]) -> str:
    """A kernel in the lists of those that commands need."""
    return f"{kernel.__module__}.{kernel.__name__}\t{signature_text(arguments)}"


def compile_planned(text: str) -> None:
    """Compile a kernel that is on the list of a command, and keep it."""
    name, _, signature = text.partition("\t")
    kernel_named(name).compile(parse_signature(signature))


def _is_kept(text: str) -> bool:
    name, _, signature = text.partition("\t")
    return bool(kernel_named(name).is_kept(parse_signature(signature)))
