"""An ARPA file read with dictionaries: slow, and easy to check on paper."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from morphlm.text.reading import RESERVED

Ngram = tuple[int, ...]
LN10 = np.log(10.0)


@dataclass
class ReferenceTrie:
    """The arrays of `NgramTrie` as lists, and the words."""

    vocabulary: list[str]
    sizes: list[int]
    words: list[int]
    logprob: list[np.float32]
    suffix: list[int]
    backoff: list[np.float32]
    first_child: list[int]


def reference_arpa(text: str) -> ReferenceTrie:
    ids = {mark: number for number, mark in enumerate(RESERVED)}
    orders = [_order(section, ids) for section in text.split("-grams:\n")[1:]]
    entries: list[dict[Ngram, tuple[np.float32, np.float32]]] = orders
    for word in range(len(ids)):
        logprob, backoff = entries[0].get((word,), (np.float32(-np.inf), np.float32(0)))
        entries[0][word,] = np.float32(-np.inf) if word == 1 else logprob, backoff
    added: list[set[Ngram]] = [set() for _ in entries]
    for n in range(len(entries) - 1, 0, -1):
        needed = {part for ngram in {*entries[n], *added[n]} for part in (ngram[:-1], ngram[1:])}
        added[n - 1] = needed - entries[n - 1].keys()
    for n, missing in enumerate(added):
        for ngram in missing:
            backed_off = entries[n - 1][ngram[:-1]][1] + entries[n - 1][ngram[1:]][0]
            entries[n][ngram] = backed_off, np.float32(0)
    return _trie([*ids], entries)


def _order(section: str, ids: dict[str, int]) -> dict[Ngram, tuple[np.float32, np.float32]]:
    entries = {}
    lines = section.split("\n")
    n = len(lines[0].split("\t")[1].split(" "))
    for line in lines[: lines.index("")]:
        fields = line.replace("\t", " ").split()
        words = fields[1 : n + 1]
        for word in words:
            ids.setdefault(word, len(ids))
        logprob = float(fields[0])
        backoff = float(fields[n + 1]) if len(fields) == n + 2 else 0.0
        numbers = -math.inf if logprob <= -99 else logprob, backoff
        entries[tuple(ids[word] for word in words)] = tuple(np.float32(number * LN10) for number in numbers)
    return entries  # type: ignore[return-value]


def _trie(vocabulary: list[str], entries: list[dict[Ngram, tuple[np.float32, np.float32]]]) -> ReferenceTrie:
    nodes = [ngram for order in entries for ngram in sorted(order)]
    number = {ngram: node for node, ngram in enumerate(nodes)}
    numbers = [order[ngram] for order in entries for ngram in sorted(order)]
    inner = [ngram for ngram in nodes if len(ngram) < len(entries)]
    return ReferenceTrie(
        vocabulary,
        [len(order) for order in entries],
        [ngram[-1] for ngram in nodes],
        [logprob for logprob, _ in numbers],
        [number[ngram[1:]] if len(ngram) > 1 else -1 for ngram in nodes],
        [backoff for _, backoff in numbers[: len(inner)]],
        [_first_child(ngram, nodes) for ngram in inner] + [len(nodes)],
    )


def _first_child(parent: Ngram, nodes: list[Ngram]) -> int:
    """The number of the first node, of the order above, that is a child of this one or comes after its children."""
    return sum((len(node), node) < (len(parent) + 1, parent) for node in nodes)
