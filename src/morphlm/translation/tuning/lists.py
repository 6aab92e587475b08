"""The k best translations of sentences as arrays, and files of them: what decoding leaves for the search of weights."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import IO

import numpy as np

from morphlm.arrays import Array, Float32Array, Int32Array, Int64Array
from morphlm.errors import ConfigError, MorphlmError
from morphlm.files import atomic_writer, make_folder, open_binary

KINDS = ("<i4", "<i8", "<f4")  # of words, starts and features in a file

Hypothesis = tuple[Sequence[str], Float32Array]  # the words of a translation and its features


@dataclass(frozen=True, eq=False)
class TranslationList:
    """Translations of one sentence, the best first."""

    vocabulary: tuple[str, ...]  # what the numbers of words stand for
    words: Int32Array  # of all translations, one after the other
    starts: Int64Array  # where those of each begin; one more than there are translations
    features: Float32Array  # (translations, K)

    @classmethod
    def of(cls, hypotheses: Iterable[Hypothesis]) -> TranslationList:
        """From words and features of each; there must be one at least."""
        tokens, features = zip(*hypotheses, strict=True)
        ids: dict[str, int] = {}
        words = [ids.setdefault(word, len(ids)) for translation in tokens for word in translation]
        starts = np.cumsum([0, *map(len, tokens)]).astype(np.int64)
        return cls(tuple(ids), np.array(words, np.int32), starts, np.array(features, np.float32))

    def __len__(self) -> int:
        return len(self.features)

    def tokens(self, number: int) -> tuple[str, ...]:
        words = self.words[self.starts[number] : self.starts[number + 1]]
        return tuple(self.vocabulary[word] for word in words.tolist())

    def first(self, count: int) -> TranslationList:
        starts = self.starts[: count + 1]
        return TranslationList(self.vocabulary, self.words[: starts[-1]], starts, self.features[:count])


Lists = Iterable[TranslationList]  # of each sentence


def write_lists(path: Path, key: str, lists: Lists) -> None:
    """A line with the key; then for each sentence a line with its words and the shapes of the arrays, and these."""
    make_folder(path.parent)
    with atomic_writer(path) as file:
        file.write((json.dumps(key) + "\n").encode())
        for translations in lists:
            arrays: tuple[Array, ...] = (translations.words, translations.starts, translations.features)
            head = [translations.vocabulary, [array.shape for array in arrays]]
            file.write((json.dumps(head, ensure_ascii=False) + "\n").encode())
            for array, kind in zip(arrays, KINDS, strict=True):
                file.write(array.astype(kind, copy=False).tobytes())


def has_key(path: Path, key: str) -> bool:
    """Whether a file is there, with this key."""
    try:
        with open_binary(path) as file:
            return bool(json.loads(file.readline()) == key)
    except (MorphlmError, ValueError):
        return False


def read_lists(path: Path, sentences: int) -> Iterator[TranslationList]:
    """What was written; a file that is damaged or of another number of sentences raises an error, if late."""
    count = 0
    with open_binary(path) as file:
        file.readline()
        while line := file.readline():
            vocabulary, shapes = json.loads(line)
            yield TranslationList(tuple(vocabulary), *map(_read_array, repeat(file), KINDS, shapes))
            count += 1
    if count != sentences:
        raise ConfigError(f"{path}: lists of {count} sentences where {sentences} are meant; remove it")


def _read_array(file: IO[bytes], kind: str, shape: Sequence[int]) -> Array:
    # Not by NumPy's own functions: they would read compressed bytes from below.
    content = file.read(math.prod(shape) * np.dtype(kind).itemsize)
    return np.frombuffer(content, kind).reshape(shape)
