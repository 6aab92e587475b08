"""`morphlm explore` as the shell sees it; what the page does is tested in tests/report/explorer."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from morphlm.ngram.training import train_ngram
from tests.conftest import Outcome
from tests.training.small import sentences

Command = Callable[..., Outcome]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "mkn"
    train_ngram(sentences(60, 1), 3).save(path)
    return path


def test_it_answers_once_it_has_printed_its_address_and_ends_by_ctrl_c(model: Path) -> None:
    command = [sys.executable, "-m", "morphlm", "explore", str(model), "--port", "0", "--no-browser"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:")
            (card,) = httpx.get(f"{address}api/models", timeout=60).json()
            assert (card["name"], card["kind"]) == ("mkn", "mkn")
            assert "<title>morphlm explorer</title>" in httpx.get(address).text
            process.send_signal(signal.SIGINT)
            started = time.monotonic()
            assert process.stderr.read().splitlines() == [
                f"mkn: {card['signature']}",
                "Ctrl-C ends it",
                "",
                "morphlm: interrupted",
            ]
            assert process.wait() == 130
            assert time.monotonic() - started < 20
        finally:
            process.kill()


def test_a_port_that_is_taken(model: Path, morphlm_command: Command) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        outcome = morphlm_command("explore", model, "--port", port, "--no-browser")
    assert outcome.status == 2
    assert outcome.stderr == (
        f"morphlm: port {port} cannot be had (Address already in use); choose another by --port, or 0 for any that is "
        "free\n"
    )


def test_without_the_extra(model: Path, morphlm_command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "morphlm.report.explorer.server", raising=False)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    outcome = morphlm_command("explore", model, "--port", "0")
    assert outcome.status == 2
    assert outcome.stderr == (
        "morphlm: the explorer needs fastapi, which is not installed; "
        "pip install 'morphlm[explore]' (in a checkout: pip install '.[explore]')\n"
    )


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], "the argument MODEL... is missing"),
        (["nowhere"], "there is no such model"),
        (["-", "-"], "named more than once"),
        (["MODEL"] * 9, "9 models; name at most 8"),
        (["MODEL", "--port", "70000"], "--port"),
        (["MODEL", "--port", "x"], "--port"),
    ],
)
def test_what_cannot_work_is_one_line(arguments: list[str], what: str, model: Path, morphlm_command: Command) -> None:
    given = [str(model) if argument == "MODEL" else argument for argument in arguments]
    outcome = morphlm_command("explore", *given, *([] if "--port" in given else ["--port", "0"]), "--no-browser")
    assert outcome.status == 2
    assert what in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    assert outcome.stdout == ""


def test_a_browser_is_opened_where_there_is_a_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    from morphlm.report.explorer.launch import open_browser

    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    open_browser("http://127.0.0.1:1/")
    assert opened == []
    monkeypatch.setenv("DISPLAY", ":0")
    open_browser("http://127.0.0.1:1/")
    assert opened == ["http://127.0.0.1:1/"]
