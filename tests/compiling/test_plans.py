"""No command needs more specialisations of kernels than it did: each is compiled on every new machine.

Seconds would depend on the machine, so kernels and callees are counted. If a change needs others, `python -m
tests.kernel_plans` renews the record; a larger number here is a decision.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import morphlm
from tests.kernel_plans import COMMANDS, SETUP, all_plans, recorded, requested

# Kernels that Python calls, and callees that are compiled for them, of a first command with an empty cache.
MOST_COMPILED = {"segment": (16, 66), "train clbl++": (38, 106), "ppl": (8, 14), "neighbours": (2, 12)}
FEW = ("segment", "train clbl++", "neighbours")  # commands that need nothing but what those before them make
COMPILE = """
import sys
from morphlm.compiling.compilations import compile_planned
from morphlm.compiling.helpers import planned_kernels
for kernel in planned_kernels(sys.argv[1].split()):
    compile_planned(kernel)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plans")
    requested(path, SETUP.replace("2000", "300").split())
    return path


def test_commands_ask_for_no_other_kernels_than_recorded(folder: Path) -> None:
    for name in FEW:
        asked = requested(folder, COMMANDS[name].split())
        assert len(asked) == len(set(asked))
        assert set(asked) <= set(recorded()[name])


def test_the_record_has_no_more_kernels_than_were_decided() -> None:
    assert {name: len(recorded()[name]) for name in MOST_COMPILED} == {
        name: n for name, (n, _) in MOST_COMPILED.items()
    }


@pytest.mark.full
def test_the_record_is_what_all_commands_ask_for(tmp_path: Path) -> None:
    assert all_plans(tmp_path) == recorded()


@pytest.mark.full
@pytest.mark.parametrize("name", MOST_COMPILED)
def test_a_first_command_compiles_no_more_than_was_decided(tmp_path: Path, name: str) -> None:
    shutil.copytree(Path(morphlm.__file__).parent, tmp_path / "morphlm", ignore=shutil.ignore_patterns("__pycache__"))
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment = {**os.environ, **cache, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", COMPILE, name], env=environment, check=True)
    files = [path.name for path in (tmp_path / "cache").rglob("*.nbc")]
    compiled = tuple(sum(f".{kind}." in file for file in files) for kind in ("kernel", "callee"))
    assert all(count <= most for count, most in zip(compiled, MOST_COMPILED[name], strict=True)), compiled
