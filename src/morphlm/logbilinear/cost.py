"""What log-bilinear models cost: time by tokens, epochs and width, and disk space by the words of the vocabulary.

With classes, a minibatch takes time by its tokens and by the words of the vocabulary, all of which it touches. Without
classes, noise samples make training independent of the vocabulary, but scoring normalises over all words.
"""

from __future__ import annotations

from typing import Any

from morphlm.costs import Cost, ModelCost, TrainingSize
from morphlm.logbilinear.config import LogBilinearConfig

CLASS_TOKEN, CLASS_WORD = 4e-6, 4.5e-11  # seconds, in minibatches of RATED_BATCH tokens, at a width of 100
RATED_BATCH = 10_000
NOISE_TOKEN = 10e-6  # seconds, without classes
PRODUCTS = 8e10  # multiplications and additions a second, where a text is normalised over all words
RELATIVE_TIME = {"clbl": 0.8, "clbl+c": 0.85, "clbl+o": 0.95, "lbl": 1.1, "lbl+c": 1.1}  # others: 1
WIDE_CONTEXT = 2.0  # times as long
EPOCHS = 7  # until the development perplexity rises
FACTORS_A_WORD = 1.35  # rows of a matrix of factors, for each word
STATE = 3  # times its parameters are written beside a model that is being trained
BYTES_A_WORD = 70  # of the vocabulary
OVERHEAD = 3.0  # seconds


def estimate_cost(kind: str, size: TrainingSize, options: Any) -> ModelCost:
    """Time and disk space, by the width, the epochs, the minibatch and the wide context of LogBilinearOptions."""
    config: LogBilinearConfig = options.config(kind)
    has_factors = config.context_factors or config.output_factors
    parameters = size.words * config.width * 8 * (FACTORS_A_WORD if has_factors else 1.0)  # bytes
    normalising = 0.0 if config.classes else size.held_out_tokens * size.words * config.width * 2 / PRODUCTS
    epochs, batch = min(EPOCHS, options.training.epochs), options.training.batch_for(int(size.tokens))
    seconds = OVERHEAD + epochs * (_epoch_seconds(config, size, batch) + normalising)
    training = Cost(seconds, parameters + size.words * BYTES_A_WORD, parameters * STATE)
    return ModelCost(training, scoring=1.0 + normalising)


def _epoch_seconds(config: LogBilinearConfig, size: TrainingSize, batch: int) -> float:
    """An epoch of training without its evaluation; smaller minibatches touch the whole vocabulary more often."""
    per_token = NOISE_TOKEN
    if config.classes:
        per_token = CLASS_TOKEN + CLASS_WORD * size.words * RATED_BATCH / batch
    wide = WIDE_CONTEXT if config.wide else 1.0
    return size.tokens * RELATIVE_TIME.get(config.kind, 1.0) * per_token * config.width / 100 * wide
