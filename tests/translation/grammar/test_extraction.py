from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.errors import ConfigError
from morphlm.translation.alignment.links import alignments_of
from morphlm.translation.alignment.parallel_text import read_parallel
from morphlm.translation.grammar.bitext import Bitext, build_bitext
from morphlm.translation.grammar.config import GrammarConfig
from morphlm.translation.grammar.extraction import GrammarExtractor
from morphlm.translation.grammar.rules import FEATURES, RuleTable

from .reference import Pair, Symbols, count_places, count_rules, is_in, occurrences

ALL: dict[str, Any] = {"sample": 0, "anchors": 0, "target_anchors": 0, "max_targets": 0}


def bitext_of(pairs: list[Pair]) -> Bitext:
    text = read_parallel([source for source, _, _ in pairs], [target for _, target, _ in pairs])
    return build_bitext(text, alignments_of([links for _, _, links in pairs]))


@st.composite
def sentence_pairs(draw: st.DrawFn) -> Pair:
    source = draw(st.lists(st.sampled_from("abcd"), min_size=0, max_size=7))
    target = draw(st.lists(st.sampled_from("vwxyz"), min_size=0, max_size=7))
    if not source or not target:
        return source, target, []
    ends = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
    return source, target, draw(st.lists(ends, unique=True, max_size=9))


texts = st.lists(sentence_pairs(), min_size=1, max_size=6).filter(
    lambda pairs: all(any(pair[side] for pair in pairs) for side in (0, 1))
)
configs = st.builds(
    GrammarConfig,
    max_symbols=st.integers(1, 6),
    max_target_symbols=st.integers(1, 8),
    min_gap=st.integers(1, 2),
    max_input_span=st.integers(1, 8),
    max_training_span=st.integers(1, 8),
    tight_gaps=st.booleans(),
    tight_phrases=st.booleans(),
    linked_word=st.booleans(),
    **{name: st.just(0) for name in ALL},
)


def by_source(table: RuleTable, feature: str) -> dict[Symbols, dict[Symbols, float]]:
    found: dict[Symbols, dict[Symbols, float]] = defaultdict(dict)
    for rule in table:
        assert rule.target not in found[rule.source]  # each rule once
        found[rule.source][rule.target] = rule.features[feature]
    return found


@settings(max_examples=150, deadline=None)
@given(texts, configs, st.lists(st.sampled_from("abcde"), min_size=0, max_size=9))
def test_rules_and_counts_are_those_of_the_definition(
    pairs: list[Pair], config: GrammarConfig, sentence: list[str]
) -> None:
    expected = count_rules(pairs, config)
    usable = {source: counts for source, counts in expected.items() if is_in(sentence, source, config)}
    table = GrammarExtractor(bitext_of(pairs), config).extract(sentence)
    counts = {
        source: {target: round(math.exp(value)) for target, value in values.items()}
        for source, values in by_source(table, "CountEF").items()
    }
    assert counts == usable
    shares = by_source(table, "EgivenF")
    for source, values in by_source(table, "SampleCountF").items():
        places = count_places([pair[0] for pair in pairs], source, config.min_gap, config.max_training_span)
        for target, value in values.items():
            assert math.isclose(math.expm1(value), places, rel_tol=1e-5)
            assert math.isclose(math.exp(shares[source][target]), usable[source][target] / places, rel_tol=1e-5)


@settings(max_examples=60, deadline=None)
@given(texts, st.lists(st.sampled_from("abcd"), min_size=1, max_size=8))
def test_backward_probability_and_singletons(pairs: list[Pair], sentence: list[str]) -> None:
    config = GrammarConfig(**ALL)
    for rule in GrammarExtractor(bitext_of(pairs), config).extract(sentence):
        count = round(math.exp(rule.features["CountEF"]))
        in_source = count_places([pair[0] for pair in pairs], rule.source, 1, config.max_training_span)
        in_target = count_places([pair[1] for pair in pairs], rule.target, 1, config.max_training_span)
        expected = count / (max(in_target, count) + 1)
        assert math.isclose(math.exp(rule.features["FgivenE"]), expected, rel_tol=1e-5)
        assert rule.features["IsSingletonF"] == (in_source == 1)
        assert rule.features["IsSingletonFE"] == (count == 1)


