"""The vocabulary and the order of Kneser-Ney, chosen by the development text.

Models of different vocabularies are compared by the perplexity per word with unknown words spelled, on the same tokens.
Kneser-Ney is trained in a moment, so the share of rare words that becomes UNK is chosen with it, on the whole text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from morphlm.language_model.base import LanguageModel
from morphlm.learning.choices import NgramTrial
from morphlm.ngram.training import NgramConfig, train_ngram_on
from morphlm.scoring.spelling import SpellingModel, train_spelling
from morphlm.vocabulary.corpus import RawCorpus, read_corpus
from morphlm.vocabulary.vocabulary import Vocabulary

Number = TypeVar("Number", int, float)

KAPPAS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)
USUAL_KAPPA = 0.2
KAPPA_ORDER = 3  # is enough to tell the vocabularies apart
ORDERS = (3, 4, 5, 6)
USUAL_ORDER = 4
LEAST_GAIN = 0.001  # share of the perplexity that another order must gain: each makes the model larger


def choose_ngrams(train: Path, dev: Path, *, seed: int, allow_unknown: bool) -> list[NgramTrial]:
    """All trials; the last is the choice."""
    corpus = read_corpus(train, allow_unknown=allow_unknown)
    measured: dict[tuple[float, int], NgramTrial] = {}
    spelling: dict[float, SpellingModel] = {}
    vocabularies: dict[float, Vocabulary] = {}

    def measure(kappa: float, order: int) -> float:
        if (kappa, order) not in measured:
            if kappa not in spelling:
                vocabularies[kappa] = corpus.words.vocabulary(kappa, seed)
                spelling[kappa] = train_spelling(vocabularies[kappa])
            text = RawCorpus(np.array(corpus.tokens), corpus.words).encode(vocabularies[kappa])
            model = train_ngram_on(text, NgramConfig(order, kappa, seed))
            perplexity = spelled_perplexity(model, dev, spelling[kappa], allow_unknown=allow_unknown)
            measured[kappa, order] = NgramTrial(kappa, order, perplexity)
        return measured[kappa, order].perplexity

    kappa = descend(KAPPAS, USUAL_KAPPA, lambda kappa: measure(kappa, KAPPA_ORDER))
    order = descend(ORDERS, USUAL_ORDER, lambda order: measure(kappa, order), LEAST_GAIN)
    chosen = measured.pop((kappa, order))
    return [*measured.values(), chosen]


def spelled_perplexity(model: LanguageModel, text: Path, spelling: SpellingModel, *, allow_unknown: bool) -> float:
    """Per word, with unknown words spelled."""
    result = model.perplexity(text, spelling=spelling, allow_unknown=allow_unknown, prepared=True)
    assert result.open_vocabulary is not None
    return result.open_vocabulary.perplexity


def descend(
    ladder: Sequence[Number], start: Number, measure: Callable[[Number], float], least_gain: float = 0.0
) -> Number:
    """From the start up the ladder while what is measured falls by more than a share, else down."""
    best = start
    for step in (1, -1):
        place = ladder.index(best) + step
        while 0 <= place < len(ladder) and measure(ladder[place]) < measure(best) * (1 - least_gain):
            best, place = ladder[place], place + step
        if best != start:
            break
    return best
