"""The commands about vectors: neighbours, similarity, export."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from morphlm import train_ngram
from morphlm.vectors.reading import load_vectors
from morphlm.vectors.similarity import evaluate_similarity, format_similarities, read_pairs
from tests.conftest import GOLDEN, Outcome
from tests.segmentation.small import KNOWN, model_with

Command = Callable[..., Outcome]

FASTTEXT = GOLDEN / "fasttext" / "skipgram.bin"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    model_with(kind="clbl++").save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("domu\tdomy\t5\ndomou\tpolu\t3\nbrouk\tpolu\t1\nškolu\tměstem\t2\n")
    return path


def test_neighbours(model: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("neighbours", model, "domu", "domou", "-k", "3")
    rows = [line.split("\t") for line in outcome.stdout.splitlines()]
    vectors = model_with(kind="clbl++").vectors
    wanted = vectors.neighbours_of_all(["domu", "domou"], 3)
    assert [row[:3] for row in rows] == [
        *(["domu", "known", near.name] for near in wanted[0]),
        *(["domou", "composed", near.name] for near in wanted[1]),
    ]
    assert [row[3] for row in rows] == [f"{near.similarity:.4f}" for near in [*wanted[0], *wanted[1]]]
    assert (outcome.status, outcome.stderr) == (0, "")


def test_a_word_whose_stem_was_never_seen_is_marked_and_explained(model: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("neighbours", model, "xxxem", "brouk", "-k", "1")
    assert [line.split("\t")[:2] for line in outcome.stdout.splitlines()] == [
        ["xxxem", "affixes"],
        ["brouk", "unknown"],
    ]
    assert outcome.stderr == (
        "xxxem: only its affixes are known: -em; its neighbours are words of the same form, not of the same meaning\n"
        "brouk: never seen, and no part of it is known; its neighbours are those of UNK\n"
    )
    outcome = morphlm_command("neighbours", model, "xxxem", "--json")
    (word,) = json.loads(outcome.stdout)[0]["words"]
    assert (word["stem_known"], word["known"], outcome.stderr) == (False, ["em/SUF"], "")


def test_neighbours_of_and_among_morphemes_and_analogies(model: Path, morphlm_command: Command) -> None:
    vectors = model_with(kind="clbl++").vectors.using(side="output", normalise=True)
    choice = ["--side", "output", "--normalise", "-k", "2", "--json"]
    for arguments, wanted in (
        (["ou/SUF", "--morpheme"], vectors.neighbours("ou/SUF", 2, morpheme=True)),
        (["ou/SUF", "--morpheme", "--among", "morphemes"], vectors.nearest_morphemes("ou/SUF", 2, morpheme=True)),
        (["domu", "--among", "morphemes"], vectors.nearest_morphemes("domu", 2)),
        (["--analogy", "domu", "polu", "doma"], vectors.analogy("domu", "polu", "doma", 2)),
    ):
        (answer,) = json.loads(morphlm_command("neighbours", model, *arguments, *choice).stdout)
        assert [near["name"] for near in answer["neighbours"]] == [near.name for near in wanted]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing is asked for; name some words or an analogy"),
        (["ou", "--morpheme"], "'ou' is no morpheme of this model"),
        (["domu", "-k", "0"], "0 is not in the range"),
        (["domu", "--side", "inside"], "'inside' is not one of"),
    ],
)
def test_questions_that_cannot_be_answered(
    arguments: list[str], message: str, model: Path, morphlm_command: Command
) -> None:
    outcome = morphlm_command("neighbours", model, *arguments)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert message in outcome.stderr


@pytest.mark.parametrize(
    "command", [["neighbours", "MODEL", "a"], ["similarity", "MODEL", "PAIRS"], ["export", "MODEL", "OUT"]]
)
def test_models_without_vectors(command: list[str], tmp_path: Path, pairs: Path, morphlm_command: Command) -> None:
    train_ngram([["pro", "školu"]], 2).save(tmp_path / "mkn")
    places = {"MODEL": tmp_path / "mkn", "PAIRS": pairs, "OUT": tmp_path / "out.vec"}
    outcome = morphlm_command(*(places.get(argument, argument) for argument in command))
    assert outcome.status == 2
    assert outcome.stderr.startswith("morphlm: a model of the kind mkn has no word vectors; ask a log-bilinear one")
    assert not (tmp_path / "out.vec").exists()


def test_a_file_is_no_model_to_export(tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "v.vec").write_text("1 2\npro 1 2\n")
    outcome = morphlm_command("export", tmp_path / "v.vec", tmp_path / "out.vec")
    assert outcome.status == 2
    assert "v.vec: this is a file; name the folder of a model that has word vectors" in outcome.stderr


def test_neighbours_in_files_of_vectors(tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "v.vec").write_text("3 2\npro 1 2\nproti 1 1.9\nza -1 1\n")
    outcome = morphlm_command("neighbours", tmp_path / "v.vec", "pro", "-k", 1)
    assert outcome.stdout == "pro\tknown\tproti\t0.9998\n"
    outcome = morphlm_command("neighbours", tmp_path / "v.vec", "při")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert "'při' has no vector here" in outcome.stderr
    outcome = morphlm_command("neighbours", tmp_path / "v.vec", "pro", "--among", "morphemes")
    assert "a file of vectors has no morphemes" in outcome.stderr
    outcome = morphlm_command("neighbours", FASTTEXT, "domu", "nedomem", "-k", 1)
    assert [line.split("\t")[:2] for line in outcome.stdout.splitlines()] == [
        ["domu", "known"],
        ["nedomem", "composed"],
    ]


def test_similarity_of_fasttext_s_files(tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "pairs.tsv").write_text("domu\tškolou\t1\nřeku\tdomům\t2\ndom\tškol\t3\n")
    (result,) = json.loads(morphlm_command("similarity", FASTTEXT, tmp_path / "pairs.tsv", "--json").stdout)
    assert (result["pairs"], result["known"], result["covered"]) == (3, 2, 3)
    assert result["signature"].startswith("rho|model:fasttext|d:5|V:43|ngrams:2-4|")


def test_analogies_of_a_model_and_of_a_file(model: Path, tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "questions.txt").write_text(": cases\ndomu domem školu školou\ndom domu škol školu\n")
    for place in (model, FASTTEXT):
        outcome = morphlm_command("analogies", place, tmp_path / "questions.txt", "--json")
        (result,) = json.loads(outcome.stdout)
        assert result["total"]["questions"] == 2
        table = morphlm_command("analogies", place, tmp_path / "questions.txt").stdout
        assert result["signature"] in table
        assert "3CosMul" in table
    (tmp_path / "bad.txt").write_text(": x\na b\n")
    outcome = morphlm_command("analogies", model, tmp_path / "bad.txt")
    assert (outcome.status, "bad.txt:2: not four words" in outcome.stderr) == (2, True)


def test_vectors_and_pairs_cannot_both_come_through_the_pipe(pairs: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("similarity", "-", "-", stdin=pairs)
    assert outcome.status == 2
    assert "named more than once" in outcome.stderr


def test_similarity_of_a_model(model: Path, pairs: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("similarity", model, pairs, "--seed", "5")
    wanted = evaluate_similarity(model_with(kind="clbl++").vectors, read_pairs(pairs), seed=5)
    assert outcome.stdout == format_similarities([wanted]) + "\n"
    outcome = morphlm_command("similarity", model, pairs, pairs, "--side", "context", "--normalise", "--json")
    vectors = model_with(kind="clbl++").vectors.using(side="context", normalise=True)
    assert json.loads(outcome.stdout) == [evaluate_similarity(vectors, read_pairs(pairs)).to_json()] * 2


def test_similarity_of_a_file_and_from_standard_input(
    model: Path, pairs: Path, tmp_path: Path, morphlm_command: Command
) -> None:
    morphlm_command("export", model, tmp_path / "v.bin", "--format", "word2vec-binary")
    outcome = morphlm_command("similarity", tmp_path / "v.bin", "-", "--json", stdin=pairs)
    (result,) = json.loads(outcome.stdout)
    assert (result["set"], result["pairs"], result["known"], result["covered"]) == ("<stdin>", 4, 2, 2)
    for choice in (["--side", "output"], ["--normalise"]):
        outcome = morphlm_command("similarity", tmp_path / "v.bin", pairs, *choice)
        assert outcome.status == 2
        assert "has no sides to choose or to normalise" in outcome.stderr


def test_pairs_of_another_language_are_warned_of(model: Path, tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "pairs").write_text("ocean\tsea\t9\nocean\tcar\t1\ntiger\tcat\t7\n")
    outcome = morphlm_command("similarity", model, tmp_path / "pairs")
    assert f"WARNING: {tmp_path / 'pairs'}: the model knows no pair of these words" in outcome.stderr


def test_a_malformed_pair_is_named(model: Path, tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "bad.tsv").write_text("domu\tdomy\t5\ndomu\tdomy\n")
    outcome = morphlm_command("similarity", model, tmp_path / "bad.tsv")
    assert (outcome.status, outcome.stdout) == (2, "")
    assert "bad.tsv:2: not `word TAB word TAB rating`; correct the line" in outcome.stderr


@pytest.mark.parametrize(
    ("name", "file_format"),
    [("v.vec", "word2vec"), ("v.bin", "word2vec-binary"), ("v.npy", "npy"), ("v.safetensors", "safetensors")],
)
def test_export(name: str, file_format: str, model: Path, tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "extra.txt").write_text("domou brouk\ndomu\n")
    outcome = morphlm_command(
        "export", model, tmp_path / name, "--format", file_format, "--extra-words", tmp_path / "extra.txt", "--json"
    )
    assert json.loads(outcome.stdout) == {
        "path": str(tmp_path / name),
        "file_format": file_format,
        "words": len(KNOWN) + 1,
        "dimensions": 8,
        "composed": 1,
        "left_out": ["brouk"],
    }
    found = load_vectors(tmp_path / name)
    assert np.array_equal(found.vectors, model_with(kind="clbl++").vectors.rows([*KNOWN, "domou"]))


def test_export_to_standard_output_and_talk_elsewhere(model: Path, tmp_path: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("export", model, "-", "--side", "output")
    assert outcome.stdout.startswith("29 4\nškola ")
    assert outcome.stderr == "-: 29 vectors of 4 dimensions\n"
    morphlm_command("export", model, tmp_path / "v.vec", "--side", "output")
    assert (tmp_path / "v.vec").read_text() == outcome.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["OUT.vec", "--float16"], "word2vec holds float32"),
        (["OUT.bin", "--format", "word2vec-binary", "--float16"], "word2vec-binary holds float32"),
        (["OUT.vec", "--format", "npy"], "a file whose name ends in .npy"),
        (["-", "--format", "safetensors"], "a file whose name ends in .safetensors"),
        (["no/such/OUT.vec"], "cannot write here"),
    ],
)
def test_places_and_formats_that_do_not_fit(
    arguments: list[str], message: str, tmp_path: Path, morphlm_command: Command
) -> None:
    out, *rest = arguments
    outcome = morphlm_command("export", tmp_path / "no-model", out if out == "-" else tmp_path / out, *rest)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert message in outcome.stderr
    assert not [*tmp_path.iterdir()]


def test_half_precision(model: Path, tmp_path: Path, morphlm_command: Command) -> None:
    morphlm_command("export", model, tmp_path / "v.npy", "--format", "npy", "--float16")
    assert np.load(tmp_path / "v.npy").dtype == np.float16
