"""Queries from inside other compiled code: ln P(w|h) from tables that are composed once, with a bounded cache.

A query adds up n - 1 rows to p, and needs two sums of exponentials: over all classes, which depends on the context
alone, and over the words of one class. The cache keeps both. With them a query is a product of two vectors.
"""

from typing import Any, NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import njit
from morphlm.logbilinear.kernels.context import BLOCK as TRANSFORMED
from morphlm.logbilinear.kernels.context import compose
from morphlm.logbilinear.kernels.numerics import FAST, compiled, exponential, inlined, mixed
from morphlm.logbilinear.kernels.records import SparseRows

F = np.float32
WAYS = 4  # entries of a set of the cache
TILE = 1024  # words that are scored at a time
ALL_CLASSES = 1  # in a key, instead of a class + 2: the sum over the classes; 0: the entry is empty
LOWEST = F(-3e38)
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
    prediction: Array  # float32 (d,): p
    scores: Array  # float32 (TILE,)


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
def predict(model: CompiledModel, context: Array, out: Array) -> None:
    """p = sum_j q_j C_j."""
    for k in range(out.size):
        out[k] = 0
    for j in range(context.size):
        row = j * model.offset + context[j]
        if len(model.diagonals):
            for k in range(out.size):
                out[k] += model.context[row, k] * model.diagonals[j, k]
        else:
            for k in range(out.size):
                out[k] += model.context[row, k]


@inlined
def score_word(model: CompiledModel, context: Array, position: int) -> Any:
    """nu(w) = p . r_w + b_w without writing p to memory, which would take longer than the rest of a cached query."""
    table, diagonals, output = model.context, model.diagonals, model.output
    total = F(0.0)
    if context.size == 3:  # n = 4, the usual order, in one loop
        a, b, c = np.int64(context[0]), model.offset + context[1], 2 * model.offset + context[2]
        if len(diagonals):
            for k in range(output.shape[1]):
                near = table[a, k] * diagonals[0, k] + table[b, k] * diagonals[1, k]
                total += (near + table[c, k] * diagonals[2, k]) * output[position, k]
        else:
            for k in range(output.shape[1]):
                total += (table[a, k] + table[b, k] + table[c, k]) * output[position, k]
    else:
        for j in range(context.size):
            row = j * model.offset + context[j]
            if len(diagonals):
                for k in range(output.shape[1]):
                    total += table[row, k] * diagonals[j, k] * output[position, k]
            else:
                for k in range(output.shape[1]):
                    total += table[row, k] * output[position, k]
    return total + model.biases[position]


@inlined
def score_row(table: Array, biases: Array, row: int, prediction: Array) -> Any:
    """The score of one row."""
    total = F(0.0)
    for k in range(prediction.size):
        total += table[row, k] * prediction[k]
    return total + biases[row]


@compiled
def score_rows(table: Array, biases: Array, begin: int, end: int, prediction: Array, out: Array) -> None:
    """out = the scores of rows begin .. end - 1. Several rows at a time would be slower: they come from memory."""
    for row in range(begin, end):
        out[row - begin] = score_row(table, biases, row, prediction)


@inlined
def add_exponentials(scores: Array, highest: float, total: float) -> tuple[Any, Any]:
    """Continue a sum of exponentials, relative to the highest score so far; returns that score and the sum."""
    most = highest
    for i in range(scores.size):
        most = max(most, scores[i])
    part = F(0.0)
    for i in range(scores.size):
        part += exponential(scores[i] - most)
    return most, total * np.exp(np.float64(highest - most)) + part


@compiled
def log_sum(table: Array, biases: Array, begin: int, end: int, prediction: Array, scores: Array) -> float:
    """ln of the sum of exp(score) over rows begin .. end - 1."""
    highest, total = LOWEST, 0.0
    for tile in range(begin, end, TILE):
        stop = min(tile + TILE, end)
        score_rows(table, biases, tile, stop, prediction, scores)
        highest, total = add_exponentials(scores[: stop - tile], highest, total)
    return np.float64(highest) + np.log(total)


@compiled
def log_sum_of_classes(model: CompiledModel, cache: Cache, context: Array, code: Any, prediction: Array) -> float:
    """ln sum_c exp tau(c), from the cache or computed."""
    index, way = look_up(cache, context, code, ALL_CLASSES)
    if way >= 0:
        cache.counts[2] += 1
        return cache.values[index, way]
    cache.counts[3] += 1
    classes = len(model.class_biases)
    value = log_sum(model.class_vectors, model.class_biases, 0, classes, prediction, cache.scores)
    store(cache, context, code, ALL_CLASSES, value)
    return value


