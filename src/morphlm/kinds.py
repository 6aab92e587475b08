"""The kinds of models: one record each, that says what a kind needs and where its code is.

A record names its code as `module:attribute`, which is imported when it is asked for, so that this module stands below
all models. To add a kind, write its folder and list its record: in `BUILT_IN` for a kind of this package, as an entry
point of the group `morphlm.kinds` for one of another package, with `register` for one of a running program. What a
model directory says is only ever a name to look up here; nothing in it is imported.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from morphlm.artefacts import Producer
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, did_you_mean
from morphlm.progress import notify
from morphlm.schema import ArtefactSchema
from morphlm.signals import interrupts_deferred

# Modules with a tuple KINDS of records. They are light: what a record names is imported when it is used.
BUILT_IN = ("morphlm.logbilinear.kind", "morphlm.ngram.kind", "morphlm.cache.kind", "morphlm.scoring.mixture_kind")
# Directories with a manifest that are no language models: their kind and their schema.
OTHER_SCHEMAS = {
    "segmenter": "morphlm.segmentation.schema:SEGMENTER",
    "checkpoint": "morphlm.training.schema:CHECKPOINT",
    "bitext": "morphlm.translation.grammar.schema:BITEXT",
}
ENTRY_POINTS = "morphlm.kinds"
# What else people call a kind; not names of it, but enough to point there.
OTHER_NAMES = dict.fromkeys(("kn", "kneser-ney", "lmplz", "modified-kneser-ney", "n-gram", "ngram"), "mkn")


@dataclass(frozen=True)
class ModelKind:
    """What the package has to know of a kind of model. Fields of type `str` with a colon are `module:attribute`."""

    name: str  # "clbl++": on the command line, in manifests, in signatures
    description: str  # one sentence for `morphlm train --help`
    read: str  # (directory, ModelFiles) -> LanguageModel
    train: str = ""  # (TrainingJob) -> LanguageModel; '': it is not trained (mixtures, ARPA files)
    schema: str = ""  # schema.ArtefactSchema: what its directory may hold, checked before `read` is called
    options: str = ""  # frozen dataclass of settings, a subclass of morphlm.settings.Settings; '': there are none
    unused_options: tuple[str, ...] = ()  # settings of that dataclass which mean nothing to this kind
    revision: int = 1  # of its training: raise it when the same text and settings give another model
    modules: tuple[str, ...] = ()  # whose code decides the result of its training
    needs_factors: bool = False  # labelled morphemes, or other factors of words
    needs_classes: bool = False  # a partition of the vocabulary
    has_vectors: bool = False  # gives word vectors
    stands_alone: bool = True  # False: of use in mixtures only, so that `train --all` and recipes leave it out
    writes_checkpoints: bool = False  # `train` saves the model itself, and goes on after an interruption
    can_continue: bool = False  # its training can begin with a trained model, `train --continue-from`
    family: str = ""  # kinds whose trainings take a similar time; '': its own name
    cost: str = ""  # (name, TrainingSize, options) -> ModelCost, see costs.py; '': a rough estimate by tokens
    decoder_scorer: str = ""  # (model) -> language_model.batch_scorer.BatchScorer; '': it is asked by its states
    decoder_heuristic: str = ""  # (model) -> ngram.batch_scorer.SearchHeuristic or None; '': it has no n-grams
    command: str = ""  # a click command of its own for `morphlm train NAME`; '': one with its options is made

    __repr__ = dataclass_repr

    @property
    def producer(self) -> Producer:
        """Under whose name and revision trained models of the kind are kept."""
        return Producer(self.name, self.revision, self.modules)

    def load(self, capability: str) -> Callable[..., Any]:
        """Import what a field names."""
        reference = getattr(self, capability)
        if not reference:
            raise ConfigError(f"a model of the kind {self.name} has no {capability.replace('_', ' ')}")
        code: Callable[..., Any] = _imported(reference)
        return code


def _imported(reference: str) -> Any:
    """What `module:attribute` names."""
    module, _, attribute = reference.partition(":")
    return getattr(importlib.import_module(module), attribute)


_registered: dict[str, ModelKind] = {}


def register(kind: ModelKind) -> ModelKind:
    """Add a kind for as long as the program runs; its name must be new."""
    if any(built_in.name == kind.name for built_in in _built_in()):
        raise ConfigError(f"there is a kind {kind.name!r} already; give yours another name")
    _registered[kind.name] = kind
    return kind


def find_kind(name: str) -> ModelKind | None:
    """The record of a kind: built in, registered, or of an installed package, which is asked last."""
    for kind in (*_built_in(), *_registered.values()):
        if kind.name == name:
            return kind
    return next((kind for kind in _of_packages(name) if kind.name == name), None)


def kind_named(name: str, *, trainable: bool = False) -> ModelKind:
    """`find_kind`, but a name that does not exist, or that cannot be trained, is refused."""
    kind = find_kind(name)
    if kind is None or (trainable and not kind.train):
        raise ConfigError(f"{name!r} is no kind of model; {_advice(name)}")
    return kind


def _advice(name: str) -> str:
    """What somebody may have meant who wrote this for a kind."""
    known, plain = kind_names(), name.lower().replace("_", "-")
    if plain in known or plain in OTHER_NAMES:
        return f"do you mean {plain if plain in known else OTHER_NAMES[plain]}?"
    return did_you_mean(name, known)


def find_schema(name: str) -> ArtefactSchema | None:
    """What a directory of a kind may hold; None if there is no such kind."""
    if name in OTHER_SCHEMAS:
        reference = OTHER_SCHEMAS[name]
    else:
        kind = find_kind(name)
        if kind is None:
            return None
        reference = kind.schema
    schema = _imported(reference) if reference else None
    if not isinstance(schema, ArtefactSchema):
        raise ConfigError(f"the kind {name!r} declares no schema of its directory; correct the record of that kind")
    return schema


def kind_names(*, trainable: bool = True, packages: bool = True, alone: bool = False) -> list[str]:
    """All names, in the order of registration; kinds of other packages come last, unless they are left out.

    `alone` leaves out those that are of use in mixtures only.
    """
    kinds = [*_built_in(), *_registered.values(), *(_of_packages() if packages else ())]
    return list(
        dict.fromkeys(kind.name for kind in kinds if (kind.train or not trainable) and kind.stands_alone >= alone)
    )


def _built_in() -> list[ModelKind]:
    return [kind for module in BUILT_IN for kind in importlib.import_module(module).KINDS]


def _of_packages(name: str | None = None) -> Iterator[ModelKind]:
    """Kinds of installed packages: an entry point has the name of the kind and leads to its record."""
    chosen = entry_points(group=ENTRY_POINTS) if name is None else entry_points(group=ENTRY_POINTS, name=name)
    for entry in chosen:
        try:
            with interrupts_deferred():
                kind = entry.load()
        except (ImportError, AttributeError) as error:
            broken = f"the kind {entry.name!r} of an installed package cannot be imported ({error})"
            if name is not None:
                raise ConfigError(f"{broken}; install that package again") from error
            notify(f"warning: {broken}")
            continue
        if not isinstance(kind, ModelKind) or kind.name != entry.name:
            raise ConfigError(f"the entry point {entry.name!r} of {ENTRY_POINTS} leads to no record of that name")
        yield kind
