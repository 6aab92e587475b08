"""The neural cache: by its equation, in texts and states, fixed by a text, saved, and that it never looks ahead."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import morphlm
from morphlm.arrays import Int32Array
from morphlm.cache.config import NeuralCacheConfig
from morphlm.cache.frozen_neural import FrozenNeuralCache
from morphlm.cache.neural import NeuralCacheModel, NeuralState, neural_cache_from_files
from morphlm.cache.states import CacheState
from morphlm.errors import ConfigError, FormatError, StateError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.wrapped import WrappedModel
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.modelfile import read_model
from morphlm.scoring.caching import fit_cache
from morphlm.scoring.spelled import with_spelling
from morphlm.translation.decoder.models import prepare_models
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID
from tests.segmentation.small import KNOWN
from tests.training.small import sentences

from .small import encoded, ngrams, small_neural_cache, wide_model

tokens = st.lists(st.integers(0, len(KNOWN) + 2).filter(lambda word: word != BEGIN_ID), min_size=1, max_size=40)
ids = tokens.map(lambda words: np.array([*words, END_ID], np.int32))
SHAPES: list[dict[str, Any]] = [
    {},
    {"decay": 0.0},
    {"decay": 1.0},
    {"sharpness": 0.0},
    {"window": 1},
    {"cache_unknown": True},
    {"share": 0.0},
]


@cache
def narrow_model() -> LogBilinearModel:
    """Without wide contexts: what a wide model is before any text."""
    narrow = wide_model().after_text([])
    assert isinstance(narrow, LogBilinearModel)
    return narrow


def plain_logprobs(model: NeuralCacheModel, text: Int32Array) -> list[float]:
    """By the equation, from the model's own predictions and probabilities."""
    config = model.config
    vectors = model.model.predictions(text).astype(np.float64) - model.centre
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    plain, result, start = np.exp(model.model.score_tokens(text)), [], 0
    for i, word in enumerate(text.tolist()):
        total = same = 0.0
        for k in range(max(0, start - config.window), start):
            other = int(text[k])
            if other == END_ID or (other == UNK_ID and not config.cache_unknown):
                continue
            weight = config.decay ** (start - 1 - k) * math.exp(config.sharpness * (vectors[i] @ vectors[k] - 1))
            total, same = total + weight, same + weight * (other == word)
        g = config.share * total / (total + config.half)
        result.append(math.log((1 - g) * plain[i] + (g * same / total if total else 0.0)))
        start = i + 1 if word == END_ID else start
    return result


@given(text=ids, shape=st.sampled_from(SHAPES))
def test_texts_have_the_scores_of_the_equation(text: Int32Array, shape: dict[str, Any]) -> None:
    model = small_neural_cache(**shape)
    assert model.score_tokens(text) == pytest.approx(plain_logprobs(model, text), abs=2e-5)


@pytest.mark.parametrize("inner", [wide_model, narrow_model])
def test_texts_states_batches_and_distributions_agree(inner: Any) -> None:
    model = small_neural_cache(inner())
    text = encoded(sentences(14, 3), model)
    states: list[Any] = [model.begin()]
    one_by_one = []
    for word in text.tolist():
        logprob, state = model.score_id(states[-1], word)
        one_by_one.append(logprob)
        states.append(model.next_sentence(state) if word == END_ID else state)
    assert model.score_tokens(text) == pytest.approx(one_by_one, abs=1e-9)
    logprobs, after = model.score_many(states[:-1], text)
    assert logprobs == pytest.approx(one_by_one, abs=1e-9)
    assert after[0] == states[1]
    distributions = model.distributions(states[:-1])
    assert distributions.sum(axis=1) == pytest.approx(np.ones(len(text)), abs=1e-6)
    assert (distributions[:, BEGIN_ID] == 0).all()
    assert np.log(distributions[np.arange(len(text)), text]) == pytest.approx(one_by_one, abs=1e-5)
    grid = model.score_grid(states[:3], np.arange(3, 60 if len(model.vocabulary) > 60 else len(model.vocabulary)))
    assert grid == pytest.approx(np.log(distributions[:3, 3 : grid.shape[1] + 3]), abs=1e-5)


@given(data=st.data(), text=ids)
def test_no_score_depends_on_a_later_token(data: st.DataObject, text: Int32Array) -> None:
    model = small_neural_cache(cache_unknown=True)
    position = data.draw(st.integers(0, len(text) - 1))
    size = len(text) - position
    changed = data.draw(st.lists(st.integers(2, 20), min_size=size, max_size=size))
    other = np.concatenate([text[:position], np.array(changed, np.int32)])
    assert model.score_tokens(other)[:position] == pytest.approx(model.score_tokens(text)[:position], abs=1e-12)


