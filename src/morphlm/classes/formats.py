"""Reading the class files of other tools: Brown `paths`, mkcls (both of its files) and our own `class word count`.

What the file and the vocabulary do not share is counted: the caller tells the user. Classes keep the order of their
labels, so that a file that morphlm wrote comes back with the same numbers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from morphlm.classes.partition import NO_CLASS, Partition, assign_rest
from morphlm.errors import InputError
from morphlm.files import source_name
from morphlm.text.reading import BEGIN, read_blocks
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, Vocabulary

MKCLS_BOUNDARY, MKCLS_DOLLAR = "$", "mkcls-mapped-dollar-symbol-$"  # in its `.cats` file


@dataclass(frozen=True)
class ClassFile:
    """A partition from a file, and how well the file fits the vocabulary."""

    partition: Partition
    missing: int  # words of the vocabulary that the file lacks; they were given classes
    ignored: int  # words of the file that the vocabulary lacks

    def format(self) -> str:
        return f"{self.missing:,} words of the vocabulary are not in the file, {self.ignored:,} of the file are unknown"


@dataclass(frozen=True)
class _Line:
    text: str
    number: int
    source: str

    def refuse(self, message: str) -> InputError:
        return InputError(message, source=self.source, line=self.number)


def read_classes(path: str | Path, file_format: str, vocabulary: Vocabulary) -> ClassFile:
    """Read a class file of one of FORMATS for the words of a vocabulary.

    Words that the file lacks get classes by `assign_rest`; without `</s>` in the file, it gets a class of its own.
    """
    labels: dict[int, str] = {}
    ignored = 0
    for line in _lines(path):
        for label, word in FORMATS[file_format](line, vocabulary):
            number = _find(word, vocabulary)
            if number is None:
                ignored += word != BEGIN
            elif number in labels:
                raise line.refuse(f"{word} is here for the second time; keep one of its lines")
            else:
                labels[number] = label
    if not labels:
        raise InputError("the file has no word of the vocabulary; is it for another text?", source=source_name(path))
    return ClassFile(_partition(labels, vocabulary, file_format), len(vocabulary) - 1 - len(labels), ignored)


def _lines(path: str | Path) -> Iterator[_Line]:
    for block in read_blocks(path, marks="any"):
        for number, text in enumerate(block.lines(), block.first_line):
            yield _Line(text, number, block.source)


def _find(word: str, vocabulary: Vocabulary) -> int | None:
    """The id of a word, looked for in normal form C if it is not there as it stands; BEGIN is never found."""
    number = vocabulary.ids.get(word)
    if number is None:
        number = vocabulary.ids.get(unicodedata.normalize("NFC", word))
    return None if number == BEGIN_ID else number


def _partition(labels: dict[int, str], vocabulary: Vocabulary, method: str) -> Partition:
    names = sorted(set(labels.values()), key=_in_order)
    number_of = {name: number for number, name in enumerate(names)}
    class_of = np.full(len(vocabulary), NO_CLASS, np.int32)
    for word, name in labels.items():
        class_of[word] = number_of[name]
    classes = len(names)
    if class_of[END_ID] == NO_CLASS:
        class_of[END_ID] = classes
        classes += 1
    return Partition(vocabulary, assign_rest(class_of, vocabulary.counts, classes, len(vocabulary)), classes, method)


def _in_order(label: str) -> tuple[int, str]:
    """Numbers by their value, other labels as strings after them."""
    return (int(label), "") if label.isascii() and label.isdecimal() else (1 << 62, label)


# ---------------------------------------------------------------- one line of each format: its (label, word) pairs


def _class_word_count(line: _Line, _: Vocabulary) -> Iterator[tuple[str, str]]:
    match = re.fullmatch(r"(\d+)\t([^\t ]+)\t\d+", line.text, re.ASCII)
    if not match:
        raise line.refuse("not `class TAB word TAB count`; make it with `morphlm classes`")
    yield str(int(match[1])), match[2]


def _brown_path(line: _Line, _: Vocabulary) -> Iterator[tuple[str, str]]:
    match = re.fullmatch(r"([01]+)\t([^\t ]+)\t\d+", line.text, re.ASCII)
    if not match:
        raise line.refuse("not `bits TAB word TAB count`; is this the `paths` file of a Brown clustering?")
    yield "b" + match[1], match[2]  # bits sort as a string, not as a number


def _mkcls(line: _Line, vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    if match := re.fullmatch(r"([^\t ]+)[\t ]+(\d+)", line.text, re.ASCII):
        yield str(int(match[2])), match[1]
    elif match := re.fullmatch(r"(\d+):(.*)", line.text, re.ASCII):
        for word in _split_at_commas(match[2].removesuffix(","), vocabulary):
            if word != MKCLS_BOUNDARY:
                yield str(int(match[1])), "$" if word == MKCLS_DOLLAR else word
    elif line.text and not line.text.startswith(";"):
        raise line.refuse("neither `word TAB class` nor `class:word,word,...`; is this a file of mkcls?")


def _split_at_commas(text: str, vocabulary: Vocabulary) -> Iterator[str]:
    """The words of a line of a `.cats` file, where commas separate words but may also be in them (`,` or `0,0`).

    The longest piece that is a word of the vocabulary counts as one; mkcls itself cannot tell.
    """
    pieces = text.split(",") if text else []
    at = 0
    while at < len(pieces):
        shortest = 2 if pieces[at] == "" else 1  # a word is not empty: this is the comma itself
        for length in (4, 3, 2, 1):
            word = ",".join(pieces[at : at + length])
            if length == shortest or (length > shortest and _find(word, vocabulary) is not None):
                yield word
                at += length
                break


FORMATS: dict[str, Callable[[_Line, Vocabulary], Iterator[tuple[str, str]]]] = {
    "tsv": _class_word_count,
    "paths": _brown_path,
    "mkcls": _mkcls,
}
