"""The first stage: raw text becomes sentences of tokens, normalised and filtered as in the paper.

Every step is an option whose default is the paper's (tokenised, lowercase, digits as 0, at most 80 tokens, for Russian
the Cyrillic filter). Options and counts are written beside the text as a `Preparation`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from morphlm.errors import ConfigError, InputError, located
from morphlm.files import COMPRESSIONS, atomic_writer, is_file
from morphlm.processes import ordered_map
from morphlm.progress import progress_bar
from morphlm.schema import SchemaError, read_document
from morphlm.text.reading import RESERVED, UNKNOWN, Block, Mending, read_blocks, split_tokens
from morphlm.text.schema import LANGUAGE_CODE, PREPARATION, RECORD_FORMAT
from morphlm.text.tokenise import moses_tokenise, sacremoses_version
from morphlm.version import __version__

RECORD_SUFFIX = ".prepared.json"
PIECE_BYTES = 1 << 16  # what one process does at a time: well below a second with the tokeniser

# Nobody sees these, and they are no part of the spelling: control characters (but not those that are white space), the
# soft hyphen, marks of direction, the word joiner and a byte order mark inside the text. Zero-width (non-)joiners stay.
_INVISIBLE = re.compile(
    "[\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)
_ZERO_WIDTH_SPACE = "\u200b"  # a boundary of words, though str.split does not know
_DIGIT = re.compile(r"\d")  # any decimal digit of Unicode
_CYRILLIC = "\u0400-\u052f\u1c80-\u1c8f\u1d2b\u1d78\u2de0-\u2dff\ua640-\ua69f\U0001e030-\U0001e08f"
_CYRILLIC_CHARACTER = re.compile(f"[{_CYRILLIC}]")
_FOREIGN_CHARACTER = re.compile(rf"[^\W\d_{_CYRILLIC}]")  # every letter of another script, and a few numbers
_LANGUAGE = re.compile(LANGUAGE_CODE)


@dataclass(frozen=True)
class PrepareOptions:
    """What is done to every line, in this order. The defaults are the paper's."""

    language: str | None = None  # ISO 639 code (cs, de, ...); the tokeniser needs it
    nfc: bool = True  # Unicode normal form C, so that equal-looking words are equal
    tokenise: bool = True  # Moses tokenisation
    lowercase: bool = True
    digits: bool = True  # every decimal digit of any script becomes 0
    max_tokens: int = 80  # longer sentences are dropped; 0 keeps all
    cyrillic_share: float | None = None  # less Cyrillic among a token's letters: <unk>. None: 0.8 for ru, else 0 = off

    def __post_init__(self) -> None:
        if self.cyrillic_share is None:
            object.__setattr__(self, "cyrillic_share", 0.8 if self.language == "ru" else 0.0)
        if self.tokenise and self.language is None:
            raise ConfigError("the tokeniser needs the language; give it (--language cs) or choose --no-tokenise")
        if self.language is not None and not _LANGUAGE.fullmatch(self.language):
            raise ConfigError(f"{self.language!r} is not a language code; use two or three small letters such as cs")
        if self.max_tokens < 0:
            raise ConfigError(f"max-tokens {self.max_tokens} is below 0; 0 keeps sentences of any length")
        if not 0 <= self.required_cyrillic <= 1:
            raise ConfigError(f"cyrillic-share {self.cyrillic_share} is not a share; use a number from 0 (off) to 1")

    @property
    def required_cyrillic(self) -> float:
        """The share of Cyrillic letters that a token needs; 0 when the filter is off."""
        return self.cyrillic_share or 0.0


