"""The n-gram model inside a decoder: scores in batches, and n-grams that order the search."""

from __future__ import annotations

from dataclasses import dataclass

from morphlm.arrays import Float64Array, Int32Array, Int64Array
from morphlm.language_model.batch_scorer import BatchScorer, checked_contexts, checked_queries
from morphlm.ngram.kernels import score_after_contexts, states_after_contexts
from morphlm.ngram.model import NgramModel
from morphlm.ngram.trie import NgramTrie
from morphlm.vocabulary.vocabulary import Vocabulary


class NgramScorer(BatchScorer):
    """Walks the trie anew for each query, which is fast enough to need no cache."""

    def __init__(self, model: NgramModel) -> None:
        self.model, self.order = model, model.order

    def new_cache(self, megabytes: float) -> None:
        return None

    def log_probabilities(self, contexts: Int32Array, words: Int32Array, cache: None) -> Float64Array:
        contexts, words = checked_queries(contexts, words, self.order, len(self.model.vocabulary))
        logprobs: Float64Array = score_after_contexts(contexts, words, *self.model.trie.arrays)
        return logprobs

    def context_buckets(self, contexts: Int32Array, cache: None) -> Int64Array:
        contexts = checked_contexts(contexts, self.order, len(self.model.vocabulary))
        return self.model.bucket_of(states_after_contexts(contexts, *self.model.trie.arrays))


@dataclass(frozen=True, eq=False)
class SearchHeuristic:
    """N-grams whose scores order the hypotheses of a search."""

    trie: NgramTrie
    vocabulary: Vocabulary
    is_exact: bool  # their scores are those of the model, so that it need not be asked


def ngram_heuristic(model: NgramModel) -> SearchHeuristic:
    """The n-grams of the model itself."""
    return SearchHeuristic(model.trie, model.vocabulary, is_exact=True)
