"""mu as a matrix: M, words x factors, and its inverse.

A word's factors are its surface form and what a source says of it: its morphemes, in the paper. With the vectors of all
factors as the rows of R, the vectors of all words are M R (paper, section 3.1). Each row of M is a list of factors; a
factor that occurs twice in a word, an entry of 2, stands there twice, so adding up what is listed gives M R.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from morphlm.arguments import as_integer, check_words, shown, word_id
from morphlm.arrays import Array, BoolArray, Int32Array, Int64Array
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, FormatError
from morphlm.lazy import PickledWithoutCaches, cached_property
from morphlm.segmentation.morphemes import Segmentation
from morphlm.segmentation.sources.factorisation import Analyser, Factor, Factorisation, from_segmentation
from morphlm.tables import counted
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import Vocabulary, two_columns

Kind = Literal["surface", "morpheme"]

MORPHEMES_FILE, FACTORS_FILE = "morphemes.tsv", "factors.tsv"
BLOCK_WORDS = 1 << 14  # words whose factors' vectors are gathered at a time
_NOT_IN_NAMES = re.compile(r"[ \t\n\ud800-\udfff]")  # what separates names in files, and halves of characters
LONGEST_NEW_WORD = 1000  # characters; the search for the morphemes of a word takes the square of its length


@dataclass(frozen=True)
class Inverse:
    """The transpose of M: the words that contain a factor, in order of their ids."""

    indptr: Int64Array  # (F + 1,)
    words: Int32Array

    def __getitem__(self, factor: int) -> Int32Array:
        """The ids of the words that contain a factor; twice, where it occurs twice."""
        factor = _factor_id(factor, len(self.indptr) - 1)
        return self.words[self.indptr[factor] : self.indptr[factor + 1]]


@dataclass(frozen=True, eq=False)
class Factors(PickledWithoutCaches):
    """M in compressed rows. Surface factors come first, in order of word ids; then the others, frequent ones first."""

    vocabulary: Vocabulary
    names: tuple[str, ...]  # by factor id; a surface factor has the name of its word
    surfaces: int  # the number of surface factors
    indptr: Int64Array  # (V + 1,): where the factors of each word begin; every word has one at least
    indices: Int32Array  # ids of factors, the surface factor first and the others in the order of the word
    source: str  # where they come from
    analyser: Analyser | None = None  # gives the factors of words that are not in the vocabulary; None: they have none

    __repr__ = dataclass_repr

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, word: int) -> Int32Array:
        """The factors of the word with this id."""
        if type(word) is not int or not 0 <= word < len(self.vocabulary.words):
            word = word_id(word, len(self.vocabulary))
        return self.indices[self.indptr[word] : self.indptr[word + 1]]

    def kind_of(self, factor: int) -> Kind:
        """Whether a factor is a word's surface form, or a morpheme or whatever else the source gives."""
        return "surface" if _factor_id(factor, len(self)) < self.surfaces else "morpheme"

    @cached_property
    def ids(self) -> dict[str, int]:
        """Name to id, of all factors but the surface forms; these have names of their own, which may be the same."""
        return {name: number for number, name in enumerate(self.names[self.surfaces :], self.surfaces)}

    def of_new_word(self, word: str) -> Int32Array:
        """The ids of the known factors of a word that is not in the vocabulary; there may be none."""
        return self.of_new_words([word])[0]

    def of_new_words(self, words: Sequence[str]) -> list[Int32Array]:
        """The ids of the known factors of many words, which is quicker than one by one."""
        ids = self.ids
        names = self.names_of_new_words(words)
        return [np.array([ids[name] for name in of_word if name in ids], np.int32) for of_word in names]

    def names_of_new_words(self, words: Sequence[str]) -> list[list[str]]:
        """The factors of words that are not in the vocabulary, in order, those without a vector included."""
        check_words(words)
        if self.analyser is None:
            return [[] for _ in words]
        short = [word if len(word) <= LONGEST_NEW_WORD else "" for word in words]
        return [list(of_word) for of_word in self.analyser.names_of(short)]

    def names_of(self, word: int) -> list[str]:
        """The factors of the word with this id, in order, without its surface form."""
        return [self.names[factor] for factor in self[word].tolist() if factor >= self.surfaces]

    @cached_property
    def inverse(self) -> Inverse:
        word_of_entry = np.repeat(np.arange(len(self.vocabulary), dtype=np.int32), np.diff(self.indptr))
        by_factor = np.argsort(self.indices, kind="stable")
        return Inverse(_indptr(np.bincount(self.indices, minlength=len(self))), word_of_entry[by_factor])

    def with_words(self, vocabulary: Vocabulary, factors_of: Sequence[Int32Array], *, surface: bool = False) -> Factors:
        """M with rows for more words, at the end of a longer vocabulary, whose factors are known ones.

        A word that has none gets a surface factor, with `surface` every word does; these come after the surface factors
        that there are.
        """
        new = vocabulary.words[len(self.vocabulary) :]
        has_surface = [surface or not len(factors) for factors in factors_of]
        surface_names = [word for word, has in zip(new, has_surface, strict=True) if has]
        first, moved = self.surfaces, len(surface_names)
        surfaces = iter(range(first, first + moved))
        own = [np.array([next(surfaces)] if has else [], np.int32) for has in has_surface]
        rows = [np.append(one, factors + moved) for one, factors in zip(own, factors_of, strict=True)]
        kept = np.where(self.indices < first, self.indices, self.indices + moved)
        lengths = np.concatenate([np.diff(self.indptr), np.array([len(row) for row in rows], np.int64)])
        return replace(
            self,
            vocabulary=vocabulary,
            names=(*self.names[:first], *surface_names, *self.names[first:]),
            surfaces=first + moved,
            indptr=_indptr(lengths),
            indices=np.concatenate([kept, *rows]).astype(np.int32),
        )

    def times(self, table: Array) -> Array:
        """M R for a table R with a row for each factor: the sum of the rows of each word's factors."""
        if not isinstance(table, np.ndarray) or table.shape[:1] != (len(self),):
            raise ConfigError(f"{shown(table)} is no table of {len(self):,} rows; give one with a row for each factor")
        product = np.empty((len(self.vocabulary), *table.shape[1:]), table.dtype)
        for begin in range(0, len(product), BLOCK_WORDS):
            starts = self.indptr[begin : begin + BLOCK_WORDS + 1]
            rows = table[self.indices[starts[0] : starts[-1]]]
            np.add.reduceat(rows, starts[:-1] - starts[0], axis=0, out=product[begin : begin + BLOCK_WORDS])
        return product

    @cached_property
    def unfactored(self) -> int:
        """The number of words of which the source says nothing, so that they have only their surface factor."""
        last = self.indices[self.indptr[1:] - 1]  # the surface factor stands first
        return int((last < self.surfaces).sum()) - len(RESERVED)

    def format(self) -> str:
        words = len(self.vocabulary) - len(RESERVED)
        return (
            f"{self.source}\n"
            f"  factors  {len(self):,}: {self.surfaces:,} surface forms, {len(self) - self.surfaces:,} others\n"
            f"  words    {words:,}, with {len(self.indices) / len(self.vocabulary):.2f} factors each; "
            f"{self.unfactored:,} have only their surface form"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "factors": len(self),
            "surface_factors": self.surfaces,
            "words": len(self.vocabulary) - len(RESERVED),
            "entries": len(self.indices),
            "words_with_surface_only": self.unfactored,
        }

    def to_texts(self) -> dict[str, str]:
        """The text files of a model directory: `word TAB factor factor ...`, and `kind TAB factor` in order of ids.

        A word's surface factor is not repeated beside it: it has one if the second file says so.
        """
        return {MORPHEMES_FILE: self._words_text(), FACTORS_FILE: self._factors_text()}

    def _words_text(self) -> str:
        ends = self.indptr[1:].tolist()
        entries = [self.names[k] if k >= self.surfaces else "" for k in self.indices.tolist()]
        lines, begin = [], 0
        for word, end in zip(self.vocabulary.words, ends, strict=True):
            first = begin if entries[begin] else begin + 1
            lines.append(f"{word}\t{' '.join(entries[first:end])}\n")
            begin = end
        return "".join(lines)

    def _factors_text(self) -> str:
        return "".join(f"{self.kind_of(number)}\t{name}\n" for number, name in enumerate(self.names))


