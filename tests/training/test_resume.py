"""Resuming gives the bytes of a training that never stopped, whatever stopped it and when."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm import modelfile
from morphlm.artefacts import fingerprint
from morphlm.errors import ConfigError, FormatError
from morphlm.kinds import kind_named
from morphlm.logbilinear.engine import Learner
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import Parameters, filled_like, initial_parameters
from morphlm.machine import machine_type
from morphlm.modelfile import read_model
from morphlm.ngram.training import train_ngram
from morphlm.ranks import ALONE
from morphlm.training import checkpoint, loop, rank_state
from morphlm.training.checkpoint import (
    Progress,
    checkpoint_path,
    has_begun,
    read_checkpoint,
    remove_leftovers_of_training,
    write_checkpoint,
)
from morphlm.training.config import TrainingConfig
from morphlm.training.log import LOG_FILE, find_end
from morphlm.training.loop import TrainingTask, train_model

from .small import contents, sentences, task

ROOT = Path(__file__).parent.parent.parent


class CrashError(Exception):
    """Stands for whatever ends a process."""


class Interruption:
    """Calls something before the k-th call of a method."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, k: int, action: Any) -> None:
        self.calls = 0
        original = getattr(owner, name)

        def interrupted(*arguments: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls == k + 1:
                action()
            return original(*arguments, **named)

        monkeypatch.setattr(owner, name, interrupted)


def crash() -> None:
    raise CrashError


def control_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def stop(
    monkeypatch: pytest.MonkeyPatch,
    wanted: TrainingTask,
    out: Path,
    k: int,
    action: Any,
    where: tuple[Any, str] = (Learner, "step"),
    **options: Any,
) -> bool:
    """Train until the interruption; False if it ended before."""
    with monkeypatch.context() as patched:
        Interruption(patched, *where, k, action)
        try:
            train_model(wanted, out, **options)
        except (CrashError, KeyboardInterrupt):
            return True
    return False


def log_without_seconds(out: Path) -> list[str]:
    lines = (out / LOG_FILE).read_text().splitlines()
    return [line[: line.index('"seconds"')] + line[line.index('"objective"') :] for line in lines]


def assert_as_if_never_stopped(wanted: TrainingTask, out: Path, whole: Path, **options: Any) -> None:
    """Resume; compare the model, the log but its times, and what lies beside it."""
    model = train_model(wanted, out, resume=True, **options)
    assert contents(out) == contents(whole)
    assert log_without_seconds(out) == log_without_seconds(whole)
    assert not checkpoint_path(out).exists()
    assert not [path.name for path in out.parent.iterdir() if path.name.endswith(".partial")]
    assert model.training["development_perplexity"] > 1


# A crash with a checkpoint after each minibatch, or with none but that of the beginning; Ctrl-C makes its own.
STOPS = [(crash, 0.0), (crash, 10.0), (control_c, 10.0)]
CASES: list[dict[str, Any]] = [
    {"kind": "clbl++", "epochs": 3},
    {"kind": "clbl++", "epochs": 2, "batch": 30, "gather": 40, "prediction_dropout": 0.3, "evaluate_every": 5},
    {"kind": "lbl", "epochs": 2, "evaluate_every": 3, "patience": 9},
    {"kind": "clbl", "epochs": 4, "order": 2, "diagonal": False, "batch": 200},
    {"kind": "lbl++", "epochs": 2, "batch": 10, "l2_in_gradient": False, "surface_dropout": 0.3, "evaluate_every": 5},
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("action", "minutes"), STOPS)
def test_after_every_minibatch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: dict[str, Any], action: Any, minutes: float
) -> None:
    wanted = task(**case)
    train_model(wanted, tmp_path / "whole", threads=1)
    k = 0
    while stop(monkeypatch, wanted, tmp_path / "model", k, action, checkpoint_minutes=minutes, threads=1):
        assert checkpoint_path(tmp_path / "model").exists()
        assert_as_if_never_stopped(wanted, tmp_path / "model", tmp_path / "whole", threads=1)
        shutil.rmtree(tmp_path / "model")
        k += 7 if case.get("batch") == 10 else 1
    assert k >= 4


