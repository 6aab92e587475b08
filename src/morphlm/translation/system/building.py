"""From two text files to a translation system, in stages: prepare, align, sort the suffixes, copy rules and models.

The manifest records each stage under the hash of what it depends on, so that the same call again goes on where the last
one ended. Other texts or settings need another directory: a system that was built is not changed.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from morphlm.artefacts import Producer, Shelf, find_or_make, lock
from morphlm.compiledfile import is_compiled
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, InputError, MissingFileError, MorphlmError
from morphlm.files import cannot_write, make_folder, open_binary, partial_folder, sha256_of
from morphlm.language_model.base import LanguageModel
from morphlm.modelfile import copy_model, learned_part, read_model
from morphlm.progress import ProgressOption, notify, progress_bar, reports_progress
from morphlm.scoring.loading import load, model_from_files
from morphlm.text.parallel_pairs import prepare_pair_files
from morphlm.text.tokenise import sacremoses_version
from morphlm.threads import available_cores
from morphlm.translation.alignment.align import align_text
from morphlm.translation.alignment.model import Pass
from morphlm.translation.alignment.parallel_text import read_parallel
from morphlm.translation.alignment.pharaoh import read_pharaoh, write_pharaoh
from morphlm.translation.decoder.config import COUNTED, check_features, names_of_models
from morphlm.translation.grammar.bitext import build_bitext, load_bitext
from morphlm.translation.grammar.extra_rules import ExtraRules
from morphlm.translation.grammar.rules import FEATURES, RuleTable, write_rules
from morphlm.translation.recasing.training import train_recaser
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.system.directory import (
    ALIGNMENT,
    BITEXT,
    EXTRA_RULES,
    LOCK,
    MANIFEST,
    MODELS,
    RECASER,
    SOURCE_TEXT,
    TARGET_TEXT,
    TEXTS,
    Manifest,
    Stage,
    check_can_hold_system,
    check_files,
    digest_of,
    read_manifest,
)
from morphlm.translation.system.schema import SEARCH_LIMITS
from morphlm.translation.system.system import TranslationSystem
from morphlm.wording import either, option

# The stages in the order of the data, each with the code that decides its result.
PREPARE = Producer(
    "prepare",
    revision=1,
    modules=("morphlm.text.parallel_pairs", "morphlm.text.prepare", "morphlm.text.casing", "morphlm.text.tokenise"),
)
ALIGN = Producer("align", revision=1, modules=("morphlm.translation.alignment",))
INDEX = Producer(
    BITEXT,
    revision=1,
    modules=(
        "morphlm.translation.grammar.bitext",
        "morphlm.translation.grammar.suffix_array",
        "morphlm.translation.grammar.kernels.links",
    ),
)
COPY_RULES = Producer(EXTRA_RULES, revision=1, modules=("morphlm.translation.grammar.rules",))
LEARN_RECASER = Producer(
    RECASER,
    revision=1,
    modules=(
        "morphlm.translation.recasing.training",
        "morphlm.translation.recasing.positions",
        "morphlm.ngram.counting",
        "morphlm.ngram.discounts",
        "morphlm.ngram.estimation",
        "morphlm.text.prepare",
        "morphlm.text.casing",
        "morphlm.text.tokenise",
    ),
)
COPY_MODELS = Producer(MODELS, revision=1, modules=("morphlm.modelfile",))

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")


@dataclass(frozen=True)
class NamedModel:
    """A language model for a system: the name of its feature and folder, and where it is now."""

    name: str
    path: Path

    __repr__ = dataclass_repr

    @classmethod
    def of(cls, argument: str) -> NamedModel:
        """`NAME=PATH`, or a path, whose last part is the name."""
        name, equals, path = argument.partition("=")
        if not equals or Path(argument).exists():
            name, path = Path(argument).resolve().name, argument
        return cls(name, Path(path))

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigError(
                f"{self.name!r} cannot be the name of a model; give one of letters, as "
                + either(f"--lm name={self.path}", f"NamedModel('name', {str(self.path)!r})")
            )


@dataclass(frozen=True)
class Sources:
    """The texts, models and rules that a system is built from."""

    source: str | Path | None = None  # training text, with its translations line by line
    target: str | Path | None = None
    bitext: str | Path | None = None  # instead of the two: a directory of `translate extract --from`
    models: Sequence[NamedModel] = ()
    extra_rules: str | Path | None = None  # a file of rules

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        if (self.source is None) != (self.target is None) or (self.source is None) == (self.bitext is None):
            raise ConfigError("a system is built of two texts, line by line translations, or of a bitext; give either")
        names = [model.name for model in self.models]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            example = either("--lm OTHER=MODEL", "NamedModel('other', path)")
            raise ConfigError(f"two models have the name {twice}; name them, as {example}")


@dataclass(frozen=True, eq=False)
class BuiltSystem:
    """A system that was just built, with its language models, which are loaded once."""

    directory: Path
    manifest: Manifest
    models: Mapping[str, LanguageModel]

    __repr__ = dataclass_repr

    @property
    def stages(self) -> Mapping[str, Stage]:
        return self.manifest.stages

    def load(self) -> TranslationSystem:
        return TranslationSystem.load(self.directory, models=self.models)


def _check_search_limits(config: SystemConfig) -> None:
    """What a system stores is bounded, as others may decode with it."""
    for part, limits in SEARCH_LIMITS.items():
        for name, largest in limits.items():
            value = getattr(getattr(config, part), name)
            if not 1 <= value <= largest:
                raise ConfigError(f"{name} is {value}; build a system with 1 to {largest}")


@reports_progress
def build_system(
    out: str | Path,
    sources: Sources,
    config: SystemConfig,
    *,
    mend: bool = False,
    recaser: bool = False,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> BuiltSystem:
    """Make the directory of a system from `sources`, or go on with it; it is not tuned yet.

    With `recaser`, it also learns from the target text how words are written, so that translations can have capital
    letters; this can be added to a system that was built without.
    """
    directory = Path(out)
    if recaser and (sources.target is None or not config.lowercase):
        raise ConfigError(
            f"{option('--recaser', True)} learns from the target text with its capitals; give two texts that are to be "
            "lowercased, or train a recaser by itself"
        )
    check_can_hold_system(directory)
    _check_search_limits(config)
    check_features((*FEATURES, *COUNTED, *names_of_models([named.name for named in sources.models])))
    models = [_load_model(named) for named in sources.models]
    _check_texts(sources)
    rules = _read_rules(sources.extra_rules, config, [model.name for model in models])
    was_there = directory.exists()
    with lock(directory / LOCK, directory):
        is_new = not (directory / MANIFEST).exists()
        try:
            builder = _Builder(directory, config, threads or available_cores())
            builder.build(sources, models, rules, mend=mend, recaser=recaser)
        except MorphlmError:
            if is_new and not read_manifest(directory).stages:  # what was refused at once leaves no trace
                if was_there:
                    _clear(directory)
                else:
                    shutil.rmtree(directory)
            raise
    return BuiltSystem(directory, builder.manifest, {model.name: model.model for model in models})


def _clear(directory: Path) -> None:
    """Remove all that is in a folder of somebody's, but for the lock, which is held."""
    for path in directory.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()


