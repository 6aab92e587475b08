"""How well hard-wrapped text is recognised and joined to paragraphs again.

    python benchmarks/wrapped_lines.py DIR

In DIR or below are texts (`*.txt[.xz]`), wrapped or not. Of each: its
lines, the paragraphs after joining, and the share of either that stops within a sentence; the limits in `wrapping` were
chosen with these texts. They were not with pairs of sentences (`en-LL.tsv[.xz]`: origin, English, other), of which no
line should be joined. Then paragraphs of those texts that are not wrapped are wrapped at several widths, marked by
blank lines, by an indent or by nothing, and joined again: `exact` is the share of paragraphs that come back as they
were, `within` the share that stops within a sentence though no paragraph of the text does.
"""

from __future__ import annotations

import argparse
import random
import re
import textwrap
from pathlib import Path

from morphlm.files import open_binary
from morphlm.text.wrapping import join_wrapped

WIDTHS = (50, 60, 72, 80)
PARAGRAPHS = 2000  # of each text that are wrapped
_END = re.compile(r"[.!?…:;][\"”“»›’')\]]*$")


def within(paragraphs: list[str]) -> float:
    return sum(_END.search(paragraph) is None for paragraph in paragraphs) / max(1, len(paragraphs))


def wrap(paragraphs: list[str], width: int, mark: str) -> list[str]:
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += textwrap.wrap(
            paragraph, width, initial_indent="   " * (mark == "indent"), break_long_words=False, break_on_hyphens=False
        )
        lines += [""] * (mark == "blank line")
    return lines


def pairs(folder: Path) -> None:
    for path in sorted(path for path in folder.rglob("en-*") if re.fullmatch(r"en-[a-z]{2}\.tsv(\.xz)?", path.name)):
        with open_binary(path) as stream:
            rows = [line.split("\t") for line in stream.read().decode().split("\n") if line]
        for column, side in ((1, "English"), (2, "other")):
            lines = [row[column].strip() for row in rows if len(row) == 3 and row[column].strip()]
            name = f"{path.name.removesuffix('.xz')} {side}"
            print(f"{name:26} {len(lines):8,} {len(join_wrapped(lines)):8,}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    folder = parser.parse_args().folder
    print(f"{'text':26} {'lines':>8} {'joined':>8}  within a sentence: before, after")
    plain: dict[str, list[str]] = {}
    for path in sorted(path for path in folder.rglob("*") if re.search(r"\.txt(\.xz)?$", path.name)):
        with open_binary(path) as stream:
            lines = [line.strip() for line in stream.read().decode().split("\n") if line.strip()]
        joined = join_wrapped(lines)
        shares = f"{within(lines):.3f}  {within(joined):.3f}"
        print(f"{path.name.removesuffix('.xz'):26} {len(lines):8,} {len(joined):8,}  {shares}", flush=True)
        if len(joined) > 0.999 * len(lines):
            plain[path.name] = [" ".join(line.split()) for line in lines if _END.search(line)]
    pairs(folder)
    print(f"\n{'wrapped at':12} {'marked by':12} exact  within")
    rng = random.Random(1)
    chosen = [line for lines in plain.values() for line in rng.sample(lines, min(PARAGRAPHS, len(lines)))]
    for width in WIDTHS:
        for mark in ("blank line", "indent", "nothing"):
            joined = join_wrapped(wrap(chosen, width, mark))
            exact = len({*joined} & {*chosen}) / len({*chosen})
            print(f"{width:<12} {mark:12} {exact:.3f}  {within(joined):.3f}", flush=True)


if __name__ == "__main__":
    main()
