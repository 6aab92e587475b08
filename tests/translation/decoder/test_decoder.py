"""The decoder from outside: unknown words, glue, long sentences, threads, lists, derivations, graphs, refusals."""

from __future__ import annotations

import copy
import json
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from morphlm.errors import ConfigError, InputError
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.ngram.model import ngram_from_arpa
from morphlm.translation.decoder.config import DecoderConfig, Weights
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.decoder.translation import Translation
from morphlm.translation.grammar.rules import Rule, RuleTable, table_of

from ...logbilinear.cases import make_case
from . import cases

TABLE = cases.table(
    ("a", "w0", -1.0),
    ("a", "w1", -1.25),
    ("b", "w2", -0.5),
    ("a 1", "1 w0", -0.75),
    ("1 b 2", "2 w2 1", -0.125),
    ("a b", "w0 w2 w3", -1.0),
)
WEIGHTS = {"f": 1.0, "LM0": 0.5, "LM1": 0.25, "LM0_OOV": -1.0, "Glue": -0.25, "PassThrough": -2.0, "WordPenalty": 0.125}


def decoder(**settings: Any) -> Decoder:
    return Decoder([cases.ngram(), cases.logbilinear()], WEIGHTS, DecoderConfig(**settings))


def random_sentences(count: int, seed: int = 3) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [rng.choice(["a", "b", "c", "w1"], rng.integers(0, 14)).tolist() for _ in range(count)]


# ---------------------------------------------------------------- words without rules


@pytest.mark.parametrize("tokens", [[], ["x"], ["|||", "[X]", "[X,1]", "[", "\\[X]", "x"]])
def test_without_rules_a_sentence_comes_out_as_it_is(tokens: list[str]) -> None:
    translation = decoder().decode(tokens, table_of([]))
    assert list(translation.tokens) == tokens
    assert translation.features["PassThrough"] == len(tokens)
    assert translation.features["Glue"] == max(len(tokens) - 1, 0)
    assert translation.links == tuple((place, place) for place in range(len(tokens)))


def test_words_pass_if_they_have_no_rule_of_their_own() -> None:
    table = cases.table(("a b", "w0", 0.0), ("b", "w1", 0.0))
    translation = Decoder([], {"f": 1.0, "PassThrough": 1.0}).decode(["a", "b"], table)
    assert translation.tokens == ("a", "w1")
    assert translation.features["PassThrough"] == 1


def test_marks_in_the_text_are_unknown_words() -> None:
    translation = decoder().decode(["<s>", "a", "</s>"], TABLE)
    assert translation.features["LM0_OOV"] == 2
    assert len(translation.tokens) == 3


