"""The k best derivations of a chart, in order of their scores, with words and features as arrays.

Equal words in the same span are always in the same node, so that lists of distinct translations come from nodes that
leave out what they had before. The work is done by kernels/kbest.py, and goes on from where it was when more are
wanted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from morphlm.arrays import Float64Array, Int32Array, Int64Array
from morphlm.translation.decoder.kernels.kbest import (
    DERIVATION,
    EDGE,
    GOAL_DERIVATIONS,
    NODE,
    FeatureArrays,
    Forest,
    features_of,
    find_derivations,
    goal_derivations,
    words_of,
)
from morphlm.translation.decoder.kernels.records import FIRST_GAP, NONE, SECOND_GAP
from morphlm.translation.decoder.search import Chart
from morphlm.translation.decoder.sentence_grammar import SentenceGrammar

Words = tuple[str, ...]

INITIAL_SIZE = 256  # of the tables of derivations and of different words; a power of 2


@dataclass(frozen=True, eq=False)
class KBestArrays:
    """Some of the k best translations, the best first."""

    vocabulary: Words  # what the numbers of words stand for
    words: Int32Array  # of all translations, one after the other
    starts: Int64Array  # where those of each begin; one more than there are translations
    scores: Float64Array
    features: Float64Array  # (translations, F)
    derivations: Int32Array  # their numbers in the lists that they are from

    def __len__(self) -> int:
        return len(self.scores)

    def tokens(self, number: int) -> Words:
        words = self.words[self.starts[number] : self.starts[number + 1]]
        return tuple([self.vocabulary[word] for word in words.tolist()])


class KBest:
    """The derivations of a chart, the best first; of equal scores, the first hyperedge, then the better tails."""

    def __init__(self, chart: Chart, *, distinct: bool) -> None:
        """If distinct, only the best derivation of equal words counts."""
        self._chart, self._distinct = chart, distinct
        self._vocabulary, starts, symbols = target_sides(chart.grammar)
        self._forest = Forest(_nodes_of(chart), _edges_of(chart), starts, symbols)
        self._derivations = np.empty(INITIAL_SIZE, DERIVATION)
        self._seen, self._counts = np.full(INITIAL_SIZE, NONE, np.int32), np.zeros(3, np.int64)

    def find(self, count: int) -> int:
        """Find so many derivations, as far as there are; gives how many are known, which may be more."""
        tables = self._derivations, self._seen
        self._derivations, self._seen = find_derivations(self._forest, *tables, self._counts, count, self._distinct)
        return int(self._counts[GOAL_DERIVATIONS])

    def arrays(self, begin: int, end: int) -> KBestArrays:
        """The derivations begin .. end - 1 of those that were found."""
        grammar, derivations = self._chart.grammar, self._derivations
        chosen = goal_derivations(self._forest, derivations, begin, end)
        starts, words = words_of(self._forest, derivations, chosen)
        columns = _model_columns(grammar)
        features = FeatureArrays(grammar.rules.features, grammar.added, self._chart.edges.logprobs, columns)
        values = features_of(self._forest, derivations, chosen, features)
        return KBestArrays(self._vocabulary, words, starts, derivations["score"][chosen], values, chosen)

    def at(self, number: int) -> tuple[int, list[int]]:
        """The hyperedge of a derivation and the derivations of its tails; -1: the sentence's beginning."""
        record = self._derivations[number]
        return int(record["edge"]), [int(record[tail]) for tail in ("first", "second") if record[tail] != NONE]

    def node_of(self, number: int) -> int:
        return int(self._derivations[number]["node"])


def _nodes_of(chart: Chart) -> NDArray[np.void]:
    """The nodes without any derivation."""
    records = np.empty(len(chart.nodes.inside), NODE)
    records["inside"], records["begin"], records["end"] = chart.nodes.inside, *chart.nodes.edges.T
    for name in ("first", "last", "top", "follow"):
        records[name] = NONE
    return records


def _edges_of(chart: Chart) -> NDArray[np.void]:
    records = np.empty(len(chart.edges.rule), EDGE)
    records["score"], records["rule"] = chart.edges.score, chart.edges.rule
    records["first"], records["second"] = chart.edges.tails.T
    return records


def target_sides(grammar: SentenceGrammar) -> tuple[Words, Int64Array, Int32Array]:
    """The words, and the target sides of all rules in numbers of words: models may take some words as the same."""
    table, tokens = grammar.rules.table, dict.fromkeys(grammar.tokens)
    known = {word: number for number, word in enumerate(table.target_words) if word in tokens}
    new = [word for word in tokens if word not in known]
    known |= {word: number for number, word in enumerate(new, len(table.target_words))}
    glue = [FIRST_GAP, SECOND_GAP, FIRST_GAP, SECOND_GAP, FIRST_GAP]
    added = np.array([*(known[word] for word in grammar.tokens), *glue], np.int32)
    ends = table.target_starts[-1] + np.cumsum([1] * len(grammar.tokens) + [2, 2, 1])
    starts = np.concatenate([table.target_starts, ends]).astype(np.int64)
    symbols = np.concatenate([table.target_symbols, added]).astype(np.int32)
    return (*table.target_words, *new), starts, symbols


def _model_columns(grammar: SentenceGrammar) -> Int64Array:
    """The feature that each column of the models' ln p goes to; NONE for a heuristic that is none of the models."""
    models, size = grammar.rules.models, len(grammar.rules.feature_names)
    columns = [size - 2 * (len(models.models) - model) if model >= 0 else NONE for model in models.columns]
    return np.array(columns, np.int64)
