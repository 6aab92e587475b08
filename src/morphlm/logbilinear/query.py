"""A trained model made ready for queries: R = M R^(f) and Q C_j are computed once, so that all variants cost the same.

`compile_model` gives arrays for other compiled code, which asks by `log_probability` of kernels/query.py, or many at
once by `log_probabilities` of kernels/query_batch.py, with a cache of its own. `CachedQueries` is for Python.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from morphlm.arguments import finite_number, word_id, word_ids
from morphlm.arrays import Float32Array, Float64Array, Int32Array, Int64Array, read_only
from morphlm.errors import ConfigError
from morphlm.language_model.guards import no_state
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.context_tables import ContextTables, compose_words
from morphlm.logbilinear.kernels import query as kernels
from morphlm.logbilinear.kernels import query_batch
from morphlm.logbilinear.kernels.prediction import ContextTable
from morphlm.logbilinear.kernels.query import WAYS, Cache, CompiledModel
from morphlm.logbilinear.kernels.scores import TILE
from morphlm.logbilinear.parameters import Parameters
from morphlm.logbilinear.structure import Structure
from morphlm.threads import Workers, one_worker, workers
from morphlm.vocabulary.vocabulary import UNK_ID

MEGABYTE = 1 << 20
DISTRIBUTED = 1 << 22  # elements of R from which on several threads compute distributions


# ---------------------------------------------------------------- compiling


def compile_model(
    config: LogBilinearConfig,
    structure: Structure,
    parameters: Parameters,
    pool: Workers,
    output: Float32Array | None = None,
) -> CompiledModel:
    """The model for queries. `output`, R by position, may be given if it is composed already.

    With diagonal C_j it takes as much memory as Q and R of all words; with full C_j, Q is there n - 1 times. Where Q
    belongs to words and C_j is diagonal, Q is not copied.
    """
    members = structure.layout.members
    if output is None:
        output = compose_words(structure.output.rows, parameters.R, members, pool)
        complete_output(structure, output)
    contexts = ContextTables(config, structure, parameters).of_vocabulary(pool).table
    return with_contexts(compile_output(structure, parameters, output), contexts)


def complete_output(structure: Structure, output: Float32Array) -> None:
    """Write the rows of UNK's members, x = r + e with e of their endings; what is left of UNK scores 0."""
    if structure.added:
        first = structure.layout.starts[-2]
        output[first] = 0.0
        if structure.endings is not None:
            output[first + 1 :] += structure.endings.vectors[structure.endings.ending_of]


def compile_output(structure: Structure, parameters: Parameters, output: Float32Array) -> CompiledModel:
    """The side of a model that predicts words, without contexts; `output` is R by position."""
    layout, nothing = structure.layout, np.zeros((0, output.shape[1]), np.float32)
    biases = parameters.b[layout.members]
    if structure.added:
        biases[layout.position_of[UNK_ID]] = 0.0  # what is left of UNK scores 0 in any context
    arrays = CompiledModel(
        context=nothing,
        offset=0,
        diagonals=nothing,
        output=output,
        biases=biases,
        class_vectors=parameters.S,
        class_biases=parameters.t,
        position_of=layout.position_of,
        class_of=layout.class_of,
        starts=layout.starts,
        unknown=structure.unknown,
    )
    frozen: dict[str, Any] = {
        name: read_only(part) for name, part in arrays._asdict().items() if isinstance(part, np.ndarray)
    }
    return arrays._replace(**frozen)


def with_contexts(output: CompiledModel, table: ContextTable) -> CompiledModel:
    """The model with a table of context words."""
    return output._replace(context=table.rows, offset=table.offset, diagonals=table.diagonals)


# ---------------------------------------------------------------- the cache


def new_cache(model: CompiledModel, megabytes: float) -> Cache:
    """A cache of at most this size, for one thread; with 0 megabytes nothing is cached. It never grows.

    Memory is taken from the system only where entries are stored.
    """
    megabytes = finite_number("the size of a cache in MB", megabytes, at_least=0)
    order = model_order(model)
    sets = int(megabytes * MEGABYTE) // set_bytes(order)
    return Cache(
        keys=np.zeros((sets, WAYS * order), np.int32),
        values=np.zeros((sets, WAYS), np.float64),
        oldest=np.zeros(sets, np.uint8),
        counts=np.zeros(4, np.int64),
        block=np.zeros((1, model.output.shape[1]), np.float32),
    )


