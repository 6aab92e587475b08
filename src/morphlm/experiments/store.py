"""The folder in which experiments keep what they make, so that nothing is made twice.

    STORE/results/KIND-KEY.json         the result of every step that is done, and how long it took
    STORE/texts/LANGUAGE-TOKENS-KEY/    train, dev and test text
    STORE/stages/                       vocabularies, segmenters and classes, named by their content
    STORE/models/LANGUAGE-TOKENS-KEY-kKAPPA-sSEED[-OTHER SETTINGS]/KIND
                                        a model directory, as `morphlm train --all --out` writes it
    STORE/translation/PAIR-KEY/         parallel text, systems and translations (see translation_work)
    STORE/data/, logs/, reports/        data sets fetched by name, the talk of the steps, what was found

KEY in the name of a model is that of its texts: for example `models/cs-1m-1a2b3c4d-k0.2-s1/clbl++`, and with a wide
context or three epochs `models/de-all-5e6f7a8b-k0.2-s1-epochs3-wide/clbl++`. `--dry-run` prints the place of each. A
complete model that is copied there, of the same texts and settings, is taken as it is.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from morphlm.errors import InputError
from morphlm.experiments.graph import LONG, Step
from morphlm.files import atomic_writer, exclusive, make_folder, sha256_of
from morphlm.modelfile import canonical_json

FORMAT = 1
MANIFEST = "manifest.json"


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


@dataclass(frozen=True)
class Store:
    """The folder."""

    folder: Path

    def locked(self) -> AbstractContextManager[None]:
        """Nobody else works in it until the block ends."""
        taken = f"{self.folder}: another `morphlm reproduce` works in this store; wait for it, or give another --store"
        return exclusive(self.folder / ".lock", taken)

    # ------------------------------------------------------------ results

    def _record_path(self, step: Step) -> Path:
        return self.folder / "results" / f"{step.kind}-{step.key[:LONG]}.json"

    def find(self, step: Step) -> Record | None:
        """What the step gave when it was done; None if it was not, or if something of it is lost or damaged."""
        record = _read_record(self._record_path(step))
        if record is None or record.key != step.key:
            return None
        return record if all(self._is_whole(path, digest) for path, digest in record.files.items()) else None

    def _is_whole(self, path: str, digest: str) -> bool:
        try:
            return known_hash(self.folder / path) == digest
        except OSError:
            return False

    def keep(self, record: Record, step: Step) -> None:
        """Write the result; when this returns, the step is done."""
        path = self._record_path(step)
        content = {"format": FORMAT, **vars(record), "files": dict(record.files)}
        make_folder(path.parent)
        with atomic_writer(path) as stream:
            stream.write(canonical_json(content | {"digest": _digest(content)}))

    def records(self) -> Iterator[Record]:
        """All that is kept, whole or not: for estimates."""
        for path in sorted((self.folder / "results").glob("*.json")):
            if (record := _read_record(path)) is not None:
                yield record

    def hashes(self, *paths: Path) -> dict[str, str]:
        """What a record says of the files that belong to its result."""
        return {path.relative_to(self.folder).as_posix(): sha256_of(path) for path in paths}

    # ------------------------------------------------------------ places

    @property
    def stages(self) -> Path:
        """Where all models find their vocabulary, segmenter and classes."""
        return self.folder / "stages"

    def texts(self, step: Step) -> Path:
        """The folder of a language's texts."""
        return self.folder / "texts" / f"{step.hints['label']}-{step.short}"

    def model(self, step: Step) -> Path:
        """The directory of a model."""
        (texts, *_) = step.inputs
        setting = f"{texts.hints['label']}-{texts.short}{step.hints['label']}"
        return self.folder / "models" / setting / str(step.settings["kind"])

    def translation(self, bitext: Step) -> Path:
        """The folder of all that is made of a parallel text."""
        return self.folder / "translation" / f"{bitext.settings['pair']}-{bitext.short}"

    def data(self, name: str, language: str) -> Path:
        """A data set that has a name."""
        return self.folder / "data" / f"{name}.{language}"

    def log(self, step: Step) -> Path:
        """What was said while the step was done."""
        return self.folder / "logs" / f"{step.name.replace('/', '-').replace(' ', '_')}-{step.short}.log"

    def report(self, name: str) -> Path:
        """Where the report of a recipe goes unless another place is named."""
        return self.folder / "reports" / name

    def free_bytes(self) -> int:
        """The room on the disk that the store is on, or would be."""
        place = self.folder.resolve()
        while not place.exists():
            place = place.parent
        return shutil.disk_usage(place).free


def known_hash(path: Path) -> str:
    """The SHA-256 of a file, computed once while the file stays as it is."""
    state = path.stat()
    return _hash_of(path, state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=4096)
def _hash_of(path: Path, _size: int, _time: int) -> str:
    return sha256_of(path)


def check_store(folder: Path) -> Store:
    """Refuse, before any work is done, a place that cannot be a store."""
    if folder.exists() and not folder.is_dir():
        raise InputError("this is no folder, so results cannot be kept in it; name another --store", source=str(folder))
    return Store(folder)


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical_json(dict(content))).hexdigest()


def _read_record(path: Path) -> Record | None:
    """A record that is as it was written; None for anything else."""
    try:
        content = json.loads(path.read_bytes())
        if content.pop("digest") != _digest(content) or content.pop("format") != FORMAT:
            return None
        return Record(**content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
