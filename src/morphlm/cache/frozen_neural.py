"""A neural cache that is fixed by a text: its states are those of the log-bilinear model, n - 1 words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arguments import word_ids
from morphlm.arrays import Float32Array, Float64Array, Int32Array, read_only
from morphlm.cache.config import NeuralCacheConfig
from morphlm.cache.kernels import neural as kernels
from morphlm.cache.kernels.neural import Keys
from morphlm.errors import ConfigError
from morphlm.language_model.guards import Words, states_and_words
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.language_model.signature import Signature
from morphlm.language_model.wrapped import WrappedModel
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.vocabulary.vocabulary import END_ID


class FrozenNeuralCache(WrappedModel, checks_itself=True):
    """For the sentences that may come after a text. It lives as long as the program."""

    model: LogBilinearModel

    kind = "frozen-neural-cache"

    def __init__(
        self,
        model: LogBilinearModel,
        config: NeuralCacheConfig,
        keys: Keys,
        start: int,
        centre: Float32Array,
        training: dict[str, Any],
    ) -> None:
        """`model` is fixed as well. `start` is where the sentence begins, `centre` goes with p of the fixed model."""
        self.model, self.config, self.training = model, config, training
        self.vocabulary, self.order = model.vocabulary, model.order
        self._keys, self._start, self._centre = keys, start, read_only(centre)

    def begin(self, *, sentence: bool = True, unknown_contexts: UnknownContexts = "unk") -> Any:
        return self.model.begin(sentence=sentence, unknown_contexts=unknown_contexts)

    def is_state(self, state: Any) -> bool:
        return self.model.is_state(state)

    def score_id(self, state: Any, word: int) -> tuple[float, Any]:
        logprobs, after = self.score_many([state], np.array([word]))
        return float(logprobs[0]), after[0]

    def score(self, state: Any, word: str) -> tuple[float, Any]:
        logprobs, after = self.score_many([state], [word])
        return float(logprobs[0]), after[0]

    def score_many(self, states: Sequence[Any], words: Words) -> tuple[Float64Array, list[Any]]:
        """Equal states are looked at once."""
        listed, asked = states_and_words(states, words, self.vocabulary)
        logprobs, after = self.model.score_many(listed, words)
        rows: dict[Any, list[int]] = {}
        for row, state in enumerate(listed):
            rows.setdefault(state, []).append(row)
        probabilities = np.exp(logprobs)
        for (masses, total), own in zip(self._masses(list(rows)), rows.values(), strict=True):
            same = masses[asked.ids[own]]
            probabilities[own] = self.config.mixed(probabilities[own], same, total)
        with np.errstate(divide="ignore"):
            return np.log(probabilities), after

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        """Every sentence comes right after the text."""
        states, ids = [self.begin()], word_ids(tokens, len(self.vocabulary))
        for word in ids.tolist():
            _, state = self.model.score_id(states[-1], word)
            states.append(self.model.next_sentence(state) if word == END_ID else state)
        logprobs, _ = self.score_many(states[:-1], ids)
        return logprobs

    def distribution(self, state: Any) -> Float64Array:
        inner = self.model.distribution(state)
        ((masses, total),) = self._masses([state])
        return self.config.mixed(inner, masses, total)

    def _masses(self, states: Sequence[Any]) -> list[tuple[Float64Array, float]]:
        """The weights of all words after states, and their sums."""
        queries = read_only(kernels.normalise(read_only(self.model.states.predictions(states)), self._centre))
        size, shape = len(self.vocabulary), self.config.shape
        return [kernels.word_masses(query, self._keys, self._start, shape, size) for query in queries]

    @property
    def signature(self) -> Signature:
        """That of the fixed model, with the cache."""
        fields = self.model.signature.fields
        added = ("window", f"fixed{self.config.window}")
        return Signature("ppl", (("model", f"neural-cache({self.model.kind})"), *fields[1:], added))

    def save(self, directory: str | Path) -> None:
        """It is made again in a moment, and only for the sentence after its text."""
        raise ConfigError(
            "a neural cache that is fixed by a text is not written; save the model itself, and fix it by `after_text`"
        )
