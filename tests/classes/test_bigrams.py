from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.classes.bigrams import count_bigrams, count_pairs, mutual_information
from morphlm.errors import ConfigError
from morphlm.vocabulary.corpus import Corpus
from morphlm.vocabulary.vocabulary import END_ID
from tests.classes.reference import Sentences, bigrams_of, corpus_of, mutual_information_of, sentences


def as_counter(starts: np.ndarray, words: np.ndarray, counts: np.ndarray) -> Counter[tuple[int, int]]:
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return Counter(dict(zip(zip(rows.tolist(), words.tolist(), strict=True), counts.tolist(), strict=True)))


@given(sentences)
def test_both_directions_hold_all_bigrams(text: Sentences) -> None:
    corpus = corpus_of(text)
    bigrams = count_bigrams(corpus)
    expected = bigrams_of(corpus.tokens.tolist())
    apart = {(w, w): n for w, n in enumerate(bigrams.repeats.tolist()) if n}
    successors = as_counter(bigrams.successor_starts, bigrams.successors, bigrams.successor_counts)
    predecessors = as_counter(bigrams.predecessor_starts, bigrams.predecessors, bigrams.predecessor_counts)
    assert successors + Counter(apart) == expected
    assert {(b, a): n for (a, b), n in predecessors.items()} == successors
    assert all(a != b for a, b in successors)
    size = len(corpus.vocabulary)
    assert bigrams.left.tolist() == [sum(n for (a, _), n in expected.items() if a == w) for w in range(size)]
    assert bigrams.right.tolist() == [sum(n for (_, b), n in expected.items() if b == w) for w in range(size)]


@given(sentences, st.integers(1, 7))
def test_counting_in_blocks_gives_the_same(text: Sentences, size: int) -> None:
    corpus = corpus_of(text)
    blocks = (corpus.tokens[begin : begin + size] for begin in range(0, len(corpus.tokens), size))
    in_blocks = count_pairs(blocks, END_ID, len(corpus.vocabulary))
    for one, other in zip(in_blocks, count_bigrams(corpus), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@given(sentences)
def test_mutual_information_is_the_definition_s(text: Sentences) -> None:
    corpus = corpus_of(text)
    expected = mutual_information_of(corpus.tokens.tolist(), range(len(corpus.vocabulary)))
    assert mutual_information(count_bigrams(corpus)) == pytest.approx(expected, abs=1e-12)


def test_both_sides_of_a_sentence_are_one_boundary() -> None:
    bigrams = count_bigrams(corpus_of([["a"], ["b"]]))
    boundary = slice(bigrams.successor_starts[END_ID], bigrams.successor_starts[END_ID + 1])
    assert bigrams.successors[boundary].tolist() == [3, 4]
    boundary = slice(bigrams.predecessor_starts[END_ID], bigrams.predecessor_starts[END_ID + 1])
    assert bigrams.predecessors[boundary].tolist() == [3, 4]


def test_empty_text_is_refused() -> None:
    with pytest.raises(ConfigError, match="the text is empty"):
        count_bigrams(Corpus(np.zeros(0, np.int32), corpus_of([["a"]]).vocabulary))
