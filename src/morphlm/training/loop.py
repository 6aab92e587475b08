"""The training loop: minibatches, evaluations on the development text, the best model kept, checkpoints, stopping."""

from __future__ import annotations

import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from morphlm.errors import ConfigError, TrainingError
from morphlm.files import atomic_writer
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.engine import DECAY_EVERY, Learner
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import Parameters, filled_like, initial_parameters
from morphlm.logbilinear.structure import Structure
from morphlm.modelfile import check_can_hold_model
from morphlm.progress import progress_bar, say
from morphlm.text.processes import available_cores
from morphlm.threads import Workers, workers
from morphlm.training.batches import key_of, shuffled_sentences
from morphlm.training.checkpoint import (
    Progress,
    fingerprint,
    place_of,
    read_checkpoint,
    remove_checkpoint,
    write_checkpoint,
)
from morphlm.training.config import TrainingConfig
from morphlm.version import __version__
from morphlm.vocabulary.corpus import Corpus

LOG_FILE = "log.jsonl"


@dataclass(frozen=True)
class Task:
    """What is to be learned from what."""

    config: LogBilinearConfig
    structure: Structure
    training: TrainingConfig
    train: Corpus
    dev: Corpus
    record: dict[str, Any]  # how vocabulary, segmentation and classes came about; goes into the model's manifest

    def __post_init__(self) -> None:
        """Without text there is nothing to learn or to stop by."""
        if not len(self.train.tokens) or not len(self.dev.tokens):
            raise ConfigError("the training or the development text has no sentences; give both")

    @property
    def identity(self) -> str:
        """Equal for equal results."""
        structure = self.structure
        parts = {
            "config": self.config.to_json(),
            "training": self.training.to_json(),
            "version": __version__,
            "train": self.train.tokens,
            "dev": self.dev.tokens,
            "words": structure.vocabulary.words,
            "counts": structure.vocabulary.counts,
            "class_of": structure.class_of,
            "context": structure.context.rows.items,
            "output": structure.output.rows.items,
        }
        return fingerprint(parts)


def train_model(
    task: Task,
    out: str | Path | None = None,
    *,
    resume: bool = False,
    threads: int | None = None,
    checkpoint_minutes: float = 10.0,
    deadline: float | None = None,
) -> LogBilinearModel:
    """Train until the development perplexity rises; returns the best model, which is also written to `out`.

    A run that was interrupted, at any point, goes on with `resume` and gives the same bytes. `threads` change the time
    only. After `deadline` (as of `time.monotonic`) it ends with the best model so far.
    """
    with workers(threads or available_cores()) as pool:
        run = TrainingRun(task, None if out is None else Path(out), pool, checkpoint_minutes * 60.0)
        run.deadline = deadline
        run.start(resume)
        run.train()
        return run.best_model()


