"""The first stage: raw text becomes sentences of tokens, normalised and filtered.

Every step is an option. By default tokens are made by the rules of the language, in lower case, with digits as 0, and
sentences of more than 80 tokens are split; preparing prepared text changes nothing. With Moses's tokeniser the steps
are the paper's. Options and counts are written beside the text as a `Preparation`.
"""

from __future__ import annotations

import contextlib
import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from morphlm.errors import ConfigError, InputError, located
from morphlm.files import COMPRESSIONS, atomic_writer
from morphlm.processes import ordered_map
from morphlm.progress import ProgressOption, progress_bar, reports_progress
from morphlm.text.casing import DOTLESS_I, lowercase
from morphlm.text.documents import Document, read_documents
from morphlm.text.entities import replace_entities
from morphlm.text.joining import join_words
from morphlm.text.preparation import Counts, Preparation, PrepareOptions, record_path, write_preparation
from morphlm.text.reading import RESERVED, UNKNOWN, Block, Mending, read_blocks, split_tokens
from morphlm.text.sentences import split_long, split_sentences
from morphlm.text.tokenise import moses_detokenise, moses_tokenise, sacremoses_version
from morphlm.text.words import tokenise_words
from morphlm.wording import option

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
_UNKNOWN_TOKEN = re.compile(rf"(?<!\S){UNKNOWN}(?!\S)")


def prepare_line(
    line: str, options: PrepareOptions, repairs: Counter[str] | None = None, *, allow_unknown: bool = False
) -> list[str]:
    """The tokens of a line after every step but the filters; none holds white space or a control character.

    One of our own marks (<s>, </s>, <unk>) may come about, say from <S> by lowercasing: that is an InputError, or it
    is removed and counted in `repairs`. With `allow_unknown`, an <unk> between spaces is kept as it is.
    """
    if allow_unknown and UNKNOWN in line:
        parts = [prepare_line(part, options, repairs) for part in _UNKNOWN_TOKEN.split(line)]
        return [*parts[0], *(token for part in parts[1:] for token in (UNKNOWN, *part))]
    text = _visible(line, options)
    if options.tokeniser == "words" and (replaced := replace_entities(text)) != text:
        text = _visible(replaced, options)
    text = _normalised(_tokenised(text, options), options)
    tokens = text.split()
    if "<" in text:
        tokens = _without_reserved(tokens, repairs)
    if options.required_cyrillic and _FOREIGN_CHARACTER.search(text):
        tokens = [token if _is_cyrillic(token, options.required_cyrillic) else UNKNOWN for token in tokens]
    return tokens


def prepare_beginning(word: str, options: PrepareOptions) -> str:
    """The beginning of a word as it is in prepared text: after every step but the filters and tokenising."""
    return _normalised(_visible(word, options), options)


def _visible(text: str, options: PrepareOptions) -> str:
    """The text without invisible characters, composed."""
    text = _INVISIBLE.sub("", text).replace(_ZERO_WIDTH_SPACE, " ")
    return unicodedata.normalize("NFC", text) if options.nfc else text


def _normalised(text: str, options: PrepareOptions) -> str:
    """The steps after tokenising: case and digits."""
    if options.case == "lower":
        text = _lowercased(text, options)
    if options.digits:
        text = _DIGIT.sub("0", text)
    if options.nfc:
        text = unicodedata.normalize("NFC", text)  # again: ǰ exists as one character, its capital does not
    return text


def _lowercased(text: str, options: PrepareOptions) -> str:
    """By the rules of the language; with Moses, Unicode's as in the paper, but for languages that they spoil."""
    if options.tokeniser == "moses" and options.language not in DOTLESS_I:
        return text.lower()
    return lowercase(text, options.language)


def _tokenised(text: str, options: PrepareOptions) -> str:
    """The tokens between single spaces."""
    if options.tokeniser == "moses" and options.language is not None:
        return moses_tokenise(text, options.language)
    return " ".join(tokenise_words(text, options.language)) if options.tokeniser == "words" else text


def join_tokens(tokens: Sequence[str], options: PrepareOptions | None) -> str:
    """Tokens put together as a person would write them; words stay as they are. Without options, between spaces."""
    if options is None or options.tokeniser == "none":
        return " ".join(tokens)
    if options.tokeniser == "moses" and options.language is not None:
        return moses_detokenise(tokens, options.language)
    return join_words(tokens, options.language)


def _without_reserved(tokens: list[str], repairs: Counter[str] | None) -> list[str]:
    marks = [token for token in tokens if token in RESERVED]
    if marks and repairs is None:
        raise InputError(
            f"the text would contain {marks[0]}, a mark that morphlm sets itself; remove it or use "
            f"{option('--mend', True)}"
        )
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


