"""The gradients of the production path, read back from a step, against the float64 reference: every block, every model.

The bound relative to a block's size is for float32: an element is a sum of some hundred products, whose factors have
come through about ten roundings of 6e-8 each. Of 45,000 random cases of `test_any_structure`, half are within 1e-7, one
in a thousand is above 1.3e-6, and the worst, where large terms cancel, has 7.5e-6. A wrong sign, factor, row or mask
gives errors of order 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.arrays import Float64Array
from morphlm.logbilinear.config import VARIANTS, LearningConfig
from morphlm.logbilinear.engine import Learner
from morphlm.threads import Workers

from . import reference
from .cases import PLAIN, Case, NoiseRecorder, make_case, recovered, relative_errors, with_noise
from .reference import Problem, Tables

FLOAT32 = 3e-5
ALL_DROPOUT = replace(PLAIN, surface_dropout=0.4, context_dropout=0.3, prediction_dropout=0.25)

all_models = pytest.mark.parametrize("kind", VARIANTS)
both_transforms = pytest.mark.parametrize("diagonal", [True, False], ids=["diagonal", "full"])
noises = pytest.mark.parametrize("noise", ["block", "token"])


def one_step(
    case: Case, workers: Workers, recorder: NoiseRecorder, learning: LearningConfig, begin: int, end: int, key: int
) -> tuple[float, Tables, Problem]:
    """The objective and gradient of a step, and the problem that it must have solved."""
    learner = case.learner(workers, learning)
    objective = learner.step(case.stream, begin, end, key)
    problem = reference.with_dropout(case.problem(begin, end), case.structure, learning, key)
    if not case.config.classes:
        problem = with_noise(problem, case, recorder.drawn[-1], learning)
    return objective, recovered(reference.tables_of(case.parameters), learner), problem


def assert_step_is_right(
    case: Case,
    workers: Workers,
    recorder: NoiseRecorder,
    learning: LearningConfig = PLAIN,
    begin: int = 0,
    end: int | None = None,
    key: int = 11,
) -> None:
    """Objective and gradients of one step are the reference's."""
    end = len(case.stream) if end is None else end
    objective, actual, problem = one_step(case, workers, recorder, learning, begin, end, key)
    tables = reference.tables_of(case.parameters)
    expected = reference.objective(tables, problem)
    sizes = reference.gradient_sizes(tables, problem)
    errors = relative_errors(actual, reference.gradient(tables, problem), sizes)
    assert max(errors.values()) < FLOAT32, errors
    assert objective == pytest.approx(expected, rel=1e-5, abs=1e-6 * len(problem.targets))


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> NoiseRecorder:
    return NoiseRecorder(monkeypatch)


@all_models
@both_transforms
def test_gradients_are_the_central_differences_of_the_objective(
    kind: str, diagonal: bool, one: Workers, recorder: NoiseRecorder
) -> None:
    case = make_case(kind, diagonal, words=9, width=2, tokens=18)
    objective, actual, problem = one_step(case, one, recorder, PLAIN, 0, len(case.stream), 5)
    tables = reference.tables_of(case.parameters)
    slopes = reference.central_differences(lambda changed: -reference.objective(changed, problem), tables)
    by_hand = relative_errors(reference.gradient(tables, problem), slopes)
    assert max(by_hand.values()) < 1e-8, by_hand  # so that the other tests may use the hand-written one
    errors = relative_errors(actual, slopes)
    assert set(errors) == ({*"QCRbSt"} if case.config.classes else {*"QCRb"})
    assert max(errors.values()) < FLOAT32, errors
    assert all(np.abs(slopes[name]).max() > 0.01 for name in errors)
    assert objective == pytest.approx(reference.objective(tables, problem), rel=1e-6)


@all_models
@both_transforms
def test_gradients_with_every_dropout(kind: str, diagonal: bool, one: Workers, recorder: NoiseRecorder) -> None:
    """The reference leaves out the same numbers on both ways, so the mask must be one."""
    case = make_case(kind, diagonal, words=20, width=5, tokens=60)
    for key in (1, 1 << 40):
        assert_step_is_right(case, one, recorder, ALL_DROPOUT, key=key)


@all_models
@pytest.mark.parametrize("name", ["surface_dropout", "context_dropout", "prediction_dropout"])
def test_gradients_with_one_dropout(kind: str, name: str, one: Workers, recorder: NoiseRecorder) -> None:
    case = make_case(kind, words=20, width=5, tokens=60, seed=3)
    assert_step_is_right(case, one, recorder, replace(PLAIN, **{name: 0.5}))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["lbl", "lbl++"])
