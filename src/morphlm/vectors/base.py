"""What every kind of vectors has: known words with their vectors, vectors of other words, and where each comes from.

A word is *known* if it has a row of its own: it is `in` the vectors, and counts for `len`. A vector of another word may
be *composed* of its parts, or of its *affixes* alone; else the word is *unknown*.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from morphlm.arguments import check_many, check_word, check_words, shown
from morphlm.arrays import Array, Float32Array
from morphlm.errors import ConfigError
from morphlm.lazy import PickledWithoutCaches, cached_property
from morphlm.vectors.composition import Composition, Origin
from morphlm.vectors.search import checked_vectors, unit_rows

Key = str | Array  # a word, or a vector
WeightedKey = Key | tuple[Key, float]


class BaseVectors(PickledWithoutCaches, ABC):
    """Vectors of words, known and composed."""

    record: Mapping[str, str]  # fields of the model's signature; how its text was prepared is among them

    @property
    @abstractmethod
    def index_to_key(self) -> list[str]:
        """The known words, in the order of `vectors`."""

    @property
    @abstractmethod
    def vectors(self) -> Array:
        """The vectors of the known words, a row each."""

    @property
    @abstractmethod
    def vector_size(self) -> int:
        """How many numbers a vector has."""

    @abstractmethod
    def rows(self, words: Sequence[str]) -> Float32Array:
        """A row for each of any words; of those of which nothing is known UNK's vector, or zeros."""

    @abstractmethod
    def compositions(self, words: Sequence[str]) -> list[Composition]:
        """What the vectors of words are made of."""

    @abstractmethod
    def using(self, *, compose: bool | None = None) -> BaseVectors:
        """The same vectors, composing words that are not known or leaving them unknown."""

    @abstractmethod
    def signature_fields(self) -> dict[str, Any]:
        """What figures that are measured with these vectors depend on."""

    # ------------------------------------------------------------ words

    @cached_property
    def key_to_index(self) -> dict[str, int]:
        """The known words with their places."""
        return {word: number for number, word in enumerate(self.index_to_key)}

    @property
    def words(self) -> Sequence[str]:
        """The known words."""
        return self.index_to_key

    def __len__(self) -> int:
        return len(self.index_to_key)

    def __contains__(self, word: object) -> bool:
        """Whether the word is known; a word that is not may be composed all the same."""
        return isinstance(word, str) and self.known(word)

    def _index(self, word: str) -> int:
        """The place of a known word; -1 for others."""
        check_word(word)
        return self.key_to_index.get(word, -1)

    def _indices(self, words: Sequence[str]) -> list[int]:
        """The places of those that are known."""
        return [index for index in map(self._index, words) if index >= 0]

    def known(self, word: str) -> bool:
        """Whether the word has a vector of its own; the same as `word in vectors`."""
        return self._index(word) >= 0

    def composable(self, word: str) -> bool:
        """Whether the word's vector can be composed of its parts."""
        return self.origin(word) in ("composed", "affixes")

    def composition(self, word: str) -> Composition:
        """What the word's vector is made of, and whether a stem is among it: `composition("neškolami").stem_known`."""
        return self.compositions([word])[0]

    def origin(self, word: str) -> Origin:
        """Where the word's vector comes from: "known", "composed", "affixes" alone, or "unknown"."""
        return self.composition(word).origin

    def origins(self, words: Sequence[str]) -> list[Origin]:
        """The same of many words, which is quicker than one by one."""
        return [composition.origin for composition in self.compositions(words)]

    # ------------------------------------------------------------ vectors

    def __getitem__(self, words: str | Sequence[str]) -> Array:
        """The vector of a word, or a row for each of several."""
        return self.get_vector(words) if isinstance(words, str) else self._existing_rows(words)

    def get_vector(self, key: str, norm: bool = False) -> Array:
        """The vector of a word, on demand with length 1."""
        rows = self._existing_rows([key])
        row: Array = unit_rows(rows)[0] if norm else rows[0]
        return row

    def _existing_rows(self, words: Sequence[str]) -> Array:
        """A row for each word, as `rows`; KeyError where vectors without a model have none."""
        return self.rows(words)

    @cached_property
    def _units(self) -> Float32Array:
        """The vectors of the known words with length 1."""
        return unit_rows(self.vectors)

    def get_mean_vector(
        self,
        keys: Sequence[Key],
        weights: Sequence[float] | Array | None = None,
        pre_normalize: bool = True,
        post_normalize: bool = False,
        ignore_missing: bool = True,
    ) -> Float32Array:
        """The mean of words, with length 1 each if `pre_normalize`, and of vectors with their own length."""
        check_many(keys)
        keys = list(keys)
        numbers = np.ones(len(keys)) if weights is None else np.asarray(weights, np.float64)
        if not keys or numbers.shape != (len(keys),) or not np.isfinite(numbers).all():
            raise ConfigError("a mean needs words or vectors and as many finite weights; give at least one")
        words = [key for key in keys if isinstance(key, str)]
        origins = dict(zip(words, self.origins(words), strict=True)) if ignore_missing else {}
        used = [k for k, key in enumerate(keys) if not isinstance(key, str) or origins.get(key) != "unknown"]
        total = np.zeros(self.vector_size, np.float64)
        for k in used:
            total += numbers[k] * self._mean_part(keys[k], pre_normalize)
        mean = (total / (np.abs(numbers[used]).sum() or 1.0)).astype(np.float32)
        return unit_rows(mean[None])[0] if post_normalize else mean

    def _mean_part(self, key: Key, normalize: bool) -> Array:
        if isinstance(key, str):
            return self.get_vector(key, norm=normalize)
        if not isinstance(key, np.ndarray):
            raise ConfigError(f"{shown(key)} is neither a word nor a vector; give one of them")
        vector: Array = checked_vectors(key[None], self.vector_size)[0]
        return vector


def as_keys(keys: WeightedKey | Sequence[WeightedKey] | None, weight: float) -> list[tuple[Key, float]]:
    """Words and vectors, alone or in a list, with their weights."""
    if keys is None:
        return []
    if isinstance(keys, str) or (isinstance(keys, np.ndarray) and keys.ndim == 1):
        return [(keys, weight)]
    if not isinstance(keys, Sequence | np.ndarray):
        raise ConfigError(f"{shown(keys)} is neither a word nor a vector nor a list of them")
    return [_weighted(key, weight) for key in keys]


def _weighted(key: Any, weight: float) -> tuple[Key, float]:
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], int | float | np.number):
        return key[0], float(key[1])
    return key, weight


def check_groups(*groups: Sequence[str]) -> None:
    """Refuse groups of words that are none, or empty."""
    for group in groups:
        check_words(group)
        if not len(group):
            raise ConfigError("a group without words has no mean; give at least one word for each")
