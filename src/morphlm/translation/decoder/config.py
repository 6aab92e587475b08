"""Settings of the search and the weights of its features, checked before anything is decoded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from morphlm.arrays import Float64Array
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.settings import Settings, setting

WORD_PENALTY, RULE_PENALTY, GLUE, PASS_THROUGH = "WordPenalty", "RulePenalty", "Glue", "PassThrough"
COUNTED = (WORD_PENALTY, RULE_PENALTY, GLUE, PASS_THROUGH)  # words; rules; glue rules; words left as they are
OOV = "_OOV"
WIDEST = 200


@dataclass(frozen=True)
class DecoderConfig(Settings):
    """Settings of the search."""

    pop_limit: int = setting(200, "Hypotheses for each span of words; 0: all, for small grammars only.", at_least=0)
    max_span: int = setting(
        15, "Words that a rule with its gaps covers; longer spans are glued.", at_least=1, at_most=WIDEST
    )
    max_spans: int = setting(3000, "Spans of a sentence; those of a very long one are narrower.", at_least=1)
    kbest: int = setting(100, "Translations that `Translation.kbest` gives.", at_least=1, at_most=1_000_000)
    distinct: bool = setting(True, "No two of them have the same words.")
    pass_all: bool = setting(
        False,
        "Any word may stay as it is, as in cdec, or only those without a rule of their own.",
        option="--pass-all/--no-pass-all",
    )
    cache_megabytes: float = setting(32.0, "Size of the cache of each thread and model.", at_least=0, at_most=4096)

    __repr__ = dataclass_repr

    def span_of(self, words: int) -> int:
        """How many words the widest span of a sentence has."""
        return max(1, min(self.max_span, words, self.max_spans // max(words, 1)))


@dataclass(frozen=True)
class Weights:
    """The weight of each feature by its name; those that are not named are 0."""

    values: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        for name, value in self.values.items():
            if not math.isfinite(value):
                raise ConfigError(f"the weight of {name} is {value}; give a finite number")

    def __reduce__(self) -> tuple[Any, ...]:
        return Weights, (dict(self.values),)

    def check(self, names: Iterable[str]) -> None:
        """Refuse a weight of a feature that does not exist: its name must be misspelt."""
        known = list(names)
        for name in self.values:
            if name not in known:
                raise ConfigError(f"there is a weight for {name}, but no such feature; there are {', '.join(known)}")

    def of(self, names: Sequence[str]) -> Float64Array:
        """The weights as an array in the order of these names."""
        return np.array([self.values.get(name, 0.0) for name in names], np.float64)


def check_features(names: Sequence[str]) -> None:
    """Refuse two features of one name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ConfigError(f"two features have the name {twice}; rename that of the rules or of the language model")


def names_of_models(names: Sequence[str]) -> tuple[str, ...]:
    """The features of language models: ln p, and the number of words that each does not know."""
    return tuple(feature for name in names for feature in (name, name + OOV))
