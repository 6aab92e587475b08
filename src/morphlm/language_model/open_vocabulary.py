"""Text with an open vocabulary: unknown words with probabilities of their own, and bits for each character.

A stage of perplexity, after the model has scored unknown words as UNK.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from morphlm.arrays import Float64Array
from morphlm.display import dataclass_repr
from morphlm.language_model.signature import Signature
from morphlm.tables import counted, finite_or_none
from morphlm.vocabulary.corpus import Corpus
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID


class Spelling(Protocol):
    """How words are spelled that a vocabulary does not have."""

    def log_shares(self, words: Sequence[str]) -> Float64Array:
        """ln of each word's share of P(UNK)."""


@dataclass(frozen=True)
class OpenVocabulary:
    """Figures of a text in which every unknown word has a probability of its own: P(UNK) times its share of it.

    A token <unk> of the text itself has no spelling; such tokens are left out of the figures.
    """

    perplexity: float  # for each word and each end of a sentence
    bits_per_character: float
    characters: int  # code points of the text, with one space between words and a line end after each sentence
    tokens: int  # words and sentence ends
    unspelled: int  # tokens <unk>, left out
    logprob: float  # sum of ln p over the tokens
    signature: Signature

    __repr__ = dataclass_repr

    def format(self) -> str:
        left_out = f", {self.unspelled:,} <unk> left out" if self.unspelled else ""
        return (
            f"  spelled     {self.perplexity:.2f} with unknown words spelled, {self.bits_per_character:.4f} bits per "
            f"character ({counted(self.characters, 'character')}{left_out})\n"
            f"  signature   {self.signature}"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "perplexity": finite_or_none(self.perplexity),
            "bits_per_character": finite_or_none(self.bits_per_character),
            "characters": self.characters,
            "tokens": self.tokens,
            "unspelled": self.unspelled,
            "logprob": finite_or_none(self.logprob),
            "signature": str(self.signature),
        }


def summarise_open(corpus: Corpus, logprobs: Float64Array, signature: Signature) -> OpenVocabulary:
    """The figures of a text whose new words were kept and spelled."""
    assert corpus.new_words is not None
    kept = corpus.new_words.tokens != UNK_ID
    total, characters = float(logprobs[kept].sum()), count_characters(corpus)
    return OpenVocabulary(
        perplexity=perplexity_from(logprobs[kept]),
        bits_per_character=-total / math.log(2) / characters,
        characters=characters,
        tokens=int(kept.sum()),
        unspelled=int((~kept).sum()),
        logprob=total,
        signature=signature.with_field("unk", "spelled", after="unk"),
    )


def with_shares(corpus: Corpus, logprobs: Float64Array, spelling: Spelling) -> Float64Array:
    """Add ln of its share of P(UNK) to the log-probability of each new word."""
    assert corpus.new_words is not None
    new = corpus.new_words.tokens - len(corpus.vocabulary)
    positions = np.flatnonzero(new >= 0)
    result = logprobs.copy()
    result[positions] += spelling.log_shares(corpus.new_words.forms)[new[positions]]
    return result


def count_characters(corpus: Corpus) -> int:
    """The code points of a text whose new words were kept: words, a space between two, a line end after a sentence.

    What `wc -m` counts, if the tokens <unk> of the text itself are removed from it.
    """
    assert corpus.new_words is not None
    tokens = corpus.new_words.tokens
    tokens = tokens[tokens != UNK_ID]
    words = (*corpus.vocabulary.words, *corpus.new_words.forms)
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    lengths[END_ID] = -1  # the line end is counted with the last word
    begins_line = np.concatenate([[True], tokens[:-1] == END_ID])
    return int((lengths[tokens] + 1).sum()) + int((begins_line & (tokens == END_ID)).sum())


def perplexity_from(logprobs: Float64Array) -> float:
    """exp(-1/N sum ln p)."""
    with np.errstate(over="ignore"):  # beyond what a float holds it is infinite
        return float(np.exp(-logprobs.mean())) if len(logprobs) else math.nan
