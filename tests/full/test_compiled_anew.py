"""Machine code that this process compiled and machine code that was read from a cache give the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import morphlm
from tests.training.small import contents, sentences

pytestmark = pytest.mark.full

TRAIN = """
import sys
import morphlm

train, dev, out = sys.argv[1:]
for name, mean in (("sum", False), ("mean", True)):
    for kind in ("clbl++", "lbl++"):
        morphlm.train(
            kind, train, dev, f"{out}/{kind}.{name}",
            width=40, order=3, classes=5, epochs=2, batch=500, kappa=0.2, mean_gradients=mean, threads=2,
        )
"""


def train_all(folder: Path, out: Path) -> dict[str, dict[str, bytes]]:
    source = str(Path(morphlm.__file__).parents[1])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": source}
    out.mkdir()
    subprocess.run(
        [sys.executable, "-c", TRAIN, folder / "train.txt", folder / "dev.txt", out], env=environment, check=True
    )
    return {path.name: contents(path) for path in out.iterdir() if (path / "manifest.json").exists()}


def test_a_training_gives_the_same_bytes_with_an_empty_and_with_a_filled_cache(tmp_path: Path) -> None:
    for name, count, seed in (("train.txt", 1000, 1), ("dev.txt", 40, 2)):
        lines = sentences(count, seed, rare=True)
        (tmp_path / name).write_text("".join(" ".join(line) + "\n" for line in lines))
    compiled = train_all(tmp_path, tmp_path / "compiled")
    assert any((tmp_path / "cache").rglob("*.nbc"))
    cached = train_all(tmp_path, tmp_path / "cached")
    assert sorted(compiled) == ["clbl++.mean", "clbl++.sum", "lbl++.mean", "lbl++.sum"]
    differing = [
        f"{model}/{name}"
        for model in compiled
        for name in compiled[model]
        if compiled[model][name] != cached[model][name]
    ]
    assert differing == []