@settings(max_examples=60, deadline=None)
@given(texts, st.lists(st.sampled_from("abcd"), min_size=1, max_size=8))
def test_links_are_those_of_the_text(pairs: list[Pair], sentence: list[str]) -> None:
    linked = {(source[s], target[t]) for source, target, links in pairs for s, t in links}
    for rule in GrammarExtractor(bitext_of(pairs), GrammarConfig(**ALL)).extract(sentence):
        assert rule.links == tuple(sorted(set(rule.links))) and rule.links
        for s, t in rule.links:
            assert (rule.source[s], rule.target[t]) in linked


@settings(max_examples=40, deadline=None)
@given(texts, st.lists(st.lists(st.sampled_from("abcd"), min_size=0, max_size=8), max_size=5), st.integers(0, 400))
def test_what_was_kept_changes_nothing(pairs: list[Pair], sentences: list[list[str]], room: int) -> None:
    bitext = bitext_of(pairs)
    limits: dict[str, Any] = {"sample": 2, "anchors": 2, "target_anchors": 1, "max_targets": 2}
    keeping = GrammarExtractor(bitext, GrammarConfig(cached_symbols=room, **limits))
    tables = list(keeping.extract_all(sentences, threads=2))
    assert len(tables) == len(sentences)
    for sentence, table in zip(sentences, tables, strict=True):
        alone = GrammarExtractor(bitext, GrammarConfig(cached_symbols=0, **limits)).extract(sentence)
        assert [rule.to_line() for rule in table] == [rule.to_line() for rule in alone]


PAIRS: list[Pair] = [
    (["das", "haus", "ist", "klein"], ["the", "house", "is", "small"], [(0, 0), (1, 1), (2, 2), (3, 3)]),
    (["ein", "haus"], ["a", "house"], [(0, 0), (1, 1)]),
    (["das", "kleine", "haus"], ["the", "small", "house"], [(0, 0), (1, 1), (2, 2)]),
    (["haus", "!"], ["building", "!"], [(0, 0), (1, 1)]),
]


def test_lexical_weights() -> None:
    pairs: list[Pair] = [
        (["a", "b"], ["x"], [(0, 0)]),  # b has no link
        (["a"], ["y", "z"], [(0, 0)]),  # z has none
        (["a", "b"], ["x", "y"], [(0, 0), (1, 1)]),
    ]
    table = GrammarExtractor(bitext_of(pairs), GrammarConfig(**ALL)).extract(["a", "b"])
    features = {(rule.source, rule.target): rule.features for rule in table}
    both = features[("a", "b"), ("x", "y")]
    # p(x|a) = 2/3, p(y|b) = 1/2, p(y|a) = 1/3; p(a|x) = 1, p(b|y) = 1/2; of words without a link b is the only one.
    assert math.isclose(both["LexEgivenF"], math.log(2 / 3 * 1 / 2), rel_tol=1e-6)
    assert math.isclose(both["LexFgivenE"], math.log(1 * 1), rel_tol=1e-6, abs_tol=1e-7)  # p(b|NULL) = 1
    assert math.isclose(features[("a",), ("y",)]["LexEgivenF"], math.log(1 / 3), rel_tol=1e-6)
    assert math.isclose(features[("a",), ("y",)]["LexFgivenE"], math.log(1 / 2), rel_tol=1e-6)


def test_a_sample_is_evenly_spaced_and_of_the_size_asked_for() -> None:
    pairs: list[Pair] = [(["a"], [f"t{number}"], [(0, 0)]) for number in range(100)]
    bitext = bitext_of(pairs)
    table = GrammarExtractor(bitext, GrammarConfig(sample=10, max_targets=0)).extract(["a"])
    places = occurrences(bitext.source, [bitext.source_ids["a"]])  # a sentence has two tokens, END included
    assert [rule.target[0] for rule in table] == [f"t{place // 2}" for place in places[::10]]
    assert {rule.features["SampleCountF"] for rule in table} == {float(np.float32(math.log(11)))}
    # J = 1 * 100 / 10 places, more than the one that the target has
    assert {rule.features["FgivenE"] for rule in table} == {float(np.float32(math.log(10 / 11)))}


