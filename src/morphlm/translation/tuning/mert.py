"""Minimum error rate training (Och 2003): the weights for which the best of given translations have the highest BLEU.

Each line search is exact. It is made along every weight's axis and some random directions until none helps, from the
weights at hand and from random ones; the best outcome counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from morphlm.errors import ConfigError
from morphlm.text.processes import available_cores
from morphlm.threads import workers
from morphlm.translation.tuning import kernels
from morphlm.translation.tuning.bleu import SIZE, Reference, Statistics

Weights = NDArray[np.float64]


@dataclass(frozen=True)
class MertConfig:
    """How long the weights are searched for."""

    restarts: int = 20  # searches that begin with random weights, beside the one from the weights at hand
    directions: int = 10  # random directions in each round, beside the axes
    least_gain: float = 1e-3  # of BLEU x 100 in a round, for another round
    largest_rounds: int = 50

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if self.restarts < 0 or self.directions < 0 or self.largest_rounds < 1 or not self.least_gain >= 0:
            raise ConfigError("restarts, directions and gain of MERT are 0 or more, and its rounds 1 or more")


class CandidatePool:
    """All translations of each sentence that were found so far; each is kept once."""

    def __init__(self, references: Sequence[Sequence[Sequence[str]]], features: int) -> None:
        """The references of every sentence (one or more), and how many features a translation has."""
        self._references = [Reference.of(some) for some in references]
        self._features: list[list[NDArray[np.float32]]] = [[] for _ in references]
        self._statistics: list[list[Statistics]] = [[] for _ in references]
        self._seen: list[set[bytes]] = [set() for _ in references]
        self._width = features

    def add(self, sentence: int, tokens: Sequence[str], features: NDArray[np.float32]) -> bool:
        """Add a translation; False if it is there with the same features already."""
        row = np.asarray(features, np.float32)
        if row.shape != (self._width,):
            raise ConfigError(f"a translation with {row.shape} features where {self._width} are meant")
        key = "\t".join(tokens).encode() + row.tobytes()
        if key in self._seen[sentence]:
            return False
        self._seen[sentence].add(key)
        self._features[sentence].append(row)
        self._statistics[sentence].append(self._references[sentence].statistics(tokens))
        return True

    def __len__(self) -> int:
        """The number of translations."""
        return sum(map(len, self._features))

    def arrays(self) -> Candidates:
        """For the search."""
        starts = np.cumsum([0, *map(len, self._features)]).astype(np.int64)
        features = [row for rows in self._features for row in rows]
        statistics = [row for rows in self._statistics for row in rows]
        return Candidates(
            np.array(features, np.float32).reshape(len(features), self._width),
            np.array(statistics, np.int32).reshape(len(statistics), SIZE),
            starts,
        )


@dataclass(frozen=True, eq=False)
class Candidates:
    """Translations of all sentences one after the other."""

    features: NDArray[np.float32]  # (H, K)
    statistics: Statistics  # (H, SIZE)
    starts: NDArray[np.int64]  # those of sentence s begin at starts[s]

    def bleu(self, weights: Weights) -> float:
        """BLEU of the best translations under these weights, the first of equal ones."""
        still = np.zeros(len(weights))
        return float(kernels.line_search(self.features, self.statistics, self.starts, weights, still)[1])


@dataclass(frozen=True)
class Optimum:
    """Where a search ended."""

    weights: Weights
    bleu: float


def optimise(
    candidates: Candidates,
    weights: Weights,
    config: MertConfig | None = None,
    *,
    seed: int = 1,
    free: NDArray[np.bool_] | None = None,
    threads: int | None = None,
) -> Optimum:
    """The best weights that a search from `weights`, and from random ones, leads to; those not `free` stay.

    The result does not depend on the number of threads: each search has random numbers of its own.
    """
    config = config or MertConfig()
    free = np.ones(len(weights), bool) if free is None else free
    seeds = np.random.SeedSequence(seed).spawn(config.restarts + 1)

    found: list[Optimum | None] = [None] * len(seeds)

    def search(number: int, _: int) -> None:
        rng = np.random.default_rng(seeds[number])
        start = weights.copy()
        if number:
            start[free] = rng.uniform(-1, 1, int(free.sum()))
        found[number] = _climb(candidates, start, config, rng, free)

    with workers(threads or available_cores()) as pool:
        pool.each(search, len(seeds))
    best = max((some for some in found if some), key=lambda optimum: optimum.bleu)  # of equal ones the first
    return Optimum(_scaled(best.weights), best.bleu)


def _scaled(weights: Weights) -> Weights:
    """The same ranking with weights whose absolute values sum to 1, so that runs can be compared."""
    total = float(np.abs(weights).sum())
    return weights / total if total > 0 else weights


def _climb(
    candidates: Candidates, weights: Weights, config: MertConfig, rng: np.random.Generator, free: NDArray[np.bool_]
) -> Optimum:
    """Steps along the direction that gains most, until a round of all directions gains nothing."""
    best = candidates.bleu(weights)
    for _ in range(config.largest_rounds):
        directions = _directions(len(weights), config.directions, rng, free)
        searches = [
            kernels.line_search(candidates.features, candidates.statistics, candidates.starts, weights, direction)
            for direction in directions
        ]
        gains = [found[1] for found in searches]
        chosen = int(np.argmax(gains))
        if not gains[chosen] > best + config.least_gain:
            break
        weights = _scaled(weights + searches[chosen][0] * directions[chosen])
        best = candidates.bleu(weights)
    return Optimum(weights, best)


def _directions(size: int, some: int, rng: np.random.Generator, free: NDArray[np.bool_]) -> NDArray[np.float64]:
    axes = np.eye(size)[free]
    random = rng.normal(size=(some, size)) * free
    return np.concatenate([axes, random])
