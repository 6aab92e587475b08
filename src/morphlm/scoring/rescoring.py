"""Rescoring k-best lists: features of language models for each hypothesis, and a new order by weights.

The list is read as it arrives, each text is scored once however often a list repeats it, and only the hypotheses of the
sentence under way are kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from morphlm.arguments import finite_number
from morphlm.display import dataclass_repr, described
from morphlm.errors import ConfigError, InputError, located
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.fitting import line_preparer
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.scoring.kbest import Columns, FormatName, Hypothesis, KBestFormat, Values, check_feature_name, find_format
from morphlm.scoring.mixture import numbered
from morphlm.scoring.streaming import (
    UNITS,
    TextScorer,
    Unit,
    arriving_blocks,
    check_unit,
    sentence_sums,
)
from morphlm.tables import counted, finite_or_none
from morphlm.text.encodings import check_encoding
from morphlm.text.reading import END, RESERVED, UNKNOWN, Block, UntilRefused, split_tokens
from morphlm.wording import either, option

WORDS = "words"  # the name of the feature that counts them
UNKNOWN_SUFFIX = "_unknown"  # the feature that counts a model's unknown words is named after the model's

Features = Mapping[str, float]  # values by names


@dataclass(frozen=True)
class RescoringOptions:
    """What is added to a hypothesis, and how hypotheses are ordered."""

    unit: Unit = "nats"
    word_count: bool = False  # a feature more: the number of words
    unknown_count: bool = False  # a feature more for each model: the number of words it does not know
    prepared: bool | None = None  # whether hypotheses are prepared already; None: as `LanguageModel.perplexity` has it
    encoding: str | None = None  # of k-best lists; None: recognised
    allow_unknown: bool = False  # hypotheses may contain <unk>
    unknown_contexts: UnknownContexts = "unk"  # how contexts represent an unknown word
    weights: Values | None = None  # order by the sum of weight times feature
    lm_weights: tuple[float, ...] = ()  # one for each model: added to the given score, or to that sum
    best: bool = False  # of each sentence only the first in the new order
    continuous: bool = False  # sentences follow each other: a hypothesis comes after the best ones of those before

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        check_unit(self.unit)
        if self.encoding is not None:
            check_encoding(self.encoding)
        for weight in self.lm_weights:
            finite_number(either("an --lm-weight", "one of lm_weights"), weight)

    @property
    def ranks(self) -> bool:
        """Whether hypotheses get a new order."""
        return self.weights is not None or bool(self.lm_weights)


@dataclass(frozen=True)
class Rescored:
    """A hypothesis with its new features and score."""

    hypothesis: Hypothesis
    format: KBestFormat = field(repr=False)
    added: Features
    total: float | None = None  # the new score, where there is a new order

    __repr__ = dataclass_repr

    def to_line(self) -> str:
        """The line of the new list."""
        return self.format.render(self.hypothesis, self.added, self.total)

    def to_json(self) -> dict[str, Any]:
        """Infinite numbers, which JSON does not have, become null."""
        plain: dict[str, Any] = {
            "line": self.hypothesis.line,
            "id": self.hypothesis.id,
            "hypothesis": self.hypothesis.text,
            "features": {name: finite_or_none(value) for name, value in self.added.items()},
        }
        return plain if self.total is None else plain | {"score": finite_or_none(self.total)}


class Rescorer:
    """Scores hypotheses under models, each under the name of its feature."""

    def __init__(self, models: Sequence[tuple[str, LanguageModel]], options: RescoringOptions | None = None) -> None:
        self.options = options or RescoringOptions()
        self._models = [name for name, _ in models]
        self._check_names()
        self._lm_weights = _lm_weights(self._models, self.options)
        self._scorers = [TextScorer(model, self.options.unknown_contexts, separate=True) for _, model in models]
        self._preparers = [
            line_preparer(model, prepared=self.options.prepared, allow_unknown=self.options.allow_unknown)
            for _, model in models
        ]
        self._last: tuple[str, dict[str, Features]] = ("", {})  # the texts of the sentence under way
        self._leader: Rescored | None = None  # the best hypothesis so far of the sentence under way
        self.weighted: dict[str, None] = {}  # features met that have a weight, in order
        self.unweighted: dict[str, None] = {}  # and those that have none, which count nothing

    @property
    def names(self) -> list[str]:
        """The features that are added to each hypothesis."""
        counts = [WORDS] if self.options.word_count else []
        for name in self._models:
            counts += [name, *([name + UNKNOWN_SUFFIX] if self.options.unknown_count else [])]
        return counts

    def __repr__(self) -> str:
        return described(self, features=self.names, options=self.options)

    def _check_names(self) -> None:
        for name in self.names:
            check_feature_name(name)
        if len(set(self.names)) < len(self.names):
            raise ConfigError(
                f"a feature's name is used twice ({', '.join(self.names)}); give others by "
                f"{either('--feature', 'other names')}"
            )

    def features(self, hypotheses: Sequence[Hypothesis]) -> list[Features]:
        """What is added to each hypothesis, by name. A text that comes again for its sentence has the same values."""
        last_id, known = self._last
        if self.options.continuous and hypotheses[0].id != last_id:
            known = {}  # the same text has other values after another text
        texts = list(dict.fromkeys(h.text for h in hypotheses if h.text not in known))
        rows = [dict(zip(self.names, values, strict=True)) for values in zip(*self._columns(texts), strict=True)]
        features_of = known | dict(zip(texts, rows, strict=True))
        under_way = hypotheses[-1].id
        kept = {h.text: features_of[h.text] for h in hypotheses if h.id == under_way}
        self._last = under_way, (known | kept if under_way == last_id else kept)
        return [features_of[h.text] for h in hypotheses]

    def enter_sentence(self, name: str) -> None:
        """If it is another one than before, that has become part of the text; its best hypothesis is taken for it."""
        if self._leader is not None and self._leader.hypothesis.id != name:
            text, self._leader = self._leader.hypothesis.text, None
            for scorer, prepare in zip(self._scorers, self._preparers, strict=True):
                scorer.continue_after([word.encode() for word in (*prepare(text), END)])

    def note_leader(self, items: Sequence[Rescored]) -> None:
        """Hypotheses of the sentence under way have been scored; of equal ones the first is the best."""
        leaders = items if self._leader is None else [self._leader, *items]
        self._leader = max(leaders, key=_rank)

    def _columns(self, texts: Sequence[str]) -> Iterator[list[float]]:
        """The values of each feature, in the order of `names`."""
        if self.options.word_count:
            yield [len(split_tokens(text)) for text in texts]
        for scorer, prepare in zip(self._scorers, self._preparers, strict=True):
            sums, _, unknown = sentence_sums(scorer([w.encode() for text in texts for w in (*prepare(text), END)]))
            yield [logprob * UNITS[self.options.unit] for logprob in sums]
            if self.options.unknown_count:
                yield list(unknown)

    def check(self, hypothesis: Hypothesis, layout: KBestFormat) -> None:
        """Refuse a hypothesis that cannot be scored or extended."""
        tokens = split_tokens(hypothesis.text)
        for mark in RESERVED if "<" in hypothesis.text else ():
            if mark in tokens and not (mark == UNKNOWN and self.options.allow_unknown):
                hint = f", or say {option('--allow-unk', True)} if words were replaced by it" if mark == UNKNOWN else ""
                raise InputError(f"the hypothesis contains {mark}, a mark that morphlm sets itself; remove it{hint}")
        for prepare in self._preparers:
            prepare(hypothesis.text)
        for name in self.names:
            if layout.has_feature(hypothesis, name):
                raise InputError(
                    f"there is a feature {name!r} already; give ours another {either('name by --feature', 'name')}"
                )

    def total(self, hypothesis: Hypothesis, layout: KBestFormat, added: Features) -> float:
        """The new score of a hypothesis, with the features that were added."""
        if self.options.weights is None:
            base = layout.score(hypothesis)
        else:
            unlisted = {name: (value,) for name, value in added.items() if name not in self._lm_weights}
            base = self._weighted({**layout.features(hypothesis), **unlisted}, self.options.weights)
        total = base + sum(_product(weight, added[name]) for name, weight in self._lm_weights.items())
        return -math.inf if math.isnan(total) else total  # infinities of both signs: nothing good can be said of it

    def _weighted(self, features: Values, weights: Values) -> float:
        total = 0.0
        for name, values in features.items():
            weight = weights.get(name)
            (self.unweighted if weight is None else self.weighted)[name] = None
            if weight is None:
                continue
            if len(weight) != len(values):
                raise InputError(
                    f"the feature {name!r} has {counted(len(values), 'value')} but "
                    f"{counted(len(weight), 'weight')}; mend either"
                )
            total += sum(map(_product, weight, values))
        return total

    @property
    def unused_weights(self) -> list[str]:
        """Names that have a weight but were not met, so that they may be mistyped."""
        return [name for name in self.options.weights or {} if name not in self.weighted]


def _lm_weights(names: list[str], options: RescoringOptions) -> dict[str, float]:
    if not options.lm_weights:
        return {}
    if len(options.lm_weights) != len(names):
        raise ConfigError(
            f"{len(options.lm_weights)} {either('--lm-weight', 'lm_weights')} for "
            f"{counted(len(names), 'model')}; give one "
            "for each"
        )
    if both := [name for name in names if name in (options.weights or {})]:
        places = either("--weights and an --lm-weight", "weights and in lm_weights")
        raise ConfigError(f"{both[0]} has a weight in {places}; give it one")
    return dict(zip(names, options.lm_weights, strict=True))


def _product(weight: float, value: float) -> float:
    return weight * value if weight else 0.0  # also where the value is infinite


def feature_names(models: Sequence[LanguageModel], names: Sequence[str] = ()) -> list[str]:
    """Names for the features of models: those given, else their kinds, numbered where one comes again."""
    if names and len(names) != len(models):
        raise ConfigError(
            f"{len(names)} names of features for {counted(len(models), 'model')}; give one "
            f"{either('--feature', 'name')} for each"
        )
    return list(names) or numbered([model.kind for model in models], mark="")


def rescore(
    rescorer: Rescorer, path: str | Path, *, layout: FormatName = "auto", columns: Columns | None = None
) -> Iterator[list[Rescored]]:
    """Rescore a list ('-': standard input) with a `rescorer`; each item holds what could be read without waiting."""
    ranks = rescorer.options.ranks
    if rescorer.options.best and not ranks:
        raise ConfigError(
            "nothing says which hypothesis is best; give "
            f"{either('--lm-weight or --weights', 'lm_weights= or weights=')}"
        )
    pending: list[Rescored] = []
    for batch in _batches(rescorer, path, layout, columns):
        scored = _scored(rescorer, batch)
        if not ranks:
            yield scored
            continue
        pending += scored
        under_way = pending[-1].hypothesis.id
        yield _ranked([item for item in pending if item.hypothesis.id != under_way], rescorer.options.best)
        pending = [item for item in pending if item.hypothesis.id == under_way]
    yield _ranked(pending, rescorer.options.best)


@dataclass(frozen=True)
class _HypothesisBatch:
    """Hypotheses that were read together."""

    hypotheses: list[Hypothesis]
    format: KBestFormat
    source: str


def _batches(
    rescorer: Rescorer, path: str | Path, layout: FormatName, columns: Columns | None
) -> Iterator[_HypothesisBatch]:
    kbest_format: KBestFormat | None = None
    seen: dict[str, None] = {}  # the ids of the sentences so far, the one under way last
    for block in arriving_blocks(path, marks="any", encoding=rescorer.options.encoding):
        kbest_format = kbest_format or find_format(layout, block.lines()[0], columns)
        parsed = UntilRefused(_parsed(rescorer, block, kbest_format, seen))
        if hypotheses := list(parsed):
            yield _HypothesisBatch(hypotheses, kbest_format, block.source)
        parsed.check()


def _parsed(rescorer: Rescorer, block: Block, kbest_format: KBestFormat, seen: dict[str, None]) -> Iterator[Hypothesis]:
    for number, line in enumerate(block.lines(), block.first_line):
        with located(block.source, number):
            hypothesis = kbest_format.parse(line, number)
            rescorer.check(hypothesis, kbest_format)
            if hypothesis.id in seen and hypothesis.id != next(reversed(seen)):
                raise InputError(f"the sentence {hypothesis.id} comes again after others; put its hypotheses together")
        seen[hypothesis.id] = None
        yield hypothesis


def _scored(rescorer: Rescorer, batch: _HypothesisBatch) -> list[Rescored]:
    if not rescorer.options.continuous:
        return _scored_together(rescorer, batch)
    result = []
    for name, group in groupby(batch.hypotheses, key=lambda hypothesis: hypothesis.id):
        rescorer.enter_sentence(name)
        scored = _scored_together(rescorer, replace(batch, hypotheses=list(group)))
        rescorer.note_leader(scored)
        result += scored
    return result


def _scored_together(rescorer: Rescorer, batch: _HypothesisBatch) -> list[Rescored]:
    result = []
    for hypothesis, added in zip(batch.hypotheses, rescorer.features(batch.hypotheses), strict=True):
        total = None
        if rescorer.options.ranks:
            with located(batch.source, hypothesis.line):
                total = rescorer.total(hypothesis, batch.format, added)
        result.append(Rescored(hypothesis, batch.format, added, total))
    return result


def _rank(item: Rescored) -> float:
    return -math.inf if item.total is None else item.total


def _ranked(items: list[Rescored], best: bool) -> list[Rescored]:
    """Each sentence's hypotheses, those with the higher score first, equal ones in the order they had."""
    result: list[Rescored] = []
    for _, group in groupby(items, key=lambda item: item.hypothesis.id):
        ordered = sorted(group, key=_rank, reverse=True)
        result += ordered[:1] if best else ordered
    return result
