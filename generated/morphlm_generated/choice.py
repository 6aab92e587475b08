"""Choosing the words of a sentence: lexemes about its topic, built from stems as often as the configuration says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

from morphlm_generated import morphology, paradigms
from morphlm_generated.config import Draw
from morphlm_generated.lexicon import StemLexicon, weighted, zipf_weights
from morphlm_generated.morphology import Lexeme
from morphlm_generated.paradigms import ADJECTIVE, NOUN, VERB, SuffixDerivation

Entry = TypeVar("Entry")

_DERIVATION_WEIGHTS = {
    part: list(accumulate(float(derivation.weight) for derivation in table))
    for part, table in paradigms.DERIVATIONS.items()
}


def draw_derivation(draw: Draw, part: str) -> SuffixDerivation:
    """A derivation that yields this part of speech."""
    return paradigms.DERIVATIONS[part][weighted(draw, _DERIVATION_WEIGHTS[part])]


def frequent_first(draw: Draw, table: Sequence[Entry]) -> Entry:
    """An entry of a table in which the frequent ones stand first."""
    return table[weighted(draw, zipf_weights(len(table), 2))]


class Chooser:
    """Chooses lexemes for a topic, from one random stream."""

    def __init__(self, lexicon: StemLexicon, draw: Draw) -> None:
        self.lexicon, self.config, self.draw = lexicon, lexicon.config, draw
        self.topic = 0

    def _noun(self) -> Lexeme:
        if self.draw() < self.config.compounds:
            modifier = self.lexicon.draw_near(self.draw, NOUN, self.topic)
            return morphology.compound(modifier, self.lexicon.draw_near(self.draw, NOUN, self.topic))
        return self._built(NOUN)

    def _adjective(self) -> Lexeme:
        lexeme = self._built(ADJECTIVE)
        return morphology.negated(lexeme) if self.draw() < self.config.negated else lexeme

    def _verb(self) -> Lexeme:
        lexeme, draw = self._built(VERB), self.draw
        if draw() < self.config.aspect:
            lexeme = morphology.with_aspect(lexeme, lexeme.stems[0].aspects[draw() < 0.35])
        return morphology.negated(lexeme) if draw() < self.config.negated else lexeme

    def _built(self, part: str) -> Lexeme:
        """A stem of this part of speech, or one that a derivation turns into it."""
        if self.draw() >= self.config.derived:
            return morphology.simple(self.lexicon.draw_near(self.draw, part, self.topic))
        derivation = draw_derivation(self.draw, part)
        stem = self.lexicon.draw_near(self.draw, derivation.source, self.topic)
        return morphology.derived(stem, part, derivation)
