"""mu without the surface form: what any source says about a word, as names of factors.

The paper takes morphemes, but any information that is a function of the word will do: pieces, character n-grams, lemma
and features. `build_factors` (factors.py) makes the matrix of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from morphlm.segmentation.morphemes import Morpheme, Segmentation

Factor = str | Morpheme  # a morpheme's name is `form/LABEL`


@dataclass(frozen=True)
class Factorisation:
    """A source of mu. Morphemes and names are kept in the order of the word, and one may come twice."""

    factors_of: Callable[[str], Sequence[Factor]]  # nothing for a word that the source does not know
    source: str  # for records: "flatcat cs.segm", "n-grams 3-5", ...

    def __getitem__(self, word: str) -> tuple[str, ...]:
        """The names of a word's factors besides its surface form."""
        return tuple(map(str, self.factors_of(word)))


def from_mapping(factors: Mapping[str, Sequence[Factor]], source: str) -> Factorisation:
    """Factors that are written down for each word."""
    return Factorisation(lambda word: factors.get(word, ()), source)


def from_segmentation(
    segmentation: Segmentation, *, labels: bool = True, source: str = "segmentation"
) -> Factorisation:
    """The morphemes as factors; without `labels`, `in/PRE` and `in/STM` become one."""
    if labels:
        return from_mapping(segmentation.analyses, source)

    def forms_of(word: str) -> Sequence[str]:
        return [morpheme.form for morpheme in segmentation.analyses.get(word, ())]

    return Factorisation(forms_of, f"{source} without labels")
