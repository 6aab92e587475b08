"""Where sentences, minibatches, vocabularies and numbers end: contexts, tiny sizes, NaN, exponential, order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from morphlm.arrays import Float32Array
from morphlm.logbilinear.config import VARIANTS, LogBilinearConfig, variant
from morphlm.logbilinear.kernels import numerics
from morphlm.logbilinear.parameters import Parameters, filled_like, shapes
from morphlm.logbilinear.structure import arranged_by_class, build_structure
from morphlm.threads import Workers, workers
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID

from . import reference
from .cases import PLAIN, Case, NoiseRecorder, make_case
from .test_gradients import assert_step_is_right

all_models = pytest.mark.parametrize("kind", VARIANTS)


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> NoiseRecorder:
    return NoiseRecorder(monkeypatch)


# ---------------------------------------------------------------- contexts


def planned(stream: list[int], begin: int, end: int, order: int) -> list[tuple[int, list[int]]]:
    """(token, context) in the order of the text, as the engine sees them."""
    case = make_case("clbl", words=10, order=order)
    with workers(1) as single:
        batch = case.engine(single).plan(np.array(stream, np.int32), begin, end)
    assert sorted(batch.offsets.tolist()) == list(range(end - begin))
    rows = {
        int(offset): (int(target), [int(batch.words[slot]) for slot in slots])
        for offset, target, slots in zip(batch.offsets, batch.targets, batch.slots, strict=True)
    }
    return [rows[offset] for offset in range(end - begin)]


def test_contexts_by_hand() -> None:
    """Three sentences: 5 6 7 8, nothing, 9. The nearest word comes first; BEGIN stands before each sentence."""
    stream = [5, 6, 7, 8, END_ID, END_ID, 9, END_ID]
    assert planned(stream, 0, 8, 4) == [
        (5, [BEGIN_ID, BEGIN_ID, BEGIN_ID]),
        (6, [5, BEGIN_ID, BEGIN_ID]),
        (7, [6, 5, BEGIN_ID]),
        (8, [7, 6, 5]),
        (END_ID, [8, 7, 6]),
        (END_ID, [BEGIN_ID, BEGIN_ID, BEGIN_ID]),
        (9, [BEGIN_ID, BEGIN_ID, BEGIN_ID]),
        (END_ID, [9, BEGIN_ID, BEGIN_ID]),
    ]


def test_a_minibatch_that_begins_inside_a_sentence_sees_what_was_before() -> None:
    stream = [5, 6, 7, 8, END_ID, 9, END_ID]
    assert planned(stream, 3, 6, 4) == [(8, [7, 6, 5]), (END_ID, [8, 7, 6]), (9, [BEGIN_ID] * 3)]


texts = st.lists(st.sampled_from([0, END_ID, END_ID, 3, 4, 5, 6]), min_size=1, max_size=25)


@given(texts, st.integers(2, 6), st.data())
def test_contexts_of_any_text(stream: list[int], order: int, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(stream) - 1), "begin")
    end = data.draw(st.integers(begin + 1, len(stream)), "end")
    expected = [(stream[at], reference.context_of(stream, at, order)) for at in range(begin, end)]
    assert planned(stream, begin, end, order) == expected


@all_models
def test_minibatches_cut_a_text_anywhere(kind: str, one: Workers, recorder: NoiseRecorder) -> None:
    """Of one token; from within a sentence; beginning with an empty sentence."""
    stream = np.array([5, 6, 7, 8, END_ID, END_ID, 9, 5, END_ID], np.int32)
    case = make_case(kind, stream=stream)
    for begin, end in ((0, 1), (3, 4), (4, 5), (5, 6), (8, 9), (2, 7), (5, 9)):
        assert_step_is_right(case, one, recorder, begin=begin, end=end)


@all_models
def test_an_empty_minibatch_has_no_objective_and_changes_no_factor(kind: str, one: Workers) -> None:
    case = make_case(kind)
    learner = case.learner(one, PLAIN)
    assert learner.step(case.stream, 5, 5, 1) == 0.0
    assert all(np.array_equal(after, before) for after, before in zip(learner.parameters, case.parameters, strict=True))


# ---------------------------------------------------------------- vocabularies and classes


@all_models
def test_a_text_of_unknown_words_and_ends_alone(kind: str, one: Workers, recorder: NoiseRecorder) -> None:
    stream = np.array([UNK_ID, UNK_ID, END_ID, END_ID, UNK_ID, END_ID], np.int32)
    assert_step_is_right(make_case(kind, stream=stream), one, recorder)
    smallest = make_case(kind, stream=stream, words=3, classes=2)
    assert len(smallest.structure.vocabulary) == 3
    assert_step_is_right(smallest, one, recorder)


@pytest.mark.parametrize("kind", ["clbl", "clbl+c", "clbl+o", "clbl++"])
def test_classes_of_one_word(kind: str, one: Workers, recorder: NoiseRecorder) -> None:
    """P(w|h,c) is 1: the class alone decides, and R and b learn nothing."""
    case = make_case(kind, words=10, classes=9)
    assert case.structure.partition is not None and set(case.structure.partition.sizes.tolist()) == {1}
    assert_step_is_right(case, one, recorder)
    learner = case.learner(one, replace(PLAIN, decay=5.0))
    learner.step(case.stream, 0, len(case.stream), 1)
    assert np.array_equal(learner.parameters.R, case.parameters.R)
    assert np.array_equal(learner.parameters.b, case.parameters.b)
    assert not np.array_equal(learner.parameters.S, case.parameters.S)


@pytest.mark.parametrize("kind", ["clbl", "clbl++"])
def test_one_class(kind: str, one: Workers, recorder: NoiseRecorder) -> None:
    case = make_case(kind, words=12, classes=1)
    assert_step_is_right(case, one, recorder)
    learner = case.learner(one)
    learner.step(case.stream, 0, len(case.stream), 1)
    assert np.array_equal(learner.parameters.t, case.parameters.t)  # P(c|h) = 1 has no gradient


def test_begin_is_no_output(one: Workers) -> None:
    """Its bias and output vector are never read: NaN there changes nothing."""
    for kind in VARIANTS:
        case = make_case(kind)
        expected = case.engine(one).log_probabilities(case.stream).tobytes()
        case.parameters.b[BEGIN_ID] = np.nan
        case.parameters.R[BEGIN_ID] = np.nan  # factor 1 is the surface form of word 1
        assert case.engine(one).log_probabilities(case.stream).tobytes() == expected
        assert np.isfinite(case.learner(one).step(case.stream, 0, len(case.stream), 1))


@given(st.sampled_from(VARIANTS), st.booleans(), st.integers(2, 5), st.integers(1, 9))
def test_shapes(kind: str, diagonal: bool, order: int, width: int) -> None:
    case = make_case(kind, diagonal, order=order, width=width, words=12, classes=4)
    factors = len(case.structure.factors) if case.structure.factors is not None else 12
    side = {True: factors, False: 12}
    assert shapes(case.config, case.structure) == {
        "Q": (side[case.config.context_factors], width),
        "C": (order - 1, width) if diagonal else (order - 1, width, width),
        "R": (side[case.config.output_factors], width),
        "b": (12,),
        "S": (4 if case.config.classes else 0, width),
        "t": (4 if case.config.classes else 0,),
    }
    assert {name: array.shape for name, array in case.parameters.named()} == shapes(case.config, case.structure)
    assert case.parameters.numbers == sum(array.size for array in case.parameters)


def test_a_structure_needs_what_its_model_uses() -> None:
    from morphlm.errors import ConfigError

    case = make_case("clbl++")
    vocabulary, partition = case.structure.vocabulary, case.structure.partition
    other = make_case("clbl++", words=11).structure
    for kind, classes, factors in (
        ("clbl", None, None),
        ("clbl", other.partition, None),
        ("clbl++", partition, None),
        ("lbl+c", None, other.factors),
    ):
        with pytest.raises(ConfigError, match="of the words of its vocabulary"):
            build_structure(variant(kind), vocabulary, classes, factors)
    plain = build_structure(variant("lbl"), vocabulary, partition, case.structure.factors)
    assert plain.partition is None and plain.factors is None and plain.classes == 1


def test_configurations_that_cannot_be() -> None:
    from morphlm.errors import ConfigError

    for wrong in ({"order": 1}, {"width": 0}):
        with pytest.raises(ConfigError):
            LogBilinearConfig(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="clbl\\+\\+\\+"):
        variant("clbl+++")
    bad: dict[str, Any] = {
        "step": 0.0,
        "accumulator": float("nan"),
        "samples": 0,
        "decay": -1.0,
        "surface_dropout": 1.0,
    }
    for name, value in bad.items():
        with pytest.raises(ConfigError, match=name):
            replace(PLAIN, **{name: value})
    assert [variant(kind).kind for kind in VARIANTS] == list(VARIANTS)


# ---------------------------------------------------------------- NaN and infinity


def poisoned(case: Case, name: str, at: tuple[int, ...]) -> Case:
    copy = case.copy()
    getattr(copy.parameters, name)[at] = np.nan
    return copy


def repeating_case(kind: str, diagonal: bool) -> Case:
    """The text is 3 3 3 3; 4 is the only other word of its class."""
    stream = np.array([3, 3, 3, 3, END_ID], np.int32)
    case = make_case(kind, diagonal, words=5, classes=2, stream=stream)
    if case.structure.partition is None:
        return case
    partition = replace(case.structure.partition, class_of=np.array([1, 1, 1, 0, 0], np.int32))
    structure = build_structure(case.config, case.structure.vocabulary, partition, case.structure.factors)
    return replace(case, structure=structure)


def used_places(case: Case) -> list[tuple[str, tuple[int, ...]]]:
    """Numbers of each block that every token of the repeating text uses, for its own word and for others."""
    context = case.structure.context.rows
    elements: list[tuple[str, tuple[int, ...]]] = [("C", (0,) * case.parameters.C.ndim)]
    elements += [("Q", (int(context.items[context.starts[3]]), 1))]
    output = case.structure.output.rows
    for word in (3, 4):  # the target itself, a rival of it
        elements += [("b", (word,)), ("R", (int(output.items[output.starts[word]]), 0))]
    if case.config.classes:
        elements += [("S", (c, 1)) for c in range(2)] + [("t", (c,)) for c in range(2)]
    return elements


@all_models
@pytest.mark.parametrize("diagonal", [True, False], ids=["diagonal", "full"])
def test_one_nan_shows_in_the_objective(kind: str, diagonal: bool, one: Workers) -> None:
    """A step that uses a NaN has no finite objective, or training would go on without noticing."""
    case = repeating_case(kind, diagonal)
    learning = replace(PLAIN, samples=60)  # so that every word is among the noise
    assert np.isfinite(case.learner(one, learning).step(case.stream, 1, 4, 1))
    silent = []
    for name, at in used_places(case):
        objective = poisoned(case, name, at).learner(one, learning).step(case.stream, 1, 4, 1)
        if np.isfinite(objective):
            silent.append((name, at, objective))
    assert not silent


@all_models
@pytest.mark.parametrize("diagonal", [True, False], ids=["diagonal", "full"])
def test_one_nan_shows_in_the_log_probabilities(kind: str, diagonal: bool, one: Workers) -> None:
    case = repeating_case(kind, diagonal)
    silent = []
    for name, at in used_places(case):
        actual = poisoned(case, name, at).engine(one).log_probabilities(case.stream)[1:4]
        if np.isfinite(actual).any():
            silent.append((name, at, actual))
    assert not silent


def test_the_first_block_that_is_not_finite_is_named() -> None:
    fine = make_case("clbl++").parameters
    assert fine.first_out_of_range() is None
    for name in Parameters._fields:
        for value in (np.nan, np.inf, -np.inf):
            copy = Parameters(*(array.copy() for array in fine))
            getattr(copy, name).reshape(-1)[-1] = value
            assert copy.first_out_of_range() == name
    assert all((table == 2).all() for table in filled_like(fine, 2.0))


# ---------------------------------------------------------------- the exponential


# Not cached: numba's cache would not notice a change of the inlined function.
@njit(**numerics._FLAGS)
def exponentials(x: Float32Array, out: Float32Array) -> None:
    for i in range(x.size):
        out[i] = numerics.exponential(x[i])


def exponentials_of(x: Float32Array) -> Float32Array:
    out = np.empty_like(x)
    exponentials(x, out)
    return out


def test_the_exponential_is_exact_to_float32() -> None:
    """A million numbers over the whole range, and all around the powers of two, where the exponent's bits change."""
    edges = np.log(2.0) * (np.arange(-125, 127) + 0.5)
    near = (edges[:, None] + np.linspace(-1e-4, 1e-4, 201)).ravel()
    x = np.concatenate([np.linspace(-87, 88, 1_000_001), near, np.linspace(-1e-6, 1e-6, 101)]).astype(np.float32)
    exact = np.exp(x.astype(np.float64))
    assert np.abs(exponentials_of(x) / exact - 1).max() < 5e-7