@pytest.mark.parametrize(("action", "minutes"), STOPS)
def test_during_every_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: Any, minutes: float) -> None:
    """Step decay and patience count evaluations: none may be left out or counted twice."""
    wanted = task("clbl", epochs=3, step=0.5, step_decay=0.5, patience=3, evaluate_every=2)
    train_model(wanted, tmp_path / "whole", threads=1)
    evaluation, k = (Learner, "log_probabilities"), 0
    # Loading evaluates too: the self-test, after the training.
    evaluations = len(log_without_seconds(tmp_path / "whole"))
    while k < evaluations and stop(
        monkeypatch, wanted, tmp_path / "model", k, action, evaluation, checkpoint_minutes=minutes, threads=1
    ):
        if action is control_c:
            assert read_checkpoint(checkpoint_path(tmp_path / "model"), wanted.identity)[0].due
        assert_as_if_never_stopped(wanted, tmp_path / "model", tmp_path / "whole", threads=1)
        shutil.rmtree(tmp_path / "model")
        k += 1
    assert k == evaluations


@pytest.mark.parametrize("action", [crash, control_c])
def test_while_the_best_model_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: Any) -> None:
    wanted = task("clbl", epochs=3, step=0.5, step_decay=0.5, patience=3, evaluate_every=2)
    train_model(wanted, tmp_path / "whole", threads=1)
    saving, k = (LogBilinearModel, "save"), 0
    while stop(monkeypatch, wanted, tmp_path / "model", k, action, saving, threads=1):
        assert_as_if_never_stopped(wanted, tmp_path / "model", tmp_path / "whole", threads=1)
        shutil.rmtree(tmp_path / "model")
        k += 1
    assert k == sum('"best": true' in line for line in log_without_seconds(tmp_path / "whole"))


def test_the_step_that_has_shrunk_is_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No evaluation but the first is better, so each makes the step smaller; the objectives in the log depend on it."""
    monkeypatch.setattr(Learner, "log_probabilities", lambda *_: np.full(3, -1.0))
    wanted = task("clbl", epochs=4, step=0.5, step_decay=0.5, patience=9, batch=200)
    train_model(wanted, tmp_path / "whole", threads=1)
    for k in range(8):
        assert stop(monkeypatch, wanted, tmp_path / "model", k, control_c, threads=1)
        assert_as_if_never_stopped(wanted, tmp_path / "model", tmp_path / "whole", threads=1)
        shutil.rmtree(tmp_path / "model")


def test_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each attempt does one minibatch, with another number of threads."""
    wanted = task("lbl+c", epochs=2)
    train_model(wanted, tmp_path / "whole")
    attempts = 0
    while stop(monkeypatch, wanted, tmp_path / "model", 0, control_c, resume=attempts > 0, threads=1 + attempts % 2):
        attempts += 1
    assert attempts == 8
    assert contents(tmp_path / "model") == contents(tmp_path / "whole")


def test_ctrl_c_twice_stops_at_once_and_can_be_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = task()
    train_model(wanted, tmp_path / "whole")

    def twice() -> None:
        control_c()
        control_c()
        pytest.fail("it went on")

    assert stop(monkeypatch, wanted, tmp_path / "model", 5, twice)
    assert not has_begun(checkpoint_path(tmp_path / "model"))  # there is only that of the beginning
    assert_as_if_never_stopped(wanted, tmp_path / "model", tmp_path / "whole")


def test_what_has_not_begun_does_not_stand_in_the_way_of_other_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stop(monkeypatch, task(), tmp_path / "model", 0, crash)
    assert checkpoint_path(tmp_path / "model").is_dir()
    other = task(epochs=1)
    train_model(other, tmp_path / "model")
    train_model(other, tmp_path / "whole")
    assert contents(tmp_path / "model") == contents(tmp_path / "whole")


def test_interrupts_that_are_ignored_stay_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        Interruption(monkeypatch, Learner, "step", 1, control_c)
        train_model(task(epochs=1), tmp_path / "model")
    finally:
        signal.signal(signal.SIGINT, before)
    assert not checkpoint_path(tmp_path / "model").exists()


def test_ctrl_c_without_a_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        Interruption(monkeypatch, Learner, "step", 1, control_c)
        train_model(task())
    assert signal.getsignal(signal.SIGINT) is before


