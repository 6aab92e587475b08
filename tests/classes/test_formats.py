from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.classes.formats import read_classes
from morphlm.classes.partition import Partition
from morphlm.errors import InputError
from morphlm.vocabulary.vocabulary import Vocabulary

WORDS = ("<unk>", "<s>", "</s>", "pro", ",", "0,0", "školu", "$", "dům", "ne")
VOCABULARY = Vocabulary(WORDS, np.array([2, 9, 9, 8, 7, 6, 5, 4, 3, 1]))


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "file"
    path.write_text(text)
    return path


def by_word(partition: Partition) -> dict[str, int]:
    return dict(zip(WORDS, partition.class_of.tolist(), strict=True))


@given(st.lists(st.integers(0, 3), min_size=len(WORDS), max_size=len(WORDS)))
def test_our_own_table_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, labels: list[int]) -> None:
    labels[1] = labels[2]
    numbers = {label: number for number, label in enumerate(sorted(set(labels)))}
    partition = Partition(VOCABULARY, np.array([numbers[label] for label in labels], np.int32), len(numbers), "tsv")
    path = tmp_path_factory.getbasetemp() / "classes.tsv"
    partition.save(path)
    file = read_classes(path, "tsv", VOCABULARY)
    assert file.partition.class_of.tolist() == partition.class_of.tolist()
    assert (file.missing, file.ignored) == (0, 0)
    assert file.partition.to_tsv().encode() == path.read_bytes()


def test_brown_paths(tmp_path: Path) -> None:
    lines = ["0\tpro\t8", "0\t,\t7", "10\tškolu\t5", "110\t0,0\t6", "110\t<unk>\t2", "10\tneznám\t1"]
    file = read_classes(write(tmp_path, "\n".join(lines)), "paths", VOCABULARY)
    assert (file.missing, file.ignored) == (4, 1)
    assert file.format() == "not in the file: 4 words of the vocabulary; unknown: 1 of the file"
    expected = {"pro": 0, ",": 0, "školu": 1, "0,0": 2, "<unk>": 2, "</s>": 3, "<s>": 3, "$": 2, "dům": 2, "ne": 2}
    assert by_word(file.partition) == expected


def test_paths_sort_as_bits(tmp_path: Path) -> None:
    file = read_classes(write(tmp_path, "1\tpro\t1\n01\t,\t1\n011\tne\t1\n"), "paths", VOCABULARY)
    classes = by_word(file.partition)
    assert (classes[","], classes["ne"], classes["pro"]) == (0, 1, 2)


def test_mkcls_table(tmp_path: Path) -> None:
    text = "pro\t10\n,\t2\n0,0 2\nškolu\t3\n$\t3\ndům\t10\nne\t2\n<unk>\t3\n"
    file = read_classes(write(tmp_path, text), "mkcls", VOCABULARY)
    expected = {"pro": 2, ",": 0, "0,0": 0, "školu": 1, "$": 1, "dům": 2, "ne": 0, "<unk>": 1, "</s>": 3, "<s>": 3}
    assert by_word(file.partition) == expected
    assert (file.missing, file.ignored) == (1, 0)


def test_mkcls_cats_file_with_commas_and_dollars(tmp_path: Path) -> None:
    text = (
        ";KategProblem:cats: 3   words: 8\n0:$,\n1:\n2:,,0,0,ne,\n3:školu,mkcls-mapped-dollar-symbol-$,<unk>,\n"
        "10:dům,pro,\n;I have 4 categories used.\n\n;maximization\n"
    )
    file = read_classes(write(tmp_path, text), "mkcls", VOCABULARY)
    expected = {"pro": 2, ",": 0, "0,0": 0, "školu": 1, "$": 1, "dům": 2, "ne": 0, "<unk>": 1, "</s>": 3, "<s>": 3}
    assert by_word(file.partition) == expected
    assert (file.missing, file.ignored) == (1, 0)


def test_words_are_found_in_normal_form_c(tmp_path: Path) -> None:
    file = read_classes(write(tmp_path, "4\ts\u030ckolu\t5\n7\tpro\t8\n"), "tsv", VOCABULARY)
    assert by_word(file.partition)["školu"] == 0
    assert file.ignored == 0


@pytest.mark.parametrize(
    ("file_format", "line"),
    [
        ("tsv", "pro\t1\t2"),
        ("tsv", "1\tpro"),
        ("tsv", "1\tpro\tx"),
        ("tsv", "1 pro 2"),
        ("tsv", "-1\tpro\t2"),
        ("tsv", "1\t\t2"),
        ("tsv", ""),
        ("tsv", "٣\tpro\t2"),
        ("paths", "012\tpro\t2"),
        ("paths", "\tpro\t2"),
        ("paths", "01\tpro"),
        ("mkcls", "pro"),
        ("mkcls", "pro\t1\t2"),
        ("mkcls", "pro\tx"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, file_format: str, line: str) -> None:
    good = {"tsv": "0\tne\t1\n", "paths": "0\tne\t1\n", "mkcls": "ne\t2\n"}[file_format]
    with pytest.raises(InputError, match=r"file:2: .*[;?]"):
        read_classes(write(tmp_path, good + line + "\n" + good), file_format, VOCABULARY)


def test_a_word_in_two_classes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="file:3: pro is here for the second time"):
        read_classes(write(tmp_path, "0\tpro\t1\n0\tne\t1\n1\tpro\t1\n"), "tsv", VOCABULARY)


def test_a_file_for_another_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="file: the file has no word of the vocabulary; "):
        read_classes(write(tmp_path, "0\tx\t1\n"), "tsv", VOCABULARY)
