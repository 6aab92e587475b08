"""The words a model knows: ordered by frequency then form, with singletons pruned at rate kappa.

Ids 0, 1 and 2 are UNK, the begin and the end of a sentence; words follow. Rare words matter in languages with rich
morphology, so instead of a cut-off only a random share kappa of the words that occur once becomes UNK (paper, 4.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import numpy as np

from morphlm.arguments import check_word, check_words
from morphlm.arrays import BoolArray, Int32Array, Int64Array
from morphlm.display import Row, Tabular, described
from morphlm.errors import ConfigError, InputError
from morphlm.files import atomic_writer, source_name
from morphlm.lazy import PickledWithoutCaches, cached_property
from morphlm.text.reading import BEGIN, END, RESERVED, UNKNOWN, read_blocks
from morphlm.vocabulary.spelling_order import SpellingOrder, sort_by_spelling
from morphlm.wording import either

UNK_ID, BEGIN_ID, END_ID = 0, 1, 2
NOTHING = -1  # in a context: the word is not known, nor are those before it
VOCABULARY_FILE = "vocabulary.tsv"  # in a model directory


@dataclass(frozen=True, eq=False)
class Vocabulary(Tabular, PickledWithoutCaches):
    """Words by id, each with its count in the training text."""

    words: tuple[str, ...]
    counts: Int64Array

    def __post_init__(self) -> None:
        if not isinstance(self.words, tuple) or len(self.counts) != len(self.words):
            raise ConfigError("a vocabulary is a tuple of words with a count for each; give as many of both")
        try:
            "".join(self.words).encode()
        except (TypeError, UnicodeEncodeError):
            raise ConfigError("a word of the vocabulary is not a proper string; give words as str") from None
        if self.words[: len(RESERVED)] != RESERVED:
            raise ConfigError(f"a vocabulary begins with {', '.join(RESERVED)}; this one with {self.words[:3]}")
        if len(self.ids) != len(self.words):
            raise ConfigError("a word is in the vocabulary twice; give each word once")

    def __repr__(self) -> str:
        return described(self, entries=len(self.words), tokens=int(self.counts[END_ID + 1 :].sum()))

    def frame_rows(self) -> Iterator[Row]:
        return ({"word": word, "count": count} for word, count in zip(self.words, self.counts.tolist(), strict=True))

    @cached_property
    def ids(self) -> dict[str, int]:
        return dict(zip(self.words, range(len(self.words)), strict=True))

    @cached_property
    def spelling_order(self) -> SpellingOrder:
        """The words in the order of their spelling, to find those with a prefix."""
        return sort_by_spelling(self.words)

    def __len__(self) -> int:
        """The number of entries, the three reserved ones included."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        """Whether the word is known; the reserved marks are not words."""
        return self.ids.get(word, 0) > END_ID if isinstance(word, str) else False

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def id_of(self, word: str) -> int:
        """The id of a word, UNK's if it is not known."""
        if type(word) is not str:
            check_word(word)
        return self.ids.get(word, UNK_ID)

    def encode(self, tokens: Sequence[str]) -> Int32Array:
        """The ids of a sentence's tokens."""
        check_words(tokens)
        return np.fromiter(map(self.ids.get, tokens, repeat(UNK_ID)), np.int32, len(tokens))

    def with_words(self, words: Sequence[str]) -> Vocabulary:
        """The vocabulary with words at its end that the training text does not have."""
        return Vocabulary((*self.words, *words), np.concatenate([self.counts, np.zeros(len(words), np.int64)]))

    def to_tsv(self) -> str:
        """One `word TAB count` a line, in order of ids."""
        return "".join(f"{word}\t{count}\n" for word, count in zip(self.words, self.counts.tolist(), strict=True))

    def save(self, path: str | Path) -> None:
        with atomic_writer(path) as file:
            file.write(self.to_tsv().encode())


def parse_vocabulary(text: str, source: str) -> Vocabulary:
    """Read `text`, a `word TAB count` a line, the reserved marks first; messages call it `source`."""
    words, counts = _split_columns(text) or _split_lines(text, source)
    if words[: len(RESERVED)] != RESERVED:
        raise InputError(
            f"a vocabulary begins with {UNKNOWN}, {BEGIN} and {END}; make it with {_maker()}",
            source=source,
            line=1,
        )
    return Vocabulary(words, counts)


