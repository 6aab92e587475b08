from __future__ import annotations

from pathlib import Path

import pytest

from morphlm.errors import InputError
from morphlm.translation.alignment.parallel_text import ParallelText, read_pairs, read_parallel


def sentences(text: ParallelText) -> list[tuple[list[str], list[str]]]:
    return [(text.source.sentence(k), text.target.sentence(k)) for k in range(len(text))]


def test_words_are_numbered_by_frequency_then_appearance() -> None:
    text = read_parallel([["b", "a", "c", "a"], ["d", "c", "a"]], [["x"], []])
    assert text.source.words == ("a", "c", "b", "d")
    assert text.source.tokens.tolist() == [2, 0, 1, 0, 3, 1, 0]
    assert text.source.lengths.tolist() == [4, 3]
    assert text.target.lengths.tolist() == [1, 0]


def test_files_with_empty_lines_and_strange_words(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a ||| [X]\n\n[X,1]\n")
    (tmp_path / "t").write_text("x\ny\n\n")
    expected = [(["a", "|||", "[X]"], ["x"]), ([], ["y"]), (["[X,1]"], [])]
    assert sentences(read_parallel(tmp_path / "s", tmp_path / "t")) == expected


def test_different_numbers_of_lines_are_both_told(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("a\nb\n\n")
    (tmp_path / "t").write_text("x\n")
    with pytest.raises(InputError, match=r"s has 3 lines and .*t has 1, .*; give two files"):
        read_parallel(tmp_path / "s", tmp_path / "t")


def test_pairs_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("a b ||| x a\n|||\nb ||| \n ||| y\n")
    text = read_pairs(tmp_path / "p")
    assert sentences(text) == [(["a", "b"], ["x", "a"]), ([], []), (["b"], []), ([], ["y"])]
    assert text.source.words == ("b", "a")
    assert text.target.words == ("a", "x", "y")


@pytest.mark.parametrize(("line", "found"), [("a x", 0), ("a ||| x ||| y", 2), ("", 0)])
def test_a_line_without_one_separator_is_named(line: str, found: int, tmp_path: Path) -> None:
    (tmp_path / "p").write_text(f"a ||| x\n{line}\nb ||| y\n")
    with pytest.raises(InputError, match=rf"p:2: the line has {found} '\|\|\|'"):
        read_pairs(tmp_path / "p")
    (tmp_path / "p").write_text("a b\n")
    with pytest.raises(InputError, match="p:1: the line has 0"):
        read_pairs(tmp_path / "p")
