"""The training loop: equal bytes, the best model, when it ends, what it logs, and what it refuses."""

from __future__ import annotations

import json
import math
import os
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm.errors import ConfigError, InputError, TrainingError
from morphlm.logbilinear.config import VARIANTS
from morphlm.logbilinear.engine import Learner
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import Parameters
from morphlm.modelfile import read_model
from morphlm.scoring.loading import load
from morphlm.training.checkpoint import checkpoint_path
from morphlm.training.config import TrainingConfig, changed, recipe
from morphlm.training.log import LOG_FILE, read_log
from morphlm.training.loop import TIME_IS_OVER, TrainingRun, rows_by_factor, train_model

from .small import contents, sentences, task


def log_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / LOG_FILE).read_text().splitlines()]


# ---------------------------------------------------------------- equal bytes


@pytest.mark.parametrize("kind", VARIANTS)
@pytest.mark.parametrize("diagonal", [True, False])
def test_equal_seeds_give_equal_bytes_with_one_and_two_threads(tmp_path: Path, kind: str, diagonal: bool) -> None:
    for name, threads in (("one", 1), ("two", 2), ("again", 2)):
        train_model(task(kind, diagonal=diagonal), tmp_path / name, threads=threads)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "again")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "one", "two"]


@pytest.mark.parametrize("kind", ["lbl++", "clbl++"])
def test_equal_bytes_with_everything_that_is_random(tmp_path: Path, kind: str) -> None:
    drops: dict[str, Any] = {"surface_dropout": 0.3, "context_dropout": 0.2, "prediction_dropout": 0.1}
    for name, threads in (("one", 1), ("two", 2)):
        settings = drops | {"noise": "token", "l2_in_gradient": False, "mean_gradients": True, "width": 70}
        train_model(task(kind, **settings), tmp_path / name, threads=threads)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


@pytest.mark.parametrize("kind", ["lbl", "clbl++"])
def test_other_seeds_give_other_models(tmp_path: Path, kind: str) -> None:
    models = [train_model(task(kind, seed=seed)) for seed in (1, 2)]
    assert not np.array_equal(models[0].parameters.Q, models[1].parameters.Q)
    assert not np.array_equal(models[0].parameters.b, models[1].parameters.b)


@pytest.mark.parametrize("kind", ["lbl+o", "clbl+c"])
def test_without_a_directory_the_best_model_is_kept_in_memory(tmp_path: Path, kind: str) -> None:
    wanted = task(kind, epochs=11, patience=1)  # its last evaluation is not the best
    written, kept = train_model(wanted, tmp_path / "written"), train_model(wanted)
    assert log_of(tmp_path / "written")[-1]["best"] is False
    kept.save(tmp_path / "kept")
    assert contents(tmp_path / "written") == contents(tmp_path / "kept")
    assert written.training == kept.training
    for one, other in zip(written.parameters, kept.parameters, strict=True):
        np.testing.assert_array_equal(one, other)


# ---------------------------------------------------------------- the best model and when it ends


def test_training_stops_when_the_perplexity_rises_and_the_best_is_kept(tmp_path: Path) -> None:
    wanted = task(epochs=30)
    model = train_model(wanted, tmp_path / "model")
    log = log_of(tmp_path / "model")
    perplexities = [entry["development_perplexity"] for entry in log]
    assert len(log) < 30
    assert perplexities[:-1] == sorted(perplexities[:-1], reverse=True)
    assert perplexities[-1] >= perplexities[-2]
    assert [entry["best"] for entry in log] == [True] * (len(log) - 1) + [False]
    assert model.training["development_perplexity"] == perplexities[-2]
    assert model.training["best_epoch"] == len(log) - 1
    measured = math.exp(-model.score_tokens(wanted.dev.tokens).mean())
    assert measured == pytest.approx(perplexities[-2], rel=1e-6)


def test_patience_counts_evaluations_in_a_row(tmp_path: Path) -> None:
    train_model(task(epochs=40, patience=3, step=0.5), tmp_path / "model")
    log = log_of(tmp_path / "model")
    assert [entry["best"] for entry in log][-4:] == [True, False, False, False]
    best = math.inf
    for entry in log:
        assert entry["best"] == (entry["development_perplexity"] < best)
        best = min(best, entry["development_perplexity"])


