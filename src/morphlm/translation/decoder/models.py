"""Language models made ready for the search: n-grams as its heuristic, all other models with scorers for batches.

The heuristic is the first model that is itself made of n-grams. If there is none, its column has weight 0: then it is
n-grams that resemble a model, such as a component of a mixture, or else word frequencies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from morphlm.arrays import Array, BoolArray, Float64Array, Int32Array, Int64Array, read_only
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, InputError
from morphlm.kinds import find_kind
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.batch_scorer import BatchScorer, NewWordIds, batch_scorer
from morphlm.language_model.perplexity import UnknownContexts, composes
from morphlm.ngram.batch_scorer import SearchHeuristic
from morphlm.ngram.kernels import ROOT
from morphlm.ngram.trie import NgramTrie
from morphlm.scoring.spelled import SpelledModel
from morphlm.scoring.streaming import normaliser_of
from morphlm.text.reading import RESERVED, UNKNOWN
from morphlm.translation.decoder.kernels.records import CONTEXT, MODEL, NONE, WORD, LmQueries, NgramArrays
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, NOTHING, UNK_ID, Vocabulary

IMPOSSIBLE = -100 * np.log(10)  # ln p of a word that a model excludes; infinity would leave nothing to compare
NO_MODEL = -1  # in place of a model's number: the heuristic is none of the models

WordForms = Callable[[Sequence[str]], list[str]]
Caches = list[Any]  # of the scorers, for one thread


@dataclass(frozen=True, eq=False)
class SearchModels:
    """All language models of a decoder."""

    names: tuple[str, ...]  # of the features
    models: tuple[LanguageModel, ...]
    columns: tuple[int, ...]  # the model behind each column of the search: the heuristic, then those with scorers
    heuristic: NgramArrays
    begin: int  # the state of the heuristic at the start of a sentence
    scorers: tuple[BatchScorer, ...]
    vocabularies: tuple[Vocabulary, ...]  # of the columns
    spelled: tuple[SpelledModel | None, ...]  # of the models: what spells their unknown words, if anything does
    forms: tuple[WordForms, ...]  # of the columns: words as they would stand in the model's own training text

    __repr__ = dataclass_repr

    @property
    def orders(self) -> Int64Array:
        """n of each scorer."""
        return np.array([scorer.order for scorer in self.scorers], np.int64)

    @property
    def estimates(self) -> BoolArray:
        """Whether each scorer gives estimates."""
        return np.array([scorer.gives_estimates for scorer in self.scorers], bool)

    @property
    def context_size(self) -> int:
        """How many words before a word count in the scorers."""
        return int(max(self.orders, default=1)) - 1

    @property
    def max_left(self) -> int:
        """How many words at the left end may lack some of their context."""
        return max(self.context_size, len(self.heuristic.bounds) - 1)

    def ids(self, words: Sequence[str]) -> Int32Array:
        """The number of each word in each column's model, (columns, words); a mark in the text is unknown.

        Unknown words have numbers beyond the vocabulary where the model composes them in contexts.
        """
        encoders = [self.vocabularies[0].encode, *map(self._encoder, range(len(self.scorers)))]
        ids = np.stack([encode(forms(words)) for encode, forms in zip(encoders, self.forms, strict=True)])
        ids[ids <= END_ID] = UNK_ID
        return ids

    def _encoder(self, scorer: int) -> Callable[[Sequence[str]], Int32Array]:
        new_words = self.scorers[scorer].new_words
        return self.vocabularies[1 + scorer].encode if new_words is None else new_words.encode

    def is_unknown(self, ids: Int32Array) -> BoolArray:
        """Which of some words are unknown to each column's model, (columns, words)."""
        sizes = np.array([len(vocabulary) for vocabulary in self.vocabularies])
        unknown: BoolArray = (ids == UNK_ID) | (ids >= sizes[:, None])
        return unknown

    def log_shares(self, model: int, words: Sequence[str]) -> Float64Array:
        """ln of the shares of P(UNK) that unknown words have in a model; 0 for others, and where nothing is spelled."""
        spelled = self.spelled[model]
        if spelled is None:
            return np.zeros(len(words))
        forms = self.forms[self.columns.index(model)](words)
        return np.array([spelled.log_share(form) for form in forms], np.float64)

    def new_caches(self, megabytes: float) -> Caches:
        """Caches for one thread, each of this size."""
        return [scorer.new_cache(megabytes) for scorer in self.scorers]

    def score_queries(self, queries: LmQueries, begin: int, end: int, ids: Int32Array, caches: Caches) -> None:
        """Fill in ln p of the queries begin .. end - 1. `ids` are of all words."""
        for b, scorer in enumerate(self.scorers):
            chosen = begin + np.flatnonzero(queries.keys[begin:end, MODEL] == b)
            numbers = queries.keys[chosen, WORD : CONTEXT + scorer.order - 1]
            rows = np.where(numbers == NONE, np.int32(NOTHING), ids[1 + b][numbers])
            is_estimate = numbers[:, -1] == NONE  # what is furthest away
            for ask, asked in ((scorer.log_probabilities, ~is_estimate), (scorer.estimate, is_estimate)):
                if asked.any():
                    contexts, words = np.ascontiguousarray(rows[asked, 1:]), np.ascontiguousarray(rows[asked, 0])
                    queries.logprob[chosen[asked]] = np.maximum(ask(contexts, words, caches[b]), IMPOSSIBLE)


