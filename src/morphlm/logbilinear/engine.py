"""One training step and one exact evaluation, as calls of the kernels by several threads.

A minibatch goes: plan (contexts, order by class) - compose q - predict p - score against classes and words, which gives
the errors dL/dp - back to the context words and their factors. Reductions are cut into a fixed number of shards that
are added in order, everything else is disjoint, so that results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from morphlm.arrays import Float32Array, Float64Array, Int32Array, Int64Array, read_only
from morphlm.logbilinear.config import LearningConfig, LogBilinearConfig
from morphlm.logbilinear.gathering import NONE, Gathered
from morphlm.logbilinear.kernels import batch as batching
from morphlm.logbilinear.kernels import context, noise, numerics, softmax
from morphlm.logbilinear.kernels.batch import Batch, ContextDropout, Stretch
from morphlm.logbilinear.kernels.noise import ContrastErrors
from morphlm.logbilinear.kernels.records import AdaGrad, Layer, Predictions, SparseRows, SurfaceDropout
from morphlm.logbilinear.kernels.softmax import SharedGradients, WordTokens
from morphlm.logbilinear.kernels.wide import TokenOrigin, WideVectors, WideWindows
from morphlm.logbilinear.parameters import Parameters, log_unigram
from morphlm.logbilinear.structure import FactorRows, Structure
from morphlm.logbilinear.wide import WideContexts
from morphlm.logbilinear.workspace import SHARDS, SMALLEST_PIECE, Workspace
from morphlm.threads import Workers, balance_by_cost, tapered_bounds
from morphlm.vocabulary.vocabulary import BEGIN_ID

EVALUATED_TOKENS = 1 << 15  # tokens that are evaluated at a time
SCORED_TOKENS = 256  # tokens of one class that a thread scores at a time
DECAY_EVERY = 16  # minibatches for which weight decay outside of the gradient is applied at once

# The key of a minibatch is below 2^60; each use of random numbers in it sets another bit.
CONTEXT_DROPOUT, PREDICTION_DROPOUT, OUTPUT_SURFACES = 1 << 60, 1 << 61, 1 << 62


class Engine:
    """The parameters of a model with the threads and the working space to evaluate them."""

    def __init__(
        self, config: LogBilinearConfig, structure: Structure, parameters: Parameters, workers: Workers
    ) -> None:
        self.config, self.structure, self.parameters, self.workers = config, structure, parameters, workers
        self.space = Workspace()
        self.wide = WideContexts(config, structure, workers, self.space) if config.wide else None
        self._slot_of_word = np.full(len(structure.context.rows.starts) - 1, -1, np.int32)

    def _run_rows(self, task: Callable[[int, int], None], rows: int) -> None:
        """Call `task(begin, end)` by all threads for ranges of rows."""
        self.workers.run_ranges(task, rows, SMALLEST_PIECE)

    # ------------------------------------------------------------ forward

    def plan(
        self,
        stream: Int32Array,
        begin: int,
        end: int,
        key: int = 0,
        rate: float = 0.0,
        contexts: Int32Array | None = None,
        earlier: Int64Array = NONE,
    ) -> Batch:
        """The minibatch of tokens begin .. end - 1 and of some earlier ones.

        `contexts` is the stream as contexts see it, if that differs.
        """
        batch: Batch = batching.plan_batch(
            Stretch(stream, stream if contexts is None else contexts, begin, end, earlier),
            self.config.distances,
            self.structure.class_of,
            self.structure.classes,
            self._slot_of_word,
            ContextDropout(np.uint64(key ^ CONTEXT_DROPOUT), np.float32(rate)),
        )
        return batch

    def compose(
        self, name: str, words: Int32Array, table: Float32Array, side: FactorRows, key: int = 0, rate: float = 0.0
    ) -> Float32Array:
        """(U, d): the vectors of some words."""
        out = self.space.rows(name, len(words), self.config.width)
        dropout, table = SurfaceDropout(side.surfaces, np.uint64(key), np.float32(rate)), read_only(table)
        self._run_rows(lambda a, b: context.compose_words(a, b, words, table, side.rows, dropout, out), len(words))
        return out

    def predict(self, batch: Batch, vectors: Float32Array) -> Float32Array:
        """(L, d): p = sum_j q_j C_j."""
        length, transforms = len(batch.targets), read_only(self.parameters.C[: self.config.distances])
        out = self.space.rows("predictions", length, self.config.width)
        if self.config.diagonal:
            self._run_rows(lambda a, b: context.predict_diagonal(a, b, batch.slots, vectors, transforms, out), length)
            return out
        rows = self.space.rows("transformed", len(transforms) * len(vectors), self.config.width)
        transformed = rows.reshape(len(transforms), *vectors.shape)
        self.workers.run_ranges(
            lambda a, b: context.transform_words(a, b, vectors, transforms, transformed), len(vectors), context.BLOCK
        )
        self._run_rows(lambda a, b: context.predict_full(a, b, batch.slots, transformed, out), length)
        return out

    def widen(self, batch: Batch, origin: TokenOrigin | None) -> tuple[Batch, WideWindows | None]:
        """The wide contexts of a minibatch, if the model has them; `origin` is of its tokens alone."""
        if self.wide is None:
            return batch, None
        assert origin is not None
        return self.wide.plan(origin, batch, self._slot_of_word)

    def add_wide(
        self, batch: Batch, wide: WideWindows | None, vectors: Float32Array, predictions: Float32Array
    ) -> WideVectors | None:
        """p += u C, if the model has wide contexts; returns u."""
        if self.wide is None or wide is None:
            return None
        return self.wide.add(batch, wide, vectors, read_only(self.parameters.C[-1]), predictions)

    # ------------------------------------------------------------ evaluation

    def log_probabilities(
        self,
        tokens: Int32Array,
        vectors: Float32Array | None = None,
        biases: Float32Array | None = None,
        contexts: Int32Array | None = None,
    ) -> Float64Array:
        """ln P of every token of encoded sentences, exactly normalised, in their order.

        `vectors` and `biases` of the output words, by position, need not be composed again if they are given.
        `contexts` are the tokens as contexts see them, ids of rows of the context side, if these differ.
        """
        vectors = self.output_vectors() if vectors is None else vectors
        biases = self.parameters.b[self.structure.layout.members] if biases is None else biases
        contexts = tokens if contexts is None else contexts
        result = np.empty(len(tokens))
        for begin in range(0, len(tokens), EVALUATED_TOKENS):
            end = min(begin + EVALUATED_TOKENS, len(tokens))
            result[begin:end] = self._evaluate(tokens, contexts, begin, end, Layer(vectors, biases))
        return result

    def output_vectors(self) -> Float32Array:
        """R = M R^(f) by position, in working space that training uses too."""
        layout, table = self.structure.layout, read_only(self.parameters.R)
        vectors = self.space.rows("output", len(layout.members), self.config.width)
        self._run_rows(lambda a, b: softmax.compose_positions(a, b, layout, table, vectors), len(vectors))
        return vectors

    def _evaluate(self, tokens: Int32Array, contexts: Int32Array, begin: int, end: int, output: Layer) -> Float64Array:
        """ln P of tokens begin .. end - 1."""
        batch = self.plan(tokens, begin, end, contexts=contexts)
        batch, wide = self.widen(batch, TokenOrigin(contexts, np.arange(begin, end)))
        composed = self.compose("context", batch.words, self.parameters.Q, self.structure.context)
        predictions = self.predict(batch, composed)
        self.add_wide(batch, wide, composed, predictions)
        scores = np.zeros(end - begin)
        if self.config.classes:
            class_of, classes = self.structure.class_of, Layer(*map(read_only, (self.parameters.S, self.parameters.t)))
            self.workers.run_ranges(
                lambda a, b: softmax.score_classes(a, b, batch, class_of, predictions, classes, scores),
                end - begin,
                softmax.BLOCK,
            )
        jobs = _jobs(batch)

        def score(job: int, _: int) -> None:
            softmax.score_words(*jobs[job], batch, self.structure.layout, predictions, output, scores)

        self.workers.run_pieces(score, len(jobs))
        result = np.empty(end - begin)
        result[batch.offsets] = scores
        return result

    # ------------------------------------------------------------ weight decay

    def shrink(self, factor: float) -> None:
        """Multiply all weights but the biases."""
        for table in self.parameters.weights:
            self._scale_rows(table.reshape(-1, table.shape[-1]), np.float32(factor))

    def _scale_rows(self, rows: Float32Array, factor: np.float32) -> None:
        self._run_rows(lambda a, b: numerics.scale_rows(rows, a, b, factor), len(rows))


def _jobs(batch: Batch) -> list[tuple[int, int, int]]:
    """(begin, end, class): the tokens of each class in pieces."""
    starts = batch.class_starts.tolist()
    return [
        (begin, min(begin + SCORED_TOKENS, starts[c + 1]), c)
        for c in range(len(starts) - 1)
        for begin in range(starts[c], starts[c + 1], SCORED_TOKENS)
    ]


class Learner(Engine):
    """An engine that learns by AdaGrad; the parameters and the sums of squares are changed in place."""

    def __init__(
        self,
        config: LogBilinearConfig,
        structure: Structure,
        parameters: Parameters,
        squares: Parameters,
        learning: LearningConfig,
        tokens: int,
        workers: Workers,
    ) -> None:
        """`tokens` is N, the size of the training text, of which a minibatch is the share L/N."""
        super().__init__(config, structure, parameters, workers)
        self.squares, self.learning, self.tokens = squares, learning, tokens
        self.step_size = learning.step
        sides = (structure.context, structure.output)
        self._slot_of_factor = np.full(max(side.factors for side in sides), -1, np.int32)
        if config.classes:
            shared = len(structure.layout.shared)
            # Each shard has its own sums for all shared factors; if these are many, fewer shards save memory.
            shards = max(2, min(SHARDS, len(structure.vocabulary) // max(shared, 1)))
            sums = np.zeros((shards, shared, config.width), np.float32)
            self._shared = SharedGradients(sums, np.zeros((shards, shared), np.bool_))
        else:
            self._noise_logs = log_unigram(structure.vocabulary.counts)
            probabilities = np.exp(self._noise_logs)
            probabilities[BEGIN_ID] = 0.0
            self._noise_cumulated = np.cumsum(probabilities)
            self._noise_cumulated /= self._noise_cumulated[-1]

    def tidy(self) -> None:
        """Free the largest arrays that only steps or only evaluations need; between two calls they hold nothing.

        Called before and after an evaluation, it keeps the peak of memory below three times the parameters.
        """
        self.space.forget("output")
        if self.config.classes:
            sums = np.zeros(self._shared.sums.shape, np.float32)  # takes memory only where it is touched again
            self._shared = self._shared._replace(sums=sums)

    def step(
        self,
        stream: Int32Array,
        begin: int,
        end: int,
        key: int,
        origin: TokenOrigin | None = None,
        gathered: Gathered | None = None,
    ) -> float:
        """Learn from tokens begin .. end - 1; `key` seeds everything random. Returns the sum of the objective.

        The objective is ln P, or with noise-contrastive estimation the log-likelihood of telling text from noise. Wide
        contexts need the origin of the stream. With `gathered`, all tokens are learned for their class but only some
        classes learn their words, from these tokens and from earlier ones.
        """
        earlier = NONE if gathered is None else gathered.earlier
        batch = self.plan(stream, begin, end, key, self.learning.context_dropout, earlier=earlier)
        if origin is not None:
            origin = origin._replace(positions=origin.positions[begin:end])
        batch, wide = self.widen(batch, origin)
        composed = self.compose(
            "context", batch.words, self.parameters.Q, self.structure.context, key, self.learning.surface_dropout
        )
        p = self.predict(batch, composed)
        u = self.add_wide(batch, wide, composed, p)
        self._drop_out(batch, key, p)
        predictions = Predictions(p, self.space.rows("errors", *p.shape), self._scale_of_errors(end - begin))
        if self.config.classes:
            objective = self._learn_classes(batch, predictions)
            objective += self._learn_words(batch, key, predictions, self._word_tokens(batch, gathered))
        else:
            objective = self._learn_from_noise(batch, key, predictions)
        self._drop_out(batch, key, predictions.errors)
        self._learn_context(batch, key, composed, predictions.errors, wide, u)
        return objective

    def decay(self, tokens: int) -> None:
        """W -= xi lambda (L/N) W, for several minibatches of `tokens` tokens at once: W *= exp(-xi lambda tokens/N)."""
        if not self.learning.l2_in_gradient and self.learning.decay:
            self.shrink(math.exp(-self.step_size * self.learning.decay * tokens / self.tokens))

    def _scale_of_errors(self, length: int) -> np.float32:
        """1, or 1/L for mean gradients."""
        return np.float32(1.0 / length if self.learning.mean_gradients else 1.0)

    def _adagrad(self, name: str, length: int) -> AdaGrad:
        """A table of parameters for updates; the L2 term in its gradient is lambda L/N, or lambda/N for means."""
        shrink = np.float32(0.0)
        if self.learning.l2_in_gradient and name not in ("b", "t"):
            shrink = np.float32(self.learning.decay * length / self.tokens) * self._scale_of_errors(length)
        weights, squares = getattr(self.parameters, name), getattr(self.squares, name)
        return AdaGrad(weights, squares, np.float32(self.step_size), shrink)

    def _drop_out(self, batch: Batch, key: int, table: Float32Array) -> None:
        rate = self.learning.prediction_dropout
        if rate:
            dropout = np.uint64(key ^ PREDICTION_DROPOUT), np.float32(rate)
            self._run_rows(lambda a, b: context.drop_out(a, b, batch.offsets, *dropout, table), len(table))

    def _update_dense(self, name: str, shards: Float32Array, length: int) -> None:
        table = self._adagrad(name, length)
        flat = table._replace(weights=table.weights.reshape(-1), squares=table.squares.reshape(-1))
        numerics.update_dense(flat, shards.reshape(SHARDS, -1))

    # ------------------------------------------------------------ with classes

    def _learn_classes(self, batch: Batch, predictions: Predictions) -> float:
        """P(c|h): updates S and t, writes the errors."""
        length, shape = _length(batch), self.parameters.S.shape
        vector_shards, bias_shards = self.space.rows("S", SHARDS, *shape), self.space.rows("t", SHARDS, shape[0])
        layer, objectives = Layer(self.parameters.S, self.parameters.t), np.zeros(SHARDS)
        cuts = tapered_bounds(length, SHARDS)

        def score(shard: int, _: int) -> None:
            begin, end = cuts[shard : shard + 2]
            gradient = Layer(vector_shards[shard], bias_shards[shard])
            objectives[shard] = softmax.class_softmax(
                begin, end, batch, self.structure.class_of, predictions, layer, gradient
            )

        self.workers.run_pieces(score, SHARDS)
        predictions.errors[length:] = 0
        self._update_dense("S", vector_shards, length)
        self._update_dense("t", bias_shards, length)
        return math.fsum(objectives)

    def _word_tokens(self, batch: Batch, gathered: Gathered | None) -> WordTokens:
        """The rows of the minibatch from which each class learns its words: its tokens, or what has gathered."""
        number = self.structure.classes
        if gathered is None:
            rows = SparseRows(batch.class_starts, np.arange(_length(batch), dtype=np.int32))
            return WordTokens(batch.targets, rows, np.ones(number, np.int64))
        classes = self.structure.class_of[batch.targets]
        learning = np.where(gathered.pieces[classes] > 0, classes, np.int32(-1))
        return WordTokens(batch.targets, numerics.group_by(learning, number), gathered.pieces)

    def _learn_words(self, batch: Batch, key: int, predictions: Predictions, tokens: WordTokens) -> float:
        """P(w|h,c): updates R and b, adds to the errors."""
        layout, length = self.structure.layout, _length(batch)
        objectives = np.zeros(self.structure.classes)
        shards = self._class_shards(tokens.rows)
        table, biases = self._adagrad("R", length), self._adagrad("b", length)
        dropout = self._surface_dropout(self.structure.output, key ^ OUTPUT_SURFACES)

        def score(shard: int, _: int) -> None:
            shared = SharedGradients(self._shared.sums[shard], self._shared.touched[shard])
            softmax.word_softmax(shards[shard], tokens, layout, dropout, predictions, table, biases, shared, objectives)

        self.workers.run_pieces(score, len(shards))
        self._run_rows(lambda a, b: softmax.update_shared(a, b, layout, self._shared, table), len(layout.shared))
        return math.fsum(objectives)

    def _class_shards(self, rows: SparseRows) -> list[Int64Array]:
        """The classes of the minibatch in shards of about equal cost; a class of one word has nothing to learn."""
        words, tokens = np.diff(self.structure.layout.starts), np.diff(rows.starts)
        costs = (words * (tokens + 8.0)).tolist()
        present = np.flatnonzero((tokens > 0) & (words > 1)).tolist()
        shards = balance_by_cost([(costs[c], c) for c in present], len(self._shared.sums))
        return [np.array(shard, np.int64) for shard in shards]

    # ------------------------------------------------------------ without classes

    def _learn_from_noise(self, batch: Batch, key: int, predictions: Predictions) -> float:
        """Noise-contrastive estimation: updates R and b, writes the errors."""
        k, length, output = self.learning.samples, len(batch.targets), self.structure.output
        is_shared = self.learning.noise == "block"
        block = self.learning.noise_block if is_shared else 1
        blocks = -(-length // block)
        drawn = self._draw_noise(key, blocks * k)
        contrast = noise.plan_contrast(batch.targets, drawn, k, block, self._slot_of_word)
        words, width = contrast.words, self.config.width
        surface_key, rate = key ^ OUTPUT_SURFACES, self.learning.surface_dropout
        vectors = self.compose("noise", words, self.parameters.R, output, surface_key, rate)
        biases = self.parameters.b[words] - self._noise_logs[words] - np.log(k)  # b_w - ln k p_n(w)
        layer = Layer(vectors, biases.astype(np.float32))
        errors = ContrastErrors(
            np.empty(length, np.float32),
            np.empty(len(drawn), np.float32),
            self.space.rows("noise gradients", len(drawn) if is_shared else 0, width),
        )
        objectives = np.zeros(blocks)
        learn = noise.contrast_shared if is_shared else noise.contrast_each
        self.workers.run_ranges(
            lambda a, b: learn(a, b, contrast, layer, predictions, errors, objectives),
            blocks,
            1 if is_shared else SMALLEST_PIECE,
        )
        gradient = Layer(self.space.rows("output", len(words), width), np.empty(len(words), np.float32))
        self._run_rows(
            lambda a, b: noise.gather_contrast(a, b, contrast, predictions.vectors, errors, gradient), len(words)
        )
        numerics.update_biases(words, gradient.biases, self._adagrad("b", length))
        self._update_factors(words, output, surface_key, gradient.vectors, "R", length)
        return math.fsum(objectives)

    def _draw_noise(self, key: int, count: int) -> Int32Array:
        uniform = np.random.default_rng([key, 1]).random(count)
        return np.searchsorted(self._noise_cumulated, uniform, side="right").astype(np.int32)

    # ------------------------------------------------------------ back to the context

    def _learn_context(
        self,
        batch: Batch,
        key: int,
        vectors: Float32Array,
        errors: Float32Array,
        wide: WideWindows | None,
        u: WideVectors | None,
    ) -> None:
        """Update C and Q."""
        gradients = self.space.rows("context gradients", *vectors.shape)
        shards = self.space.rows("C", SHARDS, *self.parameters.C.shape)
        back = context.back_diagonal if self.config.diagonal else context.back_full
        distances, transforms = self.config.distances, self.parameters.C
        bounds = _even_cuts(batch, distances)

        def learn(shard: int, _: int) -> None:
            begin, end = bounds[shard : shard + 2]
            back(begin, end, batch, errors, vectors, transforms[:distances], gradients, shards[shard, :distances])

        self.workers.run_pieces(learn, SHARDS)
        if self.wide is not None and wide is not None and u is not None:
            self.wide.learn(batch, wide, u, errors, transforms[-1], gradients, shards[:, -1])
        length = _length(batch)
        self._update_dense("C", shards, length)
        self._update_factors(batch.words, self.structure.context, key, gradients, "Q", length)

    def _update_factors(
        self, words: Int32Array, side: FactorRows, key: int, gradients: Float32Array, name: str, length: int
    ) -> None:
        """AdaGrad on the factors of some words, whose gradients are given."""
        touched = batching.touched_factors(words, side.rows, self._slot_of_factor)
        dropout, table = self._surface_dropout(side, key), self._adagrad(name, length)
        self._run_rows(
            lambda a, b: context.update_factors(a, b, touched, side.rows, dropout, gradients, table),
            len(touched.factors),
        )

    def _surface_dropout(self, side: FactorRows, key: int) -> SurfaceDropout:
        return SurfaceDropout(side.surfaces, np.uint64(key), np.float32(self.learning.surface_dropout))


def _length(batch: Batch) -> int:
    """L, the tokens of the minibatch without earlier ones."""
    return int(batch.class_starts[-1])


def _even_cuts(batch: Batch, distances: int) -> list[int]:
    """Where to cut the slots so that the shards have a similar number of occurrences; the first words have most."""
    starts = batch.occurrences.starts[::distances] + np.arange(len(batch.words) + 1)
    targets = np.array(tapered_bounds(int(starts[-1]), SHARDS))
    cuts = np.searchsorted(starts, targets, side="left")
    cuts[0], cuts[-1] = 0, len(batch.words)
    return [int(cut) for cut in cuts]
