"""Estimates of rules order the search: every model's ln p of the words, each after those of the rule before it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.language_model.base import LanguageModel
from morphlm.language_model.batch_scorer import batch_scorer
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.decoder.models import prepare_models
from morphlm.translation.decoder.sentence_grammar import prepare_rules
from morphlm.translation.grammar.rules import Rule, table_of
from morphlm.vocabulary.vocabulary import NOTHING

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
    prepared = prepare_rules(table_of(rules, cases.FEATURES), models, Decoder([], {}).weights)
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
    prepared = prepare_rules(table, prepare_models([gram, model]), Decoder([gram, model], weights).weights)
    assert table.target_words[table.target_symbols[prepared.group_rules[0]]] == best
    translation = Decoder([gram, model], weights, DecoderConfig(pop_limit=1)).decode(["a"], table)
    assert list(translation.tokens) == [best]


def test_scorers_without_estimates_leave_them_to_the_heuristic() -> None:
    for model in (cases.mixture("mkn", "clbl++"), cases.class_bigram()):
        scorer = batch_scorer(model)
        assert scorer.estimate(np.full((1, scorer.order - 1), NOTHING, np.int32), np.array([3], np.int32)) is None
