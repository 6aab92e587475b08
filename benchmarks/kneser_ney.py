"""Speed and memory of modified Kneser-Ney: training next to KenLM's lmplz in the same run, and queries.

    python benchmarks/kneser_ney.py [TEXT] [--lmplz PATH] [--tokens N] [--order 4] [--repeat 3]

Without TEXT a text with Zipf-distributed words is generated. Without lmplz (see build_lmplz.sh) the reference is this
machine's time for sorting as many 64-bit keys as there are n-grams to sort. Seconds are CPU seconds of whole processes,
both writing an ARPA file; kernels are compiled and cached before the first measurement.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from morphlm import load
from morphlm.vocabulary.corpus import encode_text


def generate(path: Path, tokens: int) -> None:
    """Words of a bigram process with a Zipf tail, so that n-grams repeat as in real text."""
    rng = np.random.default_rng(1)
    with path.open("w") as file:
        for _ in range(0, tokens, 20_000):
            words = np.minimum(rng.zipf(1.25, 20_000), 2_000_000)
            words[1::2] = words[::2] * 7 % 5_000 + rng.integers(0, 3, len(words[1::2]))
            for sentence in np.split(words, 1_000):
                file.write(" ".join(f"w{word}" for word in sentence) + "\n")


def run(command: list[str], **streams: object) -> dict[str, float]:
    """CPU seconds and peak memory of a process."""
    process = subprocess.Popen(command, **streams)  # type: ignore[call-overload]
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} failed")
    return {"cpu_seconds": usage.ru_utime + usage.ru_stime, "peak_mb": usage.ru_maxrss / 1024}


def best(measurements: list[dict[str, float]]) -> dict[str, float]:
    return min(measurements, key=lambda measured: measured["cpu_seconds"])


def measure_training(text: Path, folder: Path, options: argparse.Namespace) -> dict[str, object]:
    ours, theirs = [], []
    command = [sys.executable, "-m", "morphlm", "train", "mkn", "--train", str(text), "--order", str(options.order)]
    run([*command, "--arpa", str(folder / "ours.arpa")], stdout=subprocess.DEVNULL)  # compiles, if need be
    for _ in range(options.repeat):  # by turns, so that both meet the same machine
        ours.append(run([*command, "--arpa", str(folder / "ours.arpa")], stdout=subprocess.DEVNULL))
        if options.lmplz:
            with text.open("rb") as source, (folder / "lmplz.arpa").open("wb") as target:
                lmplz = [options.lmplz, "-o", str(options.order), "-S", "40%", "-T", str(folder)]
                theirs.append(run(lmplz, stdin=source, stdout=target, stderr=subprocess.DEVNULL))
    result: dict[str, object] = {"ours": best(ours)}
    if theirs:
        result |= {"lmplz": best(theirs), "ratio": best(ours)["cpu_seconds"] / best(theirs)["cpu_seconds"]}
        result["largest_difference"] = largest_difference(folder / "ours.arpa", folder / "lmplz.arpa")
    return result


def largest_difference(ours: Path, theirs: Path) -> float:
    """The largest difference of a probability or back-off, in log10; infinite if the n-grams differ."""
    tables = [read_arpa(path) for path in (ours, theirs)]
    if tables[0].keys() != tables[1].keys():
        return float("inf")
    return max(abs(a - b) for key, one in tables[0].items() for a, b in zip(one, tables[1][key], strict=True))


def read_arpa(path: Path) -> dict[str, tuple[float, float]]:
    entries = {}
    with path.open() as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            if len(fields) > 1:
                entries[fields[1]] = (float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0)
    return entries


def sorting_seconds(tokens: int, order: int) -> float:
    keys = np.random.default_rng(1).integers(0, 2**60, tokens, dtype=np.uint64)
    begin = time.process_time()
    for _ in range(order):
        np.sort(keys)
    return time.process_time() - begin


def measure_queries(text: Path, folder: Path, order: int) -> dict[str, float]:
    model_path = folder / "model"
    command = [sys.executable, "-m", "morphlm", "train", "mkn", "--train", str(text), "--order", str(order)]
    run([*command, "--out", str(model_path)], stdout=subprocess.DEVNULL)
    begin = time.perf_counter()
    model = load(model_path)
    loading = time.perf_counter() - begin
    tokens = encode_text(text, model.vocabulary).tokens
    model.score_tokens(tokens[:1000])  # loads the kernels
    model.score(model.begin(), model.vocabulary.words[tokens[0]])
    begin = time.process_time()
    model.score_tokens(tokens)
    in_kernel = len(tokens) / (time.process_time() - begin)
    words = [model.vocabulary.words[token] for token in tokens[:100_000]]
    state, begin = model.begin(), time.process_time()
    for word in words:
        _, state = model.score(state, word)
    from_python = len(words) / (time.process_time() - begin)
    return {"load_seconds": loading, "queries_per_second_kernel": in_kernel, "queries_per_second_python": from_python}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", nargs="?", type=Path)
    parser.add_argument("--lmplz")
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--order", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = options.text or folder / "text"
        if options.text is None:
            generate(text, options.tokens)
        result = {"order": options.order, "training": measure_training(text, folder, options)}
        sorting = sorting_seconds(options.tokens, options.order)
        result["sorting_seconds"] = sorting
        result["ratio_to_sorting"] = result["training"]["ours"]["cpu_seconds"] / sorting
        result["queries"] = measure_queries(text, folder, options.order)
        result["peak_mb_of_this_process"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
