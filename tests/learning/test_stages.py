"""The line of progress: what is left, what is said, and what goes to the log only."""

from __future__ import annotations

from pathlib import Path

import pytest

from morphlm.compiling import COMPILATIONS
from morphlm.learning.pace import Budget
from morphlm.learning.stages import Stages
from morphlm.progress import notify


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_is_left_follows_the_pace_of_this_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with Stages(Budget(None, clock), tmp_path / "log.txt") as stages:
        stages.plan({"reading": 100.0, "searching": 30.0, "training": 60.0})
        assert stages.left == 190.0
        with stages.stage("reading"):
            clock.now += 205.0  # twice as long as expected, but for what is assumed
        assert stages.left == pytest.approx(2 * 90.0)
        for _ in range(3):
            with stages.trial("order 4", "searching", 10.0):
                clock.now += 20.0
        assert stages.left == pytest.approx(2 * 60.0)
        stages.end("searching")
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["reading: 3 min; about 3 min left", "searching: 60 s; about 2 min left"]


def test_time_for_compiling_says_nothing_about_the_pace_and_nobody_waits_longer_than_was_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    with Stages(Budget(2.0, clock), tmp_path / "log.txt") as stages:
        stages.plan({"searching": 10.0, "training": 60.0})
        with stages.stage("searching"):
            clock.now += 30.0
            monkeypatch.setattr(COMPILATIONS, "seconds", COMPILATIONS.seconds + 20.0)
        assert stages.left == pytest.approx(60.0)
        clock.now += 50.0
        assert stages.left == pytest.approx(40.0)


def test_messages_of_stages_go_to_the_log_but_for_what_everybody_should_see(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Stages(Budget(), tmp_path / "work" / "log.txt") as stages:
        with stages.stage("training"):
            notify("epoch 1")
            notify("compiling, once after installation ...")
            stages.say("the text is Czech")
        with stages.quietly():
            notify("between stages")
    assert capsys.readouterr().err.splitlines() == [
        "compiling, once after installation ...",
        "the text is Czech",
        "training: 1 s",
    ]
    logged = (tmp_path / "work" / "log.txt").read_text().splitlines()
    assert logged == ["epoch 1", "compiling, once after installation ...", "between stages"]


def test_verbose_shows_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Stages(Budget(), tmp_path / "log.txt", verbose=True) as stages, stages.stage("training"):
        notify("epoch 1")
    assert "epoch 1" in capsys.readouterr().err
    assert not (tmp_path / "log.txt").exists()
