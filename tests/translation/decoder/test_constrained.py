"""Forced translations and prefixes: what brute force finds among all derivations."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from morphlm.errors import InputError, MorphlmError
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.decoder.constrained import LONGEST
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.decoder.translation import Translation

from . import cases
from .reference import Scored, all_derivations, said
from .test_exactness import ALL, few_enough

few_examples = settings(max_examples=12, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
NAMES = ["none", "mkn", "clbl++", "mkn and clbl++", "mixture by context and clbl++"]


def assert_same(found: Translation | None, expected: list[Scored]) -> None:
    """All derivations, with their scores, spans and features."""
    if not expected:
        assert found is None
        return
    assert found is not None
    lists = found.kbest(len(expected) + 1, distinct=False)
    assert [one.score for one in lists] == pytest.approx([one.score for one in expected], abs=1e-4)
    assert sorted(one.tokens for one in lists) == sorted(one.words for one in expected)
    for one in lists:
        assert one.derivation.words == one.tokens
        assert (one.derivation.begin, one.derivation.end) == (0, len(found.source))
    best = dict(reversed([(one.words, one.score) for one in expected]))
    distinct = found.kbest(len(expected) + 1, distinct=True)
    assert {one.tokens: one.score for one in distinct} == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("name", NAMES)
@few_examples
@given(data=st.data())
def test_prefixes_by_brute_force(name: str, data: st.DataObject) -> None:
    models = cases.models_of(name)
    table, tokens = data.draw(cases.tables), data.draw(cases.sentences)
    assume(few_enough(table, tokens))
    weights = data.draw(cases.weights_for(models))
    everything = all_derivations(table, tokens, models, weights)
    chosen = data.draw(st.sampled_from(everything)).words
    prefix = chosen[: data.draw(st.integers(0, len(chosen)))]
    if data.draw(st.integers(0, 3)) == 0:
        prefix = (*prefix, data.draw(st.sampled_from(cases.TARGET)))
    decoder = Decoder(list(models.values()), weights, ALL)
    expected = [one for one in everything if one.words[: len(prefix)] == prefix]
    assert_same(decoder.decode_prefix(tokens, prefix, table), expected)
    if prefix:
        cut = (*prefix[:-1], prefix[-1][:-1]) if len(prefix[-1]) > 1 else prefix
        begun = [
            one
            for one in everything
            if len(one.words) >= len(cut)
            and one.words[: len(cut) - 1] == cut[:-1]
            and one.words[len(cut) - 1].startswith(cut[-1])
        ]
        assert_same(decoder.decode_prefix(tokens, cut, table, incomplete=True), begun)


@pytest.mark.parametrize("name", NAMES)
@few_examples
@given(data=st.data(), limit=st.integers(0, 2), pass_all=st.booleans(), widest=st.integers(1, 4))
def test_forced_translations_by_brute_force(
    name: str, data: st.DataObject, limit: int, pass_all: bool, widest: int
) -> None:
    """The pop limit does not matter."""
    models = cases.models_of(name)
    table, tokens = data.draw(cases.tables), data.draw(cases.sentences)
    assume(few_enough(table, tokens, widest, pass_all))
    weights = data.draw(cases.weights_for(models))
    everything = all_derivations(table, tokens, models, weights, widest, pass_all)
    words = data.draw(st.sampled_from(everything)).words
    words = data.draw(st.sampled_from([words, words[:-1], (*words, "w1"), words[::-1]]))
    config = DecoderConfig(pop_limit=limit, pass_all=pass_all, max_span=widest)
    decoder = Decoder(list(models.values()), weights, config)
    assert_same(decoder.decode_forced(tokens, words, table), [one for one in everything if one.words == words])


@pytest.mark.parametrize("name", ["none", "mkn and clbl++"])
@few_examples
@given(data=st.data(), limit=st.integers(0, 4))
def test_an_empty_prefix_changes_nothing(name: str, data: st.DataObject, limit: int) -> None:
    models = cases.models_of(name)
    table, tokens = data.draw(cases.tables), data.draw(cases.sentences)
    weights = data.draw(cases.weights_for(models))
    decoder = Decoder(list(models.values()), weights, DecoderConfig(pop_limit=limit or 5))
    plain, constrained = decoder.decode(tokens, table), decoder.decode_prefix(tokens, (), table)
    assert constrained is not None
    assert [(one.tokens, one.score) for one in constrained.kbest(20)] == [
        (one.tokens, one.score) for one in plain.kbest(20)
    ]
    assert constrained.derivation == plain.derivation and constrained.links == plain.links
    assert constrained.graph() == plain.graph()


def test_a_prefix_does_not_compete_with_what_it_forbids() -> None:
    """With one hypothesis a span, the best translations of `a` and `b` would leave nothing for the prefix."""
    table = cases.table(("a", "w0", 5.0), ("a", "w1", -5.0), ("b", "w2", 5.0), ("b", "w3", -5.0), ("1 b", "w2 1", -3.0))
    decoder = Decoder([], {"f": 1.0}, DecoderConfig(pop_limit=1))
    found = decoder.decode_prefix(("a", "b"), ("w1", "w3"), table)
    assert found is not None and (found.tokens, found.score) == (("w1", "w3"), -10.0)
    found = decoder.decode_prefix(("a", "b"), ("w2",), table)
    assert found is not None and (found.tokens, found.score) == (("w2", "w0"), 2.0)
    assert decoder.decode_prefix(("a", "b"), ("w3",), table) is None


def test_words_that_models_take_as_the_same_are_told_apart() -> None:
    """`new` and `newer` are both unknown to the model."""
    table = cases.table(("a", "new", 0.0), ("a", "newer", 1.0), ("b", "w0", 0.0))
    models = cases.models_of("mkn")
    decoder = Decoder(list(models.values()), {"f": 1.0, "LM0": 1.0})
    for word, score in (("new", 0.0), ("newer", 1.0)):
        found = decoder.decode_prefix(("a", "b"), (word,), table)
        assert found is not None and found.tokens == (word, "w0")
        forced = decoder.decode_forced(("a", "b"), (word, "w0"), table)
        assert forced is not None and forced.score == pytest.approx(
            score + said(models, forced.tokens)["LM0"], abs=1e-4
        )
        assert math.isclose(forced.score, found.score, abs_tol=1e-9)


def test_empty_sentences_and_bad_constraints() -> None:
    table = cases.table(("a", "w0", 0.0))
    decoder = Decoder([], {"f": 1.0})
    empty = decoder.decode_forced((), (), table)
    assert empty is not None and empty.tokens == ()
    assert decoder.decode_forced((), ("w0",), table) is None
    assert decoder.decode_forced(("a",), (), table) is None
    assert decoder.decode_prefix(("a",), ("w0", "w0"), table) is None
    with pytest.raises(InputError, match="1,001 words"):
        decoder.decode_prefix(("a",), ("w0",) * (LONGEST + 1), table)
    with pytest.raises(MorphlmError, match="5 is no word"):
        decoder.decode_prefix(("a",), (5,), table)  # type: ignore[arg-type]
