"""From a recipe to its steps: a cell for each training text and rate kappa, and the analyses that the recipe prints."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from morphlm.errors import ConfigError, InputError
from morphlm.experiments.graph import Step, in_order
from morphlm.experiments.recipe import FIXED, Recipe
from morphlm.experiments.steps import (
    BASELINE,
    HANTA,
    OTHER,
    Setting,
    frequency_step,
    model_step,
    scores_step,
    similarity_step,
    stages_step,
    tags_step,
    texts_step,
)
from morphlm.experiments.texts import TextSource
from morphlm.experiments.translation_steps import TranslationSteps, translation_steps
from morphlm.training.pipeline import NGRAMS

WIDE = " wide"  # after the kind, where models are named within a cell
SCORED = {"corpus", "perplexity", "selection", "main", "kappa", "scaling"}  # parts of a report that need scores


@dataclass(frozen=True)
class Cell:
    """The models of one training text at one rate kappa, and what is asked of them."""

    language: str
    tokens: int | None
    vocabulary: str  # growing or fixed
    kappa: float
    seed: int
    texts: Step
    stages: Step
    models: Mapping[str, Step]  # by kind, with WIDE after it if so
    scores: Mapping[str, Step]
    frequency: Step | None
    tags: Mapping[str, Step]  # by the name of the tagged text
    similarities: Mapping[str, Step]  # by model
    translation: TranslationSteps | None

    @property
    def text(self) -> str:
        """The language, and which text of it where that is not the usual one: `en`, `en of cs-en`."""
        return str(self.texts.hints["text"])

    def steps(self) -> Iterator[Step]:
        """In an order in which a run that stops has something to show: each model is tested before the next begins."""
        yield self.texts
        yield self.stages
        for name, model in self.models.items():
            yield model
            yield from (steps[name] for steps in (self.scores, self.similarities) if name in steps)
        if self.frequency is not None:
            yield self.frequency
        yield from self.tags.values()
        if self.translation is not None:
            yield from self.translation


@dataclass(frozen=True)
class Plan:
    """A recipe with all its steps."""

    recipe: Recipe
    cells: tuple[Cell, ...]
    failed: Mapping[str, str] = field(default_factory=dict)  # languages whose files are not there, and why
    missing: tuple[str, ...] = ()  # what else the data lack

    @property
    def steps(self) -> list[Step]:
        """All of them, in order, each once."""
        return in_order(step for cell in self.cells for step in cell.steps())


def make_plan(recipe: Recipe, source: TextSource) -> Plan:
    """All steps of a recipe. A language whose files are missing is left out and named."""
    cells: list[Cell] = []
    errors: dict[str, InputError] = {}
    for language in recipe.languages:
        try:
            cells += _cells_of(recipe, source, language)
        except InputError as error:
            errors[f"texts of {language}"] = error
    return Plan(recipe, tuple(cells), {name: str(error) for name, error in errors.items()}, _lacking(recipe, source))


def _lacking(recipe: Recipe, source: TextSource) -> tuple[str, ...]:
    found = []
    if "similarity" in recipe.print:
        found += [
            f"ratings of word pairs in {language}: there is no wordsim/{language}-*.tsv in the folder of data"
            for language in recipe.languages
            if not source.beside("wordsim", f"{language}-*.tsv")
        ]
    if "tags" in recipe.print:
        found += [] if has_hanta() else ["tags of the test text: HanTa is not installed (pip install 'morphlm[pos]')"]
        found += [
            f"gold tags in {language}: there is no pos/{language}_*.conllu in the folder of data"
            for language in recipe.languages
            if not source.beside("pos", f"{language}_*.conllu*")
        ]
    return tuple(found)


def _cells_of(recipe: Recipe, source: TextSource, language: str) -> list[Cell]:
    """Models for translation learn from the target side of the pair; others from all text of the language."""
    sides = [source.target_side(pair) for pair in recipe.pairs_into(language)]
    return [cell for each in sides or [source] for cell in _cells_of_source(recipe, each, language)]


def _cells_of_source(recipe: Recipe, source: TextSource, language: str) -> list[Cell]:
    texts = [texts_step(source, language, tokens) for tokens in recipe.tokens]
    return [
        _cell(recipe, source, step, smallest=texts[0], vocabulary=vocabulary, kappa=kappa, seed=seed)
        for step in texts
        for vocabulary in recipe.vocabularies
        for kappa in recipe.kappas
        for seed in recipe.seeds
    ]


def _cell(
    recipe: Recipe, source: TextSource, texts: Step, *, smallest: Step, vocabulary: str, kappa: float, seed: int
) -> Cell:
    # The vocabulary of the smallest text is its own, fixed or growing.
    setting = Setting(texts, kappa, seed, smallest if vocabulary == FIXED and texts != smallest else None)
    stages = stages_step(setting, [*recipe.kinds, *recipe.wide], recipe.choices)
    models = {kind: model_step(setting, stages, kind, recipe.choices) for kind in recipe.kinds}
    wide = replace(recipe.choices, wide_context=True)
    models |= {kind + WIDE: model_step(setting, stages, kind, wide) for kind in recipe.wide}
    compared = (models[BASELINE], models[OTHER]) if {BASELINE, OTHER} <= models.keys() else None
    return Cell(
        setting.language,
        texts.settings["tokens"],
        vocabulary,
        kappa,
        seed,
        texts,
        stages,
        models,
        {kind: scores_step(model) for kind, model in models.items()} if SCORED & {*recipe.print} else {},
        frequency_step(*compared) if "frequency" in recipe.print and compared else None,
        _tags(source, compared, texts) if "tags" in recipe.print and compared else {},
        _similarities(source, models, setting.language) if "similarity" in recipe.print else {},
        None if source.pair is None else translation_steps(source, source.pair, models, recipe.translation),
    )


def _tags(source: TextSource, compared: tuple[Step, Step], texts: Step) -> dict[str, Step]:
    """Gold tags where the folder has them, and for German the raw test text with a tagger's."""
    language = texts.settings["language"]
    found = _by_stem(source.beside("pos", f"{language}_*.conllu*"))
    files = source.files(language, texts.settings["tokens"])
    if language == "de" and "test" in files and has_hanta():
        found[HANTA] = files["test"]
    return {name: tags_step(*compared, path, name) for name, path in found.items()}


def has_hanta() -> bool:
    """Whether the tagger is installed."""
    return importlib.util.find_spec("HanTa") is not None


def _by_stem(paths: Iterable[Path]) -> dict[str, Path]:
    """Files by their names without endings, which must differ: compressed or not, one text is one analysis."""
    found: dict[str, Path] = {}
    for path in paths:
        stem = path.name.partition(".")[0]
        if stem in found:
            raise ConfigError(f"{found[stem]} and {path} have the same name in reports, {stem}; rename or remove one")
        found[stem] = path
    return found


def _similarities(source: TextSource, models: Mapping[str, Step], language: str) -> dict[str, Step]:
    pairs = source.beside("wordsim", f"{language}-*.tsv")
    return {name: similarity_step(model, pairs) for name, model in models.items() if pairs and name != NGRAMS}
