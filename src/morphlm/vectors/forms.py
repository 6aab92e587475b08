"""Words as people write them, brought to the form that a model's text has."""

from __future__ import annotations

from morphlm.segmentation.encoding import normalised
from morphlm.vectors.keyed import KeyedVectors
from morphlm.vectors.vectors import WordVectors

Vectors = WordVectors | KeyedVectors

NO_RECORD = "as-is"  # the signature's word for a text of which nobody knows how it was prepared
CAPITALS = 0.01  # without a record a text was lowercased, if fewer of its words than this have a capital letter


def is_lowercased(vectors: Vectors) -> bool:
    """Whether the text was lowercased: as its record tells or, without one, if hardly any word has a capital letter."""
    if isinstance(vectors, WordVectors) and (norm := vectors.record.get("norm", NO_RECORD)) != NO_RECORD:
        return "lc" in norm.split("+")
    words = vectors.index_to_key if isinstance(vectors, KeyedVectors) else vectors.words
    return sum(word != word.lower() for word in words) <= CAPITALS * len(words)


def form_of(word: str, lowercase: bool) -> str:
    """The word in Unicode NFC, on demand in small letters."""
    return normalised(word.lower() if lowercase else word)
