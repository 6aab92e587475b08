"""Rules of a file that join those found in the training text, for every sentence that has their words.

That is the way to add a dictionary, names, or inflections made by another program.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from morphlm.arrays import BoolArray, Int64Array, starts_of
from morphlm.display import described
from morphlm.progress import notify
from morphlm.translation.grammar.reading import read_rules
from morphlm.translation.grammar.rules import RuleTable, join_tables, select_rules, selected_places


class ExtraRules:
    """A table of rules, with the words that a sentence must have for each."""

    def __init__(self, table: RuleTable) -> None:
        """Index the rules by the first word of their source sides; those of gaps alone are for every sentence."""
        self.table = table
        self._numbers = {word: number for number, word in enumerate(table.source_words)}
        first = _first_words(table)
        self._by_first = np.argsort(first, kind="stable")
        self._starts = starts_of(np.bincount(first + 1, minlength=len(table.source_words) + 1))  # gaps alone come first

    def __repr__(self) -> str:
        return described(self, rules=len(self.table))

    @classmethod
    def read(cls, path: str | Path, *, lowercase: bool = False) -> ExtraRules:
        """From a file in cdec's format, for text that is lowercased or not."""
        rules = cls(read_rules(path))
        if lowercase and (idle := rules.capitalised):
            notify(
                f"warning: {path}: {idle:,} of {len(rules.table):,} rules have capital letters in their source side, "
                "which the text of this system never has; write them in small letters"
            )
        return rules

    @property
    def capitalised(self) -> int:
        """How many rules have a source word with capital letters."""
        has_capitals = np.array([word != word.lower() for word in self.table.source_words] + [False], bool)
        symbols = self.table.source_symbols
        return int(_any_of_each(has_capitals[np.maximum(symbols, -1)], self.table.source_starts).sum())

    def for_sentence(self, tokens: Sequence[str]) -> RuleTable:
        """Those whose source words are all in the sentence, in the order of the file."""
        words = [self._numbers[word] for word in dict.fromkeys(tokens) if word in self._numbers]
        groups = [
            self._by_first[self._starts[group] : self._starts[group + 1]]
            for group in (0, *(word + 1 for word in words))
        ]
        possible = np.sort(np.concatenate(groups))
        is_missing = np.ones(len(self.table.source_words) + 1, bool)
        is_missing[[*words, -1]] = False  # a gap fits anything
        places, starts = selected_places(self.table.source_starts, possible)
        is_out = _any_of_each(is_missing[np.maximum(self.table.source_symbols[places], -1)], starts)
        return select_rules(self.table, possible[~is_out])

    def joined_to(self, rules: RuleTable, tokens: Sequence[str]) -> RuleTable:
        """The rules of a sentence with these; features are the same for all sentences."""
        return join_tables([rules, self.for_sentence(tokens)])


def _first_words(table: RuleTable) -> Int64Array:
    """The first word of the source side of each rule; -1 where there are only gaps."""
    first = np.full(len(table), -1, np.int64)
    places = np.flatnonzero(table.source_symbols >= 0)[::-1]  # the first is written last
    first[np.searchsorted(table.source_starts, places, side="right") - 1] = table.source_symbols[places]
    return first


def _any_of_each(flags: BoolArray, starts: Int64Array) -> BoolArray:
    """Whether a flag is set in each piece."""
    before = starts_of(flags)
    return before[starts[1:]] > before[starts[:-1]]
