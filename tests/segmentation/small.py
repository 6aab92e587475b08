"""A few words, a segmenter for them made by hand, and models with their factors: for tests of words never seen."""

from __future__ import annotations

from functools import cache

import numpy as np

from morphlm.classes.frequency import frequency_bins
from morphlm.logbilinear.config import variant
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.structure import build_structure
from morphlm.segmentation.factors import Factors, build_factors
from morphlm.segmentation.kernels.paths import CATEGORIES, EDGE, NEVER, STM, SUF
from morphlm.segmentation.morphemes import STEM, SUFFIX, Morpheme, Segmentation
from morphlm.segmentation.new_words import PathModel
from morphlm.segmentation.segmenter import MorphemeSegmenter, SegmenterConfig
from morphlm.segmentation.source_spec import segmenter_source
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.segmentation.sources.pieces import train_pieces
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import Vocabulary
from tests.training.small import ENDINGS, STEMS

KNOWN = [stem + ending for stem in STEMS for ending in ENDINGS if (stem, ending) != ("dom", "ou")]
SOURCES = ["segmenter", "baseline", "ngrams", "pieces"]


@cache
def vocabulary() -> Vocabulary:
    return Vocabulary((*RESERVED, *KNOWN), np.arange(len(KNOWN) + 3, 0, -1))


@cache
def segmenter(categories: bool = True) -> MorphemeSegmenter:
    """Made by hand: so few words would be learned as wholes."""
    morphs = sorted([*STEMS, *ENDINGS])
    emissions, transitions = np.full((len(morphs), CATEGORIES), NEVER), np.full((CATEGORIES + 1, CATEGORIES + 1), NEVER)
    ending = SUF if categories else STM
    for number, morph in enumerate(morphs):
        emissions[number, STM if morph in STEMS else ending] = 2.0
    transitions[EDGE, STM], transitions[STM, EDGE], transitions[STM, ending], transitions[ending, EDGE] = 0, 1, 0.5, 0.2
    transitions[ending, ending] = 0.7
    labels = (STEM, SUFFIX) if categories else (None, None)
    analyses = {
        word: (Morpheme(stem, labels[0]), Morpheme(word[len(stem) :], labels[1]))
        for word in KNOWN
        for stem in STEMS
        if word.startswith(stem)
    }
    paths = PathModel(tuple(morphs), np.full(len(morphs), 5), emissions, transitions, 4.0)
    config = SegmenterConfig(categories=categories)
    return MorphemeSegmenter(Segmentation(analyses), np.ones(len(KNOWN), np.int64), config, paths, {})


@cache
def factors_of(source: str) -> Factors:
    if source in ("segmenter", "baseline"):
        trained = segmenter(source == "segmenter")
        return build_factors(vocabulary(), segmenter_source(trained, vocabulary(), source))
    if source == "ngrams":
        return build_factors(vocabulary(), character_ngrams(2, 3))
    return build_factors(vocabulary(), train_pieces(dict.fromkeys(KNOWN, 1), size=30).factorisation())


@cache
def model_with(source: str = "segmenter", kind: str = "lbl++") -> LogBilinearModel:
    return model_of(factors_of(source), kind)


def model_of(factors: Factors, kind: str = "lbl++") -> LogBilinearModel:
    """With random parameters."""
    config = variant(kind, order=3, width=4)
    structure = build_structure(config, factors.vocabulary, frequency_bins(factors.vocabulary, 3), factors)
    return LogBilinearModel(config, structure, initial_parameters(config, structure, 1, 0.5), {"seed": 1})
