"""Small random models and texts, and steps of the production path from which its gradient is read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from morphlm.arrays import Int32Array
from morphlm.classes.partition import Partition
from morphlm.logbilinear.config import LearningConfig, LogBilinearConfig, variant
from morphlm.logbilinear.engine import Engine, Learner
from morphlm.logbilinear.parameters import Parameters, filled_like, initial_parameters, log_unigram
from morphlm.logbilinear.structure import Structure, build_structure
from morphlm.segmentation.factors import Factors, build_factors
from morphlm.segmentation.sources.factorisation import from_mapping
from morphlm.text.reading import RESERVED
from morphlm.threads import Workers
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID, Vocabulary

from . import reference
from .reference import Problem, Tables

# Squares of gradients down to 1e-7 stand out against this; it only keeps 0 / 0 away.
NEARLY_NOTHING = 1e-20
PLAIN = LearningConfig(step=2.0**-6, decay=0.0, accumulator=NEARLY_NOTHING, samples=5, noise_block=4)


@dataclass(frozen=True)
class Case:
    """A model with random parameters, and a text."""

    config: LogBilinearConfig
    structure: Structure
    parameters: Parameters
    stream: Int32Array

    def engine(self, workers: Workers) -> Engine:
        return Engine(self.config, self.structure, self.parameters, workers)

    def copy(self) -> Case:
        return replace(self, parameters=Parameters(*(array.copy() for array in self.parameters)))

    def learner(self, workers: Workers, learning: LearningConfig = PLAIN) -> Learner:
        """On a copy of the parameters."""
        parameters = self.copy().parameters
        squares = filled_like(parameters, learning.accumulator)
        return Learner(self.config, self.structure, parameters, squares, learning, len(self.stream), workers)

    def problem(self, begin: int = 0, end: int | None = None) -> Problem:
        return reference.problem_of(self.config, self.structure, self.stream.tolist(), begin, end)


def vocabulary_of(stream: Int32Array, words: int) -> Vocabulary:
    counts = np.bincount(stream, minlength=words).astype(np.int64)
    counts[BEGIN_ID] = counts[END_ID]
    return Vocabulary((*RESERVED, *(f"w{number}" for number in range(words - len(RESERVED)))), counts)


def random_stream(rng: np.random.Generator, words: int, tokens: int, longest: int = 7) -> Int32Array:
    """Sentences of 0 to `longest` words; of all words but BEGIN, frequent ones first. The second one is empty."""
    pieces: list[list[int]] = [[0], []]
    while sum(map(len, pieces)) + len(pieces) < tokens:
        drawn = (words * rng.random(int(rng.integers(longest + 1))) ** 2).astype(int)
        pieces.append([int(word) for word in drawn if word not in (BEGIN_ID, END_ID)])
    return np.array([word for sentence in pieces for word in (*sentence, END_ID)], np.int32)


def random_partition(rng: np.random.Generator, vocabulary: Vocabulary, classes: int) -> Partition:
    """The first class has one word, the others as it comes."""
    predicted = np.delete(np.arange(len(vocabulary)), BEGIN_ID)
    class_of = np.zeros(len(vocabulary), np.int32)
    order = rng.permutation(predicted)
    class_of[order[:classes]] = np.arange(classes)
    class_of[order[classes:]] = rng.integers(min(1, classes - 1), classes, len(order) - classes)
    class_of[BEGIN_ID] = class_of[END_ID]
    return Partition(vocabulary, class_of, classes, "random")


def random_factors(rng: np.random.Generator, vocabulary: Vocabulary, *, surface: bool = True) -> Factors:
    """Nothing, or up to three of a few morphemes, for each word; the fourth word has one of them twice."""
    names = [f"m{number}" for number in range(3 + len(vocabulary) // 6)]
    mapping = {word: rng.choice(names, int(rng.integers(4))).tolist() for word in vocabulary.words[len(RESERVED) :]}
    if len(vocabulary) > len(RESERVED):
        mapping[vocabulary.words[len(RESERVED)]] = ["m0", "m1", "m0"]
    return factors_of(vocabulary, mapping, surface=surface)


def factors_of(vocabulary: Vocabulary, mapping: Mapping[str, Sequence[str]], *, surface: bool = True) -> Factors:
    return build_factors(vocabulary, from_mapping(mapping, "test"), surface=surface)


def make_case(
    kind: str,
    diagonal: bool = True,
    *,
    order: int = 4,
    width: int = 3,
    words: int = 10,
    classes: int = 3,
    tokens: int = 24,
    surface: bool = True,
    stream: Int32Array | None = None,
    seed: int = 1,
) -> Case:
    fixed_stream = None if stream is None else tuple(stream.tolist())
    text, partition, factors = _parts(words, classes, tokens, surface, fixed_stream, seed)
    return case_of(variant(kind, order=order, width=width, diagonal=diagonal), partition, factors, text, seed)


@cache
def _parts(
    words: int, classes: int, tokens: int, surface: bool, fixed_stream: tuple[int, ...] | None, seed: int
) -> tuple[Int32Array, Partition, Factors]:
    """What does not depend on the model; nobody changes it."""
    rng = np.random.default_rng(seed)
    text = random_stream(rng, words, tokens) if fixed_stream is None else np.array(fixed_stream, np.int32)
    vocabulary = vocabulary_of(text, words)
    partition = random_partition(rng, vocabulary, classes)
    return text, partition, random_factors(rng, vocabulary, surface=surface)


def case_of(
    config: LogBilinearConfig, partition: Partition, factors: Factors, stream: Int32Array, seed: int = 1
) -> Case:
    """With parameters so large that the probabilities are far from the unigrams'."""
    structure = build_structure(config, partition.vocabulary, partition, factors)
    parameters = initial_parameters(config, structure, seed, 0.7)
    return Case(config, structure, parameters, stream)


