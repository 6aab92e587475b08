"""The baseline: its cost is that of the `morfessor` package, and so is the quality of its search."""

from __future__ import annotations

import math
import random
import warnings
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.segmentation.baseline import WordMorphs, train_baseline
from morphlm.segmentation.encoding import EncodedWords, encode_words, grown_to, make_table
from morphlm.segmentation.kernels.strings import NOT_FOUND, find, insert_all, key_of
from morphlm.segmentation.segmenter import SegmenterConfig
from morphlm_generated import GeneratedConfig, generate_sentences, gold_segmentation

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the package has invalid escapes
    import morfessor

vocabularies = st.dictionaries(
    st.text("abcž", min_size=1, max_size=9), st.integers(1, 40), min_size=1, max_size=25
)  # fmt: skip
weights = st.sampled_from([0.2, 1.0, 3.0])


@cache
def generated_words(count: int) -> dict[str, int]:
    sentences = list(generate_sentences(GeneratedConfig(sentences=1500), 3))
    forms = [form for form, _ in gold_segmentation(sentences)]
    return dict.fromkeys(random.Random(1).sample(forms, min(count, len(forms))), 1)


def forms(words: EncodedWords, morphs: WordMorphs) -> list[tuple[str, ...]]:
    result = []
    for begin, size in zip(words.bounds.tolist(), morphs.sizes.tolist(), strict=False):
        entries = morphs.morphs[begin : begin + size].tolist()
        result.append(tuple(words.string(morphs.table.start[e], morphs.table.length[e]) for e in entries))
    return result


def log_factorial(n: int) -> float:
    if n < 20:
        return math.log(math.factorial(max(n, 0)))
    return n * math.log(n) - n + 0.5 * (math.log(n) + math.log(2 * math.pi))


def x_log_x(counts: Any) -> float:
    return sum(c * math.log(c) for c in counts)


def defined_cost(analyses: list[tuple[int, tuple[str, ...]]], weight: float) -> float:
    """The description length from its definition, counting everything."""
    words = sum(count for count, _ in analyses)
    morphs: Counter[str] = Counter()
    for count, analysis in analyses:
        for morph in analysis:
            morphs[morph] += count
    tokens, types = sum(morphs.values()), len(morphs)
    letters = Counter("".join(morphs))
    n, m = tokens + words, sum(letters.values()) + types
    corpus = n * math.log(n) - words * math.log(words) - x_log_x(morphs.values())
    frequencies = log_factorial(tokens - 1) - log_factorial(types - 1) - log_factorial(tokens - types)
    spelling = m * math.log(m) - types * math.log(types) - x_log_x(letters.values()) - log_factorial(types)
    alphabet = log_factorial(m - 1) - log_factorial(len(letters)) - log_factorial(m - len(letters) - 1)
    return weight * corpus + frequencies + spelling + alphabet


@given(vocabularies, weights, st.sampled_from(["types", "log", "tokens"]))
def test_the_cost_is_the_defined_one_and_the_packages(vocabulary: Any, weight: float, dampening: Any) -> None:
    words = encode_words(vocabulary, dampening)
    result = train_baseline(words, weight, np.random.default_rng(0))
    analyses = list(zip(words.counts.tolist(), forms(words, result.morphs), strict=True))
    assert ["".join(analysis) for _, analysis in analyses] == list(words.words)
    assert result.cost == pytest.approx(defined_cost(analyses, weight), rel=1e-9)
    oracle = morfessor.BaselineModel(corpusweight=weight)
    oracle.load_segmentations(
        (count, word, analysis) for (count, analysis), word in zip(analyses, words.words, strict=True)
    )
    assert result.cost == pytest.approx(oracle.get_cost(), rel=1e-9)
    assert np.all(np.diff(result.costs) <= 1e-9 * result.costs[0])


