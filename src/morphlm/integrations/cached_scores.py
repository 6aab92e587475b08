"""What adapters for decoders ask a model: single words after states, many of them again and again.

Hypotheses of a beam share their last words, so that a decoder asks for one word after equal states many times.
"""

from __future__ import annotations

import math
import os
from typing import Any

from morphlm.arguments import check_token
from morphlm.errors import InputError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.guards import no_state
from morphlm.language_model.perplexity import UnknownContexts, composes
from morphlm.scoring.loading import load
from morphlm.scoring.spelled import SpelledModel, with_spelling
from morphlm.vocabulary.vocabulary import UNK_ID

LN10 = math.log(10.0)
LEAST_LOG10 = -100.0  # instead of minus infinity, with which decoders cannot count: what KenLM gives without <unk>
LEAST = LEAST_LOG10 * LN10
ENTRIES = 1 << 16  # some 20 MB

Word = int | str  # an id, or an unknown word that is more than UNK


def adapted_model(model: LanguageModel | str | os.PathLike[str], *, open_vocabulary: bool = False) -> LanguageModel:
    """A model that is loaded, or that of a directory; with an open vocabulary, one that spells unknown words."""
    loaded = model if isinstance(model, LanguageModel) else load(os.fspath(model))
    return with_spelling(loaded) if open_vocabulary and not isinstance(loaded, SpelledModel) else loaded


class CachedScores:
    """ln p of words after states, and the states after them; forgets all when it is full."""

    def __init__(self, model: LanguageModel, unknown_contexts: UnknownContexts = "unk") -> None:
        """Unknown words keep their forms where `unknown_contexts` are "composed", and for a model that spells them."""
        self._model, self._contexts = model, unknown_contexts
        self._id_of, self._score_id = model.vocabulary.ids.get, model.score_id
        self._keeps_forms = composes(unknown_contexts) or isinstance(model, SpelledModel)
        self._kept: dict[tuple[Any, Word], tuple[float, Any]] = {}

    def begin(self, *, sentence: bool) -> Any:
        """The state at the start of a sentence, or one that knows nothing of the words before."""
        return self._model.begin(sentence=sentence, unknown_contexts=self._contexts)

    def word(self, form: str) -> Word:
        """What stands for a word: its id, UNK's, or where unknown words differ from one another the word itself."""
        number = self._id_of(form)
        if number is not None or not self._keeps_forms:
            return UNK_ID if number is None else number
        try:
            check_token(form)
        except InputError:  # nothing that could be composed or spelled, such as bytes that are no UTF-8
            return UNK_ID
        return form

    def score(self, state: Any, word: Word) -> tuple[float, Any]:
        """ln p(word | state) and the state after it, which are not kept."""
        return self._score_id(state, word) if isinstance(word, int) else self._model.score(state, word)

    def __call__(self, state: Any, word: Word) -> tuple[float, Any]:
        """ln p(word | state), at least LEAST, and the state after it."""
        key = state, word
        try:
            found = self._kept.get(key)
        except TypeError:  # it cannot be hashed
            raise no_state(state) from None
        if found is None:
            logprob, after = self.score(state, word)
            if len(self._kept) >= ENTRIES:
                self._kept.clear()
            found = self._kept[key] = max(logprob, LEAST), after
        return found
