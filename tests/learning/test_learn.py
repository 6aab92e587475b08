"""The whole of `learn`: equal bytes, resuming at any point, repeating by `train` and `mix`, and what it refuses."""

from __future__ import annotations

import json
import shlex
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import morphlm
from morphlm import ConfigError, InputError, load
from morphlm.learning.choices import DEFAULT, START
from morphlm.learning.commands import mixed_models
from morphlm.learning.learn import Learning, learn
from morphlm.learning.pace import Budget
from morphlm.learning.record import RecordFile
from morphlm.learning.search import TrialText
from morphlm.logbilinear.engine import Learner
from morphlm.segmentation.segmenter import MorphemeSegmenter
from tests.conftest import Outcome
from tests.learning.small import model_bytes, paragraphs, record_of, write_text

pytestmark = pytest.mark.usefixtures("few_steps", "no_report")


# ---------------------------------------------------------------- what comes out


def test_a_directory_with_everything_in_it(text: Path, tmp_path: Path) -> None:
    learned = learn(text, tmp_path / "out", language="cs")
    out, record = tmp_path / "out", learned.record
    names = ["README.txt", "learn.json", "model", "report.html", "segmenter", "text", "vectors"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert record == record_of(out) and record.complete
    model = load(out)
    assert record.text is not None and record.ngrams is not None and record.choice is not None
    assert record.result is not None and record.result.caches is not None
    assert model.kind == "mixture" and [part.kind for part in model.parts] == [*mixed_models(record.result.caches)]
    # The figures are those that anybody measures on the texts that lie there.
    for part in ("dev", "test"):
        lines = (out / "text" / f"{part}.txt").read_text().splitlines()
        assert record.text.parts[part].tokens == sum(len(line.split()) for line in lines)
        found = model.perplexity(out / "text" / f"{part}.txt").including_unknown
        kept = record.result.figures
        assert found == pytest.approx(kept.test if part == "test" else kept.development)
    clbl = model.parts[1]
    assert (clbl.order, clbl.training["kappa"]) == (record.choice.model.order, record.ngrams.kappa)
    assert model.parts[0].order == record.ngrams.order


def test_all_text_is_there_once_and_in_order(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    learn(text, out, language="cs")
    parts = {part: (out / "text" / f"{part}.txt").read_text().splitlines() for part in ("train", "dev", "test")}
    words = [word.lower() for line in paragraphs(100) for word in line.replace(".", " .").split()]
    assert sorted(word for part in parts.values() for line in part for word in line.split()) == sorted(words)
    # The training text is the text without the held-out blocks, in its order.
    rest = iter(words)
    assert all(word in rest for line in parts["train"] for word in line.split())


def test_the_chosen_settings_are_the_best_of_all_trials(text: Path, tmp_path: Path) -> None:
    record = learn(text, tmp_path / "out", language="cs").record
    assert [trial.choice for trial in record.trials[:2]] == [DEFAULT, START]
    assert len(record.trials) >= 5 and record.choice is not None
    best = min(trial.perplexity for trial in record.trials)
    chosen = next(trial for trial in record.trials if trial.choice == record.choice.model)
    assert chosen.perplexity <= best * 1.0021
    assert record.ngram_trials[-1].perplexity <= 1.0011 * min(trial.perplexity for trial in record.ngram_trials)


def test_equal_input_and_seed_give_equal_bytes_with_any_number_of_threads(text: Path, tmp_path: Path) -> None:
    for name, threads in (("one", 1), ("two", 2)):
        learn(text, tmp_path / name, language="cs", threads=threads)
    learn(text, tmp_path / "other", language="cs", seed=2)
    assert model_bytes(tmp_path / "one") == model_bytes(tmp_path / "two")
    assert model_bytes(tmp_path / "one") != model_bytes(tmp_path / "other")


def test_train_and_mix_repeat_it_to_the_byte(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Callable[..., Outcome]
) -> None:
    monkeypatch.chdir(tmp_path)
    result = learn(text, Path("out"), language="cs").record.result
    assert result is not None and result.caches is not None and len(result.commands) == 3 + len(result.caches)
    for command in result.commands:
        program, *arguments = shlex.split(command)
        assert program == "morphlm" and morphlm_command(*arguments).status == 0
    again = {path.relative_to("again.mixture"): path for path in Path("again.mixture").rglob("*") if path.is_file()}
    assert len(again) > 10
    for name, path in again.items():
        assert path.read_bytes() == (Path("out/model") / name).read_bytes(), name


def test_python_texts_of_all_sorts_give_the_same_model(text: Path, tmp_path: Path) -> None:
    lines = paragraphs(100)
    learn(text, tmp_path / "file", language="cs")
    learn(lines, tmp_path / "lines", language="cs")
    learn((line for line in lines), tmp_path / "generator", language="cs")
    expected = model_bytes(tmp_path / "file")
    assert model_bytes(tmp_path / "lines") == model_bytes(tmp_path / "generator") == expected
    tokens = [
        line.split() for part in ("train",) for line in (tmp_path / "file/text/train.txt").read_text().splitlines()
    ]
    learned = learn(tokens, dev=tmp_path / "file/text/dev.txt", test=tmp_path / "file/text/test.txt")
    assert learned.directory is None and learned.model.kind == "mixture"
    assert learned.record.result is not None
    assert learned.model.perplexity([["dom", "škola"]]).tokens == 3


def test_the_public_name_takes_a_folder_and_recognises_the_language(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for number in range(3):
        write_text(tmp_path / "folder" / f"{number}.txt", 40, seed=number)
    record = morphlm.learn(tmp_path / "folder", tmp_path / "out").record
    assert record.text is not None and record.text.documents == 3
    assert [file.name for file in record.inputs] == [str(tmp_path / "folder" / f"{k}.txt") for k in range(3)]
    assert all(file.sha256 and file.bytes for file in record.inputs)


# ---------------------------------------------------------------- every command takes the directory


def test_the_directory_stands_for_its_model_and_segmenter(
    text: Path, tmp_path: Path, morphlm_command: Callable[..., Outcome]
) -> None:
    out = tmp_path / "out"
    learn(text, out, language="cs")
    assert load(out).signature == load(out / "model").signature
    assert (
        MorphemeSegmenter.load(out).segmentation.analyses
        == MorphemeSegmenter.load(out / "segmenter").segmentation.analyses
    )
    test = out / "text" / "test.txt"
    for arguments in (
        ("ppl", out, test),
        ("score", out, test),
        ("predict", out, "škola"),
        ("generate", out),
        ("neighbours", out, "škola"),
        ("export", out, tmp_path / "words.txt"),
        ("mix", out, out / "model" / "components" / "mkn", "--dev", test, "--out", tmp_path / "mixed"),
    ):
        outcome = morphlm_command(*arguments)
        assert outcome.status == 0, outcome.stderr
    assert load(tmp_path / "mixed").kind == "mixture"
    shutil.rmtree(out)
    assert load(tmp_path / "mixed").perplexity([["škola"]]).tokens == 2  # the mixture owns what it is made of


def test_raw_text_is_segmented_as_the_text_was_prepared(
    text: Path, tmp_path: Path, morphlm_command: Callable[..., Outcome]
) -> None:
    """`Škola,` was a word of its own, with the comma for a morpheme."""
    out, raw = tmp_path / "out", tmp_path / "raw.txt"
    learn(text, out, language="cs")
    raw.write_bytes("Škola, domu ulicou řekám polem školám.\r\n".encode("cp1250"))
    use = ("segment", "--load", out)
    forms = ["škola", ",", "domu", "ulicou", "řekám", "polem", "školám", "."]
    for arguments in ((raw, "--encoding", "cp1250"), ("Škola, domu ulicou řekám polem školám.",)):
        found = morphlm_command(*use, *arguments)
        assert [line.partition("\t")[0] for line in found.stdout.splitlines()] == forms, found.stderr
    assert morphlm_command(*use, "Škola,", "--prepared").stdout.startswith("Škola,\t")


def test_text_of_another_encoding_gives_the_same_bytes(text: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_bytes(text.read_text().encode("cp1250"))
    learn(text, tmp_path / "utf-8", language="cs")
    for name, encoding in (("recognised", None), ("given", "windows-1250")):
        learned = learn(other, tmp_path / name, language="cs", encoding=encoding)
        assert model_bytes(tmp_path / name) == model_bytes(tmp_path / "utf-8")
        again = learn(other, tmp_path / name, language="cs", encoding=encoding)
        assert again.record == learned.record
    with pytest.raises(ConfigError, match="encoding cp1257 instead of cp1250"):
        learn(other, tmp_path / "given", language="cs", encoding="cp1257")
    with pytest.raises(ConfigError, match="there is no encoding 'cp12500'; do you mean cp1250"):
        learn(other, tmp_path / "new", encoding="cp12500")
    assert not (tmp_path / "new").exists()


def test_a_directory_that_is_not_complete_is_no_model_yet(text: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Learning, "choose_vocabulary", interrupt)
        with pytest.raises(KeyboardInterrupt):
            learn(text, tmp_path / "out", language="cs")
    with pytest.raises(morphlm.FormatError, match="no model here yet; go on with `learn"):
        load(tmp_path / "out")


# ---------------------------------------------------------------- interrupted


def interrupt(*arguments: Any, **named: Any) -> Any:
    raise KeyboardInterrupt


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The model that an uninterrupted run gives."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        from tests.learning.conftest import FEW_STEPS

        patch.setattr("morphlm.learning.search.LADDERS", FEW_STEPS)
        patch.setattr("morphlm.learning.choices.LADDERS", FEW_STEPS)
        patch.setattr("morphlm.learning.finishing.write_report", lambda scored, out: None)
        learn(write_text(folder / "novel.txt"), folder / "out", language="cs")
    return model_bytes(folder / "out")


STAGES = ("read_and_divide", "choose_vocabulary", "search_settings", "train", "finish")


@pytest.mark.parametrize("stage", STAGES)
def test_interrupted_before_a_stage_it_goes_on_to_the_same_bytes(
    stage: str, text: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Learning, stage, interrupt)
        with pytest.raises(KeyboardInterrupt):
            learn(text, tmp_path / "out", language="cs")
    with pytest.MonkeyPatch.context() as patch:  # what was done is not done again
        for done in STAGES[: STAGES.index(stage)][:1]:
            assert done == "read_and_divide"
            patch.setattr("morphlm.learning.learn.make_texts", interrupt)
        learn(text, tmp_path / "out", language="cs")
    assert model_bytes(tmp_path / "out") == whole


@pytest.mark.parametrize("moment", range(1, 15, 2))
def test_killed_while_the_record_is_written_it_goes_on_to_the_same_bytes(
    moment: int, text: Path, tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    update, calls = RecordFile.update, count(1)

    def killed(self: RecordFile, **changes: Any) -> None:
        if next(calls) == moment:
            raise KeyboardInterrupt
        update(self, **changes)

    monkeypatch.setattr(RecordFile, "update", killed)
    with pytest.raises(KeyboardInterrupt):
        learn(text, tmp_path / "out", language="cs")
    learn(text, tmp_path / "out", language="cs")
    assert model_bytes(tmp_path / "out") == whole


def test_interrupted_within_the_last_training_it_goes_on_from_the_checkpoint(
    text: Path, tmp_path: Path, whole: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    step, steps, train = Learner.step, count(1), Learning.train

    def interrupted(self: Learner, *arguments: Any) -> float:
        if next(steps) == 7:
            raise KeyboardInterrupt
        return step(self, *arguments)

    def only_here(self: Learning) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Learner, "step", interrupted)
            train(self)

    monkeypatch.setattr(Learning, "train", only_here)
    with pytest.raises(KeyboardInterrupt):
        learn(text, tmp_path / "out", language="cs")
    monkeypatch.setattr(Learning, "train", train)
    learn(text, tmp_path / "out", language="cs")
    assert model_bytes(tmp_path / "out") == whole


def test_trials_that_are_on_record_are_not_made_again(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = TrialText.run
    made: list[Any] = []

    def counted(self: TrialText, choice: Any, deadline: Any) -> Any:
        if len(made) == 3:
            made.append(None)
            raise KeyboardInterrupt
        made.append(choice)
        return run(self, choice, deadline)

    monkeypatch.setattr(TrialText, "run", counted)
    with pytest.raises(KeyboardInterrupt):
        learn(text, tmp_path / "out", language="cs")
    learn(text, tmp_path / "out", language="cs")
    tried = [choice for choice in made if choice is not None]
    assert len(tried) == len(set(tried)) == len(record_of(tmp_path / "out").trials)


def test_complete_it_says_so_at_once(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = learn(text, tmp_path / "out", language="cs")
    monkeypatch.setattr(Learning, "run", interrupt)
    began = time.process_time()
    again = learn(text, tmp_path / "out", language="cs", minutes=3, threads=1)
    assert time.process_time() - began < 0.5
    assert again.was_complete and not before.was_complete
    assert again.record == before.record
    assert "is complete already" in again.format() and before.format() in again.format()
    text.touch()  # another time, the same content
    assert learn(text, tmp_path / "out", language="cs").was_complete


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"case": "keep"}, "case keep instead of lower"),
        ({"seed": 2}, "seed 2 instead of 1"),
        ({"language": "sk"}, "language sk instead of cs"),
    ],
)
def test_other_options_are_refused_and_restart_begins_anew(
    text: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    options: dict[str, Any] = {"language": "cs"}
    learn(text, tmp_path / "out", **options)
    with pytest.raises(ConfigError, match=f"other input .{message}.; give restart=True"):
        learn(text, tmp_path / "out", **options | change)
    learn(text, tmp_path / "out", **options | change, restart=True)
    assert record_of(tmp_path / "out").settings.items() >= change.items()


def test_changed_input_is_noticed(text: Path, tmp_path: Path) -> None:
    learn(text, tmp_path / "out", language="cs")
    content = text.read_text()
    text.write_text(content.replace("Dom", "Doma", 1))
    with pytest.raises(ConfigError, match=f"{text.name} has changed"):
        learn(text, tmp_path / "out", language="cs")
    text.write_text(content.replace("dom", "DOM", 1))  # of the same size
    with pytest.raises(ConfigError, match=f"{text.name} has changed"):
        learn(text, tmp_path / "out", language="cs")
    text.write_text(content)
    assert learn(text, tmp_path / "out", language="cs").was_complete
    other = write_text(tmp_path / "other.txt", 10)
    with pytest.raises(ConfigError, match=r"other\.txt is new"):
        learn([text, other], tmp_path / "out", language="cs")
    with pytest.raises(ConfigError, match=r"other\.txt is new; without .*novel\.txt"):
        learn(other, tmp_path / "out", language="cs")


# ---------------------------------------------------------------- places


def test_a_place_with_other_content_is_left_alone(text: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    for restart in (False, True):
        with pytest.raises(InputError, match="was not made by `learn`; choose another out="):
            learn(text, tmp_path / "mine", restart=restart)
    with pytest.raises(InputError, match="was not made by"):
        learn(text, text.parent / "mine" / "thesis.txt")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_restart_removes_only_what_learn_has_made(text: Path, tmp_path: Path) -> None:
    learn(text, tmp_path / "out", language="cs")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    learn(text, tmp_path / "out", language="cs", seed=3, restart=True)
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine"


def test_a_place_inside_of_the_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    write_text(tmp_path / "texts" / "a.txt")
    with pytest.raises(ConfigError, match="lies in the text"):
        learn(tmp_path / "texts", tmp_path / "texts" / "out")
    with pytest.raises(ConfigError, match="lies around the text"):
        learn(tmp_path / "texts" / "a.txt", tmp_path / "texts")


def test_a_damaged_record_is_refused_and_restart_mends_it(text: Path, tmp_path: Path) -> None:
    learn(text, tmp_path / "out", language="cs")
    path = tmp_path / "out" / "learn.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"complete": "yes"}))
    with pytest.raises(morphlm.FormatError, match=r"complete is 'yes', not true or false.*--restart"):
        learn(text, tmp_path / "out", language="cs")
    assert learn(text, tmp_path / "out", language="cs", restart=True).record.complete


def test_two_at_once_are_refused(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def second(self: Learning) -> None:
        with pytest.raises(ConfigError, match=r"another process is writing here.*give another out="):
            learn(text, tmp_path / "out", language="cs")
        raise KeyboardInterrupt

    monkeypatch.setattr(Learning, "run", second)
    with pytest.raises(KeyboardInterrupt):
        learn(text, tmp_path / "out", language="cs")


# ---------------------------------------------------------------- the time


def test_a_training_that_the_time_ended_can_be_repeated_to_the_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Callable[..., Outcome]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_text(Path("novel.txt"))
    train, looks = Learning.train, count()

    def timed(self: Learning) -> None:
        with monkeypatch.context() as patch:  # in the training, each look at the clock takes a second
            patch.setattr("morphlm.training.loop.time", SimpleNamespace(monotonic=lambda: float(next(looks))))
            patch.setattr(Budget, "deadline", lambda self, reserve: 70.0)
            train(self)

    monkeypatch.setattr(Learning, "train", timed)
    record = learn(Path("novel.txt"), Path("out"), language="cs", minutes=10).record
    assert record.choice is not None and record.result is not None
    assert record.choice.stop_after > 0 and record.result.kind == "mixture"
    assert f"--stop-after {record.choice.stop_after}" in record.result.commands[1]
    for command in record.result.commands:
        assert morphlm_command(*shlex.split(command)[1:]).status == 0
    for path in Path("again.mixture").rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (Path("out/model") / path.relative_to("again.mixture")).read_bytes()


def test_a_search_without_time_ends_with_what_it_has(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = TrialText.run

    def slow(self: TrialText, choice: Any, deadline: Any) -> Any:
        trial = run(self, choice, deadline)
        monkeypatch.setattr(Budget, "elapsed", property(lambda self: 280.0))  # of 300 seconds
        return trial

    monkeypatch.setattr(TrialText, "run", slow)
    record = learn(text, tmp_path / "out", language="cs", minutes=5).record
    assert len(record.trials) == 1 and record.complete
    assert record.choice is not None and replace(record.choice, stop_after=0).model == DEFAULT


def test_a_trial_that_takes_too_long_is_stopped_and_leaves_time_for_the_training(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = TrialText.run
    monkeypatch.setattr(TrialText, "run", lambda self, choice, deadline: run(self, choice, deadline - 300))
    record = learn(text, tmp_path / "out", language="cs", minutes=5).record
    assert record.trials == () and record.choice is not None and record.choice.model == START
    assert record.result is not None and record.result.kind == "mixture"


def test_with_little_time_only_a_part_of_the_text_is_used_and_that_is_said_loudly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("morphlm.learning.pace.NGRAM_TOKEN", 1.0)  # a second a token
    text = write_text(tmp_path / "long.txt", 200)
    learned = learn(text, tmp_path / "out", language="cs", minutes=1500 / 60)
    record = learned.record.text
    assert record is not None and 0 < record.left_out < 4000
    assert record.tokens + record.left_out == len(text.read_text().replace(".", " .").split())
    assert f"WARNING: much of the text was lost: {record.left_out:,} of" in learned.format()
    assert "left out for lack of time" in learned.format()
