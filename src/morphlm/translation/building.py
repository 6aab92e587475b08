"""From two text files to a translation system, in stages: prepare, align, sort the suffixes, take in models and rules.

Each stage is recorded in the manifest with a hash of all that it depends on, so that the same call again goes on where
the last one ended. Other texts or settings need another directory: a system that was built is not changed.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from morphlm.artefacts import fingerprint
from morphlm.errors import ConfigError, FormatError, InputError, MorphlmError
from morphlm.files import cannot_write, exclusive, make_folder, open_binary, partial_path, sha256_of
from morphlm.language_model.base import LanguageModel
from morphlm.modelfile import copy_model, read_model
from morphlm.progress import notify, progress_bar
from morphlm.scoring.loading import load, model_from_files
from morphlm.text.parallel_pairs import prepare_pair_files
from morphlm.text.tokenise import sacremoses_version
from morphlm.threads import available_cores
from morphlm.translation.alignment.align import align_text
from morphlm.translation.alignment.model import Pass
from morphlm.translation.alignment.parallel_text import read_parallel
from morphlm.translation.alignment.pharaoh import read_pharaoh, write_pharaoh
from morphlm.translation.decoder.config import COUNTED, check_features, names_of_models
from morphlm.translation.decoder.models import prepare_models
from morphlm.translation.directory import (
    ALIGNMENT,
    BITEXT,
    EXTRA_RULES,
    LOCK,
    MANIFEST,
    MODELS,
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
from morphlm.translation.extra_rules import ExtraRules
from morphlm.translation.grammar.bitext import build_bitext, load_bitext
from morphlm.translation.grammar.rules import FEATURES, RuleTable, write_rules
from morphlm.translation.settings import SystemConfig

PREPARE, ALIGN = "prepare", "align"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")


@dataclass(frozen=True)
class NamedModel:
    """A language model for a system: the name of its feature and folder, and where it is now."""

    name: str
    path: Path

    @classmethod
    def of(cls, given: str) -> NamedModel:
        """`NAME=PATH`, or a path, whose last part is the name."""
        name, equals, path = given.partition("=")
        if not equals or Path(given).exists():
            name, path = Path(given).resolve().name, given
        return cls(name, Path(path))

    def __post_init__(self) -> None:
        """Refuse a name that could not be that of a feature and of a folder."""
        if not _NAME.fullmatch(self.name):
            raise ConfigError(
                f"{self.name!r} cannot be the name of a model; give one of letters, as --lm name={self.path}"
            )


@dataclass(frozen=True)
class Sources:
    """What a system is made of."""

    source: str | Path | None = None  # training text, with its translations line by line
    target: str | Path | None = None
    bitext: str | Path | None = None  # instead of the two: a directory of `translate extract --from`
    models: Sequence[NamedModel] = ()
    extra_rules: str | Path | None = None  # a file of rules

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if (self.source is None) != (self.target is None) or (self.source is None) == (self.bitext is None):
            raise ConfigError("a system is built of two texts, line by line translations, or of a bitext; give either")
        names = [model.name for model in self.models]
        if len(set(names)) < len(names):
            raise ConfigError(f"two models have the name {_twice(names)}; name them, as --lm OTHER=MODEL")


def _twice(names: Sequence[str]) -> str:
    return next(name for name in names if names.count(name) > 1)


def build_system(
    out: str | Path,
    sources: Sources,
    config: SystemConfig,
    *,
    mend: bool = False,
    threads: int | None = None,
) -> Manifest:
    """Make the directory of a system, or go on with it; it is not tuned yet."""
    place = Path(out)
    check_can_hold_system(place)
    models = _checked_models(sources.models)
    _check_texts(sources)
    rules = _checked_rules(sources.extra_rules, config, [model.name for model in models])
    was_there = place.exists()
    with exclusive(place / LOCK, f"{place}: another process is building here; wait for it or choose another place"):
        is_new = not (place / MANIFEST).exists()
        try:
            return _built(place, sources, _Parts(models, rules), config, mend, threads or available_cores())
        except MorphlmError:
            if is_new and not read_manifest(place).stages:  # what was refused at once leaves no trace
                if was_there:
                    _clear(place)
                else:
                    shutil.rmtree(place)
            raise


def _clear(place: Path) -> None:
    """Remove all that is in a folder of somebody's, but for the lock, which is held."""
    for path in place.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()


