"""The headline of `learn` and the one of its report are the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import morphlm
from morphlm.learning.choices import NgramTrial
from morphlm.report.headline import composable_share
from tests.learning.small import ENDINGS, STEMS


def write_rare(path: Path) -> Path:
    """A text in which every sentence has a rare word, and some have one that comes once."""
    rng = np.random.default_rng(1)
    lines = []
    for _ in range(700):
        ending = ENDINGS[rng.integers(len(ENDINGS))]
        words = [STEMS[rng.integers(len(STEMS))] + ending for _ in range(5)]
        prefix = ("ne", "po", "vy", "za", "pře", "od")[rng.integers(6)]
        strange = "".join("qxwfgj"[k] for k in rng.integers(0, 6, 6))  # of which no part is known
        lines.append(" ".join([*words, prefix + words[0], *([strange] if rng.random() < 0.3 else [])]))
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_words_never_seen_are_those_that_the_model_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that the training text has once, and that kappa took out of the vocabulary."""
    trial = NgramTrial(kappa=1.0, order=3, perplexity=1.0)
    monkeypatch.setattr("morphlm.learning.learn.choose_ngrams", lambda *_, **__: [trial])
    learned = morphlm.learn(write_rare(tmp_path / "raw.txt"), tmp_path / "out", prepared=True)
    result, vectors = learned.record.result, learned.model.vectors
    assert result is not None
    words = {part: set((tmp_path / "out" / "text" / f"{part}.txt").read_text().split()) for part in ("train", "test")}
    assert any(not vectors.known(word) for word in words["test"] & words["train"])  # else this would tell nothing
    assert result.composable == pytest.approx(composable_share(vectors, words["test"]))
    page = (tmp_path / "out" / "report.html").read_text()
    assert all(f"<span>{clause}" in page for clause in result.headline.split("; "))
