"""The eight models from their equations in float64: matrices for mu, one token after the other, no tricks.

`objective` is the definition; `gradient` is written by hand from it, with dense matrices, and is itself checked against
central differences of the definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from morphlm.arrays import BoolArray, Float64Array
from morphlm.logbilinear.config import LearningConfig, LogBilinearConfig
from morphlm.logbilinear.engine import CONTEXT_DROPOUT, OUTPUT_SURFACES, PREDICTION_DROPOUT
from morphlm.logbilinear.parameters import Parameters
from morphlm.logbilinear.structure import Structure
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID

Tables = dict[str, Float64Array]  # by the names of `Parameters`


@dataclass(frozen=True)
class Problem:
    """A model and a minibatch, as sums over few numbers."""

    config: LogBilinearConfig
    context_matrix: Float64Array  # M of the context side, (V, F)
    output_matrix: Float64Array
    class_of: list[int]
    contexts: list[list[int]]  # the words before each token, the nearest first
    targets: list[int]
    kept: Float64Array  # (L, n - 1): 0 where a context word is left out
    features: Float64Array  # (L, d): what p is multiplied by
    noise: list[list[int]] | None = None  # the k noise words of each token; None: the exact objective
    noise_logs: Float64Array | None = None  # (V,): ln p_n
    before: list[list[int]] | None = None  # the words of each token's wide context, the nearest first
    weights: Float64Array | None = None  # (V,): omega
    class_terms: Float64Array | None = None  # (L,): 0 for tokens whose ln P(c|h) does not count; None: all count
    word_terms: Float64Array | None = None  # (L,): the same for ln P(w|h,c)

    @cached_property
    def members(self) -> list[list[int]]:
        """The words of each class that can be predicted."""
        words = [word for word in range(len(self.class_of)) if word != BEGIN_ID]
        return [[word for word in words if self.class_of[word] == c] for c in range(max(self.class_of) + 1)]

    def rivals(self, word: int) -> list[int]:
        """The words among which P(w|h,c) chooses."""
        return self.members[self.class_of[word]]


def tables_of(parameters: Parameters) -> Tables:
    return {name: array.astype(np.float64) for name, array in parameters.named()}


def problem_of(
    config: LogBilinearConfig,
    structure: Structure,
    stream: Sequence[int],
    begin: int = 0,
    end: int | None = None,
) -> Problem:
    """Tokens begin .. end - 1 of a text, nothing left out."""
    end = len(stream) if end is None else end
    partition = structure.partition
    return Problem(
        config,
        matrix_of(structure, config.context_factors),
        matrix_of(structure, config.output_factors),
        [0] * len(structure.vocabulary) if partition is None else partition.class_of.tolist(),
        [context_of(stream, at, config.order) for at in range(begin, end)],
        [int(word) for word in stream[begin:end]],
        np.ones((end - begin, config.order - 1)),
        np.ones((end - begin, config.width)),
    )


def context_of(stream: Sequence[int], at: int, order: int) -> list[int]:
    """The words before a token, the nearest first; BEGIN before the first of the sentence."""
    sentence: list[int] = []
    for word in reversed([int(word) for word in stream[:at]]):
        if word == END_ID:
            break
        sentence.append(word)
    return (sentence + [BEGIN_ID] * order)[: order - 1]


def matrix_of(structure: Structure, used: bool) -> Float64Array:
    """M: how often each word has each factor."""
    if not used or structure.factors is None:
        return np.eye(len(structure.vocabulary))
    matrix = np.zeros((len(structure.vocabulary), len(structure.factors)))
    for word in range(len(matrix)):
        for factor in structure.factors[word]:
            matrix[word, factor] += 1
    return matrix


# ---------------------------------------------------------------- dropout


def is_dropped(key: int, counter: int, rate: float) -> bool:
    """Splitmix64 in whole numbers; its 24 highest bits against the rate."""
    whole = (1 << 64) - 1
    z = (key + counter * 0x9E3779B97F4A7C15) & whole
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & whole
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & whole
    return ((z ^ (z >> 31)) >> 40) < int(np.float32(rate) * np.float32(1 << 24))


def with_dropout(problem: Problem, structure: Structure, learning: LearningConfig, key: int) -> Problem:
    """The same with what this step leaves out."""
    length, distances = problem.kept.shape
    width = problem.config.width
    return replace(
        problem,
        context_matrix=_without_surfaces(problem.context_matrix, structure, learning, key),
        output_matrix=_without_surfaces(problem.output_matrix, structure, learning, key ^ OUTPUT_SURFACES),
        kept=1 - _drawn(key ^ CONTEXT_DROPOUT, (length, distances), learning.context_dropout),
        features=(1 - _drawn(key ^ PREDICTION_DROPOUT, (length, width), learning.prediction_dropout))
        / (1 - learning.prediction_dropout),
    )


def _drawn(key: int, shape: tuple[int, int], rate: float) -> Float64Array:
    numbers = range(shape[0] * shape[1])
    return np.array([is_dropped(key, number, rate) for number in numbers], np.float64).reshape(shape)


def _without_surfaces(matrix: Float64Array, structure: Structure, learning: LearningConfig, key: int) -> Float64Array:
    """A word's surface factor goes, or counts 1 / (1 - rate); one that is all the word has stays as it is."""
    rate, factors = learning.surface_dropout, structure.factors
    if not rate or factors is None or matrix.shape[1] != len(factors):
        return matrix
    matrix = matrix.copy()
    for word in range(len(matrix)):
        first = factors[word][0]
        if first < factors.surfaces and len(factors[word]) > 1:
            matrix[word, first] = 0.0 if is_dropped(key, word, rate) else 1 / (1 - rate)
    return matrix


