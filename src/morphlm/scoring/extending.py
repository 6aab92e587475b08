"""Extending a trained model by words: which of them can be added, how frequent they may be, and what became of each.

How often a word is expected in a text as long as the training text is estimated from known words of its shape, and from
its count in a text, if one is given. What all words together that stay unknown are expected to have is the number of
words that occurred once, after Good and Turing.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arguments import check_many
from morphlm.arrays import Float64Array
from morphlm.display import dataclass_repr
from morphlm.errors import ArgumentTypeError, ConfigError, InputError
from morphlm.files import source_name
from morphlm.language_model.addition import Addition
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.fitting import fit_text
from morphlm.scoring.streaming import normaliser_of
from morphlm.segmentation.encoding import normalised
from morphlm.segmentation.factors import LONGEST_NEW_WORD
from morphlm.tables import counted
from morphlm.text.reading import RESERVED, read_blocks
from morphlm.vectors.composition import origin_of
from morphlm.vocabulary.corpus import Source, read_corpus
from morphlm.vocabulary.vocabulary import BEGIN_ID, UNK_ID, Vocabulary

WordList = Iterable[str] | Mapping[str, float]

LONGEST_SHAPE = 15  # letters; longer words are of one shape
SHAPE_PRIOR = 5.0  # words: how much the mean count of shapes weighs that tell less
PRIOR_STRENGTH = 0.5  # occurrences: how much an estimate weighs against a count in a text
SHOWN = 5  # words of a list that are named

CONTROL, SEVERAL, MARK, LONG = "control characters", "white space inside", "a reserved mark", "too long"


# ---------------------------------------------------------------- which words


@dataclass(frozen=True)
class SortedWords:
    """The words of a list, as the model's text has them, by what can be done with them."""

    new: tuple[str, ...]  # each once
    known: int  # in the vocabulary already
    repeated: int  # listed before
    left_out: tuple[tuple[str, str], ...]  # a word that is none, and why

    __repr__ = dataclass_repr


def sort_words(model: LanguageModel, words: Iterable[str], *, prepared: bool | None = None) -> SortedWords:
    """Tell new words from known and repeated ones, and from what cannot be a word."""
    form = word_form(model, prepared=prepared)
    new: dict[str, None] = {}
    left_out, known, repeated = [], 0, 0
    for word in words:
        token = form(word) if not (reason := _obstacle(word)) else word
        reason = reason or _obstacle(token)
        if reason:
            left_out.append((word, reason))
        elif token in model.vocabulary.ids:
            known += 1
        elif token in new:
            repeated += 1
        else:
            new[token] = None
    return SortedWords(tuple(new), known, repeated, tuple(left_out))


def _obstacle(word: str) -> str:
    """Why a string cannot be a word of a vocabulary; '' if it can."""
    if not word or any(space in word for space in " \t\n\r"):
        return SEVERAL
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in word):
        return CONTROL
    if len(word) > LONGEST_NEW_WORD:
        return LONG
    return MARK if word in RESERVED else ""


def word_form(model: LanguageModel, *, prepared: bool | None = None) -> Callable[[str], str]:
    """What brings a word to the form that it has in the model's text, so far as that is on record."""
    if prepared or model.preparation is None:
        return normalised
    normalise = normaliser_of(model)

    def form(word: str) -> str:
        try:
            return normalised(" ".join(normalise([word])))
        except InputError:  # it would be a mark
            return RESERVED[UNK_ID]

    return form


def read_word_list(path: str | Path) -> list[str] | dict[str, float]:
    """The words of a file, one a line; if the first has a TAB and a count behind it, all must.

    What cannot be a word is no error here: `extend` tells it apart.
    """
    lines = [line.rstrip("\r") for block in read_blocks(path, marks="any") for line in block.lines()]
    lines = [line for line in lines if line.strip(" ")]
    if not lines or "\t" not in lines[0]:
        return lines
    return _counted_words(lines, source_name(path))


