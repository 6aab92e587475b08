"""One training step and one exact evaluation, as calls of the kernels by several threads.

A minibatch goes: plan (contexts, order by class) - compose q - predict p - score against classes and words, which gives
the errors dL/dp - back to the context words and their factors. The work is that of a fixed number of logical shards,
whose sums are added along a fixed tree, so that results depend neither on the number of threads nor on that of ranks.
A rank does the work of its own shards: it composes its context words and gathers the q of the others, predicts and
scores its own tokens, and gathers the errors of the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from morphlm.arrays import Array, Float32Array, Float64Array, Int32Array, Int64Array, read_only
from morphlm.logbilinear.config import LearningConfig, LogBilinearConfig
from morphlm.logbilinear.gathering import NONE, Gathered
from morphlm.logbilinear.kernels import batch as batching
from morphlm.logbilinear.kernels import context, noise, numerics, softmax
from morphlm.logbilinear.kernels.batch import Batch, ContextDropout, Stretch
from morphlm.logbilinear.kernels.context import SharedFactorSums
from morphlm.logbilinear.kernels.noise import Contrast, ContrastErrors
from morphlm.logbilinear.kernels.records import AdaGrad, Layer, Predictions, SparseRows, SurfaceDropout
from morphlm.logbilinear.kernels.shards import NOWHERE
from morphlm.logbilinear.kernels.softmax import PartialScores, SharedGradients, WordTokens
from morphlm.logbilinear.kernels.wide import TokenOrigin, WideVectors, WideWindows
from morphlm.logbilinear.parameters import Parameters, log_unigram
from morphlm.logbilinear.shards import (
    FactorShards,
    LocalModel,
    Place,
    Sharding,
    by_shard,
    contiguous,
    touched_by,
    undivided,
)
from morphlm.logbilinear.shared_rows import SharedRows, dense_rows
from morphlm.logbilinear.structure import FactorRows, Structure
from morphlm.logbilinear.wide import WideContexts
from morphlm.logbilinear.workspace import SMALLEST_PIECE, Workspace
from morphlm.ranks import ALONE
from morphlm.threads import Workers
from morphlm.vocabulary.vocabulary import BEGIN_ID

EVALUATED_TOKENS = 1 << 15  # tokens that are evaluated at a time
SCORED_TOKENS = 256  # tokens of one class that a thread scores at a time
CLASS_TOKENS = 8 * softmax.BLOCK  # tokens that a thread scores against all classes at a time
DECAY_EVERY = 16  # minibatches for which weight decay outside of the gradient is applied at once

# The key of a minibatch is below 2^60; each use of random numbers in it sets another bit.
CONTEXT_DROPOUT, PREDICTION_DROPOUT, OUTPUT_SURFACES = 1 << 60, 1 << 61, 1 << 62


class Engine:
    """The parameters of a model with the threads and the working space to evaluate them."""

    def __init__(
        self,
        config: LogBilinearConfig,
        structure: Structure,
        parameters: Parameters,
        workers: Workers,
        sharding: Sharding | None = None,
        place: Place | None = None,
    ) -> None:
        """The structure and the parameters are those of this rank's place among the shards."""
        self.config, self.structure, self.parameters, self.workers = config, structure, parameters, workers
        self.sharding = undivided(structure) if sharding is None else sharding
        self.place = Place.among(ALONE, self.sharding.shards) if place is None else place
        self.space = Workspace()
        self.wide = WideContexts(config, structure, workers, self.space) if config.wide else None
        self._slot_of_word = np.full(len(structure.context.rows.starts) - 1, -1, np.int32)
        self._token_block = softmax.BLOCK  # tokens that no shard's bound divides, without classes

    def _run_rows(self, task: Callable[[int, int], None], rows: int, first: int = 0) -> None:
        """Call `task(begin, end)` by all threads for ranges of rows, from `first` on."""
        if rows > first:
            self.workers.run_ranges(lambda a, b: task(first + a, first + b), rows - first, SMALLEST_PIECE)

    def _run_shards(self, task: Callable[[int], None]) -> None:
        """Call `task(shard)` by all threads for the shards of this rank."""
        own = self.place.own
        self.workers.run_pieces(lambda piece, _: task(own[piece]), len(own))

    def _gather(self, table: Array, bounds: Sequence[int] | Int64Array) -> None:
        """All rows of a table, of which each rank has those of its shards."""
        self.place.comm.gather_rows(table, self.place.rank_bounds(bounds))

    # ------------------------------------------------------------ forward

    def token_bounds(self, batch: Batch) -> list[int]:
        """Where the tokens of each shard begin: those of its classes, or without classes as many for each."""
        if self.config.classes:
            return [int(batch.class_starts[c]) for c in self.sharding.class_bounds]
        shards, length = self.sharding.shards, _length(batch)
        blocks = -(-length // self._token_block)
        return [min(blocks * shard // shards * self._token_block, length) for shard in range(shards + 1)]

    def row_bounds(self, batch: Batch) -> list[list[int]]:
        """Where the rows of each shard begin: those of the tokens, and those of earlier tokens, if there are any."""
        bounds, length = [self.token_bounds(batch)], _length(batch)
        if len(batch.targets) > length:
            classes = self.structure.class_of[batch.targets[length:]]  # in rising order
            bounds.append((length + np.searchsorted(classes, self.sharding.class_bounds)).tolist())
        return bounds

    def _run_own_rows(self, task: Callable[[int, int], None], batch: Batch) -> None:
        """Call `task(begin, end)` by all threads for ranges of the rows of this rank."""
        for bounds in self.row_bounds(batch):
            begin, end = self.place.own_part(bounds)
            self._run_rows(task, end, begin)

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

    def arrange(self, batch: Batch, wide: WideWindows | None) -> Batch:
        """Put the slots in order of the shards that own their words."""
        if self.sharding.shards == 1:
            return batch._replace(slot_bounds=np.array([0, len(batch.words)]))
        bounds, slots, words = by_shard(batch.words, self.sharding.shard_of_word, self.sharding.shards)
        batch.slots[:] = slots[batch.slots]
        if wide is not None:
            wide.slots[:] = slots[wide.slots]
        return batch._replace(words=words, slot_bounds=bounds)

    def compose(
        self,
        name: str,
        words: Int32Array,
        table: Float32Array,
        side: FactorRows,
        key: int = 0,
        rate: float = 0.0,
        bounds: Sequence[int] | Int64Array = (),
    ) -> Float32Array:
        """(U, d): the vectors of some words; with several ranks, `bounds` is where those of each shard begin."""
        bounds = bounds if len(bounds) else [0] * self.sharding.shards + [len(words)]
        out = self.space.rows(name, len(words), self.config.width)
        dropout, table = SurfaceDropout(side.surfaces, np.uint64(key), np.float32(rate)), read_only(table)
        begin, end = self.place.own_part(bounds)
        self._run_rows(lambda a, b: context.compose_words(a, b, words, table, side.rows, dropout, out), end, begin)
        self._gather(out, bounds)
        return out

    def predict(self, batch: Batch, vectors: Float32Array) -> Float32Array:
        """(L, d): p = sum_j q_j C_j of the tokens of this rank."""
        length, transforms = len(batch.targets), read_only(self.parameters.C[: self.config.distances])
        out = self.space.rows("predictions", length, self.config.width)
        if self.config.diagonal:
            self._run_own_rows(
                lambda a, b: context.predict_diagonal(a, b, batch.slots, vectors, transforms, out), batch
            )
            return out
        rows = self.space.rows("transformed", len(transforms) * len(vectors), self.config.width)
        transformed = rows.reshape(len(transforms), *vectors.shape)
        self.workers.run_ranges(
            lambda a, b: context.transform_words(a, b, vectors, transforms, transformed), len(vectors), context.BLOCK
        )
        self._run_own_rows(lambda a, b: context.predict_full(a, b, batch.slots, transformed, out), batch)
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
        own = self.place.own_part(self.token_bounds(batch))
        return self.wide.add(batch, own, wide, vectors, read_only(self.parameters.C[-1]), predictions)

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
        layout, table = self.structure.layout, read_only(self.parameters.R)  # those of this rank
        vectors = self.space.rows("output", len(layout.members), self.config.width)
        self._run_rows(lambda a, b: softmax.compose_positions(a, b, layout, table, vectors), len(vectors))
        return vectors

    def _evaluate(self, tokens: Int32Array, contexts: Int32Array, begin: int, end: int, output: Layer) -> Float64Array:
        """ln P of tokens begin .. end - 1."""
        batch = self.plan(tokens, begin, end, contexts=contexts)
        batch, wide = self.widen(batch, TokenOrigin(contexts, np.arange(begin, end)))
        batch = self.arrange(batch, wide)
        composed = self.compose(
            "context", batch.words, self.parameters.Q, self.structure.context, bounds=batch.slot_bounds
        )
        predictions = self.predict(batch, composed)
        self.add_wide(batch, wide, composed, predictions)
        score = self._score_classes_and_words if self.config.classes else self._score_all_words
        result = np.empty(end - begin)
        result[batch.offsets] = score(batch, predictions, output)
        return result

    def _score_classes_and_words(self, batch: Batch, predictions: Float32Array, output: Layer) -> Float64Array:
        """ln P(c|h) P(w|h,c): each rank scores its own tokens."""
        scores, bounds = np.zeros(len(batch.targets)), self.token_bounds(batch)
        class_of, classes = self.structure.class_of, Layer(*map(read_only, (self.parameters.S, self.parameters.t)))
        blocks = [
            piece for shard in self.place.own for piece in _pieces(bounds[shard], bounds[shard + 1], CLASS_TOKENS)
        ]
        self.workers.run_pieces(
            lambda piece, _: softmax.score_classes(*blocks[piece], batch, class_of, predictions, classes, scores),
            len(blocks),
        )
        layout, jobs = self.structure.layout, _jobs(batch, self.place.own_part(self.sharding.class_bounds))
        parts = _partial_scores(1, len(scores))
        row = PartialScores(*(array[0] for array in parts))

        def score(job: int, _: int) -> None:
            begin, end, c = jobs[job]
            positions = layout.starts[c], layout.starts[c + 1]
            softmax.score_words(begin, end, *positions, batch, layout, predictions, output, row)

        self.workers.run_pieces(score, len(jobs))
        begin, end = self.place.own_part(bounds)
        self._run_rows(lambda a, b: softmax.add_scores(a, b, parts, scores), end, begin)
        self._gather(scores, bounds)
        return scores

    def _score_all_words(self, batch: Batch, predictions: Float32Array, output: Layer) -> Float64Array:
        """ln P(w|h) without classes: each rank scores all tokens against its own words."""
        self._gather(predictions, self.token_bounds(batch))
        shards, length, layout = self.sharding.shards, len(batch.targets), self.structure.layout
        first = int(self.sharding.position_bounds[self.place.own.start])
        parts = _partial_scores(shards, length)
        jobs = [(shard, *piece) for shard in self.place.own for piece in _pieces(0, length, SCORED_TOKENS)]

        def score(job: int, _: int) -> None:
            shard, begin, end = jobs[job]
            positions = self.sharding.position_bounds[shard : shard + 2] - first
            row = PartialScores(*(array[shard] for array in parts))
            softmax.score_words(begin, end, *positions, batch, layout, predictions, output, row)

        self.workers.run_pieces(score, len(jobs))
        for array in parts:
            self._gather(array, range(shards + 1))
        scores = np.zeros(length)
        self._run_rows(lambda a, b: softmax.add_scores(a, b, parts, scores), length)
        return scores

    # ------------------------------------------------------------ weight decay

    def shrink(self, factor: float) -> None:
        """Multiply all weights but the biases."""
        for table in self.parameters.weights:
            self._scale_rows(table.reshape(-1, table.shape[-1]), np.float32(factor))

    def shrink_towards(self, old: Parameters, factor: float) -> None:
        """Multiply the distance of all weights but the biases from others."""
        for table, target in zip(self.parameters.weights, old.weights, strict=True):
            shape = (-1, table.shape[-1])
            self._scale_distances(table.reshape(shape), target.reshape(shape), np.float32(factor))

    def _scale_distances(self, rows: Float32Array, targets: Float32Array, factor: np.float32) -> None:
        def scale(begin: int, end: int) -> None:
            part = rows[begin:end]
            part -= targets[begin:end]
            part *= factor
            part += targets[begin:end]

        self._run_rows(scale, len(rows))

    def _scale_rows(self, rows: Float32Array, factor: np.float32) -> None:
        self._run_rows(lambda a, b: numerics.scale_rows(rows, a, b, factor), len(rows))


def _pieces(begin: int, end: int, size: int) -> list[tuple[int, int]]:
    return [(a, min(a + size, end)) for a in range(begin, end, size)]


def _jobs(batch: Batch, classes: tuple[int, int]) -> list[tuple[int, int, int]]:
    """(begin, end, class): the tokens of each class in pieces."""
    starts = batch.class_starts.tolist()
    return [(*piece, c) for c in range(*classes) for piece in _pieces(starts[c], starts[c + 1], SCORED_TOKENS)]


def _partial_scores(parts: int, tokens: int) -> PartialScores:
    shape = (parts, tokens)
    return PartialScores(np.empty(shape, np.float32), np.empty(shape), np.empty(shape, np.float32))


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
        local: LocalModel | None = None,
        old: Parameters | None = None,
    ) -> None:
        """`tokens` is N, the size of the training text, of which a minibatch is the share L/N.

        `local` is what this rank has of the model; without it, this is the only rank, and has the structure as it is.
        Weights decay towards the `old` ones, if there are such, and otherwise towards 0.
        """
        local = local or LocalModel.of(structure, contiguous(structure, learning.shards, config.classes), ALONE)
        super().__init__(config, local.structure, parameters, workers, local.sharding, local.place)
        self.squares, self.learning, self.tokens, self.local = squares, learning, tokens, local
        self.old = old
        self.step_size = learning.step
        self._slot_of_factor = [
            np.full(max(local.context.side.factors, local.output.side.factors), -1, np.int32)
            for _ in range(workers.threads)
        ]
        shards, width, place = local.sharding.shards, config.width, local.place
        self._shared_factors = {
            name: SharedRows(side.shared.held, side.shared.owner, side.local_of_shared, config.width, place, workers)
            for name, side in (("Q", local.context), ("R", local.output))
        }
        self._dense = {
            name: dense_rows(table.size // columns, shards, columns, place, workers)
            for name, table, columns in (
                ("C", parameters.C, width),
                ("S", parameters.S, width),
                ("t", parameters.t, max(parameters.t.size, 1)),  # all class biases are one row
            )
        }
        if config.classes:
            self._row_of_item = self._rows_of_items()
        else:
            self._token_block = learning.noise_block if learning.noise == "block" else SMALLEST_PIECE
            self._output_shards = local.output_shards
            self._noise_logs = log_unigram(structure.vocabulary.counts)
            probabilities = np.exp(self._noise_logs)
            probabilities[BEGIN_ID] = 0.0
            self._noise_cumulated = np.cumsum(probabilities)
            self._noise_cumulated /= self._noise_cumulated[-1]

    def _rows_of_items(self) -> Int32Array:
        """For each item of the layout's rows: where the shard of its word adds up the gradients of its factor."""
        layout, local = self.structure.layout, self.local
        sizes = np.diff(local.sharding.position_bounds)[local.place.own.start : local.place.own.stop]
        shard_of_position = np.repeat(np.array(local.place.own, np.int64), sizes)
        shards = np.repeat(shard_of_position, np.diff(layout.rows.starts))
        numbers = local.output.shared_of_local[layout.rows.items]
        rows: Int32Array = np.full(len(numbers), NOWHERE, np.int32)
        is_shared = numbers != NOWHERE
        rows[is_shared] = self._shared_factors["R"].row_of[shards[is_shared], numbers[is_shared]]
        return rows

    def tidy(self) -> None:
        """Free the largest arrays that only steps or only evaluations need; between two calls they hold nothing.

        Called before and after an evaluation, it keeps the peak of memory below three times the parameters.
        """
        self.space.forget("output")
        for shared in self._shared_factors.values():
            shared.forget()

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
        batch = self.arrange(batch, wide)
        rate, bounds = self.learning.surface_dropout, batch.slot_bounds
        composed = self.compose("context", batch.words, self.parameters.Q, self.structure.context, key, rate, bounds)
        p = self.predict(batch, composed)
        u = self.add_wide(batch, wide, composed, p)
        self._drop_out(batch, key, p)
        predictions = Predictions(p, self.space.rows("errors", *p.shape), self._scale_of_errors(end - begin))
        objectives = np.zeros((self.sharding.shards, 2))  # of each shard
        if self.config.classes:
            self._learn_classes(batch, predictions, objectives[:, 0])
            self._learn_words(batch, key, predictions, self._word_tokens(batch, gathered), objectives[:, 1])
        else:
            self._learn_from_noise(batch, key, predictions, objectives[:, 0])
        self._drop_out(batch, key, predictions.errors)
        for row_bounds in self.row_bounds(batch):
            self._gather(predictions.errors, row_bounds)
        self._learn_context(batch, key, composed, predictions.errors, wide, u)
        self._gather(objectives, range(self.sharding.shards + 1))
        return math.fsum(objectives.reshape(-1))

    def decay(self, tokens: int) -> None:
        """W -= xi lambda (L/N) W, for several minibatches of `tokens` tokens at once: W *= exp(-xi lambda tokens/N).

        With old weights V, W - V is multiplied instead.
        """
        if self.learning.l2_in_gradient or not self.learning.decay:
            return
        factor = math.exp(-self.step_size * self.learning.decay * tokens / self.tokens)
        if self.old is None:
            self.shrink(factor)
        else:
            self.shrink_towards(self.old, factor)

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
            self._run_own_rows(lambda a, b: context.drop_out(a, b, batch.offsets, *dropout, table), batch)

    def _update_dense(self, name: str, length: int) -> None:
        table, shared = self._adagrad(name, length), self._dense[name]
        shape = (len(shared), -1)
        shared.update(table._replace(weights=table.weights.reshape(shape), squares=table.squares.reshape(shape)))

    # ------------------------------------------------------------ with classes

    def _learn_classes(self, batch: Batch, predictions: Predictions, objectives: Float64Array) -> None:
        """P(c|h): updates S and t, writes the errors."""
        layer, bounds = Layer(self.parameters.S, self.parameters.t), self.token_bounds(batch)

        def score(shard: int) -> None:
            gradient = Layer(self._dense["S"].part(shard), self._dense["t"].part(shard)[0])
            objectives[shard] = softmax.class_softmax(
                bounds[shard], bounds[shard + 1], batch, self.structure.class_of, predictions, layer, gradient
            )

        self._run_shards(score)
        predictions.errors[_length(batch) :] = 0
        self._update_dense("S", _length(batch))
        self._update_dense("t", _length(batch))

    def _word_tokens(self, batch: Batch, gathered: Gathered | None) -> WordTokens:
        """The rows of the minibatch from which each class learns its words: its tokens, or what has gathered."""
        number = self.structure.classes
        if gathered is None:
            rows = SparseRows(batch.class_starts, np.arange(_length(batch), dtype=np.int32))
            return WordTokens(batch.targets, rows, np.ones(number, np.int64))
        classes = self.structure.class_of[batch.targets]
        learning = np.where(gathered.pieces[classes] > 0, classes, np.int32(-1))
        return WordTokens(batch.targets, numerics.group_by(learning, number), gathered.pieces)

    def _learn_words(
        self, batch: Batch, key: int, predictions: Predictions, tokens: WordTokens, objectives: Float64Array
    ) -> None:
        """P(w|h,c): updates R and b, adds to the errors."""
        layout, length = self.structure.layout, _length(batch)
        of_classes = np.zeros(self.structure.classes)
        table, biases = self._adagrad("R", length), self._adagrad("b", length)
        dropout = self._surface_dropout(self.structure.output, key ^ OUTPUT_SURFACES)
        sums = self._shared_factors["R"]
        shared = SharedGradients(sums.sums, sums.touched, self._row_of_item)

        def score(shard: int) -> None:
            classes = self._classes_of(shard, tokens.rows)
            softmax.word_softmax(classes, tokens, layout, dropout, predictions, table, biases, shared, of_classes)
            objectives[shard] = math.fsum(of_classes[classes])

        self._run_shards(score)
        sums.update(table)

    def _classes_of(self, shard: int, rows: SparseRows) -> Int64Array:
        """The classes of a shard that learn in the minibatch; a class of one word has nothing to learn."""
        begin, end = self.sharding.class_bounds[shard : shard + 2]
        words = np.diff(self.structure.layout.starts[begin : end + 1])
        tokens = np.diff(rows.starts[begin : end + 1])
        chosen: Int64Array = begin + np.flatnonzero((tokens > 0) & (words > 1))
        return chosen

    # ------------------------------------------------------------ without classes

    def _learn_from_noise(self, batch: Batch, key: int, predictions: Predictions, objectives: Float64Array) -> None:
        """Noise-contrastive estimation: updates R and b, writes the errors."""
        length, output, width = len(batch.targets), self.structure.output, self.config.width
        contrast, bounds = self._plan_contrast(batch, key)
        words, surface_key = contrast.words, key ^ OUTPUT_SURFACES
        vectors = self.compose(
            "noise", words, self.parameters.R, output, surface_key, self.learning.surface_dropout, bounds
        )
        biases = (self.parameters.b[words] - self._noise_logs[words] - np.log(contrast.samples)).astype(np.float32)
        self._gather(biases, bounds)  # b_w - ln k p_n(w)
        errors = self._contrast(batch, contrast, Layer(vectors, biases), predictions, objectives)
        gradient = Layer(self.space.rows("output", len(words), width), np.empty(len(words), np.float32))
        begin, end = self.place.own_part(bounds)
        self._run_rows(
            lambda a, b: noise.gather_contrast(a, b, contrast, predictions.vectors, errors, gradient), end, begin
        )
        numerics.update_biases(words[begin:end], gradient.biases[begin:end], self._adagrad("b", length))
        self._update_factors("R", words, bounds, surface_key, gradient.vectors, length)

    def _plan_contrast(self, batch: Batch, key: int) -> tuple[Contrast, Int64Array]:
        """Targets and noise; the words are in order of their shards."""
        is_shared, samples = self.learning.noise == "block", self.learning.samples
        block = self.learning.noise_block if is_shared else 1
        drawn = self._draw_noise(key, -(-len(batch.targets) // block) * samples)
        words, targets, drawn = noise.list_words(batch.targets, drawn, self._slot_of_word)
        bounds, slots, words = by_shard(words, self._output_shards, self.sharding.shards)
        targets, drawn = slots[targets], slots[drawn]
        entries = noise.list_entries(targets, drawn, len(words))
        return Contrast(words, targets, drawn, samples, block, entries), bounds

    def _contrast(
        self,
        batch: Batch,
        contrast: Contrast,
        layer: Layer,
        predictions: Predictions,
        objectives: Float64Array,
    ) -> ContrastErrors:
        """Score the tokens of this rank; all ranks need the errors, and p, for the gradients of their words."""
        is_shared, drawn = self.learning.noise == "block", len(contrast.noise)
        rows = self.space.rows("noise gradients", drawn if is_shared else 0, self.config.width)
        errors = ContrastErrors(np.empty(len(batch.targets), np.float32), np.empty(drawn, np.float32), rows)
        learn = noise.contrast_shared if is_shared else noise.contrast_each
        token_bounds = self.token_bounds(batch)
        block_bounds = [-(-bound // contrast.block) for bound in token_bounds]
        of_blocks = np.zeros(block_bounds[-1])
        begin, end = self.place.own_part(block_bounds)
        if end > begin:
            self.workers.run_ranges(
                lambda a, b: learn(begin + a, begin + b, contrast, layer, predictions, errors, of_blocks),
                end - begin,
                1 if is_shared else SMALLEST_PIECE,
            )
        for shard in self.place.own:
            objectives[shard] = math.fsum(of_blocks[block_bounds[shard] : block_bounds[shard + 1]])
        sample_bounds = [bound * contrast.samples for bound in block_bounds]
        self._gather(predictions.vectors, token_bounds)
        self._gather(errors.targets, token_bounds)
        self._gather(errors.noise, sample_bounds)
        if is_shared:
            self._gather(rows, sample_bounds)
        return errors

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
        back = context.back_diagonal if self.config.diagonal else context.back_full
        distances, transforms, bounds = self.config.distances, self.parameters.C, batch.slot_bounds
        occurrences = batching.list_occurrences(batch.slots, len(batch.words))

        def part(shard: int) -> Float32Array:
            return self._dense["C"].part(shard).reshape(transforms.shape)

        def learn(shard: int) -> None:
            slots, gradient = (bounds[shard], bounds[shard + 1]), part(shard)[:distances]
            back(*slots, occurrences, errors, vectors, transforms[:distances], gradients, gradient)

        self._run_shards(learn)
        if self.wide is not None and wide is not None and u is not None:
            token_bounds, own_slots = self.token_bounds(batch), self.place.own_part(bounds)
            last = {shard: part(shard)[-1] for shard in self.place.own}
            self.wide.learn(batch, token_bounds, own_slots, wide, u, errors, transforms[-1], gradients, last)
        length = _length(batch)
        self._update_dense("C", length)
        self._update_factors("Q", batch.words, bounds, key, gradients, length)

    def _update_factors(
        self, name: str, words: Int32Array, bounds: Int64Array, key: int, gradients: Float32Array, length: int
    ) -> None:
        """AdaGrad on the factors of some words, whose gradients are given; they are in order of their shards."""
        local: FactorShards = self.local.context if name == "Q" else self.local.output
        side, shared, table = local.side, self._shared_factors[name], self._adagrad(name, length)
        dropout = self._surface_dropout(side, key)

        def learn(piece: int, worker: int) -> None:
            shard = self.place.own[piece]
            begin, end = bounds[shard : shard + 2]
            slots = self._slot_of_factor[worker]
            touched = batching.touched_factors(words[begin:end], side.rows, slots)
            sums = SharedFactorSums(local.shared_of_local, shared.row_of[shard], shared.sums)
            context.update_factors(
                0, len(touched.factors), touched, side.rows, dropout, gradients[begin:end], table, sums
            )

        self.workers.run_pieces(learn, len(self.place.own))
        if len(shared):
            shared.update(table, touched_by(words, bounds, local.shared))

    def _surface_dropout(self, side: FactorRows, key: int) -> SurfaceDropout:
        return SurfaceDropout(side.surfaces, np.uint64(key), np.float32(self.learning.surface_dropout))


def _length(batch: Batch) -> int:
    """L, the tokens of the minibatch without earlier ones."""
    return int(batch.class_starts[-1])