def test_threads_and_long_texts_change_nothing() -> None:
    """Long texts are scored by several threads, and in blocks."""
    model = small_neural_cache()
    text = encoded(sentences(9000, 7), model)
    assert len(text) > 1 << 15
    whole = model.score_tokens(text)
    model.model.threads = 1
    try:
        assert np.array_equal(model.score_tokens(text), whole)
    finally:
        model.model.threads = None
    starts = np.flatnonzero(text == END_ID)[[700, 3000, 8000]] + 1
    for start in starts.tolist():
        part = model.score_tokens(text[start - 60 : start + 8])
        assert part[-8:] == pytest.approx(whole[start : start + 8], abs=1e-9)


def test_unknown_words_are_composed_by_the_model_and_unknown_to_the_cache() -> None:
    model = small_neural_cache()
    text = [["domou", "škola"], ["domou", "domou"], ["škola"]]
    composed = model.score_text(text, unknown_contexts="composed").logprobs
    state, expected = model.begin(unknown_contexts="composed"), []
    for sentence in text:
        for word in sentence:
            logprob, state = model.score(state, word)
            expected.append(logprob)
        logprob, state = model.score_id(state, END_ID)
        expected.append(logprob)
        state = model.next_sentence(state)
    assert composed == pytest.approx(expected, abs=1e-6)
    assert not np.allclose(composed, model.score_text(text).logprobs)


# ---------------------------------------------------------------- fixed by a text


@pytest.mark.parametrize("inner", [wide_model, narrow_model])
def test_after_a_text_states_are_those_of_the_model(inner: Any) -> None:
    model, before = small_neural_cache(inner()), sentences(6, 5)
    fixed, history = model.after_text(before), encoded(before, model)
    expected = model.score_tokens(np.concatenate([history, encoded([["škola", "domu"]], model)]))[len(history) :]
    got = fixed.score_tokens(encoded([["škola", "domu"]], model))
    assert got[0] == pytest.approx(expected[0], abs=1e-5)
    if not model.model.reach:  # a wide context that is fixed does not see the words of the sentence
        assert got == pytest.approx(expected, abs=1e-5)
    state = fixed.begin()
    assert len(state) == fixed.order - 1
    assert fixed.distribution(state).sum() == pytest.approx(1, abs=1e-6)
    logprobs, after = fixed.score_many([state, state], ["škola", "domu"])
    for k, word in enumerate(["škola", "domu"]):
        assert fixed.score(state, word) == (pytest.approx(logprobs[k], abs=1e-12), after[k])
    again = pickle.loads(pickle.dumps(fixed))
    assert np.array_equal(again.distribution(state), fixed.distribution(state))


def test_after_no_text_it_is_the_model_without_a_cache() -> None:
    fixed = small_neural_cache().after_text([])
    assert isinstance(fixed, LogBilinearModel)
    assert np.array_equal(fixed.distribution(fixed.begin()), narrow_model().distribution(narrow_model().begin()))


def test_classes_and_vectors_are_those_of_the_model_in_it() -> None:
    model = small_neural_cache()
    fixed = model.after_text([["škola"]])
    assert isinstance(fixed, FrozenNeuralCache)
    for cached in (model, fixed, with_spelling(model)):
        assert isinstance(cached, WrappedModel)
        assert cached.partition is cached.model.partition is not None
        assert cached.vectors is cached.model.vectors
        assert cached.composes_contexts is cached.model.composes_contexts is True


def test_what_is_fixed_by_a_text_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not written"):
        small_neural_cache().after_text([["škola"]]).save(tmp_path / "fixed")
    assert not (tmp_path / "fixed").exists()


def test_translation_decoders_take_it_alone_and_in_mixtures() -> None:
    model = small_neural_cache()
    mixture = morphlm.mix([ngrams(), model], sentences(30, 2))
    for fixed in (model.after_text(sentences(4, 5)), mixture.after_text(sentences(4, 5))):
        (asked,) = prepare_models([fixed]).scorers
        contexts = np.full((2, asked.order - 1), BEGIN_ID, np.int32)
        words = np.array([5, 6], np.int32)
        logprobs = asked.log_probabilities(contexts, words, asked.new_cache(1))
        assert logprobs == pytest.approx([fixed.score_id(fixed.begin(), word)[0] for word in (5, 6)], abs=1e-6)


