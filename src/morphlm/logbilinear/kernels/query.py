"""Queries from inside other compiled code: ln P(w|h) from tables that are composed once, with a bounded cache.

A query adds up n - 1 rows to p, and needs two sums of exponentials: over all classes, which depends on the context
alone, and over the words of one class. The cache keeps both. With them a query is a product of two vectors.
"""

from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import njit
from morphlm.logbilinear.kernels.numerics import FAST, compiled, inlined, mixed, prefetch
from morphlm.logbilinear.kernels.prediction import ContextTable, predict
from morphlm.logbilinear.kernels.scores import log_sums, score_block
from morphlm.vocabulary.vocabulary import NOTHING

F = np.float32
WAYS = 4  # entries of a set of the cache
ALL_CLASSES = 1  # in a key, instead of a class + 2: the sum over the classes; 0: the entry is empty
MULTIPLIER = np.uint64(0xD1342543DE82EF95)

# Passing the arrays of a model and a cache, more than a hundred numbers, would take longer than a query.
called_inside: Any = njit(cache=True, forceinline=True, fastmath=FAST, error_model="numpy", nogil=True)


class CompiledModel(NamedTuple):
    """A model for queries. All arrays are read-only, so that the same machine code serves mapped and computed ones.

    Words that can be predicted are in order of their classes; their numbers in this order are *positions*.
    """

    context: Array  # float32 ((n - 1) V, d): Q C_j of each word, one j after the other; with diagonal C_j (V, d): Q
    offset: int  # between the rows of a word in it: V; 0 with diagonal C_j
    diagonals: Array  # float32 (n - 1, d): C_j if it is diagonal; no rows if it is full
    output: Array  # float32 (positions, d): R
    biases: Array  # float32 (positions,): b
    class_vectors: Array  # float32 (|C|, d): S; no rows without classes
    class_biases: Array  # float32 (|C|,): t
    position_of: Array  # int32 (V,): -1 for BEGIN, which has no probability
    class_of: Array  # int32 (positions,)
    starts: Array  # int64 (|C| + 1,): where the positions of each class begin; one class without classes
    unknown: int  # position of UNK in its class, if its probability is shared by one more class, the last; else -1


class Cache(NamedTuple):
    """Sums of exponentials by context and class, and working space; for one thread. Set-associative, of a fixed size.

    An entry may be in any of the WAYS of its set; a new one replaces the oldest of them. The whole key is stored and
    compared, so that contexts are never mixed up. A class has the value ln P(c|h) - ln sum_w exp nu(w), ALL_CLASSES
    has ln sum_c exp tau(c).
    """

    keys: Array  # int32 (sets, WAYS n): each the context, then the class + 2 or ALL_CLASSES; 0: empty
    values: Array  # float64 (sets, WAYS)
    oldest: Array  # uint8 (sets,): the way that is replaced next; no sets: nothing is cached
    counts: Array  # int64 (4,): hits and misses, of classes' words and of ALL_CLASSES
    block: Array  # float32 (1, d): p


# ---------------------------------------------------------------- the cache


@inlined
def hash_context(context: Array) -> Any:
    """A number that depends on all words of a context and on their order."""
    code = np.uint64(context.size)
    for j in range(context.size):
        code = code * MULTIPLIER + np.uint64(context[j])
    return code


@inlined
def set_index(cache: Cache, code: Any, number: int) -> Any:
    """The set of an entry: 32 bits of a hash code, scaled to the number of sets."""
    high = mixed(code, number) >> np.uint64(32)
    return np.int64((high * np.uint64(len(cache.oldest))) >> np.uint64(32))


@inlined
def find_way(cache: Cache, index: int, context: Array, number: int) -> int:
    """Which way of a set has an entry; -1 if none."""
    hit, last = -1, context.size
    for way in range(WAYS):
        at = way * (last + 1)
        if cache.keys[index, at + last] == number:
            same = True
            for j in range(last):
                same = same and cache.keys[index, at + j] == context[j]
            if same:
                hit = way
    return hit


@inlined
def look_up(cache: Cache, context: Array, code: Any, number: int) -> tuple[int, int]:
    """The set and the way of an entry; the way is -1 if the cache does not have it. `code` is of the context."""
    index, way = 0, -1
    if len(cache.oldest):
        index = set_index(cache, code, number)
        way = find_way(cache, index, context, number)
    return index, way


@inlined
def begin_look_up(cache: Cache, code: Any, number: int) -> None:
    """Have an entry brought from memory, for it to be there when it is looked up."""
    index = set_index(cache, code, number)
    prefetch(cache.keys, index, np.int64(0))  # type: ignore[call-arg]
    prefetch(cache.keys, index, np.int64(cache.keys.shape[1] - 1))
    prefetch(cache.values, index, np.int64(0))


@inlined
def store(cache: Cache, context: Array, code: Any, number: int, value: float) -> None:
    """Replace the oldest entry of the set, if the cache has any sets."""
    if len(cache.oldest):
        index = set_index(cache, code, number)
        way = np.int64(cache.oldest[index])
        cache.oldest[index] = (way + 1) % WAYS
        at = way * (context.size + 1)
        for j in range(context.size):
            cache.keys[index, at + j] = context[j]
        cache.keys[index, at + context.size] = number
        cache.values[index, way] = value


