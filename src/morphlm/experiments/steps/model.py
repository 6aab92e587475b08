"""Training: a model of any kind in its directory, complete or resumed from a checkpoint."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from morphlm.artefacts import Producer
from morphlm.costs import Cost, ModelCost, rough_cost
from morphlm.experiments.steps.base import START, Description, Measured, RunContext, Step, StepResult
from morphlm.experiments.steps.inputs import DataSetting, InputsStep
from morphlm.experiments.store import Store
from morphlm.files import sha256_of
from morphlm.kinds import kind_named
from morphlm.language_model.base import LanguageModel
from morphlm.scoring.loading import load
from morphlm.training.checkpoint import checkpoint_path
from morphlm.training.inputs import TrainingInputs
from morphlm.training.job import RunOptions
from morphlm.training.pipeline import ModelOptions, Trained, declared_settings, fit

MANIFEST = "manifest.json"
CHECKING = 3.0  # seconds, of a model that is complete
KEPT = ("kind", "order", "vocabulary", "best_epoch", "development_perplexity", "signature")  # of what training reports


@dataclass(frozen=True, eq=False)
class ModelStep(Step[dict[str, Any]]):
    """A trained model."""

    prepared: InputsStep  # vocabulary, factors and classes of all models that share them
    kind: str
    options: ModelOptions

    producer = Producer(
        "model", 1, ("morphlm.experiments.steps.model",)
    )  # the kinds of models have revisions of their own

    @classmethod
    def of(cls, prepared: InputsStep, kind: str, options: ModelOptions) -> ModelStep:
        """With the options that decide a model of this kind."""
        return cls(prepared, kind, replace(options.restricted_to(kind_named(kind)), seed=prepared.data.seed))

    @property
    def data(self) -> DataSetting:
        return self.prepared.data

    def describe(self) -> Description:
        revisions = {"revision": kind_named(self.kind).revision, "inputs_revision": InputsStep.producer.revision}
        chosen = asdict(self.options.of(self.kind))
        return Description(
            f"{self.data.name}, {self.kind}" + (" wide" if self.options.settings.get("wide_context") else ""),
            {"kind": self.kind, **revisions, "options": chosen, **self.data.settings},
            inputs=self.data.steps,
            run_after=(self.prepared,),
        )

    @property
    def group(self) -> str:
        return f"{self.producer.name} {kind_named(self.kind).family or self.kind}"

    def location(self, store: Store) -> Path:
        label = f"{self.data.texts.folder_name}{self.data.label}{_unusual(self._unlike_defaults)}"
        return store.folder / "models" / label / self.kind

    @property
    def _unlike_defaults(self) -> ModelOptions:
        declared = declared_settings(kind_named(self.kind))
        settings = self.options.settings
        return ModelOptions({name: settings[name] for name in settings if settings[name] != declared[name].default})

    def manifest(self, store: Store) -> Path:
        """The file that changes whenever the model does; results of evaluations name it."""
        return self.location(store) / MANIFEST

    def load(self, store: Store) -> LanguageModel:
        return load(self.location(store))

    def model_cost(self, measured: Measured) -> ModelCost:
        """Of training it from the beginning, and of scoring a text with it."""
        kind, size = kind_named(self.kind), self.prepared.training_size(measured)
        cost: ModelCost = (kind.load("cost") if kind.cost else rough_cost)(self.kind, size, self.options.of(kind))
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
        earlier = sha256_of(manifest) if self._is_complete(store) else ""
        trained = self._train(self.prepared.load(context), out, context)
        if earlier and earlier != sha256_of(manifest):
            context.warn(f"{out}: the model there was of other data or settings; it has been trained again")
        content = {name: value for name, value in trained.to_json().items() if name in KEPT}
        content |= {"place": store.relative(out)}
        return StepResult(content, [manifest, *self.data.files(store)], fresh=not was_begun)

    def _train(self, inputs: TrainingInputs, out: Path, context: RunContext) -> Trained:
        out.parent.mkdir(parents=True, exist_ok=True)
        run = RunOptions(keep_complete=True, resume_or_restart=True, warn=context.warn)
        return fit(self.kind, inputs, self.options, run, out)


def _unusual(options: ModelOptions) -> str:
    """What differs from the defaults, for paths: `-n3-d200-epochs3-wide`."""
    marks = {"order": "n", "width": "d", "recipe": ""}
    switches = {"diagonal": "full", "wide_context": "wide"}
    values = sorted((name, value) for name, value in options.settings.items() if name not in switches)
    parts = [f"{marks.get(name, name)}{value}" for name, value in values]
    parts += [mark for name, mark in switches.items() if name in options.settings]
    return "".join(f"-{part}" for part in parts)
