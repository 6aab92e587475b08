"""First stage of segmentation, words as arrays of letters: NFC, a letter with its combining marks is one symbol.

The table of strings, in which the searches find their morphs, is made and enlarged here too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, get_args

import numpy as np

from morphlm.arguments import shown
from morphlm.arrays import Array, Int64Array
from morphlm.errors import ArgumentTypeError, ConfigError, InputError
from morphlm.segmentation.kernels.strings import BASE, Letters, StringTable, fill_slots
from morphlm.segmentation.morphemes import letters
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import Vocabulary

Dampening = Literal["types", "log", "tokens"]
DAMPENINGS: tuple[Dampening, ...] = get_args(Dampening)
WordSource = Mapping[str, int] | Vocabulary
FIXED_SEED = 20140621  # of hash codes


@dataclass(frozen=True)
class EncodedWords:
    """Words as letters, ready for the kernels."""

    words: tuple[str, ...]
    counts: Int64Array  # dampened
    alphabet: tuple[str, ...]  # sorted
    letters: Letters
    bounds: Int64Array  # word w is letters.text[bounds[w] : bounds[w + 1]]

    @property
    def longest(self) -> int:
        """The number of letters of the longest word."""
        return int(np.diff(self.bounds).max(initial=1))

    def string(self, start: int, length: int) -> str:
        """A piece of the text, as characters."""
        return "".join(self.alphabet[letter] for letter in self.letters.text[start : start + length].tolist())


def normalised(word: str) -> str:
    """A word in Unicode NFC, the form in which every word enters."""
    return word if word.isascii() else unicodedata.normalize("NFC", word)


def encode_words(source: WordSource, dampening: Dampening) -> EncodedWords:
    """Encode the words of a vocabulary and dampen their counts; words that become equal in NFC are one."""
    counts = _counts_by_word(source)
    words = tuple(counts)
    atoms = split_letters(words)
    alphabet = tuple(sorted(set(chain.from_iterable(atoms))))
    text, bounds = encode_letters(atoms, {letter: number for number, letter in enumerate(alphabet)})
    longest = int(np.diff(bounds).max())
    return EncodedWords(
        words=words,
        counts=dampened(np.fromiter(counts.values(), np.int64, len(words)), dampening),
        alphabet=alphabet,
        letters=make_letters(text, len(alphabet), longest),
        bounds=bounds,
    )


def split_letters(words: Sequence[str]) -> Sequence[Sequence[str]]:
    """The letters of each word; a word without combining marks is the sequence of its letters itself."""
    characters = set().union(*words)
    marks = {character for character in characters if unicodedata.category(character).startswith("M")}
    if not marks:
        return words
    return [word if marks.isdisjoint(word) else letters(word) for word in words]


def _counts_by_word(source: WordSource) -> dict[str, int]:
    pairs: Iterable[tuple[str, int]]
    if isinstance(source, Vocabulary):
        pairs = zip(source.words[len(RESERVED) :], source.counts[len(RESERVED) :].tolist(), strict=True)
    elif isinstance(source, Mapping):
        pairs = source.items()
    else:
        raise ArgumentTypeError(f"{shown(source)} has no words with counts; give a dict, a Counter or a vocabulary")
    counts: dict[str, int] = {}
    for word, count in pairs:
        if count < 1 or not word:
            raise InputError(f"a word has letters and a count of at least 1, not {word!r} {count}; remove it")
        form = normalised(word)
        counts[form] = counts.get(form, 0) + int(count)
    if not counts:
        raise InputError("there are no words to learn from; give a vocabulary with at least one word")
    return counts


def dampened(counts: Int64Array, dampening: Dampening) -> Int64Array:
    """What a word counts in training: 1 (types), the binary logarithm of its count, or its count (tokens)."""
    if dampening == "types":
        return np.ones_like(counts)
    if dampening == "log":
        return np.asarray(np.round(np.log2(counts + 1.0)), np.int64)
    if dampening == "tokens":
        return counts
    raise ConfigError(f"the dampening of counts is one of {', '.join(DAMPENINGS)}, not {dampening!r}")


def encode_letters(atoms: Sequence[Sequence[str]], numbers: Mapping[str, int]) -> tuple[Array, Int64Array]:
    """Letters as numbers, -1 for those outside the alphabet, all words one after the other; and where words begin."""
    bounds = np.zeros(len(atoms) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, atoms), np.int64, len(atoms)), out=bounds[1:])
    if all(isinstance(word, str) for word in atoms):
        return _numbers_of_characters("".join(map(str, atoms)), numbers), bounds
    text = np.fromiter((numbers.get(atom, -1) for atom in chain.from_iterable(atoms)), np.int32, int(bounds[-1]))
    return text, bounds


def _numbers_of_characters(text: str, numbers: Mapping[str, int]) -> Array:
    """The numbers of letters that are single characters, looked up all at once."""
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    table = np.full(int(characters.max(initial=0)) + 1, -1, np.int32)
    for letter, number in numbers.items():
        if len(letter) == 1 and ord(letter) < len(table):
            table[ord(letter)] = number
    return table[characters]


def make_letters(text: Array, alphabet_size: int, longest: int, seed: int = FIXED_SEED) -> Letters:
    """The text with its hash codes, which are fixed by default, so that nothing depends on the process."""
    codes = np.random.default_rng(seed).integers(1, 2**63, alphabet_size + 1, dtype=np.uint64)
    powers = np.ones(longest + 1, np.uint64)
    np.multiply.accumulate(np.full(longest, BASE), out=powers[1:])
    return Letters(text, codes, powers)


def make_table(text: Array, capacity: int) -> StringTable:
    """An empty table for that many strings of a text."""
    return StringTable(
        text=text,
        slots=np.full(1 << max(4, (2 * capacity - 1).bit_length()), -1, np.int32),
        keys=np.zeros(capacity, np.uint64),
        start=np.zeros(capacity, np.int64),
        length=np.zeros(capacity, np.int32),
        size=np.zeros(1, np.int64),
    )


def grown_to(table: StringTable, extra: int, first: int = 0) -> StringTable:
    """The table, or a larger one with the same entries, that takes `extra` more; those before `first` stay hidden."""
    size = int(table.size[0])
    if size + extra <= len(table.keys):
        return table
    larger = make_table(table.text, max(size + extra, len(table.keys) * 3 // 2))
    for name in ("keys", "start", "length"):
        getattr(larger, name)[:size] = getattr(table, name)[:size]
    larger.size[0] = size
    fill_slots(larger, first)
    return larger


def lengthened(array: Array, length: int) -> Array:
    """The array with zeros behind, so that it has this length; itself if it is long enough."""
    if len(array) >= length:
        return array
    longer = np.zeros((length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
