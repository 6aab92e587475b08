"""Threads: every piece once, whatever the numbers; errors come through; the balance of bins."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from morphlm.threads import Workers, balance_by_cost, map_in_order, tapered_bounds, tapered_sizes, workers

threads = st.integers(1, 5)


@given(threads, st.integers(0, 60))
def test_each_piece_is_done_once(count: int, pieces: int) -> None:
    done: list[tuple[int, int]] = []
    with workers(count) as several:
        several.run_pieces(lambda piece, worker: done.append((piece, worker)), pieces)
    assert sorted(piece for piece, _ in done) == list(range(pieces))
    assert all(0 <= worker < count for _, worker in done)


@given(threads, st.integers(0, 2000), st.integers(1, 300))
def test_ranges_cover_all_items_once(count: int, items: int, smallest: int) -> None:
    done: list[tuple[int, int]] = []
    with workers(count) as several:
        several.run_ranges(lambda begin, end: done.append((begin, end)), items, smallest)
    done.sort()
    assert [item for begin, end in done for item in range(begin, end)] == list(range(items))
    assert all(end - begin >= min(smallest, items) for begin, end in done[:-1])
    assert all(begin < end for begin, end in done)


def test_a_worker_number_belongs_to_one_thread_at_a_time() -> None:
    """Threads that share a number would find it taken."""
    taken: Counter[int] = Counter()
    clashes: list[int] = []

    def work(_: int, worker: int) -> None:
        taken[worker] += 1
        if taken[worker] > 1:
            clashes.append(worker)
        time.sleep(0.001)
        taken[worker] -= 1

    with workers(3) as several:
        several.run_pieces(work, 60)
    assert not clashes


def test_all_threads_work_at_the_same_time() -> None:
    """Three tasks that wait for each other end only if three threads have them."""
    barrier = threading.Barrier(3, timeout=20)
    places: list[int] = []
    with workers(3) as several:
        several.run_pieces(lambda piece, worker: places.append(barrier.wait()), 3)
    assert sorted(places) == [0, 1, 2]


def test_one_thread_is_the_caller() -> None:
    seen: set[int] = set()
    with workers(1) as single:
        single.run_pieces(lambda piece, worker: seen.add(threading.get_ident()), 20)
    assert seen == {threading.get_ident()}


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("bad", [0, 7, 19])
def test_an_error_reaches_the_caller(count: int, bad: int) -> None:
    def work(piece: int, worker: int) -> None:
        if piece == bad:
            raise ValueError(f"piece {piece}")
        time.sleep(0.0002)

    with workers(count) as several:
        with pytest.raises(ValueError, match=f"piece {bad}"):
            several.run_pieces(work, 20)
        assert_still_works(several)


def assert_still_works(several: Workers) -> None:
    done: list[int] = []
    several.run_pieces(lambda piece, worker: done.append(piece), 10)
    assert sorted(done) == list(range(10))


def test_nothing_runs_any_more_after_an_error() -> None:
    """The caller may use the arrays again: all threads have stopped when it learns of the error."""
    running = Counter[str]()
    started = threading.Barrier(3, timeout=20)

    def work(piece: int, worker: int) -> None:
        running["now"] += worker == 2
        started.wait()
        if worker < 2:
            raise ValueError("bad piece")
        time.sleep(0.05)
        running["now"] -= 1

    with workers(3) as several:
        with pytest.raises(ValueError, match="bad piece"):
            several.run_pieces(work, 3)
        assert running["now"] == 0


def test_an_error_stops_the_other_pieces() -> None:
    done: list[int] = []

    def work(piece: int, worker: int) -> None:
        if piece == 3:
            raise KeyboardInterrupt
        done.append(piece)

    with workers(1) as single, pytest.raises(KeyboardInterrupt):
        single.run_pieces(work, 100)
    assert done == [0, 1, 2]


def test_blas_has_one_thread_meanwhile() -> None:
    import numpy as np

    assert np.zeros(1) == 0  # BLAS is loaded
    with workers(2):
        assert {entry["num_threads"] for entry in threadpool_info() if entry["user_api"] == "blas"} == {1}


costs = st.lists(st.floats(0, 1e6), max_size=40)


@given(costs, st.integers(1, 9))
def test_balanced_bins_hold_every_item_once_and_fit_their_sizes(costs_of: list[float], bins: int) -> None:
    """Each item goes where least is for the size, so the fullest bin exceeds the emptiest by one item at most."""
    contents = balance_by_cost([(cost, item) for item, cost in enumerate(costs_of)], bins)
    assert len(contents) == bins
    assert sorted(item for content in contents for item in content) == list(range(len(costs_of)))
    sizes = tapered_sizes(bins)
    loads = [sum(costs_of[item] for item in content) / size for content, size in zip(contents, sizes, strict=True)]
    assert max(loads) - min(loads) <= max(costs_of, default=0.0) / min(sizes) + 1e-6
    for content in contents:
        assert [costs_of[item] for item in content] == sorted((costs_of[item] for item in content), reverse=True)


@given(costs, st.integers(1, 9), st.randoms(use_true_random=False))
def test_balance_does_not_depend_on_the_order(costs_of: list[float], bins: int, shuffler: object) -> None:
    entries = [(cost, item) for item, cost in enumerate(costs_of)]
    mixed = entries.copy()
    shuffler.shuffle(mixed)  # type: ignore[attr-defined]
    assert balance_by_cost(mixed, bins) == balance_by_cost(entries, bins)


@given(st.integers(0, 1000), st.integers(1, 12))
def test_falling_cuts_cover_all_in_pieces_that_never_grow_by_more_than_rounding(items: int, pieces: int) -> None:
    cuts = tapered_bounds(items, pieces)
    assert (cuts[0], cuts[-1], len(cuts)) == (0, items, pieces + 1)
    lengths = [end - begin for begin, end in pairwise(cuts)]
    assert min(lengths) >= 0
    assert all(later <= earlier + 1 for earlier, later in pairwise(lengths))


def test_balance_by_hand() -> None:
    assert tapered_sizes(8) == [8, 8, 6, 6, 4, 4, 2, 2]
    assert tapered_sizes(3) == [3, 3, 1]
    assert balance_by_cost([(1.0, item) for item in range(7)], 3) == [[6, 3, 1], [5, 2, 0], [4]]
    assert balance_by_cost([(5.0, 0), (4.0, 1), (3.0, 2), (3.0, 3)], 2) == [[0, 2], [1, 3]]
    assert balance_by_cost([], 2) == [[], []]


@pytest.mark.parametrize("count", [1, 3])
def test_results_come_in_order_and_few_items_are_read_ahead(count: int) -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(50):
            taken.append(number)
            yield number

    def task(number: int) -> int:
        time.sleep(0.002 * (number % 3))
        return number * number

    results = map_in_order(task, items(), count, ahead=2)
    assert not taken  # nothing is done before it is asked for
    for number, result in enumerate(results):
        assert result == number * number
        assert len(taken) <= min(50, number + 2 * count)


def test_an_error_of_a_task_ends_the_results() -> None:
    results = map_in_order(lambda number: 1 // (3 - number), range(1000), 2)
    assert [next(results) for _ in range(3)] == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)