# ---------------------------------------------------------------- the definition


def predictions(tables: Tables, problem: Problem) -> Float64Array:
    """p = sum_j q_j C_j of each token."""
    vectors, transforms = problem.context_matrix @ tables["Q"], tables["C"]
    rows = np.zeros(problem.features.shape)
    for i, context in enumerate(problem.contexts):
        for j, word in enumerate(context):
            q, transform = vectors[word], transforms[j]
            rows[i] += problem.kept[i, j] * (q * transform if problem.config.diagonal else q @ transform)
        if problem.before is not None:
            u = wide_vector(vectors, problem, problem.before[i])
            rows[i] += u * transforms[-1] if problem.config.diagonal else u @ transforms[-1]
    return rows * problem.features


def wide_vector(vectors: Float64Array, problem: Problem, before: Sequence[int]) -> Float64Array:
    """u = sum_k gamma^(k-1) omega q / (5 + sum_k gamma^(k-1) omega)."""
    assert problem.weights is not None
    weights = [problem.config.wide_decay**k * problem.weights[word] for k, word in enumerate(before)]
    total: Float64Array = sum(
        (w * vectors[word] for w, word in zip(weights, before, strict=True)), np.zeros(vectors.shape[1])
    )
    return total / (5 + sum(weights))


def with_wide(problem: Problem, weights: Float64Array, text: Sequence[int], positions: Sequence[int]) -> Problem:
    """The problem with the words of the text before each token, whose positions in the text are given."""
    before = [[int(word) for word in reversed(text[max(0, at - problem.config.wide) : at])] for at in positions]
    return replace(problem, before=before, weights=weights)


def log_terms(
    tables: Tables, problem: Problem, vectors: Float64Array, p: Float64Array, word: int
) -> tuple[float, float]:
    """ln P(c|h), 0 without classes, and ln P(w|h,c), with the output vectors of all words."""
    rivals = problem.rivals(word)
    scores = vectors[rivals] @ p + tables["b"][rivals]
    of_class = 0.0
    if problem.config.classes:
        class_scores = tables["S"] @ p + tables["t"]
        of_class = float(class_scores[problem.class_of[word]] - log_sum(class_scores))
    return of_class, float(scores[rivals.index(word)] - log_sum(scores))


