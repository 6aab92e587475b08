from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.vocabulary import vocabulary as vocabulary_module
from morphlm.vocabulary.vocabulary import (
    Vocabulary,
    build_vocabulary,
    load_vocabulary,
    prune_singletons,
    two_columns,
)

COUNTS = {"b": 3, "a": 3, "ž": 7, "once": 1, "rare": 1, "seldom": 1, "hardly": 1, "never": 1}


def build(kappa: float, seed: int = 1) -> Vocabulary:
    return build_vocabulary(COUNTS, np.array(list(COUNTS.values()), np.int64), 4, kappa=kappa, seed=seed)


def test_words_are_ordered_by_frequency_then_form() -> None:
    vocabulary = build(kappa=0)
    singletons = sorted(word for word, count in COUNTS.items() if count == 1)
    assert vocabulary.words == ("<unk>", "<s>", "</s>", "ž", "a", "b", *singletons)
    assert vocabulary.counts.tolist() == [0, 4, 4, 7, 3, 3, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(("kappa", "pruned"), [(0.0, 0), (0.2, 1), (0.5, 2), (0.6, 3), (1.0, 5)])
def test_kappa_is_the_share_of_singletons_that_becomes_unk(kappa: float, pruned: int) -> None:
    vocabulary = build(kappa)
    assert len(vocabulary) == 3 + len(COUNTS) - pruned
    assert vocabulary.counts[0] == pruned
    assert {"a", "b", "ž"} <= set(vocabulary)


def test_equal_seeds_prune_equal_words_and_others_do_not() -> None:
    assert build(0.4, seed=3).words == build(0.4, seed=3).words
    assert len({build(0.4, seed).words for seed in range(10)}) > 1


@given(st.lists(st.integers(1, 3)), st.floats(0, 1), st.integers(0, 5))
def test_only_singletons_are_pruned(counts: list[int], kappa: float, seed: int) -> None:
    array = np.array(counts, np.int64)
    keep = prune_singletons(array, kappa, np.random.default_rng(seed))
    assert keep[array > 1].all()
    assert (~keep).sum() == round(kappa * counts.count(1))


@pytest.mark.parametrize("kappa", [-0.1, 1.1, float("nan")])
def test_kappa_outside_its_range_is_refused(kappa: float) -> None:
    with pytest.raises(ConfigError, match="kappa"):
        build(kappa)


def test_known_words_are_words() -> None:
    vocabulary = build(0)
    assert "ž" in vocabulary
    assert "nope" not in vocabulary
    assert "<s>" not in vocabulary
    assert vocabulary.encode(["ž", "nope", "b"]).tolist() == [3, 0, 5]


@pytest.mark.parametrize("name", ["vocabulary.tsv", "vocabulary.tsv.gz"])
def test_round_trip(tmp_path: Path, name: str) -> None:
    build(0.2).save(tmp_path / name)
    read = load_vocabulary(tmp_path / name)
    assert read.words == build(0.2).words
    assert read.counts.tolist() == build(0.2).counts.tolist()


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("a\t1\n", 1, "begins with"),
        ("<unk>\t0\n<s>\t1\n</s>\t1\nword\n", 4, "not `word TAB count`"),
        ("<unk>\t0\n<s>\t1\n</s>\t1\nword\tmany\n", 4, "not `word TAB count`"),
        ("<unk>\t0\n<s>\t1\n</s>\t1\na\t1\na\t1\n", 5, "second time"),
    ],
)
def test_a_damaged_table_is_refused_with_its_line(tmp_path: Path, text: str, line: int, what: str) -> None:
    (tmp_path / "v.tsv").write_text(text)
    with pytest.raises(InputError, match=f"v.tsv:{line}: .*{what}"):
        load_vocabulary(tmp_path / "v.tsv")


@given(
    st.lists(
        st.tuples(st.text("aé\r ", max_size=2), st.sampled_from(["\t", "", "\t\t"]), st.text("07x٣ ", max_size=20)),
        max_size=5,
    ),
    st.sampled_from(["", "a", "\t", "a\t1"]),
)
def test_all_lines_at_once_are_read_as_one_by_one(lines: list[tuple[str, str, str]], rest: str) -> None:
    text = "".join(f"{''.join(line)}\n" for line in [*(("<unk>", "\t", "1"), ("<s>", "\t", "0")), *lines]) + rest
    at_once = vocabulary_module._split_columns(text)
    try:
        words, counts = vocabulary_module._split_lines(text, "v.tsv")
    except InputError:
        assert at_once is None
    else:
        assert at_once is None or (at_once[0], at_once[1].tolist()) == (words, counts.tolist())
        assert at_once is not None or "\t" in rest


def test_two_columns_are_those_of_each_line() -> None:
    assert two_columns("a\tb c\nd\t\n\te\nrest") == (["a", "d", ""], ["b c", "", "e"])
    assert two_columns("") == ([], [])
    for text in ("a\n", "a\tb\tc\n", "a\nb\tc\td\n", "a\tb\tc\nd\n", "a\tb"):
        assert two_columns(text) is None
