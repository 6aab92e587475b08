"""Trains and scores small models of every variant, as a process of its own; the test compares what processes write.

Arguments: the folder with the texts, the folder for the results, the number of threads, and the way: `forwards` or
`backwards`, the order of the models; `and-interrupt`, which afterwards also leaves half a training of each in the
folder `interrupted` beside the results; `resume`, which goes on with such trainings.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import morphlm
from morphlm.language_model.base import LanguageModel
from morphlm.logbilinear.config import VARIANTS
from morphlm.training.loop import TrainingRun

SHAPES: dict[str, dict[str, Any]] = {
    "diagonal": {},
    "full": {"diagonal": False},
    "wide": {"wide_context": True},
    "wide-full": {"wide_context": True, "diagonal": False},
}
SETTINGS: dict[str, dict[str, Any]] = {
    "mean": {"mean_gradients": True},
    "l2": {"l2_in_gradient": True},
    "dropout": {"context_dropout": 0.2, "prediction_dropout": 0.2, "evaluate_every": 3},
}
INTERRUPTED_AFTER = 3  # minibatches


def variants() -> dict[str, tuple[str, dict[str, Any]]]:
    """Kind and settings by name: all kinds in all shapes, some with other settings of the training."""
    chosen = {f"{kind}.{name}": (kind, shape) for kind in VARIANTS for name, shape in SHAPES.items()}
    others = SETTINGS | {"surfaces": {"surface_dropout": 0.3}}
    chosen |= {f"{kind}.{name}": (kind, more) for kind in ("lbl++", "clbl++") for name, more in others.items()}
    return chosen | {"lbl++.token": ("lbl++", {"noise": "token"})}


def train_variant(folder: Path, path: Path, threads: int, kind: str, settings: dict[str, Any], **run: Any) -> None:
    own: dict[str, Any] = {"classes": 5} if kind.startswith("c") else {"samples": 50}
    common: dict[str, Any] = {"width": 40, "order": 3, "epochs": 2, "batch": 500, "kappa": 0.2, "threads": threads}
    morphlm.train(kind, folder / "train.txt", folder / "dev.txt", path, **common, **own, **settings, **run)


def interrupt_trainings() -> None:
    """From now on, trainings stop with a checkpoint."""
    minibatch: Any = TrainingRun._minibatch

    def interrupted(run: TrainingRun, *arguments: Any) -> Any:
        run._interrupted = run.progress.batch + 1 == INTERRUPTED_AFTER
        return minibatch(run, *arguments)

    setattr(TrainingRun, "_minibatch", interrupted)  # noqa: B010  # the type of a method cannot be assigned


def scores(model: LanguageModel, lines: list[list[str]]) -> dict[str, Any]:
    """A text, single queries, many at once, whole distributions; to the last bit."""
    states, words = [model.begin()], [word for line in lines[:5] for word in line]
    single = []
    for word in words:
        logprob, state = model.score(states[-1], word)
        single.append(logprob)
        states.append(state)
    ids = [model.vocabulary.id_of(word) for word in words]
    return {
        "text": model.perplexity(lines).logprob.hex(),
        "single": [logprob.hex() for logprob in single],
        "many": [float(logprob).hex() for logprob in model.score_many(states[:-1], ids)[0]],
        "distribution": [float(p).hex() for p in model.distribution(states[-1])],
    }


def train_all(folder: Path, out: Path, threads: int, *, backwards: bool = False, **run: Any) -> None:
    chosen = list(variants().items())
    for name, (kind, settings) in reversed(chosen) if backwards else chosen:
        with suppress(KeyboardInterrupt):  # by `interrupt_trainings`
            train_variant(folder, out / name, threads, kind, settings, **run)


def train_others_and_score(folder: Path, out: Path) -> None:
    """Models of other kinds, and what all models say of the development text."""
    morphlm.train("mkn", folder / "train.txt", folder / "dev.txt", out / "mkn", order=3, kappa=0.2)
    morphlm.mix([out / "mkn", out / "clbl++.diagonal"], folder / "dev.txt", out / "mixture")
    lines = [line.split() for line in (folder / "dev.txt").read_text().splitlines()]
    scored = ["mkn", "mixture", *(f"{kind}.{name}" for kind in VARIANTS for name in SHAPES)]
    results = {name: scores(morphlm.load(out / name), lines) for name in scored}
    (out / "scores.json").write_text(json.dumps(results, indent=1))


def main(folder: Path, out: Path, threads: int, way: str) -> None:
    if way == "resume":
        train_all(folder, out, threads, resume=True)
        return
    train_all(folder, out, threads, backwards=way == "backwards")
    train_others_and_score(folder, out)
    if way == "and-interrupt":
        interrupt_trainings()
        train_all(folder, out.with_name("interrupted"), threads)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
