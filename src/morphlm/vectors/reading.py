"""Reading files of vectors: word2vec's text and binary, .npy with a list of words, safetensors, fastText's .bin."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from morphlm.arrays import Array, Float32Array, without_file
from morphlm.errors import ConfigError, FormatError, InputError, MissingFileError, MorphlmError
from morphlm.files import open_binary, source_name
from morphlm.progress import notify
from morphlm.tables import counted
from morphlm.tensorfile import map_tensors
from morphlm.vectors.fasttext_reading import is_fasttext, read_fasttext
from morphlm.vectors.interface import Vectors
from morphlm.vectors.keyed import KeyedVectors
from morphlm.vectors.writing import FORMAT_OF, FORMATS, VECTORS, WORDS, words_file

HEADER_BYTES = 64  # of `words dimensions`
LINE_BYTES = 1 << 24  # a line of text with a vector is not longer
ROWS_A_BLOCK = 4096
FASTTEXT = "fasttext"
FLOATS = ("<f2", "<f4", "<f8")


def load_vectors(path: str | Path, file_format: str | None = None) -> Vectors:
    """Read a file of vectors. Without a format the name decides (.npy, .safetensors), or else the content.

    Vectors of a fastText .bin file also compose words that are not known, of their subwords.
    """
    known = (*FORMATS, FASTTEXT)
    if file_format is not None and file_format not in known:
        raise ConfigError(f"{file_format!r} is no format of vectors; choose one of {', '.join(known)}")
    by_name = FORMAT_OF.get(Path(path).suffix) if file_format is None else file_format
    if by_name == "npy":
        return _keyed(path, *_read_npy(path))
    if by_name == "safetensors":
        return _keyed(path, *_read_safetensors(path))
    with open_binary(path) as stream:
        if file_format == FASTTEXT or (file_format is None and is_fasttext(stream.peek(8))):
            return read_fasttext(path, stream)
        binary = None if by_name is None else by_name == "word2vec-binary"
        return _keyed(path, *_read_word2vec(path, stream, binary))


def _keyed(path: str | Path, words: list[str], vectors: Array) -> KeyedVectors:
    """Of a word that comes twice the first counts, as in gensim."""
    first = dict(zip(reversed(words), range(len(words) - 1, -1, -1), strict=True))
    if not np.isfinite(vectors).all():
        raise _refused(path, "some numbers are not finite; make the file again")
    if len(first) < len(words):
        notify(
            f"{source_name(path)}: {counted(len(words) - len(first), 'repeated word')}; the first vector of each counts"
        )
        rows = sorted(first.values())
        words, vectors = [words[row] for row in rows], vectors[rows]
    return KeyedVectors(words, vectors)


def _refused(path: str | Path, message: str) -> FormatError:
    return FormatError(f"{source_name(path)}: {message}")


# ---------------------------------------------------------------- word2vec


def _read_word2vec(path: str | Path, stream: io.BufferedReader, binary: bool | None) -> tuple[list[str], Float32Array]:
    number, width = _header(path, stream.readline(HEADER_BYTES))
    line = stream.readline(LINE_BYTES)
    if binary is None:
        binary = not _is_text(line)
    if binary:
        return _parse_binary(path, line + stream.read(), number, width)
    return _parse_text(path, _lines(line, stream), number, width)


def _header(path: str | Path, line: bytes) -> tuple[int, int]:
    fields = line.split()
    good = len(fields) == 2 and all(field.isdigit() and len(field) < 12 for field in fields) and line.endswith(b"\n")
    if not good or int(fields[1]) == 0:
        message = "not a file of vectors, which begins with `words dimensions`; name a model or such a file"
        raise InputError(message, source=source_name(path), line=1)
    return int(fields[0]), int(fields[1])


def _is_text(line: bytes) -> bool:
    """Whether these are characters; the bytes of numbers soon hold some that are none."""
    try:
        return not any(ord(character) < 32 for character in line.decode().rstrip("\r\n"))
    except UnicodeDecodeError:
        return False


def _lines(first: bytes, stream: io.BufferedReader) -> Iterable[bytes]:
    while first:
        yield first
        first = stream.readline(LINE_BYTES)


def _parse_text(path: str | Path, lines: Iterable[bytes], number: int, width: int) -> tuple[list[str], Float32Array]:
    words: list[str] = []
    blocks, rows = [np.zeros((0, width), np.float32)], []
    for count, line in enumerate(lines, 1):
        word, _, rest = line.strip(b"\r\n").partition(b" ")
        try:
            words.append(word.decode())
            rows.append([float(field) for field in _number_fields(rest)])
        except ValueError as error:
            message = f"not `word number number ...` in UTF-8 ({error}); make the file again"
            raise InputError(message, source=source_name(path), line=count + 1) from error
        if not word or len(rows[-1]) != width:
            message = f"{counted(len(rows[-1]), 'number')} behind {words[-1]!r}, not {width} as the first line says"
            raise InputError(f"{message}; make the file again", source=source_name(path), line=count + 1)
        if len(rows) == ROWS_A_BLOCK:
            blocks.append(np.array(rows, np.float32))
            rows = []
    blocks.append(np.array(rows, np.float32).reshape(-1, width))
    _check_number(path, len(words), number)
    return words, np.concatenate(blocks)


def _number_fields(text: bytes) -> list[bytes]:
    if b"_" in text:  # which Python would take for a part of a number
        raise ValueError("an underscore in a number")
    return text.split()


def _parse_binary(path: str | Path, data: bytes, number: int, width: int) -> tuple[list[str], Float32Array]:
    if number * (4 * width + 2) > len(data) + number:  # without ends of lines
        raise _refused(path, f"cut off, the first line says {counted(number, 'word')}; make or copy the file again")
    words: list[str] = []
    vectors = np.empty((number, width), np.float32)
    offset = 0
    for count in range(number):
        space = data.find(b" ", offset)
        end = space + 1 + 4 * width
        if space < 0 or end > len(data):
            raise _refused(path, f"cut off after {count} of {counted(number, 'word')}; make or copy the file again")
        words.append(_decoded(path, data[offset:space].lstrip(b"\n")))
        vectors[count] = np.frombuffer(data, "<f4", width, space + 1)
        offset = end
    if data[offset:].strip(b"\n"):
        raise _refused(path, f"there is more behind {counted(number, 'word')}; make the file again")
    return words, vectors


def _decoded(path: str | Path, text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise _refused(path, f"a word is not UTF-8 ({text[:40]!r}); make the file again") from error


def _check_number(path: str | Path, words: int, expected: int) -> None:
    if words != expected:
        raise _refused(path, f"{counted(words, 'word')}, where {expected} are announced; make or copy the file again")


# ---------------------------------------------------------------- npy and safetensors


def _read_npy(path: str | Path) -> tuple[list[str], Array]:
    with open_binary(words_file(path)) as stream:
        words = _split(words_file(path), stream.read())
    if not Path(path).is_file():  # as a memory map it can be no stream
        raise MissingFileError("there is no such file; check the name", source=source_name(path))
    return words, _mapped(path, len(words), lambda: without_file(np.lib.format.open_memmap(path, mode="r")))


def _read_safetensors(path: str | Path) -> tuple[list[str], Array]:
    with open_binary(path) as stream:
        tensors: dict[str, Array] = {}

        def matrix() -> Array:
            tensors.update(map_tensors(stream))
            return tensors[VECTORS]

        vectors = _mapped(path, None, matrix)
    words = _split(path, tensors[WORDS].tobytes() if WORDS in tensors else b"")
    _check_number(path, len(words), len(vectors))
    return words, vectors


def _split(path: str | Path, text: bytes) -> list[str]:
    words = _decoded(path, text).split("\n")
    if words.pop() or "" in words:
        raise _refused(path, "not a word a line; make the file again")
    return words


def _mapped(path: str | Path, number: int | None, read: Callable[[], Array]) -> Array:
    """A matrix of numbers with as many rows as there are words."""
    try:
        matrix = read()
    except MorphlmError:
        raise
    except OSError as error:
        raise _refused(path, f"it cannot be read ({error.strerror or error}); check the name") from error
    except (Exception, MemoryError) as error:  # NumPy reads the header as Python, which fails in many ways
        reason = " ".join(str(error).split())[:200]
        raise _refused(path, f"not a matrix of vectors ({reason}); make or copy the file again") from error
    if matrix.ndim != 2 or matrix.dtype.newbyteorder("<").str not in FLOATS:
        raise _refused(path, f"not a matrix of vectors (shape {matrix.shape}, {matrix.dtype}); make the file again")
    if number is not None:
        _check_number(path, number, len(matrix))
    return matrix
