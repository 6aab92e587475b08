"""Frequency bins (Mikolov et al. 2011), the quick alternative to clustering: words in order of frequency, cut into
classes that each have an equal share of the counts or, better balanced, of the square roots of the counts.
"""

from __future__ import annotations

import numpy as np

from morphlm.classes.partition import Partition, by_frequency, number_of_classes
from morphlm.errors import ConfigError
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, Vocabulary


def frequency_bins(vocabulary: Vocabulary, classes: int | None = None, *, root: bool = False) -> Partition:
    """Cut the vocabulary into bins of equal mass. Words that alone have more than a share get a class of their own."""
    classes = number_of_classes(vocabulary, classes)
    order = by_frequency(vocabulary)
    mass = vocabulary.counts[order].astype(np.float64)
    if mass.sum() == 0:
        raise ConfigError("all words have count 0; frequency bins need a vocabulary with counts")
    mass = np.sqrt(mass) if root else mass
    before = np.cumsum(mass) - mass  # of the words that are more frequent
    class_of = np.empty(len(vocabulary), np.int32)
    class_of[order] = _without_gaps(np.floor(before / mass.sum() * classes).astype(np.int64), classes)
    class_of[BEGIN_ID] = class_of[END_ID]
    return Partition(vocabulary, class_of, classes, "root-frequency" if root else "frequency")


def _without_gaps(bins: np.ndarray[tuple[int], np.dtype[np.int64]], classes: int) -> np.ndarray:
    """Ascending bin numbers, changed as little as possible, so that each of 0 .. classes-1 occurs."""
    position = np.arange(len(bins))
    bins = position + np.minimum.accumulate(np.minimum(bins, classes - 1) - position)  # no step of more than 1
    return np.maximum(bins, classes - len(bins) + position)  # and the last word is in the last class
