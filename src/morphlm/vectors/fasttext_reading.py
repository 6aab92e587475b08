"""Reading fastText's .bin files: header, words, and a matrix that is mapped. Sizes are checked before they are used.

int32 magic, version; twelve settings as int32, one as float64; the dictionary; a byte that tells whether the matrix is
quantised; the matrix of words and subwords, and that of outputs, each as two int64 and float32 numbers.
"""

from __future__ import annotations

import io
import mmap
import os
import stat
import struct
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Array
from morphlm.errors import FormatError
from morphlm.files import source_name
from morphlm.progress import notify
from morphlm.tables import counted
from morphlm.vectors.fasttext import FastTextVectors, Subwords

MAGIC = struct.pack("<i", 793712314)
VERSIONS = (11, 12)
SUPERVISED = 3
LONGEST_WORD = 1 << 16  # bytes
LONGEST_NGRAM = 100  # letters
MOST_ROWS = 2**31  # fastText numbers them in 32 bits
_SETTINGS = struct.Struct("<12id")
_SIZES = struct.Struct("<3i2q")
_SHAPE = struct.Struct("<2q")
_AFTER_WORD = struct.Struct("<qb")  # count; 0 for a word, 1 for a label


def is_fasttext(head: bytes) -> bool:
    """Whether a file that begins so is one of fastText's."""
    return head.startswith(MAGIC)


def read_fasttext(path: str | Path, stream: io.BufferedReader) -> FastTextVectors:
    """The vectors of an open file."""
    file = _FastTextFile(source_name(path), _buffer(stream))
    if not is_fasttext(file.take(4)):
        raise file.refused("this is no .bin file of fastText; name one, or another format")
    (version,) = file.unpack(struct.Struct("<i"))
    if version not in VERSIONS:
        raise file.refused(f"version {version} of fastText's format is not known; write it with fastText 0.9")
    dim, _, _, _, _, _, _, model, buckets, shortest, longest, _, _ = file.unpack(_SETTINGS)
    if version == 11 and model == SUPERVISED:
        longest = 0  # these models were trained without subwords, whatever the settings say
    if not (dim > 0 and 0 <= buckets < MOST_ROWS and shortest >= 0 and 0 <= longest <= LONGEST_NGRAM):
        raise file.refused("settings are out of range; make or copy the file again")
    words, other_forms = _read_words(file)
    matrix = _read_matrix(file, len(words), buckets, dim)
    if longest and not buckets:
        raise file.refused("it has subwords, but no rows for them; make or copy the file again")
    return FastTextVectors(words, matrix, Subwords(shortest, longest, buckets), file.name, other_forms)


def _buffer(stream: io.BufferedReader) -> Any:
    """A map of a regular file; the content of a compressed one or of a pipe."""
    if isinstance(stream.raw, io.FileIO) and stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    return stream.read()


class _FastTextFile:
    """The bytes of a file, and how far they have been read."""

    def __init__(self, name: str, data: Any) -> None:
        self.name, self.data, self.at = name, data, 0

    @property
    def left(self) -> int:
        return len(self.data) - self.at

    def take(self, size: int) -> bytes:
        if size > self.left:
            raise self.cut_off()
        self.at += size
        return bytes(self.data[self.at - size : self.at])

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        return layout.unpack(self.take(layout.size))

    def take_text(self) -> bytes:
        """The bytes up to a NUL."""
        end = self.data.find(b"\0", self.at, self.at + LONGEST_WORD + 1)
        if end < 0:
            raise self.refused(
                f"a word has more than {LONGEST_WORD:,} bytes, or is cut off; make or copy the file again"
            )
        return self.take(end + 1 - self.at)[:-1]

    def take_matrix(self, what: str) -> Array:
        rows, columns = self.unpack(_SHAPE)
        if rows < 0 or columns < 0 or rows * columns * 4 > self.left:
            raise self.cut_off(f": {rows:,} x {columns:,} numbers are announced for {what}")
        matrix: Array = np.frombuffer(self.data, "<f4", rows * columns, self.at).reshape(rows, columns)
        self.at += matrix.nbytes
        return matrix

    def cut_off(self, details: str = "") -> FormatError:
        return self.refused(f"cut off{details}; make or copy the file again")

    def refused(self, message: str) -> FormatError:
        return FormatError(f"{self.name}: {message}")


def _read_words(file: _FastTextFile) -> tuple[list[str], dict[int, bytes]]:
    """The words, without labels, and the bytes of those that are not UTF-8."""
    size, number, labels, _, pruned = file.unpack(_SIZES)
    if pruned >= 0:
        raise file.refused("a pruned model, whose subwords cannot be had; take the .bin file it was quantised from")
    if number < 0 or labels < 0 or number + labels != size or size * (1 + _AFTER_WORD.size) > file.left:
        raise file.cut_off(f": {counted(size, 'word')} announced")
    words: list[str] = []
    other_forms: dict[int, bytes] = {}
    for k in range(size):
        form = file.take_text()
        _, kind = file.unpack(_AFTER_WORD)
        if kind != (k >= number) or not form:
            raise file.refused("words and labels are mixed up; make or copy the file again")
        if k < number:
            words.append(_decoded(form, k, other_forms))
    if other_forms:
        notify(f"{file.name}: {counted(len(other_forms), 'word')} not in UTF-8; other bytes are shown as \\x..")
    if len(set(words)) < len(words):
        raise file.refused("a word comes twice; make or copy the file again")
    return words, other_forms


def _decoded(form: bytes, index: int, other_forms: dict[int, bytes]) -> str:
    try:
        return form.decode()
    except UnicodeDecodeError:
        other_forms[index] = form
        return form.decode(errors="backslashreplace")


def _read_matrix(file: _FastTextFile, words: int, buckets: int, dim: int) -> Array:
    """The matrix of words and subwords; what follows it must be whole, too, though it is not needed."""
    if file.take(1) != b"\0":
        raise file.refused("a quantised model (.ftz), which cannot be read; take the .bin file it was made from")
    matrix = file.take_matrix("words and subwords")
    if matrix.shape != (words + buckets, dim):
        raise file.refused(f"a matrix of {matrix.shape} for {counted(words, 'word')}; make or copy the file again")
    if file.take(1) != b"\0":
        raise file.refused("the outputs are quantised, which cannot be read; take the .bin file it was made from")
    file.take_matrix("outputs")
    if file.left:
        raise file.refused(f"there are {file.left:,} bytes behind its end; make or copy the file again")
    return matrix
