"""Words as people write them, brought to the form that a model's text has."""

from __future__ import annotations

from morphlm.segmentation.encoding import normalised
from morphlm.vectors.keyed import KeyedVectors
from morphlm.vectors.vectors import WordVectors

Vectors = WordVectors | KeyedVectors

CAPITALS = 0.01  # a file of vectors is of lowercased text, if fewer of its words than this have a capital letter


def is_lowercased(vectors: Vectors) -> bool:
    """Whether the model's text was lowercased; of a file of vectors, whether hardly any word has a capital letter."""
    if isinstance(vectors, KeyedVectors):
        return sum(word != word.lower() for word in vectors.index_to_key) <= CAPITALS * len(vectors)
    return "lc" in vectors.record.get("norm", "").split("+")


def form_of(word: str, lowercase: bool) -> str:
    """The word in Unicode NFC, on demand in small letters."""
    return normalised(word.lower() if lowercase else word)
