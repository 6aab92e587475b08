"""Classes that learn their words from several minibatches at once: which tokens wait, and what is learned of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.arrays import Float64Array, Int32Array, Int64Array
from morphlm.logbilinear import gathering
from morphlm.logbilinear.config import VARIANTS, LearningConfig, variant
from morphlm.logbilinear.gathering import LONGEST_WAIT, SMALLEST_PIECE, Gathered, WordGathering, gathering_of_epoch
from morphlm.threads import Workers, workers
from morphlm.training.config import recipe

from . import reference
from .cases import PLAIN, Case, make_case, recovered, relative_errors
from .reference import Problem

FLOAT32 = 2e-5
with_classes = pytest.mark.parametrize("kind", [kind for kind in VARIANTS if kind.startswith("c")])
both_transforms = pytest.mark.parametrize("diagonal", [True, False], ids=["diagonal", "full"])


# ---------------------------------------------------------------- who waits


def epoch(stream: Int32Array, class_of: Int32Array, sizes: Int64Array, tokens: int, length: int) -> list[Gathered]:
    waiting = WordGathering(class_of, sizes, tokens)
    return [waiting.next(stream, a, min(a + length, len(stream))) for a in range(0, len(stream), length)]


def learned_at(
    stream: Int32Array, class_of: Int32Array, epoch_of: list[Gathered], length: int
) -> list[tuple[int, int]]:
    """(token, minibatch) of every term ln P(w|h,c) that is learned."""
    pairs = []
    for number, gathered in enumerate(epoch_of):
        own = range(number * length, min((number + 1) * length, len(stream)))
        tokens = [*gathered.earlier.tolist(), *own]
        pairs += [(at, number) for at in tokens if gathered.pieces[class_of[stream[at]]]]
    return pairs


streams = st.lists(st.integers(0, 11), min_size=1, max_size=150).map(lambda words: np.array(words, np.int32))


@given(streams, st.integers(1, 12), st.integers(1, 40), st.integers(1, 30))
def test_every_token_is_learned_once_and_waits_for_a_while(
    stream: Int32Array, classes: int, tokens: int, length: int
) -> None:
    class_of = (np.arange(12) % classes).astype(np.int32)
    sizes = np.bincount(class_of, minlength=classes)
    pairs = learned_at(stream, class_of, epoch(stream, class_of, sizes, tokens, length), length)
    learned = {at for at, _ in pairs}
    assert len(learned) == len(pairs)
    assert {at for at in range(len(stream)) if sizes[class_of[stream[at]]] > 1} <= learned
    assert all(0 <= number - at // length < LONGEST_WAIT for at, number in pairs)


@given(streams, st.integers(1, 40), st.integers(1, 30), st.data())
def test_skipping_finds_what_waited(stream: Int32Array, tokens: int, length: int, data: st.DataObject) -> None:
    class_of, sizes = (np.arange(12) % 4).astype(np.int32), np.full(4, 3)
    expected = epoch(stream, class_of, sizes, tokens, length)
    skipped = data.draw(st.integers(0, len(expected) - 1))
    resumed = WordGathering(class_of, sizes, tokens)
    resumed.skip(stream, skipped * length, length)
    for number in range(skipped, len(expected)):
        actual = resumed.next(stream, number * length, min((number + 1) * length, len(stream)))
        assert all(np.array_equal(a, b) for a, b in zip(actual, expected[number], strict=True))


def test_a_class_learns_when_it_has_enough_tokens() -> None:
    """Class 0 has 30 tokens in each minibatch, class 1 two: one learns in every other, one in every eighth."""
    stream = np.tile(np.repeat(np.array([0, 2], np.int32), [30, 2]), 40)
    class_of = np.array([0, 0, 1, 1], np.int32)
    pieces = np.array([gathered.pieces for gathered in epoch(stream, class_of, np.array([2, 2]), 60, 32)])
    assert np.flatnonzero(pieces[:, 0]).tolist() == list(range(1, 40, 2))
    assert set(pieces[:, 0]) == {0, 60 // SMALLEST_PIECE}
    assert np.flatnonzero(pieces[:, 1]).tolist() == [*range(6, 39, 8), 39]  # the end of the epoch learns what is left
    assert set(pieces[:, 1]) == {0, 1}


def test_pieces_are_no_more_than_the_minibatches_in_them() -> None:
    stream = np.zeros(1000, np.int32)
    assert [one.pieces.tolist() for one in epoch(stream, np.zeros(2, np.int32), np.array([2]), 64, 250)] == [[1]] * 4


def test_recipes() -> None:
    """The paper's is AdaGrad on plain minibatches; the default waits where there are many words to learn."""
    case = make_case("clbl++")
    default, paper = recipe("default").learning, recipe("paper").learning
    for learning in (default, paper):
        assert gathering_of_epoch(case.config, case.structure, learning) is None
    assert gathering_of_epoch(case.config, case.structure, replace(default, gather=2)) is not None
    assert [default.tokens_to_gather(case.config, words) for words in (2, 99_999, 100_000, 10**6)] == [1, 1, 64, 64]
    assert paper.tokens_to_gather(case.config, 10**6) == 1


