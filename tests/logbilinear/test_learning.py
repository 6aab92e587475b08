"""What a step does with the gradient, what dropout leaves out, and that threads change nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from morphlm.arrays import BoolArray, Float32Array, Int32Array
from morphlm.logbilinear.config import VARIANTS, LearningConfig
from morphlm.logbilinear.engine import Learner
from morphlm.threads import Workers, workers

from . import reference
from .cases import PLAIN, Case, NoiseRecorder, make_case, with_noise
from .reference import Tables

all_models = pytest.mark.parametrize("kind", VARIANTS)
both_transforms = pytest.mark.parametrize("diagonal", [True, False], ids=["diagonal", "full"])

# Sums of squares that the second step's gradient neither swamps nor is swamped by, and a decay that shows.
LEARNING = LearningConfig(step=0.05, decay=4.0, l2_in_gradient=True, accumulator=0.5, samples=5, noise_block=8)


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> NoiseRecorder:
    return NoiseRecorder(monkeypatch)


def largest_differences(actual: Tables, expected: Tables) -> dict[str, float]:
    return {name: float(np.abs(actual[name] - table).max(initial=0.0)) for name, table in expected.items()}


def assert_second_step(case: Case, one: Workers, recorder: NoiseRecorder, learning: LearningConfig) -> Tables:
    """After a first step, a second is AdaGrad's rule in float64: numbers of size 1 within 2e-6. Returns the change."""
    learner = case.learner(one, learning)
    half = len(case.stream) // 2
    learner.step(case.stream, 0, half, 1)
    before, squares = reference.tables_of(learner.parameters), reference.tables_of(learner.squares)
    learner.step(case.stream, half, len(case.stream), 2)
    problem = reference.with_dropout(case.problem(half), case.structure, learning, 2)
    if not case.config.classes:
        problem = with_noise(problem, case, recorder.drawn[-1], learning)
    length = len(case.stream) - half
    scale = 1 / length if learning.mean_gradients else 1.0
    shrink = learning.decay * length / len(case.stream) * scale if learning.l2_in_gradient else 0.0
    tables, sums = reference.adagrad(before, squares, problem, learning.step, scale, shrink)
    after = reference.tables_of(learner.parameters)
    differences = largest_differences(after, tables)
    assert max(differences.values()) < 2e-6, differences
    relative = {name: np.abs(table / sums[name] - 1).max(initial=0) for name, table in _squares(learner).items()}
    assert max(relative.values()) < 2e-5, relative
    return {name: after[name] - before[name] for name in after}


def _squares(learner: Learner) -> Tables:
    return reference.tables_of(learner.squares)


@all_models
@both_transforms
@pytest.mark.parametrize("mean", [False, True], ids=["sums", "means"])
def test_adagrad_with_decay_inside_the_gradient(
    kind: str, diagonal: bool, mean: bool, one: Workers, recorder: NoiseRecorder
) -> None:
    """Rows of factors that the minibatch does not touch stay as they are: no decay for them."""
    case = make_case(kind, diagonal, words=30, width=4, tokens=40, classes=6)
    learning = replace(LEARNING, mean_gradients=mean, accumulator=0.001 if mean else 0.5)
    change = assert_second_step(case, one, recorder, learning)
    assert all((np.abs(change[name]).max(axis=-1) == 0).any() for name in ("Q", "R"))
    assert all(np.abs(table).max(initial=1.0) > 0.01 for table in change.values())


@all_models
def test_adagrad_with_decay_inside_and_dropout(kind: str, one: Workers, recorder: NoiseRecorder) -> None:
    case = make_case(kind, words=30, width=4, tokens=60, classes=4)
    assert_second_step(case, one, recorder, replace(LEARNING, surface_dropout=0.5, context_dropout=0.5))


@all_models
@both_transforms
def test_decay_beside_adagrad(kind: str, diagonal: bool, one: Workers, recorder: NoiseRecorder) -> None:
    """The step knows nothing of it; `decay` shrinks all weights and no bias, for several minibatches at once."""
    case = make_case(kind, diagonal)
    learning = replace(LEARNING, l2_in_gradient=False)
    assert_second_step(case, one, recorder, learning)
    learner = case.learner(one, learning)
    learner.decay(36)
    factor = np.exp(-learning.step * learning.decay * 36 / len(case.stream))
    for name, before in reference.tables_of(case.parameters).items():
        after = getattr(learner.parameters, name)
        assert np.allclose(after, before if name in ("b", "t") else before * factor, rtol=1e-6, atol=0)
    assert all((table == np.float32(learning.accumulator)).all() for table in learner.squares)


