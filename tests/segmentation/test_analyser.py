"""Factors of words never seen: the same as the source would give, also after a model was saved and loaded."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import FormatError
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.modelfile import ModelFiles, write_model
from morphlm.scoring.loading import load
from morphlm.segmentation.analyser import MORPHS_FILE, analyser_from_files
from morphlm.segmentation.encoding import encode_letters, make_letters
from morphlm.segmentation.factors import Factors, build_factors
from morphlm.segmentation.kernels.paths import CATEGORIES
from morphlm.segmentation.kernels.strings import key_of, slot_of
from morphlm.segmentation.new_words import PathModel
from morphlm.segmentation.source_spec import choose_source
from morphlm.segmentation.sources.factorisation import KIND_FILE, from_mapping
from morphlm.training.inputs import InputOptions, prepare_inputs
from tests.segmentation.small import SOURCES, factors_of, model_of, model_with, segmenter, vocabulary
from tests.training.small import ENDINGS, STEMS, sentences

NEW = ["domou", "školem", "ulicemou", "brouk", "", "x" * 5000, "ščřžď", unicodedata.normalize("NFD", "řekyou")]
WORDS = st.lists(st.sampled_from([*STEMS, *ENDINGS, *"xáe\u0301"]), min_size=1, max_size=5).map("".join)


def names(factors: Factors, word: str) -> list[str]:
    return [factors.names[k] for k in factors.of_new_word(word)]


@pytest.mark.parametrize("categories", [True, False])
@given(words=st.lists(WORDS, min_size=1, max_size=5))
def test_a_new_word_has_the_known_ones_of_its_segmenter_s_morphemes(categories: bool, words: list[str]) -> None:
    factors = factors_of("segmenter" if categories else "baseline")
    paths = replace(segmenter(categories), segmentation=replace(segmenter().segmentation, analyses={}))
    expected = [[str(m) for m in paths.segment(word) if str(m) in factors.ids] for word in words]
    assert [[factors.names[k] for k in ids] for ids in factors.of_new_words(words)] == expected
    assert [names(factors, word) for word in words] == expected


def test_endings_and_stems_of_new_words_are_found_by_hand() -> None:
    assert names(factors_of("segmenter"), "domou") == ["dom/STM", "ou/SUF"]
    assert names(factors_of("segmenter"), "xxxem") == ["em/SUF"]
    assert names(factors_of("baseline"), "domemy") == ["dom", "em", "y"]
    assert names(factors_of("ngrams"), "domx") == ["<d", "do", "om", "<do", "dom"]
    assert names(factors_of("pieces"), "") == []


@pytest.mark.parametrize("source", SOURCES)
def test_the_form_of_unicode_does_not_matter(source: str) -> None:
    factors = factors_of(source)
    for form in ("NFC", "NFD"):
        assert np.array_equal(factors.of_new_word(unicodedata.normalize(form, "řekem")), factors.of_new_word("řekem"))
    assert len(factors.of_new_word("řekem")) > 0


@pytest.mark.parametrize("source", SOURCES)
def test_nothing_comes_of_nothing_and_of_endless_words(source: str) -> None:
    factors = factors_of(source)
    none, endless = factors.of_new_words(["", "dom" * 400])
    assert (len(none), len(endless), none.dtype) == (0, 0, np.int32)
    assert factors.of_new_words([]) == []


def test_thousands_of_words_are_segmented_as_they_are_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    factors, words = factors_of("segmenter"), [stem + ending * k for stem in STEMS for ending in "ayou" for k in (1, 2)]
    alone = [factors.of_new_word(word).tolist() for word in words]
    monkeypatch.setattr("morphlm.segmentation.new_words.WORDS_A_CALL", 7)
    assert [ids.tolist() for ids in factors.of_new_words(words)] == alone


def test_nobody_can_choose_morphs_that_share_their_slots() -> None:
    """Else a table of 200,000 morphs of a stranger's takes a minute to fill, and one of a million half an hour."""
    alphabet = {letter: number for number, letter in enumerate("abcdefghijklmnop")}
    words = ["".join(letters) for letters in product(alphabet, repeat=4)]
    text, bounds = encode_letters(words, alphabet)
    known_codes, slots = make_letters(text, len(alphabet), 4), np.empty(4096)
    slot_of_word = [slot_of(np.uint64(key_of(known_codes, start, 4)), slots) for start in bounds[:-1]]
    chosen = [word for word, slot in zip(words, slot_of_word, strict=True) if slot < len(slots) // 32]
    morphs = tuple(sorted({*alphabet, *chosen[:2000]}))
    costs = np.ones((len(morphs), CATEGORIES))
    paths = PathModel(morphs, np.ones(len(morphs), np.int64), costs, np.ones((CATEGORIES + 1, CATEGORIES + 1)), 1.0)
    table = paths._costs.table
    assert len(table.slots) == len(slots)
    free = np.flatnonzero(np.concatenate([[-1], table.slots, [-1]]) < 0)
    assert np.diff(free).max() < 200  # filled slots one after the other; with known codes about 1900
    assert [form for forms, _ in paths.pieces([morphs[-1]]) for form in forms] == [morphs[-1]]


def test_a_list_of_words_knows_no_others() -> None:
    factors = build_factors(vocabulary(), from_mapping({"domu": ["dom", "u"]}, "table"))
    assert factors.analyser is None
    assert [ids.tolist() for ids in factors.of_new_words(["domx", "domu"])] == [[], []]


# ---------------------------------------------------------------- in a model


def loaded_factors(path: Path) -> Factors:
    model = load(path)
    assert isinstance(model, LogBilinearModel)
    assert model.structure.factors is not None
    return model.structure.factors


@pytest.mark.parametrize("source", SOURCES)
def test_a_model_keeps_its_analyser(tmp_path: Path, source: str) -> None:
    factors = factors_of(source)
    model_with(source).save(tmp_path / "one")
    again = loaded_factors(tmp_path / "one")
    for word, ids in zip(NEW, factors.of_new_words(NEW), strict=True):
        assert np.array_equal(again.of_new_word(word), ids), word
    model_of(again).save(tmp_path / "two")
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_model_without_one_is_loaded_as_ever(tmp_path: Path) -> None:
    model_of(replace(factors_of("segmenter"), analyser=None)).save(tmp_path / "model")
    assert loaded_factors(tmp_path / "model").analyser is None
    assert KIND_FILE not in {path.name for path in (tmp_path / "model").iterdir()}


def test_an_analyser_comes_with_every_form_of_a_segmenter(tmp_path: Path) -> None:
    segmenter().save(tmp_path / "segmenter")
    for given_factors in (segmenter(), f"segmenter:{tmp_path / 'segmenter'}", None, "ngrams:2-3", "bpe:40"):
        inputs = prepare_inputs(sentences(60, 1), sentences(9, 2), InputOptions(factors=given_factors), classes=False)
        assert inputs.factors is not None
        assert len(inputs.factors.of_new_word("domou")) > 0, given_factors


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("categories", [True, False])
def test_a_segmenter_by_its_name_analyses_new_words_with_the_labels_of_known_ones(
    tmp_path: Path, categories: bool, labels: bool
) -> None:
    segmenter(categories).save(tmp_path / "segmenter")
    source = choose_source(f"segmenter:{tmp_path / 'segmenter'}", vocabulary(), labels=labels)
    expected = ["dom/STM", "ou/SUF"] if categories and labels else ["dom", "ou"]
    assert names(build_factors(vocabulary(), source), "domou") == expected


def test_lengths_of_ngrams_that_cannot_be_are_refused() -> None:
    files = changed(
        model_with("ngrams").to_files({}), {KIND_FILE: json.dumps({"kind": "ngrams", "shortest": 4, "longest": 3})}
    )
    with pytest.raises(FormatError, match=r"analyser\.json.*4 to 3 letters"):
        analyser_from_files(files.texts, files.tensors)


def changed(files: ModelFiles, change: dict[str, Any]) -> ModelFiles:
    texts = {**files.texts, **{name: value for name, value in change.items() if isinstance(value, str)}}
    tensors = {**files.tensors, **{name: value for name, value in change.items() if not isinstance(value, str)}}
    return replace(files, texts=texts, tensors=tensors)


@pytest.mark.parametrize(
    "change",
    [
        {KIND_FILE: "{"},
        {KIND_FILE: "[]"},
        {KIND_FILE: json.dumps({"kind": "crystal ball"})},
        {KIND_FILE: json.dumps({"kind": "morphemes", "labels": True, "more": 1})},
        {MORPHS_FILE: "dom\t1\n"},
        {MORPHS_FILE: ""},
        {"analyser.transitions": np.zeros((5, 4))},
        {"analyser.emissions": np.zeros((1, 4))},
        {"analyser.new_stem": np.zeros(0)},
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    write_model(tmp_path / "model", changed(model_with().to_files({}), change))
    with pytest.raises(FormatError, match=r"analyser\."):
        load(tmp_path / "model")


def test_parts_of_an_analyser_that_are_missing_are_named(tmp_path: Path) -> None:
    files = model_with().to_files({})
    tensors = {name: tensor for name, tensor in files.tensors.items() if name != "analyser.emissions"}
    write_model(tmp_path / "model", replace(files, tensors=tensors))
    with pytest.raises(FormatError, match=r"the tensor analyser\.emissions is missing"):
        load(tmp_path / "model")


@pytest.mark.parametrize("name", [KIND_FILE, MORPHS_FILE])
def test_a_damaged_analyser_is_refused_by_its_name(name: str, tmp_path: Path) -> None:
    model_with().save(tmp_path / "model")
    path = tmp_path / "model" / name
    for content in (path.read_bytes()[:-1], path.read_bytes().replace(b"m", b"n", 1), None):
        path.unlink() if content is None else path.write_bytes(content)
        with pytest.raises(FormatError, match=name):
            load(tmp_path / "model")
