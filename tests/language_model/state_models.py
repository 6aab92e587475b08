"""Small models of every kind over the same words, for tests that compare the ways to ask them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Float64Array, Int32Array
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.config import VARIANTS, variant
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.structure import build_structure
from morphlm.ngram.training import train_ngram
from morphlm.scoring.mixture import MixtureModel, as_components
from morphlm.segmentation.factors import build_factors
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.vocabulary.vocabulary import BEGIN_ID, Vocabulary
from tests.training.small import sentences, task

WIDE = 7
BEFORE = [["domu", "školou"], ["poly"]]  # a text before
# Two unknown words with known factors, one without any, a mark, an empty sentence.
TEXT = [
    ["domu", "domouška", "školou", "domouška", "poly"],
    [],
    ["ulicem", "xyz", "<unk>", "poleň", "domu", "školama"],
    ["městy"],
]


@cache
def logbilinear(
    kind: str, order: int = 3, *, diagonal: bool = True, wide: int = 0, width: int = 8, analyser: bool = True
) -> LogBilinearModel:
    """With parameters so large that contexts matter; new words have the character n-grams of known ones."""
    given = task().structure
    config = replace(variant(kind, order=order, width=width, diagonal=diagonal), wide=wide, wide_decay=0.8)
    factors = build_factors(given.vocabulary, character_ngrams(2, 3))
    factors = factors if analyser else replace(factors, analyser=None)
    structure = build_structure(config, given.vocabulary, given.partition, factors)
    return LogBilinearModel(config, structure, initial_parameters(config, structure, order, 0.7), {"seed": 7})


@cache
def ngrams(order: int, *, shuffled: bool = False) -> LanguageModel:
    """Over the words of the log-bilinear models, in their order or another."""
    vocabulary = task().structure.vocabulary
    if shuffled:
        vocabulary = Vocabulary((*vocabulary.words[:3], *vocabulary.words[:2:-1]), vocabulary.counts)
    return train_ngram(sentences(80, 4, rare=True), order, vocabulary=vocabulary)


def mixture(*models: LanguageModel, by_context: bool = False) -> MixtureModel:
    components, rng = as_components(models, [None] * len(models)), np.random.default_rng(5)
    sorting = [getattr(model, "context_buckets", 1) for model in models]
    buckets = next((number for number in sorting if number > 1), 16) if by_context else 1
    weights = rng.dirichlet([1.0] * len(models), buckets)
    return MixtureModel(components, weights, "context" if by_context else "none", {})


class LastWord(LanguageModel):
    """A kind of somebody's own, which has only what it must have; a word depends on the one before."""

    kind, order = "last-word", 2

    def __init__(self) -> None:
        self.vocabulary, self.training = task().structure.vocabulary, {}
        scores = np.random.default_rng(1).normal(size=(len(self.vocabulary),) * 2)
        scores[:, BEGIN_ID] = -np.inf
        self._table = scores - np.logaddexp.reduce(scores, axis=1)[:, None]

    def begin(self, *, sentence: bool = True, unknown_contexts: Any = "unk") -> int:
        return BEGIN_ID if sentence else 0

    def score_id(self, state: int, word: int) -> tuple[float, int]:
        return float(self._table[state, word]), word

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        before = np.concatenate([[BEGIN_ID], tokens[:-1]])
        logprobs: Float64Array = self._table[np.where(before == 2, BEGIN_ID, before), tokens]
        return logprobs

    def distribution(self, state: int) -> Float64Array:
        row: Float64Array = np.exp(self._table[state])
        return row

    def save(self, directory: str | Path) -> None:
        raise NotImplementedError


def _fixed(**changes: Any) -> LanguageModel:
    return logbilinear("clbl++", wide=WIDE, **changes).after_text(BEFORE)


MODELS: dict[str, Callable[[], LanguageModel]] = {
    **{f"mkn {order}": partial(ngrams, order) for order in (1, 2, 3, 5, 10)},
    **{kind: partial(logbilinear, kind) for kind in VARIANTS},
    **{f"{kind} full": partial(logbilinear, kind, diagonal=False) for kind in VARIANTS},
    **{f"clbl++ {order}": partial(logbilinear, "clbl++", order) for order in (2, 4, 5, 6, 7, 8, 9, 10)},
    **{f"lbl+c full {order}": partial(logbilinear, "lbl+c", order, diagonal=False) for order in (2, 10)},
    "clbl++ of width 33": partial(logbilinear, "clbl++", width=33),
    "without analyser": partial(logbilinear, "clbl++", analyser=False),
    "wide": partial(logbilinear, "clbl++", wide=WIDE),
    "wide full": partial(logbilinear, "lbl+c", diagonal=False, wide=WIDE),
    "wide without factors": partial(logbilinear, "clbl", 2, wide=WIDE),
    "fixed": _fixed,
    "fixed full": partial(_fixed, diagonal=False),
    "mixture": lambda: mixture(ngrams(3), logbilinear("clbl++")),
    "by context": lambda: mixture(ngrams(3), logbilinear("clbl++", 4), by_context=True),
    "by the last word": lambda: mixture(logbilinear("lbl+c"), logbilinear("clbl", 2), by_context=True),
    "other ids": lambda: mixture(logbilinear("clbl++"), ngrams(4, shuffled=True), by_context=True),
    "wide mixture": lambda: mixture(ngrams(2), logbilinear("clbl++", wide=WIDE), by_context=True),
    "fixed mixture": lambda: mixture(ngrams(2), logbilinear("clbl++", wide=WIDE), by_context=True).after_text(BEFORE),
    "nested": lambda: mixture(mixture(ngrams(2), logbilinear("lbl+c"), by_context=True), logbilinear("clbl", wide=3)),
    "own kind": LastWord,
    "mixture with own kind": lambda: mixture(LastWord(), logbilinear("clbl++"), by_context=True),
}