def test_compiled_files_have_the_model_without_a_cache_or_are_refused(tmp_path: Path) -> None:
    mixture = morphlm.mix([ngrams(), small_neural_cache()], sentences(30, 2))
    morphlm.export_compiled(mixture, tmp_path / "model")
    compiled, fixed = morphlm.load(tmp_path / "model"), mixture.after_text([])
    text = encoded(sentences(5, 4), mixture)
    assert compiled.score_tokens(text) == pytest.approx(fixed.score_tokens(text), abs=1e-5)
    with pytest.raises(ConfigError, match="neural cache"):
        morphlm.export_compiled(mixture, tmp_path / "other", after=sentences(4, 5))
    assert not (tmp_path / "other").exists()


# ---------------------------------------------------------------- separate sentences


def test_separate_sentences_may_come_after_one_text() -> None:
    model, before, text = small_neural_cache(), sentences(6, 5), sentences(4, 4)
    alone = np.concatenate([model.score_tokens(encoded([sentence], model)) for sentence in text])
    assert model.score_sentences(encoded(text, model)) == pytest.approx(alone, abs=1e-6)
    history = encoded(before, model)
    expected = [model.score_tokens(encoded([*before, sentence], model))[len(history) :] for sentence in text]
    got = model.score_sentences(encoded(text, model), after=history)
    assert got == pytest.approx(np.concatenate(expected), abs=1e-9)


# ---------------------------------------------------------------- files, other processes


def test_saving_and_pickling_change_nothing(tmp_path: Path) -> None:
    model = small_neural_cache()
    text = encoded(sentences(8, 3), model)
    by_content = pickle.loads(pickle.dumps(model))
    model.save(tmp_path / "cached")
    loaded = morphlm.load(tmp_path / "cached")
    for other in (by_content, loaded, pickle.loads(pickle.dumps(loaded))):
        assert isinstance(other, NeuralCacheModel)
        assert other.config == model.config
        assert np.array_equal(other.score_tokens(text), model.score_tokens(text))
    mixed = morphlm.mix([ngrams(), loaded], sentences(30, 2), tmp_path / "mixture")
    again = morphlm.load(tmp_path / "mixture")
    assert again.score_tokens(text) == pytest.approx(mixed.score_tokens(text), abs=1e-9)
    assert again.vectors["škola"].shape == (2 * 6,)


def test_a_cache_of_another_width_is_refused(tmp_path: Path) -> None:
    model = small_neural_cache()
    model.save(tmp_path / "cached")
    files = read_model(tmp_path / "cached")
    other = replace(files, tensors={"centre": np.zeros(7, np.float32)})
    with pytest.raises(FormatError, match="does not fit"):
        neural_cache_from_files(tmp_path / "cached", other)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: (),
        tuple,
        lambda state: state._replace(inner=5),
        lambda state: state._replace(cache=((), ())),
        lambda state: state._replace(cache=CacheState((999,), ())),
        lambda state: state._replace(cache=CacheState((), (-1,))),
    ],
)
def test_what_is_no_state_is_refused(change: Any) -> None:
    model = small_neural_cache()
    state = change(model.begin())
    asks: list[Callable[[], Any]] = [
        lambda: model.score_id(state, 5),
        lambda: model.distribution(state),
        lambda: model.next_sentence(state),
    ]
    asks += [lambda: model.score(state, "škola"), lambda: model.score_many([state], [5])]
    for ask in asks:
        with pytest.raises(StateError):
            ask()
    assert isinstance(model.begin(), NeuralState)


# ---------------------------------------------------------------- fitting


def test_fitting_finds_that_sentences_come_again() -> None:
    """Where every sentence is said twice, the cache is used, forgets quickly, and lowers the perplexity."""
    rng = np.random.default_rng(5)
    drawn = [[KNOWN[k] for k in rng.integers(0, len(KNOWN), 5)] for _ in range(60)]
    text = encoded([sentence for sentence in drawn for _ in range(2)], wide_model())
    model = fit_cache(wide_model(), text, NeuralCacheConfig(window=30))
    assert model.config.share > 0.2
    assert model.config.decay < 1
    assert model.score_tokens(text).mean() > wide_model().score_tokens(text).mean() + 0.1
    assert fit_cache(wide_model(), text, NeuralCacheConfig(window=30)).config == model.config


def test_only_log_bilinear_models_have_predictions() -> None:
    with pytest.raises(ConfigError, match="log-bilinear"):
        morphlm.add_cache(ngrams(), sentences(5, 2))


def test_the_signature_names_model_and_cache() -> None:
    signature = small_neural_cache().signature
    assert signature.value("model") == "neural-cache(clbl++)"
    assert (signature.value("window"), signature.value("decay"), signature.value("cached")) == ("9", "0.8", "words")
    models: list[LanguageModel] = [small_neural_cache(), small_neural_cache(cache_unknown=True)]
    assert models[1].signature.value("cached") == "words+unk"
