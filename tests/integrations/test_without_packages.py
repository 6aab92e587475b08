"""Every adapter is imported without its package, and names it, with the command that installs it, when it is used."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import importlib, importlib.abc, json, sys
blocked = {"kenlm", "pyctcdecode", "flashlight", "spacy", "sklearn", "datasets"}

class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
import morphlm
from morphlm.errors import ConfigError
from morphlm.integrations import datasets, flashlight, kenlm, pyctcdecode, spacy, sklearn

model = morphlm.train_ngram([["na", "dom"]] * 3, 2)
said = {"loaded": sorted(blocked & set(sys.modules))}
for name, use in {
    "pyctcdecode": lambda: pyctcdecode.build_ctcdecoder(["", "a"], model),
    "flashlight": lambda: flashlight.build_lexicon_decoder(["-", "|", "a"], model),
    "flashlight alone": lambda: flashlight.language_model(model, None),
    "spacy": lambda: spacy.vectors_table(model),
    "composed": lambda: spacy.composed_vectors(model),
    "sklearn": lambda: sklearn.SentenceFeatures,
    "kenlm": lambda: kenlm.Model(model).score("na dom") < 0,
    "datasets": lambda: list(datasets.texts([{"text": "na dom"}])),
}.items():
    try:
        said[name] = use()
    except ConfigError as error:
        said[name] = f"{type(error).__name__}: {error}"
print(json.dumps(said))
"""
MISSING = "MissingExtraError: {} {}, which is not installed; pip install {}"


@pytest.fixture(scope="module")
def said() -> dict[str, object]:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(
    ("use", "purpose", "package"),
    [
        ("pyctcdecode", "CTC beam search needs", "pyctcdecode"),
        ("flashlight", "lexicon decoding needs", "flashlight-text"),
        ("flashlight alone", "lexicon decoding needs", "flashlight-text"),
        ("spacy", "vectors for spaCy need", "spacy"),
        ("composed", "vectors for spaCy need", "spacy"),
        ("sklearn", "features of texts for pipelines need", "scikit-learn"),
    ],
)
def test_a_missing_package_is_named(use: str, purpose: str, package: str, said: dict[str, object]) -> None:
    assert said[use] == MISSING.format(purpose, package, package)


def test_nothing_is_needed_where_nothing_is_used(said: dict[str, object]) -> None:
    assert said["loaded"] == []
    assert said["kenlm"] is True
    assert said["datasets"] == ["na dom"]
