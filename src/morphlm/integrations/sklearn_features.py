"""The transformer. This module needs scikit-learn; `sklearn` imports it when it is used."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from morphlm.arguments import shown
from morphlm.arrays import Array, Float64Array
from morphlm.errors import ConfigError, InputError
from morphlm.language_model.base import LanguageModel
from morphlm.scoring.loading import load
from morphlm.vectors.vectors import Side, WordVectors
from morphlm.vocabulary.corpus import check_tokens
from morphlm.vocabulary.vocabulary import END_ID

BATCH = 4096  # texts that are scored together


class SentenceFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Texts become rows of numbers: the mean vector of their words, and their perplexity in the last column.

    `model` is a model or its directory. `vectors` and `perplexity` say which of both there are. The vectors are chosen
    by `side`, `centre` and `normalise`, as by `model.vectors.using`; words never seen are composed of their morphemes.
    A text without words has the vector 0. Each text is scored as one sentence, prepared as the model's own text was,
    and by itself, whatever stands before it.
    """

    def __init__(
        self,
        model: LanguageModel | str | os.PathLike[str],
        *,
        vectors: bool = True,
        perplexity: bool = True,
        side: Side = "both",
        centre: bool = False,
        normalise: bool = False,
    ) -> None:
        self.model = model
        self.vectors = vectors
        self.perplexity = perplexity
        self.side = side
        self.centre = centre
        self.normalise = normalise

    def fit(self, X: Any = None, y: Any = None) -> Self:  # noqa: N803
        """Load the model; nothing is learned from the texts."""
        if not (self.vectors or self.perplexity):
            raise ConfigError("neither vectors nor perplexity are asked for; leave one of them True")
        model = self.model if isinstance(self.model, LanguageModel) else load(os.fspath(self.model))
        self.model_ = model.after_text([])  # texts are no neighbours of each other
        self.vectors_ = None
        if self.vectors:
            self.vectors_ = model.vectors.using(side=self.side, centre=self.centre, normalise=self.normalise)
        return self

    def transform(self, X: Iterable[str]) -> Array:  # noqa: N803
        """A row for each text."""
        check_is_fitted(self)
        texts = list(_checked(X))
        blocks = [self._features(texts[begin : begin + BATCH]) for begin in range(0, len(texts), BATCH)]
        return np.concatenate(blocks) if blocks else np.empty((0, len(self.get_feature_names_out())))

    def _features(self, texts: list[str]) -> Float64Array:
        sentences = [self.model_.tokens(" ".join(text.split())) for text in texts]
        for number, sentence in enumerate(sentences, 1):
            check_tokens(sentence, allow_unknown=True, number=number)
        columns = [] if self.vectors_ is None else [_mean_vectors(self.vectors_, sentences)]
        return np.hstack([*columns, *([self._perplexities(sentences)] if self.perplexity else [])])

    def _perplexities(self, sentences: list[list[str]]) -> Float64Array:
        """A column: exp(-1/N sum ln p), where N counts the words and the end of the sentence."""
        encode = self.model_.vocabulary.encode
        ids = np.concatenate([[*encode(sentence).tolist(), END_ID] for sentence in sentences]).astype(np.int32)
        ends = np.flatnonzero(ids == END_ID)
        starts = np.concatenate([[0], ends[:-1] + 1])
        sums = np.add.reduceat(self.model_.score_tokens(ids), starts)
        column: Float64Array = np.exp(-sums / (ends - starts + 1))[:, None]
        return column

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """vector0, vector1, ..., perplexity."""
        check_is_fitted(self)
        count = 0 if self.vectors_ is None else self.vectors_.dimensions
        names = [f"vector{number}" for number in range(count)] + ["perplexity"] * bool(self.perplexity)
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags


def _mean_vectors(vectors: WordVectors, sentences: list[list[str]]) -> Float64Array:
    """The mean of the vectors of each sentence's words; every word is looked up or composed once."""
    words = {word: row for row, word in enumerate(dict.fromkeys(word for words in sentences for word in words))}
    rows = vectors.rows(list(words))
    means = np.zeros((len(sentences), vectors.dimensions))
    for mean, sentence in zip(means, sentences, strict=True):
        if sentence:
            mean[:] = rows[[words[word] for word in sentence]].mean(axis=0, dtype=np.float64)
    return means


def _checked(texts: Iterable[str]) -> Iterable[str]:
    """The texts; a single one, or what is none, is refused."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise InputError(f"{shown(texts)} is no list of texts; give several strings, [text] for a single one")
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"{shown(text)} is no text; give strings", source="<texts>", line=number)
        yield text
