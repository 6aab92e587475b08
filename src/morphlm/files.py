"""Opening, replacing and hashing files: '-' and compressed files are read and written like plain ones.

The name says how a file is compressed and its first bytes must agree; standard input has no name, so there the first
bytes decide. What is written appears under its final name only when it is complete.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import hashlib
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

from morphlm.errors import InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STDIN_NAME = "<stdin>"

Stream = IO[bytes]


def _open_gzip(raw: Stream, mode: str) -> Stream:
    # Without a time and a name inside, equal content gives equal bytes.
    return cast(Stream, gzip.GzipFile(filename="", fileobj=raw, mode=mode, compresslevel=6, mtime=0))


def _open_bzip2(raw: Stream, mode: str) -> Stream:
    return cast(Stream, bz2.BZ2File(raw, "wb" if mode == "wb" else "rb"))


def _open_xz(raw: Stream, mode: str) -> Stream:
    return cast(Stream, lzma.LZMAFile(raw, "wb" if mode == "wb" else "rb"))


def _open_zstd(raw: Stream, mode: str) -> Stream:
    return cast(Stream, zstd.ZstdFile(raw, mode="wb") if mode == "wb" else zstd.ZstdFile(raw, mode="rb"))


# extension -> (name, first bytes, opener)
COMPRESSIONS: dict[str, tuple[str, bytes, Callable[[Stream, str], Stream]]] = {
    ".gz": ("gzip", b"\x1f\x8b", _open_gzip),
    ".bz2": ("bzip2", b"BZh", _open_bzip2),
    ".xz": ("xz", b"\xfd7zXZ\x00", _open_xz),
    ".zst": ("zstd", b"\x28\xb5\x2f\xfd", _open_zstd),
}
DECOMPRESSION_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, zstd.ZstdError)


def source_name(path: str | Path) -> str:
    """How messages name a file."""
    return STDIN_NAME if str(path) == "-" else str(path)


def _extension_of_content(head: bytes) -> str:
    """The extension whose first bytes these are, or '' for anything uncompressed."""
    return next((extension for extension, (_, magic, _) in COMPRESSIONS.items() if head.startswith(magic)), "")


def _extension_of_name(path: Path) -> str:
    return path.suffix if path.suffix in COMPRESSIONS else ""


def _check_name_tells_the_truth(path: Path, head: bytes) -> None:
    named, found = _extension_of_name(path), _extension_of_content(head)
    if named == found or (named and not head):
        return
    if found:
        raise InputError(
            f"this is {COMPRESSIONS[found][0]} data, but the name does not say so; rename it to end in {found}",
            source=str(path),
        )
    raise InputError(
        f"the name says {COMPRESSIONS[named][0]}, but the content is not; rename it without {named} "
        "or fetch the file again",
        source=str(path),
    )


def _buffered(stream: IO[bytes]) -> io.BufferedReader:
    return io.BufferedReader(cast(io.RawIOBase, stream), 1 << 20)


@contextlib.contextmanager
def open_binary(path: str | Path) -> Iterator[io.BufferedReader]:
    """Read a file, or standard input for '-', decompressed. Use as a context manager."""
    if str(path) == "-":
        raw = io.BufferedReader(sys.stdin.buffer.raw) if hasattr(sys.stdin.buffer, "raw") else sys.stdin.buffer
        buffered = cast(io.BufferedReader, raw)
        extension = _extension_of_content(buffered.peek(8)[:8])
        with _readable(STDIN_NAME):
            yield _buffered(COMPRESSIONS[extension][2](buffered, "rb")) if extension else buffered
        return
    path = Path(path)
    if path.is_dir():
        raise InputError("this is a folder; name a file", source=str(path))
    with _readable(str(path)), path.open("rb") as file:
        _check_name_tells_the_truth(path, file.peek(8)[:8])
        extension = _extension_of_name(path)
        yield _buffered(COMPRESSIONS[extension][2](file, "rb")) if extension else file


@contextlib.contextmanager
def _readable(source: str) -> Iterator[None]:
    """Turn what the operating system and the decompressors raise into one clear message."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError("there is no such file; check the name", source=source) from error
    except PermissionError as error:
        raise InputError("no permission to read this file; see `ls -l`", source=source) from error
    except DECOMPRESSION_ERRORS as error:
        raise InputError(
            "the compressed data is damaged or cut off; fetch or compress the file again", source=source
        ) from error


@contextlib.contextmanager
def atomic_writer(path: str | Path) -> Iterator[IO[bytes]]:
    """Write bytes to a file (compressed as its name says) or, for '-', to standard output.

    The file appears when the block ends without an exception; until then a file of that name stays as it was.
    """
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(path)
    if path.is_dir():
        raise InputError("this is a folder; name a file to write", source=str(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as device:  # /dev/null, /dev/stdout, a named pipe: to be written to, not replaced
            yield device
        return
    path = path.resolve()  # a link stays, what it points to is replaced
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    extension = _extension_of_name(path)
    try:
        file = partial.open("wb")
    except OSError as error:
        raise InputError(f"cannot write here ({error.strerror}); choose another place", source=str(path)) from error
    try:
        with file:
            if extension:
                with COMPRESSIONS[extension][2](file, "wb") as stream:
                    yield stream
            else:
                yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
