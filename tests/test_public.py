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
        "ArgumentTypeError",
        "Comparison",
        "CompiledExport",
        "ConfigError",
        "Extended",
        "FastTextVectors",
        "FetchError",
        "FileAccessError",
        "FormatError",
        "GenerationOptions",
        "InputError",
        "KeyedVectors",
        "LanguageModel",
        "Learned",
        "MissingExtraError",
        "MissingFileError",
        "MissingModelError",
        "MorphemeSegmenter",
        "MorphlmError",
        "NgramModel",
        "PairOptions",
        "Partition",
        "Perplexity",
        "PrepareOptions",
        "ProgressUpdate",
        "Rescorer",
        "RescoringOptions",
        "ScoredText",
        "StateError",
        "TrainingError",
        "TuneResult",
        "UnknownWordError",
        "Vectors",
        "Vocabulary",
        "WordIdError",
        "WordVectors",
        "__version__",
        "add_cache",
        "analysis",
        "cluster",
        "evaluate_analogies",
        "evaluate_similarity",
        "experiments",
        "export_compiled",
        "export_vectors",
        "extend",
        "extension",
        "generate",
        "get_dataset",
        "get_include",
        "learn",
        "list_datasets",
        "load",
        "load_vectors",
        "load_vocabulary",
        "make_vocabulary",
        "mix",
        "next_words",
        "pair_options",
        "prepare_files",
        "prepare_lines",
        "prepare_pair_files",
        "read_analogies",
        "read_corpus",
        "read_given_classes",
        "read_pairs",
        "report",
        "rescore",
        "scoring",
        "segmentation",
        "text_statistics",
        "train",
        "train_classes",
        "train_kinds",
        "train_ngram",
        "train_segmenter",
        "train_spelling",
        "translation",
        "tune",
        "with_spelling",
    ]
    for name in vars(morphlm)["__all__"]:
        assert getattr(morphlm, name) is not None
    with pytest.raises(AttributeError, match="No morphlm attribute nothing"):
        getattr(morphlm, "nothing")  # noqa: B009


@pytest.mark.parametrize("package", ["morphlm.analysis", "morphlm.experiments", "morphlm.report", "morphlm.scoring"])
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


def test_loading_models_imports_nothing_that_only_some_commands_need() -> None:
    """scipy.stats alone takes half a second, which every command had to wait for."""
    code = "import sys, morphlm.scoring.loading, morphlm.cli.ppl; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"scipy.stats", "pandas", "matplotlib", "IPython", "spacy", "datasets"}.intersection(imported)
