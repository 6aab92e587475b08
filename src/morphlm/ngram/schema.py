"""What the directory of an n-gram model holds: one trie of all orders, as `kernels` describes it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from morphlm.arrays import Int32Array, blocks_of, is_rising
from morphlm.language_model.schema import TRAINING
from morphlm.ngram.counting import MAX_ORDER
from morphlm.ngram.kernels import ROOT
from morphlm.ngram.quantised import LEVELS, bytes_of_a_word
from morphlm.ngram.trie import siblings_are_sorted
from morphlm.schema import ArtefactSchema, Contents, Integer, ListOf, Record, Tensor, Text
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import UNK_ID, VOCABULARY_FILE

LARGEST_LOG = 1e6  # of a probability or a back-off, natural; sums of them stay finite and can be written as ARPA


def _sizes(configuration: Mapping[str, Any]) -> dict[str, int]:
    sizes = configuration["sizes"]
    nodes, inner = sum(sizes), sum(sizes[:-1])
    return {
        "V": sizes[0],
        "nodes": nodes,
        "inner": inner,
        # Of quantised n-grams, where unigrams stand apart.
        "higher": nodes - sizes[0],
        "higher inner": max(0, inner - sizes[0]),
        "inner unigrams": min(inner, sizes[0]),
        "word bytes": (nodes - sizes[0]) * bytes_of_a_word(sizes[0]),
        "higher orders": len(sizes) - 1,
        "higher inner orders": max(0, len(sizes) - 2),
    }


def _has_all_orders(contents: Contents) -> str:
    order, sizes = contents.configuration["order"], contents.configuration["sizes"]
    return "" if len(sizes) == order else f"the order is {order}, but there are {len(sizes)} sizes"


def _is_plain_trie(contents: Contents) -> str:
    """Of quantised n-grams, `quantised.unpack` asks for the same."""
    return "" if "bits" in contents.configuration else _is_trie(contents)


def _are_unigrams(suffix: Int32Array) -> bool:
    """Nothing is left of a unigram without its word, but that some may be members of UNK."""
    members = suffix != ROOT
    return not members[: len(RESERVED)].any() and bool((suffix[members] == UNK_ID).all())


def _is_trie(contents: Contents) -> str:
    """The nodes of each order have their parents in the order below, their suffixes too, and sorted words."""
    sizes = contents.configuration["sizes"]
    words, suffix, first_child = (contents.tensors[name] for name in ("words", "suffix", "first_child"))
    starts = [0, *accumulate(sizes)]
    if first_child[starts[:-1]].tolist() != starts[1:] or not is_rising(first_child):
        return "the n-grams of an order are not the children of those of the order below"
    if not np.array_equal(words[: sizes[0]], np.arange(sizes[0])) or not _are_unigrams(suffix[: sizes[0]]):
        return "the unigrams are not the words of the vocabulary"
    for (below, begin), end in zip(pairwise(starts), starts[2:], strict=False):
        if any(block.min() < below or block.max() >= begin for block in blocks_of(suffix[begin:end])):
            return "a suffix is not of the order below"
    if not siblings_are_sorted(words, first_child, sizes[0]):
        return "the words after a context are not sorted"
    return ""


_LOG: dict[str, Any] = {"at_least": -LARGEST_LOG, "at_most": LARGEST_LOG, "or_minus_infinity": True}
PLAIN = {
    "words": Tensor("int32", ("nodes",), at_least=0, below="V"),
    "logprob": Tensor("float32", ("nodes",), **_LOG),
    "suffix": Tensor("int32", ("nodes",), at_least=-1, below="nodes"),
    "backoff": Tensor("float32", ("inner",), **_LOG),
    "first_child": Tensor("int64", ("inner+1",), at_least="V", at_most="nodes"),
}
QUANTISED = {
    "unigram_logprob": Tensor("float32", ("V",), **_LOG),
    "unigram_backoff": Tensor("float32", ("inner unigrams",), **_LOG),
    "words": Tensor("uint8", ("word bytes",)),
    "children": Tensor("uint8", ("inner",)),
    "many_children": Tensor("int64", ("many",), at_least=0, at_most="nodes"),
    "logprob": Tensor("uint8", ("higher",)),
    "logprob_levels": Tensor("float32", ("higher orders", LEVELS), **_LOG),
    "backoff": Tensor("uint8", ("higher inner",)),
    "backoff_levels": Tensor("float32", ("higher inner orders", LEVELS), **_LOG),
}

NGRAM = ArtefactSchema(
    configuration=Record(
        {"order": Integer(1, MAX_ORDER), "sizes": ListOf(Integer(0, 2**31 - 1), shortest=1, longest=MAX_ORDER)},
        optional={"bits": Integer(8, 8)},
    ),
    training=TRAINING,
    texts={VOCABULARY_FILE: Text(lines="V")},
    sizes=_sizes,
    tensors=lambda contents: QUANTISED if "bits" in contents.configuration else PLAIN,
    relations=(_has_all_orders, _is_plain_trie),
)
