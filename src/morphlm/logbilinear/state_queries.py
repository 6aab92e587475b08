"""Queries by states, many at once: states become contexts, contexts predictions, and these are scored together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Float32Array, Float64Array, Int32Array
from morphlm.language_model.guards import state_list
from morphlm.logbilinear.context_tables import ContextSide, ContextTables
from morphlm.logbilinear.kernels.prediction import predict_contexts, token_contexts
from morphlm.logbilinear.query import CachedQueries
from morphlm.logbilinear.states import ContextArrays, StateSpace, text_windows
from morphlm.threads import one_worker
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID

MOST_QUERIES = 1 << 16  # of a grid, that are scored together


class Predicted(NamedTuple):
    """The predictions of some contexts."""

    vectors: Float32Array  # (m, d): p
    contexts: Int32Array | None  # (m, n - 1), as keys for the cache; None if they are no keys


class StateQueries:
    """Answers for states of one model; threads may share it."""

    def __init__(self, space: StateSpace, queries: CachedQueries, side: ContextSide, tables: ContextTables) -> None:
        """`side` are the tables of the vocabulary, `tables` makes those of composed words."""
        self.space, self._queries, self._side, self._tables = space, queries, side, tables

    def score_many(self, states: Sequence[Any], words: Int32Array) -> Float64Array:
        """ln P(words[k] | states[k]) of each k."""
        arrays = self.space.arrays(states)
        if self._are_keys(arrays):
            return self._queries.score_contexts(arrays.contexts, words)
        predicted = self.predict(arrays)
        return self._queries.score_predictions(predicted.vectors, np.arange(len(words)), words)

    def score_grid(self, states: Sequence[Any], words: Int32Array) -> Float64Array:
        """ln P of every word after every state, (states, words). Equal states are asked once."""
        listed = state_list(states)
        arrays = self.space.arrays(listed)
        rows = dict(zip(listed, range(len(listed)), strict=True))  # the last of equal states
        if len(rows) == len(listed):
            return self._score_pairs(self.predict(arrays), words)
        grid = self._score_pairs(self.predict(arrays.some(np.array(list(rows.values()), np.int64))), words)
        row_of = {state: row for row, state in enumerate(rows)}
        return grid[[row_of[state] for state in listed]]

    def _score_pairs(self, predicted: Predicted, words: Int32Array) -> Float64Array:
        """ln P of every word with every prediction, in parts that do not take much memory."""
        vectors, contexts = predicted
        step = max(1, MOST_QUERIES // max(1, len(vectors)))
        if len(words) <= step:
            return self._queries.score_grid(vectors, words, contexts)
        starts = range(0, len(words), step)
        return np.concatenate(
            [self._queries.score_grid(vectors, words[a : a + step], contexts) for a in starts], axis=1
        )

    def score_text(self, tokens: Int32Array) -> Float64Array:
        """ln P of every token of a short text, whose sentences each end with END."""
        config = self.space.config
        contexts = token_contexts(tokens, 0, config.distances, BEGIN_ID, END_ID)
        if not config.wide:
            return self._queries.score_contexts(contexts, tokens)
        numbers = np.arange(len(tokens))
        vectors = predict_contexts(*self._side, contexts, text_windows(tokens, numbers, config.wide))
        return self._queries.score_predictions(vectors, numbers, tokens)

    def predictions(self, states: Sequence[Any]) -> Float32Array:
        """p after every state, (states, d)."""
        return self.predict(self.space.arrays(states)).vectors

    def distributions(self, states: Sequence[Any], threads: int) -> Float64Array:
        """P of every word after every state, (states, V)."""
        return self._queries.distributions(self.predictions(states), threads)

    def _are_keys(self, arrays: ContextArrays) -> bool:
        return not arrays.composed and not self.space.config.wide

    def predict(self, arrays: ContextArrays) -> Predicted:
        """p of contexts."""
        (table, wide), contexts, windows = self._side, arrays.contexts, arrays.windows
        if arrays.composed:
            with one_worker() as alone:
                (table, wide), contexts, windows = self._tables.with_composed(self._side, arrays, alone)
        vectors = predict_contexts(table, wide, contexts, windows)
        return Predicted(vectors, contexts if self._are_keys(arrays) else None)
