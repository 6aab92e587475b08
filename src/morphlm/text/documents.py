"""Raw text as people have it: files, folders, pipes and .jsonl, compressed or not, in any encoding, as documents.

A file is a document, and so is a line of .jsonl. What is no text is skipped in folders and refused elsewhere; what was
skipped, mended and recognised is said.
"""

from __future__ import annotations

import io
import itertools
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from morphlm.errors import ConfigError, InputError
from morphlm.files import COMPRESSIONS, checked_path, open_binary, source_name
from morphlm.progress import notify
from morphlm.schema import SchemaError
from morphlm.schema.documents import parse_json
from morphlm.text.encodings import (
    SAMPLE_BYTES,
    UNSURE,
    Encoding,
    MendingDecoder,
    NotTextError,
    check_is_known,
    given_encoding,
    name_encoding,
    recognise_encoding,
)
from morphlm.text.entities import replace_entities
from morphlm.text.reading import repair_messages
from morphlm.text.wrapping import join_wrapped
from morphlm.wording import option

PART_CHARACTERS = 1 << 20  # a larger file comes in parts of about this size
LONGEST_PARAGRAPH = 1 << 20  # characters; a longer one is cut at a space
LONGEST_OBJECT = 1 << 26  # characters of a line of .jsonl
JSON_LINES = (".jsonl", ".ndjson")
_FIELD = "text"  # of an object in .jsonl, if none is named
_SHOWN = 3  # names in a message
_LINE_ENDS = re.compile(r"[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # besides the newline
_SENTENCE_END = re.compile(r"[.!?…।؟۔。！？][\"”“»›’')\]]*\s*$")
_TAG = re.compile(r"</?[a-zA-Z][\w:.-]{0,30}(?:\s+[\w:-]{1,30}\s*=[^<>]{0,200})?\s*/?>")
_TAG_SHARE = 0.05  # of the characters of a text that looks like HTML
_TAG_LINES = 2000  # of a file that are searched for tags
_LINES_BACK = 1000  # that are searched for the end of a sentence

Line = tuple[int, str]  # its number in the file, from 1


@dataclass(frozen=True)
class Document:
    """A text with its paragraphs; a large file comes in several parts, one after the other."""

    source: str  # how messages name it
    first_line: int  # where it begins in the file, from 1
    paragraphs: tuple[str, ...]
    part: int = 0  # 0 begins a document


@dataclass
class Findings:
    """What was noticed while reading."""

    documents: int = 0
    skipped: dict[str, list[str]] = field(default_factory=dict)  # why -> files
    encodings: dict[str, list[str]] = field(default_factory=dict)  # other than UTF-8, and how sure -> files
    unsure: list[str] = field(default_factory=list)  # files whose encoding is a bad guess
    marked_up: list[str] = field(default_factory=list)  # files that look like HTML or XML
    repairs: Counter[str] = field(default_factory=Counter)

    def skip(self, path: str | Path, why: str) -> None:
        """Remember a file that is not read."""
        self.skipped.setdefault(why, []).append(str(path))

    def messages(self) -> Iterator[str]:
        """What a user should know, a line each."""
        for why, names in self.skipped.items():
            yield f"skipped {_listed(names)}: {why}"
        for encoding, names in self.encodings.items():
            yield f"{_listed(names)}: read as {encoding}"
        if self.unsure:
            yield f"warning: the encoding of {_listed(self.unsure)} is no more than a guess; {name_encoding()}"
        if self.marked_up:
            cure = "take the text out first (`pandoc -t plain`, `html2text`)"
            looks = "looks" if len(self.marked_up) == 1 else "look"
            yield f"warning: {_listed(self.marked_up)} {looks} like HTML or XML, whose tags are read as words; {cure}"
        yield from repair_messages(self.repairs)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN:,} more"


def read_documents(
    paths: Sequence[str | Path],
    *,
    field: str | None = None,
    encoding: str | None = None,
    rejoin: bool = True,
    findings: Findings | None = None,
    say: Callable[[str], None] = notify,
) -> Iterator[Document]:
    """The documents in files, folders (with all that is in them) and standard input ('-'), in parts of about 1 MB.

    `field` names the text in objects of .jsonl, by default `text` or the only string; `encoding` is recognised if it is
    not given. The lines of hard-wrapped text are joined unless `rejoin` is False. At the end, what was noticed is
    said; `findings` collects it. No text at all is an InputError.
    """
    findings = Findings() if findings is None else findings
    for path, is_named in _files(paths, findings):
        try:
            for document in _File(path, field, encoding, rejoin, findings).documents():
                findings.documents += document.part == 0
                yield document
        except NotTextError as error:
            if is_named:
                raise
            findings.skip(path, error.what)
    for message in findings.messages():
        say(message)
    if not findings.documents:
        raise _nothing(paths, findings)


