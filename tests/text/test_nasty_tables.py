"""Every reader of a table gets lines that Python's own functions trip over, and takes them or raises our errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from morphlm.analysis.tag_reading import read_conllu_tags, read_slashes
from morphlm.classes.formats import FORMATS, read_classes
from morphlm.errors import FormatError, InputError, MorphlmError
from morphlm.experiments.recipe import read_recipe
from morphlm.ngram.arpa.reading import read_arpa
from morphlm.scoring.kbest import find_format, read_weights
from morphlm.segmentation.gold import read_gold
from morphlm.segmentation.sources.conllu import read_conllu
from morphlm.segmentation.sources.morfessor import read_morfessor
from morphlm.segmentation.sources.table import read_table
from morphlm.text.reading import numbered_lines, parse_number
from morphlm.translation.alignment.pharaoh import read_pharaoh
from morphlm.translation.grammar.reading import read_rules
from morphlm.vectors.reading import load_vectors
from morphlm.vectors.similarity import read_pairs
from morphlm.vocabulary.vocabulary import Vocabulary, load_vocabulary

VOCABULARY = Vocabulary(("<unk>", "<s>", "</s>", "a", "b"), np.array([0, 2, 2, 1, 1]))
HUGE = "9" * 5000  # more digits than Python turns into a number
SPACES = "\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2028\u3000"

PIECES = [
    "",
    "a",
    *SPACES,
    SPACES,
    HUGE,
    "-1",
    "1_0",
    "１",
    "²",
    "nan",
    "-inf",
    "1e999",
    "0x10",
    "|||",
    "=",
    "[X]",
    "\x00",
]
LINES = [
    *[f"{piece}\n" for piece in PIECES],
    *[f"{one}{separator}{two}\n" for separator in ("\t", " ", ":", "-", "=") for one in PIECES for two in ("a", HUGE)],
    *[f"{one}\t{two}\t{one}\n" for one in PIECES for two in ("a", *SPACES)],
    *[f"{one} ||| {two} ||| f={one}\n" for one in PIECES for two in ("a", "\x0b", HUGE)],
    *[f"[X] ||| a [X,{one}] ||| [{one}] b ||| f={one} ||| {one}-0\n" for one in PIECES],
    *[f"\\data\\\nngram {one}={two}\n\n\\1-grams:\n{one}\ta\n" for one in ("1", HUGE, "１") for two in ("1", HUGE)],
    *[f"\\data\\\nngram 1=2\n\n\\1-grams:\n{one}\ta\n-1\t</s>\t{one}\n\\end\\\n" for one in PIECES],
    *[f"1 {one}\na {one}\n" for one in ("1", HUGE, "99999999999")],
    *[f"1 1\na {one}\n" for one in PIECES],
]


def read_kbest(path: Path) -> None:
    for number, line in numbered_lines(path):
        for name in ("auto", "moses", "cdec", "tsv"):
            find_format(name, line, None).parse(line, number)


READERS: dict[str, Callable[[Path], Any]] = {
    "Pharaoh": read_pharaoh,
    **{name: partial(read_classes, file_format=name, vocabulary=VOCABULARY) for name in FORMATS},
    "ARPA": read_arpa,
    "weights": lambda path: read_weights(str(path)),
    "k-best": read_kbest,
    "rated pairs": read_pairs,
    "rules": read_rules,
    "gold": read_gold,
    "CoNLL-U": read_conllu,
    "CoNLL-U tags": lambda path: list(read_conllu_tags(path)),
    "slashes": lambda path: list(read_slashes(path)),
    "Morfessor": read_morfessor,
    "table": read_table,
    "vocabulary": load_vocabulary,
    "vectors": load_vectors,
    "recipe": lambda path: read_recipe(path.read_text(), "r", "r.toml"),
}


@pytest.mark.parametrize("name", READERS)
def test_whatever_a_line_holds_it_is_taken_or_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "table"
    for text in LINES:
        path.write_text(text)
        try:
            READERS[name](path)
        except MorphlmError as error:
            assert "\n" not in str(error), text


def test_a_line_of_vertical_tabs_is_no_alignment(tmp_path: Path) -> None:
    (tmp_path / "links").write_bytes(b"0-0\n\x0b\x0b\n")
    with pytest.raises(InputError, match=r"links:2: '\\x0b\\x0b' is no link"):
        read_pharaoh(tmp_path / "links")


@pytest.mark.parametrize("text", ["1_0", "１", "²", "", "0x10", "1\u00a0"])
def test_what_only_python_takes_for_a_number(text: str) -> None:
    with pytest.raises(ValueError, match=r"number|float"):
        parse_number(text)


@pytest.mark.parametrize("value", ["1" * 5000, "[" * 5000])
def test_numbers_and_nesting_without_end_in_a_recipe(value: str) -> None:
    with pytest.raises(MorphlmError, match=r"^r\.toml: this is no TOML"):
        read_recipe(f"seed = {value}\n", "r", "r.toml")


# ---------------------------------------------------------------- vectors


def npy(tmp_path: Path, content: bytes) -> Path:
    (tmp_path / "v.npy").write_bytes(content)
    (tmp_path / "v.words.txt").write_text("a\nb\n")
    return tmp_path / "v.npy"


def header(text: str, version: bytes = b"\x01\x00") -> bytes:
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        b"PK\x03\x04" + bytes(100),
        b"\x80\x04pickle",
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2"),
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 'a')}"),
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 2)}"),
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, -2)}"),
        header("{'descr': '|O', 'fortran_order': False, 'shape': (2, 2)}") + bytes(64),
        header("{'descr': '<U4', 'fortran_order': False, 'shape': (2, 2)}") + bytes(64),
        header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 2)}") + bytes(64),
        header("'''"),
        header("(" * 3000),
        header("\x00\xff"),
        header("{}", b"\x09\x00"),
    ],
)
def test_a_broken_header_of_npy_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(FormatError, match=r"v\.npy: not a matrix of vectors"):
        load_vectors(npy(tmp_path, content))


def test_the_order_of_fortran_is_read_and_nan_refused(tmp_path: Path) -> None:
    matrix = np.asfortranarray(np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    path = npy(tmp_path, b"")
    np.save(path, matrix)
    assert load_vectors(path)["b"].tolist() == [4, 5, 6]
    matrix[0, 0] = np.nan
    np.save(path, matrix)
    with pytest.raises(FormatError, match="not finite"):
        load_vectors(path)
