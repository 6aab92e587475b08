"""Factors from a treebank or a tagger's output in CoNLL-U: lemma, part of speech and features.

A form gets the analysis that it has most often; of equally frequent ones, the first. A token that stands for several
words (`im` for `in dem`) gets the factors of all of them, because it is the token that stands in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from morphlm.errors import InputError
from morphlm.files import source_name
from morphlm.segmentation.sources.factorisation import Factorisation, from_mapping
from morphlm.tables import counted
from morphlm.text.reading import numbered_lines

Analysis = tuple[str, ...]
Line = tuple[int, list[str]]  # the number of a line and its columns

_WORD_ID = re.compile(r"[0-9]{1,18}")
_RANGE_ID = re.compile(r"[0-9]{1,18}-[0-9]{1,18}")
_EMPTY_NODE_ID = re.compile(r"[0-9]{1,18}\.[0-9]{1,18}")
_NOTHING = "_"
_FORM, _LEMMA, _UPOS, _FEATURES = 1, 2, 3, 5  # columns


def read_conllu(path: str | Path, *, lowercase: bool = True) -> Factorisation:
    """Read `lemma=...`, `pos=...` and the features (`Case=Gen`) of every form; forms and lemmas in lower case."""
    source = source_name(path)
    analyses: defaultdict[str, Counter[Analysis]] = defaultdict(Counter)
    for sentence in read_sentences(path, source, lowercase):
        for form, analysis in _tokens(sentence, source):
            analyses[form][analysis] += 1
    if not analyses:
        raise InputError("there is no word in this file; give a file in CoNLL-U", source=source)
    # most_common keeps the order of arrival among equals
    return from_mapping({form: counts.most_common(1)[0][0] for form, counts in analyses.items()}, f"conllu {source}")


def read_sentences(path: str | Path, source: str, lowercase: bool) -> Iterator[list[Line]]:
    """The lines of words and of ranges, sentence by sentence."""
    sentence: list[Line] = []
    for number, line in numbered_lines(path):
        if not line:
            yield sentence
            sentence = []
        elif not line.startswith("#"):
            columns = unicodedata.normalize("NFC", line).split("\t")
            _check(columns, source, number)
            if not _EMPTY_NODE_ID.fullmatch(columns[0]):
                sentence.append((number, _lowercased(columns) if lowercase else columns))
    yield sentence


def _check(columns: list[str], source: str, number: int) -> None:
    if len(columns) != 10 or not all(columns):
        message = f"{counted(len(columns), 'column')}; CoNLL-U has ten, with TABs between them and _ for nothing"
        raise InputError(message, source=source, line=number)
    if not any(pattern.fullmatch(columns[0]) for pattern in (_WORD_ID, _RANGE_ID, _EMPTY_NODE_ID)):
        message = f"{columns[0]} is no number of a word; write 1, or 1-2 for a token of several words"
        raise InputError(message, source=source, line=number)


def _lowercased(columns: list[str]) -> list[str]:
    number, form, lemma, *others = columns
    return [number, *(unicodedata.normalize("NFC", text.lower()) for text in (form, lemma)), *others]


def _tokens(sentence: list[Line], source: str) -> Iterator[tuple[str, Analysis]]:
    """Form and analysis of each token: a word, or the words of a range together."""
    words = {columns[0]: _analysis(columns, source, number) for number, columns in sentence if is_word(columns)}
    inside: set[str] = set()
    for number, columns in sentence:
        if is_word(columns):
            parts = [] if columns[0] in inside else [columns[0]]
        else:
            parts = range_of(columns[0], words, source, number)
            inside.update(parts)
        if parts and " " not in columns[_FORM]:  # a form with a space is no token of a text
            yield columns[_FORM], tuple(name for part in parts for name in words[part])


def is_word(columns: list[str]) -> bool:
    """Whether a line is a word and no range."""
    return columns[0].isdecimal()


def range_of(text: str, words: Mapping[str, Analysis], source: str, number: int) -> list[str]:
    """The numbers of the words that a range spans."""
    first, last = map(int, text.split("-"))
    parts = [str(part) for part in range(first, min(last, first + len(words)) + 1)]
    if not parts or not words.keys() >= set(parts):
        message = f"the token {text} spans words that are not in its sentence; correct its number"
        raise InputError(message, source=source, line=number)
    return parts


def _analysis(columns: list[str], source: str, number: int) -> Analysis:
    """The names of a word's factors."""
    features = [] if columns[_FEATURES] == _NOTHING else columns[_FEATURES].split("|")
    if not all(name and value for name, _, value in (feature.partition("=") for feature in features)):
        message = f"{columns[_FEATURES]} are no features; write Name=Value|Name=Value, or _ for none"
        raise InputError(message, source=source, line=number)
    named = [(prefix, columns[column]) for prefix, column in (("lemma", _LEMMA), ("pos", _UPOS))]
    known = [f"{prefix}={value}" for prefix, value in named if value != _NOTHING]
    return tuple(name.replace(" ", "_") for name in (*known, *features))
