"""Which encoding the bytes of a text are in, and whether they are text at all.

A byte order mark decides; then UTF-8, if nearly everything is valid; only then chardet guesses. Files of other programs
(PDF, Word, archives, images) are refused by name, with the cure.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from encodings.aliases import aliases
from functools import cache
from typing import Any

from morphlm.errors import ConfigError, InputError, nearest_names
from morphlm.tables import percent
from morphlm.wording import option

SAMPLE_BYTES = 1 << 20  # the beginning of a file, by which it is judged
UNSURE = 0.9  # below this a guess is called unsure
_CLEAR = 1.25  # times the confidence of the next one makes a guess a clear one
_FEW = 3  # bytes that are not ASCII
_CHARDET_BYTES = 1 << 16
_MARKS = (  # the longer ones first: UTF-32 begins like UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Further down there may be characters that Windows added; nobody means the control characters in their place.
_SUPERSETS = {"ascii": "utf-8", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874"}
# Encodings of the same languages that differ in a few letters: a letter of the one may be a symbol in the other.
_SIBLINGS = {"cp1250": "iso8859-2", "cp1253": "iso8859-7", "cp1257": "iso8859-13"}
_SIBLINGS |= {other: name for name, other in _SIBLINGS.items()}
_STRANGE = re.compile(r"[\x80-\x9f]|(?<=[^\W\d_])[^\w\s!-~’‘´·\xad‐‑–—…](?=[^\W\d_])")
_NOT_FOR_TEXTS = ("idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem", "charmap")
_MULTIBYTE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_WORD, _ASCII_LETTER = re.compile(r"[^\W\d_]+"), re.compile("[A-Za-z]")
_NOT_LATIN = re.compile("[\u0370-\u1dff\u1f00-\uffff]")
_MOST_MIXED = 0.2  # of the words that are not ASCII
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")

_OFFICE = "convert it to text first (`soffice --convert-to txt` or `pandoc -t plain`)"
_UNPACK = "unpack it and name the texts in it"
_NO_TEXT = "name a text file"
_FORMATS: tuple[tuple[int, bytes, str, str], ...] = (  # where, what, name, cure
    (0, b"%PDF", "a PDF", "convert it to text first (`pdftotext`)"),
    (0, b"%!PS", "PostScript", "convert it to text first (`ps2ascii`)"),
    (0, b"{\\rtf", "an RTF document", _OFFICE),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document of an old Microsoft Office", _OFFICE),
    (60, b"BOOKMOBI", "an e-book (MOBI)", "convert it to text first (`ebook-convert`)"),
    (0, b"AT&TFORM", "a DjVu document", "convert it to text first (`djvutxt`)"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (0, b"Rar!", "a RAR archive", _UNPACK),
    (257, b"ustar", "a tar archive", _UNPACK),
    (0, b"\x1f\x8b", "gzip data", "decompress it"),
    (0, b"BZh", "bzip2 data", "decompress it"),
    (0, b"\xfd7zXZ\x00", "xz data", "decompress it"),
    (0, b"\x28\xb5\x2f\xfd", "zstd data", "decompress it"),
    (0, b"\x89PNG", "a PNG image", _NO_TEXT),
    (0, b"\xff\xd8\xff", "a JPEG image", _NO_TEXT),
    (0, b"GIF8", "a GIF image", _NO_TEXT),
    (0, b"II*\0", "a TIFF image", _NO_TEXT),
    (0, b"MM\0*", "a TIFF image", _NO_TEXT),
    (0, b"RIFF", "a sound, film or image (RIFF)", _NO_TEXT),
    (0, b"ID3", "a sound (MP3)", _NO_TEXT),
    (0, b"OggS", "a sound or film (Ogg)", _NO_TEXT),
    (4, b"ftyp", "a film (MP4)", _NO_TEXT),
    (0, b"\x7fELF", "a program", _NO_TEXT),
    (0, b"MZ\x90\0", "a program", _NO_TEXT),
    (0, b"SQLite format 3\0", "an SQLite database", _NO_TEXT),
    (0, b"PAR1", "a Parquet table", "write its texts as .jsonl, an object a line"),
)
_ZIPPED = (  # what a zip archive holds, by the names in it
    (b"word/", "a Word document (docx)", _OFFICE),
    (b"application/epub+zip", "an e-book (EPUB)", "convert it to text first (`pandoc -t plain`)"),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file", _OFFICE),
    (b"xl/", "an Excel table (xlsx)", _OFFICE),
    (b"ppt/", "a PowerPoint presentation (pptx)", _OFFICE),
)


@dataclass(frozen=True)
class Encoding:
    """The encoding of a text, and how sure that is."""

    name: str  # as Python calls it: utf-8, cp1250, koi8-r, ...
    certainty: float = 1.0  # 0 to 1
    mark: bytes = b""  # the byte order mark that the text begins with

    @property
    def is_utf8(self) -> bool:
        """Whether this is the encoding that needs no word."""
        return self.name == "utf-8"

    def format(self) -> str:
        """The name, and how sure it is where it was guessed: `cp1250 (guessed, 87 % sure)`."""
        return self.name if self.certainty == 1 else f"{self.name} (guessed, {percent(self.certainty, 0)} sure)"

    def messages(self, names: str) -> Iterator[str]:
        """What whoever reads these files should know, a line each; nothing of UTF-8."""
        if not self.is_utf8:
            yield f"{names}: read as {self.format()}"
        if self.certainty < UNSURE:
            yield f"warning: the encoding of {names} is no more than a guess; {name_encoding()}"


def name_encoding() -> str:
    """What to do about a wrong guess."""
    return f"if it is wrong, name the right one with {option('--encoding')}"


class NotTextError(InputError):
    """A file that is no text: a PDF, an archive, an image, or unknown data with NUL bytes."""


def check_encoding(name: str) -> str:
    """Python's name of an encoding that the user names in any way; ConfigError if there is none for texts."""
    try:
        codec = codecs.lookup(name).name.replace("_", "-")
    except (LookupError, ValueError, TypeError):
        codec = ""
    if codec not in _text_codecs():
        near = nearest_names(str(name), _names_of_encodings())
        cure = f"do you mean {' or '.join(near)}?" if near else "use a name such as utf-8, cp1250 or koi8-r"
        raise ConfigError(f"there is no encoding {name!r}; {cure}")
    return "utf-8" if codec == "utf-8-sig" else codec