def _counted_words(lines: Sequence[str], source: str) -> dict[str, float]:
    counts: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        word, tab, count = line.partition("\t")
        if not (tab and count.isascii() and count.isdecimal() and len(count) < 19):
            raise InputError(
                "not `word TAB count`, as the first line is; give all words a count, or none",
                source=source,
                line=number,
            )
        counts[word] = counts.get(word, 0.0) + int(count)
    return counts


# ---------------------------------------------------------------- how frequent


def unseen_tokens(vocabulary: Vocabulary) -> float:
    """How many tokens of a text as long as the training text are expected to be words that it does not have.

    Those are as many as occurred in it once; if no such words are in the vocabulary, as many as are UNK. Without counts
    (of an ARPA file) all words are taken to be alike, and as many to be unknown as are known.
    """
    once = int((vocabulary.counts[len(RESERVED) :] == 1).sum())
    return float(once or vocabulary.counts[UNK_ID] or max(len(vocabulary) - len(RESERVED), 1))


def shape_estimates(vocabulary: Vocabulary, words: Sequence[str]) -> Float64Array:
    """The mean count of known words of the same length that consist of letters alone, or do not, as each word does."""
    shapes, coarse = [_shape(word) for word in words], np.full(len(words), 1.0)
    known = [
        (_shape(word), count)
        for word, count in zip(
            vocabulary.words[len(RESERVED) :], vocabulary.counts[len(RESERVED) :].tolist(), strict=True
        )
        if count
    ]
    if known:
        coarse[:] = sum(count for _, count in known) / len(known)
    for detail in range(1, 3):
        totals: Counter[tuple[int | bool, ...]] = Counter()
        numbers = Counter(shape[:detail] for shape, _ in known)
        for shape, count in known:
            totals[shape[:detail]] += count
        own = [(totals[shape[:detail]], numbers[shape[:detail]]) for shape in shapes]
        sums, sizes = np.array(own, np.float64).reshape(-1, 2).T
        coarse = (sums + SHAPE_PRIOR * coarse) / (sizes + SHAPE_PRIOR)
    return coarse


def _shape(word: str) -> tuple[int | bool, ...]:
    return min(len(word), LONGEST_SHAPE), word.isalpha()


def with_counts(estimates: Float64Array, counts: Float64Array, scale: float) -> Float64Array:
    """Estimates corrected by counts in a text `scale` times as long as the training text.

    The mean of the Gamma distribution that remains of one around the estimate after Poisson-distributed counts.
    """
    corrected: Float64Array = (PRIOR_STRENGTH + counts) / (PRIOR_STRENGTH / estimates + scale)
    return corrected


def _training_tokens(vocabulary: Vocabulary) -> int:
    return max(int(np.delete(vocabulary.counts, BEGIN_ID).sum()), 1)


def make_addition(
    model: LanguageModel, words: Sequence[str], counts: Mapping[str, float] | None = None, scale: float = 1.0
) -> Addition:
    """The words with their weights; `counts` are of a text `scale` times as long as the training text."""
    weights = shape_estimates(model.vocabulary, words)
    if counts is not None:
        given = np.array([counts.get(word, 0.0) for word in words], np.float64)
        weights = with_counts(weights, given, scale)
    return Addition(tuple(words), weights, unseen_tokens(model.vocabulary))


# ---------------------------------------------------------------- extending


