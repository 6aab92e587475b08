"""`morphlm extend`: what it writes, what it says of the words, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from morphlm import load
from tests.conftest import Outcome
from tests.scoring.test_extending import NEW, logbilinear, ngrams

Command = Callable[..., Outcome]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    logbilinear().save(tmp_path / "model")
    return tmp_path / "model"


def words_file(folder: Path, text: str) -> Path:
    path = folder / "words.txt"
    path.write_bytes(text.encode())
    return path


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_words_are_added_and_counted(tmp_path: Path, model: Path, morphlm_command: Command) -> None:
    listed = words_file(tmp_path, "".join(f"{word}\n" for word in [*NEW, "domu", "xyz", "", "a\x07b"]))
    outcome = morphlm_command("extend", model, listed, "--out", tmp_path / "larger")
    assert (outcome.status, outcome.stdout) == (0, "")
    assert outcome.stderr.splitlines()[0].startswith(f"{len(NEW)} words added")
    assert "  left out, control characters: 1 ('a\\x07b')" in outcome.stderr.splitlines()
    larger, expected = load(tmp_path / "larger"), logbilinear().extended(NEW)
    assert larger.vocabulary.words == expected.vocabulary.words
    assert larger.distribution(larger.begin()).tobytes() == expected.distribution(expected.begin()).tobytes()
    outcome = morphlm_command("extend", model, listed, "--out", tmp_path / "larger", "--json")
    result = json.loads(outcome.stdout)
    assert (result["added"], result["known"], result["repeated"], result["unknown"]) == (len(NEW), 1, 1, 3)


def test_extending_by_nothing_changes_no_byte(tmp_path: Path, model: Path, morphlm_command: Command) -> None:
    for text in ("\n", "domu\nškolou\n"):
        outcome = morphlm_command("extend", model, words_file(tmp_path, text), "--out", tmp_path / "same")
        assert outcome.status == 0
        assert contents(tmp_path / "same") == contents(model)


def test_counts_and_texts_tell_how_frequent_words_are(tmp_path: Path, model: Path, morphlm_command: Command) -> None:
    counted = words_file(tmp_path, "školách\t200\nxyz\t0\n")
    assert morphlm_command("extend", model, counted, "--out", tmp_path / "counted").status == 0
    plain = words_file(tmp_path, "školách\nxyz\n")
    (tmp_path / "text.txt").write_text("domu školách\n" * 200)
    text = ["--text", tmp_path / "text.txt"]
    assert morphlm_command("extend", model, plain, *text, "--out", tmp_path / "read").status == 0
    assert morphlm_command("extend", model, plain, "--out", tmp_path / "estimated").status == 0
    first, second = (len(logbilinear().vocabulary) + k for k in (0, 1))
    shares = {}
    for name in ("counted", "read", "estimated"):
        larger = load(tmp_path / name)
        probabilities = larger.distribution(larger.begin())
        shares[name] = np.log(probabilities[first] / probabilities[second])
    assert shares["counted"] > shares["estimated"] + 2
    assert shares["read"] > shares["estimated"] + 2


def test_what_is_wrong_is_one_line(tmp_path: Path, model: Path, morphlm_command: Command) -> None:
    mixed = words_file(tmp_path, "školách\t3\nxyz\n")
    outcome = morphlm_command("extend", model, mixed, "--out", tmp_path / "larger")
    message = f"{mixed}:2: not `word TAB count`, as the first line is; give all words a count, or none"
    assert (outcome.status, outcome.stderr.splitlines()) == (2, [f"morphlm: {message}"])
    logbilinear("clbl").save(tmp_path / "plain")
    outcome = morphlm_command("extend", tmp_path / "plain", words_file(tmp_path, "xyz\n"), "--out", tmp_path / "larger")
    assert outcome.status == 2
    assert "a model of the kind clbl has no factors" in outcome.stderr
    assert morphlm_command("extend", model, tmp_path / "missing", "--out", tmp_path / "larger").status == 2
    assert not (tmp_path / "larger").exists()


def test_n_grams_are_extended_too(tmp_path: Path, morphlm_command: Command) -> None:
    ngrams().save(tmp_path / "mkn")
    listed = words_file(tmp_path, "xyz\n")
    outcome = morphlm_command("extend", tmp_path / "mkn", listed, "--out", tmp_path / "larger")
    assert (outcome.status, outcome.stderr.splitlines()[0]) == (
        0,
        f"1 word added, {len(ngrams().vocabulary) + 1} in all",
    )
    (tmp_path / "line").write_text("domu xyz\n")
    scored = morphlm_command("score", tmp_path / "larger", stdin=tmp_path / "line")
    assert scored.status == 0
