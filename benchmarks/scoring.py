"""Speed of queries, of scoring a file and of loading, next to the machine's limits, measured in the same run.

    python benchmarks/scoring.py [--width 200] [--words 206000] [--classes 454] [--kind clbl++] [--tokens 300000]
                                 [--threads 2] [--prototype FOLDER] [--skip queries,text,loading]

The workload is that of benchmarks/logbilinear.py. A query that finds nothing in the cache reads the vectors of all
classes, which stay near the processor, and those of the words of one class, which do not: the limit is the time of a
BLAS product of both with one vector. A query that finds everything reads n = 4 rows: the limit is the time to sum up as
many. Queries are asked in a loop of compiled code by one thread. With --prototype, the folder of
`score.py`, its queries take turns with ours. Loading is timed in a new process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from logbilinear import SENTENCE, bandwidth, gemm_rate, make_workload
from morphlm.logbilinear.config import VARIANTS, LogBilinearConfig, variant
from morphlm.logbilinear.kernels.query import Cache, CompiledModel, log_probability
from morphlm.logbilinear.kernels.query_batch import log_probabilities
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.query import CachedQueries, compile_model, new_cache
from morphlm.logbilinear.structure import Structure, build_structure
from morphlm.threads import available_cores, workers

QUERIES = 20_000
UNCACHED = 4_000  # of these are asked without a cache
CACHE_MEGABYTES = 32.0


# ---------------------------------------------------------------- the workload


def contexts_of(text: np.ndarray, order: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Contexts, the nearest word first, and the words after them."""
    positions = np.arange(SENTENCE, SENTENCE + count)
    contexts = np.stack([text[positions - j] for j in range(1, order)], 1)
    return np.ascontiguousarray(contexts, np.int32), text[positions]


