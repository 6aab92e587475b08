"""The wide context: one more context vector, the weighted mean of the words of the text before, across sentences.

u = sum_k gamma^(k-1) omega(w_k) q_k / (c + sum_k gamma^(k-1) omega(w_k)), where w_k is the word at distance k, and
p = sum_j q_j C_j + u C with a matrix C of its own, the last of the parameters C. omega leaves little of words that are
everywhere, so that u says what the text is about.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

import numpy as np

from morphlm.arguments import word_id
from morphlm.arrays import Float32Array, Float64Array, Int32Array
from morphlm.language_model.guards import no_state
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.kernels import wide as kernels
from morphlm.logbilinear.kernels.batch import Batch
from morphlm.logbilinear.kernels.wide import NEUTRAL, TokenOrigin, WideVectors, WideWindows
from morphlm.logbilinear.parameters import Parameters
from morphlm.logbilinear.structure import Structure
from morphlm.logbilinear.workspace import SHARDS, SMALLEST_PIECE, Workspace
from morphlm.text.reading import RESERVED
from morphlm.threads import Workers, tapered_bounds
from morphlm.vocabulary.vocabulary import BEGIN_ID, UNK_ID

CONTENT = 1e-4  # t: a word with a larger share of the text has a smaller weight


def content_weights(structure: Structure) -> Float32Array:
    """omega(w) = sqrt(t / f(w)), at most 1, f the word's share of the training text; 0 for sentence marks and UNK."""
    counts = structure.vocabulary.counts.astype(np.float64)
    shares = np.maximum(counts, 0.5) / max(counts.sum(), 1.0)
    weights = np.minimum(1.0, np.sqrt(CONTENT / shares))
    weights[: len(RESERVED)] = 0.0
    return np.concatenate([weights, _weights_of_new_words(structure)]).astype(np.float32)


def _weights_of_new_words(structure: Structure) -> Float64Array:
    """1, as for rare words, for words of contexts that are not in the vocabulary but have known factors; else 0."""
    rows, words = structure.context.rows, len(structure.vocabulary)
    factors = [
        rows.items[begin:end] for begin, end in zip(rows.starts[words:-1], rows.starts[words + 1 :], strict=True)
    ]
    unknown = rows.items[rows.starts[UNK_ID] : rows.starts[UNK_ID + 1]]
    return np.array([not np.array_equal(items, unknown) for items in factors], np.float64)


class WideContexts:
    """The wide contexts of one engine's minibatches."""

    def __init__(self, config: LogBilinearConfig, structure: Structure, workers: Workers, space: Workspace) -> None:
        self.config, self.workers, self.space = config, workers, space
        self.weights, self._decay = content_weights(structure), np.float32(config.wide_decay)

    def plan(self, origin: TokenOrigin, batch: Batch, slot_of_word: Int32Array) -> tuple[Batch, WideWindows]:
        """Add the words before the tokens of a minibatch to its words. `origin` is of its tokens alone."""
        words, wide = kernels.plan_wide(origin, self.config.wide, self.weights, batch.words, slot_of_word)
        added = (len(words) - len(batch.words)) * self.config.distances
        starts = np.append(batch.occurrences.starts, np.full(added, batch.occurrences.starts[-1]))
        return batch._replace(words=words, occurrences=batch.occurrences._replace(starts=starts)), wide

    def add(
        self, batch: Batch, wide: WideWindows, vectors: Float32Array, transform: Float32Array, predictions: Float32Array
    ) -> WideVectors:
        """p += u C; returns u."""
        u = WideVectors(self.space.rows("wide", *predictions.shape), self.space.rows("scales", len(predictions)))
        self.workers.run_ranges(lambda a, b: kernels.wide_vectors(a, b, wide, vectors, self._decay, u), _pieces(wide))
        predict = kernels.predict_wide_diagonal if self.config.diagonal else kernels.predict_wide_full
        self.workers.run_ranges(
            lambda a, b: predict(a, b, batch.offsets, u.vectors, transform, predictions),
            len(predictions),
            SMALLEST_PIECE,
        )
        return u

    def learn(
        self,
        batch: Batch,
        wide: WideWindows,
        u: WideVectors,
        errors: Float32Array,
        transform: Float32Array,
        gradients: Float32Array,
        transform_shards: Float32Array,
    ) -> None:
        """Writes dL/dC in shards, and adds to the gradients of the minibatch's words."""
        cuts = tapered_bounds(len(errors), SHARDS)
        by_offset = self.space.rows("wide errors", *errors.shape)
        back = kernels.back_wide_diagonal if self.config.diagonal else kernels.back_wide_full

        def transformed(shard: int, _: int) -> None:
            begin, end = cuts[shard : shard + 2]
            back(begin, end, batch.offsets, errors, u, transform, by_offset, transform_shards[shard])

        self.workers.run_pieces(transformed, SHARDS)
        rows = self.space.rows("wide rows", int(wide.starts[-1]), errors.shape[1])
        self.workers.run_ranges(
            lambda a, b: kernels.back_pieces(a, b, wide, by_offset, self._decay, rows), _pieces(wide)
        )
        self.workers.run_ranges(
            lambda a, b: kernels.add_wide_gradients(a, b, wide.holders, rows, gradients),
            len(batch.words),
            SMALLEST_PIECE,
        )


def _pieces(wide: WideWindows) -> int:
    return len(wide.tokens) - 1


# ---------------------------------------------------------------- one token after the other


