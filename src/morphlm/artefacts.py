"""Find a result or make it: every result that is kept lies under the hash of what it depends on.

A *producer* makes one sort of result (a segmenter, word classes, an alignment, a step of an experiment). It has a name
and a revision, an integer that is raised when the same inputs give another result. The *key* of a result is a hash of
producer, revision, inputs and settings, so it is known before anything is made, and an old result is not found once
the revision has risen. A *shelf* is where results lie: files in a folder, a manifest, a model directory.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Generic, TypeVar

import numpy as np

from morphlm.arrays import blocks_of
from morphlm.errors import ConfigError, FormatError, InputError
from morphlm.files import exclusive, make_folder
from morphlm.progress import notify
from morphlm.wording import option

Result = TypeVar("Result")
HASHED_BYTES = 1 << 24  # of an array at a time: of maps of files, no more is in memory
KEY_DIGITS = 12  # of a key in the name of a file


def complete_message(out: str | Path) -> str:
    """That a model is there already, and how to train it anew."""
    return f"{out} is complete, from the same text with the same settings; {option('--restart', True)} trains it anew"


def fingerprint(parts: Mapping[str, Any]) -> str:
    """A SHA-256 of named arrays and of values that JSON can hold."""
    digest = hashlib.sha256()
    for name, part in sorted(parts.items()):
        digest.update(f"\n{name}\n".encode())
        if isinstance(part, np.ndarray):
            for block in blocks_of(np.ascontiguousarray(part).reshape(-1).view(np.uint8), HASHED_BYTES):
                digest.update(block.data)
        else:
            digest.update(json.dumps(part, sort_keys=True).encode())
    return digest.hexdigest()


@dataclass(frozen=True)
class Producer:
    """What makes one sort of result, and by which code."""

    name: str  # "segmenter", "classes", "align", ...: also the first word of messages
    revision: int  # raise it when the same inputs give another result; tests/producers.json watches the code
    modules: tuple[str, ...] = ()  # modules and packages whose code decides the result

    def key(self, **depends_on: Any) -> str:
        """The hash of everything that a result depends on."""
        return fingerprint(depends_on | {"producer": self.name, "revision": self.revision})


class Shelf(ABC, Generic[Result]):
    """Where the results of a producer lie."""

    place: str = ""  # what messages call it; '' where naming it helps nobody
    found_message: str = ""  # what is said when a result is found; '': that it was found

    @abstractmethod
    def find(self, key: str) -> Result | None:
        """The result with this key; None if there is none.

        A result that is damaged raises FormatError or InputError and is made again. A place that must not be filled
        with anything else raises ConfigError, which is for the user.
        """

    @abstractmethod
    def keep(self, key: str, result: Result) -> None:
        """Store the result in one step: an interrupted run leaves a whole result or none."""


class NoShelf(Shelf[Result]):
    """Nothing is kept."""

    def find(self, key: str) -> Result | None:
        return None

    def keep(self, key: str, result: Result) -> None:
        pass


class FolderShelf(Shelf[Result]):
    """Files or directories in a folder, named `NAME-KEY.EXTENSION`; several producers may share the folder."""

    def __init__(
        self,
        folder: Path,
        producer: Producer,
        extension: str = "",
        *,
        read: Callable[[Path], Result],
        write: Callable[[Path, Result], None],
    ) -> None:
        self.folder, self._name, self._extension = folder, producer.name, extension
        self._read, self._write = read, write
        self.place = str(folder)

    def path(self, key: str) -> Path:
        """Where the result with this key lies, or would."""
        return self.folder / f"{self._name}-{key[:KEY_DIGITS]}{self._extension}"

    def find(self, key: str) -> Result | None:
        path = self.path(key)
        self.place = str(path)
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise ConfigError(f"{path}: this is neither a file nor a folder, so no result can be kept in it; remove it")
        return self._read(path) if path.exists() else None

    def keep(self, key: str, result: Result) -> None:
        make_folder(self.folder)
        self._write(self.path(key), result)


def lock(lock_file: Path, target: Path, cure: str = "choose another place") -> AbstractContextManager[None]:
    """Let nobody else write to a target until the block or the process ends; a second writer is refused."""
    return exclusive(lock_file, f"{target}: another process is writing here; wait until it has ended, or {cure}")


@dataclass(frozen=True)
class Obtained(Generic[Result]):
    """A result, and whether it was there before."""

    result: Result
    was_found: bool
    seconds: float  # that making it took


def find(producer: Producer, key: str, shelf: Shelf[Result]) -> Result | None:
    """The result if it is there and whole; says so, or that it is damaged."""
    try:
        result = shelf.find(key)
    except (FormatError, InputError) as error:
        notify(f"{producer.name}: the one{_in(shelf)} is damaged and is made again ({error})")
        return None
    if result is not None:
        notify(shelf.found_message or f"{producer.name}: found{_in(shelf)}")
    return result


def _in(shelf: Shelf[Any]) -> str:
    return f" in {shelf.place}" if shelf.place else ""


def find_or_make(
    producer: Producer, key: str, shelf: Shelf[Result], make: Callable[[], Result], *, announce: str = ""
) -> Obtained[Result]:
    """Take the result from the shelf, or make it and put it there; `announce` says what is being made."""
    result = find(producer, key, shelf)
    if result is not None:
        return Obtained(result, True, 0.0)
    if announce:
        notify(f"{producer.name}: {announce}")
    begin = perf_counter()
    result = make()
    shelf.keep(key, result)
    return Obtained(result, False, perf_counter() - begin)
