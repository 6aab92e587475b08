"""What somebody asks of `learn`: texts, options, a place; and how the files looked, to notice when they change."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, InputError, MissingFileError
from morphlm.files import checked_path, sha256_of, source_name
from morphlm.text.encodings import check_encoding
from morphlm.text.languages import check_language, check_spaced
from morphlm.text.preparation import Case, read_preparation
from morphlm.text.raw import split_lines_from_tokens
from morphlm.wording import option

Texts = str | Path | Sequence[Path] | Iterable[str] | Iterable[Sequence[str]]
LARGEST_SEED = 2**32 - 1
DEFAULTS = {"caches": True}  # of settings that are on record only where they were given


@dataclass(frozen=True, eq=False)
class LearnRequest:
    """Everything that decides what comes out, and how long it may take."""

    texts: (
        tuple[str | Path, ...] | Iterable[str] | Iterable[Sequence[str]]
    )  # files, folders and '-'; or the text itself
    out: Path
    language: str | None = None  # None: recognised
    minutes: float | None = None  # None: as long as it takes
    dev: str | Path | None = None  # None: a part of the text
    test: str | Path | None = None
    prepared: bool = False  # tokens stand between spaces, a sentence a line
    allow_unknown: bool = False  # the text may hold <unk>
    field: str | None = None  # of .jsonl
    encoding: str | None = None  # of raw text; None: recognised
    case: Case = "lower"
    caches: bool = True  # tried, and kept if they help
    seed: int = 1
    threads: int | None = None
    processes: int = 1  # that prepare the text

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        if self.language is not None:
            check = check_language if self.prepared else check_spaced
            object.__setattr__(self, "language", check(self.language))
        if self.minutes is not None and not 0 < self.minutes < 1e6:
            raise ConfigError(f"{self.minutes:g} minutes are no time to learn in; give more than 0")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise ConfigError(f"seed is {self.seed}; it must be a whole number from 0 to {LARGEST_SEED:,}")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", check_encoding(self.encoding))
        if self.case not in ("lower", "keep"):
            raise ConfigError(f"case is {self.case!r}; choose lower or keep")
        named = [str(path) for path in (*(self.paths or ()), self.dev, self.test) if path is not None]
        if named.count("-") > 1:
            raise ConfigError("standard input ('-') is named more than once; it can be read only once")
        if self.prepared and self.field is not None:
            field, prepared = option("--field"), option("--prepared", True)
            raise ConfigError(f"{field} names the text in .jsonl, which is raw text; leave out {field} or {prepared}")

    @property
    def paths(self) -> tuple[str | Path, ...] | None:
        """The files, folders and '-' that were named; None if the text itself was given."""
        return self.texts if isinstance(self.texts, tuple) and all(map(_is_path, self.texts)) else None

    @property
    def settings(self) -> dict[str, Any]:
        """The options that decide what is learned; the time given and the number of threads do not belong to them."""
        return {
            "language": self.language,
            "prepared": self.prepared,
            "allow_unknown": self.allow_unknown,
            "field": self.field,
            **({} if self.encoding is None else {"encoding": self.encoding}),
            "case": self.case,
            **({} if self.caches else {"caches": False}),
            "seed": self.seed,
        }

    @property
    def named_files(self) -> Iterator[tuple[str, str | Path]]:
        """Role (`text`, `dev`, `test`) and name of all that was named."""
        yield from (("text", path) for path in self.paths or ())
        yield from ((role, path) for role, path in (("dev", self.dev), ("test", self.test)) if path is not None)


def _is_path(item: object) -> bool:
    return isinstance(item, str | Path)


def as_request_texts(texts: Texts) -> tuple[tuple[str | Path, ...] | Iterable[Any], bool]:
    """What Python callers give: a name or Path, several Paths, raw lines, or lists of tokens; whether it is tokens."""
    if isinstance(texts, str | Path):
        return (texts,), False
    if isinstance(texts, list | tuple) and texts and all(isinstance(item, Path) for item in texts):
        return tuple(texts), False
    if not isinstance(texts, Iterable):
        raise InputError(f"{texts!r} is no text; give a file, a folder, raw lines, or lists of tokens")
    items, are_lines = split_lines_from_tokens(texts)
    return _Items(items), not are_lines


class _Items:
    """Lines or token lists, which are no names of files even if they stand in a tuple."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)


# ---------------------------------------------------------------- files, to notice when they change


@dataclass(frozen=True)
class InputFile:
    """A file that was read, as it was then."""

    role: str  # "text", "dev" or "test"
    name: str
    bytes: int | None  # None: standard input, or the text itself
    modified: int | None = None  # nanoseconds since 1970
    sha256: str | None = None

    def is_unchanged(self, now: InputFile) -> bool:
        """Whether the file is as it was, by size and time, or else by content."""
        if (self.role, self.name, self.bytes) != (now.role, now.name, now.bytes):
            return False
        if self.bytes is None or self.modified == now.modified or self.sha256 is None:
            return True
        return self.sha256 == sha256_of(Path(self.name))


def look_at_inputs(request: LearnRequest) -> tuple[InputFile, ...]:
    """All files that are named, those in folders too, by size and time; a name that leads nowhere is refused."""
    if request.paths is None:
        named = tuple(_look_at(role, path) for role, path in request.named_files)
        return (InputFile("text", "<text>", None), *named)
    return tuple(_look_at(role, path) for role, name in request.named_files for path in _files_at(name))


def _files_at(name: str | Path) -> Iterator[str | Path]:
    """The file, or those in a folder that are not hidden, in the order of their names."""
    if str(name) == "-" or not checked_path(name).is_dir():
        yield name
        return
    for parent, folders, names in os.walk(name):
        folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
        yield from (Path(parent, found) for found in sorted(names) if not found.startswith("."))


def _look_at(role: str, path: str | Path) -> InputFile:
    if str(path) == "-":
        return InputFile(role, source_name(path), None)
    try:
        status = Path(path).stat()
    except OSError:
        if not Path(path).is_symlink():
            raise MissingFileError("there is no such file or folder; check the name", source=str(path)) from None
        return InputFile(role, str(path), 0)  # a link that leads nowhere, in a folder: left out when it is read
    if not Path(path).is_file():
        return InputFile(role, str(path), None)  # a named pipe
    return InputFile(role, str(path), status.st_size, status.st_mtime_ns)


def with_hashes(files: Iterable[InputFile]) -> tuple[InputFile, ...]:
    """The same with the SHA-256 of each file."""
    return tuple(replace(file, sha256=sha256_of(Path(file.name))) if file.bytes else file for file in files)


def is_prepared_already(request: LearnRequest) -> bool:
    """Whether all files are on record as prepared by `morphlm prepare`, so that it need not be said."""
    paths = request.paths
    if not paths:
        return False
    return all(str(path) != "-" and read_preparation(path) is not None for path in paths)


def describe_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The settings that differ, as one would say them: `case keep instead of lower`."""
    now, before = DEFAULTS | dict(now), DEFAULTS | dict(before)
    return [
        f"{name.replace('_', ' ')} {_named(now.get(name))} instead of {_named(before.get(name))}"
        for name in dict.fromkeys([*now, *before])
        if now.get(name) != before.get(name)
    ]


def _named(value: object) -> object:
    """A setting in a message; None is what was left to `learn`."""
    return "none" if value is None else value
