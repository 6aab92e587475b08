"""Vectors of a fastText model: a word is the mean of its own vector, if it is known, and of those of its subwords.

Subwords are the n-grams of letters of `<word>`, hashed into rows of one matrix (Bojanowski et al. 2017). The matrix
stays in its file, which is mapped; vectors of words are computed, and checked, when they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from morphlm.arguments import check_words
from morphlm.arrays import Array, Float32Array, Int32Array, Int64Array, read_only, starts_of
from morphlm.errors import FormatError, UnknownWordError
from morphlm.lazy import cached_property
from morphlm.tables import counted
from morphlm.vectors import kernels
from morphlm.vectors.composition import Composition
from morphlm.vectors.interface import Vectors
from morphlm.vectors.search import unit_rows

END_OF_SENTENCE = "</s>"  # fastText gives it no subwords
WORDS_A_BLOCK, ROWS_A_BLOCK = 4096, 8192


@dataclass(frozen=True)
class Subwords:
    """Which n-grams of letters count, and how many rows they share."""

    shortest: int
    longest: int  # 0: none
    buckets: int


@dataclass(frozen=True, eq=False, repr=False)
class FastTextVectors(Vectors):
    """The vectors of a fastText .bin file. Words that are not known are composed of their subwords."""

    known_words: list[str]
    matrix: Array  # (words + buckets, d) float32; a map of the file
    subwords: Subwords
    name: str = "fastText"  # for messages
    other_forms: Mapping[int, bytes] = field(default_factory=dict)  # of known words that are not UTF-8
    compose: bool = True  # False: words that are not known have no vector
    record: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        ngrams = f"n-grams of {self.subwords.shortest} to {self.subwords.longest} letters"
        return f"FastTextVectors({counted(len(self), 'word')}, {self.vector_size} dimensions, {ngrams})"

    @property
    def index_to_key(self) -> list[str]:
        return self.known_words

    @property
    def vector_size(self) -> int:
        size: int = self.matrix.shape[1]
        return size

    @cached_property
    def vectors(self) -> Float32Array:
        """The vectors of the known words, each the mean with its subwords."""
        return np.concatenate([np.zeros((0, self.vector_size), np.float32), *self._blocks()])

    @cached_property
    def _units(self) -> Float32Array:
        """Block by block: the vectors themselves need not all be in memory."""
        return np.concatenate([np.zeros((0, self.vector_size), np.float32), *map(unit_rows, self._blocks())])

    def _blocks(self) -> Any:
        for begin in range(0, len(self), WORDS_A_BLOCK):
            yield self.rows(self.known_words[begin : begin + WORDS_A_BLOCK])

    def using(self, *, compose: bool | None = None) -> FastTextVectors:
        """The vectors with words that are not known composed, or left without vectors."""
        return replace(self, compose=self.compose if compose is None else compose)

    def signature_fields(self) -> dict[str, Any]:
        ngrams = f"{self.subwords.shortest}-{self.subwords.longest}"
        return {"model": "fasttext", "d": self.vector_size, "V": len(self), "ngrams": ngrams}

    # ------------------------------------------------------------ words

    def compositions(self, words: Sequence[str]) -> list[Composition]:
        check_words(words)
        ends = self._find_rows(words)[1]
        has_rows = np.diff(ends, prepend=0) > 0
        return [self._composition(word, any_rows) for word, any_rows in zip(words, has_rows.tolist(), strict=True)]

    def _composition(self, word: str, has_rows: bool) -> Composition:
        if self.known(word):
            return Composition(word, "known", ())
        parts = tuple((ngram, True) for ngram in self.get_subwords(word)) if has_rows else ()
        return Composition(word, "composed" if has_rows else "unknown", parts)

    def get_subwords(self, word: str) -> list[str]:
        """The n-grams of letters of a word with its edges: `<ne neš eš> ...`."""
        check_words([word])
        letters, rule = f"<{word}>", self.subwords
        if word == END_OF_SENTENCE:
            return []
        return [
            letters[begin:end]
            for begin in range(len(letters))
            for end in range(begin + max(rule.shortest, 1), min(begin + rule.longest, len(letters)) + 1)
            if end - begin > 1 or 0 < begin < len(letters) - 1
        ]

    def rows(self, words: Sequence[str]) -> Float32Array:
        """A row for each word: the mean of its own vector and its subwords'; zeros if it has none of them."""
        check_words(words)
        rows, ends = self._find_rows(words)
        sums = self._sums(rows, np.repeat(np.arange(len(words)), np.diff(ends, prepend=0)), len(words))
        counts = np.maximum(np.diff(ends, prepend=0), 1)
        means: Float32Array = sums * (1.0 / counts).astype(np.float32)[:, None]
        if not np.isfinite(means).all():
            raise FormatError(f"{self.name}: some numbers are not finite; make or copy the file again")
        return means

    def _existing_rows(self, words: Sequence[str]) -> Array:
        for word, origin in zip(words, self.origins(words), strict=True):
            if origin == "unknown":
                raise UnknownWordError(f"{word!r} has neither a vector nor subwords here; ask for another word")
        return self.rows(words)

    def get_word_vector(self, word: str) -> Array:
        """The vector of a word; zeros if it has no subwords either, as in fastText."""
        row: Array = self.rows([word])[0]
        return row

    def _find_rows(self, words: Sequence[str]) -> tuple[Int32Array, Int64Array]:
        """The rows of the matrix that each word is the mean of, and where those of each end."""
        own = np.array([self.key_to_index.get(word, -1) for word in words], np.int32)
        has_subwords = (own >= 0) | self.compose
        forms = [
            self._form(word, index) if wanted else b""
            for word, index, wanted in zip(words, own.tolist(), has_subwords.tolist(), strict=True)
        ]
        data = read_only(np.frombuffer(b"".join(forms), np.uint8))
        starts, ends = starts_of([len(form) for form in forms]), np.empty(len(words), np.int64)
        rule = self.subwords
        rows = np.empty(0, np.int32)
        for _ in range(2):  # how many there are, then which they are
            found = kernels.find_subwords(
                data, starts, own, rule.shortest, rule.longest, rule.buckets, len(self), rows, ends
            )  # fmt: skip
            rows = np.empty(found, np.int32) if len(rows) != found else rows
        return rows, ends

    def _form(self, word: str, index: int) -> bytes:
        """The bytes of a word between its edges."""
        if word == END_OF_SENTENCE:
            return b""
        return b"<" + (self.other_forms.get(index) or word.encode(errors="surrogatepass")) + b">"

    def _sums(self, rows: Int32Array, owners: Int64Array, words: int) -> Float32Array:
        """The sums of the rows of each word, one after the other as fastText adds them; some thousands at a time."""
        sums = np.zeros((words, self.vector_size), np.float32)
        for begin in range(0, len(rows), ROWS_A_BLOCK):
            block = np.ascontiguousarray(self.matrix[rows[begin : begin + ROWS_A_BLOCK]], np.float32)
            kernels.add_rows(block, owners[begin : begin + ROWS_A_BLOCK], sums)
        return sums
