"""Pairs of languages of which one is English, and the news that systems are tuned and tested on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from morphlm.errors import ConfigError, InputError
from morphlm.experiments.corpora import RECIPES, read_sentences

ENGLISH = "en"
TUNING_YEAR, TEST_YEAR = 2012, 2013

LinePairs = tuple[list[str], list[str]]  # line n of the second translates line n of the first


@dataclass(frozen=True)
class Pair:
    """From one language into the other."""

    source: str
    target: str

    @classmethod
    def of(cls, text: str) -> Pair:
        """The pair that is written like `en-cs`."""
        source, dash, target = text.partition("-")
        known = [language for language in RECIPES if language != ENGLISH]
        other = target if source == ENGLISH else source
        if not dash or ENGLISH not in (source, target) or other not in known:
            raise ConfigError(f"{text!r} is no pair of languages; English and one of {', '.join(known)}, such as en-cs")
        return cls(source, target)

    @property
    def other(self) -> str:
        """The language that is not English."""
        return self.target if self.source == ENGLISH else self.source

    @property
    def parallel(self) -> str:
        return RECIPES[self.other].parallel

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"


@dataclass(frozen=True)
class NewsText:
    """News in both languages of a pair, a file each."""

    pair: Pair
    source: Path
    target: Path

    @property
    def files(self) -> dict[str, Path]:
        """By language."""
        return {self.pair.source: self.source, self.pair.target: self.target}

    def sample(self, sentences: int) -> LinePairs:
        """Pairs of sentences, evenly spaced: neighbours are about the same things."""
        source, target = (list(read_sentences(path)) for path in (self.source, self.target))
        if len(source) != len(target):
            counts = f"{len(source):,} and {len(target):,} lines"
            what = f"{counts} in {self.target.name}; they must be line-by-line translations"
            raise InputError(what, source=str(self.source))
        complete = [line for line in range(len(source)) if source[line].strip() and target[line].strip()]
        lines = [complete[k] for k in evenly_spaced(len(complete), sentences)]
        return [source[line] for line in lines], [target[line] for line in lines]


def evenly_spaced(count: int, wanted: int) -> list[int]:
    """The indices of `wanted` of `count` things; of all, if there are no more."""
    taken = min(count, wanted)
    return [number * count // taken for number in range(taken)]
