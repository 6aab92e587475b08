"""The order of an epoch: the same sentences, decided by seed and epoch alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from morphlm.arrays import Int32Array
from morphlm.training import batches
from morphlm.training.batches import Replay, minibatch_key, shuffled_positions
from morphlm.vocabulary.vocabulary import END_ID

sentences = st.lists(st.lists(st.integers(3, 9), max_size=5), min_size=1, max_size=40)


def joined(lists: list[list[int]]) -> Int32Array:
    return np.array([word for sentence in lists for word in (*sentence, END_ID)], np.int32)


def shuffled_sentences(tokens: Int32Array, seed: int, epoch: int) -> Int32Array:
    positions = shuffled_positions(tokens, seed, epoch)
    assert sorted(positions.tolist()) == list(range(len(tokens)))
    return tokens[positions]


def split(tokens: Int32Array) -> list[tuple[int, ...]]:
    return [tuple(part[:-1].tolist()) for part in np.split(tokens, np.flatnonzero(tokens == END_ID) + 1)[:-1]]


@given(sentences, st.integers(0, 5), st.integers(0, 5))
def test_it_is_a_permutation_of_the_sentences(lists: list[list[int]], seed: int, epoch: int) -> None:
    shuffled = shuffled_sentences(joined(lists), seed, epoch)
    assert shuffled.dtype == np.int32
    assert shuffled[-1] == END_ID
    assert Counter(split(shuffled)) == Counter(map(tuple, lists))


@given(sentences, st.integers(1, 7))
def test_the_order_does_not_depend_on_how_many_are_moved_at_a_time(lists: list[list[int]], block: int) -> None:
    whole = shuffled_sentences(joined(lists), 1, 2)
    size, batches.BLOCK_SENTENCES = batches.BLOCK_SENTENCES, block
    try:
        np.testing.assert_array_equal(shuffled_sentences(joined(lists), 1, 2), whole)
    finally:
        batches.BLOCK_SENTENCES = size


def test_the_order_is_that_of_the_generator_and_changes_with_seed_and_epoch() -> None:
    lists = [[3 + number] for number in range(50)]
    orders = {}
    for seed, epoch in [(0, 0), (0, 1), (1, 0), (1, 1)]:
        shuffled = shuffled_sentences(joined(lists), seed, epoch)
        expected = np.random.default_rng([seed, epoch]).permutation(50)
        assert [sentence[0] - 3 for sentence in split(shuffled)] == expected.tolist()
        orders[seed, epoch] = shuffled.tobytes()
    assert len(set(orders.values())) == 4


def test_the_text_itself_is_left_as_it_was() -> None:
    tokens = joined([[3, 4], [], [5]])
    tokens.flags.writeable = False
    shuffled_sentences(tokens, 1, 1)
    assert tokens.tolist() == [3, 4, END_ID, END_ID, 5, END_ID]


def test_keys_differ_between_minibatches_and_leave_room_above() -> None:
    keys = [minibatch_key(seed, epoch, number) for seed in range(5) for epoch in range(5) for number in range(40)]
    assert len(set(keys)) == len(keys)
    assert max(keys) < 1 << 60


@given(sentences, sentences, st.floats(0.05, 0.95), st.integers(0, 5))
def test_every_epoch_has_all_new_text_and_the_next_part_of_the_old(
    new: list[list[int]], old: list[list[int]], share: float, seed: int
) -> None:
    """Part by part the epochs go around the old text: no sentence is seen more often than another by two."""
    tokens, begin = joined(new + old), len(joined(new))
    replay, seen = Replay(begin, share), Counter[int]()
    longest = max(map(len, old)) + 1
    for epoch in range(6):
        positions = shuffled_positions(tokens, seed, epoch, replay).tolist()
        assert sorted(position for position in positions if position < begin) == list(range(begin))
        replayed = [position for position in positions if position >= begin]
        assert len(set(replayed)) == len(replayed)
        assert tokens[positions[-1]] == END_ID
        assert abs(len(replayed) - replay.tokens_of_epoch(len(tokens))) < longest
        seen.update(replayed)
        times = [seen[position] for position in range(begin, len(tokens))]
        assert max(times) - min(times) <= 1


def test_a_replay_takes_its_share_as_long_as_there_is_enough_old_text() -> None:
    assert Replay(800, 0.2).tokens_of_epoch(10_000) == 200
    assert Replay(800, 0.5).tokens_of_epoch(10_000) == 800
    assert Replay(800, 0.5).tokens_of_epoch(900) == 100