def like_a_decoder(contexts: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """70 % repetitions of recent queries, 20 % other words after recent contexts, 10 % new contexts."""
    rng = np.random.default_rng(0)
    of_context, of_word = np.arange(len(words)), np.arange(len(words))
    kinds = rng.random(len(words))
    for i in range(50, len(words)):
        if kinds[i] >= 0.1:
            recent = rng.integers(max(0, i - 500), i)
            of_context[i] = of_context[recent]
            if kinds[i] >= 0.3:
                of_word[i] = of_word[recent]
    return contexts[of_context], words[of_word]


# ---------------------------------------------------------------- timing


def seconds_of(tasks: Sequence[Callable[[], Any]], repeats: int = 5) -> list[tuple[float, float]]:
    """The least wall and CPU seconds of each task; they take turns."""
    best = [(np.inf, np.inf)] * len(tasks)
    for _ in range(repeats + 1):
        for which, task in enumerate(tasks):
            wall, cpu = time.perf_counter(), time.process_time()
            task()
            spent = time.perf_counter() - wall, time.process_time() - cpu
            best[which] = tuple(map(min, best[which], spent))  # type: ignore[assignment]
    return best


@njit(nogil=True)
def ask_all(model: CompiledModel, cache: Cache, contexts: np.ndarray, words: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(words)):
        out[i] = log_probability(model, cache, contexts[i], words[i])


@njit(nogil=True, fastmath=True)
def sum_rows(table: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(rows)):
        a, b, c, d = rows[i]
        for k in range(out.size):
            out[k] += table[a, k] + table[b, k] + table[c, k] + table[d, k]


def report(name: str, seconds: tuple[float, float], count: int) -> None:
    print(f"  {name:48s} {seconds[0] / count * 1e6:8.2f} us wall {seconds[1] / count * 1e6:8.2f} us CPU", flush=True)


# ---------------------------------------------------------------- queries


class Prototype:
    """The prototype's queries, with its caches, on the same tables; a word's number is its position."""

    def __init__(self, folder: str, model: CompiledModel) -> None:
        """Copy the tables: its loops are compiled for arrays that can be written."""
        sys.path.insert(0, folder)
        import score  # type: ignore[import-not-found]  # noqa: PLC0415

        self.score, self.position_of = score, model.position_of
        diagonals = model.diagonals[:, None] if len(model.diagonals) else np.ones((3, 1, 1), np.float32)
        table = model.context.reshape(-1, len(model.position_of), model.context.shape[1]) * diagonals
        tables = table, model.output, model.class_vectors, model.biases, model.class_biases
        self.arguments = *map(np.array, tables), np.array(model.starts), np.array(model.class_of)
        self.space = np.empty(1 << 16, np.float32), np.empty(model.output.shape[1], np.float32)
        self.clear()

    def clear(self) -> None:
        """Empty caches."""
        self.caches = [(np.zeros(1 << 20, np.uint64), np.zeros(1 << 20, np.float32)) for _ in range(2)]

    def uncached(self, contexts: np.ndarray, words: np.ndarray) -> np.ndarray:
        """ln P of each word."""
        out = np.empty(len(words), np.float32)
        self.score.loop(*self.arguments, contexts, self.position_of[words], *self.space, out)
        return out

    def cached(self, contexts: np.ndarray, words: np.ndarray) -> np.ndarray:
        """The same with its caches."""
        out = np.empty(len(words), np.float32)
        hits = np.zeros(2, np.int64)
        self.score.loop_c(*self.arguments, contexts, self.position_of[words], *self.space, *self.caches, hits, out)
        return out


def product_limit(model: CompiledModel, words: np.ndarray) -> Callable[[], None]:
    """S p and R_c p by BLAS, for the classes of some words."""
    prediction = np.ones(model.output.shape[1], np.float32)
    classes = model.class_of[model.position_of[words]]
    bounds = list(zip(model.starts[classes].tolist(), model.starts[classes + 1].tolist(), strict=True))
    tables = model.class_vectors, model.output

    def run() -> None:
        for first, last in bounds:
            tables[0] @ prediction
            tables[1][first:last] @ prediction

    return run


def time_queries(
    config: LogBilinearConfig, structure: Structure, text: np.ndarray, folder: str | None, threads: int
) -> None:
    parameters = initial_parameters(config, structure, seed=1, init_std=0.1)
    with workers(threads) as pool:
        started = time.perf_counter()
        model = compile_model(config, structure, parameters, pool)
        first = time.perf_counter() - started
        started = time.perf_counter()
        model = compile_model(config, structure, parameters, pool)
        again = time.perf_counter() - started
    which = "diagonal" if config.diagonal else "full"
    size = sum(part.nbytes for part in model if not isinstance(part, int)) / 1e6
    print(f"{config.kind}, {which} C_j: compiled in {again:.2f} s (the first time {first:.2f}), {size:.0f} MB")
    contexts, words = contexts_of(text, config.order, QUERIES)
    few = contexts[:UNCACHED], words[:UNCACHED]
    out, nothing, cache = np.empty(QUERIES), new_cache(model, 0), new_cache(model, CACHE_MEGABYTES)
    prototype = Prototype(folder, model) if folder else None
    with workers(1):
        time_uncached(model, nothing, few, prototype, out)
        time_cached(model, cache, like_a_decoder(contexts, words), prototype, out)
        time_many(model, (contexts, words), like_a_decoder(contexts, words))
        time_from_python(model, structure, like_a_decoder(contexts, words), threads)


def time_uncached(model: CompiledModel, cache: Cache, few: Any, prototype: Prototype | None, out: np.ndarray) -> None:
    tasks = {
        "limit: products by BLAS": product_limit(model, few[1]),
        "a query without cache": lambda: ask_all(model, cache, *few, out),
    }
    if prototype:
        tasks["  the prototype"] = lambda: prototype.uncached(*few)
    for name, seconds in zip(tasks, seconds_of(list(tasks.values())), strict=True):
        report(name, seconds, UNCACHED)
    if prototype:
        ask_all(model, cache, *few, out)
        print(f"  largest difference {np.abs(prototype.uncached(*few) - out[:UNCACHED]).max():.1e}")


def time_cached(model: CompiledModel, cache: Cache, queries: Any, prototype: Prototype | None, out: np.ndarray) -> None:
    ask_all(model, cache, *queries, out)
    rows = np.concatenate([queries[0], model.position_of[queries[1]][:, None]], axis=1)
    total, table = np.zeros(model.output.shape[1], np.float32), model.output

    def with_fresh_cache() -> None:
        ask_all(model, new_cache(model, CACHE_MEGABYTES), *queries, out)

    tasks: dict[str, Callable[[], Any]] = {
        "limit: sums of rows": lambda: sum_rows(table, rows, total),
        "a query, all in the cache": lambda: ask_all(model, cache, *queries, out),
        "a query like a decoder's, cache empty at first": with_fresh_cache,
    }
    if prototype:
        prototype.cached(*queries)
        tasks["  the prototype, all in the cache"] = lambda: prototype.cached(*queries)

        def fresh_prototype() -> None:
            prototype.clear()
            prototype.cached(*queries)

        tasks["  the prototype, cache empty at first"] = fresh_prototype
    for name, seconds in zip(tasks, seconds_of(list(tasks.values())), strict=True):
        report(name, seconds, QUERIES)
    fresh = new_cache(model, CACHE_MEGABYTES)
    ask_all(model, fresh, *queries, out)
    print("  hits and misses of words, then of classes:", *fresh.counts.tolist())


def time_many(model: CompiledModel, new: Any, repeated: Any) -> None:
    """Queries in one call."""
    for name, queries in (("new contexts", new), ("like a decoder's", repeated)):
        seconds = seconds_of([lambda q=queries: log_probabilities(model, new_cache(model, CACHE_MEGABYTES), *q)], 3)  # type: ignore[misc]
        report(f"in one call, {name}", seconds[0], QUERIES)


def time_from_python(model: CompiledModel, structure: Structure, queries: Any, threads: int) -> None:
    asked = CachedQueries(model, structure.layout.members, CACHE_MEGABYTES)
    listed = [(tuple(context), word) for context, word in zip(queries[0].tolist(), queries[1].tolist(), strict=True)]

    def run() -> None:
        for context, word in listed:
            asked.log_probability(context, word)

    report("from Python, all in the cache", seconds_of([run], 2)[0], QUERIES)
    prediction = np.ones((1, model.output.shape[1]), np.float32)
    report("distribution over all words", seconds_of([lambda: asked.distributions(prediction, threads)])[0], 1)


# ---------------------------------------------------------------- a text


def time_text(config: LogBilinearConfig, structure: Structure, text: np.ndarray, threads: int) -> None:
    parameters = initial_parameters(config, structure, seed=1, init_std=0.1)
    sizes = np.diff(structure.layout.starts)
    operations = 2 * config.width * (structure.classes + sizes[structure.class_of[text]].mean())
    with workers(threads) as pool:
        limit = gemm_rate(pool) / operations
    model = LogBilinearModel(config, structure, parameters, {})
    model.threads = threads
    wall, cpu = seconds_of([lambda: model.score_tokens(text)], 4)[0]
    which, rate, busy = "diagonal" if config.diagonal else "full", len(text) / wall, cpu / len(text) * 1e6
    print(f"a text of {len(text):,} tokens, {which} C_j: {rate:,.0f} tokens/s = {rate / limit:.0%} of the limit")
    print(
        f"  {busy:.1f} CPU s a million tokens: {threads / busy * 1e6:,.0f} tokens/s if the machine is free", flush=True
    )


# ---------------------------------------------------------------- loading

LOADING = """
import json, sys, time
clock = lambda: (time.perf_counter(), time.process_time())
parts = {}

def since(started):
    return [now - then for now, then in zip(clock(), started)]

started = clock()
from morphlm.scoring import loading
from morphlm.logbilinear import model as module
parts["import"] = since(started)

def timed(module, name):
    function = getattr(module, name)
    def run(*arguments, **named):
        started = clock()
        result = function(*arguments, **named)
        parts["  " + name] = since(started)
        return result
    setattr(module, name, run)

timed(loading, "read_model")
for name in ("parse_vocabulary", "parse_factors", "build_structure", "check_self_test"):
    timed(module, name)
started = clock()
model = loading.load(sys.argv[1])
parts["load"] = since(started)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
memory = [int(status[name].split()[0]) / 1000 for name in ("RssAnon", "RssFile")]
started = clock()
model.score(model.begin(), model.vocabulary.words[5])
parts["first query, which compiles the model"] = since(started)
print(json.dumps([parts, memory]))
"""


def time_loading(config: LogBilinearConfig, structure: Structure) -> None:
    parameters = initial_parameters(config, structure, seed=1, init_std=0.1)
    with tempfile.TemporaryDirectory() as folder:
        LogBilinearModel(config, structure, parameters, {}).save(Path(folder) / "model")
        size = sum(path.stat().st_size for path in (Path(folder) / "model").iterdir()) / 1e6
        runs = []
        for _ in range(4):
            done = subprocess.run(
                [sys.executable, "-c", LOADING, f"{folder}/model"], check=True, capture_output=True, text=True
            )
            runs.append(json.loads(done.stdout))
    parts, memory = min(runs[1:], key=lambda run: run[0]["load"])  # the first may have compiled the kernels
    print(f"loading {config.kind} of {size:.0f} MB in a new process")
    for name, (wall, cpu) in parts.items():
        print(f"  {name:48s} {wall:8.2f} s wall {cpu:8.2f} s CPU")
    print(f"  memory after loading: {memory[0]:.0f} MB of its own, {memory[1]:.0f} MB mapped and shared")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=VARIANTS, default="clbl++")
    parser.add_argument("--width", type=int, default=200)
    parser.add_argument("--words", type=int, default=206_000)
    parser.add_argument("--classes", type=int, default=454)
    parser.add_argument("--tokens", type=int, default=300_000)
    parser.add_argument("--threads", type=int, default=available_cores())
    parser.add_argument("--prototype", help="folder of score.py")
    parser.add_argument("--skip", default="", help="any of queries, text, loading; separated by commas")
    arguments = parser.parse_args()
    vocabulary, partition, factors, text = make_workload(arguments.words, arguments.classes, arguments.tokens)
    configs = [variant(arguments.kind, width=arguments.width, diagonal=diagonal) for diagonal in (False, True)]
    structure = build_structure(configs[0], vocabulary, partition, factors)
    with workers(1) as one:
        print(f"machine, one thread: {gemm_rate(one) / 1e9:.0f} GFLOP/s, {bandwidth(one) / 1e9:.1f} GB/s", flush=True)
    for config in configs:
        if "queries" not in arguments.skip:
            time_queries(config, structure, text, arguments.prototype, arguments.threads)
        if "text" not in arguments.skip:
            time_text(config, structure, text, arguments.threads)
    if "loading" not in arguments.skip:
        time_loading(configs[1], structure)


if __name__ == "__main__":
    main()
