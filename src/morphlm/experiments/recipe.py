"""Recipes: which languages, texts and models an experiment takes, and what is printed of it; as TOML files.

Those of the paper lie in the folder `recipes`; a path names one's own. What a file leaves out has the value of
`Recipe`; what no recipe has is refused.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, InputError
from morphlm.experiments.pairs import Pair
from morphlm.experiments.parts import PARTS
from morphlm.files import cannot_read, is_file
from morphlm.kinds import find_kind, kind_named, kind_names
from morphlm.training.pipeline import ModelOptions, check_options
from morphlm.vocabulary.vocabulary import check_kappa

ALL_TEXT = "all"
GROWING, FIXED = "growing", "fixed"


@dataclass(frozen=True)
class TranslationOptions:
    """How translation systems are tuned and tested: with the first kind of model alone, and beside each other one."""

    pairs: tuple[str, ...] = ()  # from one language into another, such as en-cs
    tuning: int = 400  # sentences, evenly spaced
    test: int = 1000
    runs: int = 3  # of tuning
    single: tuple[str, ...] = ()  # pairs with one run only


@dataclass(frozen=True)
class Budget:
    """What is left out to fit a time limit; the lines are tried in this order until the estimate fits."""

    tokens: tuple[int, ...] = ()  # less training text
    without: tuple[tuple[str, ...], ...] = ()  # then fewer kinds of models, a group at a time
    languages: tuple[str, ...] = ()  # then fewer languages: the last of these is dropped first; none: as the recipe
    runs: int | None = None  # before that, at most so many tuning runs of a translation system


@dataclass(frozen=True)
class Recipe:
    """The languages, texts and models of an experiment, and the parts of its report."""

    name: str
    title: str = ""
    paper: str = ""  # what of the paper it repeats
    recipes: tuple[str, ...] = ()  # it consists of these; then it has nothing of its own
    print: tuple[str, ...] = ("corpus", "perplexity")  # parts of the report, see parts.py
    languages: tuple[str, ...] = ()
    dataset: str | None = None  # a data set by name; None: the folder of --data
    tokens: tuple[int | None, ...] = (1_000_000,)  # of the training texts; None: all there is
    vocabularies: tuple[str, ...] = (GROWING,)  # of each text, or fixed: that of the smallest
    kinds: tuple[str, ...] = field(default_factory=lambda: tuple(kind_names(packages=False, alone=True)))
    wide: tuple[str, ...] = ()  # kinds that are also trained with a wide context
    kappas: tuple[float, ...] = (0.2,)
    seeds: tuple[int, ...] = (1,)
    options: ModelOptions = field(default_factory=ModelOptions)  # without the seed
    translation: TranslationOptions = field(default_factory=TranslationOptions)
    budget: Budget = field(default_factory=Budget)

    __repr__ = dataclass_repr

    def pairs_into(self, language: str) -> list[Pair]:
        """The pairs of languages whose target is this one."""
        return [pair for pair in map(Pair.of, self.translation.pairs) if pair.target == language]


def format_amount(tokens: int | None) -> str:
    """The size of a text in names: `1m`, `500k`, `all`."""
    if tokens is None:
        return ALL_TEXT
    for unit, letter in ((1_000_000, "m"), (1_000, "k")):
        if tokens % unit == 0:
            return f"{tokens // unit}{letter}"
    return str(tokens)


# ---------------------------------------------------------------- finding


def recipe_names() -> list[str]:
    """The recipes of the package."""
    order = ("data-1m", "data-main", "kappa", "scaling", "frequency", "pos", "similarity", "translation", "all")
    names = {Path(entry.name).stem for entry in _folder().iterdir() if entry.name.endswith(".toml")}
    return [name for name in order if name in names] + sorted(names - set(order))


def _folder() -> Any:
    return resources.files("morphlm.experiments") / "recipes"


def load_recipe(name: str) -> Recipe:
    """A recipe of the package by its name, or one's own by the path of its file."""
    if name in recipe_names():
        return read_recipe((_folder() / f"{name}.toml").read_text("utf-8"), name, f"recipe {name}")
    path = Path(name)
    if not is_file(path):
        names = ", ".join(recipe_names())
        raise ConfigError(f"{name!r} is neither a recipe nor a file; choose one of {names}, or the path of a TOML file")
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise InputError("this is not UTF-8; a recipe is a TOML file", source=name) from error
    except OSError as error:
        raise cannot_read(name, error) from error
    return read_recipe(text, path.stem, name)


def members_of(recipe: Recipe) -> tuple[Recipe, ...]:
    """The recipe itself, or those that it consists of."""
    members = tuple(load_recipe(name) for name in recipe.recipes)
    for member in members:
        if member.recipes:
            inner = ", ".join(member.recipes)
            raise ConfigError(f"{recipe.name}: {member.name} consists of recipes itself; name {inner} in its place")
    return members or (recipe,)


# ---------------------------------------------------------------- reading


def read_recipe(text: str, name: str, source: str) -> Recipe:
    """What a TOML file says; `source` is how messages name it."""
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also of numbers and nesting without end
        raise ConfigError(f"{source}: this is no TOML ({error}); mend it") from error
    tables = {table: _read_table(content if not table else content.pop(table, {}), table, source) for table in _SCHEMA}
    models, options = tables["models"], {key: value for key, value in tables["models"].items() if key in _OF_MODEL}
    try:
        recipe = Recipe(
            name,
            **tables[""],
            **tables["text"],
            **{key: value for key, value in models.items() if key not in _OF_MODEL},
            options=ModelOptions(**options),
            translation=TranslationOptions(**tables["translation"]),
            budget=Budget(**tables["budget"]),
        )
        _check(recipe)
    except ConfigError as error:
        raise ConfigError(f"{source}: {error}") from error
    return recipe


