"""A small text with morphology and a training on it, for tests that train, interrupt, save and load."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.classes.frequency import frequency_bins
from morphlm.logbilinear.config import LearningConfig, variant
from morphlm.logbilinear.structure import build_structure
from morphlm.segmentation.factors import build_factors
from morphlm.segmentation.sources.factorisation import from_mapping
from morphlm.text.reading import RESERVED
from morphlm.training.config import TrainingConfig
from morphlm.training.log import LOG_FILE
from morphlm.training.loop import TrainingTask
from morphlm.vocabulary.corpus import encode_text, read_corpus
from morphlm.vocabulary.vocabulary import Vocabulary

STEMS, ENDINGS = ("škol", "dom", "řek", "ulic", "pol", "měst"), ("a", "u", "ou", "y", "em")
LEARNING = LearningConfig(step=0.1, decay=1.0, accumulator=1e-2, samples=5, noise_block=16)
TRAINING = TrainingConfig(LEARNING, batch=100, epochs=2, seed=3)


def sentences(count: int, seed: int, *, rare: bool = False) -> list[list[str]]:
    """Endings tend to be repeated within a sentence, so that there is something to learn."""
    rng = np.random.default_rng(seed)
    result = []
    for number in range(count):
        ending = ENDINGS[rng.integers(len(ENDINGS))]
        words = [STEMS[rng.integers(len(STEMS))] + ending for _ in range(int(rng.integers(1, 8)))]
        result.append([*words, f"vzácn{number}"] if rare and number % 7 == 0 else words)
    return result


def task(
    kind: str = "clbl++",
    *,
    text: list[list[str]] | None = None,
    dev: list[list[str]] | None = None,
    diagonal: bool = True,
    order: int = 3,
    width: int = 8,
    classes: int = 4,
    training: TrainingConfig = TRAINING,
    kappa: float = 0.5,
    **changes: Any,
) -> TrainingTask:
    """`changes` are settings of the training or of its steps."""
    raw = read_corpus(sentences(60, 1, rare=True) if text is None else text)
    vocabulary = raw.words.vocabulary(kappa, 1)
    config = variant(kind, order=order, width=width, diagonal=diagonal)
    structure = build_structure(
        config, vocabulary, frequency_bins(vocabulary, min(classes, len(vocabulary) - 1)), factors_of(vocabulary)
    )
    steps = {name: changes.pop(name) for name in list(changes) if hasattr(LEARNING, name)}
    training = replace(training, learning=replace(training.learning, **steps), **changes)
    held_out = encode_text(sentences(12, 2, rare=True) if dev is None else dev, vocabulary)
    return TrainingTask(config, structure, training, raw.encode(vocabulary), held_out, {"kappa": kappa})


def factors_of(vocabulary: Vocabulary) -> Any:
    mapping = {}
    for word in vocabulary.words[len(RESERVED) :]:
        stem = next((stem for stem in STEMS if word.startswith(stem)), "")
        if stem and len(stem) < len(word):
            mapping[word] = [stem, "-" + word[len(stem) :]]
    return build_factors(vocabulary, from_mapping(mapping, "test"))


def contents(directory: Path) -> dict[str, bytes]:
    """Every file of a model but the log, which holds times."""
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.name != LOG_FILE}
