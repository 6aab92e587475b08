from __future__ import annotations

import numpy as np

from morphlm.classes.partition import Partition
from morphlm.report.examples import common_words, content_words, new_words, spread
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import Vocabulary
from tests.report.cases import model


def vocabulary_of(*words: str) -> Vocabulary:
    return Vocabulary((*RESERVED, *words), np.arange(len(words) + 3, 0, -1))


def test_words_of_content_are_the_frequent_ones_of_the_larger_classes() -> None:
    vocabulary = vocabulary_of("pokud", "nebo", "dokument", "soubor", "a1b2c3", "tabulka", "vrátí", "dům", "okno")
    class_of = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3], np.int32)
    partition = Partition(vocabulary, class_of, 4, "test")
    assert content_words(partition, 3) == ["dokument", "vrátí"]
    assert content_words(partition, 1) == ["dokument"]


def test_without_classes_common_words_are_taken() -> None:
    assert common_words(vocabulary_of("a", ",", "slovo"), 5) == ["a", "slovo"]
    assert common_words(vocabulary_of(",", "."), 1) == [","]
    many = vocabulary_of(*(f"slovo{'x' * k}" for k in range(200)))
    assert common_words(many, 2) == [many.words[103], many.words[153]]  # from the ranks 100 on, evenly


def test_items_are_spread_evenly() -> None:
    assert spread(range(10), 5) == [0, 2, 4, 6, 8]
    assert spread("ab", 5) == ["a", "b"]
    assert spread([], 5) == []


def test_new_words_are_the_longest_of_known_morphemes_without_a_common_one() -> None:
    vectors = model("clbl++").vectors
    words = ["školaem", "školaou", "domuyem", "neznámo", "12", "řek"]
    assert new_words(vectors, words, 5) == {
        "domuyem": ("dom/STM", "u/SUF", "y/SUF", "em/SUF"),
        "školaou": ("škol/STM", "a/SUF", "ou/SUF"),
    }
    assert list(new_words(vectors, words, 1)) == ["domuyem"]
    assert new_words(model("lbl").vectors, words, 5) == {}
