"""Nearest neighbours of words that are known, and of words composed of their morphemes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from morphlm.report.examples import common_words, content_words, new_words, spread
from morphlm.report.html import Child, Column, Markup, foreign, joined, missing, names, paragraph, table, tag, words
from morphlm.report.numbers import decimal
from morphlm.report.scored_models import ScoredModel, ScoredModels, names_of
from morphlm.report.sections.section import PageSection
from morphlm.report.sections.segmentation import morphemes
from morphlm.vectors.questions import QueryAnswer, ask
from morphlm.vectors.vectors import WordVectors

KNOWN, NEW, NEAREST = 6, 6, 8
CANDIDATES = 60  # from which the known ones are chosen: the first have little content
EXPLANATION = (
    "The words whose vectors point in the most similar direction, with the cosine (1: the same direction, 0: nothing "
    "in common). A word that was never seen in training gets the sum of the vectors of its known morphemes; words "
    "whose stem is not known are left out here."
)
NONE = "None of these models has word vectors: n-gram models have none. Log-bilinear models (lbl, ..., clbl++) do."

Group = list[ScoredModel]  # models that have the same vectors


def neighbours(scored_models: ScoredModels) -> PageSection:
    """A table for known words and one for unknown words of the test text."""
    groups = same_vectors(scored_models)
    body = _tables(scored_models, groups) if groups else missing(NONE)
    return PageSection("neighbours", "Nearest words", EXPLANATION, body)


def _tables(scored_models: ScoredModels, groups: Sequence[Group]) -> Markup:
    tables = tag("div", _known(scored_models, groups), _new(scored_models, groups), class_="pair")
    own = f"Vectors of {names_of(groups[0])}." if len(groups) == 1 else ""
    without = [scored_model for scored_model in scored_models.models if scored_model.vectors is None]
    others = f" Without word vectors: {names_of(without)}." if without else ""
    return joined([tables, paragraph((own + others).strip(), class_="note") if own or others else None])


def same_vectors(scored_models: ScoredModels) -> list[Group]:
    """The models with vectors; a mixture has those of a part, and is told with it."""
    return scored_models.groups(lambda one: None if one.vectors is None else _digest(one.vectors))


def _digest(vectors: WordVectors) -> bytes:
    digest = hashlib.blake2b("\n".join(vectors.vocabulary.words).encode())
    for side in (vectors.context, vectors.output):
        digest.update(np.ascontiguousarray(side.table).data)
        digest.update(b"words" if side.factors is None else np.ascontiguousarray(side.factors.indices).data)
    return digest.digest()


def _columns(are_named: bool) -> list[Column]:
    """Models are named only where there are several."""
    return [*names("word", *(["model"] if are_named else [])), *words("nearest words")]


def _known(scored_models: ScoredModels, groups: Sequence[Group]) -> Markup:
    chosen, are_named = known_words([group[0] for group in groups]), len(groups) > 1
    rows = [row for word in chosen for row in _rows(scored_models, groups, word, are_named)]
    return tag("div", tag("h3", "Words that were seen"), table(_columns(are_named), rows))


def known_words(able: list[ScoredModel]) -> list[str]:
    """Frequent words of content that all of the models know."""
    partition = next(
        (scored_model.model.partition for scored_model in able if scored_model.model.partition is not None), None
    )
    vocabularies = [scored_model.model.vocabulary for scored_model in able]
    candidates = [] if partition is None else content_words(partition, CANDIDATES)
    candidates = candidates or common_words(vocabularies[0], CANDIDATES)
    return spread([word for word in candidates if all(word in vocabulary for vocabulary in vocabularies)], KNOWN)


def _new(scored_models: ScoredModels, groups: Sequence[Group]) -> Markup:
    return tag("div", tag("h3", "Words that were never seen"), _composed_words(scored_models, groups))


def _composed_words(scored_models: ScoredModels, groups: Sequence[Group]) -> Markup:
    composing = [group for group in groups if _can_compose(group[0].vectors)]
    able = [scored_model for group in groups for scored_model in group]
    if not composing:
        return missing(f"{names_of(able)} cannot compose words that were never seen; models with morphemes (++) can.")
    vectors = composing[0][0].vectors
    assert vectors is not None
    unknown = [word for word in scored_models.text.counts if all(not has(scored_model, word) for scored_model in able)]
    chosen = new_words(vectors, unknown, NEW)
    if not chosen:
        return missing("The test text has no unknown word of two known morphemes or more.")
    are_named = len(groups) > 1
    rows = [row for word, parts in chosen.items() for row in _rows(scored_models, composing, word, are_named, parts)]
    return table(_columns(are_named), rows)


def has(scored_model: ScoredModel, word: str) -> bool:
    """Whether a model knows a word."""
    return scored_model.vectors is not None and scored_model.vectors.known(word)


def _can_compose(vectors: WordVectors | None) -> bool:
    return vectors is not None and vectors.factors is not None and vectors.factors.analyser is not None


def _rows(
    scored_models: ScoredModels, groups: Sequence[Group], word: str, are_named: bool, parts: Sequence[str] = ()
) -> list[list[Child]]:
    """One for each group of models; the word and its parts stand in the first."""
    language = scored_models.language
    repeated = tag("span", word, class_="visually-hidden", lang=language or "")
    chips = tag("div", morphemes([(name, True) for name in parts], language), class_="parts") if parts else None
    rows: list[list[Child]] = []
    for number, group in enumerate(groups):
        name = [names_of(group)] if are_named else []
        near = _near(answer_of(group[0], word), language)
        first = number == 0
        rows.append([foreign(word, language) if first else repeated, *name, [chips if first else None, near]])
    return rows


def answer_of(scored_model: ScoredModel, word: str) -> QueryAnswer:
    """The neighbours of a word of the text, just as it stands there."""
    assert scored_model.vectors is not None
    return ask(scored_model.vectors, [word], k=NEAREST, prepared=True)[0]


def _near(answer: QueryAnswer, language: str | None) -> Markup:
    entries = (
        tag("span", foreign(name, language), " ", tag("span", decimal(similarity), class_="muted"), class_="near")
        for name, similarity in answer.neighbours
    )
    return joined(entries, ", ")
