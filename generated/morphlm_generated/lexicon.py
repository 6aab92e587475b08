"""The stems of a generated language: their shapes, topics, classes and glosses, and how one is drawn.

Within a topic and a part of speech, the stems follow Zipf's law; the weights are whole numbers, so that a draw is
exact.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from math import isqrt

from morphlm_generated import paradigms
from morphlm_generated.config import LEXICON, Draw, GeneratedConfig, pick, random_stream
from morphlm_generated.paradigms import (
    ADJECTIVE,
    ASPECTS,
    DECLENSIONS,
    NOUN,
    OTHER_GLOSSES,
    PERSON_ENDINGS,
    PLURAL_GLOSS,
    VERB,
)
from morphlm_generated.sounds import gloss_shape, stem_shape, syllables_for

GENERAL = -1  # the topic of stems that have none
WEIGHT_SCALE = 1 << 40  # weights are whole numbers on this scale, and so are their sums, exactly, below 2 ^ 53
# what a verb asks of its object, by frequency; None: it has no object
GOVERNMENT = (
    *[paradigms.ACCUSATIVE] * 11,
    *[paradigms.DATIVE] * 2,
    *[paradigms.INSTRUMENTAL] * 2,
    paradigms.GENITIVE,
    *[None] * 6,
)


@dataclass(frozen=True, eq=False, slots=True)
class Stem:
    """The core of a word's meaning. Two stems are equal only if they are the same one."""

    form: str
    gloss: str
    part: str  # NOUN, VERB or ADJECTIVE
    topic: int  # or GENERAL
    paradigm: int  # declension or conjugation
    aspects: tuple[str, str]  # of a verb: the two aspect prefixes it goes with
    government: int | None  # of a verb: the case of its object, None without one


