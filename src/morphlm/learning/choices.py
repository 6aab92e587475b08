"""What `learn` chooses by the development text, and the trials that it chooses by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from morphlm.tables import finite_or_none


@dataclass(frozen=True)
class NgramChoice:
    """The vocabulary, and the order of Kneser-Ney."""

    kappa: float  # share of the words occurring once that becomes UNK
    order: int


@dataclass(frozen=True)
class ModelChoice:
    """Settings of CLBL++ that are searched. The defaults are those of `morphlm train clbl++`."""

    order: int = 4  # n
    width: int = 100  # d
    wide_context: bool = False
    class_factor: float = 1.0  # number of classes, in multiples of sqrt(|V|)

    def __str__(self) -> str:
        wide = "wide context" if self.wide_context else "no wide context"
        classes = "" if self.class_factor == 1 else f", classes x {self.class_factor:g}"
        return f"order {self.order}, width {self.width}, {wide}{classes}"

    def classes(self, words: int) -> int:
        """The number of classes of a vocabulary of so many entries."""
        return max(1, min(words - 1, round(self.class_factor * math.sqrt(words))))

    def settings(self) -> dict[str, Any]:
        """What to pass to the training of the model; the classes belong to its inputs."""
        return {"order": self.order, "width": self.width, "wide_context": self.wide_context}

    def neighbours(self, name: str) -> list[ModelChoice]:
        """The choices one step up and one step down a setting's ladder, where there are such steps."""
        ladder, value = LADDERS[name], getattr(self, name)
        place = ladder.index(value)
        return [replace(self, **{name: ladder[step]}) for step in (place + 1, place - 1) if 0 <= step < len(ladder)]


# The values that are tried of each setting, in the order in which the settings are looked at: what usually gains most
# comes first, so that little time goes a long way.
LADDERS: Mapping[str, tuple[Any, ...]] = {
    "wide_context": (False, True),
    "order": (3, 4, 6, 8, 10),
    "class_factor": (0.25, 0.5, 1.0, 2.0),
    "width": (50, 100, 200, 300, 400),
}
DEFAULT = ModelChoice()
START = ModelChoice(order=6, width=200, wide_context=True)  # what proved best on a million tokens of Czech


@dataclass(frozen=True)
class NgramTrial:
    """Kneser-Ney with some settings, measured on the development text."""

    kappa: float
    order: int
    perplexity: float  # per word, unknown words spelled, so that vocabularies can be compared

    @property
    def choice(self) -> NgramChoice:
        return NgramChoice(self.kappa, self.order)


@dataclass(frozen=True)
class Trial:
    """A short training of CLBL++, mixed with Kneser-Ney and measured on the development text."""

    choice: ModelChoice
    perplexity: float  # of the mixture, per word, unknown words spelled; infinite if the training failed
    seconds: float
    tokens: int  # of the text that it was trained on, in all epochs together

    def to_json(self) -> dict[str, Any]:
        figures = {"perplexity": finite_or_none(self.perplexity), "seconds": self.seconds}
        return asdict(self.choice) | figures | {"tokens": self.tokens}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Trial:
        choice = ModelChoice(**{entry.name: content[entry.name] for entry in fields(ModelChoice)})
        perplexity = math.inf if content["perplexity"] is None else content["perplexity"]
        return cls(choice, perplexity, content["seconds"], content["tokens"])
