"""The factors of words never seen: what a source of mu leaves in a model, to say of any word what it said of others.

A segmenter leaves its paths, character n-grams their lengths, sentencepiece its model. A table, a CoNLL-U file and a
file of Morfessor know only the words that are written in them, so they leave nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from morphlm.arrays import Array
from morphlm.errors import ConfigError, FormatError
from morphlm.segmentation.encoding import normalised, split_letters
from morphlm.segmentation.kernels.paths import CATEGORIES
from morphlm.segmentation.morphemes import LABELS
from morphlm.segmentation.new_words import PathModel, parse_paths
from morphlm.segmentation.sources.factorisation import KIND_FILE, Analyser, kind_text
from morphlm.segmentation.sources.ngrams import NgramAnalyser
from morphlm.segmentation.sources.pieces import MODEL, Pieces

Texts = Mapping[str, str]
Tensors = Mapping[str, Array]

MORPHS_FILE = "analyser.tsv"
PREFIX = "analyser."  # of the names of tensors
WORDS_A_CALL = 8192


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
        return {MORPHS_FILE: self.paths.table()} | kind_text(kind="morphemes", labels=self.labels)

    def to_tensors(self) -> dict[str, Array]:
        """What the morphs, the steps between categories and new stems cost."""
        return {PREFIX + name: tensor for name, tensor in self.paths.tensors().items()}


# ---------------------------------------------------------------- reading


def analyser_from_files(texts: Texts, tensors: Tensors) -> Analyser | None:
    """Read what `to_texts` and `to_tensors` gave; None if the model was saved without an analyser."""
    if KIND_FILE not in texts:
        return None
    try:
        options = json.loads(texts[KIND_FILE])
        return _READERS[options.pop("kind")](options, texts, tensors)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ConfigError) as error:
        raise FormatError(f"{KIND_FILE}: not an analyser of this version ({error}); make the model again") from error


def _read_morphemes(options: dict[str, Any], texts: Texts, tensors: Tensors) -> MorphemeAnalyser:
    costs = {name.removeprefix(PREFIX): array for name, array in tensors.items() if name.startswith(PREFIX)}
    return MorphemeAnalyser(parse_paths(texts[MORPHS_FILE], costs), **options)


_READERS: dict[str, Callable[[dict[str, Any], Texts, Tensors], Analyser]] = {
    "morphemes": _read_morphemes,
    "ngrams": lambda options, texts, tensors: NgramAnalyser(**options),
    "pieces": lambda options, texts, tensors: Pieces(tensors[MODEL].tobytes(), **options),
}
