from __future__ import annotations

import bz2
import errno
import fcntl
import gzip
import io
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

from morphlm.errors import ConfigError, InputError
from morphlm.files import (
    COMPRESSIONS,
    atomic_writer,
    check_can_make,
    check_can_write,
    exclusive,
    make_folder,
    open_binary,
    partial_folder,
    partial_path,
    remove_leftovers,
    remove_leftovers_in,
    sha256_of,
)

TEXT = "žluťoučký kůň\n".encode() * 1000


@pytest.mark.parametrize("extension", ["", *COMPRESSIONS])
def test_what_is_written_is_read_back(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"text{extension}"
    with atomic_writer(path) as file:
        file.write(TEXT)
    assert (len(path.read_bytes()) < len(TEXT)) == bool(extension)
    with open_binary(path) as stream:
        assert stream.read() == TEXT


@pytest.mark.parametrize(
    ("extension", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_files_of_other_programs_are_read(tmp_path: Path, extension: str, compress: object) -> None:
    path = tmp_path / f"text{extension}"
    path.write_bytes(compress(TEXT[:100]) + compress(TEXT[100:]))  # type: ignore[operator]
    with open_binary(path) as stream:
        assert stream.read() == TEXT


def test_equal_content_gives_equal_compressed_bytes(tmp_path: Path) -> None:
    digests = set()
    for name in ("one.gz", "two.gz"):
        with atomic_writer(tmp_path / name) as file:
            file.write(TEXT)
        digests.add(sha256_of(tmp_path / name))
    assert len(digests) == 1


def test_standard_input_is_decompressed_by_its_first_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(gzip.compress(TEXT)))))
    with open_binary("-") as stream:
        assert stream.read() == TEXT


def test_a_name_that_hides_compression_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(gzip.compress(TEXT))
    with pytest.raises(InputError, match=r"text\.txt: this is gzip data.*rename it to end in \.gz"), open_binary(path):
        pass


def test_a_name_that_promises_compression_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.xz"
    path.write_bytes(TEXT)
    with pytest.raises(InputError, match=r"the name says xz, but the content is not"), open_binary(path):
        pass


@pytest.mark.parametrize("extension", COMPRESSIONS)
def test_damaged_compression_is_refused(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"text{extension}"
    with atomic_writer(path) as file:
        file.write(bytes(range(256)) * 4000)
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2 :] = bytes(len(damaged) - len(damaged) // 2)
    path.write_bytes(damaged)
    with pytest.raises(InputError, match="damaged or cut off"), open_binary(path) as stream:
        stream.read()


@pytest.mark.parametrize("extension", COMPRESSIONS)
def test_cut_off_compression_is_refused(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"text{extension}"
    with atomic_writer(path) as file:
        file.write(bytes(range(256)) * 4000)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="damaged or cut off"), open_binary(path) as stream:
        stream.read()


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing: there is no such file"), open_binary(tmp_path / "nothing"):
        pass
    with pytest.raises(InputError, match="this is a folder"), open_binary(tmp_path):
        pass


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), atomic_writer(path) as file:
        file.write(TEXT)
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["text.gz"]


def test_content_is_on_the_disk_before_the_file_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, events = tmp_path / "text", []
    monkeypatch.setattr(
        "morphlm.files.os.fsync", lambda descriptor: events.append((os.fstat(descriptor).st_size, path.exists()))
    )
    with atomic_writer(path) as file:
        file.write(TEXT)
    assert events == [(len(TEXT), False)]
    assert path.read_bytes() == TEXT


def test_writing_into_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write here"), atomic_writer(tmp_path / "no" / "text"):
        pass


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    with atomic_writer("/dev/null") as file:
        file.write(TEXT)
    assert not Path("/dev/null").is_file()


