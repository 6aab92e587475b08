"""Gold ratings of word similarity, computed from what the words are made of.

The pairs are drawn so that every degree of likeness occurs, with frequent stems in any of their forms: many of these
forms are rare in a text or do not occur in it at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from morphlm.errors import ConfigError
from morphlm_generated import morphology
from morphlm_generated.choice import draw_derivation
from morphlm_generated.config import SIMILARITY, Draw, GeneratedConfig, pick, random_stream
from morphlm_generated.lexicon import GENERAL, Stem, StemLexicon, lexicon_of
from morphlm_generated.morphology import STEM, Lexeme, Word
from morphlm_generated.paradigms import ADJECTIVE, CASES, NOUN, VERB

PARTS = (NOUN, VERB, ADJECTIVE)
MOST_TRIES = 100  # for each pair that is wanted: a tiny lexicon may not have that many


@dataclass(frozen=True)
class SimilarityPair:
    """Two words and how alike they are, from 0 to 10."""

    first: str
    second: str
    rating: float


@dataclass(frozen=True)
class Sense:
    """A word form with its lexeme."""

    lexeme: Lexeme
    word: Word


def gold_similarity(config: GeneratedConfig, seed: int, pairs: int = 420) -> list[SimilarityPair]:
    """Pairs of words of the language with this seed, each pair once."""
    drawer = _PairDrawer(lexicon_of(config, seed), random_stream(seed, SIMILARITY))
    pairs_by_forms: dict[tuple[str, str], SimilarityPair] = {}
    for attempt in range(pairs * MOST_TRIES):
        if len(pairs_by_forms) == pairs:
            return list(pairs_by_forms.values())
        first, second = drawer.relations[attempt % len(drawer.relations)]()
        forms = first.word.form, second.word.form
        if forms[0] != forms[1] and forms not in pairs_by_forms and forms[::-1] not in pairs_by_forms:
            pairs_by_forms[forms] = SimilarityPair(*forms, rate(first, second, config))
    raise ConfigError(f"the language is too small for {pairs} pairs of words; make it larger or ask for fewer")


def rate(first: Sense, second: Sense, config: GeneratedConfig) -> float:
    """How alike two words are: 5 for their stems, 3 for the topic, 1 for the part of speech, 1 for the affixes."""
    stems = _overlap(set(first.lexeme.stems), set(second.lexeme.stems))
    topic = max(_topic_likeness(a, b, config) for a in first.lexeme.stems for b in second.lexeme.stems)
    part = first.lexeme.part == second.lexeme.part
    return round(5 * stems + 3 * topic + part + _overlap(_affixes(first.word), _affixes(second.word)), 2)


def _topic_likeness(first: Stem, second: Stem, config: GeneratedConfig) -> float:
    """1 for one topic, half of it for one domain. The general vocabulary is no topic."""
    if first is second:
        return 1.0
    if GENERAL in (first.topic, second.topic):
        return 0.0
    if first.topic == second.topic:
        return 1.0
    return 0.5 if config.domain(first.topic) == config.domain(second.topic) else 0.0


def _affixes(word: Word) -> set[tuple[str, str]]:
    return {morph for morph in word.morphs if morph[1] != STEM}


def _overlap(first: set[Stem] | set[tuple[str, str]], second: set[Stem] | set[tuple[str, str]]) -> float:
    """The share of what both have in what either has (Jaccard)."""
    either = len(first | second)
    return len(first & second) / either if either else 1.0


class _PairDrawer:
    """Draws pairs of words, one method for each relation between them."""

    def __init__(self, lexicon: StemLexicon, draw: Draw) -> None:
        self.lexicon, self.draw = lexicon, draw
        self.relations: tuple[Callable[[], tuple[Sense, Sense]], ...] = (
            self.two_forms,
            self.two_derivations,
            self.compound_and_part,
            self.same_topic_and_part,
            self.same_topic,
            self.same_domain,
            self.unrelated,
        )

    def two_forms(self) -> tuple[Sense, Sense]:
        lexeme = self._any_simple(self._topic())
        return self._inflected(lexeme), self._inflected(lexeme)

    def two_derivations(self) -> tuple[Sense, Sense]:
        part, topic = self._part(), self._topic()
        derivation = draw_derivation(self.draw, part)
        stem = self.lexicon.draw_from(self.draw, derivation.source, topic)
        other = morphology.derived(stem, part, derivation)
        return self._inflected(morphology.simple(stem)), self._inflected(other)

    def compound_and_part(self) -> tuple[Sense, Sense]:
        topic = self._topic()
        stems = [self.lexicon.draw_from(self.draw, NOUN, topic) for _ in range(2)]
        part = morphology.simple(stems[pick(self.draw, 2)])
        return self._inflected(morphology.compound(*stems)), self._inflected(part)

    def same_topic_and_part(self) -> tuple[Sense, Sense]:
        part, topic = self._part(), self._topic()
        return self._simple(part, topic), self._simple(part, topic)

    def same_topic(self) -> tuple[Sense, Sense]:
        first, topic = pick(self.draw, 3), self._topic()
        second = (first + 1 + pick(self.draw, 2)) % 3
        return self._simple(PARTS[first], topic), self._simple(PARTS[second], topic)

    def same_domain(self) -> tuple[Sense, Sense]:
        part, topic = self._part(), self._topic()
        sisters = self.lexicon.sisters(topic)
        return self._simple(part, topic), self._simple(part, sisters[pick(self.draw, len(sisters))])

    def unrelated(self) -> tuple[Sense, Sense]:
        return self._simple(self._part(), self._topic()), self._simple(self._part(), self._topic())

    def _topic(self) -> int:
        return self.lexicon.draw_topic(self.draw)

    def _part(self) -> str:
        return PARTS[pick(self.draw, 3)]

    def _any_simple(self, topic: int) -> Lexeme:
        return morphology.simple(self.lexicon.draw_from(self.draw, self._part(), topic))

    def _simple(self, part: str, topic: int) -> Sense:
        return self._inflected(morphology.simple(self.lexicon.draw_from(self.draw, part, topic)))

    def _inflected(self, lexeme: Lexeme) -> Sense:
        """Any form of a lexeme, all equally likely; a verb may have a prefix."""
        draw = self.draw
        if lexeme.part == NOUN:
            return Sense(lexeme, morphology.noun_form(lexeme, pick(draw, 2), pick(draw, len(CASES))))
        if lexeme.part == ADJECTIVE:
            form = morphology.adjective_form(lexeme, pick(draw, 3), pick(draw, 2), pick(draw, len(CASES)))
            return Sense(lexeme, form)
        if draw() < 0.3:
            lexeme = morphology.with_aspect(lexeme, lexeme.stems[0].aspects[pick(draw, 2)])
        return Sense(lexeme, morphology.verb_form(lexeme, pick(draw, 3), pick(draw, 3), pick(draw, 2)))
