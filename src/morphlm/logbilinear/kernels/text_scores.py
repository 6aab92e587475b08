"""ln P of the tokens of a text, in order of their classes: without a cache, and without a search for equal contexts.

The sums are those of kernels/scores.py, so that a text, a query and many queries agree to the last bit.
"""

import numpy as np

from morphlm.arrays import Array
from morphlm.logbilinear.kernels.numerics import compiled, inlined
from morphlm.logbilinear.kernels.query import (
    CompiledModel,
    class_of_unknown,
    log_normaliser_of_members,
    shares_unknown,
)
from morphlm.logbilinear.kernels.scores import log_sums, score_block

F = np.float32


@inlined
def end_of_class(model: CompiledModel, words: Array, first: int) -> int:
    """Where the words of the class of words[first] end."""
    c, last = model.class_of[model.position_of[words[first]]], first + 1
    while last < len(words) and model.class_of[model.position_of[words[last]]] == c:
        last += 1
    return last


@compiled
def score_tokens(model: CompiledModel, predictions: Array, words: Array, out: Array) -> None:
    """out[i] = ln P(words[i]) with p = predictions[i]; words of a class stand side by side, and BEGIN is not there."""
    tokens, classes = len(words), len(model.class_biases)
    numbers, class_sums, word_sums = np.empty(tokens, np.int64), np.zeros(tokens), np.empty(tokens)
    for i in range(tokens):
        numbers[i] = i
    unknown_sums = np.empty(tokens)
    if classes:
        log_sums(model.class_vectors, model.class_biases, 0, classes, numbers, predictions, class_sums)
    score, first = np.empty((1, 1), F), 0
    while first < tokens:
        c, last = np.int64(model.class_of[model.position_of[words[first]]]), end_of_class(model, words, first)
        begin, end = model.starts[c], model.starts[c + 1]
        log_sums(model.output, model.biases, begin, end, numbers[first:last], predictions, word_sums[first:last])
        if shares_unknown(model, c):
            begin, end = class_of_unknown(model)
            some = numbers[first:last]
            log_sums(model.output, model.biases, begin, end, some, predictions, unknown_sums[first:last])
        for i in range(first, last):
            block = predictions[i : i + 1]
            if shares_unknown(model, c):
                value = log_normaliser_of_members(model, block, class_sums[i], unknown_sums[i], word_sums[i])
            else:
                own = 0.0
                if classes:
                    score_block(model.class_vectors, model.class_biases, c, c + 1, block, 1, score)
                    own = np.float64(score[0, 0])
                value = own - class_sums[i] - word_sums[i]
            position = np.int64(model.position_of[words[i]])
            score_block(model.output, model.biases, position, position + 1, block, 1, score)
            out[i] = value + np.float64(score[0, 0])
        first = last
