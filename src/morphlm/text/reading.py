"""Reading text: checked blocks of whole lines, and the tokens in them.

A sentence is a line; tokens are separated by spaces or tabs. Whatever a model would silently misread (bad UTF-8, NUL,
carriage returns, a byte order mark, endless lines, our own markers in the text) is refused with file, line and remedy,
or repaired and counted when the caller asks for it (`morphlm prepare --mend`).
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar, cast

from morphlm.errors import InputError
from morphlm.files import open_binary, source_name
from morphlm.text.encodings import recognise_encoding
from morphlm.text.transcoding import Utf8Reader
from morphlm.wording import either, option

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"
RESERVED = (UNKNOWN, BEGIN, END)

BLOCK_BYTES = 1 << 19
MAX_LINE_BYTES = 1_000_000
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
KENLM_BINARY = b"mmap lm http://kheafield.com/code"

Item = TypeVar("Item")
Marks = Literal["none", "unk", "any"]
_REFUSED: dict[Marks, tuple[bytes, ...]] = {"none": (b"<unk>", b"<s>", b"</s>"), "unk": (b"<s>", b"</s>"), "any": ()}
_BAD_UTF8 = "bad UTF-8"
_FEWEST_BAD, _MOST_BAD = 10, 0.1  # lines, and share of them, that are not UTF-8 in a text of another encoding
_PLURAL = re.compile(r"(?<=[a-z])s\b")  # of a noun
_MEND_TABLE = "`dos2unix` does it"  # `prepare` is for sentences


@dataclass(frozen=True)
class Block:
    """Some whole lines of a file, each ending in a newline, checked."""

    data: bytes
    first_line: int  # the number of its first line in the file, from 1
    source: str  # how messages name the file

    def lines(self) -> list[str]:
        """The lines as text, without their newlines."""
        return self.data.decode().split("\n")[:-1]


@dataclass
class Mending:
    """Repair instead of refusing; counts the repairs."""

    keep_lines: bool = False  # a line that must be dropped leaves an empty one, so that pairs of lines stay together
    line_ends_only: bool = False  # byte order marks and carriage returns are repaired, all else is refused
    repairs: Counter[str] = field(default_factory=Counter)


def repair_messages(repairs: Mapping[str, int]) -> Iterator[str]:
    """What was mended, a line each; a repair is named in the plural: `mended: 1 NUL byte removed`."""
    for repair, count in repairs.items():
        yield f"mended: {count:,} {repair if count != 1 else _singular(repair)}"


def _singular(repair: str) -> str:
    noun = _PLURAL.sub("", repair, count=1) if "entities" not in repair else repair.replace("entities", "entity")
    return noun.replace(" that are ", " that is ").replace(" for their ", " for its ")


class UntilRefused(Iterator[Item]):
    """Items until one is refused: who answers line by line answers those before it, and then calls `check`."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items, self._refusal = iter(items), cast(InputError | None, None)

    def __next__(self) -> Item:
        try:
            return next(self._items)
        except InputError as error:
            self._refusal = error
            raise StopIteration from error

    def check(self) -> None:
        """Raise the error of the item that was refused, if one was."""
        if self._refusal is not None:
            raise self._refusal


def parse_number(text: str) -> float:
    """A number as other programs write it; ValueError for what only Python reads: 1_0, digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is no number")
    return float(text)


def split_tokens(line: str) -> list[str]:
    """The tokens of a line, separated by spaces or tabs and by no other character."""
    return [token for token in line.replace("\t", " ").split(" ") if token]


def read_blocks(
    path: str | Path,
    *,
    marks: Marks = "none",
    mending: Mending | None = None,
    cure: str | None = None,
    encoding: str | None = "utf-8",
) -> Iterator[Block]:
    """Yield the checked text of a file ('-': standard input) as blocks of whole lines.

    `marks` says which reserved tokens the text may hold: none; UNK, where words were replaced by it on purpose; or any,
    for tables such as a vocabulary. An empty file is refused. Lines arrive as soon as they can be read, so that this
    also serves a pipe that stays open; those before a line that is refused arrive before the error. `cure` says what
    repairs what is refused, and how. An `encoding` of None is recognised, and said unless it is UTF-8.
    """
    source = source_name(path)
    empty = True
    named = "" if encoding == "utf-8" else f"name its encoding with {option('--encoding')}, or "
    convert = f"{named}convert it with iconv"
    with open_binary(path) as file:
        repairs = None if mending is None or mending.line_ends_only else mending.repairs
        stream = file if encoding == "utf-8" else Utf8Reader(file, source, encoding, repairs)
        for line, data in _whole_lines(stream, source, mending, marks, cure):
            empty = False
            if repairs is not None and line == 1:
                _refuse_other_encoding(data, source)
            if mending is not None:
                data = _mended(data, mending, line, marks)  # noqa: PLW2901
            good, refusal = _checked(data, source, line, marks, cure, convert)
            if good:
                yield Block(good, line, source)
            if refusal is not None:
                raise refusal
    if empty and not (mending and mending.repairs):
        raise InputError("the file is empty; there is nothing to read", source=source)


def numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Number and content of each line of a table, whose words may look like our own marks."""
    for block in read_blocks(path, marks="any"):
        yield from enumerate(block.lines(), block.first_line)


