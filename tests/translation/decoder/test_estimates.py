"""Estimates order the search: of the words of rules alone, and of those at the left end of partial translations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.language_model.base import LanguageModel
from morphlm.language_model.batch_scorer import batch_scorer
from morphlm.translation.decoder.config import DecoderConfig, Weights
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.decoder.models import prepare_models
from morphlm.translation.decoder.search import Chart
from morphlm.translation.decoder.sentence_grammar import prepare_rules
from morphlm.translation.grammar.rules import Rule, table_of

from . import cases

sides = st.lists(st.sampled_from([*cases.TARGET, 1]), min_size=1, max_size=8).filter(lambda side: side.count(1) <= 1)


def expected(model: LanguageModel, side: Sequence[str | int]) -> float:
    """By states: before the rule and behind a gap, no word is known."""
    total, state = 0.0, model.begin(sentence=False)
    for symbol in side:
        if isinstance(symbol, int):
            state = model.begin(sentence=False)
        else:
            logprob, state = model.score(state, symbol)
            total += logprob
    return total


@settings(max_examples=60, deadline=None)
@given(st.lists(sides, min_size=1, max_size=6), st.sampled_from(["clbl++", "lbl"]), st.integers(2, 5))
def test_estimates_are_those_of_null_contexts(targets: list[list[str | int]], kind: str, order: int) -> None:
    model = cases.logbilinear(kind, order)
    rules = [Rule(("a", 1) if 1 in side else ("a",), tuple(side), {"f": 0.0, "g": 0.0}) for side in targets]
    models = prepare_models([cases.ngram(), model])
    prepared = prepare_rules(table_of(rules, cases.FEATURES), models, Weights(), models.new_caches(1.0))
    for rule, estimates in zip(rules, prepared.estimates, strict=True):
        assert math.isclose(estimates[1], expected(model, rule.target), rel_tol=1e-9)
        assert estimates[0] == pytest.approx(expected(cases.ngram(), rule.target), rel=1e-6)


def test_a_model_that_orders_otherwise_finds_its_own_best_first() -> None:
    """With a pop limit of 1 only the first candidate is looked at: it must be the one that CLBL++ prefers."""
    model, gram = cases.logbilinear(), cases.ngram()
    words = ("w0", "w1", "w2", "w3")
    by_model = {word: model.score(model.begin(sentence=False), word)[0] for word in words}
    by_gram = {word: gram.score(gram.begin(sentence=False), word)[0] for word in words}
    best, other = (
        max(words, key=lambda word: by_model[word] - by_gram[word]),
        min(words, key=lambda word: by_model[word]),
    )
    assert best != other
    promise = by_gram[other] - by_gram[best]  # n-grams alone would prefer `other` by 0.01
    table = cases.table(("a", best, promise - 0.01), ("a", other, 0.0))
    weights = {"f": 1.0, "LM0": 0.001, "LM1": 0.999, "WordPenalty": 0.0, "Glue": 0.0, "PassThrough": -9.0}
    prepared = Decoder([gram, model], weights).prepare(table)
    assert table.target_words[table.target_symbols[prepared.group_rules[0]]] == best
    translation = Decoder([gram, model], weights, DecoderConfig(pop_limit=1)).decode(["a"], table)
    assert list(translation.tokens) == [best]


def test_scorers_without_estimates_leave_them_to_the_heuristic() -> None:
    for model in (cases.mixture("mkn", "clbl++"), cases.class_bigram()):
        assert not batch_scorer(model).gives_estimates


# ---------------------------------------------------------------- words at the left end of partial translations

SENTENCE = list("abc" * 4)
RULES = (
    ("a", "w0", -1.0),
    ("a", "w1 w2", -1.25),
    ("b", "w2 w3 w1", -0.5),
    ("b", "w0 w4", -0.75),
    ("c", "w3", -0.5),
    ("c", "w1 w4 w0 w2", -0.5),
    ("a 1", "w4 1", -0.75),
    ("b 1", "1 w0", -0.5),
    ("1 c", "1 w1 w1 w2 w0", -0.25),
    ("a 1 c", "w5 1 w0", -0.5),
)
WEIGHTS = {"f": 1.0, "LM0": 0.5, "LM1": 0.75, "LM2": 0.25, "Glue": -0.25, "PassThrough": -2.0}


def chart_of(models: Sequence[LanguageModel], pop_limit: int = 20) -> Chart:
    weights = {name: value for name, value in WEIGHTS.items() if name not in ("LM1", "LM2")[len(models) - 1 :]}
    return Decoder(models, weights, DecoderConfig(pop_limit=pop_limit)).decode(SENTENCE, cases.table(*RULES)).chart


def left_words(chart: Chart, node: int, column: int) -> list[str]:
    """The first words of a node that lack some of their context in a column's model."""
    models = chart.grammar.rules.models
    count = min(int(chart.nodes.batch_pending[node]), int(models.orders[column - 1]) - 1)
    ids = chart.grammar.ids[column][chart.nodes.left[node, :count]]
    return [models.vocabularies[column].words[number] for number in ids]


