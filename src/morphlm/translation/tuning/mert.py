"""Minimum error rate training (Och 2003): the weights for which the best of given translations have the highest BLEU.

Each line search is exact. It is made along every weight's axis and some random directions until none helps, from given
weights and then from some at random around the best outcome so far; the best counts. A step is measured by how much
it changes scores, so that the unit of a feature, counts or logarithms, plays no part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from morphlm.arrays import Float64Array
from morphlm.display import dataclass_repr
from morphlm.settings import Settings, setting
from morphlm.threads import Workers, available_cores, workers
from morphlm.translation.tuning import kernels
from morphlm.translation.tuning.pool import PooledCandidates


@dataclass(frozen=True)
class MertConfig(Settings):
    """How long the weights are searched for."""

    restarts: int = setting(5, "Restarts of each search from weights around the best so far.", at_least=0)
    noise: float = setting(0.3, "How far around, as a share of the size of the weights.", at_least=0)
    directions: int = setting(10, "Random directions in each round, beside the axes.", at_least=0)
    least_gain: float = setting(1e-3, "Gain of BLEU x 100 in a round that leads to another round.", at_least=0)
    largest_rounds: int = setting(50, "Largest number of rounds.", at_least=1)

    __repr__ = dataclass_repr


@dataclass(frozen=True)
class Optimum:
    """Where a search ended."""

    weights: Float64Array
    bleu: float


def optimise(
    candidates: PooledCandidates,
    starts: Sequence[Float64Array],
    config: MertConfig | None = None,
    *,
    seed: int = 1,
    threads: int | None = None,
) -> Optimum:
    """The best weights that searches from each of `starts`, and from others around the best of these, lead to.

    Weights of features in which no two translations of a sentence differ stay. The result does not depend on the number
    of threads, who share the directions of each round.
    """
    config = config or MertConfig()
    units = _units(candidates)
    generators = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(len(starts) + config.restarts))
    with workers(threads or available_cores()) as pool:

        def climb(start: Float64Array, rng: np.random.Generator) -> Optimum:
            return _climb(candidates, start, config, rng, units, pool)

        best = _best_of(climb(start, next(generators)) for start in starts)
        for rng in generators:
            around = best.weights + config.noise * _noise(best.weights, units, rng)
            best = _best_of([best, climb(around, rng)])
    return Optimum(_scaled(best.weights), best.bleu)


def _best_of(optima: Iterable[Optimum]) -> Optimum:
    """The best; of equal ones the first."""
    return max(optima, key=lambda optimum: optimum.bleu)


def _units(candidates: PooledCandidates) -> Float64Array:
    """What a weight is measured in, so that a step of 1 means as much for every feature; 0 where it means nothing."""
    spreads = candidates.spreads()
    return np.divide(1.0, spreads, out=np.zeros_like(spreads), where=spreads > 0)


def _noise(weights: Float64Array, units: Float64Array, rng: np.random.Generator) -> Float64Array:
    """Random numbers that mean as much as the weights do."""
    is_free = units > 0
    size = np.sqrt(np.mean((weights[is_free] / units[is_free]) ** 2)) if is_free.any() else 0.0
    return (size or 1.0) * units * rng.normal(size=len(units))


def _scaled(weights: Float64Array) -> Float64Array:
    """The same ranking with weights whose absolute values sum to 1, so that runs can be compared."""
    total = float(np.abs(weights).sum())
    return weights / total if total > 0 else weights


def _climb(
    candidates: PooledCandidates,
    weights: Float64Array,
    config: MertConfig,
    rng: np.random.Generator,
    units: Float64Array,
    pool: Workers,
) -> Optimum:
    """Steps along the direction that gains most, until a round of all directions gains nothing."""
    scores = candidates.scores(weights)
    best = candidates.bleu_of(scores)
    for _ in range(config.largest_rounds):
        directions = _directions(config.directions, units, rng)
        steps, gains = _line_searches(candidates, scores, directions, pool)
        if not (gains > best + config.least_gain).any():
            break
        chosen = int(np.argmax(gains))
        weights = _scaled(weights + steps[chosen] * directions[chosen])
        scores = candidates.scores(weights)
        best = candidates.bleu_of(scores)
    return Optimum(weights, best)


def _line_searches(
    candidates: PooledCandidates, scores: Float64Array, directions: Float64Array, pool: Workers
) -> tuple[Float64Array, Float64Array]:
    """The best step along each direction, and BLEU there."""
    steps, gains = np.empty(len(directions)), np.empty(len(directions))

    def search(number: int, _: int) -> None:
        steps[number], gains[number] = kernels.line_search(
            candidates.columns, candidates.statistics, candidates.starts, scores, directions[number]
        )

    pool.run_pieces(search, len(directions))
    return steps, gains


def _directions(random_ones: int, units: Float64Array, rng: np.random.Generator) -> Float64Array:
    """The axes, then random ones."""
    axes = np.diag(units)[units > 0]
    return np.concatenate([axes, rng.normal(size=(random_ones, len(units))) * units])