@inlined
def log_normaliser(model: CompiledModel, c: int, prediction: Array, class_sum: float, word_sum: float) -> float:
    """ln P(c|h) - ln sum_w exp nu(w), from ln sum_c exp tau(c) and the other sum; plus nu(w) it is ln P(w|h)."""
    if len(model.class_biases) == 0:
        return -word_sum
    return np.float64(score_row(model.class_vectors, model.class_biases, c, prediction)) - class_sum - word_sum


@compiled
def compute_normaliser(model: CompiledModel, cache: Cache, context: Array, code: Any, c: int) -> float:
    """The log_normaliser of a class, computed and stored."""
    cache.counts[1] += 1
    prediction = cache.prediction
    predict(model, context, prediction)
    class_sum = 0.0
    if len(model.class_biases):
        class_sum = log_sum_of_classes(model, cache, context, code, prediction)
    word_sum = log_sum(model.output, model.biases, model.starts[c], model.starts[c + 1], prediction, cache.scores)
    value = log_normaliser(model, c, prediction, class_sum, word_sum)
    store(cache, context, code, c + 2, value)
    return value


@called_inside
def log_probability(model: CompiledModel, cache: Cache, context: Array, word: int) -> float:
    """ln P(word | context); the context is int32 (n - 1,), the nearest word first. BEGIN has no probability: -inf.

    NaN after a context with an id beyond the vocabulary: to look here costs Python callers nothing.
    """
    for j in range(context.size):
        if not 0 <= context[j] < len(model.position_of):
            return np.nan
    position = np.int64(model.position_of[word])
    if position < 0:
        return -np.inf
    number = np.int64(model.class_of[position]) + 2
    code = hash_context(context)
    index, way = look_up(cache, context, code, number)
    if way >= 0:
        cache.counts[0] += 1
        value = cache.values[index, way]
    else:
        value = compute_normaliser(model, cache, context, code, number - 2)
    return value + np.float64(score_word(model, context, position))


@compiled
def score_positions(begin: int, end: int, model: CompiledModel, context: Array, out: Array) -> None:
    """out = the scores of the words at positions begin .. end - 1."""
    prediction = np.empty(model.output.shape[1], F)
    predict(model, context, prediction)
    score_rows(model.output, model.biases, begin, end, prediction, out[begin:end])


@compiled
def distribute(model: CompiledModel, context: Array, members: Array, scores: Array, out: Array) -> None:
    """Turn the scores of all positions into probabilities by word; float64, so that they sum to 1."""
    width, classes = model.output.shape[1], len(model.class_biases)
    prediction, class_scores = np.empty(width, F), np.empty(max(classes, 1), F)
    shares, numbers = np.ones(max(classes, 1)), np.arange(max(classes, 1))
    if classes:
        predict(model, context, prediction)
        score_rows(model.class_vectors, model.class_biases, 0, classes, prediction, class_scores)
        softmax(class_scores, numbers, 1.0, shares)
    for c in range(len(shares)):
        first, last = model.starts[c], model.starts[c + 1]
        softmax(scores[first:last], members[first:last], shares[c], out)


@compiled
def softmax(scores: Array, indices: Array, share: float, out: Array) -> None:
    """out[indices] = exp(scores), divided by their sum, times a share."""
    highest = np.float64(scores.max())
    total = 0.0
    for i in range(scores.size):
        e = np.exp(np.float64(scores[i]) - highest)
        out[indices[i]] = e
        total += e
    for i in range(scores.size):
        out[indices[i]] *= share / total


# ---------------------------------------------------------------- compiling


@compiled
def transform_range(
    begin: int, end: int, words: Array, table: Array, rows: SparseRows, transforms: Array, out: Array
) -> None:
    """out[j, u] = q C_j of words[u] for u in begin .. end - 1, with full C_j."""
    vectors = np.empty((TRANSFORMED, table.shape[1]), F)
    for a in range(begin, end, TRANSFORMED):
        b = min(a + TRANSFORMED, end)
        for u in range(a, b):
            compose(vectors[u - a], table, words[u], rows, F(1.0))
        for j in range(len(transforms)):
            np.dot(vectors[: b - a], transforms[j], out[j, a:b])


@compiled
def compose_range(begin: int, end: int, words: Array, table: Array, rows: SparseRows, out: Array) -> None:
    """out[u] = the vector of words[u] for u in begin .. end - 1."""
    for u in range(begin, end):
        compose(out[u], table, words[u], rows, F(1.0))