@both_transforms
@noises
def test_noise_gradients(kind: str, diagonal: bool, noise: str, one: Workers, recorder: NoiseRecorder) -> None:
    """The last block of 16 tokens is shorter than the others."""
    learning = replace(PLAIN, noise=noise, samples=7, noise_block=16)  # type: ignore[arg-type]
    case = make_case(kind, diagonal, words=14, width=6, tokens=50)
    assert len(case.stream) % 16
    assert_step_is_right(case, one, recorder, learning)
    assert len(recorder.drawn[-1]) == 7 * (-(-len(case.stream) // 16) if noise == "block" else len(case.stream))


@all_models
@both_transforms
def test_mean_gradients_are_the_sums_over_their_number(
    kind: str, diagonal: bool, one: Workers, recorder: NoiseRecorder
) -> None:
    case = make_case(kind, diagonal)
    means = replace(PLAIN, mean_gradients=True)
    total, summed, problem = one_step(case, one, recorder, PLAIN, 0, len(case.stream), 5)
    again, averaged, _ = one_step(case, one, recorder, means, 0, len(case.stream), 5)
    assert again == pytest.approx(total)
    length = len(problem.targets)
    errors = relative_errors({name: length * table for name, table in averaged.items()}, summed)
    assert max(errors.values()) < 1e-5, errors


@pytest.mark.parametrize(("order", "width"), [(2, 7), (6, 7), (4, 1), (4, 130), (2, 1)])
@pytest.mark.parametrize("kind", ["lbl++", "clbl++"])
@both_transforms
def test_orders_and_widths(
    order: int, width: int, kind: str, diagonal: bool, one: Workers, recorder: NoiseRecorder
) -> None:
    case = make_case(kind, diagonal, order=order, width=width, words=12, tokens=40)
    for table in (case.parameters.Q, case.parameters.R, case.parameters.S):
        table[:] /= np.float32(np.sqrt(width))  # scores of the usual size
    assert_step_is_right(case, one, recorder)


@all_models
def test_factors_without_surface_forms(kind: str, one: Workers, recorder: NoiseRecorder) -> None:
    case = make_case(kind, words=20, surface=False, tokens=60)
    assert_step_is_right(case, one, recorder, ALL_DROPOUT)


@pytest.mark.parametrize("learning", [PLAIN, ALL_DROPOUT], ids=["plain", "dropout"])
@pytest.mark.parametrize(("seed", "tokens"), [(387, 1), (900, 8)])
def test_a_word_that_is_all_but_certain(
    learning: LearningConfig, seed: int, tokens: int, one: Workers, recorder: NoiseRecorder
) -> None:
    """1 - P is 2.4e-6 with the first seed, of which float32 knows three digits."""
    case = make_case("clbl", False, words=4, classes=1, tokens=tokens, order=5, width=4, surface=False, seed=seed)
    assert_step_is_right(case, one, recorder, learning, 0, 1, key=seed)


@given(
    kind=st.sampled_from(VARIANTS),
    diagonal=st.booleans(),
    words=st.integers(4, 40),
    classes=st.integers(1, 8),
    tokens=st.integers(1, 90),
    order=st.integers(2, 5),
    width=st.integers(1, 9),
    surface=st.booleans(),
    dropout=st.booleans(),
    noise=st.sampled_from(["block", "token"]),
    seed=st.integers(0, 1 << 20),
    data=st.data(),
)
@settings(max_examples=80)
def test_any_structure(
    kind: str,
    diagonal: bool,
    words: int,
    classes: int,
    tokens: int,
    order: int,
    width: int,
    surface: bool,
    dropout: bool,
    noise: str,
    seed: int,
    data: st.DataObject,
    one: Workers,
) -> None:
    case = make_case(
        kind,
        diagonal,
        words=words,
        classes=min(classes, words - 1),
        tokens=tokens,
        order=order,
        width=width,
        surface=surface,
        seed=seed,
    )
    begin = data.draw(st.integers(0, len(case.stream) - 1), "begin")
    end = data.draw(st.integers(begin + 1, len(case.stream)), "end")
    learning = replace(ALL_DROPOUT if dropout else PLAIN, noise=noise)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert_step_is_right(case, one, NoiseRecorder(monkeypatch), learning, begin, end, key=seed)


@pytest.mark.parametrize("kind", ["lbl++", "clbl++"])
@both_transforms
def test_more_words_and_tokens_than_fit_in_a_block(
    kind: str, diagonal: bool, one: Workers, recorder: NoiseRecorder
) -> None:
    """Kernels cut tokens, context words and the words of a class into blocks of a hundred or so; here are many.

    Evaluation takes the words of a class in tiles of a thousand. Scores of size 100 have errors of 1e-5 in float32.
    """
    case = make_case(kind, diagonal, words=1300, classes=2, width=3, tokens=1500)
    assert_step_is_right(case, one, recorder, replace(ALL_DROPOUT, noise_block=128, samples=20))
    exact = reference.log_probabilities(reference.tables_of(case.parameters), case.problem())
    assert np.abs(case.engine(one).log_probabilities(case.stream) - exact).max() < 5e-5


# ---------------------------------------------------------------- noise-contrastive estimation and the exact gradient


def normalised_case(diagonal: bool) -> Case:
    """A model without classes whose scores are log-probabilities already.

    All context vectors are equal, so that there is one p, and the biases have ln Z taken off.
    """
    case = make_case("lbl", diagonal, words=8, width=4, tokens=40)
    case.parameters.Q[:] = case.parameters.Q[0]
    tables, problem = reference.tables_of(case.parameters), case.problem()
    p = reference.predictions(tables, problem)[0]
    predicted = problem.rivals(0)
    case.parameters.b[:] -= np.float32(reference.log_sum((tables["R"] @ p + tables["b"])[predicted]))
    return case


@both_transforms
@noises
def test_noise_gradient_approaches_the_exact_one(diagonal: bool, noise: str, one: Workers) -> None:
    """With u = exp nu normalised and r the largest u(w) / p_n(w), the errors of a token's scores come to

    - (1 - sigma) - 1 for the target and E[k sigma] - u for the others: both at most r / k of what they should be;
    - a mean over k draws of terms up to r, which strays by r / sqrt k; four times that, for the worst of some dozens.

    They are passed on linearly, so a block strays from the exact gradient by L times that and its largest slope.
    """
    case = normalised_case(diagonal)
    tables, problem = reference.tables_of(case.parameters), case.problem()
    exact = reference.gradient(tables, problem)
    predicted = problem.rivals(0)
    scores = (tables["R"] @ reference.predictions(tables, problem)[0] + tables["b"])[predicted]
    counts = case.structure.vocabulary.counts[predicted] + 1.0
    ratio = float((np.exp(scores) / (counts / counts.sum())).max())
    distances = []
    for k in (16, 256, 4096, 65536 if noise == "block" else 16384):
        learner = case.learner(one, replace(PLAIN, noise=noise, samples=k, noise_block=16))  # type: ignore[arg-type]
        learner.step(case.stream, 0, len(case.stream), 3)
        actual = recovered(tables, learner)
        bound = len(case.stream) * (ratio / k + 4 * ratio / np.sqrt(k))
        distance = np.abs(actual["b"] - exact["b"]).max()  # the slope of nu in b is 1
        assert distance < bound
        distances.append(distance)
        errors = relative_errors(actual, exact)
    assert distances[-1] < distances[0] / 8
    assert max(errors.values()) < 0.05, errors


def test_noise_is_the_smoothed_unigram_distribution(one: Workers) -> None:
    """Of 200,000, a share strays by sqrt(p (1 - p) / n) <= 0.0012; five times that is allowed. BEGIN never comes."""
    case = make_case("lbl", words=12)
    drawn = case.learner(one)._draw_noise(9, 200_000)
    counts = case.structure.vocabulary.counts + 1.0
    counts[1] = 0.0
    shares = np.bincount(drawn, minlength=12) / len(drawn)
    assert shares[1] == 0
    assert np.abs(shares - counts / counts.sum()).max() < 0.006
    assert isinstance(drawn, np.ndarray) and drawn.dtype == np.int32
    assert Learner._draw_noise(case.learner(one), 9, 50).tolist() == drawn[:50].tolist()


@pytest.mark.parametrize("words", [100, 700, 1000, 2000])
def test_the_largest_random_number_still_draws_a_word(words: int, one: Workers) -> None:
    """Rounding must not leave a gap between the last cumulated probability and 1: the word after the last is none."""
    case = make_case("lbl", words=words, width=1, tokens=words)
    largest = np.nextafter(1.0, 0.0)

    class Largest:
        def random(self, count: int) -> Float64Array:
            return np.full(count, largest)

    with pytest.MonkeyPatch.context() as monkeypatch:
        learner = case.learner(one)
        monkeypatch.setattr(np.random, "default_rng", lambda seed: Largest())
        assert learner._draw_noise(1, 1)[0] < words
