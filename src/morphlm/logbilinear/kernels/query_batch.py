"""Many queries in one call: sorted by contexts and classes, so that what several of them share is computed once.

The words of a class are read from memory once for all contexts that ask for them. The result of a query depends, to the
last bit, on no other query, and so not on what the cache holds either.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.numerics import compiled
from morphlm.logbilinear.kernels.query import (
    ALL_CLASSES,
    LOWEST,
    TILE,
    Cache,
    CompiledModel,
    add_exponentials,
    hash_context,
    log_normaliser,
    look_up,
    predict,
    score_row,
    store,
)

F = np.float32
QUERIES = 1 << 14  # queries that are sorted and scored together
FOUR = 4  # predictions that are multiplied with a word at a time
BLOCK = 16 * FOUR  # predictions that are multiplied with the words of a class, while these are in the cache


class ContextGroups(NamedTuple):
    """Queries grouped by their contexts."""

    order: Array  # int64 (m,): the queries, sorted by context
    group_of: Array  # int64 (m,): the number of each query's context
    firsts: Array  # int64 (groups,): a query that has this context
    codes: Array  # uint64 (groups,)


@compiled
def group_contexts(contexts: Array) -> ContextGroups:
    """Sort by hash code; neighbours whose contexts are equal are one group."""
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
    return ContextGroups(order, group_of, firsts[:groups], codes[firsts[:groups]])


class ContextClassPairs(NamedTuple):
    """Queries sorted by class and context, with the different pairs of these. Those for BEGIN are left out."""

    queries: Array  # int64: the queries in this order
    pair_of: Array  # int64: the pair of each, in this order
    groups: Array  # int64 (pairs,): its context
    classes: Array  # int64 (pairs,): its class


@compiled
def pair_with_classes(model: CompiledModel, groups: ContextGroups, words: Array) -> ContextClassPairs:
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
    return ContextClassPairs(queries, pair_of, of_groups[:pairs], of_classes[:pairs])


@compiled
def log_sums(table: Array, biases: Array, begin: int, end: int, chosen: Array, predictions: Array, out: Array) -> None:
    """out[i] = ln of the sum of exp(score) over rows begin .. end - 1, with p = predictions[chosen[i]].

    To the last bit, it does not depend on what else is chosen.
    """
    block, scores = np.zeros((BLOCK, predictions.shape[1]), F), np.empty((BLOCK, min(TILE, end - begin)), F)
    highest, total = np.empty(BLOCK, F), np.empty(BLOCK)
    for a in range(0, len(chosen), BLOCK):
        size = min(BLOCK, len(chosen) - a)
        for i in range(size):
            highest[i], total[i] = LOWEST, 0.0
            block[i] = predictions[chosen[a + i]]
        for tile in range(begin, end, TILE):
            rows = min(TILE, end - tile)
            score_block(table, biases, tile, tile + rows, block, size, scores)
            for i in range(size):
                highest[i], total[i] = add_exponentials(scores[i, :rows], highest[i], total[i])
        for i in range(size):
            out[a + i] = np.float64(highest[i]) + np.log(total[i])


@compiled
def score_block(table: Array, biases: Array, begin: int, end: int, block: Array, size: int, out: Array) -> None:
    """out[i, w] = the score of row begin + w with the prediction block[i]; out[size:] may be overwritten.

    Four predictions and two rows at a time, always, so that every score is summed in the same way. There are few
    predictions for a class: BLAS, which copies both sides to where it wants them, takes up to three times as long.
    """
    for i in range(0, size, FOUR):
        p, q, r, s = block[i], block[i + 1], block[i + 2], block[i + 3]
        for row in range(begin, end, 2):
            following = min(row + 1, end - 1)
            x, y = table[row], table[following]
            px, qx, rx, sx = F(0.0), F(0.0), F(0.0), F(0.0)
            py, qy, ry, sy = F(0.0), F(0.0), F(0.0), F(0.0)
            for k in range(len(p)):
                px, qx, rx, sx = px + p[k] * x[k], qx + q[k] * x[k], rx + r[k] * x[k], sx + s[k] * x[k]
                py, qy, ry, sy = py + p[k] * y[k], qy + q[k] * y[k], ry + r[k] * y[k], sy + s[k] * y[k]
            w, v, bx, by = row - begin, following - begin, biases[row], biases[following]
            out[i, w], out[i + 1, w], out[i + 2, w], out[i + 3, w] = px + bx, qx + bx, rx + bx, sx + bx
            out[i, v], out[i + 1, v], out[i + 2, v], out[i + 3, v] = py + by, qy + by, ry + by, sy + by


@compiled
def look_up_pairs(
    cache: Cache, contexts: Array, groups: ContextGroups, pairs: ContextClassPairs, values: Array
) -> Array:
    """Writes the values of the pairs that the cache has; returns the numbers of the others."""
    missing = np.empty(len(values), np.int64)
    size = 0
    for pair in range(len(values)):
        group, number = pairs.groups[pair], pairs.classes[pair] + 2
        context = contexts[groups.firsts[group]]
        index, way = look_up(cache, context, groups.codes[group], number)
        if way >= 0:
            values[pair] = cache.values[index, way]
        else:
            missing[size] = pair
            size += 1
    cache.counts[0] += len(pairs.queries) - size
    cache.counts[1] += size
    return missing[:size]


@compiled
def sum_classes(
    model: CompiledModel, cache: Cache, contexts: Array, groups: ContextGroups, needed: Array, predictions: Array
) -> Array:
    """ln sum_c exp tau(c) of the contexts that are needed, from the cache or computed."""
    values, missing = np.zeros(len(needed)), np.empty(len(needed), np.int64)
    size = 0
    for group in range(len(needed)):
        if needed[group]:
            context = contexts[groups.firsts[group]]
            index, way = look_up(cache, context, groups.codes[group], ALL_CLASSES)
            if way >= 0:
                values[group] = cache.values[index, way]
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
        store(cache, contexts[groups.firsts[group]], groups.codes[group], ALL_CLASSES, sums[i])
    return values


@compiled
def compute_pairs(
    model: CompiledModel,
    cache: Cache,
    contexts: Array,
    groups: ContextGroups,
    pairs: ContextClassPairs,
    missing: Array,
    predictions: Array,
    values: Array,
) -> None:
    """Compute and store the missing pairs, class by class, so that the words of a class are read once."""
    needed = np.zeros(len(groups.firsts), np.bool_)
    for pair in missing:
        needed[pairs.groups[pair]] = True
    class_sums = np.zeros(len(needed))
    if len(model.class_biases):
        class_sums = sum_classes(model, cache, contexts, groups, needed, predictions)
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
        log_sums(model.output, model.biases, begin, end, chosen[first:last], predictions, word_sums[first:last])
        first = last
    for i in range(len(missing)):
        group, c = chosen[i], pairs.classes[missing[i]]
        value = log_normaliser(model, c, predictions[group], class_sums[group], word_sums[i])
        values[missing[i]] = value
        store(cache, contexts[groups.firsts[group]], groups.codes[group], c + 2, value)


@compiled
def score_batch(model: CompiledModel, cache: Cache, contexts: Array, words: Array, out: Array) -> None:
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
def log_probabilities(model: CompiledModel, cache: Cache, contexts: Array, words: Array) -> Array:
    """ln P of many words, int32 (m,), each after its own context, int32 (m, n - 1), the nearest word first."""
    out = np.empty(len(words))
    for begin in range(0, len(words), QUERIES):
        end = min(begin + QUERIES, len(words))
        score_batch(model, cache, contexts[begin:end], words[begin:end], out[begin:end])
    return out
