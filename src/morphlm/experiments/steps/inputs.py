"""What models of one text share: its vocabulary and, as far as they need them, morphemes and word classes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.artefacts import Producer
from morphlm.costs import READING, Cost, TrainingSize
from morphlm.experiments.recipe import format_amount
from morphlm.experiments.steps.base import START, Description, Measured, RunContext, Step, StepResult
from morphlm.experiments.steps.texts import TextsStep
from morphlm.experiments.store import Store
from morphlm.training.inputs import InputOptions, TrainingInputs, prepare_inputs
from morphlm.vocabulary.corpus import count_words
from morphlm.vocabulary.vocabulary import Vocabulary

SEGMENTING = 0.35e-3  # seconds a word of the vocabulary
CLUSTERING = 6e-6  # seconds a token
BYTES_A_WORD = 60
WORDS = {"cs": 102_000, "de": 61_000, "en": 32_000, "es": 33_000, "fr": 32_000, "ru": 92_000}  # of 1m tokens, kappa 0.2
OTHER_LANGUAGE = 60_000
GROWTH = 0.6  # the vocabulary grows with this power of the text
SINGLETONS = 0.5  # share of the words that occur once


@dataclass(frozen=True)
class DataSetting:
    """One training text with its vocabulary: what models share that are compared with each other."""

    texts: TextsStep
    kappa: float
    seed: int
    vocabulary: TextsStep | None = None  # the texts whose vocabulary is taken; None: that of the texts themselves

    @property
    def steps(self) -> tuple[TextsStep, ...]:
        """The texts that decide it."""
        return (self.texts,) if self.vocabulary is None else (self.texts, self.vocabulary)

    @property
    def settings(self) -> dict[str, Any]:
        """What decides it besides the texts."""
        return {"kappa": self.kappa, "seed": self.seed}

    @property
    def label(self) -> str:
        """The part of a model's path that follows the texts: `-words1m-k0.2-s1`."""
        fixed = "" if self.vocabulary is None else f"-words{format_amount(self.vocabulary.tokens)}"
        return f"{fixed}-k{self.kappa:g}-s{self.seed}"

    @property
    def name(self) -> str:
        """`cs 4m words of 1m kappa 0.2 seed 2`."""
        fixed = "" if self.vocabulary is None else f" words of {format_amount(self.vocabulary.tokens)}"
        seed = "" if self.seed == 1 else f" seed {self.seed}"
        return f"{self.texts.title}{fixed} kappa {self.kappa:g}{seed}"

    def files(self, store: Store) -> list[Path]:
        """The texts that models learn from: when they change, what was made of them no longer counts."""
        dev = self.texts.path(store, "dev")
        return [*(texts.path(store, "train") for texts in self.steps), dev]

    def read_vocabulary(self, store: Store) -> Vocabulary | None:
        """The vocabulary of other texts; None: that of the texts themselves."""
        if self.vocabulary is None:
            return None
        return count_words(self.vocabulary.path(store, "train")).vocabulary(self.kappa, self.seed)

    def expected_words(self, measured: Measured) -> float:
        """Of the vocabulary, by language, tokens and kappa."""
        tokens = (self.vocabulary or self.texts).training_tokens(measured)
        kept = (1 - SINGLETONS * self.kappa) / (1 - SINGLETONS * 0.2)
        return WORDS.get(self.texts.language, OTHER_LANGUAGE) * kept * float((tokens / 1e6) ** GROWTH)


@dataclass(frozen=True, eq=False)
class InputsStep(Step[dict[str, Any]]):
    """Vocabulary, factors and classes."""

    data: DataSetting
    factors: bool  # some of the models need them
    classes: bool

    producer = Producer(
        "inputs",
        1,
        ("morphlm.vocabulary", "morphlm.segmentation", "morphlm.classes", "morphlm.training.inputs"),
    )

    def describe(self) -> Description:
        settings = {**self.data.settings, "factors": self.factors, "classes": self.classes}
        return Description(f"{self.data.name}, morphemes and classes", settings, self.data.steps)

    def training_size(self, measured: Measured) -> TrainingSize:
        """Tokens and words, as they are or as is expected."""
        words = measured[self.key]["vocabulary"] if self.key in measured else self.data.expected_words(measured)
        return TrainingSize(self.data.texts.training_tokens(measured), float(words))

    def estimate(self, store: Store, measured: Measured) -> Cost:
        size = self.training_size(measured)
        seconds = START + size.tokens * READING
        seconds += size.words * SEGMENTING if self.factors else 0.0
        seconds += size.tokens * CLUSTERING if self.classes else 0.0
        return Cost(seconds, size.words * BYTES_A_WORD)

    def run(self, context: RunContext) -> StepResult:
        earlier = _kept_inputs(context.store)
        inputs = self.load(context)
        factors, partition = inputs.factors, inputs.partition
        made = {name.partition("-")[0] for name in _kept_inputs(context.store) - earlier}
        needed = {"segmenter": factors is not None, "classes": partition is not None}
        content = {
            "vocabulary": len(inputs.vocabulary),
            "tokens": len(inputs.train.tokens) - inputs.train.sentences,
            "factors": None if factors is None else factors.to_json(),
            "classes": None if partition is None else partition.to_json(),
        }
        fresh = all(name in made for name, is_needed in needed.items() if is_needed)
        return StepResult(content, self.data.files(context.store), fresh)

    def load(self, context: RunContext) -> TrainingInputs:
        """Texts, vocabulary, factors and classes in memory, for this step and the trainings that follow it."""
        return context.shared(self.key, lambda: self._prepare(context.store))

    def _prepare(self, store: Store) -> TrainingInputs:
        vocabulary = self.data.read_vocabulary(store)
        kappa = self.data.kappa if vocabulary is None else None
        return prepare_inputs(
            self.data.texts.path(store, "train"),
            self.data.texts.path(store, "dev"),
            InputOptions(vocabulary, kappa, seed=self.data.seed),
            store.stages,
            factors=self.factors,
            classes=self.classes,
        )


def _kept_inputs(store: Store) -> set[str]:
    return {path.name for path in store.stages.iterdir()} if store.stages.is_dir() else set()