def test_the_search_is_as_good_as_the_packages() -> None:
    vocabulary = generated_words(1500)
    oracle = morfessor.BaselineModel()
    oracle.load_data([(1, word) for word in vocabulary])
    random.seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, cost = oracle.train_batch()
    result = train_baseline(encode_words(vocabulary, "types"), 1.0, np.random.default_rng(1))
    assert result.cost <= 1.002 * cost


def test_a_small_search_by_hand() -> None:
    """Words of two recurring halves, the first of which are words too, are cut between them."""
    halves = ["kamen", "stolu", "pevna", "hlavi", "domec"]
    vocabulary = {first + second: 1 for first in halves for second in ["", "ovat", "nikem", "ych", "ejsi", "ula"]}
    words = encode_words(vocabulary, "types")
    result = train_baseline(words, 1.0, np.random.default_rng(1))
    assert forms(words, result.morphs) == [(word[:5], word[5:]) if word[5:] else (word,) for word in vocabulary]


def test_equal_seeds_give_equal_morphs_and_the_seed_matters() -> None:
    words = encode_words(generated_words(600), "types")
    first, again, other = (train_baseline(words, 1.0, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first.costs == again.costs
    assert forms(words, first.morphs) == forms(words, again.morphs)
    assert first.costs != other.costs


def test_less_corpus_weight_gives_more_morphs() -> None:
    words = encode_words(generated_words(600), "types")
    sizes = [train_baseline(words, w, np.random.default_rng(1)).morphs.sizes.sum() for w in (0.3, 1.0, 3.0)]
    assert sizes[0] > sizes[1] > sizes[2]


def test_long_words_and_single_letters() -> None:
    long = "ab" * 250
    words = encode_words({long: 1, "a": 2, "b": 1, "ab": 5}, "tokens")
    result = train_baseline(words, 1.0, np.random.default_rng(1))
    analysis = forms(words, result.morphs)
    assert "".join(analysis[0]) == long
    assert analysis[1:3] == [("a",), ("b",)]
    assert result.cost == pytest.approx(
        defined_cost(list(zip(words.counts.tolist(), analysis, strict=True)), 1.0), rel=1e-9
    )


def test_dampening() -> None:
    vocabulary = {"a": 1, "b": 2, "c": 3, "d": 100}
    assert encode_words(vocabulary, "types").counts.tolist() == [1, 1, 1, 1]
    assert encode_words(vocabulary, "log").counts.tolist() == [1, 2, 2, 7]
    assert encode_words(vocabulary, "tokens").counts.tolist() == [1, 2, 3, 100]
    with pytest.raises(ConfigError, match="dampening"):
        encode_words(vocabulary, "square")  # type: ignore[arg-type]


@pytest.mark.parametrize("vocabulary", [{}, {"": 3}, {"a": 0}])
def test_no_words_are_refused(vocabulary: dict[str, int]) -> None:
    with pytest.raises(InputError, match="word"):
        encode_words(vocabulary, "types")


@pytest.mark.parametrize("weight", [0.0, -1.0, math.inf, math.nan])
def test_a_corpus_weight_is_positive(weight: float) -> None:
    with pytest.raises(ConfigError, match="corpus_weight"):
        SegmenterConfig(corpus_weight=weight)


@given(st.lists(st.text("ab", min_size=1, max_size=12), min_size=1, max_size=60))
def test_the_table_finds_what_was_put_in_and_nothing_else(strings: list[str]) -> None:
    words = encode_words(dict.fromkeys(strings, 1), "types")
    lengths = np.diff(words.bounds)
    half = len(lengths) // 2
    table = make_table(words.letters.text, max(half, 1))
    entries = insert_all(table, words.letters, words.bounds[:half], lengths[:half]).tolist()
    assert entries == list(range(half))
    table = grown_to(table, len(lengths))
    for word, (start, length) in enumerate(zip(words.bounds.tolist(), lengths.tolist(), strict=False)):
        text = words.letters.text
        entry = find(table, np.uint64(key_of(words.letters, start, length)), text, start, length)
        assert entry == (word if word < half else NOT_FOUND)
