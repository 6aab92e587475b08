"""A mixture inside a decoder: ln sum_m lambda_m p_m, with each p_m from its component's own scorer."""

from __future__ import annotations

from typing import Any

import numpy as np

from morphlm.arrays import Float64Array, Int32Array, Int64Array
from morphlm.kinds import find_kind
from morphlm.language_model.batch_scorer import (
    BatchScorer,
    ComposingScorer,
    NewWordIds,
    batch_scorer,
    checked_contexts,
    checked_queries,
)
from morphlm.ngram.batch_scorer import SearchHeuristic
from morphlm.scoring.mixture import Component, MixtureModel


class MixtureScorer(ComposingScorer):
    """Asks the components; the cache is a list of theirs, which share the memory."""

    def __init__(self, model: MixtureModel, new_words: NewWordIds | None = None) -> None:
        self.model, self.new_words = model, new_words
        self.scorers = [batch_scorer(component.model, new_words) for component in model.components]
        self.order = max(model.contexts.words + 1, *(scorer.order for scorer in self.scorers))

    def new_cache(self, megabytes: float) -> list[Any]:
        return [scorer.new_cache(megabytes / len(self.scorers)) for scorer in self.scorers]

    def log_probabilities(self, contexts: Int32Array, words: Int32Array, cache: list[Any]) -> Float64Array:
        contexts, words = checked_queries(contexts, words, self.order, self._size)
        logprobs, known, words = np.empty((len(words), len(self.scorers))), self._known(contexts), self._known(words)
        for k, (scorer, component) in enumerate(zip(self.scorers, self.model.components, strict=True)):
            own = _own_context(component, scorer, known if scorer.new_words is None else contexts)
            logprobs[:, k] = scorer.log_probabilities(own, component.own_ids(words), cache[k])
        return self.model.combine(logprobs, self._buckets(known, cache))

    @property
    def _size(self) -> int:
        """How many words there are, with new ones."""
        return len(self.model.vocabulary) + (0 if self.new_words is None else len(self.new_words.forms))

    def _known(self, ids: Int32Array) -> Int32Array:
        return ids if self.new_words is None else self.new_words.known(ids)

    def context_buckets(self, contexts: Int32Array, cache: list[Any]) -> Int64Array:
        return self._buckets(self._known(checked_contexts(contexts, self.order, self._size)), cache)

    def _buckets(self, contexts: Int32Array, cache: list[Any]) -> Int64Array:
        def of_component(number: int, contexts: Int32Array) -> Int64Array:
            scorer, component = self.scorers[number], self.model.components[number]
            return scorer.context_buckets(_own_context(component, scorer, contexts), cache[number])

        return self.model.contexts.of_contexts(contexts, of_component)


def _own_context(component: Component, scorer: BatchScorer, contexts: Int32Array) -> Int32Array:
    """What a component sees of contexts: the last words that count for it, under its own ids."""
    return np.ascontiguousarray(component.own_ids(contexts[:, : scorer.order - 1]))


def mixture_heuristic(model: MixtureModel) -> SearchHeuristic | None:
    """The n-grams of the first component that has some; they only resemble the mixture, which is asked as well."""
    for component in model.components:
        kind = find_kind(component.model.kind)
        if kind is not None and kind.decoder_heuristic:
            heuristic: SearchHeuristic | None = kind.load("decoder_heuristic")(component.model)
            if heuristic is not None:
                return SearchHeuristic(heuristic.trie, heuristic.vocabulary, is_exact=False)
    return None
