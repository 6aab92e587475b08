"""Talk on stderr."""

from __future__ import annotations

import sys

import pytest

from morphlm.progress import notify


class _Closed:
    def write(self, _: str) -> int:
        raise BrokenPipeError

    def flush(self) -> None:
        raise BrokenPipeError


def test_what_is_said_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    notify("so")
    assert capsys.readouterr() == ("", "so\n")


def test_work_goes_on_when_nobody_reads_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", _Closed())
    notify("so")
