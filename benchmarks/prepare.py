"""How fast `morphlm prepare` is on one core: tokens a second, and as a share of a plain split of the same text.

    python benchmarks/prepare.py [--tokens 500000]

The text is generated: words of a long-tailed vocabulary with Czech letters,
capitals, numbers, abbreviations and punctuation. Reading, checking and writing of files are part of what is measured.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from morphlm.text.preparation import PrepareOptions
from morphlm.text.prepare import prepare_files

LETTERS = np.array(list("aeiouyáéěíóůúbcčdďfghjklmnňpqrřsštťvzž"))
REPEATS = 3
TYPES, MEAN_LENGTH = 50_000, 20


def generated_text(tokens: int, rng: np.random.Generator) -> bytes:
    """Lines of about 20 words drawn from Zipf's law."""
    words = ["".join(rng.choice(LETTERS, size)) for size in rng.integers(2, 12, TYPES)]
    words[::50] = [word.capitalize() + "." for word in words[::50]]
    words[7::40] = [str(number) for number in rng.integers(0, 100_000, len(words[7::40]))]
    words[3::10] = [word + "," for word in words[3::10]]
    ranks = np.minimum(rng.zipf(1.2, tokens) - 1, TYPES - 1)
    lines = np.split(ranks, np.cumsum(rng.integers(5, 2 * MEAN_LENGTH - 5, tokens // MEAN_LENGTH)))
    return "".join(" ".join(words[rank] for rank in line) + ".\n" for line in lines if len(line)).encode()


def best_seconds(job: Callable[[], object]) -> float:
    """The least CPU time of a few runs: what one core can do when nobody disturbs it."""
    seconds = []
    for _ in range(REPEATS):
        begin = time.process_time()
        job()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=500_000)
    text = generated_text(parser.parse_args().tokens, np.random.default_rng(1))
    words = len(text.split())
    plain = words / best_seconds(text.split)
    print(f"{'bytes.split':28} {plain:12,.0f} tokens/s")
    with tempfile.TemporaryDirectory() as folder:
        raw, out = Path(folder, "raw"), Path(folder, "out")
        raw.write_bytes(text)
        for name, options in {
            "without the tokeniser": PrepareOptions(tokeniser="none"),
            "same, all words filtered": PrepareOptions("ru", tokeniser="none"),
            "with the tokeniser": PrepareOptions("cs"),
        }.items():
            rate = words / best_seconds(lambda options=options: prepare_files([raw], out, options))  # type: ignore[misc]
            print(f"{name:28} {rate:12,.0f} tokens/s  {rate / plain:.4f} of bytes.split")


if __name__ == "__main__":
    main()
