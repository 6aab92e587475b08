"""How words are aligned: the settings of the model, of its training, and of joining the two directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.settings import Settings, setting
from morphlm.translation.alignment.symmetrise import METHODS, Method

Direction = Literal["both", "forward", "backward"]

TENSION_RANGE = (0.1, 14.0)  # of an optimised tension, as in fast_align
MAX_TENSION = 20.0  # of a fixed one: exp(-20) times the least t(f|e) is still a normal number in 32 bits


@dataclass(frozen=True)
class AlignmentConfig(Settings):
    """The defaults are those of fast_align (Dyer, Chahuneau & Smith 2013)."""

    iterations: int = setting(5, "Passes of EM; the alignment is read off after the last.", at_least=1)
    p0: float = setting(0.08, "Probability that a word is linked to NULL, i.e. to nothing.", above=0, below=1)
    alpha: float = setting(
        0.01,
        "Dirichlet prior of the translation probabilities t(f|e), for variational Bayes; 0: maximum likelihood.",
        at_least=0,
        at_most=100,
    )
    tension: float = setting(  # lambda
        4.0, "How closely links keep to the diagonal, to begin with; 0: not at all.", at_least=0, at_most=MAX_TENSION
    )
    optimise_tension: bool = setting(
        True,
        "Fit the tension to the links after every pass but the first, or keep it as it is.",
        option="--optimise-tension/--fixed-tension",
    )
    direction: Direction = setting(
        "both",
        "Forward: each target word chooses a source word; backward: the reverse.",
        choices=get_args(Direction),
    )
    method: Method = setting("grow-diag-final-and", "How the two directions are joined.", choices=METHODS)

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = TENSION_RANGE
        if self.optimise_tension and not low <= self.tension <= high:
            raise ConfigError(f"tension is {self.tension:g}; to be optimised, it must be from {low:g} to {high:g}")
