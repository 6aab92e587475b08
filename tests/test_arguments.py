"""What Python callers hand over is refused by name if it is wrong, here and in what takes words and vectors."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import morphlm
from morphlm.arguments import SHOWN, check_words, finite_number, shown, whole_number, word_id, word_ids
from morphlm.errors import ArgumentTypeError, ConfigError, InputError, MorphlmError, WordIdError
from morphlm.scoring.prediction import Predictor
from morphlm.vocabulary.vocabulary import Vocabulary
from tests.scoring.models import small_model

NO_WORDS: list[Any] = [None, 5, 1.5, b"dom", ["dom"], ("dom",), {}, object(), np.array(["dom"])]
NO_LISTS: list[Any] = [None, 5, "dom", b"dom", [None], ["dom", 5], ["dom", ["dom"]], [b"dom"], {"dom": 1}, object()]
NO_COUNTS: list[Any] = [-1, 1.5, None, "3", True, math.nan, [3]]


def test_values_in_messages_are_short_whatever_they_are() -> None:
    assert shown(-1) == "-1"
    assert shown(10**5000) == "an object of the type int"  # Python refuses to write so many digits
    assert len(shown("x" * 10**6)) == SHOWN
    assert "\n" not in shown(np.zeros((9, 9)))


def test_numbers_may_be_numpy_s_but_no_truth_values() -> None:
    assert whole_number("k", np.int8(3)) == 3
    assert type(whole_number("k", np.int8(3))) is int
    assert finite_number("x", np.float32(0.5)) == 0.5
    for wrong in NO_COUNTS:
        with pytest.raises(ConfigError, match=r"k is .*; it must be a whole number from 0 on"):
            whole_number("k", wrong)
    for wrong in (-1, math.nan, math.inf, None, "3", True, 3j):
        with pytest.raises(ConfigError, match=r"x is .*; it must be a finite number from 0 on"):
            finite_number("x", wrong, at_least=0)


def test_ids_are_copied_only_if_they_must() -> None:
    ids = np.array([0, 4], np.int32)
    assert word_ids(ids, 5) is ids
    assert word_ids(ids.astype(np.int64), 5).dtype == np.int32
    assert word_id(np.uint8(4), 5) == 4
    with pytest.raises(
        WordIdError, match=r"^5 is no id of a word; ids are whole numbers in 0\.\.4, as vocabulary\.id_of"
    ):
        word_ids([1, 5], 5)


# ---------------------------------------------------------------- words


def test_vocabularies_take_strings_only() -> None:
    vocabulary = small_model("mkn").vocabulary
    for word in NO_WORDS:
        with pytest.raises(InputError, match="is no word; give a str"):
            vocabulary.id_of(word)
        assert word.__class__ is np.ndarray or word not in vocabulary
    for words in NO_LISTS:
        with pytest.raises(InputError, match=r"is no (word|sequence of words)"):
            vocabulary.encode(words)
    assert vocabulary.id_of("\ud800") == 0  # half a character is a word that nobody knows
    known = vocabulary.words[5]
    assert vocabulary.encode((known, "\ud800", "")).tolist() == [5, 0, 0]
    check_words(np.array([known]))


@pytest.mark.parametrize("words", [("a", 5), ("a", None), ("a", ["b"]), ("a", "\ud800"), ("a",)])
def test_a_vocabulary_of_anything_else_is_refused(words: Any) -> None:
    first = small_model("mkn").vocabulary.words[:3]
    with pytest.raises(ConfigError, match="vocabulary"):
        Vocabulary((*first, *words), np.ones(5, np.int64))


def test_a_partition_of_anything_else_is_refused() -> None:
    vocabulary = small_model("mkn").vocabulary
    size = len(vocabulary)
    for class_of in (None, [0] * size, np.zeros(size), np.zeros((size, 1), int), np.full(size, -1), np.full(size, 1)):
        with pytest.raises(ConfigError):
            morphlm.Partition(vocabulary, class_of, 1, "own")  # type: ignore[arg-type]
    for classes in (0, -1, 1.0, None, True):
        with pytest.raises(ConfigError):
            morphlm.Partition(vocabulary, np.zeros(size, np.int32), classes, "own")  # type: ignore[arg-type]
    partition = morphlm.Partition(vocabulary, np.zeros(size, np.int32), 1, "own")
    for count in NO_COUNTS:
        with pytest.raises(ConfigError, match="number of examples"):
            partition.examples(count)


# ---------------------------------------------------------------- vectors


def questions(vectors: Any) -> list[Callable[[Any], Any]]:
    """All that is asked of the vectors of a model with one word."""
    return [
        vectors.get_vector,
        vectors.known,
        vectors.origin,
        vectors.get_nearest_neighbors,
        vectors.composable,
        vectors.neighbours,
        lambda word: vectors.analogy("doma", "domu", word),
    ]


def test_vectors_of_models_take_words_and_finite_vectors() -> None:
    vectors: Any = small_model("clbl++").vectors
    for ask in questions(vectors):
        for word in NO_WORDS[:-1]:
            with pytest.raises(MorphlmError):
                ask(word)
    for words in NO_LISTS:
        for many in (vectors.rows, vectors.origins, vectors.neighbours_of_all, vectors.nearest_morphemes_of_all):
            with pytest.raises(InputError):
                many(words)
    for k in NO_COUNTS:
        with pytest.raises(ConfigError, match="number of neighbours"):
            vectors.neighbours("doma", k)
    wrong = np.zeros(vectors.dimensions, np.float32)
    wrong[0] = math.nan
    for vector in (
        wrong,
        wrong[:-1],
        np.array("x"),
        np.full(vectors.dimensions, "x"),
        np.zeros((2, vectors.dimensions)),
    ):
        for ask in (vectors.neighbours, vectors.nearest_morphemes):
            with pytest.raises(ConfigError):
                ask(vector)
    for triples in ([("a", "b")], ["abc"], [None]):
        with pytest.raises(ConfigError, match="is no analogy"):
            vectors.analogies(triples)
    assert vectors.neighbours("doma", 0) == []
    for name in NO_WORDS[:-1]:
        with pytest.raises(MorphlmError):
            vectors.morpheme(name)


def test_keyed_vectors_take_words_and_finite_vectors() -> None:
    vectors: Any = morphlm.KeyedVectors(["a", "b", "c"], np.eye(3, 2, dtype=np.float32))
    for word in NO_WORDS[:3]:
        for ask in (vectors.get_vector, vectors.most_similar, lambda word: vectors.similarity("a", word)):
            with pytest.raises(MorphlmError):
                ask(word)
        assert word not in vectors
    for words in (None, 5, [None], ["a", 5], [["a"]]):
        for ask in (vectors.__getitem__, vectors.rows, lambda words: vectors.n_similarity(["a"], words)):
            with pytest.raises(MorphlmError):
                ask(words)
    for vector in (np.array([math.nan, 1]), np.array([1.0]), np.array(["a", "b"]), np.array([math.inf, 0])):
        with pytest.raises(ConfigError, match="vector"):
            vectors.most_similar(vector)
    for k in NO_COUNTS:
        if k is not None:  # which stands for all
            with pytest.raises(ConfigError, match="number of neighbours"):
                vectors.most_similar("a", topn=k)
    for table in (None, [[1.0]], np.array([["x"]])):
        with pytest.raises(ConfigError, match="is no matrix"):
            morphlm.KeyedVectors(["a"], table)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        morphlm.KeyedVectors(["a", 5], np.eye(2))  # type: ignore[list-item]


# ---------------------------------------------------------------- morphemes


def test_segmenters_take_words_of_a_sensible_length() -> None:
    segmenter: Any = morphlm.train_segmenter({"walking": 3, "walked": 2, "talking": 2, "talked": 1})
    for word in NO_WORDS:
        with pytest.raises(InputError, match="is no word"):
            segmenter.segment(word)
    for words in (None, 5, "walks", b"walks", [None], ["walks", 5]):
        with pytest.raises(InputError, match="is no"):
            segmenter.segment_all(words)
    with pytest.raises(InputError, match="empty word"):
        segmenter.segment("")
    started = time.monotonic()
    with pytest.raises(InputError, match="a word of 1,000,000 characters takes too long"):
        segmenter.segment("x" * 10**6)
    assert time.monotonic() - started < 5  # the search would take hours
    assert "".join(part.form for part in segmenter.segment("walk\ud800s")) == "walk\ud800s"


def test_factors_check_ids_and_words() -> None:
    factors: Any = small_model("clbl++").vectors.factors
    for word in (-1, len(factors.vocabulary), 2**70, 1.5, None, True):
        with pytest.raises(WordIdError):
            factors[word]
    for factor in (-1, len(factors), 1.5, None, "x"):
        for ask in (factors.kind_of, factors.inverse.__getitem__):
            with pytest.raises(ConfigError, match="is no id of a factor"):
                ask(factor)
    for words in NO_LISTS:
        with pytest.raises(InputError):
            factors.of_new_words(words)
    for table in (None, np.zeros((3, 2)), np.array(1.0)):
        with pytest.raises(ConfigError, match="row for each factor"):
            factors.times(table)


# ---------------------------------------------------------------- what is asked of any model


def test_generating_predicting_and_rescoring_check_their_options() -> None:
    model = small_model("mkn")
    for settings in (
        *({"max_words": wrong} for wrong in (0, *NO_COUNTS)),
        *({"top_k": wrong} for wrong in NO_COUNTS),
        *({"temperature": wrong} for wrong in (-1, math.nan, math.inf, None, "1", True)),
    ):
        with pytest.raises(ConfigError):
            morphlm.GenerationOptions(**settings)
    for rng in (None, 5, np.random):
        with pytest.raises(ConfigError, match="no source of randomness"):
            morphlm.generate(model, rng)  # type: ignore[arg-type]
    for begin in (one for one in NO_LISTS[:6] if one != "dom"):  # a string is raw text
        with pytest.raises(InputError):
            morphlm.generate(model, np.random.default_rng(1), begin=begin)
        with pytest.raises(InputError):
            morphlm.next_words(model, begin)
    for k in NO_COUNTS:
        with pytest.raises(ConfigError):
            morphlm.next_words(model, [], k)
    for prefix in NO_WORDS:
        with pytest.raises(InputError):
            Predictor(model).next_words([], 3, prefix)
    units: list[Any] = ["nat", None, 5, []]
    for unit in units:
        with pytest.raises(ConfigError, match="is no unit"):
            morphlm.RescoringOptions(unit=unit)
    for weight in (math.nan, None, "1", True):
        with pytest.raises(ConfigError, match="lm_weights"):
            morphlm.RescoringOptions(lm_weights=(weight,))  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, 5, "dom", b"dom"])
def test_one_string_is_no_list_of_words(wrong: Any) -> None:
    vectors = morphlm.KeyedVectors(["d", "o", "m"], np.eye(3, dtype=np.float32))
    for refuse in (vectors.get_mean_vector, vectors.doesnt_match, vectors.rank_by_centrality):
        with pytest.raises(ArgumentTypeError, match="is no list of words; give a list of str"):
            refuse(wrong)
    with pytest.raises(ArgumentTypeError, match="is no list of words; give a list of str"):
        morphlm.extend(small_model("mkn"), wrong)


@pytest.mark.parametrize("wrong", [None, 5, "dom", b"dom", [None], [5]])
def test_shares_of_unknown_words_are_asked_by_a_list_of_words(wrong: Any) -> None:
    spelling = morphlm.train_spelling(small_model("mkn").vocabulary)
    with pytest.raises(ArgumentTypeError):
        spelling.log_shares(wrong)


def test_a_refused_name_can_be_printed() -> None:
    with pytest.raises(InputError, match="half of a surrogate pair") as refused:
        morphlm.read_pairs("\ud800.tsv")
    assert str(refused.value).encode().startswith(b"\\ud800.tsv: ")
