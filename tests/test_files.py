from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

from morphlm.errors import ConfigError, InputError
from morphlm.files import COMPRESSIONS, atomic_writer, check_can_make, exclusive, open_binary, sha256_of

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
