"""Caches: what they are, how they look at the text before, and that they never look ahead."""

from __future__ import annotations

import math
import pickle
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import morphlm
from morphlm.arrays import Int32Array
from morphlm.cache.config import CacheConfig, Unit
from morphlm.cache.kernels.words import CacheTables
from morphlm.cache.model import CacheModel
from morphlm.cache.states import CacheState
from morphlm.cache.units import Units, background_of, units_problem, word_units, word_weights
from morphlm.errors import ConfigError, StateError
from morphlm.language_model.base import LanguageModel
from morphlm.scoring.streaming import TextScorer
from morphlm.text.reading import END
from morphlm.translation.decoder.models import prepare_models
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID
from tests.segmentation.small import KNOWN, vocabulary
from tests.training.small import sentences

from .small import UNITS, encoded, mixture, ngrams, small_cache, wide_model

units = pytest.mark.parametrize("unit", UNITS)
tokens = st.lists(st.integers(0, len(KNOWN) + 2).filter(lambda word: word != BEGIN_ID), min_size=1, max_size=40)
ids = tokens.map(lambda words: np.array([*words, END_ID], np.int32))


def plain_logprobs(model: CacheModel, text: Int32Array) -> list[float]:
    """By the equation, without any of the model's arrays but the units."""
    counted, units = model.weights, model.units
    background, size = background_of(model.vocabulary), len(model.vocabulary)
    shares, emissions = np.zeros((size, units.size)), np.zeros((size, units.size))
    for word in range(size):
        for entry in range(units.starts[word], units.starts[word + 1]):
            shares[word, units.items[entry]] += units.shares[entry]
            emissions[word, units.items[entry]] += units.emissions[entry]
    kernel = shares @ emissions.T  # K(w | v) at [v, w]
    logprobs, start = [], 0
    for position, word in enumerate(text.tolist()):
        history = text[:start].tolist()[::-1][: model.window]
        weights = [model.config.decay**k * counted[other] for k, other in enumerate(history)]
        mass = sum(weight * kernel[other, word] for weight, other in zip(weights, history, strict=True))
        mu = model.config.background
        p = (mass + mu * background[word]) / (sum(weights) + mu)
        logprobs.append(math.log(p) if p else -math.inf)
        start = position + 1 if word == END_ID else start
    return logprobs


@given(ids, st.sampled_from(UNITS), st.sampled_from([0.0, 0.5, 0.9, 1.0]), st.sampled_from([1, 3, 50]), st.booleans())
def test_texts_have_the_scores_of_the_equation(
    text: Int32Array, unit: Unit, decay: float, window: int, unknown: bool
) -> None:
    model = small_cache(unit, decay=decay, window=window, unknown=unknown)
    assert model.score_tokens(text) == pytest.approx(plain_logprobs(model, text), rel=1e-10)


def test_a_word_that_was_seen_is_likelier_in_the_next_sentence_only() -> None:
    model = small_cache(decay=0.5, background=2.0)
    a, b = model.vocabulary.encode(["škola", "domu"]).tolist()
    background, counted = background_of(model.vocabulary), model.weights
    text = np.array([a, a, END_ID, a, b, END_ID], np.int32)
    # The first sentence has no text before it. For the second, END is at distance 1, then come a and a.
    total = (0.5 + 0.25) * counted[a]
    expected = [background[a], background[a], background[END_ID]]
    expected += [(total + 2 * background[a]) / (total + 2), *(2 * background[[b, END_ID]] / (total + 2))]
    assert np.exp(model.score_tokens(text)) == pytest.approx(expected, rel=1e-12)


def test_a_stem_seen_lately_raises_its_other_forms() -> None:
    model = small_cache("morphemes")
    before, after = model.begin(), CacheState(tuple(model.vocabulary.encode([END, "škola"]).tolist()), ())
    gain = model.distribution(after) / np.maximum(model.distribution(before), 1e-300)
    raised = {model.vocabulary.words[word] for word in np.flatnonzero(gain > 1)}
    assert raised == {"škola", "školu", "školou", "školy", "školem"}


def test_factors_without_labels_are_all_shared() -> None:
    model = small_cache("morphemes", source="ngrams")
    assert units_problem(model.units, model.weights) == ""
    assert model.units.size > len({"škol", "dom", "řek", "ulic", "pol", "měst"})


@units
@given(text=ids)
def test_distributions_sum_to_1_and_never_predict_the_begin(unit: Unit, text: Int32Array) -> None:
    model = small_cache(unit, unknown=True)
    distribution = model.distribution(CacheState(tuple(text[::-1][: model.window].tolist()), ()))
    assert distribution.sum() == pytest.approx(1, abs=1e-12)
    assert distribution[BEGIN_ID] == 0
    assert distribution.min() >= 0