def prepare_models(
    models: Sequence[LanguageModel], names: Sequence[str] | None = None, unknown_contexts: UnknownContexts = "unk"
) -> SearchModels:
    """Compile models for the search; wide contexts are fixed as after no text."""
    composed = composes(unknown_contexts)
    names = [f"LM{number}" for number in range(len(models))] if names is None else names
    if len(names) != len(models) or len(set(names)) < len(names):
        raise ConfigError(f"{len(models)} language models need as many different names, not {', '.join(names)}")
    spelled = tuple(model if isinstance(model, SpelledModel) else None for model in models)
    plain = (model.model if isinstance(model, SpelledModel) else model for model in models)
    fixed = tuple(model.after_text([]) for model in plain)
    heuristic, number, forms = _choose_heuristic(fixed)
    asked = [other for other in range(len(fixed)) if other != number]
    return SearchModels(
        names=tuple(names),
        models=fixed,
        columns=(number, *asked),
        heuristic=_ngram_arrays(heuristic.trie),
        begin=heuristic.trie.begin(),
        scorers=tuple(_scorer(fixed[other], composed) for other in asked),
        vocabularies=(heuristic.vocabulary, *(fixed[other].vocabulary for other in asked)),
        spelled=spelled,
        forms=(forms, *(forms_of(fixed[other]) for other in asked)),
    )


def _scorer(model: LanguageModel, composed: bool) -> BatchScorer:
    return batch_scorer(model, NewWordIds(model.vocabulary) if composed else None)


def _choose_heuristic(models: Sequence[LanguageModel]) -> tuple[SearchHeuristic, int, WordForms]:
    """The n-grams that order the search, the number of the model that they are, and the word forms that they know."""
    heuristics = [(number, _heuristic_of(model)) for number, model in enumerate(models)]
    for is_exact in (True, False):
        for number, heuristic in heuristics:
            if heuristic is not None and heuristic.is_exact == is_exact:
                return heuristic, number if is_exact else NO_MODEL, forms_of(models[number])
    vocabulary = models[0].vocabulary if models else Vocabulary(RESERVED, np.zeros(len(RESERVED), np.int64))
    return SearchHeuristic(_word_frequencies(vocabulary), vocabulary, is_exact=False), NO_MODEL, list


def _heuristic_of(model: LanguageModel) -> SearchHeuristic | None:
    kind = find_kind(model.kind)
    if kind is None or not kind.decoder_heuristic:
        return None
    heuristic: SearchHeuristic | None = kind.load("decoder_heuristic")(model)
    return heuristic


def forms_of(model: LanguageModel) -> WordForms:
    """Does to words what was done to those of the model's training text (lowercase, digits as 0), if that is on record.

    A translation keeps its 2012, and the model is asked for its 0000.
    """
    try:
        normalise = normaliser_of(model)
    except ConfigError:  # nothing is on record
        return list

    @lru_cache(maxsize=1 << 16)
    def form(word: str) -> str:
        try:
            parts = normalise([word])
        except InputError:  # it would be a mark
            return UNKNOWN
        return parts[0] if len(parts) == 1 else word

    return lambda words: [form(word) for word in words]


def _word_frequencies(vocabulary: Vocabulary) -> NgramTrie:
    """Word frequencies as a model of order 1."""
    words, counts = len(vocabulary), vocabulary.counts + 1.0
    return NgramTrie(
        sizes=(words,),
        words=np.arange(words, dtype=np.int32),
        logprob=np.log(counts / counts.sum()).astype(np.float32),
        suffix=np.full(words, ROOT, np.int32),
        backoff=np.zeros(0, np.float32),
        first_child=np.zeros(1, np.int64),
    )


def _ngram_arrays(trie: NgramTrie) -> NgramArrays:
    extends = np.zeros(len(trie.words), bool)
    suffixes = trie.suffix[trie.vocabulary_size :]  # those of unigrams are none, or mark members of UNK
    extends[suffixes[suffixes >= 0]] = True
    logprob = trie.logprob
    if not np.isfinite(np.delete(logprob, BEGIN_ID)).all():
        logprob = np.maximum(logprob, np.float32(IMPOSSIBLE))
    bounds = np.cumsum(trie.sizes).astype(np.int64)
    arrays: tuple[Array, ...] = (trie.first_child, trie.words, logprob, trie.backoff, trie.suffix, extends, bounds)
    return NgramArrays(*map(read_only, arrays))
