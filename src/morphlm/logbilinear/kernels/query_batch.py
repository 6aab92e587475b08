"""Many queries in one call: sorted by contexts and classes, so that what several of them share is computed once.

The words of a class are read from memory once for all contexts that ask for them. The result of a query depends, to the
last bit, on no other query, and so not on what the cache holds either.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.numerics import compiled
from morphlm.logbilinear.kernels.prediction import predict
from morphlm.logbilinear.kernels.query import (
    ALL_CLASSES,
    Cache,
    CompiledModel,
    begin_look_up,
    class_of_unknown,
    contexts_of,
    hash_context,
    log_normaliser,
    log_normaliser_of_members,
    look_up,
    shares_unknown,
    store,
)
from morphlm.logbilinear.kernels.scores import BLOCK, TILE, copy_row, log_sums, precise_exponential, score_block

F = np.float32
QUERIES = 1 << 14  # queries that are sorted and scored together
AHEAD = 16  # entries of the cache that are on their way from memory


class ContextGroups(NamedTuple):
    """Queries grouped by their contexts."""

    group_of: Array  # int64 (m,): the number of each query's context
    firsts: Array  # int64 (groups,): a query that has this context


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
    return ContextGroups(group_of, firsts[:groups])


class ContextClassPairs(NamedTuple):
    """The different pairs of a context and a class that queries have, those of a class next to each other."""

    pair_of: Array  # int64 (m,): the pair of each query; -1 for BEGIN, which has no class
    groups: Array  # int64 (pairs,): its context
    classes: Array  # int64 (pairs,): its class


@compiled
def pair_with_classes(model: CompiledModel, group_of: Array, words: Array, groups: int) -> ContextClassPairs:
    """Sort the queries by class, and number the contexts in each."""
    classes = len(model.starts) - 1
    free = np.zeros(classes + 1, np.int64)
    for word in words:
        if model.position_of[word] >= 0:
            free[model.class_of[model.position_of[word]] + 1] += 1
    for c in range(classes):
        free[c + 1] += free[c]
    queries, pair_of = np.empty(free[classes], np.int64), np.full(len(words), -1)
    for i in range(len(words)):
        position = model.position_of[words[i]]
        if position >= 0:
            c = model.class_of[position]
            queries[free[c]] = i
            free[c] += 1
    of_groups, of_classes = np.empty_like(queries), np.empty_like(queries)
    last_class, last_pair = np.full(groups, -1), np.empty(groups, np.int64)
    pairs = 0
    for i in queries:
        group, number = group_of[i], model.class_of[model.position_of[words[i]]]
        if last_class[group] != number:
            last_class[group], last_pair[group] = number, pairs
            of_groups[pairs], of_classes[pairs] = group, number
            pairs += 1
        pair_of[i] = last_pair[group]
    return ContextClassPairs(pair_of, of_groups[:pairs], of_classes[:pairs])


@compiled
def look_up_pairs(
    cache: Cache, contexts: Array, codes: Array, pairs: ContextClassPairs, queries: int, values: Array
) -> Array:
    """Writes the values of the pairs that the cache has; returns the numbers of the others."""
    missing = np.empty(len(values), np.int64)
    size = 0
    for pair in range(len(values)):
        if len(cache.oldest) and pair + AHEAD < len(values):
            begin_look_up(cache, codes[pairs.groups[pair + AHEAD]], pairs.classes[pair + AHEAD] + 2)
        group, number = pairs.groups[pair], pairs.classes[pair] + 2
        index, way = look_up(cache, contexts[group], codes[group], number)
        if way >= 0:
            values[pair] = cache.values[index, way]
        else:
            missing[size] = pair
            size += 1
    cache.counts[0] += queries - size
    cache.counts[1] += size
    return missing[:size]


@compiled
def sum_classes(
    model: CompiledModel, cache: Cache, contexts: Array, codes: Array, needed: Array, predictions: Array
) -> Array:
    """ln sum_c exp tau(c) of the contexts that are needed, from the cache or computed."""
    values, missing = np.zeros(len(needed)), np.empty(len(needed), np.int64)
    size = 0
    for group in range(len(needed)):
        if needed[group]:
            index, way = look_up(cache, contexts[group], codes[group], ALL_CLASSES)
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
        store(cache, contexts[group], codes[group], ALL_CLASSES, sums[i])
    return values


@compiled
def compute_pairs(
    model: CompiledModel,
    cache: Cache,
    contexts: Array,
    codes: Array,
    pairs: ContextClassPairs,
    missing: Array,
    predictions: Array,
    values: Array,
) -> None:
    """Compute and store the missing pairs, class by class, so that the words of a class are read once."""
    needed = np.zeros(len(predictions), np.bool_)
    for pair in missing:
        needed[pairs.groups[pair]] = True
    class_sums = np.zeros(len(needed))
    if len(model.class_biases):
        class_sums = sum_classes(model, cache, contexts, codes, needed, predictions)
    word_sums, unknown_sums = np.empty(len(missing)), np.empty(len(missing))
    chosen = np.empty(len(missing), np.int64)
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
        if shares_unknown(model, c):
            begin, end = class_of_unknown(model)
            log_sums(model.output, model.biases, begin, end, chosen[first:last], predictions, unknown_sums[first:last])
        first = last
    for i in range(len(missing)):
        group, c = chosen[i], pairs.classes[missing[i]]
        block = predictions[group : group + 1]
        if shares_unknown(model, c):
            value = log_normaliser_of_members(model, block, class_sums[group], unknown_sums[i], word_sums[i])
        else:
            value = log_normaliser(model, c, block, class_sums[group], word_sums[i])
        values[missing[i]] = value
        store(cache, contexts[group], codes[group], c + 2, value)


@compiled
def score_queries(
    model: CompiledModel, cache: Cache, contexts: Array, predictions: Array, group_of: Array, words: Array
) -> Array:
    """ln P of words, (m,), each after the context group_of[i], with p = predictions[group_of[i]].

    `contexts`, (groups, n - 1), are keys for the cache, if that has any room; else they are not looked at.
    """
    pairs, queries = pair_with_classes(model, group_of, words, len(predictions)), 0
    for pair in pairs.pair_of:
        queries += pair >= 0
    values = normalise_pairs(model, cache, contexts, predictions, pairs, queries)
    return add_scores(model, predictions, group_of, words, pairs.pair_of, values)


@compiled
def normalise_pairs(
    model: CompiledModel, cache: Cache, contexts: Array, predictions: Array, pairs: ContextClassPairs, queries: int
) -> Array:
    """The log_normaliser of each pair, from the cache or computed; they serve so many queries."""
    codes = np.zeros(len(predictions), np.uint64)
    if len(cache.oldest):
        for group in range(len(contexts)):
            codes[group] = hash_context(contexts[group])
    values = np.empty(len(pairs.groups))
    missing = look_up_pairs(cache, contexts, codes, pairs, queries, values)
    if len(missing):
        compute_pairs(model, cache, contexts, codes, pairs, missing, predictions, values)
    return values


@compiled
def add_scores(
    model: CompiledModel, predictions: Array, group_of: Array, words: Array, pair_of: Array, values: Array
) -> Array:
    """values[pair_of[i]] + nu(words[i])."""
    out, score = np.full(len(words), -np.inf), np.empty((1, 1), F)
    for i in range(len(words)):
        position, group = np.int64(model.position_of[words[i]]), group_of[i]
        if position >= 0:
            block = predictions[group : group + 1]
            score_block(model.output, model.biases, position, position + 1, block, 1, score)
            out[i] = values[pair_of[i]] + np.float64(score[0, 0])
    return out


# ---------------------------------------------------------------- all pairs of contexts and words


@compiled
def pair_all(model: CompiledModel, words: Array, groups: int) -> ContextClassPairs:
    """All contexts with each of the classes of some words; `pair_of` is the pair of the first context, by word."""
    first_of = np.full(len(model.starts) - 1, -1)
    pair_of, of_classes = np.full(len(words), -1), np.empty(len(words), np.int64)
    classes = 0
    for k in range(len(words)):
        position = model.position_of[words[k]]
        if position >= 0:
            c = model.class_of[position]
            if first_of[c] < 0:
                first_of[c], of_classes[classes] = classes * groups, c
                classes += 1
            pair_of[k] = first_of[c]
    in_pairs, of_pairs = np.empty(classes * groups, np.int64), np.empty(classes * groups, np.int64)
    for number in range(classes):
        for group in range(groups):
            in_pairs[number * groups + group], of_pairs[number * groups + group] = group, of_classes[number]
    return ContextClassPairs(pair_of, in_pairs, of_pairs)


@compiled
def score_grid(model: CompiledModel, cache: Cache, contexts: Array, predictions: Array, words: Array) -> Array:
    """(groups, words): ln P of all words after all contexts; arguments are those of `score_queries`."""
    groups, asked, width = len(predictions), len(words), predictions.shape[1]
    pairs = pair_all(model, words, groups)
    values = normalise_pairs(model, cache, contexts, predictions, pairs, groups * asked)
    table, biases = np.zeros((asked, width), F), np.zeros(asked, F)
    for k in range(asked):
        if pairs.pair_of[k] >= 0:
            copy_row(model.output[model.position_of[words[k]]], table[k])
            biases[k] = model.biases[model.position_of[words[k]]]
    out, scores, block = np.empty((groups, asked)), np.empty((BLOCK, asked), F), np.zeros((BLOCK, width), F)
    for a in range(0, groups, BLOCK):
        size = min(BLOCK, groups - a)
        for i in range(size):
            copy_row(predictions[a + i], block[i])
        score_block(table, biases, 0, asked, block, size, scores)
        for i in range(size):
            for k in range(asked):
                pair = pairs.pair_of[k]
                out[a + i, k] = -np.inf if pair < 0 else values[pair + a + i] + np.float64(scores[i, k])
    return out


@compiled
def log_probabilities(model: CompiledModel, cache: Cache, contexts: Array, words: Array) -> Array:
    """ln P of many words, int32 (m,), each after its own context, int32 (m, n - 1), the nearest word first."""
    out = np.empty(len(words))
    for begin in range(0, len(words), QUERIES):
        end = min(begin + QUERIES, len(words))
        groups = group_contexts(contexts[begin:end])
        unique = np.empty((len(groups.firsts), contexts.shape[1]), np.int32)
        predictions = np.empty((len(unique), model.output.shape[1]), F)
        for group in range(len(unique)):
            copy_row(contexts[begin + groups.firsts[group]], unique[group])
            predict(contexts_of(model), unique[group], predictions[group])
        out[begin:end] = score_queries(model, cache, unique, predictions, groups.group_of, words[begin:end])
    return out


# ---------------------------------------------------------------- all words


@compiled
def score_positions(begin: int, end: int, model: CompiledModel, predictions: Array, out: Array) -> None:
    """out[i, w] = nu of the words at positions begin .. end - 1 with p = predictions[i]."""
    block, scores = np.zeros((BLOCK, predictions.shape[1]), F), np.empty((BLOCK, min(TILE, end - begin)), F)
    for tile in range(begin, end, TILE):
        stop = min(tile + TILE, end)
        for a in range(0, len(predictions), BLOCK):
            size = min(BLOCK, len(predictions) - a)
            for i in range(size):
                copy_row(predictions[a + i], block[i])
            score_block(model.output, model.biases, tile, stop, block, size, scores)
            for i in range(size):
                copy_row(scores[i, : stop - tile], out[a + i, tile:stop])


@compiled
def distribute(
    begin: int, end: int, model: CompiledModel, members: Array, predictions: Array, scores: Array, out: Array
) -> None:
    """out[i] = P of every word, by id, with p = predictions[i], for i in begin .. end - 1; `scores` are all nu.

    UNK, if its probability is shared, is written twice: as that of all its members, then, in the last class, its own.
    """
    class_sum, unknown_sum = np.zeros(1), 0.0
    first = np.zeros(1, np.int64)
    for i in range(begin, end):
        block = predictions[i : i + 1]
        if len(model.class_biases):
            log_sums(model.class_vectors, model.class_biases, 0, len(model.class_biases), first, block, class_sum)
        for c in range(len(model.starts) - 1):
            low, high = model.starts[c], model.starts[c + 1]
            most = scores[i, low]
            for position in range(low + 1, high):
                most = max(most, scores[i, position])
            total = 0.0
            for position in range(low, high):
                total += precise_exponential(np.float64(scores[i, position]) - np.float64(most))
            word_sum = np.float64(most) + np.log(total)
            if model.unknown >= 0 and c == model.class_of[model.unknown]:
                unknown_sum = word_sum
            if shares_unknown(model, c):
                value = log_normaliser_of_members(model, block, class_sum[0], unknown_sum, word_sum)
            else:
                value = log_normaliser(model, c, block, class_sum[0], word_sum)
            for position in range(low, high):
                out[i, members[position]] = np.exp(value + np.float64(scores[i, position]))
