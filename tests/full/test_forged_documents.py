"""All forgeries of all JSON files; tests/schema has a sample."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.schema.forged_documents import CASES

pytestmark = pytest.mark.full


@pytest.mark.parametrize("name", CASES)
def test_all_forged_documents_are_refused_or_harmless(name: str, tmp_path: Path) -> None:
    case = CASES[name](tmp_path)
    outcomes = [case.is_accepted(raw) for _, raw in case.forgeries()]
    assert len(outcomes) > 50 and not all(outcomes)
