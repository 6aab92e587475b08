"""Word vectors of fastText (skip-gram with subwords), as the reference for word similarity on the same text.

    python benchmarks/fasttext_vectors.py TEXT OUT [PAIRS...] [--width 100] [--epochs 5] [--workers 2] [--buckets N]

gensim's FastText with minimum count 1. The vectors of all words of the PAIRS files, lowercased, are written to OUT in
word2vec's binary format, those of words that are not in the text composed of their subwords, so that `morphlm
similarity OUT PAIRS...` finds all of them. Without PAIRS the whole model is written, in fastText's own format.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from gensim.models import FastText, KeyedVectors
from gensim.models.fasttext import save_facebook_model


def words_of(paths: list[str]) -> list[str]:
    """Every word of the pairs once, those of phrases one by one; sorted."""
    words: set[str] = set()
    for path in paths:
        with Path(path).open(encoding="utf-8") as file:
            for line in file:
                for phrase in line.rstrip("\n").split("\t")[:2]:
                    words.update(phrase.lower().split())
    return sorted(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("out")
    parser.add_argument("pairs", nargs="*")
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--buckets", type=int, default=2_000_000, help="rows that subwords share")
    options = parser.parse_args()
    model = FastText(
        corpus_file=options.text,
        sg=1,
        vector_size=options.width,
        epochs=options.epochs,
        min_count=1,
        seed=1,
        workers=options.workers,
        bucket=options.buckets,
    )
    if not options.pairs:
        save_facebook_model(model, options.out)
        return
    words = words_of(options.pairs)
    kept = KeyedVectors(options.width)
    kept.add_vectors(words, np.stack([model.wv[word] for word in words]))
    kept.save_word2vec_format(options.out, binary=True)
    known = sum(word in model.wv.key_to_index for word in words)
    print(f"{len(words):,} words, {known:,} of them in the text")


if __name__ == "__main__":
    main()
