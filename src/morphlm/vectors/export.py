"""Vectors as files for other tools: word2vec's text and binary, .npy with a list of words, safetensors.

Words that no text contained can be added; they are composed. What is written appears when it is complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Float32Array
from morphlm.errors import ConfigError, InputError
from morphlm.files import atomic_writer, cannot_write
from morphlm.segmentation.factors import BLOCK_WORDS
from morphlm.tables import counted
from morphlm.tensorfile import write_tensors
from morphlm.text.reading import RESERVED, read_blocks, split_tokens
from morphlm.vectors.forms import word_forms
from morphlm.vectors.vectors import WordVectors

FORMATS = ("word2vec", "word2vec-binary", "npy", "safetensors")
EXTENSIONS = {"npy": ".npy", "safetensors": ".safetensors"}  # what these files must be called
FORMAT_OF = {".npy": "npy", ".safetensors": "safetensors", ".bin": "word2vec-binary"}  # what a name is taken for
VECTORS, WORDS = "vectors", "words"  # the tensors of a safetensors file; the words are UTF-8, a line each
DIGITS = "%.9g"  # as many as tell any two float32 from each other


@dataclass(frozen=True)
class Exported:
    """What an export has written."""

    path: str
    file_format: str
    words: int
    dimensions: int
    composed: int  # of the words: not in the vocabulary, but composed
    left_out: tuple[str, ...]  # words that were asked for, but of which nothing is known

    def format(self) -> str:
        line = f"{self.path}: {counted(self.words, 'vector')} of {counted(self.dimensions, 'dimension')}"
        line += f", {self.composed:,} of them composed" if self.composed else ""
        return line + (f"\nleft out, nothing is known of them: {' '.join(self.left_out)}" if self.left_out else "")

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"left_out": list(self.left_out)}


def words_file(path: str | Path) -> Path:
    """The list of words that belongs to a .npy file."""
    return Path(path).with_suffix(".words.txt")


def read_words(path: str | Path) -> list[str]:
    """The words of a file, between spaces, tabs and ends of lines."""
    return [word for block in read_blocks(path) for line in block.lines() for word in split_tokens(line)]


def export_vectors(
    vectors: WordVectors,
    path: str | Path,
    file_format: str = "word2vec",
    *,
    half: bool = False,
    extra_words: Iterable[str] = (),
    prepared: bool = False,
) -> Exported:
    """Write the vectors of all words, and of extra ones that can be composed; `half` writes float16.

    Extra words are brought to the form of the model's text, unless they are `prepared`.
    """
    check_export(path, file_format, half=half)
    extra = _new_words(vectors, extra_words, prepared)
    composed = [word for word in extra if vectors.composable(word)]
    words = [*vectors.words, *composed]
    _check_words(words)
    dtype = np.dtype("<f2" if half else "<f4")
    _WRITERS[file_format](path, words, _Matrix((len(words), vectors.dimensions), dtype, _blocks(vectors, composed)))
    left_out = tuple(word for word in extra if word not in set(composed))
    return Exported(str(path), file_format, len(words), vectors.dimensions, len(composed), left_out)


def export_morphemes(vectors: WordVectors, path: str | Path, file_format: str = "word2vec") -> Exported:
    """Write the vectors of all morphemes under their names (`ung/SUF`); a word's vector is the sum of its own."""
    check_export(path, file_format)
    names = vectors.morphemes
    blocks = (names[begin : begin + BLOCK_WORDS] for begin in range(0, len(names), BLOCK_WORDS))
    rows = ((block, np.stack([vectors.morpheme(name) for name in block])) for block in blocks)
    _WRITERS[file_format](path, names, _Matrix((len(names), vectors.dimensions), np.dtype("<f4"), rows))
    return Exported(str(path), file_format, len(names), vectors.dimensions, 0, ())


