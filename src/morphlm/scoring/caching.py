"""Adds a neural cache to a log-bilinear model: fits it to development text, writes it, and measures it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Float64Array, Int32Array
from morphlm.cache.config import NeuralCacheConfig
from morphlm.cache.neural import NeuralCacheModel
from morphlm.display import Row, Tabular, dataclass_repr
from morphlm.errors import ConfigError
from morphlm.files import check_can_make
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.fitting import fit_text
from morphlm.language_model.perplexity import Perplexity
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.modelfile import check_can_hold_model
from morphlm.progress import ProgressOption, reports_progress
from morphlm.scoring.loading import load
from morphlm.version import __version__
from morphlm.vocabulary.corpus import Source, encode_text

DECAYS = (0.98, 0.99, 0.995, 0.998, 0.999, 1.0)
SHARPNESSES = (0.0, 3.0, 5.0, 7.0, 9.0, 12.0)
HALVES = tuple(2.0**power for power in range(-4, 6))  # mu, in multiples of the mean mass of the cache
SEARCHED = 1 << 15  # tokens of the development text, by which sharpness and decay are chosen
STEPS = 20  # of the search for lambda


@dataclass(frozen=True)
class Cached(Tabular):
    """A model with a neural cache, and what it reaches."""

    model: NeuralCacheModel
    out: Path | None
    development: tuple[Perplexity, Perplexity]  # of the log-bilinear model, and with the cache
    test: tuple[Perplexity, Perplexity] | None

    __repr__ = dataclass_repr

    def format(self) -> str:
        config = self.model.config
        figures = {"development": self.development, "test": self.test}
        lines = [f"{self.model.kind}: decay {config.decay:g}, sharpness {config.sharpness:g}"]
        lines += [
            f"  {name:<12} {pair[0].including_unknown:.2f}, with the cache {pair[1].including_unknown:.2f}"
            for name, pair in figures.items()
            if pair is not None
        ]
        lines.append(f"  signature    {self.model.signature}")
        return "\n".join(lines + ([] if self.out is None else [f"  written to   {self.out}"]))

    def to_json(self) -> dict[str, Any]:
        texts = {"development": self.development, "test": self.test}
        figures = {
            name: None if pair is None else {"model": pair[0].to_json(), "cache": pair[1].to_json()}
            for name, pair in texts.items()
        }
        plain = {"out": None if self.out is None else str(self.out), "training": self.model.training}
        return plain | figures | {"signature": str(self.model.signature)}

    def frame_rows(self) -> list[Row]:
        names = (self.model.model.kind, self.model.kind)
        rows: list[dict[str, Any]] = [{"model": name} for name in names]
        for text, pair in {"development": self.development, "test": self.test}.items():
            for row, result in zip(rows, pair or (), strict=False):
                row[f"{text}_perplexity"] = result.including_unknown
        return list(rows)


@reports_progress
def add_cache(
    model: str | Path | LanguageModel,
    dev: Source,
    out: str | Path | None = None,
    *,
    window: int = NeuralCacheConfig.window,
    cache_unknown: bool = False,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
    progress: ProgressOption = None,
) -> NeuralCacheModel:
    """Add a neural cache to a log-bilinear model: words of the text before come again where their contexts do.

    The model is a loaded one or a directory. How the cache looks at the `window` words before a sentence is fitted to
    the development text, whose sentences must be consecutive. Unknown words are left out of the cache, since they would
    raise P(UNK) and no word's, unless `cache_unknown` says otherwise. With `out`, the model directory is written there,
    with the model in it. `prepared` and `encoding` are as of `LanguageModel.perplexity`.
    """
    cached = add_and_test(
        model,
        dev,
        out,
        window=window,
        cache_unknown=cache_unknown,
        allow_unknown=allow_unknown,
        prepared=prepared,
        encoding=encoding,
    )
    return cached.model


@reports_progress
def add_and_test(
    model: str | Path | LanguageModel,
    dev: Source,
    out: str | Path | None = None,
    *,
    test: Source | None = None,
    window: int = NeuralCacheConfig.window,
    cache_unknown: bool = False,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
    progress: ProgressOption = None,
) -> Cached:
    """As `add_cache` with its `window` and `cache_unknown`, and measure the perplexities without and with the cache."""
    config = NeuralCacheConfig(window=window, cache_unknown=cache_unknown)
    directory = None if out is None else Path(out)
    if directory is not None:
        check_can_hold_model(directory)
        check_can_make(directory)
    inner = model if isinstance(model, LanguageModel) else load(model)
    if not isinstance(inner, LogBilinearModel):
        raise ConfigError(
            f"a neural cache needs the predictions of a log-bilinear model, which {inner.kind} is not; name one (lbl, "
            "..., clbl++), and mix the result with others"
        )
    text = fit_text(inner, dev, prepared=prepared, encoding=encoding)
    cached = fit_cache(inner, encode_text(text, inner.vocabulary, allow_unknown=allow_unknown).tokens, config)
    if directory is not None:
        cached.save(directory)

    def measured(source: Source) -> tuple[Perplexity, Perplexity]:
        how: dict[str, Any] = {"allow_unknown": allow_unknown, "prepared": prepared, "encoding": encoding}
        return inner.perplexity(source, **how), cached.perplexity(source, **how)

    return Cached(cached, directory, measured(dev), None if test is None else measured(test))


# ---------------------------------------------------------------- fitting


def fit_cache(model: LogBilinearModel, dev: Int32Array, config: NeuralCacheConfig) -> NeuralCacheModel:
    """The neural cache under which a text is likeliest: sharpness, then decay, each with the best lambda and mu."""
    if not len(dev):
        raise ConfigError("the development text is empty; give one with sentences that follow each other")
    logprobs, predictions = model.score_and_predict(dev)
    training = {name: value for name, value in model.training.items() if name != "identity"} | {"version": __version__}
    cached = NeuralCacheModel(config, model, predictions.mean(axis=0), training)
    probabilities = np.exp(logprobs)

    def fitted(shape: NeuralCacheConfig, tokens: int = SEARCHED) -> tuple[float, NeuralCacheConfig]:
        cached.config = shape
        masses = cached.text_masses(dev[:tokens], predictions[:tokens])
        return _fit_weight(probabilities[:tokens], masses, shape)

    _, best = max((fitted(replace(config, sharpness=theta)) for theta in SHARPNESSES), key=lambda found: found[0])
    _, best = max((fitted(replace(best, decay=decay)) for decay in DECAYS), key=lambda found: found[0])
    likelihood, cached.config = fitted(best, len(dev))
    cached.training["development_perplexity"] = float(np.exp(-likelihood))
    return cached


def _fit_weight(
    model: Float64Array, masses: Float64Array, config: NeuralCacheConfig
) -> tuple[float, NeuralCacheConfig]:
    """lambda and mu, and the log-likelihood a token that they reach."""
    mean = float(masses[:, 1].mean())
    if mean <= 0:
        return float(np.mean(np.log(model))), replace(config, share=0.0)
    candidates = (_fit_share(model, masses, replace(config, half=mean * half)) for half in HALVES)
    return max(candidates, key=lambda found: found[0])


def _fit_share(model: Float64Array, masses: Float64Array, config: NeuralCacheConfig) -> tuple[float, NeuralCacheConfig]:
    """lambda by EM: P = (1 - lambda) P_M + lambda P', where P' gives the cache all that its mass allows."""
    weight, half = 0.1, config.half
    adapted = (masses[:, 0] + half * model) / (masses[:, 1] + half)
    for _ in range(STEPS):
        joint = weight * adapted
        weight = float(np.mean(joint / ((1 - weight) * model + joint)))
    weight = min(round(weight, 9), 0.999)
    likelihood = float(np.mean(np.log((1 - weight) * model + weight * adapted)))
    return likelihood, replace(config, share=weight)
