"""No producer changes its code without its revision, so that no result of other code is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from morphlm.artefacts import FolderShelf, Producer, find_or_make
from tests import producers
from tests.producers import all_producers, code_of, read_record, state_of

ALL = all_producers()


def test_all_are_found() -> None:
    names = {producer.name for producer in ALL.values()}
    assert {"vocabulary", "segmenter", "classes", "mkn", "clbl++", "align", "tune", "texts", "scores"} <= names


@pytest.mark.parametrize("name", ALL)
def test_code_and_revision_are_as_recorded(name: str) -> None:
    assert ALL[name].modules, "name the modules whose code decides the result"
    assert state_of(ALL[name]) == read_record().get(name), (
        f"the code of the producer {name} or its revision changed; run `make producers`"
    )


def test_nothing_is_recorded_that_is_gone() -> None:
    assert set(read_record()) == set(ALL)


def test_docstrings_and_layout_do_not_count_but_code_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    module = tmp_path / "watched_by_a_test.py"
    codes = []
    for source in (
        '"""One."""\ndef f(x):\n    """Two."""\n    return x + 1\n',
        '"""Three."""\n\n\ndef f(x):  # a comment\n    return (x + 1)\n',
        "def f(x):\n    return x + 2\n",
    ):
        module.write_text(source)
        codes.append(code_of("watched_by_a_test"))
    assert codes[0] == codes[1] != codes[2]


def test_a_package_is_all_of_its_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    package = tmp_path / "watched_package"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner" / "deep.py").write_text("X = 1\n")
    before = code_of("watched_package")
    (package / "inner" / "deep.py").write_text("X = 2\n")
    assert code_of("watched_package") != before


def test_an_old_result_is_not_found_once_the_revision_has_risen(tmp_path: Path) -> None:
    made: list[int] = []

    def obtain(producer: Producer) -> str:
        def make() -> str:
            made.append(producer.revision)
            return f"r{producer.revision}"

        shelf = FolderShelf(tmp_path, producer, ".txt", read=Path.read_text, write=_write)
        return find_or_make(producer, producer.key(text="abc", size=3), shelf, make).result

    old, new = Producer("thing", 1), Producer("thing", 2)
    assert [obtain(old), obtain(old), obtain(new), obtain(new), obtain(old)] == ["r1", "r1", "r2", "r2", "r1"]
    assert made == [1, 2]


def _write(path: Path, text: str) -> None:
    path.write_text(text)


@pytest.mark.parametrize(
    ("answers", "revision", "exits", "recorded"),
    [(["n"], 1, False, True), (["y"], 1, True, False), (["what"], 1, True, False), ([], 2, False, True)],
)
def test_the_tool_asks_and_records(
    answers: list[str], revision: int, exits: bool, recorded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(producers, "RECORD", tmp_path / "producers.json")
    monkeypatch.setattr("builtins.input", lambda _: answers.pop(0))
    module = tmp_path / "asked_about.py"
    module.write_text("X = 1\n")
    monkeypatch.setattr(producers, "all_producers", lambda: {"thing": Producer("thing", 1, ("asked_about",))})
    producers.main()  # the first time there is nothing to ask
    first = read_record()
    module.write_text("X = 2\n")
    monkeypatch.setattr(producers, "all_producers", lambda: {"thing": Producer("thing", revision, ("asked_about",))})
    if exits:
        with pytest.raises(SystemExit):
            producers.main()
    else:
        producers.main()
    assert not answers
    assert (read_record() != first) == recorded
