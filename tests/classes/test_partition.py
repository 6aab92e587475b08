from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.classes.frequency import frequency_bins
from morphlm.classes.partition import NO_CLASS, Partition, assign_rest, average_mutual_information
from morphlm.errors import ConfigError
from morphlm.vocabulary.vocabulary import Vocabulary
from tests.classes.reference import corpus_of, mutual_information_of

VOCABULARY = Vocabulary(
    ("<unk>", "<s>", "</s>", "a", "b", "c", "d", "e"), np.array([3, 5, 5, 9, 7, 7, 2, 1])
)  # <s> is not predicted
# UNK 1, </s> 2, a 0, b 1, c 1, d 0, e 1
PARTITION = Partition(VOCABULARY, np.array([1, 2, 2, 0, 1, 1, 0, 1], np.int32), 3, "exchange", 0.25)


def test_members_are_in_order_of_frequency_then_id() -> None:
    assert [ids.tolist() for ids in PARTITION.members] == [[3, 6], [4, 5, 0, 7], [2]]
    assert PARTITION.sizes.tolist() == [2, 4, 1]
    assert PARTITION.examples(2) == [["a", "d"], ["b", "c"], ["</s>"]]


def test_classes_are_numbered_by_their_frequency() -> None:
    relabelled = PARTITION.relabelled()  # masses 11, 18, 5
    assert relabelled.class_of.tolist() == [0, 2, 2, 1, 0, 0, 1, 0]
    assert relabelled.relabelled().class_of.tolist() == relabelled.class_of.tolist()
    tie = Partition(VOCABULARY, np.array([1, 0, 0, 2, 1, 1, 2, 1], np.int32), 3, "x")
    assert tie.relabelled().class_of.tolist() == relabelled.class_of.tolist()


def test_equal_masses_are_ordered_by_the_smallest_id() -> None:
    vocabulary = Vocabulary(("<unk>", "<s>", "</s>", "a", "b"), np.array([0, 4, 4, 4, 4]))
    partition = Partition(vocabulary, np.array([0, 1, 1, 2, 0], np.int32), 3, "x").relabelled()
    assert partition.class_of.tolist() == [0, 1, 1, 2, 0]


def test_the_table_and_the_summary() -> None:
    assert PARTITION.to_tsv().splitlines() == [
        "0\ta\t9", "0\td\t2", "1\tb\t7", "1\tc\t7", "1\t<unk>\t3", "1\te\t1", "2\t</s>\t5",
    ]  # fmt: skip
    assert PARTITION.format().splitlines() == [
        "exchange: 7 words in 3 classes",
        "mutual information of adjacent classes: 0.25000 nats",
        "words in a class: 1 to 4, median 2",
    ]
    assert PARTITION.to_json() == {
        "method": "exchange",
        "classes": 3,
        "words": 7,
        "mutual_information": 0.25,
        "sizes": {"min": 1, "median": 2.0, "max": 4},
    }


@pytest.mark.parametrize(
    "class_of", [[0, 1, 1, 0, 0, 0, 0], [0, 1, 1, 0, 0, 0, 0, 2], [0, 1, 1, 0, 0, 0, 0, -1], [0] * 8]
)
def test_an_incomplete_partition_is_refused(class_of: list[int]) -> None:
    with pytest.raises(ConfigError):
        Partition(VOCABULARY, np.array(class_of, np.int32), 2, "x")


def test_average_mutual_information_of_any_partition_and_text() -> None:
    corpus = corpus_of([list("abcab"), list("dacb"), list("ee")])
    partition = frequency_bins(corpus.vocabulary, 3)
    expected = mutual_information_of(corpus.tokens.tolist(), partition.class_of.tolist())
    assert average_mutual_information(corpus, partition) == pytest.approx(expected, abs=1e-14)
    with pytest.raises(ConfigError, match="different vocabularies"):
        average_mutual_information(corpus_of([["a"]]), partition)


def test_the_rest_fills_empty_classes_then_joins_unk_then_the_rarest() -> None:
    counts = np.array([3, 5, 5, 9, 7, 7, 2, 1, 0, 0, 0, 0])
    class_of = np.full(12, NO_CLASS, np.int32)
    class_of[[0, 2, 3, 4, 7]] = [1, 0, 2, 3, 2]  # class 4 is empty; mean counts 3, 5 and 7
    assert assign_rest(class_of, counts, 5, 99).tolist() == [1, 0, 0, 2, 3, 4, 1, 2, 1, 1, 1, 1]
    assert assign_rest(class_of, counts, 5, 3).tolist() == [1, 0, 0, 2, 3, 4, 1, 2, 1, 4, 4, 2]
    class_of[0] = NO_CLASS
    assert assign_rest(class_of, counts, 5, 99)[0] in (1, 4)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=40), st.data(), st.booleans())
def test_frequency_bins(counts: list[int], data: st.DataObject, root: bool) -> None:
    counts = sorted(counts, reverse=True)
    words = tuple(f"w{i}" for i in range(len(counts)))
    vocabulary = Vocabulary(("<unk>", "<s>", "</s>", *words), np.array([4, 8, 8, *counts]))
    classes = data.draw(st.integers(1, len(counts) + 2))
    partition = frequency_bins(vocabulary, classes, root=root)
    assert partition.sizes.min() >= 1
    order = sorted((i for i in range(len(vocabulary)) if i != 1), key=lambda i: -vocabulary.counts[i])
    numbers = partition.class_of[order]
    assert (np.diff(numbers) >= 0).all()  # bins of neighbours in frequency
    mass = vocabulary.counts[order].astype(float) ** (0.5 if root else 1.0)
    share = (mass.cumsum() - mass) / mass.sum() * classes
    # never behind, and ahead of the equal share only where one word takes more than a bin or words run out
    assert (numbers <= np.maximum(np.floor(share), classes - len(order) + np.arange(len(order)))).all()


def test_bins_have_equal_mass() -> None:
    vocabulary = Vocabulary(("<unk>", "<s>", "</s>", "a", "b", "c", "d"), np.array([1, 1, 1, 8, 4, 1, 1]))
    assert frequency_bins(vocabulary, 2).class_of.tolist() == [1, 1, 1, 0, 1, 1, 1]  # 8 | 4 1 1 1 1
    # roots 2.83 2 1 1 1 1 of 8.83: the cut is at 4.41
    assert frequency_bins(vocabulary, 2, root=True).class_of.tolist() == [1, 1, 1, 0, 0, 1, 1]
    assert frequency_bins(vocabulary).classes == 3
    with pytest.raises(ConfigError, match="count 0"):
        frequency_bins(replace(vocabulary, counts=np.zeros(7, np.int64)))