def test_decay_uses_the_current_step_size(one: Workers) -> None:
    """W *= exp(-xi lambda tokens/N) with the xi of now: the steps of late epochs are smaller than the first."""
    case = make_case("clbl++")
    learner = case.learner(one, replace(LEARNING, l2_in_gradient=False))
    learner.step_size = LEARNING.step / 4
    learner.decay(36)
    factor = np.exp(-LEARNING.step / 4 * LEARNING.decay * 36 / len(case.stream))
    np.testing.assert_allclose(learner.parameters.Q, case.parameters.Q * factor, rtol=1e-6)


def test_decay_inside_leaves_nothing_to_do_beside(one: Workers) -> None:
    case = make_case("clbl++")
    learner = case.learner(one, LEARNING)
    learner.decay(60)
    assert contents(learner)[: len(case.parameters)] == [table.tobytes() for table in case.parameters]


def test_a_smaller_step_size_is_used_at_once(one: Workers) -> None:
    """AdaGrad's first change is xi g / sqrt(a + g^2): half the step, half the change."""
    case = make_case("clbl++")
    changes = []
    for step in (0.05, 0.025):
        learner = case.learner(one, replace(LEARNING, decay=0.0))
        learner.step_size = step
        learner.step(case.stream, 0, len(case.stream), 1)
        changes.append(learner.parameters.S - case.parameters.S)
    assert np.allclose(changes[0], 2 * changes[1], atol=1e-6)


@all_models
def test_learning_raises_the_probability_of_the_text(kind: str, one: Workers) -> None:
    case = make_case(kind, words=15, width=8, tokens=80)
    learner = case.learner(one, replace(LEARNING, decay=0.0, samples=50))
    before = learner.log_probabilities(case.stream).mean()
    for key in range(30):
        learner.step(case.stream, 0, len(case.stream), key)
    assert learner.log_probabilities(case.stream).mean() > before + 1


# ---------------------------------------------------------------- equal bytes


def contents(learner: Learner) -> list[bytes]:
    return [table.tobytes() for table in (*learner.parameters, *learner.squares)]


def learned(
    case: Case, threads: int, learning: LearningConfig, keys: tuple[int, ...]
) -> tuple[list[float], list[bytes]]:
    """Objectives and everything that some minibatches leave behind."""
    with workers(threads) as several:
        learner = case.learner(several, learning)
        length = -(-len(case.stream) // len(keys))
        objectives = []
        for number, key in enumerate(keys):
            begin = number * length
            objectives.append(learner.step(case.stream, begin, min(begin + length, len(case.stream)), key))
            learner.decay(length)
        return objectives, contents(learner)


ALL_DROPOUT: dict[str, Any] = {"surface_dropout": 0.3, "context_dropout": 0.2, "prediction_dropout": 0.2}


@all_models
@both_transforms
def test_threads_do_not_change_what_is_learned(kind: str, diagonal: bool) -> None:
    """Many hundred words in a minibatch, so that products of matrices are cut into several blocks."""
    case = make_case(kind, diagonal, words=3000, classes=20, width=13, tokens=4500)
    learning = replace(LEARNING, **ALL_DROPOUT, noise_block=128, samples=20)
    results = [learned(case, threads, learning, (1, 2, 3)) for threads in (1, 2, 3)]
    assert results[0] == results[1]
    assert results[0] == results[2]


@pytest.mark.parametrize("kind", ["lbl++", "clbl++"])
@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("noise", ["token", "block"])
def test_threads_do_not_change_the_other_ways_to_learn(kind: str, inside: bool, noise: Any) -> None:
    case = make_case(kind, words=300, classes=9, width=7, tokens=900)
    learning = replace(LEARNING, noise=noise, l2_in_gradient=inside, mean_gradients=True, noise_block=32)
    assert learned(case, 1, learning, (1, 2)) == learned(case, 3, learning, (1, 2))


@all_models
def test_equal_keys_give_equal_bytes_and_others_do_not(kind: str) -> None:
    case = make_case(kind, words=30, tokens=80, seed=2)
    learning = replace(LEARNING, **ALL_DROPOUT)
    first = learned(case, 1, learning, (1, 2))
    assert first == learned(case, 1, learning, (1, 2))
    assert first[1] != learned(case, 1, learning, (1, 3))[1]


@pytest.mark.parametrize("kind", ["clbl", "clbl++"])
def test_without_dropout_the_exact_objective_needs_no_chance(kind: str) -> None:
    case = make_case(kind, words=30, tokens=80)
    assert learned(case, 1, LEARNING, (1, 2)) == learned(case, 1, LEARNING, (7, 8))


# ---------------------------------------------------------------- dropout


def context_mask(learner: Learner, stream: Int32Array, key: int, rate: float) -> BoolArray:
    batch = learner.plan(stream, 0, len(stream), key, rate)
    mask: BoolArray = (batch.slots == -1)[np.argsort(batch.offsets)]
    return mask


def surface_mask(learner: Learner, key: int, rate: float) -> Float32Array:
    """What each word's surface factor counts: the first feature of vectors that only surface factors have."""
    side = learner.structure.context
    table = np.zeros((side.factors, learner.config.width), np.float32)
    table[: side.surfaces] = 1
    words = np.arange(len(learner.structure.vocabulary), dtype=np.int32)
    return learner.compose("test", words, table, side, key, rate)[:, 0].copy()


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9])
def test_dropout_rates(rate: float, one: Workers) -> None:
    """Of n numbers a share strays from the rate by at most 0.5 / sqrt n; five times that is allowed."""
    case = make_case("clbl++", words=3000, width=6, tokens=4000, classes=5)
    learner = case.learner(one, replace(PLAIN, prediction_dropout=rate))
    dropped = context_mask(learner, case.stream, 5, rate)
    assert abs(dropped.mean() - rate) <= 2.5 / np.sqrt(dropped.size)
    batch = learner.plan(case.stream, 0, len(case.stream))
    table = np.ones((len(case.stream), 6), np.float32)
    learner._drop_out(batch, 5, table)
    assert abs((table == 0).mean() - rate) <= 2.5 / np.sqrt(table.size)
    assert np.allclose(table[table != 0], 1 / (1 - rate))
    weights = surface_mask(learner, 5, rate)
    several = np.diff(learner.structure.context.rows.starts) > 1
    assert abs((weights[several] == 0).mean() - rate) <= 2.5 / np.sqrt(several.sum())
    assert np.allclose(weights[several & (weights != 0)], 1 / (1 - rate))
    assert (weights[~several] == 1).all()  # a word that has nothing else keeps its surface form
    assert 100 < (~several).sum() < 2900


