"""Searching step xi, weight decay lambda and width d on the development text, within a budget of time.

Successive halving: every candidate is trained for an epoch (or, where an epoch takes too long, for an equal time), then
the best ones, and always the recipe as it stands, are trained to their end.
"""

from __future__ import annotations

import itertools
import math
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.display import Row, Tabular, dataclass_repr
from morphlm.errors import ConfigError, TrainingError
from morphlm.kinds import kind_named, kind_names
from morphlm.progress import notify
from morphlm.tables import finite_or_none, format_columns
from morphlm.training.config import LogBilinearOptions
from morphlm.training.inputs import InputOptions, TrainingInputs
from morphlm.training.job import RunOptions
from morphlm.training.logbilinear import training_task
from morphlm.training.loop import TrainingTask, train_model
from morphlm.training.pipeline import ModelOptions, artefact_folder, check_options, inputs_of, setting_names
from morphlm.vocabulary.corpus import Source

# What the recipe's own values are multiplied by.
STEP_FACTORS, DECAY_FACTORS, WIDTH_FACTORS = (1.0, 0.5, 2.0), (1.0, 1 / 3, 3.0, 10.0), (1, 2)
PROBE_SHARE = 0.1  # of the time, to find out how fast it goes
FIRST_SHARE = 0.5  # of the time that is left then, for the first round
FEWEST = 4  # candidates of the first round that get a full epoch; if fewer would, so many get less than one
USUAL_EPOCHS = 4  # until a training ends, for planning


@dataclass(frozen=True)
class Candidate:
    """Values of the settings that are searched."""

    step: float  # xi
    decay: float  # lambda
    width: int  # d

    def __str__(self) -> str:
        return f"step {self.step:.3g}, decay {self.decay:.3g}, width {self.width}"

    def apply(self, options: ModelOptions) -> ModelOptions:
        """The options with these values in them."""
        return ModelOptions(dict(options.settings) | vars(self), seed=options.seed)


@dataclass(frozen=True)
class Trial:
    """A training with the values of a candidate."""

    candidate: Candidate
    round: int
    epochs: float  # after which the best model was found
    development_perplexity: float
    seconds: float
    is_cut: bool  # whether the time ended it
    is_default: bool

    __repr__ = dataclass_repr

    def to_json(self) -> dict[str, Any]:
        return vars(self.candidate) | {
            "round": self.round,
            "epochs": self.epochs,
            "development_perplexity": finite_or_none(self.development_perplexity),
            "seconds": round(self.seconds, 3),
            "cut": self.is_cut,
            "default": self.is_default,
        }

    def row(self) -> list[str]:
        """The cells of a line of the table."""
        candidate = self.candidate
        figures = [f"{candidate.step:.3g}", f"{candidate.decay:.3g}", str(candidate.width), f"{self.epochs:.2f}"]
        note = "out of time" if self.is_cut else ""
        return [str(self.round), *figures, f"{self.development_perplexity:.2f}", "default" * self.is_default, note]


@dataclass(frozen=True)
class TuneResult(Tabular):
    """All trainings, and the settings of the best."""

    kind: str
    trials: tuple[Trial, ...]
    arguments: tuple[str, ...]  # the other options of the command that trains with them
    out: str | None = None  # where that command writes the model
    interrupted: bool = False  # Ctrl-C ended the search, so that there may be better ones

    __repr__ = dataclass_repr

    @property
    def best(self) -> Trial:
        """The lowest perplexity in the last round: earlier ones trained less."""
        last = max(trial.round for trial in self.trials)
        return min((t for t in self.trials if t.round == last), key=lambda trial: trial.development_perplexity)

    @property
    def settings(self) -> dict[str, Any]:
        """What to pass to `train`."""
        return dict(vars(self.best.candidate))

    @property
    def command(self) -> str:
        """The command line that trains with the best settings."""
        options = itertools.chain.from_iterable((f"--{name}", str(value)) for name, value in self.settings.items())
        out = self.out or f"tuned.{self.kind}"
        return shlex.join(["morphlm", "train", self.kind, *self.arguments, *options, "--out", out])

    def format(self) -> str:
        """A table, and the command."""
        header = ["round", "step", "decay", "width", "epochs", "development", "", ""]
        table = format_columns(header, [trial.row() for trial in self.trials])
        so_far = " of those tried before the search was interrupted" if self.interrupted else ""
        return f"{table}\n\nbest{so_far}: {self.best.candidate}\n{self.command}"

    def frame_rows(self) -> list[Row]:
        return [trial.to_json() for trial in self.trials]

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "trials": [trial.to_json() for trial in self.trials],
            "best": self.best.to_json(),
            "interrupted": self.interrupted,
            "command": self.command,
        }