# ---------------------------------------------------------------- the ways to ask


def _by_states(model: LanguageModel, text: Int32Array) -> list[float]:
    logprobs, state = [], model.begin()
    for word in text.tolist():
        logprob, state = model.score_id(state, word)
        logprobs.append(logprob)
        state = model.next_sentence(state) if word == END_ID else state
    return logprobs


@pytest.mark.parametrize("name", [*UNITS, "mixture"])
def test_texts_states_batches_and_distributions_agree(name: str) -> None:
    model = mixture() if name == "mixture" else small_cache(name)  # type: ignore[arg-type]
    text = encoded(sentences(12, 3), model)
    expected = model.score_tokens(text)
    assert _by_states(model, text) == pytest.approx(expected, abs=1e-6 if name == "mixture" else 1e-12)
    states = [model.begin()]
    for word in text.tolist():
        _, state = model.score_id(states[-1], word)
        states.append(model.next_sentence(state) if word == END_ID else state)
    one_by_one = np.array([model.score_id(state, word)[0] for state, word in zip(states, text.tolist(), strict=False)])
    logprobs, after = model.score_many(states[:-1], text)
    grid = model.score_grid(states[:-1], np.arange(len(model.vocabulary)))
    rows = np.arange(len(text))
    assert logprobs == pytest.approx(one_by_one, abs=1e-9)
    assert grid[rows, text] == pytest.approx(one_by_one, abs=1e-9)
    assert np.log(model.distributions(states[:-1])[rows, text]) == pytest.approx(one_by_one, abs=1e-9)
    assert after[0] == states[1]


@units
@given(data=st.data(), text=ids)
def test_no_score_depends_on_a_later_token(unit: Unit, data: st.DataObject, text: Int32Array) -> None:
    model = small_cache(unit, unknown=True)
    position = data.draw(st.integers(0, len(text) - 1))
    other = text.copy()
    other[position:] = data.draw(
        st.lists(
            st.integers(0, 20).filter(lambda w: w != BEGIN_ID),
            min_size=len(text) - position,
            max_size=len(text) - position,
        )
    )
    same = model.score_tokens(text)[:position]
    assert np.array_equal(model.score_tokens(other)[:position], same)


def test_no_score_of_a_mixture_depends_on_a_later_token() -> None:
    model = mixture()
    text = encoded(sentences(20, 5), model)
    scores, rng = model.score_tokens(text), np.random.default_rng(1)
    for position in range(1, len(text), 3):
        other = text.copy()
        other[position:] = rng.permutation(other[position:])
        other[position] = UNK_ID if text[position] != UNK_ID else END_ID
        assert model.score_tokens(other)[:position] == pytest.approx(scores[:position], abs=1e-12)
        assert model.score_tokens(text[:position]) == pytest.approx(scores[:position], abs=1e-12)


def test_a_text_that_goes_on_is_the_whole_text() -> None:
    """What is kept of a text between blocks is enough, whatever the blocks are."""
    model, text = small_cache(window=7), sentences(15, 8)
    lines = [[token.encode() for token in (*sentence, END)] for sentence in text]
    expected = model.score_tokens(encoded(text, model))
    for size in (1, 2, 5):
        scorer = TextScorer(model)
        blocks = [list(chain(*lines[begin : begin + size])) for begin in range(0, len(lines), size)]
        assert np.concatenate([scorer(block).logprobs for block in blocks]) == pytest.approx(expected, abs=1e-12)


# ---------------------------------------------------------------- limits


@units
def test_without_a_text_before_there_are_word_frequencies_only(unit: Unit) -> None:
    model = small_cache(unit)
    assert model.distribution(model.begin()) == pytest.approx(background_of(model.vocabulary), rel=1e-12)
    assert model.distribution(model.begin(sentence=False)) == pytest.approx(background_of(model.vocabulary), rel=1e-12)


def test_decay_0_looks_at_the_last_token_alone() -> None:
    model = small_cache(decay=0.0)
    a, b = model.vocabulary.encode(["škola", "domu"]).tolist()
    one, two = model.distribution(CacheState((a,), ())), model.distribution(CacheState((a, b), ()))
    assert np.array_equal(one, two)
    assert one[a] > background_of(model.vocabulary)[a]
    # The last token of a text before is the end of a sentence, of which nothing is known.
    assert np.array_equal(model.distribution(CacheState((END_ID, a, b), ())), model.distribution(model.begin()))