def _built(place: Path, sources: Sources, parts: _Parts, config: SystemConfig, mend: bool, threads: int) -> Manifest:
    before = read_manifest(place) if (place / MANIFEST).exists() else Manifest(config)
    _check_same_settings(place, before.config, config)
    builder = _Builder(place, before, threads)
    if sources.bitext is not None:
        builder.take_bitext(Path(sources.bitext))
    elif sources.source is not None and sources.target is not None:
        builder.prepare(Path(sources.source), Path(sources.target), mend)
        builder.align()
        builder.sort()
    builder.take_rules(parts.rules)
    builder.take_models(parts.models)  # the last: with it a system is complete
    return builder.manifest


def _check_same_settings(place: Path, before: SystemConfig, now: SystemConfig) -> None:
    others = [field.name for field in fields(SystemConfig) if getattr(before, field.name) != getattr(now, field.name)]
    if others:
        names = ", ".join(name.replace("_", " ") for name in others)
        raise ConfigError(
            f"{place}: this was built with another preparation or other settings ({names}); give the same as before, "
            "or another --out"
        )


# ---------------------------------------------------------------- checks before any work


@dataclass(frozen=True, eq=False)
class _Model:
    name: str
    path: Path
    digest: str | None  # None for an ARPA file
    model: LanguageModel


def _checked_models(models: Sequence[NamedModel]) -> list[_Model]:
    """Load them, and see that the search can ask them."""
    found = []
    for named in models:
        if named.path.is_dir():
            files = read_model(named.path)
            found.append(_Model(named.name, named.path, files.digest, model_from_files(named.path, files)))
        else:
            found.append(_Model(named.name, named.path, None, load(named.path)))
    names = [one.name for one in found]
    prepare_models([one.model for one in found], names)
    check_features((*FEATURES, *COUNTED, *names_of_models(names)))
    return found


def _check_texts(sources: Sources) -> None:
    if sources.bitext is not None:
        load_bitext(sources.bitext)
    for given in (sources.source, sources.target):
        if given is not None:
            _check_file(Path(given))


def _check_file(path: Path) -> None:
    if not path.is_file():
        what = "there is no such file" if not path.exists() else "this is no file"
        raise InputError(f"{what}; name a file, it is read more than once", source=str(path))
    with open_binary(path):
        pass


@dataclass(frozen=True, eq=False)
class _Rules:
    table: RuleTable
    digest: str


def _checked_rules(given: str | Path | None, config: SystemConfig, models: Sequence[str]) -> _Rules | None:
    """Read them; their features must not be those of the models."""
    if given is None:
        return None
    _check_file(Path(given))
    table = ExtraRules.read(given, lowercase=config.lowercase).table
    check_features((*dict.fromkeys([*FEATURES, *table.feature_names]), *COUNTED, *names_of_models(models)))
    return _Rules(table, sha256_of(Path(given)))


@dataclass(frozen=True, eq=False)
class _Parts:
    """What was read and checked before any work."""

    models: Sequence[_Model]
    rules: _Rules | None


# ---------------------------------------------------------------- the stages


