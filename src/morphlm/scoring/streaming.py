"""Scoring text as it arrives: blocks of whole lines in, one result a line out, for files and for pipes that stay open.

What is there is scored together, so that a large file goes at the speed of batches and one line is answered at once.
A line without words is a sentence like any other: its end is scored.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from morphlm.arguments import shown
from morphlm.arrays import Float64Array, Int32Array
from morphlm.errors import ConfigError, located
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import ScoredText, UnknownContexts
from morphlm.tables import finite_or_none
from morphlm.text.prepare import PrepareOptions, prepare_line, read_preparation
from morphlm.text.reading import (
    BLOCK_BYTES,
    END,
    UNKNOWN,
    Block,
    Marks,
    UntilRefused,
    parse_number,
    read_blocks,
    split_tokens,
)
from morphlm.vocabulary.corpus import Corpus, TokenEncoder, tokens_of_block
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID

with suppress(ImportError):  # not on every system
    import fcntl

Unit = Literal["nats", "log10", "bits"]
UNITS: dict[Unit, float] = {"nats": 1.0, "log10": 1 / math.log(10), "bits": 1 / math.log(2)}  # of one nat
Normaliser = Callable[[Sequence[str]], list[str]]


def check_unit(unit: object) -> None:
    """Refuse what is no unit of log-probabilities."""
    if not isinstance(unit, str) or unit not in UNITS:
        raise ConfigError(f"{shown(unit)} is no unit; choose one of {', '.join(UNITS)}")


@dataclass(frozen=True)
class TokenScore:
    """A token as it stood in the text (or END), its log-probability, and whether it was scored as UNK."""

    token: str
    logprob: float
    unknown: bool

    def to_json(self) -> dict[str, Any]:
        return {"token": self.token, "logprob": finite_or_none(self.logprob), "unknown": self.unknown}


@dataclass(frozen=True)
class LineScore:
    """The score of a line."""

    line: int  # its number in the file, from 1
    logprob: float
    tokens: int  # its words, and one for its end
    unknown: int  # words that were scored as UNK
    scores: tuple[TokenScore, ...] | None = None  # of each token, where that was asked for

    def to_json(self) -> dict[str, Any]:
        """Infinite numbers, which JSON does not have, become null."""
        plain = {
            "line": self.line,
            "logprob": finite_or_none(self.logprob),
            "tokens": self.tokens,
            "unknown": self.unknown,
        }
        return plain if self.scores is None else plain | {"scores": [score.to_json() for score in self.scores]}


class TextScorer:
    """Scores batches of tokens under a model; the table of its words is built once.

    A model that looks back beyond the sentence sees the batches as one text, or each sentence as a text of its own.
    """

    def __init__(
        self, model: LanguageModel, unknown_contexts: UnknownContexts = "unk", *, separate: bool = False
    ) -> None:
        """Unknown words in contexts are UNK or, if the model can, composed of their known factors."""
        self.model = model
        self._encode = TokenEncoder(model.vocabulary)
        self._composed = unknown_contexts == "composed" and model.composes_contexts
        self._separate = separate
        self._before: list[bytes] = []  # sentences that the model can still see

    def __call__(self, tokens: list[bytes]) -> ScoredText:
        """Score sentences that each end with END."""
        ids = self._encode(tokens)
        if not self.model.reach:
            logprobs = self._score(tokens, ids)
        elif self._separate:
            logprobs = self._apart(tokens, ids)
        else:
            logprobs = self._continued(tokens)
        return ScoredText(Corpus(ids, self.model.vocabulary), logprobs, tokens)

    def _score(self, tokens: list[bytes], ids: Int32Array) -> Float64Array:
        return self._score_composed(tokens, ids) if self._composed else self.model.score_tokens(ids)

    def _apart(self, tokens: list[bytes], ids: Int32Array) -> Float64Array:
        """Score each sentence as a text of its own.

        Empty sentences, which say nothing, are put between them until the one before is out of reach: many sentences
        scored at once take a seventh of the time that they take one by one.
        """
        ends, order = np.flatnonzero(ids == END_ID), np.arange(len(ids))
        positions = order + self.model.reach * np.searchsorted(ends, order)
        text = [END.encode()] * (len(ids) + self.model.reach * len(ends))
        for position, token in zip(positions.tolist(), tokens, strict=True):
            text[position] = token
        logprobs: Float64Array = self._score(text, self._encode(text))[positions]
        return logprobs

    def _continued(self, tokens: list[bytes]) -> Float64Array:
        """Score what comes after the text so far, of which whole sentences are kept."""
        text = self._before + tokens
        logprobs = self._score(text, self._encode(text))[len(self._before) :]
        first = max(0, len(text) - self.model.reach)
        while first and text[first - 1] != END.encode():
            first -= 1
        self._before = text[first:]
        return logprobs

    def _score_composed(self, tokens: list[bytes], ids: Int32Array) -> Float64Array:
        """Unknown words get ids beyond the vocabulary, as `score_composed` wants them; <unk> itself stays UNK."""
        forms: dict[bytes, int] = {}
        extended = ids.copy()
        for position in np.flatnonzero(ids == UNK_ID).tolist():
            if tokens[position] != UNKNOWN.encode():
                extended[position] = len(self.model.vocabulary) + forms.setdefault(tokens[position], len(forms))
        return self.model.score_composed(extended, [form.decode() for form in forms])


def score_lines(
    model: LanguageModel,
    path: str | Path,
    *,
    unit: Unit = "nats",
    per_token: bool = False,
    allow_unknown: bool = False,
    normalise: bool = False,
    unknown_contexts: UnknownContexts = "unk",
) -> Iterator[list[LineScore]]:
    """Score the lines of a text ('-': standard input); each list holds what could be read without waiting."""
    check_unit(unit)
    scorer, scale = TextScorer(model, unknown_contexts), UNITS[unit]
    normaliser = normaliser_of(model) if normalise else None
    # Text that `morphlm prepare` wrote may hold UNK on purpose; its record says so.
    marked = allow_unknown or read_preparation(path) is not None
    for block in arriving_blocks(path, marks="unk" if marked else "none"):
        normalised = UntilRefused(() if normaliser is None else _normalised_lines(block, normaliser))
        tokens = tokens_of_block(block) if normaliser is None else list(chain.from_iterable(normalised))
        yield list(_line_scores(scorer(tokens), block.first_line, scale, per_token))
        normalised.check()


def arriving_blocks(path: str | Path, *, marks: Marks) -> Iterator[Block]:
    """As `read_blocks`; a pipe on standard input may hold more, so that much text is not scored in small pieces."""
    if str(path) == "-":
        with suppress(NameError, AttributeError, ValueError, OSError):  # only Linux can, and only pipes
            fcntl.fcntl(sys.stdin.fileno(), fcntl.F_SETPIPE_SZ, BLOCK_BYTES)
    yield from read_blocks(path, marks=marks)


def _normalised_lines(block: Block, normaliser: Normaliser) -> Iterator[list[bytes]]:
    for number, line in enumerate(block.lines(), block.first_line):
        with located(block.source, number):
            tokens = normaliser(split_tokens(line))
        yield [token.encode() for token in (*tokens, END)]


def sentence_sums(scored: ScoredText) -> tuple[list[float], list[int], list[int]]:
    """The log-probability, the number of tokens and the number of unknown words of each sentence."""
    ids = scored.corpus.tokens
    ends = np.flatnonzero(ids == END_ID) + 1
    if not len(ends):
        return [], [], []
    starts = np.concatenate([[0], ends[:-1]])
    sums = np.add.reduceat(scored.logprobs, starts)
    unknown = np.add.reduceat(ids == UNK_ID, starts, dtype=np.int64)
    return sums.tolist(), (ends - starts).tolist(), unknown.tolist()


def _line_scores(scored: ScoredText, first_line: int, scale: float, per_token: bool) -> Iterator[LineScore]:
    details = _token_scores(scored, scale) if per_token else None
    for number, (logprob, tokens, unknown) in enumerate(zip(*sentence_sums(scored), strict=True), first_line):
        scores = None if details is None else tuple(next(details) for _ in range(tokens))
        yield LineScore(number, logprob * scale, tokens, unknown, scores)


def _token_scores(scored: ScoredText, scale: float) -> Iterator[TokenScore]:
    unknown = (scored.corpus.tokens == UNK_ID).tolist()
    for form, logprob, is_unknown in zip(scored.forms or [], scored.logprobs.tolist(), unknown, strict=True):
        yield TokenScore(form.decode(), logprob * scale, is_unknown)


# ------------------------------------------------------------ normalisation as in training


def normaliser_of(model: LanguageModel) -> Normaliser:
    """Does to tokens what `morphlm prepare` did to those of the model's training text, if that is on record.

    Text is not tokenised again: its tokens are separated by spaces.
    """
    recorded = recorded_options(model)
    if recorded is None:
        raise ConfigError(
            f"this {model.kind} model has no record of how its training text was prepared, so nothing can be "
            "normalised like it; prepare the text yourself and leave --normalise out"
        )
    options = replace(recorded, tokenise=False)

    @lru_cache(maxsize=1 << 16)  # most words come again and again
    def normalise(token: str) -> tuple[str, ...]:
        return (UNKNOWN,) if token == UNKNOWN else tuple(prepare_line(token, options))

    return lambda tokens: [part for token in tokens for part in normalise(token)]


def recorded_options(model: LanguageModel) -> PrepareOptions | None:
    """What was done to the lines of the model's training text; None if that is not on record."""
    record = model.training.get("preparation") or {}
    if record.get("normalisation") is None:
        return None
    steps = set(record["normalisation"].split("+"))
    tokeniser, _, language = (record.get("tokeniser") or "").partition(".")
    is_moses = tokeniser == "moses" and bool(language)
    share = next((_cyrillic_share(step) for step in steps if step.startswith("cyrillic")), 0.0)
    return PrepareOptions(
        language=language if is_moses else None,
        tokenise=is_moses,
        nfc="nonfc" not in steps,
        lowercase="lc" in steps,
        digits="digits" in steps,
        max_tokens=0,
        cyrillic_share=share,
    )


def _cyrillic_share(step: str) -> float:
    try:
        return parse_number(step.removeprefix("cyrillic"))
    except ValueError:
        problem = f"the model's text was normalised by {step!r}, which is not known here"
        raise ConfigError(f"{problem}; prepare the text yourself and leave --normalise out") from None
