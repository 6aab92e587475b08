"""Words with a matrix: what they lack is a KeyError, as in gensim; their answers are in test_interface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from morphlm.errors import ConfigError, MorphlmError, UnknownWordError
from morphlm.vectors.keyed import KeyedVectors
from tests.segmentation.small import KNOWN, model_with
from tests.vectors.test_interface import KINDS, gensim_of, ours_of


def test_a_missing_word_is_a_key_error_as_in_gensim() -> None:
    questions: list[Callable[[Any], object]] = [
        lambda v: v["x"],
        lambda v: v[["w1", "x"]],
        lambda v: v.get_vector("x"),
        lambda v: v.most_similar("x"),
        lambda v: v.similar_by_word("x"),
        lambda v: v.similarity("w1", "x"),
        lambda v: v.distances("w1", ["x"]),
        lambda v: v.rank("w1", "x"),
    ]
    for vectors in (ours_of(KINDS[0]), gensim_of()):
        for ask in questions:
            with pytest.raises(KeyError, match="x"):
                ask(vectors)
    with pytest.raises(MorphlmError) as caught:
        ours_of(KINDS[0]).neighbours("x")
    assert isinstance(caught.value, UnknownWordError)
    assert str(caught.value).startswith("'x' has no vector here; ")


def test_words_and_vectors_must_fit() -> None:
    for words, shape in ((["a", "b"], (1, 3)), (["a"], (3,)), (["a", "a"], (2, 3))):
        with pytest.raises(ConfigError, match="give"):
            KeyedVectors(words, np.zeros(shape, np.float32))


def test_words_without_a_vector_have_rows_of_zeros() -> None:
    ours = ours_of(KINDS[0])
    rows = ours.rows(["w1", "x", "w9"])
    assert np.array_equal(rows[[0, 2]], ours[["w1", "w9"]])
    assert not rows[1].any()
    assert (ours.known("w1"), ours.known("x"), ours.composable("x")) == (True, False, False)
    assert ours.origins(["w1", "x"]) == ["known", "unknown"]
    assert ours.using(compose=False) is ours


def test_the_known_words_of_a_model_alone() -> None:
    vectors = model_with().vectors
    keyed = vectors.keyed()
    assert keyed.index_to_key == KNOWN
    assert np.array_equal(keyed["domu"], vectors["domu"])
    assert keyed.most_similar("domu") == vectors.neighbours("domu")
    assert [word for word, _ in keyed.most_similar(["polu", "doma"], ["domu"], topn=5)] == [
        near.name for near in vectors.analogy("domu", "polu", "doma", 5)
    ]
    with pytest.raises(KeyError):
        keyed["domou"]
