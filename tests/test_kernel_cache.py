"""Compiled code goes when a source that was inlined into it changes, and only then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from morphlm.kernel_cache import PACKAGE, digests, discard_stale, find_kernels


def make(folder: Path, name: str, content: str = "") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    compiled = path.parent / "__pycache__" / f"{path.stem}.f-1.py313.nbi"
    compiled.parent.mkdir(exist_ok=True)
    compiled.write_bytes(b"machine code")
    return path


def has_code(path: Path) -> bool:
    return any((path.parent / "__pycache__").glob(f"{path.stem}.*.nbi"))


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    make(folder, "a/kernels/base.py", "x = 1\n")
    make(folder, "a/kernels/middle.py", "from package.a.kernels.base import f\n")
    make(folder, "a/kernels/last.py", "def g():\n    from package.a.kernels import middle\n")
    make(folder, "b/kernels.py", "from package.a.objects import base\n")
    make(folder, "a/objects.py", "from package.a.kernels.base import f\n")
    discard_stale(folder)
    for path in find_kernels(folder).values():
        make(folder, str(path.relative_to(folder)), path.read_text())
    return folder


def test_a_change_discards_the_code_of_all_that_need_the_file(package: Path) -> None:
    (package / "a/kernels/base.py").write_text("x = 2\n")
    changed = discard_stale(package)
    names = ["a/kernels/base.py", "a/kernels/last.py", "a/kernels/middle.py"]
    assert changed == [package / name for name in names]
    assert not any(has_code(package / name) for name in names)
    assert has_code(package / "b/kernels.py")
    assert discard_stale(package) == []


def test_another_date_alone_discards_nothing(package: Path) -> None:
    os.utime(package / "a/kernels/base.py", ns=(5, 5))
    assert discard_stale(package) == []
    assert all(has_code(path) for path in find_kernels(package).values())


def test_without_a_record_everything_goes(package: Path) -> None:
    (package / "__pycache__/kernels.json").write_text("[not what it was]")
    assert len(discard_stale(package)) == 4
    assert not any(has_code(path) for path in find_kernels(package).values())


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_place_that_cannot_be_written_to_is_left_alone(package: Path) -> None:
    (package / "a/kernels/base.py").write_text("x = 3\n")
    (package / "__pycache__").chmod(0o500)
    assert len(discard_stale(package)) == 3


def test_our_kernels_and_what_they_need_are_found() -> None:
    files = find_kernels(PACKAGE)
    assert "morphlm.ngram.kernels" in files
    found = digests(files)
    softmax, numerics = "morphlm.logbilinear.kernels.softmax", "morphlm.logbilinear.kernels.numerics"
    others = {name: path for name, path in files.items() if name != numerics}
    assert digests(others)[softmax] != found[softmax]


def test_old_machine_code_is_not_run(tmp_path: Path) -> None:
    # A real package: `outer` inlines `inner` from another file, which changes between two processes.
    package = tmp_path / "package"
    (package / "kernels").mkdir(parents=True)
    (package / "__init__.py").write_text(
        "from pathlib import Path\n"
        "from morphlm.kernel_cache import discard_stale\n"
        "discard_stale(Path(__file__).parent)\n"
    )
    (package / "kernels/__init__.py").write_text("")
    head = "from numba import njit\n"
    outer = "from package.kernels.inner import inner\n@njit(cache=True)\ndef outer():\n    return inner() + 1\n"
    (package / "kernels/outer.py").write_text(head + outer)

    def answer(value: int) -> str:
        (package / "kernels/inner.py").write_text(head + f"@njit(cache=True)\ndef inner():\n    return {value}\n")
        command = [sys.executable, "-c", "from package.kernels.outer import outer; print(outer())"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()

    assert [answer(1), answer(2)] == ["2", "3"]
