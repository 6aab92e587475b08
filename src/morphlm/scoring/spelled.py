"""A model in which every unknown word has a probability of its own: its share of P(UNK), by how it is spelled.

The model itself stays as it is: ids, distributions and states are the model's, and in these UNK stands for all unknown
words. Where a word is given as a string that the vocabulary does not have, ln of its share is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Float64Array, Int32Array
from morphlm.errors import ConfigError
from morphlm.language_model.addition import Addition
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.guards import Words, asked_words, states_and_words
from morphlm.language_model.open_vocabulary import Spelling
from morphlm.language_model.perplexity import Perplexity, ScoredText, UnknownContexts
from morphlm.language_model.signature import Signature
from morphlm.language_model.wrapped import WrappedModel
from morphlm.scoring.spelling import train_spelling
from morphlm.text.reading import UNKNOWN
from morphlm.vocabulary.corpus import Source

REMEMBERED = 1 << 16  # words whose shares are kept


class SpelledModel(WrappedModel, checks_itself=True):
    """Another model with unknown words spelled; `with_spelling` makes one."""

    kind = "spelled"

    def __init__(self, model: LanguageModel, spelling: Spelling) -> None:
        self.model, self.spelling = model, spelling
        self.order, self.vocabulary, self.training = model.order, model.vocabulary, model.training
        self._shares: dict[str, float] = {}

    def log_share(self, word: str) -> float:
        """ln of an unknown word's share of P(UNK); 0 for known words and for <unk>, which stands for no word."""
        if word in self.vocabulary or word == UNKNOWN:
            return 0.0
        share = self._shares.get(word)
        if share is None:
            share = float(self.spelling.log_shares([word])[0])
            if len(self._shares) >= REMEMBERED:
                self._shares.clear()
            self._shares[word] = share
        return share

    # ------------------------------------------------------------ states

    def begin(self, *, sentence: bool = True, unknown_contexts: UnknownContexts = "unk") -> Any:
        return self.model.begin(sentence=sentence, unknown_contexts=unknown_contexts)

    def is_state(self, state: Any) -> bool:
        return self.model.is_state(state)

    def next_sentence(self, state: Any) -> Any:
        return self.model.next_sentence(state)

    def after_text(self, sentences: Iterable[Sequence[str]]) -> SpelledModel:
        return SpelledModel(self.model.after_text(sentences), self.spelling)

    def score_sentences(
        self, tokens: Int32Array, forms: Sequence[str] = (), *, after: Int32Array | None = None
    ) -> Float64Array:
        return self.model.score_sentences(tokens, forms, after=after)

    @property
    def reach(self) -> int:
        return self.model.reach

    def _with_addition(self, addition: Addition) -> SpelledModel:
        """What is left of UNK is spelled by a model that knows the new words, too."""
        return with_spelling(self.model._with_addition(addition))

    # ------------------------------------------------------------ scores

    def score_id(self, state: Any, word: int) -> tuple[float, Any]:
        """As the model does: an id is no spelling, so UNK's stands for all unknown words."""
        return self.model.score_id(state, word)

    def score(self, state: Any, word: str) -> tuple[float, Any]:
        """ln p(word | state) and the state after it; unknown words have their share of P(UNK)."""
        logprob, after = self.model.score(state, word)
        return (logprob, after) if word in self.vocabulary.ids else (logprob + self.log_share(word), after)

    def score_many(self, states: Sequence[Any], words: Words) -> tuple[Float64Array, list[Any]]:
        _, asked = states_and_words(states, words, self.vocabulary)
        logprobs, after = self.model.score_many(states, words)
        for k, form in asked.unknown:
            logprobs[k] += self.log_share(form)
        return logprobs, after

    def score_grid(self, states: Sequence[Any], words: Words) -> Float64Array:
        asked, grid = asked_words(words, self.vocabulary), self.model.score_grid(states, words)
        for k, form in asked.unknown:
            grid[:, k] += self.log_share(form)
        return grid

    def distribution(self, state: Any) -> Float64Array:
        return self.model.distribution(state)

    def distributions(self, states: Sequence[Any]) -> Float64Array:
        return self.model.distributions(states)

    def sentence(self, sentence: str | Sequence[str], *, bos: bool = True, eos: bool = True) -> list[float]:
        tokens = self.tokens(sentence) if isinstance(sentence, str) else sentence
        logprobs = np.array(self.model.sentence(tokens, bos=bos, eos=eos))
        logprobs[: len(tokens)] += [self.log_share(token) for token in tokens]
        return logprobs.tolist()  # type: ignore[no-any-return]

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        return self.model.score_tokens(tokens)

    def score_composed(self, tokens: Int32Array, forms: Sequence[str]) -> Float64Array:
        return self.model.score_composed(tokens, forms)

    # ------------------------------------------------------------ texts

    def perplexity(self, source: Source, *, spelling: Spelling | None = None, **options: Any) -> Perplexity:
        """That of the model, with the figures of an open vocabulary."""
        return self.model.perplexity(source, spelling=spelling or self.spelling, **options)

    def score_text(self, source: Source, *, spelling: Spelling | None = None, **options: Any) -> ScoredText:
        """The log-probability of every token; arguments are those of `LanguageModel.perplexity`."""
        return self.model.score_text(source, spelling=spelling or self.spelling, **options)

    # ------------------------------------------------------------ all else is the model's

    @property
    def signature(self) -> Signature:
        return self.model.signature.with_field("unk", "spelled", after="unk")

    @property
    def parts(self) -> tuple[LanguageModel, ...]:
        return self.model.parts

    @property
    def scores_unknown(self) -> bool:
        return self.model.scores_unknown

    def save(self, directory: str | Path) -> None:
        """Refused: the spelling is learned from the vocabulary again."""
        raise ConfigError("a model with spelled words has no files of its own; save its `model`, and spell that again")

    def __reduce_ex__(self, protocol: Any) -> Any:
        return SpelledModel, (self.model, self.spelling)


def with_spelling(model: LanguageModel, spelling: Spelling | None = None) -> SpelledModel:
    """The model with unknown words spelled: ln p of one is ln P(UNK) and ln of its share of that.

    Without `spelling`, how unknown words are spelled is learned from the model's vocabulary.
    """
    inner = model.model if isinstance(model, SpelledModel) else model
    return SpelledModel(inner, train_spelling(inner.vocabulary) if spelling is None else spelling)
