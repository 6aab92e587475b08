"""Running steps one after the other: those that are done are found in the store, the others are run and kept.

A step that fails is reported, what needs it is skipped and the rest goes on. With a time limit, a step that would go
beyond it is left out.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from morphlm.artefacts import find_or_make
from morphlm.errors import MorphlmError
from morphlm.experiments.estimate import Estimator
from morphlm.experiments.steps.base import RunContext, Step
from morphlm.experiments.store import Record, Store
from morphlm.progress_line import ProgressLine

FATAL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}  # after these no other step can be kept either
GRACE = 30.0  # seconds that an evaluation may take after the time is over

Content = TypeVar("Content")


@dataclass
class Outcome:
    """What became of the steps."""

    results: dict[str, dict[str, Any]] = field(default_factory=dict)  # key -> result, of what is done
    failed: dict[str, str] = field(default_factory=dict)  # name -> why
    skipped: list[str] = field(default_factory=list)  # names of what needs those
    late: list[str] = field(default_factory=list)  # names of what would have taken too long, and of what needs it
    reused: int = 0  # steps that were done before

    def get(self, step: Step[Content]) -> Content | None:
        """The result of a step, as it reads it; None if there is none."""
        return step.read(self.results[step.key]) if step.key in self.results else None


def find_done(steps: Iterable[Step[Any]], store: Store) -> dict[str, Record]:
    """The records of the steps that are done, by key."""
    return {step.key: record for step in steps if (record := step.find(store)) is not None}


@dataclass
class StepRunner:
    """One pass over the steps."""

    store: Store
    estimator: Estimator
    progress_line: ProgressLine
    deadline: float | None = None  # as of time.monotonic
    outcome: Outcome = field(default_factory=Outcome)
    _rerun: set[str] = field(default_factory=set)  # keys of what was run in this pass

    def __post_init__(self) -> None:
        self.context = RunContext(self.store, self.progress_line.notify)

    def run(self, steps: Sequence[Step[Any]], done: Mapping[str, Record]) -> Outcome:
        """Run what is not done, in this order."""
        self.outcome.results = {key: record.result for key, record in done.items()}
        self.outcome.reused = len(done)
        for number, step in enumerate(steps, 1):
            if step.key in done and not self._is_outdated(step):
                continue
            if self._may_begin(step):
                self._run_step(step, [other for other in steps[number:] if other.key not in self.outcome.results])
        return self.outcome

    def _is_outdated(self, step: Step[Any]) -> bool:
        """Whether it was done, but one of its inputs has just come out differently; then it is run again."""
        if not any(need.key in self._rerun for need in step.inputs) or step.find(self.store) is not None:
            return False
        del self.outcome.results[step.key]
        self.outcome.reused -= 1
        self.progress_line.total += 1
        return True

    def _may_begin(self, step: Step[Any]) -> bool:
        """Whether what it needs is done, and there is time."""
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

    def _fits(self, step: Step[Any]) -> bool:
        """What is trained is also tested, if that is quick, even when the training took longer than was expected."""
        seconds = self.estimator.seconds(step)
        is_quick = step.is_evaluation and seconds <= GRACE
        return self.deadline is None or is_quick or time.monotonic() + seconds <= self.deadline

    def _run_step(self, step: Step[Any], others: Sequence[Step[Any]]) -> None:
        shelf = self.store.shelf(step.producer.name)
        try:
            record = find_or_make(step.producer, step.key, shelf, lambda: self._make(step)).result
        except _StepFailedError as failure:
            self.progress_line.notify(f"{step.name}: failed: {failure}")
            self.outcome.failed[step.name] = str(failure)
            return
        self.estimator.learn([record])
        self.outcome.results[step.key] = record.result
        self._rerun.add(step.key)
        self.progress_line.done(step.name, record.seconds, sum(map(self.estimator.seconds, others)))

    def _make(self, step: Step[Any]) -> Record:
        expected, begin = self.estimator.expected(step).seconds, time.monotonic()
        log = self.store.log(f"{step.name}-{step.short_key}")
        try:
            with self.progress_line.step(step.name, self.estimator.seconds(step), log):
                result = step.run(self.context)
                hashes = self.store.hashes(result.files)
        except (MorphlmError, MemoryError, OSError) as error:
            if _is_fatal(error):
                raise
            raise _StepFailedError(_reason(error)) from error
        return Record(
            step.key,
            step.producer.name,
            step.name,
            round(time.monotonic() - begin, 3),
            expected,
            result.fresh,
            result.content,
            hashes,
            step.group,
        )


class _StepFailedError(Exception):
    """Why a step failed, when the others can go on."""


def _is_fatal(error: BaseException | None) -> bool:
    """Whether it is one of FATAL, or was caused by one: `cannot write here (No space left on device)`."""
    if isinstance(error, OSError) and error.errno in FATAL:
        return True
    return error is not None and _is_fatal(error.__cause__)


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: {error.strerror or error}"
    return str(error) or "the memory is used up"
