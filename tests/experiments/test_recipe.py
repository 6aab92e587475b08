"""Recipes: those of the package, and what a file of one's own may say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from morphlm.errors import ConfigError
from morphlm.experiments.budget import reductions, restrict, shorten
from morphlm.experiments.recipe import Budget, Recipe, load_recipe, members_of, read_recipe, recipe_names
from morphlm.kinds import kind_names


def test_the_recipes_of_the_package() -> None:
    names = "data-1m data-main kappa scaling frequency pos similarity translation all"
    assert recipe_names() == names.split()
    one = load_recipe("data-1m")
    assert set(one.kinds) == set(kind_names(alone=True))
    assert one.tokens == (1_000_000,)
    assert load_recipe("kappa").kappas == (0.05, 1.0)
    assert load_recipe("scaling").tokens[-1] is None
    assert {each.name for each in members_of(load_recipe("all"))} == {*recipe_names()} - {"all"}


def test_what_a_file_says(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        'languages = ["cs"]\n[text]\ntokens = ["all", 5]\ndataset = "libreoffice-help"\n'
        "[models]\nwidth = 7\nkappas = [1]\nsettings = { epochs = 3 }\n"
        "[budget]\nwithout = [['lbl', 'lbl+c'], ['clbl']]\n"
    )
    recipe = load_recipe(str(path))
    assert (recipe.name, recipe.tokens, recipe.dataset, recipe.kappas) == ("own", (5, None), "libreoffice-help", (1.0,))
    assert recipe.options.settings == {"width": 7, "epochs": 3}
    assert recipe.budget.without == (("lbl", "lbl+c"), ("clbl",))


LANGUAGES = 'languages = ["cs"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("languages = ['cs']\nlanguage = 1\n", "own.toml: there is no key 'language'"),
        (LANGUAGES + "[models]\nkind = []\n", "own.toml: there is no key 'models.kind'"),
        (LANGUAGES + "[model]\n", "own.toml: there is no key 'model'"),
        (LANGUAGES + "[models]\nkinds = ['blbl']\n", "own.toml: models.kinds is ['blbl']; it must be a list of"),
        (LANGUAGES + "[models]\nwidth = true\n", "own.toml: models.width is True"),
        (LANGUAGES + "[models]\nseeds = [1.5]\n", "own.toml: models.seeds is [1.5]"),
        (LANGUAGES + "[models]\nkappas = [2]\n", "own.toml: "),
        (LANGUAGES + "[models]\nwide = ['mkn']\n", "own.toml: mkn has no wide context"),
        (LANGUAGES + "[models]\nsettings = { epoch = 3 }\n", "own.toml: there is no setting epoch"),
        (LANGUAGES + "[text]\ntokens = 0\n", "own.toml: text.tokens is 0"),
        (LANGUAGES + "text = 3\n", "own.toml: text is a table"),
        ("", "own.toml: there are no languages"),
        ("languages = [", "own.toml: this is no TOML"),
        (f"languages = {'[' * 5000}", "own.toml: this is no TOML"),
        (f"languages = {'9' * 5000}", "own.toml: this is no TOML"),
        (LANGUAGES + f"[models]\nkappas = [{'9' * 400}]\n", "own.toml: models.kappas is [999"),
        (LANGUAGES + f"[models]\nwidth = {'9' * 400}\n", "own.toml: width is 999"),
        (LANGUAGES + f"[models]\nsettings = {{ step = {'9' * 400} }}\n", "own.toml: step is 999"),
    ],
)
def test_what_a_file_must_not_say(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_recipe(text, "own", "own.toml")
    assert str(caught.value).startswith(message)


def test_no_such_recipe() -> None:
    with pytest.raises(ConfigError, match=r"'data-2m' is neither a recipe nor a file; choose one of data-1m, "):
        load_recipe("data-2m")
    with pytest.raises(ConfigError, match="is neither a recipe nor a file"):
        load_recipe("x" * 300)


# ---------------------------------------------------------------- budgets


BUDGET = Budget((500, 100), (("lbl",), ("clbl", "clbl++")), ("de", "cs", "es"))
RECIPE = Recipe("r", languages=("cs", "de", "es"), tokens=(1000,), kinds=("mkn", "lbl", "clbl"), budget=BUDGET)


def test_less_and_less_in_the_order_of_the_recipe() -> None:
    jobs = list(reductions([RECIPE]))
    found = [(job.recipes[0].tokens, job.recipes[0].kinds, job.recipes[0].languages) for job in jobs]
    languages, kinds = ("cs", "de", "es"), ("mkn", "lbl", "clbl")
    assert found == [
        ((1000,), kinds, languages),
        ((500,), kinds, languages),
        ((100,), kinds, languages),
        ((100,), ("mkn", "clbl"), languages),
        ((100,), ("mkn",), languages),
        ((100,), ("mkn",), ("cs", "de")),
        ((100,), ("mkn",), ("de",)),
    ]
    assert jobs[0].left_out == ()
    assert jobs[-1].left_out == (
        "training texts of 100 tokens instead of 1k",
        "the models lbl, clbl",
        "the languages cs, es",
    )


def test_kinds_that_are_left_out_are_left_out_with_wide_contexts_too() -> None:
    recipe = Recipe("r", languages=("cs",), kinds=("clbl", "clbl++"), wide=("clbl", "clbl++"))
    _, less = reductions([replace(recipe, budget=Budget(without=(("clbl++",),)))])
    assert (less.recipes[0].kinds, less.recipes[0].wide) == (("clbl",), ("clbl",))
    assert less.left_out == ("the models clbl++, wide clbl++",)


def test_several_sizes_of_text() -> None:
    recipe = Recipe("r", languages=("cs",), tokens=(50, 300, 2000, None), kinds=("mkn",), budget=Budget((500, 100)))
    assert [job.recipes[0].tokens for job in reductions([recipe])] == [(50, 300, 2000, None), (50, 300, 500), (50, 100)]


def test_texts_of_no_more_than_some_tokens() -> None:
    recipe = Recipe("r", languages=("cs",), tokens=(50, 300, 2000, None), kinds=("mkn",))
    assert shorten([recipe], 1000)[0].tokens == (50, 300, 1000)
    assert shorten([recipe], 300)[0].tokens == (50, 300)
    assert shorten([recipe], None) == (recipe,)


def test_recipes_together_go_down_together_and_then_the_last_goes() -> None:
    other = Recipe("other", languages=("cs",), tokens=(1000,), kinds=("mkn",), budget=Budget((500,)))
    jobs = list(reductions([RECIPE, other]))
    assert [recipe.tokens for recipe in jobs[1].recipes] == [(500,), (500,)]
    assert [recipe.tokens for recipe in jobs[2].recipes] == [(100,), (500,)]
    assert [recipe.name for recipe in jobs[-1].recipes] == ["r"]
    assert jobs[-1].left_out[-1] == "the recipe other"
    assert jobs[1].left_out == (
        "r: training texts of 500 tokens instead of 1k",
        "other: training texts of 500 tokens instead of 1k",
    )


def test_languages_that_are_asked_for() -> None:
    assert restrict([RECIPE], ("es", "cs"))[0].languages == ("cs", "es")
    with pytest.raises(ConfigError, match="'fr' is not in this recipe; choose from cs, de, es"):
        restrict([RECIPE], ("cs", "fr"))
    with pytest.raises(ConfigError, match="languages: no language is named; choose from cs, de, es"):
        restrict([RECIPE], ())


def test_a_recipe_of_recipes_of_recipes_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    for inner, names in (("all", "data-1m, frequency, "), (str(own), f"{own} in its place")):
        own.write_text(f"recipes = ['{inner}']\n")
        with pytest.raises(ConfigError) as caught:
            members_of(load_recipe(str(own)))
        assert f"consists of recipes itself; name {names}" in str(caught.value)
