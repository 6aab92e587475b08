"""Fixtures that many tests use."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from morphlm.cli.main import run

settings.register_profile("morphlm", deadline=None, max_examples=50, derandomize=True)
settings.load_profile("morphlm")

# Run in the background of a script, we and the processes we start would ignore Ctrl-C, which some tests send.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What commands say is compared; whether they compile depends on what ran before.
os.environ["MORPHLM_COMPILING"] = "quiet"

GOLDEN = Path(__file__).parent / "golden"


class _ToStderr(logging.Handler):
    """Shows all messages on stderr as it is at the moment, warnings marked as such."""

    def emit(self, record: logging.LogRecord) -> None:
        mark = "warning: " if record.levelno == logging.WARNING else ""
        print(mark + record.getMessage(), file=sys.stderr)


@pytest.fixture(autouse=True)
def messages_on_stderr() -> Iterator[None]:
    """What the library says can be read with capsys, as in a program that shows all messages of morphlm."""
    logger, handler = logging.getLogger("morphlm"), _ToStderr()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    yield
    logger.removeHandler(handler)
    logger.setLevel(level)


@dataclass(frozen=True)
class Outcome:
    status: int
    stdout: str
    stderr: str


@pytest.fixture
def morphlm_command(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """Run a command in this process as the shell would; `stdin` is the path of a file."""

    def call(*arguments: str | Path, stdin: Path | None = None) -> Outcome:
        saved = os.dup(0)
        source = os.open(os.devnull if stdin is None else stdin, os.O_RDONLY)
        os.dup2(source, 0)
        monkeypatch.setattr("sys.stdin", open(0, closefd=False))  # noqa: SIM115
        try:
            with pytest.raises(SystemExit) as exit_:
                run([str(argument) for argument in arguments])
        finally:
            os.dup2(saved, 0)
            os.close(saved)
            os.close(source)
        out, err = capfdbinary.readouterr()
        return Outcome(int(exit_.value.code or 0), out.decode(), err.decode())

    return call
