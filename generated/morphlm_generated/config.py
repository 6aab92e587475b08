"""The settings of the generated language, and its streams of random numbers.

Every part of the language has a stream of its own, so that the first sentences stay the same however many follow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, repeat

from numpy.random import PCG64, Generator, SeedSequence

from morphlm.errors import ConfigError

LEXICON, SENTENCES, SIMILARITY = range(3)  # the first number of a stream's key

Draw = Callable[[], float]  # gives the next number, uniform in [0, 1)


@dataclass(frozen=True)
class GeneratedConfig:
    """How large the language is and how often its words are built from parts."""

    sentences: int = 20_000  # how many sentences; the first ones do not depend on it
    topics: int = 24  # stems of one topic occur in the same sentences
    topics_per_domain: int = 4  # neighbouring topics, which now and then lend each other a word
    general: int = 8  # the vocabulary that belongs to no topic is as large as that of this many topics
    nouns: int = 110  # noun stems in a topic
    verbs: int = 50  # verb stems in a topic
    adjectives: int = 40  # adjective stems in a topic
    zipf_shift: int = 2  # the r-th stem of a topic has the weight 1 / (r + shift) ^ (quarters / 4), r = 0, 1, ...
    zipf_quarters: int = 5  # the exponent of that law, in quarters
    topic_share: float = 0.45  # of the content words, how many are of the sentence's topic
    domain_share: float = 0.15  # of the content words, how many are of any topic in the same domain
    derived: float = 0.07  # of the content words, how many have a derivational suffix
    compounds: float = 0.02  # of the nouns, how many have two stems
    aspect: float = 0.16  # of the verbs, how many have an aspect prefix
    negated: float = 0.05  # of the verbs and adjectives, how many have the prefix of negation
    block: int = 256  # sentences made from one random stream

    def __post_init__(self) -> None:
        counts = (
            ("sentences", 1),
            ("topics", 1),
            ("topics_per_domain", 1),
            ("general", 1),
            ("nouns", 2),
            ("verbs", 2),
            ("adjectives", 2),
            ("zipf_shift", 1),
            ("zipf_quarters", 1),
            ("block", 1),
        )
        for name, least in counts:
            if getattr(self, name) < least:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be {least} or more")
        for name in ("topic_share", "domain_share", "derived", "compounds", "aspect", "negated"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must lie between 0 and 1")
        if self.topic_share + self.domain_share > 1:
            raise ConfigError("topic_share and domain_share are more than 1 together; lower one of them")

    def domain(self, topic: int) -> int:
        return topic // self.topics_per_domain


def random_stream(seed: int, *key: int) -> Draw:
    """The numbers of one part of the language.

    Only doubles are drawn: they come straight from the bits of PCG64 and are the same on every machine, while NumPy
    may change how it makes its other distributions.
    """
    if seed < 0:
        raise ConfigError(f"the seed is {seed}; it must be 0 or more")
    generator = Generator(PCG64(SeedSequence(seed, spawn_key=key)))
    return chain.from_iterable(generator.random(1024).tolist() for _ in repeat(None)).__next__


def pick(draw: Draw, length: int) -> int:
    """A uniform index below `length`."""
    return int(draw() * length)
