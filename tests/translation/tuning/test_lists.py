"""Files of k-best lists: whatever is in them, kernels only get arrays that belong together."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm.errors import FormatError
from morphlm.translation.tuning.lists import TranslationList, has_key, read_lists, write_lists
from morphlm.translation.tuning.loop import FIRST
from tests.translation.tuning.test_loop import Decoder, run

HYPOTHESES = [(("a", "b", "a"), np.array([0.5, -2.0], np.float32)), (("c",), np.array([1.0, 3.0], np.float32))]


def write_forged(path: Path, arrays: list[Any], vocabulary: list[str], shapes: list[list[int]] | None = None) -> None:
    made = [np.array(array, dtype) for array, dtype in zip(arrays, ("<i4", "<i8", "<f4"), strict=True)]
    head = json.dumps([vocabulary, shapes or [list(array.shape) for array in made]])
    path.write_bytes(gzip.compress(b"\n".join([b'"key"', head.encode(), b"".join(map(bytes, made))])))


WORDS, STARTS, FEATURES = [0, 1, 0, 2], [0, 3, 4], [[0.5, -2.0], [1.0, 3.0]]


def test_what_is_written_by_hand_is_read(tmp_path: Path) -> None:
    write_forged(tmp_path / "lists.gz", [WORDS, STARTS, FEATURES], ["a", "b", "c"])
    (one,) = read_lists(tmp_path / "lists.gz", 1, 2)
    assert [one.tokens(number) for number in range(2)] == [("a", "b", "a"), ("c",)]
    assert one.features.tolist() == FEATURES


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([[0, 1, 0, 3], STARTS, FEATURES], "the tensor words has values from 0 to 3"),
        ([[0, -1, 0, 2], STARTS, FEATURES], "the tensor words has values from -1 to 2"),
        ([WORDS, [0, 5, 4], FEATURES], "the tensor starts does not rise from 0 to 4"),
        ([WORDS, [0, 3, 5], FEATURES], "the tensor starts does not rise from 0 to 4"),
        ([WORDS, [-1, 3, 4], FEATURES], "the tensor starts does not rise from 0 to 4"),
        ([WORDS, [0, 4], FEATURES], r"the tensor features has the shape \(2, 2\), but translations is 1"),
        ([WORDS, STARTS, [[0.5, np.nan], [1, 1]]], "the tensor features has values from nan to nan"),
        ([WORDS, STARTS, [[0.5, np.inf], [1, 1]]], "the tensor features has values from 0.5 to inf"),
        ([WORDS, STARTS, [[0.5], [1]]], r"the tensor features has the shape \(2, 1\), but features is 2"),
        ([[], [0], np.zeros((0, 2))], "there are no translations"),
        ([[], [], np.zeros((0, 2))], r"the tensor starts has the shape \(0,\), but translations\+1 is 1"),
    ],
)
def test_arrays_that_do_not_belong_together(tmp_path: Path, arrays: list[Any], message: str) -> None:
    write_forged(tmp_path / "lists.gz", arrays, ["a", "b", "c"])
    with pytest.raises(FormatError, match=message):
        list(read_lists(tmp_path / "lists.gz", 1, 2))


@pytest.mark.parametrize("shapes", [[[2**40], [3], [2, 2]], [[4], [3], [2**62, 2]], [[4], [3], [2, 2**40]]])
def test_arrays_that_are_too_large(tmp_path: Path, shapes: list[list[int]]) -> None:
    write_forged(tmp_path / "lists.gz", [WORDS, STARTS, FEATURES], ["a", "b", "c"], shapes)
    with pytest.raises(FormatError, match=r"an array of [\d,]+ bytes, of at most 268,435,456"):
        list(read_lists(tmp_path / "lists.gz", 1, 2))


def test_files_that_end_early_or_never(tmp_path: Path) -> None:
    path = tmp_path / "lists.gz"
    write_lists(path, "key", [TranslationList.of(HYPOTHESES)] * 2)
    assert has_key(path, "key") and not has_key(path, "other") and len(list(read_lists(path, 2, 2))) == 2
    for sentences in (1, 3):
        with pytest.raises(FormatError, match=f"where {sentences} are meant"):
            list(read_lists(path, sentences, 2))
    content = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(content[:-3]))
    with pytest.raises(FormatError, match="it ends early"):
        list(read_lists(path, 2, 2))
    path.write_bytes(gzip.compress(bytes(1 << 26)))  # a long line of NULs, 1000 times as long as its file
    assert not has_key(path, "key")
    path.unlink()
    os.mkfifo(path)
    assert not has_key(path, "key")
    with pytest.raises(FormatError, match="this is no regular file"):
        list(read_lists(path, 2, 2))


@pytest.mark.parametrize("damage", [lambda raw: raw[:-30], lambda raw: gzip.compress(gzip.decompress(raw)[:-3])])
def test_damaged_lists_to_begin_with_are_made_again(
    tmp_path: Path, damage: Callable[[bytes], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    """They are there when a run was interrupted before its first search, or by another run of the same text."""
    expected = run(Decoder(), tmp_path / "whole", seeds=(1,))
    decoder = Decoder()
    with pytest.raises(KeyboardInterrupt):
        run(Decoder(9), tmp_path / "part", seeds=(1,))
    first = tmp_path / "part" / FIRST.format(0)
    first.write_bytes(damage(first.read_bytes()))
    for path in (tmp_path / "part" / "run-1").glob("*"):
        path.unlink()
    assert run(decoder, tmp_path / "part", seeds=(1,)) == expected
    assert "lists of an earlier run are damaged and are made again" in capsys.readouterr().err
