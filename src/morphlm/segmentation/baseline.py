"""The Morfessor baseline: morphs by minimum description length (Creutz & Lagus 2005), with the package's own cost.

A word costs its morphs, the lexicon costs its letters; the search splits strings recursively wherever the sum falls.
Nothing is indexed beforehand: the table holds only strings that were used, so memory grows with the vocabulary and not
with its substrings, and a word of any length is searched like every other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from morphlm.arrays import Array, Int32Array
from morphlm.errors import ConfigError
from morphlm.progress import progress_bar
from morphlm.segmentation.encoding import EncodedWords, grown_to, lengthened, make_strings
from morphlm.segmentation.kernels import baseline as kernels
from morphlm.segmentation.kernels.strings import Strings, insert_all

WORDS_A_CALL = 4096  # between two calls of the kernel the bar moves and Ctrl-C is heard
MAX_EPOCHS = 30
ALPHA = np.zeros(1)


@dataclass(frozen=True)
class Morphs:
    """Words as morphs: those of word w are morphs[bounds[w] : bounds[w] + sizes[w]], entries of the table."""

    strings: Strings
    morphs: Int32Array
    sizes: Int32Array


@dataclass(frozen=True)
class Baseline:
    """What the search found."""

    morphs: Morphs
    cost: float
    costs: tuple[float, ...]  # at the start and after each pass


def empty_totals(alphabet: int) -> kernels.Totals:
    """The sums of an empty lexicon and no words."""
    n = np.arange(1, (1 << 17) + 1)
    x_log_x = np.concatenate([[0.0], n * np.log(n)])
    sums = np.zeros(kernels.SUMS)
    sums[kernels.ALPHABET] = alphabet
    return kernels.Totals(sums, np.zeros(alphabet, np.int64), x_log_x, np.diff(x_log_x))


class BaselineSearch:
    """The state of a search."""

    def __init__(self, words: EncodedWords, corpus_weight: float) -> None:
        """Begin with every word whole."""
        if not 0 < corpus_weight < np.inf:
            raise ConfigError(f"the corpus weight is a positive number, not {corpus_weight}")
        self.words, self.corpus_weight = words, corpus_weight
        lengths = np.diff(words.bounds)
        self.strings = make_strings(len(lengths) + 1024)
        self.roots = insert_all(self.strings, words.letters, words.bounds[:-1], lengths)
        self.forest = kernels.Forest(*(np.zeros(len(self.strings.keys), t) for t in (np.int64, *[np.int32] * 3)))
        self.totals = empty_totals(len(words.alphabet))
        stack = np.zeros(2 * words.longest + 2, np.int32)
        kernels.add_words(
            self.roots, words.counts, self.strings, self.forest, self.totals, words.letters.text, stack
        )  # fmt: skip

    @property
    def cost(self) -> float:
        """The description length in nats."""
        return float(kernels.baseline_cost(self.totals.sums, self.corpus_weight))

    def search(self, order: Array) -> None:
        """Build the trees of these words anew, in this order."""
        letters = int(np.diff(self.words.bounds)[order].sum())
        self.strings = grown_to(self.strings, 2 * letters)
        self.forest = kernels.Forest(*(lengthened(array, len(self.strings.keys)) for array in self.forest))
        kernels.search(
            self.roots[order],
            self.corpus_weight,
            self.strings,
            self.forest,
            self.totals,
            self.words.letters,
            self.words.longest,
        )

    def morphs(self) -> Morphs:
        """The words as they are split now."""
        morphs = np.zeros(int(self.words.bounds[-1]), np.int32)
        sizes = np.zeros(len(self.roots), np.int32)
        kernels.collect_morphs(self.roots, self.words.bounds, self.forest, self.words.longest, morphs, sizes)
        return Morphs(self.strings, morphs, sizes)


def train_baseline(
    words: EncodedWords, corpus_weight: float, rng: np.random.Generator, *, least_gain: float = 0.005
) -> Baseline:
    """Search, in a random order in each pass, until a pass gains less than `least_gain` a word."""
    state = BaselineSearch(words, corpus_weight)
    costs = [state.cost]
    for number in range(1, MAX_EPOCHS + 1):
        _pass(state, rng.permutation(len(words.words)), f"baseline, pass {number}")
        costs.append(state.cost)
        if costs[-2] - costs[-1] <= least_gain * int(words.counts.sum()):
            break
    return Baseline(state.morphs(), costs[-1], tuple(costs))


def _pass(state: BaselineSearch, order: Array, description: str) -> None:
    with progress_bar(description, total=len(order), unit="word") as bar:
        for part in slices(order, WORDS_A_CALL):
            state.search(part)
            bar.update(len(part))


def slices(array: Array, size: int) -> Iterator[Array]:
    """An array in pieces."""
    return (array[begin : begin + size] for begin in range(0, len(array), size))
