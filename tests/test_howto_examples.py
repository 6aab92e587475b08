"""The Python examples of the how-to guides run on small models, each page from its top to its end."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy
import pytest

import morphlm
from tests.test_docs import ROOT, examples
from tests.training.small import ENDINGS, STEMS, sentences

HOWTO = ROOT / "docs" / "howto"
OTHER_WORDS = "mann frau könig königin zeitung"
SETTINGS: dict[str, Any] = {"width": 4, "epochs": 1, "batch": 100, "kappa": 0}
FACTORS = {stem + ending: [f"{stem}/STM", f"{ending}/SUF"] for stem in STEMS for ending in ENDINGS}
FACTORS["zeitung"] = ["zeit/STM", "ung/SUF"]
KINDS: dict[str, dict[str, Any]] = {
    "mkn": {"kappa": 0},
    "clbl": SETTINGS,
    "clbl++": SETTINGS | {"wide_context": True, "factors": FACTORS},
}
CONLLU = "1\tškolu\tškola\tNOUN\t_\t_\t_\t_\t_\t_\n2\tdomu\tdům\tNOUN\t_\t_\t_\t_\t_\t_\n\n"
NBEST = "0 ||| škola domu ||| LM0= -1.5 ||| -2.0\n0 ||| školu domu ||| LM0= -1.0 ||| -1.0\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The models and files that the pages name."""
    path = tmp_path_factory.mktemp("howto")
    for name, count, seed in (
        ("train", 80, 1),
        ("dev", 20, 2),
        ("test", 20, 3),
        ("test.cs", 20, 4),
        ("test.de", 20, 4),
        ("text", 5, 5),
    ):
        lines = (" ".join(sentence) for sentence in sentences(count, seed))
        (path / f"{name}.txt").write_text("".join(f"{line}\n" for line in (OTHER_WORDS, *lines)))
    (path / "test.conllu").write_text(CONLLU * 3)
    (path / "nbest.txt").write_text(NBEST)
    (path / "pairs.tsv").write_text("škola\tškolu\t9\nškola\tdomu\t2\nřeka\tpole\t4\n")
    (path / "questions.txt").write_text(": cases\nškola školu řeka řeku\nmann frau könig königin\n")
    train, dev = path / "train.txt", path / "dev.txt"
    for kind, settings in KINDS.items():
        morphlm.train(kind, train, dev, path / kind, **settings)
        for language in ("cs", "de"):
            (path / "models" / language).mkdir(parents=True, exist_ok=True)
            (path / "models" / language / kind).symlink_to(path / kind)
    morphlm.mix([path / "mkn", path / "clbl++"], dev, path / "MODEL")
    return path


PAGES = ("comparing", "decoders", "native", "scoring", "training", "vectors")


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_run(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    model = morphlm.load("clbl++")
    names = {"morphlm": morphlm, "numpy": numpy, "model": model, "clbl": morphlm.load("clbl"), "clbl_plus": model}
    for example in examples(HOWTO / f"{page}.md", "python"):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(example, f"{page}.md", "exec"), names)
