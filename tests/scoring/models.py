"""Small trained models of both families, made once, and files for them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from morphlm.language_model.base import LanguageModel
from morphlm.ngram.training import train_ngram
from morphlm.training.loop import train_model
from tests.training.small import sentences, task

KINDS = ("mkn", "clbl++")


@cache
def small_model(kind: str) -> LanguageModel:
    """A trigram model; its words are those of `tests.training.small`."""
    return train_ngram(sentences(60, 1), 3, kappa=0.5) if kind == "mkn" else train_model(task(kind, epochs=1))


@cache
def wide_model() -> LanguageModel:
    """One that looks back further than its order, across sentences."""
    plain = task("clbl++", epochs=1, init_std=0.7)
    return train_model(replace(plain, config=replace(plain.config, wide=8)))


def with_preparation(model: LanguageModel, normalisation: str) -> LanguageModel:
    """The same as if its training text had been prepared so."""
    model.training = {**model.training, "preparation": {"tokeniser": "none", "normalisation": normalisation}}
    return model


def text_file(folder: Path, *lines: str) -> Path:
    """A file of these lines."""
    path = folder / "text.txt"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path
