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
    EDGE,
    GOALS,
    NODE,
    WAY,
    Targets,
    features_of,
    find_ways,
    ways_of_goal,
    words_of,
)
from morphlm.translation.decoder.kernels.records import FIRST_GAP, NONE, SECOND_GAP
from morphlm.translation.decoder.search import Chart
from morphlm.translation.decoder.sentence_grammar import SentenceGrammar

Words = tuple[str, ...]

ROOM = 256  # for ways and for different words, to begin with; a power of 2


@dataclass(frozen=True, eq=False)
class CandidateArrays:
    """Some of the k best translations, the best first."""

    vocabulary: Words  # what the numbers of words stand for
    words: Int32Array  # of all translations, one after the other
    starts: Int64Array  # where those of each begin; one more than there are translations
    scores: Float64Array
    features: Float64Array  # (translations, F)
    ways: Int32Array  # numbers in the lists that they are from

    def __len__(self) -> int:
        """The number of translations."""
        return len(self.scores)

    def tokens(self, number: int) -> Words:
        """The words of one of them."""
        words = self.words[self.starts[number] : self.starts[number + 1]]
        return tuple([self.vocabulary[word] for word in words.tolist()])


class KBest:
    """The derivations of a chart, the best first; of equal scores, the first edge, then the better parts."""

    def __init__(self, chart: Chart, *, distinct: bool) -> None:
        """Nothing is found yet. If distinct, only the best derivation of equal words counts."""
        self._chart, self._distinct = chart, distinct
        self._vocabulary, self._targets = _target_sides(chart.grammar)
        self._nodes, self._edges = _nodes_of(chart), _edges_of(chart)
        self._ways, self._seen = np.empty(ROOM, WAY), np.full(ROOM, NONE, np.int32)
        self._counts = np.zeros(3, np.int64)

    def reach(self, count: int) -> int:
        """Find so many derivations, as far as there are; gives how many are known, which may be more."""
        graph = self._nodes, self._edges, self._targets
        self._ways, self._seen = find_ways(*graph, self._ways, self._seen, self._counts, count, self._distinct)
        return int(self._counts[GOALS])

    def arrays(self, begin: int, end: int) -> CandidateArrays:
        """Some of the derivations that were found."""
        nodes, edges, ways = self._nodes, self._edges, self._ways
        grammar, logprobs = self._chart.grammar, self._chart.edges.logprobs
        chosen = ways_of_goal(nodes, ways, begin, end)
        starts, words = words_of(nodes, edges, self._targets, ways, chosen)
        own, columns = grammar.rules.features, _model_columns(grammar)
        values = features_of(nodes, edges, ways, chosen, own, grammar.added, logprobs, columns)
        return CandidateArrays(self._vocabulary, words, starts, ways["score"][chosen], values, chosen)

    def at(self, way: int) -> tuple[int, list[int]]:
        """The edge of a derivation and the derivations of its parts; -1: the sentence's beginning."""
        found = self._ways[way]
        return int(found["edge"]), [int(found[part]) for part in ("first", "second") if found[part] != NONE]

    def node_of(self, way: int) -> int:
        """What it is a derivation of."""
        return int(self._ways[way]["node"])


def _nodes_of(chart: Chart) -> NDArray[np.void]:
    """Of which no way is known yet."""
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


def _target_sides(grammar: SentenceGrammar) -> tuple[Words, Targets]:
    """The target sides of all rules, in numbers of words as they are written: models may take some as the same."""
    table, here = grammar.rules.table, dict.fromkeys(grammar.tokens)
    known = {word: number for number, word in enumerate(table.target_words) if word in here}
    new = [word for word in here if word not in known]
    known |= {word: number for number, word in enumerate(new, len(table.target_words))}
    glue = [FIRST_GAP, SECOND_GAP, FIRST_GAP, SECOND_GAP, FIRST_GAP]
    added = np.array([*(known[word] for word in grammar.tokens), *glue], np.int32)
    ends = table.target_starts[-1] + np.cumsum([1] * len(grammar.tokens) + [2, 2, 1])
    starts = np.concatenate([table.target_starts, ends]).astype(np.int64)
    symbols = np.concatenate([table.target_symbols, added]).astype(np.int32)
    return (*table.target_words, *new), Targets(starts, symbols)


def _model_columns(grammar: SentenceGrammar) -> Int64Array:
    """The feature that each column of the models' ln p goes to; NONE for a guide that stands in."""
    models, size = grammar.rules.models, len(grammar.rules.feature_names)
    places = [size - 2 * (len(models.models) - model) if model >= 0 else NONE for model in models.columns]
    return np.array(places, np.int64)
