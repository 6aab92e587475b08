"""Quantised n-grams: size, loading time and perplexity next to exact ones, and to KenLM's quantised trie.

    python benchmarks/quantised.py TRAIN TEST [--order 4] [--build-binary PATH]

`--build-binary` is KenLM's program (see build_lmplz.sh), which makes a trie of 8 bits from our ARPA file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import morphlm


def measure(text: Path, test: Path, order: int, out: Path, **options: Any) -> dict[str, float]:
    """Train, and load what was written."""
    morphlm.train_ngram(text, order, out=out, **options)
    begin = time.process_time()
    model = morphlm.load(out)
    loading = time.process_time() - begin
    return {
        "tensors_mb": (out / "tensors.safetensors").stat().st_size / 1e6,
        "load_cpu_seconds": loading,
        "perplexity": model.perplexity(test, prepared=True).including_unknown,
    }


def kenlm_trie(program: str, model: Any, folder: Path) -> dict[str, float]:
    """The size of KenLM's trie, exact and with 8 bits; the vocabulary in it is about as large as our vocabulary.tsv."""
    arpa, sizes = folder / "model.arpa", {}
    model.write_arpa(arpa)
    for name, bits in (("exact", []), ("quantised", ["-q", "8", "-b", "8"])):
        target = folder / f"{name}.trie"
        command = [program, *bits, "-a", "22", "trie", str(arpa), str(target)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sizes[f"{name}_mb"] = target.stat().st_size / 1e6
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("test", type=Path)
    parser.add_argument("--order", type=int, default=4)
    parser.add_argument("--build-binary")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results: dict[str, Any] = {
            way: measure(options.train, options.test, options.order, folder / way, quantise=way == "quantised")
            for way in ("exact", "quantised")
        }
        results["loss"] = results["quantised"]["perplexity"] / results["exact"]["perplexity"] - 1
        results["vocabulary_mb"] = (folder / "exact/vocabulary.tsv").stat().st_size / 1e6
        if options.build_binary:
            results["kenlm_trie"] = kenlm_trie(options.build_binary, morphlm.load(folder / "exact"), folder)
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
