from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

import morphlm
import morphlm.segmentation
from tests.training.small import sentences

GUIDE = Path(__file__).parents[2] / "docs" / "howto" / "morphemes.md"


def test_the_public_names_are_exactly_these() -> None:
    assert sorted(vars(morphlm.segmentation)["__all__"]) == [
        "BoundaryScores",
        "FactorSource",
        "Factorisation",
        "Factors",
        "Gold",
        "Morpheme",
        "MorphemeSegmenter",
        "RestorableWordFactors",
        "Segmentation",
        "SegmenterConfig",
        "WordFactors",
        "as_factorisation",
        "build_factors",
        "character_ngrams",
        "choose_source",
        "evaluate",
        "read_conllu",
        "read_gold",
        "read_morfessor",
        "read_table",
        "register_factor_source",
        "train_pieces",
        "train_segmenter",
    ]
    for name in vars(morphlm.segmentation)["__all__"]:
        assert getattr(morphlm.segmentation, name) is not None


def test_the_guide_s_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    lines = {"train.txt": [" ".join(s) for s in sentences(60, 1)], "dev.txt": [" ".join(s) for s in sentences(9, 2)]}
    lines["gold.tsv"] = ["škola\tškol/STM a/SUF", "domu\tdom/STM u/SUF"]
    for name, content in lines.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in content))
    monkeypatch.chdir(tmp_path)
    morphlm.read_corpus("train.txt").words.vocabulary(kappa=0.0, seed=1).save("vocabulary.tsv")
    monkeypatch.setattr(morphlm, "train", partial(morphlm.train, width=4, epochs=1, batch=100))
    exec(compile(example, GUIDE.name, "exec"), {})
