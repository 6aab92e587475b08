"""Perplexity of text under a model, with and without unknown words, and tables that say what they compare.

Unknown words are scored as UNK. On demand each gets its own share of P(UNK), by its spelling, so that texts and models
with different unknown words can be compared; and contexts see an unknown word as the sum of its known factors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from morphlm.arguments import shown
from morphlm.arrays import Float64Array
from morphlm.display import Row, Tabular, dataclass_repr, flattened, frame_of
from morphlm.errors import ConfigError, InputError
from morphlm.files import is_file
from morphlm.language_model.fitting import warn_if_foreign
from morphlm.language_model.open_vocabulary import (
    OpenVocabulary,
    Spelling,
    perplexity_from,
    summarise_open,
    with_shares,
)
from morphlm.language_model.signature import Signature, common_signature
from morphlm.tables import counted, finite_or_none, format_columns, percent
from morphlm.text.preparation import read_preparation
from morphlm.text.raw import RawText
from morphlm.vocabulary.corpus import (
    Corpus,
    Source,
    TokenEncoder,
    as_paths,
    as_text,
    describe,
    encode_open,
    encode_text,
    token_batches,
)
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID, Vocabulary

if TYPE_CHECKING:  # the module of LanguageModel imports this one
    from pandas import DataFrame

    from morphlm.language_model.base import LanguageModel

UnknownContexts = Literal["unk", "composed"]  # what stands in a context for a word that is not known
_UNKNOWN_CONTEXTS = get_args(UnknownContexts)


@dataclass(frozen=True)
class Perplexity(Tabular):
    """exp(-1/N sum ln p), where N counts the words and one end for each sentence (paper, 4.1)."""

    text: str  # the name of what was scored
    including_unknown: float  # unknown words are scored as UNK
    excluding_unknown: float  # unknown words are left out of the sum and of N
    tokens: int  # N, sentence ends included
    unknown: int  # tokens that are not in the vocabulary
    sentences: int
    logprob: float  # sum of ln p over all tokens
    signature: Signature
    open_vocabulary: OpenVocabulary | None = None  # if unknown words were spelled

    __repr__ = dataclass_repr

    def format(self) -> str:
        spelled = "" if self.open_vocabulary is None else f"\n{self.open_vocabulary.format()}"
        return (
            f"{self.text}\n"
            f"  perplexity  {self.including_unknown:.2f} including unknown words, "
            f"{self.excluding_unknown:.2f} excluding\n"
            f"  tokens      {self.tokens:,} in {counted(self.sentences, 'sentence')}, {self.unknown:,} unknown "
            f"({percent(self.unknown / self.tokens, 2)})\n"
            f"  signature   {self.signature}{spelled}"
        )

    def to_json(self) -> dict[str, Any]:
        """All figures under their names; infinite ones, which JSON does not have, as null."""
        spelled = {} if self.open_vocabulary is None else {"open_vocabulary": self.open_vocabulary.to_json()}
        return {
            "text": self.text,
            "perplexity_including_unknown": finite_or_none(self.including_unknown),
            "perplexity_excluding_unknown": finite_or_none(self.excluding_unknown),
            "tokens": self.tokens,
            "unknown": self.unknown,
            "sentences": self.sentences,
            "logprob": finite_or_none(self.logprob),
            "signature": str(self.signature),
            **spelled,
        }

    def frame_rows(self) -> list[Row]:
        return [flattened(self.to_json())]


@dataclass(frozen=True)
class ScoredText(Tabular):
    """A text with the log-probability of each of its tokens."""

    corpus: Corpus
    logprobs: Float64Array  # unknown words as UNK
    forms: list[bytes] | None = None  # the tokens as they stood in the text, where they were kept
    spelled: Float64Array | None = None  # unknown words with their share of UNK's, where it was asked for
    composed: bool = False  # whether contexts saw unknown words as composed

    __repr__ = dataclass_repr

    @property
    def _shown(self) -> Float64Array:
        return self.logprobs if self.spelled is None else self.spelled

    def _spans(self) -> Iterator[tuple[int, int, int]]:
        """Number, begin and end of each sentence, its END included."""
        begin = 0
        for number, end in enumerate(np.flatnonzero(self.corpus.tokens == END_ID).tolist(), 1):
            yield number, begin, end + 1
            begin = end + 1

    def frame_rows(self) -> Iterator[Row]:
        """A row for each token, or for each sentence if the tokens were not kept."""
        return self.sentence_rows() if self.forms is None else self.token_rows()

    def to_frame(self, by: Literal["token", "sentence"] | None = None) -> DataFrame:
        """The scores as a `pandas.DataFrame`, by token or by sentence; needs the extra `pandas`."""
        if by not in (None, "token", "sentence"):
            raise ConfigError(f"scores come by token or by sentence, not by {shown(by)}; choose one of them")
        return frame_of(self.sentence_rows() if by == "sentence" else self.frame_rows())

    def sentence_rows(self) -> Iterator[dict[str, Any]]:
        """The figures of each sentence."""
        for number, begin, end in self._spans():
            logprobs = self._shown[begin:end]
            yield {
                "sentence": number,
                "logprob": float(logprobs.sum()),
                "tokens": end - begin,
                "unknown": int((self.corpus.tokens[begin:end] == UNK_ID).sum()),
                "perplexity": perplexity_from(logprobs),
            }

    def token_rows(self) -> Iterator[dict[str, Any]]:
        """The figures of each token; the forms must have been kept."""
        assert self.forms is not None
        for number, begin, end in self._spans():
            for i in range(begin, end):
                yield {
                    "sentence": number,
                    "position": i - begin + 1,
                    "token": self.forms[i].decode(),
                    "logprob": float(self._shown[i]),
                    "unknown": int(self.corpus.tokens[i] == UNK_ID),
                }

    def perplexity(self, name: str, signature: Signature) -> Perplexity:
        """Summarise; unknown words are those that were encoded as UNK. The signature is that of model and text."""
        if self.composed:
            signature = signature.with_field("ctx", "composed", after="unk")
        unknown = self.corpus.tokens == UNK_ID
        return Perplexity(
            text=name,
            including_unknown=perplexity_from(self.logprobs),
            excluding_unknown=perplexity_from(self.logprobs[~unknown]),
            tokens=len(self.logprobs),
            unknown=int(unknown.sum()),
            sentences=self.corpus.sentences,
            logprob=float(self.logprobs.sum()),
            signature=signature,
            open_vocabulary=None if self.spelled is None else summarise_open(self.corpus, self.spelled, signature),
        )


def score_text(
    model: LanguageModel,
    source: Source,
    *,
    allow_unknown: bool = False,
    keep_forms: bool = False,
    spelling: Spelling | None = None,
    unknown_contexts: UnknownContexts = "unk",
) -> ScoredText:
    """Score a text as it is given; `fit_text` prepares raw text for a model."""
    source = as_text(source, model.preparation)
    composed = _is_composed(model, unknown_contexts)
    forms: list[bytes] | None = None
    if keep_forms:
        forms = [token for tokens in token_batches(source, allow_unknown=allow_unknown) for token in tokens]
    keep_new = composed or spelling is not None
    corpus = _encode(model.vocabulary, source, allow_unknown, forms, keep_new)
    if len(corpus.tokens) == 0:
        raise InputError("there are no sentences; give at least one", source=describe(source))
    warn_if_foreign(model, corpus.tokens, lambda: _forms(source, forms), describe(source))
    if composed and corpus.new_words is not None:
        logprobs = model.score_composed(corpus.new_words.tokens, corpus.new_words.forms)
    else:
        logprobs = model.score_tokens(corpus.tokens)
    spelled = None if spelling is None else with_shares(corpus, logprobs, spelling)
    return ScoredText(corpus, logprobs, forms, spelled, composed)


def _is_composed(model: LanguageModel, unknown_contexts: str) -> bool:
    """Whether it is asked for and the model can do it."""
    return composes(unknown_contexts) and model.composes_contexts


def composes(unknown_contexts: object) -> bool:
    """Whether it is `composed`; what is neither that nor `unk` is refused."""
    if not isinstance(unknown_contexts, str) or unknown_contexts not in _UNKNOWN_CONTEXTS:
        raise ConfigError(f"unknown contexts are `unk` or `composed`, not {shown(unknown_contexts)}")
    return unknown_contexts == "composed"


def _encode(
    vocabulary: Vocabulary, source: Source, allow_unknown: bool, forms: list[bytes] | None, keep_new: bool
) -> Corpus:
    if keep_new:
        batches = token_batches(source, allow_unknown=allow_unknown) if forms is None else [forms]
        return encode_open(batches, vocabulary)
    if forms is not None:
        return Corpus(TokenEncoder(vocabulary)(forms), vocabulary)
    return encode_text(source, vocabulary, allow_unknown=allow_unknown)


def _forms(source: Source, forms: list[bytes] | None) -> Iterable[bytes]:
    """The words of a text, read once more if it is a file."""
    if forms is None and any(is_file(path) for path in as_paths(source) or []):
        return chain.from_iterable(token_batches(source, allow_unknown=True))
    return forms or []


def text_signature(model: LanguageModel, source: Source) -> Signature:
    """The model's signature; if the text was prepared in another way than the model's, that is added."""
    signature = model.signature
    paths = [] if isinstance(source, RawText) and source.options is not None else as_paths(source) or []
    preparations = {_prepared_as(path) for path in paths}
    others = sorted(preparations - {f"{signature.value('tok')}/{signature.value('norm')}"})
    return Signature(signature.measure, (*signature.fields, *([("text", ",".join(others))] if others else [])))


def _prepared_as(path: str | Path) -> str:
    """How a text was prepared, as far as a record beside it tells."""
    record = read_preparation(path)
    if record is None:
        return "as-is/as-is"
    return f"{record.options.tokeniser_signature}/{record.options.normalisation_signature}"


def format_table(results: list[tuple[str, Perplexity]]) -> str:
    """Named results under one another. Fields in which their signatures differ become columns, so that it shows."""
    shared, differing = common_signature([result.signature for _, result in results])
    spelled = any(result.open_vocabulary for _, result in results)
    header = ["", *differing, "including unknown", "excluding unknown", "tokens", "unknown"]
    header += ["unknown spelled", "bits per character"] if spelled else []
    rows = [
        [
            name,
            *(result.signature.value(field) or "-" for field in differing),
            f"{result.including_unknown:.2f}",
            f"{result.excluding_unknown:.2f}",
            f"{result.tokens:,}",
            f"{result.unknown:,}",
            *(_open_cells(result) if spelled else []),
        ]
        for name, result in results
    ]
    note = f"\nsignatures differ in: {', '.join(differing)}" if differing else ""
    note += "\nunknown spelled, bits per character: with unk:spelled" if spelled else ""
    return format_columns(header, rows) + f"\nsignature: {shared}{note}"


def _open_cells(result: Perplexity) -> list[str]:
    figures = result.open_vocabulary
    return ["-", "-"] if figures is None else [f"{figures.perplexity:.2f}", f"{figures.bits_per_character:.4f}"]
