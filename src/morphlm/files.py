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
import importlib
import io
import lzma
import os
import re
import shutil
import stat
import sys
import uuid
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from morphlm.errors import ConfigError, FileAccessError, FormatError, InputError, MorphlmError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# Without locks of this sort, as on Windows, leftovers of killed processes stay.
fcntl: Any = importlib.import_module("fcntl") if os.name == "posix" else None

STDIN_NAME = "<stdin>"
MAX_NAME_BYTES = 255  # of a file or folder, on nearly all file systems
FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
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


def checked_path(path: str | Path) -> Path:
    """The path, unless no file can have such a name; Python would refuse it in other ways at every call."""
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError as error:
        printable = str(path).encode(errors="backslashreplace").decode()
        raise InputError("this name holds half of a surrogate pair; check the name", source=printable) from error
    if b"\0" in name:
        raise InputError("this name holds a NUL character; check the name", source=str(path))
    if any(len(part) > MAX_NAME_BYTES for part in name.split(os.sep.encode())):
        raise InputError(f"this name is longer than {MAX_NAME_BYTES} bytes; check the name", source=str(path))
    return Path(path)


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
    with checked_path(path).open("rb") as file:
        yield file


@contextlib.contextmanager
def _readable(source: str) -> Iterator[None]:
    """Turn errors of the operating system and the decompressors into an InputError."""
    try:
        yield
    except MorphlmError:  # of whoever reads, about something else
        raise
    except FileNotFoundError as error:
        raise FileAccessError.of("there is no such file; check the name", source, error) from error
    except IsADirectoryError as error:
        raise FileAccessError.of("this is a folder; name a file", source, error) from error
    except (*DECOMPRESSION_ERRORS, OSError) as error:
        if getattr(error, "errno", None) is None:  # from a decompressor, not from the operating system
            message = "the compressed data is damaged or cut off; fetch or compress the file again"
            raise InputError(message, source=source) from error
        raise cannot_read(source, cast(OSError, error)) from error


class NamedOutput(io.FileIO):
    """A file to write whose errors name its target: who writes to several at once learns which one is full."""

    def __init__(self, file: str | int, mode: str, target: str, *, closefd: bool = True) -> None:
        super().__init__(file, mode, closefd=closefd)
        self.target = target

    def write(self, data: Any) -> int:
        try:
            return self._put(data)
        except BrokenPipeError:  # whoever read it has gone, and nothing is wrong
            raise
        except OSError as error:
            raise cannot_write(self.target, error) from error

    def _put(self, data: Any) -> int:
        return super().write(data)


@contextlib.contextmanager
def atomic_writer(path: str | Path, *, is_ours: bool = False) -> Iterator[IO[bytes]]:
    """Write bytes to a file (compressed as its name says) or, for '-', to standard output.

    The file appears when the block ends without an exception; until then a file of that name stays as it was. In a
    directory that only we write to (`is_ours`), a link or a pipe of that name is replaced: whoever put it there may
    want us to write elsewhere, or to wait for ever.
    """
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = checked_path(path)
    if path.is_dir():
        raise InputError("this is a folder; name a file to write", source=str(path))
    if not is_ours and path.exists() and not path.is_file():
        with _device(path) as device:  # /dev/null, /dev/stdout, a named pipe: to be written to, not replaced
            yield device
        return
    target = path if is_ours else path.resolve()  # a link stays, what it points to is replaced
    with _partial_file(target, str(path)) as file:
        if extension := _extension_of_name(target):
            with COMPRESSIONS[extension][2](file, "wb") as stream:
                yield stream
        else:
            yield file


def _device(path: Path) -> IO[bytes]:
    try:
        return io.BufferedWriter(NamedOutput(str(path), "wb", str(path)))
    except OSError as error:
        raise cannot_write(path, error) from error


@contextlib.contextmanager
def _partial_file(target: Path, name: str) -> Iterator[IO[bytes]]:
    """A new file that takes the place of `target` when the block ends without an exception; errors call it `name`."""
    remove_leftovers(target)
    partial, file = _new_file(target, name)
    try:
        with file:
            yield file
            file.flush()
            _sync(file, name)
        try:
            partial.replace(target)
        except OSError as error:
            raise cannot_write(name, error) from error
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _sync(file: IO[bytes], name: str) -> None:
    try:
        os.fsync(file.fileno())
    except OSError as error:
        raise cannot_write(name, error) from error


# ---------------------------------------------------------------- what is being written


def partial_path(path: Path) -> Path:
    """A new hidden name beside `path`, for what is written before it takes its final name."""
    return path.with_name(f".{_stem(path)}.{uuid.uuid4().hex[:8]}.partial")


def partial_pattern(path: Path) -> re.Pattern[str]:
    """Matches the names that `partial_path` gives: what a killed process leaves behind."""
    return re.compile(re.escape(f".{_stem(path)}.") + r"[0-9a-f]{8}\.partial")


def _stem(path: Path) -> str:
    """So much of the name that a longer one can be made of it."""
    return os.fsencode(path.name)[:200].decode(errors="ignore")


