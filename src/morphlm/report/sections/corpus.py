"""The corpus table: what the models were trained on, and the test text."""

from __future__ import annotations

from typing import Any

import numpy as np

from morphlm.language_model.base import LanguageModel
from morphlm.report.html import Markup, names, numbers, table, tag
from morphlm.report.numbers import NOTHING, decimal, share, whole
from morphlm.report.scored_models import ScoredModel, ScoredModels, names_of
from morphlm.report.sections.section import PageSection
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import UNK_ID

EXPLANATION = (
    "How much text the models were trained on, and how much of the test text they do not know. Tokens are running "
    "words and one end for each sentence; types are different words. Of the words that occur once in the training "
    "text, a share kappa is left out of the vocabulary, so that the models learn what an unknown word (UNK) looks "
    "like."
)


def corpus(scored_models: ScoredModels) -> PageSection:
    """A table of the training texts and one of the test text."""
    body = tag("div", tag("div", _training(scored_models)), tag("div", _test(scored_models)), class_="pair wide")
    return PageSection("corpus", "Texts", EXPLANATION, body)


def _training(scored_models: ScoredModels) -> Markup:
    rows = [
        [names_of(group), *_training_cells(group[0])]
        for group in scored_models.groups(lambda s: tuple(_training_cells(s)))
    ]
    columns = [*names("models"), *numbers("sentences", "tokens", "types", "vocabulary", "kappa")]
    return table(columns, rows, "Training text, as the models' records tell")


def _training_cells(scored_model: ScoredModel) -> list[str]:
    """For a mixture, the record of a part."""
    model = next((part for part in scored_model.model.parts if "tokens" in part.training), scored_model.model)
    record: dict[str, Any] = model.training
    kappa = record.get("kappa")
    return [
        whole(record.get("sentences")),
        whole(record.get("tokens")),
        whole(training_types(model)),
        whole(len(model.vocabulary) - len(RESERVED)),
        NOTHING if kappa is None else f"{kappa:g}",
    ]


def training_types(model: LanguageModel) -> int | None:
    """How many different words the training text had: those that are known, and the singletons that were pruned.

    Each of these counts once for UNK; None if UNK's count is not theirs, because the text had <unk> itself.
    """
    kappa, counts = model.training.get("kappa"), model.vocabulary.counts
    if kappa is None or model.training.get("vocabulary") == "given":
        return None
    pruned, kept = int(counts[UNK_ID]), int(np.count_nonzero(counts[len(RESERVED) :] == 1))
    words = len(counts) - len(RESERVED)
    return words + pruned if pruned == round(kappa * (kept + pruned)) else None


def _test(scored_models: ScoredModels) -> Markup:
    text, tokens = scored_models.text, len(scored_models.text.forms)
    rows = []
    for group in scored_models.groups(lambda s: s.model.vocabulary.words):
        vocabulary, unknown = group[0].model.vocabulary, group[0].perplexity.unknown
        types = sum(word not in vocabulary for word in text.counts)
        cells = [whole(unknown), share(unknown, tokens), whole(types), share(types, len(text.counts))]
        rows.append([names_of(group), *cells])
    columns = [*names("models"), *numbers("unknown tokens", "of tokens", "unknown types", "of types")]
    caption = (
        f"Test text {text.name}: {whole(len(text.sentences))} sentences, {whole(tokens)} tokens "
        f"({decimal(tokens / len(text.sentences), 1)} a sentence), {whole(len(text.counts))} types"
    )
    return table(columns, rows, caption)
