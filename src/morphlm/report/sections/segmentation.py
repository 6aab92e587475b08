"""Words of the test text as their labelled morphemes: frequent, rare, and unknown ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from morphlm.report.examples import is_telling, spread
from morphlm.report.html import (
    Markup,
    direction,
    foreign,
    joined,
    missing,
    names,
    numbers,
    paragraph,
    table,
    tag,
    words,
)
from morphlm.report.numbers import whole
from morphlm.report.scored_models import ScoredModel, ScoredModels, names_of
from morphlm.report.sections.section import PageSection
from morphlm.segmentation.factors import LONGEST_NEW_WORD, Factors
from morphlm.segmentation.morphemes import LABELS, split_name
from morphlm.text.reading import RESERVED

SHOWN = 8
FREQUENT, RARE = 100, 3  # at least, at most so often in training
EXPLANATION = (
    "How the models see words of the test text, and how often each was seen in training. A word's vector is the sum of "
    "the vectors of its parts, so rare and unknown words share what was learned from frequent ones. Labels: PRE "
    "prefix, STM stem, SUF suffix. A morpheme with a dashed frame was not seen in training and adds nothing."
)
NONE = (
    "None of these models has morphemes. Those with factors do: +c (contexts), +o (outputs) and ++ (both), for "
    "example clbl++."
)


@dataclass(frozen=True)
class Analysis:
    """The morphemes of a word of the test text."""

    word: str
    count: int  # in training
    parts: tuple[tuple[str, bool], ...]  # names of morphemes, and whether each has a vector


def segmentation(scored_models: ScoredModels) -> PageSection:
    """A table for all models that share their morphemes."""
    groups = scored_models.groups(
        lambda scored_model: None if factors_of(scored_model) is None else _key(factors_of(scored_model))
    )
    parts = [_models(scored_models, group) for group in groups] or [missing(NONE)]
    without = [scored_model for scored_model in scored_models.models if factors_of(scored_model) is None]
    if groups and without:
        parts.append(paragraph(f"Without morphemes: {names_of(without)}.", class_="note"))
    return PageSection("morphemes", "Morphemes", EXPLANATION, joined(parts))


def factors_of(scored_model: ScoredModel) -> Factors | None:
    """The factors that a model's vectors are sums of."""
    return None if scored_model.vectors is None else scored_model.vectors.factors


def _key(factors: Factors | None) -> tuple[object, ...]:
    assert factors is not None
    return factors.names, factors.indices.tobytes(), factors.analyser is None


def _models(scored_models: ScoredModels, group: list[ScoredModel]) -> Markup:
    factors = factors_of(group[0])
    assert factors is not None
    tables = [
        _table(scored_models, title, analyses)
        for title, analyses in choose(factors, list(scored_models.text.counts)).items()
        if analyses
    ]
    if factors.analyser is None:
        tables.append(missing("The morphemes come from a list of words, so unknown words have none."))
    kinds = f"{whole(len(factors) - factors.surfaces)} different ones{_source(group[0])}"
    heading = tag("h3", f"Morphemes of {names_of(group)}")
    return joined([heading, paragraph(kinds, class_="note"), tag("div", tables, class_="pair three")])


def _source(scored_model: ScoredModel) -> str:
    """Where the morphemes come from, by the record of the training."""
    records = (part.training.get("factors") for part in scored_model.model.parts)
    record_of_factors = next((record for record in records if isinstance(record, dict)), {})
    return f", from: {record_of_factors['source']}" if "source" in record_of_factors else ""


def choose(factors: Factors, tokens: Sequence[str]) -> dict[str, list[Analysis]]:
    """Examples of frequent, rare and unknown words, each of two morphemes or more."""
    telling = [word for word in tokens if is_telling(word)] or [word for word in tokens if word not in RESERVED]
    known = [analysis for word in telling if (analysis := _known(factors, word)) is not None]
    known.sort(key=lambda analysis: (-analysis.count, analysis.word))
    return {
        "Frequent words": spread([analysis for analysis in known if analysis.count >= FREQUENT], SHOWN),
        "Rare words": spread([analysis for analysis in known if analysis.count <= RARE], SHOWN),
        "Other words": []
        if len(known) > SHOWN
        else [analysis for analysis in known if RARE < analysis.count < FREQUENT],
        "Unknown words": unknown_words(factors, telling),
    }


def _known(factors: Factors, word: str) -> Analysis | None:
    number = factors.vocabulary.ids.get(word, 0)
    if number < len(RESERVED):
        return None
    parts = factors.names_of(number)
    count = int(factors.vocabulary.counts[number])
    return Analysis(word, count, tuple((part, True) for part in parts)) if len(parts) > 1 else None


def unknown_words(factors: Factors, tokens: Sequence[str]) -> list[Analysis]:
    """Some words that are not in the vocabulary, as the model's analyser sees them."""
    new = [word for word in tokens if word not in factors.vocabulary.ids and len(word) <= LONGEST_NEW_WORD]
    new.sort()
    if factors.analyser is None:
        return []
    analyses = [
        Analysis(word, 0, tuple((name, name in factors.ids) for name in parts))
        for word, parts in zip(new, factors.analyser.names_of(new), strict=True)
        if len(parts) > 1
    ]
    return spread(analyses, SHOWN)


def _table(scored_models: ScoredModels, title: str, analyses: list[Analysis]) -> Markup:
    rows = [
        [
            foreign(analysis.word, scored_models.language),
            whole(analysis.count),
            morphemes(analysis.parts, scored_models.language),
        ]
        for analysis in analyses
    ]
    return tag("div", table([*names("word"), *numbers("seen"), *words("morphemes")], rows, title))


def morphemes(parts: Sequence[tuple[str, bool]], language: str | None) -> Markup:
    """Labelled morphemes as a row of chips, in the direction of the word."""
    chips = joined((_chip(name, known, language) for name, known in parts), " ")
    return tag("span", chips, class_="split", dir=direction(name for name, _ in parts))


def _chip(name: str, known: bool, language: str | None) -> Markup:
    form, label = split_name(name)
    kind = f" kind-{LABELS.index(label) + 1}" if label is not None else ""
    return tag(
        "span",
        foreign(form, language),
        None if label is None else tag("small", label),
        None if known else tag("span", " (not seen in training)", class_="visually-hidden"),
        class_=f"chip morpheme{kind}{'' if known else ' unseen'}",
    )
