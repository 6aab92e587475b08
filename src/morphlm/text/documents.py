"""Raw text as people have it: files, folders, pipes and .jsonl, compressed or not, in any encoding, as documents.

A file is a document, and so is a line of .jsonl. What is no text is skipped in folders and refused elsewhere; what was
skipped, mended and recognised is said.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from morphlm.errors import ConfigError, InputError
from morphlm.files import COMPRESSIONS, checked_path, open_binary, source_name
from morphlm.progress import notify
from morphlm.schema import SchemaError
from morphlm.schema.documents import LARGEST_DOCUMENT, parse_json
from morphlm.text.encodings import SAMPLE_BYTES, UNSURE, Encoding, NotTextError, recognise_encoding
from morphlm.text.wrapping import join_wrapped

PART_CHARACTERS = 1 << 20  # a larger file comes in parts of about this size
LONGEST_PARAGRAPH = 1 << 20  # characters; a longer line is cut at a space
JSON_LINES = (".jsonl", ".ndjson")
_FIELD = "text"  # of an object in .jsonl, if none is named
_SHOWN = 3  # names in a message
_LINE_ENDS = re.compile(r"[\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SENTENCE_END = re.compile(r"[.!?…।؟۔。！？][\"”“»›’')\]]*\s*$")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,200}>")
_TAG_SHARE = 0.05  # of the characters of a text that looks like HTML


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
    encodings: dict[str, list[str]] = field(default_factory=dict)  # other than UTF-8 -> files
    unsure: list[str] = field(default_factory=list)  # files whose encoding is a bad guess
    marked_up: list[str] = field(default_factory=list)  # files that look like HTML or XML
    repairs: Counter[str] = field(default_factory=Counter)

    def messages(self) -> Iterator[str]:
        """What a user should know, a line each."""
        for why, names in self.skipped.items():
            yield f"skipped {_listed(names)}: {why}"
        for encoding, names in self.encodings.items():
            yield f"{_listed(names)}: read as {encoding}"
        if self.unsure:
            yield f"warning: the encoding of {_listed(self.unsure)} is a bad guess; convert it to UTF-8 (iconv)"
        if self.marked_up:
            cure = "take the text out first (`pandoc -t plain`, `html2text`)"
            yield f"warning: {_listed(self.marked_up)}: this looks like HTML or XML, and tags are read as words; {cure}"
        for repair, count in self.repairs.items():
            yield f"mended: {count:,} {repair}"


def _listed(names: list[str]) -> str:
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

    `field` names the text in objects of .jsonl, by default `text` or the only string. The lines of hard-wrapped text
    are joined unless `rejoin` is False. At the end, what was noticed is said; `findings` collects it.
    """
    findings = Findings() if findings is None else findings
    files = _files(paths, findings)
    for path, is_named in files:
        reader = _Reader(source_name(path), field, encoding, rejoin, findings)
        try:
            for document in reader.documents(path):
                findings.documents += document.part == 0
                yield document
        except NotTextError as error:
            if is_named:
                raise
            findings.skipped.setdefault(error.what, []).append(str(path))
    for message in findings.messages():
        say(message)
    if not findings.documents:
        raise InputError(_why_nothing(paths, findings), source=", ".join(source_name(path) for path in paths[:_SHOWN]))


def _why_nothing(paths: Sequence[str | Path], findings: Findings) -> str:
    if not paths:
        return "no text is named; name files or folders, or - for standard input"
    skipped = sum(len(names) for names in findings.skipped.values())
    found = f"{skipped:,} files are no text" if skipped else "nothing but white space" if findings else "nothing"
    return f"there is no text in it ({found}); name files or folders with text"


# ---------------------------------------------------------------- finding files


def _files(paths: Sequence[str | Path], findings: Findings) -> list[tuple[str | Path, bool]]:
    """All files, and whether they were named themselves rather than found in a folder."""
    if isinstance(paths, str):
        raise ConfigError("the paths are a sequence of names, not one name; put it in a list")
    if sum(str(path) == "-" for path in paths) > 1:
        raise ConfigError("standard input ('-') is named more than once; it can be read only once")
    files: list[tuple[str | Path, bool]] = []
    for path in paths:
        if str(path) != "-" and checked_path(path).is_dir():
            files += [(found, False) for found in _files_in(Path(path), findings)]
        else:
            files.append((path, True))
    return files


