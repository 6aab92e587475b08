"""One line of progress over all steps of an experiment, and the messages of the steps in files of their own.

On a terminal it is a bar over the estimated seconds, which moves with the clock; elsewhere a line a step.
"""

from __future__ import annotations

import contextlib
import io
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from morphlm.costs import format_duration
from morphlm.files import NamedOutput, cannot_write, make_folder
from morphlm.progress import escaped, messages_to, notify_past_diversion, seconds_bar
from morphlm.wording import is_command

TICK = 1.0  # seconds between two moves of the bar
FORMAT = "{desc} |{bar}| {percentage:3.0f} % [{elapsed} so far{postfix}]"


class ProgressLine:
    """A context manager that shows how far a run is: so many steps, in about so many seconds."""

    def __init__(self, name: str, total: int, seconds: float) -> None:
        self.name, self.total, self.number = name, total, 0
        self._left = max(seconds, 1.0)  # seconds
        self._before = 0.0  # seconds of the bar that the steps so far stand for
        self._stream: TextIO = sys.stderr
        self._stop = threading.Event()
        self._bar: Any = None

    def __enter__(self) -> ProgressLine:
        self._bar = seconds_bar(self.name, self._left, FORMAT)
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._bar.close()

    def notify(self, message: str) -> None:
        """Say something that stays, above the bar."""
        if is_command() and not self._bar.disable:
            with contextlib.suppress(OSError):
                self._bar.write(escaped(message), file=self._stream)
        else:
            notify_past_diversion(message, self._stream)

    @contextlib.contextmanager
    def step(self, name: str, seconds: float, log: Path | None) -> Iterator[None]:
        """Show a step while it runs; what it prints goes to its log, or is shown too if it has none."""
        self.number += 1
        self._bar.set_description_str(escaped(self.label(name)))
        begin, self._stop = time.monotonic(), threading.Event()
        follower = threading.Thread(target=self._follow, args=(begin, seconds, self._stop), daemon=True)
        with contextlib.ExitStack() as stack:
            if log is not None:
                stack.enter_context(messages_to(stack.enter_context(self.open_log(log))))
            if not self._bar.disable:
                follower.start()
            try:
                yield
            finally:
                self._stop.set()
                if not self._bar.disable:
                    follower.join()
        self._before += seconds

    def open_log(self, path: Path) -> TextIO:
        """The file that the messages of a step are added to."""
        stream: TextIO = open_log(path)
        return stream

    def label(self, name: str) -> str:
        """What stands before the bar while a step runs."""
        return f"{self.name} {self.number}/{self.total}: {name}"

    def done(self, name: str, seconds: float, left: float) -> None:
        """A step is done; `left` is how many seconds the others will take."""
        self.set_left(left)
        if self._bar.disable:
            remaining = f"; about {format_duration(left)} left" if left > 0 else ""
            number = f"[{self.number}/{self.total}] " if self.total else ""
            self.notify(f"{number}{name}: {format_duration(seconds)}{remaining}")

    def set_left(self, left: float) -> None:
        """Correct the estimate: so many seconds are left after the steps so far."""
        self._bar.total = self._before + left
        self._show(self._before)

    def _follow(self, begin: float, seconds: float, stop: threading.Event) -> None:
        """Move the bar with the clock, but not beyond the step."""
        while not stop.wait(TICK):
            self._show(self._before + min(time.monotonic() - begin, seconds))

    def _show(self, reached: float) -> None:
        self._bar.n = reached
        left = self._bar.total - reached
        self._bar.set_postfix_str(f"about {format_duration(left)} left" if left > 0 else "")


def open_log(path: Path, kind: type[io.TextIOWrapper] = io.TextIOWrapper) -> Any:
    """To add messages to it; if that fails, the error names it."""
    make_folder(path.parent)
    try:
        return kind(io.BufferedWriter(NamedOutput(str(path), "ab", str(path))), encoding="utf-8")
    except OSError as error:
        raise cannot_write(path, error) from error
