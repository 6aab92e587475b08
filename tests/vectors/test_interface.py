"""The one interface of all vectors: gensim's answers on the same matrix, and composed words beside known ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import morphlm
from morphlm.errors import ConfigError, InputError
from morphlm.vectors.interface import SimilarWords, Vectors
from morphlm.vectors.keyed import KeyedVectors
from tests.segmentation.small import KNOWN, model_with
from tests.vectors.test_export import gensim_vectors, vectors_of

WORDS = [*(f"w{number}" for number in range(26)), "Case", "CASE", "škola", "Škola"]
one_word = st.sampled_from(WORDS)
some_words = st.lists(one_word, min_size=1, max_size=4)
KINDS = ["words and a matrix", "a model"]


@cache
def gensim_of() -> Any:
    theirs = gensim_vectors()(vector_size=6)
    theirs.add_vectors(WORDS, matrix())
    return theirs


def matrix() -> Any:
    return np.random.default_rng(3).normal(size=(len(WORDS), 6)).astype(np.float32)


@cache
def ours_of(kind: str) -> Vectors:
    return KeyedVectors(WORDS, matrix()) if kind == KINDS[0] else vectors_of(WORDS, matrix())


@pytest.fixture(params=KINDS)
def vectors(request: pytest.FixtureRequest) -> Vectors:
    return ours_of(request.param)


def assert_same(ours: Sequence[tuple[str, float]], theirs: Sequence[tuple[str, float]]) -> None:
    assert [word for word, _ in ours] == [word for word, _ in theirs]
    np.testing.assert_allclose([value for _, value in ours], [value for _, value in theirs], rtol=1e-5, atol=1e-6)


def test_words_and_vectors(vectors: Vectors) -> None:
    theirs = gensim_of()
    assert (vectors.index_to_key, vectors.key_to_index) == (theirs.index_to_key, theirs.key_to_index)
    assert (len(vectors), vectors.vector_size) == (len(theirs), theirs.vector_size)
    assert list(vectors.words) == WORDS
    assert np.array_equal(vectors.vectors, theirs.vectors)
    for word in ("w0", ["w4", "w2", "w4"]):
        assert np.array_equal(vectors[word], theirs[word])
    for norm in (False, True):
        np.testing.assert_allclose(vectors.get_vector("w7", norm), theirs.get_vector("w7", norm), atol=1e-7)
    assert np.array_equal(vectors.get_word_vector("w7"), theirs["w7"])
    assert ("w1" in vectors, "W1" in vectors, 5 in vectors) == (True, False, False)


@pytest.mark.parametrize("kind", KINDS)
@given(
    positive=some_words,
    negative=st.lists(one_word, max_size=2),
    topn=st.integers(0, 40),
    restrict=st.one_of(st.none(), st.integers(1, 30)),
)
def test_most_similar(kind: str, positive: list[str], negative: list[str], topn: int, restrict: int | None) -> None:
    ours, theirs = ours_of(kind), gensim_of()
    if sorted(positive) == sorted(negative):
        return  # their difference is nothing but rounding
    arguments: dict[str, Any] = {"topn": topn, "restrict_vocab": restrict}
    expected = theirs.most_similar(positive, negative, **arguments)
    assert_same(ours.most_similar(positive, negative, **arguments), expected)
    if restrict is None:  # which gensim's ignores here
        with warnings.catch_warnings(action="ignore"):
            expected = theirs.most_similar_cosmul(positive, negative, topn)
        assert_same(ours.most_similar_cosmul(positive, negative, topn), expected)


def test_most_similar_takes_words_vectors_and_weights_in_gensim_s_order(vectors: Vectors) -> None:
    theirs, vector = gensim_of(), np.arange(6, dtype=np.float32)
    questions: list[tuple[Any, ...]] = [
        ("w3",), (["w3"],), (vector,), ([vector],), (["w3", vector],), ([("w3", 2.0), "w4"], [("w5", -0.5)]),
        (None, "w3"), (["w1"], ["w2"], 7), (["w1"], ["w2"], 7, 3), (["w1"], ["w2"], 7, 3, 12),
        (["w1"], None, 5, 0, None, 9),
    ]  # fmt: skip
    for question in questions:
        assert_same(vectors.most_similar(*question), theirs.most_similar(*question))
    assert_same(vectors.most_similar(negative="w3"), theirs.most_similar(negative="w3"))
    np.testing.assert_allclose(vectors.most_similar("w3", topn=None), theirs.most_similar("w3", topn=None), atol=1e-6)


def test_other_lists_of_neighbours(vectors: Vectors) -> None:
    theirs = gensim_of()
    assert_same(vectors.similar_by_word("w2", 4), theirs.similar_by_word("w2", 4))
    assert_same(vectors.similar_by_key("w2", 4, 20), theirs.similar_by_key("w2", 4, 20))
    assert_same(vectors.similar_by_vector(matrix()[5], 4, 20), theirs.similar_by_vector(matrix()[5], 4, 20))
    assert vectors.similar_by_vector(matrix()[5], 1)[0][0] == "w5"
    assert vectors.get_nearest_neighbors("w2", 3) == [(value, word) for word, value in vectors.similar_by_word("w2", 3)]
    assert vectors.neighbours("w2", 3) == vectors.similar_by_word("w2", 3)
    assert vectors.most_similar_to_given("w2", ["w5", "w9", "w1"]) == theirs.most_similar_to_given(
        "w2", ["w5", "w9", "w1"]
    )


@pytest.mark.parametrize("kind", KINDS)
@given(one=one_word, other=one_word, some=some_words, others=some_words)
def test_similarities(kind: str, one: str, other: str, some: list[str], others: list[str]) -> None:
    ours, theirs = ours_of(kind), gensim_of()
    assert ours.similarity(one, other) == pytest.approx(float(theirs.similarity(one, other)), abs=1e-6)
    assert ours.distance(one, other) == pytest.approx(float(theirs.distance(one, other)), abs=1e-6)
    assert ours.n_similarity(some, others) == pytest.approx(float(theirs.n_similarity(some, others)), abs=1e-6)
    np.testing.assert_allclose(ours.distances(one, some), theirs.distances(one, some), atol=1e-6)
    np.testing.assert_allclose(ours.distances(one), theirs.distances(one), atol=1e-6)
    np.testing.assert_allclose(ours.get_mean_vector(some), theirs.get_mean_vector(some), atol=1e-6)
    if one != other:
        assert ours.rank(one, other) == theirs.rank(one, other)
        assert ours.closer_than(one, other) == theirs.closer_than(one, other)


@pytest.mark.parametrize("kind", KINDS)
@given(words=st.lists(one_word, min_size=3, max_size=6, unique=True))
def test_the_word_that_does_not_match(kind: str, words: list[str]) -> None:
    ours, theirs = ours_of(kind), gensim_of()
    assert ours.doesnt_match([*words, "unknown"]) == theirs.doesnt_match(words)
    expected = [(word, value) for value, word in theirs.rank_by_centrality(words)]
    assert_same([(word, value) for value, word in ours.rank_by_centrality(words)], expected)


def test_means_without_what_has_no_vector(vectors: Vectors) -> None:
    expected = gensim_of().get_mean_vector(["w1", "x", "w2"], [1, 2, 3], False, True)
    np.testing.assert_allclose(vectors.get_mean_vector(["w1", "x", "w2"], [1, 2, 3], False, True), expected, atol=1e-6)
    assert vectors.n_similarity(["w1", "x"], ["w2"]) == pytest.approx(vectors.similarity("w1", "w2"), abs=1e-6)


@pytest.mark.parametrize("dummy", [False, True])
@pytest.mark.parametrize("any_case", [False, True])
@pytest.mark.parametrize("restrict", [300_000, 20])
def test_word_pairs(vectors: Vectors, tmp_path: Path, dummy: bool, any_case: bool, restrict: int) -> None:
    rng = np.random.default_rng(1)
    pairs = [(rng.choice([*WORDS, "x", "case", "W3"]), rng.choice(WORDS), rng.integers(10)) for _ in range(40)]
    text = "# comment\tx\t1\nword1\tword2\trating\nbroken\n" + "".join(f"{a}\t{b}\t{c}\n" for a, b, c in pairs)
    (tmp_path / "pairs.tsv").write_text(text)
    arguments: dict[str, Any] = {"restrict_vocab": restrict, "case_insensitive": any_case, "dummy4unknown": dummy}
    ours = vectors.evaluate_word_pairs(tmp_path / "pairs.tsv", **arguments)
    theirs = gensim_of().evaluate_word_pairs(str(tmp_path / "pairs.tsv"), **arguments)
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-6)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-6)
    assert ours[2] == pytest.approx(theirs[2])
    assert ours[0].statistic == pytest.approx(theirs[0].statistic, abs=1e-6)


@pytest.mark.parametrize("dummy", [False, True])
@pytest.mark.parametrize("any_case", [False, True])
@pytest.mark.parametrize("restrict", [300_000, 22])
def test_analogies(vectors: Vectors, tmp_path: Path, dummy: bool, any_case: bool, restrict: int) -> None:
    rng, theirs = np.random.default_rng(2), gensim_of()
    lines = [": first part"]
    for k in range(60):
        a, b, c = rng.choice([*WORDS, "case", "W3", "x"] if k % 5 == 0 else WORDS, 3).tolist()
        right = k % 2 and all(word in WORDS for word in (a, b, c))
        d = theirs.most_similar([b, c], [a], topn=1)[0][0] if right else rng.choice(WORDS)
        lines += [": second"] * (k == 30) + [f"{a} {b} {c} {d}"] + ["three words only"] * (k == 7)
    (tmp_path / "questions.txt").write_text("\n".join(lines) + "\n")
    arguments: dict[str, Any] = {"restrict_vocab": restrict, "case_insensitive": any_case, "dummy4unknown": dummy}
    ours = vectors.evaluate_word_analogies(tmp_path / "questions.txt", **arguments)
    expected = theirs.evaluate_word_analogies(str(tmp_path / "questions.txt"), **arguments)
    assert ours == expected
    assert 0 < ours[0] < 0.9


@pytest.mark.parametrize("binary", [False, True])
def test_what_is_saved_is_read_by_gensim(vectors: Vectors, tmp_path: Path, binary: bool) -> None:
    path = tmp_path / ("v.bin" if binary else "v.vec")
    vectors.save_word2vec_format(path, binary=binary)
    theirs = gensim_vectors().load_word2vec_format(str(path), binary=binary)
    assert theirs.index_to_key == WORDS
    assert np.array_equal(theirs.vectors, matrix())
    assert np.array_equal(morphlm.load_vectors(path)["w3"], vectors["w3"])
    vectors.save_word2vec_format(tmp_path / "plain.txt", write_header=False)
    assert (tmp_path / "plain.txt").read_text().startswith("w0 ")


def test_sentences_are_means_of_units(vectors: Vectors) -> None:
    units = matrix() / np.linalg.norm(matrix(), axis=1, keepdims=True)
    expected = (units[1] + units[1] + units[9]) / 3
    np.testing.assert_allclose(vectors.get_sentence_vector("w1  w1\tw9 unknown\n"), expected, atol=1e-6)
    np.testing.assert_allclose(vectors.get_sentence_vector(["w1", "w1", "w9"]), expected, atol=1e-6)
    assert not vectors.get_sentence_vector("").any()


def test_nonsense_is_refused(vectors: Vectors) -> None:
    questions: list[Callable[[], object]] = [
        vectors.most_similar,
        lambda: vectors.most_similar(5),  # type: ignore[call-overload]
        lambda: vectors.most_similar(np.ones(5)),
        lambda: vectors.most_similar(np.array([np.nan] * 6)),
        lambda: vectors.most_similar_cosmul(negative="w1"),
        lambda: vectors.n_similarity([], ["w1"]),
        lambda: vectors.doesnt_match(["x"]),
        lambda: vectors.get_mean_vector([]),
        lambda: vectors.get_mean_vector(["w1"], [1, 2]),
        lambda: vectors.similar_by_word(5),  # type: ignore[arg-type]
        lambda: vectors.get_sentence_vector([5]),  # type: ignore[list-item]
        lambda: vectors.neighbours(None),  # type: ignore[arg-type]
        lambda: vectors.evaluate_word_pairs("missing.tsv"),
    ]
    for ask in questions:
        with pytest.raises((ConfigError, InputError)):
            ask()


# ---------------------------------------------------------------- words that are not known


def test_composed_and_affix_only_words_are_told_apart_and_asked_like_others() -> None:
    vectors = model_with().vectors
    assert "domou" not in vectors and "domu" in vectors
    origins = {"domu": "known", "domou": "composed", "xxxem": "affixes", "brrr": "unknown"}
    assert dict(zip(origins, vectors.origins([*origins]), strict=True)) == origins
    found = vectors.most_similar("domou", topn=3)
    assert isinstance(found, SimilarWords)
    assert found == vectors.neighbours("domou", 3)
    assert found.origins == {"domou": "composed"}
    assert vectors.most_similar(["xxxem", "domu"], topn=1).origins == {"xxxem": "affixes", "domu": "known"}
    rows = vectors.rows(["domou", "domu"])
    expected = float(rows[0] @ rows[1] / np.linalg.norm(rows[0]) / np.linalg.norm(rows[1]))
    assert vectors.similarity("domou", "domu") == pytest.approx(expected, abs=1e-6)
    assert vectors.rank("domu", "domou") == 1 + len(vectors.closer_than("domu", "domou"))
    assert len(vectors) == len(KNOWN)


def test_composed_words_take_part_in_pairs_and_analogies(tmp_path: Path) -> None:
    vectors = model_with().vectors
    (tmp_path / "pairs.tsv").write_text("domu\tdomou\t3\npolu\tdoma\t1\ndomu\tpolu\t2\nbrrr\tdomu\t1\n")
    assert vectors.evaluate_word_pairs(tmp_path / "pairs.tsv")[2] == 25
    assert vectors.using(compose=False).evaluate_word_pairs(tmp_path / "pairs.tsv")[2] == 50
    answer = vectors.most_similar(["polu", "domou"], ["domu"], topn=1)[0][0]
    (tmp_path / "questions.txt").write_text(f": forms\ndomu polu domou {answer}\ndomu polu brrr {answer}\n")
    assert vectors.evaluate_word_analogies(tmp_path / "questions.txt", case_insensitive=False)[0] == 1
    score, sections = vectors.using(compose=False).evaluate_word_analogies(tmp_path / "questions.txt")
    assert (score, sections[-1]["incorrect"]) == (0, [])


def test_centred_and_normalised_vectors_answer_the_same_questions() -> None:
    vectors = model_with().vectors.using(centre=True, normalise=True)
    plain = KeyedVectors(vectors.index_to_key, vectors.vectors)
    assert_same(vectors.most_similar("domu", topn=4), plain.most_similar("domu", topn=4))
    assert vectors.doesnt_match(["domu", "polu", "doma"]) == plain.doesnt_match(["domu", "polu", "doma"])
