from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.translation.alignment.links import alignments_of
from morphlm.translation.alignment.symmetrise import METHODS, Method, symmetrise

from .reference import joined

links = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 6)), max_size=14)


def one(forward: set[tuple[int, int]], backward: set[tuple[int, int]], method: str) -> set[tuple[int, int]]:
    found = symmetrise(alignments_of([sorted(forward)]), alignments_of([sorted(backward)]), method)  # type: ignore[arg-type]
    assert found.links(0) == sorted(set(found.links(0)))
    return set(found.links(0))


# Worked by hand: 4-4, 4-5 and 6-4 have no neighbour that is linked, so that only -final can add them.
FORWARD = {(0, 0), (1, 1), (4, 4), (4, 5)}
BACKWARD = {(0, 0), (1, 2), (6, 4)}
HAND = {
    "intersect": {(0, 0)},
    "union": {(0, 0), (1, 1), (1, 2), (4, 4), (4, 5), (6, 4)},
    "grow-diag": {(0, 0), (1, 1), (1, 2)},  # 1-1 beside 0-0, then 1-2 beside 1-1: its target has no link
    "grow-diag-final": {(0, 0), (1, 1), (1, 2), (4, 4), (4, 5), (6, 4)},  # each has a free word when its turn comes
    "grow-diag-final-and": {(0, 0), (1, 1), (1, 2), (4, 4)},  # 4-5 and 6-4 share a word with 4-4
}


@pytest.mark.parametrize("method", METHODS)
def test_worked_by_hand(method: str) -> None:
    assert one(FORWARD, BACKWARD, method) == HAND[method]
    assert joined(FORWARD, BACKWARD, method) == HAND[method]


def test_forward_links_come_first_in_final_and() -> None:
    """Both are free at the beginning; the forward one is taken and the other has a linked word then."""
    assert one({(2, 2)}, {(2, 0)}, "grow-diag-final-and") == {(2, 2)}
    assert one({(2, 0)}, {(2, 2)}, "grow-diag-final-and") == {(2, 0)}


def test_growing_goes_through_targets_first() -> None:
    """The neighbours of a link are asked in a fixed order: it decides which of them still find a free word."""
    forward, backward = {(1, 1), (0, 2)}, {(1, 1), (2, 0), (0, 1)}
    # From 1-1: 0-1 has a free source; then come the diagonals: 2-0 and 0-2 have free targets.
    assert one(forward, backward, "grow-diag") == {(1, 1), (0, 1), (2, 0), (0, 2)}
    # 1-2 comes before the diagonals 0-2 and 2-2: its target is free then; theirs is not, but their sources are.
    assert one({(1, 1), (1, 2)}, {(1, 1), (0, 2), (2, 2)}, "grow-diag") == {(1, 1), (1, 2), (0, 2), (2, 2)}


@pytest.mark.parametrize("method", METHODS)
@given(pairs=st.lists(st.tuples(links, links), min_size=1, max_size=4))
def test_agrees_with_plain_python(method: str, pairs: list[tuple[set[tuple[int, int]], set[tuple[int, int]]]]) -> None:
    forward, backward = (alignments_of([sorted(pair[side]) for pair in pairs]) for side in (0, 1))
    found = symmetrise(forward, backward, method, threads=2)  # type: ignore[arg-type]
    assert [found.links(k) for k in range(len(pairs))] == [sorted(joined(*pair, method)) for pair in pairs]


def test_functions_of_each_side_as_fast_align_gives_them() -> None:
    """Each word of one side has one link: there joining is what symal does; random ones, all methods."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        m, n = rng.integers(1, 9, 2)
        forward = {(int(i), j) for j, i in enumerate(rng.integers(-1, m, n)) if i >= 0}
        backward = {(i, int(j)) for i, j in enumerate(rng.integers(-1, n, m)) if j >= 0}
        results = {method: one(forward, backward, method) for method in METHODS}
        assert all(results[method] == joined(forward, backward, method) for method in METHODS)
        chain: list[Method] = ["intersect", "grow-diag", "grow-diag-final-and", "union"]
        assert all(results[a] <= results[b] for a, b in itertools.pairwise(chain))


@pytest.mark.parametrize("method", METHODS)
def test_threads_do_not_matter(method: Method) -> None:
    rng = np.random.default_rng(1)
    sides = []
    for _ in range(2):
        drawn = rng.integers(0, 9, (3000, 8, 2)).tolist()
        sides.append(alignments_of([[(i, j) for i, j in sentence] for sentence in drawn]))
    results = [symmetrise(sides[0], sides[1], method, threads=threads) for threads in (1, 3)]
    assert all(
        np.array_equal(results[0].__dict__[name], results[1].__dict__[name]) for name in ("starts", "source", "target")
    )


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="1 and 2 sentence pairs"):
        symmetrise(alignments_of([[]]), alignments_of([[], []]))
    with pytest.raises(ConfigError, match="no method 'magic'"):
        symmetrise(alignments_of([[]]), alignments_of([[]]), "magic")  # type: ignore[arg-type]
