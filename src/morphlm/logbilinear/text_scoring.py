"""ln P of every token of a text, by the same kernels as single queries, so that both agree to the last bit.

A block of the text is scored at a time: the words of its contexts are composed, its tokens are sorted by class, and
threads take ranges of them, so that the words of a class are read from memory once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from morphlm.logbilinear.context_tables import ContextTables
from morphlm.logbilinear.kernels.prediction import ContextTable, WideTable, Windows, predict_contexts, token_contexts
from morphlm.logbilinear.kernels.query import CompiledModel
from morphlm.logbilinear.kernels.text_scores import score_tokens
from morphlm.logbilinear.states import no_windows, text_windows
from morphlm.logbilinear.structure import Structure
from morphlm.threads import Workers
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID

SCORED_TOKENS = 1 << 15  # at a time
SMALLEST_PIECE = 64  # tokens, of the work for a thread


def sentence_starts(tokens: Int32Array) -> Int64Array:
    """For each position, where its sentence begins: after the last END before it."""
    starts = np.zeros(len(tokens), np.int64)
    is_first = np.flatnonzero(tokens[:-1] == END_ID) + 1
    starts[is_first] = is_first
    return np.maximum.accumulate(starts)


class _Block(NamedTuple):
    """Arguments of `predict_contexts`."""

    table: ContextTable
    wide: WideTable
    contexts: Int32Array
    windows: Windows


class TextPredictor:
    """Predicts the tokens of texts under one model: p of each, by its context."""

    def __init__(self, tables: ContextTables, pool: Workers) -> None:
        self._tables, self._pool = tables, pool

    def predict(self, contexts: Int32Array, structure: Structure) -> Float32Array:
        """p of every token of a text, (tokens, d)."""
        result = np.empty((len(contexts), self._tables.config.width), np.float32)
        for begin in range(0, len(contexts), SCORED_TOKENS):
            block = self._block(contexts[: begin + SCORED_TOKENS], begin, structure, separate=False)
            result[begin : begin + SCORED_TOKENS] = predict_contexts(*block)
        return result

    def _block(self, contexts: Int32Array, begin: int, structure: Structure, separate: bool) -> _Block:
        """What the last tokens of a text, from `begin` on, are predicted from."""
        config = self._tables.config
        first = max(0, begin - max(config.distances, config.wide))
        seen = np.concatenate([[BEGIN_ID, END_ID], contexts[first:]])
        words, numbers = np.unique(seen, return_inverse=True)
        marks, stream = numbers[:2].tolist(), numbers[2:].astype(np.int32)
        table, wide = self._tables.of_words(words.astype(np.int32), structure, self._pool)
        before = token_contexts(stream, begin - first, config.distances, *marks)
        if not config.wide:
            return _Block(table, wide, before, no_windows(len(before)))
        positions = np.arange(begin - first, len(stream))
        start_of = sentence_starts(contexts[first:]) if separate else None
        return _Block(table, wide, before, text_windows(stream, positions, config.wide, start_of))


class TokenScorer(TextPredictor):
    """Scores texts under one model."""

    def __init__(self, tables: ContextTables, output: CompiledModel, pool: Workers) -> None:
        """`output` is the model without contexts."""
        super().__init__(tables, pool)
        self._output = output

    def score(
        self,
        tokens: Int32Array,
        contexts: Int32Array,
        structure: Structure,
        *,
        separate: bool = False,
        predictions: Float32Array | None = None,
    ) -> Float64Array:
        """ln P of every token of sentences that each end with END.

        `contexts` are the tokens as contexts see them, ids of rows of the structure's context side. Wide contexts go on
        from sentence to sentence, unless these are `separate`. p of each token is written to `predictions`, (tokens,
        d), if they are given.
        """
        result = np.empty(len(tokens))
        for begin in range(0, len(tokens), SCORED_TOKENS):
            end = min(begin + SCORED_TOKENS, len(tokens))
            block = self._block(contexts[:end], begin, structure, separate)
            out = None if predictions is None else predictions[begin:end]
            result[begin:end] = self._score_block(tokens[begin:end], block, structure, out)
        return result

    def _score_block(
        self, tokens: Int32Array, block: _Block, structure: Structure, out: Float32Array | None
    ) -> Float64Array:
        table, wide, before, windows = block
        order = np.argsort(structure.class_of[tokens], kind="stable")
        order = order[tokens[order] != BEGIN_ID]  # which has no probability
        ordered, contexts_in_order = tokens[order], before[order]
        firsts, lengths = windows.firsts[order], windows.lengths[order]
        scores = np.empty(len(order))

        def score_range(a: int, b: int) -> None:
            some = Windows(windows.items, firsts[a:b], lengths[a:b], windows.step)
            predictions = predict_contexts(table, wide, contexts_in_order[a:b], some)
            score_tokens(self._output, predictions, ordered[a:b], scores[a:b])
            if out is not None:
                out[order[a:b]] = predictions

        self._pool.run_ranges(score_range, len(order), SMALLEST_PIECE)
        result = np.full(len(tokens), -np.inf)
        result[order] = scores
        return result
