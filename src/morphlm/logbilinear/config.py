"""What defines a log-bilinear model, and what defines a step of its training. Names are the paper's."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.settings import Settings, setting

SHARDS = 8
GATHERED, MANY_WORDS = 64, 100_000  # tokens of a class that are enough, in a vocabulary of at least so many words
VARIANTS = ("lbl", "lbl+c", "lbl+o", "lbl++", "clbl", "clbl+c", "clbl+o", "clbl++")
_MARKS = {(False, False): "", (True, False): "+c", (False, True): "+o", (True, True): "++"}


@dataclass(frozen=True)
class LogBilinearConfig(Settings):
    """One of the eight models: p = sum_j q_j C_j, nu(w) = p . r_w + b_w, and with classes tau(c) = p . s_c + t_c."""

    classes: bool = True  # P(w|h) = P(c|h) P(w|h,c); without: one softmax over all words
    context_factors: bool = True  # +c: Q = M Q^(f)
    output_factors: bool = True  # +o: R = M R^(f)
    order: int = setting(4, "n: the n - 1 words before a word are its context.", at_least=2, at_most=100, group="Model")
    width: int = setting(100, "d: the length of the vectors q and r.", at_least=1, at_most=100_000, group="Model")
    diagonal: bool = setting(True, "Diagonal context matrices C_j, or full ones.", option="--diagonal/--full")
    wide: int = setting(
        0, "Words of the text before, whose weighted mean is one more context vector.", at_least=0, at_most=1_000_000
    )
    wide_decay: float = setting(
        0.97, "gamma: weight of a word of the wide context relative to the next one.", above=0, at_most=1
    )

    __repr__ = dataclass_repr

    @property
    def distances(self) -> int:
        """n - 1, the number of context words with a matrix of their own."""
        return self.order - 1

    @property
    def kind(self) -> str:
        """The paper's name of the model, in lower case."""
        return ("clbl" if self.classes else "lbl") + _MARKS[self.context_factors, self.output_factors]

    def to_json(self) -> dict[str, Any]:
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
class LearningConfig(Settings):
    """How a minibatch changes the parameters."""

    step: float = setting(0.05, "xi: AdaGrad's step size.", above=0)
    decay: float = setting(1.0, "lambda of the L2 term lambda/2 |W|^2 of all weights but the biases.", at_least=0)
    l2_in_gradient: bool = setting(  # else W -= xi lambda (L/N) W beside it
        False,
        "Add the L2 term to AdaGrad's gradient, or decay the weights beside it.",
        option="--l2-in-gradient/--l2-decoupled",
        former="--decay-inside/--decay-outside",
    )
    mean_gradients: bool = setting(  # AdaGrad sees only the ratio to its first value
        False, "Average gradients over the minibatch, or sum them.", option="--mean-gradients/--sum-gradients"
    )
    accumulator: float = setting(1.0, "Initial value of AdaGrad's sums of squared gradients.", above=0)
    noise_accumulator: float = setting(
        0.1, "The same for models without classes, whose gradients are smaller.", above=0
    )
    gather: int = setting(
        1,
        "Tokens of a class to gather from several minibatches before its words are learned; 1: learn in each; "
        f"0: {GATHERED} if there are at least {MANY_WORDS:,} words, else 1.",
        at_least=0,
    )
    samples: int = setting(
        500, "k: noise words for each token (models without classes).", at_least=1, option="--noise-samples"
    )
    noise: Literal["block", "token"] = setting(
        "block", "Which tokens share their noise words: those of a block, or none.", choices=("block", "token")
    )
    noise_block: int = setting(128, "Tokens of such a block.", at_least=1)
    surface_dropout: float = setting(
        0.0, "Rate at which a word's surface factor is dropped, so that its morphemes carry it.", at_least=0, below=1
    )
    context_dropout: float = setting(
        0.0, "Rate at which a whole context word is dropped; the others are not scaled up.", at_least=0, below=1
    )
    prediction_dropout: float = setting(0.0, "Rate at which features of p are dropped.", at_least=0, below=1)

    shards: int = setting(
        SHARDS,
        "Parts that the work of a minibatch is divided into, a power of two; at most so many ranks can share it.",
        at_least=1,
        at_most=1024,
    )

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shards & (self.shards - 1):
            raise ConfigError(f"shards is {self.shards}; it must be a power of two, such as {SHARDS}")

    def tokens_to_gather(self, config: LogBilinearConfig, words: int) -> int:
        """How many tokens of a class are enough to learn its words; 1 where none may wait.

        A wide context is computed for consecutive tokens, and tokens that have waited would each need their own. With
        the L2 term in every gradient, the number of updates counts.
        """
        if not config.classes or config.wide or self.l2_in_gradient:
            return 1
        return self.gather or (GATHERED if words >= MANY_WORDS else 1)

    def first_squares(self, config: LogBilinearConfig) -> float:
        """What AdaGrad's sums of squares begin with in a model."""
        return self.accumulator if config.classes else self.noise_accumulator
