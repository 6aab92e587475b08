"""What can be chosen for a cache."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from morphlm.arrays import Float64Array
from morphlm.settings import Settings, same_setting, setting

Unit = Literal["words", "classes", "morphemes"]
UNIT_OF_KIND: dict[str, Unit] = {"cache": "words", "class-cache": "classes", "morpheme-cache": "morphemes"}
KIND_OF_UNIT = {unit: kind for kind, unit in UNIT_OF_KIND.items()}
LONGEST_WINDOW = 100_000


@dataclass(frozen=True)
class CacheOptions(Settings):
    """Settings of a training."""

    decay: float | None = setting(
        None,
        "Weight of a word, as a share of that of the word after it.",
        at_least=0,
        at_most=1,
        group="Model",
        default_text="fitted to --dev",
    )
    background: float | None = setting(
        None,
        "Weight of the training text's word frequencies, in words.",
        above=0,
        at_most=1e9,
        group="Model",
        default_text="fitted to --dev",
    )
    window: int = setting(
        1000,
        "Number of words before a sentence that count.",
        at_least=1,
        at_most=LONGEST_WINDOW,
        group="Model",
    )
    cache_unknown: bool = setting(
        False,
        "Unknown words count too, which raises P(UNK) and no word's.",
        option="--cache-unk",
        group="Model",
    )


@dataclass(frozen=True)
class CacheConfig(Settings):
    """What defines a cache."""

    unit: Unit = "words"  # what is counted
    decay: float = setting(0.995, "gamma", at_least=0, at_most=1)
    background: float = setting(3.0, "mu", above=0, at_most=1e9)
    window: int = same_setting(CacheOptions, "window")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class CacheShape(NamedTuple):
    """How similarity and distance become weights: gamma^(distance - 1) exp(theta (cosine - 1))."""

    window: int  # the largest distance
    decay: float  # gamma
    sharpness: float  # theta


@dataclass(frozen=True)
class NeuralCacheConfig(Settings):
    """What defines a neural cache, besides its model."""

    window: int = same_setting(CacheOptions, "window")
    decay: float = setting(0.995, "gamma", at_least=0, at_most=1)
    sharpness: float = setting(7.0, "theta", at_least=0, at_most=40)
    share: float = setting(0.2, "lambda", at_least=0, below=1)
    half: float = setting(0.5, "mu", above=0, at_most=1e9)
    cache_unknown: bool = False  # unknown words are in the cache, too

    @property
    def shape(self) -> CacheShape:
        return CacheShape(self.window, self.decay, self.sharpness)

    def mixed(self, model: Float64Array, same: Any, total: Any) -> Float64Array:
        """(1 - g) P_M + g same / total, where g = lambda total / (total + mu)."""
        scale = self.share / (total + self.half)
        result: Float64Array = (1 - scale * total) * model + scale * same
        return result
