"""Nearest neighbours of words that are known, and of words composed of their morphemes."""

from __future__ import annotations

from morphlm.report.examples import common_words, content_words, new_words, spread
from morphlm.report.html import Markup, foreign, joined, missing, names, paragraph, table, tag, words
from morphlm.report.numbers import decimal
from morphlm.report.scored_models import ScoredModel, ScoredModels, names_of
from morphlm.report.sections.section import PageSection
from morphlm.report.sections.segmentation import morphemes
from morphlm.vectors.questions import QueryAnswer, ask
from morphlm.vectors.vectors import WordVectors

KNOWN, NEW, NEAREST = 5, 5, 8
CANDIDATES = 60  # from which the known ones are chosen: the first have little content
EXPLANATION = (
    "The words whose vectors point in the most similar direction, with the cosine (1: the same direction, 0: nothing "
    "in common). A word that was never seen in training gets the sum of the vectors of its known morphemes."
)
COLUMNS = [*names("word", "model"), *words("nearest words")]
NONE = "None of these models has word vectors: n-gram models have none. Log-bilinear models (lbl, ..., clbl++) do."


def neighbours(scored_models: ScoredModels) -> PageSection:
    """A table for known words and one for unknown words of the test text."""
    able = [scored_model for scored_model in scored_models.models if scored_model.vectors is not None]
    parts = [_known(scored_models, able), _new(scored_models, able)] if able else [missing(NONE)]
    without = [scored_model for scored_model in scored_models.models if scored_model.vectors is None]
    if able and without:
        parts.append(paragraph(f"Without word vectors: {names_of(without)}.", class_="note"))
    return PageSection("neighbours", "Nearest words", EXPLANATION, joined(parts))


def _known(scored_models: ScoredModels, able: list[ScoredModel]) -> Markup:
    rows = [
        row
        for word in known_words(able)
        for row in _rows(scored_models, able, word, foreign(word, scored_models.language))
    ]
    return joined([tag("h3", "Words that were seen"), table(COLUMNS, rows)])


def known_words(able: list[ScoredModel]) -> list[str]:
    """Frequent words of content that all of the models know."""
    partition = next(
        (scored_model.model.partition for scored_model in able if scored_model.model.partition is not None), None
    )
    vocabularies = [scored_model.model.vocabulary for scored_model in able]
    candidates = [] if partition is None else content_words(partition, CANDIDATES)
    candidates = candidates or common_words(vocabularies[0], CANDIDATES)
    return spread([word for word in candidates if all(word in vocabulary for vocabulary in vocabularies)], KNOWN)


def _new(scored_models: ScoredModels, able: list[ScoredModel]) -> Markup:
    composing = [scored_model for scored_model in able if _can_compose(scored_model.vectors)]
    title = tag("h3", "Words that were never seen")
    if not composing:
        reason = f"{names_of(able)} cannot compose words that were never seen; models with morphemes (++) can."
        return joined([title, missing(reason)])
    vectors = composing[0].vectors
    assert vectors is not None
    unknown = [word for word in scored_models.text.counts if all(not has(scored_model, word) for scored_model in able)]
    chosen = new_words(vectors, unknown, NEW)
    if not chosen:
        return joined([title, missing("The test text has no unknown word of two known morphemes or more.")])
    rows = [
        row
        for word, parts in chosen.items()
        for row in _rows(scored_models, composing, word, _composed(word, parts, scored_models.language))
    ]
    return joined([title, table(COLUMNS, rows)])


def has(scored_model: ScoredModel, word: str) -> bool:
    """Whether a model knows a word."""
    return scored_model.vectors is not None and scored_model.vectors.known(word)


def _can_compose(vectors: WordVectors | None) -> bool:
    return vectors is not None and vectors.factors is not None and vectors.factors.analyser is not None


def _composed(word: str, parts: tuple[str, ...], language: str | None) -> Markup:
    chips = morphemes([(name, True) for name in parts], language)
    return joined([foreign(word, language), tag("div", chips, class_="parts")])


def _rows(scored_models: ScoredModels, able: list[ScoredModel], word: str, shown: Markup) -> list[list[str]]:
    """One for each model; the word stands in the first."""
    repeated = tag("span", word, class_="visually-hidden", lang=scored_models.language or "")
    return [
        [
            shown if number == 0 else repeated,
            scored_model.name,
            _near(answer_of(scored_model, word), scored_models.language),
        ]
        for number, scored_model in enumerate(able)
    ]


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