def test_words_that_a_model_excludes_have_a_finite_score(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "closed.arpa"
    path.write_text("\\data\\\nngram 1=3\n\n\\1-grams:\n-99 <s>\n-0.5 </s>\n-0.5 w0\n\n\\end\\\n")
    translation = Decoder([ngram_from_arpa(path)], {"LM0": 1.0, "f": 1.0}).decode(["a", "c"], TABLE)
    assert translation.tokens == ("c", "w0")
    assert translation.score == pytest.approx(-np.log(10) * (0.5 + 0.5 + 100) - 0.75, abs=1e-3)


# ---------------------------------------------------------------- spans and length


def test_beyond_the_span_limit_only_glue_joins() -> None:
    table = cases.table(("a 1 b", "w0 1 w1", 5.0), ("a", "w2", 0.0), ("b", "w3", 0.0), ("c", "w0", 0.0))
    tokens = ["a", "c", "c", "b"]
    whole = Decoder([], {"f": 1.0}, DecoderConfig(max_span=4)).decode(tokens, table)
    narrow = Decoder([], {"f": 1.0}, DecoderConfig(max_span=3)).decode(tokens, table)
    assert whole.score == 0.0  # nothing fills a gap of two words: X covers one rule, only S is glued
    assert narrow.features["Glue"] == 3
    assert Decoder([], {"f": 1.0}, DecoderConfig(max_span=3)).decode(["a", "c", "b"], table).score == 5.0
    assert Decoder([], {"f": 1.0}, DecoderConfig(max_span=2)).decode(["a", "c", "b"], table).score == 0.0


def test_a_sentence_of_400_words_is_decoded_in_linear_time_and_memory() -> None:
    rng = np.random.default_rng(1)
    tokens = rng.choice(["a", "b", "c"], 400).tolist()
    popped = decoder(pop_limit=20, max_span=6)
    popped.decode(tokens[:5], TABLE)
    before = time.process_time()
    translation = popped.decode(tokens, TABLE)
    assert time.process_time() - before < 30
    assert len(translation.chart.edges.rule) <= 20 * (400 * 6 + 400 + 1)
    assert translation.features["WordPenalty"] == len(translation.tokens) >= 300
    assert len(translation.kbest(5)) == 5
    assert len(translation.derivation.format().splitlines()) == translation.features["RulePenalty"]


def test_a_very_long_sentence_has_narrower_spans() -> None:
    config = DecoderConfig(max_span=6, max_spans=40)
    assert [config.span_of(words) for words in (0, 1, 4, 6, 8, 10, 41, 1000)] == [1, 1, 4, 6, 5, 4, 1, 1]
    long = Decoder([], {"f": 1.0}, config).decode(["a", "b", "c"] * 3, TABLE)
    assert long.chart.widest == 4
    assert len(long.tokens) == long.features["WordPenalty"]
    with pytest.raises(ConfigError, match="max_spans is 0; it must be a whole number at least 1"):
        DecoderConfig(max_spans=0)


# ---------------------------------------------------------------- always the same


def bytes_of(translation: Translation) -> bytes:
    chart = translation.chart
    return b"".join(array.tobytes() for array in (chart.nodes.inside, chart.edges.score, chart.edges.logprobs))


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_order_and_do_not_depend_on_threads(threads: int) -> None:
    sentences = random_sentences(12)
    one_by_one = [bytes_of(decoder(pop_limit=8).decode(tokens, TABLE)) for tokens in sentences]
    again = list(decoder(pop_limit=8).decode_all(sentences, TABLE, threads=threads))
    assert [list(translation.source) for translation in again] == sentences
    assert [bytes_of(translation) for translation in again] == one_by_one


def test_sentences_are_read_only_as_they_are_needed() -> None:
    read = []

    def sentences() -> Iterator[list[str]]:
        for number in range(100):
            read.append(number)
            yield ["a", "b"]

    results = decoder(pop_limit=5).map(lambda translation: translation.tokens, sentences(), TABLE, threads=2)
    next(results)
    assert len(read) < 10
    results.close()  # type: ignore[attr-defined]


def test_rules_may_come_from_a_function() -> None:
    def own_rules(tokens) -> RuleTable:  # type: ignore[no-untyped-def]
        return cases.table((tokens[0], "w3", 0.0))

    results = Decoder([], {"f": 1.0}).decode_all([["x"], ["y"]], own_rules, threads=2)
    assert [translation.tokens for translation in results] == [("w3",), ("w3",)]


def test_equal_scores_are_in_the_order_of_the_rules() -> None:
    table = cases.table(*(("a", word, 0.0) for word in ("w3", "w1", "w0", "w2")))
    found = Decoder([], {"f": 1.0}).decode(["a"], table).kbest(4)
    assert [one.tokens for one in found] == [("w3",), ("w1",), ("w0",), ("w2",)]


def test_a_search_that_looks_at_more_finds_better_translations() -> None:
    rng = np.random.default_rng(8)
    words = [(source, f"w{word}", -rng.random()) for source in "abc" for word in range(4)]
    gaps = [(f"{source} 1", f"1 w{word}", -rng.random()) for source in "abc" for word in range(4)]
    table = cases.table(*words, *gaps)
    sentences = [rng.choice(["a", "b", "c"], 8).tolist() for _ in range(5)]
    means = []
    for limit in (1, 10, 200):
        results = decoder(pop_limit=limit).decode_all(sentences, table, threads=1)
        means.append(float(np.mean([translation.score for translation in results])))
    assert means[0] < means[1] < means[2]


# ---------------------------------------------------------------- results


def test_derivation_links_and_json() -> None:
    table = table_of(
        [
            Rule(("a",), ("w0",), {"f": 0.0}, ((0, 0),)),
            Rule((1, "b", 2), (2, "w2", 1), {"f": 9.0}, ((1, 1),)),
            Rule(("c",), ("w1", "w3"), {"f": 0.0}, ((0, 1),)),
        ]
    )
    translation = Decoder([], {"f": 1.0}).decode(["x", "a", "b", "c"], table)
    assert translation.tokens == ("x", "w1", "w3", "w2", "w0")
    assert translation.links == ((0, 0), (1, 4), (2, 3), (3, 2))
    assert translation.derivation.format() == (
        "0-1  x -> x  (passed through)\n1-4  [1] b [2] -> [2] w2 [1]\n  1-2  a -> w0\n  3-4  c -> w1 w3"
    )
    tree = json.loads(json.dumps(translation.to_json()))["derivation"]
    assert [part["span"] for part in tree["parts"]] == [[0, 1], [1, 4]]
    assert tree["parts"][1]["rule"] == {"source": [1, "b", 2], "target": [2, "w2", 1]}
    assert tree["parts"][1]["number"] == 1 and tree["parts"][0]["number"] is None


def test_the_graph_holds_the_best_derivation() -> None:
    translation = decoder().decode(["a", "b", "c"], TABLE)
    graph = json.loads(json.dumps(translation.graph()))
    nodes = graph["nodes"]
    assert nodes[graph["goal"]]["symbol"] == "goal" and nodes[graph["goal"]]["span"] == [0, 3]
    for number, node in enumerate(nodes):
        scores = [edge["score"] + sum(nodes[tail]["score"] for tail in edge["tails"]) for edge in node["edges"]]
        assert all(tail < number for edge in node["edges"] for tail in edge["tails"])
        assert node["score"] == pytest.approx(max(scores, default=0.0))
    assert nodes[graph["goal"]]["score"] == pytest.approx(translation.score)
    assert set(nodes[graph["goal"]]["edges"][0]["logprobs"]) == {"LM0", "LM1"}
    assert graph["rules"]["4"] == {"source": [1, "b", 2], "target": [2, "w2", 1]}
    used = {str(edge["rule"]) for node in nodes for edge in node["edges"] if edge["rule"] is not None}
    assert used == set(graph["rules"])


def test_names_of_features() -> None:
    models = [cases.ngram()]
    translation = Decoder(models, {"big": 1.0, "big_OOV": 0.5}, names=["big"]).decode(["x"], TABLE)
    assert list(translation.features) == [
        *("f", "g", "WordPenalty", "RulePenalty", "Glue", "PassThrough"),
        *("big", "big_OOV"),
    ]
    assert translation.features["big"] == pytest.approx(sum(models[0].sentence(["x"])), abs=1e-5)
    assert translation.score == pytest.approx(translation.features["big"] + 0.5)


def test_other_weights_share_the_models() -> None:
    first = decoder()
    other = first.with_weights({"f": 1.0})
    assert other.models is first.models
    assert other.decode(["a"], TABLE).score == -1.0
    with pytest.raises(ConfigError, match="for a decoder with other models; use their table"):
        decoder().decode(["a"], first.prepare(TABLE))


@pytest.mark.parametrize("table", [TABLE, cases.table()], ids=["some", "none"])
def test_prepared_rules_serve_for_other_weights(table: RuleTable) -> None:
    first = decoder()
    prepared = first.prepare(table)
    for weights in ({"f": 1.0, "LM0": 0.2}, {"f": -1.0, "LM0": 0.7}, {"f": 0.3, "g": 2.0, "WordPenalty": -1.0}):
        other = first.with_weights(weights)
        fresh, again = other.prepare(table), other.prepare(prepared)
        for name in ("weight_of", "scores", "group_rules"):
            assert getattr(again, name).tolist() == getattr(fresh, name).tolist()
        one, two = (other.decode(["a", "x"], rules) for rules in (table, prepared))
        assert (one.score, one.tokens, one.features) == (two.score, two.tokens, two.features)


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "settings", [{"pop_limit": -1}, {"max_span": 0}, {"max_span": 1000}, {"kbest": 0}, {"cache_megabytes": -1}]
)
def test_settings_that_cannot_be(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        DecoderConfig(**settings)


def test_weights_that_cannot_be() -> None:
    with pytest.raises(ConfigError, match="finite"):
        Weights({"f": float("nan")})
    with pytest.raises(ConfigError, match="weight for LM1, but no such feature; there are f, g, WordPenalty"):
        Decoder([cases.ngram()], {"LM1": 1.0}).decode(["a"], TABLE)


def test_models_and_rules_that_cannot_be() -> None:
    with pytest.raises(ConfigError, match="different names"):
        Decoder([cases.ngram(), cases.ngram(2)], names=["LM", "LM"])
    with pytest.raises(ConfigError, match="two features have the name f"):
        Decoder([cases.ngram()], names=["f"]).decode(["a"], TABLE)
    with pytest.raises(ConfigError, match="rule 1 has no word in its source"):
        Decoder().decode(["a"], table_of([Rule(("a",), ("w0",)), Rule((1,), (1, "w0"))]))
    with pytest.raises(InputError, match="not a string"):
        Decoder().decode("a b", TABLE)
    with pytest.raises(ConfigError, match="threads"):
        list(Decoder().decode_all([["a"]], TABLE, threads=0))


# ---------------------------------------------------------------- language models


def test_features_are_what_the_models_say_to_the_sentence() -> None:
    models = [cases.ngram(), cases.logbilinear()]
    for tokens in random_sentences(5, seed=11):
        translation = decoder(pop_limit=20).decode(tokens, TABLE)
        for name, model in zip(("LM0", "LM1"), models, strict=True):
            assert translation.features[name] == pytest.approx(sum(model.sentence(translation.tokens)), abs=1e-4)


def test_wide_contexts_are_fixed_by_the_text_before() -> None:
    case = make_case("clbl++", words=9, width=2, order=3)
    config = replace(case.config, wide=5, wide_decay=0.8)
    model = LogBilinearModel(config, case.structure, initial_parameters(config, case.structure, 3, 0.7), {})
    text = [["w1", "w2"], ["w4"]]
    first = Decoder([model], {"f": 1.0, "LM0": 1.0})
    scores = []
    for one, before in ((first, []), (first.after_text(text), text), (first.after_text(text).after_text([]), [])):
        translation = one.decode(["a", "b"], TABLE)
        expected = sum(model.after_text(before).sentence(translation.tokens))
        assert translation.features["LM0"] == pytest.approx(expected, abs=1e-4)
        scores.append(translation.score)
    assert scores[0] == scores[2] != scores[1]


def test_a_cache_changes_nothing_but_the_time() -> None:
    sentences = random_sentences(4, seed=5)
    with_cache = [one.score for one in decoder(pop_limit=10).decode_all(sentences, TABLE, threads=1)]
    without = [one.score for one in decoder(pop_limit=10, cache_megabytes=0).decode_all(sentences, TABLE, threads=1)]
    assert with_cache == pytest.approx(without, abs=1e-5)


# ---------------------------------------------------------------- other processes


def test_a_decoder_survives_pickles_and_copies() -> None:
    original = decoder()
    sentences = random_sentences(4)
    expected = [original.decode(tokens, TABLE).to_json() for tokens in sentences]
    after = original.after_text([["w0", "w1"]])
    turns: list[Callable[[Any], Any]] = [lambda item: pickle.loads(pickle.dumps(item)), copy.copy, copy.deepcopy]
    for turn in turns:
        other = turn(original)
        assert [other.decode(tokens, TABLE).to_json() for tokens in sentences] == expected
        assert turn(after).decode(["a", "b"], TABLE).to_json() == after.decode(["a", "b"], TABLE).to_json()
        assert turn(Weights()) == Weights()
