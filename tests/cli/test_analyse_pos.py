from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morphlm.analysis.tag_reading import read_tagged
from morphlm.analysis.tags import tag_comparison
from tests.analysis.test_tags import CONLLU, models
from tests.conftest import Outcome

Command = Callable[..., Outcome]


@pytest.fixture
def pair(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "one", tmp_path / "two"]
    for model, path in zip(models(), paths, strict=True):
        model.save(path)
    return paths


@pytest.fixture
def tagged(tmp_path: Path) -> Path:
    (tmp_path / "tagged.conllu").write_text(CONLLU)
    return tmp_path / "tagged.conllu"


def counted(outcome: Outcome) -> dict[str, Any]:
    assert (outcome.status, outcome.stderr) == (0, "")
    return {group["name"]: group["tokens"] for group in json.loads(outcome.stdout)["groups"]}


def test_the_command_prints_what_python_returns(pair: list[Path], tagged: Path, morphlm_command: Command) -> None:
    names = (str(pair[0]), str(pair[1]))
    sequences = [["ADJ", "NOUN"], ["ADJ", "ADJ", "NOUN"]]
    expected = tag_comparison(*models(), read_tagged([tagged]), sequences=sequences, names=names, seed=2)
    arguments = ["--sequence", "ADJ,NOUN", "--sequence", "ADJ,ADJ,NOUN", "--seed", "2"]
    outcome = morphlm_command("analyse", "pos", *pair, tagged, *arguments)
    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout == expected.to_table().format() + "\n"
    as_json = morphlm_command("analyse", "pos", *pair, tagged, *arguments, "--json")
    assert json.loads(as_json.stdout) == json.loads(json.dumps(expected.to_json()))


def test_formats_and_options(pair: list[Path], tagged: Path, tmp_path: Path, morphlm_command: Command) -> None:
    def run(*arguments: str | Path, stdin: Path | None = None) -> dict[str, Any]:
        return counted(morphlm_command("analyse", "pos", *pair, *arguments, "--json", stdin=stdin))

    assert run(tagged, "--column", "xpos")["APPR+ART"] == 1
    assert run(stdin=tagged)["ADP+DET"] == 1
    assert run(tagged, tagged, "--coarse")["Preposition"] == 2
    assert run(tagged, "--unseen-apart")["unseen"] == 3
    (tmp_path / "slashes").write_text("Das/ART Haus/NN\n")
    assert run(tmp_path / "slashes", "--format", "slashes") == {"ART": 1, "NN": 1, "end of sentence": 1}
    (tmp_path / "text").write_text("das haus\n")
    both: list[str | Path] = [tmp_path / "slashes", "--format", "slashes", "--text", tmp_path / "text"]
    assert run(*both) == {"ART": 1, "NN": 1, "end of sentence": 1}


def test_hanta(pair: list[Path], tmp_path: Path, morphlm_command: Command) -> None:
    pytest.importorskip("HanTa")
    (tmp_path / "raw").write_text("Das alte Haus.\n")
    outcome = morphlm_command("analyse", "pos", *pair, tmp_path / "raw", "--format", "hanta", "--json")
    assert counted(outcome) == {"$.": 1, "ADJ(A)": 1, "ART": 1, "NN": 1, "end of sentence": 1}


def test_a_picture(pair: list[Path], tagged: Path, tmp_path: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("analyse", "pos", *pair, tagged, "--picture", tmp_path / "pos.svg")
    assert (outcome.status, outcome.stderr) == (0, "")
    assert b"part of speech" in (tmp_path / "pos.svg").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["TAGGED", "--text", "TEXT"], "tagged.conllu:2: here is das, but "),
        (["TAGGED", "--format", "slashes"], "tagged.conllu:1: # is no token with its tag; write it as token/TAG"),
        (["TAGGED", "--format", "xml"], "'xml' is not one of 'conllu', 'slashes', 'hanta'"),
        (["TEXT"], "text:1: 1 column; CoNLL-U has ten"),
        (["TAGGED", "--sequence", "ADJ"], "'ADJ' is no sequence of tags; write two or more"),
        (["TAGGED", "--sequence", "ADJ,,NOUN"], "'ADJ,,NOUN' is no sequence of tags"),
        (["-", "--text", "-"], "standard input ('-') is named more than once"),
        (["missing.conllu"], "missing.conllu: there is no such file; check the name"),
        (["TAGGED", "--picture", "x.gif"], "x.gif"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], message: str, pair: list[Path], tagged: Path, tmp_path: Path, morphlm_command: Command
) -> None:
    (tmp_path / "text").write_text("ein haus\n")
    places = {"TAGGED": str(tagged), "TEXT": str(tmp_path / "text")}
    outcome = morphlm_command("analyse", "pos", *pair, *(places.get(argument, argument) for argument in arguments))
    assert (outcome.status, outcome.stdout) == (2, "")
    assert len(outcome.stderr.splitlines()) == 1
    assert message in outcome.stderr


def test_a_sequence_that_never_occurs_is_told(pair: list[Path], tagged: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("analyse", "pos", *pair, tagged, "--sequence", "VERB,ADJ")
    assert outcome.status == 0
    assert "VERB ADJ: 0 matches" in outcome.stdout.splitlines()