# ---------------------------------------------------------------- checks before any work


@dataclass(frozen=True, eq=False)
class _LoadedModel:
    name: str
    path: Path
    digest: str | None  # of its manifest; None for an ARPA file
    model: LanguageModel

    def write(self, directory: Path) -> None:
        """Into a system, hard-linked where that can be."""
        if self.digest is None:
            self.model.save(directory)
        else:
            copy_model(self.path, self.digest, directory)


def _load_model(named: NamedModel) -> _LoadedModel:
    if not named.path.is_dir():
        if is_compiled(named.path):
            raise ConfigError(
                f"{named.path}: a system holds model directories; name the one that this was exported from"
            )
        return _LoadedModel(named.name, named.path, None, load(named.path))
    path = learned_part(named.path)
    files = read_model(path)
    return _LoadedModel(named.name, path, files.digest, model_from_files(path, files))


def _check_texts(sources: Sources) -> None:
    if sources.bitext is not None:
        load_bitext(sources.bitext)
    for path in (sources.source, sources.target):
        if path is not None:
            _check_file(Path(path))


def _check_file(path: Path) -> None:
    if not path.is_file():
        kind, problem = (
            (InputError, "this is no file") if path.exists() else (MissingFileError, "there is no such file")
        )
        raise kind(f"{problem}; name a file, it is read more than once", source=str(path))
    with open_binary(path):
        pass


def _read_rules(path: str | Path | None, config: SystemConfig, models: Sequence[str]) -> RuleTable | None:
    """The rules of a file; their features must not be those of the models."""
    if path is None:
        return None
    _check_file(Path(path))
    table = ExtraRules.read(path, lowercase=config.lowercase).table
    check_features((*dict.fromkeys([*FEATURES, *table.feature_names]), *COUNTED, *names_of_models(models)))
    return table


