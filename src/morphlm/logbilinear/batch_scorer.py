"""The log-bilinear model inside a decoder: compiled queries in batches, with a cache of sums for each thread."""

from __future__ import annotations

from morphlm.arrays import Float64Array, Int32Array
from morphlm.language_model.batch_scorer import BatchScorer, checked_queries
from morphlm.logbilinear.kernels import query_batch
from morphlm.logbilinear.kernels.query import Cache
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.query import new_cache


class LogBilinearScorer(BatchScorer):
    """Compiles the model for queries when it is made."""

    def __init__(self, model: LogBilinearModel) -> None:
        self.compiled, self.order, self._words = model.queries.model, model.order, len(model.vocabulary)

    def new_cache(self, megabytes: float) -> Cache:
        return new_cache(self.compiled, megabytes)

    def log_probabilities(self, contexts: Int32Array, words: Int32Array, cache: Cache) -> Float64Array:
        contexts, words = checked_queries(contexts, words, self.order, self._words)
        logprobs: Float64Array = query_batch.log_probabilities(self.compiled, cache, contexts, words)
        return logprobs
