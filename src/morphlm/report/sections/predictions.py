"""What the models expect after the beginnings of some sentences of the test text."""

from __future__ import annotations

from dataclasses import dataclass

from morphlm.report.examples import is_telling, spread
from morphlm.report.html import Markup, RankedWord, direction, foreign, missing, paragraph, ranking, tag
from morphlm.report.numbers import probability, whole
from morphlm.report.scored_models import ScoredModel, ScoredModels
from morphlm.report.sections.section import PageSection
from morphlm.scoring.prediction import Predictor
from morphlm.text.reading import END, RESERVED

SHOWN, EXPECTED = 6, 5  # beginnings, and words after each
WORDS_BEFORE = (3, 8)  # of a beginning
EXPLANATION = (
    "Beginnings of sentences of the test text, and the words that each model thinks most likely to follow. The word "
    "that really follows is set off. Bars grow with the root of the probability, so that small ones can be seen too."
)
NONE = "The test text has no sentence of four words or more to take a beginning from."


@dataclass(frozen=True)
class Beginning:
    """The first words of a sentence, and the word that follows."""

    sentence: int
    words: tuple[str, ...]
    next_word: str


def predictions(scored_models: ScoredModels) -> PageSection:
    """A card for each beginning, with a list for each model."""
    predictors = [(one, Predictor(one.model)) for one in scored_models.models]
    cards = [_card(scored_models, predictors, beginning) for beginning in beginnings(scored_models)]
    columns = {1: "tiles", 2: "tiles two"}.get(len(predictors), "tiles rows")
    body = tag("div", cards, class_=columns) if cards else missing(NONE)
    return PageSection("predictions", "What comes next", EXPLANATION, body)


def beginnings(scored_models: ScoredModels) -> list[Beginning]:
    """From all over the text: up to a word that tells something, or if there is none the first that fits."""
    sentences = list(enumerate(scored_models.text.sentences))
    found = [cut for number, words in sentences if (cut := _cut(number, words, telling=True)) is not None]
    if len(found) < SHOWN:
        found = [cut for number, words in sentences if (cut := _cut(number, words, telling=False)) is not None]
    return spread(found, SHOWN)


def _cut(number: int, words: list[str], *, telling: bool) -> Beginning | None:
    for place in range(WORDS_BEFORE[0], min(WORDS_BEFORE[1] + 1, len(words))):
        if words[place] not in RESERVED and (is_telling(words[place]) or not telling):
            return Beginning(number, tuple(words[:place]), words[place])
    return None


def _card(scored_models: ScoredModels, predictors: list[tuple[ScoredModel, Predictor]], beginning: Beginning) -> Markup:
    language = scored_models.language
    text = tag(
        "span",
        scored_models.first.model.join(beginning.words),
        " ",
        tag("mark", beginning.next_word),
        lang=language or "",
    )
    lists = [_under(one, predictor, beginning, language) for one, predictor in predictors]
    head = tag("h3", text, class_="quote", dir=direction(beginning.words))
    return tag("div", head, tag("div", lists, class_="sides"), class_="tile")


def _under(scored_model: ScoredModel, predictor: Predictor, beginning: Beginning, language: str | None) -> Markup:
    expected = predictor.next_words(beginning.words, EXPECTED)
    entries = [
        RankedWord(_shown(entry.word, language), entry.probability, entry.word == beginning.next_word)
        for entry in expected
    ]
    return tag("div", tag("h4", scored_model.name), ranking(entries), _answer(predictor, beginning))


def _shown(word: str, language: str | None) -> Markup:
    return tag("em", "⏎ end") if word == END else foreign(word, language)


def _answer(predictor: Predictor, beginning: Beginning) -> Markup:
    """How likely the word was that really follows."""
    model, word = predictor.model, beginning.next_word
    if word not in model.vocabulary:
        return paragraph("The word that follows is unknown.", class_="note")
    probabilities = model.distribution(predictor.state_after(beginning.words))
    own = float(probabilities[model.vocabulary.id_of(word)])
    rank = 1 + int((probabilities > own).sum())
    return paragraph(f"In the text: {probability(own)}, rank {whole(rank)}", class_="note")
