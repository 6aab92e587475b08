"""What caches cost: to fit them, trigrams of the training text are counted."""

from __future__ import annotations

from typing import Any

from morphlm.costs import READING, Cost, ModelCost, TrainingSize

COUNTING = 3e-6  # seconds a token, for the n-grams that the cache is fitted with
BYTES_A_WORD = 60  # of the vocabulary, with the units of words


def estimate_cost(kind: str, size: TrainingSize, options: Any) -> ModelCost:
    """Time and disk space."""
    return ModelCost(Cost(2.0 + size.tokens * (READING + COUNTING), size.words * BYTES_A_WORD), scoring=1.0)
