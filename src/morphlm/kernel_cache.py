"""Discards cached machine code of Numba when a function that was inlined into it has changed.

Numba compares only the file that defines a kernel, by its content. So after an upgrade, or an edit, of a file whose
functions other kernels inline, those would run old machine code. Therefore a record beside the package says from which
sources, their own and imported ones, each file of kernels was compiled. It is looked at when the package is imported:
some hundred look-ups of dates, and more only if a date has changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent
RECORD = "kernels.json"


def discard_stale(package: Path = PACKAGE) -> list[Path]:
    """Remove the compiled code of files whose sources changed since the last call; gives these files."""
    record_path = package / "__pycache__" / RECORD
    record, paths = _read(record_path), find_kernels(package)
    dates = {name: [path.stat().st_mtime_ns, path.stat().st_size] for name, path in paths.items()}
    if record.get("dates") == dates:
        return []
    sources = digests(paths)
    known = record.get("sources", {})
    changed = [path for name, path in paths.items() if known.get(name) != sources[name]]
    with suppress(OSError):  # an installation that cannot be written to keeps its compiled code elsewhere
        for path in changed:
            _remove_compiled(path)
        _write(record_path, {"dates": dates, "sources": sources})
    return changed


def find_kernels(package: Path) -> dict[str, Path]:
    """Files of kernels, and of how they are compiled, by the names of their modules."""
    paths = [*package.glob("compiling.py"), *package.rglob("kernels.py"), *package.rglob("kernels/*.py")]
    return {".".join(path.relative_to(package.parent).with_suffix("").parts): path for path in sorted(paths)}


def digests(paths: Mapping[str, Path]) -> dict[str, str]:
    """A hash for each file, of it and of all files of kernels that it imports, directly or not."""
    import hashlib  # noqa: PLC0415  # 10 ms, which are to be spent only after a change

    contents = {name: path.read_bytes() for name, path in paths.items()}
    needed = {name: sorted(imported(content) & paths.keys()) for name, content in contents.items()}
    return {
        name: hashlib.sha256(b"\0".join(contents[module] for module in _closure(name, needed))).hexdigest()
        for name in paths
    }


def _closure(name: str, needed: Mapping[str, list[str]]) -> list[str]:
    reached, pending = {name}, [name]
    while pending:
        new = set(needed[pending.pop()]) - reached
        reached |= new
        pending += new
    return sorted(reached)


def imported(content: bytes) -> set[str]:
    """The names in a source's `from` imports that may be modules."""
    import ast  # noqa: PLC0415

    nodes = [node for node in ast.walk(ast.parse(content)) if isinstance(node, ast.ImportFrom)]
    names = {node.module or "" for node in nodes}
    return names | {f"{node.module}.{alias.name}" for node in nodes for alias in node.names}


def _remove_compiled(path: Path) -> None:
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.nb[ic]"):
        compiled.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _write(path: Path, record: Mapping[str, Any]) -> None:
    """In one step, as several processes may begin at once."""
    path.parent.mkdir(exist_ok=True)
    partial = path.with_name(f"{RECORD}.{os.getpid()}")
    partial.write_text(json.dumps(record))
    partial.replace(path)
