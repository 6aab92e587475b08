"""Queries from inside other compiled code: ln P(w|h) from tables that are composed once, with a bounded cache.

A query adds up n - 1 rows to p, and needs two sums of exponentials: over all classes, which depends on the context
alone, and over the words of one class. The cache keeps both. With them a query is a product of two vectors.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from morphlm.logbilinear.kernels.context import BLOCK as TRANSFORMED
from morphlm.logbilinear.kernels.context import compose
from morphlm.logbilinear.kernels.numerics import (
    FAST,
    Array,
    Rows,
    compiled,
    exponential,
    inlined,
    mixed,
    prefetch,
    prefetch_row,
)

F = np.float32
WAYS = 4  # places in the cache where one entry may lie
TILE = 1024  # words that are scored at a time
QUERIES = 1 << 14  # of a batch that are sorted and scored together
BLOCK = 64  # predictions that are multiplied with the words of a class at a time
ALL_CLASSES = 1  # in place of a class number + 2 in a key: the sum over the classes; 0: nothing is kept here
LOWEST = F(-3e38)
MULTIPLIER = np.uint64(0xD1342543DE82EF95)

# The arrays of a model and a cache are more than a hundred numbers; to hand them over would take longer than a query.
called_inside = njit(cache=True, forceinline=True, fastmath=FAST, error_model="numpy", nogil=True)


class Compiled(NamedTuple):
    """A model for queries. All arrays are read-only, so that one machine code serves what is mapped and what is made.

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
    """Sums of exponentials by context and class in a fixed number of places, and space to work in. Of one thread.

    An entry may lie in any of the WAYS places of its set; a new one replaces the oldest of them. All of the key is
    kept and compared, so that contexts are never mixed up.
    """

    keys: Array  # int32 (sets, WAYS n): each the context, then the class + 2 or ALL_CLASSES; 0 where nothing is kept
    values: (
        Array  # float64 (sets, WAYS): of a class: ln P(c|h) - ln sum_w exp nu(w); of ALL_CLASSES: ln sum_c exp tau(c)
    )
    oldest: Array  # uint8 (sets,): the place that is replaced next
    counts: Array  # int64 (4,): found and not found, of classes' words and of ALL_CLASSES
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
def set_of(cache: Cache, code: Any, number: int) -> Any:
    """The set of places where an entry may lie: 32 bits of a hash code, scaled to the number of sets."""
    high = mixed(code, number) >> np.uint64(32)
    return np.int64((high * np.uint64(len(cache.oldest))) >> np.uint64(32))


@inlined
def find(cache: Cache, place: int, context: Array, number: int) -> int:
    """Which of the places of a set holds an entry; -1 if none does."""
    found, last = -1, context.size
    for way in range(WAYS):
        at = way * (last + 1)
        if cache.keys[place, at + last] == number:
            same = True
            for j in range(last):
                same = same and cache.keys[place, at + j] == context[j]
            if same:
                found = way
    return found


@inlined
def keep(cache: Cache, place: int, context: Array, number: int, value: float) -> None:
    """Put an entry where the oldest of its set is."""
    way = np.int64(cache.oldest[place])
    cache.oldest[place] = (way + 1) % WAYS
    at = way * (context.size + 1)
    for j in range(context.size):
        cache.keys[place, at + j] = context[j]
    cache.keys[place, at + context.size] = number
    cache.values[place, way] = value


# ---------------------------------------------------------------- one query


@inlined
def predict(model: Compiled, context: Array, out: Array) -> None:
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
def score_word(model: Compiled, context: Array, position: int) -> Any:
    """nu(w) = p . r_w + b_w without writing p down, which would take longer than what the cache leaves to do."""
    table, diagonals, output = model.context, model.diagonals, model.output
    total = F(0.0)
    if context.size == 3:  # n = 4 is usual
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
    """Go on with a sum of exponentials, which is kept relative to the highest score so far."""
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
def log_sum_of_classes(model: Compiled, cache: Cache, context: Array, code: Any, prediction: Array) -> float:
    """ln sum_c exp tau(c), found or computed."""
    place, way = 0, -1
    if len(cache.oldest):
        place = set_of(cache, code, ALL_CLASSES)
        way = find(cache, place, context, ALL_CLASSES)
    if way >= 0:
        cache.counts[2] += 1
        return cache.values[place, way]
    cache.counts[3] += 1
    classes = len(model.class_biases)
    value = log_sum(model.class_vectors, model.class_biases, 0, classes, prediction, cache.scores)
    if len(cache.oldest):
        keep(cache, place, context, ALL_CLASSES, value)
    return value