# ---------------------------------------------------------------- one query


@inlined
def score_row(table: Array, biases: Array, row: int, block: Array) -> Any:
    """The score of one row with the prediction block[0], as all scores are computed."""
    out = np.empty((1, 1), F)
    score_block(table, biases, row, row + 1, block, 1, out)
    return out[0, 0]


@inlined
def contexts_of(model: CompiledModel) -> ContextTable:
    """The table of the context side."""
    return ContextTable(model.context, model.offset, model.diagonals)


@compiled
def log_sum(table: Array, biases: Array, begin: int, end: int, block: Array) -> float:
    """ln of the sum of exp(score) over rows begin .. end - 1, with p = block[0]."""
    out = np.empty(1)
    log_sums(table, biases, begin, end, np.zeros(1, np.int64), block, out)
    return out[0]


@compiled
def log_sum_of_classes(model: CompiledModel, cache: Cache, context: Array, code: Any) -> float:
    """ln sum_c exp tau(c), from the cache or computed."""
    index, way = look_up(cache, context, code, ALL_CLASSES)
    if way >= 0:
        cache.counts[2] += 1
        return cache.values[index, way]
    cache.counts[3] += 1
    value = log_sum(model.class_vectors, model.class_biases, 0, len(model.class_biases), cache.block)
    store(cache, context, code, ALL_CLASSES, value)
    return value


@inlined
def log_normaliser(model: CompiledModel, c: int, block: Array, class_sum: float, word_sum: float) -> float:
    """ln P(c|h) - ln sum_w exp nu(w), from ln sum_c exp tau(c) and the other sum; plus nu(w) it is ln P(w|h)."""
    if len(model.class_biases) == 0:
        return -word_sum
    return np.float64(score_row(model.class_vectors, model.class_biases, c, block)) - class_sum - word_sum


@inlined
def shares_unknown(model: CompiledModel, c: int) -> bool:
    """Whether a class is the one more that shares the probability of UNK."""
    return model.unknown >= 0 and c == len(model.starts) - 2


@inlined
def log_normaliser_of_members(
    model: CompiledModel, block: Array, class_sum: float, unknown_sum: float, word_sum: float
) -> float:
    """ln P(UNK|h) - ln sum_w exp nu(w) over the members of UNK; `unknown_sum` is that of the words of UNK's class."""
    value = log_normaliser(model, np.int64(model.class_of[model.unknown]), block, class_sum, unknown_sum)
    return value + np.float64(score_row(model.output, model.biases, model.unknown, block)) - word_sum


@inlined
def class_of_unknown(model: CompiledModel) -> tuple[int, int]:
    """Where the positions of the words of UNK's class begin and end."""
    c = np.int64(model.class_of[model.unknown])
    return model.starts[c], model.starts[c + 1]


@compiled
def compute_normaliser(model: CompiledModel, cache: Cache, context: Array, code: Any, c: int) -> float:
    """The log_normaliser of a class, computed and stored; the cache's block has p."""
    cache.counts[1] += 1
    class_sum = 0.0
    if len(model.class_biases):
        class_sum = log_sum_of_classes(model, cache, context, code)
    word_sum = log_sum(model.output, model.biases, model.starts[c], model.starts[c + 1], cache.block)
    if shares_unknown(model, c):
        begin, end = class_of_unknown(model)
        unknown_sum = log_sum(model.output, model.biases, begin, end, cache.block)
        value = log_normaliser_of_members(model, cache.block, class_sum, unknown_sum, word_sum)
    else:
        value = log_normaliser(model, c, cache.block, class_sum, word_sum)
    store(cache, context, code, c + 2, value)
    return value


@inlined
def is_context(model: CompiledModel, context: Array) -> bool:
    """Whether a context has words of the vocabulary, and behind them perhaps nothing."""
    last = 0
    for j in range(context.size):
        word = context[j]
        if not NOTHING <= word < len(model.position_of) or (last < 0 <= word):
            return False
        last = word
    return True


@called_inside
def log_probability(model: CompiledModel, cache: Cache, context: Array, word: int) -> float:
    """ln P(word | context); the context is int32 (n - 1,), the nearest word first. BEGIN has no probability: -inf.

    NaN after a context with an id beyond the vocabulary: to look here costs Python callers nothing.
    """
    if not is_context(model, context):
        return np.nan
    position = np.int64(model.position_of[word])
    if position < 0:
        return -np.inf
    number = np.int64(model.class_of[position]) + 2
    code = hash_context(context)
    index, way = look_up(cache, context, code, number)
    predict(contexts_of(model), context, cache.block[0])
    if way >= 0:
        cache.counts[0] += 1
        value = cache.values[index, way]
    else:
        value = compute_normaliser(model, cache, context, code, number - 2)
    return value + np.float64(score_row(model.output, model.biases, position, cache.block))


@compiled
def score_in_turn(model: CompiledModel, cache: Cache, words: Array, out: Array) -> None:
    """out[i] = ln P(words[i] | words[i + 1 :]): a sentence, the last word first, so that contexts are slices of it."""
    distances = len(words) - len(out)
    for i in range(len(out)):
        out[i] = log_probability(model, cache, words[i + 1 : i + 1 + distances], words[i])
