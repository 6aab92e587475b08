"""`morphlm mix`: the table, JSON, and what it writes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm import load, train_ngram
from morphlm.vocabulary.corpus import read_corpus
from tests.conftest import GOLDEN, Outcome

Command = Callable[..., Outcome]
TRAIN, TEST = GOLDEN / "kneser-ney" / "train.txt", GOLDEN / "kneser-ney" / "test.txt"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bigram and a trigram model of one vocabulary, one of another, and development text."""
    folder = tmp_path_factory.mktemp("models")
    vocabulary = read_corpus(TRAIN).words.vocabulary(0.3, 1)
    for order in (2, 3):
        train_ngram(TRAIN, order, vocabulary=vocabulary).save(folder / f"{order}")
    train_ngram(TRAIN, 2).save(folder / "other")
    lines = TEST.read_text().splitlines(keepends=True)
    (folder / "dev.txt").write_text("".join(lines[:150]))
    (folder / "test.txt").write_text("".join(lines[150:]))
    return folder


def test_the_mixture_is_written_and_its_figures_are_those_of_ppl(
    tmp_path: Path, models: Path, morphlm_command: Command
) -> None:
    texts = ["--dev", models / "dev.txt", "--test", models / "test.txt"]
    outcome = morphlm_command("mix", models / "2", models / "3", *texts, "--out", tmp_path / "mixture", "--json")
    assert (outcome.status, outcome.stderr) == (0, "")
    result = json.loads(outcome.stdout)
    assert result["out"] == str(tmp_path / "mixture")
    assert result["weights_by"] == "context"
    assert sum(result["weights"]) == pytest.approx(1.0)
    assert list(result["test"]) == [str(models / "2"), str(models / "3"), "mixture"]
    for name, place in {"mixture": tmp_path / "mixture", str(models / "3"): models / "3"}.items():
        for text in ("dev", "test"):
            (again,) = json.loads(morphlm_command("ppl", place, models / f"{text}.txt", "--json").stdout)
            assert again == result["development" if text == "dev" else "test"][name]
    figures = [part["perplexity_including_unknown"] for part in result["development"].values()]
    assert figures[2] < min(figures[:2])


def test_the_table(tmp_path: Path, models: Path, morphlm_command: Command) -> None:
    arguments = ["--dev", models / "dev.txt", "--weights-by", "none", "--out", tmp_path / "mixture"]
    outcome = morphlm_command("mix", models / "2", models / "3", *arguments)
    header, first, second, mixture, signature, written = outcome.stdout.splitlines()
    assert header.split() == ["weight", "development"]
    weights = [float(line.split()[1]) for line in (first, second)]
    assert sum(weights) == pytest.approx(1.0, abs=1e-3)
    assert float(mixture.split()[1]) == round(
        load(tmp_path / "mixture").perplexity(models / "dev.txt").including_unknown, 2
    )
    assert re.fullmatch(r"signature: ppl\|model:mixture\(mkn,mkn\)\|weights:0\.\d+\+0\.\d+\|n:3\|.*", signature)
    assert written == f"written to {tmp_path / 'mixture'}"


def test_given_weights_need_no_text(tmp_path: Path, models: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("mix", models / "2", models / "3", "--weights", "0.25, 0.75", "--out", tmp_path / "m")
    assert outcome.status == 0
    assert load(tmp_path / "m").weights.tolist() == [[0.25, 0.75]]  # type: ignore[attr-defined]
    assert "development" not in outcome.stdout


def test_development_text_may_come_from_standard_input(tmp_path: Path, models: Path, morphlm_command: Command) -> None:
    for name, source in (("piped", "-"), ("named", models / "dev.txt")):
        arguments = ["--dev", source, "--out", tmp_path / name]
        assert morphlm_command("mix", models / "2", models / "3", *arguments, stdin=models / "dev.txt").status == 0
    assert (tmp_path / "piped" / "manifest.json").read_bytes() == (tmp_path / "named" / "manifest.json").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["2", "other", "--dev", "dev.txt"], "train both on one vocabulary"),
        (["2", "3"], "give development text (--dev), or --weights"),
        (["2", "--dev", "dev.txt"], "two models or more"),
        (["2", "3", "--weights", "a,b"], "'a,b' are no weights; write numbers"),
        (["2", "3", "--weights", "0.5,0.6"], "divide them by their sum"),
        (["2", "3", "--dev", "-", "--test", "-"], "named more than once"),
        (["-", "2", "--dev", "-"], "named more than once"),
        (["2", "nothing", "--dev", "dev.txt"], "nothing: there is no such model"),
    ],
)
def test_what_is_refused(
    tmp_path: Path, models: Path, morphlm_command: Command, arguments: list[str], message: str
) -> None:
    names = {path.name for path in models.iterdir()} | {"nothing"}
    given = [str(models / argument) if argument in names else argument for argument in arguments]
    outcome = morphlm_command("mix", *given, "--out", tmp_path / "mixture")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert message in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
    assert not (tmp_path / "mixture").exists()
