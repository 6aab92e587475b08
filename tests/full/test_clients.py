"""The adapters with the real packages, and the core with NumPy 1.26, which pyctcdecode needs: in new environments.

Both environments are made by pip. KenLM is built from its source, which takes a C++ compiler.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]
OLDEST_NUMPY = "1.26.4"
# With NumPy 1.26 pip has to take an older version of py3langid, too.
PINNED_OTHERWISE = ("numpy", "py3langid")
DECODERS = ("kenlm", "flashlight-text")
CORE = (
    "tests/ngram",
    "tests/language_model",
    "tests/vocabulary",
    "tests/vectors",
    "tests/logbilinear/test_model.py",
    "tests/training/test_pipeline.py",
    "tests/scoring/test_mixture.py",
    "tests/scoring/test_loading.py",
    "tests/segmentation/test_segmenter.py",
)
SPEECH = ("kenlm", "pyctcdecode", "flashlight")  # adapters that are tested with NumPy 1.26
OTHERS = ("kenlm", "flashlight", "spacy", "datasets", "sklearn")  # and with the newest


def paths_of_tests(adapters: Iterable[str]) -> list[str]:
    """The tests of adapters and of their pages."""
    folder = "tests/integrations"
    tests = [(f"{folder}/test_{name}.py", f"{folder}/test_pages.py::test_the_page_runs[{name}]") for name in adapters]
    return [test for pair in tests for test in pair]


def output_of(*command: str | Path, **variables: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env={**os.environ, **variables}
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


def install(python: Path, constraints: Path, packages: Iterable[str]) -> None:
    quiet = ("--quiet", "--disable-pip-version-check")
    output_of(python, "-m", "pip", "install", *quiet, "-c", constraints, *packages)


def run_tests(python: Path, tests: Iterable[str], cache: Path) -> None:
    """All of them pass, and none is skipped for want of a package."""
    variables = {"PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT / "generated")))}
    variables["NUMBA_CACHE_DIR"] = str(cache)
    settings = ("-n", "2", "-p", "no:cacheprovider", "-o", "addopts=-m 'not full'")
    out = output_of(python, "-m", "pytest", *settings, *tests, **variables)
    (counts,) = re.findall(r"^=+ (.+) in .+ =+$", out, re.MULTILINE)
    assert re.fullmatch(r"\d+ passed", counts), out


def test_the_core_and_the_speech_clients_with_numpy_1_26(tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    pinned = (ROOT / "constraints.txt").read_text().splitlines()
    kept = [line for line in pinned if line.partition("==")[0] not in PINNED_OTHERWISE]
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("\n".join([*kept, f"numpy=={OLDEST_NUMPY}"]) + "\n")
    tools = ("pytest", "pytest-xdist", "hypothesis", "joblib", "gensim", "safetensors", "httpx", "scikit-learn")
    install(python, constraints, (f"{ROOT}[sentencepiece]", "pyctcdecode", *DECODERS, *tools))
    assert output_of(python, "-c", "import numpy; print(numpy.__version__)").strip() == OLDEST_NUMPY
    run_tests(python, (*CORE, *paths_of_tests(SPEECH)), tmp_path / "kernels")


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The interpreter of a new environment that sees the packages of this one."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    packages = Path(output_of(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    seen = [entry for entry in sys.path if entry.endswith("site-packages")]
    (packages / "seen.pth").write_text("\n".join(seen) + "\n")
    return python


def test_the_other_clients(python: Path, tmp_path: Path) -> None:
    install(python, ROOT / "constraints.txt", ("spacy", "datasets", *DECODERS))
    # spaCy finds us by an entry point, which only a package that is installed has.
    install(python, ROOT / "constraints.txt", ("--no-deps", "--no-build-isolation", str(ROOT)))
    run_tests(python, paths_of_tests(OTHERS), tmp_path / "kernels")
