"""From text to a trained model in one call: vocabulary, factors and classes as far as they are needed, then training.

`train` makes one model of any kind, `train_all` several on the same vocabulary, for comparison. What a kind of model is
and how it is trained stands in its record (see morphlm.kinds).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from morphlm.artefacts import find_or_make
from morphlm.compiling import COMPILATIONS
from morphlm.display import Row, Tabular, dataclass_repr
from morphlm.errors import ConfigError, TrainingError
from morphlm.files import check_can_make
from morphlm.kinds import ModelKind, kind_named, kind_names
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import Perplexity
from morphlm.language_model.signature import common_signature
from morphlm.modelfile import check_can_hold_model
from morphlm.progress import ProgressOption, notify, reports_progress
from morphlm.ranks import ALONE, as_communicator, together
from morphlm.settings import DeclaredSetting, Settings, former_name
from morphlm.tables import format_columns
from morphlm.text.preparation import PrepareOptions
from morphlm.training.checkpoint import checkpoint_path
from morphlm.training.continuing import ContinueOptions, check_settings, continued_inputs, find_old_model
from morphlm.training.inputs import HeldOut, InputOptions, TrainingInputs, prepare_inputs
from morphlm.training.job import ModelShelf, RunOptions, TrainingJob
from morphlm.training.log import describe_position, read_log
from morphlm.vocabulary.corpus import Source, as_text
from morphlm.wording import either, option

ARTEFACTS_FOLDER = "artefacts"


@dataclass(frozen=True, init=False)
class ModelOptions:
    """Settings of models by name; each kind takes those that it has."""

    settings: Mapping[str, Any]
    seed: int

    __repr__ = dataclass_repr

    def __init__(self, settings: Mapping[str, Any] | None = None, *, seed: int = 1, **more: Any) -> None:
        object.__setattr__(self, "settings", dict(settings or {}) | more)
        object.__setattr__(self, "seed", seed)

    def of(self, kind: str | ModelKind) -> Any:
        """The options of a kind, as an object of its class; settings that it has not are left out."""
        record = kind_named(kind, trainable=True) if isinstance(kind, str) else kind
        if not record.options:
            return None
        options: type[Settings] = record.load("options")  # type: ignore[assignment]
        return options.from_values(self.restricted_to(record).settings, self.seed)

    def restricted_to(self, kind: ModelKind) -> ModelOptions:
        """Only those settings that a kind has."""
        names = set(setting_names(kind))
        return ModelOptions({name: value for name, value in self.settings.items() if name in names}, seed=self.seed)


@dataclass(frozen=True)
class Trained(Tabular):
    """A model and what it reaches."""

    model: LanguageModel
    out: Path | None
    development_text: HeldOut = field(repr=False)
    test: Perplexity | None
    log: list[dict[str, Any]]  # one entry an evaluation; empty without a directory and for n-grams

    __repr__ = dataclass_repr

    @cached_property
    def development(self) -> Perplexity:
        """All figures of the development text, which is scored for them."""
        return self.development_text.perplexity(self.model)

    @property
    def development_perplexity(self) -> float:
        """With unknown words, as it was measured in training; n-grams have to score the text."""
        measured: float | None = self.model.training.get("development_perplexity")
        return self.development.including_unknown if measured is None else measured

    @property
    def best_epoch(self) -> int | None:
        """The epoch whose model was kept; none for n-grams."""
        return self.model.training.get("best_epoch")

    def row(self) -> list[str]:
        """Kind, epoch and perplexities as cells of a table; parts of an epoch as a fraction."""
        figures = [self.development_perplexity, *([] if self.test is None else [self.test.including_unknown])]
        epoch, record = "-" if self.best_epoch is None else str(self.best_epoch), self.model.training
        if record.get("best_minibatch"):
            epoch = f"{record['best_epoch'] + record['best_minibatch'] * record['batch'] / record['tokens']:.2f}"
        return [self.model.kind, epoch, *(f"{figure:.2f}" for figure in figures)]

    def format(self) -> str:
        after = ""
        if self.best_epoch is not None:
            after = f", after {describe_position(self.best_epoch, self.model.training.get('best_minibatch', 0))}"
        lines = [f"{self.model.kind}", f"  development  {self.development_perplexity:.2f}{after}"]
        if self.test is not None:
            lines.append(
                f"  test         {self.test.including_unknown:.2f} including unknown words, "
                f"{self.test.excluding_unknown:.2f} excluding"
            )
        lines.append(f"  signature    {self.model.signature}")
        return "\n".join(lines + ([] if self.out is None else [f"  written to   {self.out}"]))

    def frame_rows(self) -> list[Row]:
        return [_trained_row(self)]

    def to_json(self) -> dict[str, Any]:
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
class Comparison(Tabular):
    """Several models of the same text."""

    models: tuple[Trained, ...]
    failures: Mapping[str, str] = field(default_factory=dict)  # kind -> why its training could not go on

    __repr__ = dataclass_repr

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

    def frame_rows(self) -> list[Row]:
        return [
            *map(_trained_row, self.models),
            *({"kind": kind, "failed": why} for kind, why in self.failures.items()),
        ]

    def to_json(self) -> list[dict[str, Any]]:
        """All figures of each model; of those that failed, why."""
        failures = [{"kind": kind, "failed": why} for kind, why in self.failures.items()]
        return [trained.to_json() for trained in self.models] + failures


def _trained_row(trained: Trained) -> Row:
    """The figures of a model as a line of a table."""
    tested = {} if trained.test is None else {"test_perplexity": trained.test.including_unknown}
    return {
        "kind": trained.model.kind,
        "best_epoch": trained.best_epoch,
        "development_perplexity": trained.development_perplexity,
        **tested,
        "words": len(trained.model.vocabulary),
        "out": None if trained.out is None else str(trained.out),
    }


# ---------------------------------------------------------------- the calls


@reports_progress
def train(
    kind: str,
    source: Source,
    dev: Source,
    out: str | Path | None = None,
    *,
    seed: int = 1,
    threads: int | None = None,
    resume: bool = False,
    artefacts: str | Path | None = None,
    language: str | None = None,
    progress: ProgressOption = None,
    comm: Any = None,
    continue_from: LanguageModel | str | Path | None = None,
    old_text: Source | None = None,
    old_share: float | None = None,
    stay: bool | None = None,
    **settings: Any,
) -> LanguageModel:
    """Train a model of any kind (`mkn`, `lbl`, ..., `clbl++`); gives the best by the development text.

    Texts are a file, several paths, raw lines (strings, which are prepared by the rules of the `language`), or lists of
    tokens. `settings` are the options of `morphlm train KIND`
    under their names in Python: `vocabulary`, `kappa`, `factors`, `classes`, ... of what the model is made of, `order`,
    `width`, `epochs`, `step`, ... of the model and its training. Vocabulary, factors and classes are made from the
    training text unless they are given, and kept in the folder `artefacts` (beside `out` by default; without `out`
    nothing is kept) for the next model. With `out`, the model directory is written there, `resume` goes on with a
    training that was interrupted, and `restart=True` begins it anew. Results do not depend on the number of threads.

    `continue_from` is a trained log-bilinear model of the same kind, or its directory, whose training goes on with this
    text. It keeps its words, morphemes and classes, and gets the words of the text that are new. So that it does not
    forget its own text, give that as `old_text`: every epoch then has a part of it, `old_share` (0.2) of its tokens.
    Without it, weights decay towards those of the old model instead of 0; `stay` is True or False where you want the
    one or the other.

    `progress` says how progress is shown: None as bars on terminals and in notebooks, True as bars in any case, False
    not at all; a function is called with a `morphlm.ProgressUpdate` again and again.

    `comm` is a communicator of mpi4py whose ranks share the work: all of them make the same call, rank 0 reads and
    writes, and all get the model. Results do not depend on the number of ranks.
    """
    artefacts = settings.pop("stages", artefacts)  # its name in 0.1

    def train_first() -> LanguageModel:
        is_like_old = continue_from is not None and language is None  # prepared as the text of the old model was
        text = source if is_like_old else as_text(source, PrepareOptions(language=language))
        inputs, options, run = sort_settings(settings, seed, RunOptions(resume=resume, threads=threads))
        continuing = ContinueOptions(continue_from, old_text, old_share, stay)
        return train_one(kind, text, dev, out, inputs, options, run, artefacts=artefacts, continuing=continuing).model

    return together(as_communicator(comm), train_first)


def sort_settings(
    settings: Mapping[str, Any], seed: int, run: RunOptions
) -> tuple[InputOptions, ModelOptions, RunOptions]:
    """Settings by name: those of vocabulary, factors and classes, those of the model, and those of the run."""
    inputs = {name: value for name, value in settings.items() if name in InputOptions.declared()}
    of_run = {name: value for name, value in settings.items() if name in RunOptions.declared()}
    others = {name: value for name, value in settings.items() if name not in inputs and name not in of_run}
    return (
        InputOptions(seed=seed, threads=run.threads, **inputs),
        ModelOptions(others, seed=seed),
        replace(run, **of_run),
    )


def train_one(
    kind: str,
    source: Source,
    dev: Source,
    out: str | Path | None,
    input_options: InputOptions,
    options: ModelOptions,
    run: RunOptions,
    *,
    artefacts: str | Path | None = None,
    test: Source | None = None,
    continuing: ContinueOptions | None = None,
) -> Trained:
    """`train` with the options in three parts, and those of a model that is continued; also tests the model."""
    directory = None if out is None else Path(out)
    check_options([kind], options)
    artefacts = artefact_folder(directory, artefacts)
    if continuing is not None and continuing.continue_from is not None:
        old = find_old_model(kind, continuing.continue_from)
        check_settings(old, input_options, options.settings, directory)
        inputs = continued_inputs(old, source, dev, input_options, continuing, test=test)
    else:
        inputs = inputs_of([kind], source, dev, input_options, artefacts, test)
    return fit(kind, inputs, options, run, directory)


def train_all(
    source: Source,
    dev: Source,
    out: str | Path,
    input_options: InputOptions | None = None,
    options: ModelOptions | None = None,
    run: RunOptions | None = None,
    *,
    kinds: Sequence[str] | None = None,
    artefacts: str | Path | None = None,
    test: Source | None = None,
) -> Comparison:
    """Train all kinds into `out`/KIND, with the same vocabulary, factors and classes.

    Those that stand there complete, from the same data with the same settings, are not trained again unless `run` says
    so. If the training of one diverges, the others go on. With several ranks, each trains one after the other of the
    kinds by itself; all need to see `out` and the texts.
    """
    kinds = kind_names(alone=True) if kinds is None else kinds
    options, run = options or ModelOptions(), run or RunOptions()
    check_options(kinds, options)
    directories = [Path(out) / kind for kind in kinds]
    folder = Path(out) / ARTEFACTS_FOLDER if artefacts is None else artefacts
    for directory in directories:
        artefact_folder(directory, folder)
    inputs = inputs_of(kinds, source, dev, input_options or InputOptions(), folder, test)
    run = replace(run, keep_complete=not run.restart)
    train_kinds = _trained_apart if run.comm.size > 1 else _trained_in_turn
    request = _AllKinds(source, dev, test, input_options or InputOptions(), options, run, folder)
    trained, failures = [], {}
    with closing(train_kinds(request, inputs, zip(kinds, directories, strict=True))) as results:
        for kind in kinds:
            notify(f"{kind}:")
            try:
                trained.append(next(results)())
            except TrainingError as error:
                notify(str(error))
                failures[kind] = str(error)
    return Comparison(tuple(trained), failures)


@dataclass(frozen=True)
class _AllKinds:
    """What all of several trainings have in common."""

    source: Source
    dev: Source
    test: Source | None
    inputs: InputOptions
    options: ModelOptions
    run: RunOptions
    folder: str | Path


Results = Generator[Callable[[], Trained], None, None]  # to be called for the result, or its error


def _trained_in_turn(request: _AllKinds, inputs: TrainingInputs, kinds: Iterable[tuple[str, Path]]) -> Results:
    for kind, out in kinds:
        yield partial(fit, kind, inputs, request.options, request.run, out)


def _trained_apart(request: _AllKinds, inputs: TrainingInputs, kinds: Iterable[tuple[str, Path]]) -> Results:
    """Each by one of the ranks, which find the inputs in the folder where they are now."""
    comm = request.run.comm
    apart = replace(request, run=replace(request.run, comm=ALONE, threads=comm.threads_of(request.run.threads)))
    with closing(comm.farm_out("morphlm.training.pipeline:_train_apart", kinds, apart)) as outcomes:
        for outcome in outcomes:
            yield outcome.result


def _train_apart(request: _AllKinds, item: tuple[str, Path]) -> Trained:
    kind, out = item
    options = request.options.restricted_to(kind_named(kind))
    texts = request.source, request.dev
    return train_one(
        kind, *texts, out, request.inputs, options, request.run, artefacts=request.folder, test=request.test
    )


def artefact_folder(out: Path | None, artefacts: str | Path | None) -> str | Path | None:
    """Where vocabulary, segmenter and classes are kept: the folder that is named, or else one beside the model.

    A directory that cannot be written, or that the artefacts would lie in, is refused before any work is done.
    """
    if out is None:
        return artefacts
    folder = out.resolve().parent / ARTEFACTS_FOLDER if artefacts is None else artefacts
    check_can_hold_model(out)
    check_can_make(out)
    for taken in (out, checkpoint_path(out)):
        if Path(folder).resolve().is_relative_to(taken.resolve()):
            raise ConfigError(
                f"{out}: vocabulary, segmenter and classes are kept in {folder}, which cannot be part of the model; "
                f"choose another {option('--out')} or {option('--artefacts')}"
            )
    return folder


def declared_settings(kind: ModelKind) -> dict[str, DeclaredSetting]:
    """The settings that mean something to a kind, by name."""
    declared: dict[str, DeclaredSetting] = kind.load("options").declared() if kind.options else {}  # type: ignore[attr-defined]
    return {name: entry for name, entry in declared.items() if name not in kind.unused_options}


def setting_names(kind: ModelKind) -> list[str]:
    """The settings of a kind, under their names of today and before."""
    declared = declared_settings(kind)
    return [*declared, *(former_name(entry) for entry in declared.values() if entry.setting.former)]


def check_options(kinds: Sequence[str], options: ModelOptions) -> None:
    """Refuse, before any work is done, settings out of range and those that none of the kinds has."""
    records = [kind_named(kind, trainable=True) for kind in kinds]
    for record in records:
        options.of(record)
    used = {name for record in records for name in setting_names(record)}
    others = [kind_named(kind) for kind in kind_names()]
    for name in options.settings:
        if name not in used:
            users = [record.name for record in others if name in setting_names(record)]
            if not users:
                raise ConfigError(f"there is no setting {name}; {_where_listed(kinds[0])}")
            raise ConfigError(f"{name} means nothing to {', '.join(kinds)}; leave it out, it is for {', '.join(users)}")


def _where_listed(kind: str) -> str:
    """Where somebody finds the settings of a kind."""
    names = ", ".join(declared_settings(kind_named(kind)))
    return either(f"see `morphlm train {kind} --help`", f"{kind} has {names}")


def inputs_of(
    kinds: Sequence[str],
    source: Source,
    dev: Source,
    options: InputOptions,
    artefacts: str | Path | None,
    test: Source | None = None,
) -> TrainingInputs:
    """What all of these kinds need, prepared once."""
    records = [kind_named(kind) for kind in kinds]
    COMPILATIONS.begin_early()
    return prepare_inputs(
        source,
        dev,
        options,
        artefacts,
        test=test,
        factors=any(record.needs_factors for record in records),
        classes=any(record.needs_classes for record in records),
    )


# ---------------------------------------------------------------- one model from its inputs


def fit(
    kind: str,
    inputs: TrainingInputs,
    options: ModelOptions,
    run: RunOptions | None = None,
    out: Path | None = None,
) -> Trained:
    """Train a model on inputs that are ready."""
    record = kind_named(kind, trainable=True)
    job = TrainingJob(record, inputs, options.of(record), run or RunOptions(), out, options.seed)
    train_kind = record.load("train")
    model: LanguageModel
    if out is None or record.writes_checkpoints:
        model = train_kind(job)
    else:
        model = find_or_make(record.producer, job.identity, ModelShelf(job, out), lambda: train_kind(job)).result
    test = None if inputs.test is None else inputs.test.perplexity(model)
    return Trained(model, out, inputs.dev, test, read_log(out))