@dataclass(frozen=True)
class Counts:
    """What became of the lines. In parallel text a pair is a line of each side."""

    lines: int = 0  # read
    kept: int = 0
    empty: int = 0  # dropped: nothing in them, or nothing left
    too_long: int = 0  # dropped: more than max_tokens
    length_ratio: int = 0  # dropped: pairs of too different length
    tokens: int = 0  # in the lines kept

    def __add__(self, other: Counts) -> Counts:
        return Counts(**{name: value + getattr(other, name) for name, value in dataclasses.asdict(self).items()})

    def format(self) -> str:
        """The number of lines kept, and why the others were dropped."""
        reasons = (("empty", self.empty), ("too long", self.too_long), ("of unequal length", self.length_ratio))
        dropped = ", ".join(f"{count:,} {reason}" for reason, count in reasons if count)
        return f"{self.kept:,} of {self.lines:,} lines kept{dropped and f' ({dropped})'}, {self.tokens:,} tokens"


@dataclass(frozen=True)
class Preparation:
    """The record of how a text was prepared, kept in a file beside it."""

    options: PrepareOptions
    counts: Counts
    bytes: int  # size of the file as written (compressed, if it was), to recognise a text that has changed
    repairs: Mapping[str, int] = field(default_factory=dict)  # what --mend repaired
    max_ratio: float | None = None  # parallel text: most tokens of the longer side for each of the shorter
    version: str = __version__
    sacremoses: str | None = None  # its version, if it tokenised

    @property
    def tokeniser_signature(self) -> str:
        """The tokeniser as signatures name it: `moses.cs`, or `none`."""
        return f"moses.{self.options.language}" if self.options.tokenise else "none"

    @property
    def normalisation_signature(self) -> str:
        """The normalisation as signatures name it: `lc+digits`, `lc+digits+cyrillic0.8`, or `none`."""
        share = self.options.required_cyrillic
        steps = (
            ("lc", self.options.lowercase),
            ("digits", self.options.digits),
            (f"cyrillic{share:g}", share > 0),
            ("nonfc", not self.options.nfc),
        )
        return "+".join(name for name, done in steps if done) or "none"

    def format(self) -> str:
        parts = [self.counts.format(), self.tokeniser_signature, self.normalisation_signature]
        if self.options.max_tokens:
            parts.append(f"at most {self.options.max_tokens} tokens")
        parts += [f"mended: {count:,} {repair}" for repair, count in sorted(self.repairs.items())]
        return "; ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a manifest."""
        return {"format": RECORD_FORMAT, **dataclasses.asdict(self)}

    def to_json(self) -> str:
        """The content of the record, a line for every value."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, sort_keys=True) + "\n"

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], source: str = "record") -> Preparation:
        """The reverse of `to_dict`; a FormatError, which names the source, for anything else."""
        try:
            PREPARATION.check_version(record, source)
            PREPARATION.value.check(record, "the content")
            values = {name: value for name, value in record.items() if name != "format"}
            options, counts = PrepareOptions(**values.pop("options")), Counts(**values.pop("counts"))
        except SchemaError as problem:
            raise PREPARATION.refusal(source, problem) from problem
        except ConfigError as error:
            raise PREPARATION.refusal(source, SchemaError(str(error))) from error
        return cls(options=options, counts=counts, **values)


def record_path(path: str | Path) -> Path:
    """The path of the record of a text."""
    return Path(f"{path}{RECORD_SUFFIX}")


def read_preparation(path: str | Path) -> Preparation | None:
    """The record beside a text; None if there is none, or if the text is no longer the one that was written."""
    text, record = Path(path), record_path(path)
    if str(path) == "-" or not is_file(record) or not is_file(text):
        return None
    preparation = Preparation.from_dict(read_document(record, PREPARATION), str(record))
    return preparation if preparation.bytes == text.stat().st_size else None


def write_preparation(path: str | Path, preparation: Preparation) -> None:
    """Write a record; `record_path` says where it belongs."""
    with atomic_writer(path) as stream:
        stream.write(preparation.to_json().encode())


def prepare_line(line: str, options: PrepareOptions, repairs: Counter[str] | None = None) -> list[str]:
    """The tokens of a line after every step but the filters; none holds white space or a control character.

    One of our own marks (<s>, </s>, <unk>) may come about, say from <S> by lowercasing: that is an InputError, or it
    is removed and counted in `repairs`.
    """
    text = _INVISIBLE.sub("", line).replace(_ZERO_WIDTH_SPACE, " ")
    if options.nfc:
        text = unicodedata.normalize("NFC", text)
    if options.tokenise and options.language is not None:
        text = moses_tokenise(text, options.language)
    if options.lowercase:
        text = text.lower()
    if options.digits:
        text = _DIGIT.sub("0", text)
    if options.nfc:
        text = unicodedata.normalize("NFC", text)  # again: ǰ exists as one character, its capital does not
    tokens = text.split()
    if "<" in text:
        tokens = _without_reserved(tokens, repairs)
    if options.required_cyrillic and _FOREIGN_CHARACTER.search(text):
        tokens = [token if _is_cyrillic(token, options.required_cyrillic) else UNKNOWN for token in tokens]
    return tokens


def _without_reserved(tokens: list[str], repairs: Counter[str] | None) -> list[str]:
    marks = [token for token in tokens if token in RESERVED]
    if marks and repairs is None:
        raise InputError(f"the text would contain {marks[0]}, a mark that morphlm sets itself; remove it or use --mend")
    if repairs is not None and marks:
        repairs["reserved marks removed"] += len(marks)
    return [token for token in tokens if token not in RESERVED]


@functools.lru_cache(maxsize=1 << 16)  # most tokens come again and again
def _is_cyrillic(token: str, share: float) -> bool:
    """Whether at least this share of the token's letters is Cyrillic.

    The paper speaks of characters. Taken literally, every comma, every number and `т.е.` would be unknown words, which
    cannot have been meant: only letters count here, and a token without letters stays as it is.
    """
    letters = [character for character in token if character.isalpha()]
    cyrillic = sum(_CYRILLIC_CHARACTER.match(letter) is not None for letter in letters)
    return not letters or cyrillic / len(letters) >= share


def drop_reason(length: int, max_tokens: int) -> str | None:
    """The field of `Counts` that counts a dropped sentence of this length; None if it is kept."""
    if not length:
        return "empty"
    return "too_long" if max_tokens and length > max_tokens else None


def prepare_lines(lines: Iterable[str], options: PrepareOptions) -> Iterator[list[str]]:
    """The tokens of every line that is kept, as the command `morphlm prepare` would write them."""
    if isinstance(lines, str):
        raise InputError("lines are an iterable of strings, not one string; put it in a list", source="<lines>")
    for number, line in enumerate(lines, 1):
        with located("<lines>", number):
            _without_reserved(split_tokens(line) if "<" in line else [], None)
            tokens = prepare_line(line, options)
        if drop_reason(len(tokens), options.max_tokens) is None:
            yield tokens


@dataclass(frozen=True)
class Prepared:
    """A piece of text after all steps: one text and one count for every side (parallel text has two)."""

    texts: tuple[bytes, ...]
    counts: tuple[Counts, ...]
    repairs: Counter[str]
    bytes_read: int


@dataclass(frozen=True)
class BlockPreparer:
    """Prepares blocks of lines; it is what travels to the worker processes."""

    options: PrepareOptions
    mend: bool = False

    def __call__(self, block: Block) -> Prepared:
        repairs: Counter[str] = Counter()
        fates: Counter[str] = Counter()
        kept = []
        for number, line in enumerate(block.lines(), block.first_line):
            with located(block.source, number):
                tokens = prepare_line(line, self.options, repairs if self.mend else None)
            reason = drop_reason(len(tokens), self.options.max_tokens)
            fates[reason or "kept"] += 1
            if reason is None:
                fates["tokens"] += len(tokens)
                kept.append(" ".join(tokens) + "\n")
        counts = Counts(lines=block.data.count(b"\n"), **fates)
        return Prepared(("".join(kept).encode(),), (counts,), repairs, len(block.data))


def prepare_files(
    paths: Sequence[str | Path],
    out: str | Path,
    options: PrepareOptions,
    *,
    mend: bool = False,
    processes: int = 1,
) -> Preparation:
    """Prepare files ('-': standard input) into one, with its record beside it unless `out` is '-'.

    The bytes do not depend on the number of processes. A script that asks for more than one needs the usual
    `if __name__ == "__main__":`, since each of them imports it.
    """
    check_streams(paths)
    mending = Mending() if mend else None
    pieces = (piece for path in paths for block in read_blocks(path, mending=mending) for piece in pieces_of(block))
    results = ordered_map(BlockPreparer(options, mend), pieces, processes)
    (counts,), (size,), repairs = write_prepared(results, [out], total_bytes(paths))
    if mending is not None:
        repairs += mending.repairs
    return keep_record(out, make_preparation(options, counts, size, repairs))


def check_streams(paths: Sequence[str | Path]) -> None:
    """Refuse standard input that is named twice."""
    if sum(str(path) == "-" for path in paths) > 1:
        raise ConfigError("standard input ('-') is named more than once; it can be read only once")


def pieces_of(block: Block) -> Iterator[Block]:
    """Cut a block at line ends into pieces small enough to keep all processes busy."""
    start, line = 0, block.first_line
    while start < len(block.data):
        end = block.data.find(b"\n", start + PIECE_BYTES) + 1 or len(block.data)
        piece = block.data[start:end]
        yield Block(piece, line, block.source)
        start, line = end, line + piece.count(b"\n")


def total_bytes(paths: Sequence[str | Path]) -> int | None:
    """The size of the input, if it is known beforehand."""
    plain = all(Path(path).is_file() and Path(path).suffix not in COMPRESSIONS for path in paths)
    return sum(Path(path).stat().st_size for path in paths) if plain else None


def write_prepared(
    results: Generator[Prepared, None, None], outs: Sequence[str | Path], total: int | None
) -> tuple[list[Counts], list[int], Counter[str]]:
    """Write what was prepared, one file for every side; give the counts and sizes of each side, and the repairs."""
    counts, sizes, repairs = [Counts() for _ in outs], [0 for _ in outs], Counter[str]()
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(atomic_writer(out)) for out in outs]
        stack.enter_context(contextlib.closing(results))
        bar = stack.enter_context(progress_bar("prepare", total, unit="B"))
        for result in results:
            _write_texts(result, streams, outs)
            counts = [count + more for count, more in zip(counts, result.counts, strict=True)]
            sizes = [size + len(text) for size, text in zip(sizes, result.texts, strict=True)]
            repairs.update(result.repairs)
            bar.update(result.bytes_read)
    sizes = [size if str(out) == "-" else Path(out).stat().st_size for size, out in zip(sizes, outs, strict=True)]
    return counts, sizes, repairs


def _write_texts(result: Prepared, streams: Sequence[IO[bytes]], outs: Sequence[str | Path]) -> None:
    for text, stream, out in zip(result.texts, streams, outs, strict=True):
        stream.write(text)
        if str(out) == "-":
            stream.flush()  # the reader of a pipe may be waiting for it


def make_preparation(
    options: PrepareOptions, counts: Counts, size: int, repairs: Mapping[str, int], max_ratio: float | None = None
) -> Preparation:
    """The record of a text that was just written."""
    return Preparation(
        options=options,
        counts=counts,
        bytes=size,
        repairs=dict(repairs),
        max_ratio=max_ratio,
        sacremoses=sacremoses_version() if options.tokenise else None,
    )


def keep_record(out: str | Path, preparation: Preparation) -> Preparation:
    """Put the record beside the text, if the text is a file."""
    if str(out) != "-" and Path(out).is_file():
        write_preparation(record_path(out), preparation)
    return preparation