@contextlib.contextmanager
def partial_folder(target: Path) -> Iterator[Path]:
    """A new folder beside `target`, to be filled and renamed; what is at its path when the block ends is removed.

    Leftovers of `target` are removed first. OSErrors in the block are the caller's.
    """
    remove_leftovers(target)
    try:
        partial, descriptor = _new_folder(target)
    except OSError as error:
        raise cannot_write(target, error) from error
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if descriptor is not None:
            os.close(descriptor)


def remove_leftovers(target: Path) -> None:
    """Remove what killed processes left of `target`. What somebody is writing at the moment is locked, and stays."""
    _remove_unlocked(target.parent, partial_pattern(target))


def remove_leftovers_in(folder: Path) -> None:
    """Remove what killed processes left of anything in the folder."""
    _remove_unlocked(folder, re.compile(r"\..*\.[0-9a-f]{8}\.partial"))


def _new_file(target: Path, name: str) -> tuple[Path, IO[bytes]]:
    while True:
        partial = partial_path(target)
        try:
            file = io.BufferedWriter(NamedOutput(str(partial), "xb", name))
        except OSError as error:
            raise cannot_write(name, error) from error
        if _hold(file.fileno(), partial):
            return partial, file
        file.close()


def _new_folder(target: Path) -> tuple[Path, int | None]:
    while True:
        partial = partial_path(target)
        partial.mkdir(parents=True)
        if fcntl is None:
            return partial, None
        with contextlib.suppress(FileNotFoundError):  # somebody took it for a leftover already
            descriptor = os.open(partial, os.O_RDONLY)
            if _hold(descriptor, partial):
                return partial, descriptor
            os.close(descriptor)


def _hold(descriptor: int, partial: Path) -> bool:
    """Lock what was just made until it is closed; False if somebody took it for a leftover before it was locked.

    On file systems without locks nothing is locked, and nothing removed as a leftover either.
    """
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    try:
        return os.path.samestat(os.fstat(descriptor), partial.stat())
    except FileNotFoundError:
        return False


def _remove_unlocked(folder: Path, pattern: re.Pattern[str]) -> None:
    with contextlib.suppress(OSError):  # the folder is not there yet, or must not be listed
        for entry in os.scandir(folder):
            if pattern.fullmatch(entry.name):
                _remove_unless_locked(Path(entry.path), is_folder=entry.is_dir(follow_symlinks=False))


def _remove_unless_locked(path: Path, *, is_folder: bool) -> None:
    if fcntl is None:
        return
    flags = os.O_RDONLY if is_folder else os.O_WRONLY | os.O_NONBLOCK  # some file systems lock only what is writable
    with contextlib.suppress(OSError):
        descriptor = os.open(path, flags | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_folder:
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
        finally:
            os.close(descriptor)


# ---------------------------------------------------------------- places to write to


def cannot_read(path: str | Path, error: OSError) -> FileAccessError:
    """The error for a file that is there and cannot be read."""
    return FileAccessError.of(f"it cannot be read ({error.strerror}); check it with `ls -l`", str(path), error)


def cannot_write(path: str | Path, error: OSError) -> FileAccessError:
    """The error for a path that cannot be written."""
    advice = "make room or choose another place" if error.errno in FULL_DISK else "choose another place"
    return FileAccessError.of(f"cannot write here ({error.strerror or error}); {advice}", str(path), error)


def make_folder(folder: str | Path) -> Path:
    """Create the folder and its parents, unless it exists."""
    try:
        checked_path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    return Path(folder)


def check_can_write(path: str | Path) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    path = checked_path(path)
    if str(path) == "-" or (path.exists() and not path.is_file() and not path.is_dir()):
        return
    if path.is_dir():
        raise InputError("this is a folder; name a file to write", source=str(path))
    _check_folder(path.resolve().parent, path, "make it or choose another place")


def check_can_make(path: str | Path) -> None:
    """Refuse a file or folder that cannot be created with its parents, before any work is done."""
    _check_folder(existing_folder(checked_path(path).resolve().parent), path, "choose another place")


def existing_folder(path: str | Path) -> Path:
    """The folder itself, or the nearest one above it that is there."""
    folder = checked_path(path).resolve()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def _check_folder(folder: Path, path: str | Path, advice: str) -> None:
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise FileAccessError(f"cannot write here ({folder} is no folder to write to); {advice}", source=str(path))


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
    """The SHA-256 of a regular file's bytes, in hexadecimal."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_regular(path: str | Path, largest: int | None = None, dir_fd: int | None = None) -> io.BufferedReader:
    """Open a file of an artefact. Links are followed; a pipe or a device, which could block or never end, is refused.

    A relative path counts from the folder `dir_fd`. A file of more than `largest` bytes is refused.
    """
    try:
        # Without O_NONBLOCK, opening a named pipe waits for somebody to write to it.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0), dir_fd=dir_fd)
    except ValueError as error:  # a NUL in the name
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path)) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise FormatError(f"{path}: this is no regular file; put the file itself there")
        if largest is not None and status.st_size > largest:
            raise FormatError(f"{path}: {status.st_size:,} bytes, of at most {largest:,}; make it again")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: str | Path, largest: int) -> bytes:
    """The content of a regular file of at most `largest` bytes."""
    with open_regular(path, largest) as file:
        return file.read(largest)
