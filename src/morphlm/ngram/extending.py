"""An n-gram model extended by words: after every context each has a share of UNK's probability, in contexts it is UNK.

The shares are the same in all contexts, since n-grams know nothing of a new word but how frequent it may be.
"""

from __future__ import annotations

import numpy as np

from morphlm.arrays import Float64Array
from morphlm.language_model.addition import Addition
from morphlm.ngram.trie import NgramTrie
from morphlm.vocabulary.vocabulary import UNK_ID


def extend_trie(trie: NgramTrie, addition: Addition) -> NgramTrie:
    """The trie with unigrams for the words, as members of UNK: the other nodes move on by as many numbers.

    What a member has in place of a log-probability is ln of its weight relative to what is left of UNK.
    """
    known, added = trie.vocabulary_size, len(addition.words)
    logprob = trie.logprob.copy()
    logprob[trie.words == UNK_ID] += _log_left(trie, addition.log_weights)
    suffix = np.where(trie.suffix >= known, trie.suffix + added, trie.suffix).astype(np.int32)
    backoff, first_child = trie.backoff, trie.first_child + added
    if trie.order > 1:  # else unigrams are the highest order, which has neither
        backoff = np.insert(backoff, known, np.zeros(added, np.float32))
        first_child = np.insert(first_child, known, np.full(added, first_child[known]))
    return NgramTrie(
        sizes=(known + added, *trie.sizes[1:]),
        words=np.insert(trie.words, known, np.arange(known, known + added, dtype=np.int32)),
        logprob=np.insert(logprob, known, addition.log_weights.astype(np.float32)),
        suffix=np.insert(suffix, known, np.full(added, UNK_ID, np.int32)),
        backoff=backoff,
        first_child=first_child,
    )


def _log_left(trie: NgramTrie, log_weights: Float64Array) -> np.float32:
    """ln of what is left of UNK by more words, as a share of what was left of it before."""
    unigrams = slice(trie.vocabulary_size)
    earlier = trie.logprob[unigrams][trie.suffix[unigrams] == UNK_ID].astype(np.float64)
    before = np.exp(earlier).sum() + 1.0
    return np.float32(np.log(before) - np.log(before + np.exp(log_weights).sum()))
