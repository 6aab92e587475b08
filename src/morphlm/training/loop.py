"""The training loop: minibatches, evaluations on the development text, the best model kept, checkpoints, stopping."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from morphlm.arrays import Float32Array, Int32Array
from morphlm.artefacts import fingerprint
from morphlm.errors import ConfigError, TrainingError
from morphlm.files import atomic_writer, exclusive
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.engine import DECAY_EVERY, Learner
from morphlm.logbilinear.model import LogBilinearModel, logbilinear_from_files
from morphlm.logbilinear.parameters import Parameters, filled_like, initial_parameters
from morphlm.logbilinear.structure import Structure, arranged_by_class
from morphlm.logbilinear.wide import Origin
from morphlm.modelfile import MANIFEST, check_can_hold_model, read_model, write_model
from morphlm.progress import notify, progress_bar
from morphlm.threads import Workers, available_cores, workers
from morphlm.training.batches import key_of, shuffled_places
from morphlm.training.checkpoint import (
    Progress,
    checkpoint_path,
    has_begun,
    lock_path,
    read_checkpoint,
    remove_checkpoint,
    remove_leftovers,
    write_checkpoint,
)
from morphlm.training.config import STOPPING, TrainingConfig
from morphlm.training.log import (
    DIVERGED,
    LOG_FILE,
    end_by,
    log_text,
    place_in_words,
    read_log,
    reason_of,
    reason_to_end,
)
from morphlm.version import __version__
from morphlm.vocabulary.corpus import Corpus

MOVED_COLUMNS = 8  # of R at a time, when its rows change places


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
    def batch(self) -> int:
        """L, the tokens of a minibatch."""
        return self.training.batch_for(len(self.train.tokens))

    @cached_property
    def identity(self) -> str:
        """Equal for trainings that do the same steps; how long they go on is not part of it."""
        structure = self.structure
        parts: dict[str, Any] = {
            "config": self.config.to_json(),
            "training": {name: value for name, value in self.training.to_json().items() if name not in STOPPING},
            "version": __version__,
            "train": self.train.tokens,
            "dev": self.dev.tokens,
            "words": structure.vocabulary.words,
            "counts": structure.vocabulary.counts,
            "class_of": structure.class_of,
        }
        for name, side in (("context", structure.context), ("output", structure.output)):
            parts |= {f"{name}.starts": side.rows.starts, f"{name}.items": side.rows.items}
            parts |= {f"{name}.factors": [side.factors, side.surfaces]}
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
    only. After `deadline` (as of `time.monotonic`) it evaluates once more and ends with the best model so far. Two runs
    cannot write to one place: the second is refused.
    """
    place = None if out is None else Path(out)
    taken = f"{place}: another training writes to this place; wait until it has ended, or choose another place"
    with nullcontext() if place is None else exclusive(lock_path(place), taken):
        model = _train_alone(task, place, resume, threads or available_cores(), checkpoint_minutes * 60.0, deadline)
    model.threads = threads
    return model


def _train_alone(
    task: Task, out: Path | None, resume: bool, threads: int, checkpoint_seconds: float, deadline: float | None
) -> LogBilinearModel:
    """Train, unless that has been done; nobody else writes to the place."""
    if out is not None and resume and _has_ended(task, out):
        notify(f"{out}: its training has ended; there is nothing to resume")
        return load_trained(out)
    with workers(threads) as pool:
        best = _train(task, out, resume, pool, checkpoint_seconds, deadline)
    if out is not None:  # only now, when the memory of the training is free
        _restate(task, out)
        return load_trained(out)
    assert best is not None
    return best


def _train(
    task: Task, out: Path | None, resume: bool, pool: Workers, checkpoint_seconds: float, deadline: float | None
) -> LogBilinearModel | None:
    """Train; returns the best model if there is no directory for it."""
    structure, order = arranged_by_class(task.structure)
    progress, parameters, squares = _begin(task, order, out, resume)
    learning, tokens = task.training.learning, len(task.train.tokens)
    learner = Learner(task.config, structure, parameters, squares, learning, tokens, pool)
    run = TrainingRun(task, order, out, learner, progress, checkpoint_seconds, deadline)
    run.train()
    return run.best


def load_trained(out: Path) -> LogBilinearModel:
    """Read a model that a training wrote."""
    return logbilinear_from_files(out, read_model(out))


# ---------------------------------------------------------------- beginning and going on


def _has_ended(task: Task, out: Path) -> bool:
    """Whether a model is there and no checkpoint any more; it must have come from the same data and settings."""
    if checkpoint_path(out).exists() or not (out / MANIFEST).is_file():
        return False
    if not is_of(task, out):
        raise ConfigError(
            f"{out}: this model is of other data or other settings, and its training has ended; train without "
            "--resume to replace it, or choose another place"
        )
    otherwise = ended_otherwise(task, out)
    if otherwise.startswith(DIVERGED):
        notify(f"{out}: its training {otherwise}; it is trained again")
    elif otherwise:
        reason = reason_of(read_log(out)) or "its log does not say why"
        raise ConfigError(
            f"{out}: its training has ended ({reason}) and its checkpoint is gone, so it cannot go on with other "
            "--epochs or --patience; train without --resume to begin anew"
        )
    return not otherwise