def term_weights(problem: Problem) -> Float64Array:
    """(L, 2): how much the terms ln P(c|h) and ln P(w|h,c) of each token count."""
    weights = [
        np.ones(len(problem.targets)) if terms is None else terms for terms in (problem.class_terms, problem.word_terms)
    ]
    return np.stack(weights, axis=1)


def log_probabilities(tables: Tables, problem: Problem) -> Float64Array:
    tokens = zip(predictions(tables, problem), problem.targets, strict=True)
    vectors = problem.output_matrix @ tables["R"]
    return np.array([sum(log_terms(tables, problem, vectors, p, word)) for p, word in tokens])


def log_sum(scores: Float64Array) -> float:
    highest = scores.max()
    return float(highest + np.log(np.exp(scores - highest).sum()))


def objective(tables: Tables, problem: Problem) -> float:
    """Sum of ln P, or of the log-likelihood of telling each token from its noise."""
    if problem.noise is None:
        rows, vectors = predictions(tables, problem), problem.output_matrix @ tables["R"]
        terms = [log_terms(tables, problem, vectors, p, word) for p, word in zip(rows, problem.targets, strict=True)]
        return float((np.array(terms) * term_weights(problem)).sum())
    vectors = problem.output_matrix @ tables["R"]
    total = 0.0
    for p, target, noise in zip(predictions(tables, problem), problem.targets, problem.noise, strict=True):
        margins = vectors @ p + tables["b"] - noise_offsets(problem)
        total -= float(np.logaddexp(0, -margins[target]) + np.logaddexp(0, margins[noise]).sum())
    return total


def noise_offsets(problem: Problem) -> Float64Array:
    """ln k p_n(w)."""
    assert problem.noise is not None and problem.noise_logs is not None
    offsets: Float64Array = problem.noise_logs + np.log(len(problem.noise[0]))
    return offsets


def central_differences(function: Callable[[Tables], float], tables: Tables, width: float = 1e-5) -> Tables:
    """The gradient of a function, one number at a time: exact to the square of `width`."""
    gradients = {name: np.zeros_like(table) for name, table in tables.items()}
    for name, table in tables.items():
        for at in np.ndindex(table.shape):
            held = table[at]
            table[at] = held + width
            above = function(tables)
            table[at] = held - width
            gradients[name][at] = (above - function(tables)) / (2 * width)
            table[at] = held
    return gradients


# ---------------------------------------------------------------- the gradient by hand


def gradient(tables: Tables, problem: Problem) -> Tables:
    """Of minus the objective, which is what training descends."""
    rows = predictions(tables, problem)
    word_errors = _word_errors(tables, problem, rows)  # (L, V)
    vectors = problem.output_matrix @ tables["R"]
    class_errors = _class_errors(tables, problem, rows)  # (L, |C|)
    errors = (word_errors @ vectors + class_errors @ tables["S"]) * problem.features  # dL/dp, (L, d)
    context_gradient, transform_gradient = _context_gradients(tables, problem, errors)
    return {
        "Q": context_gradient,
        "C": transform_gradient,
        "R": problem.output_matrix.T @ (word_errors.T @ rows),
        "b": word_errors.sum(0),
        "S": class_errors.T @ rows,
        "t": class_errors.sum(0),
    }


def gradient_sizes(tables: Tables, problem: Problem) -> dict[str, float]:
    """The largest number of each block's gradient, with these targets or with the least likely ones in their place.

    P - 1 of a target that is all but certain is a difference of numbers near 1, and as exact as these. So is what it is
    multiplied with on its way to a block; a target with P near 0 shows how much that is.
    """
    problems = [problem, *(replace(problem, targets=targets) for targets in _least_likely(tables, problem))]
    gradients = [gradient(tables, one) for one in problems]
    return {name: max(float(np.abs(one[name]).max(initial=0)) for one in gradients) for name in tables}


