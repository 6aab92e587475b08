"""The three models that the paper compares on larger texts: MKN, CLBL and CLBL++ (Table 2, figure 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from morphlm.analysis.bootstrap import RESAMPLES, PerplexityChange
from morphlm.analysis.scores import SentenceScores, change_between, format_perplexity
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.tables import finite_or_none

TRIPLE = ("mkn", "clbl", "clbl++")
COLUMNS = ("MKN", "CLBL", "Rel.1", "CLBL++", "Rel.2")


@dataclass(frozen=True)
class ModelTriple:
    """The perplexities of MKN, CLBL and CLBL++ on one text, each compared with the one before."""

    mkn: float
    clbl: float
    additive: float  # CLBL++
    first: PerplexityChange  # CLBL against MKN: the paper's Rel.1
    second: PerplexityChange  # CLBL++ against CLBL: Rel.2
    both: PerplexityChange  # CLBL++ against MKN
    signatures: tuple[str, ...] = ()  # of the three

    __repr__ = dataclass_repr

    @property
    def has_intervals(self) -> bool:
        """Whether the changes have intervals."""
        return self.second.has_interval

    def cells(self) -> list[str]:
        """The cells of a table row under COLUMNS."""
        return [
            format_perplexity(self.mkn),
            format_perplexity(self.clbl),
            self.first.format(),
            format_perplexity(self.additive),
            self.second.format(),
        ]

    def to_json(self) -> dict[str, Any]:
        return {
            "perplexities": {
                kind: finite_or_none(value)
                for kind, value in zip(TRIPLE, (self.mkn, self.clbl, self.additive), strict=True)
            },
            "clbl_against_mkn": self.first.to_json(),
            "clbl++_against_clbl": self.second.to_json(),
            "clbl++_against_mkn": self.both.to_json(),
            "signatures": list(self.signatures),
        }


def triple_from_scores(
    scores: Mapping[str, SentenceScores], *, seed: int = 1, resamples: int = RESAMPLES
) -> ModelTriple:
    """From the sentence scores of the three models on one text, by the names in TRIPLE."""
    missing = [kind for kind in TRIPLE if kind not in scores]
    if missing:
        raise ConfigError(f"{', '.join(missing)} is missing; {', '.join(TRIPLE)} are compared, train it too")
    mkn, clbl, additive = (scores[kind] for kind in TRIPLE)

    def change(baseline: SentenceScores, other: SentenceScores) -> PerplexityChange:
        return change_between(baseline, other, seed=seed, resamples=resamples)

    return ModelTriple(
        mkn.perplexity,
        clbl.perplexity,
        additive.perplexity,
        change(mkn, clbl),
        change(clbl, additive),
        change(mkn, additive),
        (mkn.signature, clbl.signature, additive.signature),
    )
