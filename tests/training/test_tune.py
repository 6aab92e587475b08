from __future__ import annotations

import json
import math
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from morphlm import ConfigError, TrainingError
from morphlm.training import tune as tuning
from morphlm.training.config import recipe
from morphlm.training.inputs import InputOptions
from morphlm.training.job import RunOptions
from morphlm.training.loop import TrainingTask
from morphlm.training.pipeline import ModelOptions
from morphlm.training.tune import Candidate, TuneResult, design, tune
from tests.training.test_pipeline import HELD_OUT, SENTENCES

LEARNING = recipe("default").learning
CHOICES = ModelOptions(width=8, settings={"batch": 500, "step": 0.1, "decay": 3.0})
BATCHES = -(-sum(len(sentence) + 1 for sentence in SENTENCES) // 500)


class Machine:
    """Time that passes only in trainings, and trainings whose perplexity is known."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds_an_epoch: float, diverging: float = math.inf) -> None:
        self.now, self.seconds, self.diverging = 1000.0, seconds_an_epoch, diverging
        self.until_interrupt = math.inf  # trainings
        monkeypatch.setattr(tuning, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(tuning, "train_model", self.train)

    def train(self, task: TrainingTask, *, threads: int | None, deadline: float) -> Any:
        """The best epoch is the third; the perplexity is lowest at step 0.2, decay 1 and width 16."""
        training, learning = task.training, task.training.learning
        if self.until_interrupt == 0:
            raise KeyboardInterrupt
        self.until_interrupt -= 1
        batches = 0
        while batches < min(training.epochs, 4) * BATCHES:
            batches += 1
            self.now += self.seconds * task.config.width / 8 / BATCHES
            if self.now > deadline:
                break
        if learning.step >= self.diverging:
            raise TrainingError("not finite")
        best = min(batches, 3 * BATCHES)
        distance = abs(math.log(learning.step / 0.2)) + abs(math.log(learning.decay)) + 16 / task.config.width
        record = {
            "best_epoch": best // BATCHES,
            "best_minibatch": best % BATCHES,
            "development_perplexity": 100 + 10 * distance + 100 / best,
        }
        return SimpleNamespace(training=record)


def run(minutes: float, **given: Any) -> TuneResult:
    stages = InputOptions(classes=6)
    return tune("clbl", SENTENCES, HELD_OUT, minutes=minutes, input_options=stages, options=CHOICES, **given)


def test_the_design_begins_with_the_recipe_and_goes_outward() -> None:
    candidates = design("clbl", ModelOptions())
    default = Candidate(LEARNING.step, LEARNING.decay, 100)
    assert candidates[0] == default
    assert len(candidates) == len(set(candidates)) == 3 * 4 * 2
    differences = [
        (c.step != default.step) + (c.decay != default.decay) + (c.width != default.width) for c in candidates
    ]
    assert differences[:7] == [0, 1, 1, 1, 1, 1, 1]
    assert min(differences[7:]) == 2
    assert design("clbl", ModelOptions()) == candidates
    assert set(design("clbl", ModelOptions(seed=2))) == set(candidates)
    assert design("clbl", ModelOptions(seed=2)) != candidates


def test_given_values_are_the_design_with_the_recipe_added() -> None:
    candidates = design("clbl", CHOICES, steps=[0.2, 0.3], decays=[1.0], widths=[8])
    assert candidates[0] == Candidate(0.1, 3.0, 8)
    assert set(candidates[1:]) == {Candidate(0.2, 1.0, 8), Candidate(0.3, 1.0, 8)}


def test_with_time_the_best_settings_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, seconds_an_epoch=1.0)
    result = run(minutes=5)
    assert result.settings == {"step": 0.2, "decay": 1.0, "width": 16}
    assert result.best.epochs == 3.0
    first = [trial for trial in result.trials if trial.round == 1]
    assert [trial.candidate for trial in first] == design("clbl", CHOICES)
    assert all(trial.epochs == 1.0 and not trial.is_cut for trial in first)
    last = [trial for trial in result.trials if trial.round == 2]
    assert last[0].is_default
    assert last[0].candidate == Candidate(0.1, 3.0, 8)
    ranked = sorted(first, key=lambda trial: trial.development_perplexity)
    others = [trial.candidate for trial in ranked if not trial.is_default]
    assert [trial.candidate for trial in last[1:]] == others[: len(last) - 1]
    assert machine.now <= 1000 + 5 * 60


@pytest.mark.parametrize("minutes", [0.1, 0.3, 1, 2, 7])
@pytest.mark.parametrize("seconds", [1.0, 11.0, 100.0])
def test_it_stops_in_time(minutes: float, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the end only the minibatch that was under way."""
    machine = Machine(monkeypatch, seconds)
    result = run(minutes)
    assert machine.now <= 1000 + minutes * 60 + 2 * seconds / BATCHES + 1e-9
    assert machine.now >= 1000 + min(minutes * 60, seconds / BATCHES) - 1e-9
    assert any(trial.is_default for trial in result.trials if trial.round == result.best.round)


def test_an_epoch_longer_than_the_budget_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Machine(monkeypatch, seconds_an_epoch=6000.0)
    result = run(minutes=90)  # four minibatches and a half
    assert "an epoch takes about 100.0 minutes, longer than there is" in capsys.readouterr().err
    assert all(trial.epochs < 1 and trial.is_cut for trial in result.trials)
    assert {trial.round for trial in result.trials} == {1, 2}
    Machine(monkeypatch, seconds_an_epoch=6000.0)
    result = run(minutes=0.01)
    assert [trial.is_default for trial in result.trials] == [True]
    assert result.settings == {"step": 0.1, "decay": 3.0, "width": 8}


def test_candidates_that_diverge_are_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    Machine(monkeypatch, 1.0, diverging=0.2)
    result = run(minutes=5)
    assert result.settings == {"step": 0.1, "decay": 1.0, "width": 16}
    assert "not finite" in capsys.readouterr().err
    rows = json.loads(json.dumps(result.to_json(), allow_nan=False))["trials"]
    assert {row["step"] for row in rows if row["development_perplexity"] is None} == {0.2}


@pytest.mark.parametrize(("trainings", "rounds"), [(1, {1}), (5, {1}), (26, {1, 2})])
def test_ctrl_c_keeps_what_has_been_tried(trainings: int, rounds: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    Machine(monkeypatch, 1.0)
    whole = run(minutes=5)
    assert not whole.interrupted
    assert not whole.to_json()["interrupted"]
    Machine(monkeypatch, 1.0).until_interrupt = trainings
    result = run(minutes=5)
    assert result.trials == whole.trials[:trainings]
    assert {trial.round for trial in result.trials} == rounds
    assert result.interrupted
    assert result.to_json()["interrupted"]
    assert result.format().splitlines()[-2].startswith("best of those tried before the search was interrupted: step ")


def test_ctrl_c_before_anything_has_been_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    Machine(monkeypatch, 1.0).until_interrupt = 0
    with pytest.raises(KeyboardInterrupt):
        run(minutes=5)


def test_a_probe_that_was_cut_is_not_among_the_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default is trained again for as long as the others are."""
    Machine(monkeypatch, seconds_an_epoch=60.0)
    result = run(minutes=5)
    first = [trial for trial in result.trials if trial.round == 1]
    assert [trial.is_default for trial in first] == [True, *[False] * (len(first) - 1)]
    assert first[0].seconds > 30.0  # the probe had a tenth of the time


def test_stages_are_kept_beside_the_model_to_be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    Machine(monkeypatch, 1.0)
    result = run(minutes=1, out=tmp_path / "new" / "m")
    assert result.command.endswith(f"--out {tmp_path / 'new' / 'm'}")
    assert sorted(path.name.partition("-")[0] for path in (tmp_path / "new" / "artefacts").iterdir()) == [
        "classes",
        "vocabulary",
    ]
    with pytest.raises(ConfigError, match="cannot be part of the model"):
        run(minutes=1, out=tmp_path / "artefacts")


def test_what_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    Machine(monkeypatch, 1.0)
    result = run(minutes=5, arguments=["--train", "my text.txt", "--dev", "d"])
    words = shlex.split(result.command)
    assert words == [
        *["morphlm", "train", "clbl", "--train", "my text.txt", "--dev", "d"],
        *["--step", "0.2", "--decay", "1.0", "--width", "16", "--out", "tuned.clbl"],
    ]
    lines = result.format().splitlines()
    # 100 + 10 (ln 2 + ln 3 + 16 / 8) + 100 / 5 minibatches
    assert lines[1].split() == ["1", "0.1", "3", "8", "1.00", "157.92", "default"]
    assert lines[-2:] == ["best: step 0.2, decay 1, width 16", result.command]
    assert result.to_json()["best"] == result.best.to_json()
    assert result.best.to_json()["development_perplexity"] == min(t.development_perplexity for t in result.trials)


def test_a_real_search() -> None:
    result = run(minutes=0.05, steps=[0.1, 0.3], decays=[1.0], widths=[8], run=RunOptions(threads=1))
    assert result.trials[0].is_default
    assert all(1 < trial.development_perplexity < 1000 for trial in result.trials)
    assert set(result.settings) == {"step", "decay", "width"}


def test_parts_of_an_epoch_are_counted_where_the_recipe_leaves_the_minibatches_to_the_text() -> None:
    choices = ModelOptions(width=8, settings={"evaluate_every": 1, "epochs": 1, "step": 9.0})
    stages = InputOptions(classes=6)
    result = tune(
        "clbl",
        SENTENCES,
        HELD_OUT,
        minutes=0.02,
        widths=[8],
        input_options=stages,
        options=choices,
        run=RunOptions(threads=1),
    )
    tokens = sum(len(sentence) + 1 for sentence in SENTENCES)
    assert result.trials[0].epochs * -(-tokens // 500) == pytest.approx(1)  # a step of 9 is best after the first


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"minutes": 0.0}, "no time"),
        ({"minutes": math.nan}, "no time"),
        ({"minutes": 1.0, "steps": [-1.0]}, "step is -1.0"),
        ({"minutes": 1.0, "widths": [0]}, "width"),
    ],
)
def test_what_cannot_be(given: dict[str, Any], what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        run(**given)


def test_n_grams_have_nothing_to_tune() -> None:
    with pytest.raises(ConfigError, match="nothing to tune"):
        tune("mkn", SENTENCES, HELD_OUT)
