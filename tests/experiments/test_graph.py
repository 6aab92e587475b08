"""Keys of steps: they change exactly when something changes that the result depends on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from morphlm.errors import ConfigError, InputError
from morphlm.experiments.graph import Step, in_order
from morphlm.experiments.plan import make_plan
from morphlm.experiments.recipe import FIXED, GROWING, Recipe
from morphlm.experiments.steps import texts_step
from morphlm.experiments.texts import TextSource
from morphlm.training.pipeline import ModelOptions

from .small_data import write_data, write_xz

FIRST = Step("texts", 1, "first", {"tokens": 10}, files={"train": "ab"})
SECOND = Step("model", 1, "second", {"kind": "clbl"}, (FIRST,))


@pytest.mark.parametrize(
    "changes",
    [{"kind": "scores"}, {"version": 2}, {"settings": {"kind": "clbl++"}}, {"inputs": ()}, {"files": {"a": "b"}}],
    ids=str,
)
def test_what_changes_the_key(changes: dict[str, Any]) -> None:
    assert replace(SECOND, **changes).key != SECOND.key


@pytest.mark.parametrize("changes", [{"name": "another"}, {"hints": {"label": "x"}}, {"after": (FIRST,)}], ids=str)
def test_what_does_not(changes: dict[str, Any]) -> None:
    assert replace(SECOND, **changes).key == SECOND.key


@pytest.mark.parametrize("changes", [{"settings": {"tokens": 11}}, {"files": {"train": "ac"}}, {"version": 2}], ids=str)
def test_a_change_travels_to_what_depends_on_it(changes: dict[str, Any]) -> None:
    assert replace(SECOND, inputs=(replace(FIRST, **changes),)).key != SECOND.key


def test_steps_come_after_what_they_need_and_once() -> None:
    third = Step("scores", 1, "third", {}, (SECOND,))
    helper = Step("stages", 1, "helper", {}, (FIRST,))
    second = replace(SECOND, after=(helper,))
    assert [step.name for step in in_order([third, replace(third, inputs=(second,)), FIRST])] == [
        *["first", "second", "third"]
    ]
    assert [step.name for step in in_order([second, third])] == ["first", "helper", "second", "third"]


# ---------------------------------------------------------------- keys of real plans


RECIPE = Recipe("r", languages=("de", "es"), tokens=(500,), kinds=("mkn", "clbl", "clbl++"))


def keys(recipe: Recipe, data: Path) -> dict[str, set[str]]:
    """The keys of all steps, by their kind."""
    found: dict[str, set[str]] = {}
    for step in make_plan(recipe, TextSource(data)).steps:
        found.setdefault(step.kind, set()).add(step.key)
    return found


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_data(tmp_path / "data")


def test_kappa_changes_models_and_not_texts(data: Path) -> None:
    one, other = keys(RECIPE, data), keys(replace(RECIPE, kappas=(0.5,)), data)
    assert one["texts"] == other["texts"]
    assert not one["model"] & other["model"]
    assert not one["scores"] & other["scores"]


def test_width_changes_log_bilinear_models_only(data: Path) -> None:
    one, other = keys(RECIPE, data), keys(replace(RECIPE, choices=ModelOptions(width=50)), data)
    assert len(one["model"]) == 6
    assert len(one["model"] & other["model"]) == 2  # mkn of both languages
    assert one["stages"] == other["stages"]


def test_fewer_kinds_share_their_models_with_more(data: Path) -> None:
    assert keys(replace(RECIPE, kinds=("mkn",)), data)["model"] < keys(RECIPE, data)["model"]


def test_other_data_of_a_language_change_that_language_only(data: Path) -> None:
    one = keys(RECIPE, data)
    write_xz(data / "newstest" / "newstest2012.es.txt.xz", ["Další věta."])
    other = keys(RECIPE, data)
    assert {kind: len(one[kind] & other[kind]) for kind in one} == {"texts": 1, "stages": 1, "model": 3, "scores": 3}


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
    assert (cell.stages.settings["factors"], cell.stages.settings["classes"]) == (True, True)


def test_another_tagger_changes_only_what_it_tags(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morphlm.experiments.plan.has_hanta", lambda: True)
    recipe = replace(RECIPE, print=("tags",), languages=("de",))
    found = []
    for version in ("1", "2"):
        monkeypatch.setattr("morphlm.experiments.steps.hanta_version", lambda version=version: version)
        (cell,) = make_plan(recipe, TextSource(data)).cells
        found.append({name: step.key for name, step in cell.tags.items()})
    one, other = found
    assert list(one) == ["de_made", "HanTa"]
    assert one["de_made"] == other["de_made"]
    assert one["HanTa"] != other["HanTa"]


def test_another_tokeniser_changes_all_that_is_tagged(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = replace(RECIPE, print=("tags",), languages=("de",))
    found = []
    for version in ("1", "2"):
        monkeypatch.setattr("morphlm.experiments.steps.sacremoses_version", lambda version=version: version)
        (cell,) = make_plan(recipe, TextSource(data)).cells
        found.append({step.key for step in cell.tags.values()})
    assert not found[0] & found[1]


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
    assert texts_step(TextSource(dataset=dataset), language, tokens).hints["tokens"] == expected


def test_a_language_that_a_data_set_has_not_is_refused_before_anything_is_fetched() -> None:
    with pytest.raises(ConfigError, match="generated is not to be had in 'de'; choose from gen"):
        make_plan(replace(RECIPE, dataset="generated"), TextSource(dataset="generated"))


def test_parts_of_a_data_set_lie_in_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that holds the small part of WMT13 would be refused for the large one."""
    asked: list[tuple[str, str | None]] = []

    def get(name: str, directory: Path, *, language: str, part: str | None) -> None:
        asked.append((directory.name, part))
        raise InputError("no network")

    monkeypatch.setattr("morphlm.experiments.texts.get_dataset", get)
    for tokens in (200_000, 1_000_000, None):
        with pytest.raises(InputError, match="no network"):
            TextSource(dataset="wmt13").prepare("cs", tokens, tmp_path / "out", tmp_path / "data" / "wmt13.cs")
    large = ("wmt13.cs.data-main", "data-main")
    assert asked == [("wmt13.cs", None), large, large]
