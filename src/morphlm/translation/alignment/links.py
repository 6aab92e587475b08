"""Links between the words of sentence pairs, and how well they agree with links that are known to be right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from morphlm.arrays import Array, starts_of
from morphlm.display import dataclass_repr
from morphlm.errors import InputError


@dataclass(frozen=True, eq=False)
class Alignments:
    """The links of every sentence pair, each once, by source, then target position; positions count from 0."""

    starts: Array  # (S+1,) int64: where the links of each pair begin
    source: Array  # int32: position in the source sentence
    target: Array  # int32: position in the target sentence

    __repr__ = dataclass_repr

    def __len__(self) -> int:
        return len(self.starts) - 1

    def links(self, number: int) -> list[tuple[int, int]]:
        """The links of a pair as (source, target)."""
        part = slice(self.starts[number], self.starts[number + 1])
        return list(zip(self.source[part].tolist(), self.target[part].tolist(), strict=True))


def alignments_of(sentences: Iterable[Sequence[tuple[int, int]]]) -> Alignments:
    """Alignments from lists of (source, target)."""
    lists = [list(links) for links in sentences]
    pairs = np.array([link for links in lists for link in links], np.int32).reshape(-1, 2)
    return sorted_alignments(np.array([len(links) for links in lists], np.int64), pairs[:, 0], pairs[:, 1])


def sorted_alignments(counts: Array, source: Array, target: Array) -> Alignments:
    """Alignments from the number of links of each pair and the links in any order; each link is kept once."""
    pair = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((target, source, pair))
    pair, source, target = pair[order], source[order], target[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(pair) != 0) | (np.diff(source) != 0) | (np.diff(target) != 0)
    starts = starts_of(np.bincount(pair[new], minlength=len(counts)))
    return Alignments(starts, source[new].astype(np.int32), target[new].astype(np.int32))


def check_same_pairs(first: Alignments, second: Alignments, names: str) -> None:
    """Refuse alignments of different numbers of pairs."""
    if len(first) != len(second):
        raise InputError(
            f"{names} are of {len(first):,} and {len(second):,} sentence pairs; give those of the same text"
        )


def _common(first: Alignments, second: Alignments) -> int:
    """How many links two alignments share."""
    size = 1 + max(
        (int(array.max()) for array in (first.source, first.target, second.source, second.target) if len(array)),
        default=0,
    )
    return len(np.intersect1d(_keys(first, size), _keys(second, size), assume_unique=True))


def _keys(alignments: Alignments, size: int) -> Array:
    pair = np.repeat(np.arange(len(alignments), dtype=np.int64), np.diff(alignments.starts))
    return (pair * size + alignments.source) * size + alignments.target


def alignment_error_rate(predicted: Alignments, sure: Alignments, possible: Alignments | None = None) -> float:
    """1 - (|A & S| + |A & P|) / (|A| + |S|), Och & Ney (2003), of `predicted` links A; 0 is perfect.

    Links of `sure` are also possible ones.
    """
    check_same_pairs(predicted, sure, "the alignment and the sure links")
    right = _common(predicted, sure)
    also = right
    if possible is not None:
        check_same_pairs(predicted, possible, "the alignment and the possible links")
        also = _common(predicted, _union(sure, possible))
    total = len(predicted.source) + len(sure.source)
    return 1.0 - (right + also) / total if total else 0.0


def _union(first: Alignments, second: Alignments) -> Alignments:
    pair = np.concatenate([np.repeat(np.arange(len(first)), np.diff(a.starts)) for a in (first, second)])
    order = np.argsort(pair, kind="stable")
    source, target = np.concatenate([first.source, second.source]), np.concatenate([first.target, second.target])
    return sorted_alignments(np.bincount(pair, minlength=len(first)), source[order], target[order])
