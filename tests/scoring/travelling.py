"""A model of every kind, and all that is asked of one in another process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.config import VARIANTS
from morphlm.ngram.training import train_ngram
from morphlm.scoring.loading import load
from morphlm.scoring.mixing import mix
from morphlm.training.loop import train_model
from tests.training.small import sentences, task

DEV = sentences(20, 2)
TEXT = [["domu", "neviděno", "škola"], [], ["polem", "polem", "řeky", "městou"]]


def _logbilinear(kind: str) -> LanguageModel:
    return train_model(task(kind, epochs=1))


def _wide() -> LanguageModel:
    plain = task("clbl++", epochs=1, init_std=0.7)
    return train_model(replace(plain, config=replace(plain.config, wide=8)))


def _ngrams() -> LanguageModel:
    return train_ngram(sentences(60, 1, rare=True), 3, vocabulary=task("clbl").structure.vocabulary)


def _arpa() -> LanguageModel:
    with TemporaryDirectory() as folder:
        model: Any = _ngrams()
        model.write_arpa(Path(folder) / "model.arpa")
        return load(Path(folder) / "model.arpa")


def _mixture() -> LanguageModel:
    return mix([_ngrams(), _logbilinear("clbl++")], DEV)


MAKERS: dict[str, Callable[[], LanguageModel]] = {
    "mkn": _ngrams,
    "arpa": _arpa,
    **{kind: partial(_logbilinear, kind) for kind in VARIANTS},
    "full": lambda: train_model(task("clbl+c", epochs=1, diagonal=False)),
    "wide": _wide,
    "after text": lambda: _wide().after_text(TEXT),
    "mixture": _mixture,
    "nested mixture": lambda: mix([_mixture(), _logbilinear("clbl")], weights=[0.25, 0.75]),
}


def fresh(name: str, directory: Path | None = None) -> LanguageModel:
    """A model that has not been asked yet: in memory alone, or loaded from a directory."""
    model = MAKERS[name]()
    if directory is None:
        return model
    model.save(directory)
    return load(directory)


def answers(model: LanguageModel) -> dict[str, Any]:
    """What a model says, to the last bit."""
    state, steps = model.begin(), []
    for word in TEXT[2]:
        logprob, state = model.score(state, word)
        steps.append(logprob.hex() if isinstance(logprob, float) else float(logprob).hex())
    tokens = np.concatenate([[*model.vocabulary.encode(sentence), 2] for sentence in TEXT]).astype(np.int32)
    return {
        "steps": steps,
        "state": state,
        "tokens": model.score_tokens(tokens).tobytes(),
        "distribution": model.distribution(state).tobytes(),
        "prefixes": [model.prefix(state, prefix).hex() for prefix in ("", "š", "do", "zz")],
        "completions": model.completions(state, "š", 3),
        "sentence": model.sentence(TEXT[0]),
        "signature": str(model.signature),
        "training": json.dumps(model.training, sort_keys=True),
    }


def total(array: Any) -> tuple[tuple[int, ...], float]:
    """What a worker sees of an array."""
    return array.shape, float(np.asarray(array, np.float64).sum())
