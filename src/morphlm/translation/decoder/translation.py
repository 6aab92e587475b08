"""What the decoder gives for a sentence: the best translation, the k best ones, the graph of the search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from morphlm.arrays import Float64Array
from morphlm.display import dataclass_repr, described
from morphlm.lazy import PickledWithoutCaches, cached_property
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.decoder.derivation import DerivationTree, derivation_of, rule_of, span_of
from morphlm.translation.decoder.kbest import KBest, KBestArrays
from morphlm.translation.decoder.search import Chart
from morphlm.translation.grammar.rules import Links, Rule


@dataclass(frozen=True, eq=False)
class KBestTranslation:
    """One of the k best translations."""

    tokens: tuple[str, ...]
    score: float  # the sum of weights times features
    feature_names: tuple[str, ...]
    values: Float64Array  # of the features, in this order
    chart: Chart
    kbest: KBest
    number: int  # of its derivation in `kbest`

    __repr__ = dataclass_repr

    @property
    def features(self) -> dict[str, float]:
        return dict(zip(self.feature_names, self.values.tolist(), strict=True))

    @property
    def derivation(self) -> DerivationTree:
        """The rules that it was made by."""
        return derivation_of(self.chart, self.kbest, self.number)

    def to_json(self) -> dict[str, Any]:
        return {"translation": " ".join(self.tokens), "score": self.score, "features": self.features}


class Translation(PickledWithoutCaches):
    """The result for one sentence; all but the best translation is worked out when it is asked for."""

    def __init__(self, chart: Chart, config: DecoderConfig) -> None:
        self.chart, self.config = chart, config
        self.source = chart.grammar.tokens

    def __repr__(self) -> str:
        return described(self, source=" ".join(self.source))

    @cached_property
    def best(self) -> KBestTranslation:
        """The translation with the highest score."""
        return self.kbest(1, distinct=False)[0]

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words of the best translation, as `score`, `features` and `derivation` are of the best one."""
        return self.best.tokens

    @property
    def score(self) -> float:
        """The score of the best translation."""
        return self.best.score

    @property
    def features(self) -> dict[str, float]:
        """The features of the best translation."""
        return self.best.features

    @property
    def derivation(self) -> DerivationTree:
        """The rules that the best translation was made by."""
        return self.best.derivation

    @property
    def links(self) -> Links:
        """Positions in the source and in the best translation that belong together."""
        return self.derivation.links

    def kbest(self, k: int | None = None, *, distinct: bool | None = None) -> list[KBestTranslation]:
        """The k best translations; by default as many as the configuration says."""
        lists = self._lists(distinct)
        return list(self._range(lists, 0, lists.find(self.config.kbest if k is None else k)))

    def kbest_arrays(self, k: int | None = None, *, distinct: bool | None = None) -> KBestArrays:
        """The same as arrays, which are made without the interpreter's lock."""
        lists = self._lists(distinct)
        return lists.arrays(0, lists.find(self.config.kbest if k is None else k))

    def candidates(self, *, distinct: bool) -> Iterator[KBestTranslation]:
        """All translations in order of their scores; if distinct, only the best derivation of equal words."""
        lists, known, wanted = self._lists(distinct), 0, 1
        while (count := lists.find(wanted)) > known:
            yield from self._range(lists, known, count)
            known, wanted = count, 2 * count

    def _lists(self, distinct: bool | None) -> KBest:
        return KBest(self.chart, distinct=self.config.distinct if distinct is None else distinct)

    def _range(self, lists: KBest, begin: int, end: int) -> Iterator[KBestTranslation]:
        names, chart, arrays = self.chart.grammar.rules.feature_names, self.chart, lists.arrays(begin, end)
        for row, (score, derivation) in enumerate(
            zip(arrays.scores.tolist(), arrays.derivations.tolist(), strict=True)
        ):
            yield KBestTranslation(arrays.tokens(row), score, names, arrays.features[row], chart, lists, derivation)

    def graph(self) -> dict[str, Any]:
        """The search graph: the rules that were used, and every node with its span, best score and hyperedges.

        Hyperedges name their rule; those that glue, and the end of the sentence, have none.
        """
        used = np.unique(self.chart.edges.rule).tolist()
        rules = {number: rule_of(self.chart.grammar, number) for number in used}
        return {
            "source": list(self.source),
            "goal": self.chart.goal,
            "rules": {str(n): {"source": r.source, "target": r.target} for n, r in rules.items() if r is not None},
            "nodes": [self._node(node, rules) for node in range(len(self.chart.nodes.cell))],
        }

    def _node(self, node: int, rules: Mapping[int, Rule | None]) -> dict[str, Any]:
        label, begin, end = span_of(self.chart, node)
        edges = range(*self.chart.nodes.edges[node].tolist())
        return {
            "symbol": label,
            "span": [begin, end],
            "score": float(self.chart.nodes.inside[node]),
            "edges": [self._edge(edge, rules) for edge in edges],
        }

    def _edge(self, edge: int, rules: Mapping[int, Rule | None]) -> dict[str, Any]:
        models, edges = self.chart.grammar.rules.models, self.chart.edges
        columns = zip(models.columns, edges.logprobs[edge].tolist(), strict=True)
        number = int(edges.rule[edge])
        return {
            "rule": None if rules[number] is None else number,
            "tails": [tail for tail in edges.tails[edge].tolist() if tail >= 0],
            "score": float(edges.score[edge]),
            "logprobs": {models.names[model]: value for model, value in columns if model >= 0},
        }

    def to_json(self) -> dict[str, Any]:
        """The best translation with its features, links and derivation."""
        return {
            "source": " ".join(self.source),
            **self.best.to_json(),
            "links": [list(link) for link in self.links],
            "derivation": self.derivation.to_json(),
        }
