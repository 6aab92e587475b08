"""A few sentences by NumPy alone, for the self-test of a model that is loaded.

It needs no kernel, which would first have to be compiled on a new machine, and composes only the words that it needs,
so that a model just loaded stays small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from morphlm.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.kernels.records import SparseRows
from morphlm.logbilinear.parameters import Parameters
from morphlm.logbilinear.structure import Structure, selected_rows
from morphlm.vocabulary.vocabulary import BEGIN_ID

BLOCK = 4096  # words that are composed at a time


def score_plainly(
    config: LogBilinearConfig, structure: Structure, parameters: Parameters, words: Sequence[int]
) -> Float64Array:
    """ln P(w|h) of the words of a sentence, ids; none of them is BEGIN, and there is no wide context."""
    predictions = _predictions(config, structure, parameters, words)
    positions = structure.layout.position_of[list(words)]
    logprobs, is_member = np.zeros(len(words)), structure.class_of[list(words)] == structure.classes
    if is_member.any():
        logprobs[is_member] = _member_shares(structure, parameters, positions[is_member], predictions[is_member])
        positions[is_member] = structure.unknown
    classes = structure.layout.class_of[positions]
    if config.classes:
        logprobs += _log_softmax([predictions @ parameters.S.T + parameters.t], classes)
    for number in np.unique(classes):
        here = np.flatnonzero(classes == number)
        first, last = structure.layout.starts[number : number + 2]
        scores = _word_scores(structure, parameters, structure.layout.members[first:last], predictions[here])
        logprobs[here] += _log_softmax(list(scores), positions[here] - first)
    return logprobs


def _member_shares(
    structure: Structure, parameters: Parameters, positions: Int32Array, predictions: Float32Array
) -> Float64Array:
    """ln of the shares that words have of P(UNK|h); the first of them is what is left of UNK, which scores 0."""
    first = structure.layout.starts[-2]
    blocks = [np.zeros((len(predictions), 1), np.float32)]
    blocks += _word_scores(structure, parameters, structure.layout.members[first + 1 :], predictions)
    if structure.endings is not None:
        of_endings = predictions @ structure.endings.vectors.T
        blocks = [np.concatenate(blocks, axis=1)]
        blocks[0][:, 1:] += of_endings[:, structure.endings.ending_of]
    return _log_softmax(blocks, positions - first)


def _predictions(
    config: LogBilinearConfig, structure: Structure, parameters: Parameters, words: Sequence[int]
) -> Float32Array:
    """p = sum_j q_j C_j of each position, (L, d)."""
    before = np.array([*[BEGIN_ID] * config.distances, *words], np.int32)
    vectors = _composed(structure.context.rows, parameters.Q, before)
    total = np.zeros((len(words), config.width), np.float32)
    for j in range(config.distances):
        at_distance = vectors[config.distances - 1 - j :][: len(words)]
        total += at_distance * parameters.C[j] if config.diagonal else at_distance @ parameters.C[j]
    return total


def _word_scores(
    structure: Structure, parameters: Parameters, members: Int32Array, predictions: Float32Array
) -> Iterator[Float32Array]:
    """p . r_w + b_w of the words of a class, a block of them at a time."""
    for begin in range(0, len(members), BLOCK):
        block = members[begin : begin + BLOCK]
        yield predictions @ _composed(structure.output.rows, parameters.R, block).T + parameters.b[block]


def _composed(rows: SparseRows, table: Float32Array, words: Int32Array) -> Float32Array:
    """The sum of each word's factors."""
    starts, items = selected_rows(rows, words)
    return np.add.reduceat(table[items], starts[:-1])


def _log_softmax(blocks: list[Float32Array], chosen: Int32Array | Int64Array) -> Float64Array:
    """The logarithm of the softmax at the chosen column of each row; the columns may come in blocks."""
    scores = np.concatenate(blocks, axis=1).astype(np.float64)
    highest = scores.max(axis=1)
    totals = np.exp(scores - highest[:, None]).sum(axis=1)
    logprobs: Float64Array = scores[np.arange(len(scores)), chosen] - highest - np.log(totals)
    return logprobs
