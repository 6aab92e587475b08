"""The commands of docs/howto/moses.md run as they stand on a list that Moses could have written; Moses does not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import morphlm
from tests.test_docs import ROOT, examples
from tests.training.small import sentences

PAGE = ROOT / "docs" / "howto" / "moses.md"
FEATURES = "LexicalReordering0= -1.6 0 0 -0.9 0 0 Distortion0= 0 LM0= -21.4 WordPenalty0= -2 PhrasePenalty0= 2"
TABLE = "TranslationModel0= -2.1 -3.4 -1.2 -4.5"
# The second sentence has fields behind the score, as with the options for alignments.
NBEST = f"""\
0 ||| škola domu  ||| {FEATURES} {TABLE} ||| -2.5
0 ||| školu domu  ||| {FEATURES} {TABLE} ||| -2.25
0 ||| xyz domu xyz školou xyz  ||| {FEATURES} {TABLE} ||| -1.75
1 ||| pole xyz  ||| {FEATURES} {TABLE} ||| -1.5 ||| 0-0 1-1
1 ||| pole  ||| {FEATURES} {TABLE} ||| -4 ||| 0-0
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the page names, after all of its commands."""
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    path = tmp_path_factory.mktemp("moses")
    morphlm.train("mkn", sentences(80, 1), sentences(20, 2), path / "MODEL", kappa=0)
    (path / "nbest.txt").write_text(NBEST)
    (path / "reference.cs").write_text("školu domu\npole\n")
    commands = [text for text in examples(PAGE, "sh") if not text.startswith("moses ")]
    assert len(commands) == 4
    script = "\n".join(["set -euo pipefail", f'morphlm() {{ "{sys.executable}" -m morphlm "$@"; }}', *commands])
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (path / "printed").write_text(done.stdout)
    return path


def lists() -> list[list[tuple[list[str], float]]]:
    """Tokens and score of each hypothesis, by sentence."""
    fields = [line.split(" ||| ") for line in NBEST.splitlines()]
    return [[(parts[1].split(), float(parts[3])) for parts in fields if parts[0] == number] for number in ("0", "1")]


def best(folder: Path, weight: float) -> str:
    model = morphlm.load(folder / "MODEL")
    return "".join(
        " ".join(max(hypotheses, key=lambda each: each[1] + weight * sum(model.sentence(each[0])))[0]) + "\n"
        for hypotheses in lists()
    )


def test_one_weight_chooses_the_best(folder: Path) -> None:
    assert (folder / "best.txt").read_text() == best(folder, 0.3)
    for weight in (0, 0.1, 0.2, 0.3, 0.5):
        assert (folder / f"best.{weight}.txt").read_text() == best(folder, weight)
    assert best(folder, 0) != best(folder, 0.5)
    assert (folder / "printed").read_text().count("BLEU") >= 5


def test_the_new_features_are_added_and_nothing_else_changes(folder: Path) -> None:
    model = morphlm.load(folder / "MODEL")
    extended = (folder / "extended.txt").read_text().splitlines()
    for line, given in zip(extended, NBEST.splitlines(), strict=True):
        tokens = given.split(" ||| ")[1].split()
        logprob = sum(model.sentence(tokens))
        assert line == given.replace(TABLE, f"{TABLE} words= {len(tokens)} CLBL= {logprob:.4f}")


def test_tuned_weights_choose_by_all_features(folder: Path) -> None:
    model = morphlm.load(folder / "MODEL")
    # The features of Moses are the same for all; what remains is the model and the number of words.
    expected = [
        max(hypotheses, key=lambda each: 0.3 * sum(model.sentence(each[0])) + 0.1 * len(each[0]))[0]
        for hypotheses in lists()
    ]
    assert [line.split() for line in (folder / "tuned.txt").read_text().splitlines()] == expected
