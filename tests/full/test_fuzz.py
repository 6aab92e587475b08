"""Mutated inputs of every fuzz target, in processes whose compiled code checks bounds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fuzz.artefacts import make_artefacts
from fuzz.child import ROOT
from fuzz.run import child_environment

from ..test_fuzz_targets import BEHIND_HASHES, TARGETS

pytestmark = pytest.mark.full

MUTATIONS, SECONDS = 600, 900  # the first run compiles kernels


@pytest.fixture(scope="module")
def artefacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_artefacts(tmp_path_factory.mktemp("fuzz") / "artefacts")


@pytest.mark.parametrize("name", [*TARGETS, *BEHIND_HASHES])
def test_mutations_are_read_or_refused(artefacts: Path, tmp_path: Path, name: str) -> None:
    command = [sys.executable, "-m", "fuzz.child", name, str(artefacts), "--mutations", str(MUTATIONS)]
    done = subprocess.run(
        [*command, "--findings", str(tmp_path)],
        env=child_environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "\n".join(path.read_text() for path in tmp_path.glob("*.txt")) == ""
