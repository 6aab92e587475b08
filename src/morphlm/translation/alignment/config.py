"""How words are aligned: the settings of the model, of its training, and of joining the two directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from morphlm.errors import ConfigError
from morphlm.translation.alignment.symmetrise import METHODS, Method

Direction = Literal["both", "forward", "backward"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)

TENSION_RANGE = (0.1, 14.0)  # of an optimised tension, as in fast_align
MAX_TENSION = 20.0  # of a fixed one: exp(-20) times the least t(f|e) is still a normal number in 32 bits


@dataclass(frozen=True)
class AlignmentConfig:
    """The defaults are those of fast_align (Dyer, Chahuneau & Smith 2013)."""

    iterations: int = 5  # passes of EM; the alignment is read off after the last
    p0: float = 0.08  # probability that a word is linked to NULL, i.e. to nothing
    alpha: float = 0.01  # Dirichlet prior of t(f|e), for variational Bayes; 0: maximum likelihood
    tension: float = 4.0  # lambda: how closely links keep to the diagonal; 0: not at all
    optimise_tension: bool = True  # after every pass but the first
    direction: Direction = "both"  # forward: each target word chooses a source word; backward: the reverse
    method: Method = "grow-diag-final-and"  # how both directions are joined

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ConfigError(f"{self.iterations} iterations teach nothing; take 1 or more")
        if not 0 < self.p0 < 1:
            raise ConfigError(f"p0 {self.p0:g} is no probability between 0 and 1; fast_align takes 0.08")
        if not 0 <= self.alpha <= 100:
            raise ConfigError(
                f"alpha {self.alpha:g} is outside 0 .. 100; fast_align takes 0.01, 0 is maximum likelihood"
            )
        self._check_tension()
        if self.method not in METHODS:
            raise ConfigError(f"there is no method {self.method!r}; take one of {', '.join(METHODS)}")
        if self.direction not in DIRECTIONS:
            raise ConfigError(f"there is no direction {self.direction!r}; take one of {', '.join(DIRECTIONS)}")

    def _check_tension(self) -> None:
        low, high = TENSION_RANGE if self.optimise_tension else (0.0, MAX_TENSION)
        if not low <= self.tension <= high:
            kind = "to begin with" if self.optimise_tension else "that is fixed"
            raise ConfigError(
                f"a tension of {self.tension:g} {kind} is outside {low:g} .. {high:g}; fast_align takes 4"
            )