def ended_otherwise(task: Task, out: Path) -> str:
    """How the training of a model, of the same data and settings, ended if this one would not end so; else ''."""
    log = read_log(out)
    if reason_of(log).startswith(DIVERGED):
        return reason_of(log)
    if log:
        evaluations, reason = end_by(log, task.training)
        is_as_asked = bool(reason) and evaluations == len(log)
    else:
        is_as_asked = stopping_of(task).items() <= read_model(out).training.items()
    return "" if is_as_asked else "ended by other --epochs or --patience"


def stopping_of(task: Task) -> dict[str, Any]:
    """The settings that are not part of the identity."""
    settings = task.training.to_json()
    return {name: settings[name] for name in STOPPING}


def _restate(task: Task, out: Path) -> None:
    """Say in the manifest until when the training went on; a model from before it was resumed says something else."""
    files = read_model(out)
    record = files.training | stopping_of(task)
    if record != files.training:
        write_model(out, replace(files, training=record, notes={LOG_FILE: log_text(read_log(out))}))


def is_of(task: Task, out: Path) -> bool:
    """Whether the model in a directory came from the same data and settings."""
    return (out / MANIFEST).is_file() and read_model(out).training.get("identity") == task.identity


def _begin(task: Task, order: Int32Array, out: Path | None, resume: bool) -> tuple[Progress, Parameters, Parameters]:
    """Initialise, or take up what a checkpoint holds; the rows of R are in the order of the training."""
    if out is not None:
        check_can_hold_model(out)
        place = checkpoint_path(out)
        if has_begun(place):
            if resume:
                return _take_up(task, out)
            raise ConfigError(
                f"{place} holds a training that has not ended; give --resume to go on with it, or remove it"
            )
    progress = Progress(step=task.training.learning.step)
    training = task.training
    parameters = initial_parameters(
        task.config, task.structure, training.seed, training.init_std, near_identity=training.near_identity
    )
    parameters = parameters._replace(R=parameters.R[order])
    squares = filled_like(parameters, task.training.learning.first_squares(task.config))
    if out is not None:  # from now on a model that may be there is known to be of another training
        write_checkpoint(checkpoint_path(out), task.identity, progress, None, None)
    return progress, parameters, squares


def _take_up(task: Task, out: Path) -> tuple[Progress, Parameters, Parameters]:
    """What a checkpoint holds; the best model before it must still be there."""
    place = checkpoint_path(out)
    progress, parameters, squares = read_checkpoint(place, task.identity)
    if progress.best is not None and not is_of(task, out):
        raise ConfigError(f"{out}: the best model so far is not there any more; remove {place} to begin anew")
    _decide_end_again(task, progress, place)
    remove_leftovers(out)
    if progress.total_tokens:
        notify(f"resuming after {place_in_words(progress.epoch, progress.batch)}")
    return progress, parameters, squares


def _decide_end_again(task: Task, progress: Progress, place: Path) -> None:
    """The epochs and the patience may be others than before."""
    evaluations, progress.ended = end_by(progress.log, task.training)
    if evaluations < len(progress.log):
        raise ConfigError(
            f"{place}: this training has gone on for longer than --epochs and --patience now allow; give more, or "
            "remove it to begin anew"
        )
    if progress.log:
        progress.log[-1].pop("ended", None)
    if progress.ended:
        progress.log[-1]["ended"] = progress.ended


