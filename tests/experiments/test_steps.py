"""Keys of steps: they change exactly when something changes that the result depends on."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

from morphlm.artefacts import Producer
from morphlm.errors import ConfigError, InputError
from morphlm.experiments import steps
from morphlm.experiments.plan import make_plan
from morphlm.experiments.recipe import FIXED, GROWING, Recipe
from morphlm.experiments.steps.base import Step, in_order
from morphlm.experiments.steps.inputs import InputsStep
from morphlm.experiments.steps.tags import TagsStep
from morphlm.experiments.steps.texts import TextsStep
from morphlm.experiments.text_source import TextSource
from morphlm.kinds import kind_named
from morphlm.training.pipeline import ModelOptions

from .fake_steps import FakeStep, FakeTraining
from .small_data import write_data, write_xz

FIRST = FakeStep("first", {"tokens": 10})
SECOND = FakeStep("second", {"kind": "clbl"}, (FIRST,))
OTHER_FILE = {"a": Path(__file__)}


@pytest.mark.parametrize(
    "changes",
    [{"numbers": {"kind": "clbl++"}}, {"needed": ()}, {"paths": OTHER_FILE}],
    ids=str,
)
def test_what_changes_the_key(changes: dict[str, Any]) -> None:
    assert replace(SECOND, **changes).key != SECOND.key


@pytest.mark.parametrize("producer", [Producer("other", 1), Producer("fake", 2)], ids=str)
def test_another_kind_or_revision_changes_the_key(producer: Producer, monkeypatch: pytest.MonkeyPatch) -> None:
    before = SECOND.key
    monkeypatch.setattr(FakeStep, "producer", producer)
    assert replace(SECOND).key != before
    assert replace(SECOND, needed=()).key != before


@pytest.mark.parametrize("changes", [{"title": "another"}, {"helpers": (FIRST,)}], ids=str)
def test_what_does_not(changes: dict[str, Any]) -> None:
    assert replace(SECOND, **changes).key == SECOND.key


@pytest.mark.parametrize("changes", [{"numbers": {"tokens": 11}}, {"paths": OTHER_FILE}], ids=str)
def test_a_change_travels_to_what_depends_on_it(changes: dict[str, Any]) -> None:
    assert replace(SECOND, needed=(replace(FIRST, **changes),)).key != SECOND.key


def test_a_revision_travels_to_what_depends_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    training = FakeTraining("training")
    before = replace(SECOND, needed=(training,)).key
    monkeypatch.setattr(FakeTraining, "producer", Producer("training", 2))
    assert replace(SECOND, needed=(replace(training),)).key != before


def test_steps_with_one_key_are_equal() -> None:
    assert replace(SECOND, title="another") == SECOND
    assert len({SECOND, replace(SECOND, title="another"), FIRST}) == 2


def test_steps_come_after_what_they_need_and_once() -> None:
    third = FakeStep("third", {}, (SECOND,))
    helper = FakeStep("helper", {}, (FIRST,))
    second = replace(SECOND, helpers=(helper,))
    names = [step.name for step in in_order([third, replace(third, needed=(second,)), FIRST])]
    assert names == ["first", "second", "third"]
    assert [step.name for step in in_order([second, third])] == ["first", "helper", "second", "third"]


def test_the_producers_of_all_kinds_of_steps() -> None:
    """Each has a name of its own, and the modules that decide its results exist."""
    modules = [importlib.import_module(f"{steps.__name__}.{entry.name}") for entry in iter_modules(steps.__path__)]
    kinds = {value for module in modules for value in vars(module).values() if _is_kind_of_step(value)}
    names = [kind.producer.name for kind in kinds]
    assert sorted(names) == sorted(
        [*["texts", "inputs", "model", "scores", "frequency", "tags", "similarity", "bitext", "tuning", "comparison"]]
    )
    assert all(importlib.util.find_spec(module) for kind in kinds for module in kind.producer.modules)


def _is_kind_of_step(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Step) and hasattr(value, "producer")


# ---------------------------------------------------------------- keys of real plans


RECIPE = Recipe("r", languages=("de", "es"), tokens=(500,), kinds=("mkn", "clbl", "clbl++"))


def keys(recipe: Recipe, data: Path) -> dict[str, set[str]]:
    """The keys of all steps, by their kind."""
    by_kind: dict[str, set[str]] = {}
    for step in make_plan(recipe, TextSource(data)).steps:
        by_kind.setdefault(step.producer.name, set()).add(step.key)
    return by_kind


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


def test_kappa_changes_models_and_not_texts(data: Path) -> None:
    one, other = keys(RECIPE, data), keys(replace(RECIPE, kappas=(0.5,)), data)
    assert one["texts"] == other["texts"]
    assert not one["model"] & other["model"]
    assert not one["scores"] & other["scores"]


def test_width_changes_log_bilinear_models_only(data: Path) -> None:
    one, other = keys(RECIPE, data), keys(replace(RECIPE, options=ModelOptions(width=50)), data)
    assert len(one["model"]) == 6
    assert len(one["model"] & other["model"]) == 2  # mkn of both languages
    assert one["inputs"] == other["inputs"]


def test_fewer_kinds_share_their_models_with_more(data: Path) -> None:
    assert keys(replace(RECIPE, kinds=("mkn",)), data)["model"] < keys(RECIPE, data)["model"]


def test_other_data_of_a_language_change_that_language_only(data: Path) -> None:
    one = keys(RECIPE, data)
    write_xz(data / "newstest" / "newstest2012.es.txt.xz", ["Další věta."])
    other = keys(RECIPE, data)
    assert {kind: len(one[kind] & other[kind]) for kind in one} == {"texts": 1, "inputs": 1, "model": 3, "scores": 3}


def test_a_fixed_vocabulary_is_that_of_the_smallest_text(data: Path) -> None:
    recipe = replace(RECIPE, languages=("de",), tokens=(500, 800), vocabularies=(FIXED, GROWING))
    cells = make_plan(recipe, TextSource(data)).cells
    small_fixed, small_growing, large_fixed, large_growing = cells
    assert small_fixed.models == small_growing.models
    assert large_fixed.models["clbl"].key != large_growing.models["clbl"].key
    assert large_fixed.models["clbl"].inputs == (large_fixed.texts, small_fixed.texts)


def test_seeds_change_models(data: Path) -> None:
    assert len(keys(replace(RECIPE, seeds=(1, 2)), data)["model"]) == 12


def test_models_with_wide_contexts_have_their_morphemes_and_classes(data: Path) -> None:
    """Also where none of the others has any."""
    recipe = replace(RECIPE, languages=("de",), kinds=("mkn",), wide=("clbl++",))
    (cell,) = make_plan(recipe, TextSource(data)).cells
    assert (cell.inputs.factors, cell.inputs.classes) == (True, True)


@pytest.mark.parametrize(("kinds", "factors", "classes"), [(("mkn",), 0, 0), (("clbl",), 0, 1), (("lbl+c",), 1, 0)])
def test_only_what_models_need_is_made(data: Path, kinds: tuple[str, ...], factors: int, classes: int) -> None:
    (cell,) = make_plan(replace(RECIPE, languages=("de",), kinds=kinds), TextSource(data)).cells
    assert (cell.inputs.factors, cell.inputs.classes) == (bool(factors), bool(classes))


def test_a_revision_of_a_kind_changes_its_models_only(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = keys(RECIPE, data)
    revised = replace(kind_named("clbl"), revision=99)
    monkeypatch.setattr(
        "morphlm.experiments.steps.model.kind_named", lambda name: revised if name == "clbl" else kind_named(name)
    )
    other = keys(RECIPE, data)
    assert {kind: len(one[kind] & other[kind]) for kind in one} == {"texts": 2, "inputs": 2, "model": 4, "scores": 4}


def test_a_revision_of_morphemes_or_classes_changes_all_models(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = keys(RECIPE, data)
    monkeypatch.setattr(InputsStep, "producer", Producer("inputs", 99))
    assert not one["model"] & keys(RECIPE, data)["model"]


def test_the_version_of_the_package_is_in_no_key(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = keys(RECIPE, data)
    monkeypatch.setattr("morphlm.version.__version__", "99")
    assert keys(RECIPE, data) == one
    names = [name for step in make_plan(RECIPE, TextSource(data)).steps for name in step.description.settings]
    assert not {"release", "version"} & {*names}


def test_another_tagger_changes_only_what_it_tags(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morphlm.experiments.steps.tags.has_hanta", lambda: True)
    recipe = replace(RECIPE, print=("tags",), languages=("de",))
    versions = []
    for version in ("1", "2"):
        monkeypatch.setattr("morphlm.experiments.steps.tags.hanta_version", lambda version=version: version)
        (cell,) = make_plan(recipe, TextSource(data)).cells
        versions.append({name: step.key for name, step in cell.of(TagsStep).items()})
    one, other = versions
    assert list(one) == ["de_made", "HanTa"]
    assert one["de_made"] == other["de_made"]
    assert one["HanTa"] != other["HanTa"]


def test_another_tokeniser_changes_all_that_is_tagged(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = replace(RECIPE, print=("tags",), languages=("de",))
    versions = []
    for version in ("1", "2"):
        monkeypatch.setattr("morphlm.experiments.steps.tags.sacremoses_version", lambda version=version: version)
        (cell,) = make_plan(recipe, TextSource(data)).cells
        versions.append({step.key for step in cell.of(TagsStep).values()})
    assert not versions[0] & versions[1]


def test_two_tagged_texts_of_one_name_are_refused(data: Path) -> None:
    write_xz(data / "pos" / "de_made.conllu.xz", [])
    with pytest.raises(ConfigError, match=r"pos/de_made.conllu and .*pos/de_made.conllu.xz have the same name"):
        make_plan(replace(RECIPE, print=("tags",)), TextSource(data))


# ---------------------------------------------------------------- data sets by name


@pytest.mark.parametrize(
    ("dataset", "language", "tokens", "expected"),
    [
        ("libreoffice-help", "cs", 10_000_000, 400_000),
        ("libreoffice-help", "cs", 5_000, 5_000),
        ("generated", "gen", None, 197_000),
        ("wmt13", "de", None, 50_900_000),
        ("wmt13", "cs", 20_000_000, 16_800_000),
    ],
)
def test_no_more_text_is_expected_than_a_data_set_has(
    dataset: str, language: str, tokens: int | None, expected: int
) -> None:
    assert TextsStep(TextSource(dataset=dataset), language, tokens).training_tokens({}) == expected


def test_a_language_that_a_data_set_has_not_is_refused_before_anything_is_fetched() -> None:
    with pytest.raises(ConfigError, match="generated is not to be had in 'de'; choose from gen"):
        make_plan(replace(RECIPE, dataset="generated"), TextSource(dataset="generated"))


def test_parts_of_a_data_set_lie_in_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that holds the small part of WMT13 would be refused for the large one."""
    asked: list[tuple[str, str | None]] = []

    def get(name: str, directory: Path, *, language: str, part: str | None) -> None:
        asked.append((directory.name, part))
        raise InputError("no network")

    monkeypatch.setattr("morphlm.experiments.text_source.get_dataset", get)
    for tokens in (200_000, 1_000_000, None):
        with pytest.raises(InputError, match="no network"):
            TextSource(dataset="wmt13").prepare("cs", tokens, tmp_path / "out", tmp_path / "data" / "wmt13.cs")
    large = ("wmt13.cs.data-main", "data-main")
    assert asked == [("wmt13.cs", None), large, large]
