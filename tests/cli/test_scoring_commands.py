"""score, rescore, predict and generate as the shell calls them."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from morphlm.ngram.training import train_ngram
from morphlm.scoring.loading import load
from morphlm.scoring.prediction import next_words
from morphlm.scoring.spelled import with_spelling
from morphlm.text.preparation import PrepareOptions
from morphlm.text.prepare import prepare_files
from tests.conftest import Outcome

Command = Callable[..., Outcome]
TRAIN = [["pro", "novou", "školu"], ["pro", "školu"], ["novou", "školu"], ["pro", "novou", "prosbu"]]
LIST = "0 ||| školu pro ||| LM0= -1 ||| -2 ||| 0-1\n0 ||| pro školu ||| LM0= -2 ||| -3\n1 |||  ||| LM0= 0 ||| 0\n"
MODEL = train_ngram(TRAIN, 2)


def logprob(text: str) -> float:
    return sum(MODEL.sentence(text.split()))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model"
    MODEL.save(path)
    return path


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("pro školu\n\npro starou školu\n")
    return path


@pytest.fixture
def kbest(tmp_path: Path) -> Path:
    path = tmp_path / "list"
    path.write_text(LIST)
    return path


# ------------------------------------------------------------ score


def test_score_gives_a_line_for_every_line(model: Path, text: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("score", model, text)
    sums = [logprob("pro školu"), logprob(""), logprob("pro starou školu")]
    assert outcome.stdout == f"{sums[0]:.4f}\t3\t0\n{sums[1]:.4f}\t1\t0\n{sums[2]:.4f}\t4\t1\n"
    note = f"{model}: no record of how its training text was prepared, so text was taken as it stands\n"
    assert (outcome.status, outcome.stderr) == (0, note)
    assert morphlm_command("score", model, text, "--prepared").stderr == ""
    assert morphlm_command("score", model, stdin=text).stdout == outcome.stdout
    several = morphlm_command("score", model, text, text).stdout
    assert several == "".join(f"{text}\t{line}\n" for line in outcome.stdout.splitlines()) * 2


def test_score_per_token(model: Path, text: Path, morphlm_command: Command) -> None:
    rows = [line.split("\t") for line in morphlm_command("score", model, text, "--per-token").stdout.splitlines()]
    shown = [["1", "3", "</s>"], ["2", "1", "</s>"], ["3", "1", "pro"], ["3", "2", "starou"]]
    assert [row[:3] for row in rows[2:6]] == shown
    assert [row[4] for row in rows] == ["0", "0", "0", "0", "0", "1", "0", "0"]
    assert [row[3] for row in rows[:3]] == [f"{value:.6f}" for value in MODEL.sentence(["pro", "školu"])]


def test_words_that_cannot_be_composed(model: Path, text: Path, kbest: Path, morphlm_command: Command) -> None:
    warning = f"warning: {model} cannot compose unknown words; they are UNK in contexts\n"
    for command in (["score", model, text, "--prepared"], ["rescore", model, kbest]):
        composed = morphlm_command(*command, "--unknown-contexts", "composed")
        assert (composed.stdout, composed.stderr) == (morphlm_command(*command).stdout, warning)


def test_unknown_words_are_spelled(model: Path, kbest: Path, tmp_path: Path, morphlm_command: Command) -> None:
    path = tmp_path / "unknown.txt"
    path.write_text("pro neznámé\n")
    plain, spelled = (
        float(morphlm_command("score", model, path, *options).stdout.split()[0])
        for options in ([], ["--open-vocabulary"])
    )
    share = with_spelling(load(model)).log_share("neznámé")
    assert spelled == pytest.approx(plain + share, abs=2e-4)
    path.write_text("0 ||| pro neznámé ||| F= 1 ||| 2\n")
    rows = [
        morphlm_command("rescore", model, path, "--feature", "LM", *options).stdout
        for options in ([], ["--open-vocabulary"])
    ]
    found = [float(row.split("LM= ")[1].split()[0]) for row in rows]
    assert found[1] - found[0] == pytest.approx(share, abs=2e-4)


def test_score_as_json_and_in_other_units(model: Path, text: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("score", model, text, "--json", "--unit", "bits", "--per-token")
    first, second, third = (json.loads(line) for line in outcome.stdout.splitlines())
    assert first["logprob"] == pytest.approx(logprob("pro školu") * 1.4426950408889634)
    assert (second["line"], second["tokens"], second["unknown"], second["unit"]) == (2, 1, 0, "bits")
    assert [entry["token"] for entry in third["scores"]] == ["pro", "starou", "školu", "</s>"]
    named = json.loads(morphlm_command("score", model, text, text, "--json").stdout.splitlines()[0])
    assert named["text"] == str(text)


@contextmanager
def running(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]:
    """A command whose standard input stays open."""
    command = [sys.executable, "-m", "morphlm", *map(str, arguments)]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, env=buffered) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process, process.stdin, process.stdout
        finally:
            process.kill()


def answer_to(question: str, stdin: IO[bytes], stdout: IO[bytes]) -> str:
    """Write a line, and read one that must come though nothing more is written."""
    stdin.write(f"{question}\n".encode())
    ready, _, _ = select.select([stdout], [], [], 100)
    assert ready, "no answer"
    return stdout.readline().decode()


def assert_interrupted(process: subprocess.Popen[bytes]) -> None:
    """Ctrl-C while it waits for input."""
    assert process.stderr is not None
    process.send_signal(signal.SIGINT)
    assert process.stderr.read() == b"\nmorphlm: interrupted\n"
    assert process.wait() == 130


def test_a_line_is_answered_before_the_next_is_written(model: Path) -> None:
    with running("score", model) as (process, stdin, stdout):
        for line in ("pro školu", "", "pro starou školu"):
            assert answer_to(line, stdin, stdout).split("\t")[0] == f"{logprob(line):.4f}"
        stdin.write(b"pro\nnovou\n")
        assert [stdout.readline().split(b"\t")[0] for _ in "12"] == [
            f"{logprob(word):.4f}".encode() for word in ("pro", "novou")
        ]
        stdin.write(b"pro")  # a last line without its newline
        stdin.close()
        assert stdout.read().split(b"\t")[0] == f"{logprob('pro'):.4f}".encode()
        assert process.wait() == 0


def test_predict_and_rescore_answer_at_once_too(model: Path) -> None:
    with running("predict", model, "--json", "--complete") as (process, stdin, stdout):
        for line, begun in (("pro no", "no"), ("pro novou ", ""), ("pro", "pro")):
            found = json.loads(answer_to(line, stdin, stdout))
            assert found["prefix"] == begun
            expected = next_words(MODEL, line.split()[:-1] if begun else line.split(), 10, begun)
            assert [entry["word"] for entry in found["words"]] == [entry.word for entry in expected]
        assert_interrupted(process)
    with running("rescore", model) as (process, stdin, stdout):
        line, value = LIST.splitlines()[0], f"{logprob('školu pro'):.4f}"
        assert answer_to(line, stdin, stdout) == line.replace("-1 |||", f"-1 mkn= {value} |||") + "\n"
        assert_interrupted(process)


@pytest.mark.parametrize(
    "arguments",
    [["score", "MODEL", "BIG", "--prepared"], ["generate", "MODEL", "-n", "1000000"]],
)
def test_a_reader_that_goes_away_ends_it_quietly(arguments: list[str], model: Path, tmp_path: Path) -> None:
    (tmp_path / "big").write_text("pro novou školu\n" * 200_000)
    places = {"MODEL": str(model), "BIG": str(tmp_path / "big")}
    command = [sys.executable, "-m", "morphlm", *(places.get(argument, argument) for argument in arguments)]
    with (
        (tmp_path / "big").open("rb") as stdin,
        subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_lines_before_a_bad_one_were_answered(model: Path) -> None:
    with running("score", model, "--prepared") as (process, stdin, stdout):
        answer_to("pro", stdin, stdout)
        stdin.write(b"\xff\n")
        assert process.stderr is not None
        assert process.stderr.read() == b"morphlm: <stdin>:2: byte 0xff is not UTF-8; convert it with iconv\n"
        assert process.wait() == 2
        assert stdout.read() == b""


# ------------------------------------------------------------ rescore


def test_rescore_adds_a_feature(model: Path, kbest: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("rescore", model, kbest, "--feature", "ours", "--unit", "log10", "--word-count")
    lines = LIST.splitlines()
    expected = []
    for line, hypothesis, words in zip(lines, ("školu pro", "pro školu", ""), (2, 2, 0), strict=True):
        head, features, tail = line.partition("LM0= " + line.split("LM0= ")[1].split(" ")[0])
        expected.append(f"{head}{features} words= {words} ours= {logprob(hypothesis) * 0.4342944819:.4f}{tail}\n")
    assert outcome.stdout == "".join(expected)
    assert outcome.stderr == ""
    assert morphlm_command(
        "rescore", model, "--feature", "ours", "--unit", "log10", "--word-count", stdin=kbest
    ).stdout == (outcome.stdout)


def test_rescore_orders_anew(model: Path, kbest: Path, morphlm_command: Command) -> None:
    ranked = morphlm_command("rescore", model, kbest, "--lm-weight", "1").stdout.splitlines()
    assert [line.split(" ||| ")[1] for line in ranked] == ["pro školu", "školu pro", ""]
    assert ranked[0].endswith(f"||| {-3 + logprob('pro školu'):.4f}")
    assert ranked[1].endswith(f"||| {-2 + logprob('školu pro'):.4f} ||| 0-1")
    assert morphlm_command("rescore", model, kbest, "--lm-weight", "1", "--best").stdout == "pro školu\n\n"
    assert morphlm_command("rescore", model, kbest, "--weights", "LM0=1 mkn=0", "--best").stdout == "školu pro\n\n"


def test_rescore_with_weights_of_a_file(model: Path, kbest: Path, tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "weights").write_text("LM0 -1\nother 3\n")
    outcome = morphlm_command("rescore", model, kbest, "--weights", tmp_path / "weights", "--json")
    items = [json.loads(line) for line in outcome.stdout.splitlines()]
    assert [(item["line"], item["id"], item["hypothesis"], item["score"]) for item in items] == [
        (2, "0", "pro školu", 2.0),
        (1, "0", "školu pro", 1.0),
        (3, "1", "", 0.0),
    ]
    assert items[0]["features"] == {"mkn": pytest.approx(logprob("pro školu"))}
    assert outcome.stderr.splitlines() == [
        "warning: features without a weight count nothing: mkn",
        "warning: weights of features that the list does not have: other",
    ]


def test_rescore_with_two_models_and_a_table(model: Path, tmp_path: Path, morphlm_command: Command) -> None:
    train_ngram(TRAIN, 1).save(tmp_path / "unigram")
    (tmp_path / "table").write_text("pro\ta\t1\n")
    outcome = morphlm_command(
        *["rescore", model, tmp_path / "table", "--model", tmp_path / "unigram", "--unknown-count"],
        *["--text-column", "1", "--id-column", "2", "--lm-weight", "1", "--lm-weight", "0"],
    )
    values = [logprob("pro"), 0, sum(train_ngram(TRAIN, 1).sentence(["pro"])), 0, 1 + logprob("pro")]
    assert outcome.stdout.split("\t") == [
        *["pro", "a", "1"],
        *[f"{value:.4f}" if value else "0" for value in values[:-1]],
        f"{values[-1]:.4f}\n",
    ]


def test_normalised_as_the_training_text(tmp_path: Path, kbest: Path, morphlm_command: Command) -> None:
    (tmp_path / "raw").write_text("".join(" ".join(sentence) + "\n" for sentence in TRAIN))
    prepare_files([tmp_path / "raw"], tmp_path / "train", PrepareOptions(tokeniser="none"))
    train_ngram(tmp_path / "train", 2).save(tmp_path / "m")
    (tmp_path / "text").write_text("PRO Školu\n")
    assert morphlm_command("score", tmp_path / "m", tmp_path / "text", "--prepared").stdout.endswith("\t3\t2\n")
    assert morphlm_command("score", tmp_path / "m", tmp_path / "text").stdout == (f"{logprob('pro školu'):.4f}\t3\t0\n")
    kbest.write_text(LIST.replace("pro školu", "PRO Školu"))
    line = morphlm_command("rescore", tmp_path / "m", kbest).stdout.splitlines()[1]
    assert line == f"0 ||| PRO Školu ||| LM0= -2 mkn= {logprob('pro školu'):.4f} ||| -3"
    words = morphlm_command("predict", tmp_path / "m", "PRO No", "--complete", "-k", "1").stdout
    assert words.split("\t")[:2] == ["1", "novou"]


# ------------------------------------------------------------ predict


def test_predict_words(model: Path, text: Path, morphlm_command: Command) -> None:
    rows = [line.split("\t") for line in morphlm_command("predict", model, "pro", "", "-k", "2").stdout.splitlines()]
    assert [row[:2] for row in rows] == [["1", "1"], ["1", "2"], ["2", "1"], ["2", "2"]]
    expected = [*next_words(MODEL, ["pro"], 2), *next_words(MODEL, [], 2)]
    assert [row[2:] for row in rows] == [[e.word, f"{e.probability:.6g}", f"{e.share:.6g}"] for e in expected]
    lines = morphlm_command("predict", model, "-k", "1", stdin=text).stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["1", "2", "3"]


def test_predict_completions(model: Path, morphlm_command: Command) -> None:
    found = json.loads(morphlm_command("predict", model, "pro", "--prefix", "pro", "--json").stdout)
    assert sorted(entry["word"] for entry in found["words"]) == ["pro", "prosbu"]
    assert sum(entry["share"] for entry in found["words"]) == pytest.approx(1)
    assert morphlm_command("predict", model, "pro", "--prefix", "xyz").stdout == ""
    shown = morphlm_command("predict", model, "pro", "--no-end", "--unknown").stdout
    assert "</s>" not in shown
    assert "<unk>" in shown


# ------------------------------------------------------------ generate


def test_generate(model: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("generate", model, "-n", "30")
    assert len(outcome.stdout.splitlines()) == 30
    assert set(outcome.stdout.split()) <= {"pro", "novou", "školu", "prosbu"}
    assert morphlm_command("generate", model, "--sentences", "30", "--seed", "1").stdout == outcome.stdout
    assert morphlm_command("generate", model, "-n", "30", "--seed", "2").stdout != outcome.stdout
    texts = [json.loads(line) for line in morphlm_command("generate", model, "-n", "30", "--json").stdout.splitlines()]
    assert [entry["text"] for entry in texts] == outcome.stdout.split("\n")[:-1]
    assert texts[0]["logprob"] == pytest.approx(logprob(texts[0]["text"]))
    assert texts[0]["complete"] is True


def test_generate_from_a_beginning(model: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command(
        "generate", model, "-n", "5", "--begin", "pro  starou", "--max-words", "1", "--top-k", "1"
    )
    assert {tuple(line.split()[:2]) for line in outcome.stdout.splitlines()} == {("pro", "starou")}
    assert len(set(outcome.stdout.splitlines())) == 1
    assert outcome.stderr == "warning: the model does not know starou; it continues as after <unk>\n"
    greedy = morphlm_command("generate", model, "-n", "2", "--temperature", "0").stdout.splitlines()
    assert greedy[0] == greedy[1]


# ------------------------------------------------------------ what cannot work


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["score", "-"], "named more than once"),
        (["ppl", "-"], "named more than once"),
        (["score", "MODEL", "-", "-"], "named more than once"),
        (["rescore", "-"], "named more than once"),
        (["rescore", "MODEL", "LIST", "--model", "-", "--model", "-"], "named more than once"),
        (["predict", "-"], "named more than once"),
        (["predict", "MODEL", "pro", "--prefix", "a", "--complete"], "both say what the word begins with"),
        (["predict", "MODEL", "a <s>"], "<s> is a mark"),
        (["predict", "MODEL", "-k", "0", "a"], "-k"),
        (["rescore", "MODEL", "LIST", "--best"], "nothing says which hypothesis is best"),
        (["rescore", "MODEL", "LIST", "--id-column", "2"], "the list is none of columns"),
        (["rescore", "MODEL", "LIST", "--feature", "a b"], "cannot be the name of a feature"),
        (["rescore", "MODEL", "LIST", "--weights", "nowhere"], "nowhere: there is no such file"),
        (["rescore", "MODEL", "LIST", "--format", "tsv"], "list:1: 1 column between tabs"),
        (["score", "MODEL", "LIST", "--raw"], "nothing is on record"),
        (["generate", "MODEL", "--temperature", "-1"], "temperature is -1"),
        (["generate", "MODEL", "--begin", "</s>"], "</s> is a mark"),
        (["generate", "nowhere"], "there is no such model"),
    ],
)
def test_what_cannot_work_is_one_line(
    arguments: list[str], what: str, model: Path, kbest: Path, morphlm_command: Command
) -> None:
    places = {"MODEL": str(model), "LIST": str(kbest)}
    outcome = morphlm_command(*(places.get(argument, argument) for argument in arguments))
    assert outcome.status == 2
    assert what in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    assert outcome.stdout == ""


def test_an_arpa_model_may_come_through_the_pipe(
    model: Path, text: Path, tmp_path: Path, morphlm_command: Command
) -> None:
    MODEL.write_arpa(tmp_path / "m.arpa")
    outcome = morphlm_command("score", "-", text, stdin=tmp_path / "m.arpa")
    assert outcome.status == 0
    assert float(outcome.stdout.split("\t")[0]) == pytest.approx(logprob("pro školu"), abs=2e-4)


# ------------------------------------------------------------ lines before one that is refused


def test_lines_before_a_refused_one_are_answered(model: Path, tmp_path: Path, morphlm_command: Command) -> None:
    good = {"score": "pro školu\nnovou\n", "rescore": LIST, "predict": "pro\nnovou\n"}
    for command, lines in good.items():
        (tmp_path / "good").write_text(lines)
        (tmp_path / "bad").write_bytes(lines.encode() + b"bad \xff\n" + lines.encode())
        arguments = [command, model, "--prepared", *([] if command == "predict" else ["-"])]
        whole = morphlm_command(*arguments, stdin=tmp_path / "good")
        cut = morphlm_command(*arguments, stdin=tmp_path / "bad")
        assert (cut.status, cut.stdout) == (2, whole.stdout)
        assert cut.stderr.startswith(f"morphlm: <stdin>:{lines.count(chr(10)) + 1}: byte 0xff is not UTF-8")


def test_hypotheses_before_one_that_is_refused(
    model: Path, kbest: Path, tmp_path: Path, morphlm_command: Command
) -> None:
    (tmp_path / "bad").write_text(LIST + "0 ||| pro ||| LM0= 1 ||| 1\n")
    outcome = morphlm_command("rescore", model, tmp_path / "bad")
    assert outcome.stdout == morphlm_command("rescore", model, kbest).stdout
    assert (outcome.status, "bad:4: " in outcome.stderr) == (2, True)


def test_weights_may_be_longer_than_a_name_of_a_file(model: Path, kbest: Path, morphlm_command: Command) -> None:
    weights = " ".join(f"feature{number}=1" for number in range(40))
    assert morphlm_command("rescore", model, kbest, "--weights", f"LM0=1 mkn=1 {weights}").status == 0