@pytest.mark.parametrize("plateau_ratio", [0.0, 0.1])
def test_the_step_shrinks_after_every_evaluation_once_progress_is_slow(tmp_path: Path, plateau_ratio: float) -> None:
    train_model(task(epochs=12, patience=4, step=0.5, step_decay=0.25, plateau_ratio=plateau_ratio), tmp_path / "model")
    log = log_of(tmp_path / "model")
    step, best = 0.5, math.inf
    for entry in log:
        assert entry["step"] == step
        if step < 0.5 or entry["development_perplexity"] >= best * (1 - plateau_ratio):
            step *= 0.25
        best = min(best, entry["development_perplexity"])
    assert step < 0.5


def test_the_smaller_step_is_the_one_that_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    original = Learner.step

    def step(learner: Learner, *arguments: Any) -> float:
        taken.append(learner.step_size)
        return original(learner, *arguments)

    perplexities = iter([5.0, 6.0, 7.0])
    monkeypatch.setattr(Learner, "step", step)
    monkeypatch.setattr(Learner, "log_probabilities", lambda *_: np.full(3, -math.log(next(perplexities))))
    train_model(task(epochs=3, patience=9, step=0.5, step_decay=0.5, batch=10_000))
    assert taken == [0.5, 0.5, 0.25]


def test_there_are_no_more_epochs_than_allowed(tmp_path: Path) -> None:
    wanted = task(epochs=3, patience=99)
    train_model(wanted, tmp_path / "model")
    assert [entry["epoch"] for entry in log_of(tmp_path / "model")] == [1, 2, 3]


