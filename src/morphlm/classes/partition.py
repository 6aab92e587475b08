"""The result of this stage: a partition of the vocabulary into classes, for the class-based softmax of the CLBL models.

Every word that can be predicted is in one class. That includes UNK and `</s>`; `<s>` is never predicted and only
carries the number of `</s>`'s class. Classes are numbered by their frequency, so that equal partitions are equal files.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arguments import whole_number
from morphlm.arrays import Int32Array, Int64Array, blocks_of
from morphlm.classes.bigrams import check_text, count_pairs, mutual_information
from morphlm.display import Row, Tabular, described
from morphlm.errors import ConfigError
from morphlm.files import atomic_writer
from morphlm.lazy import PickledWithoutCaches, cached_property
from morphlm.tables import counted
from morphlm.vocabulary.corpus import Corpus
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID, Vocabulary

NO_CLASS = -1


@dataclass(frozen=True)
class Partition(Tabular, PickledWithoutCaches):
    """The class of every word."""

    vocabulary: Vocabulary
    class_of: Int32Array  # (V,) by word id; BEGIN has the class of END
    classes: int  # every class has a word
    method: str  # "exchange", "frequency", "root-frequency" or the format of the file it was read from
    mutual_information: float | None = None  # of adjacent classes in the training text, in nats

    def __repr__(self) -> str:
        return described(self, words=len(self.class_of), classes=self.classes, method=self.method)

    def frame_rows(self) -> Iterator[Row]:
        words, counts = self.vocabulary.words, self.vocabulary.counts
        return (
            {"class": number, "word": words[word], "count": int(counts[word])}
            for number, ids in enumerate(self.members)
            for word in ids.tolist()
        )

    def __post_init__(self) -> None:
        whole_number("the number of classes", self.classes, at_least=1)
        is_array = isinstance(self.class_of, np.ndarray) and self.class_of.ndim == 1
        if not is_array or self.class_of.dtype.kind not in "iu":
            raise ConfigError("the classes of words are not an array of whole numbers; give one for each word")
        if len(self.class_of) != len(self.vocabulary):
            raise ConfigError(
                f"{len(self.class_of):,} classes are given for {counted(len(self.vocabulary), 'word')}; give each one"
            )
        if self.class_of.min() < 0 or self.class_of.max() >= self.classes or self.sizes.min() == 0:
            raise ConfigError(f"each of {self.classes:,} classes needs a word and each word one of these classes")

    @cached_property
    def sizes(self) -> Int64Array:
        """The number of words in each class that can be predicted."""
        return np.bincount(np.delete(self.class_of, BEGIN_ID), minlength=self.classes)

    @cached_property
    def members(self) -> list[Int32Array]:
        """For each class the ids of the words that can be predicted, the most frequent first, then by id."""
        order = by_frequency(self.vocabulary)
        order = order[np.argsort(self.class_of[order], kind="stable")]
        return np.split(order, np.cumsum(self.sizes)[:-1])

    def relabelled(self) -> Partition:
        """The partition with classes numbered by their words' total count, in ties by the smallest id."""
        mass = np.zeros(self.classes, np.int64)
        predicted = np.delete(np.arange(len(self.vocabulary)), BEGIN_ID)
        np.add.at(mass, self.class_of[predicted], self.vocabulary.counts[predicted])
        smallest = np.full(self.classes, len(self.vocabulary))
        np.minimum.at(smallest, self.class_of[predicted], predicted)
        number = np.empty(self.classes, np.int32)
        number[np.lexsort((smallest, -mass))] = np.arange(self.classes, dtype=np.int32)
        return replace(self, class_of=number[self.class_of])

    def measured_on(self, corpus: Corpus) -> Partition:
        """The partition with the mutual information of its classes in a text."""
        return replace(self, mutual_information=average_mutual_information(corpus, self))

    def examples(self, count: int = 10) -> list[list[str]]:
        """The most frequent words of each class."""
        count = whole_number("the number of examples", count)
        return [[self.vocabulary.words[word] for word in words[:count]] for words in self.members]

    def to_tsv(self) -> str:
        """One `class TAB word TAB count` a line, by class, the most frequent words first; `<s>` is left out."""
        words, counts = self.vocabulary.words, self.vocabulary.counts
        return "".join(
            f"{number}\t{words[word]}\t{counts[word]}\n" for number, ids in enumerate(self.members) for word in ids
        )

    def save(self, path: str | Path) -> None:
        with atomic_writer(path) as file:
            file.write(self.to_tsv().encode())

    def to_json(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "classes": self.classes,
            "words": int(self.sizes.sum()),
            "mutual_information": self.mutual_information,
            "sizes": {
                "min": int(self.sizes.min()),
                "median": float(np.median(self.sizes)),
                "max": int(self.sizes.max()),
            },
        }

    def format(self) -> str:
        sizes = self.to_json()["sizes"]
        lines = [
            f"{self.method}: {counted(int(self.sizes.sum()), 'word')} in {counted(self.classes, 'class', 'classes')}"
        ]
        if self.mutual_information is not None:
            lines.append(f"mutual information of adjacent classes: {self.mutual_information:.5f} nats")
        lines.append(f"words in a class: {sizes['min']:,} to {sizes['max']:,}, median {sizes['median']:,g}")
        return "\n".join(lines)


