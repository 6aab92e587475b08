"""Time: without a limit the plan depends on the text alone; with one it fits, whatever the pace of the machine."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.learning.choices import DEFAULT, START, ModelChoice, Trial
from morphlm.learning.pace import PRIOR, TRIAL_EPOCHS, Budget, Pace, TextSize
from morphlm.learning.plan import (
    FINISH,
    LEAST_TOKENS,
    NGRAMS,
    SEARCH,
    SEARCH_TIME,
    SEARCH_TOKENS,
    TRAIN,
    USUAL_TRIALS,
    Plan,
)

MILLION = TextSize(1_000_000, 100_000, 50_000)


@dataclass
class Clock:
    """Stands still until it is set."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def plan(size: TextSize, minutes: float | None = None, *, pace: float = 1.0) -> Plan:
    """On a machine that takes `pace` times as long as expected, after a minute's work on it."""
    budget = Budget(minutes, Clock())
    budget.pace.learn(60.0 * pace, 60.0)
    return Plan(size, budget)


def test_the_pace_is_what_was_expected_until_something_is_known() -> None:
    pace = Pace()
    assert pace.seconds(10.0) == 10.0
    pace.learn(30.0, 10.0)
    assert pace.seconds(10.0) == pytest.approx(10 * (30 + PRIOR) / (10 + PRIOR))
    pace.learn(300_000.0, 100_000.0)
    assert pace.seconds(10.0) == pytest.approx(30.0, rel=1e-3)


def test_a_budget_counts_from_its_beginning() -> None:
    clock = Clock()
    budget = Budget(10.0, clock)
    assert (budget.seconds, budget.left, budget.deadline(60.0)) == (600.0, 600.0, 1540.0)
    clock.now += 500
    assert (budget.elapsed, budget.left) == (500.0, 100.0)
    endless = Budget(None, clock)
    assert endless.left == float("inf") and endless.deadline(60.0) is None


@pytest.mark.parametrize("pace", [0.1, 1.0, 30.0])
@pytest.mark.parametrize(
    ("tokens", "search"), [(2_000, 2_000), (150_000, 150_000), (400_000, 150_000), (4_000_000, 1_000_000)]
)
def test_without_a_limit_the_plan_depends_on_the_text_alone(tokens: int, search: int, pace: float) -> None:
    found = plan(MILLION.part(tokens) if tokens < 10**6 else TextSize(tokens, 200_000, 100_000), pace=pace)
    assert found.affordable_tokens() == tokens
    assert found.search_tokens() == search
    assert found.choose([]) == START
    assert found.choose([Trial(DEFAULT, 5.0, 1e9, 1), Trial(START, 6.0, 1.0, 1)]) == DEFAULT


def test_the_search_costs_about_as_much_as_the_training() -> None:
    expected = plan(MILLION).expected(plan(MILLION).search_tokens())
    assert list(expected) == [NGRAMS, SEARCH, TRAIN, FINISH]
    assert 0.4 < expected[SEARCH] / expected[TRAIN] < 1.5


def test_a_text_that_is_too_small_has_no_search_and_no_training() -> None:
    tiny = plan(TextSize(LEAST_TOKENS - 1, 300, 50))
    assert tiny.ngrams_alone
    assert list(tiny.expected(0)) == [NGRAMS, FINISH]


@given(
    minutes=st.floats(0.5, 60),
    pace=st.floats(0.2, 20),
    tokens=st.integers(2_000, 50_000_000),
    richness=st.floats(0.02, 0.3),
)
def test_what_is_planned_fits_the_time_or_is_the_least_that_can_be_done(
    minutes: float, pace: float, tokens: int, richness: float
) -> None:
    size = TextSize(tokens, max(100, round(tokens * richness)), min(100_000, tokens // 20))
    found = plan(size, minutes, pace=pace)
    kept = found.affordable_tokens()
    assert LEAST_TOKENS <= kept <= tokens
    reduced = plan(size.part(kept), minutes, pace=pace)
    search = reduced.search_tokens()
    assert 0 <= search <= kept
    if search:
        part = reduced.size.part(search)
        trials = USUAL_TRIALS * part.training_seconds(START, TRIAL_EPOCHS)
        assert reduced.budget.pace.seconds(trials) <= SEARCH_TIME * minutes * 60
    assert sum(map(reduced.budget.pace.seconds, reduced.expected(search).values())) <= max(1.0, minutes * 60 * 1.001)


def test_more_time_never_means_less_text() -> None:
    large = TextSize(20_000_000, 600_000, 100_000)
    kept = [plan(large, minutes).affordable_tokens() for minutes in (0.5, 2, 8, 32, 128)]
    assert kept == sorted(kept) and kept[0] < kept[-1] == large.tokens
    searched = [plan(MILLION, minutes).search_tokens() for minutes in (0.5, 2, 4, 8, 32, 128)]
    assert searched == sorted(searched) and searched[0] == 0 and searched[-1] == max(SEARCH_TOKENS, 250_000)


def test_a_choice_that_there_is_no_time_for_gives_way_to_the_next_best_that_there_is() -> None:
    dear, cheap = ModelChoice(10, 400, True), ModelChoice(4, 50, False)
    trials = [Trial(dear, 100.0, 1, 1), Trial(START, 105.0, 1, 1), Trial(cheap, 120.0, 1, 1)]
    assert plan(MILLION, 1000).choose(trials) == dear
    between = (plan(MILLION)._last_seconds(dear) + plan(MILLION)._last_seconds(START)) / 2
    assert plan(MILLION, between / 60).choose(trials) == START
    assert plan(MILLION, 0.1).choose(trials) == cheap


def test_a_trial_must_leave_time_for_the_training_with_the_best_settings() -> None:
    trials = [Trial(DEFAULT, 110.0, 1, 1), Trial(START, 100.0, 1, 1)]
    last = plan(MILLION)._last_seconds(START)
    assert plan(MILLION, (last + 30) / 60).has_time_for(29.0, trials)
    assert not plan(MILLION, (last + 30) / 60).has_time_for(31.0, trials)
    assert plan(MILLION, (last + 30) / 60).has_time_for(31.0, trials[:1])  # the default needs less
    assert not plan(MILLION, (last + 30) / 60, pace=2.0).has_time_for(29.0, trials)
    assert plan(MILLION).has_time_for(1e9, trials)


def test_time_is_kept_for_caches_and_they_give_way_if_there_is_none() -> None:
    without = Plan(MILLION, Budget(10.0, Clock()), caches=False)
    assert plan(MILLION)._last_seconds(START) > without._last_seconds(START)
    assert without.reserve(START) == pytest.approx(1.5 * MILLION.finish_seconds())
    seconds = MILLION.cache_seconds(START.width) + MILLION.finish_seconds()
    assert plan(MILLION, (seconds + 1) / 60).has_time_for_caches(START)
    assert not plan(MILLION, (seconds - 1) / 60).has_time_for_caches(START)
    assert not plan(MILLION, (seconds + 1) / 60, pace=2.0).has_time_for_caches(START)
    assert plan(MILLION).has_time_for_caches(START)


def test_wide_vectors_and_long_texts_take_caches_longer() -> None:
    assert MILLION.cache_seconds(400) > MILLION.cache_seconds(100)
    longer = TextSize(MILLION.tokens, MILLION.words, 2 * MILLION.held_out)
    assert longer.cache_seconds(100) > MILLION.cache_seconds(100)
