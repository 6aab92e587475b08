"""From tagged tokens to the tokens that a model knows: prepared like its training text, each with its tag.

One tagged token may become several, and several may be one token to the tokeniser: `Berlin`, `-`, `Reise`. The former
all have its tag; the latter has the tag of its last part. Where a prepared text is given, it decides about the tokens.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import TypeVar

from morphlm.analysis.scores import sentences_of
from morphlm.analysis.tag_reading import JOIN, Column, Format, TaggedSentence, TaggedToken, read_tagged
from morphlm.errors import ConfigError, InputError
from morphlm.language_model.base import LanguageModel
from morphlm.lazy import cached_property
from morphlm.scoring.streaming import Normaliser, normaliser_of
from morphlm.text.preparation import PrepareOptions, read_preparation
from morphlm.text.prepare import prepare_line
from morphlm.vocabulary.corpus import Source, as_paths, describe
from morphlm.wording import option

Cutter = Callable[[str], list[str]]
Item = TypeVar("Item")


@dataclass(frozen=True)
class Unit:
    """Prepared tokens that share a tag."""

    tag: str
    tokens: tuple[str, ...]
    line: int  # of the tag file

    @property
    def spelling(self) -> str:
        return "".join(self.tokens)


@dataclass(frozen=True)
class AlignedSentence:
    """A sentence as units of prepared tokens with tags."""

    units: tuple[Unit, ...]
    source: str  # how messages name the tag file


@dataclass(frozen=True)
class Preparer:
    """Does to tagged text what was done to a model's training text, in two steps, because only one keeps the case."""

    tokenise: Cutter  # a line to tokens in their own case
    normalise: Normaliser
    language: str | None = None  # of the tokeniser

    @cached_property
    def tokenise_word(self) -> Callable[[str], tuple[str, ...]]:
        """`tokenise` for a single word, with a cache."""
        return lru_cache(maxsize=1 << 16)(lambda form: tuple(self.tokenise(form)))


AS_IT_IS = PrepareOptions(tokeniser="none", case="keep", digits=False, nfc=False, max_tokens=0)


def preparer_for(models: Sequence[LanguageModel], text: Source | None = None) -> Preparer:
    """As the record of the prepared text says, or that of a model; without any record tokens stay as they are."""
    records = [read_preparation(path) for path in (as_paths(text) if text is not None else None) or []]
    if records and records[0] is not None:
        return _with_options(records[0].options)
    recorded = [model for model in models if model.training.get("preparation")]
    preparations = [model.training["preparation"] for model in recorded]
    if any(preparation != preparations[0] for preparation in preparations) and text is None:
        raise ConfigError(
            "the training texts of the models were prepared in different ways; compare models of one preparation, or "
            f"give the prepared text too ({option('--text')})"
        )
    options = recorded[0].preparation if recorded else None
    if options is None:
        return _with_options(AS_IT_IS)
    return dataclasses.replace(_with_options(options), normalise=normaliser_of(recorded[0]))


def read_tagged_for(
    models: Sequence[LanguageModel],
    paths: Sequence[str | Path],
    form: Format = "conllu",
    *,
    column: Column = "upos",
    text: Source | None = None,
) -> list[TaggedSentence]:
    """Read tagged files for these models: raw text that HanTa is to tag is tokenised as theirs was."""
    preparer = preparer_for(models, text)
    if form == "hanta" and preparer.language not in (None, "de"):
        raise ConfigError(f"HanTa tags German, and the models' text was tokenised as {preparer.language}; give tags")
    return read_tagged(paths, form, column=column, tokenise=preparer.tokenise)


def _with_options(options: PrepareOptions) -> Preparer:
    cut = dataclasses.replace(options, case="keep", digits=False, cyrillic_share=0.0)
    finish = dataclasses.replace(options, tokeniser="none")
    return Preparer(
        lambda line: prepare_line(line, cut),
        lambda tokens: [part for token in tokens for part in prepare_line(token, finish)],
        None if cut.tokeniser == "none" else cut.language,
    )


# ------------------------------------------------------------ preparing


def prepare_tagged(sentences: Iterable[TaggedSentence], preparer: Preparer) -> Iterator[AlignedSentence]:
    """The sentences as the model knows them; those of which nothing is left are dropped."""
    for sentence in sentences:
        units = tuple(unit for unit in _prepared(sentence, preparer) if unit.tokens)
        if units:
            yield AlignedSentence(units, sentence.source)


