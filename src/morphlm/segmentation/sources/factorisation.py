"""mu without the surface form: what any source says about a word, as names of factors.

The paper takes morphemes, but any information that is a function of the word will do: pieces, character n-grams, lemma
and features. `build_factors` (factors.py) makes the matrix of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from morphlm.arrays import Array
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.segmentation.morphemes import Morpheme, Segmentation

Factor = str | Morpheme  # a morpheme's name is `form/LABEL`
KIND_FILE = "analyser.json"  # of a model directory: what kind of analyser it has


class Analyser(Protocol):
    """Names the factors of any word, known or not to a model, and can be kept in its directory."""

    def names_of(self, words: Sequence[str]) -> Iterator[Sequence[str]]:
        """The names of each word's factors besides its surface form, in the order of the word."""

    def to_texts(self) -> dict[str, str]:
        """Its text files; one of them says what kind it is."""

    def to_tensors(self) -> dict[str, Array]:
        """Its arrays."""


class WordFactors(Protocol):
    """A source of one's own: an object that gives the factors of a word, none if it does not know the word."""

    def factors_of(self, word: str) -> Sequence[Factor]:
        """The factors besides the surface form, in the order of the word; names have no white space."""


@runtime_checkable
class RestorableWordFactors(Protocol):
    """One that models keep for words never seen: as data, under the name of a registered source.

    When a model is loaded, the `restore` of that source makes the object again from what `to_json` gave.
    """

    source_name: str

    def factors_of(self, word: str) -> Sequence[Factor]:
        """The factors of any word, as of `WordFactors`."""

    def to_json(self) -> dict[str, Any]:
        """All that `restore` needs, in types that JSON has."""


def checked(factors_of: Callable[[str], Any], source: str) -> Callable[[str], Sequence[Factor]]:
    """Wrap a function of the user's: a result that is no list of strings or morphemes is refused."""

    def checked_factors(word: str) -> Sequence[Factor]:
        factors = factors_of(word)
        if not isinstance(factors, list | tuple):
            raise ConfigError(
                f"{source} gives {factors!r} as the factors of {word!r}; give a list of strings, an empty one for none"
            )
        for factor in factors:
            if not isinstance(factor, Factor):
                raise ConfigError(f"{source} gives the factor {factor!r} of {word!r}; factors are strings")
        return factors

    return checked_factors


def kind_text(**options: Any) -> dict[str, str]:
    """The text file that says what kind an analyser is."""
    return {KIND_FILE: json.dumps(options, ensure_ascii=False) + "\n"}


@dataclass(frozen=True)
class Factorisation:
    """A source of mu. Morphemes and names are kept in the order of the word, and one may come twice."""

    factors_of: Callable[[str], Sequence[Factor]]  # nothing for a word that the source does not know
    source: str  # for records: "flatcat cs.segm", "n-grams 3-5", ...
    analyser: Analyser | None = None  # says the same of words that come later; None: the source is a list of words

    __repr__ = dataclass_repr

    def __getitem__(self, word: str) -> tuple[str, ...]:
        """The names of a word's factors besides its surface form."""
        return tuple(map(str, self.factors_of(word)))


def from_mapping(factors: Mapping[str, Sequence[Factor]], source: str) -> Factorisation:
    """Factors from a mapping of words to their factors."""
    return Factorisation(lambda word: factors.get(word, ()), source)


def from_segmentation(
    segmentation: Segmentation,
    *,
    labels: bool = True,
    source: str = "segmentation",
    analyser: Analyser | None = None,
) -> Factorisation:
    """The morphemes as factors; without `labels`, `in/PRE` and `in/STM` become one."""
    if labels:
        return Factorisation(lambda word: segmentation.analyses.get(word, ()), source, analyser)

    def forms_of(word: str) -> Sequence[str]:
        return [morpheme.form for morpheme in segmentation.analyses.get(word, ())]

    return Factorisation(forms_of, f"{source} without labels", analyser)