def test_training_in_another_thread_leaves_signals_alone(tmp_path: Path) -> None:
    wanted, before = task(epochs=1), signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=train_model, args=(wanted, tmp_path / "other"))
    thread.start()
    thread.join()
    train_model(wanted, tmp_path / "main")
    assert contents(tmp_path / "other") == contents(tmp_path / "main")
    assert signal.getsignal(signal.SIGINT) is before


# ---------------------------------------------------------------- real processes


def run_python(*arguments: str) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, *arguments], stderr=subprocess.PIPE, env=environment, text=True)


def test_kill_9_at_many_moments(tmp_path: Path) -> None:
    kind, first, stride = "clbl++", 0, 19  # a prime, so that all kinds of moments come
    (tmp_path / "runs").mkdir()
    arguments = [str(tmp_path / "runs"), kind, str(first), str(stride)]
    with run_python("-W", "ignore", "-m", "tests.training.killed_runs", *arguments) as program:
        _, errors = program.communicate(timeout=600)
    assert program.returncode == 0, errors
    wanted = task(kind)
    train_model(wanted, tmp_path / "whole")
    moments = {int(path.name.lstrip(".").split(".")[1]) for path in (tmp_path / "runs").iterdir()}
    assert len(moments) >= 10
    for moment in sorted(moments):
        out = tmp_path / "runs" / f"{kind}.{moment}"
        train_model(wanted, out, resume=True)
        assert contents(out) == contents(tmp_path / "whole"), moment
    names = {path.name for path in (tmp_path / "runs").iterdir()}
    assert {f"{kind}.{moment}" for moment in moments} <= names
    assert not [name for name in names if name.endswith((".checkpoint", ".lock"))]


