"""Small models and a text for the analyses."""

from __future__ import annotations

from functools import cache

from morphlm.language_model.base import LanguageModel
from morphlm.ngram.model import NgramModel
from morphlm.ngram.training import train_ngram
from morphlm.scoring.mixing import mix
from tests.scoring.models import small_model, wide_model

TRAIN = [["pro", "novou", "školu"], ["pro", "školu"], ["novou", "školu"], ["pro", "novou", "prosbu"]]
TEXT = [["pro", "školu"], ["novou", "prosbu", "neznámou"], ["pro", "novou", "novou", "školu"]]


def models() -> tuple[NgramModel, NgramModel]:
    """A unigram and a bigram model of the same text."""
    return train_ngram(TRAIN, 1), train_ngram(TRAIN, 2)


@cache
def any_models() -> dict[str, LanguageModel]:
    """One of each family."""
    plain = {kind: small_model(kind) for kind in ("mkn", "lbl++", "clbl++")}
    return {**plain, "wide": wide_model(), "mixture": mix([plain["lbl++"], plain["clbl++"]], weights=[0.5, 0.5])}
