from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm import load
from tests.conftest import Outcome

Command = Callable[..., Outcome]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No apt-get on this machine, and a small generated language; where the demo goes."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("morphlm.text.datasets.registry.DEFAULT_SENTENCES", 1000)
    return tmp_path / "demo"


def test_the_demo_falls_back_to_the_generated_language_and_shows_what_learn_does(
    small: Path, morphlm_command: Command
) -> None:
    outcome = morphlm_command("demo", small, "--json")
    assert outcome.status == 0
    assert "apt-get is not on this machine" in outcome.stderr
    assert "generated language" in outcome.stderr
    result = json.loads(outcome.stdout)
    assert result["data"] == "generated"
    assert (small / "gen" / "report.html").is_file()
    assert all(" + " in line and "/STM" in line for line in result["morphemes"])
    model = load(small / "gen")
    test = model.perplexity(small / "gen" / "text" / "test.txt").including_unknown
    assert test == pytest.approx(result["learned"]["result"]["perplexities"]["mixture"]["test"])
    check_neighbours(result["neighbours"], small / "gen")
    check_command(result["command"], result["learned"]["result"]["headline"], morphlm_command)


def check_neighbours(answers: list[dict[str, object]], directory: Path) -> None:
    """Of words that the training text has, and of some that only the test text has, of morphemes that are known."""
    seen = set((directory / "text" / "train.txt").read_text().split())
    vectors = load(directory).vectors
    assert {answer["understood"] for answer in answers} == {"known", "composed"}
    for answer in answers:
        assert (answer["query"] in seen) == (answer["understood"] == "known")
        nearest = vectors.neighbours(str(answer["query"]), 5)
        assert [near["name"] for near in answer["neighbours"]] == [near.name for near in nearest]  # type: ignore


def check_command(command: str, headline: str, morphlm_command: Command) -> None:
    """What it says it did, typed, finds that it is done."""
    again = morphlm_command(*shlex.split(command)[1:])
    assert again.status == 0
    assert "is complete already" in again.stdout
    assert headline in again.stdout


def test_a_wrong_language_is_not_a_reason_to_fall_back(tmp_path: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("demo", tmp_path / "demo", "--language", "xx")
    assert outcome.status == 2
    assert "no text in 'xx'" in outcome.stderr
