"""Vectors that spaCy asks for by the number of a string. This module needs spaCy; `spacy` imports it when used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
from spacy.attrs import ORTH
from spacy.strings import StringStore
from spacy.vectors import BaseVectors

from morphlm.arrays import Float32Array
from morphlm.errors import ConfigError
from morphlm.vectors.forms import word_forms
from morphlm.vectors.vectors import WordVectors

ENTRIES = 1 << 14  # words that are kept composed: 26 MB of 400 dimensions


class ComposedVectors(BaseVectors):  # type: ignore[misc]
    """The vectors of a model behind spaCy's interface; a key is a string or its number in the string store."""

    mode, attr, n_keys, is_full = "default", ORTH, -1, True

    def __init__(self, vectors: WordVectors, *, name: str = "morphlm", pickled_strings: Any = None) -> None:
        """spaCy sets `strings` to the vocabulary's store.

        A vocabulary that is unpickled does so before it takes up its own store again: that is `pickled_strings`.
        """
        super().__init__()
        self.vectors, self.name = vectors, name
        self.strings = StringStore() if pickled_strings is None else pickled_strings
        self._pickled_strings = pickled_strings
        self.data = np.empty((0, vectors.dimensions), np.float32)  # tells spaCy that arrays are NumPy's
        self._form = word_forms(vectors)
        self._kept: dict[str, Float32Array | None] = {}

    # ------------------------------------------------------------ sizes

    @property
    def shape(self) -> tuple[int, int]:
        """The number of known words and the dimensions."""
        return len(self), self.vectors_length

    @property
    def size(self) -> int:
        return len(self) * self.vectors_length

    @property
    def vectors_length(self) -> int:
        return self.vectors.dimensions

    def __len__(self) -> int:
        return len(self.vectors.words)

    # ------------------------------------------------------------ words

    def __contains__(self, key: str | int) -> bool:
        return self._vector(key) is not None

    def __getitem__(self, key: str | int) -> Float32Array:
        vector = self._vector(key)
        if vector is None:
            raise KeyError(f"nothing is known of {self._word(key)!r}")
        return vector

    def get_batch(self, keys: Iterable[str | int]) -> Float32Array:
        """A row for each key; zeros for words of which nothing is known."""
        found = [self._vector(key) for key in keys]
        nothing = np.zeros(self.vectors_length, np.float32)
        return np.array([nothing if vector is None else vector for vector in found]).reshape(-1, self.vectors_length)

    def _vector(self, key: str | int) -> Float32Array | None:
        word = self._form(self._word(key))
        if word not in self._kept:
            if len(self._kept) >= ENTRIES:
                self._kept.clear()
            has_vector = word and (self.vectors.known(word) or self.vectors.composable(word))
            self._kept[word] = self.vectors[word] if has_vector else None
        return self._kept[word]

    def _word(self, key: str | int) -> str:
        if isinstance(key, str):
            return key
        is_elsewhere = self._pickled_strings is not None and key not in self.strings
        return str((self._pickled_strings if is_elsewhere else self.strings)[int(key)])

    # ------------------------------------------------------------ what spaCy may try

    def add(self, key: Any, *, vector: Any = None, row: Any = None) -> NoReturn:
        """Refused: they are the model's."""
        raise ConfigError("vectors of a model cannot be changed; take vectors_table, whose rows can")

    def resize(self, shape: Any, inplace: bool = False) -> NoReturn:
        """Refused: they are the model's."""
        self.add(None)

    def __reduce__(self) -> Any:
        return _unpickle, (self.vectors, self.name, self.strings)


def _unpickle(vectors: WordVectors, name: str, strings: Any) -> ComposedVectors:
    return ComposedVectors(vectors, name=name, pickled_strings=strings)
