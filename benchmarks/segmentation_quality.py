"""Boundary precision, recall and F1 next to `morfessor` and `morfessor-flatcat`, trained on the same words.

    python benchmarks/segmentation_quality.py [VOCABULARY] GOLD [--corpus-weight 1.0] [--turkish]

VOCABULARY is `word TAB count` as `morphlm vocab` writes it, GOLD any format that `morphlm segment --gold` reads. All
learn from word types with the same corpus weight; the scores are those of the gold words that are among them. Without
a vocabulary the gold words themselves are learned from, never their segmentations. --turkish is for the Turkish of the
Morpho Challenge, which writes its special letters as capitals. FlatCat starts from Morfessor's baseline and has its own
defaults otherwise (perplexity threshold 10, heuristic removal of non-morphemes). It needs 15 CPU minutes for 50,000
words.
"""

from __future__ import annotations

import argparse
import random
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace

from morphlm.segmentation.evaluation import evaluate
from morphlm.segmentation.gold import Gold, read_gold
from morphlm.segmentation.morphemes import Morpheme
from morphlm.segmentation.segmenter import train_segmenter
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import load_vocabulary

Analyses = Mapping[str, Sequence[Morpheme]]
TURKISH_LETTERS = str.maketrans("CGIOSU", "çğıöşü")


def read_turkish(path: str) -> Gold:
    gold = read_gold(path, lowercase=False)
    analyses = {
        word.translate(TURKISH_LETTERS): tuple(
            tuple(morph.translate(TURKISH_LETTERS) for morph in morphs) for morphs in alternatives
        )
        for word, alternatives in gold.analyses.items()
    }
    return replace(gold, analyses=analyses)


def read_words(vocabulary: str | None, gold: Gold) -> list[str]:
    return list(gold) if vocabulary is None else list(load_vocabulary(vocabulary).words[len(RESERVED) :])


def morfessor_baseline(words: Sequence[str], corpus_weight: float) -> dict[str, list[str]]:
    import morfessor  # noqa: PLC0415

    random.seed(1)
    model = morfessor.BaselineModel(corpusweight=corpus_weight)
    model.load_data([(1, word) for word in words])
    model.train_batch("recursive", finish_threshold=0.005)
    return {word: model.segment(word) for word in words}


def flatcat(baseline: Mapping[str, Sequence[str]], corpus_weight: float) -> dict[str, list[Morpheme]]:
    from flatcat.categorizationscheme import (  # noqa: PLC0415
        CategorizedMorph,
        HeuristicPostprocessor,
        MorphUsageProperties,
    )
    from flatcat.flatcat import FlatcatModel  # noqa: PLC0415

    model = FlatcatModel(MorphUsageProperties(ppl_threshold=10), corpusweight=corpus_weight)
    model.add_corpus_data([(1, tuple(map(CategorizedMorph, morphs))) for morphs in baseline.values()])
    model.initialize_hmm()
    model.train_batch()
    clean = HeuristicPostprocessor()
    analyses = {}
    for segmentation in model.segmentations:
        morphs = clean.apply_to(tuple(CategorizedMorph(m.morph, m.category) for m in segmentation.analysis), model)
        analyses["".join(m.morph for m in morphs)] = [Morpheme(m.morph, m.category) for m in morphs]
    return analyses


def report(name: str, analyses: Analyses, gold: Gold, seconds: float) -> None:
    scores = evaluate(analyses, gold)
    figures = f"P {scores.precision:.3f}  R {scores.recall:.3f}  F1 {scores.f1:.3f}  of {scores.words:,} words"
    print(f"{name:<12} {figures}  {seconds:8.1f} CPU s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vocabulary", nargs="?")
    parser.add_argument("gold")
    parser.add_argument("--corpus-weight", type=float, default=1.0)
    parser.add_argument("--turkish", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    gold = read_turkish(options.gold) if options.turkish else read_gold(options.gold)
    words = read_words(options.vocabulary, gold)
    train_segmenter(dict.fromkeys(words[:50], 1))  # compiles the kernels

    begin = time.process_time()
    ours = train_segmenter(dict.fromkeys(words, 1), corpus_weight=options.corpus_weight)
    report("morphlm", ours.segmentation.analyses, gold, time.process_time() - begin)
    begin = time.process_time()
    baseline = morfessor_baseline(words, options.corpus_weight)
    with_forms = {word: [Morpheme(morph) for morph in morphs] for word, morphs in baseline.items()}
    report("morfessor", with_forms, gold, time.process_time() - begin)
    begin = time.process_time()
    report("flatcat", flatcat(baseline, options.corpus_weight), gold, time.process_time() - begin)


if __name__ == "__main__":
    main()
