"""A trained model as the beginning of another training: its parameters, with rows for words that it does not know.

Old words keep their ids, factors, classes and parameters. A new word is composed of the morphemes that are known, with
a surface factor of its own that begins with 0. It joins the class whose words have such endings and stand beside words
of such classes, with a bias as words have there that are as frequent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from morphlm.arrays import Float32Array, Float64Array, Int32Array
from morphlm.classes.partition import Partition
from morphlm.display import dataclass_repr
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.extending import class_shares_by_ending
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import Parameters
from morphlm.logbilinear.structure import FactorRows, Structure, build_structure
from morphlm.vocabulary.corpus import Corpus
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID, Vocabulary

NEIGHBOUR_PRIOR = 100.0  # tokens: how much all classes together weigh against the neighbours that a class has
BLOCK_WORDS = 1 << 12  # new words whose classes are chosen at a time
METHOD = "continued"  # of the classes


@dataclass(frozen=True, eq=False)
class StartingPoint:
    """What the training of a model begins with that has been trained before."""

    config: LogBilinearConfig
    parameters: Parameters | None  # with rows for new words; None on all ranks but the first
    digest: str  # of the manifest of the old model
    stays: bool = True  # weights decay towards these, not towards 0

    __repr__ = dataclass_repr


def add_words(model: LogBilinearModel, corpus: Corpus) -> tuple[Structure, Parameters]:
    """The model for a text whose vocabulary has the model's words first and then others."""
    old, vocabulary = model.structure, corpus.vocabulary
    known = len(old.vocabulary)
    factors = partition = None
    if old.factors is not None:
        new = old.factors.of_new_words(vocabulary.words[known:])
        factors = old.factors.with_words(vocabulary, new, surface=True)
    if old.partition is not None:
        chosen = choose_classes(corpus, old.partition)
        class_of = np.concatenate([old.partition.class_of, chosen])
        partition = Partition(vocabulary, class_of, old.partition.classes, METHOD).measured_on(corpus)
    structure = build_structure(model.config, vocabulary, partition, factors)
    parameters = model.parameters
    return structure, parameters._replace(
        Q=_with_rows(parameters.Q, old.context, structure.context, seen_as=UNK_ID),
        R=_with_rows(parameters.R, old.output, structure.output),
        b=np.concatenate([parameters.b, _biases(model, structure)]).astype(np.float32),
    )


def _with_rows(table: Float32Array, old: FactorRows, new: FactorRows, seen_as: int | None = None) -> Float32Array:
    """Rows for the surface factors of new words: 0, but that of another word for words that have no other factor."""
    known, rows = len(old.rows.starts) - 1, np.zeros((new.surfaces - old.surfaces, table.shape[1]), np.float32)
    if seen_as is not None:
        items = old.rows.items[slice(*old.rows.starts[[seen_as, seen_as + 1]])]
        rows[np.diff(new.rows.starts[known:]) == 1] = table[items].sum(axis=0)
    return np.insert(table, old.surfaces, rows, axis=0)


def _biases(model: LogBilinearModel, structure: Structure) -> Float64Array:
    """Of the new words: the mean of their class, and the regression of biases on ln of counts, about their means.

    A word counts as often as it would in a text as long as the old one that is made of the old and the new.
    """
    old, known, classes = model.structure, len(model.vocabulary), structure.classes
    words = np.delete(np.arange(known), [BEGIN_ID, UNK_ID])
    own, biases = old.class_of[words], model.parameters.b[words].astype(np.float64)
    logs = np.log(np.maximum(old.vocabulary.counts[words], 1))
    sizes = np.maximum(np.bincount(own, minlength=classes), 1)
    mean_bias, mean_log = (np.bincount(own, values, classes) / sizes for values in (biases, logs))
    x, y = logs - mean_log[own], biases - mean_bias[own]
    slope = (x @ y) / max(float(x @ x), 1e-9)
    shrink = _tokens(old.vocabulary) / _tokens(structure.vocabulary)
    expected = np.log(np.maximum(structure.vocabulary.counts[known:], 1) * shrink)
    chosen = structure.class_of[known:]
    result: Float64Array = mean_bias[chosen] + slope * (expected - mean_log[chosen])
    return result


def _tokens(vocabulary: Vocabulary) -> int:
    return max(int(np.delete(vocabulary.counts, BEGIN_ID).sum()), 1)


# ---------------------------------------------------------------- classes


def choose_classes(corpus: Corpus, partition: Partition) -> Int32Array:
    """The classes of the words of a text that come after those of a partition.

    The likeliest class c by P(c | ending) and by P(b | c) of the classes b before and after each of a word's tokens.
    """
    known, vocabulary = len(partition.class_of), corpus.vocabulary
    shares, ending_of = class_shares_by_ending(vocabulary, partition, known)
    with np.errstate(divide="ignore"):  # a class without words, as that of END, is never chosen
        log_shares = np.log(shares)
    tokens = corpus.tokens
    before = np.concatenate([np.array([END_ID], np.int32), tokens[:-1]])
    sides = [_Neighbours(tokens, before, partition), _Neighbours(before, tokens, partition)]
    chosen = np.empty(len(vocabulary) - known, np.int32)
    for begin in range(0, len(chosen), BLOCK_WORDS):
        end = min(begin + BLOCK_WORDS, len(chosen))
        scores = log_shares[ending_of[begin:end]]
        for side in sides:
            scores = scores + side.log_likelihoods(known + begin, known + end)
        chosen[begin:end] = scores.argmax(axis=1)
    return chosen


class _Neighbours:
    """The classes of the tokens on one side of words, and what they tell of the class of a word.

    ln P(b | c) = ln((n(b, c) + a P(b)) / (n(c) + a)) with a = NEIGHBOUR_PRIOR; what does not depend on c is left out.
    """

    def __init__(self, words: Int32Array, neighbours: Int32Array, partition: Partition) -> None:
        known, classes = len(partition.class_of), partition.classes
        has_class = neighbours < known
        words, beside = words[has_class], partition.class_of[neighbours[has_class]]
        shares = (np.bincount(beside, minlength=classes) + 1.0) / (len(beside) + classes)
        is_new = words >= known
        self._rows, self._beside, self._classes, self._known = words[is_new] - known, beside[is_new], classes, known
        own, beside = partition.class_of[words[~is_new]], beside[~is_new]
        counts = _counted(beside, own, (classes, classes))
        by_row = np.repeat(shares, np.diff(counts.indptr))
        counts.data = np.log1p(counts.data / (NEIGHBOUR_PRIOR * by_row))
        self._logs = counts
        self._margins = np.log(np.bincount(own, minlength=classes) + NEIGHBOUR_PRIOR)

    def log_likelihoods(self, begin: int, end: int) -> Float64Array:
        """(words, classes): of the neighbours of the new words begin .. end - 1, by the class that they may be of."""
        begin, end = begin - self._known, end - self._known
        chosen = (self._rows >= begin) & (self._rows < end)
        beside = _counted(self._rows[chosen] - begin, self._beside[chosen], (end - begin, self._classes))
        totals = np.asarray(beside.sum(axis=1)).reshape(-1)
        result: Float64Array = (beside @ self._logs).toarray() - totals[:, None] * self._margins
        return result


def _counted(rows: Int32Array, columns: Int32Array, shape: tuple[int, int]) -> csr_array:
    """How often each pair occurs."""
    counts = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    counts.sum_duplicates()
    return counts
