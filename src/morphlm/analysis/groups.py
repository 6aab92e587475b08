"""Two models on the tokens of one text, in groups: by frequency, by part of speech, or any other.

`score_both` scores the text; `compare_groups` sums it up for each group of tokens (paper, 4.2, "Analysis").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from morphlm.analysis.bootstrap import RESAMPLES, Change, bootstrap_note, bootstrap_record, paired_changes
from morphlm.errors import InputError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import text_signature
from morphlm.language_model.signature import Signature
from morphlm.tables import Table, finite_or_none, percent
from morphlm.vocabulary.corpus import Source, describe, token_batches
from morphlm.vocabulary.vocabulary import END_ID

Array = NDArray[np.float64]
NO_GROUP = -1  # of a token that is in none


@dataclass(frozen=True, eq=False)
class ScoredBoth:
    """A text with the log-probability of each token, sentence ends included, under two models."""

    text: str
    forms: list[bytes]  # as they stand in the text
    tokens: NDArray[np.int32]  # as the baseline encodes them
    baseline: Array
    other: Array
    signatures: tuple[Signature, Signature]

    @property
    def ends(self) -> NDArray[np.int64]:
        """Where the sentences end."""
        return np.flatnonzero(self.tokens == END_ID)

    @property
    def sentence_of(self) -> NDArray[np.int64]:
        """The number of each token's sentence."""
        return np.searchsorted(self.ends, np.arange(len(self.tokens)))


@dataclass(frozen=True)
class Group:
    """What two models reach on some tokens of a text."""

    name: str
    tokens: int
    share: float  # of the text's tokens
    baseline: float  # perplexity
    other: float
    change: Change  # of the other against the baseline

    def to_json(self) -> dict[str, Any]:
        """All figures."""
        return {
            "name": self.name,
            "tokens": self.tokens,
            "share": self.share,
            "baseline": finite_or_none(self.baseline),
            "other": finite_or_none(self.other),
            "change": self.change.to_json(),
        }


@dataclass(frozen=True)
class GroupComparison:
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

    def to_table(self) -> Table:
        """A row a group, and one for all."""
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

    def to_json(self) -> dict[str, Any]:
        """All figures under their names."""
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
    baseline: LanguageModel, other: LanguageModel, source: Source, *, allow_unknown: bool = False
) -> ScoredBoth:
    """Score a text under two models; their vocabularies may differ."""
    sentences = [token for tokens in token_batches(source, allow_unknown=allow_unknown) for token in tokens]
    if not sentences:
        raise InputError("there are no sentences; give at least one", source=describe(source))
    one, two = (model.score_text(source, allow_unknown=allow_unknown) for model in (baseline, other))
    signatures = (text_signature(baseline, source), text_signature(other, source))
    return ScoredBoth(describe(source), one.forms or [], one.corpus.tokens, one.logprobs, two.logprobs, signatures)


def compare_groups(
    scored: ScoredBoth,
    group_of: NDArray[np.integer[Any]],
    names: Sequence[str],
    title: str,
    models: tuple[str, str],
    *,
    seed: int = 1,
    resamples: int = RESAMPLES,
    notes: Sequence[str] = (),
) -> GroupComparison:
    """Sum up each group; group_of[k] is the group of token k, or NO_GROUP, which counts in the whole only."""
    sums = _by_sentence(scored, np.asarray(group_of), len(names))
    changes = paired_changes(sums.gains, sums.counts, seed=seed, resamples=resamples)
    groups = [
        _group(name, sums, place, change, len(scored.tokens))
        for place, (name, change) in enumerate(zip([*names, "all"], changes, strict=True))
    ]
    signatures = (str(scored.signatures[0]), str(scored.signatures[1]))
    return GroupComparison(
        title, scored.text, models, tuple(groups[:-1]), groups[-1], signatures, seed, resamples, tuple(notes)
    )


@dataclass(frozen=True, eq=False)
class _Sums:
    """For each sentence and group, and all tokens in the last column: (S, G + 1)."""

    counts: Array
    baseline: Array
    other: Array

    @property
    def gains(self) -> Array:
        return self.other - self.baseline


def _by_sentence(scored: ScoredBoth, group_of: NDArray[Any], groups: int) -> _Sums:
    sentence_of = scored.sentence_of
    shape = (len(scored.ends), groups + 1)

    def summed(values: Array) -> Array:
        table = np.zeros(shape)
        inside = group_of != NO_GROUP
        np.add.at(table, (sentence_of[inside], group_of[inside]), values[inside])
        np.add.at(table, (sentence_of, np.full(len(values), groups)), values)
        return table

    return _Sums(summed(np.ones(len(scored.tokens))), summed(scored.baseline), summed(scored.other))


def _group(name: str, sums: _Sums, place: int, change: Change, total: int) -> Group:
    count = int(sums.counts[:, place].sum())
    baseline, other = (
        float(np.exp(-table[:, place].sum() / count)) if count else float("nan")
        for table in (sums.baseline, sums.other)
    )
    return Group(name, count, count / total, baseline, other, change)
