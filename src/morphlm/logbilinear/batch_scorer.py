"""The log-bilinear model inside a decoder: compiled queries in batches, with a cache of sums for each thread."""

from __future__ import annotations

import numpy as np

from morphlm.arrays import Float64Array, Int32Array
from morphlm.language_model.batch_scorer import ComposingScorer, NewWordIds, checked_queries
from morphlm.logbilinear.kernels import query_batch
from morphlm.logbilinear.kernels.query import Cache
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.query import new_cache
from morphlm.logbilinear.states import ContextArrays, FactorIds, no_windows


class LogBilinearScorer(ComposingScorer):
    """Compiles the model for queries when it is made."""

    gives_estimates = True

    def __init__(self, model: LogBilinearModel, new_words: NewWordIds | None = None) -> None:
        self._model, self._states, self.new_words = model, model.states, new_words
        self.compiled, self.order, self._words = model.queries.model, model.order, len(model.vocabulary)

    def new_cache(self, megabytes: float) -> Cache:
        return new_cache(self.compiled, megabytes)

    def log_probabilities(self, contexts: Int32Array, words: Int32Array, cache: Cache) -> Float64Array:
        """Contexts with words that are composed are keys of the cache like others: ids of new words stay the same."""
        size = self._words + (0 if self.new_words is None else len(self.new_words.forms))
        contexts, words = checked_queries(contexts, words, self.order, size)
        if self.new_words is None:
            return self._score_known(contexts, words, cache)
        words, is_new = self.new_words.known(words), (contexts >= self._words).any(axis=1)
        logprobs = np.empty(len(words))
        logprobs[~is_new] = self._score_known(contexts[~is_new], words[~is_new], cache)
        if is_new.any():
            logprobs[is_new] = self._score_composed(contexts[is_new], words[is_new], cache)
        return logprobs

    def estimate(self, contexts: Int32Array, words: Int32Array, cache: Cache) -> Float64Array:
        """By the words that are known; new words are UNK."""
        if self.new_words is not None:
            contexts, words = self.new_words.known(contexts), self.new_words.known(words)
        contexts, words = checked_queries(contexts, words, self.order, self._words, partial=True)
        return self._score_known(contexts, words, cache)

    def _score_known(self, contexts: Int32Array, words: Int32Array, cache: Cache) -> Float64Array:
        logprobs: Float64Array = query_batch.log_probabilities(self.compiled, cache, contexts, words)
        return logprobs

    def _score_composed(self, contexts: Int32Array, words: Int32Array, cache: Cache) -> Float64Array:
        different, group_of = np.unique(contexts, axis=0, return_inverse=True)
        predictions = self._states.predict(self._arrays(different)).vectors
        logprobs: Float64Array = query_batch.score_queries(
            self.compiled, cache, different, predictions, group_of.ravel(), words
        )
        return logprobs

    def _arrays(self, contexts: Int32Array) -> ContextArrays:
        """Contexts with the ids that states give to composed words."""
        assert self.new_words is not None
        numbers: dict[FactorIds, int] = {}
        result = contexts.copy()
        for word in np.unique(contexts[contexts >= self._words]).tolist():
            known = self._model.in_contexts(self.new_words.forms[word - self._words])
            number = known if isinstance(known, int) else self._words + numbers.setdefault(known, len(numbers))
            result[contexts == word] = number
        return ContextArrays(result, no_windows(len(result)), list(numbers))
