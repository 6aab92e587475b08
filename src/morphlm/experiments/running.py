"""Doing steps one after the other: those that are done are found, the others are done and kept.

A step that fails is reported, what needs it is skipped and the rest goes on. With a time limit, a step that would go
beyond it is left out.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from morphlm.errors import MorphlmError
from morphlm.experiments.estimate import Estimator
from morphlm.experiments.graph import Done, Step
from morphlm.experiments.progress_line import ProgressLine
from morphlm.experiments.store import Record, Store

FATAL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}  # after these no other step can be kept either
LONG_KINDS = ("texts", "stages", "model", "bitext", "tuning")
GRACE = 30.0  # seconds that an evaluation may take after the time is over


@dataclass
class Outcome:
    """What became of the steps."""

    results: dict[str, dict[str, Any]] = field(default_factory=dict)  # key -> result, of what is done
    failed: dict[str, str] = field(default_factory=dict)  # name -> why
    skipped: list[str] = field(default_factory=list)  # names of what needs those
    late: list[str] = field(default_factory=list)  # names of what would have taken too long, and of what needs it
    found: int = 0  # steps that were done before
    seconds: float = 0.0  # of the others

    def get(self, step: Step | None) -> dict[str, Any] | None:
        """The result of a step, if there is one."""
        return None if step is None else self.results.get(step.key)


def find_done(steps: Iterable[Step], store: Store) -> dict[str, Record]:
    """The records of the steps that are done."""
    return {step.key: record for step in steps if (record := store.find(step)) is not None}


@dataclass
class Run:
    """One pass over the steps."""

    store: Store
    estimator: Estimator
    work: Callable[[Step], Done]
    progress_line: ProgressLine
    deadline: float | None = None  # as of time.monotonic
    outcome: Outcome = field(default_factory=Outcome)
    _again: set[str] = field(default_factory=set)  # keys of what was done in this pass

    def run(self, steps: Sequence[Step], done: Mapping[str, Record]) -> Outcome:
        """Do what is not done."""
        self.outcome.results = {key: record.result for key, record in done.items()}
        self.outcome.found = len(done)
        for place, step in enumerate(steps):
            if step.key in done and not self._is_outdated(step):
                continue
            if self._may_begin(step):
                self._do(step, [other for other in steps[place + 1 :] if other.key not in self.outcome.results])
        return self.outcome

    def _is_outdated(self, step: Step) -> bool:
        """Whether it was done, but what it is made of has just come out differently; then it is to be done again."""
        if not any(need.key in self._again for need in step.inputs) or self.store.find(step) is not None:
            return False
        del self.outcome.results[step.key]
        self.outcome.found -= 1
        self.progress_line.total += 1
        return True

    def _may_begin(self, step: Step) -> bool:
        """Whether what it needs is there, and time."""
        lacking = [need for need in step.needs if need.key not in self.outcome.results]
        if lacking:
            is_late = all(need.name in self.outcome.late for need in lacking)
            (self.outcome.late if is_late else self.outcome.skipped).append(step.name)
            return False
        if self._fits(step):
            return True
        self.progress_line.notify(f"{step.name}: left out, there is too little time for it")
        self.outcome.late.append(step.name)
        return False

    def _fits(self, step: Step) -> bool:
        """What is trained is also tested, if that is quick, even when the training took longer than was expected."""
        seconds = self.estimator.seconds(step)
        is_quick = step.kind not in LONG_KINDS and seconds <= GRACE
        return self.deadline is None or is_quick or time.monotonic() + seconds <= self.deadline

    def _do(self, step: Step, others: Sequence[Step]) -> None:
        expected, begin = self.estimator.expected(step).seconds, time.monotonic()
        try:
            with self.progress_line.step(step.name, self.estimator.seconds(step), self.store.log(step)):
                done = self.work(step)
        except (MorphlmError, MemoryError, OSError) as error:
            if _is_fatal(error):
                raise
            self._fail(step, _why(error))
            return
        seconds = time.monotonic() - begin
        record = Record(
            step.key, step.kind, step.name, round(seconds, 3), expected, done.fresh, done.result, done.files
        )
        self.store.keep(record, step)
        self.estimator.learn([record])
        self.outcome.results[step.key] = record.result
        self._again.add(step.key)
        self.outcome.seconds += seconds
        self.progress_line.done(step.name, seconds, sum(map(self.estimator.seconds, others)))

    def _fail(self, step: Step, why: str) -> None:
        self.progress_line.notify(f"{step.name}: failed: {why}")
        self.outcome.failed[step.name] = why


def _is_fatal(error: BaseException | None) -> bool:
    """Whether it is one of FATAL, or says so in other words: `cannot write here (No space left on device)`."""
    if isinstance(error, OSError) and error.errno in FATAL:
        return True
    return error is not None and _is_fatal(error.__cause__)


def _why(error: BaseException) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: {error.strerror or error}"
    return str(error) or "the memory is used up"
