"""Fixtures that many tests use."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
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
