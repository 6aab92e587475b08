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
class DerivationTree:
    """A rule that covers a span of the source, with the trees that fill its gaps. A whole sentence has no rule."""

    begin: int
    end: int
    rule: Rule | None
    number: int | None  # of the rule in its table; None for glue and words that are left as they are
    children: tuple[DerivationTree, ...]  # of the gaps, in their order; of a sentence, what is glued

    @property
    def words(self) -> tuple[str, ...]:
        if self.rule is None:
            return tuple(word for child in self.children for word in child.words)
        result: list[str] = []
        for symbol in self.rule.target:
            result += [symbol] if isinstance(symbol, str) else self.children[symbol - 1].words
        return tuple(result)

    @property
    def links(self) -> Links:
        """Pairs of positions in the source and in the translation, from the links of the rules."""
        return tuple(sorted(self._links_from(0)))

    def _links_from(self, offset: int) -> Iterator[tuple[int, int]]:
        """`offset` is where the words of this tree begin in the translation."""
        symbols = (*range(1, len(self.children) + 1),) if self.rule is None else self.rule.target
        targets, position = [], offset
        for symbol in symbols:
            targets.append(position)
            if isinstance(symbol, int):
                yield from self.children[symbol - 1]._links_from(position)
                position += len(self.children[symbol - 1].words)
            else:
                position += 1
        if self.rule is not None:
            sources = self._source_positions(self.rule)
            yield from ((sources[source], targets[target]) for source, target in self.rule.links)

    def _source_positions(self, rule: Rule) -> list[int]:
        """Where each symbol of the rule's source begins."""
        positions, position = [], self.begin
        for symbol in rule.source:
            positions.append(position)
            position = self.children[symbol - 1].end if isinstance(symbol, int) else position + 1
        return positions

    def format(self, indent: str = "") -> str:
        """A line for each rule: its span, and what stands for what."""
        if self.rule is None:
            return "\n".join(child.format(indent) for child in self.children)
        note = "" if self.number is not None else f"  ({PASSED})"
        line = f"{indent}{self.begin}-{self.end}  {_side(self.rule.source)} -> {_side(self.rule.target)}{note}"
        return "\n".join([line, *(child.format(indent + "  ") for child in self.children)])

    def to_json(self) -> dict[str, Any]:
        """The tree; rules as lists of words and numbers of gaps."""
        rule = self.rule
        return {
            "span": [self.begin, self.end],
            "rule": None if rule is None else {"source": list(rule.source), "target": list(rule.target)},
            "number": self.number,
            "words": list(self.words),
            "parts": [child.to_json() for child in self.children],
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


def derivation_of(chart: Chart, kbest: KBest, goal: int) -> DerivationTree:
    """The tree of a derivation of the goal; what is glued stands side by side."""
    glued: list[DerivationTree] = []
    _, [sentence] = kbest.at(goal)
    while (step := kbest.at(sentence))[0] >= 0:
        sentence, last = step[1]
        glued.append(_tree(chart, kbest, last))
    return DerivationTree(0, len(chart.grammar.tokens), None, None, tuple(reversed(glued)))


def _tree(chart: Chart, kbest: KBest, derivation: int) -> DerivationTree:
    edge, tails = kbest.at(derivation)
    _, begin, end = span_of(chart, kbest.node_of(derivation))
    number = int(chart.edges.rule[edge])
    return DerivationTree(
        begin,
        end,
        rule_of(chart.grammar, number),
        number if number < chart.grammar.first_pass else None,
        tuple(_tree(chart, kbest, tail) for tail in tails),
    )
