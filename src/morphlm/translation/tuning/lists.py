"""The k best translations of sentences as arrays, and files of them: what decoding leaves for the search of weights."""

from __future__ import annotations

import contextlib
import gzip
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Array, Float32Array, Int32Array, Int64Array
from morphlm.errors import FormatError, MorphlmError
from morphlm.files import DECOMPRESSION_ERRORS, atomic_writer, make_folder, open_regular
from morphlm.schema import SchemaError, Tensor, TensorLayout, check_layout, check_values
from morphlm.translation.tuning.schema import LARGEST_ARRAY, LIST_ARRAYS, LIST_HEAD, LISTS_KEY, LONGEST_LINE

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
    with atomic_writer(path, is_ours=True) as file:
        file.write((json.dumps(key) + "\n").encode())
        for translations in lists:
            arrays: tuple[Array, ...] = (translations.words, translations.starts, translations.features)
            head = [translations.vocabulary, [array.shape for array in arrays]]
            file.write((json.dumps(head, ensure_ascii=False) + "\n").encode())
            for array, tensor in zip(arrays, LIST_ARRAYS.values(), strict=True):
                file.write(array.astype(tensor.dtype, copy=False).tobytes())


def has_key(path: Path, key: str) -> bool:
    """Whether a file is there, with this key."""
    try:
        with _open_lists(path) as file:
            return bool(_read_key(file, path) == key)
    except (MorphlmError, OSError):
        return False


def read_lists(path: Path, sentences: int, features: int) -> Iterator[TranslationList]:
    """What was written; a file that is damaged, or of other sentences or features, raises FormatError, if late."""
    count = 0
    with _open_lists(path) as file:
        _read_key(file, path)
        while count <= sentences and (line := file.readline(LONGEST_LINE)):
            yield _read_list(file, line, path, features)
            count += 1
    if count != sentences:
        raise FormatError(f"{path}: lists of {count} sentences where {sentences} are meant; remove it")


@contextlib.contextmanager
def _open_lists(path: Path) -> Iterator[gzip.GzipFile]:
    try:
        with open_regular(path) as raw, gzip.GzipFile(fileobj=raw) as file:
            yield file
    except DECOMPRESSION_ERRORS as error:
        raise FormatError(f"{path}: the compressed data is damaged or cut off; remove it") from error


def _read_key(file: gzip.GzipFile, path: Path) -> Any:
    return LISTS_KEY.parse(file.readline(LISTS_KEY.largest), str(path))


def _read_list(file: gzip.GzipFile, line: bytes, path: Path, features: int) -> TranslationList:
    """The list that follows its head; all that kernels rely on is checked."""
    vocabulary, shapes = LIST_HEAD.parse(line, str(path))
    sizes = {"vocabulary": len(vocabulary), "features": features}
    try:
        layouts = {
            name: _layout(tensor, shape) for (name, tensor), shape in zip(LIST_ARRAYS.items(), shapes, strict=True)
        }
        check_layout(LIST_ARRAYS, layouts, sizes)
        arrays = {name: _read_array(file, layout) for name, layout in layouts.items()}
        for name, tensor in LIST_ARRAYS.items():
            check_values(name, tensor, arrays[name], sizes)
        if not sizes["translations"]:
            raise SchemaError("there are no translations")
    except SchemaError as problem:
        raise LIST_HEAD.refusal(str(path), problem) from problem
    return TranslationList(tuple(vocabulary), **arrays)


def _layout(tensor: Tensor, shape: Sequence[int]) -> TensorLayout:
    size = math.prod(shape) * np.dtype(tensor.dtype).itemsize
    if size > LARGEST_ARRAY:
        raise SchemaError(f"an array of {size:,} bytes, of at most {LARGEST_ARRAY:,}")
    return TensorLayout(tensor.dtype, tuple(shape), 0, size)


def _read_array(file: gzip.GzipFile, layout: TensorLayout) -> Array:
    # Not by NumPy's own functions: they would read compressed bytes from below.
    content = file.read(layout.end)
    if len(content) < layout.end:
        raise SchemaError("it ends early")
    return np.frombuffer(content, layout.dtype).reshape(layout.shape)
