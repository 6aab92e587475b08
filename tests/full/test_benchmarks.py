"""Every benchmark says how it is called, and those without other data run; docs/results.md names their commands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full

FOLDER = Path(__file__).parents[2] / "benchmarks"
# With little work: what is measured so means nothing.
SMALL = (
    "alignment.py --pairs 500 --words 300 --passes 1",
    "arguments.py --words 500 --repeats 2",
    "classes.py data/train.gen.txt --passes 1",
    "classes.py --types 2000 --tokens 20000 --passes 1",
    "cold_start.py --sentences 300 --repeats 1 neighbours",
    "counting.py data/train.gen.txt --folder counting --tokens 20000 --memory 1G",
    "epoch.py data/train.gen.txt data/dev.gen.txt stages",
    "kneser_ney.py --tokens 20000 --repeat 1",
    "kneser_ney.py data/train.gen.txt --repeat 1",
    "loading.py --words 2000 --width 10 --loads 1",
    "logbilinear.py --words 2000 --classes 20 --width 10 --batch 1000 --steps 1",
    "prefix.py --words 2000 --width 10 --classes 20 --tokens 5000",
    "prepare.py --tokens 5000",
    "quantised.py data/train.gen.txt data/dev.gen.txt",
    "scoring.py --words 2000 --width 10 --classes 20 --tokens 25000",
    "segmentation.py --words 300 --alone",
    "tsne.py --points 60",
    "tuning.py --sentences 10 --translations 20 --features 4 --repeat 1",
    "vectors.py --words 2000 --width 10",
    "vocabulary.py --tokens 20000",
    "vocabulary.py data/train.gen.txt",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("benchmarks")
    command = [sys.executable, "-m", "morphlm", "data", "get", "generated", "data", "--sentences", "600"]
    subprocess.run(command, cwd=path, capture_output=True, check=True)
    return path


def run(folder: Path, call: str) -> str:
    name, *arguments = call.split()
    command = [sys.executable, str(FOLDER / name), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.py")))
def test_each_says_how_it_is_called(name: str, tmp_path: Path) -> None:
    assert run(tmp_path, f"{name} --help").startswith(f"usage: {name}")


@pytest.mark.parametrize("call", SMALL)
def test_those_that_need_no_other_data_print_figures(folder: Path, call: str) -> None:
    assert re.search(r"\d", run(folder, call))