def _least_likely(tables: Tables, problem: Problem) -> tuple[list[int], list[int]]:
    """For each token the least likely word of its class, and a word of the least likely class."""
    vectors = problem.output_matrix @ tables["R"]
    words, others = [], []
    for p, target in zip(predictions(tables, problem), problem.targets, strict=True):
        words.append(min(problem.rivals(target), key=lambda word: float(vectors[word] @ p + tables["b"][word])))
        class_scores = tables["S"] @ p + tables["t"] if problem.config.classes else np.zeros(1)
        others.append(problem.members[int(class_scores.argmin())][0])
    return words, others


def _word_errors(tables: Tables, problem: Problem, rows: Float64Array) -> Float64Array:
    scores = rows @ (problem.output_matrix @ tables["R"]).T + tables["b"]
    errors = np.zeros_like(scores)
    if problem.noise is not None:
        shares = 1 / (1 + np.exp(noise_offsets(problem) - scores))
        for i, (target, noise) in enumerate(zip(problem.targets, problem.noise, strict=True)):
            errors[i] = np.bincount(noise, minlength=scores.shape[1]) * shares[i]
            errors[i, target] += shares[i, target] - 1
        return errors
    for i, target in enumerate(problem.targets):
        rivals = problem.rivals(target)
        errors[i, rivals] = np.exp(scores[i, rivals] - log_sum(scores[i, rivals]))
        errors[i, target] -= 1
    return errors * term_weights(problem)[:, 1:]


def _class_errors(tables: Tables, problem: Problem, rows: Float64Array) -> Float64Array:
    scores = rows @ tables["S"].T + tables["t"]
    for i, target in enumerate(problem.targets if problem.config.classes else []):
        scores[i] = np.exp(scores[i] - log_sum(scores[i]))
        scores[i, problem.class_of[target]] -= 1
    return scores * term_weights(problem)[:, :1]


def _context_gradients(tables: Tables, problem: Problem, errors: Float64Array) -> tuple[Float64Array, Float64Array]:
    vectors, transforms = problem.context_matrix @ tables["Q"], tables["C"]
    word_gradient, transform_gradient = np.zeros_like(vectors), np.zeros_like(transforms)
    for i, context in enumerate(problem.contexts):
        for j, word in enumerate(context):
            error = problem.kept[i, j] * errors[i]
            q, transform = vectors[word], transforms[j]
            word_gradient[word] += transform * error if problem.config.diagonal else transform @ error
            transform_gradient[j] += q * error if problem.config.diagonal else np.outer(q, error)
    return problem.context_matrix.T @ word_gradient, transform_gradient


# ---------------------------------------------------------------- AdaGrad


def touched(problem: Problem) -> dict[str, BoolArray]:
    """The rows that a step may change: of the factors that the minibatch's words have, and are not left out."""
    context = {w for i, words in enumerate(problem.contexts) for j, w in enumerate(words) if problem.kept[i, j]}
    if problem.noise is not None:
        output = {*problem.targets, *(word for words in problem.noise for word in words)}
    else:
        output = {w for target in problem.targets for w in problem.rivals(target) if len(problem.rivals(target)) > 1}
    return {
        "Q": (problem.context_matrix[sorted(context)] != 0).any(0),
        "R": (problem.output_matrix[sorted(output)] != 0).any(0),
    }


def adagrad(
    tables: Tables, squares: Tables, problem: Problem, step: float, scale: float, shrink: float
) -> tuple[Tables, Tables]:
    """One step: G += g^2, W -= xi g / sqrt G; g has `shrink` W added in the touched rows of all but the biases."""
    gradients, rows = gradient(tables, problem), touched(problem)
    after, sums = {}, {}
    for name, table in tables.items():
        g = scale * gradients[name]
        if name not in ("b", "t"):
            where = rows[name][:, None] if name in rows else np.True_
            g = np.where(where, g + shrink * table, 0.0)
        sums[name] = squares[name] + g * g
        after[name] = table - step * g / np.sqrt(sums[name])
    return after, sums
