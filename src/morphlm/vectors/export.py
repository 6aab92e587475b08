"""A model's vectors as files for other tools; words that no text contained can be added, they are composed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Float32Array
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.segmentation.factors import BLOCK_WORDS
from morphlm.tables import counted
from morphlm.text.reading import RESERVED, read_blocks, split_tokens
from morphlm.vectors.forms import word_forms
from morphlm.vectors.vectors import WordVectors
from morphlm.vectors.writing import EXTENSIONS, FORMAT_OF, FORMATS, WRITERS, MatrixBlocks, check_words_fit
from morphlm.wording import option


@dataclass(frozen=True)
class Exported:
    """What an export has written."""

    path: str
    file_format: str
    words: int
    dimensions: int
    composed: int  # of the words: not in the vocabulary, but composed
    left_out: tuple[str, ...]  # words that were asked for, but of which nothing is known

    __repr__ = dataclass_repr

    def format(self) -> str:
        line = f"{self.path}: {counted(self.words, 'vector')} of {counted(self.dimensions, 'dimension')}"
        line += f", {self.composed:,} of them composed" if self.composed else ""
        return line + (f"\nleft out, nothing is known of them: {' '.join(self.left_out)}" if self.left_out else "")

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"left_out": list(self.left_out)}


def read_words(path: str | Path) -> list[str]:
    """The words of a file, between spaces, tabs and ends of lines."""
    return [word for block in read_blocks(path) for line in block.lines() for word in split_tokens(line)]


def export_vectors(
    vectors: WordVectors,
    path: str | Path,
    file_format: str = "word2vec",
    *,
    half: bool = False,
    extra_words: Iterable[str] = (),
    prepared: bool = False,
) -> Exported:
    """Write the vectors of all words, and of `extra_words` that can be composed; `half` writes float16.

    Extra words are brought to the form of the model's text, unless they are `prepared`.
    """
    check_export(path, file_format, half=half)
    extra = _new_words(vectors, extra_words, prepared)
    composed = [word for word in extra if vectors.composable(word)]
    words = [*vectors.words, *composed]
    check_words_fit(words)
    dtype = np.dtype("<f2" if half else "<f4")
    WRITERS[file_format](path, words, MatrixBlocks((len(words), vectors.dimensions), dtype, _blocks(vectors, composed)))
    left_out = tuple(word for word in extra if word not in set(composed))
    return Exported(str(path), file_format, len(words), vectors.dimensions, len(composed), left_out)


def export_morphemes(vectors: WordVectors, path: str | Path, file_format: str = "word2vec") -> Exported:
    """Write the vectors of all morphemes under their names (`ung/SUF`); a word's vector is the sum of its own."""
    check_export(path, file_format)
    names = vectors.morphemes
    blocks = (names[begin : begin + BLOCK_WORDS] for begin in range(0, len(names), BLOCK_WORDS))
    rows = ((block, np.stack([vectors.morpheme(name) for name in block])) for block in blocks)
    WRITERS[file_format](path, names, MatrixBlocks((len(names), vectors.dimensions), np.dtype("<f4"), rows))
    return Exported(str(path), file_format, len(names), vectors.dimensions, 0, ())


def check_export(path: str | Path, file_format: str, *, half: bool = False) -> None:
    """Refuse what cannot be written, before any work is done."""
    if file_format not in FORMATS:
        raise ConfigError(f"{file_format!r} is no format of vectors; choose one of {', '.join(FORMATS)}")
    if half and file_format not in EXTENSIONS:
        raise ConfigError(f"{file_format} holds float32; leave float16 out, or write npy or safetensors")
    extension = EXTENSIONS.get(file_format, "")
    if extension and not (str(path).endswith(extension) and Path(path).stem):
        raise ConfigError(f"{path}: {file_format} vectors go to a file whose name ends in {extension}; rename it")
    promised = FORMAT_OF.get(Path(path).suffix, file_format)
    if promised != file_format:
        raise ConfigError(
            f"{path}: the name says {promised}, the format is {file_format}; change one ({option('--format')})"
        )


def _new_words(vectors: WordVectors, words: Iterable[str], prepared: bool) -> list[str]:
    """Each once, in the form of the model's text, without those that are known."""
    forms = dict.fromkeys(map(word_forms(vectors, prepared=prepared), words))
    return [word for word in forms if not vectors.known(word) and word not in RESERVED]


def _blocks(vectors: WordVectors, composed: Sequence[str]) -> Iterator[tuple[Sequence[str], Float32Array]]:
    """Words with their vectors, thousands at a time: all words of the vocabulary, then the others."""
    known = vectors.vocabulary.words
    for begin in range(len(RESERVED), len(known), BLOCK_WORDS):
        end = min(begin + BLOCK_WORDS, len(known))
        yield known[begin:end], vectors.of_range(begin, end)
    for begin in range(0, len(composed), BLOCK_WORDS):
        words = composed[begin : begin + BLOCK_WORDS]
        yield words, vectors.rows(words)
