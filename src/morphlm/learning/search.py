"""The search: short trainings of CLBL++, each mixed with Kneser-Ney and measured on the development text.

It begins with the default and with what is usually best, then looks at one setting after the other and walks along its
ladder as long as that helps. On a large text, trials are trained on blocks of it, so that the search costs about as
much as the training after it. A trial that is on record is not made again, so an interrupted search goes on.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from morphlm.errors import TrainingError
from morphlm.language_model.base import LanguageModel
from morphlm.lazy import cached_property
from morphlm.learning.choices import DEFAULT, LADDERS, START, ModelChoice, NgramChoice, Trial
from morphlm.learning.kneser_ney import spelled_perplexity
from morphlm.learning.pace import TRIAL_EPOCHS
from morphlm.ngram.training import train_ngram
from morphlm.progress import notify
from morphlm.scoring.mixing import mix
from morphlm.scoring.spelling import SpellingModel, train_spelling
from morphlm.training.inputs import InputOptions, TrainingInputs, prepare_inputs
from morphlm.training.job import RunOptions
from morphlm.training.pipeline import ModelOptions, fit

LEAST_GAIN = 0.002  # share of the perplexity that a step must gain: less is chance, and larger models cost time


class OutOfTimeError(Exception):
    """There is no time for another trial."""


def search(measure: Callable[[ModelChoice], float]) -> None:
    """Try choices, the most promising first, until no step along a ladder helps; `measure` keeps what it finds."""
    best = min((DEFAULT, START), key=measure)
    for name in LADDERS:
        for step in best.neighbours(name):
            better = _walk(best, step, name, measure)
            if better != best:
                best = better
                break


def _walk(best: ModelChoice, step: ModelChoice, name: str, measure: Callable[[ModelChoice], float]) -> ModelChoice:
    """On along a ladder in one direction while it helps."""
    while measure(step) < measure(best) * (1 - LEAST_GAIN):
        before, best = best, step
        onward = [choice for choice in best.neighbours(name) if choice != before]
        if not onward:
            break
        step = onward[0]
    return best


def best_choices(trials: Sequence[Trial], cost: Callable[[ModelChoice], float]) -> list[ModelChoice]:
    """The choices from the best on; those that are as good as the best but for chance come by their cost.

    Trainings that failed are left out.
    """
    ranked = sorted((trial for trial in trials if math.isfinite(trial.perplexity)), key=lambda one: one.perplexity)
    if not ranked:
        return []
    bound = ranked[0].perplexity / (1 - LEAST_GAIN)
    equal = [trial.choice for trial in ranked if trial.perplexity <= bound]
    return sorted(equal, key=cost) + [trial.choice for trial in ranked[len(equal) :]]


@dataclass(frozen=True)
class TrialText:
    """What all trials share: the texts, the vocabulary, and Kneser-Ney to mix with."""

    train: Path
    dev: Path
    ngrams: NgramChoice
    artefacts: Path
    options: InputOptions  # all but the number of classes
    epochs: int = TRIAL_EPOCHS
    _inputs: dict[int, TrainingInputs] = field(default_factory=dict)  # by the number of classes

    @cached_property
    def kneser_ney(self) -> LanguageModel:
        """That of the same text and vocabulary."""
        options, order = self.options, self.ngrams.order
        return train_ngram(
            self.train, order, kappa=self.ngrams.kappa, seed=options.seed, allow_unknown=options.allow_unknown
        )

    @cached_property
    def spelling(self) -> SpellingModel:
        return train_spelling(self.kneser_ney.vocabulary)

    def inputs(self, classes: int) -> TrainingInputs:
        """Vocabulary, morphemes and so many classes, found or made."""
        if classes not in self._inputs:
            options = replace(self.options, classes=classes)
            self._inputs[classes] = prepare_inputs(self.train, self.dev, options, self.artefacts)
        return self._inputs[classes]

    def run(self, choice: ModelChoice, deadline: float | None = None) -> Trial:
        """Train for some epochs, mix, and measure; OutOfTimeError after the deadline, which ends a training early."""
        began = time.monotonic()
        inputs = self.inputs(choice.classes(len(self.kneser_ney.vocabulary)))
        options = ModelOptions(choice.settings() | {"epochs": self.epochs}, seed=self.options.seed)
        unknown, perplexity = self.options.allow_unknown, math.inf
        try:
            run = RunOptions(threads=self.options.threads, deadline=deadline)
            model = fit("clbl++", inputs, options, run).model
            if deadline is not None and time.monotonic() > deadline:
                raise OutOfTimeError
            mixture = mix([self.kneser_ney, model], self.dev, allow_unknown=unknown, prepared=True)
            perplexity = spelled_perplexity(mixture, self.dev, self.spelling, allow_unknown=unknown)
        except TrainingError as error:
            notify(str(error))
        seconds = round(time.monotonic() - began, 3)
        return Trial(choice, perplexity, seconds, self.epochs * len(inputs.train.tokens))