def test_decay_1_counts_the_words_of_the_window_alike() -> None:
    model = small_cache(decay=1.0, window=4)
    a, b, c = model.vocabulary.encode(["škola", "domu", "řeky"]).tolist()
    forwards, backwards = (
        model.distribution(CacheState((a, b, c, c), ())),
        model.distribution(CacheState((c, b, c, a), ())),
    )
    assert forwards == pytest.approx(backwards, rel=1e-12)
    long_ago = np.array([a, END_ID, b, b, b, END_ID, c, END_ID], np.int32)
    assert model.score_tokens(long_ago)[-2:] == pytest.approx(model.score_tokens(long_ago[2:])[-2:], rel=1e-12)


def test_unknown_words_count_only_if_they_are_asked_for() -> None:
    history = CacheState((UNK_ID,), ())
    without, counting = small_cache(), small_cache(unknown=True)
    assert np.array_equal(without.distribution(history), without.distribution(without.begin()))
    gain = counting.distribution(history) / np.maximum(counting.distribution(counting.begin()), 1e-300)
    assert np.flatnonzero(gain > 1).tolist() == [UNK_ID]
    assert without.signature.value("cached") == "words"
    assert counting.signature.value("cached") == "words+unk"


def test_frequent_words_count_less() -> None:
    words, weights = vocabulary(), word_weights(vocabulary())
    assert weights[: BEGIN_ID + 2].tolist() == [0, 0, 0]
    assert (np.diff(weights[3:]) >= 0).all()  # the words of this vocabulary are sorted by their counts
    shares = background_of(words)
    assert weights[3] == pytest.approx(math.sqrt(1e-3 / shares[3]))


# ---------------------------------------------------------------- separate sentences, and text before


def test_separate_sentences_know_nothing_of_each_other() -> None:
    text = sentences(9, 4)
    for model in (small_cache(), wide_model(), mixture(), ngrams()):
        alone = np.concatenate([model.score_tokens(encoded([sentence], model)) for sentence in text])
        assert model.score_sentences(encoded(text, model)) == pytest.approx(alone, abs=1e-6)


def test_separate_sentences_may_all_come_after_one_text() -> None:
    before, text = sentences(6, 5), sentences(5, 4)
    for model in (small_cache(), wide_model(), mixture(), ngrams()):
        history = encoded(before, model)
        expected = np.concatenate(
            [model.score_tokens(encoded([*before, sentence], model))[len(history) :] for sentence in text]
        )
        got = model.score_sentences(encoded(text, model), after=history)
        assert got == pytest.approx(expected, abs=1e-6)


def test_after_a_text_the_cache_is_fixed() -> None:
    before, sentence = sentences(6, 5), sentences(3, 6)[2]
    for unit in UNITS:
        model = small_cache(unit)
        fixed = model.after_text(before)
        history = encoded(before, model)
        expected = model.score_tokens(np.concatenate([history, encoded([sentence], model)]))[len(history) :]
        assert fixed.score_tokens(encoded([sentence], model)) == pytest.approx(expected, abs=1e-6)
        assert (fixed.order, fixed.reach, fixed.kind) == (1, 0, "frozen-cache")
        assert fixed.score_id(fixed.begin(), 5)[1] == fixed.begin()  # the state of a decoder stays small


def test_a_mixture_with_fixed_caches_keeps_its_weights() -> None:
    """Its first component is a cache, which becomes an n-gram model but does not sort contexts."""
    model, before = mixture(), sentences(6, 5)
    fixed, history = model.after_text(before), encoded(before, mixture())
    expected = model.score_tokens(np.concatenate([history, encoded([["škola"]], model)]))[len(history)]
    assert fixed.score_tokens(encoded([["škola"]], model))[0] == pytest.approx(expected, abs=1e-5)
    assert fixed.reach == 0


def test_translation_decoders_take_caches_alone_and_in_mixtures() -> None:
    """As after no text, or after the one that it is told; contexts are of the words that the model depends on."""
    for model in (small_cache("morphemes"), mixture(), mixture().after_text(sentences(6, 5))):
        fixed = model.after_text([])
        (scorer,) = prepare_models([model]).scorers
        contexts, words = np.full((3, scorer.order - 1), BEGIN_ID, np.int32), np.array([4, 5, END_ID], np.int32)
        logprobs = scorer.log_probabilities(contexts, words, scorer.new_cache(1))
        expected = [fixed.score_id(fixed.begin(), word)[0] for word in words.tolist()]
        assert logprobs == pytest.approx(expected, abs=1e-6)


