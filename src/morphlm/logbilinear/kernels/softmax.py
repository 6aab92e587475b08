"""The output side with classes: P(c|h) over all classes, P(w|h,c) over the words of one, and the gradients of both.

With the objective ln P, the error of a score is its probability, minus 1 for the target. Tokens are in order of their
classes, so that the words of a class are composed once and scored by one product of matrices.
"""

from typing import NamedTuple

import numpy as np

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.batch import Batch
from morphlm.logbilinear.kernels.context import compose, gather_rows
from morphlm.logbilinear.kernels.numerics import (
    Rows,
    adagrad,
    compiled,
    exponential,
    inlined,
    prefetch_row,
    surface_weight,
    update_biases,
)

F = np.float32
BLOCK = 128  # tokens that are scored at a time against all classes
SCORES = 1 << 16  # so many scores of one class are computed at a time, if it has that many tokens and words: 256 KB
LEAST_BLOCK, MOST_BLOCK = 16, 1024
PRIVATE = -1
AHEAD = 3  # words whose vectors are loaded before they are needed
TILE = 1024  # words of a class scored at a time when nothing is learned


class Layout(NamedTuple):
    """The words that can be predicted, in order of their classes; their numbers in this order are *positions*."""

    members: Array  # int32: the word at each position
    position_of: Array  # int32 (V): the position of each word
    starts: Array  # int64 (C + 1): where the positions of each class begin
    class_of: Array  # int32: the class of each position
    rows: Rows  # the output factors of the word at each position
    shared: Array  # int32: the factors that several words have, or one of them twice
    number_of: Array  # int32 (F): the number of each shared factor in this list, PRIVATE for those of one word alone


@inlined
def softmax_error(scores: Array, biases: Array, target: int, scale: float, bias_errors: Array) -> float:
    """Turn scores into (probability - [target]) x scale, add that to the biases' errors; returns ln p(target)."""
    highest = F(-3e38)
    for i in range(scores.size):
        scores[i] += biases[i]
        highest = max(highest, scores[i])
    own = scores[target]
    total = F(0.0)
    for i in range(scores.size):
        e = exponential(scores[i] - highest)
        scores[i] = e
        total += e
    ratio = scale / total
    scores[target] -= total
    for i in range(scores.size):
        scores[i] *= ratio
        bias_errors[i] += scores[i]
    return np.float64(own - highest) - np.log(np.float64(total))


@compiled
def class_softmax(
    begin: int,
    end: int,
    batch: Batch,
    class_of: Array,
    predictions: Array,
    vectors: Array,
    biases: Array,
    scale: float,
    errors: Array,
    vector_gradient: Array,
    bias_gradient: Array,
) -> float:
    """Tokens begin .. end - 1 against all classes: tau = p S' + t; writes dL/dp and sums the gradients of S and t."""
    classes, width = vectors.shape
    scores, part = np.empty((BLOCK, classes), F), np.empty((classes, width), F)
    vector_gradient[:] = 0
    bias_gradient[:] = 0
    objective = 0.0
    for a in range(begin, end, BLOCK):
        b = min(a + BLOCK, end)
        s = scores[: b - a]
        np.dot(predictions[a:b], vectors.T, s)
        for i in range(b - a):
            objective += softmax_error(s[i], biases, class_of[batch.targets[a + i]], scale, bias_gradient)
        np.dot(s, vectors, errors[a:b])
        np.dot(s.T, predictions[a:b], part)
        for c in range(classes):
            for k in range(width):
                vector_gradient[c, k] += part[c, k]
    return objective


