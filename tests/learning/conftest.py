"""What makes learning quick enough for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from morphlm.learning import search
from tests.learning.small import write_text

FEW_STEPS: Mapping[str, tuple[Any, ...]] = {
    "wide_context": (False, True),
    "order": (4, 6),
    "class_factor": (0.5, 1.0),
    "width": (100, 200),
}


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short ladders, so that there are six trials."""
    monkeypatch.setattr(search, "LADDERS", FEW_STEPS)
    monkeypatch.setattr("morphlm.learning.choices.LADDERS", FEW_STEPS)


@pytest.fixture
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what does not look at it: the report takes longer than all trainings."""

    def write(scored: Any, out: Path) -> None:
        out.write_text("<p>report</p>")

    monkeypatch.setattr("morphlm.learning.finishing.write_report", write)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A raw text of 2,600 tokens."""
    return write_text(tmp_path / "novel.txt")
