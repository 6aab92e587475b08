"""Writing files of vectors: word2vec's text and binary, .npy with a list of words, safetensors.

What is written appears when it is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Array, Float32Array
from morphlm.errors import InputError
from morphlm.files import atomic_writer, cannot_write
from morphlm.tensorfile import write_tensors

FORMATS = ("word2vec", "word2vec-binary", "npy", "safetensors")
EXTENSIONS = {"npy": ".npy", "safetensors": ".safetensors"}  # what these files must be called
FORMAT_OF = {".npy": "npy", ".safetensors": "safetensors", ".bin": "word2vec-binary"}  # what a name is taken for
VECTORS, WORDS = "vectors", "words"  # the tensors of a safetensors file; the words are UTF-8, a line each
DIGITS = "%.9g"  # as many as tell any two float32 from each other
BLOCK_ROWS = 4096


def words_file(path: str | Path) -> Path:
    """The list of words that belongs to a .npy file."""
    return Path(path).with_suffix(".words.txt")


def check_words_fit(words: Sequence[str]) -> None:
    """A space or a line's end inside a word would shift everything behind it."""
    for word in words:
        if not word or any(space in word for space in " \t\n\r"):
            raise InputError(f"the word {word!r} holds white space, so no file of vectors can hold it; leave it out")


@dataclass(frozen=True)
class MatrixBlocks:
    """All vectors, made as they are written."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    blocks: Iterator[tuple[Sequence[str], Float32Array]]
    has_header: bool = True  # of word2vec's files

    @property
    def header(self) -> bytes:
        """The first line of word2vec's files."""
        return f"{self.shape[0]} {self.shape[1]}\n".encode() if self.has_header else b""


def _write_text(path: str | Path, words: Sequence[str], matrix: MatrixBlocks) -> None:
    """`words dimensions`, then `word number number ...`."""
    line = " ".join(["%s", *[DIGITS] * matrix.shape[1]]) + "\n"
    with atomic_writer(path) as file:
        file.write(matrix.header)
        for block_words, rows in matrix.blocks:
            file.writelines(
                (line % (word, *row)).encode() for word, row in zip(block_words, rows.tolist(), strict=True)
            )


def _write_binary(path: str | Path, words: Sequence[str], matrix: MatrixBlocks) -> None:
    """`words dimensions`, then each word, a space, its float32 numbers and the end of a line, as word2vec writes it."""
    with atomic_writer(path) as file:
        file.write(matrix.header)
        for block_words, rows in matrix.blocks:
            numbers = rows.astype(matrix.dtype)
            file.writelines(
                b"%b %b\n" % (word.encode(), row.tobytes()) for word, row in zip(block_words, numbers, strict=True)
            )


def _write_npy(path: str | Path, words: Sequence[str], matrix: MatrixBlocks) -> None:
    """The list of words beside the matrix; the matrix comes last."""
    with atomic_writer(words_file(path)) as file:
        file.writelines(f"{word}\n".encode() for word in words)
    with atomic_writer(path) as file:
        header = {"descr": matrix.dtype.str, "fortran_order": False, "shape": matrix.shape}
        np.lib.format.write_array_header_1_0(file, header)
        file.writelines(rows.astype(matrix.dtype).tobytes() for _, rows in matrix.blocks)


def _write_safetensors(path: str | Path, words: Sequence[str], matrix: MatrixBlocks) -> None:
    """The matrix, and the words as the bytes of a text."""
    whole, begin = np.empty(matrix.shape, matrix.dtype), 0
    for block_words, rows in matrix.blocks:
        whole[begin : begin + len(block_words)] = rows
        begin += len(block_words)
    text = "".join(f"{word}\n" for word in words).encode()
    with atomic_writer(path) as file:
        try:
            write_tensors(Path(file.name), {VECTORS: whole, WORDS: np.frombuffer(text, np.uint8)})
        except OSError as error:
            raise cannot_write(path, error) from error


WRITERS: dict[str, Callable[[str | Path, Sequence[str], MatrixBlocks], None]] = {
    "word2vec": _write_text,
    "word2vec-binary": _write_binary,
    "npy": _write_npy,
    "safetensors": _write_safetensors,
}


def write_word2vec(path: str | Path, words: Sequence[str], vectors: Array, *, binary: bool, header: bool) -> None:
    """Write words with a matrix of their vectors."""
    check_words_fit(words)
    starts = range(0, len(words), BLOCK_ROWS)
    blocks = (
        (words[begin : begin + BLOCK_ROWS], vectors[begin : begin + BLOCK_ROWS].astype(np.float32)) for begin in starts
    )
    matrix = MatrixBlocks((len(words), vectors.shape[1]), np.dtype("<f4"), blocks, header)
    WRITERS["word2vec-binary" if binary else "word2vec"](path, words, matrix)