@inlined
def with_class(model: Compiled, c: int, prediction: Array, class_sum: float, word_sum: float) -> float:
    """ln P(c|h) - ln sum_w exp nu(w): what a word's score is added to."""
    if len(model.class_biases) == 0:
        return -word_sum
    return np.float64(score_row(model.class_vectors, model.class_biases, c, prediction)) - class_sum - word_sum


@compiled
def normaliser(model: Compiled, cache: Cache, context: Array, code: Any, c: int) -> float:
    """What the scores of the words of a class are added to, computed and kept."""
    cache.counts[1] += 1
    prediction = cache.prediction
    predict(model, context, prediction)
    class_sum = 0.0
    if len(model.class_biases):
        class_sum = log_sum_of_classes(model, cache, context, code, prediction)
    word_sum = log_sum(model.output, model.biases, model.starts[c], model.starts[c + 1], prediction, cache.scores)
    value = with_class(model, c, prediction, class_sum, word_sum)
    if len(cache.oldest):
        keep(cache, set_of(cache, code, c + 2), context, c + 2, value)
    return value


@called_inside
def log_probability(model: Compiled, cache: Cache, context: Array, word: int) -> float:
    """ln P(word | context); the context is int32 (n - 1,), the nearest word first. BEGIN has no probability: -inf."""
    position = np.int64(model.position_of[word])
    if position < 0:
        return -np.inf
    prefetch_row(model.output, position)
    number = np.int64(model.class_of[position]) + 2
    code = hash_context(context)
    place, way = 0, -1
    if len(cache.oldest):
        place = set_of(cache, code, number)
        prefetch(cache.keys, place, np.int64(0))  # type: ignore[call-arg]
        prefetch(cache.values, place, np.int64(0))  # type: ignore[call-arg, unused-ignore]
    score = score_word(model, context, position)
    if len(cache.oldest):
        way = find(cache, place, context, number)
    if way >= 0:
        cache.counts[0] += 1
        value = cache.values[place, way]
    else:
        value = normaliser(model, cache, context, code, number - 2)
    return value + np.float64(score)


@compiled
def score_positions(begin: int, end: int, model: Compiled, context: Array, out: Array) -> None:
    """out = the scores of the words at positions begin .. end - 1."""
    prediction = np.empty(model.output.shape[1], F)
    predict(model, context, prediction)
    score_rows(model.output, model.biases, begin, end, prediction, out[begin:end])


@compiled
def distribute(model: Compiled, context: Array, members: Array, scores: Array, out: Array) -> None:
    """Turn the scores of all positions into probabilities by word; float64, so that they sum to 1."""
    width, classes = model.output.shape[1], len(model.class_biases)
    prediction, class_scores = np.empty(width, F), np.empty(classes, F)
    predict(model, context, prediction)
    class_sum = 0.0
    if classes:
        score_rows(model.class_vectors, model.class_biases, 0, classes, prediction, class_scores)
        class_sum = log_sum_exactly(class_scores)
    for c in range(len(model.starts) - 1):
        first, last = model.starts[c], model.starts[c + 1]
        shift = log_sum_exactly(scores[first:last])
        if classes:
            shift += class_sum - np.float64(class_scores[c])
        for position in range(first, last):
            out[members[position]] = np.exp(np.float64(scores[position]) - shift)


@inlined
def log_sum_exactly(scores: Array) -> float:
    """ln of the sum of exponentials in float64."""
    highest = np.float64(scores[0])
    for i in range(scores.size):
        highest = max(highest, np.float64(scores[i]))
    total = 0.0
    for i in range(scores.size):
        total += np.exp(np.float64(scores[i]) - highest)
    return highest + np.log(total)


# ---------------------------------------------------------------- many queries


class Groups(NamedTuple):
    """Queries in order of their contexts, every different context once."""

    order: Array  # int64 (m,): the queries
    group_of: Array  # int64 (m,): the number of each query's context
    firsts: Array  # int64 (groups,): a query that has this context
    codes: Array  # uint64 (groups,)