# ---------------------------------------------------------------- reading back


def recovered(before: Tables, learner: Learner) -> Tables:
    """The gradient of the one step a learner has done: its size from the sums of squares, its sign from the change."""
    squares, after = reference.tables_of(learner.squares), reference.tables_of(learner.parameters)
    first = float(np.float32(learner.learning.accumulator))
    return {
        name: np.sqrt(np.maximum(squares[name] - first, 0)) * np.sign(before[name] - after[name]) for name in before
    }


def relative_errors(actual: Tables, expected: Tables, sizes: Mapping[str, float] | None = None) -> dict[str, float]:
    """By block, the largest difference in units of these sizes or else of the block's largest number, at least 0.01."""
    sizes = sizes or {name: float(np.abs(table).max(initial=0)) for name, table in expected.items()}
    return {
        name: float(np.abs(actual[name] - table).max() / max(sizes[name], 0.01))
        for name, table in expected.items()
        if table.size
    }


def with_noise(problem: Problem, case: Case, drawn: Int32Array, learning: LearningConfig) -> Problem:
    """The drawn words, as those of each token."""
    k = learning.samples
    share = learning.noise_block if learning.noise == "block" else 1
    rows = drawn.reshape(-1, k).tolist()
    noise = [rows[i // share] for i in range(len(problem.targets))]
    return replace(problem, noise=noise, noise_logs=log_unigram(case.structure.vocabulary.counts))


class NoiseRecorder:
    """Stands in for `Learner._draw_noise`: draws, and remembers."""

    def __init__(self, monkeypatch: Any) -> None:
        self.drawn: list[Int32Array] = []
        original = Learner._draw_noise
        recorder = self

        def draw(learner: Learner, key: int, count: int) -> Int32Array:
            recorder.drawn.append(original(learner, key, count))
            return recorder.drawn[-1]

        monkeypatch.setattr(Learner, "_draw_noise", draw)
