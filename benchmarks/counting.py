"""Counting in bounded memory: peak memory and CPU time next to counting in memory and to lmplz, in the same run.

    python benchmarks/counting.py SOURCE... --folder DIR [--tokens 20000000] [--memory 2G] [--order 4] [--lmplz PATH]

SOURCE is real text, from which a longer one is made (see `generate`): words are distributed as in the sources, and new
n-grams and words come up as in longer texts. The text and all results stay in the folder, so that an interrupted run
goes on where it was; `--skip` leaves a way out. Seconds are CPU seconds of whole processes, which write a model
directory (lmplz: an ARPA file). Kernels should be compiled and cached before.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from morphlm.files import open_binary
from morphlm.vocabulary.corpus import Corpus, read_corpus
from morphlm.vocabulary.vocabulary import END_ID

BLOCK_TOKENS = 1 << 21
JUMPS = (0.0, 0.15, 0.25)  # how often the walk goes on anywhere, where the same word stands, or the same two words
NEW_WORDS = 0.5  # how often a word that occurs once in the sources becomes another rare word
MOST_NEW_WORDS = 3_000_000
WAYS = ("bounded", "in memory", "lmplz")


def sentences_of(paths: list[Path]) -> Iterator[list[str]]:
    """Words and punctuation of the sources, in lower case."""
    for path in paths:
        with open_binary(path) as lines:
            for line in lines:
                if tokens := re.findall(r"\w+|[^\w\s]", line.decode().lower()):
                    yield tokens


@njit
def walk(
    tokens: Any,
    starts: Any,
    places: Any,
    first_place: Any,
    pairs: Any,
    first_pair: Any,
    pair_at: Any,
    rare: Any,
    words: int,
    jumps: tuple[float, float, float],
    seed: int,
    out: Any,
) -> None:
    """Follow the sources and go on, now and then, at another place with the same word or the same two words."""
    np.random.seed(seed)
    at = starts[np.random.randint(len(starts))]
    for i in range(len(out)):
        token = tokens[at]
        out[i] = token
        if rare[token] and np.random.random() < NEW_WORDS:
            out[i] = words + int(MOST_NEW_WORDS ** np.random.random())
        if token == END_ID:
            at = starts[np.random.randint(len(starts))]
            continue
        chance = np.random.random()
        if chance < jumps[0]:
            at = np.random.randint(len(tokens) - 1)
        elif chance < jumps[0] + jumps[1]:
            at = places[first_place[token] + np.random.randint(first_place[token + 1] - first_place[token])]
        elif chance < jumps[0] + jumps[1] + jumps[2]:
            pair = pair_at[at]
            at = pairs[first_pair[pair] + np.random.randint(first_pair[pair + 1] - first_pair[pair])]
        at += 1


def grouped(numbers: Any) -> tuple[Any, Any]:
    """The places of each number, one after the other, and where they begin."""
    counts = np.bincount(numbers)
    return np.argsort(numbers, kind="stable").astype(np.int32), np.concatenate([[0], np.cumsum(counts)])


def generate(path: Path, sources: list[Path], tokens: int, jumps: tuple[float, ...]) -> None:
    """Write a text of so many tokens, in blocks."""
    raw = read_corpus(sentences_of(sources))
    corpus: Corpus = raw.encode(raw.words.vocabulary(0.0, 1))
    ids = corpus.tokens.astype(np.int64)
    _, pair_at = np.unique(np.concatenate([[0], ids[:-1]]) * len(corpus.vocabulary) + ids, return_inverse=True)
    starts = np.concatenate([[0], np.flatnonzero(ids[:-1] == END_ID) + 1])
    arguments = ids, starts, *grouped(ids), *grouped(pair_at), pair_at, corpus.vocabulary.counts == 1
    forms = [*corpus.vocabulary.words[:END_ID], "\n", *corpus.vocabulary.words[END_ID + 1 :]]
    forms += [f"{forms[3 + k % (len(forms) - 3)]}{k}" for k in range(MOST_NEW_WORDS + 1)]
    partial = path.with_suffix(".partial")
    with partial.open("w") as file:
        for seed, begin in enumerate(range(0, tokens, BLOCK_TOKENS)):
            out = np.empty(min(BLOCK_TOKENS, tokens - begin), np.int64)
            walk(*arguments, len(corpus.vocabulary), jumps, seed, out)
            out[-1] = END_ID
            file.write(" ".join(map(forms.__getitem__, out.tolist())).replace("\n ", "\n"))
    partial.rename(path)


def run(command: list[str], log: Path, **streams: Any) -> dict[str, Any]:
    """CPU seconds and peak memory of a process."""
    begin = time.perf_counter()
    with log.open("wb") as messages:
        process = subprocess.Popen(command, stderr=messages, **streams)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed: {log.read_text()[-500:]}")
    return {
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "wall_seconds": time.perf_counter() - begin,
        "peak_gb": usage.ru_maxrss * 1024 / 1e9,
        "said": log.read_text().strip().splitlines()[-1:],
    }


def measure(way: str, text: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Train in one way; equal models have equal digests."""
    log = folder / "log"
    if way == "lmplz":
        command = [options.lmplz, "-o", str(options.order), "-S", options.memory, "-T", str(folder) + "/"]
        with text.open("rb") as source, (folder / "lmplz.arpa").open("wb") as target:
            measured = run([*command, *pruning(options)], log, stdin=source, stdout=target)
        measured["arpa_gb"] = (folder / "lmplz.arpa").stat().st_size / 1e9
        (folder / "lmplz.arpa").unlink()
        return measured
    out = folder / "model"
    command = [sys.executable, "-m", "morphlm", "train", "mkn", str(text), "--order", str(options.order), "--restart"]
    memory = ["--memory", options.memory] if way == "bounded" else ["--memory", "1T"]
    command += [*memory, "--temporary", str(folder), "--out", str(out), "--json", *pruning(options)]
    with (folder / "facts.json").open("wb") as target:
        measured = run(command, log, stdout=target)
    facts = json.loads((folder / "facts.json").read_text())
    manifest = json.loads((out / "manifest.json").read_text())
    measured |= {"ngrams": facts["ngrams"], "tokens": facts["training"]["tokens"]}
    measured |= {"digest": hashlib.sha256(json.dumps(manifest["files"]).encode()).hexdigest()}
    return measured | {"model_gb": sum(file.stat().st_size for file in out.iterdir()) / 1e9}


