"""The outer loop of MERT: decode with the weights at hand, add the k best translations to all so far, search weights.

A search begins from the weights of every iteration: those that were left behind may lead higher on longer lists.

Before the first search, the text is also decoded with some weights around the first ones, once for all runs: lists of
one kind of translation do not tell that others, say twice as long, are bad, and the search would go astray.

It ends when nothing new comes up, when the search gains little, or after a number of iterations; of all weights that
were decoded with, those with the highest BLEU count. The lists and the state are on disk after every iteration, so that
a run that was interrupted goes on from there and ends as if it had not been.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Float64Array
from morphlm.artefacts import Producer
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, FormatError, MorphlmError
from morphlm.files import atomic_writer, make_folder
from morphlm.progress import notify
from morphlm.schema import read_document
from morphlm.settings import Settings, setting
from morphlm.translation.tuning.bleu import SIZE, bleu
from morphlm.translation.tuning.lists import Lists, TranslationList, has_key, read_lists, write_lists
from morphlm.translation.tuning.mert import MertConfig, optimise
from morphlm.translation.tuning.pool import CandidatePool
from morphlm.translation.tuning.schema import STATE_FILE, STATE_FORMAT

TUNE = Producer(
    "tune",
    revision=4,
    modules=("morphlm.translation.tuning", "morphlm.translation.decoder", "morphlm.translation.grammar"),
)
STATE, FIRST = "state.json", "first-{}.gz"


@dataclass(frozen=True)
class TuningConfig(Settings):
    """How the weights are looked for."""

    kbest: int = setting(100, "Length of the k-best lists that each iteration adds.", at_least=1)
    iterations: int = setting(15, "Largest number of iterations.", at_least=1)
    least_gain: float = setting(
        0.02, "Gain of BLEU x 100 on all lists so far that leads to another iteration.", at_least=0
    )
    probes: int = setting(
        4, "Number of random weights around the initial ones to decode with before the first search.", at_least=0
    )
    mert: MertConfig = field(default_factory=MertConfig)

    __repr__ = dataclass_repr


@dataclass(frozen=True, eq=False)
class TuningProblem:
    """What is to be tuned: sentences with references, and a decoder that can be asked with any weights."""

    feature_names: tuple[str, ...]
    references: Sequence[Sequence[Sequence[str]]]  # of each sentence, one or more, as lists of words
    decode: Callable[[Mapping[str, float]], Lists]
    key: str  # a hash of all that the lists depend on beside the weights

    __repr__ = dataclass_repr

    def weights_of(self, values: Sequence[float] | Float64Array) -> dict[str, float]:
        """Weights by the names of their features."""
        return dict(zip(self.feature_names, map(float, values), strict=True))


@dataclass(frozen=True)
class Iteration:
    """What decoding with some weights gave."""

    weights: tuple[float, ...]  # in the order of the feature names
    bleu: float  # of the best translations, x 100
    length_ratio: float  # of these to the references
    candidates: int  # translations in all lists so far
    new: int  # of these, those that were not there before

    __repr__ = dataclass_repr

    def format(self) -> str:
        return f"BLEU {self.bleu:.2f}, length ratio {self.length_ratio:.3f}, {self.new:,} new translations"


@dataclass(frozen=True)
class TuningRun:
    """Where one run has ended, and how it got there."""

    seed: int
    feature_names: tuple[str, ...]
    iterations: tuple[Iteration, ...]

    __repr__ = dataclass_repr

    @property
    def best(self) -> Iteration:
        """The one with the highest BLEU; of equal ones the first."""
        return max(self.iterations, key=lambda iteration: iteration.bleu)

    @property
    def bleu(self) -> float:
        """Of the tuning set, decoded with the weights."""
        return self.best.bleu

    @property
    def weights(self) -> dict[str, float]:
        """The best weights by name."""
        return dict(zip(self.feature_names, self.best.weights, strict=True))

    def to_json(self) -> dict[str, Any]:
        """Weights, and BLEU of every iteration."""
        return {
            "seed": self.seed,
            "bleu": self.bleu,
            "weights": self.weights,
            "features": list(self.feature_names),  # the order of the weights below
            "iterations": [asdict(iteration) | {"weights": list(iteration.weights)} for iteration in self.iterations],
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> TuningRun:
        """The reverse, for what fits the schema `RUN`."""
        iterations = (Iteration(**entry | {"weights": tuple(entry["weights"])}) for entry in content["iterations"])
        return cls(content["seed"], tuple(content["features"]), tuple(iterations))


def tune(
    problem: TuningProblem,
    start: Mapping[str, float],
    folder: str | Path,
    config: TuningConfig | None = None,
    *,
    seeds: Sequence[int] = (1,),
    threads: int | None = None,
) -> tuple[TuningRun, ...]:
    """One run of a `problem` for each seed, from the weights of `start`, in the `folder`.

    Equal `seeds` give equal weights, whatever was interrupted.
    """
    check_seeds(seeds)
    config, folder = config or TuningConfig(), Path(folder)
    runs = tuple(TuningProcess(problem, start, folder, config, seed, threads).complete() for seed in seeds)
    remove_first_lists(folder)
    return runs


def check_seeds(seeds: Sequence[int]) -> None:
    """Refuse none, and those that are there twice."""
    if len(set(seeds)) < len(seeds) or not seeds or min(seeds) < 0:
        raise ConfigError("each run has another seed, a whole number from 0 on; give at least one")


def remove_first_lists(folder: str | Path) -> None:
    """What all runs begin with is of no use when all have ended."""
    for path in Path(folder).glob(FIRST.format("*")):
        path.unlink()


def probes_around(start: Sequence[float], count: int) -> list[tuple[float, ...]]:
    """Weights of the same signs, each e times as large or small; those that are 0 become a little more or less."""
    weights = np.array(start)
    small = 0.01 * np.abs(weights).sum()
    probes = []
    for number in range(count):
        rng = np.random.default_rng(number + 1)
        factors, values = np.exp(rng.normal(size=len(weights))), rng.normal(0, small, len(weights))
        probes.append(tuple(np.where(weights != 0, weights * factors, values).tolist()))
    return probes


class TuningProcess:
    """One run under way; `next` are the weights to decode with, None when it has ended."""

    def __init__(
        self,
        problem: TuningProblem,
        weights: Mapping[str, float],
        folder: Path,
        config: TuningConfig,
        seed: int,
        threads: int | None,
    ) -> None:
        self.problem, self.config, self.seed, self.threads = problem, config, seed, threads
        start = tuple(float(weights.get(name, 0.0)) for name in problem.feature_names)
        self.folder, self.starts = folder / f"run-{seed}", [start, *probes_around(start, config.probes)]
        names = list(problem.feature_names)
        self.first_key = TUNE.key(problem=problem.key, features=names, start=start, k=config.kbest, format=STATE_FORMAT)
        self.key = TUNE.key(first=self.first_key, config=asdict(config), seed=seed)
        self.iterations: list[Iteration] = []
        self.next: tuple[float, ...] | None = start
        self.pool = self._new_pool()

    def _new_pool(self) -> CandidatePool:
        return CandidatePool(self.problem.references, len(self.problem.feature_names))

    def complete(self) -> TuningRun:
        """Go on from what is on disk, if anything is, to the end."""
        self._resume()
        while self.next is not None:
            self._iterate(self.next)
        return TuningRun(self.seed, self.problem.feature_names, tuple(self.iterations))

    # ------------------------------------------------------------ an iteration

    def _iterate(self, weights: tuple[float, ...]) -> None:
        number = len(self.iterations) + 1
        self._decode(number, weights)
        try:
            iteration = self._add(number, weights)
        except FormatError as error:
            if number > 1:  # those were written just now
                raise
            notify(f"run {self.seed}: lists of an earlier run are damaged and are made again ({error})")
            self._forget_first_lists()
            self._decode(number, weights)
            iteration = self._add(number, weights)
        self.iterations.append(iteration)
        self.next = self._optimised(number, iteration)
        self._save()
        notify(f"run {self.seed}, iteration {number}: {iteration.format()}")

    def _decode(self, number: int, weights: tuple[float, ...]) -> None:
        """Write the lists; those of the first iteration are the same for all runs."""
        if number > 1:
            write_lists(self._lists_path(number), self.key, self.problem.decode(self.problem.weights_of(weights)))
            return
        for probe in range(len(self.starts)):
            if not has_key(self._first_path(probe), self.first_key):
                self._decode_first(probe)

    def _decode_first(self, probe: int) -> None:
        most = max(1, self.config.kbest // 2) if probe else self.config.kbest  # others serve as a warning only
        lists = self.problem.decode(self.problem.weights_of(self.starts[probe]))
        write_lists(self._first_path(probe), self.first_key, (translations.first(most) for translations in lists))
        notify(f"decoded with weights {probe + 1} of the {len(self.starts)} to begin with")

    def ensure_first_lists(self, probe: int) -> bool:
        """Decode with some of the weights to begin with, unless whole lists are on disk; whether it was necessary."""
        is_missing = not self._has_first_lists(probe)
        if is_missing:
            self._decode_first(probe)
        return is_missing

    def _has_first_lists(self, probe: int) -> bool:
        path = self._first_path(probe)
        try:
            return has_key(path, self.first_key) and sum(1 for _ in self._read_lists(path)) > 0
        except (MorphlmError, OSError):
            return False

    def _add(self, number: int, weights: tuple[float, ...]) -> Iteration:
        """Put the lists of an iteration into the pool; of the first ones, the best weights count."""
        if number > 1:
            return self._add_lists(self._lists_path(number), weights)
        parts = [self._add_lists(self._first_path(probe), start) for probe, start in enumerate(self.starts)]
        best = max(parts, key=lambda part: part.bleu)
        return replace(best, weights=self._founded(best.weights), candidates=len(self.pool), new=len(self.pool))

    def _founded(self, weights: tuple[float, ...]) -> tuple[float, ...]:
        """Where no two translations differ, a weight of chance has nothing behind it: the first one stays."""
        differs = self.pool.arrays().spreads() > 0
        return tuple(np.where(differs, weights, self.starts[0]).tolist())

    def _add_lists(self, path: Path, weights: tuple[float, ...]) -> Iteration:
        sums = np.zeros(SIZE, np.int64)
        new = 0
        for sentence, translations in enumerate(self._read_lists(path)):
            added, statistics = self.pool.add(sentence, translations)
            sums += statistics[0]
            new += added
        return Iteration(weights, bleu(sums), float(sums[0] / max(sums[1], 1)), len(self.pool), new)

    def _read_lists(self, path: Path) -> Iterator[TranslationList]:
        return read_lists(path, len(self.problem.references), len(self.problem.feature_names))

    def _optimised(self, number: int, iteration: Iteration) -> tuple[float, ...] | None:
        if number >= self.config.iterations or not iteration.new:
            return None
        candidates, before = self.pool.arrays(), np.array(iteration.weights)
        seed = int(np.random.SeedSequence([self.seed, number]).generate_state(1)[0])
        starts = [np.array(earlier.weights) for earlier in reversed(self.iterations)]
        optimum = optimise(candidates, starts, self.config.mert, seed=seed, threads=self.threads)
        gain = optimum.bleu - candidates.bleu(before)
        return tuple(optimum.weights.tolist()) if gain >= self.config.least_gain else None

    # ------------------------------------------------------------ on disk

    def _lists_path(self, number: int) -> Path:
        return self.folder / f"lists-{number}.gz"

    def _first_path(self, probe: int) -> Path:
        return self.folder.parent / FIRST.format(probe)

    def _save(self) -> None:
        state = {
            "format": STATE_FORMAT,
            "key": self.key,
            "run": TuningRun(self.seed, self.problem.feature_names, tuple(self.iterations)).to_json(),
            "next": self.next,
        }
        make_folder(self.folder)
        with atomic_writer(self.folder / STATE, is_ours=True) as file:
            file.write((json.dumps(state, indent=1) + "\n").encode())
        if self.next is None:
            for path in self.folder.glob("lists-*"):
                path.unlink()

    def has_ended(self) -> bool:
        """Whether its end is on disk."""
        try:
            state = read_document(self.folder / STATE, STATE_FILE)
        except (MorphlmError, OSError):
            return False
        return bool(state["key"] == self.key and state["next"] is None)

    def _resume(self) -> None:
        """Take up what is on disk; what does not fit or is damaged is removed."""
        if not (self.folder / STATE).is_file():
            return
        try:
            state = read_document(self.folder / STATE, STATE_FILE)
            run, following = TuningRun.from_json(state["run"]), state["next"]
            fits = state["key"] == self.key and run.feature_names == self.problem.feature_names
            if fits:
                self._take_up(run, None if following is None else tuple(following))
        except (MorphlmError, OSError):
            fits = False
            self._forget_first_lists()
        if not fits:
            notify(
                f"run {self.seed}: what is in {self.folder} is damaged or of other texts or settings; it begins again"
            )
            if self.folder.is_symlink():
                self.folder.unlink()
            else:
                shutil.rmtree(self.folder)

    def _forget_first_lists(self) -> None:
        """Those that are damaged; other runs may be reading the others."""
        for probe in range(len(self.starts)):
            if self._has_first_lists(probe):
                continue
            with contextlib.suppress(OSError):  # a folder of that name is refused when it is to be written
                self._first_path(probe).unlink(missing_ok=True)
        self.pool = self._new_pool()

    def _take_up(self, run: TuningRun, following: tuple[float, ...] | None) -> None:
        if following is not None:  # else nothing will be searched any more
            for number, iteration in enumerate(run.iterations, 1):
                self._add(number, iteration.weights)
        self.iterations, self.next = list(run.iterations), following
        notify(f"run {self.seed}: {'goes on' if following else 'was complete'} after iteration {len(self.iterations)}")
