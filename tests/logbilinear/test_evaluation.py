"""Exact log-probabilities: against the reference, their sums, and the identities that tie the models together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.arrays import Float64Array
from morphlm.classes.partition import Partition
from morphlm.logbilinear import engine as engine_module
from morphlm.logbilinear.config import VARIANTS, variant
from morphlm.logbilinear.kernels import softmax
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.structure import build_structure
from morphlm.threads import Workers, workers
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID

from . import reference
from .cases import PLAIN, Case, case_of, factors_of, make_case, random_factors, random_partition, vocabulary_of

all_models = pytest.mark.parametrize("kind", VARIANTS)
both_transforms = pytest.mark.parametrize("diagonal", [True, False], ids=["diagonal", "full"])


def expected(case: Case) -> Float64Array:
    return reference.log_probabilities(reference.tables_of(case.parameters), case.problem())


def all_continuations(case: Case, history: list[int]) -> Float64Array:
    """ln P of each word but BEGIN after a history."""
    predicted = [word for word in range(len(case.structure.vocabulary)) if word != BEGIN_ID]
    sentences = [[*history, word, END_ID][: len(history) + (1 if word == END_ID else 2)] for word in predicted]
    stream = np.array([word for sentence in sentences for word in sentence], np.int32)
    positions = np.cumsum([0, *map(len, sentences)])[:-1] + len(history)
    with workers(1) as single:
        logs: Float64Array = case.engine(single).log_probabilities(stream)[positions]
    return logs


@all_models
@both_transforms
def test_log_probabilities_are_the_references(kind: str, diagonal: bool, one: Workers) -> None:
    """Scores of size 10 have errors of 1e-6 in float32."""
    case = make_case(kind, diagonal, words=25, classes=5, width=6, tokens=120)
    actual = case.engine(one).log_probabilities(case.stream)
    assert actual.dtype == np.float64
    assert np.abs(actual - expected(case)).max() < 1e-5


@given(
    kind=st.sampled_from(VARIANTS),
    diagonal=st.booleans(),
    words=st.integers(4, 40),
    classes=st.integers(1, 8),
    tokens=st.integers(1, 90),
    order=st.integers(2, 5),
    seed=st.integers(0, 1 << 20),
)
@settings(max_examples=40)
def test_any_structure(
    kind: str, diagonal: bool, words: int, classes: int, tokens: int, order: int, seed: int, one: Workers
) -> None:
    classes = min(classes, words - 1)
    case = make_case(kind, diagonal, words=words, classes=classes, tokens=tokens, order=order, seed=seed)
    assert np.abs(case.engine(one).log_probabilities(case.stream) - expected(case)).max() < 1e-5


@all_models
@both_transforms
def test_probabilities_sum_to_one(kind: str, diagonal: bool) -> None:
    """Without BEGIN, which has nothing."""
    case = make_case(kind, diagonal, words=40, classes=6, width=8)
    for history in ([], [0], [5, 3], [7, 0, 9, 9, 4]):
        assert np.exp(all_continuations(case, history)).sum() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("kind", ["lbl", "clbl++"])
def test_probabilities_sum_to_one_over_many_tiles(kind: str) -> None:
    """Classes that are longer than what is scored at a time."""
    words = 2 * softmax.TILE + 300
    case = make_case(kind, words=words, classes=2, width=8, tokens=3000)
    assert np.exp(all_continuations(case, [5, 3])).sum() == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("kind", ["lbl", "clbl"])
def test_scores_far_apart(kind: str, one: Workers) -> None:
    """Differences of hundreds overflow no exponential, and what is hopeless has its exact logarithm."""
    case = make_case(kind, words=12, classes=2)
    case.parameters.b[:] = np.linspace(-300, 300, 12, dtype=np.float32)
    case.parameters.t[:] = np.linspace(-150, 150, len(case.parameters.t), dtype=np.float32)
    actual, exact = case.engine(one).log_probabilities(case.stream), expected(case)
    assert exact.min() < -100
    assert np.allclose(actual, exact, rtol=1e-5, atol=1e-4)


@all_models
@pytest.mark.parametrize("length", [1, 7])
def test_a_long_text_is_evaluated_in_pieces(
    kind: str, length: int, one: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = make_case(kind, words=20, tokens=100)
    whole = case.engine(one).log_probabilities(case.stream)
    monkeypatch.setattr(engine_module, "EVALUATED_TOKENS", length)
    assert np.abs(case.engine(one).log_probabilities(case.stream) - whole).max() < 1e-5


@all_models
def test_an_empty_text_has_no_probabilities(kind: str, one: Workers) -> None:
    assert len(make_case(kind).engine(one).log_probabilities(np.zeros(0, np.int32))) == 0


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("kind", ["lbl", "clbl++"])
def test_threads_do_not_change_log_probabilities(kind: str, diagonal: bool) -> None:
    case = make_case(kind, diagonal, words=900, classes=11, width=13, tokens=2500)
    results = []
    for threads in (1, 2, 3):
        with workers(threads) as several:
            results.append(case.engine(several).log_probabilities(case.stream).tobytes())
    assert results[0] == results[1] == results[2]


# ---------------------------------------------------------------- identities


@pytest.mark.parametrize("family", ["lbl", "clbl"])
@pytest.mark.parametrize("plus", ["+c", "+o", "++"])
@both_transforms
def test_words_as_their_only_factors_make_the_plain_model(family: str, plus: str, diagonal: bool, one: Workers) -> None:
    """mu = identity: probabilities and what is learned are the same to the bit."""
    plain = make_case(family, diagonal, words=20, tokens=60)
    vocabulary, stream = plain.structure.vocabulary, plain.stream
    partition = random_partition(np.random.default_rng(8), vocabulary, 3)
    identity, learning = factors_of(vocabulary, {}), replace(PLAIN, surface_dropout=0.5)
    results = []
    for kind in (family, family + plus):
        case = case_of(variant(kind, width=3, diagonal=diagonal), partition, identity, stream)
        learner = case.learner(one, learning)
        objective = learner.step(stream, 0, len(stream), 4)
        learned = [array.tobytes() for array in learner.parameters]
        results.append((objective, learned, case.engine(one).log_probabilities(stream).tobytes()))
    assert results[0] == results[1]


@pytest.mark.parametrize("plus", ["", "+c", "+o", "++"])
@both_transforms
def test_one_class_makes_the_model_without_classes(plus: str, diagonal: bool, one: Workers) -> None:
    with_class = make_case("clbl" + plus, diagonal, words=20, classes=1, tokens=60)
    structure = with_class.structure
    config = variant("lbl" + plus, width=3, diagonal=diagonal)
    bare = build_structure(config, structure.vocabulary, None, structure.factors)
    parameters = with_class.parameters._replace(S=np.zeros((0, 3), np.float32), t=np.zeros(0, np.float32))
    without = Case(config, bare, parameters, with_class.stream)
    actual = without.engine(one).log_probabilities(without.stream)
    assert np.abs(actual - with_class.engine(one).log_probabilities(with_class.stream)).max() < 1e-6


@pytest.mark.parametrize("kind", ["lbl+o", "lbl++", "clbl+o", "clbl++"])
def test_words_with_the_same_factors_are_tied(kind: str) -> None:
    """w0 and w5 are one word to the output side: no surface factor, one class, one bias."""
    stream = np.array([3, 8, 4, 5, 2, 6, 7, 9, 2, 8, 3, 2], np.int32)
    vocabulary = vocabulary_of(stream, 10)
    mapping = {"w0": ["x", "y"], "w5": ["y", "x"], "w1": ["x"], "w2": ["y", "z"]}
    factors = factors_of(vocabulary, mapping, surface=False)
    class_of = np.array([0, 0, 0, 1, 1, 2, 2, 0, 1, 1], np.int32)
    case = case_of(variant(kind, width=5), Partition(vocabulary, class_of, 3, "test"), factors, stream)
    case.parameters.b[3] = case.parameters.b[8]
    for history in ([], [4, 6], [3, 8, 5]):
        logs = all_continuations(case, history)  # BEGIN is not in it: word w is at w - 1
        assert logs[2] == pytest.approx(logs[7], abs=1e-6)
        assert abs(logs[2] - logs[3]) > 1e-3


@pytest.mark.parametrize("kind", ["lbl+c", "lbl++", "clbl+c", "clbl++"])
def test_context_words_with_the_same_factors_predict_the_same(kind: str) -> None:
    stream = np.array([3, 8, 4, 5, 2, 6, 7, 9, 2, 8, 3, 2], np.int32)
    vocabulary = vocabulary_of(stream, 10)
    factors = factors_of(vocabulary, {"w0": ["x", "x", "y"], "w5": ["x", "y", "x"], "w1": ["x", "y"]}, surface=False)
    partition = random_partition(np.random.default_rng(3), vocabulary, 3)
    case = case_of(variant(kind, width=5), partition, factors, stream)
    first, second, other = (all_continuations(case, [6, word]) for word in (3, 8, 4))
    assert np.abs(first - second).max() < 1e-6
    assert np.abs(first - other).max() > 1e-3  # has x once instead of twice


# ---------------------------------------------------------------- the beginning


@all_models
def test_without_weights_a_model_is_the_smoothed_unigrams(kind: str) -> None:
    """Biases begin at ln (count + 1) / (all + words): of words, and of classes with theirs."""
    base = make_case("clbl++", words=15, tokens=80)
    config = variant(kind, width=3)
    rng = np.random.default_rng(2)
    vocabulary = base.structure.vocabulary
    partition, factors = random_partition(rng, vocabulary, 4), random_factors(rng, vocabulary)
    structure = build_structure(config, vocabulary, partition, factors)
    case = Case(config, structure, initial_parameters(config, structure, 5, 0.0), base.stream)
    counts = np.delete(vocabulary.counts, BEGIN_ID) + 1.0
    shares = counts / counts.sum()
    if config.classes:
        class_of = np.delete(partition.class_of, BEGIN_ID)
        inside = shares / np.bincount(class_of, shares)[class_of]
        masses = np.bincount(class_of, counts - 1) + 1.0
        shares = (masses / masses.sum())[class_of] * inside
    assert np.abs(np.exp(all_continuations(case, [4])) - shares).max() < 1e-6


def test_weights_begin_as_a_narrow_gaussian() -> None:
    """20,000 numbers: their mean strays by 0.0007, their deviation by 0.0005; five times that is allowed."""
    base = make_case("clbl++", words=500, tokens=600)
    config = variant("clbl++", width=40)
    vocabulary, factors = base.structure.vocabulary, base.structure.factors
    structure = build_structure(config, vocabulary, base.structure.partition, factors)
    drawn = initial_parameters(config, structure, 5, 0.1)
    for table in (drawn.Q, drawn.R):
        assert table.size >= 20_000
        assert abs(float(table.mean())) < 0.0035
        assert abs(float(table.std()) - 0.1) < 0.0025
    again = initial_parameters(config, structure, 5, 0.1)
    assert [array.tobytes() for array in drawn] == [array.tobytes() for array in again]
    assert drawn.Q.tobytes() != initial_parameters(config, structure, 6, 0.1).Q.tobytes()
    assert {array.dtype for array in drawn} == {np.dtype(np.float32)}
