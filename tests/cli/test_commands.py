from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm import load, load_vocabulary, train_ngram
from tests.conftest import GOLDEN, Outcome

Command = Callable[..., Outcome]
TRAIN, TEST = GOLDEN / "kneser-ney" / "train.txt", GOLDEN / "kneser-ney" / "test.txt"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model"
    train_ngram(TRAIN, 3).save(path)
    return path


def test_train_then_ppl_gives_kenlm_s_figures(tmp_path: Path, morphlm_command: Command) -> None:
    trained = morphlm_command("train", "mkn", "--train", TRAIN, "--order", "3", "--out", tmp_path / "m", "--json")
    assert json.loads(trained.stdout)["ngrams"] == [3041, 13402, 18266]
    (result,) = json.loads(morphlm_command("ppl", tmp_path / "m", TEST, "--json").stdout)
    assert result["perplexity_including_unknown"] == pytest.approx(207.01070762598462, rel=1e-6)
    assert result["perplexity_excluding_unknown"] == pytest.approx(156.27041512080294, rel=1e-6)
    assert (result["tokens"], result["unknown"], result["sentences"]) == (2366, 131, 300)
    assert result["signature"].startswith("ppl|model:mkn|n:3|V:3k|kappa:0|")


def test_a_pipe_and_a_file_give_the_same_model(tmp_path: Path, morphlm_command: Command) -> None:
    morphlm_command("train", "mkn", "--train", TRAIN, "--order", "2", "--arpa", tmp_path / "file.arpa")
    piped = morphlm_command("train", "mkn", "--order", "2", "--arpa", "-", stdin=TRAIN)
    assert piped.stdout == (tmp_path / "file.arpa").read_text()
    assert "mkn: 24,036 tokens" in piped.stderr