SLOW = """
import logging, sys, time
logging.basicConfig(format="%(message)s", level=logging.INFO)
from morphlm.logbilinear.engine import Learner
from morphlm.training.loop import train_model
from tests.training.small import task
step = Learner.step
Learner.step = lambda *arguments: time.sleep(0.02) or step(*arguments)
train_model(task(epochs=40, patience=99), sys.argv[1], checkpoint_minutes=float(sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("number", "minutes"), [(signal.SIGINT, 10.0), (signal.SIGKILL, 0.0005)], ids=["ctrl-c", "kill -9"]
)
def test_a_signal_from_outside(tmp_path: Path, number: signal.Signals, minutes: float) -> None:
    with run_python("-c", SLOW, str(tmp_path / "model"), str(minutes)) as program:
        assert program.stderr is not None
        for line in program.stderr:
            if line.startswith("epoch 3:"):
                break
        program.send_signal(number)
        errors = program.stderr.read()
        assert program.wait() == -number
    wanted = task(epochs=40, patience=99)
    progress, parameters, _ = read_checkpoint(checkpoint_path(tmp_path / "model"), wanted.identity)
    assert parameters is not None
    assert 0 < progress.total_tokens < 40 * len(wanted.train.tokens)
    if number is signal.SIGINT:
        assert (
            f"stopped; {checkpoint_path(tmp_path / 'model')} holds the training so far, go on with resume=True"
            in errors
        )
        assert errors.rstrip().endswith("KeyboardInterrupt")
        assert progress.epoch in (3, 4)
    train_model(wanted, tmp_path / "whole")
    assert_as_if_never_stopped(wanted, tmp_path / "model", tmp_path / "whole")


# ---------------------------------------------------------------- what is refused


def unfinished(monkeypatch: pytest.MonkeyPatch, out: Path, k: int = 5, **settings: Any) -> TrainingTask:
    wanted = task(**settings)
    assert stop(monkeypatch, wanted, out, k, control_c)
    return wanted


def test_an_unfinished_training_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = unfinished(monkeypatch, tmp_path / "model")
    before = contents(checkpoint_path(tmp_path / "model"))
    with pytest.raises(
        ConfigError, match=r"model\.checkpoint holds a training that has not ended; resume=True goes on"
    ):
        train_model(wanted, tmp_path / "model")
    assert contents(checkpoint_path(tmp_path / "model")) == before


OTHERS: dict[str, dict[str, Any]] = {
    "text": {"text": sentences(61, 1, rare=True)},
    "development text": {"dev": sentences(13, 2)},
    "kind": {"kind": "clbl+c"},
    "width": {"width": 9},
    "order": {"order": 4},
    "full": {"diagonal": False},
    "classes": {"classes": 5},
    "seed": {"seed": 4},
    "step": {"step": 0.05},
    "batch": {"batch": 101},
    "vocabulary": {"kappa": 1.0},
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_data_or_settings_cannot_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]
) -> None:
    wanted = unfinished(monkeypatch, tmp_path / "model")
    before = contents(checkpoint_path(tmp_path / "model"))
    with pytest.raises(ConfigError, match="this checkpoint is of other data or other settings; resume with those"):
        train_model(task(**other), tmp_path / "model", resume=True)
    assert contents(checkpoint_path(tmp_path / "model")) == before
    train_model(wanted, tmp_path / "model", resume=True)
    with pytest.raises(ConfigError, match="this model is of other data or other settings, and its training has ended"):
        train_model(task(**other), tmp_path / "model", resume=True)


def test_other_factors_are_another_training() -> None:
    """The same factors in a row, cut into words elsewhere."""
    wanted = task()
    context = wanted.structure.context
    starts = context.rows.starts.copy()
    starts[5] -= 1
    other = replace(context, rows=context.rows._replace(starts=starts))
    assert replace(wanted, structure=replace(wanted.structure, context=other)).identity != wanted.identity


def test_the_end_is_said_and_the_model_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = task()
    trained = train_model(wanted, tmp_path / "model")
    before = contents(tmp_path / "model")
    capsys.readouterr()
    monkeypatch.setattr(Learner, "step", lambda *_: pytest.fail("it goes on"))
    again = train_model(wanted, tmp_path / "model", resume=True)
    assert f"{tmp_path / 'model'}: its training has ended; there is nothing to resume" in capsys.readouterr().err
    assert again.sentence(["domu"]) == trained.sentence(["domu"])
    assert contents(tmp_path / "model") == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_model_of_another_kind_is_not_taken_for_the_result(tmp_path: Path) -> None:
    train_ngram(sentences(20, 1), 2).save(tmp_path / "model")
    with pytest.raises(ConfigError, match="its training has ended; train without resume=True to replace it"):
        train_model(task(), tmp_path / "model", resume=True)


def test_without_anything_to_resume_training_begins(tmp_path: Path) -> None:
    train_model(task(), tmp_path / "whole")
    train_model(task(), tmp_path / "model", resume=True)
    assert contents(tmp_path / "model") == contents(tmp_path / "whole")


def test_a_new_training_replaces_the_model_of_another_only_when_it_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_model(task("lbl"), tmp_path / "model")
    before = contents(tmp_path / "model")
    wanted = unfinished(monkeypatch, tmp_path / "model", k=1)
    assert contents(tmp_path / "model") == before
    assert train_model(wanted, tmp_path / "model", resume=True).kind == "clbl++"
    train_model(wanted, tmp_path / "whole")
    assert contents(tmp_path / "model") == contents(tmp_path / "whole")


def test_the_identity_depends_on_the_revision_of_the_kind_and_not_on_the_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the algorithm of a kind has changed, neither its old models nor its old checkpoints are continued."""
    wanted = unfinished(monkeypatch, tmp_path / "model")
    train_model(task(), tmp_path / "done")
    monkeypatch.setattr(loop, "__version__", "99.0")
    assert task().identity == wanted.identity
    original = kind_named
    monkeypatch.setattr(loop, "kind_named", lambda name: replace(original(name), revision=original(name).revision + 1))
    assert task().identity != wanted.identity
    for name in ("model", "done"):
        with pytest.raises(ConfigError, match="of other data or other settings"):
            train_model(task(), tmp_path / name, resume=True)


@pytest.mark.parametrize("replaced", [True, False])
def test_a_best_model_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaced: bool) -> None:
    wanted = unfinished(monkeypatch, tmp_path / "model")
    shutil.rmtree(tmp_path / "model")
    if replaced:
        train_ngram(sentences(20, 1), 2).save(tmp_path / "model")
    with pytest.raises(ConfigError, match=r"the best model so far is not there any more; remove .*checkpoint to begin"):
        train_model(wanted, tmp_path / "model", resume=True)


