"""The native scorer under sanitizers: files of strangers, and threads; all compilers and standards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from morphlm.compiled.exporting import export_compiled
from tests.compiled.building import COMPILERS, HERE, NATIVE, build, run_program
from tests.compiled.forging import forgeries
from tests.compiled.models import MODELS, sentences, text

pytestmark = pytest.mark.full

SANITIZED = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
FORGED = (
    *("n-grams of order 3", "clbl++ diagonal", "lbl+o full", "clbl+c of order 7"),
    *("mixture by n-grams", "mixture by the last word", "mixture of mixtures"),
)


@pytest.mark.parametrize("float16", [False, True], ids=["float32", "float16"])
@pytest.mark.parametrize("name", FORGED)
def test_files_of_strangers_are_refused_or_harmless(name: str, float16: bool, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    export_compiled(MODELS[name](), whole, float16=float16)
    paths, program = [], build(HERE / "use_files.cc", *SANITIZED, "-fsanitize=float-cast-overflow")
    for number, (_, raw) in enumerate(forgeries(whole.read_bytes())):
        paths.append(tmp_path / str(number))
        paths[-1].write_bytes(raw)
    printed = run_program(program, text="".join(f"{path}\n" for path in [whole, *paths]))
    refused, used = (int(part.split()[0]) for part in printed.split(", "))
    assert refused + used == len(paths) + 1
    assert refused > 300
    assert used > 300


def test_threads_share_a_model(tmp_path: Path) -> None:
    model = MODELS["mixture by n-grams"]()
    export_compiled(model, tmp_path / "model")
    lines = "".join(" ".join(line) + "\n" for line in sentences(text(), model.vocabulary))
    program = build(HERE / "threads.cc", "-O1", "-g", "-fsanitize=thread", "-pthread")
    assert run_program(program, tmp_path / "model", "4", text=lines) == "equal\n"


@pytest.mark.parametrize("standard", [17, 20])
@pytest.mark.parametrize("with_compiler", COMPILERS)
@pytest.mark.parametrize("optimised", ["-O0", "-O2", "-O3 -march=native"])
def test_the_header_compiles_without_warnings(with_compiler: str, standard: int, optimised: str) -> None:
    examples = sorted((NATIVE / "examples").glob("*.cc")) if optimised == "-O2" else []
    for source in (HERE / "probe.cc", *examples):
        build(source, *optimised.split(), with_compiler=with_compiler, standard=standard)


@pytest.mark.parametrize("name", ["n-grams of order 3", "clbl++ diagonal", "lbl+o full", "mixture of mixtures"])
def test_python_refuses_them_or_uses_them_within_bounds(name: str, tmp_path: Path) -> None:
    """In a process that checks bounds of arrays in kernels."""
    export_compiled(MODELS[name](), tmp_path / "model")
    command = [sys.executable, "-m", "tests.compiled.try_forgeries", str(tmp_path / "model"), str(tmp_path), "5"]
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, f"{done.stdout[-300:]}\n{done.stderr[-3000:]}"
    refused, used = map(int, done.stdout.splitlines()[-1].split())
    assert refused > 200
    assert used > 10
