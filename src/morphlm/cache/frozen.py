"""A cache that is fixed by a text is a distribution over words, so it is an n-gram model of order 1.

Decoders, compiled files and the C++ header have n-grams already, and their states need not hold the text.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from morphlm.arrays import Float64Array
from morphlm.ngram.kernels import ROOT
from morphlm.ngram.model import CACHE_SOURCE, NgramModel
from morphlm.ngram.trie import NgramTrie
from morphlm.vocabulary.vocabulary import Vocabulary


def frozen_cache(vocabulary: Vocabulary, probabilities: Float64Array, training: dict[str, Any]) -> NgramModel:
    """A model of order 1 with these probabilities of the words."""
    words = len(vocabulary)
    with np.errstate(divide="ignore"):
        logprob = np.log(probabilities).astype(np.float32)
    trie = NgramTrie(
        sizes=(words,),
        words=np.arange(words, dtype=np.int32),
        logprob=logprob,
        suffix=np.full(words, ROOT, np.int32),
        backoff=np.zeros(0, np.float32),
        first_child=np.array([words], np.int64),
    )
    return NgramModel(trie, vocabulary, training | {"source": CACHE_SOURCE})
