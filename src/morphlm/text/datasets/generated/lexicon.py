"""The stems of a generated language: their shapes, topics, classes and glosses, and how one is drawn.

Within a topic and a part of speech, the stems follow Zipf's law; the weights are integers, so that a draw is exact.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import isqrt

from morphlm.text.datasets.generated import paradigms
from morphlm.text.datasets.generated.config import LEXICON, Draw, GeneratedConfig, pick, random_stream
from morphlm.text.datasets.generated.paradigms import ADJECTIVE, ASPECTS, DECLENSIONS, NOUN, PERSON_ENDINGS, VERB
from morphlm.text.datasets.generated.sounds import gloss_shape, stem_shape, syllables_for

GENERAL = -1  # the topic of stems that have none
WEIGHT_SCALE = 1 << 40  # weights are integers on this scale
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


class Lexicon:
    """All stems, by part of speech and topic, and the drawing of one."""

    def __init__(self, config: GeneratedConfig, seed: int) -> None:
        """Make the stems of the language with this seed."""
        self.config = config
        sizes = {NOUN: config.nouns, VERB: config.verbs, ADJECTIVE: config.adjectives}
        shapes = _Shapes(random_stream(seed, LEXICON))
        self.stems: dict[str, dict[int, list[Stem]]] = {part: {} for part in sizes}
        for topic in range(GENERAL, config.topics):
            for part, size in sizes.items():
                count = size * config.general if topic == GENERAL else size
                self.stems[part][topic] = [shapes.stem(part, topic, rank) for rank in range(count)]
        self._topic_weights = zipf_weights(config.topics, config.topics // 2 + 1)
        zipf = config.zipf_shift, config.zipf_quarters
        self._weights = {part: zipf_weights(size, *zipf) for part, size in sizes.items()}
        self._general_weights = {part: zipf_weights(size * config.general, *zipf) for part, size in sizes.items()}

    def __iter__(self) -> Iterator[Stem]:
        """All stems, in the order in which they were made."""
        for topic in range(GENERAL, self.config.topics):
            for part in self.stems:
                yield from self.stems[part][topic]

    def draw_topic(self, draw: Draw) -> int:
        """The topic of a sentence."""
        return weighted(draw, self._topic_weights)

    def draw_near(self, draw: Draw, part: str, topic: int) -> Stem:
        """A stem for a sentence about `topic`: of it, of its domain, or of the general vocabulary."""
        config, chance = self.config, draw()
        if chance < config.topic_share:
            return self.draw(draw, part, topic)
        if chance < config.topic_share + config.domain_share:
            return self.draw(draw, part, self.draw_sister(draw, topic))
        return self.draw(draw, part, GENERAL)

    def draw_sister(self, draw: Draw, topic: int) -> int:
        """A topic of the same domain, perhaps the same."""
        width = self.config.topics_per_domain
        first = self.config.domain(topic) * width
        return first + pick(draw, min(width, self.config.topics - first))

    def draw(self, draw: Draw, part: str, topic: int) -> Stem:
        """A stem of this part of speech and topic."""
        weights = self._general_weights[part] if topic == GENERAL else self._weights[part]
        return self.stems[part][topic][weighted(draw, weights)]


_Maker = Callable[[Draw, int], str]


class _Shapes:
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
        *((form, gloss) for form, _, gloss in paradigms.PREPOSITIONS),
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
    markers = [*paradigms.CASE_GLOSSES, *paradigms.TENSE_GLOSSES, *paradigms.ARTICLES, *paradigms.OTHER_GLOSSES]
    return {form for form, _ in pairs}, {gloss for _, gloss in pairs}.union(derived, markers)


def zipf_weights(count: int, shift: int, quarters: int = 4) -> list[int]:
    """Cumulated weights 1 / (rank + shift) ^ (quarters / 4), in whole numbers: no machine may round them otherwise."""
    roots = (isqrt(isqrt((rank + shift) ** quarters << 64)) for rank in range(count))  # scaled by 2 ^ 16
    return list(accumulate((WEIGHT_SCALE << 16) // root for root in roots))


def weighted(draw: Draw, cumulated: list[int]) -> int:
    """An index, each with its weight."""
    return bisect_right(cumulated, draw() * cumulated[-1], hi=len(cumulated) - 1)
