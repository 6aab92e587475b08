"""Training speed and memory of the log-bilinear models as a share of what the machine can do, measured in the same run.

    python benchmarks/logbilinear.py [--width 100] [--batch 10000] [--full] [--kind clbl++] [--threads 2]
                                     [--words 206000] [--classes 454] [--prototype FOLDER] [--epoch]

The workload is generated: Zipfian words in classes of equal size, each word with two or three of 25,000 morphemes. A
step has a number of floating-point operations in products of matrices and a number of bytes that must move; the limit
is the time that the machine needs for the larger of both at its own speed (a square product, a triad over large
arrays). With --prototype, the folder of `eng_numba.py`, its steps are timed in turns with ours, on the same
minibatches. With --epoch, nothing is timed: the peak of memory in a training of two epochs, with evaluation and saving,
and in reading a checkpoint is measured as a multiple of the parameters.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from morphlm.classes.partition import Partition
from morphlm.logbilinear.config import VARIANTS, LearningConfig, LogBilinearConfig, variant
from morphlm.logbilinear.engine import Learner
from morphlm.logbilinear.parameters import Parameters, filled_like, initial_parameters
from morphlm.logbilinear.structure import Structure, arranged_by_class, build_structure
from morphlm.segmentation.factors import Factors
from morphlm.text.reading import RESERVED
from morphlm.threads import Workers, available_cores, workers
from morphlm.training.checkpoint import Progress, read_checkpoint, write_checkpoint
from morphlm.training.config import recipe
from morphlm.training.loop import TrainingTask, train_model
from morphlm.vocabulary.corpus import Corpus
from morphlm.vocabulary.vocabulary import END_ID, Vocabulary

MORPHEMES = 25_000
SENTENCE = 25  # tokens
WARM_UP = 2  # steps that are not timed, of each turn
TURNS, PAUSE = 5, 0.5  # of the two that are compared, and the seconds before each


def zipf(size: int, exponent: float) -> np.ndarray:
    weights = 1.0 / (np.arange(size) + 2.7) ** exponent
    return weights / weights.sum()


def make_workload(words: int, classes: int, tokens: int) -> tuple[Vocabulary, Partition, Factors, np.ndarray]:
    """A vocabulary, balanced classes, factors, and a text of sentences."""
    rng = np.random.default_rng(0)
    probabilities = zipf(words, 1.05)
    names = RESERVED + tuple(f"w{number}" for number in range(words - len(RESERVED)))
    vocabulary = Vocabulary(names, np.maximum(1, probabilities * 1e8).astype(np.int64))
    class_of = rng.permutation(words).astype(np.int32) % classes
    class_of[1] = class_of[END_ID]
    partition = Partition(vocabulary, class_of, classes, "generated")
    lengths = rng.integers(2, 4, words)
    indptr = np.concatenate([[0], np.cumsum(lengths + 1)])
    indices = np.empty(indptr[-1], np.int32)
    is_surface = np.zeros(len(indices), bool)
    is_surface[indptr[:-1]] = True
    indices[is_surface] = np.arange(words)
    indices[~is_surface] = words + rng.choice(MORPHEMES, lengths.sum(), p=zipf(MORPHEMES, 1.0))
    factors = Factors(vocabulary, names + tuple(f"m{k}" for k in range(MORPHEMES)), words, indptr, indices, "generated")
    text = rng.choice(words, tokens, p=probabilities).astype(np.int32)
    text[text == 1] = 3
    text[SENTENCE - 1 :: SENTENCE] = END_ID
    return vocabulary, partition, factors, text


# ---------------------------------------------------------------- the machine's limits


@njit(nogil=True, fastmath=True)
def triad(a: Any, b: Any, c: Any) -> None:
    for i in range(a.size):
        a[i] = b[i] + np.float32(3) * c[i]


def best_seconds(task: Callable[[], None], repeats: int = 7) -> float:
    task()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        task()
        times.append(time.perf_counter() - started)
    return min(times)


def gemm_rate(pool: Workers) -> float:
    """Floating-point operations a second in products of matrices, all threads at work."""
    size = 1024
    pairs = [np.random.default_rng(t).standard_normal((2, size, size), dtype=np.float32) for t in range(pool.threads)]
    seconds = best_seconds(lambda: pool.run_pieces(lambda piece, _: pairs[piece][0] @ pairs[piece][1], pool.threads))
    return pool.threads * 2 * size**3 / seconds


def bandwidth(pool: Workers) -> float:
    """Bytes a second, all threads at work."""
    size = 10_000_000
    arrays = np.ones((pool.threads, 3, size), np.float32)
    seconds = best_seconds(lambda: pool.run_pieces(lambda piece, _: triad(*arrays[piece]), pool.threads))
    return pool.threads * 12 * size / seconds


def work_of_a_step(
    structure: Structure, config: LogBilinearConfig, text: np.ndarray, batch: int
) -> tuple[float, float]:
    """Operations and bytes a token: products of matrices; reading and writing of parameters, sums and predictions."""
    d, sizes = config.width, np.diff(structure.layout.starts)
    classes = structure.class_of[text[:batch]]
    touched, mean_class = sizes[np.unique(classes)].sum(), sizes[classes].mean()
    unique = len(np.unique(text[:batch]))
    operations = 6 * d * structure.classes + 6 * d * mean_class
    if not config.diagonal:
        operations += 3 * 3 * 2 * d * d * unique / batch
    moved = (16 * d * touched + 32 * d * unique + 32 * batch * d + 16 * d * MORPHEMES) / batch
    return float(operations), float(moved)


# ---------------------------------------------------------------- what is timed


def prototype_step(
    folder: str, structure: Structure, parameters: Parameters, config: LogBilinearConfig, threads: int
) -> Any:
    """The prototype's step on the same words, renumbered as it wants them: classes as ranges of ids."""
    sys.path.insert(0, folder)
    import eng_numba  # type: ignore[import-not-found]  # noqa: PLC0415

    members = np.append(structure.layout.members, 1)  # BEGIN last
    number = np.empty(len(members), np.int32)
    number[members] = np.arange(len(members))
    starts, items = structure.context.rows
    chosen = [items[starts[word] + 1 : starts[word + 1]] - len(members) for word in members]
    world = {
        "V": len(members),
        "NM": MORPHEMES,
        "NC": structure.classes,
        "cs": np.append(structure.layout.starts[:-1], len(members)),
        "cls": structure.class_of[members],
        "mptr": np.concatenate([[0], np.cumsum([len(row) for row in chosen])]),
        "mind": np.concatenate(chosen).astype(np.int32),
    }
    names = {"Qf": "Q", "Rf": "R", "S": "S", "C": "C", "b": "b", "t": "t"}
    held = {name: getattr(parameters, ours).copy() for name, ours in names.items()}
    sums = {name: np.full_like(array, 1e-6) for name, array in held.items()}
    step = eng_numba.stepper(threads)(world, held, sums, config.diagonal)

    def run(text: np.ndarray, begin: int, end: int) -> None:
        ids = number[text]
        positions = np.arange(begin, end)
        contexts = np.stack([ids[positions - 1], ids[positions - 2], ids[positions - 3]], 1)
        step(contexts, ids[begin:end], 0.05, 1e-8)

    return run