def test_the_likeliest_target_sides_are_kept() -> None:
    words = ["x", "y", "y", "z", "z", "z", "v"]
    pairs: list[Pair] = [(["a"], [word], [(0, 0)]) for word in words]
    # Of equal counts the first in the suffix array is the first: what ends the text comes before all else.
    for most, expected in ((1, ["z"]), (2, ["z", "y"]), (3, ["z", "y", "v"]), (0, ["z", "y", "v", "x"])):
        table = GrammarExtractor(bitext_of(pairs), GrammarConfig(max_targets=most)).extract(["a"])
        assert [rule.target[0] for rule in table] == expected


def test_gappy_patterns_are_estimated_from_the_anchors() -> None:
    pairs: list[Pair] = [(["a", "b", "c"], ["x", "y", "z"], [(0, 0), (1, 1), (2, 2)])] * 40
    config = GrammarConfig(anchors=8, sample=4)
    gappy = [
        rule for rule in GrammarExtractor(bitext_of(pairs), config).extract(["a", "q", "c"]) if len(rule.source) == 3
    ]
    assert [rule.source for rule in gappy] == [("a", 1, "c")]
    assert gappy[0].features["SampleCountF"] == float(np.float32(math.log(5)))
    assert math.isclose(gappy[0].features["FgivenE"], math.log(40 / 41), rel_tol=1e-6)


def test_more_rules_than_there_was_room_for() -> None:
    pairs: list[Pair] = [(["a", f"s{number % 7}"], [f"t{number}", "u"], [(0, 0), (1, 1)]) for number in range(20_000)]
    table = GrammarExtractor(bitext_of(pairs), GrammarConfig(**ALL)).extract(["a"])
    assert len(table) == 20_000
    assert {rule.target for rule in table} == {(f"t{number}",) for number in range(20_000)}
    assert set(table.features[:, FEATURES.index("IsSingletonFE")].tolist()) == {1.0}


@pytest.mark.parametrize("sentence", [[], ["unknown"], ["<unk>"], ["</s>"], ["|||", "[X]"]])
def test_a_sentence_without_a_known_word_has_no_rules(sentence: list[str]) -> None:
    table = GrammarExtractor(bitext_of(PAIRS)).extract(sentence)
    assert len(table) == 0 and table.feature_names == FEATURES


def test_marks_of_the_format_are_words_like_others() -> None:
    pairs: list[Pair] = [(["[X]", "|||"], ["|||", "[X,1]"], [(0, 1), (1, 0)])]
    table = GrammarExtractor(bitext_of(pairs)).extract(["[X]", "|||"])
    lines = [rule.to_line().split(" ||| Egiven")[0] for rule in table]
    assert "[X] ||| \\[X] \\||| ||| \\||| \\[X,1]" in lines
    assert "[X] ||| \\[X] [X,1] ||| [X,1] \\[X,1]" in lines


def test_unknown_marks_in_the_text_are_not_matched_nor_written() -> None:
    text = read_parallel([["a", "<unk>", "b"]], [["x", "<unk>", "y"]], allow_unknown=True)
    bitext = build_bitext(text, alignments_of([[(0, 0), (1, 1), (2, 2)]]))
    rules = [(rule.source, rule.target) for rule in GrammarExtractor(bitext).extract(["a", "<unk>", "b"])]
    assert (("a", 1, "b"), ("x", 1, "y")) in rules
    assert not any("<unk>" in source + target for source, target in rules)


def test_a_long_sentence_is_bounded() -> None:
    words = ["das", "haus", "ist", "klein", "!", "kleine"]
    table = GrammarExtractor(bitext_of(PAIRS)).extract([words[k % 6] for k in range(400)])
    assert 0 < len(table) < 1000


@pytest.mark.parametrize(
    "settings",
    [{"max_symbols": 0}, {"max_target_symbols": 17}, {"min_gap": 0}, {"max_input_span": 0}, {"sample": -1}],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        GrammarConfig(**settings)
