"""How a log-bilinear model is trained: steps, epochs, when to stop; and the recipes that set all of it by one name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.logbilinear.config import LearningConfig, LogBilinearConfig, variant
from morphlm.settings import DeclaredSetting, Settings, current_names, declared_in, same_setting, setting
from morphlm.wording import either

SMALLEST_BATCH, LARGEST_BATCH = 500, 10_000
# These change how long a training goes on and what it is called, not its steps.
STOPPING = ("epochs", "patience", "stop_after", "recipe")
WIDE = 50  # words of a wide context


@dataclass(frozen=True)
class TrainingConfig(Settings):
    """All that decides the result, given the data; threads and checkpoints do not."""

    learning: LearningConfig = field(default_factory=LearningConfig)
    batch: int = setting(0, "L: tokens of a minibatch; 0: a hundredth of the text, but from 500 to 10,000.", at_least=0)
    epochs: int = setting(20, "Largest number of passes over the training text.", at_least=1, group="Run")
    evaluate_every: int = setting(
        0, "Minibatches between evaluations on the development text; 0: once an epoch.", at_least=0
    )
    patience: int = setting(1, "Stop after so many evaluations in a row without a new best.", at_least=1)
    stop_after: int = setting(
        0, "Evaluate and stop once so many tokens have been trained on, all epochs together; 0: never.", at_least=0
    )
    step_decay: float = setting(
        1.0, "Factor of the step size after each epoch, once progress is slow.", above=0, at_most=1
    )
    plateau_ratio: float = setting(
        0.0,
        "Progress is slow when an epoch lowers the development perplexity by no larger share than this.",
        at_least=0,
        below=1,
        former="--slow",
    )
    init_std: float = setting(0.1, "Standard deviation of the initial weights.", at_least=0, former="--deviation")
    near_identity: bool = setting(
        False, "Initialise the matrices C_j around I/j, or around 0.", option="--near-identity/--gaussian"
    )
    seed: int = 1
    recipe: str = "own"

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seed < 0:
            raise ConfigError(f"seed is {self.seed}; it must be a whole number at least 0")

    def batch_for(self, tokens: int) -> int:
        """L for a text of so many tokens: a small text needs small minibatches to learn anything in an epoch."""
        return self.batch or min(LARGEST_BATCH, max(SMALLEST_BATCH, tokens // 100))

    def to_json(self) -> dict[str, Any]:
        """Flat: the settings of a step stand beside the others."""
        content = asdict(self)
        learning: dict[str, Any] = content.pop("learning")
        return learning | content


RECIPES: dict[str, TrainingConfig] = {
    # Found on development texts of Czech, German and French, a million tokens each; see benchmarks/regularisation.sh.
    "default": TrainingConfig(
        LearningConfig(step=0.1, decay=4.0, l2_in_gradient=False, accumulator=3.0, prediction_dropout=0.3, gather=0),
        step_decay=0.6,
        plateau_ratio=0.04,
        near_identity=True,
        recipe="default",
    ),
    # Section 3.3 and the authors' code: constant step, gradients summed, weight decay beside AdaGrad.
    "paper": TrainingConfig(LearningConfig(accumulator=1e-4, noise_accumulator=1e-4, samples=100), recipe="paper"),
}
_RECIPE_SETTINGS = declared_in(LearningConfig) | declared_in(TrainingConfig)


def recipe(name: str, **changes: Any) -> TrainingConfig:
    """A recipe by its name, with some settings changed; `LearningConfig`'s and `TrainingConfig`'s fields alike."""
    if name not in RECIPES:
        raise ConfigError(f"recipe is {name!r}; choose one of {', '.join(RECIPES)}")
    changes = current_names(changes, _RECIPE_SETTINGS)
    if "accumulator" in changes:
        changes = {"noise_accumulator": changes["accumulator"]} | changes
    unknown = changes.keys() - _RECIPE_SETTINGS - {"seed"}
    if unknown:
        raise ConfigError(
            f"there is no setting {', '.join(sorted(unknown))}; see "
            f"{either('`morphlm train clbl++ --help`', '`help(morphlm.train)`')}"
        )
    steps = {entry.name for entry in fields(LearningConfig)}
    learning = {key: value for key, value in changes.items() if key in steps}
    base = RECIPES[name]
    rest = {key: value for key, value in changes.items() if key not in steps}
    return changed(replace(base, seed=rest.pop("seed", base.seed)), learning=replace(base.learning, **learning), **rest)


def changed(training: TrainingConfig, **changes: Any) -> TrainingConfig:
    """With some fields changed; the name of the recipe then says so. (The seed is named by itself.)"""
    result = replace(training, **changes)
    name = training.recipe
    return result if result == training or name.endswith("+") else replace(result, recipe=f"{name}+")


@dataclass(frozen=True)
class LogBilinearOptions(Settings):
    """What can be chosen for the eight models: the model, a recipe, and settings that differ from the recipe's."""

    order: int = same_setting(LogBilinearConfig, "order")
    width: int = same_setting(LogBilinearConfig, "width")
    diagonal: bool = same_setting(LogBilinearConfig, "diagonal")
    wide_context: bool = setting(False, f"The {WIDE} words before, across sentences, count as well.", group="Model")
    recipe: str = setting("default", "Values of all training settings, which others change.", choices=tuple(RECIPES))
    changes: Mapping[str, Any] = field(default_factory=dict)  # settings that differ from the recipe's
    seed: int = 1

    __repr__ = dataclass_repr

    @classmethod
    def declared(cls) -> dict[str, DeclaredSetting]:
        """Those of the recipe too, with the values of the default recipe."""
        defaults = RECIPES["default"].to_json()
        of_recipe = {name: replace(entry, default=defaults[name]) for name, entry in _RECIPE_SETTINGS.items()}
        return declared_in(cls) | of_recipe

    @classmethod
    def from_values(cls, values: Mapping[str, Any], seed: int) -> Self:
        current = current_names(values, cls.declared())
        own = {name: value for name, value in current.items() if name in declared_in(cls)}
        changes = {name: value for name, value in current.items() if name not in own}
        options = cls(**own, changes=changes, seed=seed)
        _ = options.training  # refused now, not when all else has been made
        return options

    def config(self, kind: str) -> LogBilinearConfig:
        """The model of a kind."""
        wide = WIDE if self.wide_context else 0
        return variant(kind, order=self.order, width=self.width, diagonal=self.diagonal, wide=wide)

    @property
    def training(self) -> TrainingConfig:
        """The recipe with the changes."""
        return recipe(self.recipe, seed=self.seed, **self.changes)
