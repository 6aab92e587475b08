"""Does the steps of a translation experiment: aligned text, tuned systems, translations of a test text.

STORE/translation/PAIR-KEY/parallel/         the prepared and aligned text, as `morphlm translate build` leaves it
STORE/translation/PAIR-KEY/SYSTEM-KEY/       a system, with its weights
STORE/translation/PAIR-KEY/test-KEY/         its translations, a file for each system and run
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from morphlm.artefacts import fingerprint
from morphlm.errors import InputError
from morphlm.experiments.corpora import in_groups, read_parallel, read_sentences
from morphlm.experiments.graph import SHORT, Done, Step
from morphlm.experiments.pairs import ENGLISH, Pair
from morphlm.experiments.store import MANIFEST, Store
from morphlm.experiments.translation_steps import TUNING, runs_of, system_config
from morphlm.files import atomic_writer, make_folder, sha256_of
from morphlm.modelfile import canonical_json
from morphlm.progress import progress_bar
from morphlm.translation.decoder.decoder import RuleSource
from morphlm.translation.evaluation.comparison import compare_systems
from morphlm.translation.system.building import NamedModel, Sources, build_system
from morphlm.translation.system.config import SOURCE, TARGET, SystemConfig
from morphlm.translation.system.directory import BITEXT, WEIGHTS
from morphlm.translation.system.directory import MANIFEST as SYSTEM
from morphlm.translation.system.system import TranslationSystem
from morphlm.translation.system.tuning import KeptRules, TuningText, tune_system

PARALLEL = "parallel"
BATCH = 50  # sentences of a test text that are translated by all systems before the next

Lines = tuple[list[str], list[str]]  # of which line n of one translates line n of the other


@dataclass(frozen=True)
class TranslationWork:
    """Does steps whose needs are in the store."""

    store: Store

    @property
    def kinds(self) -> Mapping[str, Callable[[Step], Done]]:
        """What it can do."""
        return {"bitext": self._bitext, "tuning": self._tuning, "comparison": self._comparison}

    # ------------------------------------------------------------ parallel text

    def _bitext(self, step: Step) -> Done:
        pair: Pair = step.hints["pair"]
        place = self.store.translation(step)
        raw, out = place / "raw", place / PARALLEL
        begun = out.exists()
        files = {language: raw / language for language in (pair.source, pair.target)}
        _write_sides(step.hints["path"], files, make_folder(raw))
        sources = Sources(files[pair.source], files[pair.target])
        manifest = build_system(out, sources, system_config(pair))
        shutil.rmtree(raw)
        figures = {name: dict(stage.figures) for name, stage in manifest.stages.items()}
        return Done({"pair": str(pair), "stages": figures}, self.store.hashes(out / SYSTEM), fresh=not begun)

    # ------------------------------------------------------------ systems

    def _tuning(self, step: Step) -> Done:
        bitext, *models = step.inputs
        config = system_config(step.hints["pair"])
        named = [
            NamedModel(name, self.store.model(model)) for name, model in zip(step.hints["models"], models, strict=True)
        ]
        out = self._system_place(step, named)
        begun = out.exists()
        build_system(out, Sources(bitext=self.store.translation(bitext) / PARALLEL / BITEXT, models=named), config)
        text = _tuning_text(_chosen(step), config)
        tuned = tune_system(out, text, TUNING, seeds=runs_of(step))
        runs = [{"seed": run.seed, "bleu": run.bleu, "iterations": len(run.iterations)} for run in tuned.runs]
        result = {"place": out.relative_to(self.store.folder).as_posix(), "runs": runs, "weights": tuned.best.weights}
        manifests = [model.path / MANIFEST for model in named]
        return Done(result, self.store.hashes(out / SYSTEM, out / WEIGHTS, *manifests), fresh=not begun)

    def _system_place(self, step: Step, models: Sequence[NamedModel]) -> Path:
        """Models that were trained again make another system."""
        key = fingerprint({"step": step.key, "models": [sha256_of(model.path / MANIFEST) for model in models]})
        name = "+".join(model.name for model in models)
        return self.store.translation(step.inputs[0]) / f"{name}-{key[:SHORT]}"

    # ------------------------------------------------------------ translations

    def _comparison(self, step: Step) -> Done:
        places = {name: self._tuned_place(tuning) for name, tuning in _tunings(step)}
        key = _translations_key(step, [sha256_of(place / WEIGHTS) for place in places.values()])
        out = make_folder(self.store.translation(step.hints["bitext"]) / f"test-{key[:SHORT]}")
        begun = any(out.iterdir())
        systems = {name: TranslationSystem.load(place) for name, place in places.items()}
        sources, references = _chosen(step)
        translated = _Translator(systems, runs_of(step.inputs[0]), out, key).translate(sources)
        _write_translations(out, translated)
        compared = compare_systems(
            {name: list(runs.values()) for name, runs in translated.items()},
            references,
            seed=step.settings["shuffle_seed"],
            shuffles=step.settings["shuffles"],
        )
        result = {"pair": str(step.hints["pair"]), "place": out.relative_to(self.store.folder).as_posix()}
        weights = [place / WEIGHTS for place in places.values()]
        return Done(result | compared.to_json(), self.store.hashes(*weights), fresh=not begun)

    def _tuned_place(self, tuning: Step) -> Path:
        record = self.store.find(tuning)
        if record is None:
            raise InputError(f"{tuning.name}: this system is not there any more; run the same command again")
        return self.store.folder / str(record.result["place"])


def _tunings(comparison: Step) -> Iterator[tuple[str, Step]]:
    return zip(comparison.hints["systems"], comparison.inputs, strict=True)


def _translations_key(comparison: Step, weights: Sequence[str]) -> str:
    """A hash of all that the translations depend on; other shuffles of them are none of it."""
    systems = [step.key for step in comparison.inputs]
    sentences = comparison.settings["sentences"]
    texts = dict(comparison.files)
    return fingerprint({"systems": systems, "weights": weights, "texts": texts, "sentences": sentences})


# ---------------------------------------------------------------- texts


def _write_sides(parallel: Path, files: Mapping[str, Path], folder: Path) -> None:
    """A column a file, from origin, English, other language."""
    for language, path in files.items():
        column = 1 if language == ENGLISH else 2
        with atomic_writer(folder / path.name) as stream:
            stream.writelines(f"{columns[column]}\n".encode() for columns in read_parallel(parallel))


def _chosen(step: Step) -> Lines:
    """Pairs of sentences of a text, evenly spaced: neighbours are about the same things."""
    pair: Pair = step.hints["pair"]
    paths = [step.hints["texts"][language] for language in (pair.source, pair.target)]
    source, target = (list(read_sentences(path)) for path in paths)
    if len(source) != len(target):
        counts = f"{len(source):,} and {len(target):,} lines"
        raise InputError(f"{counts} in {paths[1].name}; they must be line-by-line translations", source=str(paths[0]))
    whole = [place for place in range(len(source)) if source[place].strip() and target[place].strip()]
    places = [whole[k] for k in evenly_spaced(len(whole), step.settings["sentences"])]
    return [source[place] for place in places], [target[place] for place in places]


def evenly_spaced(count: int, wanted: int) -> list[int]:
    """Places of so many of `count` things; of all, if there are no more."""
    taken = min(count, wanted)
    return [number * count // taken for number in range(taken)]


def _tuning_text(lines: Lines, config: SystemConfig) -> TuningText:
    sides = [tuple(tuple(config.prepare(line, side)) for line in lines[side]) for side in (SOURCE, TARGET)]
    return TuningText(*sides)


# ---------------------------------------------------------------- translating


@dataclass(frozen=True)
class _Translator:
    """Translates with several systems of one parallel text, so that the rules of a sentence are found once.

    What is done of a text is kept in a folder, batch by batch.
    """

    systems: Mapping[str, TranslationSystem]
    seeds: Sequence[int]
    folder: Path
    key: str  # a hash of all that the translations depend on

    def translate(self, sentences: Sequence[str]) -> dict[str, dict[int, list[str]]]:
        """The translations of each system and run."""
        found: dict[str, dict[int, list[str]]] = {name: {seed: [] for seed in self.seeds} for name in self.systems}
        with progress_bar("translating", len(sentences), "sentence") as bar:
            for number, batch in enumerate(in_groups(sentences, BATCH)):
                for name, runs in self._batch(number, batch).items():
                    for seed, translations in runs.items():
                        found[name][int(seed)] += translations
                bar.update(len(batch))
        return found

    def _batch(self, number: int, sentences: Sequence[str]) -> dict[str, dict[str, list[str]]]:
        path = self.folder / f"batch-{number}.json"
        kept = _read_batch(path, self.key)
        if kept is not None:
            return kept
        first = next(iter(self.systems.values()))
        tables = KeptRules(first.rules)
        tokens = [first.config.prepare(sentence) for sentence in sentences]
        made = {name: self._runs(system, tokens, tables) for name, system in self.systems.items()}
        with atomic_writer(path) as stream:
            stream.write(canonical_json({"key": self.key, "translations": made}))
        return made

    def _runs(
        self, system: TranslationSystem, sentences: Sequence[Sequence[str]], tables: RuleSource
    ) -> dict[str, list[str]]:
        rules = KeptRules(lambda tokens: system.decoder.prepare(tables(tokens)))
        return {str(seed): _translations(system, sentences, rules, seed) for seed in self.seeds}


def _translations(
    system: TranslationSystem, sentences: Sequence[Sequence[str]], rules: RuleSource, seed: int
) -> list[str]:
    assert system.tuned is not None
    decoder = system.decoder.with_weights(system.tuned.run(seed).weights)
    return list(decoder.map(lambda translation: system.config.text_of(translation.tokens), sentences, rules))


def _read_batch(path: Path, key: str) -> dict[str, dict[str, list[str]]] | None:
    """None if it is not there, or of something else."""
    try:
        content = json.loads(path.read_bytes())
        return dict(content["translations"]) if content["key"] == key else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _write_translations(folder: Path, translated: Mapping[str, Mapping[int, Sequence[str]]]) -> None:
    """Files that `morphlm translate evaluate` reads."""
    for name, runs in translated.items():
        for seed, lines in runs.items():
            with atomic_writer(folder / f"{name}.run-{seed}.txt") as stream:
                stream.writelines(f"{line}\n".encode() for line in lines)
