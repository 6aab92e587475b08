"""Generates text: sentences sampled word by word from the distributions of a model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from morphlm.arguments import finite_number, shown, whole_number
from morphlm.arrays import Float64Array
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.language_model.base import LanguageModel
from morphlm.scoring.prediction import Predictor
from morphlm.vectors.search import largest
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID
from morphlm.wording import option


@dataclass(frozen=True)
class GenerationOptions:
    """How words are sampled."""

    max_words: int = 50  # longer sentences are cut
    temperature: float = 1.0  # p^(1/temperature), normalised: below 1 likely words become likelier; 0: the likeliest
    top_k: int = 0  # sample from the k most likely words; 0: from all
    unknown: bool = False  # whether UNK may be drawn

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        whole_number("max-words", self.max_words, at_least=1)
        finite_number("temperature", self.temperature, at_least=0)
        whole_number("top-k", self.top_k)


@dataclass(frozen=True)
class Generated:
    """A sampled sentence."""

    words: tuple[str, ...]  # those it was to begin with included
    text: str  # the words put together as a person would write them
    logprob: float  # ln p of what was drawn, under the model itself, its end included
    complete: bool  # whether it came to its end; else it was cut

    __repr__ = dataclass_repr

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "words": list(self.words), "logprob": self.logprob, "complete": self.complete}


def generate(
    model: LanguageModel,
    rng: np.random.Generator,
    *,
    begin: str | Sequence[str] = (),
    options: GenerationOptions | None = None,
) -> Iterator[Generated]:
    """Sample sentences that `begin` with some words, raw or as tokens; the iterator does not end.

    `rng` is the generator of random numbers: equal ones give equal sentences.
    """
    if not isinstance(rng, np.random.Generator):
        raise ConfigError(f"{shown(rng)} is no source of randomness; give numpy.random.default_rng(seed)")
    predictor, settings = Predictor(model), options or GenerationOptions()
    words = predictor.tokens(begin) if isinstance(begin, str) else begin
    start = predictor.state_after(words)
    return (_sentence(model, rng, list(words), start, settings) for _ in count())


def _sentence(
    model: LanguageModel, rng: np.random.Generator, words: list[str], state: Any, options: GenerationOptions
) -> Generated:
    logprob = 0.0
    for _ in range(options.max_words):
        probabilities = model.distribution(state)
        drawn = draw(_selectable(probabilities, unknown=options.unknown), rng, options)
        logprob += math.log(probabilities[drawn])
        if drawn == END_ID:
            return Generated(tuple(words), model.join(words), logprob, complete=True)
        words.append(model.vocabulary.words[drawn])
        _, state = model.score_id(state, drawn)
    return Generated(tuple(words), model.join(words), logprob, complete=False)


def _selectable(probabilities: Float64Array, *, unknown: bool) -> Float64Array:
    """A copy without what is never said: BEGIN, and UNK unless it is admitted."""
    result = probabilities.copy()
    result[BEGIN_ID] = 0.0
    if not unknown:
        result[UNK_ID] = 0.0
    return result


def draw(probabilities: Float64Array, rng: np.random.Generator, options: GenerationOptions) -> int:
    """The id of a word, drawn from a distribution whose sum need not be 1."""
    if not probabilities.max() > 0:
        admitted = option("--unknown", True)
        raise ConfigError(f"after these words the model knows of nothing but unknown words; admit them by {admitted}")
    candidates = largest(probabilities, options.top_k) if options.top_k else np.arange(len(probabilities))
    if options.temperature == 0:
        return int(candidates[np.argmax(probabilities[candidates])])
    bounds = np.cumsum(_tempered(probabilities[candidates], options.temperature))
    target = min(rng.random() * bounds[-1], np.nextafter(bounds[-1], 0.0))  # rounding must not lead beyond the end
    return int(candidates[np.searchsorted(bounds, target, side="right")])  # what has no probability is never found


def _tempered(probabilities: Float64Array, temperature: float) -> Float64Array:
    """p^(1/temperature), the largest as 1 so that nothing vanishes."""
    if temperature == 1:
        return probabilities
    result: Float64Array = (probabilities / probabilities.max()) ** (1 / temperature)
    return result