def _factor_id(value: object, size: int) -> int:
    number = as_integer(value)
    if number is None or not 0 <= number < size:
        raise ConfigError(f"{shown(value)} is no id of a factor; ids are whole numbers in 0..{size - 1:,}")
    return number


def _indptr(lengths: NDArray[np.integer[Any]]) -> Int64Array:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


# ---------------------------------------------------------------- building


@dataclass(frozen=True)
class _Entries:
    """What the source says of all words, with numbers in place of names."""

    names: list[str]
    lengths: Int64Array  # (V,): how many factors each word has; none for the reserved ones
    numbers: Int32Array


def build_factors(
    vocabulary: Vocabulary, factorisation: Factorisation | Segmentation, *, surface: bool = True
) -> Factors:
    """The matrix M of a vocabulary, by a `factorisation` of `choose_source`, whose analyser is for other words.

    A morpheme that is the whole word, `word/STM`, is another factor than the word's surface form. Without `surface`,
    only the reserved words and those that the source does not know have a surface factor.
    """
    if isinstance(factorisation, Segmentation):
        factorisation = from_segmentation(factorisation)
    entries = _by_frequency(_collect(vocabulary, factorisation), vocabulary)
    has_surface = np.full(len(vocabulary), True) if surface else entries.lengths == 0
    surface_names = [word for word, has in zip(vocabulary.words, has_surface.tolist(), strict=True) if has]
    indptr, indices = _rows(has_surface, entries.lengths, entries.numbers)
    names = (*surface_names, *entries.names)
    source, analyser = factorisation.source, factorisation.analyser
    return Factors(vocabulary, names, len(surface_names), indptr, indices, source, analyser)


