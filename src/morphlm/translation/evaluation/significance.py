"""Whether one system is better than another: approximate randomisation over several tuning runs (Clark et al. 2011).

Tuning ends elsewhere each time, so systems are tuned several times, and a difference of their mean BLEU is compared
with the differences that come up when the systems swap translations at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from morphlm.arrays import Array, Float64Array, Int64Array
from morphlm.errors import ConfigError
from morphlm.translation.tuning.bleu import Statistics, bleu

SHUFFLES = 10_000


@dataclass(frozen=True)
class RunScores:
    """The score of each tuning run of a system."""

    scores: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def deviation(self) -> float:
        """The standard deviation over the runs; 0 of a single one."""
        return float(np.std(self.scores, ddof=1)) if len(self.scores) > 1 else 0.0

    def to_json(self) -> dict[str, Any]:
        return {"runs": list(self.scores), "mean": self.mean, "deviation": self.deviation}


def randomisation_p(baseline: Statistics, system: Statistics, *, seed: int = 1, shuffles: int = SHUFFLES) -> float:
    """How often the mean BLEU of two systems differs by as much when sentences are swapped at random.

    Both are (runs, sentences, SIZE). In each shuffle, the runs of both systems are paired, and each pair swaps each
    sentence's translations with chance 1/2.
    """
    if baseline.shape != system.shape:
        raise ConfigError(
            f"systems of shapes {baseline.shape} and {system.shape} cannot be compared; give the same runs"
        )
    rng = np.random.default_rng(seed)
    runs, sentences, _ = baseline.shape
    observed = abs(_mean(baseline.sum(1)) - _mean(system.sum(1)))
    difference = _pairings(baseline, system, rng, min(runs, shuffles))
    hits = 0
    for number in range(shuffles):
        gap, base, rival = difference[number % len(difference)]
        swaps = rng.integers(0, 2, (runs, sentences)).astype(np.float64)
        moved = np.einsum("rs,rsk->rk", swaps, gap).round().astype(np.int64)
        hits += abs(_mean(base + moved) - _mean(rival - moved)) >= observed - 1e-12
    return (hits + 1) / (shuffles + 1)


def _pairings(
    baseline: Statistics, system: Statistics, rng: np.random.Generator, count: int
) -> list[tuple[Float64Array, Int64Array, Int64Array]]:
    """Pairings of the runs: what a swap adds to the first system, and the sums of both without swaps."""
    base = baseline.sum(1, dtype=np.int64)
    pairings = []
    for _ in range(count):
        rival = system[rng.permutation(len(system))]
        pairings.append(((rival.astype(np.int64) - baseline).astype(np.float64), base, rival.sum(1, dtype=np.int64)))
    return pairings


def _mean(sums: Array) -> float:
    """Mean BLEU of summed statistics of several runs."""
    return float(np.mean([bleu(row) for row in sums]))
