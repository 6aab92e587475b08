"""The words of a model, their factors and their classes as arrays for the kernels: what the parameters belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from morphlm.arrays import Float32Array, Int32Array
from morphlm.classes.partition import Partition, by_frequency
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.logbilinear.config import LogBilinearConfig
from morphlm.logbilinear.kernels.records import SparseRows
from morphlm.logbilinear.kernels.softmax import OutputLayout
from morphlm.segmentation.factors import Factors
from morphlm.vocabulary.vocabulary import UNK_ID, Vocabulary


@dataclass(frozen=True, eq=False)
class FactorRows:
    """The matrix M of one side of the model, or the identity."""

    rows: SparseRows  # the factors of each word
    factors: int  # F, the number of vectors
    surfaces: int  # the factors below this number are surface forms, each of one word


@dataclass(frozen=True, eq=False)
class Endings:
    """What the endings of added words tell of their classes."""

    vectors: Float32Array  # (endings, d): the mean class vector of the known words with this ending
    ending_of: Int32Array  # (added,): of each word


@dataclass(frozen=True, eq=False)
class Structure:
    """Everything that is fixed before training begins."""

    vocabulary: Vocabulary
    partition: Partition | None  # None: no classes
    factors: Factors | None  # None: no factors on either side
    context: FactorRows
    output: FactorRows
    layout: OutputLayout  # the output words in order of their classes
    class_of: Int32Array  # (V,) by word; all 0 without classes; the number of classes for UNK and its members
    added: int = 0  # the last words of the vocabulary: members of UNK, which share its probability, see `extending`
    endings: Endings | None = None  # of these words; None without classes

    __repr__ = dataclass_repr

    @property
    def classes(self) -> int:
        """The number of classes; 1 without."""
        return len(self.layout.starts) - 1 - bool(self.added)

    @property
    def unknown(self) -> int:
        """The position in its class of UNK, whose probability the members share; -1 if there are none."""
        return int((self.layout.members == UNK_ID).argmax()) if self.added else -1


def build_structure(
    config: LogBilinearConfig,
    vocabulary: Vocabulary,
    partition: Partition | None,
    factors: Factors | None,
    added: int = 0,
    endings: Endings | None = None,
) -> Structure:
    """Arrange words, factors and classes; what the model does not use is left out.

    The last words of the vocabulary, as many as are `added`, are members of UNK.
    """
    _check_inputs(config, vocabulary, partition, factors)
    partition = partition if config.classes else None
    factors = factors if config.context_factors or config.output_factors else None
    identity = identity_rows(len(vocabulary))
    factored = identity if factors is None else FactorRows(_rows_of(factors), len(factors), factors.surfaces)
    context, output = (factored if used else identity for used in (config.context_factors, config.output_factors))
    class_of = np.zeros(len(vocabulary), np.int32) if partition is None else partition.class_of
    members = [by_frequency(vocabulary)] if partition is None else partition.members
    if added:
        members, class_of = _apart(members, class_of, len(vocabulary) - added)
    layout = build_layout(members, output)
    return Structure(vocabulary, partition, factors, context, output, layout, class_of, added, endings)


def _apart(members: list[Int32Array], class_of: Int32Array, known: int) -> tuple[list[Int32Array], Int32Array]:
    """One more class, of UNK and its members: the words from `known` on. UNK stays in its own class, too."""
    last = np.array([UNK_ID, *range(known, len(class_of))], np.int32)
    class_of = class_of.copy()
    class_of[last] = len(members)
    return [*(words[words < known] for words in members), last], class_of


def arranged_by_class(structure: Structure) -> tuple[Structure, Int32Array]:
    """A structure whose rows of R are in the order of the classes, and the factor of each row.

    The words of a class are then neighbours in memory. Surface forms stay before the other factors.
    """
    output, layout = structure.output, structure.layout
    # The factors of BEGIN, which has no class, come last.
    visited = np.concatenate([layout.rows.items, np.arange(output.factors, dtype=np.int32)])
    _, first = np.unique(visited, return_index=True)
    is_other = np.arange(output.factors) >= output.surfaces
    order = np.lexsort((first, is_other)).astype(np.int32)
    row_of = np.empty(output.factors, np.int32)
    row_of[order] = np.arange(output.factors, dtype=np.int32)
    moved = FactorRows(SparseRows(output.rows.starts, row_of[output.rows.items]), output.factors, output.surfaces)
    members = np.split(layout.members, layout.starts[1:-1])
    return replace(structure, output=moved, layout=build_layout(members, moved)), order


class WordsElsewhere(Vocabulary):
    """The counts of words whose forms are on another rank; steps of a training need no more."""

    def __post_init__(self) -> None:
        """Nothing can be checked."""

    def __len__(self) -> int:
        return len(self.counts)


def without_words(structure: Structure) -> Structure:
    """What the steps of a training need of a structure, for other ranks."""
    return replace(structure, vocabulary=WordsElsewhere((), structure.vocabulary.counts), partition=None, factors=None)


def _check_inputs(
    config: LogBilinearConfig, vocabulary: Vocabulary, partition: Partition | None, factors: Factors | None
) -> None:
    if config.classes and (partition is None or partition.vocabulary.words != vocabulary.words):
        raise ConfigError(f"{config.kind} needs classes of the words of its vocabulary; cluster that vocabulary")
    if (config.context_factors or config.output_factors) and (
        factors is None or factors.vocabulary.words != vocabulary.words
    ):
        raise ConfigError(f"{config.kind} needs factors of the words of its vocabulary; build them for it")


def with_new_words(structure: Structure, factors_of: Sequence[Int32Array]) -> Structure:
    """Add rows to the context side, after those of the vocabulary, for words that are not in it.

    Each is composed of its factors, or of UNK's if it has none.
    """
    rows = structure.context.rows
    unknown = rows.items[rows.starts[UNK_ID] : rows.starts[UNK_ID + 1]]
    added = [factors if len(factors) else unknown for factors in factors_of]
    starts = rows.starts[-1] + np.cumsum([len(factors) for factors in added], dtype=np.int64)
    extended = SparseRows(np.concatenate([rows.starts, starts]), np.concatenate([rows.items, *added]).astype(np.int32))
    return replace(structure, context=replace(structure.context, rows=extended))


def identity_rows(words: int) -> FactorRows:
    """Every word is its only factor."""
    return FactorRows(SparseRows(np.arange(words + 1, dtype=np.int64), np.arange(words, dtype=np.int32)), words, words)


def _rows_of(factors: Factors) -> SparseRows:
    return SparseRows(factors.indptr.astype(np.int64), factors.indices.astype(np.int32))


def build_layout(members_of_classes: list[Int32Array], output: FactorRows) -> OutputLayout:
    """Words by class."""
    members = np.concatenate(members_of_classes).astype(np.int32)
    sizes = np.array([len(words) for words in members_of_classes])
    position_of = np.full(len(output.rows.starts) - 1, -1, np.int32)
    position_of[members] = np.arange(len(members), dtype=np.int32)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    class_of = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return OutputLayout(members, position_of, starts, class_of, selected_rows(output.rows, members))


def selected_rows(rows: SparseRows, chosen: Int32Array) -> SparseRows:
    """Some of the rows, in this order."""
    lengths = (rows.starts[1:] - rows.starts[:-1])[chosen]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    return SparseRows(starts, rows.items[np.repeat(rows.starts[:-1][chosen], lengths) + within])
