"""What editors and type checkers know of the package: a name that does not exist is an error before a program runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GOOD = """
import morphlm
from morphlm.analysis import Selection, select_folders

model: morphlm.LanguageModel = morphlm.load("cs")
figures: morphlm.Perplexity = model.perplexity("test.txt", progress=lambda update: print(update.done))
selected: Selection = select_folders({"cs": ("models", "test.txt")}, progress=False)
frame = morphlm.scoring.mix_and_test([model, model], "dev.txt").to_frame()
best: str = model.vectors.neighbours("dům")[0].name
words: list[str] = [row.word for row in morphlm.next_words(model, "na")]
morphlm.extension.register
"""
TYPOS = {
    "morphlm.lode('cs')": 'Module has no attribute "lode"',
    "morphlm.load('cs').perplexitty('x')": '"LanguageModel" has no attribute "perplexitty"',
    "morphlm.scoring.mix_and_tests([])": 'Module has no attribute "mix_and_tests"',
    "morphlm.analysis.selct_folders({})": 'Module has no attribute "selct_folders"',
    "morphlm.segmentation.evaluat": 'Module has no attribute "evaluat"',
    "morphlm.translation.algn": 'Module has no attribute "algn"',
    "morphlm.report.figure_off": 'Module has no attribute "figure_off"',
    "morphlm.experiments.run_recip": 'Module has no attribute "run_recip"',
    "morphlm.experimets": 'Module has no attribute "experimets"',
    "morphlm.learn('x', 'y', languge='cs')": 'Unexpected keyword argument "languge" for "learn"',
    "morphlm.mix(['a', 'b'], progress=5)": 'Argument "progress" to "mix" has incompatible type "int"',
}


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What mypy says of each file, in one run."""
    folder = tmp_path_factory.mktemp("typing")
    (folder / "good.py").write_text(GOOD)
    for number, line in enumerate(TYPOS):
        (folder / f"typo{number}.py").write_text(f"import morphlm\n{line}\n")
    options = ["--strict", "--no-error-summary", "--follow-imports", "silent", "--cache-dir", str(folder / "cache")]
    found = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *sorted(path.name for path in folder.glob("*.py"))],
        cwd=folder,
        env=os.environ | {"MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stderr == ""
    said: dict[str, list[str]] = {}
    for name, message in re.findall(r"^(\w+)\.py:\d+: (?:error|note): (.*)$", found.stdout, re.MULTILINE):
        said.setdefault(name, []).append(message)
    return said


def test_a_correct_program_passes(complaints: dict[str, list[str]]) -> None:
    assert complaints.get("good", []) == []


@pytest.mark.parametrize(("number", "expected"), list(enumerate(TYPOS.values())), ids=list(TYPOS))
def test_a_typo_is_an_error(complaints: dict[str, list[str]], number: int, expected: str) -> None:
    assert any(expected in message for message in complaints[f"typo{number}"]), complaints
