"""Directories with one file changed and all hashes right again, so that mutation gets behind the checks of hashes."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from morphlm.compiledfile import HEADER_SIZE
from morphlm.files import sha256_of
from morphlm.modelfile import MANIFEST, canonical_json
from morphlm.translation.system.directory import MANIFEST as SYSTEM
from morphlm.translation.system.directory import WEIGHTS, read_manifest
from morphlm.translation.system.system import identity_of

SIGNED = (MANIFEST, SYSTEM, WEIGHTS)  # JSON that holds its own SHA-256


class ForgedFolder:
    """A copy of a directory in which one file at a time is replaced, chosen by the first byte of the input."""

    def __init__(self, original: Path, scratch: Path, names: Iterable[str] | None = None) -> None:
        """`names` are the files that are replaced, paths below the directory; by default all of them."""
        self.place = place = Path(tempfile.mkdtemp(dir=scratch)) / original.name
        shutil.copytree(original, place)
        found = [path.relative_to(place).as_posix() for path in sorted(place.rglob("*")) if path.is_file()]
        self.names = found if names is None else list(names)
        self._originals = {name: (place / name).read_bytes() for name in found}

    def seeds(self) -> list[bytes]:
        """Each file as it is."""
        return [bytes([number]) + self._originals[name] for number, name in enumerate(self.names)]

    def put(self, data: bytes) -> Path:
        """Restore all files, replace one, and sign everything again."""
        changed = self.names[(data[0] if data else 0) % len(self.names)]
        for name, content in {**self._originals, changed: data[1:]}.items():
            # A new file: the old one may still be mapped by a model that is not yet collected.
            (self.place / name).unlink(missing_ok=True)
            (self.place / name).write_bytes(content)
        sign_all(self.place)
        return self.place


def sign_all(folder: Path) -> None:
    """Make the hashes in all manifests of a folder right, the innermost first."""
    for path in sorted(folder.rglob("*.json"), key=lambda path: -len(path.parts)):
        if path.name in SIGNED:
            _edit(path, _with_file_hashes)
    for path in (folder / SYSTEM, folder / WEIGHTS):  # they depend on manifests beside them
        if path.is_file():
            _edit(path, _with_file_hashes)


def sign_record(path: Path) -> None:
    """Make the digest in the record of an experiment right."""

    def edit(content: dict[str, Any], _: Path) -> None:
        content.pop("digest", None)
        content["digest"] = hashlib.sha256(canonical_json(content)).hexdigest()

    _edit(path, edit)


def _edit(path: Path, edit: Callable[[dict[str, Any], Path], None]) -> None:
    """Change JSON in place; what cannot be read or written as an object of JSON stays as it is."""
    try:
        content = json.loads(path.read_bytes())
        if isinstance(content, dict):
            edit(content, path.parent)
            path.write_bytes(canonical_json(content))
    except (OSError, ValueError, TypeError, RecursionError):  # a name that is too long for a file, a NaN, a surrogate
        pass


def _with_file_hashes(content: dict[str, Any], folder: Path) -> None:
    _hash_each(content.get("files"), folder, "")
    _hash_each(content.get("parts"), folder / "components", MANIFEST)
    stages = content.get("stages")
    for stage in stages.values() if isinstance(stages, dict) else ():
        if isinstance(stage, dict):
            _hash_each(stage.get("files"), folder, "")
    if "runs" in content:  # tuned weights name their system
        content["system"] = _identity(folder) or content.get("system")
    content.pop("sha256", None)
    content["sha256"] = hashlib.sha256(canonical_json(content)).hexdigest()


def _hash_each(digests: Any, folder: Path, inside: str) -> None:
    for name in digests if isinstance(digests, dict) else ():
        path = folder / name / inside
        path = path / MANIFEST if path.is_dir() else path
        if path.is_file():
            digests[name] = sha256_of(path)


def _identity(folder: Path) -> str:
    """What the weights of a system are for; '' where there is no system that can be read."""
    try:
        return identity_of(read_manifest(folder))
    except Exception:  # the target will meet it again, and then it counts
        return ""


def sign_compiled(raw: bytes) -> bytes:
    """A compiled file with its own size and digest; what is too short for a header stays as it is."""
    if len(raw) < HEADER_SIZE:
        return raw
    return raw[:16] + len(raw).to_bytes(8, "little") + raw[24:32] + hashlib.sha256(raw[64:]).digest() + raw[64:]