def _nothing(paths: Sequence[str | Path], findings: Findings) -> InputError:
    if not paths:
        return InputError("no text is named; name files or folders, or - for standard input")
    skipped = "; ".join(f"skipped {_listed(names)}: {why}" for why, names in findings.skipped.items())
    what = f"there is no text here ({skipped or 'nothing at all'}); name files or folders with text"
    return InputError(what, source=_listed([source_name(path) for path in paths]))


# ---------------------------------------------------------------- finding files


def _files(paths: Sequence[str | Path], findings: Findings) -> Iterator[tuple[str | Path, bool]]:
    """All files, and whether they were named themselves rather than found in a folder."""
    if isinstance(paths, str | Path):
        raise ConfigError("the paths are a sequence of names, not one name; put it in a list")
    if sum(str(path) == "-" for path in paths) > 1:
        raise ConfigError("standard input ('-') is named more than once; it can be read only once")
    for path in paths:
        if str(path) != "-" and checked_path(path).is_dir():
            yield from ((found, False) for found in _files_in(Path(path), findings))
        else:
            yield path, True


def _files_in(folder: Path, findings: Findings) -> Iterator[Path]:
    """The regular files below a folder in the order of their names; links to folders are not followed."""

    def refuse(error: OSError) -> None:
        raise InputError(f"it cannot be read ({error.strerror}); check it with `ls -l`", source=error.filename)

    seen: set[tuple[int, int]] = set()
    for parent, folders, names in os.walk(folder, onerror=refuse):
        for path in [Path(parent, name) for name in sorted(folders)]:
            if path.name.startswith(".") or path.is_symlink():
                findings.skip(path, "hidden" if path.name.startswith(".") else "a link to a folder")
                folders.remove(path.name)
        folders.sort()
        for path in (Path(parent, name) for name in sorted(names)):
            if why := _why_skipped(path, seen):
                findings.skip(path, why)
            else:
                yield path


def _why_skipped(path: Path, seen: set[tuple[int, int]]) -> str | None:
    if path.name.startswith("."):
        return "hidden"
    try:
        status = path.stat()
    except OSError:
        return "a link that leads nowhere"
    if not stat.S_ISREG(status.st_mode):
        return "a pipe or device"
    if (status.st_dev, status.st_ino) in seen:
        return "read already under another name"
    seen.add((status.st_dev, status.st_ino))
    return None if status.st_size else "empty"


# ---------------------------------------------------------------- reading a file


