"""The trained segmenter: quality on a language whose truth is known, new words, files, every script."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm.errors import ConfigError, FormatError, InputError
from morphlm.modelfile import ModelFiles, read_model, write_model
from morphlm.ngram.training import train_ngram
from morphlm.segmentation.morphemes import LABELS, Morpheme, letters
from morphlm.segmentation.segmenter import MorphemeSegmenter, train_segmenter
from morphlm.vocabulary.vocabulary import Vocabulary
from morphlm_generated import GeneratedConfig, generate_sentences, gold_segmentation

HELD_OUT = 5  # every fifth word


@cache
def gold() -> dict[str, list[str]]:
    sentences = generate_sentences(GeneratedConfig(sentences=3000), 3)
    return {
        form: [morph.rpartition("/")[0] for morph in analysis.split()]
        for form, analysis in gold_segmentation(sentences)
    }


@cache
def trained() -> MorphemeSegmenter:
    return train_segmenter({word: 1 for i, word in enumerate(gold()) if i % HELD_OUT}, corpus_weight=1.0)


def boundaries(forms: list[str]) -> set[int]:
    return set(np.cumsum([len(form) for form in forms])[:-1].tolist())


def f1(words: list[str], segment: Callable[[str], tuple[Morpheme, ...]]) -> float:
    correct = both = 0
    for word in words:
        found, true = boundaries([m.form for m in segment(word)]), boundaries(gold()[word])
        correct += len(found & true)
        both += len(found) + len(true)
    return 2 * correct / both


def test_the_generated_language_is_segmented_well() -> None:
    """F1 is 0.404 on training words and 0.461 on new ones (seed 1); the baseline alone has 0.327 and 0.299."""
    words = list(trained().segmentation)
    new = [word for i, word in enumerate(gold()) if i % HELD_OUT == 0]
    baseline = train_segmenter(dict.fromkeys(words, 1), corpus_weight=1.0, categories=False)
    for part, bound in ((words, 0.39), (new, 0.44)):
        assert f1(part, trained().segment_all(part).__getitem__) > bound
        assert f1(part, baseline.segment_all(part).__getitem__) < bound - 0.05


def test_every_analysis_has_a_stem_and_gives_the_word() -> None:
    words = [*list(gold())[:300], "x", "qqq", "ŧħŋ", "a" * 500]
    for word in words:
        analysis = trained().segment(word)
        assert "".join(morpheme.form for morpheme in analysis) == word
        labels = [morpheme.label for morpheme in analysis]
        assert "STM" in labels
        assert set(labels) <= set(LABELS)
        assert labels[0] != "SUF"
        assert labels[-1] != "PRE"


def test_a_new_stem_with_a_known_ending_gives_the_ending() -> None:
    """Stems that no training word has, before suffixes that many have."""
    stems = ["dom", "strom", "hrad", "pes", "vlak", "most", "okres", "kabát", "národ", "papír", "úřad", "život"]
    endings = ["", "ovi", "em", "ech", "ových", "ama"]
    segmenter = train_segmenter({stem + ending: 1 for stem in stems for ending in endings}, perplexity_threshold=3.0)
    for ending in ("ovi", "ových", "ama"):
        assert segmenter.segment(f"xyloq{ending}") == (Morpheme("xyloq", "STM"), Morpheme(ending, "SUF"))
    assert segmenter.segment("xyloq") == (Morpheme("xyloq", "STM"),)


def test_without_categories_morphs_have_no_labels() -> None:
    segmenter = train_segmenter(dict.fromkeys(list(gold())[:400], 1), categories=False)
    analyses = [*segmenter.segmentation.analyses.values(), segmenter.segment("neznamy")]
    assert {morpheme.label for analysis in analyses for morpheme in analysis} == {None}
    assert any(len(analysis) > 1 for analysis in analyses)


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    trained().save(tmp_path / "segmenter")
    loaded = MorphemeSegmenter.load(tmp_path / "segmenter")
    assert loaded.segmentation == trained().segmentation
    assert loaded.config == trained().config
    assert list(loaded.lines()) == list(trained().lines())
    new = [word for i, word in enumerate(gold()) if i % HELD_OUT == 0]
    assert loaded.segment_all(new) == trained().segment_all(new)


@pytest.mark.parametrize("categories", [True, False])
def test_equal_seeds_give_equal_bytes(tmp_path: Path, categories: bool) -> None:
    words = dict.fromkeys(list(gold())[:300], 2)
    for name in ("one", "two"):
        train_segmenter(words, seed=5, dampening="tokens", categories=categories).save(tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_a_damaged_or_foreign_directory_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "segmenter"
    train_segmenter({"ab": 1, "abab": 1}).save(place)
    morphemes = place / "morphemes.tsv"
    morphemes.write_text(morphemes.read_text().replace("a", "b"))
    with pytest.raises(FormatError, match=r"morphemes\.tsv"):
        MorphemeSegmenter.load(place)
    train_ngram([["a"]], order=1).save(tmp_path / "other")
    with pytest.raises(FormatError, match="not a segmenter"):
        MorphemeSegmenter.load(tmp_path / "other")


@pytest.mark.parametrize(
    "change",
    [
        {"morphemes.tsv": None},
        {"segmentation.txt": None},
        {"morphemes.tsv": ""},
        {"morphemes.tsv": "ab\tmany\n"},
        {"segmentation.txt": "ab/STM\n"},
        {"segmentation.txt": "1 ab/STM\n1 ab/STM\n"},
        {"emissions": None},
        {"emissions": np.zeros((1, 3))},
        {"transitions": np.zeros((4, 5))},
        {"new_stem": np.zeros(0)},
        {"configuration": {"corpus_weight": 1.0, "flavour": "sweet"}},
        {"self_test": [{"tokens": ["ab"]}]},
        {"self_test": ["ab"]},
        {"self_test": [{"word": "", "best_path": ""}]},
    ],
)
def test_parts_that_do_not_fit_are_refused_though_the_hashes_are_right(tmp_path: Path, change: dict[str, Any]) -> None:
    place = tmp_path / "segmenter"
    train_segmenter({"ab": 1, "abab": 1}).save(place)
    files = read_model(place)
    parts: dict[str, Any] = {
        **files.texts,
        **files.tensors,
        "configuration": files.configuration,
        "self_test": files.self_test,
    }
    parts = {name: part for name, part in (parts | change).items() if part is not None}
    texts = {name: part for name, part in parts.items() if isinstance(part, str)}
    tensors = {name: part for name, part in parts.items() if isinstance(part, np.ndarray)}
    write_model(place, ModelFiles("segmenter", parts["configuration"], {}, tensors, texts, parts["self_test"]))
    with pytest.raises(FormatError, match=r"segmenter[:/].*(train it again|make the model again)"):
        MorphemeSegmenter.load(place)


def test_lines_are_flatcats(tmp_path: Path) -> None:
    segmenter = train_segmenter({"neděl": 3, "děl": 2}, dampening="tokens")
    assert list(segmenter.lines()) == ["3 neděl/STM", "2 děl/STM"]
    segmenter.write_segmentation(tmp_path / "out.txt.gz")
    assert (tmp_path / "out.txt.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_a_vocabulary_is_taken_without_its_marks() -> None:
    vocabulary = Vocabulary(("<unk>", "<s>", "</s>", "bota", "boty"), np.array([0, 2, 2, 5, 1]))
    assert list(train_segmenter(vocabulary).segmentation) == ["bota", "boty"]


SCRIPTS = {
    "Finnish": ["taloissa", "talossa", "talosta", "autoissa", "autossa", "autosta", "kylässä", "kylästä"],
    "Turkish": ["kapılar", "kapıdan", "evler", "evden", "İzmir", "ızgara", "ağaçlar", "ağaçtan"],
    "Greek": ["λόγος", "λόγου", "δρόμος", "δρόμου", "ΐδιος"],
    "Georgian": ["სახლი", "სახლები", "წიგნი", "წიგნები"],
    "Arabic": ["كِتَاب", "كُتُب", "مَدْرَسَة", "وَكِتَاب"],
    "Hindi": ["किताबें", "किताबों", "लड़कियाँ", "लड़कियों", "क्षत्रिय"],
}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("weight", [0.01, 1.0])
def test_scripts(script: str, weight: float) -> None:
    """Marks stay with their letter even where the weight makes the search cut nearly everywhere."""
    words = SCRIPTS[script]
    segmenter = train_segmenter(
        {unicodedata.normalize("NFD", word): 1 for word in words}, corpus_weight=weight, perplexity_threshold=2.0
    )
    assert list(segmenter.segmentation) == [unicodedata.normalize("NFC", word) for word in words]
    for word in [*words, *(word + words[0] for word in words)]:
        analysis = segmenter.segment(unicodedata.normalize("NFD", word))
        assert "".join(m.form for m in analysis) == unicodedata.normalize("NFC", word)
        atoms = letters(word)
        assert [atom for m in analysis for atom in letters(m.form)] == atoms


def test_dotted_and_dotless_i_are_different_letters() -> None:
    assert train_segmenter({"ısı": 1, "isi": 1}).paths.morphs == ("isi", "ısı")


@pytest.mark.parametrize("word", ["a", "á", "ab", "क्ष", "x" * 500, "abc" * 166])
@pytest.mark.parametrize("categories", [True, False])
def test_one_word(word: str, categories: bool) -> None:
    segmenter = train_segmenter({word: 7}, categories=categories)
    for name in (word, "b", "ab" * 250):
        assert "".join(m.form for m in segmenter.segment(name)) == name


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="no words"):
        train_segmenter({})
    with pytest.raises(ConfigError, match="corpus_weight"):
        train_segmenter({"a": 1}, corpus_weight=0.0)
    with pytest.raises(ConfigError, match="perplexity_threshold"):
        train_segmenter({"a": 1}, perplexity_threshold=0.5)
    with pytest.raises(ConfigError, match="dampening"):
        train_segmenter({"a": 1}, dampening="root")
    with pytest.raises(InputError, match="empty word"):
        trained().segment("")
