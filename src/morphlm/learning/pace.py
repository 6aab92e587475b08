"""How long things take: expected seconds, corrected by what was measured here, and the time that is given.

Without --minutes nothing depends on the clock but what is said about it. With --minutes, the plan does: how much text
is used, how much of it the search gets, and when the last training ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from morphlm.cache.config import NeuralCacheConfig
from morphlm.costs import TrainingSize
from morphlm.learning.choices import ModelChoice
from morphlm.logbilinear.cost import OVERHEAD, estimate_cost
from morphlm.scoring.caching import DECAYS, SEARCHED, SHARPNESSES
from morphlm.training.config import LogBilinearOptions

PRIOR = 5.0  # expected seconds after which what was measured counts as much as what was assumed
TRIAL_EPOCHS = 3  # passes over its text of a training in the search
FULL_EPOCHS = 7  # until a training usually ends, for planning

# Seconds on a machine with 2 cores.
READING_BYTE = 1.2e-6  # of raw text, until it is prepared
NGRAM_TOKEN = 15e-6  # of the text, to choose kappa and the order of Kneser-Ney
NGRAM_WORD = 60e-6  # of its words, whose spelling is learned for each kappa
INPUT_TOKEN, INPUT_WORD = 4e-6, 150e-6  # to learn morphemes and classes
TRAINING_SECONDS, TRAINING_SHARE = 0.3, 0.35  # to begin, and of the estimate for large texts: wide models do better
FINISH_SECONDS, FINISH_WORD = 4.0, 250e-6  # to mix, measure, write vectors and report
CACHE_PRODUCT = 8e-11  # to compare a token with one before it, for each dimension
CACHE_PASSES = 8  # over the held-out texts with caches that are fitted: to mix, compare, measure and report
WORDS_EXPONENT = 0.7  # a text of half the length has about 0.5 ** 0.7 of the words


@dataclass
class Pace:
    """Real against expected seconds so far, for all work of this run."""

    real: float = 0.0
    expected: float = 0.0

    def learn(self, real: float, expected: float) -> None:
        self.real, self.expected = self.real + real, self.expected + expected

    def seconds(self, expected: float) -> float:
        """How long work will take that would take so long on the machine of the estimates."""
        return expected * (self.real + PRIOR) / (self.expected + PRIOR)


@dataclass
class Budget:
    """The time that is given."""

    minutes: float | None = None
    clock: Callable[[], float] = time.monotonic
    pace: Pace = field(default_factory=Pace)
    started: float = -1.0  # by the clock; -1: now

    def __post_init__(self) -> None:
        if self.started == -1.0:
            self.started = self.clock()

    @property
    def is_limited(self) -> bool:
        return self.minutes is not None

    @property
    def seconds(self) -> float:
        """The whole time."""
        return float("inf") if self.minutes is None else self.minutes * 60.0

    @property
    def elapsed(self) -> float:
        return self.clock() - self.started

    @property
    def left(self) -> float:
        return self.seconds - self.elapsed

    def deadline(self, reserve: float) -> float | None:
        """When to stop, by the clock, so that so many seconds are left; None if there is no limit."""
        return None if self.minutes is None else self.started + self.seconds - reserve


@dataclass(frozen=True)
class TextSize:
    """How large a training text is."""

    tokens: int
    words: int  # different ones
    held_out: int  # tokens of the development text

    def part(self, tokens: int) -> TextSize:
        """A part of it; the number of its words is estimated."""
        share = min(1.0, tokens / max(1, self.tokens))
        return TextSize(min(tokens, self.tokens), max(1, round(self.words * share**WORDS_EXPONENT)), self.held_out)

    def ngram_seconds(self) -> float:
        return self.tokens * NGRAM_TOKEN + self.words * NGRAM_WORD

    def input_seconds(self) -> float:
        return self.tokens * INPUT_TOKEN + self.words * INPUT_WORD

    def finish_seconds(self) -> float:
        return FINISH_SECONDS + self.words * FINISH_WORD

    def cache_seconds(self, width: int) -> float:
        """To fit caches and to measure with them."""
        fitted = (len(SHARPNESSES) + len(DECAYS)) * min(self.held_out, SEARCHED)
        products = (fitted + CACHE_PASSES * self.held_out) * NeuralCacheConfig().window * width
        return self.tokens * INPUT_TOKEN + products * CACHE_PRODUCT

    def training_seconds(self, choice: ModelChoice, epochs: int = FULL_EPOCHS) -> float:
        options = LogBilinearOptions.from_values(choice.settings() | {"epochs": epochs}, seed=1)
        size = TrainingSize(self.tokens, self.words, self.held_out)
        estimated = estimate_cost("clbl++", size, options).training.seconds - OVERHEAD
        return TRAINING_SECONDS + TRAINING_SHARE * estimated
