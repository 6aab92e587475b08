"""Nearest neighbours of words that are known, and of words composed of their morphemes."""

from __future__ import annotations

from morphlm.report.examples import common_words, content_words, new_words, spread
from morphlm.report.html import Markup, foreign, joined, missing, names, paragraph, table, tag, words
from morphlm.report.numbers import decimal
from morphlm.report.scored_models import ScoredModel, ScoredModels, names_of
from morphlm.report.sections.section import Section
from morphlm.report.sections.segmentation import morphemes
from morphlm.vectors.questions import Answer, ask
from morphlm.vectors.vectors import WordVectors

KNOWN, NEW, NEAREST = 5, 5, 8
CANDIDATES = 60  # from which the known ones are chosen: the first have little content
EXPLANATION = (
    "The words whose vectors point in the most similar direction, with the cosine (1: the same direction, 0: nothing "
    "in common). A word that was never seen in training gets the sum of the vectors of its known morphemes."
)
COLUMNS = [*names("word", "model"), *words("nearest words")]
NONE = "None of these models has word vectors: n-gram models have none. Log-bilinear models (lbl, ..., clbl++) do."


def neighbours(subjects: ScoredModels) -> Section:
    """A table for known words and one for unknown words of the test text."""
    able = [subject for subject in subjects.models if subject.vectors is not None]
    parts = [_known(subjects, able), _new(subjects, able)] if able else [missing(NONE)]
    without = [subject for subject in subjects.models if subject.vectors is None]
    if able and without:
        parts.append(paragraph(f"Without word vectors: {names_of(without)}.", class_="note"))
    return Section("neighbours", "Nearest words", EXPLANATION, joined(parts))


def _known(subjects: ScoredModels, able: list[ScoredModel]) -> Markup:
    rows = [row for word in known_words(able) for row in _rows(subjects, able, word, foreign(word, subjects.language))]
    return joined([tag("h3", "Words that were seen"), table(COLUMNS, rows)])


def known_words(able: list[ScoredModel]) -> list[str]:
    """Frequent words of content that all of the models know."""
    partition = next((subject.model.partition for subject in able if subject.model.partition is not None), None)
    vocabularies = [subject.model.vocabulary for subject in able]
    found = [] if partition is None else content_words(partition, CANDIDATES)
    found = found or common_words(vocabularies[0], CANDIDATES)
    return spread([word for word in found if all(word in vocabulary for vocabulary in vocabularies)], KNOWN)


def _new(subjects: ScoredModels, able: list[ScoredModel]) -> Markup:
    composing = [subject for subject in able if _can_compose(subject.vectors)]
    title = tag("h3", "Words that were never seen")
    if not composing:
        reason = f"{names_of(able)} cannot compose words that were never seen; models with morphemes (++) can."
        return joined([title, missing(reason)])
    vectors = composing[0].vectors
    assert vectors is not None
    unknown = [word for word in subjects.text.counts if all(not has(subject, word) for subject in able)]
    found = new_words(vectors, unknown, NEW)
    if not found:
        return joined([title, missing("The test text has no unknown word of two known morphemes or more.")])
    rows = [
        row
        for word, parts in found.items()
        for row in _rows(subjects, composing, word, _composed(word, parts, subjects.language))
    ]
    return joined([title, table(COLUMNS, rows)])


def has(subject: ScoredModel, word: str) -> bool:
    """Whether a model knows a word."""
    return subject.vectors is not None and subject.vectors.known(word)


def _can_compose(vectors: WordVectors | None) -> bool:
    return vectors is not None and vectors.factors is not None and vectors.factors.analyser is not None


def _composed(word: str, parts: tuple[str, ...], language: str | None) -> Markup:
    chips = morphemes([(name, True) for name in parts], language)
    return joined([foreign(word, language), tag("div", chips, class_="parts")])


def _rows(subjects: ScoredModels, able: list[ScoredModel], word: str, shown: Markup) -> list[list[str]]:
    """One for each model; the word stands in the first."""
    repeated = tag("span", word, class_="visually-hidden", lang=subjects.language or "")
    return [
        [shown if number == 0 else repeated, subject.name, _near(answer_of(subject, word), subjects.language)]
        for number, subject in enumerate(able)
    ]


def answer_of(subject: ScoredModel, word: str) -> Answer:
    """The neighbours of a word of the text, just as it stands there."""
    assert subject.vectors is not None
    return ask(subject.vectors, [word], k=NEAREST, lowercase=False)[0]


def _near(answer: Answer, language: str | None) -> Markup:
    entries = (
        tag("span", foreign(name, language), " ", tag("span", decimal(similarity), class_="muted"), class_="near")
        for name, similarity in answer.neighbours
    )
    return joined(entries, ", ")
