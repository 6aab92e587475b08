"""All translations that were found so far, with their features and BLEU statistics: what weights are searched on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from morphlm.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from morphlm.errors import ConfigError
from morphlm.translation.tuning import kernels
from morphlm.translation.tuning.bleu import SIZE, Reference, Statistics
from morphlm.translation.tuning.lists import TranslationList


@dataclass(frozen=True, eq=False)
class PooledCandidates:
    """Translations of all sentences one after the other."""

    columns: Float32Array  # (K, H): a feature of all translations is in one piece
    statistics: Statistics  # (H, SIZE)
    starts: Int64Array  # those of sentence s begin at starts[s]

    def scores(self, weights: Float64Array) -> Float64Array:
        scores: Float64Array = kernels.products(self.columns, weights)
        return scores

    def spreads(self) -> Float64Array:
        """By how much each feature differs between translations of a sentence: the standard deviation.

        It is exactly 0 where none differ, as the lowest value is taken away before anything is summed.
        """
        begins = self.starts[:-1][np.diff(self.starts) > 0]
        sizes = np.diff([*begins, self.columns.shape[1]])

        def spread(column: Float64Array) -> float:
            above = column - np.repeat(np.minimum.reduceat(column, begins), sizes)
            means = np.repeat(np.add.reduceat(above, begins) / sizes, sizes)
            return float(np.sqrt(((above - means) ** 2).mean()))

        return np.array([spread(column.astype(np.float64)) for column in self.columns])

    def bleu(self, weights: Float64Array) -> float:
        """BLEU of the best translations under these weights, the first of equal ones."""
        return self.bleu_of(self.scores(weights))

    def bleu_of(self, scores: Float64Array) -> float:
        """BLEU of the translations with the highest scores."""
        return float(kernels.bleu_of_best(scores, self.statistics, self.starts))


class CandidatePool:
    """All translations of each sentence that were found so far; each is kept once."""

    def __init__(self, references: Sequence[Sequence[Sequence[str]]], features: int) -> None:
        """The references of every sentence (one or more), and how many features a translation has."""
        self._sentences = [_Sentence(Reference.of(of_sentence), features) for of_sentence in references]
        self._width = features

    def add(self, sentence: int, translations: TranslationList) -> tuple[int, Statistics]:
        """Add those that are not there with the same features already; gives their number, and all statistics."""
        if translations.features.shape[1:] != (self._width,):
            shape = translations.features.shape
            raise ConfigError(f"translations with features of shape {shape} where {self._width} features are meant")
        return self._sentences[sentence].add(translations)

    def __len__(self) -> int:
        return sum(map(len, self._sentences))

    def arrays(self) -> PooledCandidates:
        starts = np.cumsum([0, *map(len, self._sentences)]).astype(np.int64)
        features = [block for sentence in self._sentences for block in sentence.features]
        statistics = [block for sentence in self._sentences for block in sentence.statistics]
        return PooledCandidates(np.ascontiguousarray(np.concatenate(features).T), np.concatenate(statistics), starts)


class _Sentence:
    """The translations of one sentence, in blocks as they came."""

    def __init__(self, reference: Reference, features: int) -> None:
        self._reference = reference
        self._ids = dict(reference.ids)  # numbers of words, those of the reference first
        self._seen: set[bytes] = set()
        self.features: list[Float32Array] = [np.zeros((0, features), np.float32)]
        self.statistics: list[Statistics] = [np.zeros((0, SIZE), np.int32)]

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, translations: TranslationList) -> tuple[int, Statistics]:
        ids = self._ids
        numbers = np.array([ids.setdefault(word, len(ids)) for word in translations.vocabulary], np.int32)
        words = numbers[translations.words]
        statistics = self._reference.statistics_of_ids(words, translations.starts)
        features = np.ascontiguousarray(translations.features, np.float32)
        new = []
        for number, key in enumerate(_keys(words, translations.starts, features)):
            if key not in self._seen:
                self._seen.add(key)
                new.append(number)
        self.features.append(features[new])
        self.statistics.append(statistics[new])
        return len(new), statistics


def _keys(words: Int32Array, starts: Int64Array, features: Float32Array) -> Iterator[bytes]:
    """Words and features of each translation as they are, so that no two different ones are taken as the same."""
    spelled, cuts = words.tobytes(), (starts * words.itemsize).tolist()
    for number in range(len(features)):
        yield spelled[cuts[number] : cuts[number + 1]] + features[number].tobytes()
