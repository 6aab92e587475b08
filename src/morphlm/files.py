"""Opening, replacing and hashing files: '-' and compressed files are read and written like plain ones.

The name says how a file is compressed and its first bytes must agree; standard input has no name, so there the first
bytes decide. What is written appears under its final name only when it is complete.
"""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import hashlib
import io
import lzma
import os
import re
import sys
import uuid
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from morphlm.errors import ConfigError, InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STDIN_NAME = "<stdin>"
LOCK_SECONDS = 0.1  # how long to wait for a lock: long enough to try again if its holder removes it just now
NO_LOCKS = (errno.ENOTSUP, errno.ENOLCK, errno.ENOSYS)

# extension -> (name, first bytes, opener)
COMPRESSIONS: dict[str, tuple[str, bytes, Callable[[Any, Any], Any]]] = {
    # Without time and name in the header, equal content gives equal bytes.
    ".gz": ("gzip", b"\x1f\x8b", lambda raw, mode: gzip.GzipFile("", mode, compresslevel=6, fileobj=raw, mtime=0)),
    ".bz2": ("bzip2", b"BZh", bz2.BZ2File),
    ".xz": ("xz", b"\xfd7zXZ\x00", lzma.LZMAFile),
    ".zst": ("zstd", b"\x28\xb5\x2f\xfd", lambda raw, mode: zstd.ZstdFile(raw, mode=mode)),
}
DECOMPRESSION_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, zstd.ZstdError)


def source_name(path: str | Path) -> str:
    """The name of a file in messages; <stdin> for `-`."""
    return STDIN_NAME if str(path) == "-" else str(path)


def is_file(path: str | Path) -> bool:
    """Whether there is such a file; not for what cannot be a name, such as a text that is too long for one."""
    try:
        return Path(path).is_file()
    except OSError:
        return False


def _extension_of_content(head: bytes) -> str:
    """The extension whose first bytes these are, or '' for anything uncompressed."""
    return next((extension for extension, (_, magic, _) in COMPRESSIONS.items() if head.startswith(magic)), "")


def _extension_of_name(path: Path) -> str:
    return path.suffix if path.suffix in COMPRESSIONS else ""


def _check_extension(path: Path, head: bytes) -> None:
    by_name, by_content = _extension_of_name(path), _extension_of_content(head)
    if by_name == by_content or (by_name and not head):
        return
    if by_content:
        raise InputError(
            f"this is {COMPRESSIONS[by_content][0]} data, but the name does not say so; "
            f"rename it to end in {by_content}",
            source=str(path),
        )
    raise InputError(
        f"the name says {COMPRESSIONS[by_name][0]}, but the content is not; rename it without {by_name} "
        "or fetch the file again",
        source=str(path),
    )


@contextlib.contextmanager
def open_binary(path: str | Path) -> Iterator[io.BufferedReader]:
    """Read a file, or standard input for '-', decompressed. Use as a context manager."""
    source = source_name(path)
    with _readable(source), _open_raw(path) as file:
        head = file.peek(8)[:8]
        if str(path) != "-" and Path(path).is_file():
            _check_extension(Path(path), head)
            extension = _extension_of_name(Path(path))
        else:  # standard input, a named pipe: there the first bytes decide
            extension = _extension_of_content(head)
        yield io.BufferedReader(COMPRESSIONS[extension][2](file, "rb"), 1 << 20) if extension else file


@contextlib.contextmanager
def _open_raw(path: str | Path) -> Iterator[io.BufferedReader]:
    if str(path) == "-":
        yield cast(io.BufferedReader, sys.stdin.buffer)
        return
    with Path(path).open("rb") as file:
        yield file


@contextlib.contextmanager
def _readable(source: str) -> Iterator[None]:
    """Turn errors of the operating system and the decompressors into an InputError."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError("there is no such file; check the name", source=source) from error
    except IsADirectoryError as error:
        raise InputError("this is a folder; name a file", source=source) from error
    except (*DECOMPRESSION_ERRORS, OSError) as error:
        if getattr(error, "errno", None) is None:  # from a decompressor, not from the operating system
            message = "the compressed data is damaged or cut off; fetch or compress the file again"
        else:
            message = f"it cannot be read ({os.strerror(cast(OSError, error).errno or 0)}); check it with `ls -l`"
        raise InputError(message, source=source) from error


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
    partial = partial_path(path)
    extension = _extension_of_name(path)
    try:
        file = partial.open("wb")
    except OSError as error:
        raise cannot_write(path, error) from error
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


def partial_path(path: Path) -> Path:
    """A new hidden name beside `path`, for what is written before it takes its final name."""
    return path.with_name(f".{path.name[:200]}.{uuid.uuid4().hex[:8]}.partial")


def partial_pattern(path: Path) -> re.Pattern[str]:
    """Matches the names that `partial_path` gives: what a killed process leaves behind."""
    return re.compile(re.escape(f".{path.name[:200]}.") + r"[0-9a-f]{8}\.partial")


def cannot_write(path: str | Path, error: OSError) -> InputError:
    """The error for a path that cannot be written."""
    return InputError(f"cannot write here ({error.strerror}); choose another place", source=str(path))


def make_folder(folder: str | Path) -> Path:
    """Create the folder and its parents, unless it exists."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    return Path(folder)


def check_can_write(path: str | Path) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    path = Path(path)
    if str(path) == "-" or (path.exists() and not path.is_file() and not path.is_dir()):
        return
    if path.is_dir():
        raise InputError("this is a folder; name a file to write", source=str(path))
    _check_folder(path.resolve().parent, path, "make it or choose another place")


def check_can_make(path: str | Path) -> None:
    """Refuse a file or folder that cannot be created with its parents, before any work is done."""
    parent = Path(path).resolve().parent
    while not parent.exists() and parent != parent.parent:
        parent = parent.parent
    _check_folder(parent, path, "choose another place")


def _check_folder(folder: Path, path: str | Path, advice: str) -> None:
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"cannot write here ({folder} is no folder to write to); {advice}", source=str(path))


@contextlib.contextmanager
def exclusive(path: Path, taken: str) -> Iterator[None]:
    """Hold a lock file until the block or the process ends, in whatever way; a second holder gets the message `taken`.

    On file systems without locks, as some network file systems are, nothing is locked.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415  # 40 ms, as long as everything that `--help` needs

    lock = FileLock(path, timeout=LOCK_SECONDS, fallback_to_soft=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:  # an OSError too
        raise ConfigError(taken) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise cannot_write(path, error) from error
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # before the release: whoever waits for it then sees that it is another file
        lock.release()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
