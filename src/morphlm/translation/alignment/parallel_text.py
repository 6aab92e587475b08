"""Parallel text as arrays of word numbers: what alignment begins with, from two files or one of ` ||| ` pairs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from morphlm.arrays import Array, starts_of
from morphlm.display import dataclass_repr
from morphlm.errors import InputError
from morphlm.files import source_name
from morphlm.tables import counted
from morphlm.vocabulary.corpus import RawCorpus, Source, describe, read_corpus
from morphlm.vocabulary.vocabulary import END_ID

SEPARATOR = "|||"


@dataclass(frozen=True, eq=False)
class Side:
    """The sentences of one language; words are numbered by falling frequency."""

    words: tuple[str, ...]
    tokens: Array  # int32, of all sentences
    starts: Array  # (S+1,) int64: where each sentence begins

    __repr__ = dataclass_repr

    @property
    def lengths(self) -> Array:
        """The number of words of each sentence."""
        return np.diff(self.starts)

    def sentence(self, number: int) -> list[str]:
        return [self.words[token] for token in self.tokens[self.starts[number] : self.starts[number + 1]]]


@dataclass(frozen=True, eq=False)
class ParallelText:
    """Sentence n of one side is the translation of sentence n of the other."""

    source: Side
    target: Side

    __repr__ = dataclass_repr

    def __len__(self) -> int:
        return len(self.source.starts) - 1


def read_parallel(source: Source, target: Source, *, allow_unknown: bool = False) -> ParallelText:
    """Read tokenised text, line by line translations: files or iterables of token lists."""
    sides = [_side_of(read_corpus(side, allow_unknown=allow_unknown)) for side in (source, target)]
    lines = [len(side.starts) - 1 for side in sides]
    if lines[0] != lines[1]:
        raise InputError(
            f"{describe(source)} has {counted(lines[0], 'line')} and {describe(target)} has {lines[1]:,}, so they are "
            "no line-by-line translations; give two files of which line n of one translates line n of the other"
        )
    return ParallelText(sides[0], sides[1])


def read_pairs(path: str | Path, *, allow_unknown: bool = False) -> ParallelText:
    """Read `source words ||| target words`, a pair a line."""
    corpus = read_corpus(path, allow_unknown=allow_unknown)
    separator = corpus.words.forms.index(SEPARATOR) if SEPARATOR in corpus.words.forms else -1
    _check_separators(corpus, separator, source_name(path))
    marks = np.flatnonzero((corpus.tokens == separator) | (corpus.tokens == END_ID))
    sizes = np.diff(marks, prepend=-1) - 1  # of source, target, source, target, ...
    words = np.delete(corpus.tokens, marks)
    of_source = np.repeat(np.arange(len(sizes)) % 2 == 0, sizes)
    forms = corpus.words.forms
    return ParallelText(
        _numbered(words[of_source], starts_of(sizes[::2]), forms),
        _numbered(words[~of_source], starts_of(sizes[1::2]), forms),
    )


def _check_separators(corpus: RawCorpus, separator: int, name: str) -> None:
    ends = np.flatnonzero(corpus.tokens == END_ID)
    before = np.searchsorted(np.flatnonzero(corpus.tokens == separator), ends)
    separators = np.diff(before, prepend=0)
    if (separators != 1).any():
        line = int(np.argmax(separators != 1))
        problem = f"the line has {separators[line]} {SEPARATOR!r} where one parts source and target"
        raise InputError(f"{problem}; mend it, or give two files", source=name, line=line + 1)


def _side_of(corpus: RawCorpus) -> Side:
    ends = np.flatnonzero(corpus.tokens == END_ID)
    words = np.delete(corpus.tokens, ends)
    return _numbered(words, starts_of(np.diff(ends, prepend=-1) - 1), corpus.words.forms)


def _numbered(tokens: Array, starts: Array, forms: list[str]) -> Side:
    """Number the words that occur by falling frequency, equal ones by first appearance in the text."""
    counts = np.bincount(tokens, minlength=len(forms))
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    numbers = np.zeros(len(forms), np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    return Side(tuple(forms[k] for k in order), numbers[tokens], starts)
