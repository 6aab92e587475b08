from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morphlm.training import tune as tuning
from morphlm.training.loop import train_model
from tests.conftest import GOLDEN, Outcome

Command = Callable[..., Outcome]
TRAIN, DEV = GOLDEN / "kneser-ney" / "test.txt", GOLDEN / "kneser-ney" / "train.txt"
QUICK = ["--width", "4", "--epochs", "1", "--batch", "500", "--classes", "5", "--minutes", "0.05", "--threads", "1"]
VALUES = ["--steps", "0.1,0.2", "--decays", "3", "--widths", "4"]


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    path = tmp_path / "my dev.txt"
    path.write_text("".join(f"{line}\n" for line in DEV.read_text().splitlines()[:50]))
    return path


def test_the_command_that_it_prints_trains_with_the_best_settings(
    dev: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["--train", str(TRAIN), "--dev", str(dev), "--stages", "st", "--full", "--seed", "2"]
    outcome = morphlm_command("tune", "clbl", *arguments, *QUICK, *VALUES)
    assert outcome.status == 0
    table, best, command = outcome.stdout.rstrip().rsplit("\n", 2)
    assert table.splitlines()[0].split() == ["round", "step", "decay", "width", "epochs", "development"]
    assert best.startswith("best: step ")
    words = shlex.split(command)
    assert words[:2] == ["morphlm", "train"]
    assert "--full" in words  # a switch as it was given, not its opposite
    trained = json.loads(morphlm_command(*words[1:], "--json").stdout)
    assert str(trained["training"]["step"]) == words[words.index("--step") + 1]
    assert trained["training"]["seed"] == 2
    assert (tmp_path / "tuned.clbl" / "manifest.json").is_file()
    assert len(list((tmp_path / "st").iterdir())) == 2  # vocabulary and classes: the second command found them


def test_all_figures_as_json(dev: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("tune", "clbl", "--train", TRAIN, "--dev", dev, *QUICK, *VALUES, "--json")
    result: dict[str, Any] = json.loads(outcome.stdout)
    assert result["kind"] == "clbl"
    first = [trial for trial in result["trials"] if trial["round"] == 1]
    assert first[0]["default"]
    assert {trial["step"] for trial in result["trials"] if not trial["default"]} <= {0.1, 0.2}
    assert result["best"] in result["trials"]
    assert "--minutes" not in result["command"]
    assert "--steps" not in result["command"]


@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_prints_what_has_been_tried(
    as_json: bool, dev: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Command
) -> None:
    original, calls = train_model, [0]

    def interrupted(*arguments: Any, **named: Any) -> Any:
        calls[0] += 1
        if calls[0] == 2:
            raise KeyboardInterrupt
        return original(*arguments, **named)

    monkeypatch.setattr(tuning, "train_model", interrupted)
    options = ["--train", str(TRAIN), "--dev", str(dev), "--out", str(tmp_path / "m"), "--minutes", "5"]
    outcome = morphlm_command("tune", "clbl", *QUICK, *VALUES, *options, *(["--json"] if as_json else []))
    assert outcome.status == 130
    assert outcome.stderr.endswith("morphlm: interrupted\n")
    if as_json:
        result = json.loads(outcome.stdout)
        assert result["interrupted"]
        assert len(result["trials"]) == 1
    else:
        lines = outcome.stdout.splitlines()
        assert lines[1].split()[-1] == "default"
        assert lines[-1].endswith(f"--out {tmp_path / 'm'}")
    assert (tmp_path / "artefacts").is_dir()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["lbl", "--train", "TRAIN", "--dev", "DEV", "--classes", "5"], "--classes means nothing to lbl; leave it out"),
        (["clbl", "--train", "-", "--vocab", "-", "--dev", "DEV"], "named more than once"),
        (["clbl", "--train", "TRAIN"], "give --dev FILE"),
        (["clbl", "--train", "-", "--dev", "-"], "named more than once"),
        (["mkn", "--train", "TRAIN", "--dev", "TRAIN"], "'mkn' is not one of"),
        (["clbl", "--train", "TRAIN", "--dev", "DEV", "--minutes", "0"], "--minutes"),
        (["clbl", "--train", "TRAIN", "--dev", "DEV", "--steps", "1,x"], "not a list of numbers"),
        (["clbl", "--train", "TRAIN", "--dev", "DEV", "--widths", "1.5"], "not a list of numbers"),
        (["clbl", "--train", "TRAIN", "--dev", "DEV", "--steps", "-1"], "step is -1.0"),
    ],
)
def test_what_cannot_work_is_one_line(arguments: list[str], what: str, morphlm_command: Command) -> None:
    places = {"TRAIN": str(TRAIN), "DEV": str(DEV)}
    outcome = morphlm_command("tune", *(places.get(argument, argument) for argument in arguments))
    assert outcome.status == 2
    assert what in outcome.stderr
    assert outcome.stderr.count("\n") == 1
