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
from pathlib import Path
from typing import Any, Literal

import numpy as np

from morphlm.arguments import shown
from morphlm.arrays import Float64Array, Int32Array
from morphlm.display import dataclass_repr, described
from morphlm.errors import ConfigError
from morphlm.files import source_name
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.fitting import fit_text, warn_if_foreign
from morphlm.language_model.perplexity import ScoredText, UnknownContexts
from morphlm.scoring.spelled import SpelledModel
from morphlm.tables import finite_or_none
from morphlm.text.preparation import read_preparation
from morphlm.text.prepare import prepare_line
from morphlm.text.raw import RawText, prepared_lines, read_raw_blocks
from morphlm.text.reading import (
    BLOCK_BYTES,
    END,
    UNKNOWN,
    Block,
    Marks,
    UntilRefused,
    read_blocks,
)
from morphlm.vocabulary.corpus import Corpus, TokenEncoder, tokens_of_block
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID

with suppress(ImportError):  # not on every system
    import fcntl

Unit = Literal["nats", "log10", "bits"]
UNITS: dict[Unit, float] = {"nats": 1.0, "log10": 1 / math.log(10), "bits": 1 / math.log(2)}  # of one nat
Normaliser = Callable[[Sequence[str]], list[str]]
FIT_TOKENS = 100_000  # of a text, to see whether it fits the model


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

    __repr__ = dataclass_repr

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

    __repr__ = dataclass_repr

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

    A model that looks back beyond the sentence sees the batches as one text, or with `separate` each sentence as a text
    of its own, which may come after a text.
    """

    def __init__(
        self, model: LanguageModel, unknown_contexts: UnknownContexts = "unk", *, separate: bool = False
    ) -> None:
        """Unknown words in contexts are UNK or, if the model can, composed of their known factors.

        In a model `with_spelling`, they have their shares of P(UNK).
        """
        self.model = model
        self._log_share = model.log_share if isinstance(model, SpelledModel) else None
        self._encode = TokenEncoder(model.vocabulary)
        self._composed = unknown_contexts == "composed" and model.composes_contexts
        self._separate = separate
        self._before: list[bytes] = []  # sentences that the model can still see

    def __repr__(self) -> str:
        return described(self, model=self.model)

    def __call__(self, tokens: list[bytes]) -> ScoredText:
        """Score sentences that each end with END."""
        ids = self._encode(tokens)
        if not self.model.reach:
            logprobs = self._score(tokens, ids)
        elif self._separate:
            logprobs = self._apart(tokens, ids)
        else:
            logprobs = self._continued(tokens)
        if self._log_share is not None:
            for position in np.flatnonzero(ids == UNK_ID).tolist():
                logprobs[position] += self._log_share(tokens[position].decode())
        return ScoredText(Corpus(ids, self.model.vocabulary), logprobs, tokens)

    def _score(self, tokens: list[bytes], ids: Int32Array) -> Float64Array:
        extended, forms = self._extended(tokens, ids)
        return self.model.score_composed(extended, forms) if self._composed else self.model.score_tokens(ids)

    def _apart(self, tokens: list[bytes], ids: Int32Array) -> Float64Array:
        """Score each sentence as the next one after the text before, or as a text of its own."""
        before = self._before
        extended, forms = self._extended([*before, *tokens], np.concatenate([self._encode(before), ids]))
        after = extended[: len(before)] if before else None
        return self.model.score_sentences(extended[len(before) :], forms, after=after)

    def continue_after(self, tokens: list[bytes]) -> None:
        """Sentences that each end with END, after which those come that are scored from now on."""
        self._keep([*self._before, *tokens])

    def _continued(self, tokens: list[bytes]) -> Float64Array:
        """Score what comes after the text so far, of which whole sentences are kept."""
        text = self._before + tokens
        logprobs = self._score(text, self._encode(text))[len(self._before) :]
        self._keep(text)
        return logprobs

    def _keep(self, text: list[bytes]) -> None:
        """Of the text so far, whole sentences that the model can still see."""
        first = max(0, len(text) - self.model.reach)
        while first and text[first - 1] != END.encode():
            first -= 1
        self._before = text[first:]

    def _extended(self, tokens: list[bytes], ids: Int32Array) -> tuple[Int32Array, list[str]]:
        """Unknown words get ids beyond the vocabulary, as `score_composed` wants them; <unk> itself stays UNK."""
        if not self._composed:
            return ids, []
        forms: dict[bytes, int] = {}
        extended = ids.copy()
        for position in np.flatnonzero(ids == UNK_ID).tolist():
            if tokens[position] != UNKNOWN.encode():
                extended[position] = len(self.model.vocabulary) + forms.setdefault(tokens[position], len(forms))
        return extended, [form.decode() for form in forms]


def score_lines(
    model: LanguageModel,
    path: str | Path,
    *,
    unit: Unit = "nats",
    per_token: bool = False,
    allow_unknown: bool = False,
    unknown_contexts: UnknownContexts = "unk",
    prepared: bool | None = None,
    encoding: str | None = None,
    continuous: bool = False,
) -> Iterator[list[LineScore]]:
    """Score the lines of a text ('-': standard input); each list holds what could be read without waiting.

    Each line is a text of its own, unless they are `continuous`: then models with a wide context or a cache carry on
    from line to line.

    Raw lines are prepared as the model's training text was; `prepared` and `encoding` are as of
    `LanguageModel.perplexity`.
    """
    check_unit(unit)
    text = fit_text(model, Path(path), prepared=prepared, encoding=encoding)
    options = text.options if isinstance(text, RawText) and text.raw_paths else None
    scorer, scale = TextScorer(model, unknown_contexts, separate=not continuous), UNITS[unit]
    fit = FitCheck(model, source_name(path))
    # Text that `morphlm prepare` wrote may hold UNK on purpose; its record says so.
    marked = allow_unknown or read_preparation(path) is not None
    is_raw = options is not None
    marks: Marks = "unk" if marked else "none"
    for block in arriving_blocks(path, marks=marks, mend=is_raw, encoding=encoding or (None if is_raw else "utf-8")):
        lines = UntilRefused(() if options is None else prepared_lines(block, options, allow_unknown=marked))
        tokens = tokens_of_block(block) if options is None else [w.encode() for line in lines for w in (*line, END)]
        scored = scorer(tokens)
        fit.add(scored)
        yield list(_line_scores(scored, block.first_line, scale, per_token))
        lines.check()
    fit.warn()


class FitCheck:
    """Collects how many words of a text are unknown, as it arrives, and warns at its end if it does not fit."""

    def __init__(self, model: LanguageModel, name: str) -> None:
        self._model, self._name = model, name
        self._ids: list[Int32Array] = []
        self._forms: list[bytes] = []

    def add(self, scored: ScoredText) -> None:
        """Only the beginning of a long text is kept."""
        if len(self._forms) < FIT_TOKENS:
            self._ids.append(scored.corpus.tokens)
            self._forms += scored.forms or []

    def warn(self) -> None:
        if self._ids:
            warn_if_foreign(self._model, np.concatenate(self._ids), lambda: self._forms, self._name)


def arriving_blocks(
    path: str | Path, *, marks: Marks, mend: bool = False, encoding: str | None = None
) -> Iterator[Block]:
    """As `read_blocks`, or for raw text `read_raw_blocks`; a pipe may hold more, so that pieces are not too small."""
    if str(path) == "-":
        with suppress(NameError, AttributeError, ValueError, OSError):  # only Linux can, and only pipes
            fcntl.fcntl(sys.stdin.fileno(), fcntl.F_SETPIPE_SZ, BLOCK_BYTES)
    yield from (read_raw_blocks if mend else read_blocks)(path, marks=marks, encoding=encoding)


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
    """Does to tokens what was done to those of the model's training text, if that is on record.

    Text is not tokenised again: its tokens are separated by spaces.
    """
    recorded = model.preparation
    if recorded is None:
        raise ConfigError(
            f"this {model.kind} model has no record of how its training text was prepared, so nothing can be "
            "normalised like it"
        )
    options = replace(recorded, tokeniser="none")

    @lru_cache(maxsize=1 << 16)  # most words come again and again
    def normalise(token: str) -> tuple[str, ...]:
        return (UNKNOWN,) if token == UNKNOWN else tuple(prepare_line(token, options))

    return lambda tokens: [part for token in tokens for part in normalise(token)]