def timed(tasks: list[Callable[[int], None]], steps: int) -> list[tuple[float, float]]:
    """Median wall and CPU seconds of a step of each task. They take turns, so that both see the machine as it changes.

    A turn is several steps long, after a pause: the prototype's threads go on spinning for a while, and the first step
    finds the caches full of the other's numbers.
    """
    seconds: list[list[tuple[float, float]]] = [[] for _ in tasks]
    for turn in range(TURNS):
        for which, task in enumerate(tasks):
            time.sleep(PAUSE)
            for number in range(WARM_UP + steps):
                wall, cpu = time.perf_counter(), time.process_time()
                task((turn + number) % (WARM_UP + steps))
                if number >= WARM_UP:
                    seconds[which].append((time.perf_counter() - wall, time.process_time() - cpu))
    return [(float(wall), float(cpu)) for wall, cpu in (np.median(np.array(rows), axis=0) for rows in seconds)]


# ---------------------------------------------------------------- memory of a whole epoch


def memory(name: str) -> int:
    """VmRSS, what the process holds now, or VmHWM, the most that it has held."""
    return 1024 * int(Path("/proc/self/status").read_text().split(f"{name}:")[1].split()[0])


def more_at_the_peak(task: Callable[[], Any]) -> int:
    """How many bytes more than before the process holds at most while something is done."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = memory("VmRSS")
    task()
    return memory("VmHWM") - before


def measure_epoch(config: LogBilinearConfig, structure: Structure, text: np.ndarray, batch: int, threads: int) -> None:
    train, dev = Corpus(text, structure.vocabulary), Corpus(text[: 20_000 // SENTENCE * SENTENCE], structure.vocabulary)
    task = TrainingTask(config, structure, recipe("default", epochs=2, batch=batch), train, dev, {"kappa": None})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        train_model(task, Path(folder) / "model", threads=threads)  # compiles what is not compiled yet
        trained = more_at_the_peak(lambda: train_model(task, Path(folder) / "model", threads=threads))
        parameters = initial_parameters(config, structure, 1, 0.1)
        size = 4 * parameters.numbers
        write_checkpoint(path, "benchmark", Progress(), parameters, parameters)
        del parameters
        read = more_at_the_peak(lambda: read_checkpoint(path, "benchmark"))
    for what, peak in (("two epochs, evaluated and saved", trained), ("reading a checkpoint", read)):
        print(
            f"{what}: {peak / 1e6:.0f} MB more at the peak = {peak / size:.2f} x the parameters ({size / 1e6:.0f} MB)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=[kind for kind in VARIANTS if kind.startswith("c")], default="clbl++")
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--batch", type=int, default=10_000)
    parser.add_argument("--full", action="store_true", help="full instead of diagonal C_j")
    parser.add_argument("--words", type=int, default=206_000)
    parser.add_argument("--classes", type=int, default=454)
    parser.add_argument("--steps", type=int, default=4, help="timed, of each of the turns")
    parser.add_argument("--threads", type=int, default=available_cores())
    parser.add_argument("--prototype", help="folder of eng_numba.py")
    parser.add_argument("--epoch", action="store_true", help="measure the memory of a whole epoch instead")
    arguments = parser.parse_args()
    length = arguments.batch
    started = time.perf_counter()
    vocabulary, partition, factors, text = make_workload(
        arguments.words, arguments.classes, length * (arguments.steps + WARM_UP + 1) + SENTENCE
    )
    config = variant(arguments.kind, width=arguments.width, diagonal=not arguments.full)
    structure = build_structure(config, vocabulary, partition, factors)
    if arguments.epoch:
        measure_epoch(config, structure, text, length, arguments.threads)
        return
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    parameters = initial_parameters(config, structure, seed=1, init_std=0.1)
    print(f"workload ready after {time.perf_counter() - started:.1f} s", flush=True)
    with workers(arguments.threads) as pool:
        operations, moved = work_of_a_step(structure, config, text, length)
        flops, bytes_a_second = gemm_rate(pool), bandwidth(pool)
        limit = 1.0 / max(operations / flops, moved / bytes_a_second)
        print(f"machine: {flops / 1e9:.0f} GFLOP/s in products of matrices, {bytes_a_second / 1e9:.1f} GB/s")
        print(f"a token: {operations / 1e3:.0f} kFLOP, {moved / 1e3:.1f} kB; limit {limit:,.0f} tokens/s", flush=True)
        copy = Parameters(*(array.copy() for array in parameters)) if arguments.prototype else None
        squares = filled_like(parameters, 1.0)
        arranged, order = arranged_by_class(structure)
        parameters = parameters._replace(R=parameters.R[order])
        learner = Learner(config, arranged, parameters, squares, LearningConfig(), len(text), pool)

        def ours(number: int) -> None:
            learner.step(text, SENTENCE + number * length, SENTENCE + (number + 1) * length, number)

        started = time.perf_counter()
        ours(0)
        print(f"first minibatch after {time.perf_counter() - started:.1f} s", flush=True)

        tasks = [ours]
        if copy is not None:
            prototype = prototype_step(arguments.prototype, structure, copy, config, arguments.threads)
            tasks.append(lambda n: prototype(text, SENTENCE + n * length, SENTENCE + (n + 1) * length))
        for name, seconds in zip(("morphlm", "prototype"), timed(tasks, arguments.steps), strict=False):
            report(name, seconds, length, limit)
        if copy is None:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            numbers = 4 * parameters.numbers
            share = f"{peak / numbers:.2f} x; {(peak - before * 1024) / numbers:.2f} x more than before they were made"
            print(f"memory: parameters {numbers / 1e6:.0f} MB, peak of the process {peak / 1e6:.0f} MB = {share}")


def report(name: str, seconds: tuple[float, float], length: int, limit: float) -> None:
    wall, cpu = seconds
    rate = length / wall
    print(
        f"{name:10s} {rate:9,.0f} tokens/s = {rate / limit:.0%} of the limit; {cpu / length * 1e6:.1f} CPU s a million"
    )


if __name__ == "__main__":
    main()