# ---------------------------------------------------------------- other epochs and patience


@pytest.mark.parametrize("k", [2, 5, 10])
def test_with_more_epochs_it_goes_on_as_if_they_had_been_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, k: int
) -> None:
    """Also the manifest of a model from before says how many."""
    more: dict[str, Any] = {"epochs": 6, "patience": 2, "step": 0.5}
    train_model(task(**more), tmp_path / "whole")
    unfinished(monkeypatch, tmp_path / "model", k, epochs=3, patience=2, step=0.5)
    assert_as_if_never_stopped(task(**more), tmp_path / "model", tmp_path / "whole")
    assert read_model(tmp_path / "model").training["epochs"] == 6


def test_a_checkpoint_of_a_training_whose_epochs_are_done_goes_on_with_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after the last evaluation, when the checkpoint of the end has been written and not been removed."""
    train_model(task(epochs=4, patience=9), tmp_path / "whole")
    wanted = task(epochs=2, patience=9)
    at_the_end = (loop, "remove_checkpoint")
    assert stop(monkeypatch, wanted, tmp_path / "model", 0, crash, at_the_end, checkpoint_minutes=0.0)
    assert read_checkpoint(checkpoint_path(tmp_path / "model"), wanted.identity)[0].ended == "2 epochs are done"
    assert_as_if_never_stopped(task(epochs=4, patience=9), tmp_path / "model", tmp_path / "whole")


def test_with_fewer_epochs_it_ends_where_they_are_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train_model(task(epochs=1, patience=9), tmp_path / "whole")
    unfinished(monkeypatch, tmp_path / "model", 6, epochs=5, patience=9)
    monkeypatch.setattr(Learner, "step", lambda *_: pytest.fail("it goes on"))
    assert_as_if_never_stopped(task(epochs=1, patience=9), tmp_path / "model", tmp_path / "whole")


def test_what_has_gone_on_for_too_long_is_not_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unfinished(monkeypatch, tmp_path / "model", 10, epochs=5, patience=9)
    before = contents(checkpoint_path(tmp_path / "model"))
    with pytest.raises(ConfigError, match="has gone on for longer than epochs= and patience= now allow; give more"):
        train_model(task(epochs=1, patience=9), tmp_path / "model", resume=True)
    assert contents(checkpoint_path(tmp_path / "model")) == before


def test_what_has_ended_and_left_no_checkpoint_cannot_go_on_with_more_epochs(tmp_path: Path) -> None:
    train_model(task(epochs=2, patience=9), tmp_path / "model")
    before = contents(tmp_path / "model")
    with pytest.raises(ConfigError, match=r"has ended \(2 epochs are done\) and its checkpoint is gone, so it cannot"):
        train_model(task(epochs=3, patience=9), tmp_path / "model", resume=True)
    assert contents(tmp_path / "model") == before
    (tmp_path / "model" / LOG_FILE).unlink()  # the manifest knows it too
    with pytest.raises(ConfigError, match=r"has ended \(its log does not say why\)"):
        train_model(task(epochs=3, patience=9), tmp_path / "model", resume=True)
    train_model(task(epochs=2, patience=9), tmp_path / "model", resume=True)


def test_what_ended_by_patience_has_ended_with_more_epochs_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    train_model(task(epochs=40), tmp_path / "model")
    done = len(log_without_seconds(tmp_path / "model"))
    monkeypatch.setattr(Learner, "step", lambda *_: pytest.fail("it goes on"))
    train_model(task(epochs=done), tmp_path / "model", resume=True)
    train_model(task(epochs=100), tmp_path / "model", resume=True)
    assert capsys.readouterr().err.count("there is nothing to resume") == 2
    with pytest.raises(ConfigError, match="does not fall any more"):
        train_model(task(epochs=done - 1), tmp_path / "model", resume=True)
    with pytest.raises(ConfigError, match="does not fall any more"):
        train_model(task(epochs=100, patience=2), tmp_path / "model", resume=True)


@pytest.mark.parametrize(
    ("bests", "epochs", "patience", "expected"),
    [
        ("", 1, 1, (0, "")),
        ("+++", 3, 1, (3, "3 epochs are done")),
        ("+++", 4, 1, (3, "")),
        ("+++", 2, 1, (2, "2 epochs are done")),
        ("+-+--", 9, 2, (5, "the development perplexity does not fall any more")),
        ("+-+--", 9, 1, (2, "the development perplexity does not fall any more")),
        ("+-+--", 9, 3, (5, "")),
    ],
)
def test_the_end_follows_from_the_log(bests: str, epochs: int, patience: int, expected: tuple[int, str]) -> None:
    log = [{"epoch": number, "tokens": 9 * number, "best": mark == "+"} for number, mark in enumerate(bests, 1)]
    assert find_end(log, TrainingConfig(epochs=epochs, patience=patience)) == expected


# ---------------------------------------------------------------- the checkpoint


def test_every_damage_of_a_checkpoint_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = unfinished(monkeypatch, tmp_path / "model", k=2)
    for path in sorted(checkpoint_path(tmp_path / "model").iterdir()):
        original = path.read_bytes()
        for offset in range(0, len(original), len(original) // 9):
            path.write_bytes(original[:offset] + bytes([original[offset] ^ 1]) + original[offset + 1 :])
            with pytest.raises(FormatError, match=path.name):
                train_model(wanted, tmp_path / "model", resume=True)
        path.write_bytes(original)
    train_model(wanted, tmp_path / "model", resume=True)


EVALUATION = {
    "epoch": 1,
    "minibatch": 0,
    "tokens": 9,
    "seconds": 0.5,
    "objective": -2.5,
    "development_perplexity": 1 / 3,
    "step": 0.3,
    "best": True,
}


def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    wanted = task()
    first = initial_parameters(wanted.config, wanted.structure, 1, 0.1)
    squares = filled_like(first, 0.25)
    progress = Progress(2, 3, True, -0.1 - 0.2, 7, 9, 5, 1e-3, 0.3, 1 / 3, 2, "", [EVALUATION])
    write_checkpoint(tmp_path / "c", "x", progress, first, squares)
    read, parameters, read_squares = read_checkpoint(tmp_path / "c", "x")
    assert read == progress
    assert parameters is not None
    assert read_squares is not None
    for one, other in zip((*first, *squares), (*parameters, *read_squares), strict=True):
        np.testing.assert_array_equal(one, other)
        assert not other.flags.writeable  # it is mapped; each rank copies what it needs


def test_a_checkpoint_is_not_read_twice_into_memory(tmp_path: Path) -> None:
    """The pages of the file that were copied are given back: those that are left are some of the last array's."""
    row, number = np.ones((1, 5), np.float32), np.ones(1, np.float32)
    parameters = Parameters(np.ones((200_000, 5), np.float32), row, row, number, row, number)
    write_checkpoint(tmp_path / "c", "x", Progress(), parameters, parameters)
    kept = read_checkpoint(tmp_path / "c", "x")
    assert kept[1].Q.sum() == kept[2].Q.sum() == 1_000_000
    mapped = modelfile.read_model(tmp_path / "c").tensors["Q"]
    before = resident_in_files()
    mapped.sum()
    assert resident_in_files() > before + 3_000_000
    tables = rank_state.RankState.__new__(rank_state.RankState)  # that of one process with a single table
    tables._comm, tables._tables = ALONE, {"Q": rank_state._TableRows((200_000, 5), np.zeros(200_000, np.int64), None)}
    np.testing.assert_array_equal(tables._hand_out("Q", mapped), parameters.Q)
    assert resident_in_files() < before + 1_000_000


