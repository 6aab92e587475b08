"""Words by which a trained model is extended: they share the probability that it gives to unknown words.

P(w|h) = P(UNK|h) times the share of w, so that known words keep their probability and all still adds up to 1. What is
left of UNK stands for the words that are unknown still. UNK and the added words are called the *members* of UNK.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from morphlm.arrays import Float64Array
from morphlm.display import dataclass_repr

EXTENDED = "extended"  # in the training record of a model: by how many words, the last of its vocabulary


@dataclass(frozen=True, eq=False)
class Addition:
    """Words that are not in a vocabulary, each once, with what a context-free estimate says of their shares."""

    words: tuple[str, ...]
    weights: Float64Array  # how often each is expected in a text as long as the training text; above 0
    rest: float  # the same of all words that stay unknown

    __repr__ = dataclass_repr

    @property
    def log_weights(self) -> Float64Array:
        """ln of the weights relative to that of the rest. They do not depend on what else is added."""
        logs: Float64Array = np.log(self.weights) - np.log(self.rest)
        return logs
