"""The folder in which experiments keep what they make, so that nothing is made twice.

    STORE/results/KIND-KEY.json         the result of every step that is done, and how long it took
    STORE/texts/LANGUAGE-TOKENS-KEY/    train, dev and test text
    STORE/stages/                       vocabularies, segmenters and classes, named by their content
    STORE/models/LANGUAGE-TOKENS-KEY-kKAPPA-sSEED[-OTHER SETTINGS]/KIND
                                        a model directory, as `morphlm train --all --out` writes it
    STORE/translation/PAIR-KEY/         parallel text, systems and translations (see steps/bitext.py)
    STORE/data/, logs/, reports/        data sets fetched by name, the messages of the steps, reports

KEY in the name of a model is that of its texts: for example `models/cs-1m-1a2b3c4d-k0.2-s1/clbl++`, and with a wide
context or three epochs `models/de-all-5e6f7a8b-k0.2-s1-epochs3-wide/clbl++`. `--dry-run` prints the path of each. A
complete model that is copied there, of the same texts and settings, is taken as it is. Each kind of step knows the
folder of its own files; this module keeps the records.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from morphlm.artefacts import Shelf, lock
from morphlm.errors import FormatError, InputError
from morphlm.experiments.schema import RECORD_FORMAT, STEP_RECORD
from morphlm.files import atomic_writer, make_folder, sha256_of
from morphlm.modelfile import canonical_json
from morphlm.schema import read_document
from morphlm.wording import option

KEY_DIGITS = 16  # in the name of a record


@dataclass(frozen=True)
class Record:
    """What is kept of a step that was done."""

    key: str
    kind: str
    name: str
    seconds: float
    expected: float  # seconds, before any correction by what this machine needs
    fresh: bool  # all of the work was done in these seconds, nothing of it before
    result: dict[str, Any]
    files: Mapping[str, str]  # path below the store -> SHA-256 of what must still be there
    group: str = ""  # of steps that take similar time; '': its kind


@dataclass(frozen=True)
class RecordShelf(Shelf[Record]):
    """The records of one kind of step. One that is damaged counts as missing, and so does one whose files changed."""

    store: Store
    kind: str

    def path(self, key: str) -> Path:
        return self.store.folder / "results" / f"{self.kind}-{key[:KEY_DIGITS]}.json"

    def find(self, key: str) -> Record | None:
        record = _read_record(self.path(key))
        if record is None or record.key != key:
            return None
        return record if all(self._is_unchanged(path, digest) for path, digest in record.files.items()) else None

    def _is_unchanged(self, path: str, digest: str) -> bool:
        try:
            return known_hash(self.store.folder / path) == digest
        except (OSError, FormatError):
            return False

    def keep(self, key: str, result: Record) -> None:
        path, content = self.path(key), {"format": RECORD_FORMAT, **vars(result), "files": dict(result.files)}
        make_folder(path.parent)
        with atomic_writer(path, is_ours=True) as stream:
            stream.write(canonical_json(content | {"digest": _digest(content)}))


@dataclass(frozen=True)
class Store:
    """The folder with all results."""

    folder: Path

    def locked(self) -> AbstractContextManager[None]:
        """Nobody else works in it until the block ends."""
        return lock(self.folder / ".lock", self.folder, f"give another {option('--store')}")

    def shelf(self, kind: str) -> RecordShelf:
        """Where the records of a kind of step are found and kept."""
        return RecordShelf(self, kind)

    def records(self) -> Iterator[Record]:
        """All records, whether their files are unchanged or not: for estimates."""
        for path in sorted((self.folder / "results").glob("*.json")):
            if (record := _read_record(path)) is not None:
                yield record

    def hashes(self, files: Iterable[Path]) -> dict[str, str]:
        """What a record says of the files that belong to its result."""
        return {self.relative(path): sha256_of(path) for path in files}

    def relative(self, path: Path) -> str:
        """A path below the store, as records name it."""
        return path.relative_to(self.folder).as_posix()

    @property
    def stages(self) -> Path:
        """Where all models find their vocabulary, segmenter and classes."""
        return self.folder / "stages"

    def data(self, name: str, language: str) -> Path:
        """Where a data set is kept that was fetched by its name."""
        return self.folder / "data" / f"{name}.{language}"

    def log(self, name: str) -> Path:
        return self.folder / "logs" / f"{name.replace('/', '-').replace(' ', '_')}.log"

    def report(self, recipe: str) -> Path:
        """Where the report of a recipe goes unless `--out` names another folder."""
        return self.folder / "reports" / recipe

    def free_bytes(self) -> int:
        """On the disk that the store is on, or would be."""
        folder = self.folder.resolve()
        while not folder.exists():
            folder = folder.parent
        return shutil.disk_usage(folder).free


def known_hash(path: Path) -> str:
    """The SHA-256 of a file, computed once while the file stays as it is."""
    state = path.stat()
    return _hash_of(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=4096)
def _hash_of(path: Path, _size: int, _time: int) -> str:
    return sha256_of(path)


def hashes_of(files: Mapping[str, Path]) -> dict[str, str]:
    """The SHA-256 of files, by role."""
    return {role: known_hash(path) for role, path in files.items()}


def check_store(folder: Path) -> Store:
    """The store in a folder; refuses, before any work is done, what is no folder."""
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"this is no folder, so results cannot be kept in it; name another {option('--store')}", source=str(folder)
        )
    return Store(folder)


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical_json(dict(content))).hexdigest()


def _read_record(path: Path) -> Record | None:
    """A record that is as it was written; None for anything else."""
    try:
        content = read_document(path, STEP_RECORD)
    except (OSError, FormatError):
        return None
    digest = content.pop("digest")
    if digest != _digest(content):
        return None
    return Record(**{name: value for name, value in content.items() if name != "format"})