class StemLexicon:
    """All stems of the language with a seed, by part of speech and topic."""

    def __init__(self, config: GeneratedConfig, seed: int) -> None:
        self.config = config
        sizes = {NOUN: config.nouns, VERB: config.verbs, ADJECTIVE: config.adjectives}
        shapes = _StemMaker(random_stream(seed, LEXICON))
        self.stems: dict[str, dict[int, list[Stem]]] = {part: {} for part in sizes}
        for topic in range(GENERAL, config.topics):
            for part, size in sizes.items():
                count = size * config.general if topic == GENERAL else size
                self.stems[part][topic] = [shapes.stem(part, topic, rank) for rank in range(count)]
        self._topic_weights = zipf_weights(config.topics, config.topics // 2 + 1)
        self._near = {part: [self._near_topic(part, topic) for topic in range(config.topics)] for part in sizes}

    def __iter__(self) -> Iterator[Stem]:
        for topic in range(GENERAL, self.config.topics):
            for part in self.stems:
                yield from self.stems[part][topic]

    def draw_topic(self, draw: Draw) -> int:
        """The topic of a sentence."""
        return weighted(draw, self._topic_weights)

    def draw_near(self, draw: Draw, part: str, topic: int) -> Stem:
        """A stem for a sentence about `topic`: of it, of its domain, or of the general vocabulary."""
        stems, weights = self._near[part][topic]
        return stems[bisect_right(weights, draw() * weights[-1], 0, len(weights) - 1)]

    def draw_from(self, draw: Draw, part: str, topic: int) -> Stem:
        """A stem of this part of speech and topic."""
        stems = self.stems[part][topic]
        return stems[weighted(draw, self._zipf(len(stems)))]

    def sisters(self, topic: int) -> range:
        """The topics of the same domain, with this one."""
        width = self.config.topics_per_domain
        first = self.config.domain(topic) * width
        return range(first, min(first + width, self.config.topics))

    def _near_topic(self, part: str, topic: int) -> tuple[list[Stem], list[float]]:
        """The stems that a sentence about `topic` may draw, with their cumulated weights: one draw finds one."""
        config, sisters = self.config, self.sisters(topic)
        shares = [(topic, config.topic_share), *((sister, config.domain_share / len(sisters)) for sister in sisters)]
        shares.append((GENERAL, 1 - config.topic_share - config.domain_share))
        stems: list[Stem] = []
        weights: list[float] = []
        for source, share in shares:
            group = self.stems[part][source]
            cumulated = self._zipf(len(group))
            scale, base = share / cumulated[-1], weights[-1] if weights else 0.0
            stems += group
            weights += [base + scale * weight for weight in cumulated]
        return stems, weights

    def _zipf(self, count: int) -> list[float]:
        return zipf_weights(count, self.config.zipf_shift, self.config.zipf_quarters)


def lexicon_of(config: GeneratedConfig, seed: int) -> StemLexicon:
    """The lexicon of a language; the last ones are kept, since text and gold tables need the same."""
    return _kept_lexicon(replace(config, sentences=1, block=1), seed)  # neither has a say in it


@lru_cache(maxsize=2)
def _kept_lexicon(config: GeneratedConfig, seed: int) -> StemLexicon:
    return StemLexicon(config, seed)


_Maker = Callable[[Draw, int], str]


class _StemMaker:
    """Makes stems whose forms and glosses are all different."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.forms, self.glosses = _function_words()

    def stem(self, part: str, topic: int, rank: int) -> Stem:
        draw = self.draw
        paradigm = pick(draw, len(DECLENSIONS if part == NOUN else PERSON_ENDINGS))
        prefixes = tuple(ASPECTS)
        first, step = pick(draw, len(prefixes)), 1 + pick(draw, len(prefixes) - 1)
        return Stem(
            form=self._new(stem_shape, self.forms, rank),
            gloss=self._new(gloss_shape, self.glosses, rank),
            part=part,
            topic=topic,
            paradigm=paradigm,
            aspects=(prefixes[first], prefixes[(first + step) % len(prefixes)]),
            government=GOVERNMENT[pick(draw, len(GOVERNMENT))] if part == VERB else None,
        )

    def _new(self, make: _Maker, used: set[str], rank: int) -> str:
        syllables, tries = syllables_for(self.draw, rank), 0
        while (shape := make(self.draw, syllables)) in used:
            tries += 1
            syllables += tries % 4 == 0  # the short shapes may be used up
        used.add(shape)
        return shape


def _function_words() -> tuple[set[str], set[str]]:
    """Forms and glosses that no stem may have."""
    pairs = [
        *paradigms.DEMONSTRATIVES,
        *paradigms.NUMERALS,
        *paradigms.BASIC_ADVERBS,
        *paradigms.CONJUNCTIONS,
        *paradigms.SUBORDINATORS,
        paradigms.RELATIVE,
        paradigms.QUESTION,
        *((form, gloss) for form, gloss, _ in paradigms.PREPOSITIONS),
        *((form, gloss) for form, _, gloss in paradigms.MODALS),
        *((form, gloss) for forms, gloss in paradigms.PRONOUNS.values() for form in forms),
        *((form, paradigms.COPULA_GLOSS) for tense in paradigms.COPULA for number in tense for form in number),
        *ASPECTS.items(),
    ]
    derived = [
        gloss
        for derivations in paradigms.DERIVATIONS.values()
        for derivation in derivations
        for gloss in derivation.gloss_before + derivation.gloss_after
    ]
    markers = (*paradigms.CASE_GLOSSES, *paradigms.TENSE_GLOSSES, *paradigms.ARTICLES, PLURAL_GLOSS, OTHER_GLOSSES)
    return {form for form, _ in pairs}, {gloss for _, gloss in pairs}.union(derived, *markers)


@lru_cache(maxsize=64)
def zipf_weights(count: int, shift: int, quarters: int = 4) -> list[float]:
    """Cumulated weights 1 / (rank + shift) ^ (quarters / 4), as whole numbers: no machine rounds them otherwise."""
    roots = (isqrt(isqrt((rank + shift) ** quarters << 64)) for rank in range(count))  # scaled by 2 ^ 16
    return [float(weight) for weight in accumulate((WEIGHT_SCALE << 16) // root for root in roots)]


def weighted(draw: Draw, cumulated: list[float]) -> int:
    """An index drawn in proportion to its weight."""
    return bisect_right(cumulated, draw() * cumulated[-1], 0, len(cumulated) - 1)
