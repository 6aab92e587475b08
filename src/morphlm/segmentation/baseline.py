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
from morphlm.progress import progress_bar
from morphlm.segmentation.encoding import EncodedWords, grown_to, lengthened, make_table
from morphlm.segmentation.kernels import baseline as kernels
from morphlm.segmentation.kernels.strings import StringTable, insert_all

WORDS_A_CALL = 4096  # between two calls of the kernel the bar moves and Ctrl-C is heard
MAX_EPOCHS = 30


@dataclass(frozen=True)
class WordMorphs:
    """Words as morphs: those of word w are morphs[bounds[w] : bounds[w] + sizes[w]], entries of the table."""

    table: StringTable
    morphs: Int32Array
    sizes: Int32Array


@dataclass(frozen=True)
class Baseline:
    """The result of the search."""

    morphs: WordMorphs
    costs: tuple[float, ...]  # description lengths, at the start and after each pass

    @property
    def cost(self) -> float:
        """The description length in the end."""
        return self.costs[-1]


def empty_totals(alphabet: int) -> kernels.Totals:
    """The sums of an empty lexicon and no words."""
    n = np.arange(1, (1 << 17) + 1)
    x_log_x = np.concatenate([[0.0], n * np.log(n)])
    sums = np.zeros(kernels.SUMS)
    sums[kernels.ALPHABET] = alphabet
    return kernels.Totals(sums, np.zeros(alphabet, np.int64), x_log_x, np.diff(x_log_x))


class BaselineSearch:
    """A search under way, which begins with every word whole."""

    def __init__(self, words: EncodedWords, corpus_weight: float) -> None:
        self.words = words
        lengths = np.diff(words.bounds).astype(np.int32)
        table = make_table(words.letters.text, len(lengths) + 1024)
        self.roots = insert_all(table, words.letters, words.bounds[:-1], lengths)
        self.state = kernels.BaselineState(
            letters=words.letters,
            table=table,
            forest=kernels.SplitForest(
                *(np.zeros(len(table.keys), t) for t in (np.int64, np.int32, np.int32, np.int32))
            ),
            totals=empty_totals(len(words.alphabet)),
            corpus_weight=float(corpus_weight),
            buffers=kernels.make_buffers(words.longest),
        )
        kernels.add_words(self.state, self.roots, words.counts)

    @property
    def cost(self) -> float:
        """The description length in nats."""
        return float(kernels.baseline_cost(self.state.totals.sums, self.state.corpus_weight))

    def search(self, order: Array) -> None:
        """Build the trees of these words anew, in this order."""
        letters = int(np.diff(self.words.bounds)[order].sum())
        table = grown_to(self.state.table, 2 * letters)
        forest = kernels.SplitForest(*(lengthened(array, len(table.keys)) for array in self.state.forest))
        self.state = self.state._replace(table=table, forest=forest)
        kernels.search(self.state, self.roots[order])

    def morphs(self) -> WordMorphs:
        """The words as they are split now."""
        morphs = np.zeros(int(self.words.bounds[-1]), np.int32)
        sizes = np.zeros(len(self.roots), np.int32)
        kernels.collect_morphs(self.roots, self.words.bounds, self.state.forest, self.words.longest, morphs, sizes)
        return WordMorphs(self.state.table, morphs, sizes)


def train_baseline(
    words: EncodedWords, corpus_weight: float, rng: np.random.Generator, *, least_gain: float = 0.005
) -> Baseline:
    """Search, in a random order in each pass, until a pass gains less than `least_gain` a word."""
    search = BaselineSearch(words, corpus_weight)
    costs = [search.cost]
    for number in range(1, MAX_EPOCHS + 1):
        _pass(search, rng.permutation(len(words.words)), f"baseline, pass {number}")
        costs.append(search.cost)
        if costs[-2] - costs[-1] <= least_gain * int(words.counts.sum()):
            break
    return Baseline(search.morphs(), tuple(costs))


def _pass(search: BaselineSearch, order: Array, description: str) -> None:
    with progress_bar(description, total=len(order), unit="word") as bar:
        for part in slices(order, WORDS_A_CALL):
            search.search(part)
            bar.update(len(part))


def slices(array: Array, size: int) -> Iterator[Array]:
    """An array in pieces."""
    return (array[begin : begin + size] for begin in range(0, len(array), size))
