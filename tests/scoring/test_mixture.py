"""Mixtures: the interpolated probabilities, weights by EM, weights by context, and the directory."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import morphlm
from morphlm.errors import ConfigError, FormatError, InputError
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.structure import build_structure
from morphlm.modelfile import COMPONENTS, MANIFEST, copy_model, read_model, write_model
from morphlm.ngram.model import TRUST_BUCKETS, NgramModel
from morphlm.ngram.training import train_ngram
from morphlm.scoring.contexts import LastWordContexts
from morphlm.scoring.mixing import GAIN, fit_weights, mix, mix_and_test
from morphlm.scoring.mixture import MixtureModel, as_components
from morphlm.segmentation.factors import build_factors
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.text.reading import RESERVED
from morphlm.training.loop import train_model
from morphlm.vocabulary.corpus import encode_text
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID, Vocabulary
from tests.training.small import contents, sentences, task

TEXT, DEV = sentences(200, 1, rare=True), sentences(60, 2, rare=True)
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def models() -> dict[str, LanguageModel]:
    """Models of one vocabulary; `other` has its words in another order."""
    neural = train_model(task("clbl++", text=TEXT))
    words, counts = neural.vocabulary.words[len(RESERVED) :], neural.vocabulary.counts
    turned = Vocabulary((*RESERVED, *words[::-1]), np.concatenate([counts[:3], counts[3:][::-1]]))
    return {
        "mkn": train_ngram(TEXT, 3, vocabulary=neural.vocabulary),
        "clbl++": neural,
        "clbl": train_model(task("clbl", text=TEXT)),
        "other": train_ngram(TEXT, 2, vocabulary=turned),
    }


CASES: dict[str, Callable[[dict[str, LanguageModel]], MixtureModel]] = {
    "given": lambda m: mix([m["mkn"], m["clbl++"]], weights=[0.25, 0.75]),
    "fitted": lambda m: mix([m["mkn"], m["clbl++"]], DEV, weights_by="none"),
    "by context": lambda m: mix([m["clbl++"], m["mkn"]], DEV),
    "by last word": lambda m: mix([m["clbl"], m["clbl++"]], DEV),
    "other order of words": lambda m: mix([m["clbl++"], m["other"], m["mkn"]], DEV),
    "nested": lambda m: mix([m["clbl"], mix([m["mkn"], m["clbl++"]], DEV)], DEV),
    "nested, first in another order": lambda m: mix([m["other"], mix([m["clbl"], m["clbl++"]], DEV)], DEV),
    "unigrams": lambda m: mix([train_ngram(TEXT, 1, vocabulary=m["clbl"].vocabulary), m["clbl"]], DEV),
}


@pytest.fixture(params=CASES)
def mixture(request: pytest.FixtureRequest, models: dict[str, LanguageModel]) -> MixtureModel:
    return CASES[request.param](models)


# ---------------------------------------------------------------- probabilities


def test_probabilities_are_the_weighted_sum_of_the_components(models: dict[str, LanguageModel]) -> None:
    mixture = mix([models["mkn"], models["clbl++"]], weights=[0.25, 0.75])
    tokens = ["domu", "neviděno", "školou"]
    expected = 0.25 * np.exp(models["mkn"].sentence(tokens)) + 0.75 * np.exp(models["clbl++"].sentence(tokens))
    np.testing.assert_allclose(np.exp(mixture.sentence(tokens)), expected, rtol=1e-12)


def test_words_in_another_order_are_mapped(models: dict[str, LanguageModel]) -> None:
    mixture = mix([models["clbl++"], models["other"]], weights=[0.5, 0.5])
    tokens = ["domu", "neviděno", "školou"]
    expected = 0.5 * np.exp(models["clbl++"].sentence(tokens)) + 0.5 * np.exp(models["other"].sentence(tokens))
    np.testing.assert_allclose(np.exp(mixture.sentence(tokens)), expected, rtol=1e-12)


def test_states_give_what_the_sentence_gives(mixture: MixtureModel) -> None:
    for tokens in [[], *DEV[:8], ["neviděno", "domu"]]:
        state, logprobs = mixture.begin(), []
        for token in [*tokens, "</s>"]:
            logprob, state = mixture.score(state, token)
            logprobs.append(logprob)
            assert isinstance(hash(state), int)
        np.testing.assert_allclose(logprobs, mixture.sentence(tokens), atol=2e-5)


def test_distributions_sum_to_1_and_are_those_of_single_words(mixture: MixtureModel) -> None:
    state = mixture.begin()
    for token in ["domu", "neviděno", "školou"]:
        distribution = mixture.distribution(state)
        assert distribution.sum() == pytest.approx(1.0, abs=1e-6)
        assert distribution[BEGIN_ID] == 0.0
        logprobs = [mixture.score_id(state, word)[0] for word in range(len(mixture.vocabulary))]
        np.testing.assert_allclose(np.log(np.maximum(distribution, 1e-300))[2:], logprobs[2:], atol=2e-5)
        _, state = mixture.score(state, token)


def test_begin_has_no_probability_and_leads_to_a_state(mixture: MixtureModel) -> None:
    logprob, state = mixture.score_id(mixture.begin(), BEGIN_ID)
    assert logprob == -math.inf
    assert mixture.distribution(state).sum() == pytest.approx(1.0, abs=1e-6)


def test_unknown_words_are_scored_if_one_component_does(models: dict[str, LanguageModel]) -> None:
    text = [["a", "b"], ["b"]]
    closed = train_ngram(text, 2, open_vocabulary=False)
    opened = train_ngram(text, 2, vocabulary=closed.vocabulary)
    assert mix([closed, opened], weights=[0.5, 0.5]).scores_unknown
    assert not mix([closed, opened], weights=[1.0, 0.0]).scores_unknown
    half = mix([closed, opened], weights=[0.5, 0.5]).sentence(["c"])[0]
    assert half == pytest.approx(math.log(0.5) + opened.sentence(["c"])[0])
    assert mix([closed, opened], weights=[1.0, 0.0]).sentence(["c"])[0] == -math.inf


def test_a_component_that_is_left_out_of_some_contexts_still_scores_unknown_words() -> None:
    text = [["a", "b"], ["b"]]
    closed = train_ngram(text, 2, open_vocabulary=False)
    opened = train_ngram(text, 2, vocabulary=closed.vocabulary)
    components = as_components([closed, opened], [None, None])
    weights = np.tile([1.0, 0.0], (closed.context_buckets, 1))
    assert not MixtureModel(components, weights, "context", {}).scores_unknown
    weights[0] = [0.5, 0.5]
    assert MixtureModel(components, weights, "context", {}).scores_unknown


def test_fitted_weights_sum_to_one_after_rounding() -> None:
    logprobs = np.log(np.random.default_rng(3).dirichlet(np.ones(7), 50))
    fit = fit_weights(logprobs, np.arange(50) % 5, 5, np.full(7, 1 / 7))
    assert np.abs(np.round(fit.weights, 9).sum(axis=1) - 1).max() > 1e-10, "the case must need it"
    np.testing.assert_allclose(fit.weights.sum(axis=1), 1, rtol=0, atol=1e-15)


def test_the_bucket_at_the_start_of_a_sentence_is_that_of_its_beginning() -> None:
    contexts = LastWordContexts(Vocabulary((*RESERVED, "a"), np.array([0, 8, 1, 2])))
    assert contexts.before(np.array([3, END_ID, END_ID], np.int32)).tolist() == [3, 1, 3]
    assert [contexts.after(word, []) for word in (BEGIN_ID, END_ID, 3)] == [3, 3, 1]


class OwnKind(LanguageModel):
    """A kind from elsewhere: uniform over the vocabulary, and it sorts contexts by whether a sentence has begun."""

    kind, order, context_buckets = "own", 2, 2

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary, self.training = vocabulary, {}

    def begin(self, *, sentence: bool = True, unknown_contexts: object = "unk") -> int:
        return 0

    def score_id(self, state: int, word: int) -> tuple[float, int]:
        return float(np.log(self.distribution(state)[word] or 1e-300)), int(word != END_ID)

    def score_tokens(self, tokens: np.ndarray) -> np.ndarray:
        return np.log(self.distribution(0))[tokens]

    def distribution(self, state: int) -> np.ndarray:
        probabilities = np.full(len(self.vocabulary), 1 / (len(self.vocabulary) - 1))
        probabilities[BEGIN_ID] = 1e-300
        return probabilities

    def save(self, directory: str | Path) -> None:
        raise NotImplementedError

    def buckets_before(self, tokens: np.ndarray) -> np.ndarray:
        return (np.append(END_ID, tokens[:-1]) != END_ID).astype(np.int64)

    def bucket_of_state(self, state: int) -> int:
        return state

    def describe_bucket(self, bucket: int) -> str:
        return ("first word", "later words")[bucket]


def test_weights_depend_on_the_contexts_of_a_kind_of_ones_own(models: dict[str, LanguageModel]) -> None:
    own = OwnKind(models["clbl"].vocabulary)
    mixture = mix([models["clbl"], own], DEV)
    assert mixture.weights.shape == (2, 2)
    assert [mixture.describe_bucket(bucket) for bucket in range(2)] == ["first word", "later words"]
    assert mixture.development_tokens.tolist() == [len(DEV), sum(map(len, DEV))]
    assert mixture.parts == (models["clbl"], own)
    assert own.parts == (own,)
    assert own.partition is None
    # A mixture that has one bucket itself does not sort contexts for another.
    assert mix([mix([models["clbl"], own], weights=[0.5, 0.5]), models["mkn"]], DEV).weights.shape[0] > 2


def test_words_beyond_the_vocabulary_are_passed_on(models: dict[str, LanguageModel]) -> None:
    """Where a component composes no contexts, they are unknown words, under every order of ids."""
    mixture = mix([models["clbl"], models["other"]], DEV)
    known = encode_text([["domu", "x", "školou", "y", "x"]], mixture.vocabulary).tokens
    tokens = known.copy()
    tokens[known == UNK_ID] = len(mixture.vocabulary) + np.array([0, 1, 0])
    np.testing.assert_array_equal(mixture.score_composed(tokens, ["x", "y"]), mixture.score_tokens(known))
    assert not mixture.composes_contexts


def test_contexts_are_composed_by_the_components_that_can(models: dict[str, LanguageModel]) -> None:
    wanted = task("clbl++", text=TEXT)
    factors = build_factors(wanted.structure.vocabulary, character_ngrams(2, 3))
    structure = build_structure(wanted.config, factors.vocabulary, wanted.structure.partition, factors)
    parameters = initial_parameters(wanted.config, structure, 7, 0.7)
    composing = LogBilinearModel(wanted.config, structure, parameters, {})
    mixture = mix([models["other"], composing], weights=[0.5, 0.5])
    text = [["domu", "domouška", "školou"]]
    found = mixture.score_text(text, unknown_contexts="composed").logprobs
    expected = 0.5 * np.exp(models["other"].sentence(text[0]))
    expected += 0.5 * np.exp(composing.score_text(text, unknown_contexts="composed").logprobs)
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-12)
    assert np.abs(found - mixture.score_text(text).logprobs).max() > 1e-3
    assert mixture.perplexity(text, unknown_contexts="composed").signature.value("ctx") == "composed"


def test_vectors_are_those_of_the_log_bilinear_component(models: dict[str, LanguageModel]) -> None:
    mixture = mix([models["mkn"], models["clbl++"]], weights=[0.5, 0.5])
    np.testing.assert_array_equal(mixture.vectors["domu"], models["clbl++"].vectors["domu"])
    mixture = mix([models["mkn"], models["clbl"], models["clbl++"]], weights=[0.4, 0.3, 0.3])
    np.testing.assert_array_equal(mixture.vectors["domu"], models["clbl++"].vectors["domu"])  # it has morphemes
    mixture = mix([models["mkn"], models["clbl"]], weights=[0.5, 0.5])
    np.testing.assert_array_equal(mixture.vectors["domu"], models["clbl"].vectors["domu"])
    with pytest.raises(ConfigError, match="kind mixture has no word vectors"):
        _ = mix([models["mkn"], models["other"]], weights=[0.5, 0.5]).vectors


def test_perplexity_lies_below_that_of_each_component_on_the_text_of_the_fit(models: dict[str, LanguageModel]) -> None:
    for by in ("none", "context"):
        mixed = mix_and_test([models["mkn"], models["clbl++"]], DEV, weights_by=by, test=TEXT)
        *parts, whole = [result.including_unknown for result in mixed.development]
        assert whole < min(parts)
        assert whole == mixed.model.perplexity(DEV).including_unknown
        assert parts == [models[name].perplexity(DEV).including_unknown for name in ("mkn", "clbl++")]
        assert mixed.test[-1].including_unknown == mixed.model.perplexity(TEXT).including_unknown


# ---------------------------------------------------------------- signature and record


def test_the_signature_names_the_components_and_joins_what_differs(models: dict[str, LanguageModel]) -> None:
    signature = str(mix([models["mkn"], models["clbl++"]], weights=[0.25, 0.75]).signature)
    assert signature == (
        "ppl|model:mixture(mkn,clbl++)|weights:0.25+0.75|n:3|d:8|recipe:own|V:48|kappa:given+0.5|unk:scored|eos:yes|"
        "tok:as-is|norm:as-is|seed:1+3|v:0.1"
    )
    by_context = mix([models["mkn"], models["clbl++"]], DEV).signature
    assert by_context.value("weights") == "context"
    nested = mix([models["clbl"], mix([models["mkn"], models["clbl++"]], DEV)], weights=[0.5, 0.5])
    assert nested.signature.value("model") == "mixture(clbl,mixture(mkn,clbl++))"


def test_differing_preparations_are_told(models: dict[str, LanguageModel], capsys: pytest.CaptureFixture[str]) -> None:
    prepared = train_ngram(TEXT, 2, vocabulary=models["mkn"].vocabulary)
    prepared.training["preparation"] = {"tokeniser": "moses.cs", "normalisation": "lc"}
    mixture = mix([models["mkn"], prepared], weights=[0.5, 0.5])
    assert "prepared in different ways: as-is/as-is, moses.cs/lc" in capsys.readouterr().err
    assert mixture.signature.value("tok") == "as-is+moses.cs"
    assert "preparation" not in mixture.training
    mix([models["mkn"], models["clbl++"]], weights=[0.5, 0.5])
    assert capsys.readouterr().err == ""


# ---------------------------------------------------------------- what is refused


def test_other_words_are_refused_and_the_message_tells_what_to_do(models: dict[str, LanguageModel]) -> None:
    other = train_ngram([*TEXT, ["nové"]], 2, kappa=0.0)
    with pytest.raises(ConfigError, match=r"not the same \(only the second has '.*'\); train both on one vocabulary"):
        mix([models["mkn"], other], weights=[0.5, 0.5])
    with pytest.raises(ConfigError, match=r"with `train\(..., vocabulary=\)`"):
        mix([other, models["mkn"]], weights=[0.5, 0.5])


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({}, "nothing to fit the weights to"),
        ({"weights": [0.5]}, "1 weight for 2 models"),
        ({"weights": [0.5, 0.6]}, r"add up to 1, not 0\.5, 0\.6"),
        ({"weights": [-0.5, 1.5]}, "0 or more"),
        ({"weights": [math.nan, 1.0]}, "0 or more"),
        ({"weights": [0.5, 0.5], "weights_by": "context"}, "fitted, not given"),
        ({"dev": DEV, "weights_by": "moon"}, "choose none or context"),
    ],
)
def test_bad_choices_are_refused(models: dict[str, LanguageModel], choices: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        mix([models["mkn"], models["clbl++"]], **choices)


def test_one_model_is_no_mixture(models: dict[str, LanguageModel]) -> None:
    with pytest.raises(ConfigError, match="two models or more"):
        mix([models["mkn"]], DEV)


def test_a_component_is_not_replaced_by_the_mixture(tmp_path: Path, models: dict[str, LanguageModel]) -> None:
    models["mkn"].save(tmp_path / "mkn")
    with pytest.raises(ConfigError, match="one of the models to be mixed"):
        mix([tmp_path / "mkn", models["clbl++"]], DEV, tmp_path / "x" / ".." / "mkn")


def test_a_component_is_not_written_into_or_around(saved: Path) -> None:
    inside, before = saved / "mixture" / COMPONENTS / "mkn", contents(saved / "mixture" / COMPONENTS / "mkn")
    with pytest.raises(ConfigError, match="lies inside one of the models to be mixed"):
        mix([saved / "mixture", saved / "clbl++"], out=inside, weights=[0.5, 0.5])
    with pytest.raises(ConfigError, match="lies around one of the models to be mixed"):
        mix([inside, saved / "clbl++"], out=saved / "mixture", weights=[0.5, 0.5])
    assert contents(inside) == before


def test_a_place_that_cannot_be_is_refused_before_the_models_are_read(saved: Path) -> None:
    (saved / "file").write_text("")
    with pytest.raises(InputError, match="cannot write here"):
        mix([saved / "no-model", saved / "clbl++"], DEV, saved / "file" / "mixture")


def test_every_component_has_its_own_figures(saved: Path, models: dict[str, LanguageModel]) -> None:
    mixture, clbl = morphlm.load(saved / "mixture"), models["clbl"]
    found = mix_and_test([mixture, clbl, clbl], DEV, weights=[0.5, 0.25, 0.25]).to_json()
    assert found["components"] == ["mixture-2", "clbl", "clbl-2"]
    assert list(found["development"]) == ["mixture-2", "clbl", "clbl-2", "mixture"]
    assert found["development"]["mixture-2"]["logprob"] == pytest.approx(mixture.perplexity(DEV).logprob)


def test_a_text_that_no_model_can_say_is_refused() -> None:
    closed = train_ngram([["a", "b"], ["b"]], 2, open_vocabulary=False)
    with pytest.raises(ConfigError, match="no model gives any token"):
        fit_weights(np.full((3, 2), -np.inf))
    fit = fit_weights(np.array([[-np.inf, -np.inf], [-1.0, -2.0], [-2.0, -1.0]]))
    np.testing.assert_allclose(fit.weights, [[0.5, 0.5]])
    assert not mix([closed, closed], [["a", "c"]]).scores_unknown


# ---------------------------------------------------------------- EM

logprob_tables = st.integers(2, 4).flatmap(
    lambda models: st.lists(
        st.lists(st.floats(-20, -0.01), min_size=models, max_size=models), min_size=1, max_size=30
    ).map(np.array)
)


@given(logprob_tables, st.integers(0, 2**32 - 1))
def test_no_step_lowers_the_likelihood(logprobs: np.ndarray, seed: int) -> None:
    overall = fit_weights(logprobs)
    buckets = np.random.default_rng(seed).integers(0, 5, len(logprobs))
    by_bucket = fit_weights(logprobs, buckets, 6, overall.weights[0], 2.0)
    for fit in (overall, by_bucket):
        assert (np.diff(fit.objective) >= -1e-12).all()
        assert len(fit.objective) == 1 or fit.objective[-1] - fit.objective[-2] < GAIN
        np.testing.assert_allclose(fit.weights.sum(axis=1), 1.0, atol=1e-12)
        assert (fit.weights >= 0).all()
        assert fit.tokens.sum() == len(logprobs)
    np.testing.assert_allclose(by_bucket.weights[5], overall.weights[0], atol=1e-8)  # a bucket without tokens


@given(logprob_tables.filter(lambda table: table.shape[1] == 2))
def test_two_weights_are_those_of_a_direct_search(logprobs: np.ndarray) -> None:
    def loss(weight: float) -> float:
        return float(-np.logaddexp(logprobs[:, 0] + np.log(weight), logprobs[:, 1] + np.log1p(-weight)).mean())

    best = minimize_scalar(loss, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-9})
    fit = fit_weights(logprobs)
    # EM ends when a step gains 1e-7; where the optimum is at the border its steps are small, so the bound is wider.
    assert -fit.objective[-1] == pytest.approx(best.fun, abs=1e-3)
    assert -fit.objective[-1] >= best.fun - 1e-6  # the search has its own precision


def test_weights_are_shares_where_each_token_is_possible_under_one_model_only() -> None:
    table = np.where(np.arange(10)[:, None] < 3, [[-1.0, -np.inf]], [[-np.inf, -2.0]])
    np.testing.assert_allclose(fit_weights(table).weights, [[0.3, 0.7]], atol=1e-9)


def test_buckets_are_shrunk_to_the_overall_weights_by_pseudo_tokens() -> None:
    table = np.where(np.arange(10)[:, None] < 3, [[-1.0, -np.inf]], [[-np.inf, -2.0]])
    buckets = np.array([0] * 3 + [1] * 7)
    fit = fit_weights(table, buckets, 2, np.array([0.3, 0.7]), 5.0)
    np.testing.assert_allclose(fit.weights, [[(3 + 1.5) / 8, 3.5 / 8], [1.5 / 12, (7 + 3.5) / 12]], atol=1e-9)
    assert fit.tokens.tolist() == [3, 7]
    much = fit_weights(table, buckets, 2, np.array([0.3, 0.7]), 1e9)
    np.testing.assert_allclose(much.weights, [[0.3, 0.7]] * 2, atol=1e-6)


# ---------------------------------------------------------------- contexts of n-grams

small_texts = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), min_size=1, max_size=12).filter(any)


@given(small_texts, small_texts, st.integers(1, 5))
def test_states_of_a_text_are_those_of_walking_through_it(
    text: list[list[str]], other: list[list[str]], order: int
) -> None:
    model = train_ngram(text, order)
    tokens = encode_text(other, model.vocabulary).tokens
    walked, state = [], model.begin()
    for word in tokens.tolist():
        walked.append(state)
        state = model.begin() if word == END_ID else model.score_id(state, word)[1]
    assert model.trie.states_before(tokens).tolist() == walked


def test_buckets_are_by_length_and_by_the_mass_that_a_context_keeps() -> None:
    model = train_ngram(TEXT, 3)
    assert isinstance(model, NgramModel)
    trie, unigrams = model.trie, model.trie.sizes[0]
    nodes = np.arange(-1, len(trie.backoff))
    for node, bucket in zip(nodes.tolist(), model.bucket_of(nodes).tolist(), strict=True):
        length, trust = divmod(bucket, TRUST_BUCKETS)
        assert length == (0 if node < 0 else 1 if node < unigrams else 2)
        if node >= 0 and trust < TRUST_BUCKETS - 1:
            kept = 1 - math.exp(trie.backoff[node])
            assert 2 ** (-(trust + 1) / 2) <= kept <= 2 ** (-trust / 2) + 1e-12
    assert model.bucket_of(nodes).max() < model.context_buckets


def test_buckets_may_be_more_than_those_of_the_development_text(models: dict[str, LanguageModel]) -> None:
    """Contexts that it does not have get the overall weights."""
    mixture = mix([models["mkn"], models["clbl++"]], [["domu"]])
    unseen = mixture.development_tokens == 0
    assert unseen.any()
    np.testing.assert_allclose(mixture.weights[unseen], [mixture.training["weights"]] * unseen.sum(), atol=1e-8)
    assert mixture.development_tokens.sum() == 2


# ---------------------------------------------------------------- files


def test_a_mixture_is_read_as_it_was_written(tmp_path: Path, mixture: MixtureModel) -> None:
    mixture.save(tmp_path / "mixture")
    loaded = morphlm.load(tmp_path / "mixture")
    assert isinstance(loaded, MixtureModel)
    np.testing.assert_array_equal(loaded.weights, mixture.weights)
    np.testing.assert_array_equal(loaded.development_tokens, mixture.development_tokens)
    assert (loaded.signature, loaded.training, loaded.order) == (mixture.signature, mixture.training, mixture.order)
    for tokens in DEV[:5]:
        np.testing.assert_allclose(loaded.sentence(tokens), mixture.sentence(tokens), rtol=1e-12)
    loaded.save(tmp_path / "again")
    assert trees_are_equal(tmp_path / "mixture", tmp_path / "again")


def trees_are_equal(one: Path, other: Path) -> bool:
    files = [{path.relative_to(root): path for path in root.rglob("*") if path.is_file()} for root in (one, other)]
    return set(files[0]) == set(files[1]) and all(
        path.read_bytes() == files[1][name].read_bytes() for name, path in files[0].items()
    )


@pytest.fixture
def saved(tmp_path: Path, models: dict[str, LanguageModel]) -> Path:
    for name in ("mkn", "clbl++"):
        models[name].save(tmp_path / name)
    mix([tmp_path / "mkn", tmp_path / "clbl++"], DEV, tmp_path / "mixture")
    return tmp_path


def test_the_directory_holds_the_components_as_they_are(saved: Path) -> None:
    for name in ("mkn", "clbl++"):
        inside = saved / "mixture" / COMPONENTS / name
        assert contents(inside) == contents(saved / name)
        for path in inside.iterdir():
            assert path.samefile(saved / name / path.name), "hard-linked"
    (saved / "mkn").rename(saved / "gone")
    (saved / "mixture").rename(saved / "moved")
    assert morphlm.load(saved / "moved").sentence(["domu"])


def test_components_are_copied_where_links_cannot_be_had(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    mix([saved / "mkn", saved / "clbl++"], DEV, saved / "copied")
    assert trees_are_equal(saved / "mixture", saved / "copied")
    inside = saved / "copied" / COMPONENTS / "mkn"
    assert not any(path.samefile(saved / "mkn" / path.name) for path in inside.iterdir())


def test_a_component_that_was_replaced_since_it_was_read_is_written_anew(
    saved: Path, models: dict[str, LanguageModel]
) -> None:
    loaded = morphlm.load(saved / "mixture")
    before = loaded.sentence(["domu"])
    place = saved / "mixture" / COMPONENTS / "mkn"
    train_ngram([["x"]], 2).save(place)
    with pytest.raises(FormatError, match=r"components/mkn/manifest\.json: it was changed or damaged"):
        morphlm.load(saved / "mixture")
    loaded.save(saved / "again")
    np.testing.assert_allclose(morphlm.load(saved / "again").sentence(["domu"]), before, rtol=1e-6)


@pytest.mark.parametrize("damaged", [MANIFEST, "vocabulary.tsv", "tensors.safetensors"])
def test_what_is_damaged_is_not_copied(saved: Path, damaged: str) -> None:
    digest = read_model(saved / "mkn").digest
    path = saved / "mkn" / damaged
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(FormatError, match=f"{damaged}: it was changed or damaged"):
        copy_model(saved / "mkn", digest, saved / "copy")
    path.unlink()
    with pytest.raises(FormatError, match="a file of this model has gone"):
        copy_model(saved / "mkn", digest, saved / "copy2")


def test_the_same_mixture_is_the_same_bytes(saved: Path) -> None:
    mix([saved / "mkn", saved / "clbl++"], DEV, saved / "again")
    assert trees_are_equal(saved / "mixture", saved / "again")


def test_two_of_a_kind_have_two_names(tmp_path: Path, models: dict[str, LanguageModel]) -> None:
    mix([models["mkn"], models["other"]], DEV, tmp_path / "mixture")
    assert sorted(path.name for path in (tmp_path / "mixture" / COMPONENTS).iterdir()) == ["mkn", "mkn-2"]
    assert [part.model.order for part in morphlm.load(tmp_path / "mixture").components] == [3, 2]  # type: ignore[attr-defined]


def test_an_arpa_file_can_be_a_component(tmp_path: Path, models: dict[str, LanguageModel]) -> None:
    mkn = models["mkn"]
    assert isinstance(mkn, NgramModel)
    mkn.write_arpa(tmp_path / "mkn.arpa.gz")
    mix([models["clbl++"], tmp_path / "mkn.arpa.gz"], DEV, tmp_path / "mixture")
    expected = mix([models["clbl++"], mkn], DEV)
    loaded = morphlm.load(tmp_path / "mixture")
    assert loaded.signature.value("model") == "mixture(clbl++,arpa)"
    np.testing.assert_allclose(loaded.sentence(["domu"]), expected.sentence(["domu"]), atol=1e-4)


def test_a_self_test_that_fails_is_told(saved: Path) -> None:
    mixture = morphlm.load(saved / "mixture")
    files = read_model(saved / "mixture")
    weights = files.tensors["weights"][:, ::-1].copy()
    parts = {part.name: part.write for part in mixture.components}  # type: ignore[attr-defined]
    write_model(saved / "wrong", replace(files, tensors={**files.tensors, "weights": weights}), parts)
    with pytest.raises(FormatError, match=r"wrong: the self-test failed on"):
        morphlm.load(saved / "wrong")
