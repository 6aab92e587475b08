"""A text becomes training, development and test text, by blocks that stay whole.

Blocks are spread over the text, so that the held-out texts are not only its end; where there are enough documents, they
are whole documents. Sentences are numbered; a part is a list of ranges of these numbers, and no sentence is in two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from morphlm.arrays import Int64Array
from morphlm.errors import InputError

HELD_OUT = ("dev", "test")
SHARE, LARGEST_SHARE = 0.05, 0.10  # of the tokens, for each held-out text
USUAL, LARGEST = 10_000, 100_000  # tokens: so many if that is no larger share, and never more
BLOCKS = 8  # of each held-out text
SMALLEST_BLOCK = 500  # tokens; a smaller text has fewer blocks
FEWEST_DOCUMENTS = 20  # with fewer, blocks begin and end anywhere
TOLERANCE = 2.0  # times as large as planned: then documents are too large to stay whole
LEAST_TOKENS, LEAST_SENTENCES = 100, 5  # of a text that can be divided

Blocks = tuple[range, ...]


@dataclass(frozen=True)
class Division:
    """The sentences of each held-out text; all others are for training."""

    parts: dict[str, Blocks]  # "dev", "test" -> ranges of sentences
    whole_documents: bool = False

    def part_of(self, sentences: int) -> list[str]:
        """The part of each of so many sentences."""
        result = ["train"] * sentences
        for name, blocks in self.parts.items():
            for block in blocks:
                result[block.start : block.stop] = [name] * len(block)
        return result


def held_out_tokens(tokens: int) -> int:
    """How many tokens a held-out text should have."""
    return round(min(LARGEST, max(SHARE * tokens, min(USUAL, LARGEST_SHARE * tokens))))


def divide(lengths: Sequence[int], document_starts: Sequence[int], wanted: Sequence[str] = HELD_OUT) -> Division:
    """Choose the held-out texts that are wanted, from sentences of these lengths in tokens.

    `document_starts` are the numbers of the sentences that begin a document, the first sentence among them.
    """
    tokens = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])  # before each sentence, and in all
    total = int(tokens[-1])
    if total < LEAST_TOKENS or len(lengths) < LEAST_SENTENCES:
        found = f"{total:,} token{'s' * (total != 1)} in {len(lengths):,} sentence{'s' * (len(lengths) != 1)}"
        least = f"{LEAST_TOKENS} tokens in {LEAST_SENTENCES} sentences are the least, and some thousands make sense"
        raise InputError(f"there is too little text to learn from: {found}; {least}")
    if not wanted:
        return Division({})
    size = held_out_tokens(total)
    if len(document_starts) >= FEWEST_DOCUMENTS:
        whole = _divide_at(np.array([*document_starts, len(lengths)]), tokens, size, wanted)
        if whole is not None and all(_tokens_in(part, tokens) <= TOLERANCE * size for part in whole.values()):
            return Division(whole, whole_documents=True)
    everywhere = np.arange(len(lengths) + 1)
    parts = _divide_at(everywhere, tokens, size, wanted)
    if parts is None:  # a sentence holds much of the text: count sentences instead
        parts = _divide_at(everywhere, everywhere, max(1, round(SHARE * len(lengths))), wanted)
    assert parts is not None, f"{LEAST_SENTENCES} sentences can be divided"
    return Division(parts)


def _divide_at(cuts: Int64Array, tokens: Int64Array, size: int, wanted: Sequence[str]) -> dict[str, Blocks] | None:
    """Blocks that begin and end at cuts, in turns for each part; None if they leave no text to train on."""
    blocks = max(1, min(BLOCKS, size // SMALLEST_BLOCK))
    parts: dict[str, list[range]] = {name: [] for name in wanted}
    before, count, free = tokens[cuts], blocks * len(wanted), 0  # `free`: the first cut behind the blocks so far
    for number in range(count):
        middle = (number + 0.5) / count * tokens[-1]
        begin = max(free, int(np.searchsorted(before, middle - size / blocks / 2, side="right")) - 1)
        if begin >= len(cuts) - 1:
            return None
        end = int(np.searchsorted(before, before[begin] + size / blocks))
        free = min(max(begin + 1, end), len(cuts) - 1)
        parts[wanted[number % len(wanted)]].append(range(int(cuts[begin]), int(cuts[free])))
    is_all = sum(map(len, (block for part in parts.values() for block in part))) >= len(tokens) - 1
    return None if is_all else {name: tuple(part) for name, part in parts.items()}


def _tokens_in(blocks: Sequence[range], tokens: Int64Array) -> int:
    return int(sum(tokens[block.stop] - tokens[block.start] for block in blocks))


def spread_blocks(lengths: Sequence[int], wanted: int) -> Blocks:
    """Blocks of sentences, spread over a text, with about so many tokens in all; the whole text if it has no more."""
    tokens = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if tokens[-1] <= wanted:
        return (range(len(lengths)),)
    begins = [int(np.searchsorted(tokens, number / BLOCKS * tokens[-1])) for number in range(BLOCKS)]
    blocks = []
    for begin, following in pairwise([*begins, len(lengths)]):
        end = int(np.searchsorted(tokens, tokens[begin] + wanted / BLOCKS))
        blocks.append(range(begin, min(max(end, begin + 1), following)))
    return tuple(block for block in blocks if block)
