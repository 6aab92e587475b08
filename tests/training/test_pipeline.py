from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import morphlm
from morphlm import ConfigError, InputError, TrainingError, load, train, train_ngram
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import Perplexity
from morphlm.logbilinear.config import VARIANTS, LearningConfig
from morphlm.logbilinear.engine import Learner
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.modelfile import read_model
from morphlm.threads import workers
from morphlm.training.config import RECIPES, TrainingConfig, recipe
from morphlm.training.inputs import HeldOut, InputOptions, prepare_inputs
from morphlm.training.job import RunOptions
from morphlm.training.log import LOG_FILE
from morphlm.training.loop import TrainingRun
from morphlm.training.pipeline import ModelOptions, fit, train_all
from tests.conftest import GOLDEN

TRAIN, DEV = GOLDEN / "kneser-ney" / "train.txt", GOLDEN / "kneser-ney" / "test.txt"
SENTENCES = [line.split() for line in TRAIN.read_text().splitlines()[:300]]
HELD_OUT = [line.split() for line in DEV.read_text().splitlines()[:50]]
QUICK: dict[str, Any] = {"width": 8, "epochs": 2, "batch": 500, "threads": 1}
KINDS = (*VARIANTS, "mkn")
CHOICES = ModelOptions(width=8, settings={"epochs": 2, "batch": 500})


