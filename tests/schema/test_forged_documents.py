"""Whatever somebody writes into a JSON file of ours, with right hashes: its reader refuses it, or can live with it."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

from morphlm.experiments import steps
from morphlm.experiments.schema import RESULTS
from morphlm.experiments.steps import base
from morphlm.schema import Document
from tests.schema.forged_documents import CASES, all_schemas, cases

SAMPLE = 11  # every eleventh forgery; tests/full has all of them


@pytest.mark.parametrize("name", CASES)
def test_forged_documents_are_refused_or_harmless(name: str, tmp_path: Path) -> None:
    case = CASES[name](tmp_path)
    assert case.is_accepted(case.write(case.value))
    outcomes = [case.is_accepted(raw) for _, raw in case.forgeries(SAMPLE)]
    assert sum(outcomes) <= len(outcomes) / 2
    assert case.is_accepted(case.write(case.value))


def test_every_document_is_forged(tmp_path: Path) -> None:
    forged = {id(case.document) for case in cases(tmp_path)}
    assert [name for name, document in all_schemas(Document).items() if id(document) not in forged] == []


def test_every_kind_of_step_says_what_its_result_is() -> None:
    def kinds(step: type[base.Step[object]]) -> set[str]:
        own = {step.producer.name} if hasattr(step, "producer") and step.__module__.startswith("morphlm.") else set()
        return own.union(*map(kinds, step.__subclasses__()))

    for module in pkgutil.iter_modules(steps.__path__, f"{steps.__name__}."):
        importlib.import_module(module.name)
    assert kinds(base.Step) == RESULTS.keys()
