"""Make the train, dev and test texts of the perplexity experiments.

    python benchmarks/make_corpora.py DATA OUT [LANGUAGE...] [--tokens 1000000 | --all] [--processes 1]

DATA is a folder of raw text as `morphlm.experiments.corpora` describes it. The texts of each language go to a folder
of its own, OUT/LANGUAGE.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from morphlm.errors import MorphlmError
from morphlm.experiments.corpora import RECIPES, prepare_language


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help=f"of {', '.join(RECIPES)}; default: all")
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--all", action="store_true", help="all the text there is, for word vectors")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    try:
        for language in options.languages or RECIPES:
            out = options.out / language
            tokens = None if options.all else options.tokens
            texts = prepare_language(options.data, language, out, tokens=tokens, processes=options.processes)
            for part, counts in texts.counts.items():
                print(f"{language} {part:<5} {counts.format()}", flush=True)
    except MorphlmError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
