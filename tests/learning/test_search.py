"""The search: it finds the best of its ladders step by step, and takes the cheaper of equals."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from morphlm.learning.choices import DEFAULT, LADDERS, START, ModelChoice, Trial
from morphlm.learning.kneser_ney import KAPPAS, descend
from morphlm.learning.search import LEAST_GAIN, best_choices, search


def bowl(best: ModelChoice) -> Callable[[ModelChoice], float]:
    """A perplexity that grows with the steps between a choice and the best one."""

    def measure(choice: ModelChoice) -> float:
        steps = (
            abs(ladder.index(getattr(choice, name)) - ladder.index(getattr(best, name)))
            for name, ladder in LADDERS.items()
        )
        return 100.0 * (1 + 0.02 * sum(steps))

    return measure


def tried_by(measure: Callable[[ModelChoice], float]) -> list[Trial]:
    found: dict[ModelChoice, float] = {}

    def record(choice: ModelChoice) -> float:
        found[choice] = measure(choice)
        return found[choice]

    search(record)
    return [Trial(choice, perplexity, 1.0, 1000) for choice, perplexity in found.items()]


def cost(choice: ModelChoice) -> float:
    return choice.order * choice.width * (2 if choice.wide_context else 1)


@pytest.mark.parametrize(
    "best",
    [
        DEFAULT,
        START,
        ModelChoice(10, 400, True, 0.25),
        ModelChoice(3, 50, False, 2.0),
        ModelChoice(8, 300, False, 0.5),
    ],
)
def test_the_best_of_all_ladders_is_found_in_few_trials(best: ModelChoice) -> None:
    trials = tried_by(bowl(best))
    assert best_choices(trials, cost)[0] == best
    assert trials[0].choice == DEFAULT and trials[1].choice == START
    assert len(trials) <= 13


def test_where_nothing_helps_the_cheapest_is_chosen() -> None:
    trials = tried_by(lambda choice: 100.0)
    assert best_choices(trials, cost)[0] == min((trial.choice for trial in trials), key=cost)
    assert len(trials) <= 9


def test_a_gain_below_the_bound_is_chance() -> None:
    dear, cheap = ModelChoice(width=300), ModelChoice(width=50)
    trials = [Trial(dear, 100.0, 1, 1), Trial(cheap, 100.0 * (1 + LEAST_GAIN / 2), 1, 1), Trial(START, 120.0, 1, 1)]
    assert best_choices(trials, cost) == [cheap, dear, START]
    trials[1] = Trial(cheap, 100.0 * (1 + 2 * LEAST_GAIN), 1, 1)
    assert best_choices(trials, cost) == [dear, cheap, START]


def test_trainings_that_failed_are_never_chosen() -> None:
    trials = [Trial(DEFAULT, math.inf, 1, 1), Trial(START, math.inf, 1, 1)]
    assert best_choices(trials, cost) == []
    assert Trial.from_json(trials[0].to_json()) == trials[0]
    assert best_choices([*trials, Trial(ModelChoice(3), 5.0, 1, 1)], cost) == [ModelChoice(3)]


@pytest.mark.parametrize("best", KAPPAS)
def test_descending_finds_the_bottom_from_the_middle(best: float) -> None:
    asked: list[float] = []

    def measure(kappa: float) -> float:
        asked.append(kappa)
        return abs(math.log(kappa / best))

    assert descend(KAPPAS, 0.2, measure) == best
    assert len(set(asked)) <= 6


@pytest.mark.parametrize(
    ("words", "factor", "classes"), [(4, 1, 2), (4, 2, 3), (2, 2, 1), (10_000, 0.5, 50), (3, 0.25, 1)]
)
def test_the_number_of_classes_fits_the_vocabulary(words: int, factor: float, classes: int) -> None:
    assert ModelChoice(class_factor=factor).classes(words) == classes
