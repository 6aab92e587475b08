"""Words with a matrix of vectors, without a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from morphlm.arguments import check_words, shown
from morphlm.arrays import Array, Float32Array
from morphlm.errors import ConfigError, UnknownWordError
from morphlm.tables import counted
from morphlm.vectors.composition import Composition
from morphlm.vectors.interface import Vectors


class KeyedVectors(Vectors):
    """A vector for each of some words; nothing is composed, and a missing word is a KeyError, as in gensim."""

    record: Mapping[str, str] = {}

    def __init__(self, words: Iterable[str], vectors: Array) -> None:
        """Take words, each once, and the matrix of their vectors."""
        self._words, self._vectors = list(words), vectors
        check_words(self._words)
        if not isinstance(vectors, np.ndarray) or vectors.dtype.kind not in "fiu":
            raise ConfigError(f"{shown(vectors)} is no matrix of numbers; give an array")
        if vectors.ndim != 2 or len(vectors) != len(self._words):
            raise ConfigError(
                f"{counted(len(self._words), 'word')} and vectors of shape {vectors.shape}; give one each"
            )
        if len(self.key_to_index) != len(self._words):
            raise ConfigError("a word is among the vectors twice; give each word once")

    def __repr__(self) -> str:
        return f"KeyedVectors({counted(len(self), 'word')}, {self.vector_size} dimensions)"

    @property
    def index_to_key(self) -> list[str]:
        return self._words

    @property
    def vectors(self) -> Array:
        return self._vectors

    @property
    def vector_size(self) -> int:
        size: int = self._vectors.shape[1]
        return size

    def using(self, *, compose: bool | None = None) -> KeyedVectors:
        """The same: there is nothing to compose from."""
        return self

    def compositions(self, words: Sequence[str]) -> list[Composition]:
        check_words(words)
        return [Composition(word, "known" if word in self.key_to_index else "unknown", ()) for word in words]

    def rows(self, words: Sequence[str]) -> Float32Array:
        """A row for each word; zeros for those that have no vector."""
        check_words(words)
        indices = np.array([self.key_to_index.get(word, -1) for word in words], np.int64)
        rows = self._vectors[indices].astype(np.float32)
        rows[indices < 0] = 0
        return rows

    def _existing_rows(self, words: Sequence[str]) -> Array:
        check_words(words)
        for word in words:
            if word not in self.key_to_index:
                raise UnknownWordError(
                    f"{word!r} has no vector here; ask for another word, or a model that composes words"
                )
        return self._vectors[[self.key_to_index[word] for word in words]]

    def signature_fields(self) -> dict[str, Any]:
        return {"model": "vectors", "d": self.vector_size, "V": len(self)}
