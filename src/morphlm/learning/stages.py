"""One line of progress over all stages of `learn`, and what is left of them; their chatter goes to a log."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from morphlm.compiling import COMPILATIONS
from morphlm.learning.pace import Budget
from morphlm.progress import messages_to
from morphlm.progress_line import ProgressLine, open_log

SHOWN = "compiling"  # the first word of messages that a user should see in any stage


class _Log(io.TextIOWrapper):
    """Keeps messages, and passes some on."""

    say: Callable[[str], None]

    def write(self, text: str) -> int:
        if text.startswith(SHOWN):
            self.say(text.rstrip("\n"))
        return super().write(text)


class _Line(ProgressLine):
    def label(self, name: str) -> str:
        return f"{self.name}: {name}"

    def open_log(self, path: Path) -> TextIO:
        log: _Log = open_log(path, _Log)
        log.say = self.notify
        return log


class Stages:
    """A context manager that shows the stage, the share that is done, and the time that is left."""

    def __init__(self, budget: Budget, log: Path, *, verbose: bool = False) -> None:
        self.budget, self.log, self.verbose = budget, log, verbose
        self.waiting: dict[str, float] = {}  # stages to come -> expected seconds
        self._began: dict[str, float] = {}  # stages that are run in parts -> when the first part began
        self._line = _Line("learn", 0, 1.0)

    def __enter__(self) -> Stages:
        self._line.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._line.__exit__(*exception)  # type: ignore[arg-type]

    def say(self, message: str) -> None:
        """A line that stays."""
        self._line.notify(message)

    def plan(self, expected: Mapping[str, float]) -> None:
        """The stages to come, with the seconds that each is expected to take."""
        self.waiting = dict(expected)

    def end(self, name: str) -> None:
        """A stage was run in parts, or need not be run."""
        self.waiting.pop(name, None)
        if name in self._began:
            self._line.done(name, self.budget.clock() - self._began.pop(name), self.left)

    @property
    def left(self) -> float:
        """Seconds that the stages to come will take."""
        return min(self.budget.pace.seconds(sum(self.waiting.values())), max(0.0, self.budget.left))

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Between stages: what is printed goes to the log."""
        if self.verbose:
            yield
            return
        with self._line.open_log(self.log) as log, messages_to(log):
            yield

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Run a stage that was planned; when it is done, a line says so where there is no bar."""
        began, expected = self.budget.clock(), self.waiting.pop(name, 0.0)
        with self._step(name, expected):
            yield
        self._line.done(name, self.budget.clock() - began, self.left)

    @contextmanager
    def trial(self, name: str, stage: str, expected: float) -> Iterator[None]:
        """Run a part of a stage that was planned and is still waiting; `end` ends the stage."""
        self._began.setdefault(stage, self.budget.clock())
        with self._step(f"{stage}: {name}", expected):
            yield
        self.waiting[stage] = max(0.0, self.waiting.get(stage, 0.0) - expected)
        self._line.set_left(self.left)

    @contextmanager
    def _step(self, name: str, expected: float) -> Iterator[None]:
        began, compiled = self.budget.clock(), COMPILATIONS.seconds
        with self._line.step(name, self.budget.pace.seconds(expected), None if self.verbose else self.log):
            yield
        if expected:  # what is compiled now need not be compiled again
            self.budget.pace.learn(self.budget.clock() - began - (COMPILATIONS.seconds - compiled), expected)
