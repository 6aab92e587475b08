from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from morphlm.analysis.frequency import frequency_comparison
from morphlm.errors import ConfigError, InputError
from morphlm.ngram.training import train_ngram
from morphlm.scoring.loading import load
from morphlm.vocabulary.corpus import read_corpus
from morphlm.vocabulary.vocabulary import Vocabulary
from tests.analysis.cases import TEXT, models
from tests.conftest import GOLDEN
from tests.training.small import sentences

TRAIN, TEST = GOLDEN / "kneser-ney" / "train.txt", GOLDEN / "kneser-ney" / "test.txt"


def test_bins_shares_and_perplexities_are_those_of_a_plain_loop() -> None:
    one, two = train_ngram(TRAIN, 1), train_ngram(TRAIN, 3)
    result = frequency_comparison(one, two, TEST, resamples=20)
    lines = TRAIN.read_text().splitlines()
    counts = Counter(word for line in lines for word in line.split()) | Counter({"</s>": len(lines)})
    found: dict[int, list[tuple[float, float]]] = {}
    for line in TEST.read_text().splitlines():
        words = line.split()
        scores = zip([*words, "</s>"], one.sentence(words), two.sentence(words), strict=True)
        for word, first, second in scores:
            found.setdefault(len(str(counts[word])) if counts[word] else 0, []).append((first, second))
    names = ["unseen", "1-9", "10-99", "100-999", "1,000-9,999"]
    assert [group.name for group in result.groups] == names
    for size, group in enumerate(result.groups):
        assert group.tokens == len(found[size]) > 0
        assert group.share == group.tokens / 2366
        first, second = (sum(column) / len(found[size]) for column in zip(*found[size], strict=True))
        assert (group.baseline, group.other) == pytest.approx((math.exp(-first), math.exp(-second)))
    assert result.whole.tokens == 2366
    assert sum(group.share for group in result.groups) == pytest.approx(1)
    assert result.title == "seen in training"


@pytest.mark.parametrize(
    ("count", "name"), [(0, "unseen"), (1, "1-9"), (9, "1-9"), (10, "10-99"), (99, "10-99"), (100, "100-999")]
)
def test_the_edges_of_the_bins(count: int, name: str) -> None:
    one, two = models()
    counts = np.array([0, 1, 1, count, 1, 1, 1])
    vocabulary = Vocabulary(one.vocabulary.words, counts)
    result = frequency_comparison(one, two, [[one.vocabulary.words[3]] * 5], ends=False, vocabulary=vocabulary)
    assert {group.name: group.tokens for group in result.groups}[name] == 5
    assert [group.name for group in result.groups][-1] == name
    assert result.whole.tokens == 5


def test_sentence_ends_count_as_often_as_there_were_sentences() -> None:
    with_ends = frequency_comparison(*models(), TEXT)
    assert [(group.name, group.tokens) for group in with_ends.groups] == [("unseen", 1), ("1-9", 11)]
    without = frequency_comparison(*models(), TEXT, ends=False)
    assert [(group.name, group.tokens) for group in without.groups] == [("unseen", 1), ("1-9", 8)]
    assert without.whole.tokens == 9
    assert without.groups[0].share == 1 / 9
    assert without.notes == ("sentence ends are left out",)
    text = [[f"w{number}"] for number in range(30)]
    ends = frequency_comparison(train_ngram(text, 1), train_ngram(text, 2), [["w3"]])
    assert [(group.name, group.tokens) for group in ends.groups] == [("unseen", 0), ("1-9", 1), ("10-99", 1)]


def test_pruned_words_are_unseen() -> None:
    one, two = train_ngram(sentences(60, 1, rare=True), 2, kappa=1), train_ngram(sentences(60, 1, rare=True), 2)
    unseen = frequency_comparison(one, two, [["vzácn0", "doma"]]).groups[0]
    assert (unseen.name, unseen.tokens) == ("unseen", 1)
    assert frequency_comparison(two, one, [["vzácn0", "doma"]]).groups[0].tokens == 0


def test_words_that_a_given_vocabulary_lacks_are_unseen_whatever_the_count_of_unk() -> None:
    one, two = models()
    word = one.vocabulary.words[3]
    vocabulary = Vocabulary((*one.vocabulary.words[:3], "jiné"), np.array([50, 1, 1, 5]))  # 50 were pruned to UNK
    result = frequency_comparison(one, two, [[word] * 4], ends=False, vocabulary=vocabulary)
    assert [(group.name, group.tokens) for group in result.groups] == [("unseen", 4)]


def test_the_counts_are_the_baseline_s_whatever_the_other_knows() -> None:
    small, large = train_ngram([["pro", "pro"]], 1), train_ngram([["pro"] * 20, ["školu"]], 1)
    result = frequency_comparison(small, large, [["pro", "školu"]], names=("small", "large"))
    assert [(group.name, group.tokens) for group in result.groups] == [("unseen", 1), ("1-9", 2)]
    assert result.notes == ("unknown to small only: 1 token (školu)",)
    assert result.names == ("small", "large")


def test_an_arpa_file_has_no_counts(tmp_path: Path) -> None:
    one, two = models()
    one.write_arpa(tmp_path / "model.arpa")
    arpa = load(tmp_path / "model.arpa")
    with pytest.raises(ConfigError, match=r"has no counts\); give a vocabulary"):
        frequency_comparison(arpa, two, TEXT)
    given = frequency_comparison(arpa, two, TEXT, vocabulary=two.vocabulary)
    assert [group.tokens for group in given.groups] == [1, 11]
    assert [group.tokens for group in frequency_comparison(two, arpa, TEXT).groups] == [1, 11]


def test_a_text_of_one_line_and_one_of_none(tmp_path: Path) -> None:
    result = frequency_comparison(*models(), [["pro"]])
    assert [group.tokens for group in result.groups] == [0, 2]
    with pytest.raises(InputError, match="no sentences"):
        frequency_comparison(*models(), [])
    with pytest.raises(ConfigError, match="only sentence ends"):
        frequency_comparison(*models(), [[], []], ends=False)


def test_equal_seeds_give_equal_results() -> None:
    result = frequency_comparison(*models(), TEXT, seed=4, resamples=3).to_json()
    again = frequency_comparison(*models(), iter(TEXT), seed=4, resamples=3).to_json()
    assert again | {"text": result["text"]} == result
    assert replace(frequency_comparison(*models(), TEXT, seed=5, resamples=3), seed=4).to_json() != result


def test_a_vocabulary_of_the_same_text_gives_the_same_counts() -> None:
    one, two = train_ngram(TRAIN, 1), train_ngram(TRAIN, 2)
    vocabulary = read_corpus(TRAIN).words.vocabulary(0, 1)
    given = frequency_comparison(one, two, TEST, vocabulary=vocabulary, resamples=5)
    assert given == frequency_comparison(one, two, TEST, resamples=5)
