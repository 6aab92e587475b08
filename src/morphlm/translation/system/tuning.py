"""Tuning a translation system on a text with references; the weights go into its directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from morphlm.artefacts import Shelf, find_or_make, fingerprint, lock
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, InputError, TrainingError
from morphlm.files import source_name
from morphlm.progress import ProgressOption, notify, reports_progress, with_progress
from morphlm.ranks import LATER, Communicator, current
from morphlm.tables import counted
from morphlm.text.reading import Mending, read_blocks, repair_messages
from morphlm.translation.decoder.decoder import Rules
from morphlm.translation.decoder.kbest import KBestArrays
from morphlm.translation.decoder.translation import Translation
from morphlm.translation.system.config import SOURCE, TARGET, SystemConfig, how_to_mend
from morphlm.translation.system.directory import LOCK, TUNING
from morphlm.translation.system.ranked import SystemAtRank
from morphlm.translation.system.system import TranslationSystem
from morphlm.translation.system.weights import TunedWeights, read_tuned, start_weights
from morphlm.translation.tuning.lists import Lists, TranslationList
from morphlm.translation.tuning.loop import (
    TUNE,
    TuningConfig,
    TuningProblem,
    TuningProcess,
    TuningRun,
    check_seeds,
    remove_first_lists,
    tune,
)

SomeRules = TypeVar("SomeRules", bound=Rules)
KEPT_RULES = 15_000_000  # of the tuning set, between iterations: about 100 bytes each
KEPT_PREPARED = 5_000_000  # of these, prepared for the decoder: about 300 bytes more each
CACHE_MEGABYTES = 256.0  # of each thread and log-bilinear model: of 400 sentences most of what was asked before


@dataclass(frozen=True)
class TuningText:
    """Sentences as tokens, with a reference each."""

    sources: tuple[tuple[str, ...], ...]
    references: tuple[tuple[str, ...], ...]

    __repr__ = dataclass_repr

    def __len__(self) -> int:
        return len(self.sources)


def read_tuning_text(
    source: str | Path, reference: str | Path, config: SystemConfig, *, mend: bool = False
) -> TuningText:
    """Read and prepare two files: line n of `reference` translates line n of `source`; empty ones are left out."""
    mending = Mending(keep_lines=True) if mend else None
    sides = [
        [
            tuple(tokens)
            for block in read_blocks(path, mending=mending, cure=how_to_mend())
            for tokens in config.sentences(block, side, mending=mending)
        ]
        for path, side in ((source, SOURCE), (reference, TARGET))
    ]
    for message in repair_messages(mending.repairs if mending is not None else {}):
        notify(message)
    if len(sides[0]) != len(sides[1]):
        raise InputError(
            f"{source_name(source)} has {counted(len(sides[0]), 'line')} and {source_name(reference)} has "
            f"{len(sides[1]):,}, so they are no line-by-line translations; line n of one must translate line n of the "
            "other"
        )
    pairs = [pair for pair in zip(*sides, strict=True) if all(pair)]
    if not pairs:
        raise InputError("there are no sentences to tune on; give at least one", source=source_name(source))
    if dropped := len(sides[0]) - len(pairs):
        notify(f"left out: {dropped:,} of {counted(len(sides[0]), 'pair')} to tune on, empty on a side")
    sources, references = zip(*pairs, strict=True)
    return TuningText(sources, references)


@reports_progress
def tune_system(
    directory: str | Path,
    text: TuningText,
    config: TuningConfig | None = None,
    *,
    seeds: Sequence[int] = (1,),
    threads: int | None = None,
    system: TranslationSystem | None = None,
    progress: ProgressOption = None,
) -> TunedWeights:
    """Tune the system in a directory and put the weights there; what is there from an interrupted tuning is used.

    Runs with other seeds on the same text with the same settings stay; weights of any other tuning are replaced. If
    the command has several ranks, each tunes one run at a time.
    """
    config, directory = config or TuningConfig(), Path(directory)
    system = system or TranslationSystem.load(directory)
    comm = current()
    if comm.size > 1:
        threads = comm.threads_of(threads)
    with lock(directory / LOCK, directory):
        problem = _problem(system, text, config, threads)
        key = TUNE.key(problem=problem.key, config=asdict(config))
        shelf = _WeightsShelf(directory, system.identity, seeds)

        def make() -> TunedWeights:
            runs, start = shelf.runs(key), start_weights(system.decoder.models.names)
            missing = [seed for seed in seeds if seed not in runs]
            if comm.size > 1 and system.origin is not None:
                at_rank = SystemAtRank(system.origin, system)
                work = _RankedTuning(at_rank, text, config, directory / TUNING, threads, start, problem.key)
                new = _tuned_apart(comm, work, missing)
            else:
                new = tune(problem, start, directory / TUNING, config, seeds=missing, threads=threads)
            runs |= {run.seed: run for run in new}
            return TunedWeights(key, system.identity, tuple(runs[seed] for seed in sorted(runs)))

        return find_or_make(TUNE, key, shelf, make).result


class _WeightsShelf(Shelf[TunedWeights]):
    """The weights file of a system, which holds the runs of one tuning."""

    def __init__(self, directory: Path, identity: str, seeds: Sequence[int]) -> None:
        self.directory, self.seeds = directory, seeds
        self.before = read_tuned(directory, identity)  # somebody else may have tuned since the system was loaded

    def runs(self, key: str) -> dict[int, TuningRun]:
        """The runs with this key by their seeds."""
        return {run.seed: run for run in self.before.runs} if self.before is not None and self.before.key == key else {}

    def find(self, key: str) -> TunedWeights | None:
        runs = self.runs(key)
        return self.before if runs and self.seeds and all(seed in runs for seed in self.seeds) else None

    def keep(self, key: str, result: TunedWeights) -> None:
        result.write(self.directory)


def _problem(system: TranslationSystem, text: TuningText, config: TuningConfig, threads: int | None) -> TuningProblem:
    settings = system.config
    key = fingerprint(
        {
            "system": system.identity,
            "text": [text.sources, text.references],
            "grammar": asdict(settings.grammar),
            "decoder": asdict(settings.decoder),
        }
    )
    decoder = system.decoder.with_caches(CACHE_MEGABYTES)
    tables = KeptRules(system.rules)
    rules = KeptRules(lambda tokens: decoder.prepare(tables(tokens)), KEPT_PREPARED)
    names = system.feature_names

    def list_of(translation: Translation) -> TranslationList:
        own_names = translation.chart.grammar.rules.feature_names
        if own_names != names:
            raise ConfigError(f"translations have the features {own_names} instead of {names}")
        return _list_of(translation.kbest_arrays(config.kbest, distinct=True))

    def decode(weights: Mapping[str, float]) -> Lists:
        lists = decoder.with_weights(weights).map(list_of, text.sources, rules, threads=threads)
        return with_progress(lists, "decoding", len(text), "sentence")

    return TuningProblem(names, [[reference] for reference in text.references], decode, key)


# ---------------------------------------------------------------- runs by several ranks


@dataclass(frozen=True, eq=False)
class _RankedTuning:
    """What all runs have in common; each rank makes the problem once, of the system that it loads."""

    system: SystemAtRank
    text: TuningText
    config: TuningConfig
    folder: Path
    threads: int | None
    start: Mapping[str, float]
    key: str  # of the problem, as rank 0 sees it

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "problem"}

    @cached_property
    def problem(self) -> TuningProblem:
        problem = _problem(self.system.loaded(), self.text, self.config, self.threads)
        if problem.key != self.key:
            place = self.system.origin.directory
            raise ConfigError(f"{place}: rank 0 has another system there; all ranks need to see the same directory")
        return problem

    def process(self, seed: int) -> TuningProcess:
        return TuningProcess(self.problem, self.start, self.folder, self.config, seed, self.threads)


def _tuned_apart(comm: Communicator, work: _RankedTuning, seeds: Sequence[int]) -> tuple[TuningRun, ...]:
    """`tune` with each run by one of the ranks; those that fail leave the others alone, which stay on disk."""
    check_seeds(seeds)
    begun = [] if all(work.process(seed).has_ended() for seed in seeds) else range(1 + work.config.probes)
    decoded: list[bool] = []
    runs, failures = [], []

    def tasks() -> Iterator[Any]:
        """The lists that all runs begin with, each once; when all are there, the runs."""
        yield from ((seeds[0], probe) for probe in begun)
        while len(decoded) < len(begun):
            yield LATER
        yield from ((seed, None) for seed in seeds)

    with closing(comm.farm_out(f"{__name__}:_tune_at_rank", tasks(), work)) as outcomes:
        for outcome in islice(outcomes, len(begun)):
            decoded.append(outcome.result())
            if decoded[-1]:
                notify(f"decoded with weights {len(decoded)} of the {len(begun)} to begin with")
        for seed, outcome in zip(seeds, outcomes, strict=True):
            if outcome.error is None:
                runs.append(run := outcome.result())
                notify(f"run {seed}: BLEU {run.bleu:.2f} after {counted(len(run.iterations), 'iteration')}")
            else:
                failures.append(f"run {seed}: {str(outcome.error) or type(outcome.error).__name__}")
    if failures:
        raise TrainingError(f"{'; '.join(failures)} (what the other runs have found is kept for the next call)")
    remove_first_lists(work.folder)
    return tuple(runs)


def _tune_at_rank(work: _RankedTuning, item: tuple[int, int | None]) -> TuningRun | bool:
    """A run, or the lists of one of the weights that runs begin with."""
    seed, probe = item
    process = work.process(seed)
    return process.complete() if probe is None else process.ensure_first_lists(probe)


def _list_of(candidates: KBestArrays) -> TranslationList:
    """With the words that these translations have, of all that rules may write."""
    used, words = np.unique(candidates.words, return_inverse=True)
    vocabulary = tuple(candidates.vocabulary[word] for word in used.tolist())
    features = candidates.features.astype(np.float32)
    return TranslationList(vocabulary, words.astype(np.int32), candidates.starts, features)


class KeptRules(Generic[SomeRules]):
    """The rules of sentences that come again, as long as there is room; others are found anew each time."""

    def __init__(self, find: Callable[[Sequence[str]], SomeRules], capacity: int = KEPT_RULES) -> None:
        """`capacity` is a number of rules."""
        self._find, self._capacity = find, capacity
        self._kept: dict[tuple[str, ...], SomeRules] = {}

    def __call__(self, tokens: Sequence[str]) -> SomeRules:
        """May be called by several threads."""
        key = tuple(tokens)
        rules = self._kept.get(key)
        if rules is None:
            rules = self._find(tokens)
            if self._capacity >= len(rules):
                self._capacity -= len(rules)
                self._kept[key] = rules
        return rules