def _collect(vocabulary: Vocabulary, factorisation: Factorisation) -> _Entries:
    """Ask the source for every word, and number the factors as they come."""
    number_of: defaultdict[Factor, int] = defaultdict()
    number_of.default_factory = number_of.__len__
    numbers = array("i")
    ends = array("q", [0] * (len(RESERVED) + 1))
    for word in vocabulary.words[len(RESERVED) :]:
        numbers.extend(map(number_of.__getitem__, factorisation.factors_of(word)))
        ends.append(len(numbers))
    names = list(map(str, number_of))
    _check_names(names)
    return _merge_equal_names(names, np.diff(np.array(ends)), np.array(numbers, np.int32))


def _check_names(names: list[str]) -> None:
    if "" in names or _NOT_IN_NAMES.search("".join(names)):
        bad = next(name for name in names if not name or _NOT_IN_NAMES.search(name))
        raise ConfigError(f"{bad!r} cannot be the name of a factor; use characters of Unicode without white space")


def _merge_equal_names(names: list[str], lengths: Int64Array, numbers: Int32Array) -> _Entries:
    """A morpheme and a string may have one name; then they are one factor."""
    if len(set(names)) == len(names):
        return _Entries(names, lengths, numbers)
    number_of = {name: number for number, name in enumerate(dict.fromkeys(names))}
    merged = np.fromiter((number_of[name] for name in names), np.int32, len(names))
    return _Entries(list(number_of), lengths, merged[numbers])


def _by_frequency(entries: _Entries, vocabulary: Vocabulary) -> _Entries:
    """Number the factors anew: by their frequency in the text, then by name."""
    tokens = np.repeat(vocabulary.counts, entries.lengths).astype(np.float64)  # whole numbers, exact below 2^53
    frequencies = np.bincount(entries.numbers, tokens, len(entries.names))
    by_name = np.array(sorted(range(len(entries.names)), key=entries.names.__getitem__), np.int64)
    order = by_name[np.argsort(-frequencies[by_name], kind="stable")]
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return _Entries([entries.names[k] for k in order.tolist()], entries.lengths, rank[entries.numbers])


def _rows(has_surface: BoolArray, lengths: Int64Array, numbers: Int32Array) -> tuple[Int64Array, Int32Array]:
    """Put the surface factor of each word that has one before its other factors."""
    surfaces = int(has_surface.sum())
    indptr = _indptr(lengths + has_surface)
    indices = np.empty(indptr[-1], np.int32)
    is_surface = np.zeros(len(indices), bool)
    is_surface[indptr[:-1][has_surface]] = True
    indices[is_surface] = np.arange(surfaces, dtype=np.int32)
    indices[~is_surface] = numbers + np.int32(surfaces)
    return indptr, indices


# ---------------------------------------------------------------- reading


