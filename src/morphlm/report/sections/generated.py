"""Sentences that the models make up."""

from __future__ import annotations

from itertools import islice

import numpy as np

from morphlm.errors import ConfigError
from morphlm.report.html import Markup, direction, missing, tag
from morphlm.report.scored_models import ScoredModel, ScoredModels
from morphlm.report.sections.section import PageSection
from morphlm.scoring.generation import Generated, GenerationOptions, generate

SHOWN = 5
OPTIONS = GenerationOptions(max_words=24, temperature=0.8)
EXPLANATION = (
    "Sentences drawn word by word from what each model thinks likely to follow, at temperature "
    f"{OPTIONS.temperature:g} (likely words are drawn more often than they should be, which reads better). Nothing is "
    "copied on purpose; a model that has seen little repeats what it has seen. A sentence that ends with … was cut."
)


def generated(scored_models: ScoredModels) -> PageSection:
    """A list of sentences for each model, which depend on the seed."""
    tiles = [_tile(scored_models, scored_model) for scored_model in scored_models.models]
    return PageSection("generated", "Made-up sentences", EXPLANATION, tag("div", tiles, class_="tiles"))


def _tile(scored_models: ScoredModels, scored_model: ScoredModel) -> Markup:
    try:
        sentences = sentences_of(scored_model, scored_models.seed)
    except ConfigError as error:
        body = missing(f"{error}.")
    else:
        body = tag("ul", (_sentence(one, scored_models.language) for one in sentences), class_="made-up")
    return tag("div", tag("h3", scored_model.name), body, class_="tile")


def sentences_of(scored_model: ScoredModel, seed: int) -> list[Generated]:
    """The same for equal models and seeds."""
    return list(islice(generate(scored_model.model, np.random.default_rng(seed), options=OPTIONS), SHOWN))


def _sentence(one: Generated, language: str | None) -> Markup:
    text = one.text if one.complete else f"{one.text} …"
    return tag("li", text, lang=language or "", dir=direction(one.words))
