"""Numba keeps compiled kernels until the file that defines them changes, not the files of functions inlined into them.

So before tests run, every file of kernels gets the date of the newest one that it imports, directly or not: what was
compiled from something older is then compiled again, and nothing else is.
"""

from __future__ import annotations

import ast
import os
from contextlib import suppress
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "src"


def find_kernels(sources: Path) -> dict[str, Path]:
    """Modules of kernels by their names."""
    paths = [*sources.rglob("kernels.py"), *sources.rglob("kernels/*.py")]
    return {".".join(path.relative_to(sources).with_suffix("").parts): path for path in sorted(paths)}


def imported(path: Path) -> set[str]:
    """All that could be a module among what a file imports."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    names = {node.module or "" for node in nodes}
    return names | {f"{node.module}.{alias.name}" for node in nodes for alias in node.names}


def renew_dates(sources: Path = SOURCES) -> list[Path]:
    """Set the dates; returns the files whose date was older."""
    files = find_kernels(sources)
    needed = {name: imported(path) & files.keys() for name, path in files.items()}
    dates = {name: path.stat().st_mtime_ns for name, path in files.items()}
    newest = dict(dates)
    for _ in files:  # enough for the longest chain of imports
        newest = {name: max([newest[name], *(newest[other] for other in needed[name])]) for name in files}
    older = [name for name in files if dates[name] < newest[name]]
    for name in older:
        with suppress(OSError):  # an installation that cannot be written to does not change either
            os.utime(files[name], ns=(newest[name], newest[name]))
    return [files[name] for name in older]
