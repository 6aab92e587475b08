"""Training: a model of any kind in its directory, complete or resumed from a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from morphlm.artefacts import Producer
from morphlm.costs import Cost, ModelCost, rough_cost
from morphlm.experiments.steps.base import START, Description, Measured, RunContext, Step, StepResult
from morphlm.experiments.steps.inputs import DataSetting, InputsStep
from morphlm.experiments.store import Store
from morphlm.kinds import ModelKind, kind_named
from morphlm.language_model.base import LanguageModel
from morphlm.scoring.loading import load
from morphlm.training.checkpoint import checkpoint_path, remove_foreign_checkpoint
from morphlm.training.inputs import TrainingInputs
from morphlm.training.pipeline import ModelOptions, RunOptions, Trained, fit, task_of

MANIFEST = "manifest.json"
CHECKING = 3.0  # seconds, of a model that is complete
KEPT = ("kind", "order", "vocabulary", "best_epoch", "development_perplexity", "signature")  # of what training reports


@dataclass(frozen=True, eq=False)
class ModelStep(Step[dict[str, Any]]):
    """A trained model."""

    prepared: InputsStep  # vocabulary, factors and classes of all models that share them
    kind: str
    options: ModelOptions

    producer = Producer("model", 1)  # the kinds of models have revisions of their own

    @classmethod
    def of(cls, prepared: InputsStep, kind: str, options: ModelOptions) -> ModelStep:
        """With the options that decide a model of this kind."""
        return cls(prepared, kind, replace(_relevant(options, kind_named(kind)), seed=prepared.data.seed))

    @property
    def data(self) -> DataSetting:
        return self.prepared.data

    def describe(self) -> Description:
        revisions = {"revision": kind_named(self.kind).revision, "inputs_revision": InputsStep.producer.revision}
        chosen = {name: value for name, value in vars(self.options).items() if name not in ("seed", "settings")}
        return Description(
            f"{self.data.name}, {self.kind}" + (" wide" if self.options.wide_context else ""),
            {"kind": self.kind, **revisions, **self.data.settings, **chosen, **self.options.settings},
            inputs=self.data.steps,
            run_after=(self.prepared,),
        )

    @property
    def group(self) -> str:
        return f"{self.producer.name} {kind_named(self.kind).family or self.kind}"

    def location(self, store: Store) -> Path:
        label = f"{self.data.texts.folder_name}{self.data.label}{_unusual(self.options)}"
        return store.folder / "models" / label / self.kind

    def manifest(self, store: Store) -> Path:
        """The file that changes whenever the model does; results of evaluations name it."""
        return self.location(store) / MANIFEST

    def load(self, store: Store) -> LanguageModel:
        return load(self.location(store))

    def model_cost(self, measured: Measured) -> ModelCost:
        """Of training it from the beginning, and of scoring a text with it."""
        kind, size = kind_named(self.kind), self.prepared.training_size(measured)
        training = self.options.training
        settings = {
            "width": self.options.width,
            "wide_context": self.options.wide_context,
            "epochs": training.epochs,
            "batch": training.batch_for(int(size.tokens)),
        }
        cost: ModelCost = (kind.load("cost") if kind.cost else rough_cost)(self.kind, size, settings)
        return cost

    def estimate(self, store: Store, measured: Measured) -> Cost:
        cost = self.model_cost(measured)
        if self._is_complete(store):  # it is checked, and probably taken as it is
            return Cost(START + CHECKING + cost.scoring)
        return replace(cost.training, seconds=START + cost.training.seconds)

    def _is_complete(self, store: Store) -> bool:
        return self.manifest(store).exists() and not checkpoint_path(self.location(store)).exists()

    def run(self, context: RunContext) -> StepResult:
        store, out, manifest = context.store, self.location(context.store), self.manifest(context.store)
        was_begun = manifest.exists() or checkpoint_path(out).exists()
        earlier = manifest.read_bytes() if self._is_complete(store) else b""
        trained = self._train(self.prepared.load(context), out, context)
        if earlier and earlier != manifest.read_bytes():
            context.warn(f"{out}: the model there was of other data or settings; it has been trained again")
        content = {name: value for name, value in trained.to_json().items() if name in KEPT}
        content |= {"place": store.relative(out)}
        return StepResult(content, [manifest, *self.data.files(store)], fresh=not was_begun)

    def _train(self, inputs: TrainingInputs, out: Path, context: RunContext) -> Trained:
        if checkpoint_path(out).exists():
            identity = task_of(self.kind, inputs, self.options).identity
            remove_foreign_checkpoint(out, identity, context.warn)
        out.parent.mkdir(parents=True, exist_ok=True)
        resume = RunOptions(resume=checkpoint_path(out).exists())
        return fit(self.kind, inputs, self.options, resume, out, keep_complete=True)


def _relevant(options: ModelOptions, kind: ModelKind) -> ModelOptions:
    """Of models without vectors the order decides, and nothing else that is chosen."""
    return options if kind.has_vectors else ModelOptions(options.order)


def _unusual(options: ModelOptions) -> str:
    """What differs from the defaults, for paths: `-epochs3-wide`."""
    defaults, marks = ModelOptions(), {"order": "n", "width": "d", "recipe": ""}
    parts = [
        f"{mark}{getattr(options, name)}"
        for name, mark in marks.items()
        if getattr(options, name) != getattr(defaults, name)
    ]
    parts += [] if options.diagonal else ["full"]
    parts += [f"{name}{value}" for name, value in sorted(options.settings.items())]
    parts += ["wide"] if options.wide_context else []
    return "".join(f"-{part}" for part in parts)
