"""Line search is exact, and the search finds weights that are known to be best."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.errors import ConfigError
from morphlm.translation.tuning import kernels
from morphlm.translation.tuning.bleu import SIZE, bleu
from morphlm.translation.tuning.lists import TranslationList
from morphlm.translation.tuning.mert import MertConfig, optimise
from morphlm.translation.tuning.pool import CandidatePool, PooledCandidates


def random_candidates(seed: int, sentences: int = 5, most: int = 8, width: int = 3) -> PooledCandidates:
    """PooledCandidates with features of few different values, so that lines are often parallel or equal."""
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *rng.integers(1, most, sentences)]).astype(np.int64)
    size = int(starts[-1])
    totals = rng.integers(8, 15, size)
    statistics = np.zeros((size, SIZE), np.int32)
    statistics[:, 0], statistics[:, 1] = totals, 12
    for n in range(4):
        statistics[:, 6 + n] = totals - n
        statistics[:, 2 + n] = rng.integers(0, totals - n)
    features = rng.integers(-2, 3, (size, width)).astype(np.float32)
    return PooledCandidates(np.ascontiguousarray(features.T), statistics, starts)


def bleu_at(candidates: PooledCandidates, weights: np.ndarray) -> float:
    """By scoring all candidates."""
    sums = np.zeros(SIZE, np.int64)
    scores = weights @ candidates.columns.astype(np.float64)
    for begin, end in zip(candidates.starts[:-1], candidates.starts[1:], strict=True):
        sums += candidates.statistics[begin + int(np.argmax(scores[begin:end]))]
    return bleu(sums)


def plain_line_search(candidates: PooledCandidates, weights: np.ndarray, direction: np.ndarray) -> float:
    """The highest BLEU between all crossings of any two lines of a sentence, and beyond them."""
    offsets, slopes = weights @ candidates.columns, direction @ candidates.columns
    crossings = {0.0}
    for begin, end in zip(candidates.starts[:-1], candidates.starts[1:], strict=True):
        for i in range(begin, end):
            for j in range(begin, i):
                if slopes[i] != slopes[j]:
                    crossings.add(float((offsets[j] - offsets[i]) / (slopes[i] - slopes[j])))
    points = sorted(crossings)
    middles = [(a + b) / 2 for a, b in pairwise(points) if b - a > 1e-9]
    tries = [points[0] - 1.0, *middles, points[-1] + 1.0]
    return max(bleu_at(candidates, weights + step * direction) for step in tries)


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 10_000))
def test_line_search_finds_the_best_interval(seed: int) -> None:
    candidates = random_candidates(seed)
    rng = np.random.default_rng(seed + 1)
    weights, direction = rng.normal(size=3), rng.normal(size=3)
    step, best = kernels.line_search(
        candidates.columns, candidates.statistics, candidates.starts, candidates.scores(weights), direction
    )
    assert best == pytest.approx(plain_line_search(candidates, weights, direction), abs=1e-9)
    assert bleu_at(candidates, weights + step * direction) == pytest.approx(best, abs=1e-9)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10_000))
def test_the_envelope_is_the_maximum_of_all_lines(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 12))
    offsets, slopes = rng.integers(-3, 4, count) / 2, rng.integers(-3, 4, count) / 2
    places, steps = np.empty(count, np.int64), np.empty(count)
    number = kernels.upper_envelope(offsets, slopes, places, steps)
    assert steps[0] == -np.inf
    assert (np.diff(steps[1:number]) > 0).all()
    for x in rng.uniform(-10, 10, 20):
        place = places[np.searchsorted(steps[:number], x, side="right") - 1]
        assert offsets[place] + slopes[place] * x == pytest.approx((offsets + slopes * x).max(), abs=1e-9)


def pool_with_a_known_best() -> CandidatePool:
    """Feature 0 tells the right translation, feature 1 misleads, feature 2 says nothing."""
    references = [[f"w{s} is a good thing to say".split()] for s in range(20)]
    pool = CandidatePool(references, 3)
    rng = np.random.default_rng(3)
    for number, (reference,) in enumerate(references):
        hypotheses = [(reference, np.array([1.0, -1.0, rng.normal()], np.float32))]
        for wrong in range(5):
            words = [*reference[:wrong], "x", "y", "z"]
            hypotheses.append((words, np.array([wrong / 10, 1.0, rng.normal()], np.float32)))
        pool.add(number, TranslationList.of(hypotheses))
    return pool


def test_optimise_finds_weights_that_choose_the_references() -> None:
    candidates = pool_with_a_known_best().arrays()
    start = np.array([0.0, 1.0, 0.0])
    assert candidates.bleu(start) < 60
    found = optimise(candidates, [start], MertConfig(restarts=3), seed=2)
    assert found.bleu == pytest.approx(100.0)
    assert bleu_at(candidates, found.weights) == pytest.approx(100.0)
    assert np.abs(found.weights).sum() == pytest.approx(1.0)


def test_the_number_of_threads_changes_nothing() -> None:
    candidates = random_candidates(4, sentences=30, most=20)
    one, two = (optimise(candidates, [np.ones(3)], MertConfig(restarts=6), seed=5, threads=n) for n in (1, 3))
    assert one.weights.tobytes() == two.weights.tobytes()


def test_weights_of_features_that_never_differ_stay() -> None:
    candidates = random_candidates(6, sentences=30, most=20)
    columns = candidates.columns.copy()
    for begin, end in pairwise(candidates.starts):
        columns[1, begin:end] = 0.1 * begin  # sums of it are not exact
    still = replace(candidates, columns=columns)
    assert still.spreads()[1] == 0.0
    start = np.array([0.5, 0.0, 0.5])
    found = optimise(still, [start], MertConfig(restarts=4))
    assert found.weights[1] == 0.0
    assert found.bleu > still.bleu(start)  # the others were searched


def test_spreads_are_standard_deviations_within_sentences() -> None:
    candidates = random_candidates(3, sentences=12, most=9)
    within = [
        candidates.columns[:, begin:end].astype(np.float64) for begin, end in pairwise(candidates.starts) if end > begin
    ]
    centred = np.concatenate([block - block.mean(axis=1, keepdims=True) for block in within], axis=1)
    assert candidates.spreads() == pytest.approx(centred.std(axis=1))


def test_the_unit_of_a_feature_changes_nothing() -> None:
    """A feature that is counted in other units, say log2 instead of ln, leads to the same translations."""
    candidates = random_candidates(8, sentences=30, most=20)
    units = np.array([1024.0, 1.0, 1 / 64])  # powers of 2, so that nothing is rounded
    other = replace(candidates, columns=(candidates.columns.T * units).T.astype(np.float32))
    start = np.array([0.3, 1.0, -0.5])
    one = optimise(candidates, [start], MertConfig(restarts=5), seed=3)
    two = optimise(other, [start / units], MertConfig(restarts=5), seed=3)
    assert two.bleu == one.bleu
    assert two.weights * units / np.abs(two.weights * units).sum() == pytest.approx(one.weights)


def test_more_starts_and_restarts_never_end_lower() -> None:
    """And somewhere higher: one search alone ends in a poor place of many."""
    gained = {"starts": 0, "restarts": 0}
    for seed in range(12):
        candidates = random_candidates(seed, sentences=30, most=20)
        one, other = np.random.default_rng(seed).normal(size=(2, 3))
        alone = optimise(candidates, [one], MertConfig(restarts=0), seed=seed).bleu
        both = optimise(candidates, [one, other], MertConfig(restarts=0), seed=seed).bleu
        again = optimise(candidates, [one], MertConfig(restarts=4), seed=seed).bleu
        assert both >= max(alone, candidates.bleu(other)) and again >= alone
        gained["starts"] += both > alone
        gained["restarts"] += again > alone
    assert min(gained.values()) > 0


@pytest.mark.parametrize("wrong", [{"restarts": -1}, {"directions": -1}, {"noise": -0.1}, {"noise": np.nan}])
def test_what_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="at least 0"):
        MertConfig(**wrong)  # type: ignore[arg-type]


def test_the_best_is_never_below_the_start() -> None:
    for seed in range(20):
        candidates = random_candidates(seed, sentences=10)
        start = np.random.default_rng(seed).normal(size=3)
        found = optimise(candidates, [start], MertConfig(restarts=0), seed=seed)
        assert found.bleu >= candidates.bleu(start)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10_000))
def test_lines_that_are_left_out_are_nowhere_the_highest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 40))
    offsets, slopes = (rng.normal(size=count) if seed % 2 else rng.integers(-3, 4, count) / 2 for _ in range(2))
    kept, places, steps = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
    high = kept[: kernels.keep_high_lines(offsets, slopes, kept)]
    whole = places[: kernels.upper_envelope(offsets, slopes, places, steps)].tolist()
    part = places[: kernels.upper_envelope(offsets[high], slopes[high], places, steps)]
    assert high[part].tolist() == whole


def test_few_lines_are_left_that_are_nowhere_the_highest() -> None:
    """Else all would be right, but slower: 334 lines are the highest somewhere, one refinement less leaves 400."""
    kept, places, steps = np.empty(1000, np.int64), np.empty(1000, np.int64), np.empty(1000)
    left, highest = 0, 0
    for seed in range(50):
        offsets, slopes = np.random.default_rng(seed).normal(size=(2, 1000))
        left += kernels.keep_high_lines(offsets, slopes, kept)
        highest += kernels.upper_envelope(offsets, slopes, places, steps)
    assert highest <= left < 1.05 * highest


# ---------------------------------------------------------------- the pool


def one_by_one(*tokens: str, value: float = 0.5) -> TranslationList:
    return TranslationList.of([(tokens, np.array([value], np.float32))])


def test_a_translation_is_kept_once() -> None:
    pool = CandidatePool([[["a"]]], 1)
    assert pool.add(0, one_by_one("a"))[0] == 1
    assert pool.add(0, one_by_one("a"))[0] == 0
    assert pool.add(0, one_by_one("a", value=0.25))[0] == 1
    assert pool.add(0, one_by_one("b", value=0.25))[0] == 1
    more = [(words, np.array([0.25], np.float32)) for words in ((), ("c", "a"), ("b",), ("c", "a"), ("a", "c"))]
    new, statistics = pool.add(0, TranslationList.of(more))
    assert (new, len(pool)) == (3, 6)
    assert statistics[:, :3].tolist() == [[0, 1, 0], [2, 1, 1], [1, 1, 0], [2, 1, 1], [2, 1, 1]]
    candidates = pool.arrays()
    assert candidates.columns.ravel().tolist() == [0.5, 0.25, 0.25, 0.25, 0.25, 0.25]
    assert candidates.statistics[:, 0].tolist() == [1, 1, 1, 0, 2, 2]
    assert candidates.starts.tolist() == [0, 6]


def test_another_number_of_features_is_refused() -> None:
    with pytest.raises(ConfigError, match="features"):
        CandidatePool([[["a"]]], 2).add(0, one_by_one("a"))


def test_a_sentence_without_candidates_counts_nothing() -> None:
    pool = CandidatePool([[["a"]], [["b", "c", "d", "e"]]], 1)
    pool.add(1, one_by_one("b", "c", "d", "e"))
    assert pool.arrays().bleu(np.ones(1)) == pytest.approx(100.0)
