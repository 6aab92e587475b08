"""Questions to vectors under the names, with the arguments and the results of gensim's KeyedVectors and of fastText."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np

from morphlm.arguments import check_many, check_word, check_words, shown, whole_number
from morphlm.arrays import Array, Float32Array, Float64Array
from morphlm.display import ResultList
from morphlm.errors import ConfigError, InputError
from morphlm.vectors.base import BaseVectors, Key, WeightedKey, as_keys, check_groups
from morphlm.vectors.composition import Composition
from morphlm.vectors.gensim_evaluation import analogy_accuracy, pair_correlations
from morphlm.vectors.search import Neighbour, RankedRows, checked_vectors, largest, nearest, unit_rows
from morphlm.vectors.writing import write_word2vec

COSMUL_EPSILON = 1e-6  # of Levy & Goldberg (2014), as in gensim


class SimilarWords(ResultList[Neighbour]):
    """Words with their similarities, the nearest first: a list of (word, similarity), as gensim's.

    `compositions` tells of each word that was asked for whether it is known, composed, or only affixes of it are.
    """

    def __init__(self, neighbours: Iterable[Neighbour] = (), compositions: Sequence[Composition] = ()) -> None:
        super().__init__(neighbours)
        self.compositions = tuple(compositions)

    @property
    def origins(self) -> dict[str, str]:
        """`{"neškolami": "affixes"}` for the words that were asked for."""
        return {one.word: one.origin for one in self.compositions}


class Vectors(BaseVectors):
    """Vectors of words: of a model (`model.vectors`), or of a file (`load_vectors`)."""

    # ------------------------------------------------------------ neighbours

    def neighbours(self, query: str | Float32Array, k: int = 10) -> ResultList[Neighbour]:
        """The words nearest to a word, which is left out, or to a vector."""
        return self.neighbours_of_all(one_query(query), k)[0]

    def neighbours_of_all(self, queries: Sequence[str] | Float32Array, k: int = 10) -> list[ResultList[Neighbour]]:
        """The neighbours of many words, or of the rows of a matrix."""
        rows = self._query_rows(queries)
        skip = [self._indices([query]) if isinstance(query, str) else [] for query in queries]
        return named_rows(nearest(self._units, rows, k, skip), self.words)

    def analogy(self, a: str, b: str, c: str, k: int = 10) -> ResultList[Neighbour]:
        """a is to b as c is to what? The words nearest to b - a + c (3CosAdd), these three left out."""
        return self.analogies([(a, b, c)], k)[0]

    def analogies(self, triples: Sequence[tuple[str, str, str]], k: int = 10) -> list[ResultList[Neighbour]]:
        """The answers to many analogies."""
        for triple in triples:
            if not isinstance(triple, tuple | list) or len(triple) != 3:
                raise ConfigError(f"{shown(triple)} is no analogy; give three words")
        a, b, c = (unit_rows(self._existing_rows([triple[i] for triple in triples])) for i in range(3))
        skip = [self._indices(triple) for triple in triples]
        return named_rows(nearest(self._units, b - a + c, k, skip), self.words)

    def _query_rows(self, queries: Sequence[str] | Float32Array) -> Array:
        if isinstance(queries, np.ndarray):
            return checked_vectors(queries, self.vector_size)
        check_words(queries)
        return self._existing_rows(queries).reshape(len(queries), self.vector_size)

    # ------------------------------------------------------------ gensim's names

    @overload
    def most_similar(
        self,
        positive: WeightedKey | Sequence[WeightedKey] | None = ...,
        negative: WeightedKey | Sequence[WeightedKey] | None = ...,
        topn: int = ...,
        clip_start: int = ...,
        clip_end: int | None = ...,
        restrict_vocab: int | None = ...,
    ) -> SimilarWords: ...

    @overload
    def most_similar(
        self,
        positive: WeightedKey | Sequence[WeightedKey] | None = ...,
        negative: WeightedKey | Sequence[WeightedKey] | None = ...,
        *,
        topn: None,
        clip_start: int = ...,
        clip_end: int | None = ...,
        restrict_vocab: int | None = ...,
    ) -> Float32Array: ...

    def most_similar(
        self,
        positive: WeightedKey | Sequence[WeightedKey] | None = None,
        negative: WeightedKey | Sequence[WeightedKey] | None = None,
        topn: int | None = 10,
        clip_start: int = 0,
        clip_end: int | None = None,
        restrict_vocab: int | None = None,
    ) -> SimilarWords | Float32Array:
        """The words nearest to the mean of the positive ones and the negatives of the others, those left out.

        Words count with length 1, vectors with their own; `(key, weight)` gives another weight. Only the words
        `clip_start` to `clip_end`, or the first `restrict_vocab`, are looked at. topn=None: the similarities of all.
        """
        keys = as_keys(positive, 1.0) + as_keys(negative, -1.0)
        if not keys:
            raise ConfigError("nothing to be similar to; give at least one word or vector")
        chosen = [key for key, _ in keys]
        mean = self.get_mean_vector(chosen, [weight for _, weight in keys], post_normalize=True, ignore_missing=False)
        chosen_words = [key for key in chosen if isinstance(key, str)]
        begin, end = (0, restrict_vocab) if restrict_vocab else (clip_start, clip_end or len(self))
        units = self._units[begin:end]
        if topn is None:
            return units @ mean
        skip = [index - begin for index in self._indices(chosen_words) if 0 <= index - begin < len(units)]
        (found,) = named_rows(nearest(units, mean[None], topn, [skip]), self.words[begin:end])
        return SimilarWords(found, self.compositions(chosen_words))

    def most_similar_cosmul(
        self,
        positive: Key | Sequence[Key] | None = None,
        negative: Key | Sequence[Key] | None = None,
        topn: int = 10,
        restrict_vocab: int | None = None,
    ) -> SimilarWords:
        """The words most similar to the positive and least similar to the negative ones, by products (3CosMul)."""
        likes, dislikes = ([key for key, _ in as_keys(keys, 1.0)] for keys in (positive, negative))
        if not likes:
            raise ConfigError("nothing to be similar to; give at least one word or vector")
        scores = self.cosmul_scores(likes, dislikes)[: restrict_vocab or len(self)]
        chosen = [key for key in likes + dislikes if isinstance(key, str)]
        skip = [index for index in set(self._indices(chosen)) if index < len(scores)]
        scores[skip] = -np.inf
        best = largest(scores, min(whole_number("topn", topn), len(scores) - len(skip)))
        found = [Neighbour(self.words[row], float(scores[row])) for row in best.tolist()]
        return SimilarWords(found, self.compositions(chosen))

    def cosmul_scores(self, likes: Sequence[Key], dislikes: Sequence[Key]) -> Float64Array:
        """The products of shifted cosines of all known words with some, divided by those with others."""
        products = [np.ones(len(self)), np.ones(len(self))]
        for k, keys in enumerate((likes, dislikes)):
            for key in keys:
                products[k] *= (1 + self._units @ self._mean_part(key, True).astype(np.float32)) / 2
        scores: Float64Array = products[0] / (products[1] + COSMUL_EPSILON)
        return scores

    def similar_by_word(self, word: str, topn: int = 10, restrict_vocab: int | None = None) -> SimilarWords:
        """The words nearest to a word."""
        check_word(word)
        return self.most_similar(word, topn=topn, restrict_vocab=restrict_vocab)

    similar_by_key = similar_by_word

    def similar_by_vector(self, vector: Array, topn: int = 10, restrict_vocab: int | None = None) -> SimilarWords:
        """The words nearest to a vector; if it is a word's, the word itself is among them."""
        return self.most_similar([vector], topn=topn, restrict_vocab=restrict_vocab)

    def most_similar_to_given(self, key1: str, keys_list: Sequence[str]) -> str:
        """Of some words the one nearest to another."""
        check_groups(keys_list)
        return keys_list[int(np.argmin(self.distances(key1, keys_list)))]

    def similarity(self, w1: str, w2: str) -> float:
        """The cosine of two words."""
        units = unit_rows(self._existing_rows([w1, w2]))
        return float(units[0] @ units[1])

    def distance(self, w1: str, w2: str) -> float:
        """1 - the cosine of two words."""
        return 1 - self.similarity(w1, w2)

    def distances(self, word_or_vector: Key, other_words: Sequence[str] = ()) -> Float32Array:
        """1 - the cosines of a word or vector with other words, or with all known words."""
        query = unit_rows(self._mean_part(word_or_vector, False)[None])[0]
        units = unit_rows(self._existing_rows(other_words)) if len(other_words) else self._units
        distances: Float32Array = 1 - units @ query
        return distances

    def n_similarity(self, ws1: Sequence[str], ws2: Sequence[str]) -> float:
        """The cosine of the means of two groups of words; words of which nothing is known do not take part."""
        check_groups(ws1, ws2)
        means = unit_rows(np.stack([self.get_mean_vector(words, pre_normalize=False) for words in (ws1, ws2)]))
        return float(means[0] @ means[1])

    def rank_by_centrality(self, words: Iterable[str], use_norm: bool = True) -> list[tuple[float, str]]:
        """(similarity, word) with the mean of all, the nearest first; words of which nothing is known are left out."""
        check_many(words)
        words = list(words)
        check_words(words)
        used = [word for word, origin in zip(words, self.origins(words), strict=True) if origin != "unknown"]
        if not used:
            raise ConfigError("none of the words has a vector; give some that have")
        rows = self._existing_rows(used).astype(np.float32)
        rows = unit_rows(rows) if use_norm else rows
        similarities = rows @ unit_rows(rows.mean(axis=0, keepdims=True))[0]
        return sorted(zip(similarities.tolist(), used, strict=True), reverse=True)

    def doesnt_match(self, words: Iterable[str]) -> str:
        """The word that is farthest from the mean of all; words of which nothing is known do not take part."""
        return self.rank_by_centrality(words)[-1][1]

    def closer_than(self, key1: str, key2: str) -> list[str]:
        """The known words that are nearer to the first word than the second is."""
        distances, index = self.distances(key1), self._index(key2)
        limit = distances[index] if index >= 0 else self.distances(key1, [key2])[0]
        nearer, own = np.flatnonzero(distances < limit).tolist(), self._index(key1)
        return [self.words[row] for row in nearer if row != own]

    def rank(self, key1: str, key2: str) -> int:
        """How many known words are nearer to the first word than the second is, and 1."""
        return len(self.closer_than(key1, key2)) + 1

    def evaluate_word_pairs(
        self,
        pairs: str | Path,
        delimiter: str = "\t",
        encoding: str = "utf8",
        restrict_vocab: int | None = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
    ) -> tuple[Any, Any, float]:
        """Pearson's and Spearman's correlation with ratings (each with its p-value), and the % of pairs left out.

        Words that are not known are composed. `evaluate_similarity` tells more.
        """
        return pair_correlations(self, pairs, delimiter, encoding, restrict_vocab, case_insensitive, dummy4unknown)

    def evaluate_word_analogies(
        self,
        analogies: str | Path,
        restrict_vocab: int | None = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
    ) -> tuple[float, list[dict[str, Any]]]:
        """The share of analogies that are answered rightly (3CosAdd), and which they are, section by section.

        The fourth word must be known; others are composed. `evaluate_analogies` tells more.
        """
        return analogy_accuracy(self, analogies, restrict_vocab, case_insensitive, dummy4unknown)

    def save_word2vec_format(self, fname: str | Path, *, binary: bool = False, write_header: bool = True) -> None:
        """Write the known words in word2vec's format; `export_vectors` writes others, and words that are composed."""
        write_word2vec(fname, self.index_to_key, self.vectors, binary=binary, header=write_header)

    # ------------------------------------------------------------ fastText's names

    def get_word_vector(self, word: str) -> Array:
        """The vector of a word."""
        return self[word]

    def get_sentence_vector(self, text: str | Sequence[str]) -> Float32Array:
        """The mean of the words of a text, each with length 1. A string is split at white space, as in fastText.

        Words are taken as they stand; those of which nothing is known do not take part.
        """
        words = text.split() if isinstance(text, str) else text
        check_words(words)
        used = [word for word, origin in zip(words, self.origins(words), strict=True) if origin != "unknown"]
        if not used:
            return np.zeros(self.vector_size, np.float32)
        units = unit_rows(self._existing_rows(used))
        lengths_matter = units.any(axis=1)  # vectors of zeros do not count
        mean: Float32Array = units.sum(axis=0) / np.float32(max(lengths_matter.sum(), 1))
        return mean

    def get_nearest_neighbors(self, word: str, k: int = 10) -> list[tuple[float, str]]:
        """(similarity, word) of the nearest words, as fastText gives them."""
        return [(similarity, name) for name, similarity in self.similar_by_word(word, topn=k)]


def one_query(query: object) -> Any:
    """One query as many: a word, or an array that is a vector."""
    if not isinstance(query, str | np.ndarray):
        raise InputError(f"{shown(query)} is neither a word nor a vector; give one of them")
    return [query] if isinstance(query, str) else query[None]


def named_rows(ranked: Iterable[RankedRows], names: Sequence[str]) -> list[ResultList[Neighbour]]:
    """Rows of a matrix under their names."""
    return [
        ResultList(Neighbour(names[row], float(cosine)) for row, cosine in zip(rows.tolist(), cosines, strict=True))
        for rows, cosines in ranked
    ]
