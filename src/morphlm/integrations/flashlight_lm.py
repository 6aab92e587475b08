"""A model as flashlight's decoders ask for it. This module needs flashlight-text; `flashlight` imports it when used."""

from __future__ import annotations

from typing import Any

from flashlight.lib.text.decoder import LM, LMState

from morphlm.errors import StateError
from morphlm.integrations.cached_scores import LN10, CachedScores, Word
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.vocabulary.vocabulary import END_ID

END_INDEX = -1  # flashlight's own models use it for what follows the end


class FlashlightLM(LM):  # type: ignore[misc]
    """Scores are decimal logarithms, as those of flashlight's KenLM.

    flashlight's states are nodes of a tree of words. What our model knows of each is kept here until the next start, so
    an object serves one decoder at a time.
    """

    def __init__(self, model: LanguageModel, words: Any, unknown_contexts: UnknownContexts = "unk") -> None:
        """`words` is flashlight's dictionary of the words, whose indices the decoder uses."""
        LM.__init__(self)
        self._scores = CachedScores(model, unknown_contexts)
        self._ids = [self._scores.word(words.get_entry(index)) for index in range(words.index_size())]
        self._known: dict[Any, tuple[float, Any]] = {}  # of each of flashlight's states: log10 p of its word, our state

    def start(self, start_with_nothing: bool) -> Any:
        """The state at the start of a sentence, or one that knows nothing of the words before."""
        self._known.clear()
        state = LMState()
        self._known[state] = 0.0, self._scores.begin(sentence=not start_with_nothing)
        return state

    def score(self, state: Any, usr_token_idx: int) -> tuple[Any, float]:
        """The state after a word, and log10 p of it."""
        if not 0 <= usr_token_idx < len(self._ids):
            raise StateError(f"{usr_token_idx} is no index of a word; there are {len(self._ids):,}")
        return self._step(state, usr_token_idx, self._ids[usr_token_idx])

    def finish(self, state: Any) -> tuple[Any, float]:
        """The state after the end of the sentence, and log10 p of the end."""
        return self._step(state, END_INDEX, END_ID)

    def _step(self, state: Any, index: int, word: Word) -> tuple[Any, float]:
        after = state.child(index)
        found = self._known.get(after)
        if found is None:
            if state not in self._known:
                raise StateError("this is no state since the last start; use one language model for each decoder")
            logprob, own = self._scores(self._known[state][1], word)
            found = self._known[after] = logprob / LN10, own
        return after, found[0]
