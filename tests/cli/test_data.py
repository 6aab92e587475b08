import json
from pathlib import Path

import pytest

from morphlm.cli.main import run
from morphlm.text.datasets.help_languages import NAMES


def morphlm(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        run([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("".join(f"věta číslo {number}\n" for number in range(40)), encoding="utf-8")
    return path


def test_list_shows_every_data_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert morphlm("data", "list") == 0
    table, languages = capsys.readouterr().out.split("\n\n")
    rows = table.splitlines()
    assert [row.split()[0] for row in rows] == ["libreoffice-help", "wmt13", "generated"]
    assert len({row.index(licence) for row, licence in zip(rows, ("MPL", "none", "CC0"), strict=True)}) == 1
    heading, *lines = languages.splitlines()
    assert heading == "libreoffice-help in 33 languages:"
    assert " ".join(" ".join(lines).split()) == ", ".join(f"{code} {name}" for code, name in NAMES.items())
    assert all(line.startswith("  ") and len(line) <= 100 for line in lines)


def test_list_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert morphlm("data", "list", "--json") == 0
    entries = json.loads(capsys.readouterr().out)
    assert [sorted(entry) for entry in entries] == [["languages", "licence", "name", "size", "summary"]] * 3
    assert entries[0]["languages"] == list(NAMES)


def test_get_prints_files_with_their_counts(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert morphlm("data", "get", text, tmp_path / "out", "--language", "cs") == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        f"{tmp_path}/out/dev.cs.txt\t2\t6",
        f"{tmp_path}/out/test.cs.txt\t2\t6",
        f"{tmp_path}/out/train.cs.txt\t36\t108",
    ]
    assert printed.err == "licence: your own files; their licence is for you to know\n"


def test_get_again_says_so(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("data", "get", text, tmp_path / "out", "--language", "cs", "--json")
    assert morphlm(*command) == 0
    first = capsys.readouterr()
    assert morphlm(*command) == 0
    second = capsys.readouterr()
    assert first.out == second.out
    assert "is there already and intact" in second.err
    described = json.loads(first.out)
    assert described["directory"] == f"{tmp_path}/out"
    assert described["files"]["train.cs.txt"]["lines"] == 36


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing", "OUT", "--language", "cs"], "neither a data set"),
        (["TEXT", "OUT"], "the language of the text is missing"),
        (["generated", "OUT", "--part", "data-1m"], "--part is no option of generated"),
        (["wmt13", "OUT", "--language", "fi"], "wmt13 has no text in 'fi'"),
        (["TEXT", "TEXT", "--language", "cs"], "not a data set; choose another place"),
    ],
)
def test_refusals_are_one_line(
    arguments: list[str], message: str, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"TEXT": text, "OUT": tmp_path / "out"}
    before = text.read_bytes()
    assert morphlm("data", "get", *(places.get(argument, argument) for argument in arguments)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]
    assert text.read_bytes() == before
