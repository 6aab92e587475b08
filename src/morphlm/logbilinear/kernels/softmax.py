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
    LOWEST_ORDER,
    compiled,
    exponential,
    float_of_order,
    inlined,
    order_of,
    prefetch_row,
    surface_weight,
    update_biases,
    update_row,
)
from morphlm.logbilinear.kernels.records import AdaGrad, Layer, Predictions, SparseRows, SurfaceDropout
from morphlm.logbilinear.kernels.shards import NOWHERE

F = np.float32
LOWEST = F(-3e38)  # below every score
BLOCK = 128  # tokens that are scored at a time against all classes
SCORES = 1 << 16  # scores of one class that are computed at a time, within the bounds of the next line: 256 KB
SMALLEST_BLOCK, LARGEST_BLOCK = 16, 1024  # tokens
PREFETCHED = 3  # words whose vectors are loaded before they are needed
TILE = 1024  # words of a class scored at a time when nothing is learned


class OutputLayout(NamedTuple):
    """The words that can be predicted, in order of their classes; their numbers in this order are *positions*."""

    members: Array  # int32: the word at each position
    position_of: Array  # int32 (V): the position of each word
    starts: Array  # int64 (C + 1): where the positions of each class begin
    class_of: Array  # int32: the class of each position
    rows: SparseRows  # the output factors of the word at each position


@inlined
def softmax_error(scores: Array, biases: Array, target: int, scale: float, bias_errors: Array) -> float:
    """Turn scores into errors, (probability - [target]) x scale; add these to the biases'; returns ln p(target)."""
    order = LOWEST_ORDER
    for i in range(scores.size):
        scores[i] += biases[i]
        order = max(order, order_of(scores[i]))
    highest = float_of_order(order)
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
    begin: int, end: int, batch: Batch, class_of: Array, predictions: Predictions, layer: Layer, gradient: Layer
) -> float:
    """Tokens begin .. end - 1 against all classes: tau = p S' + t; writes dL/dp and sums the gradients of S and t."""
    classes, width = layer.vectors.shape
    scores, part = np.empty((BLOCK, classes), F), np.empty((classes, width), F)
    gradient.vectors[:] = 0
    gradient.biases[:] = 0
    objective = 0.0
    for a in range(begin, end, BLOCK):
        b = min(a + BLOCK, end)
        p, s = predictions.vectors[a:b], scores[: b - a]
        np.dot(p, layer.vectors.T, s)
        for i in range(b - a):
            target = class_of[batch.targets[a + i]]
            objective += softmax_error(s[i], layer.biases, target, predictions.scale, gradient.biases)
        np.dot(s, layer.vectors, predictions.errors[a:b])
        np.dot(s.T, p, part)
        for c in range(classes):
            for k in range(width):
                gradient.vectors[c, k] += part[c, k]
    return objective


