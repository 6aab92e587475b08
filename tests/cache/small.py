"""Small caches of words that share stems, made by hand, and mixtures with them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from morphlm.arrays import Int32Array
from morphlm.cache.config import KIND_OF_UNIT, CacheConfig, NeuralCacheConfig, Unit
from morphlm.cache.model import CacheModel
from morphlm.cache.neural import NeuralCacheModel
from morphlm.cache.units import class_units, morpheme_units, word_weights
from morphlm.classes.frequency import frequency_bins
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.config import variant
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.structure import build_structure
from morphlm.ngram.training import train_ngram
from morphlm.scoring.mixing import mix
from morphlm.vocabulary.vocabulary import END_ID
from tests.segmentation.small import factors_of, vocabulary
from tests.training.small import sentences

UNITS: tuple[Unit, ...] = ("words", "classes", "morphemes")
RECORD = {"seed": 1, "kappa": 0.2}


def small_cache(
    unit: Unit = "words",
    *,
    decay: float = 0.9,
    background: float = 2.0,
    window: int = 12,
    unknown: bool = False,
    source: str = "segmenter",
) -> CacheModel:
    words = vocabulary()
    units = None
    if unit == "classes":
        units = class_units(words, frequency_bins(words, 3))
    elif unit == "morphemes":
        units = morpheme_units(words, factors_of(source))
    config = CacheConfig(unit, decay, background, window)
    return CacheModel(config, words, word_weights(words, unknown=unknown), units, {"kind": KIND_OF_UNIT[unit]} | RECORD)


@cache
def wide_model() -> LogBilinearModel:
    """With random parameters; it looks back across sentences, too."""
    config = replace(variant("clbl++", order=3, width=6, diagonal=True), wide=5)
    structure = build_structure(config, vocabulary(), frequency_bins(vocabulary(), 3), factors_of("segmenter"))
    return LogBilinearModel(config, structure, initial_parameters(config, structure, 1, 0.5), dict(RECORD))


def small_neural_cache(model: LogBilinearModel | None = None, **changes: Any) -> NeuralCacheModel:
    config = NeuralCacheConfig(window=9, decay=0.8, sharpness=4.0, share=0.4, half=0.5)
    inner = wide_model() if model is None else model
    centre = np.linspace(-0.3, 0.4, inner.config.width).astype(np.float32)
    return NeuralCacheModel(replace(config, **changes), inner, centre, dict(RECORD))


@cache
def ngrams() -> LanguageModel:
    return train_ngram(sentences(60, 1), order=3, vocabulary=vocabulary())


@cache
def mixture() -> LanguageModel:
    """A cache first, so that contexts are not those of the first component; weights by context."""
    parts = [small_cache("morphemes"), ngrams(), wide_model(), small_cache()]
    return mix(parts, sentences(30, 2))


def encoded(text: list[list[str]], model: LanguageModel) -> Int32Array:
    """A text as ids."""
    ends = np.array([END_ID], np.int32)
    return np.concatenate([part for sentence in text for part in (model.vocabulary.encode(sentence), ends)])
