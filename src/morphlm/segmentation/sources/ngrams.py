"""Character n-grams as factors, with marks for the word's edges, as in fastText: `<sk`, `sko`, ..., `la>`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from morphlm.arrays import Array
from morphlm.errors import ConfigError
from morphlm.segmentation.encoding import normalised
from morphlm.segmentation.morphemes import letters
from morphlm.segmentation.sources.factorisation import Factorisation, kind_text

LONGEST_NGRAM = 999  # letters


def character_ngrams(shortest: int = 3, longest: int = 5) -> Factorisation:
    """All runs of `shortest` to `longest` letters of <word>, by length, then from left to right; of any word.

    A letter is one with its combining marks. An n-gram that occurs twice in a word is its factor twice.
    """
    analyser = NgramAnalyser(shortest, longest)
    return Factorisation(analyser.ngrams_of, f"character n-grams {shortest}-{longest}", analyser)


def parse_ngram_lengths(lengths: str) -> Factorisation:
    """Character n-grams of lengths given as `3-5`."""
    match = re.fullmatch(r"(\d{1,3})-(\d{1,3})", lengths)
    if match is None:
        raise ConfigError(f"ngrams:{lengths} is not a range of lengths; write it like ngrams:3-5")
    return character_ngrams(int(match[1]), int(match[2]))


@dataclass(frozen=True)
class NgramAnalyser:
    """Character n-grams of these lengths."""

    shortest: int
    longest: int

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest <= LONGEST_NGRAM:
            lengths = f"{self.shortest} to {self.longest} letters"
            raise ConfigError(f"character n-grams of {lengths}; ask for 1 <= shortest <= longest <= {LONGEST_NGRAM}")

    def ngrams_of(self, word: str) -> list[str]:
        """The n-grams of a word in Unicode NFC."""
        if word.isalnum():  # no combining marks, so that letters are characters
            text = f"<{word}>"
            return [text[begin:end] for begin, end in _runs(len(text), self.shortest, self.longest)]
        atoms = ["<", *letters(word), ">"]
        return ["".join(atoms[begin:end]) for begin, end in _runs(len(atoms), self.shortest, self.longest)]

    def names_of(self, words: Sequence[str]) -> Iterator[Sequence[str]]:
        return (self.ngrams_of(normalised(word)) if word else () for word in words)

    def to_texts(self) -> dict[str, str]:
        return kind_text(kind="ngrams", shortest=self.shortest, longest=self.longest)

    def to_tensors(self) -> dict[str, Array]:
        return {}


@cache
def _runs(length: int, shortest: int, longest: int) -> list[tuple[int, int]]:
    """Begin and end of all runs; a mark of an edge by itself is none."""
    runs = [(begin, begin + n) for n in range(shortest, min(longest, length) + 1) for begin in range(length - n + 1)]
    return [run for run in runs if run not in ((0, 1), (length - 1, length))]