def parse_factors(
    texts: Mapping[str, str], vocabulary: Vocabulary, *, source: str = "model", analyser: Analyser | None = None
) -> Factors:
    """Read what `to_texts` wrote, for the same vocabulary."""
    names, surfaces = _parse_names(texts[FACTORS_FILE])
    has_surface = _mark_surfaces(names[:surfaces], vocabulary)
    number_of = {name: number for number, name in enumerate(names[surfaces:])}
    if len(number_of) != len(names) - surfaces:
        raise _damaged(FACTORS_FILE, None, "a factor is listed twice")
    lengths, numbers = _parse_words(texts[MORPHEMES_FILE], vocabulary, number_of)
    if not (has_surface | (lengths > 0)).all():
        raise _damaged(MORPHEMES_FILE, int((has_surface | (lengths > 0)).argmin()) + 1, "the word has no factor")
    indptr, indices = _rows(has_surface, lengths, numbers)
    return Factors(vocabulary, tuple(names), surfaces, indptr, indices, source, analyser)


def _damaged(file: str, line: int | None, problem: str) -> FormatError:
    return FormatError(f"{file}{'' if line is None else f':{line}'}: {problem}; make the model again")


def _parse_names(text: str) -> tuple[list[str], int]:
    """The names of the factors, and how many of them are surface forms."""
    kinds, names = two_columns(text) or _first_tabs(text)
    surfaces = kinds.count("surface")
    if kinds != ["surface"] * surfaces + ["morpheme"] * (len(kinds) - surfaces) or "" in names:
        raise _other_kinds(kinds, names)
    return names, surfaces


def _other_kinds(kinds: list[str], names: list[str]) -> FormatError:
    """Naming the first line that is wrong."""
    line, before = 0, "surface"
    while kinds[line] in (before, "morpheme") and names[line]:
        line, before = line + 1, kinds[line]
    return _damaged(FACTORS_FILE, line + 1, "not `kind TAB factor` with the surface forms first")


def _mark_surfaces(names: list[str], vocabulary: Vocabulary) -> BoolArray:
    """Which words have a surface factor; those are listed in order of their ids."""
    if tuple(names) == vocabulary.words:
        return np.full(len(vocabulary), True)
    words = np.array([vocabulary.ids.get(name, -1) for name in names], np.int64)
    if len(words) < len(RESERVED) or words[0] != 0 or (np.diff(words) <= 0).any():
        raise _damaged(FACTORS_FILE, None, "the surface forms are not words of the vocabulary in its order")
    has_surface = np.zeros(len(vocabulary), bool)
    has_surface[words] = True
    return has_surface


def _parse_words(text: str, vocabulary: Vocabulary, number_of: Mapping[str, int]) -> tuple[Int64Array, Int32Array]:
    """How many factors besides the surface form each word has, and which."""
    words, lists = two_columns(text) or _first_tabs(text)
    if tuple(words) != vocabulary.words:
        raise _other_words(words, vocabulary)
    entries = " ".join(filter(None, lists)).split(" ") if any(lists) else []
    try:
        numbers = np.fromiter(map(number_of.__getitem__, entries), np.int32, len(entries))
    except KeyError as error:
        line = next(k for k, factors in enumerate(lists, 1) if factors and error.args[0] in factors.split(" "))
        raise _damaged(MORPHEMES_FILE, line, f"{error} is not in {FACTORS_FILE}") from error
    return np.array([factors.count(" ") + 1 if factors else 0 for factors in lists], np.int64), numbers


def _first_tabs(text: str) -> tuple[list[str], list[str]]:
    """Lines that are not all in two columns, cut at their first TAB; a second one shows in the name of a factor."""
    parts = [line.partition("\t") for line in text.split("\n")[:-1]]
    return [part[0] for part in parts], [part[2] for part in parts]


def _other_words(words: list[str], vocabulary: Vocabulary) -> FormatError:
    if len(words) != len(vocabulary):
        return _damaged(
            MORPHEMES_FILE, None, f"{counted(len(words), 'word')} where the vocabulary has {len(vocabulary)}"
        )
    pairs = enumerate(zip(words, vocabulary.words, strict=True), 1)
    line, written, word = next((line, *pair) for line, pair in pairs if pair[0] != pair[1])
    return _damaged(MORPHEMES_FILE, line, f"{written!r} where the vocabulary has {word!r}")
