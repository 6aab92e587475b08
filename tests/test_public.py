from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import morphlm
from morphlm.cli.reference import reference

ROOT = Path(__file__).parent.parent


def test_the_public_surface_is_exactly_this() -> None:
    assert sorted(vars(morphlm)["__all__"]) == [
        "ConfigError",
        "FetchError",
        "FormatError",
        "GenerationOptions",
        "InputError",
        "KeyedVectors",
        "LanguageModel",
        "Learned",
        "MorphemeSegmenter",
        "MorphlmError",
        "NgramModel",
        "Partition",
        "Perplexity",
        "PrepareOptions",
        "Rescorer",
        "RescoringOptions",
        "StateError",
        "TrainingError",
        "Vocabulary",
        "WordIdError",
        "WordVectors",
        "__version__",
        "cluster",
        "evaluate_similarity",
        "export_vectors",
        "generate",
        "get_dataset",
        "learn",
        "load",
        "load_vectors",
        "load_vocabulary",
        "mix",
        "next_words",
        "prepare_lines",
        "read_corpus",
        "read_pairs",
        "rescore",
        "train",
        "train_ngram",
        "train_segmenter",
        "train_spelling",
        "with_spelling",
    ]
    for name in vars(morphlm)["__all__"]:
        assert getattr(morphlm, name) is not None
    with pytest.raises(AttributeError, match="No morphlm attribute nothing"):
        getattr(morphlm, "nothing")  # noqa: B009


@pytest.mark.parametrize("package", ["morphlm.analysis", "morphlm.report", "morphlm.scoring"])
def test_all_public_names_of_the_packages_can_be_imported(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__all__
    for name in module.__all__:
        assert name.isupper() or getattr(module, name).__module__.startswith(package)


def test_importing_is_quick_because_the_compiler_is_not_loaded() -> None:
    code = "import sys, morphlm, morphlm.cli.main; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_command_reference_is_not_stale() -> None:
    assert (ROOT / "docs" / "commands.md").read_text() == reference(), "run `make docs`"