def resident_in_files() -> int:
    """Bytes of mapped files in the memory of this process."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("RssFile:")[1].split()[0])


def test_a_checkpoint_with_fields_that_are_not_known_is_refused(tmp_path: Path) -> None:
    modelfile.write_model(tmp_path / "c", modelfile.ModelFiles("checkpoint", {"identity": "x"}, {"age": 3}, {}))
    with pytest.raises(FormatError, match=r"training has a field 'age', which is not known"):
        read_checkpoint(tmp_path / "c", "x")


def test_a_model_is_no_checkpoint(tmp_path: Path) -> None:
    train_model(task(epochs=1), tmp_path / "model")
    with pytest.raises(ConfigError, match="is of other data"):
        read_checkpoint(tmp_path / "model", read_model(tmp_path / "model").training["identity"])


def test_a_checkpoint_is_gone_before_it_is_taken_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed meanwhile, half of it would be taken for a damaged one."""
    write_checkpoint(tmp_path / "c", "x", Progress(), None, None)
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: crash())
    with pytest.raises(CrashError):
        checkpoint.remove_checkpoint(tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_checkpoints_stand_beside_the_model() -> None:
    assert checkpoint_path(Path("a/cs.clbl++")) == Path("a/cs.clbl++.checkpoint")
    assert checkpoint_path(Path()) == Path.cwd().with_name(Path.cwd().name + ".checkpoint")


def test_only_leftovers_of_this_model_are_removed(tmp_path: Path) -> None:
    names = [
        ".cs.0123abcd.partial",
        ".cs.checkpoint.0123abcd.partial",
        ".cs.v2.0123abcd.partial",
        ".cs.0123abcd.old",
        "cs.0123abcd.partial",
        ".csx0123abcd.partial",
    ]
    for name in names:
        (tmp_path / name).mkdir()
    (tmp_path / "cs").mkdir()
    for name in (".log.jsonl.0123abcd.partial", LOG_FILE):
        (tmp_path / "cs" / name).touch()
    remove_leftovers_of_training(tmp_path / "cs")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["cs", *names[2:]])
    assert [path.name for path in (tmp_path / "cs").iterdir()] == [LOG_FILE]


