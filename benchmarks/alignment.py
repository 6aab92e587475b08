"""Speed and memory of word alignment: pairs a second for a pass of EM, next to what the memory can do.

    python benchmarks/alignment.py [--pairs 100000] [--length 25] [--words 60000] [--threads 2] [--passes 5]

The text is generated: words by Zipf's law, equally many on both sides. A pass goes through the rows of links of each
word, which are scattered over all sentences, once to count and once to write: the limit is the time of a loop that goes
through the same rows in the same order (loading them early, too), once to add up the numbers and once to write them,
and does nothing else. The other way to find t(f|e), a binary search in a sparse row of each word, is timed as well (the
finding alone, without any counting).
If a program `fast_align` is installed, it aligns the same text: time, and the share of links in common.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import njit

from morphlm.threads import Workers, available_cores, workers
from morphlm.translation.alignment import translation_table
from morphlm.translation.alignment.config import AlignmentConfig
from morphlm.translation.alignment.kernels.expectation import AHEAD, LinkRows, load_early
from morphlm.translation.alignment.links import alignment_error_rate
from morphlm.translation.alignment.model import _Trainer, train_alignment
from morphlm.translation.alignment.parallel_text import ParallelText, Side
from morphlm.translation.alignment.pharaoh import read_pharaoh
from morphlm.translation.alignment.rows import AlignmentLayout, lay_out

Seconds = tuple[float, float]  # wall, CPU


def make_side(pairs: int, length: int, words: int, rng: np.random.Generator) -> Side:
    shares = 1 / np.arange(1, words + 1)
    drawn = np.searchsorted(np.cumsum(shares / shares.sum()), rng.random(pairs * length)).clip(0, words - 1)
    found, tokens, counts = np.unique(drawn, return_inverse=True, return_counts=True)
    numbers = np.empty(len(found), np.int32)
    numbers[np.argsort(-counts, kind="stable")] = np.arange(len(found), dtype=np.int32)
    return Side(tuple(f"w{k}" for k in range(len(found))), numbers[tokens], np.arange(pairs + 1) * length)


def timed(task: Callable[[], object]) -> Seconds:
    wall, cpu = time.perf_counter(), time.process_time()
    task()
    return time.perf_counter() - wall, time.process_time() - cpu


def report(name: str, seconds: Seconds, pairs: int, links: int) -> None:
    wall, cpu = seconds
    rate = f"{pairs / wall:10,.0f} pairs/s, {cpu / links * 1e9:6.2f} CPU ns a link"
    print(f"  {name:38s} {rate} {wall:8.3f} s wall {cpu:8.3f} s CPU", flush=True)


@njit(nogil=True, fastmath=True)
def touch_rows(rows: LinkRows, links: np.ndarray, begin: int, end: int, out: np.ndarray) -> None:
    """Read the links of every row of some words, then write them; also read the words beside them."""
    link_column, word_column = links.reshape(-1, 1), rows.generated.reshape(-1, 1)
    for word in range(begin, end):
        total = np.float32(0.0)
        for k in range(rows.first_row[word], rows.first_row[word + 1]):
            load_early(rows, link_column, word_column, k + AHEAD)
            first = rows.generated_starts[rows.row_sentence[k]]
            for j in range(rows.generated_starts[rows.row_sentence[k] + 1] - first):
                total += links[rows.row_links[k] + j] + rows.generated[first + j]
        for k in range(rows.first_row[word], rows.first_row[word + 1]):
            load_early(rows, link_column, word_column, k + AHEAD)
            first = rows.generated_starts[rows.row_sentence[k]]
            for j in range(rows.generated_starts[rows.row_sentence[k] + 1] - first):
                links[rows.row_links[k] + j] = total
        out[word] = total


@njit(nogil=True)
def search_all(
    given: np.ndarray, rows: LinkRows, begin: int, end: int, starts: np.ndarray, words: np.ndarray, values: np.ndarray
) -> float:
    """Find t(f|e) of every link of some sentences in a sparse table, by binary search."""
    total = 0.0
    for s in range(begin, end):
        for i in range(rows.given_starts[s], rows.given_starts[s + 1]):
            low, high = starts[given[i]], starts[given[i] + 1]
            for j in range(rows.generated_starts[s], rows.generated_starts[s + 1]):
                at = low + np.searchsorted(words[low:high], rows.generated[j])
                total += values[at]
    return total


def given_words(layout: AlignmentLayout) -> np.ndarray:
    """The given word of every row in order of the text: what the layout was made from."""
    given = np.empty(len(layout.rows.row_links), np.int32)
    words = np.repeat(np.arange(layout.given_words, dtype=np.int32), np.diff(layout.rows.first_row))
    given[np.argsort(np.argsort(layout.rows.row_links, kind="stable"))] = words
    return given


def measure_passes(layout: AlignmentLayout, passes: int, pool: Workers, pairs: int) -> tuple[_Trainer, Seconds]:
    """Passes of EM in turns with the limit; the least times of each."""
    trainer = _Trainer(layout, AlignmentConfig(), pool)
    space, out = np.zeros(layout.links, np.float32), np.zeros(layout.given_words, np.float32)

    def limit() -> None:
        pool.run_pieces(lambda piece, _: touch_rows(layout.rows, space, *layout.pieces[piece], out), len(layout.pieces))

    trainer.run(), limit()  # compiled or loaded
    times = [(timed(trainer.run), timed(limit)) for _ in range(passes)]
    ours, least = (tuple(map(min, zip(*part, strict=True))) for part in zip(*times, strict=True))
    report("a pass of EM", ours, pairs, layout.links)  # type: ignore[arg-type]
    report("limit: rows read and written", least, pairs, layout.links)  # type: ignore[arg-type]
    print(f"  share of the limit: {least[0] / ours[0]:.0%} by wall time, {least[1] / ours[1]:.0%} by CPU time")
    return trainer, ours  # type: ignore[return-value]


def measure_search(trainer: _Trainer, text: ParallelText, pool: Workers, pairs: int) -> None:
    translation_table.LEAST = 0.0  # all entries, as a table that is searched needs them
    layout = trainer.layout
    table = translation_table.collect_translation_table(
        layout, trainer.links, text.source.words, text.target.words, pool
    )
    given = given_words(layout)
    arrays = table.starts, table.words, table.probabilities
    search_all(given, layout.rows, 0, 1, *arrays)

    def search() -> None:
        pool.run_ranges(lambda begin, end: search_all(given, layout.rows, begin, end, *arrays), pairs, 256)

    report("t(f|e) by binary search, finding alone", timed(search), pairs, layout.links)
    print(f"  the table has {len(table.words):,} entries, {len(table.words) / layout.links:.0%} of the links")


def measure_fast_align(text: ParallelText, pairs: int) -> None:
    program = shutil.which("fast_align")
    if program is None:
        print("fast_align is not installed (Debian has no package of it): not compared")
        return
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "pairs"), Path(folder, "links")
        with path.open("w") as file:
            for k in range(pairs):
                file.write(f"{' '.join(text.source.sentence(k))} ||| {' '.join(text.target.sentence(k))}\n")
        begin = time.perf_counter()
        with out.open("wb") as file_out:
            subprocess.run(
                [program, "-i", path, "-d", "-o", "-v"], stdout=file_out, stderr=subprocess.DEVNULL, check=True
            )
        theirs = time.perf_counter() - begin
        begin = time.perf_counter()
        found = train_alignment(
            text, AlignmentConfig(iterations=4)
        ).alignments  # its fifth pass only reads the links off
        ours = time.perf_counter() - begin
        common = 1 - alignment_error_rate(found, read_pharaoh(out, text))
    print(f"fast_align: {theirs:.1f} s, ours {ours:.1f} s; links in common {common:.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in [("pairs", 100_000), ("length", 25), ("words", 60_000), ("passes", 5)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--threads", type=int, default=available_cores())
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    text = ParallelText(*(make_side(options.pairs, options.length, options.words, rng) for _ in range(2)))
    layout = lay_out(text.source, text.target)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{options.pairs:,} pairs of {options.length} words, {layout.links:,} links, {options.threads} threads")
    with workers(options.threads) as pool:
        trainer, _ = measure_passes(layout, options.passes, pool, options.pairs)
        report("the best links", timed(trainer.best), options.pairs, layout.links)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"  memory {peak / 1e6:.2f} GB, {(peak - before) / 1e6:.2f} of it for the passes and the limit's copy")
        measure_search(trainer, text, pool, options.pairs)
    measure_fast_align(text, options.pairs)


if __name__ == "__main__":
    main()