# ---------------------------------------------------------------- the stages

Figures = Mapping[str, Any]  # what a stage reports: how many pairs, links, ...
_Make = Callable[[], Figures]


class _StageShelf(Shelf[Figures]):
    """Where a stage of a system lies: its files, and in the manifest its key and figures."""

    def __init__(self, builder: _Builder, name: str, files: Sequence[str] = ()) -> None:
        self.builder, self.name, self.files = builder, name, files

    def find(self, key: str) -> Figures | None:
        stage = self.builder.manifest.stages.get(self.name)
        if stage is None:
            return None
        if stage.key != key:
            raise self.refusal()
        check_files(self.builder.directory, stage)
        for path in map(self.builder.directory.joinpath, stage.files):
            if path.is_dir():
                read_model(path)  # checks all files of the model
        return stage.figures

    def keep(self, key: str, result: Figures) -> None:
        directory = self.builder.directory
        stage = Stage(key, {path: digest_of(directory / path) for path in self.files}, result)
        self.builder.manifest = self.builder.manifest.with_stage(self.name, stage)
        self.builder.manifest.write(directory)

    def refusal(self) -> ConfigError:
        """A system that was built is never changed."""
        return ConfigError(
            f"{self.builder.directory}: this was built with another {_MEANING[self.name]}, or by another version; give "
            f"the same as before, or another {option('--out')}"
        )


