"""From text to a trained model in one call: vocabulary, factors and classes as far as they are needed, then training.

`train` makes one model of any kind, `train_all` the eight of the paper and modified Kneser-Ney on the same vocabulary,
for comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from morphlm.artefacts import fingerprint
from morphlm.classes.partition import Partition
from morphlm.errors import ConfigError, FormatError, TrainingError
from morphlm.files import check_can_make
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import Perplexity
from morphlm.language_model.signature import common_signature
from morphlm.logbilinear.config import VARIANTS, LogBilinearConfig, variant
from morphlm.logbilinear.structure import build_structure
from morphlm.modelfile import check_can_hold_model, read_model
from morphlm.ngram.model import ngram_from_files
from morphlm.ngram.training import NgramConfig, train_ngram_on
from morphlm.progress import notify
from morphlm.tables import format_columns
from morphlm.training.checkpoint import checkpoint_path
from morphlm.training.config import TrainingConfig
from morphlm.training.config import recipe as recipe_named
from morphlm.training.inputs import FactorChoice, InputOptions, TrainingInputs, prepare_inputs
from morphlm.training.log import describe_position, read_log
from morphlm.training.loop import TrainingTask, ended_otherwise, load_trained, train_model
from morphlm.version import __version__
from morphlm.vocabulary.corpus import Source
from morphlm.vocabulary.vocabulary import Vocabulary

NGRAMS = "mkn"
MODELS = (*VARIANTS, NGRAMS)
STAGES_FOLDER = "stages"
WIDE = 50  # words of a wide context


@dataclass(frozen=True)
class ModelOptions:
    """What the model is and how it learns; modified Kneser-Ney takes the order only."""

    order: int = 4  # n
    width: int = 100  # d
    diagonal: bool = True  # C_j has d numbers instead of d x d
    wide_context: bool = False  # whether the words of the text further before count too
    seed: int = 1
    recipe: str = "default"
    settings: Mapping[str, Any] = field(default_factory=dict)  # fields of the recipe that are changed

    def config(self, kind: str) -> LogBilinearConfig:
        """The model."""
        wide = WIDE if self.wide_context else 0
        return variant(kind, order=self.order, width=self.width, diagonal=self.diagonal, wide=wide)

    @property
    def training(self) -> TrainingConfig:
        """The recipe with what is changed in it."""
        return recipe_named(self.recipe, seed=self.seed, **self.settings)

    @property
    def beyond_ngrams(self) -> list[str]:
        """What is chosen in another way than by default and means nothing to modified Kneser-Ney."""
        usual, names = ModelOptions(), ("width", "diagonal", "wide_context", "recipe")
        return [*(name for name in names if getattr(self, name) != getattr(usual, name)), *self.settings]


@dataclass(frozen=True)
class RunOptions:
    """What changes the time, not the result."""

    resume: bool = False
    threads: int | None = None
    checkpoint_minutes: float = 10.0

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if not self.checkpoint_minutes >= 0:
            raise ConfigError(f"{self.checkpoint_minutes} minutes between checkpoints cannot be; give 0 or more")
        if self.threads is not None and self.threads < 1:
            raise ConfigError(f"{self.threads} threads do no work; give 1 or more")


@dataclass(frozen=True)
class Trained:
    """A model and what it reaches."""

    model: LanguageModel
    out: Path | None
    development: Perplexity
    test: Perplexity | None
    log: list[dict[str, Any]]  # one entry an evaluation; empty without a directory and for n-grams

    @property
    def best_epoch(self) -> int | None:
        """The epoch whose model was kept; none for n-grams."""
        return self.model.training.get("best_epoch")

    @property
    def _best_minibatch(self) -> int:
        """How far it was in the next one; 0 unless evaluations come within epochs."""
        return int(self.model.training.get("best_minibatch", 0))

    def row(self) -> list[str]:
        """Kind, epoch and perplexities as cells of a table; parts of an epoch as a fraction."""
        figures = [result for result in (self.development, self.test) if result is not None]
        epoch = "-" if self.best_epoch is None else str(self.best_epoch)
        if self._best_minibatch:
            record = self.model.training
            epoch = f"{record['best_epoch'] + self._best_minibatch * record['batch'] / record['tokens']:.2f}"
        return [self.model.kind, epoch, *(f"{result.including_unknown:.2f}" for result in figures)]

    def format(self) -> str:
        """Some lines for a person."""
        place = None if self.best_epoch is None else describe_position(self.best_epoch, self._best_minibatch)
        after = "" if place is None else f", after {place}"
        lines = [f"{self.model.kind}", f"  development  {self.development.including_unknown:.2f}{after}"]
        if self.test is not None:
            lines.append(
                f"  test         {self.test.including_unknown:.2f} including unknown words, "
                f"{self.test.excluding_unknown:.2f} excluding"
            )
        lines.append(f"  signature    {self.model.signature}")
        return "\n".join(lines + ([] if self.out is None else [f"  written to   {self.out}"]))

    def to_json(self) -> dict[str, Any]:
        """All figures under their names."""
        return {
            "kind": self.model.kind,
            "out": None if self.out is None else str(self.out),
            "order": self.model.order,
            "vocabulary": len(self.model.vocabulary),
            "best_epoch": self.best_epoch,
            "development_perplexity": self.development.including_unknown,
            "development": self.development.to_json(),
            "test": None if self.test is None else self.test.to_json(),
            "training": self.model.training,
            "log": self.log,
            "signature": str(self.model.signature),
        }


@dataclass(frozen=True)
class Comparison:
    """Several models of the same text."""

    models: tuple[Trained, ...]
    failures: Mapping[str, str] = field(default_factory=dict)  # kind -> why its training could not go on

    def format(self) -> str:
        """A table of perplexities, unknown words included; after it, what failed."""
        has_test = bool(self.models) and all(trained.test is not None for trained in self.models)
        header = ["", "epoch", "development", *(["test"] if has_test else [])]
        rows = [trained.row() for trained in self.models]
        rows += [[kind, "-", *["failed"] * (len(header) - 2)] for kind in self.failures]
        lines = [format_columns(header, rows), *(f"{kind}: {why}" for kind, why in self.failures.items())]
        if self.models:
            shared, _ = common_signature([trained.model.signature for trained in self.models])
            lines.append(f"signature: {shared}")
        return "\n".join(lines)

    def to_json(self) -> list[dict[str, Any]]:
        """All figures of each model; of those that failed, why."""
        failures = [{"kind": kind, "failed": why} for kind, why in self.failures.items()]
        return [trained.to_json() for trained in self.models] + failures


# ---------------------------------------------------------------- the calls


def train(
    kind: str,
    source: Source,
    dev: Source,
    out: str | Path | None = None,
    *,
    order: int = 4,
    width: int = 100,
    diagonal: bool = True,
    wide_context: bool = False,
    kappa: float | None = None,
    seed: int = 1,
    vocabulary: Vocabulary | str | Path | None = None,
    factors: FactorChoice | None = None,
    corpus_weight: float = InputOptions.corpus_weight,
    classes: Partition | int | str | Path | None = None,
    class_method: str = "exchange",
    recipe: str = "default",
    resume: bool = False,
    threads: int | None = None,
    checkpoint_minutes: float = 10.0,
    stages: str | Path | None = None,
    allow_unknown: bool = False,
    **settings: Any,
) -> LanguageModel:
    """Train lbl, lbl+c, lbl+o, lbl++, clbl, clbl+c, clbl+o, clbl++ or mkn; the best model by the development text.

    Texts are a path, several paths, or any iterable of token lists. Vocabulary, factors and classes are made from the
    training text unless they are given, and kept in the folder `stages` (beside `out` by default; without `out` nothing
    is kept) for the next model. `settings` are fields of `LearningConfig` and `TrainingConfig` that differ from the
    recipe's. With `out`, the model directory is written there, and `resume` goes on with a training that was
    interrupted.
    """
    return train_one(
        kind,
        source,
        dev,
        out,
        InputOptions(vocabulary, kappa, factors, corpus_weight, classes, class_method, seed, allow_unknown, threads),
        ModelOptions(order, width, diagonal, wide_context, seed, recipe, settings),
        RunOptions(resume, threads, checkpoint_minutes),
        stages=stages,
    ).model


def train_one(
    kind: str,
    source: Source,
    dev: Source,
    out: str | Path | None,
    input_options: InputOptions,
    choices: ModelOptions,
    run: RunOptions,
    *,
    stages: str | Path | None = None,
    test: Source | None = None,
) -> Trained:
    """The same with the choices in three parts; also tests the model."""
    place = None if out is None else Path(out)
    stages = stages_beside(place) if stages is None else stages
    check_choices([kind], choices)
    if place is not None:
        check_place(place, stages)
    uses = (False, False) if kind == NGRAMS else parts_of([choices.config(kind)])
    inputs = prepare_inputs(source, dev, input_options, stages, test=test, factors=uses[0], classes=uses[1])
    return fit(kind, inputs, choices, run, place)


def train_all(
    source: Source,
    dev: Source,
    out: str | Path,
    input_options: InputOptions | None = None,
    choices: ModelOptions | None = None,
    run: RunOptions | None = None,
    *,
    kinds: Sequence[str] = MODELS,
    stages: str | Path | None = None,
    test: Source | None = None,
) -> Comparison:
    """Train all kinds into `out`/KIND, with the same vocabulary, factors and classes.

    Those that stand there complete, from the same data with the same settings, are not trained again. If the training
    of one diverges, the others go on.
    """
    choices, run = choices or ModelOptions(), run or RunOptions()
    check_choices(kinds, choices)
    places = [Path(out) / kind for kind in kinds]
    folder = Path(out) / STAGES_FOLDER if stages is None else stages
    for place in places:
        check_place(place, folder)
    factors, classes = parts_of([choices.config(kind) for kind in kinds if kind != NGRAMS])
    inputs = prepare_inputs(
        source, dev, input_options or InputOptions(), folder, test=test, factors=factors, classes=classes
    )
    trained, failures = [], {}
    for kind, place in zip(kinds, places, strict=True):
        notify(f"{kind}:")
        try:
            trained.append(fit(kind, inputs, choices, run, place, keep_complete=True))
        except TrainingError as error:
            notify(str(error))
            failures[kind] = str(error)
    return Comparison(tuple(trained), failures)


def stages_beside(out: Path | None) -> Path | None:
    """Where the stages of a model are kept if no place is given for them."""
    return None if out is None else out.resolve().parent / STAGES_FOLDER


def check_place(out: Path, stages: str | Path | None) -> None:
    """Refuse, before any work is done, a place that the model cannot take or that the stages would take from it."""
    check_can_hold_model(out)
    check_can_make(out)
    for taken in (out, checkpoint_path(out)):
        if stages is not None and Path(stages).resolve().is_relative_to(taken.resolve()):
            raise ConfigError(
                f"{out}: vocabulary, segmenter and classes are kept in {stages}, which cannot be part of the model; "
                "choose another --out or --stages"
            )


def check_choices(kinds: Sequence[str], choices: ModelOptions) -> None:
    """Refuse, before any work is done, what no model can be."""
    for kind in kinds:
        if kind not in MODELS:
            raise ConfigError(f"{kind!r} is no kind of model; choose one of {', '.join(MODELS)}")
        if kind != NGRAMS:
            choices.config(kind)
    if choices.order < 1:
        raise ConfigError(f"order {choices.order} leaves nothing to predict; give 1 or more")
    _ = choices.training
    if all(kind == NGRAMS for kind in kinds) and choices.beyond_ngrams:
        what = f"modified Kneser-Ney takes no notice of {', '.join(choices.beyond_ngrams)}"
        raise ConfigError(f"{what}; leave it out, it is for {', '.join(VARIANTS)}")


def parts_of(configs: Sequence[LogBilinearConfig]) -> tuple[bool, bool]:
    """Whether some of the models need factors, and whether some need classes."""
    factors = any(config.context_factors or config.output_factors for config in configs)
    return factors, any(config.classes for config in configs)


# ---------------------------------------------------------------- one model from its inputs


def fit(
    kind: str,
    inputs: TrainingInputs,
    choices: ModelOptions,
    run: RunOptions | None = None,
    out: Path | None = None,
    *,
    keep_complete: bool = False,
) -> Trained:
    """Train a model on what has been gathered."""
    run = run or RunOptions()
    if kind == NGRAMS:
        model: LanguageModel = _fit_ngrams(inputs, choices, out, keep_complete or run.resume)
    else:
        model = _fit_logbilinear(task_of(kind, inputs, choices), run, out, keep_complete)
    test = None if inputs.test is None else inputs.test.perplexity(model)
    return Trained(model, out, inputs.dev.perplexity(model), test, read_log(out))


def task_of(kind: str, inputs: TrainingInputs, choices: ModelOptions) -> TrainingTask:
    """What the training loop takes."""
    config = choices.config(kind)
    structure = build_structure(config, inputs.vocabulary, inputs.partition, inputs.factors)
    factors, partition = structure.factors, structure.partition
    record = inputs.record | {
        "factors": None if factors is None else factors.to_json(),
        "classes": None if partition is None else partition.to_json(),
    }
    return TrainingTask(config, structure, choices.training, inputs.train, inputs.dev.corpus, record)


def _fit_logbilinear(task: TrainingTask, run: RunOptions, out: Path | None, keep_complete: bool) -> LanguageModel:
    if out is not None and keep_complete and not checkpoint_path(out).exists() and _identity_at(out) == task.identity:
        otherwise = ended_otherwise(task, out)
        if not otherwise:
            notify(f"{out}: complete, from the same data and settings; it is not trained again")
            model = load_trained(out)
            model.threads = run.threads
            return model
        if not run.resume:  # else it is said, or refused, when the training is taken up
            notify(f"{out}: its training {otherwise}; it is trained again")
    return train_model(task, out, resume=run.resume, threads=run.threads, checkpoint_minutes=run.checkpoint_minutes)


def _fit_ngrams(inputs: TrainingInputs, choices: ModelOptions, out: Path | None, keep_complete: bool) -> LanguageModel:
    rate = inputs.record["kappa"]
    config = NgramConfig(choices.order, 0.0 if rate is None else rate, choices.seed)
    parts = {"order": choices.order, "tokens": inputs.train.tokens, "words": list(inputs.vocabulary.words)}
    identity = fingerprint(parts | {"record": inputs.record, "version": __version__})
    if out is not None and keep_complete and _identity_at(out) == identity:
        notify(f"{out}: complete, from the same data and settings; it is not trained again")
        return ngram_from_files(out, read_model(out))
    model = train_ngram_on(inputs.train, config, inputs.record["preparation"])
    for warning in model.warnings:
        notify(f"warning: {warning}")
    model.training |= {"vocabulary": inputs.record["vocabulary"], "identity": identity}
    if out is not None:
        model.save(out)
    return model


def _identity_at(out: Path) -> str | None:
    """A hash of what the model in a place was trained on, if there is one."""
    try:
        identity: str | None = read_model(out).training.get("identity")
    except FormatError:
        return None
    return identity
