"""The folder that every data set becomes: `PART.LANGUAGE.txt`, one sentence a line, and dataset.json that describes it.

It is written beside its final path and renamed when it is complete, so a folder of that name is always whole; one that
already holds the requested data set is checked against its hashes and used again.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from morphlm.display import Row, Tabular, dataclass_repr
from morphlm.errors import FormatError, InputError, MorphlmError
from morphlm.files import cannot_write, checked_path, partial_folder, sha256_of
from morphlm.modelfile import canonical_json
from morphlm.schema import parse_json, read_document
from morphlm.text.datasets.schema import DATASET, FORMAT_VERSION

DESCRIPTION = "dataset.json"
PARTS = ("train", "dev", "test")
HELD_OUT = 0.05  # the share of dev, and the share of test


@dataclass(frozen=True)
class DatasetRequest:
    """The data set that was asked for, with all defaults filled in."""

    name: str
    language: str
    parallel: str | None
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)

    __repr__ = dataclass_repr

    @property
    def languages(self) -> tuple[str, ...]:
        """The language of the text, then that of its parallel side."""
        return (self.language,) if self.parallel is None else (self.language, self.parallel)


@dataclass(frozen=True)
class DatasetOrigin:
    """Where a data set came from and on what terms."""

    licence: str  # one line
    source: Mapping[str, Any]  # packages with versions, or files with hashes; never an address


@dataclass(frozen=True)
class FileFacts:
    """Hash and size of a file of the data set."""

    sha256: str
    lines: int
    words: int  # separated by white space


@dataclass(frozen=True)
class DataFolder(Tabular):
    """A finished data set on disk."""

    directory: Path
    name: str
    languages: tuple[str, ...]
    options: Mapping[str, Any]  # the seed and whatever else decides the content
    licence: str
    source: Mapping[str, Any]
    files: Mapping[str, FileFacts]
    reused: bool = False  # it was there already

    __repr__ = dataclass_repr

    def frame_rows(self) -> list[Row]:
        return [
            {"file": name, "lines": facts.lines, "words": facts.words} for name, facts in sorted(self.files.items())
        ]

    def path(self, part: str, language: str) -> Path:
        """The file of a part ('train', 'dev', 'test') in a language."""
        name = file_name(part, language)
        if name not in self.files:
            known = ", ".join(sorted(self.files))
            raise InputError(f"there is no {name} in this data set; it has {known}", source=str(self.directory))
        return self.directory / name

    def description(self) -> dict[str, Any]:
        """The content of dataset.json."""
        return {
            "format": FORMAT_VERSION,
            "name": self.name,
            "languages": list(self.languages),
            "options": dict(self.options),
            "licence": self.licence,
            "source": dict(self.source),
            "files": {name: asdict(facts) for name, facts in sorted(self.files.items())},
        }


def file_name(part: str, language: str) -> str:
    """The name of the file of a part in a language."""
    return f"{part}.{language}.txt"


def part_of(key: str, seed: int) -> str:
    """The part that a page belongs to: by its name alone, so that it is the same in every language and version."""
    digest = hashlib.sha256(f"{seed}:{key}".encode()).digest()
    draw = int.from_bytes(digest[:8], "big") / 2**64
    return "dev" if draw < HELD_OUT else "test" if draw < 2 * HELD_OUT else "train"


@dataclass
class PartWriter:
    """Open files of a data set, one for every part and language, that are filled row by row."""

    streams: Mapping[str, Sequence[IO[bytes]]]

    def write(self, part: str, texts: Sequence[str]) -> None:
        for stream, text in zip(self.streams[part], texts, strict=True):
            stream.write(text.encode() + b"\n")


@contextlib.contextmanager
def part_writer(directory: Path, languages: Sequence[str], parts: Sequence[str] = PARTS) -> Iterator[PartWriter]:
    """Open the files of all parts in all languages. Use as a context manager."""
    with contextlib.ExitStack() as stack:
        yield PartWriter(
            {
                part: [
                    stack.enter_context((directory / file_name(part, language)).open("wb")) for language in languages
                ]
                for part in parts
            }
        )


def make_folder(
    directory: Path,
    request: DatasetRequest,
    options: Mapping[str, Any],
    make: Callable[[Path, DatasetRequest], DatasetOrigin],
) -> DataFolder:
    """Have `make` fill a folder beside `directory` and rename it; or use what is there if it is the same data set."""
    directory = checked_path(directory).resolve()
    if (present := _present(directory, request, options)) is not None:
        return present
    try:
        with partial_folder(directory) as partial:
            origin = make(partial, request)
            folder = _described(partial, directory, request, options, origin)
            (partial / DESCRIPTION).write_bytes(canonical_json(folder.description()))
            partial.rename(directory)
    except MorphlmError:
        raise
    except OSError as error:
        raise cannot_write(directory, error) from error
    return folder


def _described(
    partial: Path, directory: Path, request: DatasetRequest, options: Mapping[str, Any], origin: DatasetOrigin
) -> DataFolder:
    files = {path.name: _facts(path) for path in sorted(partial.iterdir())}
    for name, facts in files.items():
        if facts.lines == 0:
            raise InputError(f"there is too little text: {name} would be empty; use more text", source=request.name)
    return DataFolder(directory, request.name, request.languages, options, origin.licence, origin.source, files)


def _facts(path: Path) -> FileFacts:
    lines = words = 0
    with path.open("rb") as file:
        for line in file:
            lines += 1
            words += len(line.split())
    return FileFacts(sha256_of(path), lines, words)


def _present(directory: Path, request: DatasetRequest, options: Mapping[str, Any]) -> DataFolder | None:
    """The requested data set, if the directory holds it; None if there is none. Anything else there is refused."""
    if not directory.exists() or (directory.is_dir() and not any(directory.iterdir())):
        return None
    if not (directory / DESCRIPTION).is_file():
        raise InputError("this exists and is not a data set; choose another place or remove it", source=str(directory))
    folder = read_folder(directory)
    wanted = (request.name, request.languages, parse_json(canonical_json(dict(options)), "options"))
    if (folder.name, folder.languages, folder.options) != wanted:
        languages = "-".join(folder.languages)
        shown = ", ".join(f"{name} {value}" for name, value in folder.options.items() if not isinstance(value, dict))
        raise InputError(
            f"this holds another data set ({folder.name}, {languages}, {shown}); choose another place or remove it",
            source=str(directory),
        )
    return folder


def read_folder(directory: str | Path) -> DataFolder:
    """Read the description of a data set and check every file against it."""
    directory = Path(directory)
    path = directory / DESCRIPTION
    try:
        content = read_document(path, DATASET)
    except FileNotFoundError as error:
        raise InputError(
            f"there is no {DESCRIPTION} here; name the folder of a data set", source=str(directory)
        ) from error
    except OSError as error:
        raise FormatError(f"{path}: it cannot be read ({error.strerror}); check it with `ls -l`") from error
    folder = DataFolder(
        directory,
        content["name"],
        tuple(content["languages"]),
        content["options"],
        content["licence"],
        content["source"],
        {name: FileFacts(**facts) for name, facts in content["files"].items()},
        reused=True,
    )
    for name, facts in folder.files.items():
        _check(directory / name, facts)
    return folder


def _check(path: Path, facts: FileFacts) -> None:
    if not path.is_file():
        raise FormatError(f"{path}: the file is missing; remove the folder and get the data set again")
    if sha256_of(path) != facts.sha256:
        raise FormatError(f"{path}: it was changed after it was written; remove the folder and get the data set again")
