"""What the steps of a plan are expected to take, before anything runs and when some of it is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from morphlm.costs import TrainingSize
from morphlm.experiments.estimate import PRIOR, Estimator
from morphlm.experiments.plan import make_plan
from morphlm.experiments.recipe import FIXED, GROWING, Recipe
from morphlm.experiments.steps.inputs import InputsStep
from morphlm.experiments.steps.model import ModelStep
from morphlm.experiments.steps.tags import TagsStep
from morphlm.experiments.store import Record, Store
from morphlm.experiments.text_source import TextSource

from .small_data import write_data

RECIPE = Recipe("r", languages=("de",), tokens=(500,), kinds=("mkn", "clbl", "clbl++"))


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> TextSource:
    return TextSource(write_data(tmp_path_factory.mktemp("data"), ("de",)))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def record(key: str, kind: str, **result: object) -> Record:
    return Record(key, kind, "", PRIOR, PRIOR, True, result, {})


def test_sizes_that_were_measured_replace_those_that_were_assumed(source: TextSource, store: Store) -> None:
    (cell,) = make_plan(RECIPE, source).cells
    texts, inputs = cell.texts, cell.inputs
    size = inputs.training_size({})
    assert (size.tokens, size.words) == (500, pytest.approx(61_000 * (500 / 1e6) ** 0.6))
    estimator = Estimator(store)
    estimator.learn(
        [
            record(texts.key, "texts", counts={"train": {"tokens": 80_000}}),
            record(inputs.key, "inputs", vocabulary=7_000),
            record("other", "scores", vocabulary=9),
        ]
    )
    assert inputs.training_size(estimator._measured) == TrainingSize(80_000, 7_000)
    assert estimator._measured.keys() == {texts.key, inputs.key}
    # 1.5 s beside the tokens, which are read and put into classes, and the words, which are segmented.
    assert estimator.expected(inputs).seconds == pytest.approx(1.5 + 80_000 * 6.5e-6 + 7_000 * 0.35e-3)


def test_a_fixed_vocabulary_is_as_large_as_that_of_the_smallest_text(source: TextSource) -> None:
    recipe = replace(RECIPE, tokens=(500, 800), vocabularies=(FIXED, GROWING))
    small, _, large_fixed, large_growing = (cell.inputs for cell in make_plan(recipe, source).cells)
    words = [step.training_size({}).words for step in (small, large_fixed, large_growing)]
    assert words[0] == words[1] < words[2]


def test_more_singletons_that_become_unknown_leave_fewer_words(source: TextSource) -> None:
    some, all_of_them = make_plan(replace(RECIPE, kappas=(0.2, 1.0)), source).cells
    ratio = all_of_them.inputs.training_size({}).words / some.inputs.training_size({}).words
    assert ratio == pytest.approx(0.5 / 0.9)


def test_a_complete_model_is_only_checked(source: TextSource, store: Store) -> None:
    (cell,) = make_plan(RECIPE, source).cells
    model: ModelStep = cell.models["clbl++"]
    training = model.estimate(store, {})
    assert training.seconds == pytest.approx(1.5 + model.model_cost({}).training.seconds)
    model.location(store).mkdir(parents=True)
    model.manifest(store).write_text("{}")
    complete = model.estimate(store, {})
    assert (complete.seconds, complete.bytes) == (1.5 + 3.0 + 1.0, 0.0)
    model.location(store).with_name("clbl++.checkpoint").mkdir()  # its training goes on
    assert model.estimate(store, {}) == training


def test_a_tagger_takes_longer_than_gold_tags(
    source: TextSource, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("morphlm.experiments.steps.tags.has_hanta", lambda: True)
    (cell,) = make_plan(replace(RECIPE, print=("tags",)), source).cells
    seconds = {name: step.estimate(store, {}).seconds for name, step in cell.of(TagsStep).items()}
    assert seconds == {"de_made": 7.5, "HanTa": 42.5}


def test_what_a_family_of_models_took_does_not_count_for_another(source: TextSource, store: Store) -> None:
    (cell,) = make_plan(RECIPE, source).cells
    assert [model.group for model in cell.models.values()] == ["model mkn", "model clbl", "model clbl"]
    estimator = Estimator(store)
    slow = replace(record("k", "model"), seconds=9 * PRIOR, group="model clbl")
    estimator.learn([slow])
    # All steps: (9 + 1) / 2; the family: (9 + 5) / 2.
    ratios = [estimator.seconds(model) / estimator.expected(model).seconds for model in cell.models.values()]
    assert ratios == pytest.approx([5.0, 7.0, 7.0])


def test_each_model_is_tested_before_the_next_is_trained(source: TextSource) -> None:
    plan = make_plan(replace(RECIPE, print=("perplexity", "similarity", "frequency")), source)
    kinds = [step.producer.name for step in plan.steps]
    assert kinds == [
        *["texts", "inputs", "model", "scores", "model", "scores", "similarity", "model", "scores", "similarity"],
        "frequency",
    ]
    assert isinstance(plan.steps[1], InputsStep)