def _read_table(entries: Any, table: str, source: str) -> dict[str, Any]:
    """The entries of a table, converted."""
    if not isinstance(entries, dict):
        raise ConfigError(f"{source}: {table} is a table of settings; write [{table}] and below it its keys")
    values, keys = {}, _SCHEMA[table]
    for key, value in entries.items():
        name = f"{table}.{key}" if table else key
        if key not in keys:
            known = ", ".join([*keys, *([] if table else [f"[{other}]" for other in _SCHEMA if other])])
            raise ConfigError(f"{source}: there is no key {name!r}; known here are {known}")
        convert, meant = keys[key]
        try:
            values[key] = convert(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise ConfigError(f"{source}: {name} is {value!r}; it must be {meant}") from error
    return values


def _check(recipe: Recipe) -> None:
    """Refuse settings that contradict each other."""
    if recipe.recipes:
        return
    if not recipe.languages:
        raise ConfigError("there are no languages; write languages = [...]")
    check_options([*recipe.kinds, *recipe.wide], recipe.options)
    for kind in recipe.wide:
        if not kind_named(kind).has_vectors:  # a wide context is a mean of vectors
            raise ConfigError(f"{kind} has no wide context; leave it out of models.wide")
    for kappa in recipe.kappas:
        check_kappa(kappa)
    _check_translation(recipe)


def _check_translation(recipe: Recipe) -> None:
    pairs = recipe.translation.pairs
    for text in pairs:
        if (pair := Pair.of(text)).target not in recipe.languages:
            raise ConfigError(f"translation.pairs: {text} needs models of {pair.target!r}; put it into languages")
    for text in recipe.translation.single:
        if text not in pairs:
            raise ConfigError(f"translation.single: {text} is not among the pairs; choose from {', '.join(pairs)}")
    if ("translation" in recipe.print) != bool(pairs):
        raise ConfigError("translations are printed of some pairs; give both, print = ['translation'] and pairs")


# ---------------------------------------------------------------- what a file may say


def _exactly(kind: type, least: float | None = None) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        value_type = type(value)
        if value_type is not kind and (kind, value_type) != (float, int):
            raise TypeError
        if least is not None and value < least:
            raise ValueError
        return kind(value)

    return convert


def _list(convert: Callable[[Any], Any], *, may_be_empty: bool = False) -> Callable[[Any], tuple[Any, ...]]:
    def convert_all(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise TypeError
        if not value and not may_be_empty:
            raise ValueError
        return tuple(dict.fromkeys(map(convert, value)))

    return convert_all


def _one_of(names: Container[str]) -> Callable[[Any], str]:
    def convert(value: Any) -> str:
        if value not in names:
            raise ValueError
        return str(value)

    return convert


def _tokens(value: Any) -> int | None:
    return None if value == ALL_TEXT else int(_exactly(int, 1)(value))


def _sizes(value: Any) -> tuple[int | None, ...]:
    sizes = _list(_tokens)(value if isinstance(value, list) else [value])
    return tuple(sorted(sizes, key=lambda size: float("inf") if size is None else size))


def _kind(value: Any) -> str:
    if not isinstance(value, str) or find_kind(value) is None:
        raise ValueError
    return value


_TEXT, _TEXTS = (_exactly(str), "a text"), (_list(_exactly(str)), "a list of texts, such as ['cs', 'de']")
_KINDS = (_list(_kind, may_be_empty=True), "a list of kinds of models, such as ['mkn', 'clbl++']")
_Keys = dict[str, tuple[Callable[[Any], Any], str]]
_OF_MODEL = ("order", "width", "diagonal", "recipe", "settings")
_SCHEMA: dict[str, _Keys] = {  # table -> key -> how it is read, what it must be; the table "" comes last
    "text": {
        "dataset": _TEXT,
        "tokens": (_sizes, "a number of tokens, 'all', or a list of these"),
        "vocabularies": (_list(_one_of((GROWING, FIXED))), "a list of 'growing' and 'fixed'"),
    },
    "models": {
        "kinds": _KINDS,
        "wide": _KINDS,
        "kappas": (_list(_exactly(float)), "a list of numbers from 0 to 1"),
        "seeds": (_list(_exactly(int, 0)), "a list of whole numbers from 0 on"),
        "order": (_exactly(int, 1), "a whole number"),
        "width": (_exactly(int, 1), "a whole number"),
        "diagonal": (_exactly(bool), "true or false"),
        "recipe": _TEXT,
        "settings": (_exactly(dict), "a table of settings of the training, such as { epochs = 3 }"),
    },
    "translation": {
        "pairs": (_list(_exactly(str)), "a list of pairs, such as ['en-cs', 'cs-en']"),
        "tuning": (_exactly(int, 1), "a number of sentences"),
        "test": (_exactly(int, 1), "a number of sentences"),
        "runs": (_exactly(int, 1), "a whole number"),
        "single": (_list(_exactly(str)), "a list of pairs"),
    },
    "budget": {
        "tokens": (_list(_exactly(int, 1)), "a list of numbers of tokens"),
        "without": (_list(_KINDS[0]), "a list of lists of kinds of models"),
        "runs": (_exactly(int, 1), "a whole number"),
        "languages": _TEXTS,
    },
    "": {
        "title": _TEXT,
        "paper": _TEXT,
        "recipes": _TEXTS,
        "print": (_list(_one_of(PARTS)), f"a list of {', '.join(PARTS)}"),
        "languages": _TEXTS,
    },
}