def test_kinds_of_dropout_do_not_follow_each_other(one: Workers) -> None:
    """The counters of the masks overlap, so one key for two of them would make these equal."""
    case = make_case("clbl++", words=400, width=3, tokens=1200, order=4)
    learner = case.learner(one, replace(PLAIN, prediction_dropout=0.5))
    contexts = context_mask(learner, case.stream, 5, 0.5).ravel()[:400]
    table = np.ones((len(case.stream), 3), np.float32)
    learner._drop_out(learner.plan(case.stream, 0, len(case.stream)), 5, table)
    features = np.empty_like(table)
    features[learner.plan(case.stream, 0, len(case.stream)).offsets] = table
    surfaces = surface_mask(learner, 5, 0.5)
    several = np.diff(learner.structure.context.rows.starts) > 1
    masks = [contexts[several], features.ravel()[:400][several] == 0, surfaces[several] == 0]
    for first, second in ((0, 1), (0, 2), (1, 2)):
        # agreement of independent halves: 1/2 +- 1/2 / sqrt(300), four times that is allowed
        assert abs((masks[first] == masks[second]).mean() - 0.5) < 0.12


def test_dropout_differs_between_keys_and_places(one: Workers) -> None:
    case = make_case("clbl++", words=50, tokens=600)
    learner = case.learner(one, PLAIN)
    first, second = (context_mask(learner, case.stream, key, 0.5) for key in (1, 2))
    # agreement of independent halves: 1/2 +- 1/2 / sqrt(1800)
    assert abs((first == second).mean() - 0.5) < 0.06
    assert abs((first[1:] == first[:-1]).mean() - 0.5) < 0.06
    assert abs((first[:, 1:] == first[:, :-1]).mean() - 0.5) < 0.07


@pytest.mark.parametrize("kind", ["lbl++", "clbl++"])
def test_evaluation_leaves_nothing_out(kind: str, one: Workers) -> None:
    case = make_case(kind, words=20, tokens=60)
    learner = case.learner(one, replace(PLAIN, **ALL_DROPOUT))
    expected = case.engine(one).log_probabilities(case.stream)
    # Without classes, a learner's shards divide the sum over all words.
    tolerance = 0 if case.config.classes else 1e-6
    np.testing.assert_allclose(learner.log_probabilities(case.stream), expected, rtol=0, atol=tolerance)


@all_models
def test_all_context_words_left_out(kind: str, one: Workers, recorder: NoiseRecorder) -> None:
    """One token, a key under which all of its context goes: p = 0, the biases learn, Q and C do not."""
    case = make_case(kind, words=12)
    learning = replace(PLAIN, context_dropout=0.9)
    learner = case.learner(one, learning)
    key = next(key for key in range(99) if context_mask(learner, case.stream[:1], key, 0.9).all())
    objective = learner.step(case.stream, 0, 1, key)
    problem = reference.with_dropout(case.problem(0, 1), case.structure, learning, key)
    if not case.config.classes:
        problem = with_noise(problem, case, recorder.drawn[-1], learning)
    assert objective == pytest.approx(reference.objective(reference.tables_of(case.parameters), problem), rel=1e-5)
    assert np.array_equal(learner.parameters.Q, case.parameters.Q)
    assert np.array_equal(learner.parameters.C, case.parameters.C)
    assert not np.array_equal(learner.parameters.b, case.parameters.b)