class TrainingRun:
    """A training under way."""

    def __init__(self, task: Task, out: Path | None, pool: Workers, checkpoint_seconds: float) -> None:
        """Nothing is read or written before `start`."""
        self.task, self.out, self.pool, self.checkpoint_seconds = task, out, pool, checkpoint_seconds
        self.progress = Progress(step=task.training.learning.step)
        self.deadline: float | None = None
        self._identity = task.identity if out is not None else ""
        self._best: Parameters | None = None  # kept here when there is no directory to keep it in
        self._interrupted = False

    # ------------------------------------------------------------ beginning and going on

    def start(self, resume: bool) -> None:
        """Initialise, or take up what a checkpoint holds."""
        parameters = squares = None
        if self.out is not None:
            check_can_hold_model(self.out)
            place = place_of(self.out)
            if place.exists() and not resume:
                raise ConfigError(
                    f"{place} holds a training that has not ended; give --resume to go on with it, or remove it"
                )
            if place.exists():
                self.progress, parameters, squares = read_checkpoint(place, self._identity)
                say(f"resuming after epoch {self.progress.epoch}, minibatch {self.progress.batch}")
            elif resume and self.out.exists():
                self.progress.ended = "before"
                say(f"{self.out}: its training has ended; there is nothing to resume")
                return
            else:
                self._checkpoint()
        task, training = self.task, self.task.training
        if parameters is None or squares is None:
            parameters = initial_parameters(task.config, task.structure, training.seed, training.deviation)
            squares = filled_like(parameters, training.learning.accumulator)
        tokens = len(task.train.tokens)
        self.learner = Learner(task.config, task.structure, parameters, squares, training.learning, tokens, self.pool)
        self.learner.step_size = self.progress.step

    def _checkpoint(self) -> None:
        if self.out is not None:
            learner = getattr(self, "learner", None)
            arrays = (None, None) if learner is None else (learner.parameters, learner.squares)
            write_checkpoint(place_of(self.out), self._identity, self.progress, *arrays)

    # ------------------------------------------------------------ the loop

    def train(self) -> None:
        """Epoch after epoch until an evaluation ends it."""
        with self._catching_interrupts():
            while not self.progress.ended:
                self._epoch()
        if self.out is not None:
            remove_checkpoint(place_of(self.out))

    def _epoch(self) -> None:
        """What is left of one epoch; evaluations may end it early."""
        training, progress = self.task.training, self.progress
        stream = shuffled_sentences(self.task.train.tokens, training.seed, progress.epoch)
        batches = -(-len(stream) // training.batch)
        with progress_bar(f"epoch {progress.epoch + 1}", len(stream)) as bar:
            bar.update(progress.batch * training.batch)
            if progress.best is not None:
                bar.set_postfix_str(f"dev ppl {progress.best:.1f}")
            written = time.monotonic()
            while progress.batch < batches and not progress.ended:
                bar.update(self._minibatch(stream))
                is_last = progress.batch == batches
                if is_last or (training.evaluate_every and progress.batch % training.evaluate_every == 0):
                    if is_last:
                        progress.epoch, progress.batch = progress.epoch + 1, 0
                    self._checkpoint()
                    self._evaluate()
                    written = time.monotonic()
                elif self._interrupted or time.monotonic() - written > self.checkpoint_seconds:
                    self._checkpoint()
                    written = time.monotonic()
                if self._interrupted:
                    raise KeyboardInterrupt
                if is_last:
                    return

    def _minibatch(self, stream: Any) -> int:
        """Learn from the next minibatch; returns the number of its tokens."""
        training, progress = self.task.training, self.progress
        begin = progress.batch * training.batch
        end = min(begin + training.batch, len(stream))
        started = time.monotonic()
        objective = self.learner.step(stream, begin, end, key_of(training.seed, progress.epoch, progress.batch))
        if not math.isfinite(objective):
            self._refuse(f"minibatch {progress.batch + 1} of epoch {progress.epoch + 1}")
        progress.batch += 1
        if progress.batch % DECAY_EVERY == 0 or end == len(stream):
            self.learner.decay((progress.batch - 1) % DECAY_EVERY + 1, training.batch)
        progress.seconds += time.monotonic() - started
        progress.objective += objective
        progress.tokens += end - begin
        progress.total_tokens += end - begin
        return end - begin

    def _refuse(self, where: str) -> None:
        """Something is not finite: say where, keep what is good."""
        name = self.learner.parameters.first_not_finite() or self.learner.squares.first_not_finite()
        place = f"the parameters {name} are" if name else "the objective is"
        kept = f"; the best model so far is kept in {self.out}" if self.out is not None and self.out.exists() else ""
        raise TrainingError(
            f"{where}: {place} not finite any more; train with a smaller --step or a larger --accumulator{kept}"
        )

    # ------------------------------------------------------------ evaluation

    def _evaluate(self) -> None:
        """The development perplexity: keep the best model, decide whether to go on."""
        training, progress = self.task.training, self.progress
        started = time.monotonic()
        perplexity = float(np.exp(-self.learner.log_probabilities(self.task.dev.tokens).mean()))
        if not math.isfinite(perplexity):
            self._refuse(f"evaluation after epoch {progress.epoch}, minibatch {progress.batch}")
        progress.seconds += time.monotonic() - started
        is_best = progress.best is None or perplexity < progress.best
        self._log(perplexity, is_best)
        progress.objective, progress.tokens = 0.0, 0
        if is_best:
            progress.best, progress.worse = perplexity, 0
            self._keep_best()
        else:
            progress.worse += 1
            progress.step *= training.step_decay
            self.learner.step_size = progress.step
        progress.ended = self._reason_to_end()
        if self.out is not None:
            self._write_log(self.out)

    def _reason_to_end(self) -> str:
        training, progress = self.task.training, self.progress
        if progress.worse >= training.patience:
            return "the development perplexity does not fall any more"
        if progress.epoch >= training.epochs:
            return f"{training.epochs} epochs are done"
        return "the time is over" if self.deadline is not None and time.monotonic() > self.deadline else ""

    def _log(self, perplexity: float, is_best: bool) -> None:
        progress = self.progress
        entry = {
            "epoch": progress.epoch,
            "minibatch": progress.batch,
            "tokens": progress.total_tokens,
            "seconds": round(progress.seconds, 3),
            "objective": progress.objective / progress.tokens,
            "development_perplexity": perplexity,
            "step": progress.step,
            "best": is_best,
        }
        progress.log.append(entry)
        rate = progress.total_tokens / max(progress.seconds, 1e-9)
        part = f", minibatch {progress.batch}" if progress.batch else ""
        mark = "" if is_best else " (not better)"
        say(f"epoch {progress.epoch}{part}: development perplexity {perplexity:.2f}{mark}, {rate:,.0f} tokens/s")

    def _write_log(self, out: Path) -> None:
        with atomic_writer(out / LOG_FILE) as file:
            file.write(self._log_text().encode())

    def _log_text(self) -> str:
        return "".join(json.dumps(entry) + "\n" for entry in self.progress.log)

    # ------------------------------------------------------------ the best model

    def _keep_best(self) -> None:
        if self.out is None:
            self._best = Parameters(*(array.copy() for array in self.learner.parameters))
        else:
            self._model(self.learner.parameters).save(self.out, notes={LOG_FILE: self._log_text()})

    def _model(self, parameters: Parameters) -> LogBilinearModel:
        task, progress = self.task, self.progress
        record = task.record | task.training.to_json()
        record |= {
            "version": __version__,
            "tokens": len(task.train.tokens),
            "best_epoch": progress.epoch,
            "best_minibatch": progress.batch,
            "development_perplexity": progress.best,
        }
        return LogBilinearModel(task.config, task.structure, parameters, record)

    def best_model(self) -> LogBilinearModel:
        """The model with the lowest development perplexity."""
        if self.out is None:
            assert self._best is not None
            return self._model(self._best)
        from morphlm.logbilinear.model import logbilinear_from_files  # noqa: PLC0415
        from morphlm.modelfile import read_model  # noqa: PLC0415

        return logbilinear_from_files(self.out, read_model(self.out))

    # ------------------------------------------------------------ Ctrl-C

    @contextmanager
    def _catching_interrupts(self) -> Iterator[None]:
        """Ctrl-C ends training after the minibatch, with a checkpoint; pressed again, at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before: Callable[[int, FrameType | None], Any] | int | None = signal.getsignal(signal.SIGINT)

        def interrupt(number: int, frame: FrameType | None) -> None:
            self._interrupted = True
            signal.signal(signal.SIGINT, before)
            if self.out is not None:
                say("stopping after this minibatch; go on later with --resume (Ctrl-C again stops at once)")

        signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
