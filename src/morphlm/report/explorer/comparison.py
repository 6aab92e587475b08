"""Compares two models on a pasted text: totals with intervals, and the words and sentences on which they differ.

A gain is what the other model saves against the baseline, in bits; a negative one is what it loses.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from morphlm.analysis.bootstrap import PerplexityChange, bootstrap_note
from morphlm.analysis.groups import Group, GroupComparison, PairedScores, compare_groups
from morphlm.arrays import BoolArray, Float64Array
from morphlm.errors import InputError
from morphlm.report.explorer.limits import Deadline, RequestLimits, check_count, check_text
from morphlm.report.explorer.models import ExploredModel, TextIs
from morphlm.scoring.streaming import TextScorer
from morphlm.tables import counted, finite_or_none
from morphlm.text.reading import END
from morphlm.vectors.search import largest
from morphlm.vocabulary.vocabulary import UNK_ID

GROUPS = ("words known to both", "words unknown to one or both", "ends of sentences")
PIECE_TOKENS = 8192  # that are scored before the time is looked at
SHOWN_TOKENS = 60  # of a sentence
SHOWN_BEFORE = 5  # words before a token
SEED, NOTED_LINES = 1, 3


@dataclass(frozen=True)
class ChangeView:
    """A relative change of perplexity, -0.06 for 6 % less, and its interval."""

    value: float | None
    low: float | None
    high: float | None
    text: str  # formatted: −6.1 % [−6.9, −5.3]


@dataclass(frozen=True)
class GroupView:
    """The perplexities on a group of tokens."""

    name: str
    tokens: int
    share: float
    baseline: float | None  # perplexity
    other: float | None
    change: ChangeView


@dataclass(frozen=True)
class TokenGain:
    """A token of the text, and what the other model gains on it."""

    line: int  # of the text, from 1
    before: str  # the last words before it
    token: str
    baseline: float | None  # bits of surprisal
    other: float | None
    gain: float


@dataclass(frozen=True)
class WordGain:
    """A word and the sum of its gains over the text."""

    word: str
    count: int
    gain: float


@dataclass(frozen=True)
class ShownToken:
    """A token of a sentence that is shown."""

    token: str
    gain: float | None  # None: a model says that it cannot be


@dataclass(frozen=True)
class SentenceGain:
    """A sentence of the text, and what the other model gains on it."""

    line: int
    gain: float
    tokens: list[ShownToken]
    more: int  # tokens that are not shown


@dataclass(frozen=True)
class Extremes:
    """The words, tokens and sentences on which one model is better, by the size of the difference."""

    words: list[WordGain]
    tokens: list[TokenGain]
    sentences: list[SentenceGain]


@dataclass(frozen=True)
class ComparisonView:
    """Two models compared on a text."""

    baseline: str
    other: str
    sentences: int
    tokens: int  # sentence ends included
    unknown: list[int]  # for each model
    whole: GroupView
    groups: list[GroupView]
    other_better: Extremes
    baseline_better: Extremes
    signatures: list[str]
    notes: list[str]


@dataclass(frozen=True, eq=False)
class _Sentences:
    """The lines that have words, and their tokens as each of the models sees them."""

    lines: list[int]
    baseline: list[list[str]]
    other: list[list[str]]


def compare(
    baseline: ExploredModel,
    other: ExploredModel,
    text: str,
    text_is: TextIs,
    k: int,
    limits: RequestLimits,
    deadline: Deadline,
) -> ComparisonView:
    """Score the text under both, and find where they differ most."""
    check_text(text, limits.body_bytes, "a text")
    check_count(k, limits)
    if baseline is other:
        raise InputError("a model is compared with itself; choose two")
    read = _read(baseline, other, text, text_is, limits, deadline)
    baseline_logprobs, unknown_to_baseline = _score(baseline, read.baseline, deadline)
    other_logprobs, unknown_to_other = _score(other, read.other, deadline)
    scored = _scored(baseline, other, read, baseline_logprobs, other_logprobs)
    groups = _groups(scored, unknown_to_baseline | unknown_to_other, (baseline.name, other.name))
    deadline.check()
    finder = _DifferenceFinder(scored, read.lines, k)
    return ComparisonView(
        baseline=baseline.name,
        other=other.name,
        sentences=len(read.lines),
        tokens=len(scored.tokens),
        unknown=[int(unknown_to_baseline.sum()), int(unknown_to_other.sum())],
        whole=_group_view(groups.whole),
        groups=[_group_view(group) for group in groups.groups if group.tokens],
        other_better=finder.extremes(1.0),
        baseline_better=finder.extremes(-1.0),
        signatures=list(groups.signatures),
        notes=[bootstrap_note(groups.seed, groups.resamples), *groups.notes, *_notes(read)],
    )


# ---------------------------------------------------------------- the text


def _read(
    baseline: ExploredModel, other: ExploredModel, text: str, text_is: TextIs, limits: RequestLimits, deadline: Deadline
) -> _Sentences:
    sentences, tokens = _Sentences([], [], []), 0
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if number % 64 == 0:  # the tokeniser takes its time
            deadline.check()
        if len(line) > limits.line_characters:
            raise InputError(f"line {number} has {len(line):,} characters; put each sentence on a line of its own")
        ours, theirs = (model.prepare(line, text_is) for model in (baseline, other))
        if len(ours) != len(theirs):
            raise InputError(
                f"line {number} has {counted(len(ours), 'token')} for {baseline.name} and {len(theirs)} for "
                f"{other.name}, whose texts were prepared in different ways; prepare the text and say that it is"
            )
        if ours:
            sentences.lines.append(number)
            sentences.baseline.append(ours)
            sentences.other.append(theirs)
        tokens += len(ours)
        _check_size(tokens, len(sentences.lines), limits)
    if not sentences.lines:
        raise InputError("there are no sentences; give at least one")
    return sentences


def _check_size(tokens: int, sentences: int, limits: RequestLimits) -> None:
    """Refuse a text as soon as it is too long."""
    for count, limit, unit in ((tokens, limits.text_tokens, "tokens"), (sentences, limits.text_sentences, "sentences")):
        if count > limit:
            raise InputError(f"a text of more than {limit:,} {unit}; give less, or use `morphlm analyse`")


def _notes(read: _Sentences) -> list[str]:
    differing = [line for line, a, b in zip(read.lines, read.baseline, read.other, strict=True) if a != b]
    if not differing:
        return []
    some = ", ".join(map(str, differing[:NOTED_LINES])) + (", ..." if len(differing) > NOTED_LINES else "")
    return [
        f"each model saw the text prepared as its own was; that differs in {counted(len(differing), 'line')} ({some})"
    ]


# ---------------------------------------------------------------- scores


def _score(
    explored: ExploredModel, sentences: Sequence[Sequence[str]], deadline: Deadline
) -> tuple[Float64Array, BoolArray]:
    """ln p of every token, and which are unknown; a piece at a time, so that the deadline can stop it."""
    scorer = TextScorer(explored.model)
    logprobs, unknown = [], []
    for piece in _pieces(sentences):
        deadline.check()
        scored = scorer(piece)
        logprobs.append(scored.logprobs)
        unknown.append(scored.corpus.tokens == UNK_ID)
    return np.concatenate(logprobs), np.concatenate(unknown)


def _pieces(sentences: Sequence[Sequence[str]]) -> Iterator[list[bytes]]:
    piece: list[bytes] = []
    for sentence in sentences:
        piece += [token.encode() for token in (*sentence, END)]
        if len(piece) >= PIECE_TOKENS:
            yield piece
            piece = []
    if piece:
        yield piece


def _scored(
    baseline: ExploredModel,
    other: ExploredModel,
    read: _Sentences,
    baseline_logprobs: Float64Array,
    other_logprobs: Float64Array,
) -> PairedScores:
    tokens, others = ([token for words in side for token in (*words, END)] for side in (read.baseline, read.other))
    return PairedScores(
        "the text",
        [token.encode() for token in tokens],
        baseline.model.vocabulary.encode(tokens),
        other.model.vocabulary.encode(others),
        baseline_logprobs,
        other_logprobs,
        (baseline.model.signature, other.model.signature),
    )


def _groups(scored: PairedScores, unknown: BoolArray, names: tuple[str, str]) -> GroupComparison:
    group_of = unknown.astype(np.int64)
    group_of[scored.ends] = GROUPS.index("ends of sentences")
    with np.errstate(invalid="ignore"):  # a model may say that a word cannot be
        return compare_groups(scored, group_of, GROUPS, "tokens", names, seed=SEED)


def _group_view(group: Group) -> GroupView:
    return GroupView(**group.to_json() | {"change": _change_view(group.change)})


def _change_view(change: PerplexityChange) -> ChangeView:
    value, low, high = (finite_or_none(number) for number in (change.value, change.low, change.high))
    shown = PerplexityChange(
        change.value, *((change.low, change.high) if None not in (low, high) else (math.nan, math.nan))
    )
    return ChangeView(value, low, high, "-" if value is None else shown.format())


# ---------------------------------------------------------------- where they differ


class _DifferenceFinder:
    """Finds where two models differ most; tokens without a probability under one of them do not count."""

    def __init__(self, scored: PairedScores, lines: Sequence[int], k: int) -> None:
        self.lines, self.k = lines, k
        self.forms = [form.decode() for form in scored.forms]
        self.bits = (-scored.baseline / math.log(2), -scored.other / math.log(2))
        self.sentence_of, self.ends = scored.sentence_of, scored.ends
        possible = np.isfinite(scored.baseline) & np.isfinite(scored.other)
        self.gains = np.full(len(possible), np.nan)
        self.gains[possible] = (self.bits[0] - self.bits[1])[possible]
        self.counted = np.where(possible, self.gains, 0.0)
        self.bounds = list(pairwise([0, *(self.ends + 1).tolist()]))

    def extremes(self, sign: float) -> Extremes:
        """The largest gains, or with a sign of -1 the largest losses."""
        sums = np.add.reduceat(self.counted, [begin for begin, _ in self.bounds])
        return Extremes(
            words=self._words(sign),
            tokens=[self._token(position) for position in self._top(sign * self.counted)],
            sentences=[self._sentence(number, float(sums[number])) for number in self._top(sign * sums)],
        )

    def _top(self, values: Float64Array) -> list[int]:
        return [position for position in largest(values, min(self.k, len(values))).tolist() if values[position] > 0]

    def _words(self, sign: float) -> list[WordGain]:
        sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for form, gain in zip(self.forms, self.counted.tolist(), strict=True):
            entry = sums[form]
            entry[0] += 1
            entry[1] += gain
        names, totals = list(sums), np.array([gain for _, gain in sums.values()])
        return [
            WordGain(names[position], int(sums[names[position]][0]), float(totals[position]))
            for position in self._top(sign * totals)
        ]

    def _token(self, position: int) -> TokenGain:
        begin, _ = self.bounds[self.sentence_of[position]]
        before = " ".join(self.forms[max(begin, position - SHOWN_BEFORE) : position])
        baseline, other = (finite_or_none(float(bits[position])) for bits in self.bits)
        line = self.lines[self.sentence_of[position]]
        return TokenGain(line, before, self.forms[position], baseline, other, float(self.gains[position]))

    def _sentence(self, number: int, gain: float) -> SentenceGain:
        begin, end = self.bounds[number]
        shown = range(begin, min(end, begin + SHOWN_TOKENS))
        tokens = [ShownToken(self.forms[position], finite_or_none(float(self.gains[position]))) for position in shown]
        return SentenceGain(self.lines[number], gain, tokens, end - begin - len(shown))
