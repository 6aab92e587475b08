"""Speed of finding rules: sorting suffixes, and extracting the grammar of a sentence, on text that is given.

    python benchmarks/grammar.py SOURCE TARGET ALIGNMENT SENTENCES [--sentences 50]
    python benchmarks/grammar.py --read FILE

All texts are tokenised. CPU seconds, for sentences of 20 to 30 words. The sort is compared with one pass of NumPy's
sort over as many numbers, measured in the same run, and reading the rules of these sentences as a file with taking each
line apart in Python. With `--read FILE` only the reading of a grammar file is measured.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.files import open_binary
from morphlm.translation.alignment.links import alignments_of
from morphlm.translation.alignment.parallel_text import read_parallel
from morphlm.translation.alignment.pharaoh import read_pharaoh
from morphlm.translation.grammar.bitext import build_bitext
from morphlm.translation.grammar.extra_rules import ExtraRules
from morphlm.translation.grammar.extraction import GrammarExtractor
from morphlm.translation.grammar.files import read_sentences, write_all
from morphlm.translation.grammar.reading import read_rules
from morphlm.translation.grammar.rules import RuleTable, parse_rule, table_of
from morphlm.translation.grammar.suffix_array import sort_suffixes


def seconds_of(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    begin = time.process_time()
    result = work(*arguments)
    return time.process_time() - begin, result


def read_line_by_line(path: str | Path) -> RuleTable:
    """What `read_rules` did once: an object for each rule."""
    with open_binary(path) as file:
        return table_of(parse_rule(line.decode().rstrip("\n")) for line in file)


def measure_reading(path: str | Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "small").write_text("[X] ||| a [X,1] ||| [X,1] b ||| F=1 ||| 0-1\n")
        read_rules(Path(folder) / "small")  # compiles
    slow, expected = seconds_of(read_line_by_line, path)
    fast, table = seconds_of(read_rules, path)
    same = all(
        np.array_equal(one, other) for one, other in zip(vars(table).values(), vars(expected).values(), strict=True)
    )
    indexing, _ = seconds_of(ExtraRules, table)
    print(
        f"{len(table):,} rules read in {fast:.2f} s, {slow / fast:.1f} x as fast as line by line, {slow:.2f} s; {same=}"
    )
    print(f"indexed by the words of their source sides in {indexing:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="*", metavar="SOURCE TARGET ALIGNMENT SENTENCES")
    parser.add_argument("--sentences", type=int, default=50, help="how many are taken")
    parser.add_argument("--read", metavar="FILE", help="measure only how a grammar is read")
    options = parser.parse_args()
    if options.read:
        measure_reading(options.read)
        return
    if len(options.texts) != 4:
        parser.error("four files are needed: source, target, alignment and sentences")
    source, target, alignment, sentences = options.texts
    text = read_parallel(source, target)
    links = read_pharaoh(alignment, text)
    build_bitext(read_parallel([["a"]], [["x"]]), alignments_of([[(0, 0)]]))  # compiles
    building, bitext = seconds_of(build_bitext, text, links)
    sorting, _ = seconds_of(sort_suffixes, bitext.source.tokens)
    one_pass, _ = seconds_of(np.sort, np.random.default_rng(1).integers(0, 1 << 60, len(bitext.source.tokens)))
    print(f"{len(text):,} pairs, {len(bitext.source.tokens):,} source tokens: built in {building:.1f} s")
    print(f"suffixes sorted in {sorting:.1f} s, {sorting / one_pass:.1f} x np.sort of as many numbers")
    chosen = [tokens for tokens in read_sentences(sentences) if 20 <= len(tokens) <= 30][: options.sentences]
    extractor = GrammarExtractor(bitext)
    extractor.extract(chosen[0])  # compiles
    extractor = GrammarExtractor(bitext)
    times = [seconds_of(extractor.extract, tokens) for tokens in chosen]
    taken, sizes = np.array([took for took, _ in times]), [len(table) for _, table in times]
    words = np.mean([len(tokens) for tokens in chosen])
    print(f"{len(chosen)} sentences of {words:.1f} words: {np.mean(sizes):,.0f} rules each")
    print(
        f"{taken.mean():.3f} s a sentence, the first ten {taken[:10].mean():.3f}, the last ten {taken[-10:].mean():.3f}"
    )
    with tempfile.TemporaryDirectory() as folder:
        write_all(Path(folder) / "grammar", [table for _, table in times])
        measure_reading(Path(folder) / "grammar")
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
