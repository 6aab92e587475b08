"""How good the boundaries are: segmentations against gold ones, as precision, recall and F1.

Boundaries are counted over all words together. A word that has several gold segmentations is compared with the one
that fits best.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from morphlm.display import Row, Tabular, dataclass_repr, flattened
from morphlm.errors import ConfigError, InputError
from morphlm.segmentation.gold import Gold
from morphlm.segmentation.morphemes import Morpheme, Segmentation


@dataclass(frozen=True)
class BoundaryScores(Tabular):
    """Counts of boundaries between morphemes, and the rates that follow from them."""

    correct: int  # boundaries of the segmentation that gold has too
    predicted: int  # boundaries of the segmentation
    expected: int  # boundaries of gold
    words: int  # words that were compared
    missing: int  # gold words that the segmentation lacks
    source: str  # the name of the gold file

    __repr__ = dataclass_repr

    @property
    def precision(self) -> float:
        """The share of the predicted boundaries that is right; 1 if there is none."""
        return self.correct / self.predicted if self.predicted else 1.0

    @property
    def recall(self) -> float:
        """The share of the gold boundaries that was found; 1 if there is none."""
        return self.correct / self.expected if self.expected else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.predicted + self.expected
        return 2 * self.correct / both if both else 1.0

    def format(self) -> str:
        return (
            f"{self.source}\n"
            f"  boundaries  precision {self.precision:.4f}, recall {self.recall:.4f}, F1 {self.f1:.4f}\n"
            f"  counts      {self.correct:,} correct of {self.predicted:,} predicted and {self.expected:,} in gold\n"
            f"  words       {self.words:,} compared, {self.missing:,} of gold not in the segmentation"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "gold": self.source,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "boundaries_correct": self.correct,
            "boundaries_predicted": self.predicted,
            "boundaries_gold": self.expected,
            "words": self.words,
            "missing": self.missing,
        }

    def frame_rows(self) -> list[Row]:
        return [flattened(self.to_json())]


def evaluate(segmentation: Segmentation | Mapping[str, Sequence[Morpheme]], gold: Gold) -> BoundaryScores:
    """Compare the boundaries of all words that have both a segmentation and gold."""
    correct = predicted = expected = 0
    shared = [word for word in gold if word in segmentation]
    if not shared:
        raise InputError("none of these words is in the segmentation; check language and case", source=gold.source)
    for word in shared:
        cuts = boundaries(_forms(word, segmentation[word]))
        best = _best_alternative(cuts, [boundaries(morphs) for morphs in gold[word]])
        correct += len(cuts & best)
        predicted += len(cuts)
        expected += len(best)
    return BoundaryScores(correct, predicted, expected, len(shared), len(gold) - len(shared), gold.source)


def _forms(word: str, morphemes: Sequence[Morpheme]) -> list[str]:
    forms = [morpheme.form for morpheme in morphemes]
    if "".join(forms) != word:
        raise ConfigError(f"the morphemes of {word} are {' '.join(forms)}; joined they must give the word")
    return forms


def boundaries(morphs: Iterable[str]) -> frozenset[int]:
    """The positions between the morphs, in characters from the beginning of the word."""
    *inner, _end = accumulate(map(len, morphs))
    return frozenset(inner)


def _best_alternative(cuts: frozenset[int], alternatives: list[frozenset[int]]) -> frozenset[int]:
    """The gold alternative with the fewest wrong and missed boundaries; among equals, with the most right ones.

    Then the first of the file is taken, so the result does not depend on anything else.
    """
    return min(alternatives, key=lambda gold: (len(cuts ^ gold), -len(cuts & gold)))
