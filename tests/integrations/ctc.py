"""Synthetic output of a speech recogniser: log-probabilities of letters, frame by frame, as CTC has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from morphlm.arrays import Float32Array
from tests.training.small import ENDINGS, STEMS

BLANK = ""
LETTERS = sorted(set("".join([*STEMS, *ENDINGS, "neviděn"])))


def emissions(text: str, labels: Sequence[str], seed: int, *, noise: float = 1.2) -> Float32Array:
    """Log-probabilities (frames, labels) for a text whose characters are labels; noise makes them doubtful.

    Each character has a blank before it, which keeps double letters apart, and lasts for one to three frames.
    """
    rng = np.random.default_rng(seed)
    blank = labels.index(BLANK) if BLANK in labels else labels.index("-")
    frames: list[int] = []
    for character in text:
        frames += [blank, *[labels.index(character)] * int(rng.integers(1, 4))]
    logits = rng.normal(0.0, noise, (len(frames) + 1, len(labels)))
    logits[np.arange(len(frames) + 1), [*frames, blank]] += 4.0
    return (logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)).astype(np.float32)