class _Builder:
    """Makes the stages that a directory does not have yet."""

    def __init__(self, directory: Path, config: SystemConfig, threads: int) -> None:
        self.directory, self.config, self.threads = directory, config, threads
        if (directory / MANIFEST).exists():
            self.manifest = read_manifest(directory)
            self._check_same_settings(self.manifest.config)
        else:
            self.manifest = Manifest(config)
            self.manifest.write(directory)

    def _check_same_settings(self, before: SystemConfig) -> None:
        names = [field.name for field in fields(SystemConfig)]
        changed = [name.replace("_", " ") for name in names if getattr(before, name) != getattr(self.config, name)]
        if changed:
            raise ConfigError(
                f"{self.directory}: this was built with another preparation or other settings ({', '.join(changed)}); "
                f"give the same as before, or another {option('--out')}"
            )

    def build(
        self,
        sources: Sources,
        models: Sequence[_LoadedModel],
        rules: RuleTable | None,
        *,
        mend: bool,
        recaser: bool = False,
    ) -> None:
        """All stages in order."""
        if sources.bitext is not None:
            self.copy_bitext(Path(sources.bitext))
        elif sources.source is not None and sources.target is not None:
            self.prepare(Path(sources.source), Path(sources.target), mend)
            self.align()
            self.index()
        self.copy_rules(sources.extra_rules, rules)
        self.copy_models(models)  # with it a system is complete
        if recaser and sources.target is not None:
            self.learn_recaser(Path(sources.target), mend)

    def _stage(self, producer: Producer, depends_on: dict[str, Any], files: Sequence[str], make: _Make) -> None:
        shelf = _StageShelf(self, producer.name, files)
        made = find_or_make(producer, producer.key(**depends_on), shelf, make)
        if not made.was_found:
            notify(f"{producer.name}: {_summary(made.result)} ({made.seconds:.1f} s)")

    def _digests(self, *names: str) -> dict[str, Any]:
        return {name: sha256_of(self.directory / name) for name in names}

    def prepare(self, source: Path, target: Path, mend: bool) -> None:
        """Tokenise, lowercase, and drop pairs that are too long or too unequal."""
        options = self.config.pair_options()
        outs = self.directory / SOURCE_TEXT, self.directory / TARGET_TEXT

        def make() -> Figures:
            make_folder(self.directory / TEXTS)
            prepared, _ = prepare_pair_files((source, target), outs, options, mend=mend, processes=self.threads)
            if not prepared.counts.kept:
                raise InputError("no pair of sentences is left to learn from; give more text", source=str(source))
            return asdict(prepared.counts)

        depends_on = {
            "texts": [sha256_of(source), sha256_of(target)],
            "options": asdict(options),
            "mend": mend,
            "sacremoses": sacremoses_version() if self.config.tokenise else None,
        }
        self._stage(PREPARE, depends_on, (SOURCE_TEXT, TARGET_TEXT), make)

    def align(self) -> None:
        """Find which words translate one another."""

        def make() -> Figures:
            passes = self.config.alignment.iterations * 2
            text = read_parallel(self.directory / SOURCE_TEXT, self.directory / TARGET_TEXT)
            with progress_bar("aligning", passes, "pass") as bar:

                def report(direction: str, em_pass: Pass) -> None:
                    bar.update()

                aligned = align_text(text, self.config.alignment, threads=self.threads, report=report)
            write_pharaoh(self.directory / ALIGNMENT, aligned.alignments)
            return {name: value for name, value in aligned.to_json().items() if name != "passes"}

        depends_on = self._digests(SOURCE_TEXT, TARGET_TEXT) | {"config": asdict(self.config.alignment)}
        self._stage(ALIGN, depends_on, (ALIGNMENT,), make)

    def index(self) -> None:
        """Sort the suffixes of the text, in which rules are looked up."""

        def make() -> Figures:
            text = read_parallel(self.directory / SOURCE_TEXT, self.directory / TARGET_TEXT)
            bitext = build_bitext(text, read_pharaoh(self.directory / ALIGNMENT, text), str(self.directory / ALIGNMENT))
            bitext.save(self.directory / BITEXT)
            return {"pairs": len(bitext)}

        self._stage(INDEX, self._digests(SOURCE_TEXT, TARGET_TEXT, ALIGNMENT), (BITEXT,), make)

    def copy_bitext(self, bitext: Path) -> None:
        """Take a text that was aligned and sorted before."""

        def make() -> Figures:
            with _replacing(self.directory / BITEXT) as partial:
                copy_model(bitext, digest_of(bitext), partial)
            return {"pairs": len(load_bitext(self.directory / BITEXT))}

        self._stage(INDEX, {"bitext": digest_of(bitext)}, (BITEXT,), make)

    def copy_models(self, models: Sequence[_LoadedModel]) -> None:
        names = [model.name for model in models]

        def make() -> Figures:
            with _replacing(self.directory / MODELS) as partial:
                partial.mkdir()
                for model in models:
                    model.write(partial / model.name)
            self.manifest = replace(self.manifest, models=tuple(names))
            return {"models": names}

        depends_on = {"models": [[model.name, model.digest or sha256_of(model.path)] for model in models]}
        self._stage(COPY_MODELS, depends_on, [f"{MODELS}/{name}" for name in names], make)

    def learn_recaser(self, target: Path, mend: bool) -> None:
        """How the words of the target text are written; nothing else depends on it."""
        options = self.config.pair_options().target

        def make() -> Figures:
            with _replacing(self.directory / RECASER) as partial:
                learned = train_recaser(target, options, partial, mend=mend, processes=self.threads)
            return {"words": learned.words}

        depends_on = {
            "text": sha256_of(target),
            "options": asdict(options),
            "mend": mend,
            "sacremoses": sacremoses_version() if self.config.tokenise else None,
        }
        self._stage(LEARN_RECASER, depends_on, (RECASER,), make)

    def copy_rules(self, path: str | Path | None, rules: RuleTable | None) -> None:
        has_rules, is_complete = EXTRA_RULES in self.manifest.stages, MODELS in self.manifest.stages
        if has_rules if rules is None else is_complete and not has_rules:
            raise _StageShelf(self, EXTRA_RULES).refusal()
        if path is None or rules is None:
            return

        def make() -> Figures:
            write_rules(self.directory / EXTRA_RULES, rules)
            return {"rules": len(rules)}

        self._stage(COPY_RULES, {"rules": sha256_of(Path(path))}, (EXTRA_RULES,), make)


# What differs when a stage was made from something else.
_MEANING = {
    PREPARE.name: "training text or preparation",
    ALIGN.name: "setting of the alignment",
    BITEXT: "training text",
    MODELS: "choice of language models",
    EXTRA_RULES: "file of rules, or with or without one",
    RECASER: "target text for the recaser",
}


def _summary(figures: Figures) -> str:
    def text(value: Any) -> str:
        if isinstance(value, float):
            return f"{value:.3f}"
        return f"{value:,}" if isinstance(value, int) else " ".join(value)

    return ", ".join(f"{name.replace('_', ' ')} {text(value)}" for name, value in figures.items() if value)


@contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """A path inside a new folder, where one is to be made that replaces `folder` if nothing goes wrong."""
    try:
        with partial_folder(folder) as partial:
            yield partial / folder.name
            shutil.rmtree(folder, ignore_errors=True)
            (partial / folder.name).rename(folder)
    except MorphlmError:
        raise
    except OSError as error:
        raise cannot_write(folder, error) from error
