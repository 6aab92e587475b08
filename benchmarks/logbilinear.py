"""Training speed and memory of the log-bilinear models as a share of what the machine can do, measured in the same run.

    python benchmarks/logbilinear.py [--width 100] [--batch 10000] [--full] [--kind clbl++] [--threads 2]
                                     [--words 206000] [--classes 454] [--gather 64]
                                     [--prototype FOLDER | --before FOLDER] [--epoch]

The workload is generated: Zipfian words in classes of equal size, each word with two or three of 25,000 morphemes. A
step has a number of floating-point operations in products of matrices and a number of bytes that must move; the limit
is the time that the machine needs for the larger of both at its own speed (a square product, a triad over large arrays;
the best of what is measured before each turn). With --prototype, the folder of `eng_numba.py`, its steps are timed in
turns with ours, on the same minibatches; with --before, a checkout of an earlier version, those of that version, in a
process of its own. With --epoch, nothing is timed: the peak of memory in a training of two epochs, with evaluation and
saving, and in reading a checkpoint is measured as a multiple of the parameters.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
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
FIRST = 16  # steps before the first turn: after these, classes gather their tokens as they do later
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


Turn = Callable[[], tuple[float, float]]  # wall and CPU seconds of a step


def turns_of(step: Callable[[int], None], steps: int) -> Turn:
    """Means of several steps, since those of one may differ from those of the next; the first ones are not timed."""
    done = iter(range(sys.maxsize))
    for _ in range(FIRST):
        step(next(done))

    def turn() -> tuple[float, float]:
        time.sleep(PAUSE)  # the prototype's threads go on spinning for a while
        for _ in range(WARM_UP):  # the first steps find the caches full of the other's numbers
            step(next(done))
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(steps):
            step(next(done))
        return (time.perf_counter() - wall) / steps, (time.process_time() - cpu) / steps

    return turn


def serve(turn: Turn) -> None:
    """A turn for each line of stdin."""
    print("ready", flush=True)
    for _ in sys.stdin:
        print(*turn(), flush=True)


def turns_of_version(folder: Path) -> Turn:
    """Turns of the version in a folder, by this file in a process of its own with the same arguments."""
    path = os.pathsep.join(str(folder / part) for part in ("src", "generated"))
    server = subprocess.Popen(
        [sys.executable, __file__, *sys.argv[1:], "--serve"],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None and server.stdout is not None
    requests, answers = server.stdin, server.stdout
    assert answers.readline() == "ready\n", f"the version in {folder} does not run"

    def turn() -> tuple[float, float]:
        requests.write("\n")
        requests.flush()
        wall, cpu = map(float, answers.readline().split())
        return wall, cpu

    return turn


def new_gathering(structure: Structure, learning: LearningConfig) -> Any:
    """What gathers tokens; versions before 0.2 have nothing of the kind."""
    try:
        from morphlm.logbilinear.gathering import WordGathering  # noqa: PLC0415
    except ImportError:
        return None
    tokens = learning.gather
    return WordGathering(structure.class_of, np.diff(structure.layout.starts), tokens) if tokens else None


def our_step(
    config: LogBilinearConfig, structure: Structure, parameters: Parameters, text: np.ndarray, options: Any, pool: Any
) -> Callable[[int], None]:
    """Learn from minibatch after minibatch."""
    arranged, order = arranged_by_class(structure)
    parameters = parameters._replace(R=parameters.R[order])
    is_new = "gather" in LearningConfig.__dataclass_fields__
    learning = LearningConfig(**({"gather": options.gather} if is_new else {}))
    learner = Learner(config, arranged, parameters, filled_like(parameters, 1.0), learning, len(text), pool)
    gathering = new_gathering(arranged, learning)

    def step(number: int) -> None:
        begin = SENTENCE + number * options.batch
        end = begin + options.batch
        gathered = {} if gathering is None else {"gathered": gathering.next(text, begin, end)}
        learner.step(text, begin, end, number, **gathered)

    return step


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


def turns_of_others(
    structure: Structure, parameters: Parameters, config: LogBilinearConfig, text: np.ndarray, options: Any
) -> dict[str, Turn]:
    """What we are compared with."""
    turns: dict[str, Turn] = {}
    if options.before:
        turns["before"] = turns_of_version(options.before)
    if options.prototype:
        copy = Parameters(*(array.copy() for array in parameters))
        step = prototype_step(options.prototype, structure, copy, config, options.threads)
        ends = [SENTENCE, SENTENCE + options.batch]
        turns["prototype"] = turns_of(lambda n: step(text, *(end + n * options.batch for end in ends)), options.steps)
    return turns


def compare(
    turns: dict[str, Turn],
    structure: Structure,
    config: LogBilinearConfig,
    text: np.ndarray,
    length: int,
    pool: Workers,
) -> None:
    """In turns, so that all see the machine as it changes; prints medians."""
    operations, moved = work_of_a_step(structure, config, text, length)
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in turns}
    rates, bandwidths = [], []
    for _ in range(TURNS):
        rates.append(gemm_rate(pool))
        bandwidths.append(bandwidth(pool))
        for name, turn in turns.items():
            seconds[name].append(turn())
    flops, bytes_a_second = max(rates), max(bandwidths)
    limit = 1.0 / max(operations / flops, moved / bytes_a_second)
    print(f"machine: {flops / 1e9:.0f} GFLOP/s in products of matrices, {bytes_a_second / 1e9:.1f} GB/s")
    print(f"a token: {operations / 1e3:.0f} kFLOP, {moved / 1e3:.1f} kB; limit {limit:,.0f} tokens/s", flush=True)
    medians = {name: np.median(np.array(rows), axis=0) for name, rows in seconds.items()}
    for name, (wall, cpu) in medians.items():
        report(name, (float(wall), float(cpu)), length, limit)
    ours = medians.pop("morphlm")
    for name, other in medians.items():
        wall, cpu = other / ours
        print(f"{name}: {wall:.2f} x the time and {cpu:.2f} x the CPU time of morphlm")


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=[kind for kind in VARIANTS if kind.startswith("c")], default="clbl++")
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--batch", type=int, default=10_000)
    parser.add_argument("--full", action="store_true", help="full instead of diagonal C_j")
    parser.add_argument("--words", type=int, default=206_000)
    parser.add_argument("--classes", type=int, default=454)
    parser.add_argument("--gather", type=int, default=64, help="tokens of a class that learn its words together")
    parser.add_argument("--steps", type=int, default=8, help="timed, of each of the turns")
    parser.add_argument("--threads", type=int, default=available_cores())
    parser.add_argument("--prototype", help="folder of eng_numba.py")
    parser.add_argument("--before", type=Path, help="checkout of an earlier version")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--epoch", action="store_true", help="measure the memory of a whole epoch instead")
    return parser.parse_args()


def main() -> None:
    arguments = read_arguments()
    length = arguments.batch
    started = time.perf_counter()
    minibatches = 7 if arguments.epoch else FIRST + TURNS * (WARM_UP + arguments.steps) + 1
    vocabulary, partition, factors, text = make_workload(
        arguments.words, arguments.classes, length * minibatches + SENTENCE
    )
    config = variant(arguments.kind, width=arguments.width, diagonal=not arguments.full)
    structure = build_structure(config, vocabulary, partition, factors)
    if arguments.epoch:
        measure_epoch(config, structure, text, length, arguments.threads)
        return
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    parameters = initial_parameters(config, structure, seed=1, init_std=0.1)
    with workers(arguments.threads) as pool:
        if arguments.serve:
            serve(turns_of(our_step(config, structure, parameters, text, arguments, pool), arguments.steps))
            return
        print(f"workload ready after {time.perf_counter() - started:.1f} s", flush=True)
        step = our_step(config, structure, parameters, text, arguments, pool)
        others = turns_of_others(structure, parameters, config, text, arguments)
        compare({**others, "morphlm": turns_of(step, arguments.steps)}, structure, config, text, length, pool)
        if not others:
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