def _whole_lines(
    stream: io.BufferedReader | Utf8Reader, source: str, mending: Mending | None, marks: Marks, cure: str | None
) -> Iterator[tuple[int, bytes]]:
    """Cut what arrives into (line number, whole lines); the last line gets a newline if it lacks one.

    A line is never collected beyond MAX_LINE_BYTES: it is refused, or skipped when mending.
    """
    pending, line, skipping = b"", 1, False
    while piece := stream.read1(BLOCK_BYTES):
        if skipping:
            _, newline, piece = piece.partition(b"\n")
            skipping = not newline
            line += bool(newline)
        head, newline, tail = piece.rpartition(b"\n")
        if newline:
            block = pending + head + newline
            yield line, block
            line += block.count(b"\n")
            pending = tail
        else:
            pending += piece
        if len(pending) >= MAX_LINE_BYTES:
            if mending is None or mending.line_ends_only:
                raise _too_long(source, line, marks, cure)
            mending.repairs["lines dropped for their length"] += 1
            pending, skipping = b"", True
            if mending.keep_lines:
                yield line, b"\n"
    if pending:
        yield line, pending + b"\n"


def _checked(
    block: bytes, source: str, line: int, marks: Marks, cure: str | None, convert: str
) -> tuple[bytes, InputError | None]:
    """The lines before the first one that is refused, and its error; all lines, and None, if there is none."""
    refusal = None
    while block:
        try:
            _check(block, source, line, marks, cure, convert)
            break
        except InputError as error:  # of the first line of its sort; before it there may be something else
            refusal, before = error, cast(int, error.line) - line
            block = b"".join(text + b"\n" for text in block.split(b"\n", before)[:before])
    return block, refusal


def _check(block: bytes, source: str, line: int, marks: Marks, cure: str | None, convert: str) -> None:
    """Raise an InputError for the first thing that is wrong in a block that starts at `line`."""

    def refuse(offset: int, message: str) -> InputError:
        return InputError(message, source=source, line=line + block.count(b"\n", 0, offset))

    if line == 1 and block.startswith(KENLM_BINARY):
        raise refuse(0, no_kenlm_binary())
    hint = _MEND_TABLE if marks == "any" else cure or _how_to_mend()
    if line == 1 and block.startswith(BYTE_ORDER_MARK):
        raise refuse(0, f"the file begins with a byte order mark; remove it ({hint})")
    if (nul := block.find(b"\0")) >= 0:
        remedy = "name a text file" if marks == "any" else f"remove it ({hint})"
        raise refuse(nul, f"there is a NUL byte, so this may not be text; {remedy}")
    if (carriage_return := block.find(b"\r")) >= 0:
        raise refuse(carriage_return, f"there is a carriage return (CRLF line ends?); use plain newlines ({hint})")
    try:
        block.decode()
    except UnicodeDecodeError as error:
        raise refuse(error.start, f"byte {block[error.start]:#04x} is not UTF-8; {convert}") from error
    if len(block) >= MAX_LINE_BYTES:
        for number, text in enumerate(block.split(b"\n")):
            if len(text) >= MAX_LINE_BYTES:
                raise _too_long(source, line + number, marks, cure)
    if reserved := _find_reserved(block, marks):
        token = reserved.group().decode()
        is_replaced = token == UNKNOWN and cure is None
        on_purpose = f", or say {option('--allow-unk', True)} if words were replaced by it" if is_replaced else ""
        message = f"the text contains {token}, a mark that morphlm sets itself; remove it ({hint}){on_purpose}"
        raise refuse(reserved.start(), message)


