"""Machine code that this process compiled and machine code that was read from a cache give the same bytes.

One process compiles the kernels, trains every variant, scores with it, and leaves half a training of each; later ones
find the kernels in the cache.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import morphlm
from morphlm.training.log import LOG_FILE
from tests.full.train_variants import variants
from tests.training.small import sentences

pytestmark = pytest.mark.full
ROOT = Path(__file__).parents[2]


def run_process(folder: Path, out: Path, threads: int, way: str) -> None:
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder / "package"), str(ROOT)]),
    }
    arguments = [str(folder), str(out), str(threads), way]
    subprocess.run([sys.executable, "-m", "tests.full.train_variants", *arguments], env=environment, check=True)


def files_in(out: Path) -> dict[str, bytes]:
    """All that was written, checkpoints too, but the logs, which hold times."""
    paths = [path for path in sorted(out.rglob("*")) if path.is_file() and path.name != LOG_FILE]
    return {str(path.relative_to(out)): path.read_bytes() for path in paths}


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With `cold`, the results of the process that compiled, and `interrupted`, the trainings that it left."""
    path = tmp_path_factory.mktemp("compiled")
    package = Path(morphlm.__file__).parent  # beside which other tests have left compiled code
    shutil.copytree(package, path / "package" / "morphlm", ignore=shutil.ignore_patterns("__pycache__"))
    for name, count, seed in (("train.txt", 600, 1), ("dev.txt", 40, 2)):
        lines = sentences(count, seed, rare=True)
        (path / name).write_text("".join(" ".join(line) + "\n" for line in lines))
    run_process(path, path / "cold", 2, "and-interrupt")
    assert any((path / "cache").rglob("*.nbc"))
    return path


@pytest.mark.parametrize(("threads", "way"), [(2, "forwards"), (1, "backwards")])
def test_trainings_and_scores_are_the_same_with_an_empty_and_with_a_filled_cache(
    folder: Path, threads: int, way: str
) -> None:
    out = folder / f"warm-{threads}"
    run_process(folder, out, threads, way)
    written = files_in(folder / "cold")
    assert written.keys() >= {f"{name}/tensors.safetensors" for name in [*variants(), "mkn", "mixture"]}
    assert differing(written, files_in(out)) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_a_training_interrupted_where_kernels_were_compiled_ends_the_same_elsewhere(folder: Path, threads: int) -> None:
    out = folder / f"resumed-{threads}"
    shutil.copytree(folder / "interrupted", out)
    assert all((out / f"{name}.checkpoint").is_dir() for name in variants())
    run_process(folder, out, threads, "resume")
    in_one_go = {
        name: content
        for name, content in files_in(folder / "cold").items()
        if not name.startswith(("mkn/", "mixture/", "scores"))
    }
    assert differing(in_one_go, files_in(out)) == []
