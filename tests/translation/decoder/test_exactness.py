"""Without a pop limit the search is exact: it finds what brute force finds, with the models' own scores."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.grammar.rules import RuleTable

from . import cases
from .reference import all_derivations, matches, said

ALL = DecoderConfig(pop_limit=0)
MOST = 120  # derivations; more take too long by brute force


def few_enough(table: RuleTable, tokens: tuple[str, ...], widest: int = 15, pass_all: bool = False) -> bool:
    """Whether brute force comes to an end soon."""
    counts: dict[tuple[int, int], int] = {}
    for width in range(1, min(widest, len(tokens)) + 1):
        for begin in range(len(tokens) - width + 1):
            span = begin, begin + width
            ways = [spans for rule in table for spans in matches(rule.source, tokens, *span)]
            counts[span] = sum(math.prod(counts[part] for part in spans) for spans in ways)
            counts[span] += width == 1 and (pass_all or not ways)
    glued = [1]
    for end in range(1, len(tokens) + 1):
        glued.append(sum(glued[k] * counts.get((k, end), 0) for k in range(end)))
    return glued[-1] <= MOST


@pytest.mark.parametrize("name", cases.MODELS)
@settings(max_examples=12, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(data=st.data())
def test_the_same_scores_as_brute_force(name: str, data: st.DataObject) -> None:
    models = cases.models_of(name)
    table, tokens = data.draw(cases.tables), data.draw(cases.sentences)
    assume(few_enough(table, tokens))
    weights = data.draw(cases.weights_for(models))
    expected = all_derivations(table, tokens, models, weights)
    translation = Decoder(list(models.values()), weights, ALL).decode(tokens, table)
    found = translation.kbest(len(expected) + 1, distinct=False)
    assert len(found) == len(expected)
    assert [one.score for one in found] == pytest.approx([one.score for one in expected], abs=1e-4)
    assert translation.tokens == found[0].tokens
    assert sorted(one.tokens for one in found) == sorted(one.words for one in expected)
    for one in found:
        assert math.isclose(sum(weights.get(n, 0.0) * v for n, v in one.features.items()), one.score, abs_tol=1e-4)
        for feature, value in said(models, one.tokens).items():
            assert math.isclose(one.features[feature], value, abs_tol=1e-4)


@pytest.mark.parametrize("name", ["mkn", "mkn and clbl++"])
@settings(max_examples=12, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(data=st.data())
def test_with_a_narrow_span_and_all_words_passing(name: str, data: st.DataObject) -> None:
    models = cases.models_of(name)
    table, tokens = data.draw(cases.tables), data.draw(cases.sentences)
    widest = data.draw(st.integers(1, 3))
    assume(few_enough(table, tokens, widest, True))
    weights = data.draw(cases.weights_for(models))
    expected = all_derivations(table, tokens, models, weights, widest, pass_all=True)
    config = DecoderConfig(pop_limit=0, max_span=widest, pass_all=True)
    found = Decoder(list(models.values()), weights, config).decode(tokens, table).kbest(MOST + 1, distinct=False)
    assert [one.score for one in found] == pytest.approx([one.score for one in expected], abs=1e-4)


@pytest.mark.parametrize("name", ["none", "mkn", "mkn and clbl++"])
@settings(max_examples=12, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(data=st.data(), limit=st.integers(1, 4))
def test_with_few_pops_scores_are_true_though_not_the_best(name: str, data: st.DataObject, limit: int) -> None:
    models = cases.models_of(name)
    table, tokens = data.draw(cases.tables), data.draw(cases.sentences)
    assume(few_enough(table, tokens))
    weights = data.draw(cases.weights_for(models))
    expected = all_derivations(table, tokens, models, weights)
    found = Decoder(list(models.values()), weights, DecoderConfig(pop_limit=limit)).decode(tokens, table).kbest(50)
    assert len(found) >= 1
    for one in found:
        assert any(
            one.tokens == other.words and math.isclose(one.score, other.score, abs_tol=1e-4) for other in expected
        )
        for feature, value in said(models, one.tokens).items():
            assert math.isclose(one.features[feature], value, abs_tol=1e-4)


def test_distinct_lists_have_the_best_derivation_of_each_string() -> None:
    table = cases.table(
        ("a", "w0", -1.0), ("a", "w1", -1.5), ("a b", "w0 w1", -1.0), ("b", "w1", -0.25), ("b", "w0", 0.0)
    )
    expected = all_derivations(table, ("a", "b"), {}, {"f": 1.0})
    found = Decoder([], {"f": 1.0}).decode(("a", "b"), table).kbest(10)
    best: dict[tuple[str, ...], float] = {}
    for one in expected:
        best.setdefault(one.words, one.score)
    assert [one.tokens for one in found] == list(best)
    assert [one.score for one in found] == pytest.approx(list(best.values()))
