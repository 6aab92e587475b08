from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm import load
from morphlm.training.loop import TrainingRun
from tests.conftest import Outcome

Command = Callable[..., Outcome]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No apt-get on this machine, and a small generated language; where the demo goes."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("morphlm.text.datasets.registry.DEFAULT_SENTENCES", 600)
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


def check_neighbours(answers: list[dict[str, object]], directory: Path) -> None:
    """Of words that the training text has, and of some that only the test text has, of morphemes that are known."""
    seen = set((directory / "text" / "train.txt").read_text().split())
    vectors = load(directory).vectors
    assert {answer["understood"] for answer in answers} == {"known", "composed"}
    for answer in answers:
        assert (answer["query"] in seen) == (answer["understood"] == "known")
        nearest = vectors.neighbours(str(answer["query"]), 5)
        assert [near["name"] for near in answer["neighbours"]] == [near.name for near in nearest]  # type: ignore


def test_the_command_that_it_shows_is_what_it_did(small: Path, morphlm_command: Command) -> None:
    shown = morphlm_command("demo", small)
    assert shown.status == 0
    command = shown.stdout.splitlines()[0].removeprefix("$ ")
    assert f"$ {command}\n" in shown.stderr
    again = morphlm_command(*shlex.split(command)[1:])
    assert again.status == 0
    assert "is complete already" in again.stdout
    assert again.stdout.splitlines()[1] in shown.stdout  # the headline


def test_an_interrupted_demo_goes_on(small: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Command) -> None:
    original = TrainingRun._evaluate

    def interrupt(self: TrainingRun) -> None:
        self._interrupted = True  # as Ctrl-C would
        original(self)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_evaluate", interrupt)
        assert morphlm_command("demo", small).status == 130
    assert not json.loads((small / "gen" / "learn.json").read_text())["complete"]
    assert morphlm_command("demo", small).status == 0
    assert json.loads((small / "gen" / "learn.json").read_text())["complete"]


def test_a_wrong_language_is_not_a_reason_to_fall_back(tmp_path: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("demo", tmp_path / "demo", "--language", "xx")
    assert outcome.status == 2
    assert "not to be had in 'xx'" in outcome.stderr
