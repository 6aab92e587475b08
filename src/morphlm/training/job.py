"""One training as a kind of model is asked to do it: inputs, options, and where the model goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from morphlm.artefacts import Shelf, complete_message
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.kinds import ModelKind
from morphlm.language_model.base import LanguageModel
from morphlm.lazy import cached_property
from morphlm.modelfile import MANIFEST, read_model
from morphlm.progress import notify
from morphlm.ranks import Communicator, current
from morphlm.settings import Settings, setting
from morphlm.training.inputs import TrainingInputs
from morphlm.version import __version__
from morphlm.wording import option


@dataclass(frozen=True)
class RunOptions(Settings):
    """How a training is run; the resulting model does not depend on it."""

    resume: bool = setting(False, "Go on with a training that was interrupted.", group="Run")
    restart: bool = setting(False, "Train anew, even if the model is complete or its training half done.", group="Run")
    threads: int | None = setting(
        None,
        "Number of threads; results do not depend on it.",
        at_least=1,
        group="Run",
        default_text="all cores",
    )
    checkpoint_minutes: float = setting(10.0, "Minutes between checkpoints.", at_least=0)
    keep_complete: bool = False  # a complete model of the same data and settings is taken as it is
    say_complete: bool = False  # and it is said how to train it anew
    resume_or_restart: bool = False  # go on with a checkpoint of the same data and settings, remove any other
    warn: Callable[[str], None] = notify  # says that a checkpoint was removed
    comm: Communicator = field(default_factory=current)  # the ranks that share the work
    deadline: float | None = None  # by `time.monotonic`; the training then ends, and its model says how to repeat it

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.resume and self.restart:
            raise ConfigError(
                f"{option('--resume', True)} goes on and {option('--restart', True)} begins anew; give one of them"
            )

    def complete_message(self, out: Path) -> str:
        """That nothing is trained, where somebody asked for a training."""
        return complete_message(out) if self.say_complete else ""


@dataclass(frozen=True, eq=False)
class TrainingJob:
    """All that the training of a kind of model takes."""

    kind: ModelKind
    inputs: TrainingInputs
    options: Any  # an object of the kind's class of options; None if it has none
    run: RunOptions
    out: Path | None = None  # the directory of the model
    seed: int = 1

    __repr__ = dataclass_repr

    @property
    def record(self) -> dict[str, Any]:
        """How the model came about, for its manifest."""
        options = {} if self.options is None else asdict(self.options)
        made = {"seed": self.seed, "tokens": len(self.inputs.train.tokens), "version": __version__}
        return self.inputs.record | options | made

    @cached_property
    def identity(self) -> str:
        """A hash of the data, the settings and the revision of the kind: the key of the model."""
        inputs = self.inputs
        parts: dict[str, Any] = {
            "train": inputs.train.tokens,
            "dev": inputs.dev.corpus.tokens,
            "words": list(inputs.vocabulary.words),
            "counts": inputs.vocabulary.counts,
            "options": None if self.options is None else asdict(self.options),
            "record": _hashed_record(inputs.record),
            "seed": self.seed,
        }
        if self.kind.needs_factors and inputs.factors is not None:
            factors = inputs.factors
            parts |= {"factors": list(factors.names), "indptr": factors.indptr, "indices": factors.indices}
        if self.kind.needs_classes and inputs.partition is not None:
            parts |= {"class_of": inputs.partition.class_of}
        return self.kind.producer.key(**parts)


def _hashed_record(record: dict[str, Any]) -> dict[str, Any]:
    """What the hash has of how the inputs came about: not what follows from them, nor what 0.1 did not record."""
    preparation = record["preparation"]
    if preparation is not None:
        preparation = {name: preparation[name] for name in ("tokeniser", "normalisation")}
    hashed = {name: value for name, value in record.items() if name != "development_unknown"}
    return hashed | {"preparation": preparation}


class ModelShelf(Shelf[LanguageModel]):
    """The directory of one model, which knows the hash of what it was trained on; any other is replaced."""

    def __init__(self, job: TrainingJob, out: Path) -> None:
        self._job, self._out = job, out
        self.place, self.found_message = str(out), job.run.complete_message(out)

    def find(self, key: str) -> LanguageModel | None:
        run = self._job.run
        if not (run.keep_complete or run.resume) or not (self._out / MANIFEST).is_file():
            return None
        files = read_model(self._out)
        if files.training.get("identity") != key:
            return None
        model: LanguageModel = self._job.kind.load("read")(self._out, files)
        return model

    def keep(self, key: str, result: LanguageModel) -> None:
        result.training["identity"] = key
        result.save(self._out)
