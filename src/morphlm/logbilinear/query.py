"""A trained model made ready for queries: R = M R^(f) and Q C_j are computed once, so that all variants cost the same.

`compile_model` gives arrays for other compiled code, which asks by `log_probability` of kernels/query.py, or many at
once by `log_probabilities` of kernels/query_batch.py, with a cache of its own. `CachedQueries` is for Python.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from morphlm.arguments import finite_number, word_id, word_ids
from morphlm.arrays import Float32Array, Float64Array, Int32Array, read_only
from morphlm.errors import ConfigError
from morphlm.language_model.guards import no_state
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.kernels import query as kernels
from morphlm.logbilinear.kernels import query_batch
from morphlm.logbilinear.kernels.query import TILE, WAYS, Cache, CompiledModel
from morphlm.logbilinear.parameters import Parameters
from morphlm.logbilinear.structure import FactorRows, Structure
from morphlm.threads import Workers, workers

MEGABYTE = 1 << 20
SMALLEST_PIECE = 256  # words, of the work for a thread
DISTRIBUTED = 1 << 22  # elements of R from which on several threads compute a distribution


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
    layout, words = structure.layout, np.arange(len(structure.vocabulary), dtype=np.int32)
    arrays = CompiledModel(
        context=_context_table(config, structure.context, parameters, pool, words),
        offset=0 if config.diagonal else len(words),
        diagonals=parameters.C if config.diagonal else np.zeros((0, config.width), np.float32),
        output=_composed(structure.output, parameters.R, pool, layout.members) if output is None else output,
        biases=parameters.b[layout.members],
        class_vectors=parameters.S,
        class_biases=parameters.t,
        position_of=layout.position_of,
        class_of=layout.class_of,
        starts=layout.starts,
    )
    frozen: dict[str, Any] = {name: read_only(part) for name, part in arrays._asdict().items() if name != "offset"}
    return arrays._replace(**frozen)


def _context_table(
    config: LogBilinearConfig, side: FactorRows, parameters: Parameters, pool: Workers, words: Int32Array
) -> Float32Array:
    """((n - 1) V, d): Q C_j; with diagonal C_j (V, d): Q, which takes less memory and as little time."""
    if config.diagonal:
        return parameters.Q if not config.context_factors else _composed(side, parameters.Q, pool, words)
    out = np.empty((config.order - 1, len(words), config.width), np.float32)
    arguments = words, read_only(parameters.Q), side.rows, read_only(parameters.C), out
    pool.run_ranges(lambda a, b: kernels.transform_range(a, b, *arguments), len(words), SMALLEST_PIECE)
    return out.reshape(-1, config.width)


def _composed(side: FactorRows, table: Float32Array, pool: Workers, words: Int32Array) -> Float32Array:
    """The vectors of some words."""
    out, table = np.empty((len(words), table.shape[1]), np.float32), read_only(table)
    pool.run_ranges(lambda a, b: kernels.compose_range(a, b, words, table, side.rows, out), len(words), SMALLEST_PIECE)
    return out


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
        prediction=np.zeros(model.output.shape[1], np.float32),
        scores=np.zeros(TILE, np.float32),
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
        self._words = len(model.position_of)
        # Refuses another number of words, and what is no whole number, negative, or too large for 32 bits.
        self._pack: Callable[..., None] = struct.Struct(f"{model_order(model) - 1}I").pack_into

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the caches."""
        return CachedQueries, (self.model, self._members, self.megabytes)

    @property
    def cache(self) -> Cache:
        """The cache of this thread."""
        own = self._own
        if own.cache is None:
            own.cache = new_cache(self.model, self.megabytes)
            own.context = np.zeros(model_order(self.model) - 1, np.int32)
        return own.cache

    def log_probability(self, state: tuple[int, ...], word: int) -> float:
        """ln P(word | state); the nearest word of the state first."""
        cache = self.cache
        context = self._context(state)
        if type(word) is not int or not 0 <= word < self._words:
            word = word_id(word, self._words)
        logprob: float = kernels.log_probability(self.model, cache, context, word)
        if logprob != logprob:  # noqa: PLR0124  NaN; math.isnan takes longer
            self._check_words(state)
        return logprob

    def log_probabilities(self, contexts: Int32Array, words: Int32Array) -> Float64Array:
        """ln P of many words, (m,), each after its own context, (m, n - 1); equal contexts are computed once."""
        cache = self.cache
        contexts, words = word_ids(contexts, self._words, dimensions=2), word_ids(words, self._words)
        if contexts.shape != (len(words), len(self._own.context)):
            raise ConfigError(
                f"contexts of shape {contexts.shape} for {len(words)} words; give each the {len(self._own.context)} "
                "words before it"
            )
        with workers(1):
            logprobs: Float64Array = query_batch.log_probabilities(self.model, cache, contexts, words)
        return logprobs

    def distribution(self, state: tuple[int, ...], threads: int) -> Float64Array:
        """P of every word after a state, by id."""
        _ = self.cache
        context = self._context(state)
        self._check_words(state)
        model, scores = self.model, np.empty(len(self._members), np.float32)
        if model.output.size < DISTRIBUTED or threads == 1:
            kernels.score_positions(0, len(scores), model, context, scores)
        else:
            with workers(threads) as pool:
                pool.run_ranges(lambda a, b: kernels.score_positions(a, b, model, context, scores), len(scores))
        result = np.zeros(self._words)
        kernels.distribute(model, context, self._members, scores, result)
        return result

    def _context(self, state: tuple[int, ...]) -> Int32Array:
        """The state in this thread's array; what are not n - 1 whole numbers from 0 on is refused."""
        if type(state) is not tuple:
            raise no_state(state)
        context = self._own.context
        try:
            self._pack(context, 0, *state)
        except struct.error:
            raise no_state(state) from None
        return context

    def _check_words(self, state: tuple[int, ...]) -> None:
        """Refuse a state with ids beyond the vocabulary."""
        if max(state) >= self._words:
            raise no_state(state)
