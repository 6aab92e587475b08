"""A translation system with one or two language models, built and tuned on news."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from morphlm.artefacts import Producer, fingerprint
from morphlm.costs import Cost
from morphlm.experiments.pairs import NewsText
from morphlm.experiments.steps.base import SHORT_KEY, START, Description, Measured, RunContext, Step, StepResult
from morphlm.experiments.steps.bitext import BitextStep, system_config
from morphlm.experiments.steps.model import ModelStep
from morphlm.experiments.store import Store
from morphlm.files import sha256_of
from morphlm.translation.system.building import NamedModel, Sources, build_system
from morphlm.translation.system.config import SOURCE, TARGET
from morphlm.translation.system.directory import MANIFEST, WEIGHTS
from morphlm.translation.system.tuning import TuningText, tune_system
from morphlm.translation.tuning.loop import TuningConfig

TUNING = TuningConfig()
EXTRACTING, DECODING = 0.05, 0.023  # seconds a sentence: its rules, and one search
ITERATIONS = 9  # of a run of tuning


@dataclass(frozen=True, eq=False)
class TuningStep(Step[dict[str, Any]]):
    """A system and its weights, from several runs of tuning."""

    bitext: BitextStep
    models: Mapping[str, ModelStep]  # by the names of their features
    news: NewsText
    sentences: int
    runs: int

    producer = Producer("tuning", 4, ("morphlm.translation", "morphlm.experiments.pairs"))

    @property
    def system(self) -> str:
        """`mkn+clbl++`."""
        return "+".join(self.models)

    @property
    def seeds(self) -> list[int]:
        return list(range(1, self.runs + 1))

    def describe(self) -> Description:
        config = system_config(self.bitext.pair)
        settings = {
            "sentences": self.sentences,
            "seeds": self.seeds,
            "tuning": asdict(TUNING),
            "grammar": asdict(config.grammar),
            "decoder": asdict(config.decoder),
        }
        name, inputs = f"{self.bitext.pair} {self.system}: tuning", (self.bitext, *self.models.values())
        return Description(name, settings, inputs, self.news.files)

    def estimate(self, store: Store, measured: Measured) -> Cost:
        searches = 1 + TUNING.probes + ITERATIONS * self.runs
        model_bytes = sum(model.model_cost(measured).training.bytes for model in self.models.values())
        seconds = START + self.sentences * (EXTRACTING + searches * DECODING)
        return Cost(seconds, self.bitext.expected_bytes + model_bytes)

    def system_path(self, store: Store) -> Path:
        """Models that were trained again make another system, so it can be asked for when they exist."""
        manifests = [sha256_of(model.manifest(store)) for model in self.models.values()]
        key = fingerprint({"step": self.key, "models": manifests})
        return self.bitext.folder(store) / f"{self.system}-{key[:SHORT_KEY]}"

    def run(self, context: RunContext) -> StepResult:
        store, config, out = context.store, system_config(self.bitext.pair), self.system_path(context.store)
        existed = out.exists()
        models = [NamedModel(name, model.location(store)) for name, model in self.models.items()]
        build_system(out, Sources(bitext=self.bitext.aligned(store), models=models), config)
        lines = self.news.sample(self.sentences)
        sides = [tuple(tuple(config.prepare(line, side)) for line in lines[side]) for side in (SOURCE, TARGET)]
        tuned = tune_system(out, TuningText(*sides), TUNING, seeds=self.seeds)
        runs = [{"seed": run.seed, "bleu": run.bleu, "iterations": len(run.iterations)} for run in tuned.runs]
        manifests = [model.manifest(store) for model in self.models.values()]
        return StepResult(
            {"place": store.relative(out), "runs": runs, "weights": tuned.best.weights},
            [out / MANIFEST, out / WEIGHTS, *manifests],
            fresh=not existed,
        )
