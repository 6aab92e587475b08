"""A sentence under several models: how probable each token is, what was expected instead, and what comes next."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from morphlm.errors import InputError
from morphlm.report.explorer.limits import Deadline, RequestLimits, check_count, check_text
from morphlm.report.explorer.models import Expected, ExploredModel, TextIs
from morphlm.report.surprisal_scale import LEGEND, level
from morphlm.tables import finite_or_none
from morphlm.text.reading import END, split_tokens
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID


@dataclass(frozen=True)
class TokenView:
    """A token, or the sentence's end, under one model."""

    token: str
    unknown: bool  # it was scored as <unk>
    probability: float
    bits: float | None  # of surprisal; None: it cannot be, and the surprisal is infinite
    level: int  # of the scale of surprisal, which gives its colour
    rank: int  # 1 for the word that was expected most
    expected: list[Expected]


@dataclass(frozen=True)
class SentenceUnderModel:
    """A sentence under one model."""

    model: str
    prepared: str  # what became of the text
    tokens: list[TokenView]
    bits: float | None  # the sum
    perplexity: float | None
    unknown: int


@dataclass(frozen=True)
class SentenceView:
    """A sentence under several models."""

    text: str
    scale: list[str]  # bits of surprisal of each level
    models: list[SentenceUnderModel]


@dataclass(frozen=True)
class CompletionView:
    """The likely continuations of a text."""

    model: str
    prepared: str  # the words before
    prefix: str  # what the next word begins with
    unknown: int  # words before that the model does not know
    words: list[Expected]


def view_sentence(
    models: Sequence[ExploredModel], text: str, text_is: TextIs, k: int, limits: RequestLimits, deadline: Deadline
) -> SentenceView:
    """Each token's probability under each model, and the k words that were expected most at its place."""
    check_text(text, limits.sentence_characters, "a sentence")
    check_count(k, limits)
    line = " ".join(text.split("\n"))
    views = [_under(explored, line, text_is, k, limits, deadline) for explored in models]
    return SentenceView(text, list(LEGEND), views)


def _under(
    explored: ExploredModel, line: str, text_is: TextIs, k: int, limits: RequestLimits, deadline: Deadline
) -> SentenceUnderModel:
    tokens = _tokens(explored, line, text_is, limits)
    if not tokens:
        raise InputError("there are no words; type a sentence")
    model, views = explored.model, []
    logprobs, state = model.sentence(tokens), model.begin()
    for token, logprob in zip([*tokens, END], logprobs, strict=True):
        deadline.check()
        word = END_ID if token == END else model.vocabulary.id_of(token)
        views.append(_token_view(explored, state, token, word, logprob, k))
        _, state = model.score_id(state, word)
    total = -sum(logprobs) / math.log(2)
    return SentenceUnderModel(
        model=explored.name,
        prepared=" ".join(tokens),
        tokens=views,
        bits=finite_or_none(total),
        perplexity=finite_or_none(_power(total / len(views))),
        unknown=sum(view.unknown for view in views),
    )


def _power(bits: float) -> float:
    """2^bits, which may be more than a number holds."""
    return 2.0**bits if bits < 1023 else math.inf


def _tokens(explored: ExploredModel, line: str, text_is: TextIs, limits: RequestLimits) -> list[str]:
    tokens = explored.prepare(line, text_is)
    if len(tokens) > limits.sentence_tokens:
        raise InputError(f"a sentence of {len(tokens):,} tokens; give at most {limits.sentence_tokens:,}")
    return tokens


def _token_view(explored: ExploredModel, state: Hashable, token: str, word: int, logprob: float, k: int) -> TokenView:
    rank, expected = explored.expected_at(state, word, k)
    bits = finite_or_none(-logprob / math.log(2))
    return TokenView(token, word == UNK_ID, math.exp(logprob), bits, level(bits), rank, expected)


def complete(explored: ExploredModel, text: str, text_is: TextIs, k: int, limits: RequestLimits) -> CompletionView:
    """The likeliest next words; the last word of the text, unless a space follows it, is what they begin with."""
    check_text(text, limits.sentence_characters, "a text")
    check_count(k, limits)
    line = " ".join(text.split("\n"))
    begun = "" if line.endswith((" ", "\t")) else next(reversed(split_tokens(line)), "")
    tokens = _tokens(explored, line[: len(line) - len(begun)] if begun else line, text_is, limits)
    prefix = begun if text_is == "prepared" or not begun else explored.word_form(begun)
    predictions = explored.predictor.next_words(tokens, k, prefix)
    unknown = explored.predictor.count_unknown(tokens)
    words = [Expected(entry.word, entry.probability) for entry in predictions]
    return CompletionView(explored.name, " ".join(tokens), prefix, unknown, words)