def test_a_wide_context_or_l2_in_the_gradient_leaves_no_token_waiting() -> None:
    learning = replace(recipe("default").learning, gather=64)
    assert learning.tokens_to_gather(variant("clbl++"), 10) == 64
    assert learning.tokens_to_gather(variant("clbl++", wide=50), 10) == 1
    assert learning.tokens_to_gather(variant("lbl++"), 10) == 1
    assert replace(learning, l2_in_gradient=True).tokens_to_gather(variant("clbl++"), 10) == 1


# ---------------------------------------------------------------- what is learned


def split(case: Case, begin: int, learning: list[int], pieces: int = 1) -> tuple[Gathered, Problem]:
    """Tokens from `begin` on are the minibatch, those before have waited; some classes learn their words."""
    classes = case.structure.class_of[case.stream]
    counts = np.zeros(case.structure.classes, np.int64)
    counts[learning] = pieces
    earlier = np.flatnonzero(counts[classes[:begin]] > 0)
    earlier = earlier[np.argsort(classes[earlier], kind="stable")]
    current = np.arange(len(case.stream)) >= begin
    problem = replace(
        case.problem(), class_terms=current.astype(np.float64), word_terms=(counts[classes] > 0).astype(np.float64)
    )
    return Gathered(counts, earlier), problem


@with_classes
@both_transforms
def test_gradients_are_the_central_differences_of_the_terms_that_are_learned(
    kind: str, diagonal: bool, one: Workers
) -> None:
    """Class terms of the minibatch; word terms of two of three classes, earlier tokens among them."""
    case = make_case(kind, diagonal, words=9, width=2, tokens=24)
    learner, tables = case.learner(one, PLAIN), reference.tables_of(case.parameters)
    gathered, problem = split(case, 14, [0, 2])
    assert len(gathered.earlier) > 2
    objective = learner.step(case.stream, 14, len(case.stream), 5, gathered=gathered)
    slopes = reference.central_differences(lambda changed: -reference.objective(changed, problem), tables)
    assert max(relative_errors(reference.gradient(tables, problem), slopes).values()) < 1e-8
    errors = relative_errors(recovered(tables, learner), slopes)
    assert max(errors.values()) < FLOAT32, errors
    assert objective == pytest.approx(reference.objective(tables, problem), rel=1e-6)


@with_classes
def test_pieces_are_steps_one_after_the_other(kind: str, one: Workers) -> None:
    """Biases and surface forms follow after each piece; factors that words share learn from all of them together."""
    case = make_case(kind, words=40, width=4, tokens=120, classes=3)
    learning = replace(PLAIN, step=0.05, accumulator=0.5)
    learner, tables = case.learner(one, learning), reference.tables_of(case.parameters)
    gathered, problem = split(case, 50, [1, 2], pieces=3)
    batch = learner.plan(case.stream, 50, len(case.stream), earlier=gathered.earlier)
    tokens = learner._word_tokens(batch, gathered)
    learner.step(case.stream, 50, len(case.stream), 5, gathered=gathered)

    follows = np.zeros(len(tables["R"]), bool)
    follows[: case.structure.output.surfaces] = True
    follows[learner.local.output.shared.factors] = False
    squares = {"R": np.full_like(tables["R"], 0.5), "b": np.full_like(tables["b"], 0.5)}
    total = np.zeros_like(tables["R"])
    fixed = {name: table.copy() for name, table in tables.items()}
    for piece in range(3):
        chosen = np.zeros(len(case.stream))
        for c in (1, 2):
            rows = tokens.rows.items[tokens.rows.starts[c] : tokens.rows.starts[c + 1]]
            part = rows[len(rows) * piece // 3 : len(rows) * (piece + 1) // 3]
            assert len(part)
            chosen[50 + batch.offsets[part]] = 1
        gradient = reference.gradient(tables, replace(problem, word_terms=chosen, class_terms=np.zeros(len(chosen))))
        assert all(np.array_equal(tables[name], fixed[name]) for name in "QCSt")
        total += gradient["R"]
        for name, kept in (("R", follows[:, None]), ("b", True)):
            _adagrad(tables[name], squares[name], np.where(kept, gradient[name], 0.0), learning)
    _adagrad(tables["R"], squares["R"], np.where(follows[:, None], 0.0, total), learning)
    for name in ("R", "b"):
        assert np.abs(getattr(learner.parameters, name) - tables[name]).max() < 2e-6, name
        assert np.abs(getattr(learner.squares, name) / squares[name] - 1).max() < 2e-5, name
    assert np.abs(tables["R"] - fixed["R"])[follows].max() > 0.01


def _adagrad(table: Float64Array, squares: Float64Array, gradient: Float64Array, learning: LearningConfig) -> None:
    squares += gradient**2
    table -= learning.step * gradient / np.sqrt(squares)


@with_classes
def test_threads_change_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "SMALLEST_PIECE", 3)
    case = make_case(kind, words=60, width=5, tokens=400, classes=7)
    learning = replace(PLAIN, gather=20, prediction_dropout=0.3, surface_dropout=0.3, context_dropout=0.1)
    results = []
    for threads in (1, 2, 5):
        with workers(threads) as several:
            learner = case.learner(several, learning)
            waiting = gathering_of_epoch(case.config, case.structure, learning)
            assert waiting is not None
            for key, begin in enumerate(range(0, len(case.stream), 40)):
                end = min(begin + 40, len(case.stream))
                learner.step(case.stream, begin, end, key, gathered=waiting.next(case.stream, begin, end))
        results.append([table.tobytes() for table in (*learner.parameters, *learner.squares)])
    assert results[0] == results[1] == results[2]
