"""Messages and progress: lines on stderr for commands, records of `logging` and bars or callbacks for programs."""

from __future__ import annotations

import inspect
import io
import logging
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import morphlm
from morphlm import progress
from morphlm.errors import ConfigError
from morphlm.progress import ProgressUpdate, messages_to, notify, progress_bar, reporting, reports_progress, step_bar
from morphlm.wording import command_line


class _Closed:
    def write(self, _: str) -> int:
        raise BrokenPipeError

    def flush(self) -> None:
        raise BrokenPipeError


# ---------------------------------------------------------------- messages


def test_what_a_command_says_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with command_line():
        notify("so\x1b[2J")
        notify("warning: and so")
    assert capsys.readouterr() == ("", "so\\x1b[2J\nwarning: and so\n")


def test_a_command_goes_on_when_nobody_reads_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", _Closed())
    with command_line():
        notify("so")


def test_in_programs_messages_are_records_of_logging(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        notify("plain")
        notify("warning: a \x1b warning")
        notify("WARNING: another")
        notify("visible", important=True)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "plain"),
        ("WARNING", "a \\x1b warning"),
        ("WARNING", "another"),
        ("WARNING", "visible"),
    ]
    assert {record.name for record in caplog.records} == {"morphlm"}
    assert {record.filename for record in caplog.records} == {"test_progress.py"}


def test_a_logger_has_the_name_of_the_module_that_speaks(caplog: pytest.LogCaptureFixture) -> None:
    module = types.ModuleType("morphlm.somewhere")
    module.__dict__["notify"] = notify
    exec("notify('here')", module.__dict__)
    with caplog.at_level(logging.INFO):
        exec("notify('here')", module.__dict__)
    assert [record.name for record in caplog.records][-1] == "morphlm.somewhere"


@pytest.mark.parametrize(
    ("setup", "expected"),
    [
        ("", "seen\n"),  # warnings are visible unless a program says otherwise
        ("logging.getLogger('morphlm').addHandler(logging.NullHandler())", ""),
        ("logging.basicConfig(level=logging.INFO, format='%(levelname)s %(name)s: %(message)s')",
         "INFO morphlm: hidden\nWARNING morphlm: seen\n"),
    ],
    ids=["default", "null handler", "configured"],
)  # fmt: skip
def test_what_a_program_shows(setup: str, expected: str) -> None:
    code = f"import logging\n{setup}\nfrom morphlm.progress import notify\nnotify('hidden')\nnotify('warning: seen')"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", expected)


def test_diverted_messages_go_to_a_stream(capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    with messages_to(stream):
        notify("inside")
    notify("outside")
    assert (stream.getvalue(), capsys.readouterr().err) == ("inside\n", "outside\n")


# ---------------------------------------------------------------- progress


def run_task(total: int = 3) -> None:
    with progress_bar("reading", total, "word") as bar:
        for _ in range(total):
            bar.update()


def test_a_function_is_told_how_far_a_task_is() -> None:
    seen: list[ProgressUpdate] = []
    with reporting(seen.append):
        run_task()
    assert seen == [ProgressUpdate("reading", done, 3, "word") for done in range(4)]


def test_a_call_has_its_own_way_to_show_progress() -> None:
    seen: list[ProgressUpdate] = []

    @reports_progress
    def call(total: int, *, progress: progress.ProgressOption = None) -> int:
        run_task(total)
        return total

    assert call(2, progress=seen.append) == 2
    assert [update.done for update in seen] == [0, 1, 2]
    assert call(2, progress=False) == call(2) == 2
    assert len(seen) == 3
    with pytest.raises(ConfigError, match=r"progress is 5; it must be True, False, None or a function"):
        call(2, progress=5)  # type: ignore[arg-type]


def test_a_function_may_end_the_work() -> None:
    class EnoughError(Exception):
        pass

    def stop(update: ProgressUpdate) -> None:
        if update.done == 2:
            raise EnoughError

    with pytest.raises(EnoughError), reporting(stop):
        run_task(5)


def test_bars_that_are_asked_for_are_shown_anywhere(capsys: pytest.CaptureFixture[str]) -> None:
    with reporting(True):
        run_task()
    assert "reading" in capsys.readouterr().err
    run_task()
    with reporting(False):
        run_task()
    assert capsys.readouterr().err == ""


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if this were a notebook; ipywidgets is not needed for its bars."""
    shell = types.SimpleNamespace(kernel=object())
    module: Any = types.ModuleType("IPython")
    module.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", module)
    yield


@pytest.mark.usefixtures("notebook")
def test_notebooks_show_one_bar_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    """A second one would need a cursor that moves up, which a notebook does not have."""
    with progress_bar("outer", 2) as outer:
        with step_bar("inner", 0, 4) as inner:
            assert inner.disable
        outer.update(2)
    shown = capsys.readouterr().err
    assert "outer" in shown
    assert "inner" not in shown
    assert "\x1b" not in shown
    assert "\n" not in shown


@pytest.mark.usefixtures("notebook")
def test_a_command_that_a_notebook_runs_shows_no_bars(capsys: pytest.CaptureFixture[str]) -> None:
    with command_line():
        run_task()
    assert capsys.readouterr().err == ""


# ---------------------------------------------------------------- the long calls


TEXT = [["na", "dům"], ["na", "hrad"], ["pod", "hrad"]] * 10


def test_a_training_tells_its_epochs() -> None:
    seen: list[ProgressUpdate] = []
    morphlm.train("clbl", TEXT, TEXT[:3], epochs=2, width=4, classes=2, progress=seen.append)
    epochs = [update for update in seen if update.task.startswith("epoch")]
    assert {update.task for update in epochs} == {"epoch 1", "epoch 2"}
    assert epochs[-1].done == epochs[-1].total == 90


def test_learning_tells_its_stages_and_what_is_in_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[ProgressUpdate] = []
    lines = [" ".join(sentence) for sentence in TEXT * 40]
    morphlm.learn(lines, tmp_path / "learned", minutes=0.2, progress=seen.append)
    tasks = [update.task for update in seen]
    assert {"learn", "learn: reading", "learn: training"} <= set(tasks)
    assert all(update.total is None or update.done <= update.total + 1e-6 for update in seen if "learn" in update.task)
    assert "tokens" in capsys.readouterr().err  # what is said stays, as records of logging


def test_all_long_calls_take_progress() -> None:
    calls: list[Callable[..., Any]] = [
        morphlm.learn,
        morphlm.train,
        morphlm.train_kinds,
        morphlm.train_ngram,
        morphlm.tune,
        morphlm.mix,
    ]
    calls += [morphlm.train_segmenter, morphlm.train_classes, morphlm.make_vocabulary, morphlm.prepare_files]
    calls += [morphlm.get_dataset, morphlm.LanguageModel.perplexity, morphlm.LanguageModel.score_text]
    calls += [morphlm.analysis.select_folders, morphlm.report.make_report, morphlm.experiments.run_recipe]
    calls += [morphlm.translation.align, morphlm.translation.build_system, morphlm.translation.tune_system]
    for call in calls:
        assert "progress" in inspect.signature(call).parameters, call