def _files_in(folder: Path, findings: Findings) -> Iterator[Path]:
    """The regular files below a folder in the order of their names; links to folders are not followed."""

    def skip(path: str | Path, why: str) -> None:
        findings.skipped.setdefault(why, []).append(str(path))

    def refuse(error: OSError) -> None:
        raise InputError(f"it cannot be read ({error.strerror}); check it with `ls -l`", source=error.filename)

    seen: set[tuple[int, int]] = set()
    for parent, folders, names in os.walk(folder, onerror=refuse):
        for name in [name for name in folders if name.startswith(".") or Path(parent, name).is_symlink()]:
            skip(Path(parent, name), "hidden" if name.startswith(".") else "a link to a folder")
            folders.remove(name)
        folders.sort()
        for path in (Path(parent, name) for name in sorted(names)):
            if path.name.startswith("."):
                skip(path, "hidden")
            elif why := _why_skipped(path, seen):
                skip(path, why)
            else:
                yield path


def _why_skipped(path: Path, seen: set[tuple[int, int]]) -> str | None:
    try:
        status = path.stat()
    except OSError:
        return "a link that leads nowhere" if path.is_symlink() else "it cannot be read"
    if not stat.S_ISREG(status.st_mode):
        return "a pipe or device"
    if (status.st_dev, status.st_ino) in seen:
        return "read already under another name"
    seen.add((status.st_dev, status.st_ino))
    if status.st_size == 0:
        return "empty"
    return None


# ---------------------------------------------------------------- reading a file


def _suffix(path: str | Path) -> str:
    name = Path(path)
    return (name.with_suffix("") if name.suffix in COMPRESSIONS else name).suffix.lower()


@dataclass
class _Reader:
    """Reads one file."""

    source: str
    field: str | None
    encoding: str | None
    rejoin: bool
    findings: Findings

    def documents(self, path: str | Path) -> Iterator[Document]:
        with open_binary(path) as stream:
            sample = _read_sample(stream)
            if not sample.strip():
                self.findings.skipped.setdefault("empty", []).append(self.source)
                return
            encoding = self._recognise(sample)
            lines = self._lines(self._texts(sample, stream, encoding))
            if _suffix(path) in JSON_LINES or (str(path) == "-" and _is_json(sample, self.field)):
                yield from self._json_documents(lines)
            elif _suffix(path) == ".json":
                raise InputError("this is one JSON value; write an object a line (.jsonl)", source=self.source)
            else:
                yield from self._parts(lines)

    def _recognise(self, sample: bytes) -> Encoding:
        if self.encoding is not None:
            return Encoding(self.encoding)
        encoding = recognise_encoding(sample, self.source)
        if not encoding.is_utf8:
            self.findings.encodings.setdefault(encoding.name, []).append(self.source)
        if encoding.certainty < UNSURE:
            self.findings.unsure.append(self.source)
        return encoding

    def _texts(self, sample: bytes, stream: io.BufferedReader, encoding: Encoding) -> Iterator[str]:
        """The decoded text piece by piece, with plain newlines; what cannot be decoded is removed and counted."""
        decoder = _Decoder(encoding.name, self.source, self.findings.repairs)
        newlines = io.IncrementalNewlineDecoder(decoder, translate=True)
        data = sample.removeprefix(encoding.mark)
        while data:
            yield cast(str, newlines.decode(data))  # type: ignore[arg-type]
            data = stream.read1(SAMPLE_BYTES)
        yield cast(str, newlines.decode(b"", True))  # type: ignore[arg-type]

    def _lines(self, texts: Iterator[str]) -> Iterator[str]:
        pending = ""
        for text in texts:
            *lines, pending = (pending + text).split("\n")
            yield from lines
            if len(pending) > LARGEST_DOCUMENT:
                yield pending
                pending = ""
        if pending:
            yield pending

    # ------------------------------------------------------------ plain text

    def _parts(self, lines: Iterator[str]) -> Iterator[Document]:
        """The file as one document, in parts that end with a sentence."""
        part, first_line, gathered, size = 0, 1, [""], 0
        gathered = []
        for line in lines:
            gathered.append(line)
            size += len(line) + 1
            if size >= PART_CHARACTERS:
                end = _last_end(gathered)
                if document := self._document(gathered[:end], first_line, part):
                    yield document
                    part += 1
                first_line += end
                gathered = gathered[end:]
                size = sum(len(line) + 1 for line in gathered)
        if document := self._document(gathered, first_line, part):
            yield document

    def _document(self, lines: list[str], first_line: int, part: int) -> Document | None:
        if part == 0:
            self._look_for_tags(lines)
        pieces = [piece for line in lines for piece in _LINE_ENDS.split(line)]
        paragraphs = join_wrapped(pieces) if self.rejoin else [piece.strip() for piece in pieces]
        kept = tuple(piece for paragraph in paragraphs if paragraph for piece in self._bounded(paragraph))
        return Document(self.source, first_line, kept, part) if kept else None

    def _bounded(self, paragraph: str) -> Iterator[str]:
        """The paragraph, cut at spaces if it is endless."""
        while len(paragraph) > LONGEST_PARAGRAPH:
            self.findings.repairs["paragraphs of more than a million characters cut"] += 1
            cut = paragraph.rfind(" ", 1, LONGEST_PARAGRAPH) % LONGEST_PARAGRAPH + 1
            yield paragraph[:cut].strip()
            paragraph = paragraph[cut:].strip()
        yield paragraph

    def _look_for_tags(self, lines: list[str]) -> None:
        text = "\n".join(lines[:2000])
        if sum(len(tag) for tag in _TAG.findall(text)) > _TAG_SHARE * len(text):
            self.findings.marked_up.append(self.source)

    # ------------------------------------------------------------ .jsonl

    def _json_documents(self, lines: Iterator[str]) -> Iterator[Document]:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            text = self._text_of(line, number)
            if document := self._document(text.splitlines(), number, 0):
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
        name = self.field or _default_field(content)
        if name is None or name not in content:
            known = ", ".join(list(content)[:20]) or "none"
            wanted = "it is not clear which field is the text" if name is None else f"there is no field {name!r}"
            raise refuse(f"{wanted}; name one with --field (here: {known})")
        value = content[name]
        if value is None:
            return ""
        if not isinstance(value, str):
            raise refuse(f"the field {name!r} is no string; name the field that is the text with --field")
        return value


