"""Dividing a text: no sentence in two parts, blocks spread over the text, whole documents where there are enough."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import InputError
from morphlm.learning.dividing import (
    BLOCKS,
    FEWEST_DOCUMENTS,
    HELD_OUT,
    LARGEST,
    LEAST_SENTENCES,
    LEAST_TOKENS,
    Division,
    divide,
    held_out_tokens,
    spread_blocks,
)

LENGTHS = st.lists(st.integers(1, 90), min_size=LEAST_SENTENCES, max_size=400).filter(
    lambda lengths: sum(lengths) >= LEAST_TOKENS
)


def sizes(division: Division, lengths: list[int]) -> dict[str, int]:
    """Tokens of each part."""
    result = {"train": 0, "dev": 0, "test": 0}
    for part, length in zip(division.part_of(len(lengths)), lengths, strict=True):
        result[part] += length
    return result


@given(lengths=LENGTHS, data=st.data())
def test_every_sentence_is_in_one_part_and_no_part_is_empty(lengths: list[int], data: st.DataObject) -> None:
    starts = sorted({0, *data.draw(st.lists(st.integers(0, len(lengths) - 1), max_size=60))})
    wanted = data.draw(st.sampled_from([HELD_OUT, ("dev",), ("test",)]))
    division = divide(lengths, starts, wanted)
    blocks = [block for part in division.parts.values() for block in part]
    taken = [number for block in blocks for number in block]
    assert len(taken) == len(set(taken)) and set(taken) < set(range(len(lengths)))
    assert list(division.parts) == list(wanted) and all(sum(map(len, part)) for part in division.parts.values())
    if division.whole_documents:
        assert {edge for block in blocks for edge in (block.start, block.stop)} <= {*starts, len(lengths)}


@given(lengths=st.lists(st.integers(1, 90), min_size=200, max_size=400))
def test_held_out_texts_have_the_size_that_was_planned_but_for_a_sentence_a_block(lengths: list[int]) -> None:
    wanted, found = held_out_tokens(sum(lengths)), sizes(divide(lengths, [0]), lengths)
    for part in HELD_OUT:
        assert wanted <= found[part] + 1 and found[part] <= wanted + BLOCKS * 90


@pytest.mark.parametrize(
    ("tokens", "wanted"),
    [(1_000, 100), (50_000, 5_000), (100_000, 10_000), (150_000, 10_000), (1_000_000, 50_000), (10**8, LARGEST)],
)
def test_how_much_is_held_out(tokens: int, wanted: int) -> None:
    assert held_out_tokens(tokens) == wanted


def test_blocks_are_spread_over_the_text_and_alternate() -> None:
    division = divide([20] * 10_000, [0])
    dev, test = division.parts["dev"], division.parts["test"]
    assert len(dev) == len(test) == BLOCKS
    order = sorted([(block.start, "dev") for block in dev] + [(block.start, "test") for block in test])
    assert [name for _, name in order] == ["dev", "test"] * BLOCKS
    gaps = np.diff([start for start, _ in order])
    assert gaps.min() > 0.9 * gaps.max()
    assert order[0][0] > 0 and order[-1][0] < 9_900  # neither only the beginning nor only the end


def test_many_documents_stay_whole_few_or_large_ones_do_not() -> None:
    lengths = [10] * 4_000
    assert divide(lengths, range(0, 4_000, 20)).whole_documents
    assert not divide(lengths, range(0, 4_000, 4_000 // (FEWEST_DOCUMENTS - 1))).whole_documents
    # Of these documents, one holds nearly all: as a block it would be much too large.
    assert not divide(lengths, [*range(FEWEST_DOCUMENTS), 30]).whole_documents


def test_a_sentence_that_holds_most_of_the_text_is_no_reason_to_fail() -> None:
    lengths = [1, 1, 1, 1, 10_000]
    assert min(sizes(divide(lengths, [0]), lengths).values()) > 0


@pytest.mark.parametrize("lengths", [[], [1], [50], [99], [1000], [1000] * 4, [1] * 99])
def test_too_little_text_is_refused_with_what_there_is(lengths: list[int]) -> None:
    with pytest.raises(InputError, match=f"too little text to learn from: {sum(lengths):,} token.* 100 tokens in 5"):
        divide(lengths, [0])


def test_nothing_is_held_out_if_both_texts_are_given() -> None:
    assert divide([10] * 20, [0], ()).parts == {}


@given(lengths=LENGTHS, wanted=st.integers(1, 20_000))
def test_a_part_of_a_text_has_about_the_tokens_asked_for(lengths: list[int], wanted: int) -> None:
    blocks = spread_blocks(lengths, wanted)
    numbers = [number for block in blocks for number in block]
    assert numbers == sorted(set(numbers)) and numbers[-1] < len(lengths)
    tokens = sum(lengths[number] for number in numbers)
    assert tokens == sum(lengths) if sum(lengths) <= wanted else tokens <= wanted + BLOCKS * 90
