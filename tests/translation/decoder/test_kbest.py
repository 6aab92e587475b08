"""Lists of the k best: the same derivations in the same order as by sorting all of them."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.decoder.derivation import rule_of
from morphlm.translation.decoder.kbest import KBest
from morphlm.translation.decoder.kernels import kbest as kernels
from morphlm.translation.decoder.search import Chart
from morphlm.translation.decoder.translation import Translation

from . import cases
from .kbest_reference import Derived, Edge, k_best

TARGETS = [[0], [1], [0, 1], [1, 0], [], [-1], [-1, 0], [0, -1], [-1, -2], [-2, -1], [-2, 0, -1], [-1, 1, -2]]
GAPS = [sum(symbol < 0 for symbol in target) for target in TARGETS]
QUARTERS = st.integers(-8, 8).map(lambda number: number / 4)  # whose sums are exact, so that many scores are equal


@st.composite
def hypergraphs(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[Edge]]:
    """Node 0 is made of nothing; edges of the others lead to nodes before, the best first."""
    ranges, edges, inside = [(0, 0)], list[Edge](), [0.0]
    for node in range(1, draw(st.integers(2, 6))):
        own = []
        for _ in range(draw(st.integers(1, 4))):
            rule = draw(st.integers(0, len(TARGETS) - 1))
            tails = tuple(draw(st.integers(0, node - 1)) for _ in range(GAPS[rule]))
            score = draw(QUARTERS)
            own.append((score + sum(inside[tail] for tail in tails), Edge(rule, tails, score)))
        own.sort(key=lambda one: -one[0])
        ranges.append((len(edges), len(edges) + len(own)))
        edges += [edge for _, edge in own]
        inside.append(own[0][0])
    return ranges, edges


class Kernels:
    """The kernels on a hypergraph of a test."""

    def __init__(
        self, ranges: list[tuple[int, int]], edges: list[Edge], distinct: bool, sides: list[list[int]]
    ) -> None:
        self.distinct, self.counts = distinct, np.zeros(3, np.int64)
        self.nodes, self.edges = np.empty(len(ranges), kernels.NODE), np.empty(len(edges), kernels.EDGE)
        self.nodes["begin"], self.nodes["end"] = np.array(ranges).T
        for name in ("first", "last", "top", "follow"):
            self.nodes[name] = -1
        self.edges["score"], self.edges["rule"] = [one.score for one in edges], [one.rule for one in edges]
        self.edges["first"], self.edges["second"] = np.array([(*one.tails, -1, -1)[:2] for one in edges]).T
        inside = [0.0]
        for begin, _ in ranges[1:]:
            inside.append(edges[begin].score + sum(inside[tail] for tail in edges[begin].tails))
        self.nodes["inside"] = inside
        starts = np.cumsum([0, *map(len, sides)]).astype(np.int64)
        symbols = np.array([s for side in sides for s in side], np.int32)
        self.forest = kernels.Forest(self.nodes, self.edges, starts, symbols)
        # They have to grow at once.
        self.derivations, self.seen = np.empty(1, kernels.DERIVATION), np.full(2, -1, np.int32)

    def find(self, k: int) -> list[Derived]:
        tables = self.derivations, self.seen
        self.derivations, self.seen = kernels.find_derivations(self.forest, *tables, self.counts, k, self.distinct)
        chosen = kernels.goal_derivations(self.forest, self.derivations, 0, int(self.counts[kernels.GOAL_DERIVATIONS]))
        starts, words = kernels.words_of(self.forest, self.derivations, chosen)
        each = [tuple(words[begin:end].tolist()) for begin, end in pairwise(starts)]
        return [
            Derived(float(self.derivations[number]["score"]), own, self.edges_of(number))
            for number, own in zip(chosen, each, strict=True)
        ]

    def edges_of(self, number: int) -> tuple[int, ...]:
        record = self.derivations[number]
        if record["edge"] < 0:
            return ()
        tails = [self.edges_of(record[tail]) for tail in ("first", "second") if record[tail] >= 0]
        return (int(record["edge"]), *(edge for edges in tails for edge in edges))


@settings(deadline=None, max_examples=300)
@given(hypergraphs(), st.integers(1, 12), st.booleans())
def test_the_same_as_sorting_everything(
    graph: tuple[list[tuple[int, int]], list[Edge]], k: int, distinct: bool
) -> None:
    expected = k_best(*graph, TARGETS, k, distinct)
    assert Kernels(*graph, distinct, TARGETS).find(k) == expected
    growing = Kernels(*graph, distinct, TARGETS)
    for some in range(1, k + 1):  # from each number to the next
        assert growing.find(some) == expected[:some]


def test_equal_hashes_are_no_equal_words() -> None:
    """A polynomial modulo 2^64 gives Thue-Morse sequences of 2,048 bits and their complements the same hash."""
    bits = [bin(number).count("1") % 2 for number in range(2048)]
    targets = [bits, [1 - bit for bit in bits], bits]
    graph = Kernels([(0, 0), (0, 3)], [Edge(rule, (), 0.0) for rule in range(3)], True, targets)
    assert [one.edges for one in graph.find(5)] == [(0,), (1,)]
    assert graph.derivations["code"][0] == graph.derivations["code"][1]


# ---------------------------------------------------------------- charts of the decoder


def reference_of(chart: Chart, k: int, distinct: bool) -> list[tuple[float, tuple[str, ...], tuple[int, ...]]]:
    """By the plain algorithm, with words."""
    grammar = chart.grammar
    rules = [rule_of(grammar, number) for number in range(grammar.first_glue)]
    names = [*(rule.target for rule in rules if rule), (1, 2), (1, 2), (1,)]
    words = list(dict.fromkeys(word for side in names for word in side if isinstance(word, str)))
    numbers = {word: number for number, word in enumerate(words)}
    targets = [[numbers[s] if isinstance(s, str) else -s for s in side] for side in names]
    rows = zip(chart.edges.rule.tolist(), chart.edges.tails.tolist(), chart.edges.score.tolist(), strict=True)
    edges = [Edge(rule, tuple(tail for tail in tails if tail >= 0), score) for rule, tails, score in rows]
    found = k_best([(begin, end) for begin, end in chart.nodes.edges.tolist()], edges, targets, k, distinct)
    return [(one.score, tuple(words[word] for word in one.words), one.edges) for one in found]


def check(translation: Translation, k: int, distinct: bool) -> None:
    chart, expected = translation.chart, reference_of(translation.chart, k, distinct)
    features = np.concatenate([chart.grammar.rules.features, chart.grammar.added])
    found = translation.kbest(k, distinct=distinct)
    assert [(one.score, one.tokens) for one in found] == [(score, words) for score, words, _ in expected]
    assert [one.derivation.words for one in found] == [one.tokens for one in found]
    for one, (_, _, edges) in zip(found, expected, strict=True):
        values = features[chart.edges.rule[list(edges)]].sum(axis=0)
        logprobs = chart.edges.logprobs[list(edges)].sum(axis=0)
        for column, model in enumerate(chart.grammar.rules.models.columns):
            if model >= 0:
                values[one.feature_names.index(f"LM{model}")] = logprobs[column]
        assert one.values == pytest.approx(values, abs=1e-9)
    assert [one.tokens for one in islice(translation.candidates(distinct=distinct), k)] == [one.tokens for one in found]
    assert (translation.score, translation.tokens) == (found[0].score, found[0].tokens) or distinct
    assert translation.score == chart.nodes.inside[chart.goal]


@pytest.mark.parametrize("name", ["none", "mkn", "mkn and clbl++", "clbl++, mkn of order 4"])
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_lists_of_random_grammars(name: str, data: st.DataObject) -> None:
    models = cases.models_of(name)
    table, tokens = data.draw(cases.tables), data.draw(cases.sentences)
    # With all weights 0, all scores are equal.
    weights = data.draw(st.one_of(cases.weights_for(models), st.just({}), st.just({"WordPenalty": 1.0})))
    config = DecoderConfig(pop_limit=data.draw(st.integers(1, 12)))
    translation = Decoder(list(models.values()), weights, config).decode(tokens, table)
    check(translation, data.draw(st.integers(1, 10)), data.draw(st.booleans()))


def test_words_that_pass_through_may_be_words_of_rules() -> None:
    table = cases.table(("a", "b", 0.0), ("a", "x", -1.0))
    translation = Decoder([], {"f": 1.0}, DecoderConfig(pass_all=True)).decode(["a", "b", "b"], table)
    assert [one.tokens for one in translation.kbest(9, distinct=True)] == [
        ("b", "b", "b"),
        ("a", "b", "b"),
        ("x", "b", "b"),
    ]


def test_a_list_that_ends() -> None:
    table = cases.table(("a", "w0", 0.0), ("a", "w1", -1.0), ("a", "w0", -2.0))
    translation = Decoder([], {"f": 1.0}).decode(["a", "a"], table)
    lists = KBest(translation.chart, distinct=False)
    assert [lists.find(k) for k in (1, 0, 4, 9, 10, 1000)] == [1, 1, 4, 9, 9, 9]
    lists = KBest(translation.chart, distinct=True)
    assert [lists.find(k) for k in (3, 4, 5)] == [3, 4, 4]
    assert len(list(translation.candidates(distinct=False))) == 9
    assert translation.kbest(0) == []


@pytest.mark.parametrize("distinct", [True, False])
def test_a_sentence_of_400_words(distinct: bool) -> None:
    tokens = np.random.default_rng(1).choice(["a", "b", "c"], 400).tolist()
    table = cases.table(("a", "w0", -1.0), ("a", "w1", -1.0), ("b", "w2", -0.5), ("a 1", "1 w0", -0.75), ("c", "", 0.0))
    config = DecoderConfig(pop_limit=4, max_span=2)
    check(Decoder([cases.ngram()], {"f": 1.0, "LM0": 0.5}, config).decode(tokens, table), 4, distinct)


def test_arrays_are_the_candidates() -> None:
    translation = Decoder([cases.ngram()], {"f": 1.0, "LM0": 0.5}).decode(
        ["a", "x", "b"], cases.table(("a", "w0", 0.0), ("a", "w1", 0.0), ("b", "w1", 0.0))
    )
    arrays, found = translation.kbest_arrays(5, distinct=True), translation.kbest(5, distinct=True)
    assert [arrays.tokens(number) for number in range(len(arrays))] == [one.tokens for one in found]
    assert arrays.scores.tolist() == [one.score for one in found]
    assert arrays.features.tolist() == [one.values.tolist() for one in found]
