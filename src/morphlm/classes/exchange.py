"""Exchange clustering: a partition with a high average mutual information of adjacent classes (Brown et al. 1992).

Words are put in one by one, the most frequent first, each where it fits best; then words move between classes, at
first at random with probability exp(score / temperature) while the temperature falls (which escapes poor optima), then
only where that helps, until nothing moves (Martin, Liermann & Ney 1998). A batch of words is scored by several threads
against the same counts, then moved in order with each gain checked again, so that threads do not change the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from morphlm.arrays import Int32Array
from morphlm.classes import kernels
from morphlm.classes.bigrams import count_bigrams
from morphlm.classes.kernels import Bigrams, PartitionState, PassSettings, ScoringBuffers
from morphlm.classes.partition import Partition, assign_rest, by_frequency, number_of_classes
from morphlm.errors import ConfigError
from morphlm.progress import progress_bar
from morphlm.threads import Workers, available_cores, workers
from morphlm.vocabulary.corpus import Corpus
from morphlm.vocabulary.vocabulary import END_ID, Vocabulary

BATCH = 512  # words scored against the same counts: larger is coarser, smaller keeps threads waiting
TOLERANCE = 5e-5  # stop when a pass over all words gains less mutual information than this, in nats; 0: a true optimum
LEAST_GAIN = 1e-6  # in nats of the whole text; less is rounding
BOUNDARY_CLASS = 0  # holds END alone
EXPECTED_PASSES = 12  # of plain exchange, for the estimate of the time that is left
MAX_PASSES = 200

# Temperatures are in nats of the whole text: at 1 a word's class is drawn from its posterior given all the others.
# Found by trying: if it is hotter, what was good is not found again in so few passes; larger texts have larger gains
# and need more heat.
HOTTEST, COLDEST = 3.0, 0.5
HOTTER_FROM = 1_250_000  # tokens; beyond, the hottest grows with the square root of their number
ANNEALED_PASSES = 20  # twice as many raise the mutual information by another 0.5 %


def annealing(passes: int, tokens: int) -> tuple[float, ...]:
    """A falling temperature for each annealed pass over a text."""
    hottest = HOTTEST * max(1.0, math.sqrt(tokens / HOTTER_FROM))
    return tuple(np.geomspace(hottest, COLDEST, passes).tolist())


@dataclass(frozen=True)
class ExchangeConfig:
    """How to search; the defaults suit texts from a thousand to a hundred million tokens."""

    classes: int  # |C|
    cap: int  # the most words a class may have
    temperatures: tuple[float, ...] = ()  # one annealed pass each
    tolerance: float = TOLERANCE
    seed: int = 1


def cluster(
    corpus: Corpus,
    classes: int | None = None,
    *,
    seed: int = 1,
    threads: int | None = None,
    max_class_size: int | None = None,
    passes: int = ANNEALED_PASSES,
    temperatures: tuple[float, ...] | None = None,
    tolerance: float = TOLERANCE,
) -> Partition:
    """Cluster the vocabulary of a text into `classes` (default: the square root of |V|).

    `passes` are annealed, at falling temperatures (or those that are given), then words are exchanged until a pass
    gains less than `tolerance`. The result is the same for any number of threads. `</s>` has a class of its own. Words
    that the text does not contain are added at the end, see `assign_rest`. `max_class_size` bounds the number of
    words in a class.
    """
    vocabulary = corpus.vocabulary
    classes = number_of_classes(vocabulary, classes)
    cap = _checked_cap(vocabulary, classes, max_class_size)
    bigrams = count_bigrams(corpus)
    if classes == 1:
        return Partition(vocabulary, np.zeros(len(vocabulary), np.int32), 1, "exchange", 0.0)
    if temperatures is None:
        temperatures = annealing(passes, len(corpus.tokens))
    config = ExchangeConfig(classes, cap, temperatures, tolerance, seed)
    with workers(threads or available_cores()) as pool:
        search = Exchange(bigrams, config, pool)
        search.run(_words_of_text(vocabulary, bigrams))
    class_of = assign_rest(search.state.class_of, vocabulary.counts, classes, cap)
    return Partition(vocabulary, class_of, classes, "exchange", search.mutual_information()).relabelled()


def _checked_cap(vocabulary: Vocabulary, classes: int, max_class_size: int | None) -> int:
    """The largest size of a class that is allowed; END's class has only END."""
    words = len(vocabulary) - 2 if classes > 1 else len(vocabulary) - 1
    if max_class_size is None:
        return words + 1
    needed = -(-words // max(classes - 1, 1))
    if max_class_size < needed:
        raise ConfigError(
            f"{words:,} words do not fit into {classes:,} classes of at most {max_class_size:,}, one of them for "
            f"`</s>`; allow {needed:,} words in a class or ask for more classes"
        )
    return max_class_size


def _words_of_text(vocabulary: Vocabulary, bigrams: Bigrams) -> Int32Array:
    """The words that occur and may move, the most frequent first."""
    order = by_frequency(vocabulary)
    order = order[np.argsort(-bigrams.right[order], kind="stable")]
    words: Int32Array = order[(order != END_ID) & (bigrams.right[order] > 0)]
    return words


class Exchange:
    """A search under way: the counts of its text, the partition so far, and the threads that score."""

    def __init__(self, bigrams: Bigrams, config: ExchangeConfig, pool: Workers) -> None:
        """A partition in which only END has a class."""
        self.bigrams, self.config, self.pool = bigrams, config, pool
        self.state = empty_state(len(bigrams.left), config.classes)
        self.buffers = [empty_buffers(config.classes) for _ in range(pool.threads)]
        self._passes = 0
        self._move(np.array([END_ID], np.int32), np.array([BOUNDARY_CLASS], np.int32))
        self.state.sizes[BOUNDARY_CLASS] = config.cap  # full: nothing else comes in

    def run(self, words: Int32Array) -> None:
        passes = 1 + len(self.config.temperatures) + EXPECTED_PASSES
        with progress_bar("classes", total=len(words) * passes, unit="word") as bar:
            self.insert(words, bar)
            for temperature in self.config.temperatures:
                self.visit(words, temperature, bar)
            self.exchange(words, bar)

    def insert(self, words: Int32Array, bar: Any = None) -> None:
        """Put the words in, one into each class at first, then each where the objective is highest."""
        first = words[: self.config.classes - 1]
        self._move(first, np.arange(1, len(first) + 1, dtype=np.int32))
        rest = words[len(first) :]
        while len(rest):  # again for words whose class was filled up by others of their batch
            self.visit(rest, 0.0, bar)
            rest = rest[self.state.class_of[rest] == kernels.UNPLACED]

    def exchange(self, words: Int32Array, bar: Any = None) -> None:
        """Plain exchange: passes over the words beside those that moved; in the end one over all must gain nothing."""
        least = self.config.tolerance * int(self.bigrams.left.sum())
        self.state.stale[:] = True
        complete = True
        for _ in range(MAX_PASSES):
            visited = words if complete else words[self.state.stale[words]]
            moves, gain = self.visit(visited, 0.0, bar)
            settled = moves == 0 or gain < least
            if complete and settled:
                return
            complete = settled

    def visit(self, words: Int32Array, temperature: float, bar: Any = None) -> tuple[int, float]:
        """One pass over words. Returns how many have moved and, at temperature 0, what that has gained."""
        self._passes += 1
        moves, total = 0, 0.0
        for begin in range(0, len(words), BATCH):
            batch = words[begin : begin + BATCH]
            self.state.stale[batch] = False
            moved, gain = self._move(batch, self._choose(batch, temperature), annealed=temperature > 0)
            moves, total = moves + moved, total + gain
            if bar is not None:
                bar.update(len(batch))
        return moves, total

    def mutual_information(self) -> float:
        """The objective, from its definition."""
        joint = self.state.counts[self.state.counts > 0].astype(np.float64)
        left, right = (sums[sums > 0].astype(np.float64) for sums in (self.state.left, self.state.right))
        total = joint.sum()
        entropies = [float((counts * np.log(counts)).sum() / total) for counts in (joint, left, right)]
        return entropies[0] - entropies[1] - entropies[2] + float(np.log(total))

    def _choose(self, batch: Int32Array, temperature: float) -> Int32Array:
        """The class each word would go to; each thread scores every n-th word."""
        chosen = np.empty(len(batch), np.int32)
        step = len(self.buffers)
        settings = PassSettings(self.config.cap, float(temperature), (self.config.seed << 16) + self._passes)

        def score(first: int, _: int) -> None:
            kernels.choose_classes(
                batch, chosen, first, step, settings, self.bigrams, self.state, self.buffers[first]
            )  # fmt: skip

        self.pool.run_pieces(score, step)
        return chosen

    def _move(self, batch: Int32Array, chosen: Int32Array, *, annealed: bool = False) -> tuple[int, float]:
        least_gain = kernels.ANY_GAIN if annealed else LEAST_GAIN
        moves, gain = kernels.move_words(
            batch, chosen, self.config.cap, least_gain, self.bigrams, self.state, self.buffers[0]
        )
        return int(moves), float(gain)


def empty_state(words: int, classes: int) -> PartitionState:
    """No word placed, all counts 0, and the tables of phi(x) = x ln x."""
    numbers = np.arange(kernels.PHI_TABLE, dtype=np.float64)
    phi = numbers * np.log(np.maximum(numbers, 1.0))
    cells = kernels.SMALL_CELL
    increments = np.stack([phi[n : n + cells] - phi[:cells] for n in range(kernels.SMALL + 1)])
    curvature = increments - np.arange(kernels.SMALL + 1)[:, None] * increments[1]
    square, margins = (classes, classes), np.repeat(phi[: kernels.SMALL_WORD + 1, None], classes, axis=1)
    return PartitionState(
        class_of=np.full(words, kernels.UNPLACED, np.int32),
        stale=np.zeros(words, np.bool_),
        sizes=np.zeros(classes, np.int64),
        counts=np.zeros(square, np.int32),
        transposed=np.zeros(square, np.int32),
        gains=np.zeros(square, np.float32),
        gains_transposed=np.zeros(square, np.float32),
        left=np.zeros(classes, np.int64),
        right=np.zeros(classes, np.int64),
        left_gains=margins.astype(np.float32),
        right_gains=margins.astype(np.float32),
        phi=phi,
        ones=increments[1].astype(np.float32),
        curvature=curvature.astype(np.float32),
    )


def empty_buffers(classes: int) -> ScoringBuffers:
    """The working memory of one thread."""
    whole_numbers = np.zeros((5, classes), np.int32)
    return ScoringBuffers(
        after=whole_numbers[0],
        before=whole_numbers[1],
        classes_after=whole_numbers[2],
        classes_before=whole_numbers[3],
        small=np.zeros(classes, np.float32),
        scores=np.zeros(classes, np.float64),
        weights=whole_numbers[4],
    )