def contents(folder: Path) -> dict[str, bytes]:
    """All files but the log, which has times in it."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != LOG_FILE]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


# ---------------------------------------------------------------- one model


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_from_sentences_without_a_folder(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = train(kind, SENTENCES, iter(HELD_OUT), **({} if kind == "mkn" else {"classes": 6, **QUICK}))
    assert (model.kind, model.order) == (kind, 4)
    assert model.distribution(model.begin()).sum() == pytest.approx(1.0, abs=1e-6)
    assert model.training["kappa"] == 0.2
    assert model.training["vocabulary"] == "of the text"
    if kind != "mkn":
        perplexity = model.perplexity(HELD_OUT).including_unknown
        assert model.training["development_perplexity"] == pytest.approx(perplexity, rel=1e-5)
        assert (model.training["classes"] is None) == kind.startswith("lbl")
        assert (model.training["factors"] is None) == (kind in ("lbl", "clbl"))
    assert list(tmp_path.iterdir()) == []


def test_the_development_text_is_scored_again_only_for_figures_that_training_has_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scored: list[LanguageModel] = []
    score = HeldOut.perplexity

    def counted_score(text: HeldOut, model: LanguageModel) -> Perplexity:
        scored.append(model)
        return score(text, model)

    monkeypatch.setattr(HeldOut, "perplexity", counted_score)
    inputs = prepare_inputs(SENTENCES, HELD_OUT, InputOptions(), factors=True, classes=True)
    trained = fit("clbl++", inputs, CHOICES)
    assert f"development  {trained.development_perplexity:.2f}, after epoch 2" in trained.format()
    assert [row["development_perplexity"] for row in trained.frame_rows()] == [trained.development_perplexity]
    assert scored == []
    assert trained.development.including_unknown == pytest.approx(trained.development_perplexity, rel=1e-5)
    assert trained.development is trained.development
    assert len(scored) == 1
    ngrams = fit("mkn", inputs, ModelOptions())  # which measure nothing by themselves
    assert ngrams.development_perplexity == ngrams.development.including_unknown


def test_the_directory_holds_the_model_its_log_and_how_it_came_about(tmp_path: Path) -> None:
    model = train("clbl++", SENTENCES, HELD_OUT, tmp_path / "m", classes=6, corpus_weight=0.7, **QUICK)
    again = load(tmp_path / "m")
    assert again.sentence(HELD_OUT[0]) == model.sentence(HELD_OUT[0])
    log = [json.loads(line) for line in (tmp_path / "m" / LOG_FILE).read_text().splitlines()]
    assert [entry["epoch"] for entry in log] == [1, 2]
    assert min(entry["development_perplexity"] for entry in log) == again.training["development_perplexity"]
    record = read_model(tmp_path / "m").training
    assert record["factors"]["source"] == "segmenter, corpus weight 0.7"
    assert (record["classes"]["classes"], record["classes"]["method"]) == (6, "exchange")
    assert (record["recipe"], record["epochs"], record["batch"], record["sentences"]) == ("default+", 2, 500, 300)
    assert sorted(path.name.partition("-")[0] for path in tmp_path.iterdir()) == ["artefacts", "m"]


def test_equal_seeds_give_equal_bytes_whether_stages_are_made_or_found(tmp_path: Path) -> None:
    for folder, stages in (("one", "one"), ("two", "two"), ("three", "one")):
        train("clbl+c", SENTENCES, HELD_OUT, tmp_path / folder / "m", stages=tmp_path / stages / "stages", **QUICK)
    model = contents(tmp_path / "one" / "m")
    assert set(model) > {"manifest.json", "tensors.safetensors", "vocabulary.tsv", "classes.tsv", "factors.tsv"}
    assert contents(tmp_path / "two" / "m") == model
    assert contents(tmp_path / "three" / "m") == model
    assert contents(tmp_path / "two" / "stages") == contents(tmp_path / "one" / "stages")


def test_the_second_model_on_the_same_text_finds_the_stages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train("clbl", SENTENCES, HELD_OUT, tmp_path / "clbl", **QUICK)
    assert "found" not in capsys.readouterr().err
    train("clbl++", SENTENCES, HELD_OUT, tmp_path / "clbl++", **QUICK)
    said = capsys.readouterr().err
    assert "classes: found in " in said
    assert "segmenter: learning" in said  # CLBL had no use for one


def test_mkn_is_that_of_train_ngram_on_the_same_vocabulary(tmp_path: Path) -> None:
    model = train("mkn", SENTENCES, HELD_OUT, tmp_path / "m", order=3, kappa=0.3, seed=4)
    expected = train_ngram(SENTENCES, 3, kappa=0.3, seed=4)
    assert model.vocabulary.words == expected.vocabulary.words
    assert model.perplexity(HELD_OUT).logprob == expected.perplexity(HELD_OUT).logprob
    assert str(model.signature) == str(expected.signature)
    assert load(tmp_path / "m").sentence(["na"]) == model.sentence(["na"])


def test_discounts_that_cannot_be_estimated_are_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    train("mkn", [["a", "b"]], [["a"]], order=2, kappa=0.0)
    assert capsys.readouterr().err.count("warning: no ") == 2  # one an order


def test_a_given_vocabulary_shows_in_the_signature() -> None:
    vocabulary = train_ngram(SENTENCES, 1).vocabulary
    for kind, settings in (("mkn", {}), ("lbl", QUICK)):
        model = train(kind, SENTENCES, HELD_OUT, vocabulary=vocabulary, **settings)
        assert model.signature.value("kappa") == "given"
        assert model.vocabulary.words == vocabulary.words


def test_resuming_what_is_complete_trains_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    train("clbl", SENTENCES, HELD_OUT, tmp_path / "m", classes=6, **QUICK)
    before = contents(tmp_path)
    monkeypatch.setattr(TrainingRun, "train", lambda _: pytest.fail("trained again"))
    train("clbl", SENTENCES, HELD_OUT, tmp_path / "m", classes=6, resume=True, **QUICK)
    assert "nothing to resume" in capsys.readouterr().err
    assert contents(tmp_path) == before
    with pytest.raises(ConfigError, match="other data or other settings"):
        train("clbl", SENTENCES, HELD_OUT, tmp_path / "m", classes=7, resume=True, **QUICK)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"kind": "clbl+++"}, r"is no kind of model; do you mean clbl\+\+ or"),
        ({"order": 1}, "order is 1; it must be a whole number at least 2"),
        ({"kind": "mkn", "order": 0}, "order is 0; it must be a whole number at least 1"),
        ({"kind": "mkn"}, "width means nothing to mkn; leave it out, it is for lbl, .*"),
        ({"width": 0}, "width is 0; it must be a whole number at least 1"),
        ({"recipe": "secret"}, "choose one of default, paper"),
        ({"stepp": 1}, "no setting stepp"),
        ({"step": -1.0}, "step is -1.0"),
        ({"kappa": 2.0}, "kappa"),
        ({"classes": 0}, "0 classes"),
        ({"classes": 10**6}, "cannot fill 1,000,000 classes"),
        ({"vocabulary": "-", "source": "-"}, "standard input .* more than once"),
        ({"vocabulary": "-", "factors": "table:-"}, "standard input .* more than once"),
        ({"classes": "paths:-", "dev": "-"}, "standard input .* more than once"),
        ({"threads": 0}, "threads is 0; it must be a whole number at least 1"),
        ({"checkpoint_minutes": -1.0}, "checkpoint_minutes is -1.0; it must be a finite number at least 0"),
        ({"factors": "magic"}, "names no source of factors"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(arguments: dict[str, Any], what: str, tmp_path: Path) -> None:
    given = {"kind": "clbl++", "source": SENTENCES, "dev": HELD_OUT, "out": tmp_path / "m", **QUICK} | arguments
    with pytest.raises(ConfigError, match=what):
        train(**given)
    assert list(tmp_path.iterdir()) == []  # no stages either: it was refused before anything was made


def test_a_place_that_is_no_model_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    with pytest.raises(InputError, match="not a model"):
        train("clbl", SENTENCES, HELD_OUT, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_a_place_below_a_file_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morphlm.training.pipeline.prepare_inputs", lambda *_, **__: pytest.fail("something is made"))
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file/new/m: cannot write here \(.*file is no folder"):
        train("clbl", SENTENCES, HELD_OUT, tmp_path / "file" / "new" / "m")
    with pytest.raises(InputError, match="is no folder to write to"):
        train_all(SENTENCES, HELD_OUT, tmp_path / "file")


@pytest.mark.parametrize(
    ("out", "stages"), [("artefacts", None), ("m", "m"), ("m", "m/made/here"), ("m", "m.checkpoint"), ("x/../m", "./m")]
)
def test_stages_do_not_lie_in_the_model(
    out: str, stages: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("morphlm.training.pipeline.prepare_inputs", lambda *_, **__: pytest.fail("something is made"))
    with pytest.raises(ConfigError, match="which cannot be part of the model; choose another out= or artefacts="):
        train("clbl", SENTENCES, HELD_OUT, tmp_path / out, stages=None if stages is None else tmp_path / stages)
    assert list(tmp_path.iterdir()) == []


def test_stages_of_all_models_do_not_lie_in_one_of_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be part of the model"):
        train_all(SENTENCES, HELD_OUT, tmp_path, artefacts=tmp_path / "clbl+o")


def test_texts_are_scored_with_the_threads_of_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morphlm.logbilinear.model.SMALL_TEXT", 1)
    given = []
    original = workers

    def watched(threads: int) -> Any:
        given.append(threads)
        return original(threads)

    choices, stages = ModelOptions(width=8, settings={"epochs": 1}), InputOptions(classes=6)
    inputs = prepare_inputs(SENTENCES, HELD_OUT, stages, factors=False, test=HELD_OUT[:20])
    for _ in range(2):  # trained, then found complete
        trained = fit("clbl", inputs, choices, RunOptions(threads=3, keep_complete=True), tmp_path / "m")
        monkeypatch.setattr("morphlm.logbilinear.model.workers", watched)
        trained.model.score_tokens(inputs.dev.corpus.tokens)
        monkeypatch.setattr("morphlm.logbilinear.model.workers", original)
        assert given[-1] == 3
        given.clear()
    loaded = load(tmp_path / "m")
    assert isinstance(loaded, LogBilinearModel)
    assert loaded.threads is None


# ---------------------------------------------------------------- recipes


def test_recipes() -> None:
    assert {name: config.recipe for name, config in RECIPES.items()} == {"default": "default", "paper": "paper"}
    paper = recipe("paper")
    assert not paper.learning.l2_in_gradient
    assert not paper.learning.mean_gradients
    assert (paper.learning.step, paper.step_decay, paper.init_std) == (0.05, 1.0, 0.1)
    assert recipe("default", seed=7).recipe == "default"
    changed = recipe("default", seed=7, step=0.5, batch=3)
    assert (changed.recipe, changed.learning.step, changed.batch, changed.seed) == ("default+", 0.5, 3, 7)
    assert RECIPES["default"].seed == TrainingConfig().seed
    both = recipe("default", accumulator=2.0).learning
    assert (both.accumulator, both.noise_accumulator) == (2.0, 2.0)
    assert recipe("default", accumulator=2.0, noise_accumulator=0.5).learning.noise_accumulator == 0.5
    assert set(changed.to_json()) >= set(LearningConfig.__dataclass_fields__)


# ---------------------------------------------------------------- all of them


def test_all_models_share_stages_and_come_in_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stages = InputOptions(classes=6, threads=1)
    comparison = train_all(SENTENCES, HELD_OUT, tmp_path, stages, CHOICES, RunOptions(threads=1), test=HELD_OUT[:20])
    assert [trained.model.kind for trained in comparison.models] == [*VARIANTS, "mkn"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*KINDS, "artefacts"])
    assert len(list((tmp_path / "artefacts").iterdir())) == 3
    lines = comparison.format().splitlines()
    assert lines[0].split() == ["epoch", "development", "test"]
    for line, row in zip(lines[1:], comparison.to_json(), strict=False):
        model = load(tmp_path / row["kind"])
        dev, test = (model.perplexity(text).including_unknown for text in (HELD_OUT, HELD_OUT[:20]))
        assert row["development_perplexity"] == pytest.approx(dev, rel=1e-6)
        assert row["test"]["perplexity_including_unknown"] == pytest.approx(test, rel=1e-6)
        epoch = str(row["best_epoch"]) if row["kind"] != "mkn" else "-"
        assert line.split() == [row["kind"], epoch, f"{dev:.2f}", f"{test:.2f}"]
        assert len(row["log"]) == (0 if row["kind"] == "mkn" else 2)
    assert lines[-1].startswith("signature: ppl|n:4|V:")

    single = train("clbl+o", SENTENCES, HELD_OUT, tmp_path / "single", classes=6, **QUICK)
    assert contents(tmp_path / "single") == contents(tmp_path / "clbl+o")
    assert single.signature == comparison.models[6].model.signature

    # Complete as they are, none is trained again.
    monkeypatch.setattr(TrainingRun, "train", lambda _: pytest.fail("trained again"))
    monkeypatch.setattr("morphlm.training.kneser_ney.train_ngram_on", lambda *_: pytest.fail("trained again"))
    again = train_all(SENTENCES, HELD_OUT, tmp_path, stages, CHOICES)
    assert [row["development"] for row in again.to_json()] == [row["development"] for row in comparison.to_json()]
    assert [row["log"] for row in again.to_json()] == [row["log"] for row in comparison.to_json()]
    assert again.format().splitlines()[0].split() == ["epoch", "development"]


def test_an_interrupted_comparison_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stages, kinds = InputOptions(classes=6), ("clbl", "clbl+o", "mkn")
    train_all(SENTENCES, HELD_OUT, tmp_path / "whole", stages, CHOICES, kinds=kinds)
    evaluations = 0
    original = TrainingRun._evaluate

    def interrupt(self: TrainingRun) -> None:
        nonlocal evaluations
        evaluations += 1
        self._interrupted = evaluations == 4  # as Ctrl-C would
        original(self)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingRun, "_evaluate", interrupt)
        with pytest.raises(KeyboardInterrupt):
            train_all(SENTENCES, HELD_OUT, tmp_path / "cut", stages, CHOICES, kinds=kinds)
    assert (tmp_path / "cut" / "clbl+o.checkpoint").is_dir()
    with pytest.raises(ConfigError, match="resume=True"):
        train_all(SENTENCES, HELD_OUT, tmp_path / "cut", stages, CHOICES, kinds=kinds)
    train_all(SENTENCES, HELD_OUT, tmp_path / "cut", stages, CHOICES, RunOptions(resume=True), kinds=kinds)
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_other_settings_are_trained_anew(tmp_path: Path) -> None:
    kinds = ("clbl", "mkn")
    one = train_all(SENTENCES, HELD_OUT, tmp_path, InputOptions(classes=6), CHOICES, kinds=kinds)
    choices = ModelOptions(order=3, width=8, settings=CHOICES.settings)
    other = train_all(SENTENCES, HELD_OUT, tmp_path, InputOptions(classes=6), choices, kinds=kinds)
    assert [trained.model.order for trained in one.models] == [4, 4]
    assert [trained.model.order for trained in other.models] == [3, 3]
    assert [load(tmp_path / kind).order for kind in kinds] == [3, 3]


def diverge(monkeypatch: pytest.MonkeyPatch, kind: str, after: int) -> None:
    """Let the objective of a kind be infinite after so many minibatches."""
    original, done = Learner.step, [0]

    def step(learner: Learner, *arguments: Any) -> float:
        done[0] += learner.config.kind == kind
        return math.inf if learner.config.kind == kind and done[0] > after else original(learner, *arguments)

    monkeypatch.setattr(Learner, "step", step)


def test_when_one_of_all_diverges_the_others_go_on_and_it_is_not_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stages, kinds = InputOptions(classes=6), ("clbl+c", "clbl", "mkn")
    with monkeypatch.context() as patched:
        diverge(patched, "clbl+c", after=6)  # in the second epoch
        comparison = train_all(SENTENCES, HELD_OUT, tmp_path, stages, CHOICES, kinds=kinds, test=HELD_OUT[:9])
    assert [trained.model.kind for trained in comparison.models] == ["clbl", "mkn"]
    assert list(comparison.failures) == ["clbl+c"]
    lines = comparison.format().splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["clbl", "mkn", "clbl+c"]
    assert lines[3].split() == ["clbl+c", "-", "failed", "failed"]
    assert lines[4].startswith("clbl+c: minibatch ")
    assert lines[5].startswith("signature: ppl|n:4|")
    assert comparison.to_json()[-1] == {"kind": "clbl+c", "failed": comparison.failures["clbl+c"]}
    assert (tmp_path / "clbl+c" / "manifest.json").is_file()  # the best one so far
    capsys.readouterr()
    again = train_all(SENTENCES, HELD_OUT, tmp_path, stages, CHOICES, kinds=kinds)
    said = capsys.readouterr().err
    assert [trained.model.kind for trained in again.models] == list(kinds)
    assert "clbl+c: its training diverged: minibatch " in said
    assert said.count(": found in ") == 5  # vocabulary, segmenter, classes and the two models
    train_all(SENTENCES, HELD_OUT, tmp_path / "whole", stages, CHOICES, kinds=("clbl+c",))
    assert contents(tmp_path / "clbl+c") == contents(tmp_path / "whole" / "clbl+c")


def test_when_all_diverge_there_is_a_table_of_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    diverge(monkeypatch, "clbl", after=0)
    comparison = train_all(SENTENCES, HELD_OUT, tmp_path, InputOptions(classes=6), CHOICES, kinds=("clbl",))
    assert comparison.format().splitlines()[1].split() == ["clbl", "-", "failed"]
    assert [row["kind"] for row in comparison.to_json()] == ["clbl"]


def test_of_all_models_those_that_ended_by_other_epochs_are_trained_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for epochs, expected in (
        (1, "epoch 1: "),
        (2, "by other epochs= or patience=; it is trained again"),
        (2, "clbl: found in"),
    ):
        choices = ModelOptions(width=8, settings={"epochs": epochs, "batch": 500})
        (trained,) = train_all(SENTENCES, HELD_OUT, tmp_path, InputOptions(classes=6), choices, kinds=("clbl",)).models
        assert len(trained.log) == epochs
        assert expected in capsys.readouterr().err


def test_the_best_minibatch_is_named_with_its_epoch(tmp_path: Path) -> None:
    choices = ModelOptions(
        width=8, settings={"epochs": 1, "batch": 500, "evaluate_every": 1, "patience": 1, "step": 9.0}
    )
    (trained,) = train_all(
        SENTENCES, HELD_OUT, tmp_path, InputOptions(classes=6), choices, kinds=("clbl",), test=HELD_OUT
    ).models
    record = trained.model.training
    assert (record["best_epoch"], record["best_minibatch"]) == (0, 1)
    assert ", after minibatch 1 of epoch 1" in trained.format()
    assert trained.row()[1] == f"{500 / record['tokens']:.2f}"


def test_a_training_that_diverges_says_so(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="not finite"):
        train("clbl", SENTENCES, HELD_OUT, tmp_path / "m", classes=6, **QUICK, step=1e30)


def test_it_is_public() -> None:
    assert morphlm.train is train
