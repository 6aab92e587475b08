"""ln P of every token of a text, by the same kernels as single queries, so that both agree to the last bit.

A block of the text is scored at a time: the words of its contexts are composed, its tokens are sorted by class, and
threads take ranges of them, so that the words of a class are read from memory once.
"""

from __future__ import annotations

import numpy as np

from morphlm.arrays import Float64Array, Int32Array
from morphlm.logbilinear.context_tables import ContextTables
from morphlm.logbilinear.kernels.prediction import Windows, predict_contexts, token_contexts
from morphlm.logbilinear.kernels.query import CompiledModel
from morphlm.logbilinear.kernels.text_scores import score_tokens
from morphlm.logbilinear.states import no_windows, text_windows
from morphlm.logbilinear.structure import Structure
from morphlm.threads import Workers
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID

SCORED_TOKENS = 1 << 15  # at a time
SMALLEST_PIECE = 64  # tokens, of the work for a thread


class TokenScorer:
    """Scores texts under one model."""

    def __init__(self, tables: ContextTables, output: CompiledModel, pool: Workers) -> None:
        """`output` is the model without contexts."""
        self._tables, self._output, self._pool = tables, output, pool

    def score(self, tokens: Int32Array, contexts: Int32Array, structure: Structure) -> Float64Array:
        """ln P of every token of sentences that each end with END.

        `contexts` are the tokens as contexts see them, ids of rows of the structure's context side.
        """
        result = np.empty(len(tokens))
        for begin in range(0, len(tokens), SCORED_TOKENS):
            end = min(begin + SCORED_TOKENS, len(tokens))
            result[begin:end] = self._score_block(tokens[begin:end], contexts[:end], begin, structure)
        return result

    def _score_block(self, tokens: Int32Array, contexts: Int32Array, begin: int, structure: Structure) -> Float64Array:
        """Of the last tokens of a text, from `begin` on."""
        config = self._tables.config
        first = max(0, begin - max(config.distances, config.wide))
        seen = np.concatenate([[BEGIN_ID, END_ID], contexts[first:]])
        words, numbers = np.unique(seen, return_inverse=True)
        marks, stream = numbers[:2].tolist(), numbers[2:].astype(np.int32)
        table, wide = self._tables.of_words(words.astype(np.int32), structure, self._pool)
        before = token_contexts(stream, begin - first, config.distances, *marks)
        order = np.argsort(structure.class_of[tokens], kind="stable")
        order = order[tokens[order] != BEGIN_ID]  # which has no probability
        windows = text_windows(stream, order + (begin - first), config.wide) if config.wide else no_windows(len(order))
        ordered, contexts_in_order = tokens[order], before[order]
        scores = np.empty(len(order))

        def score_range(a: int, b: int) -> None:
            some = Windows(windows.items, windows.firsts[a:b], windows.lengths[a:b], windows.step)
            predictions = predict_contexts(table, wide, contexts_in_order[a:b], some)
            score_tokens(self._output, predictions, ordered[a:b], scores[a:b])

        self._pool.run_ranges(score_range, len(order), SMALLEST_PIECE)
        result = np.full(len(tokens), -np.inf)
        result[order] = scores
        return result
