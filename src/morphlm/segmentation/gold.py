"""Gold segmentations, read in the formats of the public data sets; the content says which format it is.

Only surface segmentations count, where the morphs joined give the word; an entry whose morphs do not is dropped and
counted. A word may have several gold segmentations.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, InputError
from morphlm.files import open_binary, source_name
from morphlm.segmentation.sources.morfessor import parse_line
from morphlm.text.reading import numbered_lines

Morphs = tuple[str, ...]
Entry = tuple[str, list[Morphs]]  # a word and its alternatives
NumberedLine = tuple[int, str]


@dataclass(frozen=True)
class Gold:
    """Words and their gold segmentations."""

    analyses: Mapping[str, tuple[Morphs, ...]]  # each alternative joined gives the word
    source: str  # the name of the file
    format: str  # a key of FORMATS
    dropped: int = 0  # alternatives whose morphs, joined, are not the word

    __repr__ = dataclass_repr

    def __getitem__(self, word: str) -> tuple[Morphs, ...]:
        return self.analyses[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self.analyses)

    def __len__(self) -> int:
        return len(self.analyses)


# ---------------------------------------------------------------- formats


@dataclass(frozen=True)
class GoldFormat:
    """A file format of gold segmentations."""

    expected: str  # how messages name a line of it
    parse: Callable[[str], Entry | None]  # None: the line is not of this format
    is_sign: Callable[[str], bool]  # whether a line that can be parsed can only be of this format


def _parse_morfessor(line: str) -> Entry | None:
    morphemes = parse_line(line)
    if morphemes is None:
        return None
    forms = tuple(morpheme.form for morpheme in morphemes)
    return "".join(forms), [forms]


def _parse_sigmorphon(line: str) -> Entry | None:
    word, _, rest = line.partition("\t")
    segmentation, _, _category = rest.partition("\t")
    morphs = tuple(piece.removeprefix("@@") for piece in segmentation.split(" "))
    return (word, [morphs]) if word and all(morphs) else None


def _parse_pieces(line: str, cut: Callable[[str], list[list[str]]], mark: str) -> Entry | None:
    """Read `word TAB ...`, which `cut` takes apart into alternatives of pieces `form MARK label`; `~` is no form."""
    word, tab, rest = line.partition("\t")
    alternatives = [[piece.rpartition(mark) for piece in pieces] for pieces in cut(rest)]
    if not (word and tab and all(form and label for pieces in alternatives for form, _, label in pieces)):
        return None
    return word, [tuple(form for form, _, _ in pieces if form != "~") for pieces in alternatives]


def _has_capital_labels(line: str, separator: str, mark: str) -> bool:
    labels = [piece.rpartition(mark)[2] for piece in line.partition("\t")[2].split(separator)]
    return all(label.isascii() and label.isupper() and label.isalpha() for label in labels)


FORMATS: dict[str, GoldFormat] = {
    # 3 un/PRE + happy/STM
    "morfessor": GoldFormat("`count morph + morph`", _parse_morfessor, lambda line: "\t" not in line),
    # the generated language: unhappy TAB un/PRE happy/STM
    "labelled": GoldFormat(
        "`word TAB morph/LABEL morph/LABEL`",
        lambda line: _parse_pieces(line, lambda rest: [rest.split(" ")], "/"),
        lambda line: _has_capital_labels(line, " ", "/"),
    ),
    # Morpho Challenge 2010: unhappy TAB un:un_p happy:happy_A, other:alternative
    "morphochallenge": GoldFormat(
        "`word TAB morph:label morph:label, ...`",
        lambda line: _parse_pieces(line, lambda rest: [pieces.split(" ") for pieces in rest.split(", ")], ":"),
        lambda line: " " in line,
    ),
    # Russian lemmas: unhappy TAB un:PREF/happy:ROOT
    "slashed": GoldFormat(
        "`word TAB morph:LABEL/morph:LABEL`",
        lambda line: _parse_pieces(line, lambda rest: [rest.split("/")], ":"),
        lambda line: "/" in line and _has_capital_labels(line, "/", ":"),
    ),
    # SIGMORPHON 2022, word level: unhappy TAB un @@happy [TAB category]
    "sigmorphon": GoldFormat("`word TAB morph @@morph`", _parse_sigmorphon, lambda line: " @@" in line),
}


def detect_format(lines: Iterable[str]) -> str | None:
    """The format that the first line with an unmistakable sign is of.

    A file without any such line is of the first format that can read one of its lines: `word TAB form:label` of a
    word in one piece means the same in the two formats that have it. None: nothing that is known.
    """
    fallback = None
    for line in lines:
        readable = [name for name, candidate in FORMATS.items() if candidate.parse(line)]
        if sign := next((name for name in readable if FORMATS[name].is_sign(line)), None):
            return sign
        fallback = fallback or next(iter(readable), None)
    return fallback


# ---------------------------------------------------------------- reading


def read_gold(
    path: str | Path, *, format: str | None = None, encoding: str | None = None, lowercase: bool = True
) -> Gold:
    """Read gold segmentations.

    `format` is a key of FORMATS and `encoding` "utf-8" or "latin-1"; both are found out if they are not given, where
    only a Morpho Challenge file is taken for latin-1. Texts are lowercased, so gold words are too, unless `lowercase`
    is off: the Turkish of the Morpho Challenge has capitals for letters of their own.
    """
    if format is not None and format not in FORMATS:
        raise ConfigError(f"there is no gold format {format!r}; choose one of {', '.join(FORMATS)}")
    source = source_name(path)
    lines = [(number, line) for number, line in _read_lines(path, encoding) if line]
    format = format or detect_format(line for _, line in lines)
    if format is None:
        known = ", ".join(candidate.expected for candidate in FORMATS.values())
        raise InputError(f"no gold segmentations; write each line as one of {known}", source=source, line=1)
    return _collect(_parse(lines, format, source), source, format, lowercase)


def _read_lines(path: str | Path, encoding: str | None) -> Iterable[NumberedLine]:
    """The numbered lines. Text that is not UTF-8 is refused, unless it is a Morpho Challenge file in latin-1."""
    if encoding not in (None, "utf-8", "latin-1"):
        raise ConfigError(f"gold is read as utf-8 or latin-1, not as {encoding}; convert it with iconv")
    if encoding == "utf-8" or (encoding is None and str(path) == "-"):
        return numbered_lines(path)
    with open_binary(path) as stream:
        raw = stream.read()
    lines = [line.removesuffix("\r") for line in raw.decode("latin-1").split("\n")]
    if encoding == "latin-1" or (not _is_utf8(raw) and detect_format(lines) == "morphochallenge"):
        return enumerate(lines, 1)
    return numbered_lines(path)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _parse(lines: Iterable[NumberedLine], format: str, source: str) -> Iterator[Entry]:
    for number, line in lines:
        if format == "morfessor" and line.startswith("#"):
            continue
        entry = FORMATS[format].parse(unicodedata.normalize("NFC", line))
        if entry is None:
            raise InputError(f"not {FORMATS[format].expected}; correct or remove the line", source=source, line=number)
        yield entry


def _collect(entries: Iterable[Entry], source: str, format: str, lowercase: bool) -> Gold:
    """Gather the alternatives of each word, without repetitions."""
    analyses: dict[str, dict[Morphs, None]] = {}
    dropped = 0
    for word, alternatives in entries:
        for morphs in alternatives:
            if "".join(morphs) != word:
                dropped += 1
                continue
            kept = lowercased(morphs) if lowercase else morphs
            analyses.setdefault("".join(kept), {})[kept] = None
    if not analyses:
        raise InputError("no segmentation joins to its word; only surface gold can be used", source=source)
    return Gold({word: tuple(alternatives) for word, alternatives in analyses.items()}, source, format, dropped)


def lowercased(morphs: Morphs) -> Morphs:
    """Lowercase as `morphlm prepare` does: the word as a whole, because a Greek sigma looks to its neighbours."""
    word = unicodedata.normalize("NFC", "".join(morphs).lower())
    cuts = [0, *accumulate(len(unicodedata.normalize("NFC", morph.lower())) for morph in morphs)]
    return tuple(word[begin:end] for begin, end in pairwise(cuts))