@dataclass
class _File:
    """Reads one file."""

    path: str | Path
    field: str | None
    encoding: str | None
    rejoin: bool
    findings: Findings
    _lines_searched: int = 0  # for tags

    @property
    def source(self) -> str:
        return source_name(self.path)

    def documents(self) -> Iterator[Document]:
        with open_binary(self.path) as stream:
            sample = _read_sample(stream)
            if not sample.strip():
                self.findings.skip(self.source, "empty")
                return
            texts = self._texts(sample, stream, self._recognise(sample))
            if self._is_json_lines(sample):
                yield from self._objects(self._lines(texts, LONGEST_OBJECT))
            else:
                yield from self._parts(self._lines(texts, LONGEST_PARAGRAPH))

    def _recognise(self, sample: bytes) -> Encoding:
        if self.encoding is None:
            return recognise_encoding(sample, self.source)
        check_is_known(sample, self.source)
        return given_encoding(self.encoding, sample)

    def _is_json_lines(self, sample: bytes) -> bool:
        name = Path(self.path)
        suffix = (name.with_suffix("") if name.suffix in COMPRESSIONS else name).suffix.lower()
        if suffix == ".json":
            raise NotTextError("this is one JSON value; write an object a line (.jsonl)", source=self.source)
        if str(self.path) != "-":
            return suffix in JSON_LINES
        first = sample.lstrip().split(b"\n", 1)[0].rstrip()  # standard input has no name
        return self.field is not None or (first.startswith(b'{"') and first.endswith(b"}"))

    def _texts(self, sample: bytes, stream: io.BufferedReader, encoding: Encoding) -> Iterator[str]:
        """The decoded text piece by piece, with plain newlines."""
        decoder = MendingDecoder(encoding, self.source, self.findings.repairs)
        newlines = io.IncrementalNewlineDecoder(None, translate=True)
        data = sample.removeprefix(encoding.mark)
        while data:
            yield newlines.decode(decoder.decode(data))
            data = stream.read1(SAMPLE_BYTES)
        yield newlines.decode(decoder.decode(b"", final=True), final=True)
        if self.encoding is None:
            self._remember(decoder.encoding)

    def _remember(self, encoding: Encoding) -> None:
        if not encoding.is_utf8:
            self.findings.encodings.setdefault(encoding.format(), []).append(self.source)
        if encoding.certainty < UNSURE:
            self.findings.unsure.append(self.source)

    def _lines(self, texts: Iterator[str], longest: int) -> Iterator[Line]:
        """The lines with their numbers; one that is longer than `longest` is cut at spaces."""
        number, pending = 1, ""
        for text in texts:
            *lines, pending = (pending + text).split("\n")
            yield from enumerate(lines, number)
            number += len(lines)
            while len(pending) > longest:
                cut = _cut(pending, longest)
                yield number, pending[:cut]
                pending = pending[cut:]
        if pending:
            yield number, pending

    # ------------------------------------------------------------ plain text

    def _parts(self, lines: Iterator[Line]) -> Iterator[Document]:
        """The file as one document, in parts that end with a sentence."""
        part, size = 0, 0
        gathered: list[Line] = []
        for line in lines:
            gathered.append(line)
            size += len(line[1]) + 1
            if size >= 2 * PART_CHARACTERS:  # so that the last part is no small rest
                end = _end_of_part(gathered)
                if document := self._document(gathered[:end], part):
                    yield document
                    part += 1
                gathered = gathered[end:]
                size = sum(len(text) + 1 for _, text in gathered)
        if document := self._document(gathered, part):
            yield document

    def _document(self, lines: Sequence[Line], part: int = 0) -> Document | None:
        """A document of these lines, unless they are empty."""
        if not lines:
            return None
        pieces = (text for _, line in lines for text in _LINE_ENDS.split(line))
        texts = [replace_entities(text, self.findings.repairs) for text in pieces]
        self._look_for_tags(texts)
        paragraphs = join_wrapped(texts) if self.rejoin else [text.strip() for text in texts]
        kept = tuple(piece for paragraph in paragraphs for piece in self._bounded(paragraph) if piece)
        return Document(self.source, lines[0][0], kept, part) if kept else None

    def _bounded(self, paragraph: str) -> Iterator[str]:
        """The paragraph, cut at spaces if it is endless."""
        while len(paragraph) > LONGEST_PARAGRAPH:
            self.findings.repairs["paragraphs of more than a million characters cut"] += 1
            cut = _cut(paragraph, LONGEST_PARAGRAPH)
            yield paragraph[:cut].strip()
            paragraph = paragraph[cut:].strip()
        yield paragraph

    def _look_for_tags(self, texts: list[str]) -> None:
        if self._lines_searched >= _TAG_LINES or self.source in self.findings.marked_up[-1:]:
            return
        self._lines_searched += len(texts)
        text = "\n".join(texts[:_TAG_LINES])
        if sum(len(tag) for tag in _TAG.findall(text)) > _TAG_SHARE * len(text):
            self.findings.marked_up.append(self.source)

    # ------------------------------------------------------------ .jsonl

    def _objects(self, lines: Iterator[Line]) -> Iterator[Document]:
        for number, line in lines:
            if not line.strip():
                continue
            text = self._text_of(line, number)
            if document := self._document([(number, piece) for piece in text.splitlines()]):
                yield document
            else:
                self.findings.repairs["objects without text left out"] += 1

    def _text_of(self, line: str, number: int) -> str:
        def refuse(what: str) -> InputError:
            return InputError(what, source=self.source, line=number)

        try:
            content = parse_json(line.encode(), "the line")
        except SchemaError as problem:
            raise refuse(f"{problem}; write one JSON object a line") from problem
        if not isinstance(content, dict):
            raise refuse('the line is no JSON object; write one a line, such as {"text": "..."}')
        self.field = self.field or _default_field(content)  # the first object decides
        if self.field is None or self.field not in content:
            known = ", ".join(list(content)[:20]) or "none"
            wanted = (
                "it is not clear which field is the text" if not self.field else f"there is no field {self.field!r}"
            )
            raise refuse(f"{wanted}; name one with {option('--field')} (here: {known})")
        value = content[self.field]
        if not isinstance(value, str | None):
            raise refuse(
                f"the field {self.field!r} is no string; name the one that is the text with {option('--field')}"
            )
        return value or ""


def _default_field(content: dict[str, Any]) -> str | None:
    strings = [name for name, value in content.items() if isinstance(value, str)]
    return _FIELD if _FIELD in content else strings[0] if len(strings) == 1 else None


def _read_sample(stream: io.BufferedReader) -> bytes:
    sample = b""
    while len(sample) < SAMPLE_BYTES and (piece := stream.read1(SAMPLE_BYTES - len(sample))):
        sample += piece
    return sample


def _cut(text: str, longest: int) -> int:
    """Where to cut a text that is too long: behind the last space within the limit, or at the limit."""
    return text.rfind(" ", 0, longest) + 1 or longest


def _end_of_part(lines: list[Line]) -> int:
    """The number of lines of a part: to the last that ends a sentence, where a paragraph may be cut without harm."""
    sizes = itertools.accumulate(len(text) + 1 for _, text in lines)
    enough = next((number for number, size in enumerate(sizes, 1) if size >= PART_CHARACTERS), len(lines))
    for number in range(enough, max(0, enough - _LINES_BACK), -1):
        if not lines[number - 1][1].strip() or _SENTENCE_END.search(lines[number - 1][1]):
            return number
    return enough
