"""What the directory of an n-gram model holds: one trie of all orders, as `kernels` describes it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from morphlm.arrays import Int32Array, Int64Array, blocks_of, is_rising
from morphlm.language_model.schema import TRAINING
from morphlm.ngram.counting import MAX_ORDER
from morphlm.ngram.kernels import ROOT
from morphlm.schema import ArtefactSchema, Contents, Integer, ListOf, Record, Tensor, Text
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import UNK_ID, VOCABULARY_FILE

LARGEST_LOG = 1e6  # of a probability or a back-off, natural; sums of them stay finite and can be written as ARPA


def _sizes(configuration: Mapping[str, Any]) -> dict[str, int]:
    sizes = configuration["sizes"]
    return {"V": sizes[0], "nodes": sum(sizes), "inner": sum(sizes[:-1])}


def _are_unigrams(suffix: Int32Array) -> bool:
    """Nothing is left of a unigram without its word, but that some may be members of UNK."""
    members = suffix != ROOT
    return not members[: len(RESERVED)].any() and bool((suffix[members] == UNK_ID).all())


def _is_trie(contents: Contents) -> str:
    """The nodes of each order have their parents in the order below, their suffixes too, and sorted words."""
    sizes = contents.configuration["sizes"]
    words, suffix, first_child = (contents.tensors[name] for name in ("words", "suffix", "first_child"))
    starts = [0, *accumulate(sizes)]
    if len(sizes) != contents.configuration["order"]:
        return f"the order is {contents.configuration['order']}, but there are {len(sizes)} sizes"
    if first_child[starts[:-1]].tolist() != starts[1:] or not is_rising(first_child):
        return "the n-grams of an order are not the children of those of the order below"
    if not np.array_equal(words[: sizes[0]], np.arange(sizes[0])) or not _are_unigrams(suffix[: sizes[0]]):
        return "the unigrams are not the words of the vocabulary"
    for (below, begin), end in zip(pairwise(starts), starts[2:], strict=False):
        if any(block.min() < below or block.max() >= begin for block in blocks_of(suffix[begin:end])):
            return "a suffix is not of the order below"
    if not _siblings_are_sorted(words, first_child, sizes[0]):
        return "the words after a context are not sorted"
    return ""


def _siblings_are_sorted(words: Int32Array, first_child: Int64Array, begin: int) -> bool:
    """Whether, from a node on, each has a larger word than the one before it, or is the first child of its parent."""
    node, last = begin, 0
    for block in blocks_of(words[begin:]):
        bounds = np.searchsorted(first_child, [node, node + len(block)])
        is_first = np.zeros(len(block), bool)
        is_first[first_child[bounds[0] : bounds[1]] - node] = True
        if not (is_first | (np.diff(block, prepend=np.int32(last)) > 0)).all():
            return False
        node, last = node + len(block), int(block[-1])
    return True


NGRAM = ArtefactSchema(
    configuration=Record(
        {"order": Integer(1, MAX_ORDER), "sizes": ListOf(Integer(0, 2**31 - 1), shortest=1, longest=MAX_ORDER)}
    ),
    training=TRAINING,
    texts={VOCABULARY_FILE: Text(lines="V")},
    sizes=_sizes,
    tensors={
        "words": Tensor("int32", ("nodes",), at_least=0, below="V"),
        "logprob": Tensor("float32", ("nodes",), -LARGEST_LOG, LARGEST_LOG, or_minus_infinity=True),
        "suffix": Tensor("int32", ("nodes",), at_least=-1, below="nodes"),
        "backoff": Tensor("float32", ("inner",), -LARGEST_LOG, LARGEST_LOG, or_minus_infinity=True),
        "first_child": Tensor("int64", ("inner+1",), at_least="V", at_most="nodes"),
    },
    relations=(_is_trie,),
)
