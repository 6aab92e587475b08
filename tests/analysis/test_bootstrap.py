from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from morphlm.analysis.bootstrap import BLOCK, PerplexityChange, bootstrap_note, bootstrap_record, paired_changes
from morphlm.errors import ConfigError

GAINS = np.array([[0.5, -0.2], [1.0, 0.0], [-0.3, 0.4], [0.2, 0.0]])
COUNTS = np.array([[2.0, 1.0], [3.0, 0.0], [1.0, 2.0], [4.0, 0.0]])


def test_the_change_is_that_of_perplexity() -> None:
    first, second = paired_changes(GAINS, COUNTS)
    assert first.value == pytest.approx(math.exp(-1.4 / 10) - 1, abs=1e-15)
    assert second.value == pytest.approx(math.exp(-0.2 / 3) - 1, abs=1e-15)


def plain_bootstrap(group: int, seed: int, resamples: int) -> tuple[float, float]:
    """Sentence by sentence, with the draws that the code makes."""
    rng = np.random.default_rng(seed)
    changes = []
    for begin in range(0, resamples, BLOCK):
        size = min(BLOCK, resamples - begin)
        for draw in rng.multinomial(len(GAINS), [1 / len(GAINS)] * len(GAINS), size):
            sentences = [number for number, times in enumerate(draw) for _ in range(times)]
            tokens = sum(COUNTS[number, group] for number in sentences)
            if tokens:
                changes.append(math.exp(-sum(GAINS[number, group] for number in sentences) / tokens) - 1)
    changes.sort()
    return quantile(changes, 0.025), quantile(changes, 0.975)


def quantile(ordered: list[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = int(place)
    rest = place - below
    return ordered[below] * (1 - rest) + ordered[min(below + 1, len(ordered) - 1)] * rest


@pytest.mark.parametrize(("seed", "resamples"), [(1, 1000), (7, 120), (3, 1)])
def test_the_interval_is_that_of_a_plain_bootstrap(seed: int, resamples: int) -> None:
    changes = paired_changes(GAINS, COUNTS, seed=seed, resamples=resamples)
    for group, change in enumerate(changes):
        assert (change.low, change.high) == pytest.approx(plain_bootstrap(group, seed, resamples), abs=1e-12)


def test_equal_seeds_give_equal_intervals_and_others_do_not() -> None:
    assert paired_changes(GAINS, COUNTS, seed=5) == paired_changes(GAINS, COUNTS, seed=5)
    assert paired_changes(GAINS, COUNTS, seed=5) != paired_changes(GAINS, COUNTS, seed=6)


def test_models_that_are_the_same_differ_by_exactly_nothing() -> None:
    (change,) = paired_changes(np.zeros((4, 1)), COUNTS[:, :1])
    assert change == PerplexityChange(0.0, 0.0, 0.0)
    assert [math.copysign(1, number) for number in (change.value, change.low, change.high)] == [1, 1, 1]
    assert change.format() == "0.0 % [0.0, 0.0]"
    assert not change.is_clear


def test_a_group_without_tokens_has_no_change() -> None:
    empty, full = paired_changes(np.array([[0.0, 0.7], [0.0, 0.7]]), np.array([[0.0, 2.0], [0.0, 2.0]]))
    assert all(map(math.isnan, (empty.value, empty.low, empty.high)))
    assert empty.format() == "-"
    assert empty.to_json() == {"value": None, "low": None, "high": None}
    assert not empty.is_clear
    assert full.low == full.high == full.value == math.expm1(-0.35), "both sentences are alike"


def test_one_sentence_has_no_interval() -> None:
    """Every draw is that sentence, so the interval would have no width and seem to be certain."""
    (alone,) = paired_changes(np.array([[0.7]]), np.array([[2.0]]))
    assert alone.value == math.expm1(-0.35)
    assert not alone.has_interval
    assert not alone.is_clear
    assert alone.format() == "−29.5 %"
    assert alone.to_json() == {"value": alone.value, "low": None, "high": None}
    gains, counts = np.array([[0.7, 0.1], [0.0, 0.4]]), np.array([[2.0, 1.0], [0.0, 1.0]])
    once, twice = paired_changes(gains, counts)
    assert not once.has_interval, "all tokens of the group are in the first sentence"
    assert twice.low < twice.value < twice.high


def test_the_number_of_threads_changes_nothing() -> None:
    """Matrix products by BLAS differ in their last digits."""
    rng = np.random.default_rng(3)
    gains, counts = rng.normal(size=(2803, 7)), rng.integers(0, 9, (2803, 7)).astype(float)
    found = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads):
            found.append(paired_changes(gains, counts, resamples=100))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("infinite", [math.inf, -math.inf, math.nan])
def test_what_is_infinite_spoils_its_own_group_only(infinite: float) -> None:
    gains = GAINS.copy()
    gains[1, 0] = infinite
    spoilt, other = paired_changes(gains, COUNTS)
    assert spoilt.format() == "-"
    assert math.isnan(spoilt.low)
    assert other == paired_changes(GAINS, COUNTS)[1]


def test_nothing_to_draw_from_is_refused() -> None:
    with pytest.raises(ConfigError, match="0 sentences"):
        paired_changes(np.zeros((0, 1)), np.zeros((0, 1)))
    with pytest.raises(ConfigError, match="0 samples"):
        paired_changes(GAINS, COUNTS, resamples=0)


def test_how_a_change_is_written() -> None:
    assert PerplexityChange(-0.0612, -0.0687, -0.0534).format() == "−6.1 % [−6.9, −5.3]"
    assert PerplexityChange(-0.0004, -0.0003, 0.0002).format() == "0.0 % [0.0, 0.0]"
    assert PerplexityChange(-0.06, -0.07, -0.05).is_clear
    assert PerplexityChange(0.06, 0.01, 0.07).is_clear
    assert not PerplexityChange(0.0, -0.07, 0.05).is_clear
    assert bootstrap_note(3, 20) == "in brackets: 95 % of 20 paired bootstrap samples of the sentences, seed 3"
    assert bootstrap_record(3, 20) == {"unit": "sentence", "resamples": 20, "seed": 3, "coverage": 95.0}


@given(st.lists(st.tuples(st.floats(-3, 3), st.integers(1, 20)), min_size=2, max_size=12), st.integers(0, 9))
def test_the_interval_lies_between_the_sentences_extremes(sentences: list[tuple[float, int]], seed: int) -> None:
    gains, counts = (np.array(column, float)[:, None] for column in zip(*sentences, strict=True))
    (change,) = paired_changes(gains, counts, seed=seed, resamples=60)
    single = np.expm1(-gains / counts)
    assert single.min() - 1e-9 <= change.low <= change.high <= single.max() + 1e-9
    (reverse,) = paired_changes(-gains, counts, seed=seed, resamples=60)
    assert (1 + change.value) * (1 + reverse.value) == pytest.approx(1)