def test_a_link_stays_and_what_it_points_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_writer(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this is a folder"), atomic_writer(tmp_path):
        pass


# ---------------------------------------------------------------- full disks


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_device_is_named() -> None:
    with (
        pytest.raises(InputError, match=r"^/dev/full: cannot write here \(No space left on device\); make room"),
        atomic_writer("/dev/full") as file,
    ):
        file.write(TEXT)


@pytest.mark.parametrize("extension", ["", *COMPRESSIONS])
@pytest.mark.parametrize("size", [10, 1 << 18])
def test_a_disk_that_is_full_at_any_moment_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extension: str, size: int
) -> None:
    """Few bytes fail when the file, or its compressor, is closed; many when they are written."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / f"text{extension}"
    path.write_bytes(b"old")
    monkeypatch.setattr("morphlm.files.NamedOutput._put", full)
    with (
        pytest.raises(InputError, match=rf"^{path}: cannot write here \(No space left on device\); make room"),
        atomic_writer(path) as file,
    ):
        file.write(os.urandom(size))
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_of_two_files_the_full_one_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"^/dev/full: "),
        atomic_writer("/dev/full") as full,
        atomic_writer(tmp_path / "good") as good,
    ):
        good.write(TEXT)
        full.write(TEXT)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["fsync", "replace"])
def test_a_disk_that_fails_at_the_end_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr("morphlm.files.os.fsync" if method == "fsync" else "pathlib.Path.replace", fail)
    with pytest.raises(InputError, match=r"text: cannot write here \(Disk quota"), atomic_writer(tmp_path / "text"):
        pass
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- names that no file can have


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "x" * 256, "ž" * 128])
def test_names_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(InputError, match="this name"), open_binary(path):
        pass
    with pytest.raises(InputError, match="this name"), atomic_writer(path):
        pass
    for check in (check_can_make, check_can_write, make_folder):
        with pytest.raises(InputError, match="this name"):
            check(path)


@pytest.mark.parametrize("name", ["x" * 255, "ž" * 127, "\udcff"])
def test_the_longest_and_strangest_names(tmp_path: Path, name: str) -> None:
    for _ in range(2):
        with atomic_writer(tmp_path / name) as file:
            file.write(TEXT)
    with open_binary(tmp_path / name) as stream:
        assert stream.read() == TEXT


# ---------------------------------------------------------------- leftovers of killed processes

WRITER = """
import sys
from pathlib import Path
from morphlm.files import atomic_writer, partial_folder
with partial_folder(Path(sys.argv[2])) as folder, atomic_writer(sys.argv[1]) as file:
    (folder / "file").write_bytes(b"x")
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_process_leaves_is_removed_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    file, folder = tmp_path / "text.gz", tmp_path / "folder"
    command = [sys.executable, "-c", WRITER, str(file), str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        written = sorted(tmp_path.iterdir())
        assert len(written) == 2
        with atomic_writer(file) as out:
            out.write(TEXT)
        with partial_folder(folder):
            pass
        remove_leftovers_in(tmp_path)
        assert sorted(tmp_path.iterdir()) == sorted([*written, file])
        process.kill()
        process.wait()
    assert sorted(tmp_path.iterdir()) == sorted([*written, file])
    with atomic_writer(file) as out:
        assert len(list(tmp_path.iterdir())) == 3  # the new one, the old one and the folder
        out.write(TEXT)
    with partial_folder(folder):
        pass
    assert list(tmp_path.iterdir()) == [file]


def test_only_what_is_named_like_a_leftover_of_the_target_is_removed(tmp_path: Path) -> None:
    kept = [".other.0123abcd.partial", "text.0123abcd.partial", ".text.0123abcd.partial.txt", ".text.xyz.partial"]
    for name in [*kept, ".text.0123abcd.partial"]:
        (tmp_path / name).touch()
    (tmp_path / ".text.00000000.partial").symlink_to(tmp_path / "target")
    os.mkfifo(tmp_path / ".text.11111111.partial")  # opening it must not wait for a reader
    remove_leftovers(tmp_path / "text")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted([*kept, ".text.00000000.partial", ".text.11111111.partial"])
    remove_leftovers(tmp_path / "no" / "such" / "folder")


def test_a_new_file_that_is_taken_for_a_leftover_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process looks for leftovers between its making and its lock."""
    made: list[Path] = []

    def watched(path: Path) -> Path:
        made.append(partial_path(path))
        return made[-1]

    lock = fcntl.flock

    def disturbed(descriptor: int, operation: int) -> None:
        if len(made) in (1, 3):
            made[-1].rmdir() if made[-1].is_dir() else made[-1].unlink()
        lock(descriptor, operation)

    monkeypatch.setattr("morphlm.files.partial_path", watched)
    monkeypatch.setattr("fcntl.flock", disturbed)
    with atomic_writer(tmp_path / "text") as file:
        file.write(TEXT)
    assert len(made) == 2
    with partial_folder(tmp_path / "folder") as folder:
        assert folder.is_dir()
    assert len(made) == 4
    assert (tmp_path / "text").read_bytes() == TEXT


def test_without_locks_files_are_written_and_leftovers_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr("fcntl.flock", refuse)
    leftover = tmp_path / ".text.0123abcd.partial"
    leftover.touch()
    with atomic_writer(tmp_path / "text") as file:
        file.write(TEXT)
    assert sorted(tmp_path.iterdir()) == [leftover, tmp_path / "text"]


# ---------------------------------------------------------------- locks


def test_only_one_holds_a_file(tmp_path: Path) -> None:
    lock = tmp_path / "new" / "lock"
    with exclusive(lock, "taken"):
        with pytest.raises(ConfigError, match=r"^taken$"), exclusive(lock, "taken"):
            pytest.fail("two hold it")
        assert lock.exists()  # who was refused has not removed it
        with exclusive(tmp_path / "other", "taken"):
            pass
    assert list(lock.parent.iterdir()) == []
    with pytest.raises(KeyError), exclusive(lock, "taken"):
        raise KeyError
    with exclusive(lock, "taken"):
        pass


HOLDER = """
import os, sys
from pathlib import Path
from morphlm.files import exclusive
with exclusive(Path(sys.argv[1]), "taken"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_who_is_killed_holds_nothing(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    command = [sys.executable, "-c", HOLDER, str(lock)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(os.environ)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(ConfigError), exclusive(lock, "taken"):
            pytest.fail("two hold it")
        process.kill()
        process.wait()
    assert lock.exists()
    with exclusive(lock, "taken"):
        pass
    assert not lock.exists()


def test_a_file_that_was_removed_before_it_was_locked_is_not_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who held it removes it after we have opened it: then another may hold a new one of the same name."""
    lock, opened = tmp_path / "lock", []
    original = os.open

    def watched(path: str, *rest: int) -> int:
        descriptor = original(path, *rest)
        opened.append(path)
        if len(opened) == 1:
            Path(path).unlink()
        return descriptor

    monkeypatch.setattr("os.open", watched)
    with exclusive(lock, "taken"):
        assert len(opened) == 2
        assert lock.exists()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_without_locks_in_the_file_system_nothing_is_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, "no locks")

    monkeypatch.setattr("fcntl.flock", refuse)
    with exclusive(tmp_path / "lock", "taken"), exclusive(tmp_path / "lock", "taken"):
        pass


def test_a_place_for_a_lock_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write here"), exclusive(tmp_path / "file" / "lock", "taken"):
        pytest.fail("it was made")


def test_a_place_that_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_can_make(tmp_path / "a" / "b" / "c")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="file is no folder to write to"):
        check_can_make(tmp_path / "file" / "b" / "c")
    monkeypatch.setattr("morphlm.files.os.access", lambda *_: False)
    with pytest.raises(InputError, match="is no folder to write to"):
        check_can_make(tmp_path / "a")


def test_a_link_or_a_pipe_in_a_directory_of_ours_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("of somebody's")
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    (tmp_path / "dangling").symlink_to(tmp_path / "new")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "dangling", "pipe"):
        with atomic_writer(tmp_path / name, is_ours=True) as file:
            file.write(b"ours")
        assert (tmp_path / name).read_text() == "ours" and not (tmp_path / name).is_symlink()
    assert (tmp_path / "precious").read_text() == "of somebody's" and not (tmp_path / "new").exists()
