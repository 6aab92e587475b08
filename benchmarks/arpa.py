"""Time to read an ARPA file, as a ratio to KenLM's Python module, in turns in the same run.

    python benchmarks/arpa.py TEXT [--order 3] [--runs 5]
    python benchmarks/arpa.py MODEL.arpa [--runs 5]

TEXT has a sentence a line, its tokens between spaces; a modified Kneser-Ney model of it is written as ARPA first.
KenLM (`pip install kenlm`) reads the file into its default structure, a probing hash table. Times are CPU seconds, the
least of all runs; both read with one thread. "first" is our first reading, which loads or compiles kernels.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import morphlm


def cpu_seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def measure(path: Path, runs: int) -> dict[str, float]:
    import kenlm  # noqa: PLC0415  only here

    first = cpu_seconds(lambda: morphlm.load(path))
    ours, theirs = [], []
    for _ in range(runs):
        theirs.append(cpu_seconds(lambda: kenlm.Model(str(path))))
        ours.append(cpu_seconds(lambda: morphlm.load(path)))
    return {
        "megabytes": path.stat().st_size / 1e6,
        "first": first,
        "morphlm": min(ours),
        "kenlm": min(theirs),
        "ratio": min(ours) / min(theirs),  # at most 2
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--order", type=int, default=3)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.text
        if path.suffix != ".arpa":
            path = Path(folder) / "model.arpa"
            morphlm.train_ngram(options.text, order=options.order).write_arpa(path)
        print(json.dumps(measure(path, options.runs), indent=2))


if __name__ == "__main__":
    main()
