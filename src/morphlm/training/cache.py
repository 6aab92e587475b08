"""Caches as kinds of models: what words share is found or made, and decay and background are fitted.

A cache is of use in a mixture, so it is fitted in one: with trigrams of the training text, on the development text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from morphlm.arrays import Float64Array
from morphlm.cache.config import UNIT_OF_KIND, CacheConfig, Unit
from morphlm.cache.model import CacheModel
from morphlm.cache.units import Units, class_units, morpheme_units, word_weights
from morphlm.ngram.training import NgramConfig, train_ngram_on
from morphlm.training.inputs import TrainingInputs
from morphlm.training.job import TrainingJob

PARTNER_ORDER = 3  # of the n-grams that the cache is mixed with while it is fitted
DECAYS = (0.95, 0.98, 0.99, 0.993, 0.995, 0.997, 0.998, 0.999, 0.9995, 1.0)
BACKGROUNDS = (1.0, 3.0, 10.0, 30.0, 100.0)
STEPS = 30  # of EM for the weight of the cache


def train_cache(job: TrainingJob) -> CacheModel:
    """A cache with the words of the training text, fitted to the development text as far as nothing is chosen."""
    inputs, options, unit = job.inputs, job.options, UNIT_OF_KIND[job.kind.name]
    config = CacheConfig(unit, window=options.window)
    model = CacheModel(
        config,
        inputs.vocabulary,
        word_weights(inputs.vocabulary, unknown=options.cache_unknown),
        _units(inputs, unit),
        job.record,
    )
    measure = _measure(model, inputs)
    decays = DECAYS if options.decay is None else (options.decay,)
    backgrounds = BACKGROUNDS if options.background is None else (options.background,)
    config = replace(config, background=backgrounds[len(backgrounds) // 3])
    config = _best([replace(config, decay=decay) for decay in decays], measure)
    config = _best([replace(config, background=background) for background in backgrounds], measure)
    model.training |= {"decay": config.decay, "background": config.background}
    return _with(model, config)


def _units(inputs: TrainingInputs, unit: Unit) -> Units | None:
    if unit == "classes":
        assert inputs.partition is not None
        return class_units(inputs.vocabulary, inputs.partition)
    if unit == "morphemes":
        assert inputs.factors is not None
        return morpheme_units(inputs.vocabulary, inputs.factors)
    return None


def _with(model: CacheModel, config: CacheConfig) -> CacheModel:
    return CacheModel(config, model.vocabulary, model.weights, model.units, model.training)


def _best(configs: list[CacheConfig], measure: Callable[[CacheConfig], float]) -> CacheConfig:
    """The one that is measured highest; there is nothing to measure if there is only one."""
    return configs[0] if len(configs) == 1 else max(configs, key=measure)


def _measure(model: CacheModel, inputs: TrainingInputs) -> Callable[[CacheConfig], float]:
    """The log-likelihood a token of the development text under trigrams mixed with a cache."""
    dev, partner = inputs.dev.corpus.tokens, None

    def measure(config: CacheConfig) -> float:
        nonlocal partner
        if partner is None:
            partner = np.exp(train_ngram_on(inputs.train, NgramConfig(PARTNER_ORDER)).score_tokens(dev))
        return mixed_likelihood(partner, np.exp(_with(model, config).score_tokens(dev)))

    return measure


def mixed_likelihood(first: Float64Array, second: Float64Array) -> float:
    """The mean of ln((1 - lambda) p + lambda q) with the best lambda, found by EM."""
    weight = 0.1
    for _ in range(STEPS):
        joint = weight * second
        weight = float(np.mean(joint / ((1 - weight) * first + joint)))
    return float(np.mean(np.log((1 - weight) * first + weight * second)))