@dataclass(frozen=True, eq=False)
class Extended:
    """A model with more words, and what became of the words that were listed."""

    model: LanguageModel
    words: SortedWords
    stem_known: int  # of the new words: composed of morphemes with a stem among them, or of other known factors
    affixes: int  # only affixes are known
    unknown: int  # nothing is known: their share depends on their ending and their shape

    __repr__ = dataclass_repr

    def format(self) -> str:
        new = len(self.words.new)
        lines = [f"{counted(new, 'word')} added, {len(self.model.vocabulary):,} in all"]
        if self.stem_known or self.affixes or self.unknown:
            parts = f"stem known {self.stem_known:,}, only affixes {self.affixes:,}, nothing {self.unknown:,}"
            lines.append(f"  of their morphemes: {parts}")
        if self.words.known or self.words.repeated:
            lines.append(f"  in the vocabulary already {self.words.known:,}, listed twice {self.words.repeated:,}")
        for reason, number in Counter(reason for _, reason in self.words.left_out).items():
            shown = [ascii(word)[:40] for word, why in self.words.left_out if why == reason][:SHOWN]
            lines.append(f"  left out, {reason}: {number:,} ({', '.join(shown)}{', ...' if number > SHOWN else ''})")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        return {
            "vocabulary": len(self.model.vocabulary),
            "added": len(self.words.new),
            "stem_known": self.stem_known,
            "affixes": self.affixes,
            "unknown": self.unknown,
            "known": self.words.known,
            "repeated": self.words.repeated,
            "left_out": [{"word": word, "reason": reason} for word, reason in self.words.left_out],
        }


def extend(
    model: LanguageModel, words: WordList, text: Source | None = None, *, prepared: bool | None = None
) -> Extended:
    """Extend a model by words, which share the probability of UNK; known words keep their probability.

    `words` may be a mapping to counts in a text as long as the training text. A `text` that has the words tells how
    frequent they are; both are prepared like the training text, unless they are `prepared` already.
    """
    if isinstance(words, str | bytes):
        raise ArgumentTypeError("a single string is no list of words; give a list of str")
    check_many(words)
    counts = dict(words) if isinstance(words, Mapping) else None
    if counts is not None and text is not None:
        raise ConfigError("words with counts and a text to count them in are given; give one of them")
    listed = list(words)
    for word in listed:
        if not isinstance(word, str):
            raise ArgumentTypeError(f"{word!r} is no word; give a list of str")
    chosen = sort_words(model, listed, prepared=prepared)
    if not chosen.new:
        return Extended(model, chosen, 0, 0, 0)
    addition = _weighted(model, chosen.new, counts, text, prepared)
    extended = model._with_addition(addition)
    return Extended(extended, chosen, *_origins(extended, chosen.new))


def _weighted(
    model: LanguageModel,
    words: Sequence[str],
    counts: Mapping[str, float] | None,
    text: Source | None,
    prepared: bool | None,
) -> Addition:
    if counts is not None:
        return make_addition(model, words, _by_form(counts, word_form(model, prepared=prepared)))
    if text is None:
        return make_addition(model, words)
    found = read_corpus(fit_text(model, text, prepared=prepared)).words
    in_text = dict(zip(found.forms, found.counts.tolist(), strict=True))
    tokens = found.tokens + found.sentences
    return make_addition(model, words, in_text, tokens / _training_tokens(model.vocabulary))


def _by_form(counts: Mapping[str, float], form: Callable[[str], str]) -> dict[str, float]:
    """Counts of words as the model's text has them."""
    summed: dict[str, float] = {}
    for word, count in counts.items():
        if not isinstance(count, int | float) or not 0 <= count < np.inf:
            raise ConfigError(f"the count of {word!r} is {count!r}; give a number from 0 on")
        if not _obstacle(word):
            token = form(word)
            summed[token] = summed.get(token, 0.0) + count
    return summed


def _origins(model: LanguageModel, words: Sequence[str]) -> tuple[int, int, int]:
    """How many words of an extended model are composed with a stem, of affixes alone, and of nothing; n-grams say 0."""
    try:
        factors = model.vectors.using(side="output").factors
    except ConfigError:  # n-grams have none
        factors = None
    if factors is None:
        return 0, 0, 0
    names = (factors.names_of(model.vocabulary.ids[word]) for word in words)
    origins = Counter(origin_of(tuple((name, True) for name in of_word)) for of_word in names)
    return origins["composed"], origins["affixes"], origins["unknown"]