def tune(
    kind: str,
    source: Source,
    dev: Source,
    *,
    minutes: float = 30.0,
    steps: Sequence[float] = (),
    decays: Sequence[float] = (),
    widths: Sequence[int] = (),
    input_options: InputOptions | None = None,
    options: ModelOptions | None = None,
    run: RunOptions | None = None,
    artefacts: str | Path | None = None,
    out: str | Path | None = None,
    arguments: Sequence[str] = (),
) -> TuneResult:
    """Search within so many minutes, vocabulary, factors and classes included; values that are not given lie about
    those of the recipe.

    The trainings themselves depend on the seed alone, but how many there are depends on the machine. Vocabulary,
    factors and classes are kept in `artefacts`, or beside the directory `out` of the model that will be trained with
    the best settings; without both, nothing is kept. Ctrl-C ends the search with what has been tried, if anything has.
    """
    if not minutes > 0:
        raise ConfigError(f"{minutes} minutes leave no time to search; give more than 0")
    deadline = time.monotonic() + minutes * 60.0
    options, run = options or ModelOptions(), run or RunOptions()
    if kind not in tunable_kinds():
        raise ConfigError(f"{kind!r} has nothing to tune; choose one of {', '.join(tunable_kinds())}")
    check_options([kind], options)
    candidates = design(kind, options, steps, decays, widths)
    for candidate in candidates:
        check_options([kind], candidate.apply(options))
    artefacts = artefact_folder(None if out is None else Path(out), artefacts)
    inputs = inputs_of([kind], source, dev, input_options or InputOptions(), artefacts)
    search = _Search(kind, inputs, options, run, candidates, deadline)
    is_interrupted = search.run()
    return TuneResult(kind, tuple(search.trials), tuple(arguments), None if out is None else str(out), is_interrupted)


def tunable_kinds() -> list[str]:
    """The kinds of models whose training has the settings that are searched."""
    searched = {entry.name for entry in fields(Candidate)}
    return [kind for kind in kind_names() if searched <= set(setting_names(kind_named(kind)))]


def design(
    kind: str,
    options: ModelOptions,
    steps: Sequence[float] = (),
    decays: Sequence[float] = (),
    widths: Sequence[int] = (),
) -> list[Candidate]:
    """The recipe's own values first, then those that differ from them in one, then the others in a seeded order."""
    chosen: LogBilinearOptions = options.of(kind)
    learning = chosen.training.learning
    default = Candidate(learning.step, learning.decay, chosen.width)
    grid = itertools.product(
        steps or [_scaled(learning.step, factor) for factor in STEP_FACTORS],
        decays or [_scaled(learning.decay, factor) for factor in DECAY_FACTORS],
        widths or [chosen.width * factor for factor in WIDTH_FACTORS],
    )
    others = [candidate for candidate in dict.fromkeys(itertools.starmap(Candidate, grid)) if candidate != default]
    order = np.random.default_rng(options.seed).permutation(len(others)).tolist()
    order.sort(key=lambda number: len(vars(others[number]).items() - vars(default).items()) > 1)
    return [default, *(others[number] for number in order)]


def _scaled(value: float, factor: float) -> float:
    """The product, as short as one would write it."""
    return value if factor == 1.0 else float(f"{value * factor:.2g}")