class WideState(NamedTuple):
    """What the next word depends on."""

    words: tuple[int, ...]  # the n - 1 words before in the sentence, the nearest first
    before: tuple[int, ...]  # those of the wide context, which go on across sentences, the nearest first

    def fits(self, config: LogBilinearConfig) -> bool:
        """Whether it has as many words as the states of a model have."""
        words, before = self
        is_pair = type(words) is tuple and type(before) is tuple
        return is_pair and len(words) == config.distances and len(before) <= config.wide


class WideQueries:
    """P(w|h) by states of a model with wide contexts, in plain NumPy; p hardly ever repeats, so nothing is cached."""

    def __init__(
        self,
        config: LogBilinearConfig,
        structure: Structure,
        parameters: Parameters,
        output: Float32Array,
        biases: Float32Array,
    ) -> None:
        """`output` and `biases` are by position."""
        self.config, self.structure, self.parameters = config, structure, parameters
        self._output, self._biases = output, biases
        self._weights = content_weights(structure).astype(np.float64)
        self._words, self._distances, self._most = len(self._weights), config.distances, config.distances + config.wide

    def wide_prediction(self, before: tuple[int, ...], content: Float64Array) -> Float64Array:
        """u C, from the words of the wide context and their omega."""
        weights = self.config.wide_decay ** np.arange(len(before)) * content
        total = sum((w * self._vector(word) for w, word in zip(weights.tolist(), before, strict=True) if w), 0.0)
        u = np.zeros(self.config.width) + total / (NEUTRAL + weights.sum())
        return self._transformed(u, -1)

    def after(self, state: WideState, word: int) -> WideState:
        """The state after a word. Words of weight 0 at the far end are dropped: equal futures, equal states."""
        before = (word, *state.before)[: self.config.wide]
        while before and not self._weights[before[-1]]:
            before = before[:-1]
        return WideState((word, *state.words[:-1]), before)

    def log_probability(self, state: WideState, word: int) -> float:
        """ln P(word | state)."""
        if type(word) is not int or not 0 <= word < self._words:
            word = word_id(word, self._words)
        p = self._prediction(state)
        return self._log_probability(p, word)

    def _log_probability(self, p: Float32Array, word: int) -> float:
        if word == BEGIN_ID:
            return -np.inf
        c = int(self.structure.class_of[word])
        first, last = self.structure.layout.starts[c : c + 2]
        scores = self._output[first:last] @ p + self._biases[first:last]
        within_class = self.structure.layout.position_of[word] - first
        return float(_log_softmax(scores)[within_class] + self._log_classes(p)[c])

    def distribution(self, state: WideState) -> Float64Array:
        """P of every word, by id."""
        p, layout = self._prediction(state), self.structure.layout
        starts = layout.starts[:-1]
        scores = (self._output @ p + self._biases).astype(np.float64)
        shifted = np.exp(scores - np.maximum.reduceat(scores, starts)[layout.class_of])
        shares = np.exp(self._log_classes(p)) / np.add.reduceat(shifted, starts)
        result = np.zeros(len(self.structure.vocabulary))
        result[layout.members] = shifted * shares[layout.class_of]
        return result

    def fixed(self, before: tuple[int, ...]) -> Parameters:
        """Parameters of a model without wide contexts that agrees with this one as long as `before` does not change.

        With p = p' + u C, p . r_w + b_w = p' . r_w + (u C . r_w + b_w): the constant part becomes part of the biases.
        """
        part = self.wide_prediction(before, self._content(before)).astype(np.float32)
        parameters = self.parameters
        biases = parameters.b.copy()
        biases[self.structure.layout.members] += self._output @ part
        return parameters._replace(
            C=parameters.C[: self.config.distances], b=biases, t=parameters.t + parameters.S @ part
        )

    def _prediction(self, state: WideState) -> Float32Array:
        """p = sum_j q_j C_j + u C. What is no state is refused."""
        words, before, content = self._parts(state)
        parts = [self._transformed(self._vector(word), j) for j, word in enumerate(words)]
        prediction: Float64Array = sum(parts, self.wide_prediction(before, content[len(words) :]))
        return prediction.astype(np.float32)

    def _parts(self, state: WideState) -> tuple[tuple[int, ...], tuple[int, ...], Float64Array]:
        """Both parts of a state, and omega of their words."""
        if type(state) is not WideState:
            raise no_state(state)
        words, before = state
        try:
            ids = words + before
            if type(ids) is not tuple or len(words) != self._distances or len(ids) > self._most:
                raise no_state(state)
            return words, before, self._content(ids)
        except (TypeError, OverflowError, IndexError) as error:
            raise no_state(state) from error

    def _content(self, words: tuple[int, ...]) -> Float64Array:
        """omega of words; unsigned numbers, since these cannot be made of what is negative or no whole number."""
        content: Float64Array = self._weights.take(np.frombuffer(array("I", words), np.uint32))
        return content

    def _vector(self, word: int) -> Float64Array:
        rows = self.structure.context.rows
        factors = rows.items[rows.starts[word] : rows.starts[word + 1]]
        vector: Float64Array = self.parameters.Q[factors].sum(axis=0, dtype=np.float64)
        return vector

    def _transformed(self, vector: Float64Array, j: int) -> Float64Array:
        transform = self.parameters.C[j]
        result: Float64Array = vector * transform if self.config.diagonal else vector @ transform
        return result

    def _log_classes(self, p: Float32Array) -> Float64Array:
        if not self.config.classes:
            return np.zeros(1)
        return _log_softmax(self.parameters.S @ p + self.parameters.t)


def _log_softmax(scores: Float32Array) -> Float64Array:
    shifted = scores.astype(np.float64) - scores.max()
    result: Float64Array = shifted - np.log(np.exp(shifted).sum())
    return result
