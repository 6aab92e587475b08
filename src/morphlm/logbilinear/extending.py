"""A log-bilinear model extended by words: shares of P(UNK|h) by vectors that are sums of known ones.

Of UNK's members, an added word w has the score x_w . p + b_w with x_w = r_w + e_w, and what is left of UNK has 0; their
softmax divides P(UNK|h). r_w is the sum of the word's known factors, e_w the mean class vector of known words with the
same ending, and b_w makes the word as frequent, over contexts of words drawn by their counts, as its weight says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from morphlm.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from morphlm.classes.partition import Partition
from morphlm.errors import ConfigError
from morphlm.language_model.addition import EXTENDED, Addition
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import Parameters
from morphlm.logbilinear.structure import Endings, Structure, build_structure
from morphlm.logbilinear.wide import content_weights
from morphlm.segmentation.factors import Factors
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID, Vocabulary

LONGEST_ENDING = 5  # letters
SMOOTHING = 5.0  # words: how much the classes of an ending weigh that is shorter by a letter


def extend_logbilinear(model: LogBilinearModel, addition: Addition) -> LogBilinearModel:
    """The model with more words."""
    config, structure, parameters = model.config, model.structure, model.parameters
    factors = _factors_of(model)
    added = structure.added + len(addition.words)
    known = len(model.vocabulary) - structure.added
    vocabulary = model.vocabulary.with_words(addition.words)
    composed = factors.with_words(vocabulary, factors.of_new_words(addition.words))
    partition = endings = None
    if structure.partition is not None:
        classes, endings = classes_by_ending(vocabulary, structure.partition, parameters.S, known)
        partition = Partition(vocabulary, classes, structure.partition.classes, structure.partition.method)
    extended = build_structure(config, vocabulary, partition, composed, added, endings)
    parameters = _with_rows(config, parameters, structure, composed.surfaces - factors.surfaces, len(addition.words))
    vectors = _vectors(composed, parameters, endings, added)[structure.added :]
    moments = context_moments(config, extended, parameters, known)
    biases = addition.log_weights - moments.log_mean_exponentials(vectors)
    parameters = parameters._replace(b=np.concatenate([parameters.b, biases]).astype(np.float32))
    return LogBilinearModel(config, extended, parameters, model.training | {EXTENDED: added})


def _factors_of(model: LogBilinearModel) -> Factors:
    factors = model.structure.factors
    if not model.config.output_factors or factors is None:
        raise ConfigError(
            f"a model of the kind {model.kind} has no factors to make the output vectors of new words of; extend one "
            "that has (lbl+o, lbl++, clbl+o, clbl++)"
        )
    if factors.analyser is None:
        raise ConfigError(
            f"the factors of this {model.kind} come from a list of words, which says nothing of others; train it with "
            "factors that know any word, such as morphemes or ngrams"
        )
    return factors


def _with_rows(
    config: LogBilinearConfig, parameters: Parameters, structure: Structure, surfaces: int, words: int
) -> Parameters:
    """Rows for the surface factors of words of which nothing is known: r is 0, and contexts see UNK.

    Where contexts have no factors, every word gets a row, which is UNK's.
    """
    first = structure.output.surfaces
    unknown = structure.context.rows.items[slice(*structure.context.rows.starts[[UNK_ID, UNK_ID + 1]])]
    seen = parameters.Q[unknown].sum(axis=0)
    place, rows = (first, surfaces) if config.context_factors else (len(parameters.Q), words)
    return parameters._replace(
        Q=np.insert(parameters.Q, place, np.tile(seen, (rows, 1)), axis=0),
        R=np.insert(parameters.R, first, np.zeros((surfaces, config.width), np.float32), axis=0),
    )


def _vectors(factors: Factors, parameters: Parameters, endings: Endings | None, added: int) -> Float64Array:
    """x of all words that were ever added."""
    vectors: Float64Array = factors.times(parameters.R)[-added:].astype(np.float64)
    return vectors if endings is None else vectors + endings.vectors[endings.ending_of]


# ---------------------------------------------------------------- classes


def classes_by_ending(
    vocabulary: Vocabulary, partition: Partition, class_vectors: Float32Array, known: int
) -> tuple[Int32Array, Endings]:
    """The class of every word, of added ones the likeliest by their endings, and the mean class vectors of these.

    The words before `known` were there in training.
    """
    shares, numbers = class_shares_by_ending(vocabulary, partition, known)
    classes = np.concatenate([partition.class_of[:known], shares.argmax(axis=1)[numbers]]).astype(np.int32)
    vectors = (shares @ class_vectors.astype(np.float64)).astype(np.float32)
    return classes, Endings(vectors, numbers.astype(np.int32))


def class_shares_by_ending(vocabulary: Vocabulary, partition: Partition, known: int) -> tuple[Float64Array, Int64Array]:
    """(endings, classes): of the known words with each ending; and the ending of each word from `known` on.

    What the classes of known words with an ending are is smoothed with what they are for the ending that is shorter by
    a letter.
    """
    words, class_of = vocabulary.words[len(RESERVED) : known], partition.class_of[len(RESERVED) : known]
    level = _no_ending(class_of, partition.classes)
    ending_of, tables = np.zeros(len(vocabulary) - known, np.int64), [level.shares]
    for length in range(1, LONGEST_ENDING + 1):
        level = _longer(level, words, class_of, vocabulary.words[known:], length)
        found = np.array([level.numbers.get(word[-length:], -1) for word in vocabulary.words[known:]], np.int64)
        rows = sum(map(len, tables))
        ending_of = np.where(found >= 0, found + rows, ending_of)
        tables.append(level.shares)
    used, numbers = np.unique(ending_of, return_inverse=True)
    return np.concatenate(tables)[used], numbers


class _Level(NamedTuple):
    """What endings of one length tell."""

    numbers: dict[str, int]  # of each ending
    shares: Float64Array  # (endings, classes): of the words with this ending


def _no_ending(class_of: Int32Array, classes: int) -> _Level:
    sizes = np.bincount(class_of, minlength=classes).astype(np.float64)
    return _Level({"": 0}, (sizes / max(sizes.sum(), 1.0))[None])


def _longer(shorter: _Level, words: Sequence[str], class_of: Int32Array, asked: Sequence[str], length: int) -> _Level:
    """The endings of the words that are asked for, longer by a letter, if some word that is known has them."""
    wanted = dict.fromkeys(word[-length:] for word in asked if len(word) >= length)
    having = [(word[-length:], c) for word, c in zip(words, class_of.tolist(), strict=True) if word[-length:] in wanted]
    numbers: dict[str, int] = {}
    rows = [numbers.setdefault(ending, len(numbers)) for ending, _ in having if len(ending) == length]
    columns = [c for ending, c in having if len(ending) == length]
    shape = len(numbers), shorter.shares.shape[1]
    counts = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape).toarray()
    before = shorter.shares[[shorter.numbers[ending[1:]] for ending in numbers]]
    shares = (counts + SMOOTHING * before) / (counts.sum(axis=1, keepdims=True) + SMOOTHING)
    return _Level(numbers, shares.reshape(shape))


# ---------------------------------------------------------------- biases


@dataclass(frozen=True, eq=False)
class ContextMoments:
    """Mean and covariance of p = sum_j q_j C_j over contexts whose words are drawn by their counts."""

    mean: Float64Array  # (d,)
    covariance: Float64Array  # (d, d)

    def log_mean_exponentials(self, vectors: Float64Array) -> Float64Array:
        """ln E[exp(p . x)] of each vector x, as if p were Gaussian."""
        logs: Float64Array = vectors @ self.mean + 0.5 * np.sum((vectors @ self.covariance) * vectors, axis=1)
        return logs


def context_moments(
    config: LogBilinearConfig, structure: Structure, parameters: Parameters, known: int
) -> ContextMoments:
    """Of contexts of the words that were there in training. A wide context has its mean."""
    q = _context_vectors(config, structure, parameters, known)
    counts = structure.vocabulary.counts[:known].astype(np.float64)
    counts[END_ID] = 0.0
    shares = counts / max(counts.sum(), 1.0)
    mean = shares @ q
    centred = q - mean
    covariance = (centred * shares[:, None]).T @ centred
    near = [_matrix(transform) for transform in parameters.C[: config.distances]]
    total = sum(mean @ matrix for matrix in near)
    if config.wide:
        weights = content_weights(structure)[:known] * counts
        weights[BEGIN_ID] = 0.0
        total = total + (weights @ q / max(weights.sum(), 1e-9)) @ _matrix(parameters.C[-1])
    spread = sum(matrix.T @ covariance @ matrix for matrix in near)
    return ContextMoments(np.asarray(total), np.asarray(spread))


def _context_vectors(
    config: LogBilinearConfig, structure: Structure, parameters: Parameters, known: int
) -> Float64Array:
    if not config.context_factors:
        return parameters.Q[:known].astype(np.float64)
    assert structure.factors is not None
    return structure.factors.times(parameters.Q)[:known].astype(np.float64)


def _matrix(transform: Float32Array) -> Float64Array:
    """C_j, which may be stored as its diagonal."""
    return np.diag(transform).astype(np.float64) if transform.ndim == 1 else transform.astype(np.float64)
