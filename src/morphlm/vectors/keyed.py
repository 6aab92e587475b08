"""Words and vectors without a model, behind the part of gensim's KeyedVectors that most programs use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from morphlm.arguments import check_word, check_words, shown
from morphlm.arrays import Array, Float32Array
from morphlm.display import described
from morphlm.errors import ConfigError
from morphlm.lazy import PickledWithoutCaches, cached_property
from morphlm.tables import counted
from morphlm.vectors.search import checked_vectors, nearest, unit_rows

Key = str | Array  # a word, or a vector


class KeyedVectors(PickledWithoutCaches):
    """A vector for each of some words. Names and results are gensim's; a missing word is a KeyError, as there."""

    def __init__(self, words: Iterable[str], vectors: Array) -> None:
        """Take words, each once, and the matrix of their vectors."""
        self.index_to_key: list[str] = list(words)
        check_words(self.index_to_key)
        if not isinstance(vectors, np.ndarray) or vectors.dtype.kind not in "fiu":
            raise ConfigError(f"{shown(vectors)} is no matrix of numbers; give an array")
        self.key_to_index: dict[str, int] = {word: number for number, word in enumerate(self.index_to_key)}
        self.vectors = vectors
        if vectors.ndim != 2 or len(vectors) != len(self.index_to_key):
            raise ConfigError(
                f"{counted(len(self.index_to_key), 'word')} and vectors of shape {vectors.shape}; give one each"
            )
        if len(self.key_to_index) != len(self.index_to_key):
            raise ConfigError("a word is among the vectors twice; give each word once")

    @property
    def vector_size(self) -> int:
        """The number of dimensions."""
        size: int = self.vectors.shape[1]
        return size

    def __repr__(self) -> str:
        return described(self, words=len(self), dimensions=self.vector_size)

    def __len__(self) -> int:
        return len(self.index_to_key)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and word in self.key_to_index

    def __getitem__(self, words: str | Sequence[str]) -> Array:
        """The vector of a word, or a row for each of several."""
        if isinstance(words, str):
            return self.get_vector(words)
        check_words(words)
        return self.vectors[[self._index(word) for word in words]]

    def get_vector(self, word: str, norm: bool = False) -> Array:
        """The vector of a word, on demand with length 1."""
        row: Array = (self._units if norm else self.vectors)[self._index(word)]
        return row

    def _index(self, word: str) -> int:
        check_word(word)
        if word not in self.key_to_index:
            raise KeyError(f"{word!r} has no vector")
        return self.key_to_index[word]

    @cached_property
    def _units(self) -> Float32Array:
        return unit_rows(self.vectors)

    # ------------------------------------------------------------ any word

    def known(self, word: str) -> bool:
        """Whether a word has a vector; a model's vectors have this method too."""
        return word in self

    def composable(self, word: str) -> bool:
        """Never: there is nothing to compose from."""
        return False

    def rows(self, words: Sequence[str]) -> Float32Array:
        """A row for each word; zeros for those that have no vector."""
        check_words(words)
        indices = np.array([self.key_to_index.get(word, -1) for word in words], np.int64)
        rows = self.vectors[indices].astype(np.float32)
        rows[indices < 0] = 0
        return rows

    # ------------------------------------------------------------ questions

    def most_similar(
        self, positive: Key | Sequence[Key] = (), negative: Key | Sequence[Key] = (), topn: int = 10
    ) -> list[tuple[str, float]]:
        """The words nearest to the mean of the positive ones and the negatives of the others, those left out.

        Words count with length 1, vectors with their own.
        """
        chosen = [*_listed(positive), *_listed(negative)]
        if not chosen:
            raise ConfigError("nothing to be similar to; give at least one word or vector")
        weights = np.repeat(np.array([1, -1], np.float32), [len(_listed(positive)), len(_listed(negative))])
        rows = np.concatenate([self._query_row(key) for key in chosen])
        query = (weights[:, None] * rows).mean(axis=0, keepdims=True)
        skip = [self._index(key) for key in chosen if isinstance(key, str)]
        ((indices, cosines),) = nearest(self._units, query, topn, [skip])
        return [(self.index_to_key[index], float(cosine)) for index, cosine in zip(indices, cosines, strict=True)]

    def _query_row(self, key: Key) -> Array:
        """A word's vector with length 1, or a given one, as a matrix of one row."""
        if isinstance(key, np.ndarray):
            return checked_vectors(key[None], self.vector_size)
        return self.get_vector(key, norm=True)[None]

    def similarity(self, w1: str, w2: str) -> float:
        """The cosine of two words."""
        return float(self.get_vector(w1, norm=True) @ self.get_vector(w2, norm=True))

    def distance(self, w1: str, w2: str) -> float:
        """1 minus the cosine of two words."""
        return 1 - self.similarity(w1, w2)

    def n_similarity(self, some: Sequence[str], others: Sequence[str]) -> float:
        """The cosine of the means of two groups of words."""
        for group in (some, others):
            check_words(group)
        if not (len(some) and len(others)):
            raise ConfigError("a group without words has no mean; give at least one word for each")
        means = unit_rows(np.stack([self[list(some)].mean(axis=0), self[list(others)].mean(axis=0)]))
        return float(means[0] @ means[1])

    def doesnt_match(self, words: Iterable[str]) -> str:
        """The word that is farthest from the mean of all; words without a vector do not take part."""
        words = list(words)
        check_words(words)
        used = [word for word in words if word in self]
        if not used:
            raise ConfigError("none of the words has a vector; give some that have")
        rows = self._units[[self._index(word) for word in used]]
        cosines = rows @ unit_rows(rows.mean(axis=0, keepdims=True))[0]
        return min(zip(cosines.tolist(), used, strict=True))[1]


def _listed(keys: Key | Sequence[Key]) -> list[Key]:
    if isinstance(keys, str) or (isinstance(keys, np.ndarray) and keys.ndim == 1):
        return [keys]
    if not isinstance(keys, Sequence | np.ndarray):
        raise ConfigError(f"{shown(keys)} is neither a word nor a vector nor a list of them")
    return list(keys)
