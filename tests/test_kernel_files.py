from __future__ import annotations

import os
from pathlib import Path

from .kernel_files import SOURCES, find_kernels, imported, renew_dates


def make(folder: Path, name: str, date: int, content: str = "") -> Path:
    path = folder / "package" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    os.utime(path, ns=(date, date))
    return path


def test_files_get_the_date_of_the_newest_that_they_need(tmp_path: Path) -> None:
    base = make(tmp_path, "a/kernels/base.py", 50)
    middle = make(tmp_path, "a/kernels/middle.py", 10, "from package.a.kernels.base import f\n")
    last = make(tmp_path, "a/kernels/last.py", 20, "def g():\n    from package.a.kernels import middle\n")
    other = make(tmp_path, "b/kernels.py", 5, "from package.a.objects import base\n")
    newer = make(tmp_path, "c/kernels.py", 90, "from package.a.kernels.last import g\n")
    objects = make(tmp_path, "a/objects.py", 1, "from package.a.kernels.base import f\n")
    assert sorted(renew_dates(tmp_path)) == [last, middle]
    dates = [path.stat().st_mtime_ns for path in (base, middle, last, other, newer, objects)]
    assert dates == [50, 50, 50, 5, 90, 1]
    assert renew_dates(tmp_path) == []


def test_our_kernels_and_what_they_need_are_found() -> None:
    files = find_kernels(SOURCES)
    assert "morphlm.ngram.kernels" in files
    softmax = files["morphlm.logbilinear.kernels.softmax"]
    assert "morphlm.logbilinear.kernels.numerics" in imported(softmax)
    newest = files["morphlm.logbilinear.kernels.numerics"].stat().st_mtime_ns
    assert softmax.stat().st_mtime_ns >= newest  # conftest.py has seen to it
