"""`morphlm learn` as people call it: what it says, and what it makes of texts of all sorts."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morphlm import load
from morphlm.learning.record import LearnRecord, read_record
from tests.conftest import Outcome
from tests.learning.conftest import few_steps, no_report, text  # noqa: F401
from tests.learning.small import model_bytes, paragraphs, write_text

pytestmark = pytest.mark.usefixtures("few_steps", "no_report")
Command = Callable[..., Outcome]


def learned(out: Path) -> LearnRecord:
    return read_record(out / "learn.json")


# ---------------------------------------------------------------- what it says


def test_one_command_and_what_it_says_at_the_end(text: Path, tmp_path: Path, morphlm_command: Command) -> None:  # noqa: F811
    out = tmp_path / "out"
    outcome = morphlm_command("learn", text, "--language", "cs", "--out", out)
    assert outcome.status == 0
    result = learned(out).result
    assert result is not None
    headline, perplexities, *others = outcome.stdout.splitlines()
    assert headline == f"{result.headline}." and "lower perplexity than Kneser-Ney" in headline
    figures = result.perplexities
    assert perplexities == (
        f"Perplexity of the test text: Kneser-Ney {figures['mkn'].test:.1f}, CLBL++ {figures['clbl++'].test:.1f}, both "
        f"mixed {figures['mixture'].test:.1f}."
    )
    with_caches, (chosen, losses, _, *rest) = others[: bool(result.caches)], others[bool(result.caches) :]
    assert all(line.startswith("With caches, which learn from the text before each") for line in with_caches)
    assert chosen.startswith("Chosen in ") and losses == "No token was lost on the way."
    assert rest[0] == "Try" and f"  morphlm predict {out} " in rest[1]
    assert f"{out}/report.html" in rest[-1] and (out / "README.txt").read_text().count(str(out)) > 5
    stages = [line.split(":")[0] for line in outcome.stderr.splitlines() if re.search(r": [0-9]+ s(;|$)", line)]
    assert stages == ["reading", "choosing the vocabulary", "searching", "training", "describing"]
    assert "2,637 tokens in 1 document: 2,103 to learn from" in outcome.stderr
    assert " for 2,103 tokens on " in outcome.stderr
    assert "epoch" not in outcome.stderr  # the chatter of the stages is for --verbose


def test_json_is_the_record_and_verbose_shows_the_stages(text: Path, tmp_path: Path, morphlm_command: Command) -> None:  # noqa: F811
    outcome = morphlm_command("learn", text, "--language", "cs", "--out", tmp_path / "out", "--json", "--verbose")
    content = json.loads(outcome.stdout)
    assert content.pop("out") == str(tmp_path / "out")
    assert content == json.loads((tmp_path / "out" / "learn.json").read_text())
    assert "epoch 3: development perplexity" in outcome.stderr
    again = morphlm_command("learn", text, "--language", "cs", "--out", tmp_path / "out")
    assert again.status == 0 and again.stdout.startswith(f"{tmp_path / 'out'} is complete already; it was learned in ")
    assert again.stderr == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--minutes", "0"], "0 minutes are no time to learn in; give more than 0"),
        (["--minutes", "nan"], "nan minutes are no time"),
        (["--language", "cz"], "do you mean cs (Czech)?"),
        (["--language", "th"], "Thai (th) is written without spaces between words"),
        (["--prepared", "--field", "text"], "leave out --field or --prepared"),
        (["--dev", "-", "--test", "-"], "standard input ('-') is named more than once"),
        (["--seed", "-1"], "-1 is not in the range"),
        (["--case", "upper"], "'upper' is not one of 'lower', 'keep'"),
        (["--dev", "nothing.txt"], "nothing.txt: there is no such file or folder; check the name"),
    ],
)
def test_options_that_are_refused_before_anything_is_made(
    text: Path,  # noqa: F811
    tmp_path: Path,
    options: list[str],
    message: str,
    morphlm_command: Command,
) -> None:
    outcome = morphlm_command("learn", text, *options, "--out", tmp_path / "out")
    assert outcome.status == 2 and message in outcome.stderr and outcome.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


# ---------------------------------------------------------------- texts of all sorts


def nothing_left(tmp_path: Path) -> bool:
    return not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "there is no text"),
        ("\n  \n\n", "there is no text"),
        ("slovo\n", "too little text to learn from: 1 token in 1 sentence; 100 tokens in 5 sentences are the least"),
        ("ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอนหรือวรรณยุกต์\n" * 50, "Thai (th) is written without spaces"),
        ("今天天气很好，我们去公园散步。孩子们在草地上玩耍。\n" * 50, "Chinese (zh) is written without spaces"),
        ("吾輩は猫である。名前はまだ無い。どこで生れたか。\n" * 50, "Japanese (ja) is written without spaces"),
    ],
)
def test_texts_that_are_refused_with_the_cure(
    content: str, message: str, tmp_path: Path, morphlm_command: Command
) -> None:
    (tmp_path / "text.txt").write_text(content)
    outcome = morphlm_command("learn", tmp_path / "text.txt", "--out", tmp_path / "out")
    assert outcome.status == 2 and message in outcome.stderr and nothing_left(tmp_path)


def test_what_is_no_text_is_refused(tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "image.txt").write_bytes(random.Random(1).randbytes(5000))
    (tmp_path / "empty").mkdir()
    for name, message in (("image.txt", "no text"), ("empty", "there is no text"), ("none.txt", "no such file")):
        outcome = morphlm_command("learn", tmp_path / name, "--out", tmp_path / "out")
        assert outcome.status == 2 and message in outcome.stderr and nothing_left(tmp_path)


def test_200_words_give_kneser_ney(tmp_path: Path, morphlm_command: Command) -> None:
    words = " ".join(paragraphs(8)).split()[:200]
    (tmp_path / "text.txt").write_text(" ".join(words) + "\n")
    outcome = morphlm_command("learn", tmp_path / "text.txt", "--out", tmp_path / "out")
    assert outcome.status == 0 and "the text is too small for more." in outcome.stdout
    assert load(tmp_path / "out").kind == "mkn"
    assert not (tmp_path / "out" / "vectors").exists() and (tmp_path / "out" / "segmenter").is_dir()
    result = learned(tmp_path / "out").result
    assert result is not None and len(result.commands) == 1 and "neighbours" not in outcome.stdout


@pytest.mark.parametrize(
    "content",
    [
        " ".join(paragraphs(100)) + "\n",  # one line
        "".join(f"{line}\n" for line in ["Toto je stále jedna a táž věta."] * 200),
        "".join(f"{k} {k * k} {k % 7}, {k / 8}.\n" for k in range(400)),  # only numbers
        "!!! ??? ... --- ;;;\n" * 300,
        "".join(f"{line}\r\n" for line in paragraphs(60)),
        "\ufeff" + "\n".join(paragraphs(60)),  # a byte order mark, and no newline at the end
    ],
    ids=["one line", "equal lines", "numbers", "no letters", "CRLF", "BOM"],
)
def test_odd_texts_give_a_model(content: str, tmp_path: Path, morphlm_command: Command) -> None:
    (tmp_path / "text.txt").write_bytes(content.encode())
    outcome = morphlm_command("learn", tmp_path / "text.txt", "--out", tmp_path / "out")
    assert outcome.status == 0, outcome.stderr
    assert load(tmp_path / "out").perplexity(tmp_path / "out" / "text" / "test.txt").tokens > 10


def test_two_languages_are_warned_of_with_their_shares(tmp_path: Path, morphlm_command: Command) -> None:
    english = "The children were playing in the garden while their mother was reading a long letter from the king."
    czech = "Děti si hrály na zahradě, zatímco jejich matka četla dlouhý dopis od svého bratra z hlavního města."
    (tmp_path / "text.txt").write_text(f"{czech} {czech}\n{english}\n" * 60)
    outcome = morphlm_command("learn", tmp_path / "text.txt", "--out", tmp_path / "out")
    assert outcome.status == 0
    assert "the text seems to be Czech (cs)" in outcome.stderr
    warning = next(line for line in outcome.stderr.splitlines() if line.startswith("warning: besides"))
    assert "75 % Czech (cs) there is 25 % English (en); a model of one language is better" in warning
    record = learned(tmp_path / "out").text
    assert record is not None and warning in record.notes


def test_another_language_than_was_named_is_warned_of(tmp_path: Path, morphlm_command: Command) -> None:
    english = "The children were playing in the garden while their mother was reading a long letter from the king."
    (tmp_path / "text.txt").write_text(f"{english}\n" * 60)
    outcome = morphlm_command("learn", tmp_path / "text.txt", "--language", "cs", "--out", tmp_path / "out")
    assert "it is prepared as Czech (cs), but looks like 100 % English (en)" in outcome.stderr
    assert "; if that is right, name it with --language" in outcome.stderr


def test_two_languages_of_which_neither_prevails_are_warned_of(tmp_path: Path, morphlm_command: Command) -> None:
    english = "The children were playing in the garden while their mother was reading a long letter from the king."
    czech = "Děti si hrály na zahradě, zatímco jejich matka četla dlouhý dopis od svého bratra z hlavního města."
    (tmp_path / "text.txt").write_text(f"{czech}\n{english}\n" * 60)
    outcome = morphlm_command("learn", tmp_path / "text.txt", "--out", tmp_path / "out")
    assert "the language could not be recognised" in outcome.stderr
    warning = next(line for line in outcome.stderr.splitlines() if line.startswith("warning: it looks like several"))
    assert "Czech (cs)" in warning and "English (en)" in warning
    assert warning.endswith("; a model of one language is better, take the other out")
    record = learned(tmp_path / "out").text
    assert record is not None and warning in record.notes


def test_text_that_is_tokenised_already_stays_as_it_is(tmp_path: Path, morphlm_command: Command) -> None:
    write_text(tmp_path / "raw.txt", 60)
    morphlm_command("learn", tmp_path / "raw.txt", "--language", "cs", "--out", tmp_path / "first")
    whole = "".join((tmp_path / "first" / "text" / f"{part}.txt").read_text() for part in ("train", "dev", "test"))
    (tmp_path / "tokens.txt").write_text(whole)
    outcome = morphlm_command("learn", tmp_path / "tokens.txt", "--language", "cs", "--out", tmp_path / "second")
    assert outcome.status == 0
    again = [
        line
        for part in ("train", "dev", "test")
        for line in (tmp_path / f"second/text/{part}.txt").read_text().splitlines()
    ]
    assert sorted(again) == sorted(whole.splitlines())


def test_files_that_are_on_record_as_prepared_are_taken_as_they_are(tmp_path: Path, morphlm_command: Command) -> None:
    write_text(tmp_path / "raw.txt", 60)
    prepared = tmp_path / "moses.txt"
    morphlm_command("prepare", "--language", "cs", "--tokeniser", "moses", "--out", prepared, tmp_path / "raw.txt")
    outcome = morphlm_command("learn", prepared, "--out", tmp_path / "out")
    assert outcome.status == 0 and "on record as prepared; it is taken as it is" in outcome.stderr
    model = load(tmp_path / "out")
    assert "tok:moses.cs" in str(model.signature)


def test_prepared_text_with_unk_and_texts_of_its_own(tmp_path: Path, morphlm_command: Command) -> None:
    lines = [line.replace(".", " .").lower().replace("doma", "<unk>") for line in paragraphs(100)]
    for name, begin, end in (("train", 0, 80), ("dev", 80, 90), ("test", 90, 100)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines[begin:end]))
    texts = (tmp_path / "train.txt", "--dev", tmp_path / "dev.txt", "--test", tmp_path / "test.txt", "--prepared")
    refused = morphlm_command("learn", *texts, "--out", tmp_path / "out")
    assert refused.status == 2 and "--allow-unk" in refused.stderr and nothing_left(tmp_path)
    outcome = morphlm_command("learn", *texts, "--allow-unk", "--out", tmp_path / "out")
    assert outcome.status == 0, outcome.stderr
    for part in ("train", "dev", "test"):
        assert (tmp_path / "out" / "text" / f"{part}.txt").read_text() == (tmp_path / f"{part}.txt").read_text()
    result = learned(tmp_path / "out").result
    assert result is not None and all("--allow-unk" in command for command in result.commands)


def test_an_empty_development_text_is_refused(text: Path, tmp_path: Path, morphlm_command: Command) -> None:  # noqa: F811
    (tmp_path / "empty.txt").write_text("\n")
    for options in ([], ["--prepared"]):
        outcome = morphlm_command("learn", text, "--dev", tmp_path / "empty.txt", *options, "--out", tmp_path / "out")
        assert outcome.status == 2 and "empty.txt: there " in outcome.stderr and nothing_left(tmp_path)


def test_given_development_and_test_texts_are_prepared_like_the_text(tmp_path: Path, morphlm_command: Command) -> None:
    write_text(tmp_path / "text.txt", 80)
    write_text(tmp_path / "dev.txt", 12, seed=2)
    outcome = morphlm_command(
        "learn", tmp_path / "text.txt", "--dev", tmp_path / "dev.txt", "--language", "cs", "--out", tmp_path / "out"
    )
    assert outcome.status == 0
    dev = (tmp_path / "out" / "text" / "dev.txt").read_text().split()
    assert dev == " ".join(paragraphs(12, seed=2)).replace(".", " .").lower().split()
    record = learned(tmp_path / "out").text
    assert record is not None and record.parts["test"].tokens > 0


def test_a_pipe_compressed_files_and_jsonl(tmp_path: Path, morphlm_command: Command) -> None:
    lines = paragraphs(90)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("".join(f"{line}\n" for line in lines[:30]).encode()))
    objects = [{"id": k, "body": line} for k, line in enumerate(lines[30:60])]
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in objects))
    (tmp_path / "c.txt").write_text("".join(f"{line}\n" for line in lines[60:]))
    arguments = ("--language", "cs", "--out", tmp_path / "out")
    outcome = morphlm_command(
        "learn", tmp_path / "a.txt.gz", tmp_path / "b.jsonl", "--field", "body", tmp_path / "c.txt", *arguments
    )
    assert outcome.status == 0, outcome.stderr
    record = learned(tmp_path / "out").text
    assert record is not None and record.documents == 32
    piped = morphlm_command("learn", "-", "--language", "cs", "--out", tmp_path / "piped", stdin=tmp_path / "c.txt")
    assert piped.status == 0
    again = morphlm_command("learn", "-", "--language", "cs", "--out", tmp_path / "piped")  # nothing is read
    assert again.status == 0 and "is complete already" in again.stdout


def test_case_and_another_encoding(tmp_path: Path, morphlm_command: Command) -> None:
    lines = [line.replace("Dom", "Řeka Dom") for line in paragraphs(60)]
    (tmp_path / "text.txt").write_bytes("".join(f"{line}\n" for line in lines).encode("cp1250"))
    outcome = morphlm_command(
        "learn", tmp_path / "text.txt", "--case", "keep", "--language", "cs", "--out", tmp_path / "out"
    )
    assert outcome.status == 0
    assert "text.txt: read as" in outcome.stderr  # which encoding it is
    train = (tmp_path / "out" / "text" / "train.txt").read_text()
    assert "Řeka" in train and "školou" in train


# ---------------------------------------------------------------- places


def test_places_that_cannot_be_written(text: Path, tmp_path: Path, morphlm_command: Command) -> None:  # noqa: F811
    (tmp_path / "file").write_text("no folder")
    for place in ("/dev/null/out", "/proc/out", tmp_path / "file" / "out"):
        outcome = morphlm_command("learn", text, "--language", "cs", "--out", place)
        assert outcome.status == 2 and "annot write here" in outcome.stderr, outcome.stderr


def test_a_full_disk_is_one_line_and_the_same_command_goes_on(
    text: Path,  # noqa: F811
    tmp_path: Path,
    morphlm_command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*arguments: Any, **named: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("morphlm.modelfile.write_tensors", full)
        outcome = morphlm_command("learn", text, "--language", "cs", "--out", tmp_path / "out")
    assert outcome.status == 2 and "No space left on device); make room" in outcome.stderr
    assert morphlm_command("learn", text, "--language", "cs", "--out", tmp_path / "out").status == 0


def test_without_a_home_directory(tmp_path: Path) -> None:
    write_text(tmp_path / "text.txt", 40)
    environment = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME")}
    command = [
        sys.executable,
        "-m",
        "morphlm",
        "learn",
        str(tmp_path / "text.txt"),
        "-l",
        "cs",
        "-o",
        str(tmp_path / "o"),
    ]
    done = subprocess.run(
        command, env=environment | {"HOME": "/nonexistent"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------- in a process of its own


def test_killed_it_goes_on_to_the_same_bytes_and_its_examples_run(tmp_path: Path, morphlm_command: Command) -> None:
    write_text(tmp_path / "text.txt")
    arguments = ["learn", str(tmp_path / "text.txt"), "--language", "cs", "--out", str(tmp_path / "killed")]
    process = subprocess.Popen([sys.executable, "-m", "morphlm", *arguments], stderr=subprocess.DEVNULL)
    record = tmp_path / "killed" / "learn.json"
    while process.poll() is None and not (record.is_file() and len(learned(record.parent).trials) >= 2):
        time.sleep(0.02)
    process.kill()
    process.wait()
    before = learned(record.parent)
    assert len(before.trials) >= 2 and not before.complete
    for out in (record.parent, tmp_path / "whole"):
        command = [sys.executable, "-m", "morphlm", *arguments[:-1], str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = learned(record.parent)
    assert after.trials[: len(before.trials)] == before.trials and after.complete
    assert model_bytes(tmp_path / "killed") == model_bytes(tmp_path / "whole")
    for line in done.stdout.partition("Try\n")[2].partition("\n\n")[0].splitlines():
        command = shlex.split(re.split(r"  +", line.strip())[0])[1:]
        if command[0] != "explore":
            command = [str(tmp_path / "text.txt") if word == "TEXT" else word for word in command]
            outcome = morphlm_command(*command)
            assert outcome.status == 0 and outcome.stdout, (command, outcome.stderr)


def test_no_caches_leaves_them_out(text: Path, tmp_path: Path, morphlm_command: Command) -> None:  # noqa: F811
    outcome = morphlm_command("learn", text, "--language", "cs", "--no-caches", "--out", tmp_path / "out")
    assert outcome.status == 0 and "cache" not in outcome.stdout.partition("\nTry\n")[0]
    record = learned(tmp_path / "out")
    assert record.settings["caches"] is False
    assert record.result is not None and record.result.caches is None
    again = morphlm_command("learn", text, "--language", "cs", "--out", tmp_path / "out")
    assert again.status == 2 and "(caches True instead of False); give --restart" in again.stderr
