"""How a model is trained: steps, epochs, when to stop; and the recipes that set all of it by one name."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from morphlm.errors import ConfigError
from morphlm.logbilinear.config import LearningConfig

SMALLEST_BATCH, LARGEST_BATCH = 500, 10_000
STOPPING = ("epochs", "patience", "recipe")  # change how long a training goes on and what it is called, not its steps


@dataclass(frozen=True)
class TrainingConfig:
    """All that decides the result, given the data; threads and checkpoints do not."""

    learning: LearningConfig = field(default_factory=LearningConfig)
    batch: int = 0  # L, tokens of a minibatch; 0: a hundredth of the text, but from 500 to 10,000
    epochs: int = 20  # at most
    evaluate_every: int = 0  # minibatches between evaluations on the development text; 0: once an epoch
    patience: int = 1  # stop after so many evaluations in a row that are not better than the best
    step_decay: float = 1.0  # what the step is multiplied by after each epoch once progress is slow; 1: constant
    plateau_ratio: float = 0.0  # ... from the first that lowers the development perplexity by no larger share than this
    init_std: float = 0.1  # standard deviation of the Gaussian that the weights begin with
    near_identity: bool = False  # the matrices C_j begin with I/j plus such numbers; else with these alone
    seed: int = 1
    recipe: str = "own"

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        for name in ("epochs", "patience"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be 1 or more")
        if min(self.batch, self.evaluate_every, self.seed) < 0:
            raise ConfigError("batch, evaluate_every and seed are whole numbers from 0 on")
        if not 0 < self.step_decay <= 1:
            raise ConfigError(f"step_decay is {self.step_decay}; it lies in (0, 1]")
        if not 0 <= self.plateau_ratio < 1:
            raise ConfigError(f"plateau_ratio is {self.plateau_ratio}; a share lies in [0, 1)")
        if not 0 <= self.init_std < math.inf:
            raise ConfigError(f"init_std is {self.init_std}; it must be a finite number, 0 or more")

    def batch_for(self, tokens: int) -> int:
        """L for a text of so many tokens: a small text needs small minibatches to learn anything in an epoch."""
        return self.batch or min(LARGEST_BATCH, max(SMALLEST_BATCH, tokens // 100))

    def to_json(self) -> dict[str, Any]:
        """All fields, those of a step among them."""
        content = asdict(self)
        learning: dict[str, Any] = content.pop("learning")
        return learning | content


RECIPES: dict[str, TrainingConfig] = {
    # Found on development texts of Czech, German and French, a million tokens each; see benchmarks/regularisation.sh.
    "default": TrainingConfig(
        LearningConfig(step=0.1, decay=4.0, l2_in_gradient=False, accumulator=3.0, prediction_dropout=0.3),
        step_decay=0.6,
        plateau_ratio=0.04,
        near_identity=True,
        recipe="default",
    ),
    # Section 3.3 and the authors' code: constant step, gradients summed, weight decay beside AdaGrad.
    "paper": TrainingConfig(LearningConfig(accumulator=1e-4, noise_accumulator=1e-4, samples=100), recipe="paper"),
}


# Settings that had other names in 0.1; those go on working.
RENAMED = {"decay_inside": "l2_in_gradient", "slow": "plateau_ratio", "deviation": "init_std"}


def recipe(name: str, **changes: Any) -> TrainingConfig:
    """A recipe by its name, with some settings changed; `LearningConfig`'s and `TrainingConfig`'s fields alike."""
    changes = {RENAMED.get(key, key): value for key, value in changes.items()}
    if name not in RECIPES:
        raise ConfigError(f"{name!r} is no recipe; choose one of {', '.join(RECIPES)}")
    if "accumulator" in changes:
        changes = {"noise_accumulator": changes["accumulator"]} | changes
    steps = {entry.name for entry in fields(LearningConfig)}
    learning = {key: value for key, value in changes.items() if key in steps}
    base = RECIPES[name]
    unknown = changes.keys() - steps - {entry.name for entry in fields(TrainingConfig)}
    if unknown:
        raise ConfigError(f"there is no setting {', '.join(sorted(unknown))}; see `morphlm train clbl++ --help`")
    rest = {key: value for key, value in changes.items() if key not in steps}
    changed = replace(base, learning=replace(base.learning, **learning), **rest)
    is_plain = replace(changed, seed=base.seed) == base  # the seed is named by itself
    return changed if is_plain else replace(changed, recipe=f"{name}+")
