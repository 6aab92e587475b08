"""Speed of the native scorer: against our own compiled path, against KenLM's query, and from start to the first score.

    benchmarks/build_lmplz.sh FOLDER                    # optional: KenLM's query and build_binary
    python benchmarks/native.py [--kenlm FOLDER/build/bin] [--words 46000] [--classes 215] [--width 100]
                                [--order 4] [--queries 20000] [--repeats 5] [--compiler g++] [--flags=-O2]

The workload is that of benchmarks/logbilinear.py: Zipfian words. Queries are timed in CPU time, in C++ by
native_queries.cc, in Numba by a compiled loop, both the least of several repeats and in turns: one by one, and in
batches of 512; without a cache, and with one that has seen the text. KenLM's `query` and ours, examples/query.cc, are
whole programs that read the same text, scored with the same n-grams; what they need for an empty text is taken away.
Start-up is wall time of the program with one short line, Python's loading is wall time without and with hashing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import morphlm
from arguments import sentences_of
from logbilinear import make_workload
from morphlm.arrays import Array
from morphlm.compiled.exporting import export_compiled
from morphlm.compiledfile import map_container
from morphlm.compiling import njit
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.config import variant
from morphlm.logbilinear.kernels.prediction import token_contexts
from morphlm.logbilinear.kernels.query import Cache, CompiledModel, log_probability
from morphlm.logbilinear.kernels.query_batch import log_probabilities
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.query import new_cache
from morphlm.logbilinear.structure import build_structure
from morphlm.ngram.model import NgramModel
from morphlm.ngram.training import train_ngram
from morphlm.scoring.mixture import MixtureModel, as_components
from morphlm.vocabulary.vocabulary import BEGIN_ID, END_ID

HERE, NATIVE = Path(__file__).parent, Path(morphlm.get_include()).parent
BATCH = 512
NOT_SLOWER, OF_TRIE, START = 1.0, 1.5, 0.05  # the bars: of Numba's time, of KenLM's trie, seconds
WAYS = ("one by one", "in batches", "one by one, cached", "in batches, cached")


def make_models(arguments: argparse.Namespace) -> tuple[dict[str, LanguageModel], Array]:
    """Models over the same words, and the text that they are asked about."""
    vocabulary, partition, factors, text = make_workload(arguments.words, arguments.classes, 1_000_000)
    ngrams = train_ngram(sentences_of(text, vocabulary), arguments.order, vocabulary=vocabulary)
    config = variant("clbl++", width=arguments.width, order=arguments.order)
    structure = build_structure(config, vocabulary, partition, factors)
    clbl = LogBilinearModel(config, structure, initial_parameters(config, structure, seed=1, init_std=0.1), {})
    weights = np.full((ngrams.context_buckets, 2), 0.5)
    mixture = MixtureModel(as_components([ngrams, clbl], [None, None]), weights, "context", {})
    return {"mkn": ngrams, "clbl++": clbl, "mixture": mixture}, text


def compiled_program(source: Path, folder: Path, arguments: argparse.Namespace) -> Path:
    program = folder / source.stem
    flags = arguments.flags.split()
    command = [arguments.compiler, "-std=c++17", *flags, f"-I{morphlm.get_include()}", str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    return program


def report(name: str, ours: float, reference: float, bar: float | None, unit: str = "ns") -> None:
    outcome = "" if bar is None else "ok" if ours <= bar * reference else f"above {bar:g}"
    print(f"  {name:34s} {ours:12.1f} {unit} {reference:12.1f} {unit} {ours / reference:8.2f}   {outcome}", flush=True)


# ---------------------------------------------------------------- queries


@njit(nogil=True)
def walk_one_by_one(model: CompiledModel, cache: Cache, contexts: Array, words: Array) -> float:
    total = 0.0
    for i in range(len(words)):
        total += log_probability(model, cache, contexts[i], words[i])
    return total


def walk_in_batches(model: CompiledModel, cache: Cache, contexts: Array, words: Array) -> float:
    total = 0.0
    for begin in range(0, len(words), BATCH):
        piece = slice(begin, begin + BATCH)
        total += float(log_probabilities(model, cache, contexts[piece], words[piece]).sum())
    return total


def least_nanoseconds(ask: Callable[[], Any], queries: int, repeats: int) -> float:
    ask()
    best = np.inf
    for _ in range(repeats):
        started = time.thread_time_ns()
        ask()
        best = min(best, time.thread_time_ns() - started)
    return best / queries


def time_numba(model: LogBilinearModel, text: Array, repeats: int) -> list[float]:
    """By the kernels that our own decoder calls."""
    compiled = model.queries.model
    contexts = token_contexts(text, 0, model.config.distances, BEGIN_ID, END_ID)
    result = []
    for megabytes in (0, 256):
        cache = new_cache(compiled, megabytes)
        for walk in (walk_one_by_one, walk_in_batches):
            ask = lambda walk=walk, cache=cache: walk(compiled, cache, contexts, text)  # noqa: E731
            result.append(least_nanoseconds(ask, len(text), repeats))
    return result


def time_native(program: Path, path: Path, ids: Path, repeats: int) -> list[float]:
    printed = subprocess.run([program, path, ids, str(repeats)], check=True, capture_output=True, text=True).stdout
    return [float(line.split()[0]) for line in printed.splitlines()]


def compare_queries(models: dict[str, LanguageModel], folder: Path, text: Array, arguments: argparse.Namespace) -> None:
    program, ids, repeats = (
        compiled_program(HERE / "native_queries.cc", folder, arguments),
        folder / "ids",
        arguments.repeats,
    )
    text[: arguments.queries].tofile(ids)
    asked = text[: arguments.queries].copy()
    print(f"CPU time of a query: {'native':>24s} {'Numba':>14s}    ratio")
    for name, model in models.items():
        native = time_native(program, folder / name, ids, repeats)
        if isinstance(model, LogBilinearModel):
            for way, ours, theirs in zip(WAYS, native, time_numba(model, asked, repeats), strict=True):
                report(f"{name}, {way}", ours, theirs, NOT_SLOWER)
        elif isinstance(model, NgramModel):
            numba = least_nanoseconds(lambda model=model: model.score_tokens(asked), len(asked), repeats)  # type: ignore[misc]
            report(f"{name}, one by one", native[0], numba, NOT_SLOWER)
        else:
            for way, ours in zip(WAYS, native, strict=True):
                print(f"  {name + ', ' + way:34s} {ours:12.1f} ns")
    half = time_native(program, folder / "half", ids, repeats)
    for way, ours in zip(WAYS, half, strict=True):
        print(f"  {'clbl++ in float16, ' + way:34s} {ours:12.1f} ns")


# ---------------------------------------------------------------- whole programs


def cpu_seconds(command: list[str | Path], text: Path) -> float:
    """User and system time of a program that reads a text."""
    with text.open("rb") as source:
        process = subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def compare_kenlm(ngrams: NgramModel, folder: Path, text: Array, arguments: argparse.Namespace) -> None:
    tools, arpa = Path(arguments.kenlm), folder / "model.arpa"
    ngrams.write_arpa(arpa)
    program = compiled_program(NATIVE / "examples" / "query.cc", folder, arguments)
    commands: dict[str, list[str | Path]] = {"native": [program, folder / "mkn", "--summary"]}
    for kind in ("probing", "trie"):
        subprocess.run([tools / "build_binary", kind, arpa, folder / kind], check=True, capture_output=True)
        commands[kind] = [tools / "query", "-v", "summary", folder / kind]
    lines, empty = folder / "lines.txt", folder / "empty.txt"
    empty.write_bytes(b"")
    lines.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences_of(text, ngrams.vocabulary)))
    least = dict.fromkeys(commands, np.inf)
    for _ in range(arguments.repeats):
        for name, command in commands.items():
            least[name] = min(least[name], cpu_seconds(command, lines) - cpu_seconds(command, empty))
    print(f"CPU time of a token, whole programs: {'ours':>8s} {'KenLM':>14s}    ratio")
    for kind in ("probing", "trie"):
        ours, theirs = (least[name] * 1e9 / len(text) for name in ("native", kind))
        report(f"query, against {kind}", ours, theirs, OF_TRIE if kind == "trie" else None)


def time_start(folder: Path, names: list[str], arguments: argparse.Namespace) -> None:
    program = compiled_program(NATIVE / "examples" / "query.cc", folder, arguments)
    print("start-up to the first score, wall time")
    for name in names:
        best = np.inf
        for _ in range(arguments.repeats + 3):
            started = time.perf_counter()
            subprocess.run([program, folder / name], input=b"w10 w20\n", check=True, capture_output=True)
            best = min(best, time.perf_counter() - started)
        report(name, best * 1e3, START * 1e3, 1.0, "ms")


def time_loading(folder: Path, names: list[str]) -> None:
    print("loading in Python, wall time: all, of it hashing")
    for name in names:
        started = time.perf_counter()
        morphlm.load(folder / name)
        middle = time.perf_counter()
        map_container(folder / name)
        hashing = time.perf_counter() - middle
        print(f"  {name:34s} {(middle - started) * 1e3:12.1f} ms {hashing * 1e3:12.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kenlm", help="folder of KenLM's query and build_binary")
    for name, default in {"words": 46_000, "classes": 215, "width": 100, "order": 4, "repeats": 5}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="-O2")
    arguments = parser.parse_args()
    models, text = make_models(arguments)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, model in models.items():
            print(export_compiled(model, folder / name).format())
        print(export_compiled(models["clbl++"], folder / "half", float16=True).format())
        names = [*models, "half"]
        compare_queries(models, folder, text, arguments)
        if arguments.kenlm:
            ngrams = models["mkn"]
            assert isinstance(ngrams, NgramModel)
            compare_kenlm(ngrams, folder, text, arguments)
        time_start(folder, names, arguments)
        time_loading(folder, names)


if __name__ == "__main__":
    main()