@compiled
def group_contexts(contexts: Array) -> Groups:
    """Sort by hash code; neighbours that are really equal are one group."""
    codes = np.empty(len(contexts), np.uint64)
    for i in range(len(contexts)):
        codes[i] = hash_context(contexts[i])
    order = np.argsort(codes)
    group_of, firsts = np.empty(len(contexts), np.int64), np.empty(len(contexts), np.int64)
    groups = 0
    for at in range(len(order)):
        i = order[at]
        same = groups > 0
        if same:
            for j in range(contexts.shape[1]):
                same = same and contexts[i, j] == contexts[firsts[groups - 1], j]
        if not same:
            firsts[groups] = i
            groups += 1
        group_of[i] = groups - 1
    return Groups(order, group_of, firsts[:groups], codes[firsts[:groups]])


class Pairs(NamedTuple):
    """Queries in order of their classes and contexts, every different pair of these once. Without BEGIN's."""

    queries: Array  # int64: in this order
    pair_of: Array  # int64: the number of the pair of each, in this order
    groups: Array  # int64 (pairs,): its context
    classes: Array  # int64 (pairs,): its class


@compiled
def pair_with_classes(model: Compiled, groups: Groups, words: Array) -> Pairs:
    """Sort by class; the order by contexts stays inside."""
    classes = len(model.starts) - 1
    free = np.zeros(classes + 1, np.int64)
    for word in words:
        if model.position_of[word] >= 0:
            free[model.class_of[model.position_of[word]] + 1] += 1
    for c in range(classes):
        free[c + 1] += free[c]
    queries = np.empty(free[classes], np.int64)
    for i in groups.order:
        position = model.position_of[words[i]]
        if position >= 0:
            c = model.class_of[position]
            queries[free[c]] = i
            free[c] += 1
    pair_of, of_groups, of_classes = np.empty_like(queries), np.empty_like(queries), np.empty_like(queries)
    pairs = 0
    for at in range(len(queries)):
        group = groups.group_of[queries[at]]
        number = model.class_of[model.position_of[words[queries[at]]]]
        if pairs == 0 or of_groups[pairs - 1] != group or of_classes[pairs - 1] != number:
            of_groups[pairs], of_classes[pairs] = group, number
            pairs += 1
        pair_of[at] = pairs - 1
    return Pairs(queries, pair_of, of_groups[:pairs], of_classes[:pairs])


@compiled
def log_sums(table: Array, biases: Array, begin: int, end: int, chosen: Array, predictions: Array, out: Array) -> None:
    """out[i] = ln of the sum of exp(score) over rows begin .. end - 1, with p = predictions[chosen[i]]."""
    width = predictions.shape[1]
    block, scores = np.empty((BLOCK, width), F), np.empty(BLOCK * min(TILE, end - begin), F)
    highest, total = np.empty(BLOCK, F), np.empty(BLOCK)
    for a in range(0, len(chosen), BLOCK):
        size = min(BLOCK, len(chosen) - a)
        for i in range(size):
            highest[i], total[i] = LOWEST, 0.0
            for k in range(width):
                block[i, k] = predictions[chosen[a + i], k]
        for tile in range(begin, end, TILE):
            rows = min(TILE, end - tile)
            s = scores[: size * rows].reshape(size, rows)
            np.dot(block[:size], table[tile : tile + rows].T, s)
            for i in range(size):
                for w in range(rows):
                    s[i, w] += biases[tile + w]
                highest[i], total[i] = add_exponentials(s[i], highest[i], total[i])
        for i in range(size):
            out[a + i] = np.float64(highest[i]) + np.log(total[i])


@compiled
def look_up_pairs(cache: Cache, contexts: Array, groups: Groups, pairs: Pairs, values: Array) -> Array:
    """Values of the pairs that the cache has; the numbers of those that it has not."""
    missing = np.empty(len(values), np.int64)
    size = 0
    for pair in range(len(values)):
        group, number = pairs.groups[pair], pairs.classes[pair] + 2
        context = contexts[groups.firsts[group]]
        place, way = 0, -1
        if len(cache.oldest):
            place = set_of(cache, groups.codes[group], number)
            way = find(cache, place, context, number)
        if way >= 0:
            values[pair] = cache.values[place, way]
        else:
            missing[size] = pair
            size += 1
    cache.counts[0] += len(pairs.queries) - size
    cache.counts[1] += size
    return missing[:size]


