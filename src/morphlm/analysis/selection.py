"""Which of the eight models gains most over its base, over several languages (paper, figure 2).

Each additive model is compared with the model of the same family without morphemes; a box sums up its languages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from morphlm.analysis.bootstrap import RESAMPLES, PerplexityChange, bootstrap_note, bootstrap_record
from morphlm.analysis.scores import (
    SentenceScores,
    change_between,
    format_perplexity,
    plain_change,
    shared_signature,
)
from morphlm.display import Row, Tabular, dataclass_repr
from morphlm.errors import ConfigError
from morphlm.tables import Table, finite_or_none, percent

NGRAMS = "mkn"
BASES = {  # additive model -> the one that it is compared with
    "lbl+c": "lbl",
    "lbl+o": "lbl",
    "lbl++": "lbl",
    "clbl+c": "clbl",
    "clbl+o": "clbl",
    "clbl++": "clbl",
}
PAPER_KINDS = (NGRAMS, "lbl", "lbl+c", "lbl+o", "lbl++", "clbl", "clbl+c", "clbl+o", "clbl++")
REACH = 3.0  # inter-quartile ranges beyond the box, up to which whiskers go

Changes = Mapping[str, Mapping[str, PerplexityChange]]  # [language][kind]


@dataclass(frozen=True)
class Box:
    """The statistics that a box plot shows."""

    median: float
    lower: float  # quartiles
    upper: float
    low: float  # ends of the whiskers: the last numbers within REACH of the box
    high: float
    mean: float
    outliers: tuple[float, ...]
    count: int

    __repr__ = dataclass_repr

    def to_json(self) -> dict[str, Any]:
        return {
            "median": self.median,
            "quartiles": [self.lower, self.upper],
            "whiskers": [self.low, self.high],
            "mean": self.mean,
            "outliers": list(self.outliers),
            "languages": self.count,
        }


def check_box(languages: int) -> None:
    """Refuse a box plot of a single number."""
    if languages < 2:
        raise ConfigError(f"a box plot needs 2 or more languages, not {languages}; add some, or do without the picture")


def box_of(numbers: Sequence[float]) -> Box:
    """Quartiles are interpolated linearly between numbers, as numpy's and matplotlib's."""
    check_box(len(numbers))
    values = np.sort(np.asarray(numbers, np.float64))
    lower, median, upper = np.percentile(values, [25, 50, 75])
    reach = REACH * (upper - lower)
    inside = values[(values >= lower - reach) & (values <= upper + reach)]
    outliers = values[(values < lower - reach) | (values > upper + reach)]
    return Box(
        float(median),
        float(lower),
        float(upper),
        float(inside.min()),
        float(inside.max()),
        float(values.mean()),
        tuple(outliers.tolist()),
        len(values),
    )


@dataclass(frozen=True)
class Selection(Tabular):
    """The perplexities of all models in all languages, and what the additive ones change."""

    perplexities: Mapping[str, Mapping[str, float]]  # [language][kind]
    changes: Changes  # of the kinds of BASES, where there is the base too
    seed: int = 1
    resamples: int = RESAMPLES
    signatures: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # [language][kind]

    __repr__ = dataclass_repr

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages."""
        return tuple(self.perplexities)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that at least one language has, in the order of PAPER_KINDS."""
        return tuple(kind for kind in PAPER_KINDS if any(kind in models for models in self.perplexities.values()))

    @property
    def additive(self) -> tuple[str, ...]:
        """The models that are compared with a base in some language."""
        return tuple(kind for kind in BASES if any(kind in changes for changes in self.changes.values()))

    @property
    def bases(self) -> tuple[str, ...]:
        """The kinds that the additive ones are compared with."""
        return tuple(dict.fromkeys(BASES[kind] for kind in self.additive))

    def values(self, kind: str) -> dict[str, float]:
        """The relative changes of an additive model, by language; those that are not finite left out."""
        changes_of_kind = {
            language: changes[kind].value for language, changes in self.changes.items() if kind in changes
        }
        return {language: value for language, value in changes_of_kind.items() if np.isfinite(value)}

    def box(self, kind: str) -> Box:
        """The box of an additive model over the languages; it needs two or more."""
        return box_of(list(self.values(kind).values()))

    def median_perplexity(self, kind: str) -> float:
        """Over the languages that have the model; not a number if none has it."""
        perplexities = [models[kind] for models in self.perplexities.values() if kind in models]
        return float(np.median(perplexities)) if perplexities else float("nan")

    def to_table(self) -> Table:
        """A row a language: perplexities of MKN and the bases, changes of the others; then medians and means."""
        header = ["language", *map(display, self.kinds)]
        rows = [[language, *(self._cell(language, kind) for kind in self.kinds)] for language in self.languages]
        if len(self.languages) > 1:
            rows.append(["median", *(self._summary(kind, np.median) for kind in self.kinds)])
            rows.append(["mean", *(self._summary(kind, np.mean) for kind in self.kinds)])
        compared = "; ".join(
            f"{', '.join(display(kind) for kind in self.additive if BASES[kind] == base)} against {display(base)}"
            for base in self.bases
        )
        return Table(header, rows, [f"perplexities, and relative changes: {compared}"])

    def _cell(self, language: str, kind: str) -> str:
        if kind in self.changes.get(language, {}):
            change = self.changes[language][kind].value
            return percent(change) if np.isfinite(change) else "-"
        return format_perplexity(self.perplexities[language].get(kind, float("nan")))

    def _summary(self, kind: str, measure: Any) -> str:
        if kind in self.additive:
            values = list(self.values(kind).values())
            return percent(float(measure(values))) if values else "-"
        perplexities = [models[kind] for models in self.perplexities.values() if kind in models]
        return format_perplexity(float(measure(perplexities)))

    def to_intervals(self) -> Table:
        """A row for each change, with its interval."""
        rows = [
            [
                language,
                display(kind),
                format_perplexity(self.perplexities[language][BASES[kind]]),
                format_perplexity(self.perplexities[language][kind]),
                change.format(),
            ]
            for language, changes in self.changes.items()
            for kind, change in changes.items()
        ]
        notes = [bootstrap_note(self.seed, self.resamples)] if self.has_intervals else []
        signatures = [signature for models in self.signatures.values() for signature in models.values()]
        notes += [f"signatures: {shared_signature(signatures)}"] if signatures else []
        return Table(["language", "model", "base", "perplexity", "change"], rows, notes)

    @property
    def has_intervals(self) -> bool:
        """Whether any change has an interval."""
        return any(change.has_interval for changes in self.changes.values() for change in changes.values())

    def frame_rows(self) -> list[Row]:
        return [
            {"language": language, "kind": kind, "perplexity": perplexity, **self._change(language, kind)}
            for language, models in self.perplexities.items()
            for kind, perplexity in models.items()
        ]

    def _change(self, language: str, kind: str) -> dict[str, float | None]:
        change = self.changes.get(language, {}).get(kind)
        return {} if change is None else {f"change_{name}": value for name, value in change.to_json().items()}

    def to_json(self) -> dict[str, Any]:
        """Boxes only where there are two languages or more."""
        return {
            "perplexities": {
                language: {kind: finite_or_none(value) for kind, value in models.items()}
                for language, models in self.perplexities.items()
            },
            "changes": {
                language: {kind: {"base": BASES[kind], **change.to_json()} for kind, change in changes.items()}
                for language, changes in self.changes.items()
            },
            "boxes": {kind: self.box(kind).to_json() for kind in self.additive if len(self.values(kind)) > 1},
            "median_perplexities": {kind: finite_or_none(self.median_perplexity(kind)) for kind in self.kinds},
            "signatures": {language: dict(models) for language, models in self.signatures.items()},
            "bootstrap": bootstrap_record(self.seed, self.resamples),
        }


def display(kind: str) -> str:
    """As the paper writes it: LBL+c, CLBL++."""
    family, plus, rest = kind.partition("+")
    return family.upper() + plus + rest


def select(
    perplexities: Mapping[str, Mapping[str, float]],
    changes: Changes | None = None,
    *,
    seed: int = 1,
    resamples: int = RESAMPLES,
    signatures: Mapping[str, Mapping[str, str]] | None = None,
) -> Selection:
    """From `perplexities` by language and kind of model; `changes` that are not given have no interval.

    `signatures`, by language and kind too, are shown below the table.
    """
    if not perplexities:
        raise ConfigError("there is no language; name at least one")
    unknown = sorted({kind for models in perplexities.values() for kind in models} - set(PAPER_KINDS))
    if unknown:
        raise ConfigError(f"{unknown[0]!r} is no model of this comparison; choose among {', '.join(PAPER_KINDS)}")
    known_changes = changes or {}
    all_changes = {
        language: {
            kind: known_changes.get(language, {}).get(kind) or plain_change(models[base], models[kind])
            for kind, base in BASES.items()
            if kind in models and base in models
        }
        for language, models in perplexities.items()
    }
    if not any(all_changes.values()):
        raise ConfigError("no language has an additive model and its base (as clbl++ and clbl); train both")
    ordered = {
        language: {kind: models[kind] for kind in PAPER_KINDS if kind in models}
        for language, models in perplexities.items()
    }
    return Selection(ordered, all_changes, seed, resamples, signatures or {})


def select_from_scores(
    scores: Mapping[str, Mapping[str, SentenceScores]], *, seed: int = 1, resamples: int = RESAMPLES
) -> Selection:
    """From the sentence scores of the models on a text of each language; changes get intervals."""
    changes = {
        language: {
            kind: change_between(models[base], models[kind], seed=seed, resamples=resamples)
            for kind, base in BASES.items()
            if kind in models and base in models
        }
        for language, models in scores.items()
    }
    return select(
        {language: {kind: score.perplexity for kind, score in models.items()} for language, models in scores.items()},
        changes,
        seed=seed,
        resamples=resamples,
        signatures={
            language: {kind: score.signature for kind, score in models.items()} for language, models in scores.items()
        },
    )
