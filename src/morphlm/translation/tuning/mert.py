"""Minimum error rate training (Och 2003): the weights for which the best of given translations have the highest BLEU.

Each line search is exact. It is made along every weight's axis and some random directions until none helps, from the
weights at hand and from random ones; the best outcome counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from morphlm.errors import ConfigError
from morphlm.text.processes import available_cores
from morphlm.threads import Workers, workers
from morphlm.translation.tuning import kernels
from morphlm.translation.tuning.pool import Candidates, Scores, Weights


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

    The result does not depend on the number of threads, who share the directions of each round.
    """
    config = config or MertConfig()
    free = np.ones(len(weights), bool) if free is None else free
    seeds = np.random.SeedSequence(seed).spawn(config.restarts + 1)
    found = []
    with workers(threads or available_cores()) as pool:
        for number, own in enumerate(seeds):
            rng = np.random.default_rng(own)
            start = weights.copy()
            if number:
                start[free] = rng.uniform(-1, 1, int(free.sum()))
            found.append(_climb(candidates, start, config, rng, free, pool))
    best = max(found, key=lambda optimum: optimum.bleu)  # of equal ones the first
    return Optimum(_scaled(best.weights), best.bleu)


def _scaled(weights: Weights) -> Weights:
    """The same ranking with weights whose absolute values sum to 1, so that runs can be compared."""
    total = float(np.abs(weights).sum())
    return weights / total if total > 0 else weights


def _climb(
    candidates: Candidates,
    weights: Weights,
    config: MertConfig,
    rng: np.random.Generator,
    free: NDArray[np.bool_],
    pool: Workers,
) -> Optimum:
    """Steps along the direction that gains most, until a round of all directions gains nothing."""
    scores = candidates.scores(weights)
    best = candidates.bleu_of(scores)
    for _ in range(config.largest_rounds):
        directions = _directions(len(weights), config.directions, rng, free)
        steps, gains = _line_searches(candidates, scores, directions, pool)
        if not (gains > best + config.least_gain).any():
            break
        chosen = int(np.argmax(gains))
        weights = _scaled(weights + steps[chosen] * directions[chosen])
        scores = candidates.scores(weights)
        best = candidates.bleu_of(scores)
    return Optimum(weights, best)


def _line_searches(
    candidates: Candidates, scores: Scores, directions: NDArray[np.float64], pool: Workers
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The best step along each direction, and BLEU there."""
    steps, gains = np.empty(len(directions)), np.empty(len(directions))

    def search(number: int, _: int) -> None:
        steps[number], gains[number] = kernels.line_search(
            candidates.columns, candidates.statistics, candidates.starts, scores, directions[number]
        )

    pool.each(search, len(directions))
    return steps, gains


def _directions(size: int, some: int, rng: np.random.Generator, free: NDArray[np.bool_]) -> NDArray[np.float64]:
    axes = np.eye(size)[free]
    random = rng.normal(size=(some, size)) * free
    return np.concatenate([axes, random])
