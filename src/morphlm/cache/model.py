"""A cache as a language model: p(w) = (sum_k gamma^(k-1) omega(w_k) K(w | w_k) + mu P_0(w)) / (sum_k ... + mu).

w_1, w_2, ... are the words of the text before the sentence, the nearest first, as many as the window holds, and gamma
is the decay. K(w | v) is 1 for w = v or, by classes and stems, sum_u P(w | u) A(u | v) (see `units`). P_0, the word
frequencies of the training text, counts as much as mu words. The cache does not change within a sentence: what a
decoder is told with `after_text` is all that there is to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Array, Float64Array, Int32Array, read_only
from morphlm.cache.config import KIND_OF_UNIT, CacheConfig
from morphlm.cache.frozen import frozen_cache
from morphlm.cache.kernels import words as kernels
from morphlm.cache.states import CacheState, history_of, is_cache_state, tokens_before
from morphlm.cache.units import Units, background_of, share_unknown, word_units
from morphlm.language_model.addition import EXTENDED, Addition
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.guards import Words, check_sentences, composed_ids
from morphlm.language_model.origin import Origin
from morphlm.language_model.perplexity import UnknownContexts, composes
from morphlm.language_model.signature import Signature
from morphlm.lazy import cached_property
from morphlm.modelfile import ModelFiles, check_self_test, write_model
from morphlm.text.reading import END
from morphlm.vocabulary.vocabulary import UNK_ID, VOCABULARY_FILE, Vocabulary, parse_vocabulary

WEIGHTS, BACKGROUND, UNITS = "weights", "background", Units._fields  # tensors


class CacheModel(LanguageModel):
    """A decaying cache of words, classes or stems."""

    order = 1  # within a sentence, no word depends on another

    def __init__(
        self,
        config: CacheConfig,
        vocabulary: Vocabulary,
        weights: Float64Array,
        units: Units | None,
        training: dict[str, Any],
        background: Float64Array | None = None,
    ) -> None:
        """`weights` say how much each word counts; `units` what words share, None where that is nothing.

        `background` is P_0; None: the word frequencies of the training text.
        """
        self.config, self.vocabulary, self.weights, self.training = config, vocabulary, weights, training
        self.units = word_units(len(vocabulary)) if units is None else units
        self.background = background_of(vocabulary) if background is None else background
        self.kind, self.window = KIND_OF_UNIT[config.unit], config.window
        self._history: tuple[tuple[int, ...], Int32Array] = ((), history_of(()))  # of the state that was asked last

    @cached_property
    def _tables(self) -> kernels.CacheTables:
        arrays: list[Array] = [*self.units, self.weights, self.background]
        decay, pseudo_count = self.config.decay, self.config.background
        named = zip(kernels.CacheTables._fields, map(read_only, arrays), strict=False)
        return kernels.CacheTables(**dict(named), decay=decay, pseudo_count=pseudo_count)

    @cached_property
    def _size(self) -> int:
        return self.units.size

    # ------------------------------------------------------------ states

    def begin(self, *, sentence: bool = True, unknown_contexts: UnknownContexts = "unk") -> CacheState:
        """There is no text before."""
        composes(unknown_contexts)  # which changes nothing: an unknown word is UNK
        return CacheState((), ())

    def is_state(self, state: Any) -> bool:
        return is_cache_state(state, len(self.vocabulary), self.window)

    def next_sentence(self, state: CacheState) -> CacheState:
        """The words of the sentence are in the cache now."""
        return state.next_sentence(self.window)

    @property
    def reach(self) -> int:
        return self.window

    def after_text(self, sentences: Iterable[Sequence[str]]) -> LanguageModel:
        """The model for a sentence after a text: an n-gram model of order 1, as no word depends on another."""
        check_sentences(sentences)
        before = self.vocabulary.encode(tokens_before(sentences, self.window))
        return frozen_cache(self.vocabulary, self._probabilities(before, self._all_words), self.training | self._fixed)

    @property
    def _fixed(self) -> dict[str, Any]:
        """What the record of a frozen cache says of what it was."""
        return {"frozen_kind": self.kind, "frozen_window": self.window}

    def _with_addition(self, addition: Addition) -> CacheModel:
        """In the text before, the words count as UNK does: nothing, unless unknown words are in the cache."""
        earlier, added = self.training.get(EXTENDED, 0), len(addition.words)
        units, background = share_unknown(self.units, self.background, earlier, addition)
        weights = np.append(self.weights, np.full(added, self.weights[UNK_ID]))
        training = self.training | {EXTENDED: earlier + added}
        vocabulary = self.vocabulary.with_words(addition.words)
        return CacheModel(self.config, vocabulary, weights, units, training, background)

    # ------------------------------------------------------------ scoring

    def score_id(self, state: CacheState, word: int) -> tuple[float, CacheState]:
        probability = self._probabilities(self._history_of(state), np.array([word], np.int32))[0]
        with np.errstate(divide="ignore"):
            return float(np.log(probability)), state.after(word, self.window)

    def score_many(self, states: Sequence[CacheState], words: Words) -> tuple[Float64Array, list[Any]]:
        ids = np.asarray(words, np.int32)
        probabilities = np.empty(len(ids))
        for before, rows in _by_history(states).items():
            probabilities[rows] = self._probabilities(history_of(before), ids[rows])
        after = [state.after(word, self.window) for state, word in zip(states, ids.tolist(), strict=True)]
        with np.errstate(divide="ignore"):
            return np.log(probabilities), after

    def score_grid(self, states: Sequence[CacheState], words: Words) -> Float64Array:
        ids = np.asarray(words, np.int32)
        probabilities = np.empty((len(states), len(ids)))
        for before, rows in _by_history(states).items():
            probabilities[rows] = self._probabilities(history_of(before), ids)
        with np.errstate(divide="ignore"):
            return np.log(probabilities)

    def distribution(self, state: CacheState) -> Float64Array:
        return self._probabilities(self._history_of(state), self._all_words)

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        logprobs: Float64Array = kernels.score_text(tokens, self.window, self._tables, self._size)
        return logprobs

    def score_sentences(
        self, tokens: Int32Array, forms: Sequence[str] = (), *, after: Int32Array | None = None
    ) -> Float64Array:
        """All sentences have the same history; without one, a cache knows word frequencies only."""
        history = history_of(()) if after is None else self._known(after, forms)[-self.window :]
        with np.errstate(divide="ignore"):
            logprobs: Float64Array = np.log(self._probabilities(history, self._known(tokens, forms)))
        return logprobs

    def _known(self, tokens: Int32Array, forms: Sequence[str]) -> Int32Array:
        size = len(self.vocabulary)
        ids = composed_ids(tokens, forms, size)
        return np.where(ids < size, ids, np.int32(UNK_ID))

    def _probabilities(self, history: Int32Array, words: Int32Array) -> Float64Array:
        probabilities: Float64Array = kernels.score_words(history, words, self._tables, self._size)
        return probabilities

    def _history_of(self, state: CacheState) -> Int32Array:
        """The words before a sentence, which is usually the one that was asked last."""
        before, history = self._history
        if before is not state.before:
            history = history_of(state.before)
            self._history = state.before, history
        return history

    @cached_property
    def _all_words(self) -> Int32Array:
        return np.arange(len(self.vocabulary), dtype=np.int32)

    def _score_for_test(self, tokens: Sequence[str]) -> list[float]:
        """After a text of the same words, so that it shows what the cache holds."""
        ids = self.vocabulary.encode([*tokens, END])
        logprobs: list[float] = self.score_tokens(np.tile(ids, 2))[len(ids) :].tolist()
        return logprobs

    # ------------------------------------------------------------ what it is

    @property
    def signature(self) -> Signature:
        """The common signature with the window, the decay, and whether unknown words are in the cache."""
        counted = "words+unk" if self.weights[UNK_ID] > 0 else "words"
        added = {"window": str(self.window), "decay": f"{self.config.decay:g}", "cached": counted}
        fields = list(super().signature.fields)
        index = [name for name, _ in fields].index("V")
        return Signature("ppl", (*fields[:index], *added.items(), *fields[index:]))

    # ------------------------------------------------------------ files

    def save(self, directory: str | Path) -> None:
        is_extended = EXTENDED in self.training
        units = self.units._asdict() if is_extended or self.config.unit != "words" else {}
        background = {BACKGROUND: self.background} if is_extended else {}
        tensors: dict[str, Array] = {WEIGHTS: self.weights, **units, **background}
        files = ModelFiles(
            kind=self.kind,
            configuration=self.config.to_json(),
            training=self.training,
            tensors=tensors,
            texts={VOCABULARY_FILE: self.vocabulary.to_tsv()},
            self_test=self.self_test(),
        )
        self.origin = Origin.of(self, directory, write_model(directory, files))


def _by_history(states: Sequence[CacheState]) -> dict[tuple[int, ...], list[int]]:
    """The numbers of the states that have the same text before."""
    rows: dict[tuple[int, ...], list[int]] = {}
    for row, state in enumerate(states):
        rows.setdefault(state.before, []).append(row)
    return rows


def cache_from_files(directory: str | Path, files: ModelFiles) -> CacheModel:
    """The model that a checked directory holds; its self-test is run."""
    vocabulary = parse_vocabulary(files.texts[VOCABULARY_FILE], f"{directory}/{VOCABULARY_FILE}")
    units = Units(*(files.tensors[name] for name in UNITS)) if "items" in files.tensors else None
    config, background = CacheConfig(**files.configuration), files.tensors.get(BACKGROUND)
    model = CacheModel(config, vocabulary, files.tensors[WEIGHTS], units, files.training, background)
    check_self_test(directory, files.self_test, model._score_for_test)
    return model
