"""The spelling model: a distribution over all strings, and over the words that are not known."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm import train_ngram
from morphlm.arrays import Float64Array
from morphlm.errors import ConfigError
from morphlm.scoring import spelling
from morphlm.scoring.spelling import SpellingConfig, SpellingModel, train_letters, train_spelling
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import Vocabulary

WORDS = ("a", "b", "ab", "aa", "ba", "bb", "aab", "abb")
LONGEST = 9
characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\r ")
strings = st.text(characters, max_size=12)


def vocabulary_of(*words: str) -> Vocabulary:
    return Vocabulary((*RESERVED, *words), np.ones(len(words) + 3, np.int64))


def all_strings(letters: str, longest: int) -> list[str]:
    return ["".join(drawn) for length in range(longest + 1) for drawn in product(letters, repeat=length)]


def ways(word: str, other: str, letters: int) -> float:
    """The number of strings that differ from a word only in which letters that were never seen stand for `other`."""
    return float(spelling.CHARACTERS - letters) ** word.count(other)


def masses(words: list[str], logs: Float64Array) -> Float64Array:
    """P of each word, and of all words with other letters that were never seen in place of its *."""
    found: Float64Array = np.exp(logs) * np.array([ways(word, "*", 2) for word in words])
    return found


@pytest.mark.parametrize("alphabet", [3, spelling.CHARACTERS])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_all_strings_together_have_probability_one(order: int, alphabet: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Letters that were never seen are alike, so one of them stands for all; of three letters it is the only one.

    Longer strings have so little because every context ends the word with more than 0.2.
    """
    monkeypatch.setattr(spelling, "CHARACTERS", alphabet)
    model = train_letters(WORDS, SpellingConfig(order=order, uniform=0.01))
    words = all_strings("ab*", LONGEST)
    found = masses(words, model.log_probabilities(words))
    by_length = np.bincount(list(map(len, words)), found)
    last, ratio = float(by_length[-1]), float(by_length[-1] / by_length[-2])
    assert last < 0.02
    assert by_length.sum() < 1 + 1e-6
    # Missing are the longer ones, which go on about as a geometric series.
    assert by_length.sum() + last * ratio / (1 - ratio) == pytest.approx(1.0, abs=2e-4)


def test_the_shares_of_all_unknown_words_add_up_to_one() -> None:
    """But for the strings that are longer than those that are tried here."""
    model = train_spelling(vocabulary_of(*WORDS), SpellingConfig(order=3, uniform=0.01))
    words = all_strings("ab*", LONGEST)
    unknown = [word for word in words if word and word not in WORDS]
    longer = 1 - float(masses(words, model.strings.log_probabilities(words)).sum())
    assert 0 < longer < 0.02
    covered = float(masses(unknown, model.log_shares(unknown)).sum())
    assert covered == pytest.approx(1 - longer / math.exp(model.log_rest), abs=1e-6)


def test_a_share_is_the_probability_without_the_known_words() -> None:
    model = train_spelling(vocabulary_of(*WORDS))
    taken = sum(math.exp(logprob) for logprob in model.strings.log_probabilities(["", *RESERVED, *WORDS]).tolist())
    assert 0.3 < taken < 1
    expected = model.strings.log_probabilities(["bab", "č"]) - math.log(1 - taken)
    np.testing.assert_allclose(model.log_shares(["bab", "č"]), expected, rtol=1e-12)


def test_letters_are_the_words_of_an_ngram_model() -> None:
    """The same by the n-gram model of sentences of letters; č was never seen, nor was any other of so many."""
    words = ["školu", "škola", "nové", "novou", "pole", "polem", "domem", "doma"]
    config = SpellingConfig(order=4, uniform=0.25)
    model, letters = train_letters(words, config), train_ngram([list(word) for word in words], 4)
    known = len({letter for word in words for letter in word})
    stop = len(words) / (sum(map(len, words)) + len(words))
    for word in ("škol", "novem", "čed", ""):
        by_letters = math.exp(sum(letters.sentence(list(word)))) / ways(word, "č", known)
        uniform = stop * ((1 - stop) / spelling.CHARACTERS) ** len(word)
        (found,) = model.log_probabilities([word]).tolist()
        assert found == pytest.approx(math.log(0.75 * by_letters + 0.25 * uniform), rel=1e-6)


def test_words_of_the_language_are_likelier_than_others() -> None:
    endings = [stem + ending for stem in ("škol", "ulic", "mest", "dub", "pol") for ending in ("a", "u", "ou", "y")]
    model = train_spelling(vocabulary_of(*endings))
    like, mixed, foreign = model.log_shares(["dubem", "medubuol", "дубом"]).tolist()
    assert like > mixed > foreign > -150


@given(st.lists(strings, max_size=5))
def test_every_string_has_a_probability_of_its_own(words: list[str]) -> None:
    model = SMALL
    together = model.log_shares(words)
    assert together.shape == (len(words),)
    assert np.isfinite(together).all()
    assert (model.strings.log_probabilities(words) < 0).all()
    assert together.tolist() == [float(model.log_shares([word])[0]) for word in words]


SMALL: SpellingModel = train_spelling(vocabulary_of(*WORDS, "školu", "ж", "𐍈"))


@pytest.mark.parametrize("words", [(), ("a",), ("a" * 3000,)])
def test_tiny_and_odd_vocabularies(words: tuple[str, ...]) -> None:
    model = train_spelling(vocabulary_of(*words))
    assert np.isfinite(model.log_shares(["b", "ab", "x" * 100_000])).all()
    assert model.log_rest < 0


def test_it_is_the_same_every_time() -> None:
    vocabulary = vocabulary_of(*WORDS)
    one, two = train_spelling(vocabulary), train_spelling(vocabulary)
    assert one.log_shares(["bab", "č"]).tobytes() == two.log_shares(["bab", "č"]).tobytes()


@pytest.mark.parametrize("wrong", [{"order": 0}, {"order": 101}, {"uniform": 0.0}, {"uniform": 1.0}])
def test_what_cannot_be_computed_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="of a spelling model lies"):
        SpellingConfig(**wrong)  # type: ignore[arg-type]