@inlined
def block_of(words: int) -> int:
    """How many tokens of a class with so many words are scored at a time."""
    return min(MOST_BLOCK, max(LEAST_BLOCK, SCORES // words))


class Scratch(NamedTuple):
    """Working space for the words of one class after another; to ask for new memory each time is slow."""

    scores: Array  # flat
    back: Array  # (MOST_BLOCK, d)
    part: Array  # (words, d)


@compiled
def new_scratch(words: int, width: int) -> Scratch:
    """Enough for classes of up to so many words."""
    scores = max(SCORES, LEAST_BLOCK * words)
    return Scratch(np.empty(scores, F), np.empty((MOST_BLOCK, width), F), np.empty((words, width), F))


@compiled
def largest_class(classes: Array, layout: Layout) -> int:
    """The number of words in the largest of some classes."""
    largest = 0
    for c in classes:
        largest = max(largest, layout.starts[c + 1] - layout.starts[c])
    return largest


@compiled
def word_softmax(
    classes: Array,
    batch: Batch,
    layout: Layout,
    surfaces: int,
    key: int,
    rate: float,
    predictions: Array,
    table: Array,
    table_squares: Array,
    biases: Array,
    bias_squares: Array,
    scale: float,
    step: float,
    shrink: float,
    shared: Array,
    touched: Array,
    errors: Array,
    objectives: Array,
) -> None:
    """Tokens of some classes against the words of their class: nu = p R' + b; adds to dL/dp.

    Biases and factors that belong to one word alone are updated at once, while their gradients are in the cache; those
    of shared factors are added up in `shared` and marked as `touched`.
    """
    largest, width = largest_class(classes, layout), table.shape[1]
    all_vectors, all_gradients = np.empty((largest, width), F), np.empty((largest, width), F)
    weights, own_biases, all_bias_gradients = np.empty(largest, F), np.empty(largest, F), np.empty(largest, F)
    scratch = new_scratch(largest, width)
    for c in classes:
        first, words = layout.starts[c], layout.starts[c + 1] - layout.starts[c]
        tokens = batch.class_starts[c + 1] - batch.class_starts[c]
        vectors, gradients = all_vectors[:words], all_gradients[:words]
        bias_gradients = all_bias_gradients[:words]
        bias_gradients[:] = 0
        for w in range(words):
            position = first + w
            prefetch_factors(min(position + AHEAD, first + words - 1), layout.rows, table)
            at = layout.rows.starts[position]
            count = layout.rows.starts[position + 1] - at
            weights[w] = surface_weight(layout.members[position], count, layout.rows.items[at], surfaces, key, rate)
            compose(vectors[w], table, position, layout.rows, weights[w])
            own_biases[w] = biases[layout.members[position]]
        objectives[c] = score_class(
            batch.targets,
            batch.class_starts[c],
            tokens,
            layout.position_of,
            first,
            vectors,
            own_biases[:words],
            scale,
            predictions,
            gradients,
            bias_gradients,
            errors,
            scratch,
        )
        for w in range(words):
            position = first + w
            learn_word(position, layout, weights[w], gradients[w], table, table_squares, step, shrink, shared, touched)
        update_biases(layout.members[first : first + words], bias_gradients, biases, bias_squares, step)


@inlined
def prefetch_factors(position: int, rows: Rows, table: Array) -> None:
    """Begin to load the vectors of a word's factors but the first: that is the next in memory if all is arranged."""
    for at in range(rows.starts[position] + 1, rows.starts[position + 1]):
        prefetch_row(table, rows.items[at])


@compiled
def score_class(
    targets: Array,
    start: int,
    tokens: int,
    position_of: Array,
    first: int,
    vectors: Array,
    biases: Array,
    scale: float,
    predictions: Array,
    gradient: Array,
    bias_gradient: Array,
    errors: Array,
    scratch: Scratch,
) -> float:
    """ln P(w|h,c) of the tokens of one class, and the gradients."""
    words, width = vectors.shape
    block = min(tokens, block_of(words))
    back, part = scratch.back, scratch.part[:words]
    objective = 0.0
    for a in range(start, start + tokens, block):
        b = min(a + block, start + tokens)
        s = scratch.scores[: (b - a) * words].reshape(b - a, words)
        np.dot(predictions[a:b], vectors.T, s)
        for i in range(b - a):
            target = position_of[targets[a + i]] - first
            objective += softmax_error(s[i], biases, target, scale, bias_gradient)
        np.dot(s, vectors, back[: b - a])
        for i in range(b - a):
            for k in range(width):
                errors[a + i, k] += back[i, k]
        if a == start:
            np.dot(s.T, predictions[a:b], gradient)
        else:
            np.dot(s.T, predictions[a:b], part)
            for w in range(words):
                for k in range(width):
                    gradient[w, k] += part[w, k]
    return objective


@inlined
def learn_word(
    position: int,
    layout: Layout,
    weight: float,
    gradient: Array,
    table: Array,
    squares: Array,
    step: float,
    shrink: float,
    shared: Array,
    touched: Array,
) -> None:
    """A word's gradient goes to all its factors; to the first, its surface form, with the weight that this has."""
    first = layout.rows.starts[position]
    for at in range(first + 1, layout.rows.starts[position + 1]):
        learn_factor(layout.rows.items[at], layout, gradient, table, squares, step, shrink, shared, touched)
    if weight == 0:
        return
    if weight != 1:
        for k in range(gradient.size):
            gradient[k] *= weight
    learn_factor(layout.rows.items[first], layout, gradient, table, squares, step, shrink, shared, touched)


@inlined
def learn_factor(
    factor: int,
    layout: Layout,
    gradient: Array,
    table: Array,
    squares: Array,
    step: float,
    shrink: float,
    shared: Array,
    touched: Array,
) -> None:
    """AdaGrad on what one word has alone; what is shared is added up."""
    number = layout.number_of[factor]
    if number == PRIVATE:
        adagrad(table[factor], squares[factor], gradient, step, shrink)
    else:
        touched[number] = True
        for k in range(gradient.size):
            shared[number, k] += gradient[k]


@compiled
def update_shared(
    begin: int,
    end: int,
    layout: Layout,
    shared: Array,
    touched: Array,
    table: Array,
    squares: Array,
    step: float,
    shrink: float,
) -> None:
    """AdaGrad on the shared factors begin .. end - 1 that some shard has touched; the shards are 0 afterwards."""
    gradient = np.empty(table.shape[1], F)
    for number in range(begin, end):
        gradient[:] = 0
        hit = False
        for shard in range(len(shared)):
            if touched[shard, number]:
                hit = True
                touched[shard, number] = False
                for k in range(gradient.size):
                    gradient[k] += shared[shard, number, k]
                    shared[shard, number, k] = 0
        if hit:
            adagrad(table[layout.shared[number]], squares[layout.shared[number]], gradient, step, shrink)


# ---------------------------------------------------------------- scoring alone


@compiled
def score_classes(
    begin: int, end: int, batch: Batch, class_of: Array, predictions: Array, vectors: Array, biases: Array, out: Array
) -> None:
    """out += ln P(c|h) of tokens begin .. end - 1."""
    scores = np.empty((BLOCK, len(vectors)), F)
    for a in range(begin, end, BLOCK):
        b = min(a + BLOCK, end)
        s = scores[: b - a]
        np.dot(predictions[a:b], vectors.T, s)
        for i in range(b - a):
            highest = F(-3e38)
            for c in range(len(biases)):
                s[i, c] += biases[c]
                highest = max(highest, s[i, c])
            total = F(0.0)
            for c in range(len(biases)):
                total += exponential(s[i, c] - highest)
            own = s[i, class_of[batch.targets[a + i]]]
            out[a + i] += np.float64(own - highest) - np.log(np.float64(total))


@compiled
def score_words(
    begin: int,
    end: int,
    c: int,
    batch: Batch,
    layout: Layout,
    predictions: Array,
    vectors: Array,
    biases: Array,
    out: Array,
) -> None:
    """out += ln P(w|h,c) of tokens begin .. end - 1, all of class c; `vectors` and `biases` are by position.

    The words are scored in tiles; the sum of exponentials is kept relative to the highest score so far.
    """
    first, last = layout.starts[c], layout.starts[c + 1]
    scores = np.empty((end - begin, min(TILE, last - first)), F)
    highest, total, own = np.full(end - begin, F(-3e38)), np.zeros(end - begin), np.zeros(end - begin, F)
    for tile in range(first, last, TILE):
        stop = min(tile + TILE, last)
        s = scores.ravel()[: (end - begin) * (stop - tile)].reshape(end - begin, stop - tile)
        np.dot(predictions[begin:end], vectors[tile:stop].T, s)
        for i in range(end - begin):
            before, most = highest[i], highest[i]
            for w in range(stop - tile):
                s[i, w] += biases[tile + w]
                most = max(most, s[i, w])
            part = F(0.0)
            for w in range(stop - tile):
                part += exponential(s[i, w] - most)
            highest[i] = most
            total[i] = total[i] * np.exp(np.float64(before - most)) + part
            target = layout.position_of[batch.targets[begin + i]]
            if tile <= target < stop:
                own[i] = s[i, target - tile]
    for i in range(end - begin):
        out[begin + i] += np.float64(own[i] - highest[i]) - np.log(total[i])


@compiled
def compose_positions(begin: int, end: int, layout: Layout, table: Array, out: Array) -> None:
    """The vectors of the words at some positions: R = M R^(f)."""
    for position in range(begin, end):
        gather_rows(out[position], layout.rows, position, table)