def pruning(options: argparse.Namespace) -> list[str]:
    return ["--prune", *options.prune.split()] if options.prune else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--tokens", type=int, default=20_000_000)
    parser.add_argument("--memory", default="2G")
    parser.add_argument("--order", type=int, default=4)
    parser.add_argument("--prune", default="")
    parser.add_argument("--lmplz")
    parser.add_argument(
        "--jumps", nargs=3, type=float, default=JUMPS, help="More of them, above all of the first, make more n-grams."
    )
    parser.add_argument("--only-generate", action="store_true", help="Make the text and stop.")
    parser.add_argument("--skip", action="append", default=[], choices=WAYS)
    options = parser.parse_args()
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / f"text-{options.tokens}"
    if not text.exists() and options.only_generate:
        generate(text, options.sources, options.tokens, tuple(options.jumps))
    if options.only_generate:
        return
    # By another process: the peak of a process that is started is at least what the one that starts it takes.
    subprocess.run([sys.executable, *sys.argv, "--only-generate"], check=True)
    variant = f"{options.tokens}-{options.order}-{options.memory}{'-pruned' if options.prune else ''}"
    record = folder / f"results-{variant}.json"
    results: dict[str, Any] = json.loads(record.read_text()) if record.exists() else {}
    for way in WAYS:
        if way in results or way in options.skip or (way == "lmplz" and not options.lmplz):
            continue
        results[way] = measure(way, text, folder, options)
        record.write_text(json.dumps(results, indent=2))
    seconds = {way: results[way]["cpu_seconds"] for way in WAYS if way in results}
    ratios = {f"to {way}": seconds["bounded"] / seconds[way] for way in seconds if way != "bounded"}
    same = len({results[way]["digest"] for way in WAYS[:2] if way in results}) == 1
    print(json.dumps(results | {"cpu_ratio": ratios, "same_bytes": same}, indent=2))


if __name__ == "__main__":
    main()
