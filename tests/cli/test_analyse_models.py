"""`morphlm analyse` selection, scaling, kappa and morphemes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from morphlm.analysis.morpheme_map import map_morphemes
from morphlm.language_model.base import LanguageModel
from morphlm.ngram.training import train_ngram
from morphlm.training.loop import train_model
from tests.conftest import Outcome
from tests.segmentation.small import model_with
from tests.training.small import sentences, task

Command = Callable[..., Outcome]
KINDS = ("mkn", "clbl", "clbl++")
TEST = "".join(" ".join(sentence) + "\n" for sentence in sentences(8, 5, rare=True))


@cache
def model(kind: str, count: int = 60, kappa: float = 0.5) -> LanguageModel:
    text = sentences(count, 1, rare=True)
    return (
        train_ngram(text, 3, kappa=kappa)
        if kind == "mkn"
        else train_model(task(kind, text=text, kappa=kappa, epochs=1))
    )


def folder(place: Path, count: int = 60, kappa: float = 0.5, kinds: tuple[str, ...] = KINDS) -> Path:
    for kind in kinds:
        model(kind, count, kappa).save(place / kind)
    return place


@pytest.fixture
def test_file(tmp_path: Path) -> Path:
    (tmp_path / "test.txt").write_text(TEST, encoding="utf-8")
    return tmp_path / "test.txt"


def perplexity(kind: str, test: Path, count: int = 60, kappa: float = 0.5) -> float:
    return model(kind, count, kappa).perplexity(test).including_unknown


def test_selection(tmp_path: Path, test_file: Path, morphlm_command: Command) -> None:
    one, two = folder(tmp_path / "one"), folder(tmp_path / "two", 30)
    languages = ["--language", "aa", one, test_file, "--language", "bb", two, test_file]
    outcome = morphlm_command("analyse", "selection", *languages, "--json", "--picture", tmp_path / "a.svg")
    found = json.loads(outcome.stdout)
    assert found["perplexities"]["bb"]["clbl"] == pytest.approx(perplexity("clbl", test_file, 30), rel=1e-6)
    wanted = perplexity("clbl++", test_file) / perplexity("clbl", test_file) - 1
    change = found["changes"]["aa"]["clbl++"]
    assert change["value"] == pytest.approx(wanted, rel=1e-5)
    assert change["low"] < change["high"]
    assert "2 languages" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    outcome = morphlm_command("analyse", "selection", *languages)
    first, second = outcome.stdout.split("\n\n")
    assert first.splitlines()[0].split() == ["language", "MKN", "CLBL", "CLBL++"]
    assert second.splitlines()[0].split() == ["language", "model", "base", "perplexity", "change"]
    assert outcome.status == 0


def test_one_language_has_a_table_but_no_picture(tmp_path: Path, test_file: Path, morphlm_command: Command) -> None:
    language = ["--language", "aa", folder(tmp_path / "one"), test_file]
    outcome = morphlm_command("analyse", "selection", *language)
    assert (outcome.status, outcome.stderr) == (0, "")
    assert outcome.stdout.splitlines()[1].startswith("aa ")
    outcome = morphlm_command("analyse", "selection", *language, "--picture", tmp_path / "a.png")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert "a box plot needs 2 or more languages, not 1" in outcome.stderr
    assert not (tmp_path / "a.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["selection"], "the option --language is missing"),
        (["selection", "--language", "a", "NONE", "TEST"], "there is no model mkn, lbl, lbl+c"),
        (
            ["selection", "--language", "a", "X", "TEST", "--language", "a", "X", "TEST"],
            "the language a is named twice",
        ),
        (["selection", "--language", "a", "X", "-", "--language", "b", "X", "-"], "named more than once"),
        (
            ["selection", "--language", "a", "X", "TEST", "--picture", "a.gif"],
            "a.gif: a picture is a file that ends in",
        ),
        (["scaling", "--test", "TEST"], "no models are named; give --growing FOLDER"),
        (["scaling", "--test", "TEST", "--growing", "NONE"], "there is no model mkn, clbl, clbl++ in it"),
        (["kappa", "--language", "a", "NONE", "NONE", "TEST"], "there is no model mkn, clbl, clbl++ in it"),
        (["kappa", "--language", "a", "X", "X"], "requires 4 arguments"),
        (["morphemes", "NONE"], "NONE"),
        (["morphemes", "NONE", "--count", "0"], "0 is not in the range"),
    ],
)
def test_what_cannot_be_done(
    arguments: list[str], message: str, tmp_path: Path, test_file: Path, morphlm_command: Command
) -> None:
    places = {"NONE": tmp_path / "NONE", "TEST": test_file}
    outcome = morphlm_command("analyse", *(places.get(argument, argument) for argument in arguments))
    assert (outcome.status, outcome.stdout) == (2, "")
    assert message in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_scaling_from_standard_input(tmp_path: Path, test_file: Path, morphlm_command: Command) -> None:
    one, two = folder(tmp_path / "one"), folder(tmp_path / "two", 30)
    arguments = ["analyse", "scaling", "--growing", one, "--growing", two, "--fixed", one]
    outcome = morphlm_command(*arguments, "--test", "-", "--json", "--picture", tmp_path / "a.png", stdin=test_file)
    found = json.loads(outcome.stdout)
    tokens = [model("clbl", count).training["tokens"] for count in (30, 60)]
    assert [point["tokens"] for point in found["growing"]] == tokens
    assert found["fixed"][0] == found["growing"][1]
    assert found["growing"][0]["perplexities"]["mkn"] == pytest.approx(perplexity("mkn", test_file, 30), rel=1e-6)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    outcome = morphlm_command(*arguments, "--test", test_file)
    assert [line.split()[0] for line in outcome.stdout.splitlines()[1:4]] == ["fixed", "growing", "growing"]


def test_a_fixed_vocabulary_stays(tmp_path: Path, test_file: Path, morphlm_command: Command) -> None:
    one, two = folder(tmp_path / "one"), folder(tmp_path / "two", 30)
    outcome = morphlm_command("analyse", "scaling", "--test", test_file, "--fixed", one, "--fixed", two)
    assert outcome.status == 2
    assert "models with a fixed vocabulary have" in outcome.stderr


def test_kappa(tmp_path: Path, test_file: Path, morphlm_command: Command) -> None:
    low, high = folder(tmp_path / "low", kappa=0.5), folder(tmp_path / "high", kappa=1.0)
    arguments = ["analyse", "kappa", "--language", "aa", low, high, test_file]
    found = json.loads(morphlm_command(*arguments, "--json", "--picture", tmp_path / "a.svg").stdout)
    rows = {row["kappa"]: row for row in found["rows"]}
    gains = {}
    for kappa in (0.5, 1.0):
        three = {kind: perplexity(kind, test_file, kappa=kappa) for kind in KINDS}
        assert rows[kappa]["perplexities"] == pytest.approx(three, rel=1e-6)
        gains[kappa] = three["clbl++"] / three["clbl"] - 1
    assert found["gains_less_at_highest_kappa"] == {"aa": gains[1.0] > gains[0.5]}
    outcome = morphlm_command(*arguments)
    assert outcome.stdout.splitlines()[0].split() == ["kappa", "language", "MKN", "CLBL", "Rel.1", "CLBL++", "Rel.2"]


def test_the_same_kappa_twice(tmp_path: Path, test_file: Path, morphlm_command: Command) -> None:
    low = folder(tmp_path / "low")
    outcome = morphlm_command("analyse", "kappa", "--language", "aa", low, low, test_file)
    assert outcome.status == 2
    assert "aa is there twice with kappa = 0.5" in outcome.stderr


def test_morphemes(tmp_path: Path, morphlm_command: Command) -> None:
    model_with(kind="clbl++").save(tmp_path / "model")
    wanted = map_morphemes(model_with(kind="clbl++").vectors, seed=4)
    outcome = morphlm_command("analyse", "morphemes", tmp_path / "model", "--seed", "4", "--json")
    assert json.loads(outcome.stdout)["points"] == wanted.to_json()["points"]
    outcome = morphlm_command(
        "analyse", "morphemes", tmp_path / "model", "--seed", "4", "--near", "ou/SUF", "--picture", tmp_path / "m.svg"
    )
    assert outcome.stdout == wanted.only(["ou/SUF"]).to_table().format() + "\n"
    picture = (tmp_path / "m.svg").read_text(encoding="utf-8")
    assert ">-ou<" in picture
    assert ">dom<" in picture  # the picture has all of them


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("clbl", [], "this model has no morphemes to put on a map"),
        ("mkn", [], "a model of the kind mkn has no word vectors"),
        ("clbl++", ["--near", "ou"], "'ou' is not on the map"),
        ("clbl++", ["--labels", "PRE"], "the model has 0 morphemes with the label PRE"),
        ("clbl++", ["--labels", "prefix"], "'prefix' is no label of morphemes; choose among PRE, STM, SUF"),
        ("clbl++", ["--count", "5"], "a map of 5 morphemes shows nothing"),
    ],
)
def test_models_without_a_map(
    kind: str, arguments: list[str], message: str, tmp_path: Path, morphlm_command: Command
) -> None:
    (train_ngram([["a"]], 2) if kind == "mkn" else model_with(kind=kind)).save(tmp_path / "model")
    outcome = morphlm_command("analyse", "morphemes", tmp_path / "model", *arguments, "--picture", tmp_path / "m.svg")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert message in outcome.stderr
