"""What checking a model against its schema adds to loading it, in turns with loading without the checks.

    python benchmarks/loading.py [--words 206000] [--width 200] [--loads 7]

CLBL++ with random parameters, and modified Kneser-Ney of order 4 on a random text with the same vocabulary. Loading
hashes every file and runs the self-test either way. Times are CPU seconds, the least of all loads.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np

import morphlm
from morphlm.classes.frequency import frequency_bins
from morphlm.logbilinear.config import variant
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.logbilinear.parameters import initial_parameters
from morphlm.logbilinear.structure import build_structure
from morphlm.schema import ArtefactSchema
from morphlm.segmentation.factors import build_factors
from morphlm.segmentation.sources.factorisation import from_mapping
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import Vocabulary

CHECKS = ("check_records", "check_tensors", "check_contents")
TOKENS, SENTENCE, CLASSES = 2_000_000, 20, 454


def write_models(folder: Path, words: int, width: int) -> list[Path]:
    forms = [f"slovo{k // 20:05d}koncovka{k % 20}" for k in range(words)]
    vocabulary = Vocabulary((*RESERVED, *forms), np.arange(words + len(RESERVED), 0, -1))
    factors = build_factors(vocabulary, from_mapping({form: [form[:10], form[10:]] for form in forms}, "benchmark"))
    config = variant("clbl++", order=4, width=width)
    structure = build_structure(config, vocabulary, frequency_bins(vocabulary, CLASSES), factors)
    LogBilinearModel(config, structure, initial_parameters(config, structure, 1, 0.1), {}).save(folder / "clbl++")
    shares = 1 / np.arange(1, words + 1)
    ids = np.random.default_rng(1).choice(words, TOKENS, p=shares / shares.sum())
    text = [[forms[word] for word in ids[k : k + SENTENCE]] for k in range(0, TOKENS, SENTENCE)]
    morphlm.train_ngram(text, order=4, vocabulary=vocabulary).save(folder / "mkn")
    return [folder / "clbl++", folder / "mkn"]


@contextlib.contextmanager
def unchecked() -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for name in CHECKS:
            stack.enter_context(mock.patch.object(ArtefactSchema, name, lambda *_: None))
        yield


def seconds_to_load(path: Path) -> float:
    begin = time.process_time()
    morphlm.load(path)
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=206_000)
    parser.add_argument("--width", type=int, default=200)
    parser.add_argument("--loads", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for path in write_models(Path(folder), options.words, options.width):
            morphlm.load(path)  # compiles kernels
            times: dict[str, list[float]] = {"checked": [], "unchecked": []}
            for _ in range(options.loads):
                times["checked"].append(seconds_to_load(path))
                with unchecked():
                    times["unchecked"].append(seconds_to_load(path))
            checked, without = min(times["checked"]), min(times["unchecked"])
            size = sum(file.stat().st_size for file in path.iterdir()) / 1e6
            print(
                f"{path.name:8} {size:5.0f} MB  checked {checked:.3f} s  unchecked {without:.3f} s  "
                f"{100 * (checked / without - 1):+.1f} % (at most +15 %)"
            )


if __name__ == "__main__":
    main()