def _default_field(content: dict[str, Any]) -> str | None:
    strings = [name for name, value in content.items() if isinstance(value, str)]
    return _FIELD if _FIELD in content else strings[0] if len(strings) == 1 else None


def _is_json(sample: bytes, field: str | None) -> bool:
    """Whether standard input, which has no name, holds an object a line."""
    first = sample.lstrip().split(b"\n", 1)[0].rstrip()
    return field is not None or (first.startswith(b'{"') and first.endswith(b"}"))


def _read_sample(stream: io.BufferedReader) -> bytes:
    sample = b""
    while len(sample) < SAMPLE_BYTES and (piece := stream.read1(SAMPLE_BYTES - len(sample))):
        sample += piece
    return sample


def _last_end(lines: list[str]) -> int:
    """The number of lines up to the last that ends a sentence, where a paragraph may be cut without harm; else all."""
    for number in range(len(lines), max(0, len(lines) - 1000), -1):
        if not lines[number - 1].strip() or _SENTENCE_END.search(lines[number - 1]):
            return number
    return len(lines)


class _Decoder(codecs.IncrementalDecoder):
    """Decodes; removes and counts what is not valid, and NUL characters."""

    def __init__(self, name: str, source: str, repairs: Counter[str]) -> None:
        super().__init__("strict")
        self.decoder = codecs.getincrementaldecoder(name)("replace")
        self.name, self.source, self.repairs = name, source, repairs

    def decode(self, data: Any, final: bool = False) -> str:
        text = self.decoder.decode(data, final)
        if "\ufffd" in text:
            self.repairs[f"bytes that are not {self.name} removed"] += text.count("\ufffd")
            text = text.replace("\ufffd", "")
        if "\0" in text:
            self.repairs["NUL characters removed"] += text.count("\0")
            text = text.replace("\0", "")
        return text

    def reset(self) -> None:
        self.decoder.reset()

    def getstate(self) -> Any:
        return self.decoder.getstate()

    def setstate(self, state: Any) -> None:
        self.decoder.setstate(state)
