"""Approximate randomisation: means, deviations and p-values."""

from __future__ import annotations

import numpy as np
import pytest

from morphlm.errors import ConfigError
from morphlm.translation.evaluation.significance import RunScores, randomisation_p
from morphlm.translation.tuning.bleu import bleu, statistics_of


def runs_of(rates: list[float], sentences: int = 60, seed: int = 1) -> np.ndarray:
    """Systems whose words are right with these chances."""
    rng = np.random.default_rng(seed)
    references = [[f"w{k}" for k in rng.integers(0, 50, 15)] for _ in range(sentences)]
    return np.stack(
        [
            statistics_of(
                [[word if rng.random() < rate else "x" for word in reference] for reference in references], references
            )
            for rate in rates
        ]
    )


def test_mean_and_deviation_over_runs() -> None:
    scores = RunScores((10.0, 11.0, 12.0))
    assert (scores.mean, scores.deviation) == (11.0, 1.0)
    assert RunScores((10.0,)).deviation == 0.0


def test_equal_systems_have_a_p_of_one() -> None:
    runs = runs_of([0.8])
    assert randomisation_p(runs, runs, shuffles=200) == 1.0


def test_a_clearly_better_system_has_a_small_p() -> None:
    better, worse = runs_of([0.95, 0.95, 0.95]), runs_of([0.7, 0.7, 0.7])
    assert randomisation_p(better, worse, shuffles=500) == pytest.approx(1 / 501)


def test_p_of_equally_good_systems_is_spread_evenly() -> None:
    # If neither is better, p is uniform: of 40 values about 20 lie below 0.5; 8 to 32 holds but for one seed in 10^4.
    values = [
        randomisation_p(runs_of([0.8], seed=2 * k), runs_of([0.8], seed=2 * k + 1), seed=k, shuffles=99)
        for k in range(40)
    ]
    assert 8 <= sum(value < 0.5 for value in values) <= 32


def test_p_equals_that_of_counting_all_swaps() -> None:
    # With 6 sentences there are 64 ways to swap; the share of those with as large a difference is the exact p.
    one, other = runs_of([0.9], 6, 3), runs_of([0.7], 6, 4)
    observed = abs(bleu(one[0].sum(0)) - bleu(other[0].sum(0)))
    hits = 0
    for number in range(64):
        swap = np.array([number >> k & 1 for k in range(6)], bool)[:, None]
        a, b = np.where(swap, other[0], one[0]), np.where(swap, one[0], other[0])
        hits += abs(bleu(a.sum(0)) - bleu(b.sum(0))) >= observed - 1e-12
    # 4,000 shuffles: a standard error of at most 0.008.
    assert randomisation_p(one, other, shuffles=4000) == pytest.approx(hits / 64, abs=0.035)


def test_systems_of_different_runs_are_refused() -> None:
    with pytest.raises(ConfigError, match="shapes"):
        randomisation_p(runs_of([0.8]), runs_of([0.8, 0.9]))
