"""Perplexity of text under a model, with and without unknown words, and tables that say what they compare."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from morphlm.errors import InputError
from morphlm.language_model.signature import Signature, common_signature
from morphlm.tables import format_columns
from morphlm.text.prepare import read_preparation
from morphlm.vocabulary.corpus import Corpus, Source, TokenEncoder, as_paths, describe, encode_text, token_batches
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID, Vocabulary


class Scorer(Protocol):
    """What perplexity needs of a model."""

    vocabulary: Vocabulary

    @property
    def signature(self) -> Signature:
        """What defines the model."""

    def score_tokens(self, tokens: NDArray[np.int32]) -> NDArray[np.float64]:
        """ln p of every token of encoded sentences, each ending with END."""


@dataclass(frozen=True)
class Perplexity:
    """exp(-1/N sum ln p), where N counts the words and one end for each sentence (paper, 4.1)."""

    text: str  # the name of what was scored
    including_unknown: float  # unknown words are scored as UNK
    excluding_unknown: float  # unknown words are left out of the sum and of N
    tokens: int  # N, sentence ends included
    unknown: int  # tokens that are not in the vocabulary
    sentences: int
    logprob: float  # sum of ln p over all tokens
    signature: Signature

    def format(self) -> str:
        """Some lines for a person."""
        return (
            f"{self.text}\n"
            f"  perplexity  {self.including_unknown:.2f} including unknown words, "
            f"{self.excluding_unknown:.2f} excluding\n"
            f"  tokens      {self.tokens:,} in {self.sentences:,} sentences, {self.unknown:,} unknown "
            f"({self.unknown / self.tokens:.2%})\n"
            f"  signature   {self.signature}"
        )

    def to_json(self) -> dict[str, Any]:
        """All figures under their names; infinite ones, which JSON does not have, as null."""
        return {
            "text": self.text,
            "perplexity_including_unknown": finite_or_none(self.including_unknown),
            "perplexity_excluding_unknown": finite_or_none(self.excluding_unknown),
            "tokens": self.tokens,
            "unknown": self.unknown,
            "sentences": self.sentences,
            "logprob": finite_or_none(self.logprob),
            "signature": str(self.signature),
        }


def finite_or_none(number: float) -> float | None:
    """For JSON, which has no infinity."""
    return number if math.isfinite(number) else None


@dataclass(frozen=True)
class ScoredText:
    """A text with the log-probability of each of its tokens."""

    corpus: Corpus
    logprobs: NDArray[np.float64]
    forms: list[bytes] | None = None  # the tokens as they stood in the text, where they were kept

    def _spans(self) -> Iterator[tuple[int, int, int]]:
        """Number, begin and end of each sentence, its END included."""
        begin = 0
        for number, end in enumerate(np.flatnonzero(self.corpus.tokens == END_ID).tolist(), 1):
            yield number, begin, end + 1
            begin = end + 1

    def sentence_rows(self) -> Iterator[dict[str, Any]]:
        """The figures of each sentence."""
        for number, begin, end in self._spans():
            logprobs = self.logprobs[begin:end]
            yield {
                "sentence": number,
                "logprob": float(logprobs.sum()),
                "tokens": end - begin,
                "unknown": int((self.corpus.tokens[begin:end] == UNK_ID).sum()),
                "perplexity": _perplexity(logprobs),
            }

    def token_rows(self) -> Iterator[dict[str, Any]]:
        """The figures of each token; the forms must have been kept."""
        assert self.forms is not None
        for number, begin, end in self._spans():
            for place in range(begin, end):
                yield {
                    "sentence": number,
                    "position": place - begin + 1,
                    "token": self.forms[place].decode(),
                    "logprob": float(self.logprobs[place]),
                    "unknown": int(self.corpus.tokens[place] == UNK_ID),
                }

    def perplexity(self, name: str, signature: Signature) -> Perplexity:
        """Summarise; unknown words are those that were encoded as UNK."""
        unknown = self.corpus.tokens == UNK_ID
        return Perplexity(
            text=name,
            including_unknown=_perplexity(self.logprobs),
            excluding_unknown=_perplexity(self.logprobs[~unknown]),
            tokens=len(self.logprobs),
            unknown=int(unknown.sum()),
            sentences=self.corpus.sentences,
            logprob=float(self.logprobs.sum()),
            signature=signature,
        )


def _perplexity(logprobs: NDArray[np.float64]) -> float:
    with np.errstate(over="ignore"):  # beyond what a float holds it is infinite
        return float(np.exp(-logprobs.mean())) if len(logprobs) else math.nan


def score_text(model: Scorer, source: Source, *, allow_unknown: bool = False, keep_forms: bool = False) -> ScoredText:
    """Score a file, several files, or any iterable of token lists."""
    forms: list[bytes] = []
    if keep_forms:
        for tokens in token_batches(source, allow_unknown=allow_unknown):
            forms += tokens
        corpus = Corpus(TokenEncoder(model.vocabulary)(forms), model.vocabulary)
    else:
        corpus = encode_text(source, model.vocabulary, allow_unknown=allow_unknown)
    if len(corpus.tokens) == 0:
        raise InputError("there are no sentences; give at least one", source=describe(source))
    return ScoredText(corpus, model.score_tokens(corpus.tokens), forms if keep_forms else None)


def perplexity_of(model: Scorer, source: Source, *, allow_unknown: bool = False) -> Perplexity:
    """The perplexity of a text under a model."""
    scored = score_text(model, source, allow_unknown=allow_unknown)
    return scored.perplexity(describe(source), text_signature(model, source))


def text_signature(model: Scorer, source: Source) -> Signature:
    """The model's signature; if the text was prepared in another way than the model's, that is added."""
    signature = model.signature
    found = {_prepared_as(path) for path in as_paths(source) or []}
    others = sorted(found - {f"{signature.value('tok')}/{signature.value('norm')}"})
    return Signature(signature.measure, (*signature.fields, *([("text", ",".join(others))] if others else [])))


def _prepared_as(path: str | Path) -> str:
    """How a text was prepared, as far as a record beside it tells."""
    record = read_preparation(path)
    return "as-is/as-is" if record is None else f"{record.tokeniser_signature}/{record.normalisation_signature}"


def format_table(results: list[tuple[str, Perplexity]]) -> str:
    """Named results under one another. Fields in which their signatures differ become columns, so that it shows."""
    shared, differing = common_signature([result.signature for _, result in results])
    header = ["", *differing, "including unknown", "excluding unknown", "tokens", "unknown"]
    rows = [
        [
            name,
            *(result.signature.value(field) or "-" for field in differing),
            f"{result.including_unknown:.2f}",
            f"{result.excluding_unknown:.2f}",
            f"{result.tokens:,}",
            f"{result.unknown:,}",
        ]
        for name, result in results
    ]
    note = f"\nsignatures differ in: {', '.join(differing)}" if differing else ""
    return format_columns(header, rows) + f"\nsignature: {shared}{note}"
