"""The wide context: the words of the text before, across sentences, against the float64 reference."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import morphlm
from morphlm.errors import ConfigError, InputError
from morphlm.logbilinear import wide
from morphlm.logbilinear.config import variant
from morphlm.logbilinear.engine import Engine
from morphlm.logbilinear.kernels.wide import TokenOrigin
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.states import WideState
from morphlm.logbilinear.wide import content_weights
from morphlm.scoring.streaming import TextScorer
from morphlm.threads import Workers, workers
from morphlm.training.batches import shuffled_positions
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID

from . import reference
from .cases import PLAIN, Case, NoiseRecorder, make_case, recovered, relative_errors, with_noise

DROPOUT = replace(PLAIN, surface_dropout=0.4, context_dropout=0.3, prediction_dropout=0.25)


@pytest.fixture(autouse=True)
def content(monkeypatch: pytest.MonkeyPatch) -> None:
    """In these small vocabularies every word is frequent."""
    monkeypatch.setattr(wide, "CONTENT", 0.1)


def wide_case(kind: str = "clbl++", diagonal: bool = True, *, words: int = 9, tokens: int = 30, reach: int = 5) -> Case:
    case = make_case(kind, diagonal, words=words, width=2, tokens=tokens)
    config = replace(case.config, wide=reach, wide_decay=0.8)
    return replace(case, config=config, parameters=initial_parameters(config, case.structure, 3, 0.7))


def problem_at(case: Case, stream: np.ndarray, begin: int, end: int, origin: TokenOrigin) -> reference.Problem:
    problem = reference.problem_of(case.config, case.structure, stream.tolist(), begin, end)
    weights = content_weights(case.structure).astype(np.float64)
    return reference.with_wide(problem, weights, origin.text.tolist(), origin.positions[begin:end].tolist())


@pytest.mark.parametrize("kind", ["clbl", "clbl++", "lbl+c", "lbl+o"])
@pytest.mark.parametrize("diagonal", [True, False], ids=["diagonal", "full"])
@pytest.mark.parametrize("learning", [PLAIN, DROPOUT], ids=["plain", "dropout"])
def test_gradients_are_the_central_differences(
    kind: str, diagonal: bool, learning: object, one: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(learning, type(PLAIN))
    case = wide_case(kind, diagonal)
    origin = TokenOrigin(case.stream, shuffled_positions(case.stream, 1, 0))
    stream, begin, end = case.stream[origin.positions], 3, len(case.stream) - 4
    recorder = NoiseRecorder(monkeypatch)
    learner = case.learner(one, learning)
    objective = learner.step(stream, begin, end, 7, origin)
    problem = reference.with_dropout(problem_at(case, stream, begin, end, origin), case.structure, learning, 7)
    if not case.config.classes:
        problem = with_noise(problem, case, recorder.drawn[-1], learning)
    tables = reference.tables_of(case.parameters)
    assert objective == pytest.approx(reference.objective(tables, problem), rel=1e-5)
    slopes = reference.central_differences(lambda changed: -reference.objective(changed, problem), tables)
    errors = relative_errors(recovered(tables, learner), slopes)
    assert max(errors.values()) < 1e-5, errors


@given(st.integers(1, 12), st.integers(1, 40), st.integers(0, 3))
def test_evaluation_is_the_definition_however_the_text_is_cut(reach: int, cut: int, seed: int) -> None:
    case = wide_case(reach=reach, tokens=40)
    stream = np.random.default_rng(seed).permutation(case.stream)
    stream = np.append(stream, case.stream[-1])
    problem = problem_at(case, stream, 0, len(stream), TokenOrigin(stream, np.arange(len(stream))))
    expected = reference.log_probabilities(reference.tables_of(case.parameters), problem)
    with workers(1) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setattr("morphlm.logbilinear.engine.EVALUATED_TOKENS", cut)
        actual = Engine(case.config, case.structure, case.parameters, pool).log_probabilities(stream)
    np.testing.assert_allclose(actual, expected, atol=1e-5)


def test_threads_change_nothing() -> None:
    case = wide_case("clbl++", words=40, tokens=400, reach=20)
    origin = TokenOrigin(case.stream, shuffled_positions(case.stream, 2, 1))
    stream, tables = case.stream[origin.positions], []
    for threads in (1, 2, 3):
        with workers(threads) as pool:
            learner = case.learner(pool, replace(DROPOUT, accumulator=1.0))
            for begin in (0, 150):
                learner.step(stream, begin, begin + 150, begin, origin)
            tables.append(learner.parameters)
    for other in tables[1:]:
        for one, two in zip(tables[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_the_text_before_a_minibatch_counts(one: Workers) -> None:
    case = wide_case()
    changed = case.stream.copy()
    at = int(np.flatnonzero(changed > 2)[1])
    changed[at] = 3 if changed[at] != 3 else 4
    end = int(np.flatnonzero(changed[at:] == case.stream[-1])[0]) + at + 1  # the end of that sentence
    before, after = (
        Engine(case.config, case.structure, case.parameters, one).log_probabilities(text)
        for text in (case.stream, changed)
    )
    assert not np.allclose(before[end : end + 2], after[end : end + 2], atol=1e-4)  # the next sentence has seen it
    far = at + case.config.wide + 1
    np.testing.assert_allclose(before[max(far, end) :], after[max(far, end) :], atol=1e-6)


def test_frequent_words_and_marks_count_little() -> None:
    case = wide_case(words=12, tokens=200)
    weights = content_weights(case.structure)
    counts = case.structure.vocabulary.counts
    assert (weights[:3] == 0).all()
    seen = np.flatnonzero(counts[3:]) + 3
    shares = counts[seen] / counts.sum()
    np.testing.assert_allclose(weights[seen], np.minimum(1, np.sqrt(0.1 / shares)), rtol=1e-6)


def trained_like(case: Case) -> LogBilinearModel:
    return LogBilinearModel(case.config, case.structure, case.parameters, {"seed": 1})


@pytest.mark.parametrize("kind", ["clbl++", "lbl"])
@pytest.mark.parametrize("diagonal", [True, False], ids=["diagonal", "full"])
def test_states_give_the_scores_of_the_text(kind: str, diagonal: bool) -> None:
    case = wide_case(kind, diagonal)
    model = trained_like(case)
    expected, state = model.score_tokens(case.stream), model.begin()
    for word, logprob in zip(case.stream.tolist(), expected, strict=True):
        distribution = model.distribution(state)
        assert distribution.sum() == pytest.approx(1, abs=1e-6)
        assert np.log(distribution[word]) == pytest.approx(logprob, abs=1e-5)
        actual, state = model.score_id(state, word)
        assert actual == pytest.approx(logprob, abs=1e-5)
        assert isinstance(state, WideState)
        assert len(state.before) <= model.reach == case.config.wide
        if word == END_ID:
            state = model.next_sentence(state)
    assert hash(state) == hash(model.next_sentence(state))
    assert model.score_id(state, BEGIN_ID)[0] == -np.inf


def test_states_with_the_same_future_are_equal() -> None:
    model = trained_like(wide_case(reach=3))
    states = []
    for words in ([UNK_ID, 4, 5], [END_ID, END_ID, 4, 5], [4, 5]):  # marks and UNK count nothing in wide contexts
        state = model.begin()
        for word in words:
            state = model.score_id(state, word)[1]
        states.append(model.next_sentence(state))
    assert states[0] == states[1] == states[2]
    assert len({hash(state) for state in states}) == 1


@pytest.mark.parametrize("kind", ["clbl++", "lbl+c"])
@pytest.mark.parametrize("diagonal", [True, False], ids=["diagonal", "full"])
def test_a_model_after_a_text_has_its_wide_context_fixed(kind: str, diagonal: bool) -> None:
    case = wide_case(kind, diagonal)
    model = trained_like(case)
    sentences = [[model.vocabulary.words[word] for word in ids] for ids in ((5, 3), (7, 4), (), (8,))]
    fixed = model.after_text(sentences)
    state, plain = model.begin(), fixed.begin()
    for sentence in sentences:
        for word in (*sentence, "</s>"):
            state = model.score(state, word)[1]
        state = model.next_sentence(state)
    np.testing.assert_allclose(fixed.distribution(plain), model.distribution(state), atol=1e-6)
    assert plain == (BEGIN_ID,) * 3
    assert fixed.reach == 0
    assert fixed.signature.value("wide") == f"fixed{case.config.wide}"
    assert trained_like(replace(case, config=case.config)).after_text([]).reach == 0
    with pytest.raises(InputError, match="<sentences>:1: a sentence is a list of tokens, not a string; split it"):
        model.after_text(["word"])
    logprobs = fixed.score_tokens(case.stream)  # every sentence after the same text
    one = len(logprobs[: int(np.flatnonzero(case.stream == END_ID)[0]) + 1])
    by_states, now = [], fixed.begin()
    for word in case.stream[:one].tolist():
        logprob, now = fixed.score_id(now, word)
        by_states.append(logprob)
    np.testing.assert_allclose(logprobs[:one], by_states, atol=1e-5)


def test_a_mixture_looks_back_as_far_as_its_components() -> None:
    case = wide_case()
    model = trained_like(case)
    pieces = np.split(case.stream, np.flatnonzero(case.stream == END_ID) + 1)[:-1]
    sentences = [[model.vocabulary.words[word] for word in piece[:-1]] for piece in pieces]
    known = [[word for word in sentence if word != "<unk>"] for sentence in sentences]
    grams = morphlm.train_ngram(known, order=2, vocabulary=model.vocabulary)
    mixture = morphlm.mix([grams, model], weights=[0.3, 0.7])
    assert mixture.reach == case.config.wide
    expected, state, actual = mixture.score_tokens(case.stream), mixture.begin(), []
    for word in case.stream.tolist():
        logprob, state = mixture.score_id(state, word)
        actual.append(logprob)
        state = mixture.next_sentence(state) if word == END_ID else state
    np.testing.assert_allclose(actual, expected, atol=1e-5)
    fixed = mixture.after_text(sentences)
    assert fixed.reach == 0
    np.testing.assert_allclose(fixed.distribution(fixed.begin()), mixture.distribution(state), atol=1e-6)


def test_a_saved_model_is_the_same(tmp_path: Path) -> None:
    case = wide_case()
    model = trained_like(case)
    model.save(tmp_path / "m")
    loaded = morphlm.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.score_tokens(case.stream), model.score_tokens(case.stream))
    assert loaded.signature.value("wide") == str(case.config.wide)


@given(st.lists(st.integers(0, 8).filter(lambda word: word not in (BEGIN_ID, END_ID)), max_size=25), st.integers(1, 6))
def test_text_that_arrives_in_pieces_is_one_text(words: list[int], size: int) -> None:
    model = trained_like(wide_case())
    sentences = [words[at : at + size] for at in range(0, len(words), size)] or [[]]
    tokens = [[*(model.vocabulary.words[word].encode() for word in s if word), b"</s>"] for s in sentences]
    together = TextScorer(model)([token for sentence in tokens for token in sentence]).logprobs
    scorer = TextScorer(model)
    pieces = np.concatenate([scorer(sentence).logprobs for sentence in tokens])
    np.testing.assert_allclose(pieces, together, atol=1e-5)
    alone = TextScorer(model, separate=True)([token for sentence in tokens for token in sentence]).logprobs
    expected = np.concatenate([TextScorer(model)(sentence).logprobs for sentence in tokens])
    np.testing.assert_allclose(alone, expected, atol=1e-5)


@pytest.mark.parametrize("wrong", [{"wide": -1}, {"wide_decay": 0.0}, {"wide_decay": 1.1}])
def test_what_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        replace(variant("clbl"), **wrong)  # type: ignore[arg-type]