def test_evaluations_within_an_epoch(tmp_path: Path) -> None:
    wanted = task(evaluate_every=3, batch=40, epochs=2, patience=99)
    batches = -(-len(wanted.train.tokens) // 40)
    assert batches == 9  # the ninth is one that is evaluated anyway: once, not twice
    train_model(wanted, tmp_path / "model")
    positions = [(entry["epoch"], entry["minibatch"]) for entry in log_of(tmp_path / "model")]
    assert positions == [(0, 3), (0, 6), (1, 0), (1, 3), (1, 6), (2, 0)]


def test_the_epoch_s_end_is_evaluated_also_between_the_given_numbers(tmp_path: Path) -> None:
    train_model(task(evaluate_every=4, batch=40, epochs=1, patience=99), tmp_path / "model")
    assert [(entry["epoch"], entry["minibatch"]) for entry in log_of(tmp_path / "model")] == [(0, 4), (0, 8), (1, 0)]


def test_after_the_deadline_what_there_is_is_evaluated_and_kept(tmp_path: Path) -> None:
    model = train_model(task(batch=40, epochs=50), tmp_path / "model", deadline=time.monotonic() - 1)
    log = log_of(tmp_path / "model")
    assert [(entry["epoch"], entry["minibatch"], entry["tokens"]) for entry in log] == [(0, 1, 40)]
    assert model.training["development_perplexity"] == log[0]["development_perplexity"]
    assert not checkpoint_path(tmp_path / "model").exists()


def test_a_deadline_that_passes_after_an_evaluation_waits_for_the_next_minibatch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = TrainingRun._evaluate

    def evaluate(run: TrainingRun) -> None:
        original(run)
        run.deadline = 0.0

    monkeypatch.setattr(TrainingRun, "_evaluate", evaluate)
    train_model(task(batch=100, epochs=9, evaluate_every=1, patience=9), tmp_path / "model")
    log = log_of(tmp_path / "model")
    assert [entry["minibatch"] for entry in log] == [1, 2]
    assert log[-1]["ended"] == "the time is over"


def test_weight_decay_is_complete_before_every_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is applied for several minibatches at once; what is evaluated and kept must not lack the last of them."""
    decay, evaluate = Learner.decay, Learner.log_probabilities
    decayed, at_evaluations = [0], []

    def watched_decay(learner: Learner, tokens: int) -> None:
        decayed[0] += tokens
        decay(learner, tokens)

    def watched_evaluation(learner: Learner, *arguments: Any) -> Any:
        at_evaluations.append(decayed[0])
        return evaluate(learner, *arguments)

    monkeypatch.setattr(Learner, "decay", watched_decay)
    monkeypatch.setattr(Learner, "log_probabilities", watched_evaluation)
    train_model(task(batch=10, epochs=2, evaluate_every=20, patience=99), tmp_path / "model")
    assert at_evaluations == [entry["tokens"] for entry in log_of(tmp_path / "model")]
    assert len(at_evaluations) > 3


def test_a_deadline_far_away_changes_nothing(tmp_path: Path) -> None:
    for name, deadline in (("free", None), ("late", time.monotonic() + 1e6)):
        train_model(task(), tmp_path / name, deadline=deadline)
    assert contents(tmp_path / "free") == contents(tmp_path / "late")


# ---------------------------------------------------------------- the log


def test_every_evaluation_is_a_line_of_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = task("clbl", batch=100, epochs=3, patience=9)
    train_model(wanted, tmp_path / "model")
    log, size = log_of(tmp_path / "model"), len(wanted.train.tokens)
    names = ["epoch", "minibatch", "tokens", "seconds", "objective", "development_perplexity", "step", "best"]
    assert [list(entry) for entry in log] == [names, names, [*names, "ended"]]
    assert log[-1]["ended"] == "3 epochs are done"
    assert [entry["tokens"] for entry in log] == [size, 2 * size, 3 * size]
    assert [entry["step"] for entry in log] == [0.1] * 3
    seconds = [entry["seconds"] for entry in log]
    assert 0 < seconds[0] < seconds[1] < seconds[2]
    # The first epoch's objective is the mean ln P while learning; that of uniform words would be ln 1/36.
    assert -math.log(36) < log[0]["objective"] < log[1]["objective"] < log[2]["objective"] < 0
    output = capsys.readouterr()
    assert output.out == ""
    assert f"epoch 2: development perplexity {log[1]['development_perplexity']:.2f}" in output.err


def test_the_objective_is_the_mean_of_the_log_probabilities(tmp_path: Path) -> None:
    """With steps that change nothing, it is that of the model in the end."""
    wanted = task(step=1e-30, decay=0.0, epochs=1)
    model = train_model(wanted, tmp_path / "model")
    expected = model.score_tokens(wanted.train.tokens).mean()
    assert log_of(tmp_path / "model")[0]["objective"] == pytest.approx(expected, rel=1e-6)


def test_the_record_is_in_the_manifest(tmp_path: Path) -> None:
    wanted = task(epochs=1)
    train_model(wanted, tmp_path / "model")
    training = read_model(tmp_path / "model").training
    assert wanted.training.to_json().items() <= training.items()
    expected = {"kappa": 0.5, "tokens": len(wanted.train.tokens), "best_epoch": 1, "best_minibatch": 0}
    assert expected.items() <= training.items()


# ---------------------------------------------------------------- unusual texts


@pytest.mark.parametrize("kind", ["lbl++", "clbl++"])
@pytest.mark.parametrize("inside", [True, False])
def test_a_minibatch_larger_than_the_text_is_the_whole_text(kind: str, inside: bool) -> None:
    """Beside AdaGrad, weights shrink by xi lambda L/N; with L above N they would change their sign and grow."""
    size = len(task(kind).train.tokens)
    models = [
        train_model(task(kind, batch=batch, l2_in_gradient=inside, decay=3.0, epochs=3, patience=9))
        for batch in (size, size + 1, 100 * size)
    ]
    for model in models[1:]:
        for one, other in zip(models[0].parameters, model.parameters, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", VARIANTS)
@pytest.mark.parametrize("text", [[["slovo"]], [["dom", "dom", "doma"]]])
def test_a_text_of_one_sentence(tmp_path: Path, kind: str, text: list[list[str]]) -> None:
    model = train_model(task(kind, text=text, dev=text, kappa=0.0, classes=2), tmp_path / "model")
    assert model.distribution(model.begin()).sum() == pytest.approx(1.0, abs=1e-6)
    assert model.training["tokens"] == len(text[0]) + 1
    assert load(tmp_path / "model").sentence(text[0]) == model.sentence(text[0])


def test_one_word_a_minibatch() -> None:
    wanted = task("clbl++", text=sentences(3, 1), dev=sentences(2, 2), batch=1, epochs=2, patience=5)
    model = train_model(wanted)
    assert model.distribution(model.begin()).sum() == pytest.approx(1.0, abs=1e-6)


def test_unknown_words_of_the_development_text_are_scored_as_unk(tmp_path: Path) -> None:
    wanted = task(dev=[["nikdy", "doma", "neviděno"], ["škola"]])
    assert (wanted.dev.tokens == 0).sum() == 2
    model = train_model(wanted, tmp_path / "model")
    perplexity = model.perplexity([["nikdy", "doma", "neviděno"], ["škola"]])
    assert perplexity.unknown == 2
    assert perplexity.including_unknown == pytest.approx(model.training["development_perplexity"], rel=1e-6)


def test_a_development_text_without_sentences_is_refused() -> None:
    with pytest.raises(ConfigError, match="the development text has no sentences; give both"):
        task(dev=[])


def test_a_place_that_is_no_model_is_refused_before_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Learner, "step", lambda *_: pytest.fail("it has begun"))
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="is not a model"):
        train_model(task(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


# ---------------------------------------------------------------- not a number


def spoil(monkeypatch: pytest.MonkeyPatch, name: str, value: float, after: int, table: str = "parameters") -> None:
    """A number that is not finite in a parameter, after so many minibatches."""
    original, done = Learner.step, [0]

    def step(learner: Learner, *arguments: Any) -> float:
        if done[0] == after:
            getattr(getattr(learner, table), name).reshape(-1)[:] = value
        done[0] += 1
        return original(learner, *arguments)

    monkeypatch.setattr(Learner, "step", step)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind in ("lbl", "lbl++", "clbl", "clbl++")
        for name in Parameters._fields
        if kind.startswith("c") or name not in ("S", "t")  # those are the classes'
    ],
)
@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_a_number_that_is_not_finite_stops_training_and_the_best_model_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, name: str, value: float
) -> None:
    wanted = task(kind, batch=100, epochs=9)
    batches = -(-len(wanted.train.tokens) // 100)
    train_model(task(kind, batch=100, epochs=1), tmp_path / "first")
    spoil(monkeypatch, name, value, after=batches + 1)
    with pytest.raises(TrainingError) as refused:
        train_model(wanted, tmp_path / "model")
    where, _, message = str(refused.value).partition(": the parameters ")
    assert where == "minibatch 2 of epoch 2"
    assert message.split()[0] in Parameters._fields
    assert "not finite any more; train with a smaller step= or a larger accumulator=" in message
    assert message.endswith(f"; the best model so far is kept in {tmp_path / 'model'}")
    kept, first = load(tmp_path / "model"), load(tmp_path / "first")
    assert kept.sentence(["domu", "řekou"]) == first.sentence(["domu", "řekou"])
    assert not checkpoint_path(tmp_path / "model").exists()


def test_what_is_not_finite_is_not_saved_even_if_the_development_text_does_not_show_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = task("clbl", dev=[["domu"]])
    word = wanted.structure.vocabulary.id_of("školou")
    original = Learner.log_probabilities

    def evaluate(learner: Learner, *arguments: Any) -> Any:
        learner.parameters.Q[word, 0] = np.nan
        return original(learner, *arguments)

    monkeypatch.setattr(Learner, "log_probabilities", evaluate)
    with pytest.raises(TrainingError, match=r"^evaluation after epoch 1: the parameters Q are not finite"):
        train_model(wanted, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_before_the_first_epoch_has_ended_there_is_no_epoch_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = task("clbl", batch=100, epochs=2, evaluate_every=1, patience=99)
    with monkeypatch.context() as patched:
        spoil(patched, "Q", math.nan, after=1)
        with pytest.raises(TrainingError, match=r"^minibatch 2 of epoch 1: the parameters Q are"):
            train_model(wanted, tmp_path / "model")
    assert "minibatch 1 of epoch 1: development perplexity" in capsys.readouterr().err
    monkeypatch.setattr(Learner, "log_probabilities", lambda *_: np.full(3, math.nan))
    with pytest.raises(TrainingError, match=r"^evaluation after minibatch 1 of epoch 1: the objective is"):
        train_model(wanted, tmp_path / "model")


@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_a_training_that_diverged_is_not_taken_for_a_complete_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = task("clbl", batch=100, epochs=3)
    train_model(wanted, tmp_path / "whole")
    with monkeypatch.context() as patched:
        spoil(patched, "Q", math.nan, after=5)
        with pytest.raises(TrainingError):
            train_model(wanted, tmp_path / "model")
    reason = log_of(tmp_path / "model")[-1]["ended"]
    assert reason == "diverged: minibatch 2 of epoch 2, the parameters Q are not finite any more"
    assert contents(tmp_path / "model") != contents(tmp_path / "whole")
    capsys.readouterr()
    train_model(wanted, tmp_path / "model", resume=True)
    assert f"{tmp_path / 'model'}: its training {reason}; it is trained again" in capsys.readouterr().err
    assert contents(tmp_path / "model") == contents(tmp_path / "whole")


@pytest.mark.filterwarnings("ignore:invalid value encountered")
def test_the_log_of_another_model_says_nothing_of_a_training_that_diverged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_model(task("clbl", epochs=1), tmp_path / "model")
    before = (tmp_path / "model" / LOG_FILE).read_bytes()
    spoil(monkeypatch, "b", math.nan, after=1)
    with pytest.raises(TrainingError):
        train_model(task("lbl"), tmp_path / "model")
    assert (tmp_path / "model" / LOG_FILE).read_bytes() == before


def test_a_step_that_is_too_large_ends_in_an_error_or_a_model_that_is_finite(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="not finite any more; train with a smaller step="):
        train_model(task("clbl", step=1e30, epochs=9, patience=9), tmp_path / "model")


# ---------------------------------------------------------------- one at a time


def test_two_trainings_cannot_write_to_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train_model(task(), tmp_path / "whole")
    (tmp_path / "link").symlink_to(tmp_path / "model")
    original, refused = Learner.step, list[Path]()

    def step(learner: Learner, *arguments: Any) -> float:
        if not refused:
            for path in (tmp_path / "model", tmp_path / "link", tmp_path / "other" / ".." / "model"):
                with pytest.raises(ConfigError, match=r"another process is writing here; wait until it has"):
                    train_model(task("lbl"), path, resume=True)
                refused.append(path)
        return original(learner, *arguments)

    monkeypatch.setattr(Learner, "step", step)
    (tmp_path / "other").mkdir()
    train_model(task(), tmp_path / "model")
    assert len(refused) == 3
    assert contents(tmp_path / "model") == contents(tmp_path / "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "model", "other", "whole"]


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize("width", [1, 8, 21])
def test_rows_change_places_without_a_second_table_and_come_back(width: int) -> None:
    rng = np.random.default_rng(1)
    table, order = rng.standard_normal((50, width), dtype=np.float32), rng.permutation(50).astype(np.int32)
    before, expected = table.copy(), np.empty_like(table)
    expected[order] = table
    with pytest.raises(KeyError), rows_by_factor(table, order):
        np.testing.assert_array_equal(table, expected)
        raise KeyError
    np.testing.assert_array_equal(table, before)


def test_a_model_is_saved_without_a_second_copy_of_its_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the end of the evaluation until the model is written, less than a third of R is allocated."""
    wanted = task("clbl+o", text=[[f"slovo{k}", "a"] for k in range(3000)], width=64, epochs=1, batch=9999, kappa=0.0)
    sizes = []
    save, keep = LogBilinearModel.save, TrainingRun._keep_best

    def watched_save(model: LogBilinearModel, *arguments: Any, **named: Any) -> None:
        sizes.append((model.parameters.R.nbytes, tracemalloc.get_traced_memory()[1]))
        save(model, *arguments, **named)

    def watched_keep(run: TrainingRun) -> None:
        tracemalloc.start()
        try:
            keep(run)
        finally:
            tracemalloc.stop()

    monkeypatch.setattr(LogBilinearModel, "save", watched_save)
    monkeypatch.setattr(TrainingRun, "_keep_best", watched_keep)
    train_model(wanted, tmp_path / "model")
    ((vectors, allocated),) = sizes
    assert vectors > 3000 * 64 * 4
    assert allocated < vectors / 3


# ---------------------------------------------------------------- guards


def test_strong_decay_shrinks_weights_and_never_turns_their_sign() -> None:
    """1 - xi lambda L/N would be -3 here."""
    model = train_model(task("clbl", epochs=1, step=0.5, decay=8.0, l2_in_gradient=False, batch=10_000))
    assert all(np.abs(table).max() < 1.0 for table in model.parameters.weights)
    assert model.training["development_perplexity"] < len(model.vocabulary) * 2


@pytest.mark.parametrize(("tokens", "batch"), [(100, 500), (60_000, 600), (1_000_000, 10_000), (99_000_000, 10_000)])
def test_minibatches_suit_the_text(tokens: int, batch: int) -> None:
    assert TrainingConfig().batch_for(tokens) == batch
    assert TrainingConfig(batch=77).batch_for(tokens) == 77


def test_the_step_is_adapted_by_epochs_not_by_evaluations(tmp_path: Path) -> None:
    train_model(
        task(evaluate_every=1, batch=40, epochs=2, patience=99, step_decay=0.5, plateau_ratio=0.9), tmp_path / "model"
    )
    log = log_of(tmp_path / "model")
    assert len(log) > 4
    assert {entry["step"] for entry in log} == {log[0]["step"]}  # the first that can be slow is the second epoch's end


@pytest.mark.parametrize("name", ["step", "decay", "accumulator", "init_std"])
def test_infinite_settings_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        recipe("default", **{name: math.inf})


EVALUATION = {
    **{"epoch": 1, "minibatch": 0, "tokens": 9, "seconds": 1.0, "objective": None},
    **{"development_perplexity": 2.5, "step": 0.1, "best": False, "ended": "diverged: somewhere"},
}


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        '{"epoch": 1}',
        json.dumps(EVALUATION | {"objective": math.nan}),
        json.dumps(EVALUATION | {"best": 1}),
        json.dumps(EVALUATION | {"epoch": -1}),
        json.dumps(EVALUATION | {"ended": "\x1b[2J"}),
        json.dumps(EVALUATION | {"note": "by hand"}),
    ],
)
def test_a_log_that_is_not_as_it_was_written_counts_as_none(tmp_path: Path, line: str) -> None:
    (tmp_path / LOG_FILE).write_text(json.dumps(EVALUATION) + "\n")
    assert read_log(tmp_path) == [EVALUATION]
    (tmp_path / LOG_FILE).write_text(json.dumps(EVALUATION) + f"\n{line}\n")
    assert read_log(tmp_path) == []
    (tmp_path / LOG_FILE).unlink()
    os.mkfifo(tmp_path / LOG_FILE)
    assert read_log(tmp_path) == read_log(None) == []


