"""Segmentations without labels are what the real Morfessor reads."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from morphlm.segmentation.segmenter import MorphemeSegmenter, train_segmenter
from morphlm.segmentation.sources.morfessor import read_morfessor
from tests.cli.test_segment import TRAINING, WORDS, Command

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    morfessor = pytest.importorskip("morfessor")

# Morfessor leaves its files open.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


def segmenter() -> MorphemeSegmenter:
    return train_segmenter(dict.fromkeys(WORDS, 3), perplexity_threshold=3.0)


def morfessor_model(path: Path) -> Any:
    model = morfessor.BaselineModel()
    model.load_segmentations(morfessor.MorfessorIO(encoding="utf-8").read_segmentation_file(str(path)))
    return model


def test_morfessor_reads_what_is_written_without_labels(tmp_path: Path) -> None:
    ours = segmenter()
    ours.write_segmentation(tmp_path / "segmentation.txt", labels=False)
    model = morfessor_model(tmp_path / "segmentation.txt")
    expected = {word: [morpheme.form for morpheme in ours.segment(word)] for word in WORDS}
    assert {word: parts for _, word, parts in model.get_segmentations()} == expected
    assert {letter for _, word, _ in model.get_segmentations() for letter in word} == set("".join(WORDS))
    assert model.viterbi_segment("vlakech")[0] == ["vlak", "ech"]


def test_with_labels_morfessor_would_take_them_for_letters(tmp_path: Path) -> None:
    segmenter().write_segmentation(tmp_path / "segmentation.txt")
    assert any("/" in word for _, word, _ in morfessor_model(tmp_path / "segmentation.txt").get_segmentations())


def test_both_files_come_back(tmp_path: Path) -> None:
    ours = segmenter()
    for labels in (True, False):
        ours.write_segmentation(tmp_path / "segmentation.txt", labels=labels)
        again = read_morfessor(tmp_path / "segmentation.txt")
        for word in WORDS:
            assert [one.form for one in again[word]] == [one.form for one in ours.segment(word)]
            assert {one.label is None for one in again[word]} == {not labels}


def test_the_command_writes_files_for_morfessor(tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "text.txt").write_text(" ".join(WORDS) + "\n")
    arguments = ["segment", "--train", tmp_path / "text.txt", "--no-labels", *TRAINING]
    outcome = morphlm_command(*arguments, "--out", tmp_path / "segmentation.txt", "--save", tmp_path / "segmenter")
    assert outcome.status == 0
    assert "1 vlak + ovi\n" in (tmp_path / "segmentation.txt").read_text()
    assert morfessor_model(tmp_path / "segmentation.txt").viterbi_segment("vlakech")[0] == ["vlak", "ech"]
    words = morphlm_command("segment", "--load", tmp_path / "segmenter", "--no-labels", "vlakovi")
    assert words.stdout == "vlakovi\tvlak + ovi\n"
    as_json = morphlm_command("segment", "--load", tmp_path / "segmenter", "--no-labels", "--json", "vlakovi")
    assert as_json.stdout == '{"word": "vlakovi", "morphemes": ["vlak", "ovi"]}\n'
