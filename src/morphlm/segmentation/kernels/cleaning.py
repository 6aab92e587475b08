# mypy: disallow-untyped-decorators=False, warn-return-any=False
# mypy: disable-error-code="arg-type, assignment, return-value"
"""Taking non-morphemes out of labelled words: they are joined with each other or with a neighbour, or become morphemes.

Pieces of a word are given by their number of letters, because joining makes morphs that no table has yet.
"""

import numpy as np

from morphlm.arrays import Array
from morphlm.compiling import borrowing, owning
from morphlm.segmentation.kernels.paths import STM, SUF, ZZZ, LabelledWords

LONG = 4  # letters from which on joined non-morphemes pass as a stem


@borrowing
def merge(lengths: Array, labels: Array, size: int, k: int, label: int) -> int:
    """Join piece k with the one after it; returns the new number of pieces."""
    lengths[k] += lengths[k + 1]
    labels[k] = label
    for i in range(k + 1, size - 1):
        lengths[i], labels[i] = lengths[i + 1], labels[i + 1]
    return size - 1


@borrowing
def relabel_tail(labels: Array, size: int) -> None:
    """A non-morpheme after a suffix is a suffix, if nothing but suffixes and non-morphemes follows."""
    tail = size
    while tail > 0 and labels[tail - 1] in (SUF, ZZZ):
        tail -= 1
    for k in range(max(tail, 1), size):
        if labels[k] == ZZZ and labels[k - 1] == SUF:
            labels[k] = SUF


@borrowing
def clean_word(lengths: Array, labels: Array, size: int) -> int:
    """Take the non-morphemes out of a word, in place; returns the new number of pieces."""
    k = 0
    while k + 1 < size:
        if labels[k] == ZZZ and labels[k + 1] == ZZZ:
            size = merge(lengths, labels, size, k, ZZZ)
        else:
            k += 1
    for k in range(size):
        if labels[k] == ZZZ and (size == 1 or lengths[k] >= LONG):
            labels[k] = STM
    relabel_tail(labels, size)
    if labels[0] == ZZZ:
        size = merge(lengths, labels, size, 0, labels[1])
    k = 1
    while k < size:
        if labels[k] == ZZZ:
            size = merge(lengths, labels, size, k - 1, labels[k - 1])
        else:
            k += 1
    return size


@owning
def clean(words: LabelledWords, morph_lengths: Array, lengths: Array, labels: Array, sizes: Array) -> None:
    """The pieces of all words without non-morphemes, laid out like the words."""
    for word in range(len(sizes)):
        begin, size = words.bounds[word], np.int64(words.sizes[word])
        for at in range(begin, begin + size):
            lengths[at], labels[at] = morph_lengths[words.morphs[at]], words.labels[at]
        sizes[word] = clean_word(lengths[begin : begin + size], labels[begin : begin + size], size)
