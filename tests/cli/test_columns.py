"""Tab-separated output: names of columns on demand; and a text in the place of the model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm.ngram.training import train_ngram
from tests.conftest import Outcome
from tests.segmentation.small import model_with
from tests.training.small import sentences

Command = Callable[..., Outcome]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("columns")
    text = sentences(20, 1)
    model = train_ngram(text, 2)
    model.save(folder / "model")
    model.write_arpa(folder / "model.arpa.gz")
    model.save(folder / "learned" / "model")
    (folder / "learned" / "learn.json").write_text("{}")
    for name in ("text.txt", "more.txt"):
        (folder / name).write_text("".join(f"{' '.join(words)}\n" for words in text[:3]))
    return folder


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ("ppl model text.txt --per-sentence", "sentence logprob tokens unknown perplexity"),
        ("ppl model text.txt --per-token", "sentence position token logprob unknown"),
        ("ppl model text.txt more.txt --per-token", "file sentence position token logprob unknown"),
        ("score model text.txt", "logprob tokens unknown"),
        ("score model text.txt more.txt", "file logprob tokens unknown"),
        ("score model text.txt --per-token", "line position token logprob unknown"),
        ("predict model škola", "rank word probability share"),
        ("predict model škola škola", "text rank word probability share"),
        ("data get text.txt OUT --language cs", "file lines words"),
    ],
)
def test_header(
    arguments: str, names: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Command
) -> None:
    monkeypatch.chdir(place)
    given = [str(tmp_path / "out") if argument == "OUT" else argument for argument in arguments.split()]
    plain, named = morphlm_command(*given), morphlm_command(*given, "--header")
    assert plain.status == 0, plain.stderr
    assert named.stdout == "\t".join(names.split()) + "\n" + plain.stdout
    rows = [line.split("\t") for line in named.stdout.splitlines()]
    assert {len(row) for row in rows} == {len(names.split())}


def test_header_of_classes_and_neighbours(place: Path, tmp_path: Path, morphlm_command: Command) -> None:
    told = morphlm_command(
        "classes", "--train", place / "text.txt", "--classes", "2", "--kappa", "0", "--examples", "--header"
    )
    rows = [line.split("\t") for line in told.stdout.splitlines()]
    assert ["class", "size", "words"] in rows
    assert len(rows[rows.index(["class", "size", "words"]) + 1]) == 3
    model_with("segmenter", "clbl++").save(tmp_path / "model")
    told = morphlm_command("neighbours", tmp_path / "model", "školou", "-k", "2", "--header")
    header, *lines = (line.split("\t") for line in told.stdout.splitlines())
    assert header == ["query", "understood", "neighbour", "cosine"]
    assert [len(line) for line in lines] == [4, 4]


def test_a_summary_alone_has_no_header(place: Path, morphlm_command: Command) -> None:
    given = ["ppl", place / "model", place / "text.txt"]
    assert morphlm_command(*given, "--header").stdout == morphlm_command(*given).stdout
    assert morphlm_command(*given, "--header", "--json").stdout == morphlm_command(*given, "--json").stdout


@pytest.mark.parametrize("model", ["model", "model.arpa.gz", "learned"])
@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("ppl", "MODEL [FILE]..."),
        ("score", "MODEL [FILE]..."),
        ("rescore", "MODEL [FILE]"),
        ("predict", "MODEL [TEXT]..."),
        ("neighbours", "MODEL [WORD]..."),
        ("similarity", "MODEL PAIRS..."),
        ("export", "MODEL OUT"),
    ],
)
def test_a_text_in_the_place_of_the_model(
    command: str, usage: str, model: str, place: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Command
) -> None:
    monkeypatch.chdir(place)
    outcome = morphlm_command(command, "text.txt", model)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr == (f"morphlm: text.txt is a text; the model comes first: `morphlm {command} {usage}`\n")


def test_the_whole_text_is_not_read_for_that(
    place: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Command
) -> None:
    monkeypatch.setattr("morphlm.scoring.loading.ngram_from_arpa", lambda path: pytest.fail(f"{path} is read"))
    outcome = morphlm_command("ppl", place / "text.txt", place / "model")
    assert "is a text; the model comes first" in outcome.stderr


def test_a_folder_where_segment_wants_words_is_taken_for_a_segmenter(place: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("segment", place / "learned", "školou")
    assert f"write `morphlm segment --load {place / 'learned'} školou` if it is a segmenter" in outcome.stderr


@pytest.mark.parametrize("command", ["vocab TEXT", "classes TEXT --classes 3", "segment --train TEXT --out OUT"])
def test_raw_text_where_only_prepared_text_makes_sense(command: str, tmp_path: Path, morphlm_command: Command) -> None:
    text = tmp_path / "raw.txt"
    text.write_text("Slovo, jiné slovo. Ano, ne.\n" * 20)
    places = {"TEXT": text, "OUT": tmp_path / "out"}
    outcome = morphlm_command(*(str(places.get(word, word)) for word in command.split()))
    assert outcome.status == 0
    assert f"WARNING: {text}: it looks like raw text" in outcome.stderr