def _prepared(sentence: TaggedSentence, preparer: Preparer) -> Iterator[Unit]:
    """Tokenise the sentence as a whole, since neighbours tell whether a full stop belongs to an abbreviation."""
    alone = [_tokenised(token, sentence.source, preparer) for token in sentence.tokens]
    units = [unit for unit in alone if unit.tokens]
    pieces = _pieces(sentence, preparer)
    if _parting(units, pieces) is None:  # else the tokeniser did more than cut: then each token alone
        units = recut(units, pieces)
    for unit in units:
        with _no_marks(unit.spelling, sentence.source, unit.line):
            tokens = tuple(preparer.normalise(unit.tokens))
        yield Unit(unit.tag, tokens, unit.line)


def _tokenised(token: TaggedToken, source: str, preparer: Preparer) -> Unit:
    with _no_marks(token.form, source, token.line):
        return Unit(token.tag, preparer.tokenise_word(token.form), token.line)


def _pieces(sentence: TaggedSentence, preparer: Preparer) -> list[str]:
    """The tokens of the sentence as a whole; none, if tokens that stand together would be a mark."""
    with suppress(InputError):
        return preparer.tokenise("".join(token.form + " " * token.space for token in sentence.tokens))
    return []


@contextmanager
def _no_marks(form: str, source: str, line: int) -> Iterator[None]:
    """Say where a mark stands that preparing refuses, also one that comes about by it, as of <S>."""
    try:
        yield
    except InputError as error:
        message = f"{form} is a mark that morphlm sets itself; remove the token, or write another in its place"
        raise InputError(message, source=source, line=line) from error


# ------------------------------------------------------------ aligning


def recut(units: Sequence[Unit], pieces: Sequence[str]) -> list[Unit]:
    """Cut units at the boundaries of the pieces, whose characters are the same; units that a piece spans are joined."""
    ends = list(accumulate(len(unit.spelling) for unit in units))
    piece_ends = list(accumulate(map(len, pieces)))
    shared = set(ends) & set(piece_ends)
    runs = zip(_runs(units, ends, shared), _runs(pieces, piece_ends, shared), strict=True)
    return [Unit(_joint_tag(run), tuple(inside), run[0].line) for run, inside in runs]


def _joint_tag(run: Sequence[Unit]) -> str:
    """The tags of several units as one; of a word with a hyphen or the like inside, those of its last part."""
    parts: list[list[str]] = [[]]
    for unit in run:
        if any(character.isalnum() for character in unit.spelling):
            parts[-1].append(unit.tag)
        else:
            parts.append([])
    return JOIN.join(next((tags for tags in reversed(parts) if tags), [run[0].tag]))


def _runs(items: Sequence[Item], ends: Sequence[int], shared: set[int]) -> Iterator[list[Item]]:
    """The items up to each place where both sides have an end."""
    run: list[Item] = []
    for item, end in zip(items, ends, strict=True):
        run.append(item)
        if end in shared:
            yield run
            run = []


def _parting(units: Sequence[Unit], pieces: Sequence[str]) -> int | None:
    """The number of the unit where the two sides are no longer spelled alike."""
    ours, theirs = "".join(unit.spelling for unit in units), "".join(pieces)
    if ours == theirs:
        return None
    same = next((k for k, (one, two) in enumerate(zip(ours, theirs, strict=False)) if one != two), len(theirs))
    ends = list(accumulate(len(unit.spelling) for unit in units))
    return min(bisect_right(ends, same), len(units) - 1)


def align_with_text(sentences: Iterable[AlignedSentence], text: Source) -> Iterator[AlignedSentence]:
    """Take the tokens from a prepared text, sentence by sentence; an InputError where the two part."""
    last: AlignedSentence | None = None
    with_words = filter(None, sentences_of(text))  # as the tagged ones are
    for sentence, tokens in zip_longest(sentences, with_words):
        if sentence is None:
            raise _missing(last, f"the tags end here, but {describe(text)} goes on with {' '.join(tokens[:5])}")
        if tokens is None:
            raise _missing(sentence, f"{describe(text)} ends before this sentence")
        if (unit := _parting(sentence.units, tokens)) is not None:
            raise _disagreement(sentence, unit, tokens, describe(text))
        yield AlignedSentence(tuple(recut(sentence.units, tokens)), sentence.source)
        last = sentence


def _missing(sentence: AlignedSentence | None, message: str) -> InputError:
    cure = f"give tags and text of the same sentences (prepare it with {option('--max-tokens', 0)})"
    if sentence is None:
        return InputError(f"{message}; {cure}")
    return InputError(f"{message}; {cure}", source=sentence.source, line=sentence.units[-1].line)


def _disagreement(sentence: AlignedSentence, number: int, tokens: Sequence[str], name: str) -> InputError:
    unit = sentence.units[number]
    begin = sum(len(before.spelling) for before in sentence.units[:number])
    text_there = "".join(tokens)[begin : begin + len(unit.spelling)] or "nothing"
    message = f"here is {unit.spelling}, but {name} has {text_there} in its place; the two must be the same sentences"
    return InputError(message, source=sentence.source, line=unit.line)