@inlined
def tokens_per_block(words: int) -> int:
    """How many tokens of a class with this number of words are scored at a time."""
    return min(LARGEST_BLOCK, max(SMALLEST_BLOCK, SCORES // words))


class SoftmaxScratch(NamedTuple):
    """Working space for the words of one class after another; allocating it for each class is slow."""

    scores: Array  # flat
    predictions: Array  # (LARGEST_BLOCK, d)
    back: Array  # (LARGEST_BLOCK, d)
    part: Array  # (words, d)


@compiled
def new_scratch(words: int, width: int) -> SoftmaxScratch:
    """Working space for classes of up to `words` words."""
    scores = max(SCORES, SMALLEST_BLOCK * words)
    blocks = np.empty((2, LARGEST_BLOCK, width), F)
    return SoftmaxScratch(np.empty(scores, F), blocks[0], blocks[1], np.empty((words, width), F))


class SharedGradients(NamedTuple):
    """Gradients of shared factors, which every shard sums up in rows of its own."""

    sums: Array  # float32 (rows, d); 0 where nothing was added
    touched: Array  # bool (rows,): where something was
    row_of_item: Array  # int32, by item of the layout's rows: where to add; NOWHERE for factors of one word alone


@compiled
def largest_class(classes: Array, layout: OutputLayout) -> int:
    """The number of words in the largest of some classes."""
    largest = 0
    for c in classes:
        largest = max(largest, layout.starts[c + 1] - layout.starts[c])
    return largest


class WordTokens(NamedTuple):
    """From which rows of a minibatch the classes learn their words."""

    targets: Array  # int32 (rows): the words to predict, of all rows
    rows: SparseRows  # those of each class
    pieces: Array  # int64 (C,): the tokens of a class are learned in so many pieces, one after the other


@compiled
def word_softmax(
    classes: Array,
    tokens: WordTokens,
    layout: OutputLayout,
    dropout: SurfaceDropout,
    predictions: Predictions,
    table: AdaGrad,
    biases: AdaGrad,
    shared: SharedGradients,
    objectives: Array,
) -> None:
    """Tokens of some classes against the words of their class: nu = p R' + b; adds to dL/dp.

    Biases and factors that belong to one word alone are updated at once, while their gradients are in the cache; the
    gradients of shared factors are added up in `shared`, those of all pieces together.
    """
    largest, width = largest_class(classes, layout), table.weights.shape[1]
    all_vectors, all_gradients = np.empty((largest, width), F), np.empty((largest, width), F)
    totals = np.empty((largest if most_pieces(classes, tokens) > 1 else 0, width), F)
    weights, own_biases, all_bias_gradients = np.empty(largest, F), np.empty(largest, F), np.empty(largest, F)
    scratch = new_scratch(largest, width)
    for c in classes:
        first, words = layout.starts[c], layout.starts[c + 1] - layout.starts[c]
        layer = Layer(all_vectors[:words], own_biases[:words])
        gradient = Layer(all_gradients[:words], all_bias_gradients[:words])
        for w in range(words):
            position = first + w
            prefetch_factors(min(position + PREFETCHED, first + words - 1), layout.rows, table.weights)
            at = layout.rows.starts[position]
            count = layout.rows.starts[position + 1] - at
            weights[w] = surface_weight(layout.members[position], count, layout.rows.items[at], dropout)
            compose(layer.vectors[w], table.weights, position, layout.rows, weights[w])
            layer.biases[w] = biases.weights[layout.members[position]]
        objectives[c] = 0.0
        begin, pieces = tokens.rows.starts[c], tokens.pieces[c]
        count = tokens.rows.starts[c + 1] - begin
        for piece in range(pieces):
            rows = tokens.rows.items[begin + count * piece // pieces : begin + count * (piece + 1) // pieces]
            gradient.biases[:] = 0
            objectives[c] += score_class(first, tokens.targets, rows, layout, layer, predictions, gradient, scratch)
            if pieces > 1:
                add_up(totals[:words], gradient.vectors, piece)
            if piece < pieces - 1:
                follow_firsts(first, layout, weights, gradient.vectors, table, shared, layer.vectors)
            update_biases(layout.members[first : first + words], gradient.biases, biases)
            for w in range(words):
                layer.biases[w] = biases.weights[layout.members[first + w]]
        add_shared(first, layout, weights, totals[:words] if pieces > 1 else gradient.vectors, table, shared)
        update_firsts(first, layout, weights, gradient.vectors, table, shared)


@compiled
def most_pieces(classes: Array, tokens: WordTokens) -> int:
    """The number of pieces of that class, of some, which has most."""
    most = 0
    for c in classes:
        most = max(most, tokens.pieces[c])
    return most


@inlined
def add_up(totals: Array, gradients: Array, piece: int) -> None:
    """Add the gradients of a piece to those of the pieces before; number 0 is the first."""
    for w in range(len(gradients)):
        for k in range(gradients.shape[1]):
            totals[w, k] = gradients[w, k] if piece == 0 else totals[w, k] + gradients[w, k]


@inlined
def prefetch_factors(position: int, rows: SparseRows, table: Array) -> None:
    """Begin to load the vectors of a word's factors but the first, which is next in memory (`arranged_by_class`)."""
    for at in range(rows.starts[position] + 1, rows.starts[position + 1]):
        prefetch_row(table, rows.items[at])


@inlined
def score_class(
    first: int,
    targets: Array,
    rows: Array,
    layout: OutputLayout,
    layer: Layer,
    predictions: Predictions,
    gradient: Layer,
    scratch: SoftmaxScratch,
) -> float:
    """ln P(w|h,c) of some rows, tokens of one class whose words begin at position `first`, and the gradients."""
    words, width = layer.vectors.shape
    block = min(len(rows), tokens_per_block(words))
    back, part = scratch.back, scratch.part[:words]
    objective = 0.0
    for a in range(0, len(rows), block):
        b = min(a + block, len(rows))
        p = scratch.predictions[: b - a]
        for i in range(b - a):
            for k in range(width):
                p[i, k] = predictions.vectors[rows[a + i], k]
        s = scratch.scores[: (b - a) * words].reshape(b - a, words)
        np.dot(p, layer.vectors.T, s)
        for i in range(b - a):
            target = layout.position_of[targets[rows[a + i]]] - first
            objective += softmax_error(s[i], layer.biases, target, predictions.scale, gradient.biases)
        np.dot(s, layer.vectors, back[: b - a])
        for i in range(b - a):
            for k in range(width):
                predictions.errors[rows[a + i], k] += back[i, k]
        if a == 0:
            np.dot(s.T, p, gradient.vectors)
        else:
            np.dot(s.T, p, part)
            for w in range(words):
                for k in range(width):
                    gradient.vectors[w, k] += part[w, k]
    return objective


# A word's gradient goes to all its factors; to the first, its surface form, times its weight. The rows of first factors
# are neighbours in memory, those of the others are not. Two loops, one streaming and one that prefetches, take half as
# long as one.


@inlined
def add_shared(
    first: int, layout: OutputLayout, weights: Array, gradients: Array, table: AdaGrad, shared: SharedGradients
) -> None:
    """Add up the gradients of shared factors of words from position `first` on; AdaGrad on others but the first."""
    words = len(gradients)
    for w in range(words):
        prefetch_shared(first + min(w + PREFETCHED, words - 1), layout, shared)
        begin = layout.rows.starts[first + w]
        for at in range(begin + 1, layout.rows.starts[first + w + 1]):
            row = shared.row_of_item[at]
            if row == NOWHERE:
                update_row(table, layout.rows.items[at], gradients[w])
            else:
                add_gradient(shared, row, gradients[w], F(1.0))
        row = shared.row_of_item[begin]
        if row != NOWHERE and weights[w] != 0:
            add_gradient(shared, row, gradients[w], weights[w])


@inlined
def add_gradient(shared: SharedGradients, row: int, gradient: Array, weight: float) -> None:
    """Add a word's gradient times a weight to that of one of its shared factors."""
    shared.touched[row] = True
    for k in range(gradient.size):
        shared.sums[row, k] += weight * gradient[k]


@inlined
def prefetch_shared(position: int, layout: OutputLayout, shared: SharedGradients) -> None:
    """Begin to load the sums of a word's shared factors but the first."""
    for at in range(layout.rows.starts[position] + 1, layout.rows.starts[position + 1]):
        row = shared.row_of_item[at]
        if row != NOWHERE:
            prefetch_row(shared.sums, row)


@inlined
def follow_firsts(
    first: int,
    layout: OutputLayout,
    weights: Array,
    gradients: Array,
    table: AdaGrad,
    shared: SharedGradients,
    vectors: Array,
) -> None:
    """`update_firsts` between two pieces; the composed vectors of the words change by as much."""
    step = table.step
    for w in range(len(gradients)):
        item = layout.rows.starts[first + w]
        if shared.row_of_item[item] == NOWHERE:
            factor = layout.rows.items[item]
            row, squares, weight = table.weights[factor], table.squares[factor], weights[w]
            for k in range(gradients.shape[1]):
                g = weight * gradients[w, k]
                squares[k] += g * g
                change = step * g / np.sqrt(squares[k])
                row[k] -= change
                vectors[w, k] -= weight * change


@inlined
def update_firsts(
    first: int, layout: OutputLayout, weights: Array, gradients: Array, table: AdaGrad, shared: SharedGradients
) -> None:
    """AdaGrad on the first factors, if they belong to one word alone, of words from position `first` on."""
    for w in range(len(gradients)):
        item = layout.rows.starts[first + w]
        if shared.row_of_item[item] == NOWHERE and weights[w] != 0:
            gradient = gradients[w]
            if weights[w] != 1:
                for k in range(gradient.size):
                    gradient[k] *= weights[w]
            update_row(table, layout.rows.items[item], gradient)


# ---------------------------------------------------------------- scoring alone


@compiled
def score_classes(
    begin: int, end: int, batch: Batch, class_of: Array, predictions: Array, layer: Layer, out: Array
) -> None:
    """out += ln P(c|h) of tokens begin .. end - 1."""
    biases = layer.biases
    scores = np.empty((BLOCK, len(biases)), F)
    for a in range(begin, end, BLOCK):
        b = min(a + BLOCK, end)
        s = scores[: b - a]
        np.dot(predictions[a:b], layer.vectors.T, s)
        for i in range(b - a):
            highest = LOWEST
            for c in range(len(biases)):
                s[i, c] += biases[c]
                highest = max(highest, s[i, c])
            total = F(0.0)
            for c in range(len(biases)):
                total += exponential(s[i, c] - highest)
            own = s[i, class_of[batch.targets[a + i]]]
            out[a + i] += np.float64(own - highest) - np.log(np.float64(total))


class PartialScores(NamedTuple):
    """What a token's scores against some of the words come to; those against others can be added."""

    highest: Array  # float32
    total: Array  # float64: the sum of exponentials relative to the highest score
    own: Array  # float32: the score of the token's own word; LOWEST if it is not among these


@compiled
def score_words(
    begin: int,
    end: int,
    first: int,
    last: int,
    batch: Batch,
    layout: OutputLayout,
    predictions: Array,
    layer: Layer,
    out: PartialScores,
) -> None:
    """Scores of tokens begin .. end - 1 against the words at positions first .. last - 1; the layer has all of these.

    The words are scored in tiles; the sum of exponentials is kept relative to the highest score so far.
    """
    scores = np.empty((end - begin) * min(TILE, last - first), F)
    highest, total, own = out.highest[begin:end], out.total[begin:end], out.own[begin:end]
    for i in range(end - begin):
        highest[i], total[i], own[i] = LOWEST, 0.0, LOWEST
    for tile in range(first, last, TILE):
        stop = min(tile + TILE, last)
        s = scores[: (end - begin) * (stop - tile)].reshape(end - begin, stop - tile)
        np.dot(predictions[begin:end], layer.vectors[tile:stop].T, s)
        for i in range(end - begin):
            before, most = highest[i], highest[i]
            for w in range(stop - tile):
                s[i, w] += layer.biases[tile + w]
                most = max(most, s[i, w])
            part = F(0.0)
            for w in range(stop - tile):
                part += exponential(s[i, w] - most)
            highest[i] = most
            total[i] = total[i] * np.exp(np.float64(before - most)) + part
            target = layout.position_of[batch.targets[begin + i]]
            if tile <= target < stop:
                own[i] = s[i, target - tile]


@compiled
def add_scores(begin: int, end: int, parts: PartialScores, out: Array) -> None:
    """out += ln P of tokens begin .. end - 1; the parts, of disjoint words, have one more dimension and one order."""
    for i in range(begin, end):
        highest, total, own = parts.highest[0, i], parts.total[0, i], parts.own[0, i]
        for part in range(1, len(parts.highest)):
            most = max(highest, parts.highest[part, i])
            total *= np.exp(np.float64(highest - most))
            total += parts.total[part, i] * np.exp(np.float64(parts.highest[part, i] - most))
            highest = most
            own = max(own, parts.own[part, i])
        out[i] += np.float64(own - highest) - np.log(total)


@compiled
def compose_positions(begin: int, end: int, layout: OutputLayout, table: Array, out: Array) -> None:
    """The vectors of the words at some positions: R = M R^(f)."""
    for position in range(begin, end):
        gather_rows(out[position], layout.rows, position, table)
