"""Words as people write them, brought to the form that a model's text has."""

from __future__ import annotations

import re
from collections.abc import Callable

from morphlm.segmentation.encoding import normalised
from morphlm.text.casing import lowercase
from morphlm.vectors.base import BaseVectors

NO_RECORD = "as-is"  # the signature's word for a text of which nobody knows how it was prepared
CAPITALS = 0.01  # without a record a text was lowercased, if fewer of its words than this have a capital letter
_DIGIT = re.compile(r"\d")


def is_lowercased(vectors: BaseVectors) -> bool:
    """Whether the text was lowercased: as its record tells or, without one, if hardly any word has a capital letter."""
    if (steps := _steps(vectors)) is not None:
        return "lc" in steps
    words = vectors.words
    return sum(word != word.lower() for word in words) <= CAPITALS * len(words)


def word_forms(vectors: BaseVectors, *, prepared: bool = False) -> Callable[[str], str]:
    """What brings a word to the form that it has in the model's text: Unicode NFC, its case, digits as 0.

    `prepared` words have it already, and are only brought to NFC.
    """
    if prepared:
        return normalised
    is_lower, has_zeros = is_lowercased(vectors), "digits" in (_steps(vectors) or ())
    language = _language(vectors)

    def form(word: str) -> str:
        cased = lowercase(word, language) if is_lower else word
        return normalised(_DIGIT.sub("0", cased) if has_zeros else cased)

    return form


def _steps(vectors: BaseVectors) -> list[str] | None:
    """The steps of normalisation on record."""
    norm = vectors.record.get("norm", NO_RECORD)
    return None if norm == NO_RECORD else norm.split("+")


def _language(vectors: BaseVectors) -> str | None:
    """The language of the text, by the record of its tokeniser: `words1.tr`."""
    return vectors.record.get("tok", "").partition(".")[2] or None
