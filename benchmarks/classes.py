"""Speed, memory and objective of exchange clustering, for a prepared text or for a generated one of any size.

    python benchmarks/classes.py TEXT [--kappa 0.2] [--classes N] [--threads 2]
    python benchmarks/classes.py --types 900000 --tokens 128000000 [--passes 20]

The generated text is a class bigram process with Zipf-distributed words. The reference is the time for adding one
row of the class counts for each bigram in both directions, the least that a pass over all words could do: the ratio
says how many such passes the whole clustering costs. Seconds are CPU seconds; kernels are compiled before. Peak memory
is that of the whole process, the text and, for a generated one, its making included.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np
from numba import njit

from morphlm.classes.bigrams import count_bigrams
from morphlm.classes.exchange import ANNEALED_PASSES, TOLERANCE, cluster
from morphlm.threads import available_cores
from morphlm.vocabulary.corpus import Corpus, read_corpus
from morphlm.vocabulary.vocabulary import END_ID, Vocabulary, load_vocabulary

CHAINS = 1 << 14  # sentences that grow side by side


def generate(types: int, tokens: int) -> Corpus:
    """Words in sqrt(types) classes: each class prefers some others, a word of rank r in its class has weight 1/r."""
    rng = np.random.default_rng(1)
    classes = round(types**0.5)
    successors = np.minimum(rng.zipf(1.3, (classes, 256)), classes) + np.arange(classes)[:, None] * 7
    successors %= classes
    size = types // classes
    steps = -(-tokens // CHAINS)
    text = np.empty((CHAINS, steps), np.int32)
    current = rng.integers(0, classes, CHAINS)
    for step in range(steps):
        current = successors[current, rng.integers(0, 256, CHAINS)]
        rank = np.exp(rng.random(CHAINS) * np.log(size + 1)).astype(np.int64) - 1
        text[:, step] = current + classes * rank + 3
        text[rng.random(CHAINS) < 0.05, step] = END_ID
    text[:, -1] = END_ID
    stream = text.reshape(-1)
    counts = np.bincount(stream, minlength=classes * size + 3)
    counts[1] = counts[END_ID]
    words = ("<unk>", "<s>", "</s>", *(f"w{number}" for number in range(classes * size)))
    return Corpus(stream, Vocabulary(words, counts.astype(np.int64)))


def read(options: argparse.Namespace) -> Corpus:
    raw = read_corpus(options.text, allow_unknown=True)
    if options.vocab:
        return raw.encode(load_vocabulary(options.vocab))
    return raw.encode(raw.words.vocabulary(options.kappa, 1))


@njit
def add_rows(total: np.ndarray, rows: np.ndarray, matrix: np.ndarray) -> None:
    for row in rows:
        for k in range(len(total)):
            total[k] += matrix[row, k]


def reference_seconds(bigrams: int, classes: int) -> float:
    """The time for adding a row of `classes` float32 for each bigram and direction, from a sample of rows."""
    matrix = np.ones((classes, classes), np.float32)
    rows = np.random.default_rng(1).integers(0, classes, 200_000)
    total = np.zeros(classes, np.float32)
    add_rows(total, rows[:1], matrix)
    begin = time.process_time()
    add_rows(total, rows, matrix)
    return (time.process_time() - begin) / len(rows) * 2 * bigrams


def warm_up() -> None:
    cluster(generate(100, 2_000), 5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", nargs="?", type=Path)
    parser.add_argument("--vocab", type=Path)
    parser.add_argument("--kappa", type=float, default=0.2)
    parser.add_argument("--types", type=int, default=50_000)
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int)
    parser.add_argument("--passes", type=int, default=ANNEALED_PASSES, help="annealed passes")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE)
    parser.add_argument("--threads", type=int, default=available_cores())
    options = parser.parse_args()
    warm_up()
    corpus = read(options) if options.text else generate(options.types, options.tokens)
    begin = time.process_time()
    bigrams = len(count_bigrams(corpus).successors)
    counting = time.process_time() - begin
    begin, wall = time.process_time(), time.perf_counter()
    partition = cluster(
        corpus,
        options.classes,
        threads=options.threads,
        passes=options.passes,
        tolerance=options.tolerance,
    )
    seconds = time.process_time() - begin
    reference = reference_seconds(bigrams, partition.classes)
    result = {
        "tokens": len(corpus.tokens),
        "types": len(corpus.vocabulary),
        "bigrams": bigrams,
        "threads": options.threads,
        "annealed_passes": options.passes,
        "counting_cpu_seconds": counting,
        "cpu_seconds": seconds,
        "wall_seconds": time.perf_counter() - wall,
        "reference_cpu_seconds_a_pass": reference,
        "ratio_to_reference": seconds / reference,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(result | partition.to_json(), indent=2))


if __name__ == "__main__":
    main()
