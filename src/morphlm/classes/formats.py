"""Reading the class files of other tools: Brown `paths`, mkcls (both of its files) and our own `class word count`.

What the file and the vocabulary do not share is counted. Classes keep the order of their
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
from morphlm.progress import notify
from morphlm.tables import counted
from morphlm.text.reading import BEGIN, numbered_lines
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, Vocabulary

MKCLS_BOUNDARY, MKCLS_DOLLAR = "$", "mkcls-mapped-dollar-symbol-$"  # in its `.cats` file


@dataclass(frozen=True)
class ClassFile:
    """A partition from a file, and how well the file fits the vocabulary."""

    partition: Partition
    missing: int  # words of the vocabulary that the file lacks; they were given classes
    ignored: int  # words of the file that the vocabulary lacks

    def format(self) -> str:
        return (
            f"not in the file: {counted(self.missing, 'word')} of the vocabulary; unknown: {self.ignored:,} of the file"
        )


def read_classes(path: str | Path, file_format: str, vocabulary: Vocabulary) -> ClassFile:
    """Read a class file of one of FORMATS for the words of a vocabulary.

    Words that the file lacks get classes by `assign_rest`; without `</s>` in the file, it gets a class of its own.
    """
    source, layout = source_name(path), FORMATS[file_format]
    labels: dict[int, str] = {}
    ignored = 0
    for number, line in numbered_lines(path):
        entries = layout.parse(line, vocabulary)
        if entries is None:
            raise InputError(layout.refusal, source=source, line=number)
        for label, word in entries:
            word_id = _find(word, vocabulary)
            if word_id is None:
                ignored += word != BEGIN
            elif word_id in labels:
                message = f"{word} is here for the second time; keep one of its lines"
                raise InputError(message, source=source, line=number)
            else:
                labels[word_id] = label
    if not labels:
        raise InputError("the file has no word of the vocabulary; is it for another text?", source=source)
    return ClassFile(_partition(labels, vocabulary, file_format), len(vocabulary) - 1 - len(labels), ignored)


def read_given_classes(path: str | Path, file_format: str, vocabulary: Vocabulary) -> Partition:
    """The partition of `read_classes`, with a message about words that file and vocabulary do not share."""
    file = read_classes(path, file_format, vocabulary)
    if file.missing or file.ignored:
        notify(f"{path}: {file.format()}")
    return file.partition


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


# ---------------------------------------------------------------- formats

Entries = list[tuple[str, str]]  # the classes, by their labels, and the words of a line


@dataclass(frozen=True)
class ClassFormat:
    """A file format of word classes."""

    parse: Callable[[str, Vocabulary], Entries | None]  # None: the line is not of this format
    refusal: str  # the message about such a line


def _parse_class_word_count(line: str, _: Vocabulary) -> Entries | None:
    match = re.fullmatch(r"(\d{1,18})\t([^\t ]+)\t\d+", line, re.ASCII)
    return [(str(int(match[1])), match[2])] if match else None


def _parse_brown_path(line: str, _: Vocabulary) -> Entries | None:
    match = re.fullmatch(r"([01]+)\t([^\t ]+)\t\d+", line, re.ASCII)
    return [("b" + match[1], match[2])] if match else None  # bits sort as a string, not as a number


def _parse_mkcls(line: str, vocabulary: Vocabulary) -> Entries | None:
    if match := re.fullmatch(r"([^\t ]+)[\t ]+(\d{1,18})", line, re.ASCII):
        return [(str(int(match[2])), match[1])]
    if match := re.fullmatch(r"(\d{1,18}):(.*)", line, re.ASCII):
        label, words = str(int(match[1])), _split_at_commas(match[2].removesuffix(","), vocabulary)
        return [(label, "$" if word == MKCLS_DOLLAR else word) for word in words if word != MKCLS_BOUNDARY]
    return [] if not line or line.startswith(";") else None


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


FORMATS = {
    "tsv": ClassFormat(_parse_class_word_count, "not `class TAB word TAB count`; make it with `morphlm classes`"),
    "paths": ClassFormat(
        _parse_brown_path, "not `bits TAB word TAB count`; is this the `paths` file of a Brown clustering?"
    ),
    "mkcls": ClassFormat(_parse_mkcls, "neither `word TAB class` nor `class:word,word,...`; is this a file of mkcls?"),
}
