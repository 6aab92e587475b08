"""Pairs of languages of which one is English, and the years of the news that systems are tuned and tested on."""

from __future__ import annotations

from dataclasses import dataclass

from morphlm.errors import ConfigError
from morphlm.experiments.corpora import RECIPES

ENGLISH = "en"
TUNING_YEAR, TEST_YEAR = 2012, 2013


@dataclass(frozen=True)
class Pair:
    """From one language into the other."""

    source: str
    target: str

    @classmethod
    def of(cls, text: str) -> Pair:
        """`en-cs`."""
        source, dash, target = text.partition("-")
        known = [language for language in RECIPES if language != ENGLISH]
        if not dash or (source, target) not in [each for one in known for each in ((ENGLISH, one), (one, ENGLISH))]:
            raise ConfigError(f"{text!r} is no pair of languages; English and one of {', '.join(known)}, such as en-cs")
        return cls(source, target)

    @property
    def other(self) -> str:
        """The language that is not English."""
        return self.target if self.source == ENGLISH else self.source

    @property
    def parallel(self) -> str:
        """The name of their parallel text."""
        return RECIPES[self.other].parallel

    def __str__(self) -> str:
        """`en-cs`."""
        return f"{self.source}-{self.target}"
