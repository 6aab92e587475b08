"""One line of progress over all steps of an experiment, and the talk of the steps in files of their own.

Where a person watches, it is a bar over the estimated seconds, which moves with the clock; elsewhere a line a step.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from tqdm import tqdm

from morphlm.experiments.estimate import duration
from morphlm.files import make_folder

TICK = 1.0  # seconds between two moves of the bar
FORMAT = "{desc} |{bar}| {percentage:3.0f} % [{elapsed} so far{postfix}]"


class ProgressLine:
    """The line. Use as a context manager."""

    def __init__(self, name: str, total: int, seconds: float) -> None:
        """So many steps are to be done, in about so many seconds."""
        self.name, self.total, self.number = name, total, 0
        self._left = max(seconds, 1.0)  # seconds
        self._before = 0.0  # seconds of the bar that the steps so far stand for
        self._stream: TextIO = sys.stderr
        self._stop = threading.Event()
        self._bar: Any = None

    def __enter__(self) -> ProgressLine:
        """Begin to show it."""
        self._bar = tqdm(
            total=self._left, desc=self.name, file=self._stream, disable=not self._stream.isatty(), leave=False,
            bar_format=FORMAT,
        )  # fmt: skip
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take it away."""
        self._stop.set()
        self._bar.close()

    def notify(self, message: str) -> None:
        """A line above the bar, for the person at the terminal."""
        with contextlib.suppress(OSError):
            if self._bar.disable:
                print(message, file=self._stream, flush=True)
            else:
                self._bar.write(message, file=self._stream)

    @contextlib.contextmanager
    def step(self, name: str, seconds: float, log: Path) -> Iterator[None]:
        """Show a step while it is done; what it says goes to its log."""
        self.number += 1
        self._bar.set_description_str(f"{self.name} {self.number}/{self.total}: {name}")
        make_folder(log.parent)
        begin, self._stop = time.monotonic(), threading.Event()
        watch = threading.Thread(target=self._follow, args=(begin, seconds, self._stop), daemon=True)
        with log.open("a", encoding="utf-8") as talk:
            watch.start()
            try:
                with contextlib.redirect_stderr(talk):
                    yield
            finally:
                self._stop.set()
                watch.join()
        self._before += seconds

    def done(self, name: str, seconds: float, left: float) -> None:
        """Say that a step is done, where there is no bar; `left` is what the others will take."""
        self._bar.total = self._before + left
        self._show(self._before)
        if self._bar.disable:
            after = f"; about {duration(left)} left" if left > 0 else ""
            self.notify(f"[{self.number}/{self.total}] {name}: {duration(seconds)}{after}")

    def _follow(self, begin: float, seconds: float, stop: threading.Event) -> None:
        """Move the bar with the clock, but not beyond the step."""
        while not stop.wait(TICK):
            self._show(self._before + min(time.monotonic() - begin, seconds))

    def _show(self, reached: float) -> None:
        self._bar.n = reached
        left = self._bar.total - reached
        self._bar.set_postfix_str(f"about {duration(left)} left" if left > 0 else "")