def _maker() -> str:
    return either("`morphlm vocab`", "`make_vocabulary`")


def _split_columns(text: str) -> tuple[tuple[str, ...], Int64Array] | None:
    """All lines at once, which is several times faster; None if anything is wrong with any of them."""
    columns = two_columns(text)
    if columns is None or " " in text:
        return None
    words, counts = tuple(columns[0]), parse_counts(columns[1])
    if counts is None or "" in words or len(set(words)) < len(words):
        return None
    return words, counts


def parse_counts(texts: Sequence[str]) -> Int64Array | None:
    """Whole numbers of at most 18 decimal digits; None if any is something else."""
    digits = "".join(texts)
    if not texts or not (digits.isascii() and digits.isdecimal()) or "" in texts or max(map(len, texts)) >= 19:
        return None
    return np.fromiter(map(int, texts), np.int64, len(texts))


def two_columns(text: str) -> tuple[list[str], list[str]] | None:
    """What stands before and after the TAB of each line; None if any line has none or several."""
    characters = np.frombuffer(text.encode(), np.uint8)
    tabs, ends = np.flatnonzero(characters == ord("\t")), np.flatnonzero(characters == ord("\n"))
    if len(tabs) != len(ends) or (tabs > ends).any() or (tabs[1:] < ends[:-1]).any():
        return None
    fields = text[: text.rfind("\n") + 1].replace("\n", "\t").split("\t")
    return fields[:-1:2], fields[1::2]


def _split_lines(text: str, source: str) -> tuple[tuple[str, ...], Int64Array]:
    """Line by line, to name the one that is wrong."""
    counted: dict[str, int] = {}
    for number, line in enumerate(text.split("\n")[:-1], 1):
        word, tab, count = line.partition("\t")
        if not (word and " " not in word and tab and count.isascii() and count.isdecimal() and len(count) < 19):
            raise InputError(f"not `word TAB count`; make it with {_maker()}", source=source, line=number)
        if word in counted:
            raise InputError("this word is here for the second time; remove it", source=source, line=number)
        counted[word] = int(count)
    return tuple(counted), np.array(list(counted.values()), np.int64)


def load_vocabulary(path: str | Path) -> Vocabulary:
    """Read a vocabulary that `save` or `morphlm vocab` wrote."""
    text = "".join(block.data.decode() for block in read_blocks(path, marks="any"))
    return parse_vocabulary(text, source_name(path))


def check_kappa(kappa: float) -> None:
    """Refuse a kappa that is no share."""
    if not 0.0 <= kappa <= 1.0:
        raise ConfigError(f"kappa is a share of the singletons and lies in [0, 1], not {kappa}; 0 prunes none, 1 all")


def prune_singletons(counts: Int64Array, kappa: float, rng: np.random.Generator) -> BoolArray:
    """Which words to keep: a random share kappa of those with count 1 goes (0: none, 1: all)."""
    check_kappa(kappa)
    keep = np.ones(len(counts), bool)
    singletons = np.flatnonzero(counts == 1)
    pruned = rng.permutation(singletons)[: round(kappa * len(singletons))]
    keep[pruned] = False
    return keep


def build_vocabulary(
    forms: Iterable[str], counts: Int64Array, sentences: int, *, kappa: float, seed: int, unknowns: int = 0
) -> Vocabulary:
    """The vocabulary of a text whose words and their counts are given.

    `unknowns` is the number of tokens that are UNK in the text already; the tokens of pruned words are added to it.
    """
    if seed < 0:
        raise ConfigError(f"a seed is a whole number from 0 on, not {seed}")
    by_frequency = sorted(zip(forms, counts.tolist(), strict=True), key=lambda entry: (-entry[1], entry[0]))
    ordered = np.array([count for _, count in by_frequency], np.int64)
    keep = prune_singletons(ordered, kappa, np.random.default_rng(seed))
    words = [word for (word, _), kept in zip(by_frequency, keep.tolist(), strict=True) if kept]
    unknowns += int(ordered[~keep].sum())
    reserved_counts = np.array([unknowns, sentences, sentences], np.int64)
    return Vocabulary((*RESERVED, *words), np.concatenate([reserved_counts, ordered[keep]]))
