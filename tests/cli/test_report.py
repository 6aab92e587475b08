from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Outcome
from tests.report.cases import model
from tests.report.wellformed import parsed

Command = Callable[..., Outcome]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with models and a text."""
    for kind in ("mkn", "clbl++"):
        model(kind).save(tmp_path / kind)
    (tmp_path / "test.txt").write_text("škola domem\ndomou řeka neznámou\n")
    return tmp_path


def test_the_place_of_the_page_is_printed(place: Path, morphlm_command: Command) -> None:
    out = place / "report.html"
    outcome = morphlm_command("report", place / "mkn", place / "clbl++", "--test", place / "test.txt", "--out", out)
    assert (outcome.status, outcome.stdout) == (0, f"{out}\n")
    assert outcome.stderr.startswith("Perplexity ")  # a model that knows other words cannot be compared
    assert parsed(out.read_text()).all("h1")[0].text == "Report on mkn, clbl++"


def test_the_figures_as_json(place: Path, morphlm_command: Command) -> None:
    arguments = ["--test", place / "test.txt", "--out", place / "r.html", "--json"]
    outcome = morphlm_command("report", place / "mkn", *arguments)
    result = json.loads(outcome.stdout)
    assert result["bytes"] == (place / "r.html").stat().st_size
    assert result["sections"][0] == "models"
    assert result["headline"]["model"] == "mkn"
    expected = model("mkn").perplexity(place / "test.txt")
    assert result["perplexities"][0]["perplexity_including_unknown"] == pytest.approx(expected.including_unknown)
    assert result["perplexities"][0]["unknown"] == 1


def test_standard_input_and_output(place: Path, morphlm_command: Command) -> None:
    arguments = ["report", place / "mkn", "--test", "-", "--out", "-"]
    outcome = morphlm_command(*arguments, stdin=place / "test.txt")
    assert outcome.status == 0
    assert "1 model on <stdin>, 2 sentences, 7 tokens." in parsed(outcome.stdout).all("header")[0].text
    refused = morphlm_command(*arguments, "--json", stdin=place / "test.txt")
    assert (refused.status, refused.stdout) == (2, "")
    twice = morphlm_command("report", "-", "--test", "-", "--out", place / "r.html")
    assert twice.status == 2
    assert "standard input ('-') is named more than once" in twice.stderr


def test_equal_commands_write_equal_bytes_and_the_seed_matters(place: Path, morphlm_command: Command) -> None:
    text = "".join(f"škola domem {word}\n" for word in ("řeka", "pola", "nic", "městem škola", "domu"))
    (place / "test.txt").write_text(text)  # sentences enough for intervals that depend on what is drawn
    pages = []
    for number, seed in enumerate((1, 1, 2)):
        out = place / f"{number}.html"
        models = [place / "mkn", place / "clbl++"]
        morphlm_command("report", *models, "--test", place / "test.txt", "--out", out, "--seed", str(seed))
        pages.append(out.read_bytes())
    assert pages[0] == pages[1] != pages[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["NO", "--test", "TEXT", "--out", "OUT"], "no: there is no such model"),
        (["MODEL", "--test", "NO", "--out", "OUT"], "no: there is no such file; check the name"),
        (["MODEL", "--test", "TEXT", "--out", "PLACE"], "this is a folder; name a file to write"),
        (["NO", "--test", "NO", "--out", "NO/r.html"], "is no folder to write to"),  # before anything is read
        (["MODEL", "--test", "TEXT", "--out", "/dev/full"], "/dev/full: cannot write here (No space left on device)"),
        (["MODEL", "--out", "OUT"], "the option --test is missing"),
    ],
)
def test_bad_commands_are_refused_in_one_line(
    arguments: list[str], message: str, place: Path, morphlm_command: Command
) -> None:
    places = {"NO": "no", "TEXT": "test.txt", "OUT": "r.html", "MODEL": "mkn", "PLACE": "", "NO/r.html": "no/r.html"}
    filled = [str(place / places[word]) if word in places else word for word in arguments]
    outcome = morphlm_command("report", *filled)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert len(outcome.stderr.splitlines()) == 1
    assert message in outcome.stderr
    assert not (place / "r.html").exists()


def test_text_with_unknown_marks_is_taken_on_demand(place: Path, morphlm_command: Command) -> None:
    (place / "test.txt").write_text("škola <unk> domem\n")
    arguments = ["report", place / "mkn", "--test", place / "test.txt", "--out", place / "r.html"]
    assert morphlm_command(*arguments).status == 2
    assert morphlm_command(*arguments, "--allow-unk").status == 0
    assert "&lt;unk&gt;" in (place / "r.html").read_text()
