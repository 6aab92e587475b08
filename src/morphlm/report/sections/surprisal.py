"""Sentences of the test text, each token coloured by its surprisal under each model."""

from __future__ import annotations

import math

import numpy as np

from morphlm.report.examples import spread
from morphlm.report.html import Markup, direction, foreign, joined, missing, paragraph, tag
from morphlm.report.numbers import decimal
from morphlm.report.scored_models import ScoredModel, ScoredModels, names_of
from morphlm.report.sections.section import PageSection
from morphlm.report.surprisal_scale import LEGEND, level
from morphlm.text.reading import END

LENGTHS = (5, 30)  # words of sentences that are good to look at
LONGEST = 60  # tokens that are shown of a longer one
EVENLY, DIFFERING = 6, 2  # sentences from all over the text, and those on which models differ most
START_WORDS = 7
EXPLANATION = (
    "Surprisal is −log₂ p of a token after the words before it, in bits: 1 bit more means that the model thought the "
    "token half as likely; 10 bits are 1 in 1,000. Each row of a sentence is a model; the stronger the colour, the "
    "more surprising the word. Point at a token, or go through them with the arrow keys, to read the exact figures."
)


def surprisal(scored_models: ScoredModels) -> PageSection:
    """Some sentences, and a selector for them."""
    chosen = choose(scored_models)
    sentences = [_sentence(scored_models, number, rank == 0) for rank, number in enumerate(chosen)]
    parts = [_chooser(scored_models, chosen), _legend(scored_models), tag("div", sentences, id="sentences")]
    return PageSection("surprisal", "Word by word", EXPLANATION, joined(parts))


def choose(scored_models: ScoredModels) -> list[int]:
    """The numbers of sentences, in the order of the text."""
    lengths = [len(sentence) for sentence in scored_models.text.sentences]
    fitting = [number for number, length in enumerate(lengths) if LENGTHS[0] <= length <= LENGTHS[1]]
    if len(fitting) < EVENLY:
        fitting = [number for number, length in enumerate(lengths) if length]
    chosen = spread(fitting, EVENLY)
    return sorted({*chosen, *most_different(scored_models, fitting)[:DIFFERING]})


def most_different(scored_models: ScoredModels, numbers: list[int]) -> list[int]:
    """Sentences by how far the first and the last model are apart on them, a token on average."""
    if len(scored_models.models) == 1:
        return []
    with np.errstate(invalid="ignore"):  # infinite under both
        apart = np.nan_to_num(scored_models.models[-1].bits - scored_models.first.bits, nan=0.0, posinf=0.0, neginf=0.0)
    spans = scored_models.text.spans
    means = {number: abs(float(apart[slice(*spans[number])].mean())) for number in numbers}
    return sorted(numbers, key=lambda number: (-means[number], number))


# ---------------------------------------------------------------- the page


def _chooser(scored_models: ScoredModels, chosen: list[int]) -> Markup:
    options = [
        tag("option", f"{number + 1}: {_start(scored_models.text.sentences[number])}", value=f"sentence-{number + 1}")
        for number in chosen
    ]
    select = tag("select", options, id="sentence-chooser")
    return tag("div", tag("label", "Sentence", for_="sentence-chooser"), select, class_="controls")


def _start(words: list[str]) -> str:
    return " ".join([*words[:START_WORDS], "…"] if len(words) > START_WORDS else words)


def _legend(scored_models: ScoredModels) -> Markup:
    steps = [tag("li", text, class_=f"surprise-{number}") for number, text in enumerate(LEGEND)]
    marks = [tag("ul", steps, class_="legend scale", aria_label="Colours of surprisal in bits")]
    notes = []
    if len(scored_models.models) > 1:
        notes.append(f"Rows from the top: {names_of(scored_models.models)}.")
    if any(scored_model.unknown.any() for scored_model in scored_models.models):
        notes.append("A dashed cell: the word is unknown to the model and scored as UNK.")
    return tag("div", *marks, paragraph(" ".join(notes), class_="note") if notes else None)


def _sentence(scored_models: ScoredModels, number: int, visible: bool) -> Markup:
    begin, end = scored_models.text.spans[number]
    positions = list(range(begin, end))[:LONGEST]
    names = [tag("span", scored_model.name, class_="row-name", dir="ltr") for scored_model in scored_models.models]
    head = tag("li", tag("span", "", class_="word"), names, class_="column names", aria_hidden="true")
    columns = [_column(scored_models, position, first=position == begin) for position in positions]
    cut = missing(f"The first {LONGEST} of {end - begin} tokens.") if end - begin > LONGEST else None
    side = direction(scored_models.text.sentences[number])
    return tag(
        "div",
        tag("ol", head, columns, class_="tokens", dir=side, aria_label=f"Tokens of sentence {number + 1}"),
        cut,
        tag("p", "Point at a token for its figures.", class_="token-details muted", aria_live="polite"),
        paragraph(_totals(scored_models, begin, end), class_="note"),
        id=f"sentence-{number + 1}",
        class_="sentence",
        hidden=not visible,
    )


def _totals(scored_models: ScoredModels, begin: int, end: int) -> str:
    means = [
        f"{scored_model.name} {decimal(float(scored_model.bits[begin:end].mean()))}"
        for scored_model in scored_models.models
    ]
    return f"Bits a token, on average over this sentence: {', '.join(means)}."


def _column(scored_models: ScoredModels, position: int, *, first: bool) -> Markup:
    form = scored_models.text.forms[position].decode()
    shown = "end of sentence" if form == END else form
    word = tag("span", foreign(form, scored_models.language), class_="word")
    if form == END:
        word = tag("span", "⏎", class_="word", title=shown)
    cells = [_cell(scored_model, position) for scored_model in scored_models.models]
    details = "; ".join(_figures(scored_model, position) for scored_model in scored_models.models)
    return tag("li", word, cells, class_="column", tabindex=0 if first else -1, data_token=shown, data_figures=details)


def _cell(scored_model: ScoredModel, position: int) -> Markup:
    bits, unknown = float(scored_model.bits[position]), bool(scored_model.unknown[position])
    return tag(
        "span",
        tag("span", f"{scored_model.name}: ", class_="visually-hidden"),
        decimal(bits, 1),
        tag("span", " bits, unknown" if unknown else " bits", class_="visually-hidden"),
        class_=f"token surprise-{level(bits)}{' unknown' if unknown else ''}",
        title=_figures(scored_model, position),
    )


def _figures(scored_model: ScoredModel, position: int) -> str:
    bits = float(scored_model.bits[position])
    probability = 2.0**-bits if math.isfinite(bits) else 0.0
    note = ", scored as UNK" if scored_model.unknown[position] else ""
    return f"{scored_model.name}: {decimal(bits, 4)} bits, p = {probability:.3g}{note}"
