"""Speed of MERT's line search: translations a second, next to a loop that only reads the same numbers.

    python benchmarks/tuning.py [--sentences 400] [--translations 640] [--features 14] [--repeat 10]

The translations are generated: features of some common causes, so that translations that are good in one are often good
in another, as in real lists; statistics of BLEU by chance. A search goes along an axis, or in a random direction, which
needs all features. Its limit is a loop that multiplies the features and adds up the products, and does nothing else.
The plain way, all lines sorted by their slopes, is timed as well, and must give the same envelope.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numba import njit

from morphlm.arrays import Float64Array
from morphlm.translation.tuning import kernels
from morphlm.translation.tuning.bleu import SIZE
from morphlm.translation.tuning.pool import PooledCandidates

CAUSES = 4  # of all features


def generate(sentences: int, translations: int, features: int, rng: np.random.Generator) -> PooledCandidates:
    size = sentences * translations
    causes = rng.normal(size=(features, CAUSES)) @ rng.normal(size=(CAUSES, size))
    columns = (causes + rng.normal(size=(features, size))).astype(np.float32)
    lengths = rng.integers(15, 30, size)
    statistics = np.zeros((size, SIZE), np.int32)
    statistics[:, 0], statistics[:, 1] = lengths, np.repeat(rng.integers(15, 30, sentences), translations)
    right = lengths
    for n in range(4):
        statistics[:, 6 + n] = lengths - n
        right = statistics[:, 2 + n] = rng.binomial(np.minimum(right, lengths - n), 0.6 - 0.1 * n)
    return PooledCandidates(columns, statistics, np.arange(sentences + 1, dtype=np.int64) * translations)


@njit
def envelopes(offsets: Float64Array, slopes: Float64Array, starts: np.ndarray, filtered: bool) -> float:
    """Finds the envelopes of all sentences; gives a number that tells different ones apart: all offsets summed."""
    longest, total = np.diff(starts).max(), 0.0
    kept, places, steps = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.float64)
    for s in range(len(starts) - 1):
        here, there = offsets[starts[s] : starts[s + 1]], slopes[starts[s] : starts[s + 1]]
        if filtered:
            high = kept[: kernels.keep_high_lines(here, there, kept)]
            here, there = here[high], there[high]
        total += here[places[: kernels.upper_envelope(here, there, places, steps)]].sum()
    return total


def fastest(task: Callable[[], object], repeat: int) -> float:
    task()  # compiled
    seconds = []
    for _ in range(repeat):
        begin = time.process_time()
        task()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in {"sentences": 400, "translations": 640, "features": 14, "repeat": 10}.items():
        parser.add_argument(f"--{name}", type=int, default=value, metavar="N", help=f"[default: {value}]")
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    candidates = generate(options.sentences, options.translations, options.features, rng)
    scores = candidates.scores(rng.normal(size=options.features))
    directions = {"an axis": np.eye(options.features)[0], "a random direction": rng.normal(size=options.features)}
    size = options.sentences * options.translations
    print(f"{size:,} translations with {options.features} features; CPU ms, translations a CPU second")
    for name, direction in directions.items():
        slopes = candidates.scores(direction)
        if envelopes(scores, slopes, candidates.starts, True) != envelopes(scores, slopes, candidates.starts, False):
            raise SystemExit("the envelopes differ")
        tasks: dict[str, Callable[[], object]] = {
            "line search": lambda direction=direction: kernels.line_search(
                candidates.columns, candidates.statistics, candidates.starts, scores, direction
            ),
            "its envelopes": lambda slopes=slopes: envelopes(scores, slopes, candidates.starts, True),
            "envelopes, all lines sorted": lambda slopes=slopes: envelopes(scores, slopes, candidates.starts, False),
            "features times direction": lambda direction=direction: candidates.scores(direction),
        }
        print(f"{name}:")
        for task, run in tasks.items():
            seconds = fastest(run, options.repeat)
            print(f"  {task:30s} {seconds * 1e3:8.2f} ms {size / seconds / 1e6:8.1f}m a second", flush=True)


if __name__ == "__main__":
    main()
