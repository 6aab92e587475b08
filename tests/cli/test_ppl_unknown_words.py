"""`morphlm ppl` with spelled unknown words and composed contexts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm import load, train_ngram
from morphlm.scoring.spelling import train_spelling
from tests.conftest import Outcome
from tests.logbilinear.test_unknown_contexts import make

Command = Callable[..., Outcome]
TRAIN = [["pro", "novou", "školu"], ["pro", "školu"], ["novou", "školu"], ["školu"]]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text"
    path.write_text("pro starou školu\n\ndomouška domu\n")
    return path


@pytest.fixture
def ngrams(tmp_path: Path) -> Path:
    train_ngram(TRAIN, 2).save(tmp_path / "mkn")
    return tmp_path / "mkn"


@pytest.fixture
def factored(tmp_path: Path) -> Path:
    make("clbl++").save(tmp_path / "clbl++")
    return tmp_path / "clbl++"


def test_an_open_vocabulary(ngrams: Path, text: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("ppl", ngrams, text, "--open-vocabulary", "--json")
    (found,) = json.loads(outcome.stdout)
    model = load(ngrams)
    expected = model.perplexity(text, spelling=train_spelling(model.vocabulary)).open_vocabulary
    assert expected is not None
    assert found["open_vocabulary"] == expected.to_json()
    assert found["open_vocabulary"]["characters"] == len(text.read_text())
    assert "|unk:spelled|" in found["open_vocabulary"]["signature"]
    assert "|unk:scored|" in found["signature"]
    shown = morphlm_command("ppl", ngrams, text, "--open-vocabulary").stdout
    assert f"{expected.perplexity:.2f} with unknown words spelled" in shown
    assert "spelled" not in morphlm_command("ppl", ngrams, text).stdout


def test_the_lines_of_tokens_are_spelled_too(ngrams: Path, text: Path, morphlm_command: Command) -> None:
    plain = morphlm_command("ppl", ngrams, text, "--per-token").stdout.splitlines()
    spelled = morphlm_command("ppl", ngrams, text, "--per-token", "--open-vocabulary").stdout.splitlines()
    differing = [old.split("\t")[2] for old, new in zip(plain, spelled, strict=True) if old != new]
    assert differing == ["starou", "domouška", "domu"]


def test_composed_contexts(factored: Path, text: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("ppl", factored, text, "--unknown-contexts", "composed", "--json", "--prepared")
    (found,) = json.loads(outcome.stdout)
    expected = load(factored).perplexity(text, unknown_contexts="composed")
    assert found == expected.to_json()
    assert "|unk:scored|ctx:composed|" in found["signature"]
    assert outcome.stderr == ""
    (plain,) = json.loads(morphlm_command("ppl", factored, text, "--json").stdout)
    assert plain["perplexity_including_unknown"] != found["perplexity_including_unknown"]


def test_both(factored: Path, text: Path, morphlm_command: Command) -> None:
    arguments = ("ppl", factored, text, text, "--unknown-contexts", "composed", "--open-vocabulary")
    table = morphlm_command(*arguments).stdout.splitlines()
    assert table[0].endswith("bits per character")
    assert table[1] == table[2]
    assert "|ctx:composed|" in table[3]
    (found, _) = json.loads(morphlm_command(*arguments, "--json").stdout)
    assert "|unk:spelled|ctx:composed|" in found["open_vocabulary"]["signature"]


def test_a_model_that_cannot_compose_says_so(ngrams: Path, text: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("ppl", ngrams, text, "--unknown-contexts", "composed", "--prepared")
    assert outcome.stdout == morphlm_command("ppl", ngrams, text).stdout
    assert outcome.stderr == f"warning: {ngrams} cannot compose unknown words; they are UNK in contexts\n"


def test_another_kind_of_context_is_refused(ngrams: Path, text: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("ppl", ngrams, text, "--unknown-contexts", "guessed")
    assert outcome.status == 2
    assert outcome.stdout == ""
