"""What is done with the time: how much text is used, how much of it the search gets, which model can be trained.

Without --minutes all of this depends on the text alone, so that equal input gives equal models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from morphlm.learning.choices import DEFAULT, START, ModelChoice, Trial
from morphlm.learning.pace import FULL_EPOCHS, TRIAL_EPOCHS, Budget, TextSize
from morphlm.learning.search import best_choices

NGRAMS, SEARCH, TRAIN, FINISH = "choosing the vocabulary", "searching", "training", "describing"

LEAST_TOKENS = 1000  # of a training text that CLBL++ learns anything from
SEARCH_TOKENS, SEARCH_SHARE = 150_000, 0.25  # trials get so much of the training text, whichever is more
LEAST_SEARCH = 20_000  # tokens of a text that a search tells anything on
USUAL_TRIALS = 9
LEAST_EPOCHS = 4  # that a training should get
READING_TIME, SEARCH_TIME = 0.2, 0.45  # shares of the time that is given, and of what the fixed stages leave of it
RESERVE = 1.5  # times the expected seconds of what comes after the training are kept for it
SHRINK = 0.8  # a text that is too large is made smaller by this factor, until it fits


@dataclass(frozen=True)
class Plan:
    """The stages after reading, for a training text of this size."""

    size: TextSize
    budget: Budget
    caches: bool = True  # are tried

    @property
    def ngrams_alone(self) -> bool:
        """Whether the text is too small for anything but Kneser-Ney."""
        return self.size.tokens < LEAST_TOKENS

    def affordable_tokens(self) -> int:
        """How much training text there is time for, with all that must be done and a short training."""

        def seconds(tokens: int) -> float:
            part = self.size.part(tokens)
            return self._fixed_seconds(part) + part.training_seconds(DEFAULT, LEAST_EPOCHS)

        return self._shrunk(self.size.tokens, seconds, self.budget.left, LEAST_TOKENS)

    def search_tokens(self) -> int:
        """How much text the trials get; with a limit, so much that all fit into their share of the time, or none."""
        wanted = min(self.size.tokens, max(SEARCH_TOKENS, round(SEARCH_SHARE * self.size.tokens)))
        time = SEARCH_TIME * (self.budget.left - self.budget.pace.seconds(self._fixed_seconds(self.size)))
        tokens = self._shrunk(wanted, lambda tokens: self._search_seconds(tokens, USUAL_TRIALS), time, LEAST_SEARCH)
        return tokens if self.budget.pace.seconds(self._search_seconds(tokens, USUAL_TRIALS)) <= time else 0

    def _shrunk(self, tokens: int, seconds: Callable[[int], float], time: float, least: int) -> int:
        """The tokens, or as many as can be done in this time, but not fewer than the least."""
        while tokens > least and self.budget.pace.seconds(seconds(tokens)) > time:
            tokens = max(least, round(tokens * SHRINK))
        return tokens

    def _search_seconds(self, tokens: int, trials: int) -> float:
        part = self.size.part(tokens)
        return part.input_seconds() + trials * part.training_seconds(START, TRIAL_EPOCHS)

    def expected(self, search_tokens: int, trials_done: int = 0) -> dict[str, float]:
        """The expected seconds of every stage to come, before any correction."""
        size = self.size
        stages = {NGRAMS: size.ngram_seconds()}
        if not self.ngrams_alone:
            left = max(1, USUAL_TRIALS - trials_done)
            stages[SEARCH] = self._search_seconds(search_tokens, left) if search_tokens else 0.0
            stages[TRAIN] = size.input_seconds() + size.training_seconds(START, FULL_EPOCHS)
            stages[TRAIN] += self._cache_seconds(size, START)
        stages[FINISH] = size.finish_seconds()
        limit, pace = max(0.0, self.budget.left), self.budget.pace
        share = min(1.0, limit / max(1.0, pace.seconds(sum(stages.values()))))
        return {name: seconds * share for name, seconds in stages.items()}

    def has_time_for(self, seconds: float, trials: Sequence[Trial]) -> bool:
        """Whether a trial that is expected to take so long leaves enough for the training with the best settings."""
        ranked = best_choices(trials, self.size.training_seconds) or [DEFAULT]
        return self.budget.pace.seconds(seconds + self._last_seconds(ranked[0])) <= self.budget.left

    def choose(self, trials: Sequence[Trial]) -> ModelChoice:
        """The best of the trials that there is time for; without trials, what is usually best."""
        ranked = best_choices(trials, self.size.training_seconds) or [START, DEFAULT]
        affordable = [choice for choice in ranked if self._is_affordable(choice)]
        return affordable[0] if affordable else min([*ranked, DEFAULT], key=self.size.training_seconds)

    def _is_affordable(self, choice: ModelChoice) -> bool:
        return self.budget.pace.seconds(self._last_seconds(choice)) <= self.budget.left

    def _last_seconds(self, choice: ModelChoice) -> float:
        """From the end of the search on, with a training that is not too short."""
        training = self.size.training_seconds(choice, LEAST_EPOCHS)
        return self.size.input_seconds() + training + self.reserve(choice)

    def reserve(self, choice: ModelChoice) -> float:
        """To be kept for what comes after the training: caches and the last stage."""
        return RESERVE * (self._cache_seconds(self.size, choice) + self.size.finish_seconds())

    def has_time_for_caches(self, choice: ModelChoice) -> bool:
        """Whether they leave enough for the last stage."""
        seconds = self._cache_seconds(self.size, choice) + self.size.finish_seconds()
        return self.budget.pace.seconds(seconds) <= self.budget.left

    def _cache_seconds(self, size: TextSize, choice: ModelChoice) -> float:
        return size.cache_seconds(choice.width) if self.caches else 0.0

    def _fixed_seconds(self, size: TextSize) -> float:
        """What must be done whatever is chosen."""
        seconds = size.ngram_seconds() + size.input_seconds() + size.finish_seconds()
        return seconds + self._cache_seconds(size, DEFAULT)