def given_encoding(name: str, sample: bytes) -> Encoding:
    """An encoding that the user names, for a text that begins with these bytes."""
    codec = check_encoding(name)
    for mark, marked in _MARKS:
        if sample.startswith(mark) and marked.startswith(codec):
            return Encoding(marked, mark=mark)
    return Encoding(codec)


@cache
def _text_codecs() -> frozenset[str]:
    """The names of all encodings of texts; some codecs of Python are for other things."""
    found = set()
    for name in sorted(set(aliases.values()) | {"utf_8_sig"}):
        with suppress(LookupError, ImportError):  # some are there on Windows only
            codec = codecs.lookup(name)
            if getattr(codec, "_is_text_encoding", True) and name not in _NOT_FOR_TEXTS:
                found.add(codec.name.replace("_", "-"))
    return frozenset(found)


@cache
def _names_of_encodings() -> list[str]:
    """How people write them: `cp1250`, `windows-1250`, `latin2`, `koi8-r`."""
    return sorted(
        {name.replace("_", "-") for name, codec in aliases.items() if codec.replace("_", "-") in _text_codecs()}
        | _text_codecs()
    )


def recognise_encoding(sample: bytes, source: str) -> Encoding:
    """The encoding of a text that begins with these bytes (`SAMPLE_BYTES` are enough); NotTextError if none."""
    if marked := marked_encoding(sample):
        return marked
    check_is_known(sample, source)
    if wide := wide_encoding(sample):
        return wide
    check_is_text(sample, source)
    return Encoding("utf-8") if is_mostly_utf8(sample) else _guess(sample, source)


def marked_encoding(sample: bytes) -> Encoding | None:
    """The encoding that a byte order mark tells."""
    return next((Encoding(name, mark=mark) for mark, name in _MARKS if sample.startswith(mark)), None)


def check_is_known(sample: bytes, source: str) -> None:
    """Refuse a file of another program, by its first bytes."""
    for offset, magic, name, cure in _FORMATS:
        if sample.startswith(magic, offset):
            raise NotTextError(f"this is {name}; {cure}", source=source)
    if sample.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        kinds = [(name, cure) for part, name, cure in _ZIPPED if part in sample]
        name, cure = kinds[0] if kinds else ("a zip archive", _UNPACK)
        raise NotTextError(f"this is {name}; {cure}", source=source)


def check_is_text(sample: bytes, source: str) -> None:
    """Refuse bytes of which many are control characters."""
    controls = len(_CONTROL.findall(sample))
    if controls > max(1, len(sample) / 100):
        nul = "NUL bytes" if b"\0" in sample else "control characters"
        raise NotTextError(f"this is no text ({nul} in it); {_NO_TEXT}", source=source)