class TrainingRun:
    """A training under way."""

    def __init__(
        self,
        task: Task,
        order: Int32Array,
        out: Path | None,
        learner: Learner,
        progress: Progress,
        checkpoint_seconds: float,
        deadline: float | None,
    ) -> None:
        """Go on from where `progress` says that the learner is; `order` has the factor of each row of its R."""
        self.task, self.out, self.learner, self.progress = task, out, learner, progress
        self._order = order
        self.checkpoint_seconds, self.deadline = checkpoint_seconds, deadline
        learner.step_size = progress.step
        self.best: LogBilinearModel | None = None  # kept here when there is no directory to keep it in
        self._written = time.monotonic()  # when the last checkpoint was
        self._interrupted = False
        self._changes_nothing = False  # what runs now can be given up at any point

    # ------------------------------------------------------------ the loop

    def train(self) -> None:
        """Epoch after epoch until an evaluation ends it."""
        with self._catching_interrupts():
            while not self.progress.ended:
                if self.progress.due:
                    self._evaluate()
                    self._pause()
                else:
                    self._epoch()
        if self.out is not None:
            self._write_log(self.out)
            remove_checkpoint(checkpoint_path(self.out))

    def _epoch(self) -> None:
        """What is left of one epoch, up to the evaluation after it; evaluations on the way may end it early."""
        training, progress, epoch = self.task.training, self.progress, self.progress.epoch
        text = self.task.train.tokens
        origin = Origin(text, shuffled_places(text, training.seed, epoch))
        stream = text[origin.places]
        with progress_bar(f"epoch {epoch + 1}", len(stream)) as bar:
            bar.initial = bar.n = progress.batch * self.task.batch  # not counted as done since the bar began
            while progress.epoch == epoch and not progress.ended:
                if progress.best is not None:
                    bar.set_postfix_str(f"dev ppl {progress.log[-1]['development_perplexity']:.1f}", refresh=False)
                if progress.due:
                    self._evaluate()
                else:
                    bar.update(self._minibatch(stream, origin))
                self._pause()

    def _minibatch(self, stream: Int32Array, origin: Origin) -> int:
        """Learn from the next minibatch; returns the number of its tokens."""
        training, progress, batch = self.task.training, self.progress, self.task.batch
        begin = progress.batch * batch
        end = min(begin + batch, len(stream))
        started = time.monotonic()
        key = key_of(training.seed, progress.epoch, progress.batch)
        objective = self.learner.step(stream, begin, end, key, origin)
        if not math.isfinite(objective):
            self._refuse(f"minibatch {progress.batch + 1} of epoch {progress.epoch + 1}")
        progress.batch += 1
        progress.undecayed += end - begin
        progress.due = bool(training.evaluate_every) and progress.batch % training.evaluate_every == 0
        if end == len(stream):
            progress.epoch, progress.batch, progress.due = progress.epoch + 1, 0, True
        if progress.batch % DECAY_EVERY == 0 or progress.due:
            self.learner.decay(progress.undecayed)
            progress.undecayed = 0
        progress.seconds += time.monotonic() - started
        progress.objective += objective
        progress.tokens += end - begin
        progress.total_tokens += end - begin
        return end - begin

    def _pause(self) -> None:
        """Between two minibatches: Ctrl-C, the deadline, a checkpoint."""
        if self._interrupted:
            self._stop()
        if self._is_late and self.progress.tokens:
            self.progress.due = True
        if time.monotonic() - self._written > self.checkpoint_seconds:
            self._checkpoint()

    @property
    def _is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def _checkpoint(self) -> None:
        if self.out is not None:
            learner = self.learner
            write_checkpoint(
                checkpoint_path(self.out), self.task.identity, self.progress, learner.parameters, learner.squares
            )
        self._written = time.monotonic()

    def _refuse(self, where: str) -> None:
        """Something is not finite: say where, keep what is good. The checkpoint would lead to the same end."""
        name = self.learner.parameters.first_not_finite() or self.learner.squares.first_not_finite()
        what = f"the parameters {name} are" if name else "the objective is"
        kept = ""
        if self.out is not None:
            if self.progress.best is not None:
                kept = f"; the best model so far is kept in {self.out}"
                self.progress.log[-1]["ended"] = f"{DIVERGED}: {where}, {what} not finite any more"
                self._write_log(self.out)
            remove_checkpoint(checkpoint_path(self.out))
        raise TrainingError(
            f"{where}: {what} not finite any more; train with a smaller --step or a larger --accumulator{kept}"
        )

    # ------------------------------------------------------------ evaluation

    def _evaluate(self) -> None:
        """The development perplexity: keep the best model, decide whether to go on."""
        progress = self.progress
        started = time.monotonic()
        self.learner.tidy()
        perplexity = self._development_perplexity()
        if not math.isfinite(perplexity) or self.learner.parameters.first_not_finite():
            self._refuse(f"evaluation after {place_in_words(progress.epoch, progress.batch)}")
        progress.seconds += time.monotonic() - started
        is_best = progress.best is None or perplexity < progress.best
        report = self._log(perplexity, is_best)
        progress.objective, progress.tokens, progress.due = 0.0, 0, False
        self._adapt_step(perplexity)
        if is_best:
            progress.best, progress.worse = perplexity, 0
            self._keep_best()
        else:
            progress.worse += 1
        progress.ended = self._reason_to_end()
        if progress.ended:
            progress.log[-1]["ended"] = progress.ended
        if self.out is not None:
            self._write_log(self.out)
        self.learner.tidy()
        notify(report)

    def _adapt_step(self, perplexity: float) -> None:
        """Smaller steps once an epoch has brought little, then after every epoch."""
        training, progress = self.task.training, self.progress
        epochs = [entry["development_perplexity"] for entry in progress.log if not entry["minibatch"]]
        if progress.batch or len(epochs) < 2:
            return
        is_slow = perplexity >= epochs[-2] * (1.0 - training.plateau_ratio)
        if is_slow or progress.step < training.learning.step:
            progress.step *= training.step_decay
            self.learner.step_size = progress.step

    def _development_perplexity(self) -> float:
        """It takes long and changes nothing: Ctrl-C stops it at once, and it is done again on resuming."""
        self._changes_nothing = True
        try:
            logprobs = self.learner.log_probabilities(self.task.dev.tokens)
        except KeyboardInterrupt:
            self._stop()
        finally:
            self._changes_nothing = False
        with np.errstate(over="ignore"):
            # An exact sum: NumPy's may depend on how its array lies in memory.
            return float(np.exp(-math.fsum(logprobs) / len(logprobs)))

    def _reason_to_end(self) -> str:
        reason = reason_to_end(self.task.training, self.progress.epoch, self.progress.worse)
        return reason or ("the time is over" if self._is_late else "")

    def _log(self, perplexity: float, is_best: bool) -> str:
        """Keep the figures of an evaluation; returns them for a person."""
        progress = self.progress
        entry = {
            "epoch": progress.epoch,
            "minibatch": progress.batch,
            "tokens": progress.total_tokens,
            "seconds": round(progress.seconds, 3),
            "objective": round(progress.objective / progress.tokens, 9),
            "development_perplexity": perplexity,
            "step": progress.step,
            "best": is_best,
        }
        progress.log.append(entry)
        rate = progress.total_tokens / max(progress.seconds, 1e-9)
        mark = "" if is_best else " (not better)"
        place = place_in_words(progress.epoch, progress.batch)
        return f"{place}: development perplexity {perplexity:.2f}{mark}, {rate:,.0f} tokens/s"

    def _write_log(self, out: Path) -> None:
        with atomic_writer(out / LOG_FILE) as file:
            file.write(log_text(self.progress.log).encode())

    # ------------------------------------------------------------ the best model

    def _keep_best(self) -> None:
        """Write the parameters as they are now, with the rows of R in the order of the factors, or keep a copy."""
        parameters = self.learner.parameters
        if self.out is None:
            rows = np.empty_like(parameters.R)
            rows[self._order] = parameters.R
            others = {name: array.copy() for name, array in parameters.named() if name != "R"}
            self.best = self._model(Parameters(**others, R=rows))
            return
        output = self.learner.output_vectors()  # composed before R is rearranged, and not a second time
        with rows_by_factor(parameters.R, self._order):
            self._model(parameters, output).save(self.out, notes={LOG_FILE: log_text(self.progress.log)})

    def _model(self, parameters: Parameters, output: Float32Array | None = None) -> LogBilinearModel:
        """The model with its record."""
        task, progress = self.task, self.progress
        record = task.record | task.training.to_json()
        record |= {
            "version": __version__,
            "identity": task.identity,
            "tokens": len(task.train.tokens),
            "batch": task.batch,
            "best_epoch": progress.epoch,
            "best_minibatch": progress.batch,
            "development_perplexity": progress.best,
        }
        return LogBilinearModel(task.config, task.structure, parameters, record, output)

    # ------------------------------------------------------------ Ctrl-C

    def _stop(self) -> NoReturn:
        """Ctrl-C was pressed and nothing is half done: leave a checkpoint."""
        self._checkpoint()
        if self.out is not None:
            notify(f"stopped; {checkpoint_path(self.out)} holds the training so far, go on with --resume")
        raise KeyboardInterrupt

    @contextmanager
    def _catching_interrupts(self) -> Iterator[None]:
        """Ctrl-C ends training after the minibatch, with a checkpoint; pressed again, at once."""
        before = signal.getsignal(signal.SIGINT) or signal.default_int_handler
        if threading.current_thread() is not threading.main_thread() or before == signal.SIG_IGN:
            yield  # what runs in the background of a script is not to be interrupted
            return

        def interrupt(number: int, frame: FrameType | None) -> None:
            self._interrupted = True
            signal.signal(signal.SIGINT, before)
            if self._changes_nothing:
                raise KeyboardInterrupt
            with suppress(RuntimeError):  # the signal came while something else was being written there
                notify("stopping after this minibatch (Ctrl-C again stops at once)")

        signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


@contextmanager
def rows_by_factor(table: Float32Array, order: Int32Array) -> Iterator[None]:
    """Row k of the table is that of factor order[k]; while the block lasts it is that of factor k.

    Rows change places within the table, some columns at a time: a second table would be half a model more in memory.
    """
    columns = [slice(begin, begin + MOVED_COLUMNS) for begin in range(0, table.shape[1], MOVED_COLUMNS)]
    for some in columns:
        table[order, some] = table[:, some].copy()
    try:
        yield
    finally:
        for some in columns:
            table[:, some] = table[order, some]
