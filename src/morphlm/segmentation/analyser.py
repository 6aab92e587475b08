"""The factors of words never seen: what a source of mu leaves in a model, to say of any word what it said of others.

A segmenter leaves its paths, character n-grams their lengths, sentencepiece its model. A table, a CoNLL-U file and a
file of Morfessor know only the words that are written in them, so they leave nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from morphlm.errors import FormatError
from morphlm.segmentation.encoding import normalised, split_letters
from morphlm.segmentation.kernels.paths import CATEGORIES
from morphlm.segmentation.morphemes import LABELS
from morphlm.segmentation.new_words import PathModel
from morphlm.segmentation.sources.factorisation import Factorisation
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.segmentation.sources.pieces import Pieces

Array = NDArray[Any]
Texts = Mapping[str, str]
Tensors = Mapping[str, Array]

KIND_FILE, MORPHS_FILE = "analyser.json", "analyser.tsv"
EMISSIONS, TRANSITIONS, NEW_STEM, MODEL = (
    f"analyser.{name}" for name in ("emissions", "transitions", "new_stem", "model")
)
WORDS_A_CALL = 8192


class Analyser(Protocol):
    """Names the factors of any word, known or not to a model, and can be kept in its directory."""

    def names_of(self, words: Sequence[str]) -> Iterator[Sequence[str]]:
        """The names of each word's factors besides its surface form, in the order of the word."""

    def to_texts(self) -> dict[str, str]:
        """Its text files; one of them says what kind it is."""

    def to_tensors(self) -> dict[str, Array]:
        """Its arrays."""


def _kind_text(**options: Any) -> dict[str, str]:
    return {KIND_FILE: json.dumps(options, ensure_ascii=False) + "\n"}


@dataclass(frozen=True, eq=False)
class MorphemeAnalyser:
    """The best path of a word through the categories, over the morphs of a segmenter and over new stems."""

    paths: PathModel
    labels: bool = True  # `in/PRE` and `in/STM`; without them both are `in`

    def names_of(self, words: Sequence[str]) -> Iterator[Sequence[str]]:
        """The morphemes, by thousands of words at a time."""
        for begin in range(0, len(words), WORDS_A_CALL):
            yield from self._names_of_some(words[begin : begin + WORDS_A_CALL])

    def _names_of_some(self, words: Sequence[str]) -> Iterator[list[str]]:
        atoms = split_letters(list(map(normalised, words)))
        pieces = self.paths.best_paths(atoms)
        starts, labels = pieces.starts.tolist(), pieces.labels.tolist()
        endings = [f"/{label}" for label in LABELS] if self.labels else [""] * CATEGORIES
        for letters, begin, size in zip(atoms, pieces.bounds.tolist(), pieces.sizes.tolist(), strict=False):
            cuts = [*starts[begin : begin + size], len(letters)]
            yield [
                "".join(letters[start:end]) + endings[label]
                for start, end, label in zip(cuts, cuts[1:], labels[begin : begin + size], strict=False)
            ]

    def to_texts(self) -> dict[str, str]:
        """The morphs with their counts."""
        rows = zip(self.paths.morphs, self.paths.counts.tolist(), strict=True)
        table = "".join(f"{morph}\t{count}\n" for morph, count in rows)
        return {MORPHS_FILE: table} | _kind_text(kind="morphemes", labels=self.labels)

    def to_tensors(self) -> dict[str, Array]:
        """What the morphs, the steps between categories and new stems cost."""
        paths = self.paths
        return {EMISSIONS: paths.emissions, TRANSITIONS: paths.transitions, NEW_STEM: np.array([paths.new_stem])}


@dataclass(frozen=True)
class NgramAnalyser:
    """Character n-grams of these lengths."""

    shortest: int
    longest: int

    @cached_property
    def _source(self) -> Factorisation:
        return character_ngrams(self.shortest, self.longest)

    def names_of(self, words: Sequence[str]) -> Iterator[Sequence[str]]:
        """The n-grams of each word."""
        return (self._source[normalised(word)] if word else () for word in words)

    def to_texts(self) -> dict[str, str]:
        """The lengths."""
        return _kind_text(kind="ngrams", shortest=self.shortest, longest=self.longest)

    def to_tensors(self) -> dict[str, Array]:
        """There are none."""
        return {}


@dataclass(frozen=True)
class PieceAnalyser:
    """The pieces of a sentencepiece model; it is needed from the first word on, not for loading."""

    pieces: Pieces

    def names_of(self, words: Sequence[str]) -> Iterator[Sequence[str]]:
        """The pieces of each word."""
        return (self.pieces.pieces_of(normalised(word)) if word else () for word in words)

    def to_texts(self) -> dict[str, str]:
        """Where the pieces come from."""
        return _kind_text(kind="pieces", source=self.pieces.source)

    def to_tensors(self) -> dict[str, Array]:
        """The bytes that sentencepiece writes."""
        return {MODEL: np.frombuffer(self.pieces.model, np.uint8)}


def analyser_of(source: Factorisation) -> Analyser | None:
    """What a source leaves behind for words that come later; None if it is a list of words."""
    owner = getattr(source.factors_of, "__self__", None)  # the object behind a bound method
    if isinstance(owner, Pieces):
        return PieceAnalyser(owner)
    lengths = re.fullmatch(r"character n-grams (\d+)-(\d+)", source.source)
    return None if lengths is None else NgramAnalyser(int(lengths[1]), int(lengths[2]))


# ---------------------------------------------------------------- reading


def analyser_from_files(texts: Texts, tensors: Tensors) -> Analyser | None:
    """Read what `to_texts` and `to_tensors` gave; None if the model was saved without an analyser."""
    if KIND_FILE not in texts:
        return None
    try:
        options = json.loads(texts[KIND_FILE])
        return _READERS[options.pop("kind")](options, texts, tensors)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise FormatError(f"{KIND_FILE}: not an analyser of this version ({error}); make the model again") from error


def _read_morphemes(options: dict[str, Any], texts: Texts, tensors: Tensors) -> MorphemeAnalyser:
    rows = [line.rpartition("\t") for line in texts[MORPHS_FILE].split("\n")[:-1]]
    morphs, counts = tuple(row[0] for row in rows), np.array([int(row[2]) for row in rows], np.int64)
    # Copies, of the type that a fresh segmenter has: kernels would be compiled again for arrays that are read-only.
    emissions, transitions, new_stem = (
        np.array(tensors[name], np.float64) for name in (EMISSIONS, TRANSITIONS, NEW_STEM)
    )
    if not morphs or "" in morphs or emissions.shape != (len(morphs), CATEGORIES):
        raise FormatError(f"{MORPHS_FILE}: the morphs do not fit their costs; make the model again")
    if transitions.shape != (CATEGORIES + 1, CATEGORIES + 1):
        raise FormatError(f"{KIND_FILE}: {TRANSITIONS} has another shape; make the model again")
    return MorphemeAnalyser(PathModel(morphs, counts, emissions, transitions, float(new_stem[0])), **options)


def _read_pieces(options: dict[str, Any], texts: Texts, tensors: Tensors) -> PieceAnalyser:
    return PieceAnalyser(Pieces(tensors[MODEL].tobytes(), **options))


_READERS: dict[str, Callable[[dict[str, Any], Texts, Tensors], Analyser]] = {
    "morphemes": _read_morphemes,
    "ngrams": lambda options, texts, tensors: NgramAnalyser(**options),
    "pieces": _read_pieces,
}