def wide_encoding(sample: bytes) -> Encoding | None:
    """UTF-16 or UTF-32 without a byte order mark: the bytes of spaces and line ends show the order."""
    if not sample or sample.count(b"\0") < len(sample) / 50:
        return None
    for name, width in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        whole = sample[: len(sample) // width * width]
        try:
            text = codecs.getincrementaldecoder(name)().decode(whole)
        except UnicodeDecodeError:
            continue
        strange = sum(not (character.isprintable() or character.isspace()) for character in text)
        spaces = sum(character in " \n" for character in text)
        if strange <= len(text) / 100 and spaces >= len(text) / 50:
            return Encoding(name)
    return None


def is_mostly_utf8(sample: bytes) -> bool:
    """Whether it is UTF-8 but for few bytes: far more characters beyond ASCII are valid than bytes are not."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(sample)  # a character that is cut off at the end of the sample is no mistake
        return True
    except UnicodeDecodeError:
        valid = len(_MULTIBYTE.findall(sample))
        invalid = sum(byte >= 0x80 for byte in _MULTIBYTE.sub(b"", sample))
    return valid >= 4 * invalid


def _guess(sample: bytes, source: str) -> Encoding:
    """What chardet makes of the lines that are not ASCII."""
    lines = (line for line in re.split(rb"[\r\n]+", sample) if not line.isascii())
    telling = b"\n".join(lines)[:_CHARDET_BYTES]
    results = [(_codec(result["encoding"]), float(result["confidence"] or 0)) for result in _detect_all()(telling)]
    known = [(name, confidence) for name, confidence in results if name is not None]
    if not known:
        raise NotTextError(f"this is no text in any known encoding; {_NO_TEXT}", source=source)
    known.sort(key=lambda result: _mixes_scripts(telling, result[0]))  # else in the order that chardet gives them
    name = _better_sibling(telling, _SUPERSETS.get(known[0][0], known[0][0]))
    return Encoding(name, _certainty(telling, known))


def _mixes_scripts(data: bytes, name: str) -> bool:
    """Whether letters of ASCII stand beside Greek, Cyrillic or other ones in many words, as nobody writes them."""
    words = [word for word in _WORD.findall(data.decode(name, "replace")) if not word.isascii()]
    return sum(_ASCII_LETTER.search(word) is not None and _NOT_LATIN.search(word) is not None for word in words) > (
        _MOST_MIXED * len(words)
    )


def _codec(name: str | None) -> str | None:
    """Python's name of an encoding; None for what it does not know, and for Unicode, which was ruled out before."""
    try:
        codec = codecs.lookup(name or "").name
    except LookupError:
        return None
    return None if codec.startswith("utf-") else codec


def _certainty(telling: bytes, results: list[tuple[str, float]]) -> float:
    """How often such a guess is right, measured on texts of eleven languages: chardet's own numbers do not tell."""
    (name, best), *others = results
    text = telling.decode(name, "replace")
    rivals = [confidence for other, confidence in others if telling.decode(other, "replace") != text]
    if best >= _CLEAR * max(rivals, default=0.0):
        return 0.99
    return 0.97 if sum(byte >= 0x80 for byte in telling) >= _FEW else 0.85


def _better_sibling(data: bytes, name: str) -> str:
    """The encoding or its sibling, whichever puts fewer symbols into the middle of words."""

    def strange(encoding: str) -> int:
        return len(_STRANGE.findall(data.decode(encoding, "replace")))

    other = _SIBLINGS.get(name, name)
    return other if strange(other) < strange(name) else name


def _detect_all() -> Callable[[bytes], list[Any]]:
    from chardet import detect_all  # noqa: PLC0415  # few texts need it

    return detect_all


# ---------------------------------------------------------------- decoding


class MendingDecoder:
    """Decodes a text piece by piece; what is not valid is removed and counted in `repairs`."""

    def __init__(self, encoding: Encoding, source: str, repairs: Counter[str]) -> None:
        self._encoding, self._source, self._repairs = encoding, source, repairs
        self._decoder = codecs.getincrementaldecoder(encoding.name)("replace")
        self._is_ascii = True  # so far
        self._lines = 1

    def decode(self, data: bytes, final: bool = False) -> str:
        """The text of the next bytes; an InputError if they are in another encoding than those before."""
        if self._encoding.is_utf8 and not data.isascii():
            self._check_utf8(data)
        text = self._decoder.decode(data, final)
        self._lines += text.count("\n")
        if "\ufffd" in text:
            there = data.count("\ufffd".encode()) if self._encoding.is_utf8 else 0
            self._count("replacement characters (U+FFFD) removed", there)
            self._count(f"places that are not {self._encoding.name} removed", text.count("\ufffd") - there)
        if "\0" in text:
            self._count("NUL characters removed", text.count("\0"))
        return text.replace("\ufffd", "").replace("\0", "")

    @property
    def encoding(self) -> Encoding:
        """The encoding, as far as it is known by now."""
        return self._encoding

    def _check_utf8(self, data: bytes) -> None:
        """Where a text that began as ASCII goes on as something else, its encoding is recognised there."""
        begun = self._decoder.getstate()[0]
        if not is_mostly_utf8(begun + data):
            found = _guess(data, self._source)
            if not self._is_ascii:
                what = (
                    f"it begins in UTF-8 and goes on in another encoding ({found.name}?); convert its parts one by one"
                )
                raise InputError(what, source=self._source, line=self._lines)
            self._encoding = found
            self._decoder = codecs.getincrementaldecoder(found.name)("replace")
        self._is_ascii = False

    def _count(self, repair: str, count: int) -> None:
        if count > 0:
            self._repairs[repair] += count
