"""Programs in C++ for the tests: compiled once for each set of flags, skipped where there is no compiler."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from morphlm.native import get_include

HERE = Path(__file__).parent
NATIVE = Path(get_include()).parent
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
COMPILERS = ("g++", "clang++")


def compiler(name: str) -> str:
    """The path of a compiler; the test is skipped if there is none."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"there is no {name}; install it to run this test")
    return path


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="morphlm-native-")


@cache
def build(source: Path, *flags: str, with_compiler: str = "g++", standard: int = 17) -> Path:
    """A program made of one file, in a folder that lives as long as the tests."""
    key = hashlib.sha256(repr((str(source), flags, with_compiler, standard)).encode()).hexdigest()[:16]
    program = Path(_folder().name) / f"{source.stem}-{key}"
    command = [compiler(with_compiler), f"-std=c++{standard}", *STRICT, f"-I{get_include()}", *flags, str(source)]
    done = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def run_program(program: Path, *arguments: str | Path, text: str = "") -> str:
    """What a program prints; it must end with status 0."""
    done = subprocess.run([program, *map(str, arguments)], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}\n{done.stdout}"
    return done.stdout