class _Builder:
    """Makes stages that are not there yet."""

    def __init__(self, place: Path, manifest: Manifest, threads: int) -> None:
        self.place, self.manifest, self.threads = place, manifest, threads
        self.config = manifest.config
        if not (place / MANIFEST).exists():
            manifest.write(place)

    def _stage(
        self, name: str, depends_on: dict[str, Any], files: Sequence[str], make: Callable[[], Mapping[str, Any]]
    ) -> None:
        """Make a stage, unless it was made from the same before."""
        key = fingerprint(depends_on | {"stage": name})
        if self._is_there(name, key):
            notify(f"{name}: found")
            return
        begin = perf_counter()
        figures = make()
        stage = Stage(key, {path: digest_of(self.place / path) for path in files}, figures)
        self.manifest = self.manifest.with_stage(name, stage)
        self.manifest.write(self.place)
        notify(f"{name}: {_summary(figures)} ({perf_counter() - begin:.1f} s)")

    def _is_there(self, name: str, key: str) -> bool:
        stage = self.manifest.stages.get(name)
        if stage is None:
            return False
        if stage.key != key:
            raise self._other(name)
        try:
            check_files(self.place, stage)
            for path in map(self.place.joinpath, stage.files):
                if path.is_dir():
                    read_model(path)  # all of it
        except FormatError as error:
            notify(f"{name}: made again, {error}")
            return False
        return True

    def _other(self, name: str) -> ConfigError:
        what = f"this was built with another {_MEANING[name]}; give the same as before, or another --out"
        return ConfigError(f"{self.place}: {what}")

    def _digests(self, *names: str) -> dict[str, Any]:
        return {name: sha256_of(self.place / name) for name in names}

    def prepare(self, source: Path, target: Path, mend: bool) -> None:
        """Tokenise, lowercase, and drop pairs that are too long or too unequal."""
        options = self.config.pair_options()
        outs = self.place / SOURCE_TEXT, self.place / TARGET_TEXT

        def make() -> Mapping[str, Any]:
            make_folder(self.place / TEXTS)
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

        def make() -> Mapping[str, Any]:
            passes = self.config.alignment.iterations * 2
            text = read_parallel(self.place / SOURCE_TEXT, self.place / TARGET_TEXT)
            with progress_bar("aligning", passes, "pass") as bar:

                def report(direction: str, one: Pass) -> None:
                    bar.update()

                aligned = align_text(text, self.config.alignment, threads=self.threads, report=report)
            write_pharaoh(self.place / ALIGNMENT, aligned.alignments)
            return {name: value for name, value in aligned.to_json().items() if name != "passes"}

        depends_on = self._digests(SOURCE_TEXT, TARGET_TEXT) | {"config": asdict(self.config.alignment)}
        self._stage(ALIGN, depends_on, (ALIGNMENT,), make)

    def sort(self) -> None:
        """Make what rules are found in."""

        def make() -> Mapping[str, Any]:
            text = read_parallel(self.place / SOURCE_TEXT, self.place / TARGET_TEXT)
            bitext = build_bitext(text, read_pharaoh(self.place / ALIGNMENT, text), str(self.place / ALIGNMENT))
            bitext.save(self.place / BITEXT)
            return {"pairs": len(bitext)}

        self._stage(BITEXT, self._digests(SOURCE_TEXT, TARGET_TEXT, ALIGNMENT), (BITEXT,), make)

    def take_bitext(self, given: Path) -> None:
        """Take in one that was made before."""

        def make() -> Mapping[str, Any]:
            with _replacing(self.place / BITEXT) as beside:
                copy_model(given, digest_of(given), beside)
            return {"pairs": len(load_bitext(self.place / BITEXT))}

        self._stage(BITEXT, {"bitext": digest_of(given)}, (BITEXT,), make)

    def take_models(self, models: Sequence[_Model]) -> None:
        """Take in the language models."""
        names = [model.name for model in models]

        def make() -> Mapping[str, Any]:
            with _replacing(self.place / MODELS) as beside:
                beside.mkdir()
                for model in models:
                    _take_model(model, beside / model.name)
            self.manifest = replace(self.manifest, models=tuple(names))
            return {"models": names}

        depends_on = {"models": [[model.name, model.digest or sha256_of(model.path)] for model in models]}
        self._stage(MODELS, depends_on, [f"{MODELS}/{name}" for name in names], make)

    def take_rules(self, rules: _Rules | None) -> None:
        """Take in rules of a file."""
        if rules is None:
            if EXTRA_RULES in self.manifest.stages:
                self._is_there(EXTRA_RULES, "")
            return
        if MODELS in self.manifest.stages and EXTRA_RULES not in self.manifest.stages:
            raise self._other(EXTRA_RULES)

        def make() -> Mapping[str, Any]:
            write_rules(self.place / EXTRA_RULES, rules.table)
            return {"rules": len(rules.table)}

        self._stage(EXTRA_RULES, {"rules": rules.digest}, (EXTRA_RULES,), make)


# What differs when a stage was made from something else.
_MEANING = {
    PREPARE: "training text or preparation",
    ALIGN: "setting of the alignment",
    BITEXT: "training text",
    MODELS: "choice of language models",
    EXTRA_RULES: "file of rules, or with or without one",
}


def _summary(figures: Mapping[str, Any]) -> str:
    def text(value: Any) -> str:
        if isinstance(value, float):
            return f"{value:.3f}"
        return f"{value:,}" if isinstance(value, int) else " ".join(value)

    return ", ".join(f"{name.replace('_', ' ')} {text(value)}" for name, value in figures.items() if value)


def _take_model(model: _Model, place: Path) -> None:
    if model.digest is not None:
        copy_model(model.path, model.digest, place)
    else:
        model.model.save(place)


@contextmanager
def _replacing(place: Path) -> Any:
    """A folder beside its final place, which it takes when the block ends without an exception."""
    beside = partial_path(place)
    shutil.rmtree(beside, ignore_errors=True)
    try:
        yield beside
        shutil.rmtree(place, ignore_errors=True)
        beside.rename(place)
    except OSError as error:
        raise cannot_write(place, error) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)
