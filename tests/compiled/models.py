"""Models to be exported: small random ones of every shape, and mixtures of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np

from morphlm.arrays import Int32Array
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.config import VARIANTS
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.structure import build_structure
from morphlm.ngram.training import train_ngram
from morphlm.scoring.mixture import MixtureModel, as_components, contexts_of
from morphlm.segmentation.factors import build_factors
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import END_ID, Vocabulary
from tests.logbilinear.cases import make_case

WORDS = 40
ADDED = ["w99", "w1w2", "x"]


@cache
def logbilinear(kind: str = "clbl++", diagonal: bool = True, order: int = 4, **more: int) -> LogBilinearModel:
    """A model with random parameters, far from the unigrams."""
    shape = {"width": 11, "classes": 6, "tokens": 300, "seed": 1} | more
    case = make_case(kind, diagonal, order=order, words=WORDS, **shape)  # type: ignore[arg-type]
    parameters = initial_parameters(case.config, case.structure, 1, 0.4)
    return LogBilinearModel(case.config, case.structure, parameters, {"seed": 1})


@cache
def wide(diagonal: bool = True) -> LogBilinearModel:
    """One that looks back further than its order."""
    case = make_case("clbl++", diagonal, words=WORDS, width=11, classes=6, tokens=300)
    config = replace(case.config, wide=12, wide_decay=0.8)
    return LogBilinearModel(config, case.structure, initial_parameters(config, case.structure, 3, 0.4), {})


def text() -> Int32Array:
    """A text of the words of these models, and its sentences."""
    return make_case("clbl", words=WORDS, tokens=300).stream


def sentences(tokens: Int32Array, vocabulary: Vocabulary) -> list[list[str]]:
    """Sentences of words, without their ends."""
    cuts = np.flatnonzero(tokens == END_ID) + 1
    return [[vocabulary.words[word] for word in part[:-1]] for part in np.split(tokens, cuts)[:-1]]


@cache
def ngrams(order: int = 3, turned: bool = False) -> LanguageModel:
    """N-grams over the same words, or over the same in another order."""
    vocabulary = logbilinear().vocabulary
    lines = [[word for word in sentence if word not in RESERVED] for sentence in sentences(text(), vocabulary)]
    if turned:
        words, counts = vocabulary.words[len(RESERVED) :], vocabulary.counts
        vocabulary = Vocabulary((*RESERVED, *words[::-1]), np.concatenate([counts[:3], counts[3:][::-1]]))
    return train_ngram(lines, order, vocabulary=vocabulary)


def mixture(*models: LanguageModel, by_context: bool = True, seed: int = 1) -> MixtureModel:
    """A mixture with random weights, one of them 0."""
    components = as_components(models, [None] * len(models))
    buckets = contexts_of(components, "context" if by_context else "none").buckets
    weights = np.random.default_rng(seed).dirichlet(np.ones(len(models)), buckets)
    weights[-1] = [1.0] + [0.0] * (len(models) - 1)
    return MixtureModel(components, weights, "context" if by_context else "none", {})


@cache
def extended(kind: str = "clbl++") -> LanguageModel:
    """A model with factors of letters that more words were added to."""
    case = make_case(kind, words=WORDS, width=11, classes=6, tokens=300)
    vocabulary = case.structure.vocabulary
    factors = build_factors(vocabulary, character_ngrams(1, 2))
    structure = build_structure(case.config, vocabulary, case.structure.partition, factors)
    model = LogBilinearModel(case.config, structure, initial_parameters(case.config, structure, 1, 0.2), {"seed": 1})
    return model.extended(ADDED)


def _nested() -> MixtureModel:
    by_ngrams = mixture(ngrams(3, turned=True), ngrams(2))
    by_last_word = mixture(logbilinear("lbl+c", order=2), logbilinear())
    return mixture(logbilinear("lbl"), by_ngrams, by_last_word)


MODELS: dict[str, Callable[[], LanguageModel]] = {
    **{f"{kind} diagonal": partial(logbilinear, kind) for kind in VARIANTS},
    **{f"{kind} full": partial(logbilinear, kind, False) for kind in VARIANTS},
    **{f"clbl+c of order {order}": partial(logbilinear, "clbl+c", order=order) for order in (2, 3, 7, 20)},
    "lbl++ full of order 6": partial(logbilinear, "lbl++", False, 6),
    "without surface forms": partial(logbilinear, "clbl++", surface=0),
    "vectors of 1": partial(logbilinear, "clbl++", width=1),
    "vectors of 64": partial(logbilinear, "clbl", width=64),
    **{f"n-grams of order {order}": partial(ngrams, order) for order in (1, 2, 3, 5)},
    "mixture with equal weights": lambda: mixture(ngrams(), logbilinear(), by_context=False),
    "mixture by n-grams": lambda: mixture(logbilinear("clbl"), ngrams(), logbilinear("lbl+o", False, 3)),
    "mixture by the last word": lambda: mixture(logbilinear("clbl", seed=2), logbilinear()),
    "mixture of other ids": lambda: mixture(logbilinear(), ngrams(2, turned=True)),
    "mixture of mixtures": _nested,
    "clbl++, extended": extended,
    "lbl+o, extended": partial(extended, "lbl+o"),
    "n-grams, extended": lambda: ngrams().extended(ADDED),
    "mixture, extended": lambda: mixture(extended(), ngrams(2).extended(ADDED)),
}
