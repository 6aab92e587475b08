from __future__ import annotations

import pytest

from morphlm.errors import InputError
from morphlm.translation.alignment.links import alignment_error_rate, alignments_of


def test_links_are_sorted_and_kept_once() -> None:
    found = alignments_of([[(2, 0), (0, 1), (2, 0), (0, 0)], [], [(0, 1)]])
    assert [found.links(k) for k in range(len(found))] == [[(0, 0), (0, 1), (2, 0)], [], [(0, 1)]]
    assert found.starts.tolist() == [0, 3, 3, 4]
    assert str(found.source.dtype) == str(found.target.dtype) == "int32"


def test_error_rate_worked_by_hand() -> None:
    found = alignments_of([[(0, 0), (1, 1), (2, 2)], [(0, 1)]])
    sure = alignments_of([[(0, 0), (1, 2)], [(0, 1)]])
    assert alignment_error_rate(found, sure) == pytest.approx(1 - (2 + 2) / (4 + 3))
    possible = alignments_of([[(1, 1), (0, 0)], [(1, 0)]])  # with the sure ones: 0-0 1-1 1-2, 0-1 1-0
    assert alignment_error_rate(found, sure, possible) == pytest.approx(1 - (2 + 3) / (4 + 3))
    assert alignment_error_rate(found, found) == 0
    assert alignment_error_rate(alignments_of([[], []]), sure) == 1
    assert alignment_error_rate(alignments_of([[]]), alignments_of([[]])) == 0


def test_equal_links_of_different_pairs_are_different() -> None:
    assert alignment_error_rate(alignments_of([[(0, 0)], []]), alignments_of([[], [(0, 0)]])) == 1


def test_other_numbers_of_pairs_are_refused() -> None:
    one, two = alignments_of([[]]), alignments_of([[], []])
    with pytest.raises(InputError, match="sure links are of 1 and 2 sentence pairs"):
        alignment_error_rate(one, two)
    with pytest.raises(InputError, match="possible links are of 1 and 2"):
        alignment_error_rate(one, one, two)
