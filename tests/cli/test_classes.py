from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from morphlm.classes.exchange import Exchange
from tests.classes.reference import planted_text
from tests.conftest import Outcome

Command = Callable[..., Outcome]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    sentences, _ = planted_text(np.random.default_rng(1), groups=6, words=10, tokens=3_000)
    path = tmp_path / "text.txt"
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences))
    return path


def test_classes_are_written_and_reported(text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    out = tmp_path / "classes.tsv"
    outcome = morphlm_command("classes", "--train", text, "--classes", "7", "--kappa", "0", "--out", out, "--json")
    assert outcome.status == 0
    result = json.loads(outcome.stdout)
    assert (result["classes"], result["words"], result["method"]) == (7, 62, "exchange")
    assert result["sizes"] == {"min": 1, "median": 10.0, "max": 11}
    assert result["signature"].startswith("ami|method:exchange|C:7|V:63|kappa:0|seed:1|v:")
    rows = [line.split("\t") for line in out.read_text().splitlines()]
    assert len(rows) == 62
    groups = {row[1].split(".")[0]: row[0] for row in rows}
    assert all(groups[word.split(".")[0]] == label for label, word, _ in rows if word != "<unk>")
    # what was written, read again, has the same objective
    again = morphlm_command("classes", "--train", text, "--kappa", "0", "--read", out, "--json")
    assert json.loads(again.stdout)["mutual_information"] == pytest.approx(result["mutual_information"], abs=1e-12)
    assert again.stderr == ""


def test_talk_and_examples(text: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("classes", "--train", text, "--classes", "7", "--kappa", "0", "--examples")
    lines = outcome.stdout.splitlines()
    assert lines[0] == "exchange: 62 words in 7 classes"
    assert lines[1].startswith("mutual information of adjacent classes: 0.")
    assert lines[2] == "words in a class: 1 to 11, median 10"
    examples = [line.split("\t") for line in lines[4:]]
    assert [row[0] for row in examples] == [str(number) for number in range(7)]
    assert ["</s>"] in [row[2].split(" ") for row in examples]
    assert all(len(row[2].split(" ")) in (1, 10) for row in examples)


def test_threads_do_not_change_the_file(text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    for threads in ("1", "2"):
        morphlm_command("classes", "--train", text, "--threads", threads, "--out", tmp_path / threads)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    piped = morphlm_command("classes", "--out", "-", stdin=text)
    assert piped.stdout == (tmp_path / "1").read_text()
    assert "exchange: " in piped.stderr


@pytest.mark.parametrize("method", ["frequency", "root-frequency"])
def test_frequency_bins(text: Path, method: str, morphlm_command: Command) -> None:
    outcome = morphlm_command("classes", "--train", text, "--method", method, "--classes", "5", "--json", "--examples")
    result = json.loads(outcome.stdout)
    assert result["method"] == method
    assert len(result["examples"]) == 5
    assert 0 < result["mutual_information"] < 0.5


def test_a_vocabulary_can_be_given(text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "v.tsv").write_text("<unk>\t0\n<s>\t300\n</s>\t300\nw0.0\t9\nw1.0\t9\nmore\t0\n")
    outcome = morphlm_command("classes", "--train", text, "--vocab", tmp_path / "v.tsv", "--classes", "3", "--json")
    result = json.loads(outcome.stdout)
    assert result["words"] == 5
    assert "|kappa:given|" in result["signature"]


def test_a_brown_file_is_evaluated(text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "paths").write_text("0\tw0.0\t5\n1\tw1.0\t5\n11\tnever\t1\n")
    outcome = morphlm_command(
        "classes", "--train", text, "--kappa", "0", "--read", tmp_path / "paths", "--format", "paths"
    )
    assert outcome.stdout.startswith("paths: 62 words in 3 classes\n")
    assert "paths: not in the file: 60 words of the vocabulary; unknown: 1 of the file" in outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--classes", "1000"], "words cannot fill 1,000 classes; ask for at most"),
        (["--classes", "0"], "0 classes cannot hold anything; ask for 1 or more"),
        (["--classes", "5", "--max-class-size", "3"], "do not fit into 5 classes of at most 3"),
        (["--method", "frequency", "--max-class-size", "3"], "use --method exchange or leave out --max-class-size"),
        (["--read", "x", "--classes", "3"], "leave out --classes"),
    ],
)
def test_impossible_options_are_refused(
    text: Path, arguments: list[str], message: str, morphlm_command: Command
) -> None:
    outcome = morphlm_command("classes", "--train", text, *arguments)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert message in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_an_interrupt_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Callable[..., Outcome]
) -> None:
    visit = Exchange.visit

    def interrupted(search: Exchange, words: np.ndarray, temperature: float, bar: object = None) -> tuple[int, float]:
        if temperature:  # in the middle of the search
            raise KeyboardInterrupt
        return visit(search, words, temperature, bar)

    monkeypatch.setattr(Exchange, "visit", interrupted)
    (tmp_path / "text.txt").write_text("a b c\nb c a\nc a b\nd e\n")
    (tmp_path / "out").write_text("precious\n")
    outcome = morphlm_command("classes", "--train", tmp_path / "text.txt", "--classes", "3", "--out", tmp_path / "out")
    assert outcome.status == 130
    assert outcome.stderr.splitlines()[-1] == "morphlm: interrupted"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "text.txt"]
    assert (tmp_path / "out").read_text() == "precious\n"
