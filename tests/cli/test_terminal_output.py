"""What a terminal is shown, through a pseudo-terminal; and what a pipe, a file and a full device get."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from morphlm import train, train_ngram
from morphlm.cli.streams import StandardOutput

EVIL = "a\x1b[31m\x9b\u202eb"  # colours what follows, and turns it round
SHOWN = "a\\x1b[31m\\x9b\\u202eb"
FORBIDDEN = [b"\x1b", b"\x9b[", "\x9b".encode(), "\u202e".encode()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminal")
    (folder / "text").write_text(f"pro {EVIL} školu\n{EVIL} pro\n" * 5)
    train_ngram(folder / "text", 2).save(folder / "mkn")
    train("lbl", folder / "text", folder / "text", folder / "lbl", width=4, epochs=1)
    return folder


COMMANDS = {  # each writes by another way
    "score": ["score", "mkn", "text", "--per-token"],
    "ppl": ["ppl", "mkn", "text", "--per-token"],
    "neighbours": ["neighbours", "lbl", "pro"],
    "classes": ["classes", "--train", "text", "--classes", "2", "--out", "-"],
}


def call(arguments: list[str], folder: Path, stdout: int) -> tuple[int, bytes]:
    """Status, and what is on standard error."""
    command = [sys.executable, "-m", "morphlm", *arguments]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": stdout, "stderr": subprocess.PIPE}
    done = subprocess.run(command, cwd=folder, **pipes, check=False)  # type: ignore[call-overload]
    return done.returncode, done.stderr


def on_terminal(arguments: list[str], folder: Path) -> tuple[int, bytes]:
    """Status, and what both streams show."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "morphlm", *arguments]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # when the other end is closed
            while piece := os.read(ours, 1 << 16):
                shown += piece
    os.close(ours)
    return process.returncode, shown


@pytest.mark.parametrize("name", COMMANDS)
def test_a_terminal_is_shown_no_control_characters(name: str, place: Path) -> None:
    status, shown = on_terminal(COMMANDS[name], place)
    assert status == 0
    assert SHOWN.encode() in shown
    data = [line for line in shown.split(b"\n") if not line.startswith(b"\r")]  # without bars of progress
    assert not [forbidden for forbidden in FORBIDDEN if any(forbidden in line for line in data)]
    assert b"\\x1b[0m" not in shown  # what colorama, which Numba uses, writes at the end


@pytest.mark.parametrize("name", ["score", "neighbours"])
def test_a_pipe_gets_the_bytes_as_they_are(name: str, place: Path, tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out:
        status, _ = call(COMMANDS[name], place, out.fileno())
    assert status == 0
    assert EVIL.encode() in (tmp_path / "out").read_bytes()


def test_errors_are_shown_without_control_characters(place: Path) -> None:
    status, shown = on_terminal(["ppl", EVIL, "text"], place)
    assert status == 2
    assert SHOWN.encode() in shown
    assert b"\x1b" not in shown
    status, err = call(["ppl", EVIL, "text"], place, subprocess.DEVNULL)
    assert (status, err.count(b"\n"), err.startswith(f"morphlm: {SHOWN}: ".encode())) == (2, 1, True)


def test_characters_that_arrive_in_pieces() -> None:
    ours, theirs = pty.openpty()
    output = StandardOutput(theirs, "utf-8")
    for byte in "ž€\u202e😀\x9b\n".encode() + b"\xff\x9b\n":
        assert output.write(bytes([byte])) == 1
    shown = b""
    while shown.count(b"\n") < 2:  # on a busy machine it arrives in pieces too
        shown += os.read(ours, 1000)
    assert shown == "ž€\\u202e😀\\x9b\r\n".encode() + b"\xff\\x9b\r\n"
    os.close(ours)
    os.close(theirs)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("name", ["score", "neighbours"])
def test_standard_output_that_is_full(name: str, place: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        status, err = call(COMMANDS[name], place, full.fileno())
    message = b"morphlm: <stdout>: cannot write here (No space left on device); make room or choose another place"
    assert (status, err.splitlines()[-1]) == (2, message)
