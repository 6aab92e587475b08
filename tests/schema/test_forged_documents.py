"""Whatever somebody writes into a JSON file of ours, with right hashes: its reader refuses it, or can live with it."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from morphlm.experiments import steps
from morphlm.experiments.schema import RESULTS
from morphlm.experiments.steps import base
from morphlm.schema import Document
from tests.schema.forged_documents import CASES, all_schemas, cases

SPECIAL: tuple[Callable[[Path], None], ...] = (os.mkfifo, lambda path: path.symlink_to("/dev/zero"), Path.mkdir)
SAMPLE = 11  # every eleventh forgery; tests/full has all of them


@pytest.mark.parametrize("name", CASES)
def test_forged_documents_are_refused_or_harmless(name: str, tmp_path: Path) -> None:
    case = CASES[name](tmp_path)
    assert case.is_accepted(case.write(case.value))
    outcomes = [case.is_accepted(raw) for _, raw in case.forgeries(SAMPLE)]
    assert sum(outcomes) <= len(outcomes) / 2
    assert case.is_accepted(case.write(case.value))


@pytest.mark.parametrize("name", CASES)
def test_only_regular_files_are_read(name: str, tmp_path: Path) -> None:
    """A pipe would block and /dev/zero never end; a link to a file is as good as the file."""
    case = CASES[name](tmp_path)
    assert case.is_accepted(case.write(case.value))
    content, path = case.path.read_bytes(), case.path
    for make in SPECIAL:
        path.unlink()
        make(path)
        with time_limit(20):
            assert not case.is_readable()
        if path.is_dir():
            path.rmdir()
        elif path.parent.is_dir():  # tuning begins again in a new folder
            path.unlink()
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    other = tmp_path / "elsewhere"
    other.write_bytes(content)
    path.unlink()
    path.symlink_to(other)
    assert case.is_readable() or name == "the state of tuning"  # its lists are gone with the folder


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """An alarm, since a process that opens a pipe waits for ever."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_every_document_is_forged(tmp_path: Path) -> None:
    forged = {id(case.document) for case in cases(tmp_path)}
    assert [name for name, document in all_schemas(Document).items() if id(document) not in forged] == []


def test_every_kind_of_step_says_what_its_result_is() -> None:
    def kinds(step: type[Any]) -> set[str]:
        own = {step.producer.name} if hasattr(step, "producer") and step.__module__.startswith("morphlm.") else set()
        return own.union(*map(kinds, step.__subclasses__()))

    for module in pkgutil.iter_modules(steps.__path__, f"{steps.__name__}."):
        importlib.import_module(module.name)
    assert kinds(base.Step) == RESULTS.keys()
