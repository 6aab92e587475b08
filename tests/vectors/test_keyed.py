"""The adapter: the answers of gensim's KeyedVectors, on random vectors and on a model's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError
from morphlm.vectors.keyed import KeyedVectors
from tests.segmentation.small import KNOWN, model_with
from tests.vectors.test_export import gensim_vectors

WORDS = [f"w{number}" for number in range(30)]
some_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)


@cache
def both() -> tuple[KeyedVectors, Any]:
    matrix = np.random.default_rng(3).normal(size=(len(WORDS), 6)).astype(np.float32)
    theirs = gensim_vectors()(vector_size=6)
    theirs.add_vectors(WORDS, matrix)
    return KeyedVectors(WORDS, matrix), theirs


def assert_same_list(ours: Sequence[tuple[str, float]], theirs: Sequence[tuple[str, float]]) -> None:
    assert [word for word, _ in ours] == [word for word, _ in theirs]
    np.testing.assert_allclose([cosine for _, cosine in ours], [cosine for _, cosine in theirs], atol=1e-6)


@given(positive=some_words, negative=st.lists(st.sampled_from(WORDS), max_size=2), topn=st.integers(1, 40))
def test_most_similar_is_gensim_s(positive: list[str], negative: list[str], topn: int) -> None:
    ours, theirs = both()
    if sorted(positive) == sorted(negative):
        return  # their difference is nothing but rounding
    assert_same_list(
        ours.most_similar(positive, negative, topn=topn), theirs.most_similar(positive, negative, topn=topn)
    )


def test_most_similar_takes_words_and_vectors_alone_or_in_lists() -> None:
    ours, theirs = both()
    vector = np.arange(6, dtype=np.float32)
    questions: list[Any] = ["w3", ["w3"], vector, [vector], ["w3", vector]]
    for question in questions:
        assert_same_list(ours.most_similar(question), theirs.most_similar(question))
    assert_same_list(ours.most_similar(negative="w3"), theirs.most_similar(negative="w3"))


@given(one=st.sampled_from(WORDS), other=st.sampled_from(WORDS))
def test_similarity_and_distance_are_gensim_s(one: str, other: str) -> None:
    ours, theirs = both()
    assert ours.similarity(one, other) == pytest.approx(float(theirs.similarity(one, other)), abs=1e-6)
    assert ours.distance(one, other) == pytest.approx(float(theirs.distance(one, other)), abs=1e-6)


@given(some=some_words, others=some_words)
def test_groups_are_compared_as_in_gensim(some: list[str], others: list[str]) -> None:
    ours, theirs = both()
    assert ours.n_similarity(some, others) == pytest.approx(float(theirs.n_similarity(some, others)), abs=1e-6)


@given(words=st.lists(st.sampled_from(WORDS), min_size=3, max_size=6, unique=True))
def test_the_word_that_does_not_match_is_gensim_s(words: list[str]) -> None:
    ours, theirs = both()
    assert ours.doesnt_match([*words, "unknown"]) == theirs.doesnt_match(words)


def test_words_and_vectors_under_gensim_s_names() -> None:
    ours, theirs = both()
    assert (ours.index_to_key, ours.key_to_index) == (theirs.index_to_key, theirs.key_to_index)
    assert (len(ours), ours.vector_size) == (len(theirs), theirs.vector_size)
    assert ("w1" in ours, "W1" in ours) == ("w1" in theirs, "W1" in theirs) == (True, False)
    for word in ("w0", ["w4", "w2", "w4"]):
        assert np.array_equal(ours[word], theirs[word])
    assert np.array_equal(ours.get_vector("w7"), theirs.get_vector("w7"))
    np.testing.assert_allclose(ours.get_vector("w7", norm=True), theirs.get_vector("w7", norm=True), atol=1e-7)
    assert np.array_equal(ours.vectors, theirs.vectors)


def test_a_missing_word_is_a_key_error_as_in_gensim() -> None:
    for vectors in both():
        questions: list[Callable[[Any], object]] = [
            lambda v: v["x"],
            lambda v: v[["w1", "x"]],
            lambda v: v.get_vector("x"),
            lambda v: v.most_similar("x"),
            lambda v: v.similarity("w1", "x"),
        ]
        for ask in questions:
            with pytest.raises(KeyError, match="x"):
                ask(vectors)


def test_questions_without_words_are_refused() -> None:
    ours, _ = both()
    for ask in (ours.most_similar, lambda: ours.n_similarity([], ["w1"]), lambda: ours.doesnt_match(["x"])):
        with pytest.raises(ConfigError, match="give"):
            ask()


def test_words_and_vectors_must_fit() -> None:
    for words, shape in ((["a", "b"], (1, 3)), (["a"], (3,)), (["a", "a"], (2, 3))):
        with pytest.raises(ConfigError, match="give"):
            KeyedVectors(words, np.zeros(shape, np.float32))


def test_words_without_a_vector_have_rows_of_zeros() -> None:
    ours, _ = both()
    rows = ours.rows(["w1", "x", "w29"])
    assert np.array_equal(rows[[0, 2]], ours[["w1", "w29"]])
    assert not rows[1].any()
    assert (ours.known("w1"), ours.known("x"), ours.composable("x")) == (True, False, False)


def test_a_model_s_vectors_behind_the_adapter() -> None:
    vectors = model_with().vectors
    keyed = vectors.keyed()
    assert keyed.index_to_key == KNOWN
    assert np.array_equal(keyed["domu"], vectors["domu"])
    assert [word for word, _ in keyed.most_similar("domu")] == [near.name for near in vectors.neighbours("domu")]
    assert [word for word, _ in keyed.most_similar(["polu", "doma"], ["domu"], topn=5)] == [
        near.name for near in vectors.analogy("domu", "polu", "doma", 5)
    ]
