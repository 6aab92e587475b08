"""The training loop: minibatches, evaluations on the development text, the best model kept, checkpoints, stopping."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from morphlm.arrays import Array, Float32Array, Int32Array
from morphlm.artefacts import Shelf, lock
from morphlm.errors import ConfigError, TrainingError
from morphlm.files import atomic_writer
from morphlm.kinds import kind_named
from morphlm.lazy import cached_property
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.continuing import StartingPoint
from morphlm.logbilinear.engine import DECAY_EVERY, Learner
from morphlm.logbilinear.gathering import WordGathering, gathering_of_epoch
from morphlm.logbilinear.kernels.wide import TokenOrigin
from morphlm.logbilinear.model import LogBilinearModel, logbilinear_from_files
from morphlm.logbilinear.parameters import Parameters, check_shapes, filled_like, initial_parameters
from morphlm.logbilinear.shards import LocalModel
from morphlm.logbilinear.structure import Structure, without_words
from morphlm.machine import describe_machine, machine_type
from morphlm.modelfile import MANIFEST, check_can_hold_model, read_model, write_model
from morphlm.progress import notify, progress_bar
from morphlm.ranks import ALONE, Communicator
from morphlm.threads import Workers, workers
from morphlm.training.batches import Replay, minibatch_key, shuffled_positions
from morphlm.training.checkpoint import (
    LARGEST_SQUARES,
    Progress,
    TrainingState,
    checkpoint_path,
    has_begun,
    lock_path,
    read_checkpoint,
    remove_checkpoint,
    remove_leftovers_of_training,
    write_checkpoint,
)
from morphlm.training.config import STOPPING, TrainingConfig, changed
from morphlm.training.log import (
    DIVERGED,
    LOG_FILE,
    Log,
    describe_position,
    end_reason,
    find_end,
    log_text,
    read_log,
    stopping_reason,
)
from morphlm.training.rank_check import check_ranks
from morphlm.training.rank_state import Arrangement, RankState
from morphlm.version import __version__
from morphlm.vocabulary.corpus import Corpus
from morphlm.wording import either, option

TIME_IS_OVER = "the time is over"
MOVED_COLUMNS = 8  # columns of R that are permuted at a time


@dataclass(frozen=True)
class TrainingTask:
    """A model to train: its configuration, the data, and how to train it."""

    config: LogBilinearConfig
    structure: Structure
    training: TrainingConfig
    train: Corpus
    dev: Corpus
    record: dict[str, Any]  # how vocabulary, segmentation and classes were made; goes into the model's manifest
    start: StartingPoint | None = None  # the trained model that it begins with; None: random parameters
    replay: Replay | None = None  # where the text of that model begins in `train`; None: it is not there

    def __post_init__(self) -> None:
        if not len(self.train.tokens) or not len(self.dev.tokens):
            raise ConfigError("the training or the development text has no sentences; give both")
        if self.stays and self.training.learning.l2_in_gradient:
            raise ConfigError(
                f"{option('--l2-in-gradient', True)} decays weights towards 0, not towards those of the old model; "
                f"leave it out, or give {either('--move-on', 'stay=False')}"
            )

    @property
    def stays(self) -> bool:
        """Whether weights decay towards those that the training began with."""
        return self.start is not None and self.start.stays

    @property
    def batch(self) -> int:
        """L, the number of tokens of a minibatch."""
        return self.training.batch_for(self.epoch_tokens)

    @property
    def epoch_tokens(self) -> int:
        """N, the number of tokens of an epoch; with old text, up to the rest of a sentence."""
        tokens = len(self.train.tokens)
        return tokens if self.replay is None else self.replay.begin + self.replay.tokens_of_epoch(tokens)

    @cached_property
    def identity(self) -> str:
        """A hash of everything that the training steps depend on; when to stop is not part of it."""
        structure = self.structure
        parts: dict[str, Any] = {
            "config": self.config.to_json(),
            "training": {name: value for name, value in self.training.to_json().items() if name not in STOPPING},
            "train": self.train.tokens,
            "dev": self.dev.tokens,
            "words": structure.vocabulary.words,
            "counts": structure.vocabulary.counts,
            "class_of": structure.class_of,
        }
        for name, side in (("context", structure.context), ("output", structure.output)):
            parts |= {f"{name}.starts": side.rows.starts, f"{name}.items": side.rows.items}
            parts |= {f"{name}.factors": [side.factors, side.surfaces]}
        if self.start is not None:
            parts |= {"continued_from": self.start.digest, "stays": self.start.stays}
        if self.replay is not None:
            parts |= {"replay": asdict(self.replay)}
        return kind_named(self.config.kind).producer.key(**parts)

    @property
    def stopping(self) -> dict[str, Any]:
        """The settings that are not part of the identity."""
        settings = self.training.to_json()
        return {name: settings[name] for name in STOPPING}

    def without_words(self) -> TrainingTask:
        """What the other ranks of a training need of it; they write nothing, and have no use for words."""
        structure = without_words(self.structure)
        train, dev = (Corpus(corpus.tokens, structure.vocabulary) for corpus in (self.train, self.dev))
        start = None if self.start is None else replace(self.start, parameters=None)
        return replace(self, structure=structure, train=train, dev=dev, record={}, start=start)


def train_model(
    task: TrainingTask,
    out: str | Path | None = None,
    *,
    resume: bool = False,
    threads: int | None = None,
    checkpoint_minutes: float = 10.0,
    deadline: float | None = None,
    comm: Communicator = ALONE,
) -> LogBilinearModel:
    """Train until the development perplexity stops falling; returns the best model, which is also written to `out`.

    A run that was interrupted, at any point, continues with `resume` and gives the same bytes. `threads` is the number
    of threads; results do not depend on it. After `deadline` (in terms of `time.monotonic`) the model is evaluated once
    more and the training ends with the best one so far; the record of a model in `out` then has the `stop_after` that
    gives the same model again. While one run writes to `out`, another one is refused. The ranks of `comm`, of which
    this is the first and the others wait in `serve`, share the work; results do not depend on their number.
    """
    path = None if out is None else Path(out)
    with nullcontext() if path is None else lock(lock_path(path), path):
        model: LogBilinearModel | None = None
        if path is not None and resume:
            model = EndedTraining(task, path, resume=True).find(task.identity)
        if model is not None:
            notify(f"{path}: its training has ended; there is nothing to resume")
        else:
            start = _begin_or_resume(task, path, resume)
            arrangement = Arrangement.of(task.structure, task.training.learning.shards, task.batch)
            _summon(comm, task, arrangement, start, threads)
            with workers(comm.threads_of(threads)) as pool:
                run = TrainingRun(task, path, pool, start, arrangement, comm, checkpoint_minutes * 60.0, deadline)
                del start
                best, ended = run.train(), run.task_as_ended()
                del run
            # The best model is read only now, when the memory of the run is free.
            model = best if path is None else _finished_model(ended, path)
    assert model is not None
    model.threads = threads
    return model


def _finished_model(task: TrainingTask, out: Path) -> LogBilinearModel:
    """The best model; its manifest states when this run stopped, though it may have been written by an earlier one."""
    files = read_model(out)
    record = files.training | task.stopping
    if record != files.training:
        write_model(out, replace(files, training=record, notes={LOG_FILE: log_text(read_log(out))}))
    return logbilinear_from_files(out, read_model(out))


# ---------------------------------------------------------------- trainings that have ended


class EndedTraining(Shelf[LogBilinearModel]):
    """A model directory whose training has ended: it leaves a model and no checkpoint.

    The model counts if a training by `task` would end at the same evaluation. Otherwise it is trained again from the
    beginning; with `resume` that is refused, unless it diverged.
    """

    def __init__(self, task: TrainingTask, out: Path, *, resume: bool = False) -> None:
        self.task, self.out, self.resume = task, out, resume
        self.place = str(out)

    def find(self, key: str) -> LogBilinearModel | None:
        if checkpoint_path(self.out).exists() or not (self.out / MANIFEST).is_file():
            return None
        files, log = read_model(self.out), read_log(self.out)
        if files.training.get("identity") != key:
            self._refuse_to_resume(
                "this model is of other data or other settings, and its training has ended; train without "
                f"{option('--resume', True)} to replace it, or choose another place"
            )
            return None
        if self._ended_as_asked(log, files.training):
            return logbilinear_from_files(self.out, files)
        reason = end_reason(log)
        if not reason.startswith(DIVERGED):
            self._refuse_to_resume(
                f"its training has ended ({reason or 'its log does not say why'}) and its checkpoint is gone, so it "
                f"cannot go on with other {_limits()}; train without {option('--resume', True)} to begin anew"
            )
            reason = f"ended by other {_limits()}"
        notify(f"{self.out}: its training {reason}; it is trained again")
        return None

    def keep(self, key: str, result: LogBilinearModel) -> None:
        pass  # the training has written its best model already

    def _ended_as_asked(self, log: Log, record: dict[str, Any]) -> bool:
        if not log:
            return self.task.stopping.items() <= record.items()
        evaluations, reason = find_end(log, self.task.training)
        return bool(reason) and evaluations == len(log) and not end_reason(log).startswith(DIVERGED)

    def _refuse_to_resume(self, message: str) -> None:
        if self.resume:
            raise ConfigError(f"{self.out}: {message}")


# ---------------------------------------------------------------- several ranks


class RankStoppedError(Exception):
    """Rank 0 cannot go on; the others leave the training without a word."""


def _summon(
    comm: Communicator, task: TrainingTask, arrangement: Arrangement, start: Start, threads: int | None
) -> None:
    """Let the other ranks take part."""
    if comm.size == 1:
        return
    shards = task.training.learning.shards
    if comm.size > shards:
        raise ConfigError(
            f"{comm.size} ranks are more than the {shards} shards of this training; start fewer, or give "
            f"{option('--shards')} {1 << (comm.size - 1).bit_length()}, with which the model will differ in last digits"
        )
    is_resumed = start.tensors is not None
    lean = replace(arrangement, structure=without_words(arrangement.structure))
    comm.summon("morphlm.training.loop:take_part", task.without_words(), lean, start.progress, is_resumed, threads)
    try:
        check_ranks(comm, task.config, task.training.learning)
    except ConfigError:
        comm.release()  # all ranks have found the same
        raise


def take_part(
    comm: Communicator,
    task: TrainingTask,
    arrangement: Arrangement,
    progress: Progress,
    is_resumed: bool,
    threads: int | None,
) -> None:
    """What a rank does whom rank 0 has summoned to a training."""
    with suppress(ConfigError):  # rank 0 says it
        check_ranks(comm, task.config, task.training.learning)
        start = Start(progress, None, is_resumed)
        # Rank 0 says why a training ended.
        with workers(comm.threads_of(threads)) as pool, suppress(TrainingError, RankStoppedError, KeyboardInterrupt):
            TrainingRun(task, None, pool, start, arrangement, comm, math.inf, None).train()


# ---------------------------------------------------------------- beginning and resuming


@dataclass(frozen=True)
class Start:
    """Where a training begins."""

    progress: Progress
    tensors: TrainingState | None  # of the checkpoint, as maps of its file
    is_resumed: bool = False  # whether rank 0 has such


def _begin_or_resume(task: TrainingTask, out: Path | None, resume: bool) -> Start:
    fresh = Start(Progress(step=task.training.learning.step, machines=[dict(machine_type())]), None)
    if out is None:
        return fresh
    check_can_hold_model(out)
    path = checkpoint_path(out)
    if has_begun(path):
        if resume:
            state = _resumed_state(task, out)
            return Start(state.progress, state, True)
        raise ConfigError(
            f"{path} holds a training that has not ended; {option('--resume', True)} goes on with it, "
            f"{option('--restart', True)} begins anew"
        )
    # From now on a model that may be in `out` is known to be of another training.
    write_checkpoint(path, task.identity, fresh.progress, None, None)
    return fresh


def _initial_parameters(task: TrainingTask, arrangement: Arrangement, local: LocalModel) -> Parameters:
    """Random parameters, in the order of the training: the rows of this rank."""
    training = task.training
    rows: dict[str, Array] = {"Q": local.context.rows, "R": arrangement.row_order[local.output.rows]}
    drawn = initial_parameters(
        task.config, task.structure, training.seed, training.init_std, near_identity=training.near_identity, rows=rows
    )
    return arrangement.classes_arranged(drawn)


def _resumed_state(task: TrainingTask, out: Path) -> TrainingState:
    """The state in the checkpoint; the best model before it must still be there."""
    path = checkpoint_path(out)
    state = read_checkpoint(path, task.identity)
    for arrays in (state.parameters, state.squares):
        check_shapes(arrays, task.config, task.structure, path)
    progress = state.progress
    has_model = (out / MANIFEST).is_file() and read_model(out).training.get("identity") == task.identity
    if progress.best is not None and not has_model:
        raise ConfigError(f"{out}: the best model so far is not there any more; remove {path} to begin anew")
    _update_end(task, progress, path)
    remove_leftovers_of_training(out)
    if progress.total_tokens:
        notify(f"resuming after {describe_position(progress.epoch, progress.batch)}")
    _note_machine(progress, path)
    return state


def _note_machine(progress: Progress, path: Path) -> None:
    """Say that a resumed training has moved to another type of machine, and remember it."""
    now = dict(machine_type())
    if progress.machines[-1:] == [now]:
        return
    if progress.machines:
        before = describe_machine(progress.machines[-1])
        notify(
            f"{path}: this training was begun on another type of CPU or BLAS ({before}); the model will differ in last "
            "digits from one trained in one go"
        )
    progress.machines.append(now)


def _limits(conjunction: str = "or") -> str:
    """What ends a training."""
    return f"{option('--epochs')} {conjunction} {option('--patience')}"


def _update_end(task: TrainingTask, progress: Progress, path: Path) -> None:
    """Decide again whether the training has ended: --epochs and --patience may have changed."""
    evaluations, progress.ended = find_end(progress.log, task.training)
    if evaluations < len(progress.log):
        raise ConfigError(
            f"{path}: this training has gone on for longer than {_limits('and')} now allow; give more, or "
            "remove it to begin anew"
        )
    if progress.log:
        progress.log[-1].pop("ended", None)
    if progress.ended:
        progress.log[-1]["ended"] = progress.ended


class TrainingRun:
    """A training under way: the learner, how far it has come, and where its model and checkpoints go."""

    def __init__(
        self,
        task: TrainingTask,
        out: Path | None,
        pool: Workers,
        start: Start,
        arrangement: Arrangement,
        comm: Communicator,
        checkpoint_seconds: float,
        deadline: float | None,
    ) -> None:
        self.task, self.out, self.comm = task, out, comm
        self.checkpoint_seconds, self.deadline = checkpoint_seconds, deadline
        self._arrangement = arrangement
        local = LocalModel.of(arrangement.structure, arrangement.sharding, comm)
        self._state = RankState(task.config, task.structure, local, arrangement.structure.layout.members)
        self.progress = start.progress
        parameters, squares = self._parameters(start, local)
        learning, tokens = task.training.learning, task.epoch_tokens
        old = self._hand_out_start() if task.stays else None
        self.learner = Learner(task.config, local.structure, parameters, squares, learning, tokens, pool, local, old)
        self.learner.step_size = self.progress.step
        self.best: LogBilinearModel | None = None  # kept in memory if there is no directory
        self._last_checkpoint = time.monotonic()
        self._interrupted = False
        self._is_evaluating = False  # then Ctrl-C takes effect at once: nothing is changed

    def _parameters(self, start: Start, local: LocalModel) -> tuple[Parameters, Parameters]:
        """This rank's part of the parameters and of the sums of squares."""
        if start.is_resumed:
            whole = start.tensors
            return (
                self._state.hand_out(None if whole is None else whole.parameters),
                self._state.hand_out(None if whole is None else whole.squares),
            )
        if self.task.start is not None:
            parameters = self._hand_out_start()
        else:
            parameters = _initial_parameters(self.task, self._arrangement, local)
        return parameters, filled_like(parameters, self.task.training.learning.first_squares(self.task.config))

    def _hand_out_start(self) -> Parameters:
        """This rank's part of the parameters of the model that is continued."""
        assert self.task.start is not None
        whole = self.task.start.parameters  # None on all ranks but the first
        if whole is not None:
            whole = self._arrangement.classes_arranged(whole._replace(R=whole.R[self._arrangement.row_order]))
        return self._state.hand_out(whole)

    def _agreed(self, value: Any) -> Any:
        """What rank 0 says, where ranks could differ: it is the one that has a clock, a keyboard and a disk."""
        return self.comm.broadcast(value)

    def _write(self, action: Callable[[], None]) -> None:
        """Rank 0 writes; if it cannot, all ranks leave the training."""
        if self.comm.size == 1:
            action()
            return
        failure: BaseException | None = None
        if self.comm.is_first:
            try:
                action()
            except BaseException as error:  # raised below, when the others know
                failure = error
        if self._agreed(failure is not None):
            self.comm.release()
            raise failure or RankStoppedError

    # ------------------------------------------------------------ the loop

    def train(self) -> LogBilinearModel | None:
        """Epoch after epoch until an evaluation ends it; returns the best model if there is no directory for it."""
        with self._catching_interrupts():
            while not self.progress.ended:
                if self.progress.due:
                    self._evaluate()
                    self._pause()
                else:
                    self._epoch()
        self.comm.release()
        if self.out is not None:
            self._write_log(self.out)
            remove_checkpoint(checkpoint_path(self.out))
        return self.best

    def _epoch(self) -> None:
        """The rest of an epoch, up to the evaluation after it; evaluations within it may end it early."""
        training, progress, epoch = self.task.training, self.progress, self.progress.epoch
        text = self.task.train.tokens
        origin = TokenOrigin(text, shuffled_positions(text, training.seed, epoch, self.task.replay))
        stream = text[origin.positions]
        gathering = gathering_of_epoch(self.task.config, self._arrangement.structure, training.learning)
        if gathering is not None:
            gathering.skip(stream, progress.batch * self.task.batch, self.task.batch)
        with progress_bar(f"epoch {epoch + 1}", len(stream)) as bar:
            bar.initial = bar.n = progress.batch * self.task.batch  # not counted as done since the bar began
            while progress.epoch == epoch and not progress.ended:
                if progress.best is not None:
                    bar.set_postfix_str(f"dev ppl {progress.log[-1]['development_perplexity']:.1f}", refresh=False)
                if progress.due:
                    self._evaluate()
                else:
                    bar.update(self._minibatch(stream, origin, gathering))
                self._pause()

    def _minibatch(self, stream: Int32Array, origin: TokenOrigin, gathering: WordGathering | None) -> int:
        """Learn from the next minibatch; returns the number of its tokens."""
        training, progress, batch = self.task.training, self.progress, self.task.batch
        begin = progress.batch * batch
        end = min(begin + batch, len(stream))
        started = time.monotonic()
        key = minibatch_key(training.seed, progress.epoch, progress.batch)
        gathered = None if gathering is None else gathering.next(stream, begin, end)
        objective = self.learner.step(stream, begin, end, key, origin, gathered)
        if not math.isfinite(objective):
            self._fail(f"minibatch {progress.batch + 1} of epoch {progress.epoch + 1}")
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
        """Between two minibatches: react to Ctrl-C and to the deadline, write a checkpoint if it is time."""
        is_time = time.monotonic() - self._last_checkpoint > self.checkpoint_seconds
        is_interrupted, is_late, is_time = self._agreed((self._interrupted, self._is_late, is_time))
        if is_interrupted:
            self._stop()
        if (is_late or self._has_enough) and self.progress.tokens:
            self.progress.due = True  # without decay before it, so that `stop_after` repeats what a deadline did
        if is_time:
            self._checkpoint()

    @property
    def _is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def _has_enough(self) -> bool:
        return 0 < self.task.training.stop_after <= self.progress.total_tokens

    def task_as_ended(self) -> TrainingTask:
        """The task; if the time ended it, with the setting that ends it at the same minibatch again."""
        if self.progress.ended != TIME_IS_OVER:
            return self.task
        return replace(self.task, training=changed(self.task.training, stop_after=self.progress.total_tokens))

    @property
    def _keeps_checkpoints(self) -> bool:
        return bool(self._agreed(self.out is not None))

    def _checkpoint(self) -> None:
        if self._keeps_checkpoints:
            learner, folder = self.learner, None if self.out is None else self.out.resolve().parent
            parameters = self._state.collect(learner.parameters, folder)
            squares = self._state.collect(learner.squares, folder)
            self._write(lambda: self._write_checkpoint(parameters, squares))
        self._last_checkpoint = time.monotonic()

    def _write_checkpoint(self, parameters: Parameters | None, squares: Parameters | None) -> None:
        assert self.out is not None
        write_checkpoint(checkpoint_path(self.out), self.task.identity, self.progress, parameters, squares)

    def _out_of_range(self) -> str | None:
        """The name of the first table that has a number which is not finite or far too large, on any rank."""
        found = self.comm.all_values(self.learner.parameters.first_out_of_range())
        return min((name for name in found if name), key=Parameters._fields.index, default=None)

    def _squares_out_of_range(self) -> str | None:
        found = self.comm.all_values(self.learner.squares.first_out_of_range(LARGEST_SQUARES))
        return min((name for name in found if name), key=Parameters._fields.index, default=None)

    def _fail(self, where: str) -> NoReturn:
        """A number is not finite: say where, and keep the best model. The checkpoint would lead to the same error."""
        name = self._out_of_range() or self._squares_out_of_range()
        self.comm.release()
        subject = f"the parameters {name} are" if name else "the objective is"
        kept = ""
        if self.out is not None:
            if self.progress.best is not None:
                kept = f"; the best model so far is kept in {self.out}"
                self.progress.log[-1]["ended"] = f"{DIVERGED}: {where}, {subject} not finite any more"
                self._write_log(self.out)
            remove_checkpoint(checkpoint_path(self.out))
        raise TrainingError(
            f"{where}: {subject} not finite any more; train with a smaller {option('--step')} or a larger "
            f"{option('--accumulator')}{kept}"
        )

    # ------------------------------------------------------------ evaluation

    def _evaluate(self) -> None:
        """Measure the development perplexity, keep the model if it is the best, decide whether to go on."""
        progress = self.progress
        started = time.monotonic()
        self.learner.tidy()
        perplexity = self._development_perplexity()
        if not math.isfinite(perplexity) or self._out_of_range():
            self._fail(f"evaluation after {describe_position(progress.epoch, progress.batch)}")
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
        progress.ended = stopping_reason(self.task.training, progress.epoch, progress.worse, progress.total_tokens)
        if self._agreed(self._is_late):
            progress.ended = progress.ended or TIME_IS_OVER
        if progress.ended:
            progress.log[-1]["ended"] = progress.ended
        self._write(lambda: self._report_evaluation(report))
        self.learner.tidy()

    def _report_evaluation(self, report: str) -> None:
        if self.out is not None:
            self._write_log(self.out)
        notify(report)

    def _adapt_step(self, perplexity: float) -> None:
        """Reduce the step after the first epoch that gains little (a plateau), and after every one from then on."""
        training, progress = self.task.training, self.progress
        epochs = [entry["development_perplexity"] for entry in progress.log if not entry["minibatch"]]
        if progress.batch or len(epochs) < 2:
            return
        is_plateau = perplexity >= epochs[-2] * (1.0 - training.plateau_ratio)
        if is_plateau or progress.step < training.learning.step:
            progress.step *= training.step_decay
            self.learner.step_size = progress.step

    def _development_perplexity(self) -> float:
        """Ctrl-C stops it at once, since nothing is changed; it is measured again on resuming."""
        self._is_evaluating = True
        try:
            logprobs = self.learner.log_probabilities(self.task.dev.tokens)
        except KeyboardInterrupt:
            self._stop()
        finally:
            self._is_evaluating = False
        with np.errstate(over="ignore"):
            # An exact sum: NumPy's may depend on how its array lies in memory.
            return float(np.exp(-math.fsum(logprobs) / len(logprobs)))

    def _log(self, perplexity: float, is_best: bool) -> str:
        """Append an evaluation to the log; returns the line that reports it."""
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
        position = describe_position(progress.epoch, progress.batch)
        return f"{position}: development perplexity {perplexity:.2f}{mark}, {rate:,.0f} tokens/s"

    def _write_log(self, out: Path) -> None:
        with atomic_writer(out / LOG_FILE) as file:
            file.write(log_text(self.progress.log).encode())

    # ------------------------------------------------------------ the best model

    def _keep_best(self) -> None:
        """Save the model as it is now, or copy it; classes and rows of R go back to the order of the model."""
        parameters, order = self.learner.parameters, self._arrangement.row_order
        self.learner.tidy()  # the model composes its own vectors
        if not self._keeps_checkpoints:
            whole = self._state.collect(parameters, None)
            self.best = None if whole is None else self._model(self._copied(whole))
            return
        folder = None if self.out is None else self.out.resolve().parent
        if self.comm.size > 1:
            output = self._state.collect_output(self.learner.output_vectors(), self.task.structure.layout, folder)
            self.learner.tidy()
            whole = self._state.collect(parameters, folder, order)
            self._write(lambda: self._save(whole, output))
            return
        with rows_by_factor(parameters.R, order):
            self._save(parameters)

    def _copied(self, parameters: Parameters) -> Parameters:
        rows = np.empty_like(parameters.R)
        rows[self._arrangement.row_order] = parameters.R
        others = {name: array.copy() for name, array in parameters.named() if name != "R"}
        return self._arrangement.classes_of_model(Parameters(**others, R=rows))

    def _save(self, parameters: Parameters | None, output: Float32Array | None = None) -> None:
        """`output` are the composed vectors of the output words, if they are known."""
        assert self.out is not None and parameters is not None
        model = self._model(self._arrangement.classes_of_model(parameters), output)
        model.threads = self.learner.workers.threads
        model.save(self.out, notes={LOG_FILE: log_text(self.progress.log)})

    def _model(self, parameters: Parameters, output: Float32Array | None = None) -> LogBilinearModel:
        task, progress = self.task, self.progress
        record = task.record | task.training.to_json()
        record |= {
            "version": __version__,
            "identity": task.identity,
            "machine": progress.machines[-1],
            "tokens": task.epoch_tokens,
            "batch": task.batch,
            "best_epoch": progress.epoch,
            "best_minibatch": progress.batch,
            "development_perplexity": progress.best,
        }
        if progress.machines[:-1]:
            record["earlier_machines"] = progress.machines[:-1]
        return LogBilinearModel(task.config, task.structure, parameters, record, output)

    # ------------------------------------------------------------ Ctrl-C

    def _stop(self) -> NoReturn:
        """Write a checkpoint, then raise KeyboardInterrupt; called between minibatches only, by all ranks."""
        self._checkpoint()
        self.comm.release()
        if self.out is not None:
            path, cure = checkpoint_path(self.out), option("--resume", True)
            notify(f"stopped; {path} holds the training so far, go on with {cure}", important=True)
        raise KeyboardInterrupt

    @contextmanager
    def _catching_interrupts(self) -> Iterator[None]:
        """The first Ctrl-C ends the training after the minibatch, with a checkpoint; the second one at once."""
        before = signal.getsignal(signal.SIGINT) or signal.default_int_handler
        if threading.current_thread() is not threading.main_thread() or before == signal.SIG_IGN:
            yield  # other threads get no signals, and a script's background jobs ignore them
            return

        def interrupt(number: int, frame: FrameType | None) -> None:
            self._interrupted = True
            signal.signal(signal.SIGINT, before)
            if self._is_evaluating and self.comm.size == 1:  # other ranks would wait for this one
                raise KeyboardInterrupt
            with suppress(RuntimeError):  # the signal came in the middle of other output
                notify("stopping after this minibatch (Ctrl-C again stops at once)", important=True)

        signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


@contextmanager
def rows_by_factor(table: Float32Array, order: Int32Array) -> Iterator[None]:
    """Row k of the table belongs to factor order[k]; inside the block it belongs to factor k.

    Rows are permuted in place, some columns at a time: a second table would take half a model more memory.
    """
    columns = [slice(begin, begin + MOVED_COLUMNS) for begin in range(0, table.shape[1], MOVED_COLUMNS)]
    for part in columns:
        table[order, part] = table[:, part].copy()
    try:
        yield
    finally:
        for part in columns:
            table[:, part] = table[order, part]
