"""Calls for many states at once agree with single ones, for every model; states with an empty context."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from morphlm.language_model.base import LanguageModel
from morphlm.scoring.mixing import mix
from tests.scoring.models import small_model, wide_model
from tests.training.small import sentences


def _mixture() -> LanguageModel:
    return mix([small_model("clbl++"), small_model("lbl")], sentences(20, 3))


MODELS: dict[str, Callable[[], LanguageModel]] = {
    "mkn": lambda: small_model("mkn"),
    "clbl++": lambda: small_model("clbl++"),
    "wide": wide_model,
    "mixture": _mixture,
}


@pytest.fixture(params=MODELS, scope="module")
def model(request: pytest.FixtureRequest) -> LanguageModel:
    return MODELS[request.param]()


def _states(model: LanguageModel) -> list[object]:
    states = [model.begin(), model.begin(sentence=False)]
    for word in sentences(1, 5)[0]:
        states.append(model.score(states[-1], word)[1])
    return states


def test_many_are_scored_as_one_by_one(model: LanguageModel) -> None:
    states = _states(model)
    words = np.arange(2, 2 + len(states), dtype=np.int32)
    logprobs, after = model.score_many(states, words)
    for state, word, logprob, next_state in zip(states, words.tolist(), logprobs, after, strict=True):
        assert (float(logprob), next_state) == model.score_id(state, word)


def test_the_grid_and_the_distributions_agree_with_single_scores(model: LanguageModel) -> None:
    states, words = _states(model), [2, 5, 3]
    grid, distributions = model.score_grid(states, words), model.distributions(states)
    assert grid.shape == (len(states), 3)
    assert distributions.sum(axis=1) == pytest.approx(np.ones(len(states)), abs=1e-6)
    for row, state in zip(grid, states, strict=True):
        assert row == pytest.approx([model.score_id(state, word)[0] for word in words], abs=1e-5)


def test_top_words_are_the_largest_of_the_distribution(model: LanguageModel) -> None:
    (ranked,) = model.top_words([model.begin()], 5)
    distribution = model.distribution(model.begin())
    best = sorted(range(len(distribution)), key=lambda word: (-distribution[word], word))[:5]
    assert [word for word, _ in ranked] == [model.vocabulary.words[word] for word in best]
    assert [math.exp(logprob) for _, logprob in ranked] == pytest.approx(distribution[best])
    (everything,) = model.top_words([model.begin()], 10**6)
    assert len(everything) == int((distribution > 0).sum())


def test_no_states_give_no_rows(model: LanguageModel) -> None:
    assert model.distributions([]).shape == (0, len(model.vocabulary))
    assert model.score_grid([], [1, 2]).shape == (0, 2)
    assert model.score_many([], [])[1] == []


def test_a_state_without_a_sentence_is_not_its_start(model: LanguageModel) -> None:
    nothing = model.begin(sentence=False)
    assert nothing != model.begin()
    assert model.distribution(nothing).sum() == pytest.approx(1.0, abs=1e-6)


def test_the_empty_context_of_ngrams_is_that_of_unigrams() -> None:
    model = small_model("mkn")
    after_unseen = model.score(model.begin(sentence=False), "never-seen")[1]
    assert model.distribution(after_unseen) == pytest.approx(model.distribution(model.begin(sentence=False)))
