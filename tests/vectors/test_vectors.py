"""A model's vectors: words as sums of their factors, unknown words, morphemes, neighbours, analogies."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from morphlm.arrays import Float32Array, Float64Array
from morphlm.errors import ConfigError
from morphlm.logbilinear.config import VARIANTS
from morphlm.ngram.training import train_ngram
from morphlm.scoring.loading import load
from morphlm.segmentation.factors import Factors, build_factors
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.text.reading import RESERVED
from morphlm.vectors import vectors as module
from morphlm.vectors.search import Neighbour, largest, nearest, unit_rows
from morphlm.vectors.vectors import SIDES, WordVectors
from morphlm.vocabulary.vocabulary import Vocabulary
from tests.segmentation.small import KNOWN, factors_of, model_of, model_with

NEW = ["domou", "xxxem", "polyou", "brouk"]  # dom + ou, em, pol + y + ou, nothing
QUERIES = st.lists(st.sampled_from([*KNOWN, *NEW]), min_size=1, max_size=5)
CHOICES = [(side, normalise) for side in SIDES for normalise in (False, True)]


def expected_side(table: Float32Array, factors: Factors | None, word: str, new: bool = False) -> Float64Array:
    """By the definition, a row at a time; on a side without factors a new word is UNK."""
    words = factors_of("segmenter").vocabulary.ids
    if factors is None:
        return table[words.get(word, 0)].astype(float)
    ids = factors[words[word]] if not new else factors.of_new_word(word)
    rows = [table[k].astype(float) for k in ids] or [table[0].astype(float)]
    return np.sum(rows, axis=0)


def expected(kind: str, word: str, side: str = "both", normalise: bool = False) -> Float64Array:
    model = model_with(kind=kind)
    new = word not in model.vocabulary
    q = expected_side(model.parameters.Q, model.vectors.context.factors, word, new)
    r = expected_side(model.parameters.R, model.vectors.output.factors, word, new)
    if normalise:
        q, r = q / np.linalg.norm(q), r / np.linalg.norm(r)
    return {"both": np.concatenate([q, r]), "context": q, "output": r}[side]


def cosine(one: NDArray[np.floating], other: NDArray[np.floating]) -> float:
    one, other = one.astype(float), other.astype(float)
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


def assert_alike(found: list[Neighbour], wanted: list[Neighbour]) -> None:
    """But for the rounding, which depends on how many are asked for at once."""
    assert [near.name for near in found] == [near.name for near in wanted]
    np.testing.assert_allclose([near.similarity for near in found], [near.similarity for near in wanted], atol=1e-6)


# ---------------------------------------------------------------- words


@pytest.mark.parametrize("kind", VARIANTS)
@pytest.mark.parametrize(("side", "normalise"), CHOICES)
def test_a_word_is_the_sum_of_its_factors_on_each_side(kind: str, side: str, normalise: bool) -> None:
    vectors = model_with(kind=kind).vectors.using(side=side, normalise=normalise)  # type: ignore[arg-type]
    for word in [*KNOWN[:6], *NEW]:
        np.testing.assert_allclose(vectors[word], expected(kind, word, side, normalise), rtol=1e-5, atol=1e-6)
    assert vectors.dimensions == (8 if side == "both" else 4) == len(vectors["domu"])
    assert vectors["domu"].dtype == np.float32


@given(words=QUERIES)
def test_many_words_are_as_one_by_one(words: list[str]) -> None:
    vectors = model_with().vectors
    assert np.array_equal(vectors.rows(words), np.stack([vectors[word] for word in words]))


@pytest.mark.parametrize("kind", ["lbl", "clbl+c", "lbl++"])
@pytest.mark.parametrize("block", [2, 1 << 14])
def test_the_matrix_holds_all_words(kind: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_WORDS", block)
    vectors = model_with(kind=kind).vectors.using(normalise=True)
    assert vectors.matrix.shape == (len(KNOWN) + len(RESERVED), 8)
    for number, word in enumerate(vectors.vocabulary):
        assert np.array_equal(vectors.matrix[number], vectors[word])


def test_words_that_are_not_known_are_unk_when_nothing_is_composed() -> None:
    vectors = model_with().vectors.using(compose=False)
    unk = vectors.matrix[0]
    assert all(np.array_equal(vectors[word], unk) for word in [*NEW, "<unk>"])
    assert np.array_equal(vectors["domu"], model_with().vectors["domu"])
    assert np.array_equal(model_with().vectors["brouk"], unk)  # nothing of it is known
    assert not np.array_equal(model_with().vectors["xxxem"], unk)


def test_known_and_composable_are_two_questions() -> None:
    vectors, plain = model_with().vectors, model_with(kind="lbl").vectors
    found = {word: (vectors.known(word), vectors.composable(word)) for word in ("domu", *NEW, *RESERVED)}
    assert found == {
        "domu": (True, True),
        "domou": (False, True),
        "xxxem": (False, True),
        "polyou": (False, True),
        "brouk": (False, False),
        **dict.fromkeys(RESERVED, (False, False)),
    }
    assert [(plain.known(word), plain.composable(word)) for word in ("domu", "domou")] == [
        (True, False),
        (False, False),
    ]
    assert [word in vectors for word in ("domu", "domou", 7)] == [True, False, False]


def test_marks_have_their_own_vectors_though_their_letters_are_known() -> None:
    vocabulary = Vocabulary((*RESERVED, "punkt", "funken", "unke"), np.array([1, 3, 3, 3, 2, 1]))
    vectors = model_of(build_factors(vocabulary, character_ngrams(2, 3))).vectors
    assert vectors.composable("unken")
    for number, mark in enumerate(RESERVED):
        assert not vectors.composable(mark)
        assert np.array_equal(vectors[mark], vectors.matrix[number])


def test_a_known_word_without_morphemes_is_not_composable() -> None:
    factors = factors_of("segmenter")
    bare = replace(factors, indptr=np.arange(len(KNOWN) + 4), indices=np.arange(len(KNOWN) + 3, dtype=np.int32))
    assert not model_of(bare).vectors.composable("domu")
    assert model_of(bare).vectors.known("domu")


def test_a_side_without_factors_has_none_to_compose() -> None:
    vectors = model_with(kind="lbl+c").vectors
    assert not vectors.using(side="output").composable("domou")
    assert vectors.using(side="context").composable("domou")
    assert np.array_equal(vectors["domou"][4:], vectors.matrix[0, 4:])  # r is UNK's
    assert not np.array_equal(vectors["domou"][:4], vectors.matrix[0, :4])


def test_words_are_found_in_any_unicode_form() -> None:
    vectors = model_with().vectors
    assert np.array_equal(vectors[unicodedata.normalize("NFD", "řeka")], vectors["řeka"])
    assert vectors.known(unicodedata.normalize("NFD", "řeka"))


def test_a_loaded_model_has_the_same_vectors(tmp_path: Path) -> None:
    model_with().save(tmp_path / "model")
    again = load(tmp_path / "model").vectors
    assert np.array_equal(again.matrix, model_with().vectors.matrix)
    assert np.array_equal(again.rows(NEW), model_with().vectors.rows(NEW))
    assert load(tmp_path / "model").vectors.record == model_with().vectors.record


def test_models_without_vectors_say_which_have_some() -> None:
    with pytest.raises(ConfigError, match="kind mkn has no word vectors; ask a log-bilinear one"):
        _ = train_ngram([["pro", "školu"]], 2).vectors


def test_a_side_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="no side of a model; choose one of both, context, output"):
        model_with().vectors.using(side="inside")  # type: ignore[arg-type]


def test_vectors_say_what_they_are() -> None:
    assert repr(model_with().vectors) == "WordVectors(29 words, 8 dimensions, both)"


def test_choices_stay_until_they_are_changed() -> None:
    chosen = model_with().vectors.using(side="output", normalise=True, compose=False)
    assert (chosen.using().side, chosen.using().normalise, chosen.using().compose) == ("output", True, False)
    assert chosen.using(normalise=False).side == "output"


# ---------------------------------------------------------------- morphemes


@pytest.mark.parametrize(("side", "normalise"), CHOICES)
def test_morphemes_have_the_rows_of_their_factors(side: str, normalise: bool) -> None:
    model, factors = model_with(), factors_of("segmenter")
    vectors = model.vectors.using(side=side, normalise=normalise)  # type: ignore[arg-type]
    number = factors.ids["ou/SUF"]
    q, r = model.parameters.Q[number], model.parameters.R[number]
    if normalise:
        q, r = q / np.linalg.norm(q), r / np.linalg.norm(r)
    wanted = {"both": np.concatenate([q, r]), "context": q, "output": r}[side]
    np.testing.assert_allclose(vectors.morpheme("ou/SUF"), wanted, rtol=1e-6)
    assert vectors.morphemes == factors.names[factors.surfaces :]


def test_a_morpheme_adds_nothing_to_a_side_without_factors() -> None:
    assert not model_with(kind="clbl+c").vectors.morpheme("ou/SUF")[4:].any()


def test_morphemes_that_there_are_not_are_refused() -> None:
    with pytest.raises(ConfigError, match="'ou' is no morpheme of this model; write it as"):
        model_with().vectors.morpheme("ou")
    plain = model_with(kind="clbl").vectors
    assert plain.morphemes == ()
    for ask in (lambda: plain.morpheme("ou/SUF"), lambda: plain.nearest_morphemes("domu")):
        with pytest.raises(ConfigError, match="this model has no morphemes"):
            ask()


# ---------------------------------------------------------------- neighbours


def by_hand(
    vectors: WordVectors, query: NDArray[np.floating], names: Sequence[str], rows: Float64Array, k: int
) -> list[str]:
    """All cosines, sorted."""
    order = sorted(range(len(names)), key=lambda place: -cosine(rows[place], query))
    return [names[place] for place in order][:k]


@pytest.mark.parametrize("side", SIDES)
@settings(max_examples=15)
@given(words=QUERIES, k=st.integers(1, 40))
def test_neighbours_are_those_of_sorting_all_cosines(side: str, words: list[str], k: int) -> None:
    vectors = model_with().vectors.using(side=side)  # type: ignore[arg-type]
    for word, found in zip(words, vectors.neighbours_of_all(words, k), strict=True):
        others = [other for other in KNOWN if other != word]
        rows = np.stack([vectors[other] for other in others]).astype(float)
        assert [near.name for near in found] == by_hand(vectors, vectors[word], others, rows, k)
        for near in found:
            assert near.similarity == pytest.approx(cosine(vectors[word], vectors[near.name]), abs=2e-6)
        assert [near.name for near in vectors.neighbours(word, k)] == [near.name for near in found]


def test_neighbours_of_a_vector_are_those_of_its_word_and_the_word_itself() -> None:
    vectors = model_with().vectors
    found = vectors.neighbours(vectors["domu"], 4)
    assert (found[0].name, found[0].similarity) == ("domu", pytest.approx(1.0, abs=1e-6))
    assert [near.name for near in found[1:]] == [near.name for near in vectors.neighbours("domu", 3)]
    assert_alike(vectors.neighbours_of_all(vectors.rows(["domu", "polu"]), 4)[0], found)
    assert [near.name for near in vectors.neighbours(5 * vectors["domu"], 4)] == [near.name for near in found]


def test_the_reserved_marks_are_nobody_s_neighbours() -> None:
    vectors = model_with().vectors
    for query in (vectors["<s>"], vectors["<unk>"], vectors["</s>"]):
        assert {near.name for near in vectors.neighbours(query, 1000)} == set(KNOWN)


def test_neighbours_of_a_morpheme() -> None:
    vectors = model_with().vectors
    assert vectors.neighbours("ou/SUF", 5, morpheme=True) == vectors.neighbours(vectors.morpheme("ou/SUF"), 5)
    assert_alike(
        vectors.neighbours_of_all(["ou/SUF", "a/SUF"], 5, morphemes=True)[0],
        vectors.neighbours("ou/SUF", 5, morpheme=True),
    )


@pytest.mark.parametrize("kind", ["lbl++", "lbl+c", "clbl+o"])
def test_nearest_morphemes(kind: str) -> None:
    vectors = model_with(kind=kind).vectors
    rows = np.stack([vectors.morpheme(name) for name in vectors.morphemes]).astype(float)
    found = vectors.nearest_morphemes("domu", 100)
    assert [near.name for near in found] == by_hand(vectors, vectors["domu"], vectors.morphemes, rows, 100)
    of_morpheme = vectors.nearest_morphemes("ou/SUF", 100, morpheme=True)
    assert {near.name for near in of_morpheme} == set(vectors.morphemes) - {"ou/SUF"}
    assert vectors.nearest_morphemes(vectors.morpheme("ou/SUF"), 1)[0].name == "ou/SUF"


@given(triples=st.lists(st.tuples(*[st.sampled_from([*KNOWN, *NEW])] * 3), min_size=1, max_size=4))
def test_analogies_are_the_nearest_to_b_less_a_and_c(triples: list[tuple[str, str, str]]) -> None:
    vectors = model_with().vectors
    unit = {word: vectors[word].astype(float) / np.linalg.norm(vectors[word].astype(float)) for word in [*KNOWN, *NEW]}
    for (a, b, c), found in zip(triples, vectors.analogies(triples, 3), strict=True):
        query = unit[b] - unit[a] + unit[c]
        others = [word for word in KNOWN if word not in (a, b, c)]
        rows = np.stack([unit[word] for word in others])
        for near, name in zip(found, by_hand(vectors, query, others, rows, 3), strict=True):
            assert near.similarity == pytest.approx(cosine(query, unit[name]), abs=1e-5)
            assert near.similarity == pytest.approx(cosine(query, unit[near.name]), abs=1e-5)
        assert [near.name for near in vectors.analogy(a, b, c, 3)] == [near.name for near in found]


def test_vectors_of_another_length_are_refused() -> None:
    for query in (np.zeros(7, np.float32), np.zeros((2, 8), np.float32)):
        with pytest.raises(ConfigError, match="among those of 8; give one alike"):
            model_with().vectors.neighbours(query)


# ---------------------------------------------------------------- the search itself


@given(scores=st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5]), max_size=30), k=st.integers(-1, 40))
def test_of_equal_scores_the_first_come_first(scores: list[float], k: int) -> None:
    wanted = sorted(range(len(scores)), key=lambda place: (-scores[place], place))[: max(k, 0)]
    for precision in (np.float32, np.float64):
        assert largest(np.array(scores, precision), k).tolist() == wanted


@given(st.data())
def test_blocks_of_queries_change_nothing(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    units, queries = unit_rows(rng.normal(size=(20, 5))), rng.normal(size=(150, 5)).astype(np.float32)
    skip = [rng.choice(20, int(rng.integers(3))).tolist() for _ in queries]
    cosines = (unit_rows(queries).astype(float) @ units.T.astype(float)).round(12)
    for number, (places, values) in enumerate(nearest(units, queries, 6, skip)):
        allowed = [place for place in range(20) if place not in skip[number]]
        wanted = sorted(allowed, key=lambda place, row=number: -cosines[row, place])[:6]  # type: ignore[misc]
        assert places.tolist() == wanted
        np.testing.assert_allclose(values, cosines[number, wanted], atol=1e-6)


def test_rows_of_zeros_have_no_direction() -> None:
    assert unit_rows(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist() == [[0.0, 0.0], pytest.approx([0.6, 0.8])]


def test_unit_rows_leave_what_was_given_alone() -> None:
    rows = np.ones((1, 4), np.float32)
    assert unit_rows(rows).tolist() == [[0.5] * 4]
    assert rows.tolist() == [[1.0] * 4]


def test_a_neighbour_is_a_pair() -> None:
    assert Neighbour("dom", 0.5) == ("dom", 0.5)


@pytest.mark.parametrize("kind", ["clbl", "clbl+c", "clbl++"])
@pytest.mark.parametrize("side", SIDES)
def test_centred_words_of_the_training_text_have_a_mean_of_zero(kind: str, side: str) -> None:
    plain = model_with(kind=kind).vectors.using(side=side)  # type: ignore[arg-type]
    centred = plain.using(centre=True)
    counts = plain.vocabulary.counts[3:].astype(np.float64)
    mean = counts @ plain.matrix[3:] / counts.sum()
    np.testing.assert_allclose(counts @ centred.matrix[3:] / counts.sum(), 0, atol=1e-6)
    np.testing.assert_allclose(centred.matrix, plain.matrix - mean, atol=1e-6)


def test_composed_words_are_centred_and_morphemes_are_not() -> None:
    plain = model_with().vectors
    centred = plain.using(centre=True)
    word = next(word for word in ("xyz", "vocab", "abcabc") if not plain.known(word))
    shift = plain[plain.words[0]] - centred[plain.words[0]]
    np.testing.assert_allclose(plain[word] - centred[word], shift, atol=1e-6)
    name = plain.morphemes[0]
    np.testing.assert_array_equal(plain.morpheme(name), centred.morpheme(name))
