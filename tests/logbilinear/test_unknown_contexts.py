"""Contexts from another stream than the targets, and unknown words in contexts as the sum of their known factors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.arrays import Float64Array, Int32Array
from morphlm.logbilinear import engine as engine_module
from morphlm.logbilinear.config import VARIANTS
from morphlm.logbilinear.engine import Engine
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.structure import Structure, build_structure, with_new_words
from morphlm.scoring.loading import load
from morphlm.segmentation.factors import build_factors
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.threads import Workers
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID
from tests.training.small import sentences, task

from . import reference
from .cases import Case, make_case

WITH_CONTEXT_FACTORS = [kind for kind in VARIANTS if kind.endswith(("+c", "++"))]
TEXT = [["domu", "domouška", "školou"], [], ["ulicem", "xyz", "<unk>", "poleň", "domu"]]


def random_contexts(rng: np.random.Generator, stream: Int32Array, ids: int) -> Int32Array:
    """Any words, new ones among them, between the same ends of sentences."""
    drawn = rng.integers(END_ID + 1, ids, len(stream)).astype(np.int32)
    return np.where(stream == END_ID, np.int32(END_ID), drawn)


def expected(case: Case, structure: Structure, contexts: Int32Array) -> Float64Array:
    """By the reference, with a row of M for each new word."""
    matrix = np.zeros((len(structure.context.rows.starts) - 1, structure.context.factors))
    for word, begin in enumerate(structure.context.rows.starts[:-1].tolist()):
        np.add.at(matrix[word], structure.context.rows.items[begin : structure.context.rows.starts[word + 1]], 1)
    positions = range(len(contexts))
    problem = replace(
        case.problem(),
        context_matrix=matrix,
        contexts=[reference.context_of(contexts.tolist(), at, case.config.order) for at in positions],
    )
    return reference.log_probabilities(reference.tables_of(case.parameters), problem)


@given(
    kind=st.sampled_from(VARIANTS),
    diagonal=st.booleans(),
    new=st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=5),
    seed=st.integers(0, 1 << 16),
    piece=st.integers(1, 50),
)
@settings(max_examples=40)
def test_contexts_of_another_stream(
    kind: str, diagonal: bool, new: list[list[int]], seed: int, piece: int, one: Workers
) -> None:
    """Whatever the factors of the new words; minibatches begin inside of sentences too."""
    case = make_case(kind, diagonal, words=10, tokens=40, seed=seed)
    structure = with_new_words(case.structure, [np.array(factors, np.int32) for factors in new])
    contexts = random_contexts(np.random.default_rng(seed), case.stream, 10 + len(new))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_module, "EVALUATED_TOKENS", piece)
        engine = Engine(case.config, structure, case.parameters, one)
        actual = engine.log_probabilities(case.stream, contexts=contexts)
    assert np.abs(actual - expected(case, structure, contexts)).max() < 1e-5


@pytest.mark.parametrize("kind", VARIANTS)
def test_the_same_stream_gives_the_same_bytes(kind: str, one: Workers) -> None:
    case = make_case(kind, words=25, tokens=200)
    structure = with_new_words(case.structure, [np.array([4, 5], np.int32)])
    alone = case.engine(one).log_probabilities(case.stream)
    given_twice = Engine(case.config, structure, case.parameters, one).log_probabilities(
        case.stream, contexts=case.stream.copy()
    )
    assert alone.tobytes() == given_twice.tobytes()


def test_new_words_have_their_factors_or_those_of_unk() -> None:
    structure = make_case("clbl++").structure
    extended = with_new_words(structure, [np.array([7, 3, 7], np.int32), np.zeros(0, np.int32)]).context
    starts, items = extended.rows
    words = len(structure.vocabulary)
    assert len(starts) == words + 3
    assert items[starts[words] : starts[words + 1]].tolist() == [7, 3, 7]
    assert items[starts[words + 1] : starts[words + 2]].tolist() == items[: starts[UNK_ID + 1]].tolist()
    assert items[: starts[words]].tolist() == structure.context.rows.items.tolist()
    assert (extended.factors, extended.surfaces) == (structure.context.factors, structure.context.surfaces)


# ---------------------------------------------------------------- models


def make(kind: str, *, analyser: bool = True) -> LogBilinearModel:
    wanted = task(kind)
    old = wanted.structure
    factors = build_factors(old.vocabulary, character_ngrams(2, 3))
    factors = factors if analyser else replace(factors, analyser=None)
    structure = build_structure(wanted.config, old.vocabulary, old.partition, factors)
    parameters = initial_parameters(wanted.config, structure, 7, 0.7)
    return LogBilinearModel(wanted.config, structure, parameters, {"seed": 7, "kappa": 0.5, "recipe": "paper"})


def composed(model: LogBilinearModel, text: list[list[str]] = TEXT) -> Float64Array:
    return model.score_text(text, allow_unknown=True, unknown_contexts="composed").logprobs


def plain(model: LogBilinearModel, text: list[list[str]] = TEXT) -> Float64Array:
    return model.score_text(text, allow_unknown=True).logprobs


@pytest.mark.parametrize("kind", VARIANTS)
def test_which_models_compose(kind: str) -> None:
    model, without = make(kind), make(kind, analyser=False)
    assert model.composes_contexts == (kind in WITH_CONTEXT_FACTORS)
    assert not without.composes_contexts
    assert composed(without).tolist() == plain(without).tolist()
    if not model.composes_contexts:
        assert composed(model).tolist() == plain(model).tolist()


@pytest.mark.parametrize("kind", WITH_CONTEXT_FACTORS)
def test_composed_contexts_are_the_sums_of_known_factors(kind: str) -> None:
    """Those of the reference; words without a known factor, and <unk>, are UNK."""
    model = make(kind)
    factors = model.structure.factors
    assert factors is not None
    words = list(dict.fromkeys(word for sentence in TEXT for word in sentence if word not in model.vocabulary))
    words.remove("<unk>")
    assert len(factors.of_new_word("domouška")) > 2
    assert len(factors.of_new_word("xyz")) == 0
    structure = with_new_words(model.structure, [factors.of_new_word(word) for word in words])
    ids = {word: len(model.vocabulary) + number for number, word in enumerate(words)} | model.vocabulary.ids
    contexts = np.array([ids[word] for sentence in TEXT for word in (*sentence, "</s>")], np.int32)
    targets = np.where(contexts < len(model.vocabulary), contexts, np.int32(UNK_ID))
    case = Case(model.config, model.structure, model.parameters, targets)
    actual = composed(model)
    assert np.abs(actual - expected(case, structure, contexts)).max() < 1e-5
    after_composed = [2, 3]  # of the first sentence; there are two words before each token
    assert (np.abs(actual - plain(model))[after_composed] > 1e-3).all()
    assert actual[:2].tolist() == plain(model)[:2].tolist()


def test_words_without_known_factors_stay_unk() -> None:
    model = make("clbl++")
    text = [["xyz", "domu", "<unk>", "žžž"], ["školou", "xyz", "domu"]]
    assert composed(model, text).tolist() == plain(model, text).tolist()


def test_a_word_with_the_factors_of_another_is_like_it_in_contexts() -> None:
    """All its factors, the surface form too: then nothing tells them apart."""
    model = make("clbl++")
    known = ["domu", "školou", "poly"]
    tokens = np.array([*model.vocabulary.encode(known), END_ID], np.int32)
    structure = model.structure
    rows = structure.context.rows
    factors = [rows.items[rows.starts[word] : rows.starts[word + 1]] for word in tokens[:2].tolist()]
    new = tokens.copy()
    new[:2] = len(model.vocabulary) + np.arange(2)
    assert (
        model._score_text(tokens, new, with_new_words(structure, factors)).tolist()
        == model.score_tokens(tokens).tolist()
    )


def test_figures_say_that_contexts_are_composed_also_after_loading(tmp_path: Path) -> None:
    model = make("clbl++")
    text = [*TEXT, *sentences(5, 9, rare=True)]
    actual = model.perplexity(text, allow_unknown=True, unknown_contexts="composed")
    usual = model.perplexity(text, allow_unknown=True)
    assert "|unk:scored|ctx:composed|eos:yes|" in str(actual.signature)
    assert "ctx" not in str(usual.signature)
    assert actual.including_unknown != usual.including_unknown
    assert (actual.tokens, actual.unknown) == (usual.tokens, usual.unknown)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.perplexity(text, allow_unknown=True, unknown_contexts="composed") == actual
