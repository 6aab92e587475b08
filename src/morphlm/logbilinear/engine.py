"""One training step and one exact evaluation, as calls of the kernels by several threads.

A minibatch goes: plan (contexts, order by class) - compose q - predict p - score against classes and words, which gives
the errors dL/dp - back to the context words and their factors. Reductions are cut into a fixed number of shards that
are added in order, everything else is disjoint, so that results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from morphlm.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from morphlm.logbilinear.config import LearningConfig, LogBilinearConfig
from morphlm.logbilinear.kernels import batch as batching
from morphlm.logbilinear.kernels import context, noise, numerics, softmax
from morphlm.logbilinear.kernels.batch import Batch
from morphlm.logbilinear.kernels.wide import Wide
from morphlm.logbilinear.parameters import Parameters, log_unigram
from morphlm.logbilinear.structure import FactorRows, Structure
from morphlm.logbilinear.wide import Means, Origin, WideContexts
from morphlm.logbilinear.workspace import SHARDS, SMALLEST_PIECE, Workspace, over_range
from morphlm.threads import Workers, balance_by_cost, tapered_bounds
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID

EVALUATED = 1 << 15  # tokens that are evaluated at a time
SCORED_TOKENS = 256  # of one class, by one thread
DECAY_EVERY = 16  # minibatches after which weight decay beside AdaGrad is applied for all of them at once

# A minibatch's key, below 2^60, is changed for each thing that is random in it.
CONTEXT_DROPOUT, PREDICTION_DROPOUT, OUTPUT_SURFACES = 1 << 60, 1 << 61, 1 << 62


class Engine:
    """A model's parameters with the threads and the space to change or evaluate them."""

    def __init__(
        self, config: LogBilinearConfig, structure: Structure, parameters: Parameters, workers: Workers
    ) -> None:
        """The parameters are changed in place."""
        self.config, self.structure, self.parameters, self.workers = config, structure, parameters, workers
        self.space = Workspace()
        self.wide = WideContexts(config, structure, workers, self.space) if config.wide else None
        self._slot_of_word = np.full(len(structure.context.rows.starts) - 1, -1, np.int32)

    # ------------------------------------------------------------ forward

    def plan(
        self,
        stream: Int32Array,
        begin: int,
        end: int,
        key: int = 0,
        rate: float = 0.0,
        contexts: Int32Array | None = None,
    ) -> Batch:
        """The minibatch of tokens begin .. end - 1; `contexts` is the stream as contexts have it, if it differs."""
        batch: Batch = batching.plan_batch(
            stream,
            stream if contexts is None else contexts,
            begin,
            end,
            self.config.distances,
            (BEGIN_ID, END_ID),
            self.structure.class_of,
            self.structure.classes,
            self._slot_of_word,
            np.uint64(key ^ CONTEXT_DROPOUT),
            np.float32(rate),
        )
        return batch

    def compose(
        self, name: str, words: Int32Array, table: Float32Array, side: FactorRows, key: int = 0, rate: float = 0.0
    ) -> Float32Array:
        """(U, d): the vectors of some words."""
        out = self.space.rows(name, len(words), self.config.width)
        arguments = words, table, side.rows, side.surfaces, np.uint64(key), np.float32(rate), out
        self.workers.run_ranges(lambda a, b: context.compose_words(a, b, *arguments), len(words), SMALLEST_PIECE)
        return out

    def predict(self, batch: Batch, vectors: Float32Array) -> Float32Array:
        """(L, d): p = sum_j q_j C_j."""
        out = self.space.rows("predictions", len(batch.targets), self.config.width)
        transforms = self.parameters.C[: self.config.distances]
        if self.config.diagonal:
            task = partial(over_range, context.predict_diagonal, batch.slots, vectors, transforms, out)
        else:
            rows = self.space.rows("transformed", len(transforms) * len(vectors), self.config.width)
            transformed = rows.reshape(len(transforms), *vectors.shape)
            transform = partial(over_range, context.transform_words, vectors, transforms, transformed)
            self.workers.run_ranges(transform, len(vectors), context.BLOCK)
            task = partial(over_range, context.predict_full, batch.slots, transformed, out)
        self.workers.run_ranges(task, len(batch.targets), SMALLEST_PIECE)
        return out

    def widen(self, batch: Batch, origin: Origin | None) -> tuple[Batch, Wide | None]:
        """The wide contexts of a minibatch, if the model has them; `origin` is of its tokens alone."""
        if self.wide is None:
            return batch, None
        assert origin is not None
        return self.wide.plan(origin, batch, self._slot_of_word)

    def add_wide(
        self, batch: Batch, wide: Wide | None, vectors: Float32Array, predictions: Float32Array
    ) -> Means | None:
        """p += u C, if the model has wide contexts."""
        if self.wide is None or wide is None:
            return None
        return self.wide.add(batch, wide, vectors, self.parameters.C[-1], predictions)

    # ------------------------------------------------------------ evaluation

    def log_probabilities(
        self,
        tokens: Int32Array,
        vectors: Float32Array | None = None,
        biases: Float32Array | None = None,
        contexts: Int32Array | None = None,
    ) -> Float64Array:
        """ln P of every token of encoded sentences, exactly normalised, in their order.

        Output vectors and biases by position may be given, if they are composed already; and the tokens as the words
        after them see them, whose ids are rows of the context side, if these differ.
        """
        vectors = self.output_vectors() if vectors is None else vectors
        biases = self.parameters.b[self.structure.layout.members] if biases is None else biases
        result = np.empty(len(tokens))
        for begin in range(0, len(tokens), EVALUATED):
            end = min(begin + EVALUATED, len(tokens))
            self._evaluate(tokens, contexts, begin, end, vectors, biases, result[begin:end])
        return result

    def output_vectors(self) -> Float32Array:
        """R = M R^(f) by position, in space that training uses too."""
        layout = self.structure.layout
        vectors = self.space.rows("output", len(layout.members), self.config.width)
        task = partial(over_range, softmax.compose_positions, layout, self.parameters.R, vectors)
        self.workers.run_ranges(task, len(layout.members), SMALLEST_PIECE)
        return vectors

    def _evaluate(
        self,
        tokens: Int32Array,
        contexts: Int32Array | None,
        begin: int,
        end: int,
        vectors: Float32Array,
        biases: Float32Array,
        result: Float64Array,
    ) -> None:
        batch = self.plan(tokens, begin, end, contexts=contexts)
        batch, wide = self.widen(batch, Origin(tokens if contexts is None else contexts, np.arange(begin, end)))
        composed = self.compose("context", batch.words, self.parameters.Q, self.structure.context)
        predictions = self.predict(batch, composed)
        self.add_wide(batch, wide, composed, predictions)
        scores = np.zeros(end - begin)
        if self.config.classes:
            task = partial(
                over_range,
                softmax.score_classes,
                batch,
                self.structure.class_of,
                predictions,
                self.parameters.S,
                self.parameters.t,
                scores,
            )
            self.workers.run_ranges(task, end - begin, softmax.BLOCK)
        jobs = _jobs(batch)

        def score(job: int, _: int) -> None:
            softmax.score_words(*jobs[job], batch, self.structure.layout, predictions, vectors, biases, scores)

        self.workers.run_pieces(score, len(jobs))
        result[batch.places] = scores

    # ------------------------------------------------------------ weight decay

    def shrink(self, factor: float) -> None:
        """Multiply all weights but the biases."""
        for table in self.parameters.weights:
            rows = table.reshape(-1, table.shape[-1])
            self.workers.run_ranges(
                lambda a, b, rows=rows: numerics.scale_rows(rows, a, b, np.float32(factor)),  # type: ignore[misc]
                len(rows),
                SMALLEST_PIECE,
            )


