"""Estimates of time and disk space, made before anything runs.

The rates are those of a machine with 2 cores (docs/results.md). A model kind names its own estimate in the field `cost`
of its record; `rough_cost` stands in for a kind that has none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

READING = 0.5e-6  # seconds a token of prepared text


@dataclass(frozen=True)
class Cost:
    """What a piece of work takes."""

    seconds: float
    bytes: float = 0.0  # that stay on the disk
    temporary_bytes: float = 0.0  # needed only while it runs


@dataclass(frozen=True)
class TrainingSize:
    """How large a training is."""

    tokens: float  # of the training text
    words: float  # of the vocabulary
    held_out_tokens: float = 75_000  # of a development or test text


@dataclass(frozen=True)
class ModelCost:
    """What it takes to train a model, and to score a held-out text with it."""

    training: Cost
    scoring: float  # seconds


def rough_cost(kind: str, size: TrainingSize, options: Any) -> ModelCost:
    """For a kind of model that has no estimate of its own."""
    return ModelCost(Cost(size.tokens * 10e-6, size.tokens * 50), scoring=1.0 + size.held_out_tokens * 10e-6)


def format_duration(seconds: float) -> str:
    """`40 s`, `5 min`, `2 h 40 min`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{minutes} min" if not hours else f"{hours} h {minutes} min" if minutes else f"{hours} h"


def format_size(count: float) -> str:
    """`3.1 GB`, `25 MB`, `60 kB`, `0 kB`."""
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 1e6 else f"{math.ceil(count / 1e3)} kB"
