"""Models inside the decoder: every scorer says what the states of its model say, whatever the kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from morphlm.language_model.base import LanguageModel
from morphlm.language_model.batch_scorer import StateScorer, batch_scorer
from morphlm.scoring.mixture import MixtureModel, as_components, contexts_of
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.decoder.models import NO_MODEL, prepare_models
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID

from . import cases

SCORED: dict[str, Callable[[], LanguageModel]] = {
    "mkn": lambda: cases.ngram(4),
    "unigrams": lambda: cases.ngram(1),
    "clbl++": cases.logbilinear,
    "clbl of order 4": lambda: cases.logbilinear("clbl", 4, False),
    "class bigram": cases.class_bigram,
    "mixture": lambda: cases.mixture("mkn", "clbl++"),
    "mixture by n-grams": lambda: cases.mixture("clbl++", "mkn", weights_by="context"),
    "mixture by the last word": lambda: cases.mixture("clbl++", "classes", weights_by="context"),
    "mixture of a mixture": lambda: cases.mixture("mixture", "bigram", "classes", weights_by="context"),
}


def by_states(model: LanguageModel, context: list[int], word: int) -> float:
    """`context` has the nearest word first."""
    begin = context.index(BEGIN_ID) if BEGIN_ID in context else None
    state = model.begin(sentence=begin is not None)
    for before in reversed(context[:begin]):
        _, state = model.score_id(state, before)
    return model.score_id(state, word)[0]


@pytest.mark.parametrize("name", SCORED)
@pytest.mark.parametrize("megabytes", [0.0, 0.01, 8.0])
def test_a_scorer_says_what_the_states_say(name: str, megabytes: float) -> None:
    model = SCORED[name]()
    scorer = batch_scorer(model)
    cache, rng = scorer.new_cache(megabytes), np.random.default_rng(4)
    for _ in range(3):  # the caches are filled by the first
        contexts = rng.integers(UNK_ID, len(model.vocabulary), (60, scorer.order - 1)).astype(np.int32)
        contexts[contexts <= END_ID] = UNK_ID  # no mark stands inside a sentence
        for row, begin in zip(contexts, rng.integers(0, scorer.order + 1, len(contexts)), strict=True):
            row[begin:] = BEGIN_ID
        words = rng.integers(END_ID, len(model.vocabulary), 60).astype(np.int32)
        found = scorer.log_probabilities(contexts, words, cache)
        expected = [by_states(model, context, word) for context, word in zip(contexts.tolist(), words, strict=True)]
        assert found == pytest.approx(expected, abs=1e-5)


def test_a_mixture_by_the_last_word_looks_at_one_word_even_where_its_components_look_at_none() -> None:
    class Unigram(cases.ClassBigram):
        order = 1

    components = as_components([Unigram(cases.logbilinear().vocabulary, seed=seed) for seed in (1, 2)], [None, None])
    assert batch_scorer(MixtureModel(components, np.array([[0.5, 0.5]]), "none", {})).order == 1
    weights = np.tile([0.5, 0.5], (contexts_of(components, "context").buckets, 1))
    assert batch_scorer(MixtureModel(components, weights, "context", {})).order == 2


def test_states_are_cached_up_to_a_bound() -> None:
    model = cases.class_bigram()
    scorer = batch_scorer(model)
    assert isinstance(scorer, StateScorer)
    cache = scorer.new_cache(3 * 512 / (1 << 20))
    assert cache.capacity == 3
    for word in range(UNK_ID + 1, len(model.vocabulary)):
        scorer.log_probabilities(np.array([[word], [word]], np.int32), np.array([UNK_ID, END_ID], np.int32), cache)
        assert (word,) in cache.states
        assert len(cache.states) <= 3


def test_the_first_model_of_n_grams_orders_the_search() -> None:
    mixture, mkn = cases.mixture("mkn", "clbl++"), cases.ngram()
    assert prepare_models([mixture, cases.logbilinear(), mkn, cases.ngram(2)]).columns == (2, 0, 1, 3)
    stand_in = prepare_models([cases.logbilinear(), mixture])
    assert stand_in.columns == (NO_MODEL, 0, 1)
    assert len(stand_in.heuristic.bounds) == 3  # the n-grams of the mixture's component
    assert len(prepare_models([cases.class_bigram()]).heuristic.bounds) == 1  # word frequencies


def test_a_word_that_a_model_excludes_leaves_a_finite_score() -> None:
    model = cases.ClassBigram(cases.logbilinear().vocabulary)
    model.words[model.vocabulary.ids["w0"]] = 0.0
    translation = Decoder([model], {"LM0": 1.0}).decode(["a"], cases.table(("a", "w0", 0.0)))
    assert -1000 < translation.features["LM0"] < -200
