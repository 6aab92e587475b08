"""A training that continues a model: the old model is found and checked, and its words, with those of the new text,
are what the training takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.kinds import find_kind, kind_named, kind_names
from morphlm.language_model.addition import EXTENDED
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.fitting import fit_to, unknown_share
from morphlm.logbilinear.continuing import StartingPoint, add_words
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.modelfile import COMPONENTS, ModelFiles, learned_part, read_model
from morphlm.progress import notify
from morphlm.settings import Settings, setting
from morphlm.tables import counted
from morphlm.training.batches import Replay
from morphlm.training.inputs import InputOptions, TrainingInputs, check_standard_input, read_texts
from morphlm.vocabulary.corpus import Corpus, Source, WordCounts, encode_text
from morphlm.vocabulary.vocabulary import BEGIN_ID, Vocabulary
from morphlm.wording import either, option

CONTINUED_FROM = "continued_from"  # in the training record: the models before, the first one first
OLD_SHARE = 0.2
KEPT = ("vocabulary", "factors", "corpus_weight", "classes", "class_method")  # inputs that the old model has
DRAWN = ("init_std", "near_identity")  # settings of parameters that are drawn


@dataclass(frozen=True)
class ContinueOptions(Settings):
    """Which model is continued, and what becomes of what it has learned."""

    continue_from: LanguageModel | str | Path | None = setting(
        None,
        "Go on with the training of this model of the same kind; new words of the text are added to it.",
        metavar="MODEL",
        group="Model",
    )
    old_text: Source | None = setting(
        None,
        "With --continue-from: text of MODEL, of which every epoch has a part, so that it is not forgotten.",
        metavar="FILE",
        group="Model",
    )
    old_share: float | None = setting(
        None,
        "Share of old text in an epoch, if there is enough of it.",
        above=0,
        below=1,
        group="Model",
        default_text=str(OLD_SHARE),
    )
    stay: bool | None = setting(
        None,
        "With --continue-from: decay weights towards those of MODEL, or towards 0.",
        option="--stay/--move-on",
        default_text="stay, but with --old-text move-on",
    )

    __repr__ = dataclass_repr

    @property
    def stays(self) -> bool:
        """Whether weights decay towards the old ones; those fit the old text too well to be trained on it again."""
        return self.old_text is None if self.stay is None else self.stay

    def __post_init__(self) -> None:
        super().__post_init__()
        given = {
            either("--stay" if self.stay else "--move-on", f"stay={self.stay}"): self.stay is not None,
            option("--old-text"): self.old_text is not None,
            option("--old-share"): self.old_share is not None,
        }
        for name in (name for name, is_given in given.items() if is_given and self.continue_from is None):
            raise ConfigError(
                f"{name} is for a training that continues a model; give {option('--continue-from')} too, or leave it "
                "out"
            )
        if self.old_share is not None and self.old_text is None:
            raise ConfigError(
                f"{option('--old-share')} is the share of old text, and there is none; give {option('--old-text')}"
            )


# ---------------------------------------------------------------- the old model


@dataclass(frozen=True, eq=False)
class OldModel:
    """The model that is continued."""

    model: LogBilinearModel
    directory: Path
    digest: str  # of its manifest

    __repr__ = dataclass_repr


def find_old_model(kind: str, given: LanguageModel | str | Path) -> OldModel:
    """Read the model that a training of a kind continues, and refuse one that it cannot continue."""
    if not kind_named(kind).can_continue:
        raise ConfigError(f"a training of {kind} cannot continue a model; that is for {', '.join(_kinds())}")
    directory = learned_part(_directory_of(given))
    files = read_model(directory)
    _check_kind(kind, directory, files)
    model = kind_named(kind).load("read")(directory, files)
    assert isinstance(model, LogBilinearModel)
    return OldModel(model, directory, files.digest)


def _kinds() -> list[str]:
    return [name for name in kind_names() if kind_named(name).can_continue]


def _directory_of(given: LanguageModel | str | Path) -> str | Path:
    if not isinstance(given, LanguageModel):
        return given
    if given.origin is None or not given.origin.holds(given):
        raise ConfigError("the model to continue is not on disk as it is now; save it and give its directory")
    return given.origin.directory


def _check_kind(kind: str, directory: Path, files: ModelFiles) -> None:
    record = find_kind(files.kind)
    if record is None or not record.can_continue:
        parts = [name for name, part in files.parts.items() if part.kind == kind]
        cure = f"give the {kind} in it, {directory / COMPONENTS / parts[0]}" if parts else f"give a {kind}"
        raise ConfigError(f"{directory}: the training of a model of the kind {files.kind} cannot be continued; {cure}")
    if files.kind != kind:
        raise ConfigError(f"{directory}: this is a {files.kind}, which cannot go on as a {kind}; train a {files.kind}")
    if files.training.get(EXTENDED):
        raise ConfigError(
            f"{directory}: this model was extended by words without training; continue the model that it was before, "
            "with a text that has these words"
        )


def check_settings(old: OldModel, inputs: InputOptions, settings: Mapping[str, Any], out: Path | None) -> None:
    """Refuse what contradicts the old model, and to write over it."""
    if out is not None and out.resolve() == old.directory.resolve():
        raise ConfigError(f"{out}: this is the model to continue, which stays as it is; write to another directory")
    default = InputOptions()
    given = [name for name in KEPT if getattr(inputs, name) != getattr(default, name)]
    given += [name for name in DRAWN if name in settings]
    if given:
        raise ConfigError(f"{old.directory}: a model that is continued keeps what it has; leave out {_named(given[0])}")
    config = old.model.config
    has = {"order": config.order, "width": config.width, "diagonal": config.diagonal, "wide_context": bool(config.wide)}
    for name, value in has.items():
        if settings.get(name, value) != value:
            raise ConfigError(
                f"{old.directory}: {name} is {value} in this model, not {settings[name]}; leave it out, or train anew"
            )


def _named(name: str) -> str:
    return option("--vocab" if name == "vocabulary" else "--" + name.replace("_", "-"))


# ---------------------------------------------------------------- what the training takes


def continued_inputs(
    old: OldModel,
    source: Source,
    dev: Source,
    options: InputOptions,
    continuing: ContinueOptions,
    *,
    test: Source | None = None,
) -> TrainingInputs:
    """Read the texts, prepared as that of the old model was, and add the words of the new text to the model."""
    model = old.model
    texts = [source, dev, test, continuing.old_text]
    check_standard_input(options, *(text for text in texts if text is not None))
    prepare = partial(fit_to, model.preparation, what="the old model's")
    dev, test = dev if dev is None else prepare(dev), None if test is None else prepare(test)
    choose_vocabulary = partial(_grown_vocabulary, model, options)
    train, held_out, tested, _ = read_texts(prepare(source), dev, test, options, choose_vocabulary)
    replay = None
    if continuing.old_text is not None:
        train, replay = _with_old_text(train, prepare(continuing.old_text), continuing, options)
    structure, parameters = add_words(model, train)
    new = len(train.vocabulary) - len(model.vocabulary)
    notify(f"vocabulary: {counted(len(train.vocabulary), 'entry', 'entries')}, of which {new:,} are new")
    record = {
        "vocabulary": "continued",
        "kappa": options.pruning_rate,
        "sentences": train.sentences,
        "old_share": None if replay is None else replay.share,
        "preparation": model.training.get("preparation"),
        "development_unknown": round(unknown_share(held_out.corpus.tokens), 6),
        CONTINUED_FROM: [*model.training.get(CONTINUED_FROM, []), _record(old)],
    }
    start = StartingPoint(model.config, parameters, old.digest, continuing.stays)
    return TrainingInputs(train, held_out, tested, structure.factors, structure.partition, record, start, replay)


def _with_old_text(
    train: Corpus, old_text: Source, continuing: ContinueOptions, options: InputOptions
) -> tuple[Corpus, Replay]:
    """The new text and behind it the old one."""
    old = encode_text(old_text, train.vocabulary, allow_unknown=options.allow_unknown)
    share = OLD_SHARE if continuing.old_share is None else continuing.old_share
    return Corpus(np.concatenate([train.tokens, old.tokens]), train.vocabulary), Replay(len(train.tokens), share)


def _grown_vocabulary(model: LanguageModel, options: InputOptions, words: WordCounts) -> Vocabulary:
    """The words of the old model, then those that pass in the new text; counts are of both texts together."""
    old, new = model.vocabulary, words.vocabulary(options.pruning_rate, options.seed)
    grown = old.with_words([word for word in new.words if word not in old.ids])
    counts = grown.counts.copy()
    np.add.at(counts, grown.encode(words.forms), words.counts)
    counts[BEGIN_ID] = old.counts[BEGIN_ID] + words.sentences
    return replace(grown, counts=counts)


def _record(old: OldModel) -> dict[str, Any]:
    return {
        "manifest_sha256": old.digest,
        "words": len(old.model.vocabulary),
        "tokens": old.model.training.get("tokens"),
    }