def test_fingerprints_differ_where_arrays_names_and_settings_do() -> None:
    numbers = np.arange(4, dtype=np.int32)
    prints = [
        fingerprint({"a": numbers}),
        fingerprint({"b": numbers}),
        fingerprint({"a": numbers[::-1]}),
        fingerprint({"a": numbers, "b": 1}),
        fingerprint({"a": numbers, "b": 2}),
        fingerprint({"a": ["x", "y"]}),
        fingerprint({"a": ["xy"]}),
    ]
    assert len(set(prints)) == len(prints)
    assert fingerprint({"a": 1, "b": numbers}) == fingerprint({"b": numbers.copy(), "a": 1})


# ---------------------------------------------------------------- another type of machine


OTHER_MACHINE = {
    "cpu": "znver3",
    "vectors": "avx2",
    "blas": "openblas",
    "blas_version": "0.3.30",
    "blas_kernels": "Haswell",
}


def test_resuming_on_another_type_of_machine_says_so_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "model"
    with monkeypatch.context() as there:
        there.setattr(loop, "machine_type", lambda: OTHER_MACHINE)
        wanted = unfinished(monkeypatch, out)
    assert read_checkpoint(checkpoint_path(out), wanted.identity).progress.machines == [OTHER_MACHINE]
    assert "another type" not in capsys.readouterr().err
    model = train_model(wanted, out, resume=True)
    lines = [line for line in capsys.readouterr().err.splitlines() if "another type" in line]
    assert lines == [
        f"{checkpoint_path(out)}: this training was begun on another type of CPU or BLAS (znver3, openblas 0.3.30 "
        "Haswell); the model will differ in last digits from one trained in one go"
    ]
    here = dict(machine_type())
    assert (model.training["machine"], model.training["earlier_machines"]) == (here, [OTHER_MACHINE])


def test_a_training_on_one_type_of_machine_records_it_and_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = unfinished(monkeypatch, tmp_path / "model")
    model = train_model(wanted, tmp_path / "model", resume=True)
    assert "another type" not in capsys.readouterr().err
    assert model.training["machine"] == machine_type()
    assert "earlier_machines" not in model.training


def test_a_checkpoint_without_a_record_of_the_machine_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = unfinished(monkeypatch, tmp_path / "model")
    path = checkpoint_path(tmp_path / "model")
    files = read_model(path)
    counters = {name: value for name, value in files.training.items() if name != "machines"}
    modelfile.write_model(path, replace(files, training=counters))
    model = train_model(wanted, tmp_path / "model", resume=True)
    assert "another type" not in capsys.readouterr().err
    assert model.training["machine"] == machine_type()


def test_the_type_of_machine_is_no_part_of_the_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    here = task().identity
    monkeypatch.setattr(loop, "machine_type", lambda: OTHER_MACHINE)
    assert task().identity == here