def no_kenlm_binary() -> str:
    """What is said of a binary file of KenLM."""
    trainer = either("`morphlm train mkn`", "`train_ngram`")
    return (
        "a binary file of KenLM, from which other programs cannot read n-grams; give the ARPA file that it was built "
        f"from, or train on its text ({trainer}, or `lmplz` for an ARPA file)"
    )


def _splitter() -> str:
    return either("`morphlm prepare --split`", "`prepare_files(..., split=True)`")


def _how_to_mend() -> str:
    return f"{either('`morphlm prepare --mend`', '`prepare_files(..., mend=True)`')} does it"


def _find_reserved(block: bytes, marks: Marks) -> re.Match[bytes] | None:
    refused = _REFUSED[marks]
    if not any(mark in block for mark in refused):
        return None  # nearly always, and much faster than the pattern
    return _pattern(refused).search(block)


@cache
def _pattern(refused: tuple[bytes, ...]) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![^ \t\n])(?:" + b"|".join(refused) + rb")(?![^ \t\n])")


def _too_long(source: str, line: int, marks: Marks, cure: str | None) -> InputError:
    remedy = (
        "shorten or remove it"
        if marks == "any"
        else f"put one sentence on a line (or drop it: {cure or _how_to_mend()})"
    )
    return InputError(f"the line has {MAX_LINE_BYTES:,} bytes or more; {remedy}", source=source, line=line)


def _refuse_other_encoding(block: bytes, source: str) -> None:
    """Nobody wants text in another encoding mended: most of its lines would be dropped, or its letters spoiled."""
    lines = block.split(b"\n")
    bad = sum(_why_unusable(line) == _BAD_UTF8 for line in lines if not line.isascii())
    is_wide = block.count(b"\0") > _MOST_BAD * len(block)
    if max(bad, is_wide * len(lines)) >= max(_FEWEST_BAD, _MOST_BAD * len(lines)):
        encoding = recognise_encoding(block, source)
        if not encoding.is_utf8:
            what = f"this is not UTF-8, it looks like {encoding.name}"
            cure = f"`iconv -f {encoding.name} -t utf-8` converts it, {_splitter()} reads it as it is"
            raise InputError(f"{what}; {cure}", source=source)


def _mended(block: bytes, mending: Mending, line: int, marks: Marks) -> bytes:
    """Repair what can be repaired and drop the lines that cannot be, counting both."""
    if line == 1 and block.startswith(BYTE_ORDER_MARK):
        block = block.removeprefix(BYTE_ORDER_MARK)
        mending.repairs["byte order marks removed"] += 1
    for name, bad, good in (
        ("CRLF line ends replaced", b"\r\n", b"\n"),
        ("carriage returns replaced", b"\r", b" "),
        ("NUL bytes removed", b"" if mending.line_ends_only else b"\0", b""),
    ):
        if bad and (count := block.count(bad)):
            block = block.replace(bad, good)
            mending.repairs[name] += count
    if mending.line_ends_only:
        return block
    if _find_reserved(block, marks):
        block, count = _pattern(_REFUSED[marks]).subn(b"", block)
        mending.repairs["reserved marks removed"] += count
    try:
        block.decode()
        intact = len(block) < MAX_LINE_BYTES
    except UnicodeDecodeError:
        intact = False
    return block if intact else b"".join(_usable_lines(block, mending))


def _usable_lines(block: bytes, mending: Mending) -> Iterator[bytes]:
    for text in block.split(b"\n")[:-1]:
        why = _why_unusable(text)
        if why is None:
            yield text + b"\n"
            continue
        mending.repairs[f"lines dropped for {why}"] += 1
        if mending.keep_lines:
            yield b"\n"


def _why_unusable(text: bytes) -> str | None:
    if len(text) >= MAX_LINE_BYTES:
        return "their length"
    try:
        text.decode()
    except UnicodeDecodeError:
        return _BAD_UTF8
    return None