@compiled
def sum_classes(
    model: Compiled, cache: Cache, contexts: Array, groups: Groups, wanted: Array, predictions: Array
) -> Array:
    """ln sum_c exp tau(c) of the contexts that are wanted, found or computed."""
    values, missing = np.zeros(len(wanted)), np.empty(len(wanted), np.int64)
    size = 0
    for group in range(len(wanted)):
        if wanted[group]:
            context = contexts[groups.firsts[group]]
            place, way = 0, -1
            if len(cache.oldest):
                place = set_of(cache, groups.codes[group], ALL_CLASSES)
                way = find(cache, place, context, ALL_CLASSES)
            if way >= 0:
                values[group] = cache.values[place, way]
                cache.counts[2] += 1
            else:
                missing[size] = group
                size += 1
    cache.counts[3] += size
    sums, classes = np.empty(size), len(model.class_biases)
    log_sums(model.class_vectors, model.class_biases, 0, classes, missing[:size], predictions, sums)
    for i in range(size):
        group = missing[i]
        values[group] = sums[i]
        if len(cache.oldest):
            place = set_of(cache, groups.codes[group], ALL_CLASSES)
            keep(cache, place, contexts[groups.firsts[group]], ALL_CLASSES, sums[i])
    return values


@compiled
def compute_pairs(
    model: Compiled,
    cache: Cache,
    contexts: Array,
    groups: Groups,
    pairs: Pairs,
    missing: Array,
    predictions: Array,
    values: Array,
) -> None:
    """Values of the pairs that the cache had not, class by class, so that a class's words are read once; keeps them."""
    wanted = np.zeros(len(groups.firsts), np.bool_)
    for pair in missing:
        wanted[pairs.groups[pair]] = True
    class_sums = np.zeros(len(wanted))
    if len(model.class_biases):
        class_sums = sum_classes(model, cache, contexts, groups, wanted, predictions)
    word_sums, chosen = np.empty(len(missing)), np.empty(len(missing), np.int64)
    for i in range(len(missing)):
        chosen[i] = pairs.groups[missing[i]]
    first = 0
    while first < len(missing):
        c = pairs.classes[missing[first]]
        last = first + 1
        while last < len(missing) and pairs.classes[missing[last]] == c:
            last += 1
        begin, end = model.starts[c], model.starts[c + 1]
        if last - first == 1:
            p = predictions[chosen[first]]
            word_sums[first] = log_sum(model.output, model.biases, begin, end, p, cache.scores)
        else:
            part = word_sums[first:last]
            log_sums(model.output, model.biases, begin, end, chosen[first:last], predictions, part)
        first = last
    for i in range(len(missing)):
        group, c = chosen[i], pairs.classes[missing[i]]
        value = with_class(model, c, predictions[group], class_sums[group], word_sums[i])
        values[missing[i]] = value
        if len(cache.oldest):
            place = set_of(cache, groups.codes[group], c + 2)
            keep(cache, place, contexts[groups.firsts[group]], c + 2, value)


@compiled
def score_batch(model: Compiled, cache: Cache, contexts: Array, words: Array, out: Array) -> None:
    """out = ln P(words[i] | contexts[i]); what several queries share is computed once."""
    groups = group_contexts(contexts)
    pairs = pair_with_classes(model, groups, words)
    predictions = np.empty((len(groups.firsts), model.output.shape[1]), F)
    for group in range(len(predictions)):
        predict(model, contexts[groups.firsts[group]], predictions[group])
    values = np.empty(len(pairs.groups))
    missing = look_up_pairs(cache, contexts, groups, pairs, values)
    if len(missing):
        compute_pairs(model, cache, contexts, groups, pairs, missing, predictions, values)
    for i in range(len(words)):
        out[i] = -np.inf
    for at in range(len(pairs.queries)):
        i, pair = pairs.queries[at], pairs.pair_of[at]
        position = np.int64(model.position_of[words[i]])
        score = score_row(model.output, model.biases, position, predictions[pairs.groups[pair]])
        out[i] = values[pair] + np.float64(score)


@compiled
def log_probabilities(model: Compiled, cache: Cache, contexts: Array, words: Array) -> Array:
    """ln P of many words, int32 (m,), each after its own context, int32 (m, n - 1).

    It calls BLAS, which is to be held to one thread (`morphlm.threads.workers`).
    """
    out = np.empty(len(words))
    for begin in range(0, len(words), QUERIES):
        end = min(begin + QUERIES, len(words))
        score_batch(model, cache, contexts[begin:end], words[begin:end], out[begin:end])
    return out


# ---------------------------------------------------------------- compiling


@compiled
def transform_range(
    begin: int, end: int, words: Array, table: Array, rows: Rows, transforms: Array, out: Array
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
def compose_range(begin: int, end: int, words: Array, table: Array, rows: Rows, out: Array) -> None:
    """out[u] = the vector of words[u] for u in begin .. end - 1."""
    for u in range(begin, end):
        compose(out[u], table, words[u], rows, F(1.0))
