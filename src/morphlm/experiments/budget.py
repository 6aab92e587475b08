"""What is left out of an experiment to fit a time, in the order that its recipe names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from morphlm.errors import ConfigError
from morphlm.experiments.recipe import Recipe, format_amount
from morphlm.wording import either

SPARE = 0.9  # an estimate fits if it takes no larger share of the time


@dataclass(frozen=True)
class Reduction:
    """Recipes that are run together, and what was left out of them."""

    recipes: tuple[Recipe, ...]
    left_out: tuple[str, ...] = ()


def restrict(recipes: Sequence[Recipe], languages: Sequence[str] | None) -> tuple[Recipe, ...]:
    """The recipes that have some of the languages; each language must be in one of them."""
    known = list(dict.fromkeys(language for recipe in recipes for language in recipe.languages))
    if languages is not None and not languages:
        raise ConfigError(f"{either('--languages', 'languages')}: no language is named; choose from {', '.join(known)}")
    for language in languages or ():
        if language not in known:
            raise ConfigError(
                f"{either('--languages', 'languages')}: {language!r} is not in this recipe; choose from "
                f"{', '.join(known)}"
            )
    wanted = set(known if languages is None else languages)
    return tuple(
        replace(recipe, languages=tuple(language for language in recipe.languages if language in wanted))
        for recipe in recipes
        if wanted & {*recipe.languages}
    )


def shorten(recipes: Sequence[Recipe], tokens: int | None) -> tuple[Recipe, ...]:
    """The recipes with training texts of no more than so many tokens."""
    if tokens is None:
        return tuple(recipes)
    return tuple(replace(recipe, tokens=_at_most(recipe.tokens, tokens)) for recipe in recipes)


def reductions(recipes: Sequence[Recipe]) -> Iterator[Reduction]:
    """Everything, then less and less: all recipes one line of their budgets further, at last fewer recipes."""
    ladders = [list(_ladder(recipe)) for recipe in recipes]
    for level in range(max(map(len, ladders))):
        rungs = [ladder[min(level, len(ladder) - 1)] for ladder in ladders]
        notes = [
            note if len(recipes) == 1 else f"{recipe.name}: {note}"
            for recipe, (_, left_out) in zip(recipes, rungs, strict=True)
            for note in left_out
        ]
        yield Reduction(tuple(reduced for reduced, _ in rungs), tuple(notes))
    last = [ladder[-1][0] for ladder in ladders]
    for kept in range(len(last) - 1, 0, -1):
        dropped = ", ".join(recipe.name for recipe in last[kept:])
        kept_notes = [note for note in notes if note.partition(":")[0] in {recipe.name for recipe in last[:kept]}]
        yield Reduction(
            tuple(last[:kept]),
            (*kept_notes, f"the recipes {dropped}" if kept < len(last) - 1 else f"the recipe {dropped}"),
        )


def _ladder(recipe: Recipe) -> Iterator[tuple[Recipe, tuple[str, ...]]]:
    """The recipe, and what is left of it line by line, with what was left out so far."""
    whole, budget = recipe, recipe.budget
    yield recipe, ()
    for tokens in budget.tokens:
        if any(size is None or size > tokens for size in recipe.tokens):
            recipe = replace(recipe, tokens=_at_most(recipe.tokens, tokens))
            yield recipe, _left_out(whole, recipe)
    for group in budget.without:
        kinds, wide = (tuple(kind for kind in some if kind not in group) for some in (recipe.kinds, recipe.wide))
        if kinds and (kinds, wide) != (recipe.kinds, recipe.wide):
            recipe = replace(recipe, kinds=kinds, wide=wide)
            yield recipe, _left_out(whole, recipe)
    if budget.runs is not None and recipe.translation.runs > budget.runs:
        recipe = replace(recipe, translation=replace(recipe.translation, runs=budget.runs))
        yield recipe, _left_out(whole, recipe)
    order = budget.languages or recipe.languages
    dropped = [language for language in reversed(order) if language in recipe.languages]
    for language in dropped[: len(recipe.languages) - 1]:
        recipe = replace(recipe, languages=tuple(kept for kept in recipe.languages if kept != language))
        yield recipe, _left_out(whole, recipe)


def _at_most(sizes: tuple[int | None, ...], tokens: int) -> tuple[int | None, ...]:
    """Sizes of texts, with the larger ones cut to so many tokens."""
    return tuple(dict.fromkeys(tokens if size is None or size > tokens else size for size in sizes))


def _left_out(whole: Recipe, reduced: Recipe) -> tuple[str, ...]:
    """What the reduced recipe lacks, in words."""
    notes = []
    if reduced.tokens != whole.tokens:
        less, more = (", ".join(map(format_amount, recipe.tokens)) for recipe in (reduced, whole))
        notes.append(f"training texts of {less} tokens instead of {more}")
    models = [kind for kind in whole.kinds if kind not in reduced.kinds]
    models += [f"wide {kind}" for kind in whole.wide if kind not in reduced.wide]
    languages = [language for language in whole.languages if language not in reduced.languages]
    if reduced.translation.runs != whole.translation.runs:
        notes.append(f"{reduced.translation.runs} instead of {whole.translation.runs} tuning runs")
    for name, gone in (("models", models), ("languages", languages)):
        notes += [f"the {name} {', '.join(gone)}"] if gone else []
    return tuple(notes)
