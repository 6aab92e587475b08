"""Language models made ready for the search: one n-gram model as its guide, the others to be asked in batches.

The guide is the first n-gram model. If there is none, word frequencies take its place, with weight 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from morphlm.arrays import Array, Float64Array, Int32Array, Int64Array
from morphlm.errors import ConfigError, InputError
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.kernels import query_batch
from morphlm.logbilinear.kernels.query import Cache
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.query import new_cache
from morphlm.ngram.kernels import ROOT
from morphlm.ngram.model import NgramModel
from morphlm.scoring.streaming import normaliser_of
from morphlm.text.reading import RESERVED, UNKNOWN
from morphlm.translation.decoder.kernels.questions import ngram_answers
from morphlm.translation.decoder.kernels.records import CONTEXT, MODEL, WORD, Ngram, Questions
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, UNK_ID, Vocabulary

IMPOSSIBLE = -100 * np.log(10)  # ln p of a word that a model excludes; infinity would leave nothing to compare
STAND_IN = -1  # in place of a model's number

Forms = Callable[[Sequence[str]], list[str]]
Caches = list[Cache | None]  # of the models but the guide; n-gram models have none


@dataclass(frozen=True, eq=False)
class Models:
    """All language models of a decoder."""

    names: tuple[str, ...]  # of the features
    given: tuple[LanguageModel, ...]
    columns: tuple[int, ...]  # the model behind each column of the search: the guide, then the others
    guide: Ngram
    begin: int  # its state at the start of a sentence
    others: tuple[Ngram | LogBilinearModel, ...]
    vocabularies: tuple[Vocabulary, ...]  # of the columns
    forms: tuple[Forms, ...]  # of the columns: words as they would stand in the model's own training text

    @property
    def orders(self) -> Int64Array:
        """n of the models other than the guide."""
        return np.array([self.given[at].order for at in self.columns[1:]], np.int64)

    @property
    def reach(self) -> int:
        """How many words before a word count in these."""
        return int(max(self.orders, default=1)) - 1

    @property
    def most(self) -> int:
        """How many words at the left end may lack some of their context."""
        return max(self.reach, len(self.guide.bounds) - 1)

    def ids(self, words: Sequence[str]) -> Int32Array:
        """The number of each word in each column's model, (columns, words); a mark in the text is unknown."""
        columns = zip(self.vocabularies, self.forms, strict=True)
        ids = np.stack([vocabulary.encode(forms(words)) for vocabulary, forms in columns])
        ids[ids <= END_ID] = UNK_ID
        return ids

    def new_caches(self, megabytes: float) -> Caches:
        """For one thread."""
        return [new_cache(m.queries.model, megabytes) if isinstance(m, LogBilinearModel) else None for m in self.others]

    def answer(self, questions: Questions, begin: int, end: int, ids: Int32Array, caches: Caches) -> None:
        """Write down ln p of some questions. `ids` are of all words."""
        for b, (model, order) in enumerate(zip(self.others, self.orders.tolist(), strict=True)):
            chosen = begin + np.flatnonzero(questions.asked[begin:end, MODEL] == b)
            rows = ids[1 + b][questions.asked[chosen, WORD : CONTEXT + order - 1]]
            contexts, words = np.ascontiguousarray(rows[:, 1:]), np.ascontiguousarray(rows[:, 0])
            questions.answer[chosen] = _ask(model, contexts, words, caches[b])


def _ask(model: Ngram | LogBilinearModel, contexts: Int32Array, words: Int32Array, cache: Cache | None) -> Float64Array:
    if isinstance(model, LogBilinearModel):
        answers: Float64Array = query_batch.log_probabilities(model.queries.model, cache, contexts, words)
    else:
        answers = ngram_answers(model, contexts, words)
    return answers


def ready_models(models: Sequence[LanguageModel], names: Sequence[str] | None = None) -> Models:
    """Compile models for the search; wide contexts are fixed as after no text."""
    names = [f"LM{number}" for number in range(len(models))] if names is None else names
    if len(names) != len(models) or len(set(names)) < len(names):
        raise ConfigError(f"{len(models)} language models need as many different names, not {', '.join(names)}")
    given = tuple(model.after_text([]) for model in models)
    ngrams = [number for number, model in enumerate(given) if isinstance(model, NgramModel)]
    guide = ngrams[0] if ngrams else STAND_IN
    columns = [guide, *(number for number in range(len(given)) if number != guide)]
    parts = [_part(model, name) for model, name in zip(given, names, strict=True)]
    stand_in = given[0].vocabulary if given else Vocabulary(RESERVED, np.zeros(len(RESERVED), np.int64))
    first, model = (parts[guide], given[guide]) if ngrams else (_unigrams(stand_in), None)
    assert isinstance(first, Ngram)
    return Models(
        names=tuple(names),
        given=given,
        columns=tuple(columns),
        guide=first,
        begin=ROOT if model is None else int(model.begin()),
        others=tuple(parts[number] for number in columns[1:]),
        vocabularies=tuple(given[number].vocabulary if number != STAND_IN else stand_in for number in columns),
        forms=tuple(forms_of(given[number]) if number != STAND_IN else list for number in columns),
    )


def forms_of(model: LanguageModel) -> Forms:
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


def _part(model: LanguageModel, name: str) -> Ngram | LogBilinearModel:
    if isinstance(model, NgramModel):
        return _gram(model)
    if isinstance(model, LogBilinearModel):
        return model
    raise ConfigError(
        f"{name} is a model of the kind {model.kind}, which the search cannot ask; give its parts as models"
    )


def _gram(model: NgramModel) -> Ngram:
    trie = model.trie
    extends = np.zeros(len(trie.words), bool)
    extends[trie.suffix[trie.suffix >= 0]] = True
    logprob = trie.logprob
    if not np.isfinite(np.delete(logprob, BEGIN_ID)).all():
        logprob = np.maximum(logprob, np.float32(IMPOSSIBLE))
    bounds = np.cumsum(trie.sizes).astype(np.int64)
    return _read_only(trie.first_child, trie.words, logprob, trie.backoff, trie.suffix, extends, bounds)


def _unigrams(vocabulary: Vocabulary) -> Ngram:
    """Word frequencies as a model of order 1."""
    words = len(vocabulary)
    counts = vocabulary.counts + 1.0
    return _read_only(
        np.zeros(1, np.int64),
        np.arange(words, dtype=np.int32),
        np.log(counts / counts.sum()).astype(np.float32),
        np.zeros(0, np.float32),
        np.full(words, ROOT, np.int32),
        np.zeros(words, bool),
        np.array([words], np.int64),
    )


def _read_only(*arrays: Array) -> Ngram:
    """One machine code serves what is mapped and what is made."""
    views = [np.ascontiguousarray(array).view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return Ngram(*views)
