"""mu by name: the source of a word's factors as one writes it on a command line, `KIND:WHAT`."""

from __future__ import annotations

import re
from collections.abc import Callable

from morphlm.errors import ConfigError
from morphlm.segmentation.analyser import MorphemeAnalyser
from morphlm.segmentation.segmenter import MorphemeSegmenter
from morphlm.segmentation.sources import (
    Factorisation,
    character_ngrams,
    from_segmentation,
    read_conllu,
    read_morfessor,
    read_table,
    train_pieces,
)
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.vocabulary import Vocabulary

# kind -> what stands behind the colon; what it is
KINDS = {
    "segmenter": ("DIR", "a segmenter that `morphlm segment --save` wrote"),
    "morfessor": ("FILE", "lines of Morfessor or FlatCat: `count morph/CAT + morph/CAT`"),
    "table": ("FILE", "a table of your own: `word TAB factor factor ...`"),
    "conllu": ("FILE", "lemma, part of speech and features of a CoNLL-U file"),
    "ngrams": ("3-5", "character n-grams of these lengths"),
    "unigram": ("8000", "sentencepiece, unigram model, with so many pieces"),
    "bpe": ("8000", "sentencepiece, byte pair encoding, with so many pieces"),
}


def choose_source(choice: str, vocabulary: Vocabulary, *, labels: bool = True) -> Factorisation:
    """The source that `KIND:WHAT` names. Without `labels`, `in/PRE` and `in/STM` are one factor."""
    kind, colon, what = choice.partition(":")
    if kind not in KINDS or not (colon and what):
        known = ", ".join(f"{name}:{example}" for name, (example, _) in KINDS.items())
        raise ConfigError(f"{choice!r} names no source of factors; give one of {known}")
    return _MAKERS[kind](what, vocabulary, labels)


def _segmenter(path: str, vocabulary: Vocabulary, labels: bool) -> Factorisation:
    return segmenter_source(MorphemeSegmenter.load(path), vocabulary, f"segmenter {path}", labels=labels)


def segmenter_source(
    segmenter: MorphemeSegmenter, vocabulary: Vocabulary, source: str, *, labels: bool = True
) -> Factorisation:
    """The morphemes of a vocabulary by a segmenter, which stays with them for other words."""
    segmentation = segmenter.segment_all(vocabulary.words[len(RESERVED) :])
    analyser = MorphemeAnalyser(segmenter.paths, labels=labels and segmenter.config.categories)
    return from_segmentation(segmentation, labels=labels, source=source, analyser=analyser)


def _morfessor(path: str, vocabulary: Vocabulary, labels: bool) -> Factorisation:
    return from_segmentation(read_morfessor(path), labels=labels, source=f"morfessor {path}")


def _ngrams(lengths: str, vocabulary: Vocabulary, labels: bool) -> Factorisation:
    found = re.fullmatch(r"(\d{1,3})-(\d{1,3})", lengths)
    if found is None:
        raise ConfigError(f"ngrams:{lengths} is not a range of lengths; write it like ngrams:3-5")
    return character_ngrams(int(found[1]), int(found[2]))


def _pieces(model: str) -> Callable[[str, Vocabulary, bool], Factorisation]:
    def train(size: str, vocabulary: Vocabulary, labels: bool) -> Factorisation:
        if not (size.isascii() and size.isdecimal() and len(size) < 9):
            raise ConfigError(f"{model}:{size} is not a number of pieces; write it like {model}:8000")
        words = dict(zip(vocabulary.words, vocabulary.counts.tolist(), strict=True))
        for mark in RESERVED:
            del words[mark]
        return train_pieces(words, model="bpe" if model == "bpe" else "unigram", size=int(size)).factorisation()

    return train


_MAKERS: dict[str, Callable[[str, Vocabulary, bool], Factorisation]] = {
    "segmenter": _segmenter,
    "morfessor": _morfessor,
    "table": lambda path, vocabulary, labels: read_table(path),
    "conllu": lambda path, vocabulary, labels: read_conllu(path),
    "ngrams": _ngrams,
    "unigram": _pieces("unigram"),
    "bpe": _pieces("bpe"),
}
