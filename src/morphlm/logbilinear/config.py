"""What defines a log-bilinear model, and what defines a step of its training. Names are the paper's."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from morphlm.errors import ConfigError

VARIANTS = ("lbl", "lbl+c", "lbl+o", "lbl++", "clbl", "clbl+c", "clbl+o", "clbl++")
_MARKS = {(False, False): "", (True, False): "+c", (False, True): "+o", (True, True): "++"}


@dataclass(frozen=True)
class LogBilinearConfig:
    """One of the eight models: p = sum_j q_j C_j, nu(w) = p . r_w + b_w, and with classes tau(c) = p . s_c + t_c."""

    classes: bool = True  # P(w|h) = P(c|h) P(w|h,c); without: one softmax over all words
    context_factors: bool = True  # +c: Q = M Q^(f)
    output_factors: bool = True  # +o: R = M R^(f)
    order: int = 4  # n: the n - 1 words before are the context
    width: int = 100  # d, the number of features of a vector
    diagonal: bool = True  # C_j has d numbers instead of d x d
    wide: int = 0  # words of the text before, whose weighted mean is one more context vector; 0: there is none
    wide_decay: float = 0.97  # gamma: the weight of a word of the wide context relative to the one after it

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if self.order < 2:
            raise ConfigError(f"order {self.order} leaves no context; a log-bilinear model has order 2 or more")
        if self.width < 1:
            raise ConfigError(f"vectors of {self.width} features hold nothing; give a width of 1 or more")
        if self.wide < 0:
            raise ConfigError(f"a wide context of {self.wide} words cannot be; give 0 or more")
        if not 0 < self.wide_decay <= 1:
            raise ConfigError(f"the decay of the wide context is {self.wide_decay}; it lies above 0 and is at most 1")

    @property
    def distances(self) -> int:
        """n - 1, the number of context words with a matrix of their own."""
        return self.order - 1

    @property
    def kind(self) -> str:
        """The paper's name of the model, in small letters."""
        return ("clbl" if self.classes else "lbl") + _MARKS[self.context_factors, self.output_factors]

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return asdict(self)


def variant(kind: str, *, order: int = 4, width: int = 100, diagonal: bool = True, wide: int = 0) -> LogBilinearConfig:
    """The configuration of a model by its name: lbl, lbl+c, ..., clbl++."""
    if kind not in VARIANTS:
        raise ConfigError(f"{kind!r} is no log-bilinear model; choose one of {', '.join(VARIANTS)}")
    return LogBilinearConfig(
        classes=kind.startswith("c"),
        context_factors=kind.endswith(("+c", "++")),
        output_factors=kind.endswith(("+o", "++")),
        order=order,
        width=width,
        diagonal=diagonal,
        wide=wide,
    )


@dataclass(frozen=True)
class LearningConfig:
    """How a minibatch changes the parameters."""

    step: float = 0.05  # xi, AdaGrad's step size
    decay: float = 1.0  # lambda of the L2 term lambda/2 |W|^2 of all weights but the biases
    l2_in_gradient: bool = False  # the L2 term is part of AdaGrad's gradient; else W -= xi lambda (L/N) W beside it
    mean_gradients: bool = False  # over the minibatch; else their sum. AdaGrad sees only the ratio to its first value
    accumulator: float = 1.0  # what AdaGrad's sums of squares begin with
    noise_accumulator: float = 0.1  # the same for learning from noise, where gradients are smaller
    samples: int = 500  # k: noise words that a token is contrasted with (models without classes)
    noise: Literal["block", "token"] = "block"  # who shares the k noise words
    noise_block: int = 128  # tokens of such a block
    surface_dropout: float = 0.0  # rate at which a word's surface factor is left out, so that its morphemes carry it
    context_dropout: float = 0.0  # rate at which a whole context word is left out; what is left is not made larger
    prediction_dropout: float = 0.0  # rate at which features of p are left out

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        for name in ("step", "decay", "accumulator", "noise_accumulator"):
            if not math.isfinite(getattr(self, name)):
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be a finite number")
        for name in ("step", "accumulator", "noise_accumulator", "samples", "noise_block"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be above 0")
        if not self.decay >= 0:
            raise ConfigError(f"decay is {self.decay}; it must be 0 or more")
        for name in ("surface_dropout", "context_dropout", "prediction_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; a rate lies in [0, 1)")

    def first_squares(self, config: LogBilinearConfig) -> float:
        """What AdaGrad's sums of squares begin with in a model."""
        return self.accumulator if config.classes else self.noise_accumulator
