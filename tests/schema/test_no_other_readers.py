"""Nothing from outside is read but through a schema: other readers may be used only where this list says why.

Whoever adds a format declares a `Document` or an `ArtefactSchema` in a module named `schema`, instead of a line here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import morphlm

SOURCE = Path(morphlm.__file__).parent
READERS = {
    *(f"json.{name}" for name in ("load", "loads", "JSONDecoder", "decoder", "scanner")),
    *(
        f"numpy.{name}"
        for name in (
            "load",
            "loadtxt",
            "genfromtxt",
            "fromfile",
            "memmap",
            "lib.format.read_array",
            "lib.format.open_memmap",
        )
    ),
    *(f"tomllib.{name}" for name in ("load", "loads")),
    *("pickle", "_pickle", "cPickle", "marshal", "shelve", "dbm", "dill", "cloudpickle", "joblib"),
    *("builtins.eval", "builtins.exec", "builtins.compile", "ast.literal_eval", "runpy", "code"),
    *("yaml", "configparser", "plistlib", "xml", "sqlite3", "tarfile", "zipfile", "safetensors", "mmap.mmap"),
}
ALLOWED = {
    ("schema/documents.py", "json.loads"): "this is the reader that all others go through",
    ("tensorfile.py", "mmap.mmap"): "maps what `read_layouts` has checked",
    (
        "compiledfile.py",
        "mmap.mmap",
    ): "header, table and digest are checked; then `compiled/schema.py` checks all content",
    ("compiling/code_cache.py", "pickle"): "machine code, from folders that nobody else can write to",
    ("compiling/helpers.py", "mmap.mmap"): "memory that processes share, without a file",
    ("arrays.py", "numpy.memmap"): "takes the name of a file away from a map, reads nothing",
    ("arrays.py", "mmap.mmap"): "gives back the memory of maps that others have made",
    ("ngram/bounded/storage.py", "mmap.mmap"): "a temporary file without a name that it has written itself",
    ("ranks.py", "pickle"): "messages between the processes of one mpirun, which mpi4py pickles too; never a file",
    ("training/rank_state.py", "mmap.mmap"): "a temporary file without a name that it has written itself",
    ("text/datasets/wmt13.py", "tarfile"): "streams members of known names, as text, out of what was fetched",
    ("text/datasets/debian.py", "tarfile"): "streams members of known names, as text, out of what was fetched",
    ("compiling/code_files.py", "json.loads"): "stands below everything; a record that does not fit counts as none",
    (
        "vectors/reading.py",
        "numpy.lib.format.open_memmap",
    ): "a .npy file of somebody's, without pickle; its header is checked",
    ("vectors/fasttext_reading.py", "mmap.mmap"): "fastText's own format; every size is checked before it is used",
    ("vocabulary/corpus.py", "numpy.memmap"): "a temporary file without a name that it has written itself",
    ("experiments/recipe.py", "tomllib.loads"): "recipes are TOML, with a table of keys and types of their own",
    ("experiments/paper.py", "tomllib.loads"): "a file of the package",
}


def modules_named(tree: ast.AST) -> dict[str, str]:
    """What names stand for: {"np": "numpy", "loads": "json.loads"}."""
    names = {name: f"builtins.{name}" for name in ("eval", "exec", "compile")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


def dotted(node: ast.AST, names: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute) and (before := dotted(node.value, names)):
        return f"{before}.{node.attr}"
    return ""


def mentioned(tree: ast.AST) -> Iterator[str]:
    names = modules_named(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            yield dotted(node, names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def readers_in(text: str) -> set[str]:
    parts = [name.split(".") for name in set(mentioned(ast.parse(text)))]
    return READERS & {".".join(name[:length]) for name in parts for length in range(1, len(name) + 1)}


def test_nothing_else_reads_what_comes_from_outside() -> None:
    used = {
        (path.relative_to(SOURCE).as_posix(), reader)
        for path in sorted(SOURCE.rglob("*.py"))
        for reader in readers_in(path.read_text())
    }
    assert used == ALLOWED.keys(), "declare a schema, or say in ALLOWED why there is none"


@pytest.mark.parametrize(
    ("text", "readers"),
    [
        ("import json\njson.loads(x)", {"json.loads"}),
        ("import json as j\nread = j.load", {"json.load"}),
        ("from json import loads as read", {"json.loads"}),
        ("def f():\n    from numpy import memmap", {"numpy.memmap"}),
        ("import numpy as np\nnp.load(x); np.zeros(3)", {"numpy.load"}),
        ("import pickle", {"pickle"}),
        ("from xml.etree import ElementTree", {"xml"}),
        ("eval('1')", {"builtins.eval"}),
        ("from safetensors.numpy import load_file", {"safetensors"}),
        ("import json\njson.dumps(x)\nmodel.load(y)\nself.eval(z)\nre.compile('a')", set()),
    ],
)
def test_the_search_finds(text: str, readers: set[str]) -> None:
    assert readers_in(text) == readers