class _Search:
    """A search under way."""

    def __init__(
        self,
        kind: str,
        inputs: TrainingInputs,
        options: ModelOptions,
        run: RunOptions,
        candidates: list[Candidate],
        deadline: float,
    ) -> None:
        self.kind, self.inputs, self.options = kind, inputs, options
        self.threads, self.comm = run.threads, run.comm
        self.candidates, self.deadline = candidates, deadline
        self.default = candidates[0]
        self.trials: list[Trial] = []

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def run(self) -> bool:
        """Search; whether Ctrl-C ended it."""
        try:
            self._search()
        except KeyboardInterrupt:
            if not self.trials:
                raise
            return True
        return False

    def _search(self) -> None:
        """A look at the speed, a short training of many, a long one of some."""
        probe = self._train(self.default, 1, self.seconds_left * PROBE_SHARE, epochs=1)
        epoch = probe.seconds / (probe.epochs or 1.0)
        if epoch > self.seconds_left:
            notify(f"an epoch takes about {epoch / 60:.1f} minutes, longer than there is; no training is a full one")
        self._first_round(probe, epoch)
        self._last_round(list(self.trials), epoch)

    def _first_round(self, probe: Trial, epoch: float) -> None:
        """As many as get an epoch each in the time of this round, or a few that get less."""
        seconds = self.seconds_left * FIRST_SHARE
        end = time.monotonic() + seconds
        costs = np.cumsum([epoch * candidate.width / self.default.width for candidate in self.candidates[1:]])
        fitting = int(np.searchsorted(costs, seconds * self.comm.size))
        chosen = self.candidates[: max(FEWEST, 1 + fitting)]
        if probe.is_cut and seconds / len(chosen) > probe.seconds:  # the others get more than the probe did
            self._train(self.default, 1, seconds / len(chosen), epochs=1)
            self.trials.remove(probe)
        if self.comm.size > 1:
            self._train_apart(chosen[1:], 1, seconds, epochs=1)
            return
        for number, candidate in enumerate(chosen[1:], 1):
            share = (end - time.monotonic()) / (len(chosen) - number)
            if self.seconds_left > 0 and share > 0:
                self._train(candidate, 1, share, epochs=1)

    def _last_round(self, first: list[Trial], epoch: float) -> None:
        """The default and the best others to their end, as many as there is time for."""
        ranked = sorted(first, key=lambda trial: trial.development_perplexity)
        others = [trial.candidate for trial in ranked if trial.candidate != self.default]
        affordable = int(self.seconds_left * self.comm.size / max(USUAL_EPOCHS * epoch, 1e-9)) - 1
        chosen = [self.default, *others[: max(1, min(affordable, (len(first) + 1) // 2))]]
        if self.comm.size > 1:
            self._train_apart(chosen, 2, self.seconds_left)
            return
        for number, candidate in enumerate(chosen):
            if self.seconds_left > 0:
                self._train(candidate, 2, self.seconds_left / (len(chosen) - number))

    def _train_apart(self, candidates: list[Candidate], round_: int, seconds: float, **settings: Any) -> None:
        """Train candidates by ranks that work beside each other, for so long at most in all."""
        rounds = -(-len(candidates) // self.comm.size)  # of trainings that one rank makes in turn
        threads = self.comm.threads_of(self.threads)
        shared = _Bench(self.kind, self.inputs, self.options, threads, settings)
        items = [(candidate, round_, seconds / rounds, candidate == self.default) for candidate in candidates]
        with closing(self.comm.farm_out("morphlm.training.tune:train_candidate", items, shared)) as outcomes:
            for candidate, outcome in zip(candidates, outcomes, strict=True):
                notify(f"{candidate}: {outcome.result().development_perplexity:.2f}")
                self.trials.append(outcome.result())

    def _train(self, candidate: Candidate, round_: int, seconds: float, **settings: Any) -> Trial:
        """Train for so long at most, and record the result."""
        notify(f"{candidate}:")
        bench = _Bench(self.kind, self.inputs, self.options, self.threads, settings)
        trial = train_candidate(bench, (candidate, round_, seconds, candidate == self.default))
        self.trials.append(trial)
        return trial


@dataclass(frozen=True)
class _Bench:
    """What all trainings of a search have in common."""

    kind: str
    inputs: TrainingInputs
    options: ModelOptions
    threads: int | None
    settings: Mapping[str, Any]  # for these trainings alone


def train_candidate(bench: _Bench, item: tuple[Candidate, int, float, bool]) -> Trial:
    """Train with the values of a candidate, in some round, for so many seconds at most."""
    candidate, round_, seconds, is_default = item
    chosen = candidate.apply(bench.options)
    options = ModelOptions(chosen.settings, seed=chosen.seed, **bench.settings)
    task = training_task(bench.kind, bench.inputs, options.of(bench.kind))
    started = time.monotonic()
    epochs, perplexity = _result(task, started + seconds, bench.threads)
    late = time.monotonic() > started + seconds
    return Trial(
        candidate=candidate,
        round=round_,
        epochs=epochs,
        development_perplexity=perplexity,
        seconds=time.monotonic() - started,
        is_cut=late and epochs < task.training.epochs and math.isfinite(perplexity),
        is_default=is_default,
    )


def _result(task: TrainingTask, deadline: float, threads: int | None) -> tuple[float, float]:
    """After how many epochs a training was best, and its perplexity then; infinite if it failed."""
    try:
        training = train_model(task, threads=threads, deadline=deadline).training
    except TrainingError as error:
        notify(str(error))
        return 0.0, math.inf
    batches = -(-len(task.train.tokens) // task.batch)
    return training["best_epoch"] + training["best_minibatch"] / batches, training["development_perplexity"]