def _jobs(batch: Batch) -> list[tuple[int, int, int]]:
    """(begin, end, class): the tokens of each class in pieces."""
    starts = batch.class_starts.tolist()
    return [
        (begin, min(begin + SCORED_TOKENS, starts[c + 1]), c)
        for c in range(len(starts) - 1)
        for begin in range(starts[c], starts[c + 1], SCORED_TOKENS)
    ]


class Learner(Engine):
    """An engine that learns: AdaGrad on the parameters, with its sums of squares."""

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
            # Each shard adds up its own gradients of shared factors; many of those, and fewer shards must do.
            shards = max(2, min(SHARDS, len(structure.vocabulary) // max(shared, 1)))
            self._shared = np.zeros((shards, shared, config.width), np.float32)
            self._touched = np.zeros((shards, shared), np.bool_)
        else:
            self._noise_logs = log_unigram(structure.vocabulary.counts)
            probabilities = np.exp(self._noise_logs)
            probabilities[BEGIN_ID] = 0.0
            self._noise_cumulated = np.cumsum(probabilities)
            self._noise_cumulated /= self._noise_cumulated[-1]

    def tidy(self) -> None:
        """Give back the largest spaces that only steps or only evaluations need; nothing is in them between two calls.

        Called before and after an evaluation, it keeps the peak of memory below three times the parameters.
        """
        self.space.forget("output")
        if self.config.classes:
            self._shared = np.zeros(self._shared.shape, np.float32)  # takes memory only where it is touched again

    def step(self, stream: Int32Array, begin: int, end: int, key: int, origin: Origin | None = None) -> float:
        """Learn from tokens begin .. end - 1; `key` decides all that is random. Returns the sum of the objective.

        The objective is ln P, or with noise-contrastive estimation the log-likelihood of telling text from noise. Wide
        contexts need the origin of the stream.
        """
        batch = self.plan(stream, begin, end, key, self.learning.context_dropout)
        batch, wide = self.widen(batch, None if origin is None else origin._replace(places=origin.places[begin:end]))
        composed = self.compose(
            "context", batch.words, self.parameters.Q, self.structure.context, key, self.learning.surface_dropout
        )
        predictions = self.predict(batch, composed)
        means = self.add_wide(batch, wide, composed, predictions)
        self._drop_out(batch, key, predictions)
        errors = self.space.rows("errors", len(batch.targets), self.config.width)
        if self.config.classes:
            objective = self._learn_classes(batch, predictions, errors) + self._learn_words(
                batch, key, predictions, errors
            )
        else:
            objective = self._learn_from_noise(batch, key, predictions, errors)
        self._drop_out(batch, key, errors)
        self._learn_context(batch, key, composed, errors, wide, means)
        return objective

    def decay(self, tokens: int) -> None:
        """W -= xi lambda (L/N) W for minibatches of so many tokens together, as one factor exp(-xi lambda tokens/N)."""
        if not self.learning.l2_in_gradient and self.learning.decay:
            self.shrink(math.exp(-self.step_size * self.learning.decay * tokens / self.tokens))

    def _factor(self, length: int) -> np.float32:
        """What the error of each token is multiplied by."""
        return np.float32(1.0 / length if self.learning.mean_gradients else 1.0)

    def _shrink_inside(self, length: int) -> np.float32:
        """lambda L/N, the share of the L2 term's gradient; with mean gradients lambda / N."""
        if not self.learning.l2_in_gradient:
            return np.float32(0.0)
        return np.float32(self.learning.decay * length / self.tokens) * self._factor(length)

    def _drop_out(self, batch: Batch, key: int, table: Float32Array) -> None:
        rate = self.learning.prediction_dropout
        if rate:
            task = partial(
                over_range, context.drop_out, batch.places, np.uint64(key ^ PREDICTION_DROPOUT), np.float32(rate), table
            )
            self.workers.run_ranges(task, len(table), SMALLEST_PIECE)

    def _update_dense(self, name: str, shards: Float32Array, shrink: np.float32) -> None:
        weights, squares = getattr(self.parameters, name), getattr(self.squares, name)
        numerics.update_dense(
            weights.reshape(-1), squares.reshape(-1), shards.reshape(SHARDS, -1), np.float32(self.step_size), shrink
        )

    # ------------------------------------------------------------ with classes

    def _learn_classes(self, batch: Batch, predictions: Float32Array, errors: Float32Array) -> float:
        """P(c|h): updates S and t, writes the errors."""
        length, shape = len(batch.targets), self.parameters.S.shape
        vector_shards, bias_shards = self.space.rows("S", SHARDS, *shape), self.space.rows("t", SHARDS, shape[0])
        objectives = np.zeros(SHARDS)
        cuts = tapered_bounds(length, SHARDS)

        def score(shard: int, _: int) -> None:
            objectives[shard] = softmax.class_softmax(
                cuts[shard],
                cuts[shard + 1],
                batch,
                self.structure.class_of,
                predictions,
                self.parameters.S,
                self.parameters.t,
                self._factor(length),
                errors,
                vector_shards[shard],
                bias_shards[shard],
            )

        self.workers.run_pieces(score, SHARDS)
        self._update_dense("S", vector_shards, self._shrink_inside(length))
        self._update_dense("t", bias_shards, np.float32(0.0))
        return math.fsum(objectives)

    def _learn_words(self, batch: Batch, key: int, predictions: Float32Array, errors: Float32Array) -> float:
        """P(w|h,c): updates R and b, adds to the errors."""
        layout, length = self.structure.layout, len(batch.targets)
        objectives = np.zeros(self.structure.classes)
        shards = self._class_shards(batch)
        updated = self.parameters.R, self.squares.R
        steps = np.float32(self.step_size), self._shrink_inside(length)

        def score(shard: int, _: int) -> None:
            softmax.word_softmax(
                shards[shard],
                batch,
                layout,
                self.structure.output.surfaces,
                np.uint64(key ^ OUTPUT_SURFACES),
                np.float32(self.learning.surface_dropout),
                predictions,
                *updated,
                self.parameters.b,
                self.squares.b,
                self._factor(length),
                *steps,
                self._shared[shard],
                self._touched[shard],
                errors,
                objectives,
            )

        self.workers.run_pieces(score, len(shards))
        task = partial(over_range, softmax.update_shared, layout, self._shared, self._touched, *updated, *steps)
        self.workers.run_ranges(task, len(layout.shared), SMALLEST_PIECE)
        return math.fsum(objectives)

    def _class_shards(self, batch: Batch) -> list[Int64Array]:
        """The classes of the minibatch in shards that cost about the same; a class of one word has nothing to learn."""
        words, tokens = np.diff(self.structure.layout.starts), np.diff(batch.class_starts)
        costs = (words * (tokens + 8.0)).tolist()
        present = np.flatnonzero((tokens > 0) & (words > 1)).tolist()
        shards = balance_by_cost([(costs[c], c) for c in present], len(self._shared))
        return [np.array(shard, np.int64) for shard in shards]

    # ------------------------------------------------------------ without classes

    def _learn_from_noise(self, batch: Batch, key: int, predictions: Float32Array, errors: Float32Array) -> float:
        """Noise-contrastive estimation: updates R and b, writes the errors."""
        k, length, output = self.learning.samples, len(batch.targets), self.structure.output
        shared = self.learning.noise == "block"
        blocks = -(-length // self.learning.noise_block)
        drawn = self._draw_noise(key, (blocks if shared else length) * k)
        contrast = noise.plan_contrast(batch.targets, drawn, self._slot_of_word)
        words, width = contrast.words, self.config.width
        surface_key, rate = key ^ OUTPUT_SURFACES, self.learning.surface_dropout
        vectors = self.compose("noise", words, self.parameters.R, output, surface_key, rate)
        offsets = (self.parameters.b[words] - self._noise_logs[words] - np.log(k)).astype(np.float32)
        target_errors, noise_errors = np.empty(length, np.float32), np.empty(len(drawn), np.float32)
        noise_gradients = self.space.rows("noise gradients", len(drawn) if shared else 0, width)
        objectives = np.zeros(blocks if shared else length)
        scale = self._factor(length)
        scored = contrast, predictions, vectors, offsets, scale, errors, target_errors, noise_errors
        if shared:
            block = self.learning.noise_block
            self.workers.run_ranges(
                lambda a, b: noise.contrast_shared(a, b, block, k, *scored, noise_gradients, objectives), blocks
            )
        else:
            self.workers.run_ranges(
                lambda a, b: noise.contrast_each(a, b, k, *scored, objectives), length, SMALLEST_PIECE
            )
        gradients = self.space.rows("output", len(words), width)
        bias_gradients = np.empty(len(words), np.float32)
        gathered = contrast, predictions, target_errors, noise_errors, noise_gradients, k, gradients, bias_gradients
        self.workers.run_ranges(lambda a, b: noise.gather_contrast(a, b, *gathered), len(words), SMALLEST_PIECE)
        numerics.update_biases(words, bias_gradients, self.parameters.b, self.squares.b, np.float32(self.step_size))
        self._update_factors(words, output, surface_key, gradients, "R", length)
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
        wide: Wide | None,
        means: Means | None,
    ) -> None:
        """Updates C and Q."""
        gradients = self.space.rows("context gradients", *vectors.shape)
        shards = self.space.rows("C", SHARDS, *self.parameters.C.shape)
        back = context.back_diagonal if self.config.diagonal else context.back_full
        distances, transforms = self.config.distances, self.parameters.C
        bounds = _even_cuts(batch, distances)

        def learn(shard: int, _: int) -> None:
            begin, end = bounds[shard : shard + 2]
            back(begin, end, batch, errors, vectors, transforms[:distances], gradients, shards[shard, :distances])

        self.workers.run_pieces(learn, SHARDS)
        if self.wide is not None and wide is not None and means is not None:
            self.wide.learn(batch, wide, means, errors, transforms[-1], gradients, shards[:, -1])
        length = len(batch.targets)
        self._update_dense("C", shards, self._shrink_inside(length))
        self._update_factors(batch.words, self.structure.context, key, gradients, "Q", length)

    def _update_factors(
        self, words: Int32Array, side: FactorRows, key: int, gradients: Float32Array, name: str, length: int
    ) -> None:
        """AdaGrad on the factors of some words, whose gradients are given."""
        factors, holders = batching.touched_factors(words, side.rows, self._slot_of_factor)
        arguments = (
            factors,
            holders,
            words,
            side.rows,
            side.surfaces,
            np.uint64(key),
            np.float32(self.learning.surface_dropout),
            gradients,
            getattr(self.parameters, name),
            getattr(self.squares, name),
            np.float32(self.step_size),
            self._shrink_inside(length),
        )
        self.workers.run_ranges(lambda a, b: context.update_factors(a, b, *arguments), len(factors), SMALLEST_PIECE)


def _even_cuts(batch: Batch, distances: int) -> list[int]:
    """Where to cut the slots so that each shard has about as many occurrences; the first words have most of them."""
    starts = batch.occurrences.starts[::distances] + np.arange(len(batch.words) + 1)
    targets = np.array(tapered_bounds(int(starts[-1]), SHARDS))
    cuts = np.searchsorted(starts, targets, side="left")
    cuts[0], cuts[-1] = 0, len(batch.words)
    return [int(cut) for cut in cuts]