def after_one_word(model: LanguageModel, words: Sequence[str]) -> float:
    """ln p of words, each after the word before it alone."""
    total, state = 0.0, model.begin(sentence=False)
    for word in words:
        total += model.score(state, word)[0]
        _, state = model.score(model.begin(sentence=False), word)
    return total


@pytest.mark.parametrize("orders", [(4,), (2,), (3, 4), (4, 2)])
def test_the_left_end_of_a_node_is_estimated_by_each_model(orders: tuple[int, ...]) -> None:
    models = [cases.logbilinear("clbl++" if k == 0 else "lbl", order) for k, order in enumerate(orders)]
    chart = chart_of([cases.ngram(), *models])
    nodes, estimated = chart.nodes, 0
    for node in range(len(nodes.cell)):
        score = nodes.inside[node] + WEIGHTS["LM0"] * nodes.rest_cost[node]
        for column, model in enumerate(models, 1):
            words = left_words(chart, node, column)
            score += WEIGHTS[f"LM{column}"] * after_one_word(model, words)
            estimated += len(words)
        assert nodes.estimated[node] == pytest.approx(score, rel=1e-6)
    assert estimated > 50


def test_the_heuristic_estimates_for_models_that_do_not() -> None:
    """Also where such a model stands beside one that does."""
    chart = chart_of([cases.ngram(), cases.class_bigram(), cases.logbilinear()])
    nodes = chart.nodes
    for node in range(len(nodes.cell)):
        score = nodes.inside[node] + WEIGHTS["LM0"] * nodes.rest_cost[node]
        score += WEIGHTS["LM1"] * nodes.first_logprobs[node, : len(left_words(chart, node, 1))].sum()
        score += WEIGHTS["LM2"] * after_one_word(cases.logbilinear(), left_words(chart, node, 2))
        assert nodes.estimated[node] == pytest.approx(score, rel=1e-6)


def test_nodes_of_a_cell_stand_in_the_order_of_their_estimates() -> None:
    nodes = chart_of([cases.ngram(), cases.logbilinear()]).nodes
    same_cell = nodes.cell[1:] == nodes.cell[:-1]
    assert same_cell.sum() > 50
    assert (np.diff(nodes.estimated)[same_cell] <= 0).all()


def test_estimates_do_not_count_in_scores() -> None:
    models = [cases.ngram(), cases.logbilinear()]
    weights = {name: value for name, value in WEIGHTS.items() if name != "LM2"}
    translation = Decoder(models, weights, DecoderConfig(pop_limit=3)).decode(SENTENCE, cases.table(*RULES))
    for name, model in zip(("LM0", "LM1"), models, strict=True):
        assert translation.features[name] == pytest.approx(sum(model.sentence(list(translation.tokens))), rel=1e-6)
