"""What `morphlm learn` makes of raw texts, beside Kneser-Ney and the default models of the same division.

    python benchmarks/learning.py OUT czech-novels=cs-novels.txt.xz finnish=help/fi [--bytes 6000000] [--minutes 5]

For each NAME=TEXT (a file or folder; of a file only the first --bytes are taken, up to the end of a line), the command
runs in a process of its own and writes to OUT/NAME; then `train mkn`, `train clbl++` and `mix` run with their defaults
on the three texts that it has written. Prints a table in Markdown: test perplexities per word, with unknown words
spelled, since vocabularies may differ; seconds are CPU seconds of the whole command, compilation included only if the
kernels were not compiled before.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

from morphlm import load, mix, train, train_ngram, train_spelling
from morphlm.files import open_binary
from morphlm.language_model.base import LanguageModel
from morphlm.learning.record import read_record
from morphlm.learning.schema import KNESER_NEY

HEADER = (
    "text",
    "language",
    "tokens",
    "CPU s",
    "min",
    "MKN",
    "default mixture",
    "learned",
    "to MKN",
    "to default",
    "composed",
)


def beginning(text: Path, size: int, out: Path) -> Path:
    """So many bytes of a file, decompressed, up to the end of a line; a folder as it is."""
    if text.is_dir():
        return text
    with open_binary(text) as stream:
        data = stream.read(size)
    out.write_bytes(data[: data.rfind(b"\n") + 1])
    return out


def cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_learn(text: Path, out: Path, options: list[str]) -> tuple[float, float]:
    """CPU seconds and minutes."""
    before, began = cpu_seconds(), time.monotonic()
    command = [sys.executable, "-m", "morphlm", "learn", text, "--out", out, *options]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return cpu_seconds() - before, (time.monotonic() - began) / 60


def spelled(model: LanguageModel, text: Path) -> float:
    result = model.perplexity(text, spelling=train_spelling(model.vocabulary), prepared=True).open_vocabulary
    assert result is not None
    return result.perplexity


def default_mixture(texts: Path) -> float:
    """That of `train mkn --kappa 0.2`, `train clbl++` and `mix`, all else by default."""
    names = (texts / f"{part}.txt" for part in ("train", "dev", "test"))
    train_text, dev, test = names
    models = [train_ngram(train_text, kappa=0.2), train("clbl++", train_text, dev)]
    return spelled(mix(models, dev, prepared=True), test)


def row(name: str, text: Path, out: Path, options: list[str]) -> list[str]:
    seconds, minutes = run_learn(text, out, options)
    record = read_record(out / "learn.json")
    assert record.text is not None
    assert record.result is not None
    default = default_mixture(out / "text")
    learned = spelled(load(out), out / "text" / "test.txt")
    mkn = record.result.perplexities[KNESER_NEY].test_spelled
    composed = "-" if record.result.composable is None else f"{100 * record.result.composable:.0f} %"
    changes = [f"{100 * (learned / other - 1):+.1f} %".replace("-", "−") for other in (mkn, default)]
    sizes = [f"{record.text.tokens:,}", f"{seconds:.0f}", f"{minutes:.1f}"]
    return [
        name,
        str(record.text.language),
        *sizes,
        f"{mkn:.1f}",
        f"{default:.1f}",
        f"{learned:.1f}",
        *changes,
        composed,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("texts", nargs="+", metavar="NAME=TEXT")
    parser.add_argument("--bytes", type=int, default=6_000_000)
    parser.add_argument("--minutes")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    options = ["--no-caches"]  # the models beside have none
    options += [] if arguments.minutes is None else ["--minutes", arguments.minutes]
    print("| " + " | ".join(HEADER) + " |\n" + "|---" * len(HEADER) + "|", flush=True)
    for entry in arguments.texts:
        name, _, text = entry.partition("=")
        raw = beginning(Path(text), arguments.bytes, arguments.out / f"{name}.txt")
        print("| " + " | ".join(row(name, raw, arguments.out / name, options)) + " |", flush=True)


if __name__ == "__main__":
    main()
