"""What adapters for decoders ask a model: single words after states, many of them again and again.

Hypotheses of a beam share their last words, so that a decoder asks for one word after equal states many times.
"""

from __future__ import annotations

import math
from typing import Any

from morphlm.language_model.base import LanguageModel
from morphlm.language_model.guards import no_state

LN10 = math.log(10.0)
LEAST_LOG10 = -100.0  # instead of minus infinity, with which decoders cannot count: what KenLM gives without <unk>
LEAST = LEAST_LOG10 * LN10
ENTRIES = 1 << 16  # some 20 MB


class CachedScores:
    """ln p of words after states, and the states after them; forgets all when it is full."""

    def __init__(self, model: LanguageModel) -> None:
        self._score_id = model.score_id
        self._kept: dict[tuple[Any, int], tuple[float, Any]] = {}

    def __call__(self, state: Any, word: int) -> tuple[float, Any]:
        """ln p(word | state), at least LEAST, and the state after it."""
        key = state, word
        try:
            found = self._kept.get(key)
        except TypeError:  # it cannot be hashed
            raise no_state(state) from None
        if found is None:
            logprob, after = self._score_id(state, word)
            if len(self._kept) >= ENTRIES:
                self._kept.clear()
            found = self._kept[key] = max(logprob, LEAST), after
        return found
