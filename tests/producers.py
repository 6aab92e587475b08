"""The recorded code of producers: `make producers` renews it, and asks whether results change.

A result is kept under its producer's revision (see morphlm.artefacts). When the code of a producer changes and its
revision does not, old results are found that the new code would not make. So the code of each producer is recorded in
producers.json, as a hash of its syntax trees without docstrings, and a test compares.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import json
import pkgutil
import sys
from pathlib import Path
from typing import Any

import morphlm
from morphlm.artefacts import Producer
from morphlm.kinds import kind_named, kind_names

RECORD = Path(__file__).parent / "producers.json"


def all_producers() -> dict[str, Producer]:
    """Those that stand in a module or in a class of the package, by where they stand, and the kinds of models."""
    producers = {f"kind {name}": kind_named(name).producer for name in kind_names(packages=False)}
    for module in pkgutil.walk_packages(morphlm.__path__, "morphlm."):
        if module.name.endswith("__main__") or module.name.startswith("morphlm.integrations."):
            continue  # adapters make nothing that is kept, and some need their package
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, Producer) and value not in producers.values():
                producers[f"{module.name}:{name}"] = value
            elif isinstance(value, type) and value.__module__ == module.name and "producer" in vars(value):
                producers[f"{module.name}:{name}"] = value.producer  # type: ignore[attr-defined]
    return {name: one for name, one in sorted(producers.items()) if isinstance(one, Producer)}


def code_of(module: str) -> str:
    """A hash of the syntax trees of a module or of all modules of a package, docstrings left out."""
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None, module
    path = Path(spec.origin)
    files = sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
    trees = [_dumped(_without_docstrings(ast.parse(file.read_bytes()))) for file in files]
    return hashlib.sha256("\n".join(trees).encode()).hexdigest()


def _dumped(node: Any) -> str:
    """As `ast.dump`, alike in all versions of Python, which differ in empty fields and in what `repr` escapes."""
    if isinstance(node, ast.AST):
        fields = ", ".join(
            f"{name}={_dumped(value)}" for name, value in ast.iter_fields(node) if value not in (None, [])
        )
        return f"{type(node).__name__}({fields})"
    return f"[{', '.join(map(_dumped, node))}]" if isinstance(node, list) else ascii(node)


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:]
    return tree


def state_of(producer: Producer) -> dict[str, Any]:
    """What is recorded of a producer."""
    return {"revision": producer.revision, "code": {module: code_of(module)[:16] for module in producer.modules}}


def read_record() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    return record


def main() -> None:
    """Ask of the producers whose code has changed, and record those that make the same results as before."""
    before, now = read_record(), {name: state_of(producer) for name, producer in all_producers().items()}
    changed: dict[str, list[str]] = {}  # modules that changed -> producers of the same revision as before
    for name, state in now.items():
        known = before.get(name, state)
        if state != known and state["revision"] == known["revision"]:
            edited = [module for module, code in state["code"].items() if known["code"].get(module) != code]
            changed.setdefault(", ".join(edited) or "the list of modules", []).append(name)
    for modules, names in changed.items():
        print(f"{modules} changed, which {', '.join(names)} depend on.")
        answer = input("Do the same inputs now give another result? [y/n] ").strip().lower()
        if answer not in ("y", "n"):
            sys.exit("nothing was recorded; answer y or n")
        if answer == "y":
            sys.exit(f"raise the revision of {', '.join(names)} where the Producer or ModelKind stands, then run again")
    RECORD.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n")
    print(f"recorded {len(now)} producers in {RECORD.name}")


if __name__ == "__main__":
    main()
