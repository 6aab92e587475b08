from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morphlm import load, train
from morphlm.logbilinear.config import VARIANTS, LearningConfig
from morphlm.logbilinear.engine import Learner
from morphlm.training.config import TrainingConfig, recipe
from morphlm.training.log import LOG_FILE
from morphlm.training.loop import TrainingRun
from tests.conftest import GOLDEN, Outcome
from tests.training.small import contents

Command = Callable[..., Outcome]
DEV = GOLDEN / "kneser-ney" / "test.txt"
QUICK = ("--width", "8", "--epochs", "2", "--batch", "500", "--threads", "1")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first 300 sentences of the training text."""
    path = tmp_path_factory.mktemp("text") / "train.txt"
    lines = (GOLDEN / "kneser-ney" / "train.txt").read_text().splitlines()[:300]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.mark.parametrize("kind", VARIANTS)
def test_the_command_does_what_the_function_does(
    kind: str, text: Path, tmp_path: Path, morphlm_command: Command
) -> None:
    out = tmp_path / kind
    outcome = morphlm_command("train", kind, "--train", text, "--dev", DEV, "--out", out, *QUICK, "--json")
    assert outcome.status == 0
    result = json.loads(outcome.stdout)
    model = train(kind, text, DEV, stages=tmp_path / "artefacts", width=8, epochs=2, batch=500)
    assert (result["kind"], result["out"]) == (kind, str(out))
    assert result["signature"] == str(model.signature)
    assert result["training"] == model.training
    assert result["best_epoch"] == model.training["best_epoch"]
    assert result["development_perplexity"] == pytest.approx(model.training["development_perplexity"], rel=1e-6)
    assert [entry["epoch"] for entry in result["log"]] == [1, 2]
    (ppl,) = json.loads(morphlm_command("ppl", out, DEV, "--json").stdout)
    assert ppl == result["development"]


def test_the_report_for_people(text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    options = ("--train", text, "--dev", DEV, "--test", text, "--out", tmp_path / "m", *QUICK)
    first, second = (morphlm_command("train", "clbl", *options) for _ in range(2))
    assert first.stdout == second.stdout
    lines = [line.split() for line in first.stdout.splitlines()]
    model = load(tmp_path / "m")
    dev, test = model.perplexity(DEV), model.perplexity(text)
    assert lines[0] == ["clbl"]
    assert lines[1] == [
        "development",
        f"{dev.including_unknown:.2f},",
        "after",
        "epoch",
        str(model.training["best_epoch"]),
    ]
    assert lines[2][:2] == ["test", f"{test.including_unknown:.2f}"]
    assert lines[2][-2:] == [f"{test.excluding_unknown:.2f}", "excluding"]
    assert lines[3] == ["signature", str(model.signature)]
    assert lines[4] == ["written", "to", str(tmp_path / "m")]
    assert "classes: partitioning" in first.stderr
    assert "classes: found in" in second.stderr


SETTINGS: list[tuple[list[str], str, Any]] = [
    (["--step", "0.5"], "step", 0.5),
    (["--decay", "7"], "decay", 7.0),
    (["--l2-decoupled"], "l2_in_gradient", False),
    (["--l2-in-gradient"], "l2_in_gradient", True),
    (["--mean-gradients"], "mean_gradients", True),
    (["--sum-gradients"], "mean_gradients", False),
    (["--accumulator", "3"], "accumulator", 3.0),
    (["--batch", "77"], "batch", 77),
    (["--epochs", "1"], "epochs", 1),
    (["--evaluate-every", "2"], "evaluate_every", 2),
    (["--patience", "3"], "patience", 3),
    (["--step-decay", "0.5"], "step_decay", 0.5),
    (["--plateau-ratio", "0.1"], "plateau_ratio", 0.1),
    (["--init-std", "0.2"], "init_std", 0.2),
    (["--near-identity"], "near_identity", True),
    (["--gaussian"], "near_identity", False),
    (["--noise-samples", "9"], "samples", 9),
    (["--noise", "token"], "noise", "token"),
    (["--noise-block", "7"], "noise_block", 7),
    (["--noise-accumulator", "2"], "noise_accumulator", 2.0),
    (["--surface-dropout", "0.1"], "surface_dropout", 0.1),
    (["--context-dropout", "0.2"], "context_dropout", 0.2),
    (["--prediction-dropout", "0.3"], "prediction_dropout", 0.3),
    (["--seed", "5"], "seed", 5),
    (["--stop-after", "500"], "stop_after", 500),
    (["--recipe", "paper"], "recipe", "paper+"),
    (["--gather", "5"], "gather", 5),
    (["--shards", "16"], "shards", 16),
]

NAMES_OF_VERSION_0_1: list[tuple[list[str], str, Any]] = [
    (["--decay-outside"], "l2_in_gradient", False),
    (["--decay-inside"], "l2_in_gradient", True),
    (["--slow", "0.1"], "plateau_ratio", 0.1),
    (["--deviation", "0.2"], "init_std", 0.2),
]


def test_every_setting_has_an_option() -> None:
    fields = {*LearningConfig.__dataclass_fields__, *TrainingConfig.__dataclass_fields__}
    assert {field for _, field, _ in SETTINGS} == fields - {"learning"}


def test_help_shows_no_name_of_version_0_1(morphlm_command: Command) -> None:
    shown = morphlm_command("train", "clbl", "--help").stdout
    assert not [words[0] for words, _, _ in NAMES_OF_VERSION_0_1 if words[0] in shown]


@pytest.mark.parametrize(("words", "field", "value"), [*SETTINGS, *NAMES_OF_VERSION_0_1])
def test_options_reach_the_training(
    words: list[str], field: str, value: Any, text: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Command
) -> None:
    """What the loop is asked to do; the training itself is not needed."""
    tasks = []

    def remember(task: Any, *_: Any, **__: Any) -> None:
        tasks.append(task)
        raise KeyboardInterrupt

    monkeypatch.setattr("morphlm.training.logbilinear.train_model", remember)
    common = ("--train", text, "--dev", DEV, "--out", text.parent / "m", "--order", "3", "--width", "5", "--full")
    kind = {"surface_dropout": "lbl+c", "gather": "clbl"}.get(field, "lbl")
    assert morphlm_command("train", kind, *common, "--epochs", "9", *words).status == 130
    (task,) = tasks
    assert (task.config.order, task.config.width, task.config.diagonal) == (3, 5, False)
    assert task.training.to_json()[field] == value
    assert task.training.epochs == (1 if field == "epochs" else 9)


def test_vocabulary_factors_and_classes_may_be_given(text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    morphlm_command("vocab", text, "--kappa", "0.5", "--seed", "3", "--out", tmp_path / "v.tsv")
    morphlm_command(
        "classes", "--train", text, "--vocab", tmp_path / "v.tsv", "--classes", "9", "--out", tmp_path / "c"
    )
    given = ("--vocab", tmp_path / "v.tsv", "--factors", "ngrams:2-3", "--classes", tmp_path / "c")
    places = ("--out", tmp_path / "m", "--stages", tmp_path / "artefacts")
    outcome = morphlm_command("train", "clbl++", "--train", text, "--dev", DEV, *places, *given, *QUICK, "--json")
    result = json.loads(outcome.stdout)["training"]
    assert result["vocabulary"] == "given"
    assert result["factors"]["source"] == "character n-grams 2-3"
    assert (result["classes"]["classes"], result["classes"]["method"]) == (9, "tsv")
    assert load(tmp_path / "m").vocabulary.to_tsv() == (tmp_path / "v.tsv").read_text()
    assert (tmp_path / "m" / "classes.tsv").read_text() == (tmp_path / "c").read_text()
    assert not (tmp_path / "artefacts").exists()


def test_text_comes_through_a_pipe(text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    for out, source in ((tmp_path / "file", text), (tmp_path / "pipe", "-")):
        outcome = morphlm_command("train", "clbl", "--train", source, "--dev", DEV, "--out", out, *QUICK, stdin=text)
        assert outcome.status == 0
    for name in ("manifest.json", "tensors.safetensors"):
        assert (tmp_path / "file" / name).read_bytes() == (tmp_path / "pipe" / name).read_bytes()


def test_all_models_in_a_table_and_again_without_training(text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    options = ("--all", "--train", text, "--dev", DEV, "--test", text, "--out", tmp_path / "all", *QUICK)
    first = morphlm_command("train", *options)
    assert first.status == 0
    assert [line.split()[0] for line in first.stdout.splitlines()[1:10]] == [*VARIANTS, "mkn"]
    second = morphlm_command("train", *options)
    assert second.stdout == first.stdout
    assert second.stderr.count(f": found in {tmp_path / 'all'}/") == 9 + 3  # vocabulary, segmenter and classes too
    rows = json.loads(morphlm_command("train", *options, "--json").stdout)
    assert [row["out"] for row in rows] == [str(tmp_path / "all" / kind) for kind in (*VARIANTS, "mkn")]


def test_some_of_all_models(text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    options = ("--train", text, "--dev", DEV, "--out", tmp_path / "some", *QUICK)
    outcome = morphlm_command("train", "--all", "--kinds", "mkn,clbl+o", *options)
    assert outcome.status == 0
    assert sorted(path.name for path in (tmp_path / "some").iterdir()) == ["artefacts", "clbl+o", "mkn"]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--all", "--kinds", "clbl,x", "--train", "TEXT", "--dev", "DEV", "--out", "m"], "'x' is no kind of model"),
        (["clbl", "--train", "TEXT", "--out", "m"], "give --dev FILE, text that is not among the training text"),
        (["clbl", "TEXT", "--out", "m"], "(`morphlm learn TEXT --out DIR` divides a text by itself)"),
        (["TEXT"], "is a text; the kind of model comes first: `morphlm train KIND "),
        (["--all", "TEXT"], "is a text; with --all, texts are given by --train: --train "),
        (["mkn", "TEXT", "--dev", "DEV", "--out", "m"], "needs no development text; leave out --dev"),
        (["clbl", "TEXT", "--dev", "DEV", "--out", "m", "--resume", "--restart"], "give one of them"),
        (["clbl", "--train", "TEXT", "--dev", "DEV"], "give --out DIR"),
        (["clbl", "--train", "-", "--dev", "-", "--out", "m"], "named more than once"),
        (["clbl", "--vocab", "-", "--dev", "DEV", "--out", "m"], "named more than once"),
        (["clbl++", "--train", "TEXT", "--dev", "DEV", "--out", "m", "--classes", "0"], "0 classes cannot hold"),
        (["clbl++", "--train", "TEXT", "--dev", "DEV", "--out", "m", "--classes", "9999"], "cannot fill 9,999 classes"),
        (["clbl++", "--train", "TEXT", "--dev", "DEV", "--out", "artefacts"], "cannot be part of the model"),
        (["clbl++", "--train", "TEXT", "--dev", "DEV", "--out", "TEXT/m"], "is no folder to write to"),
        (["clbl", "--train", "TEXT", "--dev", "none", "--out", "m"], "none: there is no such file"),
        (["clbl", "--train", "TEXT", "--dev", "DEV", "--out", "TEXT"], "is not a model"),
        (["clbl", "--train", "TEXT", "--dev", "DEV", "--out", "m", "--stages", "DEV"], "DEV"),
        (["clbl", "--train", "TEXT", "--dev", "DEV", "--out", "m", "--classes", "none"], "none: there is no such"),
        (["clbl", "--train", "TEXT", "--dev", "DEV", "--out", "m", "--vocab", "DEV", "--kappa", "0.1"], "kappa too"),
        (["clbl", "--train", "TEXT", "--dev", "DEV", "--out", "m", "--step", "0"], "--step"),
        (["clbl", "--train", "TEXT", "--dev", "DEV", "--out", "m", "--order", "1"], "--order"),
        (["clbl++", "--train", "TEXT", "--dev", "DEV", "--out", "m", "--factors", "x"], "no source of factors"),
        (["clbl", "--train", "TEXT", "--dev", "DEV", "--out", "m", "--recipe", "x"], "--recipe"),
        (["--train", "TEXT", "--dev", "DEV", "--out", "m"], "give --all"),
        (["--all", "clbl", "--train", "TEXT"], "--all stands alone"),
        (["--seed", "3", "mkn", "--train", "TEXT"], "stand behind it"),
        (["--all", "--train", "TEXT", "--out", "m"], "give --dev FILE"),
        (["clbl+++"], "is no kind of model; do you mean clbl++ or "),
        (["x"], "is no kind of model; choose one of lbl, "),
    ],
)
def test_what_cannot_work_is_one_line_and_leaves_nothing(
    arguments: list[str],
    what: str,
    text: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    morphlm_command: Command,
) -> None:
    monkeypatch.chdir(tmp_path)
    places = {"TEXT": str(text), "DEV": str(DEV)}
    places["TEXT/m"] = f"{text}/m"
    outcome = morphlm_command("train", *(places.get(argument, argument) for argument in arguments))
    assert outcome.status == 2
    assert places.get(what, what) in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_only_plain_digits_are_a_number_of_classes(tmp_path: Path, text: Path, morphlm_command: Command) -> None:
    texts = ["--train", text, "--dev", text]
    outcome = morphlm_command("train", "clbl", *texts, "--out", tmp_path / "m", "--classes", "٣")
    assert outcome.status == 2
    assert "٣: there is no such file" in outcome.stderr


@pytest.mark.parametrize(
    ("kind", "option", "others"),
    [
        ("clbl", ["--factors", "ngrams:2-3"], "lbl+c, lbl+o, lbl++, clbl+c, clbl+o, clbl++, morpheme-cache"),
        ("lbl", ["--corpus-weight", "0.5"], "lbl+c, lbl+o, lbl++, clbl+c, clbl+o, clbl++, morpheme-cache"),
        ("lbl", ["--classes", "5"], "clbl, clbl+c, clbl+o, clbl++, class-cache"),
        ("lbl++", ["--class-method", "exchange"], "clbl, clbl+c, clbl+o, clbl++, class-cache"),
        ("clbl++", ["--noise-samples", "9"], "lbl, lbl+c, lbl+o, lbl++"),
        ("clbl++", ["--noise", "token"], "lbl, lbl+c, lbl+o, lbl++"),
        ("clbl", ["--surface-dropout", "0"], "lbl+c, lbl+o, lbl++, clbl+c, clbl+o, clbl++"),
        ("mkn", ["--full"], ", ".join(VARIANTS)),
        ("mkn", ["--step", "0.1"], ", ".join(VARIANTS)),
        ("clbl,mkn", ["--noise", "block"], "lbl, lbl+c, lbl+o, lbl++"),
    ],
)
def test_an_option_that_means_nothing_to_the_model_is_refused(
    kind: str, option: list[str], others: str, tmp_path: Path, text: Path, morphlm_command: Command
) -> None:
    which = ["--all", "--kinds", kind] if "mkn" in kind else [kind]
    common = ("--train", text, "--dev", DEV, "--out", tmp_path / "m")
    outcome = morphlm_command("train", *which, *common, *option)
    assert outcome.status == 2
    kinds = kind.replace(",", ", ")
    assert outcome.stderr == f"morphlm: {option[0]} means nothing to {kinds}; leave it out, it is for {others}\n"
    assert list(tmp_path.iterdir()) == []


def test_with_all_models_an_option_is_for_those_that_use_it(
    tmp_path: Path, text: Path, morphlm_command: Command
) -> None:
    options = ("--train", text, "--dev", DEV, "--out", tmp_path / "m", "--classes", "5", "--noise-samples", "9", *QUICK)
    outcome = morphlm_command("train", "--all", "--kinds", "mkn,lbl,clbl", *options, "--json")
    assert outcome.status == 0
    assert [row["kind"] for row in json.loads(outcome.stdout)] == ["mkn", "lbl", "clbl"]


def test_when_a_training_of_all_diverges_the_others_are_reported_and_the_status_is_2(
    tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Command
) -> None:
    original = Learner.step
    monkeypatch.setattr(
        Learner, "step", lambda self, *rest: math.nan if self.config.kind == "lbl" else original(self, *rest)
    )
    options = ("--train", text, "--dev", DEV, "--out", tmp_path / "m", *QUICK)
    outcome = morphlm_command("train", "--all", "--kinds", "lbl,clbl", *options)
    assert outcome.status == 2
    rows = [line.split() for line in outcome.stdout.splitlines()]
    assert (rows[1][0], rows[2]) == ("clbl", ["lbl", "-", "failed"])
    assert outcome.stderr.endswith("morphlm: the training of lbl failed; see above\n")
    outcome = morphlm_command("train", "--all", "--kinds", "lbl,clbl", *options, "--json")
    assert outcome.status == 2
    assert [row["kind"] for row in json.loads(outcome.stdout)] == ["clbl", "lbl"]


def test_help_shows_the_values_of_the_default_recipe(morphlm_command: Command) -> None:
    shown, of_classes = (
        " ".join(morphlm_command("train", kind, "--help").stdout.split()) for kind in ("lbl++", "clbl")
    )
    assert "--gather " not in shown
    defaults = recipe("default").to_json()
    for words, field, _ in SETTINGS:
        if isinstance(defaults[field], bool | str) or field == "seed":
            continue
        page = of_classes if field == "gather" else shown
        after = page[page.index(f"{words[0]} ") :]
        value = after[after.index("[default: ") + len("[default: ") :]
        assert float(re.split(r"[\];]", value)[0]) == defaults[field], words[0]
    for text in ("[default: l2- decoupled]", "[default: sum- gradients]", "[default: block]"):
        assert text.replace("- ", "-") in shown.replace("- ", "-")


def test_resuming_with_more_epochs(
    tmp_path: Path, text: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Command
) -> None:
    options = ("--train", text, "--dev", DEV, "--width", "8", "--batch", "500", "--patience", "9", "--threads", "1")
    evaluate, done = TrainingRun._evaluate, [0]

    def interrupt(self: TrainingRun) -> None:
        evaluate(self)
        done[0] += 1
        self._interrupted = done[0] == 1  # as Ctrl-C would

    with monkeypatch.context() as patched:
        patched.setattr(TrainingRun, "_evaluate", interrupt)
        first = morphlm_command("train", "clbl", *options, "--out", tmp_path / "m", "--epochs", "2")
    assert first.status == 130
    for more, out in (["--resume"], "m"), ([], "whole"):
        assert morphlm_command("train", "clbl", *options, "--out", tmp_path / out, "--epochs", "3", *more).status == 0
    for name in ("manifest.json", "tensors.safetensors"):
        assert (tmp_path / "m" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_train_alone_prints_its_help(morphlm_command: Command) -> None:
    outcome = morphlm_command("train")
    assert outcome.status == 2
    assert "clbl++" in outcome.stderr


def test_ctrl_c_leaves_a_checkpoint_from_which_it_goes_on(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "m"
    endless = ("--width", "4", "--batch", "500", "--epochs", "1000000", "--patience", "1000000", "--step", "1e-9")
    command = [sys.executable, "-m", "morphlm", "train", "clbl", *endless]
    command += ["--train", str(text), "--dev", str(DEV), "--out", str(out), "--classes", "5"]
    said: list[list[str]] = []
    for options in ([], ["--resume"]):
        with subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
            assert process.stderr is not None
            lines = []
            for line in process.stderr:
                lines.append(line)
                if line.startswith("epoch ") and sum(each.startswith("epoch ") for each in lines) == 2:
                    process.send_signal(signal.SIGINT)
            assert process.wait() == 130
        said.append(lines)
        assert lines[-1] == "morphlm: interrupted\n"
        assert not any("Traceback" in line for line in lines)
        assert (tmp_path / "m.checkpoint" / "manifest.json").is_file()
    epochs = [int(line.split()[1].strip(":,")) for lines in said for line in lines if line.startswith("epoch ")]
    assert epochs == list(range(1, len(epochs) + 1))  # none twice, none left out
    assert any(line.startswith("resuming after ") for line in said[1])
    assert load(out).training["best_epoch"] >= 1


def test_texts_are_arguments_too(text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    other = tmp_path / "other.txt"
    other.write_text("jiné slovo\n" * 3)
    for name, texts in (
        ("a", ["--train", text, "--train", other]),
        ("b", [text, other]),
        ("c", ["--train", text, other]),
    ):
        assert morphlm_command("train", "mkn", *texts, "--out", tmp_path / name).status == 0
    assert contents(tmp_path / "a") == contents(tmp_path / "b") == contents(tmp_path / "c")
    for name, texts in ("d", ["--train", text]), ("e", [text]):
        assert morphlm_command("train", "clbl", *texts, "--dev", DEV, *QUICK, "--out", tmp_path / name).status == 0
    assert contents(tmp_path / "d") == contents(tmp_path / "e")


def test_a_complete_model_is_not_trained_again(text: Path, tmp_path: Path, morphlm_command: Command) -> None:
    out = tmp_path / "m"
    command = ["train", "clbl", text, "--dev", DEV, "--out", out, *QUICK]
    told = f"{out} is complete, from the same text with the same settings; --restart trains it anew\n"
    first = morphlm_command(*command)
    assert first.status == 0
    assert told not in first.stderr
    before, log = contents(out), (out / LOG_FILE).read_text()
    again = morphlm_command(*command)
    assert (again.status, again.stdout) == (0, first.stdout)
    assert told in again.stderr
    assert "epoch 1" not in again.stderr
    assert (out / LOG_FILE).read_text() == log
    anew = morphlm_command(*command, "--restart")
    assert (anew.status, anew.stdout) == (0, first.stdout)
    assert told not in anew.stderr
    assert "epoch 1" in anew.stderr
    assert contents(out) == before
    other = morphlm_command(*command, "--seed", "7")
    assert told not in other.stderr  # another setting: another model


def test_restart_begins_anew_after_an_interruption(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Command
) -> None:
    command = ["train", "clbl", text, "--dev", DEV, *QUICK]
    evaluate = TrainingRun._evaluate

    def interrupt(self: TrainingRun) -> None:
        evaluate(self)
        self._interrupted = True  # as Ctrl-C would

    with monkeypatch.context() as patched:
        patched.setattr(TrainingRun, "_evaluate", interrupt)
        assert morphlm_command(*command, "--epochs", "3", "--out", tmp_path / "m").status == 130
    refused = morphlm_command(*command, "--epochs", "3", "--out", tmp_path / "m")
    assert (refused.status, refused.stderr.splitlines()[-1].endswith("--restart begins anew")) == (2, True)
    for out, more in (("m", ["--restart"]), ("whole", [])):
        done = morphlm_command(*command, "--epochs", "3", "--out", tmp_path / out, *more)
        assert done.status == 0, done.stderr
        assert "epoch 1" in done.stderr
    assert contents(tmp_path / "m") == contents(tmp_path / "whole")
