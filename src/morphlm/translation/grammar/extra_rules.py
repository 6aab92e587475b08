"""Rules of a file that join those found in the training text, for every sentence that has their words.

That is the way to add a dictionary, names, or inflections made by another program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from morphlm.display import described
from morphlm.progress import notify
from morphlm.translation.grammar.rules import RuleTable, join_tables, read_rules, table_of


class ExtraRules:
    """A table of rules, with the words that a sentence must have for each."""

    def __init__(self, table: RuleTable) -> None:
        """Index the rules by the first word of their source sides; those of gaps alone are for every sentence."""
        self.table = table
        self._words: list[frozenset[str]] = []
        self._with_first: dict[str, list[int]] = defaultdict(list)
        self._wordless: list[int] = []
        for number, rule in enumerate(table):
            words = [symbol for symbol in rule.source if isinstance(symbol, str)]
            self._words.append(frozenset(words))
            (self._with_first[words[0]] if words else self._wordless).append(number)

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
        return sum(any(word != word.lower() for word in words) for words in self._words)

    def for_sentence(self, tokens: Sequence[str]) -> RuleTable:
        """Those whose source words are all in the sentence, in the order of the file."""
        words = set(tokens)
        numbers = [number for word in words & self._with_first.keys() for number in self._with_first[word]]
        possible = sorted([*self._wordless, *numbers])
        rules = [self.table.rule(number) for number in possible if self._words[number] <= words]
        return table_of(rules, self.table.feature_names)

    def joined_to(self, rules: RuleTable, tokens: Sequence[str]) -> RuleTable:
        """The rules of a sentence with these; features are the same for all sentences."""
        return join_tables([rules, self.for_sentence(tokens)])
