"""Speed of neighbours among word vectors, as a ratio to reading the same matrix once, in turns in the same run.

    python benchmarks/vectors.py [--words N] [--width D]

A query reads all vectors of the words once, so the machine's memory bandwidth is its limit. Milliseconds are wall-clock
time, the least of some turns; the CPU seconds of all threads are beside them.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from morphlm.segmentation.factors import build_factors
from morphlm.segmentation.sources.ngrams import character_ngrams
from morphlm.text.reading import RESERVED
from morphlm.vectors.vectors import SideVectors, WordVectors
from morphlm.vocabulary.vocabulary import Vocabulary

TURNS = 15
BATCH = 64


def make_vectors(words: int, width: int) -> WordVectors:
    """Random vectors of numbered words, composed of n-grams of letters."""
    rng = np.random.default_rng(1)
    names = np.char.add("w", np.arange(words).astype(str)).tolist()
    vocabulary = Vocabulary((*RESERVED, *names), np.ones(words + len(RESERVED), np.int64))
    factors = build_factors(vocabulary, character_ngrams(3, 3))
    q, r = (rng.standard_normal((len(factors), width), dtype=np.float32) for _ in range(2))
    return WordVectors(vocabulary, SideVectors(q, factors), SideVectors(r, factors))


def in_turns(works: dict[str, Callable[[], Any]]) -> dict[str, tuple[float, float]]:
    """The least wall-clock and CPU time of each, in milliseconds."""
    best = dict.fromkeys(works, (np.inf, np.inf))
    for _ in range(TURNS):
        for name, work in works.items():
            wall, cpu = time.perf_counter(), time.process_time()
            work()
            spent = (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3
            best[name] = (min(best[name][0], spent[0]), min(best[name][1], spent[1]))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--width", type=int, default=200, help="of q and of r; a vector has twice as many numbers")
    options = parser.parse_args()
    vectors = make_vectors(options.words, options.width)
    begin = time.perf_counter()
    vectors.neighbours("w1")  # makes the matrix of unit vectors
    first = time.perf_counter() - begin
    units = vectors._units
    batch = [f"w{number}" for number in range(BATCH)]
    times = in_turns(
        {
            "reading_the_matrix": units.max,
            "neighbours_of_a_word": lambda: vectors.neighbours("w77"),
            "analogy": lambda: vectors.analogy("w5", "w6", "w7"),
            f"neighbours_of_{BATCH}_words": lambda: vectors.neighbours_of_all(batch),
        }
    )
    reading = times["reading_the_matrix"][0]
    result = {
        "words": options.words,
        "dimensions": vectors.dimensions,
        "megabytes": units.nbytes / 1e6,
        "gigabytes_per_second": units.nbytes / 1e6 / reading,
        "first_query_seconds": first,
        "milliseconds": {
            name: {"wall": wall, "cpu": cpu, "ratio_to_reading": wall / reading} for name, (wall, cpu) in times.items()
        },
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
