"""How a translation came about: rules with the spans of the source that they cover, as a tree, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from morphlm.translation.decoder.kbest import KBest
from morphlm.translation.decoder.search import Chart
from morphlm.translation.decoder.sentence_grammar import SentenceGrammar
from morphlm.translation.grammar.rules import Links, Rule

PASSED = "passed through"


@dataclass(frozen=True)
class Derivation:
    """A rule that covers a span of the source, with what fills its gaps. The parts of a sentence are glued: no rule."""

    begin: int
    end: int
    rule: Rule | None
    number: int | None  # of the rule in its table; None for glue and words that are left as they are
    parts: tuple[Derivation, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The translation."""
        if self.rule is None:
            return tuple(word for part in self.parts for word in part.words)
        result: list[str] = []
        for symbol in self.rule.target:
            result += [symbol] if isinstance(symbol, str) else self.parts[symbol - 1].words
        return tuple(result)

    @property
    def links(self) -> Links:
        """Pairs of places in the source and in the translation, from the links of the rules."""
        return tuple(sorted(self._links_from(0)))

    def _links_from(self, offset: int) -> Iterator[tuple[int, int]]:
        """`offset` is where the translation of this part begins."""
        target = (*range(1, len(self.parts) + 1),) if self.rule is None else self.rule.target
        places, at = [], offset
        for symbol in target:
            places.append(at)
            if isinstance(symbol, int):
                yield from self.parts[symbol - 1]._links_from(at)
                at += len(self.parts[symbol - 1].words)
            else:
                at += 1
        if self.rule is not None:
            sources = self._source_places(self.rule)
            yield from ((sources[source], places[place]) for source, place in self.rule.links)

    def _source_places(self, rule: Rule) -> list[int]:
        """Where each symbol of the rule's source begins."""
        places, at = [], self.begin
        for symbol in rule.source:
            places.append(at)
            at = self.parts[symbol - 1].end if isinstance(symbol, int) else at + 1
        return places

    def format(self, indent: str = "") -> str:
        """A line for each rule: its span, and what stands for what."""
        if self.rule is None:
            return "\n".join(part.format(indent) for part in self.parts)
        note = "" if self.number is not None else f"  ({PASSED})"
        line = f"{indent}{self.begin}-{self.end}  {_side(self.rule.source)} -> {_side(self.rule.target)}{note}"
        return "\n".join([line, *(part.format(indent + "  ") for part in self.parts)])

    def to_json(self) -> dict[str, Any]:
        """The tree; a rule as lists of words and numbers of gaps."""
        rule = self.rule
        return {
            "span": [self.begin, self.end],
            "rule": None if rule is None else {"source": list(rule.source), "target": list(rule.target)},
            "number": self.number,
            "words": list(self.words),
            "parts": [part.to_json() for part in self.parts],
        }


def _side(symbols: tuple[str | int, ...]) -> str:
    return " ".join(f"[{symbol}]" if isinstance(symbol, int) else symbol for symbol in symbols)


def span_of(chart: Chart, node: int) -> tuple[str, int, int]:
    """X, S or the goal, and the words of the source that a node covers."""
    cell, words = int(chart.nodes.cell[node]), len(chart.grammar.tokens)
    first_s = words * chart.widest
    if cell < first_s:
        begin, width = divmod(cell, chart.widest)
        return "X", begin, begin + width + 1
    end = cell - first_s
    return ("S", 0, end) if end <= words else ("goal", 0, words)


def rule_of(grammar: SentenceGrammar, number: int) -> Rule | None:
    """A rule of the table, or that for a word which is left as it is; None for those without words."""
    if number < grammar.first_pass:
        return grammar.rules.table.rule(number)
    if number < grammar.first_glue:
        word = grammar.tokens[number - grammar.first_pass]
        return Rule((word,), (word,), {}, ((0, 0),))
    return None


def derivation_of(chart: Chart, kbest: KBest, goal: int) -> Derivation:
    """The tree of a derivation of the goal; glued parts stand side by side."""
    parts: list[Derivation] = []
    _, [glued] = kbest.at(goal)
    while (step := kbest.at(glued))[0] >= 0:
        glued, part = step[1]
        parts.append(_part(chart, kbest, part))
    return Derivation(0, len(chart.grammar.tokens), None, None, tuple(reversed(parts)))


def _part(chart: Chart, kbest: KBest, way: int) -> Derivation:
    edge, parts = kbest.at(way)
    _, begin, end = span_of(chart, kbest.node_of(way))
    number = int(chart.edges.rule[edge])
    is_own = number < chart.grammar.first_pass
    return Derivation(
        begin,
        end,
        rule_of(chart.grammar, number),
        number if is_own else None,
        tuple(_part(chart, kbest, part) for part in parts),
    )
