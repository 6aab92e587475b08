"""`morphlm train KIND --continue-from MODEL`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morphlm import load, train
from morphlm.logbilinear.config import VARIANTS
from tests.conftest import GOLDEN, Outcome
from tests.training.small import contents

Command = Callable[..., Outcome]
DEV = GOLDEN / "kneser-ney" / "test.txt"
QUICK = ("--epochs", "2", "--batch", "500", "--threads", "1")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two parts of a text."""
    folder = tmp_path_factory.mktemp("text")
    lines = (GOLDEN / "kneser-ney" / "train.txt").read_text().splitlines(keepends=True)
    for name, part in (("old.txt", lines[:300]), ("new.txt", lines[300:500])):
        (folder / name).write_text("".join(part))
    return folder / "old.txt", folder / "new.txt"


@pytest.fixture(scope="module")
def old(texts: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("model") / "old"
    train("clbl", texts[0], DEV, place, width=8, epochs=2, batch=500, threads=1, classes=6)
    return place


def test_the_command_does_what_the_function_does(
    texts: tuple[Path, Path], old: Path, tmp_path: Path, morphlm_command: Command
) -> None:
    given = ("--dev", DEV, "--out", tmp_path / "one", "--continue-from", old, "--old-text", texts[0], *QUICK)
    outcome = morphlm_command("train", "clbl", texts[1], *given, "--old-share", "0.3", "--json")
    assert outcome.status == 0
    again: dict[str, Any] = {"epochs": 2, "batch": 500, "continue_from": old, "old_text": texts[0], "old_share": 0.3}
    train("clbl", texts[1], DEV, tmp_path / "two", **again)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert json.loads(outcome.stdout)["vocabulary"] > len(load(old).vocabulary)
    outcome = morphlm_command("train", "clbl", texts[1], *given, "--old-share", "0.3")
    complete = f"{tmp_path / 'one'} is complete, from the same text with the same settings; --restart trains it anew\n"
    assert outcome.status == 0 and outcome.stderr.endswith(complete)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("clbl++", [], "OLD: this is a clbl, which cannot go on as a clbl++; train a clbl"),
        ("clbl", ["--width", "9"], "OLD: width is 8 in this model, not 9; leave it out, or train anew"),
        ("clbl", ["--classes", "6"], "OLD: a model that is continued keeps what it has; leave out --classes"),
        ("clbl", ["--vocab", "V"], "OLD: a model that is continued keeps what it has; leave out --vocab"),
        (
            "clbl",
            ["--old-share", "0.1"],
            "--old-share is the share of old text, and there is none; give --old-text",
        ),
        (
            "clbl",
            ["--l2-in-gradient"],
            "--l2-in-gradient decays weights towards 0, not towards those of the old model; leave it out, or give "
            "--move-on",
        ),
        ("cache", [], f"--continue-from means nothing to cache; leave it out, it is for {', '.join(VARIANTS)}"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(
    kind: str,
    options: list[str],
    message: str,
    texts: tuple[Path, Path],
    old: Path,
    tmp_path: Path,
    morphlm_command: Command,
) -> None:
    given = ("--dev", DEV, "--out", tmp_path / "new", "--continue-from", old, *options)
    outcome = morphlm_command("train", kind, texts[1], *given)
    assert outcome.status == 2
    assert outcome.stderr.splitlines()[-1] == f"morphlm: {message.replace('OLD', str(old))}"
    assert list(tmp_path.iterdir()) == []


def test_n_grams_refuse_it(texts: tuple[Path, Path], old: Path, tmp_path: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("train", "mkn", texts[1], "--out", tmp_path / "new", "--continue-from", old)
    assert outcome.status == 2
    assert outcome.stderr.startswith("morphlm: mkn counts n-grams and cannot continue a model; leave out")
