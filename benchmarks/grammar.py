"""Speed of finding rules: sorting suffixes, and extracting the grammar of a sentence, on text that is given.

Usage: benchmarks/grammar.py SOURCE TARGET ALIGNMENT SENTENCES [NUMBER], all tokenised. CPU seconds, for sentences of 20
to 30 words. The sort is compared with one pass of NumPy's sort over as many numbers, measured in the same run.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from morphlm.translation.alignment.links import alignments_of
from morphlm.translation.alignment.parallel_text import read_parallel
from morphlm.translation.alignment.pharaoh import read_pharaoh
from morphlm.translation.grammar.bitext import build_bitext
from morphlm.translation.grammar.extraction import GrammarExtractor
from morphlm.translation.grammar.files import read_sentences
from morphlm.translation.grammar.suffix_array import sort_suffixes


def seconds_of(work: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    begin = time.process_time()
    result = work(*arguments)
    return time.process_time() - begin, result


def main() -> None:
    source, target, alignment, sentences, *number = sys.argv[1:]
    text = read_parallel(source, target)
    links = read_pharaoh(alignment, text)
    build_bitext(read_parallel([["a"]], [["x"]]), alignments_of([[(0, 0)]]))  # compiles
    building, bitext = seconds_of(build_bitext, text, links)
    sorting, _ = seconds_of(sort_suffixes, bitext.source.tokens)
    one_pass, _ = seconds_of(np.sort, np.random.default_rng(1).integers(0, 1 << 60, len(bitext.source.tokens)))
    print(f"{len(text):,} pairs, {len(bitext.source.tokens):,} source tokens: built in {building:.1f} s")
    print(f"suffixes sorted in {sorting:.1f} s, {sorting / one_pass:.1f} x np.sort of as many numbers")
    chosen = [tokens for tokens in read_sentences(sentences) if 20 <= len(tokens) <= 30][: int((number or ["50"])[0])]
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
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
