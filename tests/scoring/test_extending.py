"""Models extended by words: nothing changes for known words, everything adds up to 1, and all ways to ask agree."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import morphlm
from morphlm.arrays import Float64Array
from morphlm.cache.config import CacheConfig, NeuralCacheConfig, Unit
from morphlm.cache.model import CacheModel
from morphlm.cache.neural import NeuralCacheModel
from morphlm.cache.units import class_units, morpheme_units, word_weights
from morphlm.compiled.exporting import export_compiled
from morphlm.errors import ArgumentTypeError, ConfigError
from morphlm.language_model.addition import EXTENDED, Addition
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.batch_scorer import batch_scorer
from morphlm.logbilinear.extending import LONGEST_ENDING, SMOOTHING
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.structure import build_structure
from morphlm.logbilinear.wide import content_weights
from morphlm.ngram.model import NgramModel
from morphlm.ngram.training import train_ngram
from morphlm.ngram.trie import NgramTrie
from morphlm.scoring.extending import extend, make_addition, shape_estimates, sort_words, unseen_tokens, with_counts
from morphlm.scoring.spelled import with_spelling
from morphlm.segmentation.factors import build_factors
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.grammar.rules import Rule, table_of
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID, Vocabulary
from tests.compiled.models import mixture
from tests.compiled.test_native import native_scores
from tests.training.small import contents, sentences, task

NEW = [
    "školách",
    "domouška",
    "řekám",
    "xyz",
    "x",
    "ulicích",
    "q" * 500,
    "polepole",
]  # nothing is known of three of them
LINES = [["domu", "školách", "xyz"], [], ["vzácn0", "domouška", "jiné", "x", "domem", "polepole", "školou"]]


@cache
def logbilinear(kind: str = "clbl++", diagonal: bool = True, wide: int = 0, order: int = 3) -> LogBilinearModel:
    """A model with random parameters, whose factors are strings of letters."""
    wanted = task(kind, diagonal=diagonal, order=order)
    old = wanted.structure
    config = replace(wanted.config, wide=wide, wide_decay=0.8)
    structure = build_structure(
        config, old.vocabulary, old.partition, build_factors(old.vocabulary, character_ngrams(2, 3))
    )
    return LogBilinearModel(config, structure, initial_parameters(config, structure, 7, 0.2), {"seed": 7})


@cache
def ngrams(order: int = 3, turned: bool = False) -> NgramModel:
    vocabulary = logbilinear().vocabulary
    if turned:
        words, counts = vocabulary.words[3:], vocabulary.counts
        vocabulary = Vocabulary((*vocabulary.words[:3], *words[::-1]), np.concatenate([counts[:3], counts[3:][::-1]]))
    return train_ngram(sentences(60, 1, rare=True), order, vocabulary=vocabulary)


@cache
def neural_cache(unknown: bool = False) -> NeuralCacheModel:
    config = NeuralCacheConfig(window=9, decay=0.8, sharpness=4.0, share=0.4, cache_unknown=unknown)
    model = logbilinear(wide=9)
    return NeuralCacheModel(config, model, np.full(model.config.width, 0.1, np.float32), {"seed": 7})


@cache
def word_cache(unit: Unit = "words", unknown: bool = False) -> CacheModel:
    model = logbilinear()
    vocabulary, factors, partition = model.vocabulary, model.structure.factors, model.partition
    assert factors is not None and partition is not None
    makers = {
        "classes": partial(class_units, vocabulary, partition),
        "morphemes": partial(morpheme_units, vocabulary, factors),
    }
    units = makers[unit]() if unit in makers else None
    weights = word_weights(vocabulary, unknown=unknown)
    return CacheModel(CacheConfig(unit, 0.9, 2.0, 12), vocabulary, weights, units, {"seed": 7})


KINDS = ("lbl+o", "lbl++", "clbl+o", "clbl++")
MODELS: dict[str, Callable[[], LanguageModel]] = {
    **{kind: partial(logbilinear, kind) for kind in KINDS},
    **{f"{kind} full": partial(logbilinear, kind, False) for kind in KINDS},
    **{f"{kind} wide": partial(logbilinear, kind, wide=9) for kind in ("clbl++", "clbl+o", "lbl++")},
    "clbl++ wide, full": partial(logbilinear, "clbl++", False, 5),
    "clbl++ of order 2": partial(logbilinear, order=2),
    **{f"n-grams of order {order}": partial(ngrams, order) for order in (1, 2, 3, 5)},
    "mixture": lambda: mixture(logbilinear(), ngrams()),
    "mixture with equal weights": lambda: mixture(ngrams(), logbilinear(), by_context=False),
    "mixture by the last word": lambda: mixture(logbilinear("clbl+o"), logbilinear()),
    "mixture of other ids": lambda: mixture(logbilinear(), ngrams(2, turned=True)),
    "mixture with wide contexts": lambda: mixture(logbilinear(wide=9), ngrams()),
    "cache": word_cache,
    "class-cache": partial(word_cache, "classes"),
    "morpheme-cache": partial(word_cache, "morphemes"),
    "morpheme-cache with unknown words": partial(word_cache, "morphemes", True),
    "neural-cache": neural_cache,
    "neural-cache with unknown words": partial(neural_cache, True),
    "mixture with caches": lambda: mixture(ngrams(), neural_cache(), word_cache("morphemes")),
    "mixture of mixtures": lambda: mixture(ngrams(), mixture(logbilinear("lbl++"), ngrams(2, turned=True))),
}
every_model = pytest.mark.parametrize("name", MODELS)


def extended(model: LanguageModel, words: list[str] = NEW) -> LanguageModel:
    return model.extended(words, prepared=True)


def states_of(model: LanguageModel) -> list[object]:
    """States after the words of sentences, of which some are new."""
    states = [model.begin(), model.begin(sentence=False), model.begin(unknown_contexts="composed")]
    for line in LINES:
        state = model.next_sentence(states[-1])
        for word in line:
            state = model.score(state, word)[1]
            states.append(state)
    return states


# ---------------------------------------------------------------- probabilities


@every_model
def test_known_words_keep_their_probability_and_new_ones_share_unks(name: str) -> None:
    """To the last bit; after contexts of words that both models know."""
    model = MODELS[name]()
    larger, known = extended(model), len(model.vocabulary)
    before, after = model.begin(), larger.begin()
    for word in ["domu", "školou", "<unk>", "řekou", "</s>", "polem"]:
        old, new = model.distribution(before), larger.distribution(after)
        assert old[1:].tobytes() == new[1:known].tobytes()
        assert new[UNK_ID] + new[known:].sum() == pytest.approx(old[UNK_ID], rel=1e-6)
        assert (new[known:] > 0).all()
        assert new[UNK_ID] > 0
        assert abs(new.sum() - 1) < 1e-6
        (old_score, before), (new_score, after) = model.score(before, word), larger.score(after, word)
        assert (old_score == new_score) == (word != "<unk>")


@every_model
def test_probabilities_sum_to_one_in_contexts_of_new_words(name: str) -> None:
    larger = extended(MODELS[name]())
    sums = larger.distributions(states_of(larger)).sum(axis=1)
    assert np.abs(sums - 1).max() < 1e-6


@given(
    words=st.lists(st.text("aeiouškmvt-0", min_size=1, max_size=9), max_size=12),
    name=st.sampled_from(
        ["clbl++", "clbl+o full", "lbl++ wide", "n-grams of order 3", "mixture", "mixture of other ids"]
    ),
    weights=st.lists(st.floats(1e-9, 1e9), min_size=12, max_size=12),
    rest=st.floats(1e-6, 1e6),
)
@settings(max_examples=60, deadline=None)
def test_any_words_with_any_weights(words: list[str], name: str, weights: list[float], rest: float) -> None:
    model = MODELS[name]()
    new = sort_words(model, words).new
    larger = model._with_addition(Addition(new, np.array(weights[: len(new)]), rest)) if new else model
    known = len(model.vocabulary)
    state = larger.begin()
    for word in [*new[:3], "domu"]:
        probabilities = larger.distribution(state)
        assert abs(probabilities.sum() - 1) < 1e-6
        logprob, state = larger.score(state, word)
        assert logprob == pytest.approx(math.log(probabilities[larger.vocabulary.ids[word]]), abs=1e-6)
    first = model.distribution(model.begin())
    assert first[1:].tobytes() == larger.distribution(larger.begin())[1:known].tobytes()


@every_model
def test_all_ways_to_ask_agree(name: str) -> None:
    larger = extended(MODELS[name]())
    ids, states = larger.vocabulary.ids, states_of(larger)
    words = [*NEW, "<unk>", "domu", "</s>"]
    table = larger.distributions(states)
    grid = larger.score_grid(states, words)
    one_by_one = np.array([[larger.score(state, word)[0] for word in words] for state in states])
    many = larger.score_many([state for state in states for _ in words], words * len(states))[0].reshape(grid.shape)
    np.testing.assert_allclose(one_by_one, np.log(table[:, [ids[word] for word in words]]), rtol=0, atol=1e-9)
    np.testing.assert_allclose(grid, one_by_one, rtol=0, atol=1e-12)
    np.testing.assert_allclose(many, one_by_one, rtol=0, atol=1e-12)


@every_model
def test_a_text_is_scored_as_its_words_one_by_one(name: str) -> None:
    larger = extended(MODELS[name]())
    tokens = np.concatenate([np.append(larger.vocabulary.encode(line), END_ID) for line in LINES]).astype(np.int32)
    state, expected = larger.begin(), []
    for word in tokens.tolist():
        logprob, state = larger.score_id(state, word)
        expected.append(logprob)
        if word == END_ID:
            state = larger.next_sentence(state)
    texts = [larger.score_tokens(tokens), larger.score_text(LINES).logprobs]
    long = larger.score_tokens(np.tile(tokens, 500))[: len(tokens)]  # which threads score
    for scored in [*texts, long]:
        np.testing.assert_allclose(scored, expected, rtol=0, atol=1e-12)
    if not larger.reach:
        first = larger.sentence(LINES[0])
        np.testing.assert_allclose(first, expected[: len(first)], rtol=0, atol=1e-12)


@every_model
def test_decoders_get_the_same_scores(name: str) -> None:
    """In batches, after the text that fixes a wide context."""
    larger = extended(MODELS[name]()).after_text([["domu", "školách"]])
    scorer = batch_scorer(larger, None)
    ids = larger.vocabulary.ids
    words = np.array([ids[word] for word in [*NEW, "<unk>", "domu"]], np.int32)
    contexts = np.array([[ids[word] for word in ("xyz", "školách", "domu", "<unk>")]] * len(words), np.int32)
    contexts = contexts[:, : scorer.order - 1]
    state = larger.begin(sentence=False)
    for word in contexts[0][::-1].tolist():
        state = larger.score_id(state, word)[1]
    expected = [larger.score_id(state, word)[0] for word in words.tolist()]
    batched = scorer.log_probabilities(contexts, words, scorer.new_cache(1.0))
    np.testing.assert_allclose(batched, expected, rtol=0, atol=1e-9)


RULES = table_of(
    [
        Rule(("a",), ("domu",), {"f": -0.1}),
        Rule(("a",), ("školách",), {"f": -0.2}),
        Rule(("b",), ("xyz", "školou"), {"f": -0.3}),
        Rule(("b",), ("polepole",), {"f": -0.1}),
        Rule((1, "c", 2), (2, "domouška", 1), {"f": -0.2}),
        Rule(("c",), ("nikde",), {"f": -0.1}),
    ]
)


@pytest.mark.parametrize(
    "name",
    ["clbl++", "n-grams of order 1", "n-grams of order 3", "mixture", "mixture of other ids", "mixture of mixtures"],
)
def test_translations_have_the_scores_of_their_text(name: str) -> None:
    """n-grams order the search by their own kernels, other models are asked in batches."""
    larger = extended(MODELS[name]())
    decoder = Decoder([larger], {"f": 1.0, "LM0": 0.7})
    for source in (["a", "b"], ["a", "c", "b"], ["b", "c", "a", "c", "b"]):
        for found in decoder.decode(source, RULES).kbest(8):
            expected = larger.score_text([found.tokens]).logprobs.sum()
            assert found.features["LM0"] == pytest.approx(expected, abs=1e-5)
            assert found.features["LM0_OOV"] == found.tokens.count("nikde")


# ---------------------------------------------------------------- shares by definition


def ending_share(model: LogBilinearModel, ending: str) -> Float64Array:
    """How the classes of known words with an ending are distributed, smoothed with the shorter endings."""
    assert model.partition is not None
    having = [
        c
        for word, c in zip(model.vocabulary.words[3:], model.partition.class_of[3:], strict=True)
        if word.endswith(ending)
    ]
    counts = np.bincount(np.array(having, int), minlength=model.partition.classes)
    if not ending:
        return counts / counts.sum()
    return (counts + SMOOTHING * ending_share(model, ending[1:])) / (counts.sum() + SMOOTHING)


def longest_known_ending(model: LogBilinearModel, word: str) -> str:
    endings = (word[-length:] for length in range(min(LONGEST_ENDING, len(word)), 0, -1))
    return next((end for end in endings if any(known.endswith(end) for known in model.vocabulary.words[3:])), "")


def row_of(model: LogBilinearModel, word: str) -> Float64Array:
    """x = r + e."""
    factors, parameters = model.structure.factors, model.parameters
    assert factors is not None
    row = parameters.R[factors.of_new_word(word)].astype(np.float64).sum(axis=0)
    if model.partition is not None:
        row = row + ending_share(model, longest_known_ending(model, word)) @ parameters.S.astype(np.float64)
    return row


@pytest.mark.parametrize("kind", KINDS)
def test_shares_are_the_softmax_of_composed_vectors(kind: str) -> None:
    model = logbilinear(kind)
    larger = extended(model)
    assert isinstance(larger, LogBilinearModel)
    known = len(model.vocabulary)
    for line in (["domu"], ["školou", "polem"], []):
        state = model.begin()
        for word in line:
            state = model.score(state, word)[1]
        p = model.states.predictions([state])[0].astype(np.float64)
        scores = [0.0, *(row_of(model, word) @ p + b for word, b in zip(NEW, larger.parameters.b[known:], strict=True))]
        shares = np.exp(scores) / np.exp(scores).sum()
        actual = larger.distribution(state)[[UNK_ID, *range(known, known + len(NEW))]]
        np.testing.assert_allclose(actual, model.distribution(state)[UNK_ID] * shares, rtol=1e-4)


@pytest.mark.parametrize("name", ["clbl++", "lbl+o", "clbl++ full", "clbl++ wide"])
def test_biases_make_words_as_frequent_as_expected(name: str) -> None:
    """Over contexts drawn by the counts of words, the odds against the rest of UNK have the mean that was asked for."""
    model = MODELS[name]()
    addition = make_addition(model, NEW)
    larger = model._with_addition(addition)
    rng, counts = np.random.default_rng(1), model.vocabulary.counts.astype(float)
    counts[END_ID] = 0
    drawn = rng.choice(len(counts), (4000, model.order - 1), p=counts / counts.sum())
    if model.reach:
        larger = larger.after_text([])
    probabilities = larger.distributions([tuple(context) for context in drawn.tolist()])
    odds = probabilities[:, len(model.vocabulary) :] / probabilities[:, [UNK_ID]]
    assert np.abs(np.log(odds.mean(axis=0)) - addition.log_weights).max() < (1.5 if model.reach else 0.5)


def test_n_grams_give_shares_by_weight() -> None:
    model = ngrams()
    addition = make_addition(model, NEW)
    larger = model._with_addition(addition)
    known = len(model.vocabulary)
    shares = np.append(addition.rest, addition.weights) / (addition.rest + addition.weights.sum())
    for line in (["domu"], ["školou", "polem"], ["vzácn0", "xyz"]):
        state, old = larger.begin(), model.begin()
        for word in line:
            state, old = larger.score(state, word)[1], model.score(old, word)[1]
        members = larger.distribution(state)[[UNK_ID, *range(known, known + len(NEW))]]
        np.testing.assert_allclose(members, model.distribution(old)[UNK_ID] * shares, rtol=1e-5)
    assert larger.trie.has_members
    assert larger.trie.match_length(larger.begin(), known) == model.trie.match_length(model.begin(), UNK_ID)


# ---------------------------------------------------------------- identities


@every_model
def test_extending_by_nothing_changes_nothing(name: str) -> None:
    model = MODELS[name]()
    assert extended(model, []) is model
    assert extended(model, ["domu", "školou", "<unk>"]) is model


@every_model
def test_extending_twice_is_extending_once(name: str) -> None:
    model = MODELS[name]()
    once, twice = extended(model), extended(extended(model, NEW[:3]), [*NEW[:2], *NEW[3:]])
    assert once.vocabulary.words == twice.vocabulary.words
    first, second = (larger.distributions(states_of(larger)) for larger in (once, twice))
    known = len(model.vocabulary)
    assert first[:, 1:known].tobytes() == second[:, 1:known].tobytes()
    np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_of_extending_twice_are_those_of_once(kind: str, tmp_path: Path) -> None:
    """But for the last bit of a bias."""
    model = logbilinear(kind)
    extended(model).save(tmp_path / "once")
    extended(extended(model, NEW[:5]), NEW[5:]).save(tmp_path / "twice")
    one, other = contents(tmp_path / "once"), contents(tmp_path / "twice")
    assert {name for name in one if one[name] != other[name]} <= {"tensors.safetensors", "manifest.json"}
    loaded = [morphlm.load(tmp_path / name) for name in ("once", "twice")]
    assert all(isinstance(model, LogBilinearModel) for model in loaded)
    for name, array in loaded[0].parameters.named():  # type: ignore[attr-defined]
        np.testing.assert_allclose(array, getattr(loaded[1].parameters, name), rtol=1e-6)  # type: ignore[attr-defined]


@every_model
def test_models_that_travel_are_the_same(name: str, tmp_path: Path) -> None:
    larger = extended(MODELS[name]())
    larger.save(tmp_path / "model")
    expected = larger.distributions(states_of(larger))
    for other in (morphlm.load(tmp_path / "model"), pickle.loads(pickle.dumps(larger)), copy.deepcopy(larger)):
        assert other.distributions(states_of(other)).tobytes() == expected.tobytes()
        assert str(other.signature) == str(larger.signature)


def test_the_signature_and_the_record_name_the_words_that_were_added(tmp_path: Path) -> None:
    larger = extended(logbilinear())
    assert larger.training[EXTENDED] == len(NEW)
    assert f"|added:{len(NEW)}|" in str(larger.signature)
    assert "added" not in str(logbilinear().signature)
    assert "added" in str(extended(mixture(logbilinear(), ngrams())).signature)


def test_wide_contexts_can_be_fixed() -> None:
    larger, text = extended(logbilinear(wide=9)), [["domu", "školách", "řekou"], ["xyz", "polem"]]
    fixed, state = larger.after_text(text), larger.begin()
    for line in text:
        for word in [*line, "</s>"]:
            state = larger.score(state, word)[1]
        state = larger.next_sentence(state)
    np.testing.assert_allclose(fixed.distribution(fixed.begin()), larger.distribution(state), rtol=1e-5)


def test_vectors_of_new_words_are_composed() -> None:
    model = logbilinear()
    larger = extended(model)
    np.testing.assert_allclose(larger.vectors["domouška"], model.vectors["domouška"], rtol=1e-6)
    np.testing.assert_array_equal(larger.vectors["domu"], model.vectors["domu"])
    unknown = model.vectors["xyz"][: model.config.width]  # contexts see UNK
    np.testing.assert_allclose(larger.vectors["xyz"][: model.config.width], unknown, rtol=1e-6)


def test_what_is_left_of_unk_is_spelled() -> None:
    model = with_spelling(logbilinear())
    larger = model.extended(NEW, prepared=True)
    assert larger.log_share("xyz") == 0.0  # type: ignore[attr-defined]
    state = larger.begin()
    assert larger.score(state, "xyz")[0] > larger.score(state, "xyzq")[0]


# ---------------------------------------------------------------- compiled files


COMPILED = [name for name in MODELS if "wide" not in name and "cache" not in name]


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_files_score_alike(name: str, tmp_path: Path) -> None:
    larger = extended(MODELS[name]())
    export_compiled(larger, tmp_path / "model")
    compiled = morphlm.load(tmp_path / "model")
    words = [*range(END_ID, len(larger.vocabulary)), UNK_ID]
    for line in LINES:
        expected, actual = larger.begin(), compiled.begin()
        for word in line:
            expected, actual = larger.score(expected, word)[1], compiled.score(actual, word)[1]
        np.testing.assert_allclose(compiled.distribution(actual), larger.distribution(expected), rtol=1e-5, atol=1e-12)
        np.testing.assert_allclose(
            compiled.score_grid([actual], words), larger.score_grid([expected], words), rtol=0, atol=1e-5
        )


@pytest.mark.parametrize("name", COMPILED)
def test_the_native_scorer_agrees(name: str, tmp_path: Path) -> None:
    """Which also compares single and batched queries, and distributions that sum to 1."""
    larger = extended(MODELS[name]())
    export_compiled(larger, tmp_path / "model")
    lines = [*LINES, NEW, [*NEW[::-1], "domu", "<unk>"]]
    tokens = np.concatenate([np.append(larger.vocabulary.encode(line), END_ID) for line in lines]).astype(np.int32)
    np.testing.assert_allclose(native_scores(tmp_path / "model", lines), larger.score_tokens(tokens), rtol=0, atol=1e-5)


@pytest.mark.parametrize("unit", ["words", "classes", "morphemes"])
def test_a_cache_is_fixed_in_a_compiled_file(unit: Unit, tmp_path: Path) -> None:
    larger, text = extended(mixture(ngrams(), word_cache(unit, unknown=True))), [["domu", "školách"], ["xyz", "polem"]]
    export_compiled(larger, tmp_path / "model", after=text)
    compiled, fixed = morphlm.load(tmp_path / "model"), larger.after_text(text)
    for line in LINES:
        expected, actual = fixed.sentence(line), compiled.sentence(line)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("unit", ["words", "classes", "morphemes"])
def test_in_the_text_before_new_words_count_as_unknown_ones_do(unit: Unit, unknown: bool) -> None:
    """So that known words keep their probability, whatever the text before was."""
    model, text = word_cache(unit, unknown), [["domu", "školách", "xyz"], ["xyz", "polem"]]
    larger, known = extended(model), len(model.vocabulary)
    before, after = model.begin(), larger.begin()
    for sentence in text:
        for word in sentence:
            before, after = model.score(before, word)[1], larger.score(after, word)[1]
        before, after = model.next_sentence(before), larger.next_sentence(after)
    assert model.distribution(before)[1:].tobytes() == larger.distribution(after)[1:known].tobytes()


def test_a_neural_cache_holds_new_words_only_where_it_holds_unknown_ones() -> None:
    text = ["domu", "xyz", "</s>", "<unk>", "školách", "polem", "</s>"]
    for unknown, held in ((False, ["domu", "polem"]), (True, ["domu", "xyz", "<unk>", "školách", "polem"])):
        larger = extended(neural_cache(unknown))
        assert isinstance(larger, NeuralCacheModel)
        keys = larger._keys_of(larger.vocabulary.encode(text))
        assert [larger.vocabulary.words[word] for word in keys.words] == held


def test_a_wide_context_is_fixed_in_a_compiled_file(tmp_path: Path) -> None:
    larger = extended(logbilinear(wide=9))
    export_compiled(larger, tmp_path / "model", after=[["domu", "školách"]])
    fixed, lines = larger.after_text([["domu", "školách"]]), [NEW]
    tokens = np.append(larger.vocabulary.encode(NEW), END_ID).astype(np.int32)
    np.testing.assert_allclose(native_scores(tmp_path / "model", lines), fixed.score_tokens(tokens), rtol=0, atol=1e-5)


# ---------------------------------------------------------------- words and weights


def test_words_are_told_apart() -> None:
    model = logbilinear()
    listed = [
        "domu",
        "nové",
        "nové",
        "dvě slova",
        "",
        "<unk>",
        "<s>",
        "a\x07b",
        "a\x00b",
        "\x85",
        "q" * 500,
        "q" * 1001,
        "\ud800",
    ]
    found = sort_words(model, listed, prepared=True)
    assert found.new == ("nové", "q" * 500)
    assert (found.known, found.repeated) == (1, 1)
    assert [reason for _, reason in found.left_out] == [
        "white space inside",
        "white space inside",
        "a reserved mark",
        "a reserved mark",
        *["control characters"] * 3,
        "too long",
        "control characters",
    ]


def test_the_report_counts_what_is_known_of_words() -> None:
    result = extend(logbilinear(), [*NEW, "domu", "xyz", "a\x07"], prepared=True)
    assert (result.stem_known, result.affixes, result.unknown) == (5, 0, 3)
    assert result.to_json() == {
        "vocabulary": len(logbilinear().vocabulary) + len(NEW),
        "added": len(NEW),
        "stem_known": 5,
        "affixes": 0,
        "unknown": 3,
        "known": 1,
        "repeated": 1,
        "left_out": [{"word": "a\x07", "reason": "control characters"}],
    }
    assert result.format().splitlines() == [
        f"8 words added, {len(logbilinear().vocabulary) + 8} in all",
        "  of their morphemes: stem known 5, only affixes 0, nothing 3",
        "  in the vocabulary already 1, listed twice 1",
        "  left out, control characters: 1 ('a\\x07')",
    ]


def test_words_get_the_form_of_the_training_text() -> None:
    model = copy.copy(logbilinear())
    model.training = model.training | {"preparation": {"normalisation": "lc+digits"}}
    assert sort_words(model, ["Školách", "ROK2024", "DOMU"]).new == ("školách", "rok0000")
    assert sort_words(model, ["Školách", "DOMU"], prepared=True).new == ("Školách", "DOMU")


def vocabulary_of(**counts: int) -> Vocabulary:
    return Vocabulary(("<unk>", "<s>", "</s>", *counts), np.array([5, 10, 10, *counts.values()], np.int64))


def test_estimates_come_from_words_of_the_same_shape() -> None:
    vocabulary = vocabulary_of(a=100, b=80, abcdef=2, ghijkl=1, mnopqr=1)
    short, long, strange = shape_estimates(vocabulary, ["z", "zzzzzz", "q" * 40])
    mean = 184 / 5
    by_length = (180 + 5 * mean) / 7
    assert short == pytest.approx((180 + 5 * by_length) / 7)
    assert long < mean < short
    assert strange == pytest.approx(mean)
    assert unseen_tokens(vocabulary) == 2
    assert unseen_tokens(vocabulary_of(a=100)) == 5
    assert unseen_tokens(Vocabulary(("<unk>", "<s>", "</s>", "a", "b"), np.zeros(5, np.int64))) == 2
    assert shape_estimates(Vocabulary(("<unk>", "<s>", "</s>"), np.zeros(3, np.int64)), ["x"]).tolist() == [1.0]


@given(estimate=st.floats(1e-3, 1e4), count=st.integers(0, 1000), scale=st.floats(1e-3, 1e3))
def test_counts_correct_estimates(estimate: float, count: int, scale: float) -> None:
    """The result lies between the estimate and what the text says."""
    corrected = float(with_counts(np.array([estimate]), np.array([float(count)]), scale)[0])
    low, high = sorted((estimate, count / scale))
    assert low * (1 - 1e-9) <= corrected <= high * (1 + 1e-9)


def test_a_text_tells_how_frequent_words_are() -> None:
    model, text = logbilinear(), [["školách", "domu"]] * 30 + [["xyz"]]
    larger = model.extended(["školách", "ulicích", "xyz"], text)
    plain, counted = (
        model.extended(["školách", "ulicích", "xyz"]),
        model.extended({"školách": 40, "ulicích": 0, "xyz": 1}),
    )
    known, state = len(model.vocabulary), model.begin()
    for other in (larger, counted):
        ratio = other.distribution(state)[known:] / plain.distribution(state)[known:]
        assert ratio[0] > 2
        assert ratio[1] < 1


def test_what_cannot_be_extended_is_refused_by_name(tmp_path: Path) -> None:
    for kind in ("clbl", "lbl+c"):
        with pytest.raises(ConfigError, match=f"the kind {kind.replace('+', '[+]')} has no factors"):
            logbilinear(kind).extended(["nové"])
    without = logbilinear()
    assert without.structure.factors is not None
    structure = replace(without.structure, factors=replace(without.structure.factors, analyser=None))
    with pytest.raises(ConfigError, match="come from a list of words"):
        LogBilinearModel(without.config, structure, without.parameters, {}).extended(["nové"])
    export_compiled(logbilinear(), tmp_path / "compiled")
    with pytest.raises(ConfigError, match="extend the model that it was exported from"):
        morphlm.load(tmp_path / "compiled").extended(["nové"])
    closed = ngrams()
    trie = replace_logprob(closed)
    with pytest.raises(ConfigError, match="gives unknown words no probability"):
        NgramModel(trie, closed.vocabulary, {}).extended(["nové"])
    with pytest.raises(ConfigError, match="an ARPA file cannot say"):
        ngrams().extended(["nové"]).write_arpa(tmp_path / "text.arpa")  # type: ignore[attr-defined]
    assert not (tmp_path / "text.arpa").exists()


def replace_logprob(model: NgramModel) -> NgramTrie:
    logprob = model.trie.logprob.copy()
    logprob[model.trie.words == UNK_ID] = -np.inf
    return NgramTrie(
        model.trie.sizes, model.trie.words, logprob, model.trie.suffix, model.trie.backoff, model.trie.first_child
    )


def test_wrong_arguments_are_refused() -> None:
    model = logbilinear()
    with pytest.raises(ArgumentTypeError, match="a single string"):
        model.extended("nové")
    with pytest.raises(ArgumentTypeError, match="3 is no word"):
        model.extended(["nové", 3])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match="give one of them"):
        model.extended({"nové": 3}, [["nové"]])
    for count in (-1, math.inf, "3"):
        with pytest.raises(ConfigError, match="give a number from 0 on"):
            model.extended({"nové": count})


@pytest.mark.parametrize("kind", ["clbl++", "clbl+o"])
def test_words_of_which_contexts_know_nothing_weigh_nothing_in_wide_contexts(kind: str) -> None:
    larger = extended(logbilinear(kind, wide=9))
    assert isinstance(larger, LogBilinearModel)
    weights = content_weights(larger.structure)
    composed = [kind == "clbl++" and word not in ("xyz", "x", "q" * 500) for word in NEW]
    assert weights[-len(NEW) :].tolist() == [float(known) for known in composed]
    old = content_weights(logbilinear(kind, wide=9).structure)
    assert weights[: len(old)].tobytes() == old.tobytes()


def test_new_words_complete_a_prefix() -> None:
    larger = extended(logbilinear())
    state = larger.begin()
    assert [word for word, _ in larger.completions(state, "domouš")] == ["domouška"]
    assert larger.prefix(state, "domouš") == pytest.approx(larger.score(state, "domouška")[0])
    assert logbilinear().completions(logbilinear().begin(), "domouš") == []


def test_begin_has_no_probability() -> None:
    larger = extended(logbilinear())
    assert larger.distribution(larger.begin())[BEGIN_ID] == 0
    assert larger.score_id(larger.begin(), BEGIN_ID)[0] == -math.inf
