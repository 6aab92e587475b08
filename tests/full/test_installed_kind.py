"""The class bigram of docs/extending.md as its reader would install it: built by pip, found by its entry point."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

import morphlm
from tests.test_extending import DEV, NAME, TRAIN, blocks

pytestmark = pytest.mark.full

PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "class-bigram"
version = "1.0"

"""


def output_of(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The interpreter of a new environment, which sees the packages of this one and nothing of the page."""
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    packages = Path(output_of(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    seen = [str(Path(morphlm.__file__).parents[1]), *(entry for entry in sys.path if entry.endswith("site-packages"))]
    (packages / "seen.pth").write_text("\n".join(seen) + "\n")
    return python


def test_a_kind_that_pip_installed_is_trained_and_scored(python: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "class_bigram.py").write_text(blocks("python")[0])
    (project / "pyproject.toml").write_text(PROJECT + blocks("toml")[0])
    assert NAME not in output_of(python, "-m", "morphlm", "train", "--help")
    output_of(python, "-m", "pip", "install", "--no-build-isolation", "--no-deps", "--no-index", project)
    assert NAME in output_of(python, "-m", "morphlm", "train", "--help")
    out = tmp_path / "model"
    output_of(python, "-m", "morphlm", "train", NAME, "--train", TRAIN, "--dev", DEV, "--classes", "20", "--out", out)
    scores = output_of(python, "-m", "morphlm", "score", out, DEV)
    assert len(scores.splitlines()) == len(DEV.read_text().splitlines())
