"""Small models of all kinds, and texts to report on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from morphlm.classes.frequency import frequency_bins
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.config import variant
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.structure import build_structure
from morphlm.ngram.training import train_ngram
from morphlm.report.scored_models import ScoredModels, TestText, score_loaded_models
from morphlm.scoring.mixture import MixtureModel, as_components
from morphlm.segmentation.factors import build_factors
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.vocabulary.corpus import read_corpus
from tests.segmentation.small import KNOWN, model_with
from tests.training.small import sentences

HOSTILE = (
    "<script>alert(1)</script>",
    "</script>",
    "</style>",
    '"&quot;&',
    "'onmouseover='x",
    "<!--",
    "-->",
    "]]>",
    "&lt;b&gt;",
    "<img/src=x/onerror=alert(1)>",
    "\u2028",
    "\u202eabc",
    "\x01\x7f",
)
KINDS = ("mkn", "lbl", "clbl", "clbl++", "mixture")


@cache
def model(kind: str) -> LanguageModel:
    """All have the words of `tests.segmentation.small`; clbl++ also composes others."""
    if kind == "mkn":
        return train_ngram([KNOWN, *sentences(40, 1)], 2)
    if kind == "mixture":
        return MixtureModel(
            as_components([model("clbl++"), model("lbl")], [None] * 2), np.array([[0.3, 0.7]]), "none", {}
        )
    return model_with(kind=kind)


def text_of(lines: Sequence[str]) -> TestText:
    tokens = [line.split(" ") for line in lines]
    return TestText("test.txt", [token.encode() for line in tokens for token in (*line, "</s>")], "test.txt")


TEXT = ("škola domem neznámou", "domou řekou ulicou", "pola městu škola domy řeka")


def scored_models(*kinds: str, lines: Sequence[str] = TEXT) -> ScoredModels:
    """Models of these kinds on some lines."""
    return score_loaded_models(text_of(lines), [(kind, kind, model(kind)) for kind in kinds], len(kinds))


@cache
def hostile_models() -> tuple[LanguageModel, LanguageModel]:
    """An n-gram model and one with classes and n-grams of letters as morphemes, whose words are HTML."""
    text = [list(HOSTILE), [*HOSTILE[::2], "slovo"], list(HOSTILE)]
    vocabulary = read_corpus(text).words.vocabulary(0, 1)
    config = variant("clbl++", order=3, width=4)
    factors = build_factors(vocabulary, character_ngrams(2, 3))
    structure = build_structure(config, vocabulary, frequency_bins(vocabulary, 2), factors)
    logbilinear = LogBilinearModel(config, structure, initial_parameters(config, structure, 1, 0.5), {"seed": 1})
    return train_ngram(text, 2), logbilinear


def hostile_scored_models() -> ScoredModels:
    lines = [" ".join([*HOSTILE, "<b>neznámé</b>"]), " ".join(HOSTILE[:5])]
    ngram, logbilinear = hostile_models()
    return score_loaded_models(text_of(lines), [("<i>&", "x", ngram), ('"clbl++"', "y", logbilinear)], 2)
