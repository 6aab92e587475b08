"""`morphlm segment`: training on a vocabulary or a text, new words in a pipe, gold, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Outcome

Command = Callable[..., Outcome]

STEMS = ["dom", "strom", "hrad", "pes", "vlak", "most", "okres", "kabát", "národ", "papír", "úřad", "život"]
ENDINGS = ["", "ovi", "em", "ech", "ových", "ama"]
WORDS = [stem + ending for stem in STEMS for ending in ENDINGS]
TRAINING = ["--perplexity-threshold", "3"]


@pytest.fixture
def vocabulary(tmp_path: Path) -> Path:
    path = tmp_path / "vocabulary.tsv"
    path.write_text("<unk>\t0\n<s>\t1\n</s>\t1\n" + "".join(f"{word}\t1\n" for word in WORDS))
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.tsv"
    path.write_text("domovi\tdom @@ovi\nhradem\thrad @@em\nxyloqovi\txyloq @@ovi\n")
    return path


def test_a_vocabulary_to_standard_output(vocabulary: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("segment", "--vocab", vocabulary, *TRAINING)
    assert outcome.status == 0
    lines = outcome.stdout.splitlines()
    assert len(lines) == len(WORDS)
    assert "1 vlak/STM + ovi/SUF" in lines
    assert outcome.stderr.startswith("72 words, ")


def test_text_and_vocabulary_give_the_same(vocabulary: Path, tmp_path: Path, morphlm_command: Command) -> None:
    text = tmp_path / "text.txt"
    text.write_text(" ".join(sorted(WORDS)) + "\n")
    made = morphlm_command("vocab", text, "--kappa", "0", "--out", vocabulary)
    assert made.status == 0
    first = morphlm_command("segment", "--train", text, *TRAINING)
    assert first.stdout == morphlm_command("segment", "--vocab", vocabulary, *TRAINING).stdout


def test_saved_it_segments_new_words_in_a_pipe(vocabulary: Path, tmp_path: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("segment", "--vocab", vocabulary, "--save", tmp_path / "dir", *TRAINING)
    assert (outcome.status, outcome.stdout) == (0, "")
    words = tmp_path / "words"
    words.write_text("xyloqovi\nxyloq\nvlakovi\nxyloqovi\n")
    outcome = morphlm_command("segment", "--load", tmp_path / "dir", stdin=words)
    known = "xyloqovi\txyloq/STM + ovi/SUF\n"
    assert outcome.stdout == known + "xyloq\txyloq/STM\nvlakovi\tvlak/STM + ovi/SUF\n" + known
    again = morphlm_command("segment", "--load", tmp_path / "dir", words, "--out", tmp_path / "out")
    assert again.stdout == ""
    assert (tmp_path / "out").read_text() == outcome.stdout


def test_gold(vocabulary: Path, gold: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("segment", "--vocab", vocabulary, "--gold", gold, *TRAINING)
    assert outcome.status == 0
    assert "seen words: " in outcome.stdout
    assert "precision 1.0000, recall 1.0000, F1 1.0000" in outcome.stdout
    outcome = morphlm_command("segment", "--vocab", vocabulary, "--gold", gold, "--json", *TRAINING)
    record = json.loads(outcome.stdout)
    assert (record["seen"]["words"], record["new"]["words"]) == (2, 1)
    assert record["new"]["f1"] == 1.0
    assert record["configuration"]["perplexity_threshold"] == 3.0
    assert record["training"]["words"] == len(WORDS)


def test_without_categories(vocabulary: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("segment", "--vocab", vocabulary, "--no-categories", "--seed", "2")
    assert "1 vlak + ovi" in outcome.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], "there is no segmenter; give --load DIR to use one, or --train TEXT or --vocab FILE to train one"),
        (["slovo"], "there is no segmenter; give --load DIR"),
        (["--vocab", "a", "--load", "b"], "give exactly one of them"),
        (["--train", "a", "--vocab", "b"], "give exactly one of them"),
    ],
)
def test_one_source(arguments: list[str], what: str, morphlm_command: Command) -> None:
    outcome = morphlm_command("segment", *arguments)
    assert outcome.status == 2
    assert what in outcome.stderr


DOMOVI, HRADEM = "domovi\tdom/STM + ovi/SUF\n", "hradem\thrad/STM + em/SUF\n"


def test_words_texts_and_pipes(vocabulary: Path, tmp_path: Path, morphlm_command: Command) -> None:
    morphlm_command("segment", "--vocab", vocabulary, "--save", tmp_path / "dir", *TRAINING)
    text = tmp_path / "text.txt"
    text.write_text("domovi hradem\n\nhradem\n")
    use = ["segment", "--load", tmp_path / "dir"]
    assert morphlm_command(*use, "domovi", "hradem").stdout == DOMOVI + HRADEM
    assert morphlm_command(*use, "domovi  hradem").stdout == DOMOVI + HRADEM
    assert morphlm_command(*use, text).stdout == DOMOVI + HRADEM + HRADEM
    assert morphlm_command(*use, stdin=text).stdout == DOMOVI + HRADEM + HRADEM
    assert morphlm_command(*use, "hradem", "-", stdin=text).stdout == HRADEM + DOMOVI + HRADEM + HRADEM
    assert morphlm_command(*use, "domovi", "--header").stdout == "word\tmorphemes\n" + DOMOVI
    told = morphlm_command(*use, "domovi", "--json").stdout
    assert json.loads(told) == {"word": "domovi", "morphemes": ["dom/STM", "ovi/SUF"]}
    missing = morphlm_command(*use, "texts.txt")
    assert (missing.status, missing.stderr) == (2, "morphlm: texts.txt: there is no such file; check the name\n")


def test_words_are_segmented_by_a_segmenter_that_was_just_trained(vocabulary: Path, morphlm_command: Command) -> None:
    assert morphlm_command("segment", "--vocab", vocabulary, *TRAINING, "domovi", "hradem").stdout == DOMOVI + HRADEM


@pytest.mark.parametrize("option", [["--corpus-weight", "0"], ["--perplexity-threshold", "1"], ["--dampening", "x"]])
def test_options_have_their_range(option: list[str], vocabulary: Path, morphlm_command: Command) -> None:
    outcome = morphlm_command("segment", "--vocab", vocabulary, *option)
    assert outcome.status == 2
    assert option[0] in outcome.stderr


def test_words_before_a_refused_line_are_segmented(vocabulary: Path, tmp_path: Path, morphlm_command: Command) -> None:
    assert morphlm_command("segment", "--vocab", vocabulary, "--save", tmp_path / "s", *TRAINING).status == 0
    (tmp_path / "words").write_bytes(b"domovi\nhradem\nbad \xff\nvlak\n")
    outcome = morphlm_command("segment", "--load", tmp_path / "s", tmp_path / "words")
    assert (outcome.status, outcome.stdout) == (2, DOMOVI + HRADEM)
    assert f"{tmp_path / 'words'}:3: " in outcome.stderr
