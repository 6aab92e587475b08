"""The first step: train, dev and test text of a language, prepared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.artefacts import Producer
from morphlm.costs import Cost, TrainingSize
from morphlm.experiments.recipe import format_amount
from morphlm.experiments.steps.base import START, Description, Measured, RunContext, Step, StepResult
from morphlm.experiments.store import Store
from morphlm.experiments.text_source import TextSource, expected_tokens

PREPARING = 4e-6  # seconds a token, on all cores
BYTES_A_TOKEN = 7
OVERHEAD = 2.0  # seconds


@dataclass(frozen=True, eq=False)
class TextsStep(Step[dict[str, Any]]):
    """The texts of a language, cut to a number of tokens."""

    source: TextSource
    language: str
    tokens: int | None  # of the training text; None: all there is

    producer = Producer("texts", 1, ("morphlm.experiments.corpora", "morphlm.experiments.text_source", "morphlm.text"))

    def __post_init__(self) -> None:
        _ = self.description  # an InputError names a file that is missing

    @property
    def title(self) -> str:
        """`cs 1m`, `en all of cs-en`."""
        return " ".join([self.language, format_amount(self.tokens), *self.text.split()[1:]])

    @property
    def text(self) -> str:
        """The language, and which text of it where that is not the usual one: `en`, `en of cs-en`."""
        return self.source.name_of(self.language, self.tokens)

    def describe(self) -> Description:
        # Not the version of the tokeniser: with it all models would move to other folders. Texts that exist stay as
        # they are, with their models; where they are made anew and come out differently, all that depends on them is
        # made again too, since its records have their hashes.
        settings = {"language": self.language, "tokens": self.tokens, **self.source.settings()}
        files = self.source.files(self.language, self.tokens)
        return Description(f"{self.title} texts", settings, files=files)

    @property
    def folder_name(self) -> str:
        """The part of paths that all made of these texts begin with: `cs-1m-1a2b3c4d`."""
        return f"{self.language}-{format_amount(self.tokens)}-{self.short_key}"

    def folder(self, store: Store) -> Path:
        return store.folder / "texts" / self.folder_name

    def path(self, store: Store, part: str) -> Path:
        return self.folder(store) / f"{part}.{self.language}.txt"

    def training_tokens(self, measured: Measured) -> float:
        """Of the training text, as it is or as is expected."""
        if self.key in measured:
            return float(measured[self.key]["counts"]["train"]["tokens"])
        return float(expected_tokens(self.source, self.language, self.tokens))

    def estimate(self, store: Store, measured: Measured) -> Cost:
        tokens = self.training_tokens(measured) + 2 * TrainingSize.held_out_tokens
        return Cost(START + OVERHEAD + tokens * PREPARING, tokens * BYTES_A_TOKEN)

    def run(self, context: RunContext) -> StepResult:
        out = self.folder(context.store)
        downloads, existed = context.store.data(self.source.dataset or "", self.language), out.exists()
        texts = self.source.prepare(self.language, self.tokens, out, downloads)
        available = texts.counts["train"].tokens
        if self.tokens is not None and available < self.tokens:
            context.warn(f"there are only {available:,} of {self.tokens:,} tokens of text in {self.text}")
        counts = {part: vars(part_counts) for part, part_counts in texts.counts.items()}
        return StepResult({"counts": counts}, [texts.train, texts.dev, texts.test], fresh=not existed)
