"""The neural cache (Grave, Joulin & Usunier 2017): a word comes again where something like its context comes again.

A log-bilinear model M predicts each word of a text by a vector p. Of the words before the sentence, as many as the
window holds, those count most whose vectors are like the one that predicts the next word:

    a_k = gamma^(k-1) exp(theta (cos(p - c, p_k - c) - 1)),   S = sum_k a_k,   g = lambda S / (S + mu)
    P(w) = (1 - g) P_M(w) + g sum_k a_k [w_k = w] / S

c is the mean of the vectors. The more there is that is alike, the larger is g, the weight of the cache, up to lambda.
The cache does not change within a sentence: it is fixed by the text before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from morphlm.arguments import word_id
from morphlm.arrays import Float32Array, Float64Array, Int32Array, Int64Array, read_only
from morphlm.cache.config import NeuralCacheConfig
from morphlm.cache.frozen_neural import FrozenNeuralCache
from morphlm.cache.kernels import neural as kernels
from morphlm.cache.kernels.neural import Keys
from morphlm.cache.states import CacheState, history_of, is_cache_state, tokens_before
from morphlm.errors import FormatError
from morphlm.language_model.addition import EXTENDED, Addition
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.guards import Words, check_sentences, composed_ids, states_and_words
from morphlm.language_model.origin import Origin
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.language_model.signature import Signature
from morphlm.language_model.wrapped import WrappedModel
from morphlm.logbilinear.model import LogBilinearModel, logbilinear_from_files
from morphlm.modelfile import COMPONENTS, ModelFiles, check_self_test, write_model
from morphlm.text.reading import END
from morphlm.threads import available_cores, one_worker, workers
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID

KIND, PART, CENTRE = "neural-cache", "model", "centre"
SMALL_TEXT = 4096  # tokens; a shorter text is scored by one thread
SMALLEST_PIECE = 4  # sentences, of the work for a thread


class NeuralState(NamedTuple):
    """What the next word depends on."""

    inner: Any  # the state of the model
    cache: CacheState  # the text before the sentence, and the words of the sentence


class NeuralCacheModel(WrappedModel, checks_itself=True):
    """A log-bilinear model with a neural cache."""

    model: LogBilinearModel

    kind = KIND

    def __init__(
        self, config: NeuralCacheConfig, model: LogBilinearModel, centre: Float32Array, training: dict[str, Any]
    ) -> None:
        self.config, self.model, self.centre, self.training = config, model, read_only(centre), training
        self.vocabulary, self.order = model.vocabulary, model.order
        self._keys: tuple[tuple[int, ...], Keys] | None = None  # of the state that was asked last

    # ------------------------------------------------------------ states

    def begin(self, *, sentence: bool = True, unknown_contexts: UnknownContexts = "unk") -> NeuralState:
        inner = self.model.begin(sentence=sentence, unknown_contexts=unknown_contexts)
        return NeuralState(inner, CacheState((), ()))

    def is_state(self, state: Any) -> bool:
        is_pair = type(state) is NeuralState and self.model.is_state(state.inner)
        return is_pair and is_cache_state(state.cache, len(self.vocabulary), self.reach)

    def next_sentence(self, state: NeuralState) -> NeuralState:
        """The words of the sentence are in the cache now."""
        self.check_state(state)
        words = state.cache.words
        ended = state.cache if words[:1] == (END_ID,) else state.cache.after(END_ID, self.reach)
        return NeuralState(self.model.next_sentence(state.inner), ended.next_sentence(self.reach))

    @property
    def reach(self) -> int:
        """The cache's words, and those that they were predicted by."""
        return self.config.window + max(self.model.reach, self.order - 1)

    def after_text(self, sentences: Iterable[Sequence[str]]) -> LanguageModel:
        """The model for a sentence after a text: the cache and a wide context are fixed, so states are n - 1 words.

        After no text, it is the log-bilinear model.
        """
        check_sentences(sentences)
        text = [list(sentence) for sentence in sentences]
        before, fixed = self.vocabulary.encode(tokens_before(text, self.reach)), self.model.after_text(text)
        keys = self._keys_of(before)
        if not len(keys.words):
            return fixed
        query = self.model.predictions(np.append(before, np.int32(END_ID)))[-1]
        part = query - fixed.predictions(np.array([END_ID], np.int32))[0]  # of the wide context, which is fixed
        return FrozenNeuralCache(fixed, self.config, keys, len(before), self.centre - part, self.training)

    def _with_addition(self, addition: Addition) -> NeuralCacheModel:
        """Words that share P(UNK) of the model count in the cache only where unknown words do."""
        extended = self.model._with_addition(addition)
        training = self.training | {EXTENDED: extended.training[EXTENDED]}
        return NeuralCacheModel(self.config, extended, self.centre, training)

    # ------------------------------------------------------------ the cache

    def _keys_of(self, text: Int32Array) -> Keys:
        """The words of a text that count."""
        return self._as_keys(text, self._directions(self.model.predictions(text)))

    def _as_keys(self, text: Int32Array, directions: Float32Array) -> Keys:
        known = len(self.vocabulary) - self.model.structure.added  # words that were added are unknown to the cache
        is_word = (text > END_ID) & (text < known)
        counts = is_word | (((text == UNK_ID) | (text >= known)) & self.config.cache_unknown)
        positions = np.flatnonzero(counts)
        return Keys(read_only(directions[positions]), read_only(text[positions]), read_only(positions))

    def _directions(self, predictions: Float32Array) -> Float32Array:
        return read_only(kernels.normalise(read_only(predictions), self.centre))

    def _masses(self, state: NeuralState) -> tuple[Float64Array, float]:
        """The weights of all words after a state, and their sum."""
        before, words = state.cache
        if self._keys is None or self._keys[0] is not before:
            self._keys = before, self._keys_of(history_of(before))
        keys = self._keys[1]
        tail = history_of((*words, *before)[: max(self.model.reach, self.order - 1)])
        query = self._directions(self.model.predictions(np.append(tail, np.int32(END_ID)))[-1:])
        masses, total = kernels.word_masses(query[0], keys, len(before), self.config.shape, len(self.vocabulary))
        return masses, total

    def text_masses(self, tokens: Int32Array, predictions: Float32Array) -> Float64Array:
        """(tokens, 2): the weight of the words before a sentence that are the same as a token, and that of all."""
        directions = self._directions(predictions)
        keys, starts = self._as_keys(tokens, directions), _sentence_bounds(tokens)
        text, masses = read_only(tokens), np.zeros((len(tokens), 2))

        def run(a: int, b: int) -> None:
            kernels.text_masses(a, b, starts, text, directions, keys, self.config.shape, masses)

        with one_worker() if len(tokens) < SMALL_TEXT else workers(self.model.threads or available_cores()) as pool:
            pool.run_ranges(run, len(starts) - 1, SMALLEST_PIECE)
        return masses

    # ------------------------------------------------------------ scoring

    def score_id(self, state: NeuralState, word: int) -> tuple[float, NeuralState]:
        self.check_state(state)
        word = word_id(word, len(self.vocabulary))
        logprob, inner = self.model.score_id(state.inner, word)
        return self._joined(state, word, logprob), self._after(state, inner, word)

    def score(self, state: NeuralState, word: str) -> tuple[float, NeuralState]:
        """Contexts of the model that compose unknown words see this one; the cache knows it as UNK."""
        self.check_state(state)
        logprob, inner = self.model.score(state.inner, word)
        number = self.vocabulary.ids.get(word, UNK_ID)
        return self._joined(state, number, logprob), self._after(state, inner, number)

    def _joined(self, state: NeuralState, word: int, logprob: float) -> float:
        masses, total = self._masses(state)
        with np.errstate(divide="ignore"):
            return float(np.log(self.config.mixed(np.array(math.exp(logprob)), masses[word], total)))

    def _after(self, state: NeuralState, inner: Any, word: int) -> NeuralState:
        return NeuralState(inner, state.cache.after(word, self.reach))

    def score_many(self, states: Sequence[NeuralState], words: Words) -> tuple[Float64Array, list[Any]]:
        listed, asked = states_and_words(states, words, self.vocabulary)
        for state in listed:
            self.check_state(state)
        logprobs, inner = self.model.score_many([state.inner for state in listed], words)
        ids = asked.ids.tolist()
        joined = [self._joined(*query) for query in zip(listed, ids, logprobs.tolist(), strict=True)]
        return np.array(joined, np.float64), [self._after(*after) for after in zip(listed, inner, ids, strict=True)]

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        logprobs, predictions = self.model.score_and_predict(tokens)
        return self._mix(logprobs, self.text_masses(np.asarray(tokens, np.int32), predictions))

    def score_composed(self, tokens: Int32Array, forms: Sequence[str]) -> Float64Array:
        """The model composes unknown words in contexts; the cache knows them as UNK."""
        ids = composed_ids(tokens, forms, len(self.vocabulary))
        known = np.where(ids < len(self.vocabulary), ids, np.int32(UNK_ID))
        return self._mix(self.model.score_composed(ids, forms), self.text_masses(known, self.model.predictions(known)))

    def score_sentences(
        self, tokens: Int32Array, forms: Sequence[str] = (), *, after: Int32Array | None = None
    ) -> Float64Array:
        """Without a text before there is no cache."""
        if after is None or not len(after):
            return self.model.score_sentences(tokens, forms)
        return super().score_sentences(tokens, forms, after=after)

    def _mix(self, logprobs: Float64Array, masses: Float64Array) -> Float64Array:
        with np.errstate(divide="ignore"):
            result: Float64Array = np.log(self.config.mixed(np.exp(logprobs), masses[:, 0], masses[:, 1]))
        return result

    def distribution(self, state: NeuralState) -> Float64Array:
        self.check_state(state)
        masses, total = self._masses(state)
        return self.config.mixed(self.model.distribution(state.inner), masses, total)

    def _score_for_test(self, tokens: Sequence[str]) -> list[float]:
        """The sentence by itself, with a cache of the same words, by the way that takes least memory."""
        ids = self.vocabulary.encode([*tokens, END])
        masses = self.text_masses(np.tile(ids, 2), self.model.predictions(np.tile(ids, 2)))[len(ids) :]
        logprobs: list[float] = self._mix(np.array(self.model._score_few(tokens)), masses).tolist()
        return logprobs

    # ------------------------------------------------------------ what it is

    @property
    def signature(self) -> Signature:
        """That of the model, with the cache."""
        counted = "words+unk" if self.config.cache_unknown else "words"
        added = {"window": str(self.config.window), "decay": f"{self.config.decay:g}", "cached": counted}
        fields = [
            (name, f"{KIND}({value})" if name == "model" else value) for name, value in self.model.signature.fields
        ]
        index = [name for name, _ in fields].index("V")
        return Signature("ppl", (*fields[:index], *added.items(), *fields[index:]))

    def __copy__(self) -> Self:
        other = super().__copy__()
        other._keys = None
        return other

    # ------------------------------------------------------------ files

    def save(self, directory: str | Path) -> None:
        """Write the directory with the model in it; what is there is replaced in one step."""
        files = ModelFiles(
            kind=KIND,
            configuration=asdict(self.config),
            training=self.training,
            tensors={CENTRE: self.centre},
            self_test=self.self_test(),
        )
        self.origin = Origin.of(self, directory, write_model(directory, files, {PART: self.model.__copy__().save}))


def _sentence_bounds(tokens: Int32Array) -> Int64Array:
    """Where sentences begin, and the end of the text."""
    inner = np.flatnonzero(tokens[:-1] == END_ID) + 1
    return read_only(np.concatenate([[0], inner, [len(tokens)]]).astype(np.int64))


def neural_cache_from_files(directory: str | Path, files: ModelFiles) -> NeuralCacheModel:
    """The model that a checked directory holds; its self-test is run."""
    inner = logbilinear_from_files(Path(directory) / COMPONENTS / PART, files.parts[PART])
    centre = files.tensors[CENTRE]
    if len(centre) != inner.config.width:
        raise FormatError(f"{directory}: the cache does not fit the model in it; make it again")
    model = NeuralCacheModel(NeuralCacheConfig(**files.configuration), inner, centre, files.training)
    check_self_test(directory, files.self_test, model._score_for_test)
    return model
