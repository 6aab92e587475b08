"""Finding a result or making it: keys, shelves, damage, and what is said."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.artefacts import FolderShelf, NoShelf, Producer, Shelf, find, find_or_make, fingerprint, lock
from morphlm.errors import ConfigError, FormatError

THING = Producer("thing", 1)
PARTS = st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=5), max_size=4)


@given(PARTS, PARTS)
def test_equal_parts_and_only_those_have_equal_fingerprints(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (fingerprint(one) == fingerprint(other)) == (one == other)
    assert fingerprint(dict(reversed(one.items()))) == fingerprint(one)


def test_the_key_depends_on_everything() -> None:
    array = np.arange(5, dtype=np.int32)
    keys = [
        THING.key(a=1, tokens=array),
        Producer("thing", 2).key(a=1, tokens=array),
        Producer("other", 1).key(a=1, tokens=array),
        THING.key(a=2, tokens=array),
        THING.key(a=1, tokens=array[::-1]),
    ]
    assert len(set(keys)) == len(keys)
    assert Producer("thing", 1, ("some.module",)).key(a=1, tokens=array[::1].copy()) == keys[0]


class Memory(Shelf[str]):
    """Keeps results in a dict; what begins with ! is damaged, what begins with ? belongs to somebody else."""

    place = "memory"

    def __init__(self, **kept: str) -> None:
        self.kept = kept

    def find(self, key: str) -> str | None:
        result = self.kept.get(key)
        if result is not None and result.startswith("!"):
            raise FormatError("broken")
        if result is not None and result.startswith("?"):
            raise ConfigError("not yours")
        return result

    def keep(self, key: str, result: str) -> None:
        self.kept[key] = result


def test_made_once_then_found(capsys: pytest.CaptureFixture[str]) -> None:
    shelf = Memory()
    first = find_or_make(THING, "k", shelf, lambda: "new", announce="being made ...")
    assert (first.result, first.was_found) == ("new", False)
    assert capsys.readouterr().err == "thing: being made ...\n"
    second = find_or_make(THING, "k", shelf, lambda: pytest.fail("made again"), announce="being made ...")
    assert (second.result, second.was_found, second.seconds) == ("new", True, 0.0)
    assert capsys.readouterr().err == "thing: found in memory\n"


def test_what_is_damaged_is_made_again(capsys: pytest.CaptureFixture[str]) -> None:
    shelf = Memory(k="!")
    assert find(THING, "k", shelf) is None
    assert capsys.readouterr().err == "thing: the one in memory is damaged and is made again (broken)\n"
    assert find_or_make(THING, "k", shelf, lambda: "new").result == "new"
    assert shelf.kept == {"k": "new"}


def test_what_belongs_to_somebody_else_is_refused_and_stays() -> None:
    shelf = Memory(k="?")
    with pytest.raises(ConfigError, match="not yours"):
        find_or_make(THING, "k", shelf, lambda: pytest.fail("made"))
    assert shelf.kept == {"k": "?"}


def test_what_fails_is_not_kept() -> None:
    shelf = Memory()

    def fail() -> str:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        find_or_make(THING, "k", shelf, fail)
    assert shelf.kept == {}


def test_without_a_shelf_everything_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    shelf: NoShelf[str] = NoShelf()
    assert [find_or_make(THING, "k", shelf, lambda: "new").was_found for _ in range(2)] == [False, False]
    assert capsys.readouterr().err == ""


def test_a_folder_names_files_by_producer_and_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def write(path: Path, text: str) -> None:
        path.write_text(text)

    shelf = FolderShelf(tmp_path / "new" / "folder", THING, ".txt", read=Path.read_text, write=write)
    key = THING.key(a=1)
    assert shelf.find(key) is None
    assert not (tmp_path / "new").exists()  # looking leaves no trace
    find_or_make(THING, key, shelf, lambda: "content")
    path = tmp_path / "new" / "folder" / f"thing-{key[:12]}.txt"
    assert path.read_text() == "content"
    assert find(THING, key, shelf) == "content"
    assert capsys.readouterr().err == f"thing: found in {path}\n"


def test_a_second_writer_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    lock_file, target = tmp_path / ".lock", tmp_path / "target"
    with lock(lock_file, target):
        with pytest.raises(ConfigError) as refused, lock(lock_file, target, "give another --out"):
            pass
        assert str(refused.value) == (
            f"{target}: another process is writing here; wait until it has ended, or give another --out"
        )
    with lock(lock_file, target):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_in_place_of_a_result_is_named(tmp_path: Path) -> None:
    shelf = FolderShelf(tmp_path, THING, ".tsv", read=Path.read_text, write=lambda path, text: None)
    os.mkfifo(shelf.path("key"))
    with pytest.raises(ConfigError, match="neither a file nor a folder"):
        shelf.find("key")
