"""Models for the adapters: an n-gram model that KenLM can read too, and one of every other kind."""

from __future__ import annotations

import copy
import functools
from pathlib import Path

import morphlm
from morphlm.language_model.base import LanguageModel
from morphlm.ngram.training import train_ngram
from tests.language_model.state_models import MODELS
from tests.scoring.travelling import MAKERS
from tests.training.small import sentences

KINDS = ("mkn", "arpa", "lbl", "clbl++", "full", "wide", "after text", "mixture", "nested mixture")
KNOWN, UNSEEN = "domu", "školama"  # of models that compose
HELD_OUT = [" ".join(sentence) for sentence in sentences(40, 11)]


@functools.cache
def model_of(kind: str) -> LanguageModel:
    return MAKERS[kind]()


@functools.cache
def composing(name: str) -> LanguageModel:
    """A model that composes unknown words, such as UNSEEN, from their factors."""
    return MODELS[name]()


@functools.cache
def ngrams() -> morphlm.NgramModel:
    """A 4-gram model with <unk> in its n-grams, large enough that contexts are pruned, found and backed off from."""
    return train_ngram(sentences(300, 1, rare=True), 4, kappa=0.3)


def directory(folder: Path, kind: str | None = None) -> Path:
    """A model in a directory, of which the model that all tests share knows nothing."""
    model = ngrams() if kind is None else model_of(kind)
    copy.copy(model).save(folder / "model")
    return folder / "model"


def arpa_file(folder: Path) -> str:
    path = folder / "model.arpa"
    ngrams().write_arpa(path)
    return str(path)
