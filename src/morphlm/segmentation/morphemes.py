"""Morphemes and segmentations: what every segmenter gives and every later stage takes.

Words are in Unicode normal form C, and a combining mark is never split from its letter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from morphlm.display import Row, Tabular, described

PREFIX, STEM, SUFFIX = "PRE", "STM", "SUF"
LABELS = (PREFIX, STEM, SUFFIX)


class Morpheme(NamedTuple):
    """A piece of a word, with its label if the segmenter gives one; `in/PRE` and `in/STM` are different morphemes."""

    form: str
    label: str | None = None

    def __str__(self) -> str:
        """`form/LABEL`, as Morfessor writes it."""
        return self.form if self.label is None else f"{self.form}/{self.label}"


def split_name(name: str) -> tuple[str, str | None]:
    """`ung/SUF` as form and label; what does not end in a label has none."""
    form, _, label = name.rpartition("/")
    return (form, label) if form and label in LABELS else (name, None)


def joined_morphemes(morphemes: Sequence[Morpheme], *, labels: bool = True) -> str:
    """`ne/PRE + škol/STM`, or without labels `ne + škol`."""
    return " + ".join(map(str, morphemes) if labels else [morpheme.form for morpheme in morphemes])


@dataclass(frozen=True)
class Segmentation(Tabular):
    """Words and their morphemes, whose forms joined give the word."""

    analyses: Mapping[str, tuple[Morpheme, ...]]

    def __repr__(self) -> str:
        return described(self, words=len(self))

    def frame_rows(self) -> Iterator[Row]:
        return ({"word": word, "morphemes": " + ".join(map(str, parts))} for word, parts in self.analyses.items())

    def __getitem__(self, word: str) -> tuple[Morpheme, ...]:
        return self.analyses[word]

    def __contains__(self, word: object) -> bool:
        return word in self.analyses

    def __iter__(self) -> Iterator[str]:
        return iter(self.analyses)

    def __len__(self) -> int:
        return len(self.analyses)


def letters(word: str) -> list[str]:
    """The atoms that a boundary may stand between: each letter with the combining marks that follow it."""
    atoms: list[str] = []
    for character in unicodedata.normalize("NFC", word):
        if atoms and (unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Mc", "Me")):
            atoms[-1] += character
        else:
            atoms.append(character)
    return atoms


def keep_letters_whole(morphemes: Sequence[Morpheme]) -> tuple[Morpheme, ...]:
    """Move each combining mark to the morpheme of its letter; morphemes that become empty are dropped."""
    if "".join([morpheme.form for morpheme in morphemes]).isalnum():
        return tuple(morphemes)  # the common case: combining marks are not alphanumeric
    parts = list(accumulate(morpheme.form for morpheme in morphemes))  # what stands before each cut
    word = unicodedata.normalize("NFC", parts[-1])
    allowed = list(accumulate(map(len, letters(word))))
    moved: list[Morpheme] = []
    begin = 0
    for part, morpheme in zip(parts, morphemes, strict=True):
        cut = len(unicodedata.normalize("NFC", part))
        end = next(boundary for boundary in allowed if boundary >= cut)
        if end > begin:
            moved.append(Morpheme(word[begin:end], morpheme.label))
            begin = end
    return tuple(moved)
