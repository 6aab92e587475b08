"""Texts in any encoding as UTF-8, while they are read: lines arrive as soon as they can be read from a pipe.

The encoding is given, or recognised by the first bytes that are not ASCII. A text with few of them that are not UTF-8
stays as it is, so that whoever checks it can say in which line they are.
"""

from __future__ import annotations

import codecs
import io
from collections import Counter

from morphlm.errors import InputError
from morphlm.progress import notify
from morphlm.text.encodings import (
    Encoding,
    MendingDecoder,
    check_is_known,
    given_encoding,
    is_mostly_utf8,
    marked_encoding,
    recognise_encoding,
    wide_encoding,
)
from morphlm.wording import option

FEWEST_BYTES = 10  # beyond ASCII, to recognise an encoding by


class Utf8Reader:
    """Reads a binary stream as UTF-8; what is not valid in its encoding is refused, or removed and counted."""

    def __init__(
        self, stream: io.BufferedReader, source: str, encoding: str | None, repairs: Counter[str] | None = None
    ) -> None:
        """`encoding` None is recognised and said; with `repairs`, what is not valid is removed."""
        self._stream, self._source, self._repairs = stream, source, repairs
        self._given, self._encoding = encoding, Encoding("utf-8")
        self._decoder: codecs.IncrementalDecoder | MendingDecoder | None = None  # None: bytes stay as they are
        self._is_settled, self._begins = False, True
        self._lines = 1
        self._refusal: InputError | None = None

    def read1(self, size: int) -> bytes:
        """The next bytes, at least one unless the text is over."""
        if self._refusal is not None:
            raise self._refusal
        while piece := self._stream.read1(size):
            if not self._is_settled:
                piece = self._settle(piece)
            if data := self._decoded(piece):
                return data
        return self._decoded(b"", final=True)

    def _settle(self, piece: bytes) -> bytes:
        """Find the encoding, as soon as something tells it; the bytes without a byte order mark of another encoding."""
        begins, self._begins = self._begins, False
        if self._given is not None:
            return self._decode_as(given_encoding(self._given, piece), piece)
        if begins:
            check_is_known(piece, self._source)
            if wide := marked_encoding(piece) or wide_encoding(piece):
                self._tell(wide)
                return self._decode_as(wide, piece)
        self._is_settled = not piece.isascii()
        if self._is_settled and not is_mostly_utf8(piece) and sum(byte >= 0x80 for byte in piece) >= FEWEST_BYTES:
            found = recognise_encoding(piece, self._source)
            self._tell(found)
            return self._decode_as(found, piece)
        return piece

    def _decode_as(self, encoding: Encoding, piece: bytes) -> bytes:
        self._is_settled, self._encoding = True, encoding
        if encoding.is_utf8:
            return piece  # its mark too: whoever reads lines repairs or refuses it
        if self._repairs is not None:
            self._decoder = MendingDecoder(encoding, self._source, self._repairs)
        else:
            self._decoder = codecs.getincrementaldecoder(encoding.name)()
        return piece.removeprefix(encoding.mark)

    def _tell(self, encoding: Encoding) -> None:
        for message in encoding.messages(self._source):
            notify(message)

    def _decoded(self, data: bytes, final: bool = False) -> bytes:
        if self._decoder is None:
            return data
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            text = error.object[: error.start].decode(self._encoding.name, "replace")
            self._refusal = self._not_valid(error, self._lines + text.count("\n"))
            if not text:
                raise self._refusal from error
        self._lines += text.count("\n")
        return text.encode("utf-8", "replace")

    def _not_valid(self, error: UnicodeDecodeError, line: int) -> InputError:
        found = f"byte {error.object[error.start]:#04x} is not {self._encoding.name}"
        guessed = "" if self._given is not None else ", which the text seems to be in"
        cure = f"name the right encoding with {option('--encoding')}, or repair the line"
        return InputError(f"{found}{guessed}; {cure}", source=self._source, line=line)