def test_the_exponential_beyond_its_range() -> None:
    """What underflows stays next to nothing, what overflows large; 0 gives 1; NaN stays NaN."""
    far = exponentials_of(np.array([-1e4, -100, -87.5, 100, 1e4, -np.inf, np.inf, 0], np.float32))
    assert (far[[0, 1, 2, 5]] < 2e-38).all() and (far >= 0).all()
    assert (far[[3, 4, 6]] > 1e38).all()
    assert far[7] == 1
    assert np.isnan(exponentials_of(np.full(9, np.nan, np.float32))).all()


# ---------------------------------------------------------------- the order of R in training


def test_arranged_by_class_keeps_factors_and_has_surface_forms_first() -> None:
    """Dropout takes the factors below `surfaces` for surface forms; those of a class are neighbours."""
    structure = make_case("clbl++", words=40, classes=6).structure
    arranged, order = arranged_by_class(structure)
    surfaces = structure.output.surfaces
    assert sorted(order.tolist()) == list(range(structure.output.factors))
    assert sorted(order[:surfaces].tolist()) == list(range(surfaces))
    np.testing.assert_array_equal(order[arranged.output.rows.items], structure.output.rows.items)
    np.testing.assert_array_equal(order[arranged.layout.rows.items], structure.layout.rows.items)
    first_factors = arranged.layout.rows.items[arranged.layout.rows.starts[:-1]]
    assert first_factors.tolist() == list(range(len(first_factors)))


# ---------------------------------------------------------------- the largest of floats, by integers


@njit
def ordered(x: Float32Array, orders: Any, back: Float32Array) -> None:
    for i in range(len(x)):
        orders[i] = numerics.order_of(x[i])
        back[i] = numerics.float_of_order(orders[i])


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=2, max_size=20))
def test_integers_are_in_the_order_of_their_floats(numbers: list[float]) -> None:
    x = np.array(numbers, np.float32)
    orders, back = np.empty(len(x), np.int32), np.empty_like(x)
    ordered(x, orders, back)
    assert back.tobytes() == x.tobytes()
    assert back[orders.argmax()] == x.max()
    assert all((orders[i] < orders[j]) == (x[i] < x[j]) for i in range(len(x)) for j in range(len(x)) if x[i] != x[j])


def test_the_softmax_begins_its_search_for_the_highest_score_below_all_that_occur() -> None:
    x, orders, back = np.array([-3e38], np.float32), np.empty(1, np.int32), np.empty(1, np.float32)
    ordered(x, orders, back)
    assert orders[0] == numerics.LOWEST_ORDER
