"""What n-gram models cost: counting takes time by the tokens of the text."""

from __future__ import annotations

from typing import Any

from morphlm.costs import READING, Cost, ModelCost, TrainingSize

COUNTING = 3e-6  # seconds a token, for the n-grams of all orders
BYTES_A_TOKEN = 46


def estimate_cost(kind: str, size: TrainingSize, options: Any) -> ModelCost:
    """Time and disk space; measured with order 4."""
    return ModelCost(Cost(size.tokens * (READING + COUNTING), size.tokens * BYTES_A_TOKEN), scoring=1.0)