# ---------------------------------------------------------------- ended by the clock, and the same again


class Clock:
    """Each look at it takes a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.parametrize("deadline", [5.0, 40.0, 90.0])
def test_stop_after_repeats_to_the_byte_what_a_deadline_ended(
    deadline: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("morphlm.training.loop.time", Clock())
        cut = train_model(task(batch=20, epochs=9), tmp_path / "cut", threads=1, deadline=deadline)
    assert read_log(tmp_path / "cut")[-1]["ended"] == TIME_IS_OVER
    stop_after = cut.training["stop_after"]
    assert 0 < stop_after < 9 * len(task().train.tokens)
    again = changed(task(batch=20, epochs=9).training, stop_after=stop_after)
    train_model(replace(task(), training=again), tmp_path / "again", threads=2)
    assert contents(tmp_path / "again") == contents(tmp_path / "cut")
    assert read_log(tmp_path / "again")[-1]["ended"] == f"{stop_after:,} tokens are done"


def test_stop_after_goes_on_when_it_is_raised(tmp_path: Path) -> None:
    whole = train_model(task(batch=20, epochs=2, patience=9), tmp_path / "whole", threads=1)
    tokens = len(task().train.tokens)
    part = train_model(task(batch=20, epochs=2, patience=9, stop_after=tokens // 2), threads=1)
    assert part.training["best_epoch"] == 0 and whole.training["best_epoch"] == 2
    assert part.training["stop_after"] == tokens // 2 and whole.training["stop_after"] == 0
