"""Two models on the tokens of one text, in groups: by frequency, by part of speech, or any other.

`score_both` scores the text; `compare_groups`, or `compare_members` where groups overlap, sums it up for each group of
tokens (paper, 4.2, "Analysis").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from morphlm.analysis.bootstrap import RESAMPLES, PerplexityChange, bootstrap_note, bootstrap_record, paired_changes
from morphlm.arrays import BoolArray, Float64Array, Int32Array, Int64Array
from morphlm.display import Row, Tabular, dataclass_repr, flattened
from morphlm.errors import InputError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.fitting import fit_text, warn_if_foreign
from morphlm.language_model.open_vocabulary import perplexity_from
from morphlm.language_model.perplexity import text_signature
from morphlm.language_model.signature import Signature
from morphlm.scoring.streaming import TextScorer
from morphlm.tables import Table, counted, finite_or_none, percent
from morphlm.vocabulary.corpus import Source, describe, token_batches
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID

Positions = Int64Array  # of tokens in the text
EXAMPLES = 5  # words that a note names
NO_GROUP = -1  # of a token that is in none


@dataclass(frozen=True, eq=False)
class PairedScores:
    """A text with the log-probability of each token, sentence ends included, under two models."""

    text: str
    forms: list[bytes]  # as they stand in the text
    tokens: Int32Array  # as the baseline encodes them
    other_tokens: Int32Array  # as the other model does
    baseline: Float64Array
    other: Float64Array
    signatures: tuple[Signature, Signature]

    __repr__ = dataclass_repr

    @property
    def ends(self) -> Positions:
        """Where sentences end."""
        return np.flatnonzero(self.tokens == END_ID)

    @property
    def sentence_of(self) -> Int64Array:
        """The number of each token's sentence."""
        return np.searchsorted(self.ends, np.arange(len(self.tokens)))


@dataclass(frozen=True)
class Group:
    """The perplexities of two models on some tokens of a text."""

    name: str
    tokens: int
    share: float  # of the text's tokens
    baseline: float  # perplexity
    other: float
    change: PerplexityChange  # of the other against the baseline

    __repr__ = dataclass_repr

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "tokens": self.tokens,
            "share": self.share,
            "baseline": finite_or_none(self.baseline),
            "other": finite_or_none(self.other),
            "change": self.change.to_json(),
        }


@dataclass(frozen=True)
class GroupComparison(Tabular):
    """The groups of a text, and the text as a whole."""

    title: str  # what the groups are by
    text: str
    names: tuple[str, str]  # of the baseline and the other model
    groups: tuple[Group, ...]
    whole: Group
    signatures: tuple[str, str]
    seed: int
    resamples: int = RESAMPLES
    notes: tuple[str, ...] = ()

    __repr__ = dataclass_repr

    def to_table(self) -> Table:
        header = [self.title, "tokens", "share", *self.names, "change"]
        rows = [
            [
                group.name,
                f"{group.tokens:,}",
                percent(group.share),
                *(f"{value:.2f}" if group.tokens else "-" for value in (group.baseline, group.other)),
                group.change.format(),
            ]
            for group in (*self.groups, self.whole)
        ]
        signatures = [f"{name}: {signature}" for name, signature in zip(self.names, self.signatures, strict=True)]
        return Table(header, rows, (*self.notes, bootstrap_note(self.seed, self.resamples), *signatures))

    def frame_rows(self) -> list[Row]:
        return [flattened(group.to_json()) for group in (*self.groups, self.whole)]

    def to_json(self) -> dict[str, Any]:
        return {
            "by": self.title,
            "text": self.text,
            "models": list(self.names),
            "groups": [group.to_json() for group in self.groups],
            "whole": self.whole.to_json(),
            "signatures": list(self.signatures),
            "bootstrap": bootstrap_record(self.seed, self.resamples),
            "notes": list(self.notes),
        }


def score_both(
    baseline: LanguageModel,
    other: LanguageModel,
    source: Source,
    *,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
) -> PairedScores:
    """Score a text under two models; their vocabularies may differ. The text is read once, so it may be a pipe."""
    source = fit_text([baseline, other], source, prepared=prepared, encoding=encoding)
    forms = [token for tokens in token_batches(source, allow_unknown=allow_unknown) for token in tokens]
    signatures = (text_signature(baseline, source), text_signature(other, source))
    return score_forms(baseline, other, forms, describe(source), signatures)


def score_forms(
    baseline: LanguageModel,
    other: LanguageModel,
    forms: list[bytes],
    text: str,
    signatures: tuple[Signature, Signature] | None = None,
) -> PairedScores:
    """Score tokens in UTF-8, END after each sentence; `text` is how the result names them."""
    if not forms:
        raise InputError("there are no sentences; give at least one", source=text)
    by_baseline, by_other = (TextScorer(model)(forms) for model in (baseline, other))
    warn_if_foreign(baseline, by_baseline.corpus.tokens, lambda: forms, text)
    return PairedScores(
        text,
        forms,
        by_baseline.corpus.tokens,
        by_other.corpus.tokens,
        by_baseline.logprobs,
        by_other.logprobs,
        signatures or (baseline.signature, other.signature),
    )