def keep_or_split(tokens: list[str], options: PrepareOptions) -> tuple[list[list[str]], str | None]:
    """The sentences that are kept of one: itself, its parts if it is too long, or none, and then why."""
    reason = drop_reason(len(tokens), options.max_tokens)
    if reason == "too_long" and options.splits_long:
        return split_long(tokens, options.max_tokens), None
    return ([tokens], None) if reason is None else ([], reason)


def prepare_lines(lines: Iterable[str], options: PrepareOptions) -> Iterator[list[str]]:
    """The tokens of every sentence that is kept, as the command `morphlm prepare` would write them."""
    if isinstance(lines, str):
        raise InputError("lines are an iterable of strings, not one string; put it in a list", source="<lines>")
    for number, line in enumerate(lines, 1):
        with located("<lines>", number):
            _without_reserved(split_tokens(line) if "<" in line else [], None)
            tokens = prepare_line(line, options)
        yield from keep_or_split(tokens, options)[0]


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
        kept: list[str] = []
        for number, line in enumerate(block.lines(), block.first_line):
            text = replace_entities(line, repairs) if self.options.tokeniser == "words" else line
            with located(block.source, number):
                tokens = prepare_line(text, self.options, repairs if self.mend else None)
            sentences, reason = keep_or_split(tokens, self.options)
            fates[reason or "kept"] += 1
            fates["sentences"] += len(sentences)
            fates["tokens" if sentences else "lost_tokens"] += len(tokens)
            kept += (" ".join(sentence) + "\n" for sentence in sentences)
        counts = Counts(lines=block.data.count(b"\n"), **fates)
        return Prepared(("".join(kept).encode(),), (counts,), repairs, len(block.data))


@dataclass(frozen=True)
class DocumentPreparer:
    """Prepares parts of documents, whose paragraphs are split into sentences; it travels to the worker processes."""

    options: PrepareOptions

    def __call__(self, document: Document) -> Prepared:
        repairs: Counter[str] = Counter()
        sentences = [
            sentence
            for paragraph in document.paragraphs
            for sentence in prepare_paragraph(paragraph, self.options, repairs)
        ]
        text = "".join(" ".join(sentence) + "\n" for sentence in sentences).encode()
        paragraphs, tokens = len(document.paragraphs), sum(map(len, sentences))
        counts = Counts(lines=paragraphs, kept=paragraphs, tokens=tokens, sentences=len(sentences))
        return Prepared((text,), (counts,), repairs, sum(len(paragraph.encode()) for paragraph in document.paragraphs))


def prepare_paragraph(
    paragraph: str, options: PrepareOptions, repairs: Counter[str] | None = None, *, allow_unknown: bool = False
) -> Iterator[list[str]]:
    """The tokens of each sentence of a paragraph of raw text."""
    for sentence in split_sentences(paragraph, options.language):
        tokens = prepare_line(sentence, options, repairs, allow_unknown=allow_unknown)
        yield from keep_or_split(tokens, options)[0]


@reports_progress
def prepare_files(
    paths: str | Path | Sequence[str | Path],
    out: str | Path,
    options: PrepareOptions,
    *,
    mend: bool = False,
    split: bool = False,
    encoding: str | None = None,
    processes: int = 1,
    progress: ProgressOption = None,
) -> Preparation:
    """Prepare files ('-': standard input) into one, with its record beside it unless `out` is '-'.

    A line is a sentence, or with `split`, text is read as `learn` does: files or folders, hard-wrapped or a paragraph a
    line, whose sentences are found; whatever can be mended is mended then. The `encoding` is recognised unless it is
    named, and other line ends and a byte order mark are no reason to refuse a text; `mend` repairs all that is.

    The bytes do not depend on the number of processes. A script that asks for more than one needs the usual
    `if __name__ == "__main__":`, since each of them imports it.
    """
    paths = [paths] if isinstance(paths, str | Path) else paths
    check_streams(paths)
    mending = Mending(line_ends_only=not mend)
    if split:
        results = ordered_map(DocumentPreparer(options), read_documents(paths, encoding=encoding), processes)
    else:
        blocks = (block for path in paths for block in read_blocks(path, mending=mending, encoding=encoding))
        pieces = (piece for block in blocks for piece in pieces_of(block))
        results = ordered_map(BlockPreparer(options, mend), pieces, processes)
    (counts,), (size,), repairs = write_prepared(results, [out], total_bytes(paths))
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
        sacremoses=None if options.tokeniser == "none" else sacremoses_version(),
    )


def keep_record(out: str | Path, preparation: Preparation) -> Preparation:
    """Put the record beside the text, if the text is a file."""
    if str(out) != "-" and Path(out).is_file():
        write_preparation(record_path(out), preparation)
    return preparation