def check_export(path: str | Path, file_format: str, *, half: bool = False) -> None:
    """Refuse what cannot be written, before any work is done."""
    if file_format not in FORMATS:
        raise ConfigError(f"{file_format!r} is no format of vectors; choose one of {', '.join(FORMATS)}")
    if half and file_format not in EXTENSIONS:
        raise ConfigError(f"{file_format} holds float32; leave float16 out, or write npy or safetensors")
    extension = EXTENSIONS.get(file_format, "")
    if extension and not (str(path).endswith(extension) and Path(path).stem):
        raise ConfigError(f"{path}: {file_format} vectors go to a file whose name ends in {extension}; rename it")
    promised = FORMAT_OF.get(Path(path).suffix, file_format)
    if promised != file_format:
        raise ConfigError(f"{path}: the name says {promised}, the format is {file_format}; change one (--format)")


def _new_words(vectors: WordVectors, words: Iterable[str], prepared: bool) -> list[str]:
    """Each once, in the form of the model's text, without those that are known."""
    forms = dict.fromkeys(map(word_forms(vectors, prepared=prepared), words))
    return [word for word in forms if not vectors.known(word) and word not in RESERVED]


def _check_words(words: Sequence[str]) -> None:
    """A space or a line's end inside a word would shift everything behind it."""
    for word in words:
        if not word or any(space in word for space in " \t\n\r"):
            raise InputError(f"the word {word!r} holds white space, so no file of vectors can hold it; leave it out")


def _blocks(vectors: WordVectors, composed: Sequence[str]) -> Iterator[tuple[Sequence[str], Float32Array]]:
    """Words with their vectors, thousands at a time: all words of the vocabulary, then the others."""
    known = vectors.vocabulary.words
    for begin in range(len(RESERVED), len(known), BLOCK_WORDS):
        end = min(begin + BLOCK_WORDS, len(known))
        yield known[begin:end], vectors.of_range(begin, end)
    for begin in range(0, len(composed), BLOCK_WORDS):
        words = composed[begin : begin + BLOCK_WORDS]
        yield words, vectors.rows(words)


@dataclass(frozen=True)
class _Matrix:
    """All vectors, made as they are written."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    blocks: Iterator[tuple[Sequence[str], Float32Array]]

    @property
    def header(self) -> bytes:
        """The first line of word2vec's files."""
        return f"{self.shape[0]} {self.shape[1]}\n".encode()


def _write_text(path: str | Path, words: Sequence[str], matrix: _Matrix) -> None:
    """`words dimensions`, then `word number number ...`."""
    line = " ".join(["%s", *[DIGITS] * matrix.shape[1]]) + "\n"
    with atomic_writer(path) as file:
        file.write(matrix.header)
        for block_words, rows in matrix.blocks:
            file.writelines(
                (line % (word, *row)).encode() for word, row in zip(block_words, rows.tolist(), strict=True)
            )


def _write_binary(path: str | Path, words: Sequence[str], matrix: _Matrix) -> None:
    """`words dimensions`, then each word, a space, its float32 numbers and the end of a line, as word2vec writes it."""
    with atomic_writer(path) as file:
        file.write(matrix.header)
        for block_words, rows in matrix.blocks:
            numbers = rows.astype(matrix.dtype)
            file.writelines(
                b"%b %b\n" % (word.encode(), row.tobytes()) for word, row in zip(block_words, numbers, strict=True)
            )


def _write_npy(path: str | Path, words: Sequence[str], matrix: _Matrix) -> None:
    """The list of words beside the matrix; the matrix comes last."""
    with atomic_writer(words_file(path)) as file:
        file.writelines(f"{word}\n".encode() for word in words)
    with atomic_writer(path) as file:
        header = {"descr": matrix.dtype.str, "fortran_order": False, "shape": matrix.shape}
        np.lib.format.write_array_header_1_0(file, header)
        file.writelines(rows.astype(matrix.dtype).tobytes() for _, rows in matrix.blocks)


def _write_safetensors(path: str | Path, words: Sequence[str], matrix: _Matrix) -> None:
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


_WRITERS: dict[str, Callable[[str | Path, Sequence[str], _Matrix], None]] = {
    "word2vec": _write_text,
    "word2vec-binary": _write_binary,
    "npy": _write_npy,
    "safetensors": _write_safetensors,
}
