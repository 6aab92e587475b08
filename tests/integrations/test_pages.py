"""The Python examples of docs/howto/integrations run on a small model, each page from its top to its end."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import morphlm
from tests.integrations.ctc import LETTERS, emissions
from tests.test_docs import ROOT, examples
from tests.training.small import sentences

HOWTO = ROOT / "docs" / "howto" / "integrations"
PACKAGES = {
    "kenlm": "",
    "pyctcdecode": "pyctcdecode",
    "flashlight": "flashlight.lib.text",
    "spacy": "spacy",
    "sklearn": "sklearn",
    "datasets": "datasets",
}
SETTINGS: dict[str, Any] = {"width": 4, "epochs": 1, "batch": 100, "kappa": 0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model, and the output of an acoustic model, that the pages name."""
    path = tmp_path_factory.mktemp("integrations")
    for kind in ("mkn", "clbl++"):
        settings = SETTINGS if kind == "clbl++" else {"kappa": 0}
        morphlm.train(kind, sentences(80, 1), sentences(20, 2), path / kind, **settings)
    morphlm.mix([path / "mkn", path / "clbl++"], sentences(20, 2), path / "MODEL")
    for columns, blank, space, logits in (("labels", "", " ", "logits"), ("tokens", "-", "|", "emissions")):
        names = [blank, space, *LETTERS]
        (path / f"{columns}.json").write_text(json.dumps(names))
        np.save(path / f"{logits}.npy", emissions(f"škola{space}domu{space}", names, 1, noise=0.5))
    return path


@pytest.mark.parametrize("page", PACKAGES)
@pytest.mark.filterwarnings(r"ignore:\[W008\]:UserWarning")  # spaCy; of this small model nothing knows one of the words
def test_the_page_runs(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if PACKAGES[page]:
        pytest.importorskip(PACKAGES[page])
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    out = io.StringIO()
    for example in examples(HOWTO / f"{page}.md", "python"):
        with contextlib.redirect_stdout(out):
            exec(compile(example, f"{page}.md", "exec"), names)
    assert out.getvalue()


def test_every_page_is_run() -> None:
    assert {path.stem for path in HOWTO.glob("*.md")} == {*PACKAGES, "index"}