def model_order(model: CompiledModel) -> int:
    """n, which the shapes of the arrays tell."""
    return 1 + (len(model.context) // model.offset if model.offset else len(model.diagonals))


def set_bytes(order: int) -> int:
    """The memory of one set of the cache."""
    return WAYS * (4 * order + 8) + 1


# ---------------------------------------------------------------- from Python


class _ThreadState(threading.local):
    """The cache and the working space of one thread."""

    cache: Cache | None = None
    context: Int32Array


class CachedQueries:
    """Queries to a compiled model from any number of threads; each has its own cache."""

    def __init__(self, model: CompiledModel, members: Int32Array, megabytes: float) -> None:
        """`members` are the words by position."""
        self.model, self.megabytes = model, megabytes
        self._members, self._own = members, _ThreadState()
        self._words, self._distances = len(model.position_of), model_order(model) - 1
        self._nothing = new_cache(model, 0)  # for queries that are not cached
        # Refuses another number of words, and what is no whole number or too large for 32 bits.
        self._pack: Callable[..., None] = struct.Struct(f"{self._distances}i").pack_into

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the caches."""
        return CachedQueries, (self.model, self._members, self.megabytes)

    @property
    def cache(self) -> Cache:
        """The cache of this thread."""
        own = self._own
        if own.cache is None:
            own.cache = new_cache(self.model, self.megabytes)
            own.context = np.zeros(self._distances, np.int32)
        return own.cache

    def log_probability(self, state: tuple[int, ...], word: int) -> float:
        """ln P(word | state); the nearest word of the state first."""
        cache = self.cache
        context = self._context(state)
        if type(word) is not int or not 0 <= word < self._words:
            word = word_id(word, self._words)
        logprob: float = kernels.log_probability(self.model, cache, context, word)
        if logprob != logprob:  # noqa: PLR0124  NaN; math.isnan takes longer
            raise no_state(state)
        return logprob

    def _context(self, state: tuple[int, ...]) -> Int32Array:
        """The state in this thread's array; what are not n - 1 whole numbers is refused."""
        if type(state) is not tuple:
            raise no_state(state)
        context = self._own.context
        try:
            self._pack(context, 0, *state)
        except struct.error:
            raise no_state(state) from None
        return context

    def score_in_turn(self, state: tuple[int, ...], words: Sequence[int]) -> list[float]:
        """ln P of words one after the other from a state on, in one call; both are right, as they are not checked."""
        stream, logprobs = np.array([*words[::-1], *state], np.int32), np.empty(len(words))
        kernels.score_in_turn(self.model, self.cache, stream, logprobs)
        return logprobs[::-1].tolist()  # type: ignore[no-any-return]

    # ------------------------------------------------------------ many

    def log_probabilities(self, contexts: Int32Array, words: Int32Array) -> Float64Array:
        """ln P of many words, (m,), each after its own context, (m, n - 1); equal contexts are computed once."""
        contexts, words = word_ids(contexts, self._words, dimensions=2), word_ids(words, self._words)
        if contexts.shape != (len(words), self._distances):
            raise ConfigError(
                f"contexts of shape {contexts.shape} for {len(words)} words; give each the {self._distances} words "
                "before it"
            )
        return self.score_contexts(contexts, words)

    def score_contexts(self, contexts: Int32Array, words: Int32Array) -> Float64Array:
        """The same of arrays that are checked; contexts may have NOTHING in them."""
        logprobs: Float64Array = query_batch.log_probabilities(self.model, self.cache, contexts, words)
        return logprobs

    def score_predictions(
        self, predictions: Float32Array, group_of: Int64Array, words: Int32Array, contexts: Int32Array | None = None
    ) -> Float64Array:
        """ln P of words, (m,), with p = predictions[group_of[i]]; `contexts` of the predictions are cached."""
        cache, keys = self._cache_and_keys(len(predictions), contexts)
        logprobs: Float64Array = query_batch.score_queries(self.model, cache, keys, predictions, group_of, words)
        return logprobs

    def score_grid(
        self, predictions: Float32Array, words: Int32Array, contexts: Int32Array | None = None
    ) -> Float64Array:
        """ln P of every word with every prediction, (predictions, words); their `contexts` are cached."""
        cache, keys = self._cache_and_keys(len(predictions), contexts)
        grid: Float64Array = query_batch.score_grid(self.model, cache, keys, predictions, words)
        return grid

    def _cache_and_keys(self, predictions: int, contexts: Int32Array | None) -> tuple[Cache, Int32Array]:
        if contexts is not None:
            return self.cache, contexts
        return self._nothing, np.zeros((predictions, self._distances), np.int32)

    def distributions(self, predictions: Float32Array, threads: int) -> Float64Array:
        """P of every word, by id, (m, V)."""
        model, result = self.model, np.zeros((len(predictions), self._words))
        scores = np.empty((len(predictions), len(self._members)), np.float32)
        with workers(threads) if predictions.size * len(self._members) >= DISTRIBUTED else one_worker() as pool:
            pool.run_ranges(
                lambda a, b: query_batch.score_positions(a, b, model, predictions, scores), len(self._members), TILE
            )
            pool.run_ranges(
                lambda a, b: query_batch.distribute(a, b, model, self._members, predictions, scores, result),
                len(predictions),
            )
        return result