def average_mutual_information(corpus: Corpus, partition: Partition) -> float:
    """Brown's objective: the mutual information of adjacent classes in a text, in nats. `<s>` counts as `</s>`."""
    if len(corpus.vocabulary) != len(partition.vocabulary):
        raise ConfigError(
            "the text and the partition have different vocabularies; encode the text with the partition's"
        )
    class_of = partition.class_of
    check_text(corpus)
    blocks = (class_of[tokens] for tokens in blocks_of(corpus.tokens))
    return mutual_information(count_pairs(blocks, int(class_of[END_ID]), partition.classes))


def by_frequency(vocabulary: Vocabulary) -> Int32Array:
    """The ids of the words that can be predicted, the most frequent first, then by id."""
    order = np.argsort(-vocabulary.counts, kind="stable").astype(np.int32)
    predicted: Int32Array = order[order != BEGIN_ID]
    return predicted


def number_of_classes(vocabulary: Vocabulary, classes: int | None) -> int:
    """The number that is asked for, if it is possible; the square root of |V| if none is."""
    words = len(vocabulary) - 1  # all but BEGIN
    if classes is None:
        return min(words, round(math.sqrt(len(vocabulary))))
    if whole_number("the number of classes", classes) < 1:
        raise ConfigError(f"{classes} classes cannot hold anything; ask for 1 or more")
    if classes > words:
        raise ConfigError(
            f"{counted(words, 'word')} cannot fill {counted(classes, 'class', 'classes')}; ask for at most {words:,}"
        )
    return classes


def assign_rest(class_of: Int32Array, counts: Int64Array, classes: int, cap: int) -> Int32Array:
    """Give a class to the words that have none because the text or the file does not show them.

    They fill empty classes first, one word each. The others join UNK, or if UNK is among them or its class is full, the
    class with the lowest mean count that has room: what is not seen in training is most like what is seen once. The
    class of END takes none.
    """
    class_of = class_of.copy()
    rest = np.flatnonzero(class_of == NO_CLASS)
    rest = rest[rest != BEGIN_ID]
    placed = np.flatnonzero(class_of != NO_CLASS)
    sizes = np.bincount(class_of[placed], minlength=classes)
    empty = np.flatnonzero(sizes == 0)[: len(rest)]
    means = np.bincount(class_of[placed], counts[placed], classes) / np.maximum(sizes, 1)
    sizes[empty] = 1
    preference = np.argsort(means, kind="stable")
    if class_of[UNK_ID] != NO_CLASS:
        preference = np.concatenate([class_of[UNK_ID : UNK_ID + 1], preference[preference != class_of[UNK_ID]]])
    if class_of[END_ID] != NO_CLASS and classes > 1:
        preference = preference[preference != class_of[END_ID]]
    openings = np.repeat(preference, np.minimum(np.maximum(cap - sizes[preference], 0), len(rest)))
    class_of[rest] = np.concatenate([empty, openings])[: len(rest)]
    class_of[BEGIN_ID] = class_of[END_ID]
    return class_of