def test_equal_seeds_give_equal_bytes(tmp_path: Path, morphlm_command: Command) -> None:
    for name in ("one", "two"):
        morphlm_command("train", "mkn", "--train", TRAIN, "--kappa", "0.3", "--seed", "5", "--out", tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_vocab_makes_the_vocabulary_that_train_uses(tmp_path: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("vocab", TRAIN, "--kappa", "0.5", "--out", tmp_path / "v.tsv", "--json")
    (row,) = json.loads(outcome.stdout)
    assert (row["sentences"], row["tokens"], row["types"]) == (3000, 21036, 3038)
    vocabulary = load_vocabulary(tmp_path / "v.tsv")
    assert len(vocabulary) - 3 == row["vocabulary"]
    morphlm_command("train", "mkn", "--train", TRAIN, "--vocab", tmp_path / "v.tsv", "--out", tmp_path / "m")
    assert load(tmp_path / "m").vocabulary.words == vocabulary.words


def test_per_sentence_and_per_token_lines(model: Path, morphlm_command: Command) -> None:
    sentences = morphlm_command("ppl", model, TEST, "--per-sentence")
    assert len(sentences.stdout.splitlines()) == 300
    tokens = morphlm_command("ppl", model, TEST, "--per-token")
    rows = [line.split("\t") for line in tokens.stdout.splitlines()]
    assert len(rows) == 2366
    assert sum(int(row[4]) for row in rows) == 131
    assert "perplexity" in tokens.stderr
    first_line = TEST.read_text().split("\n", 1)[0].split()
    assert [row[2] for row in rows[: len(first_line) + 1]] == [*first_line, "</s>"]
    total = sum(float(line.split("\t")[1]) for line in sentences.stdout.splitlines())
    assert total == pytest.approx(sum(float(row[3]) for row in rows), abs=0.01)


def test_several_files_come_in_one_table(model: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("ppl", model, TEST, TRAIN)
    assert "207.01" in outcome.stdout
    assert "signature: ppl|model:mkn|n:3|" in outcome.stdout


def test_warnings_go_to_stderr_and_the_model_is_made(tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "tiny.txt").write_text("a b\n")
    outcome = morphlm_command("train", "mkn", "--train", tmp_path / "tiny.txt", "--out", tmp_path / "m")
    assert outcome.status == 0
    assert outcome.stderr.count("warning: ") == 4
    assert outcome.stdout.startswith("mkn: 3 tokens")


def test_a_damaged_model_is_refused(tmp_path: Path, morphlm_command: Command) -> None:
    train_ngram([["a", "b"]], 2).save(tmp_path / "m")
    (tmp_path / "m" / "vocabulary.tsv").write_text("nonsense")
    outcome = morphlm_command("ppl", tmp_path / "m", TEST)
    assert outcome.status == 2
    assert "vocabulary.tsv: it was changed or damaged" in outcome.stderr
    assert morphlm_command("ppl", tmp_path / "nothing", TEST).status == 2


def test_training_without_a_place_for_the_model_is_refused(morphlm_command: Command) -> None:
    outcome = morphlm_command("train", "mkn", "--train", TRAIN)
    assert outcome.status == 2
    assert "--out DIR" in outcome.stderr


def test_a_reader_that_goes_away_ends_it_quietly(model: Path) -> None:
    command = [sys.executable, "-m", "morphlm", "ppl", str(model), str(TRAIN), "--per-token", "--prepared"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_an_interrupt_is_status_130_without_a_traceback(tmp_path: Path) -> None:
    text, model = tmp_path / "text", tmp_path / "model"
    os.mkfifo(text)
    command = [sys.executable, "-m", "morphlm", "train", "mkn", "--train", str(text), "--out", str(model)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process, text.open("wb") as pipe:  # waits for its reader
        assert process.stderr is not None
        pipe.write(b"a b\n")
        pipe.flush()
        process.send_signal(signal.SIGINT)
        assert process.stderr.read().split(b"\n") == [b"", b"morphlm: interrupted", b""]
        assert process.wait() == 130
    assert not model.exists()


def test_help_names_every_command(morphlm_command: Command) -> None:
    outcome = morphlm_command("--help")
    assert outcome.status == 0
    for name in ("demo", "data", "prepare", "vocab", "train", "ppl"):
        assert f"\n  {name} " in outcome.stdout
    assert morphlm_command("--version").stdout.startswith("morphlm, version 0.1")
    assert morphlm_command("nonsense").status == 2


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["vocab", "-", "-"], "named more than once"),
        (["ppl", "MODEL", "-", "-"], "named more than once"),
        (["train", "mkn", "--train", "-", "--vocab", "-", "--out", "x"], "cannot both come"),
        (["vocab", "TRAIN", "--seed", "-1"], "--seed"),
        (["vocab", "TRAIN", "--kappa", "nan"], "kappa"),
        (["vocab", "TRAIN/below"], "Not a directory"),
        (["vocab", "x" * 300], "this name is longer than 255 bytes"),
        (["vocab", "TRAIN", "--out", "/dev/full"], "No space left"),
        (["train", "mkn", "--train", "TRAIN", "--closed", "--kappa", "0.5", "--out", "x"], "cannot be closed"),
        (["train", "mkn", "--train", "TRAIN", "--out", "new", "--arpa", "none/x"], "cannot write here"),
        (["train", "mkn", "--train", "TRAIN", "--out", "TRAIN"], "is not a model"),
        (["nonsense"], "no command 'nonsense'; `morphlm --help` lists them"),
    ],
)
def test_what_cannot_work_is_one_line_and_leaves_nothing(
    arguments: list[str],
    what: str,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    morphlm_command: Command,
) -> None:
    monkeypatch.chdir(tmp_path)
    places = {"MODEL": str(model), "TRAIN": str(TRAIN), "TRAIN/below": f"{TRAIN}/below"}
    outcome = morphlm_command(*(places.get(argument, argument) for argument in arguments))
    assert outcome.status == 2
    assert what in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_arpa_model_comes_through_a_pipe(tmp_path: Path, morphlm_command: Command) -> None:
    morphlm_command("train", "mkn", "--train", TRAIN, "--order", "2", "--arpa", tmp_path / "m.arpa.gz")
    piped = morphlm_command("ppl", "-", TEST, stdin=tmp_path / "m.arpa.gz")
    assert piped.stdout == morphlm_command("ppl", tmp_path / "m.arpa.gz", TEST).stdout


def test_infinite_figures_are_valid_json(tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "text").write_text("a b\n")
    train_ngram([["a", "b"], ["b"]], 2, open_vocabulary=False).save(tmp_path / "closed")
    (tmp_path / "new").write_text("a never\n")
    outcome = morphlm_command("ppl", tmp_path / "closed", tmp_path / "new", "--json", "--per-token")
    (result,) = json.loads(outcome.stdout, parse_constant=pytest.fail)
    assert result["perplexity_including_unknown"] is None
    assert [row["logprob"] is None for row in result["tokens"]] == [False, True, False]


def test_other_users_may_read_the_model(tmp_path: Path) -> None:
    train_ngram([["a"]], 1).save(tmp_path / "m")
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "m").iterdir()}
    assert len(modes) == 1


def test_a_finished_mkn_is_not_trained_again(tmp_path: Path, morphlm_command: Command) -> None:
    model = tmp_path / "m"
    arguments = ["train", "mkn", TRAIN, "--order", "3", "--out", model]
    first = morphlm_command(*arguments)
    before = (model / "manifest.json").stat().st_mtime_ns
    second = morphlm_command(*arguments, "--arpa", tmp_path / "m.arpa")
    assert f"{model} is complete, from the same text with the same settings; --restart trains it anew" in second.stderr
    assert second.stdout == first.stdout
    assert load(tmp_path / "m.arpa").order == 3  # what else was asked for is done
    assert (model / "manifest.json").stat().st_mtime_ns == before
    for changes in (["--restart"], ["--kappa", "0.1"]):
        again = morphlm_command(*arguments, *changes)
        assert "is complete" not in again.stderr
        assert (model / "manifest.json").stat().st_mtime_ns != before
    (model / "vocabulary.tsv").write_text("")
    mended = morphlm_command(*arguments, "--kappa", "0.1")
    assert (mended.status, mended.stdout) == (0, again.stdout)
    assert "is damaged and is made again" in mended.stderr