def model_names(baseline: LanguageModel, other: LanguageModel) -> tuple[str, str]:
    """The kinds of two models; if they are equal, marked as baseline and other."""
    if baseline.kind != other.kind:
        return baseline.kind, other.kind
    return f"{baseline.kind} (baseline)", f"{other.kind} (other)"


def compare_groups(
    scored: PairedScores,
    group_of: NDArray[np.integer[Any]],
    names: Sequence[str],
    title: str,
    models: tuple[str, str],
    *,
    seed: int = 1,
    resamples: int = RESAMPLES,
    notes: Sequence[str] = (),
) -> GroupComparison:
    """Sum up each group of a text that was `scored` by `score_both`.

    `group_of[k]` is the group of token k, or NO_GROUP, which counts in the whole only; `names` are those of the groups
    and `models` those of the two models. `title` says what the groups are by; `notes` stand below the table.
    """
    members = {name: np.flatnonzero(np.asarray(group_of) == number) for number, name in enumerate(names)}
    return compare_members(scored, members, title, models, seed=seed, resamples=resamples, notes=notes)


def compare_members(
    scored: PairedScores,
    members: Mapping[str, Positions],
    title: str,
    models: tuple[str, str],
    *,
    whole: Positions | None = None,
    seed: int = 1,
    resamples: int = RESAMPLES,
    notes: Sequence[str] = (),
) -> GroupComparison:
    """Compare two models on groups of tokens that may overlap; `members` are the positions of each group's tokens.

    `whole` are the positions that make up the text: all, unless some are to be left out.
    """
    whole = np.arange(len(scored.tokens)) if whole is None else whole
    names, positions = [*members, "all"], [*members.values(), whole]
    gains, counts = _by_sentence(scored, positions)
    changes = paired_changes(gains, counts, seed=seed, resamples=resamples)
    *groups, all_tokens = (
        _group(scored, name, members_of_group, len(whole), change)
        for name, members_of_group, change in zip(names, positions, changes, strict=True)
    )
    signatures = (str(scored.signatures[0]), str(scored.signatures[1]))
    notes = (*notes, *_unknown_notes(scored, models), *_infinity_notes(scored, models))
    return GroupComparison(
        title, scored.text, models, tuple(groups), all_tokens, signatures, seed, resamples, tuple(notes)
    )


def _by_sentence(scored: PairedScores, members: Sequence[Positions]) -> tuple[Float64Array, Float64Array]:
    """What the other model gains, and the number of tokens, for each sentence and group: (S, G) both."""
    with np.errstate(invalid="ignore"):  # no probability under either model
        gains = scored.other - scored.baseline
    sentence_of, sentences = scored.sentence_of, len(scored.ends)

    def summed(values: Float64Array) -> Float64Array:
        columns = [np.bincount(sentence_of[positions], values[positions], sentences) for positions in members]
        return np.stack(columns, axis=1)

    return summed(gains), summed(np.ones(len(gains)))


def _group(scored: PairedScores, name: str, positions: Positions, total: int, change: PerplexityChange) -> Group:
    baseline, other = (perplexity_from(logprobs[positions]) for logprobs in (scored.baseline, scored.other))
    return Group(name, len(positions), len(positions) / total, baseline, other, change)


def _unknown_notes(scored: PairedScores, models: tuple[str, str]) -> list[str]:
    """Which tokens only one of the models knows: those are compared as a word with UNK."""
    unknown = [tokens == UNK_ID for tokens in (scored.tokens, scored.other_tokens)]
    alone = [unknown[0] & ~unknown[1], unknown[1] & ~unknown[0]]
    return [
        f"unknown to {model} only: {counted(int(mask.sum()), 'token')} ({_examples(scored, mask)})"
        for model, mask in zip(models, alone, strict=True)
        if mask.any()
    ]


def _examples(scored: PairedScores, mask: BoolArray) -> str:
    """The most frequent of the tokens; of equally frequent ones, the first in the text."""
    counts = Counter(scored.forms[position] for position in np.flatnonzero(mask).tolist())
    shown = [form.decode() for form, _ in counts.most_common(EXAMPLES)]
    return ", ".join([*shown, "..."] if len(counts) > EXAMPLES else shown)


def _infinity_notes(scored: PairedScores, models: tuple[str, str]) -> list[str]:
    """An ARPA model without <unk> gives unknown words no probability."""
    missing = [int(np.isinf(logprobs).sum()) for logprobs in (scored.baseline, scored.other)]
    return [
        f"{model} gives {counted(count, 'token')} no probability; there is no change to tell in their groups"
        for model, count in zip(models, missing, strict=True)
        if count
    ]