def test_fixed_caches_are_saved_and_read(tmp_path: Path) -> None:
    fixed = small_cache("morphemes").after_text(sentences(6, 5))
    fixed.save(tmp_path / "fixed")
    again = morphlm.load(tmp_path / "fixed")
    assert again.kind == "frozen-cache"
    assert np.array_equal(again.distribution(again.begin()), fixed.distribution(fixed.begin()))


# ---------------------------------------------------------------- files, other processes


@units
def test_saving_and_pickling_change_nothing(unit: Unit, tmp_path: Path) -> None:
    model = small_cache(unit, unknown=True)
    text = encoded(sentences(8, 3), model)
    by_content = pickle.loads(pickle.dumps(model))
    model.save(tmp_path / "cache")
    loaded = morphlm.load(tmp_path / "cache")
    for other in (by_content, loaded, pickle.loads(pickle.dumps(loaded))):
        assert isinstance(other, CacheModel)
        assert other.config == model.config
        assert other.kind == model.kind
        assert np.array_equal(other.score_tokens(text), model.score_tokens(text))


def test_the_self_test_shows_what_is_in_the_cache() -> None:
    """A sentence after nothing would have the same scores under any decay."""
    tests = [small_cache(decay=decay).self_test() for decay in (0.5, 0.9)]
    assert tests[0] != tests[1]


@pytest.mark.parametrize(
    "state",
    [
        (),
        ((), ()),
        CacheState((1.5,), ()),  # type: ignore[arg-type]
        CacheState((999,), ()),
        CacheState((-1,), ()),
        CacheState((5,) * 13, ()),
        CacheState([5], ()),  # type: ignore[arg-type]
        CacheState((True,), ()),
    ],
)
def test_what_is_no_state_is_refused(state: Any) -> None:
    model = small_cache()
    for ask in (
        lambda: model.score_id(state, 5),
        lambda: model.distribution(state),
        lambda: model.next_sentence(state),
    ):
        with pytest.raises(StateError):
            ask()


def test_units_that_are_no_distribution_are_named() -> None:
    good, counted = word_units(5), np.array([0, 0, 0, 1.0, 1.0])
    assert units_problem(good, counted) == ""
    bad: dict[str, Units] = {
        "rows": good._replace(starts=good.starts[::-1]),
        "<s>": good._replace(emissions=np.ones(5)),
        "shares": good._replace(shares=good.shares / 2),
        "probabilities": good._replace(emissions=good.emissions / 2),
    }
    for word, units_ in bad.items():
        assert word in units_problem(units_, counted)
    assert "<s>" in units_problem(good, np.ones(5))


# ---------------------------------------------------------------- training


def test_training_fits_what_is_not_chosen() -> None:
    train, dev = sentences(60, 1), sentences(40, 2)
    fitted = morphlm.train("cache", train, dev, kappa=0.5, window=20)
    assert isinstance(fitted, CacheModel)
    again = morphlm.train("cache", train, dev, kappa=0.5, window=20)
    assert again.config == fitted.config  # type: ignore[attr-defined]
    given = morphlm.train("cache", train, dev, kappa=0.5, decay=0.7, background=5.0, window=20)
    assert given.config == CacheConfig("words", 0.7, 5.0, 20)  # type: ignore[attr-defined]
    assert given.training["decay"] == 0.7


def test_bursts_of_words_are_found() -> None:
    """In a text of sentences that are said twice, a cache lowers the perplexity of n-grams, and forgets quickly."""
    rng = np.random.default_rng(3)

    def bursty(count: int) -> list[list[str]]:
        return [sentence for _ in range(count) for sentence in [[KNOWN[k] for k in rng.integers(0, len(KNOWN), 4)]] * 2]

    train, dev = bursty(80), bursty(40)
    cache = morphlm.train("cache", train, dev, kappa=0.0)
    plain = morphlm.train("mkn", train, dev, order=2, kappa=0.0)
    mixed = morphlm.mix([plain, cache], dev)
    assert cache.config.decay < 0.99  # type: ignore[attr-defined]
    assert mixed.perplexity(dev).including_unknown < 0.8 * plain.perplexity(dev).including_unknown


def test_settings_out_of_range_are_refused() -> None:
    for wrong in ({"decay": 1.1}, {"decay": -0.1}, {"background": 0.0}, {"window": 0}):
        with pytest.raises(ConfigError):
            morphlm.train("cache", sentences(5, 1), sentences(3, 2), **wrong)


def test_tables_are_those_of_the_kernels() -> None:
    assert CacheTables._fields[:4] == Units._fields
