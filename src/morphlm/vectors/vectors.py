"""Word vectors of a log-bilinear model, of the words it knows and of those that it can compose.

A word's vector is [q; r], its context vector and its output vector (paper, section 4.3). A word that is not known is
the sum of its known morphemes, and UNK only if none is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from morphlm.arguments import check_word, check_words
from morphlm.arrays import Float32Array, Float64Array, Int32Array
from morphlm.display import ResultList, dataclass_repr
from morphlm.errors import ConfigError
from morphlm.lazy import cached_property
from morphlm.segmentation.encoding import normalised
from morphlm.segmentation.factors import BLOCK_WORDS, Factors
from morphlm.tables import counted
from morphlm.text.reading import RESERVED
from morphlm.vectors.composition import Composition, origin_of
from morphlm.vectors.interface import Vectors, named_rows, one_query
from morphlm.vectors.keyed import KeyedVectors
from morphlm.vectors.search import Neighbour, nearest, unit_rows
from morphlm.vocabulary.vocabulary import UNK_ID, Vocabulary

Side = Literal["both", "context", "output"]
SIDES: tuple[Side, ...] = get_args(Side)


@dataclass(frozen=True, eq=False)
class SideVectors:
    """Q^(f) or R^(f): the vectors of one side of a model."""

    table: Float32Array  # (F, d), or (V, d) without factors
    factors: Factors | None  # None: every word has a row of its own

    __repr__ = dataclass_repr

    def of_words(self, words: Int32Array) -> Float32Array:
        """Rows of M Q^(f): the vectors of the words with these ids."""
        if self.factors is None:
            return self.table[words]
        return self.sums([self.factors[word] for word in words.tolist()])

    def of_range(self, begin: int, end: int) -> Float32Array:
        """The vectors of consecutive words."""
        if self.factors is None:
            return self.table[begin:end]
        starts = self.factors.indptr[begin : end + 1]
        return np.add.reduceat(self.table[self.factors.indices[starts[0] : starts[-1]]], starts[:-1] - starts[0])

    def mean(self, counts: Float64Array) -> Float32Array:
        """The mean over words that have these counts; nothing if they have none."""
        weights = counts
        if self.factors is not None:
            repeated = np.repeat(counts, np.diff(self.factors.indptr))
            weights = np.bincount(self.factors.indices, repeated, len(self.table)).astype(np.float64)
        mean: Float32Array = (weights @ self.table / max(counts.sum(), 1.0)).astype(np.float32)
        return mean

    def of_factors(self, begin: int, end: int) -> Float32Array:
        """The vectors of consecutive factors; on a side without factors a morpheme adds nothing."""
        if self.factors is None:
            return np.zeros((end - begin, self.table.shape[1]), np.float32)
        return self.table[begin:end]

    def sums(self, lists: Sequence[Int32Array]) -> Float32Array:
        """The sum of the rows of each list; none is empty."""
        if not lists:
            return np.zeros((0, self.table.shape[1]), np.float32)
        starts = np.cumsum([0, *map(len, lists)])[:-1]
        return np.add.reduceat(self.table[np.concatenate(lists)], starts)


@dataclass(frozen=True, eq=False, repr=False)
class WordVectors(Vectors):
    """The vectors of a model. Choose others by `using(side=..., centre=..., normalise=..., compose=...)`."""

    vocabulary: Vocabulary
    context: SideVectors
    output: SideVectors
    record: Mapping[str, str] = field(default_factory=dict)  # the fields of the model's signature
    side: Side = "both"  # [q; r], q alone, or r alone
    centre: bool = False  # subtract the mean vector of the training text from words
    normalise: bool = False  # q and r each to length 1, before they are joined
    compose: bool = True  # False, the paper's "-compose": all words that are not known are UNK

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            raise ConfigError(f"{self.side!r} is no side of a model; choose one of {', '.join(SIDES)}")

    def __repr__(self) -> str:
        return f"WordVectors({counted(len(self.words), 'word')}, {self.dimensions} dimensions, {self.side})"

    def using(
        self,
        *,
        side: Side | None = None,
        centre: bool | None = None,
        normalise: bool | None = None,
        compose: bool | None = None,
    ) -> WordVectors:
        """The vectors with other choices; what is not given stays."""
        return replace(
            self,
            side=self.side if side is None else side,
            centre=self.centre if centre is None else centre,
            normalise=self.normalise if normalise is None else normalise,
            compose=self.compose if compose is None else compose,
        )

    # ------------------------------------------------------------ words

    @property
    def factors(self) -> Factors | None:
        """The factors of the sides in use; None if they have only words."""
        sides = {"both": (self.context, self.output), "context": (self.context,), "output": (self.output,)}
        return next((side.factors for side in sides[self.side] if side.factors is not None), None)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words that are known, without the reserved marks."""
        return self.vocabulary.words[len(RESERVED) :]

    @cached_property
    def index_to_key(self) -> list[str]:
        return list(self.words)

    @property
    def vector_size(self) -> int:
        width: int = self.context.table.shape[1]
        return 2 * width if self.side == "both" else width

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; gensim's name for it is `vector_size`."""
        return self.vector_size

    def __len__(self) -> int:
        return len(self.vocabulary) - len(RESERVED)

    def _index(self, word: str) -> int:
        return max(self._id_of(word) - len(RESERVED), -1)

    def composable(self, word: str) -> bool:
        """Whether some of the word's morphemes have vectors; its surface form is none of them."""
        number = self._id_of(word)
        if self.factors is None or word in RESERVED:
            return False
        if number > UNK_ID:
            return bool((self.factors[number] >= self.factors.surfaces).any())
        return len(self.factors.of_new_word(word)) > 0

    def compositions(self, words: Sequence[str]) -> list[Composition]:
        """What the vectors of words are made of, which is quicker than one by one."""
        check_words(words)
        new = [word for word in words if not self.known(word) and word not in RESERVED]
        names: dict[str, list[str]] = {}
        if self.factors is not None and self.compose:
            names = dict(zip(new, self.factors.names_of_new_words(new), strict=True))
        return [self._composition(word, names.get(word, [])) for word in words]

    def _composition(self, word: str, names: Sequence[str]) -> Composition:
        """`names` are the factors of a word that is not known."""
        if self.known(word):
            own = [] if self.factors is None else self.factors.names_of(self._id_of(word))
            return Composition(word, "known", tuple((name, True) for name in own))
        parts = tuple((name, self.factors is not None and name in self.factors.ids) for name in names)
        return Composition(word, origin_of(parts), parts)

    def _id_of(self, word: str) -> int:
        """The word as it stands, or else in Unicode NFC."""
        check_word(word)
        return self.vocabulary.ids.get(word) or self.vocabulary.ids.get(normalised(word), UNK_ID)

    def rows(self, words: Sequence[str]) -> Float32Array:
        """The vectors of many words, a row each."""
        check_words(words)
        ids = np.fromiter(map(self._id_of, words), np.int32, len(words))
        q, r = self.context.of_words(ids), self.output.of_words(ids)
        if self.compose and self.factors is not None:
            unknown = [row for row in np.flatnonzero(ids == UNK_ID).tolist() if words[row] not in RESERVED]
            factors = self.factors.of_new_words([words[row] for row in unknown])
            composed = [(row, of_word) for row, of_word in zip(unknown, factors, strict=True) if len(of_word)]
            for side, rows in ((self.context, q), (self.output, r)):
                if side.factors is not None:
                    rows[[row for row, _ in composed]] = side.sums([of_word for _, of_word in composed])
        return self._joined(*self._centred(q, r))

    @cached_property
    def matrix(self) -> Float32Array:
        """The vectors of all words by id, the reserved marks included: M Q^(f) beside M R^(f)."""
        matrix = np.empty((len(self.vocabulary), self.dimensions), np.float32)
        for begin in range(0, len(matrix), BLOCK_WORDS):
            matrix[begin : begin + BLOCK_WORDS] = self.of_range(begin, min(begin + BLOCK_WORDS, len(matrix)))
        return matrix

    @property
    def vectors(self) -> Float32Array:
        return self.matrix[len(RESERVED) :]

    def of_range(self, begin: int, end: int) -> Float32Array:
        """Some rows of the matrix, without making all of it."""
        return self._joined(*self._centred(self.context.of_range(begin, end), self.output.of_range(begin, end)))

    def _centred(self, q: Float32Array, r: Float32Array) -> tuple[Float32Array, Float32Array]:
        return (q - self._means[0], r - self._means[1]) if self.centre else (q, r)

    @cached_property
    def _means(self) -> tuple[Float32Array, Float32Array]:
        """The mean q and r of the words of the training text, each counted as often as it stands there."""
        counts = self.vocabulary.counts.astype(np.float64)
        counts[: len(RESERVED)] = 0.0
        return self.context.mean(counts), self.output.mean(counts)

    def _joined(self, q: Float32Array, r: Float32Array) -> Float32Array:
        parts = {"both": (q, r), "context": (q,), "output": (r,)}[self.side]
        return np.concatenate([unit_rows(part) if self.normalise else part for part in parts], axis=1)

    def keyed(self) -> KeyedVectors:
        """A copy of the known words with their vectors, which composes nothing: a missing word is a KeyError."""
        return KeyedVectors(self.words, self.vectors)

    def signature_fields(self) -> dict[str, Any]:
        fields = {**self.record, "side": self.side} | ({"centre": "yes"} if self.centre else {})
        return fields | {"unit": "yes" if self.normalise else "no"}

    # ------------------------------------------------------------ morphemes

    @property
    def morphemes(self) -> tuple[str, ...]:
        """The names of the morphemes, or of what else the model's factors are; frequent ones first."""
        return () if self.factors is None else self.factors.names[self.factors.surfaces :]

    def morpheme(self, name: str) -> Float32Array:
        """The vector of a morpheme: `ung/SUF`."""
        number = self._morpheme_id(name)
        row: Float32Array = self._joined(
            *(side.of_factors(number, number + 1) for side in (self.context, self.output))
        )[0]
        return row

    def _morpheme_id(self, name: str) -> int:
        if self.factors is None:
            raise ConfigError("this model has no morphemes; ask one with factors (+c, +o or ++)")
        check_word(name)
        if name not in self.factors.ids:
            raise ConfigError(f"{name!r} is no morpheme of this model; write it as in its morphemes.tsv: form/LABEL")
        return self.factors.ids[name]

    # ------------------------------------------------------------ neighbours

    def neighbours(self, query: str | Float32Array, k: int = 10, *, morpheme: bool = False) -> ResultList[Neighbour]:
        """The words nearest to a word, to a morpheme (`morpheme=True`), or to a vector; the word itself left out."""
        return self.neighbours_of_all(one_query(query), k, morphemes=morpheme)[0]

    def neighbours_of_all(
        self, queries: Sequence[str] | Float32Array, k: int = 10, *, morphemes: bool = False
    ) -> list[ResultList[Neighbour]]:
        """The neighbours of many words, or morphemes, or of the rows of a matrix."""
        return super().neighbours_of_all(self._morpheme_rows(queries) if morphemes else queries, k)

    def nearest_morphemes(
        self, query: str | Float32Array, k: int = 10, *, morpheme: bool = False
    ) -> ResultList[Neighbour]:
        """The morphemes nearest to a word, to a morpheme, which is left out, or to a vector."""
        return self.nearest_morphemes_of_all(one_query(query), k, morphemes=morpheme)[0]

    def nearest_morphemes_of_all(
        self, queries: Sequence[str] | Float32Array, k: int = 10, *, morphemes: bool = False
    ) -> list[ResultList[Neighbour]]:
        """The morphemes nearest to many words, morphemes, or rows of a matrix."""
        if self.factors is None:
            raise ConfigError("this model has no morphemes; ask one with factors (+c, +o or ++)")
        rows = self._morpheme_rows(queries) if morphemes else self._query_rows(queries)
        first = self.factors.surfaces
        skip = [[self.factors.ids[query] - first] if morphemes and isinstance(query, str) else [] for query in queries]
        return named_rows(nearest(self._morpheme_units, rows, k, skip), self.morphemes)

    def _morpheme_rows(self, queries: Sequence[str] | Float32Array) -> Float32Array:
        """The vectors of morphemes, a row each; an array has them already."""
        if isinstance(queries, np.ndarray):
            return queries
        check_words(queries)
        rows = [self.morpheme(name) for name in queries]
        return np.asarray(rows, np.float32).reshape(len(queries), self.vector_size)

    @cached_property
    def _units(self) -> Float32Array:
        """The words' vectors with length 1, without the reserved marks: these are nobody's neighbours."""
        return self._units_by(self.of_range, len(RESERVED), len(self.vocabulary))

    @cached_property
    def _morpheme_units(self) -> Float32Array:
        assert self.factors is not None
        return self._units_by(
            lambda begin, end: self._joined(self.context.of_factors(begin, end), self.output.of_factors(begin, end)),
            self.factors.surfaces,
            len(self.factors),
        )

    def _units_by(self, rows: Callable[[int, int], Float32Array], first: int, last: int) -> Float32Array:
        units = np.empty((last - first, self.dimensions), np.float32)
        for begin, end in pairwise([*range(first, last, BLOCK_WORDS), last]):
            units[begin - first : end - first] = unit_rows(rows(begin, end))
        return units
