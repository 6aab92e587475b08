"""The notebooks of the documentation run, and show what their text says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.test_docs import NOTEBOOKS, ROOT, notebook_cells

pytestmark = pytest.mark.full
LARGEST = 200_000  # bytes

# Run at the end of each notebook, with its variables.
CHECKS = {
    "train_and_explore": """
figures = {part.kind: part.perplexity(test).including_unknown for part in (*model.parts, model)}
assert figures["mixture"] < 0.95 * figures["mkn"], figures
assert model.completions(state, "vs", k=5) and len(bits) == len(tokens)
""",
    "ctc_beam_search": """
assert rates["mixture"] < rates["Kneser-Ney"] < 0.5 * rates["no language model"], rates
""",
    "vectors_of_unseen_words": """
assert rho["composed"] > 40 and rho["both seen"] > 40 and rho["affixes alone, or nothing"] < 25, rho
assert result.correlations["composed"].rho > result.correlations["unk"].rho + 15
assert {one.origin for one in vectors.compositions(examples)} == {"composed", "affixes", "unknown"}
""",
}


def test_every_notebook_is_checked() -> None:
    assert sorted(CHECKS) == [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize("name", CHECKS)
def test_the_notebook_runs(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.notebooks", name, "--out", str(tmp_path), "--check", CHECKS[name]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    stored = ROOT / "docs" / "notebooks" / f"{name}.ipynb"
    assert outputs_of(tmp_path / f"{name}.ipynb") == outputs_of(stored), "run `make notebooks`"


def outputs_of(path: Path) -> list[list[Any]]:
    """What each cell shows: text or pictures."""
    cells = notebook_cells(path, "code")
    return [[(one["output_type"], sorted(one.get("data", ()))) for one in cell["outputs"]] for cell in cells]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_small(path: Path) -> None:
    assert path.stat().st_size < LARGEST
