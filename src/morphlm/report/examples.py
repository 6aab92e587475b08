"""Words that are worth showing, chosen so that equal models and texts show the same ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import TypeVar

from morphlm.classes.partition import Partition, by_frequency
from morphlm.text.reading import RESERVED
from morphlm.vectors.composition import origin_of
from morphlm.vectors.vectors import WordVectors
from morphlm.vocabulary.vocabulary import Vocabulary

LEAST_LETTERS = 5
COMMON = slice(100, 2000)  # ranks of words that are frequent and yet mostly words of content

Item = TypeVar("Item")


def spread(items: Sequence[Item], count: int) -> list[Item]:
    """So many items, evenly spaced; all of them if there are fewer."""
    count = min(count, len(items))
    return [items[k * len(items) // count] for k in range(count)]


def content_words(partition: Partition, count: int) -> list[str]:
    """Frequent words of different classes. Those of content are in the larger classes, for there are many of them."""
    is_large = partition.sizes > partition.sizes.mean()
    chosen: dict[int, str] = {}
    for number in by_frequency(partition.vocabulary).tolist():
        word, group = partition.vocabulary.words[number], int(partition.class_of[number])
        if is_large[group] and is_telling(word):
            chosen.setdefault(group, word)
    return list(chosen.values())[:count]


def common_words(vocabulary: Vocabulary, count: int) -> list[str]:
    """Frequent words where there are no classes; in a small vocabulary any of its words."""
    words = [vocabulary.words[number] for number in by_frequency(vocabulary).tolist() if number >= len(RESERVED)]
    telling = [word for word in words[COMMON] if is_telling(word)] or [word for word in words if is_word(word)]
    return spread(telling or words, count)


def is_telling(word: str) -> bool:
    """Whether it is a word of letters and not a short one."""
    return is_word(word) and len(word) >= LEAST_LETTERS


def is_word(token: str) -> bool:
    """Whether it is made of letters, with the vowel signs and other marks that many scripts have."""
    return any(map(str.isalpha, token)) and all(unicodedata.category(character)[0] in "LM" for character in token)


def new_words(vectors: WordVectors, words: Iterable[str], count: int) -> dict[str, tuple[str, ...]]:
    """The longest of some words, each of two known morphemes or more with a stem among them, and without a common one;
    with the morphemes.
    """
    if vectors.factors is None or vectors.factors.analyser is None:
        return {}
    known = vectors.factors.ids
    words = sorted({word for word in words if is_word(word)}, key=lambda word: (-len(word), word))
    chosen: dict[str, tuple[str, ...]] = {}
    used: set[str] = set()
    for word, morphemes in zip(words, vectors.factors.names_of_new_words(words), strict=True):
        if len(chosen) == count:
            break
        parts = tuple((name, name in known) for name in morphemes)
        is_whole = len(parts) > 1 and all(has_vector for _, has_vector in parts) and origin_of(parts) == "composed"
        if is_whole and used.isdisjoint(morphemes):
            chosen[word] = tuple(morphemes)
            used.update(morphemes)
    return chosen
