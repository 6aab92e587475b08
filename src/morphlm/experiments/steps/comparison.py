"""A test text translated by all systems of a pair of languages, and the systems compared (Table 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.artefacts import Producer, fingerprint
from morphlm.costs import Cost
from morphlm.errors import FormatError, InputError
from morphlm.experiments.cell import Cell
from morphlm.experiments.corpora import in_groups
from morphlm.experiments.pairs import TEST_YEAR, TUNING_YEAR, NewsText, Pair
from morphlm.experiments.schema import BATCH
from morphlm.experiments.steps.base import SHORT_KEY, START, Description, Measured, RunContext, Step, StepResult
from morphlm.experiments.steps.bitext import BitextStep
from morphlm.experiments.steps.tuning import DECODING, EXTRACTING, TuningStep
from morphlm.experiments.store import Store, hashes_of
from morphlm.files import atomic_writer, make_folder, sha256_of
from morphlm.modelfile import canonical_json
from morphlm.progress import progress_bar
from morphlm.schema import read_document
from morphlm.translation.decoder.decoder import RuleSource
from morphlm.translation.evaluation.comparison import compare_systems
from morphlm.translation.evaluation.significance import SHUFFLES
from morphlm.translation.system.directory import WEIGHTS
from morphlm.translation.system.system import TranslationSystem
from morphlm.translation.system.tuning import KeptRules

SHUFFLE_SEED = 1  # of the shuffles that p-values are counted from
BATCH_SIZE = 50  # sentences of a test text that are translated by all systems before the next
OVERHEAD, BYTES = 10.0, 1_000_000

Translations = dict[str, dict[str, list[str]]]  # [system][seed of the run]: a translation for each sentence


@dataclass(frozen=True, eq=False)
class ComparisonStep(Step[dict[str, Any]]):
    """BLEU and chrF of the systems of a pair, with tests of significance."""

    tunings: Mapping[str, TuningStep]  # by the names of systems, the baseline first
    news: NewsText
    sentences: int

    producer = Producer("comparison", 5, ("morphlm.translation", "morphlm.experiments.pairs"))
    is_evaluation = True

    @property
    def pair(self) -> Pair:
        return self.news.pair

    def describe(self) -> Description:
        settings = {"sentences": self.sentences, "shuffles": SHUFFLES, "shuffle_seed": SHUFFLE_SEED}
        return Description(f"{self.pair}: test", settings, tuple(self.tunings.values()), self.news.files)

    @classmethod
    def for_cell(cls, cell: Cell) -> dict[str, ComparisonStep]:
        """Systems with the first of the models alone, and beside each of the others."""
        pair, options = cell.source.pair, cell.recipe.translation
        if pair is None:
            return {}
        bitext, tuning_news = BitextStep(pair, cell.source.parallel(pair)), cell.source.news(pair, TUNING_YEAR)
        runs = 1 if str(pair) in options.single else options.runs
        first, *others = cell.models
        tunings = {
            "+".join(names): TuningStep(
                bitext, {name: cell.models[name] for name in names}, tuning_news, options.tuning, runs
            )
            for names in ((first,), *((first, other) for other in others))
        }
        return {str(pair): cls(tunings, cell.source.news(pair, TEST_YEAR), options.test)}

    def estimate(self, store: Store, measured: Measured) -> Cost:
        searches = sum(tuning.runs for tuning in self.tunings.values())
        return Cost(START + OVERHEAD + self.sentences * (EXTRACTING + searches * DECODING), BYTES)

    def run(self, context: RunContext) -> StepResult:
        store = context.store
        systems = {name: _tuned_system(tuning, store) for name, tuning in self.tunings.items()}
        weights = [path / WEIGHTS for path in systems.values()]
        key = self.translations_key([sha256_of(path) for path in weights])
        bitext, seeds = self._first.bitext, self._first.seeds
        out = make_folder(bitext.folder(store) / f"test-{key[:SHORT_KEY]}")
        was_begun = any(out.iterdir())
        sources, references = self.news.sample(self.sentences)
        loaded = {name: TranslationSystem.load(path) for name, path in systems.items()}
        translated = _Translator(loaded, seeds, out, key).translate(sources)
        _write_translations(out, translated)
        compared = compare_systems(
            {name: list(runs.values()) for name, runs in translated.items()},
            references,
            seed=SHUFFLE_SEED,
            shuffles=SHUFFLES,
        )
        content = {"pair": str(self.pair), "place": store.relative(out)} | compared.to_json()
        return StepResult(content, weights, fresh=not was_begun)

    @property
    def _first(self) -> TuningStep:
        return next(iter(self.tunings.values()))

    def translations_key(self, weights: Sequence[str]) -> str:
        """A hash of all that the translations depend on, which other shuffles of them do not change."""
        systems, texts = [step.key for step in self.inputs], hashes_of(self.news.files)
        return fingerprint({"systems": systems, "weights": weights, "texts": texts, "sentences": self.sentences})


def _tuned_system(tuning: TuningStep, store: Store) -> Path:
    record = tuning.find(store)
    if record is None:
        raise InputError(f"{tuning.name}: this system is not there any more; run the same command again")
    return store.folder / str(record.result["place"])


# ---------------------------------------------------------------- translating


@dataclass(frozen=True)
class _Translator:
    """Translates with several systems of one parallel text, so that the rules of a sentence are extracted once.

    Each batch of a text is kept in a folder when it is translated.
    """

    systems: Mapping[str, TranslationSystem]
    seeds: Sequence[int]
    folder: Path
    key: str  # a hash of all that the translations depend on

    def translate(self, sentences: Sequence[str]) -> Translations:
        """The translations of all sentences by each system, with the weights of each run."""
        translations: Translations = {name: {str(seed): [] for seed in self.seeds} for name in self.systems}
        with progress_bar("translating", len(sentences), "sentence") as bar:
            for number, batch in enumerate(in_groups(sentences, BATCH_SIZE)):
                for name, seed, lines in _runs_in(self._batch(number, batch)):
                    translations[name][seed] += lines
                bar.update(len(batch))
        return translations

    def _batch(self, number: int, sentences: Sequence[str]) -> Translations:
        path = self.folder / f"batch-{number}.json"
        kept = _read_batch(path, self.key)
        if kept is not None and self._is_of(kept, len(sentences)):
            return kept
        first = next(iter(self.systems.values()))
        tables = KeptRules(first.rules)
        tokens = [first.config.prepare(sentence) for sentence in sentences]
        made = {name: self._runs(system, tokens, tables) for name, system in self.systems.items()}
        with atomic_writer(path, is_ours=True) as stream:
            stream.write(canonical_json({"key": self.key, "translations": made}))
        return made

    def _is_of(self, translations: Translations, sentences: int) -> bool:
        """Whether every system has translated all sentences with the weights of each run."""
        seeds = {str(seed) for seed in self.seeds}
        is_complete = translations.keys() == self.systems.keys()
        is_complete = is_complete and all(runs.keys() == seeds for runs in translations.values())
        return is_complete and all(len(lines) == sentences for _, _, lines in _runs_in(translations))

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


def _runs_in(translations: Translations) -> Iterator[tuple[str, str, list[str]]]:
    for name, runs in translations.items():
        for seed, lines in runs.items():
            yield name, seed, lines


def _read_batch(path: Path, key: str) -> Translations | None:
    """None if it does not exist, is damaged, or is of something else."""
    try:
        content = read_document(path, BATCH)
    except (OSError, FormatError):
        return None
    return dict(content["translations"]) if content["key"] == key else None


def _write_translations(folder: Path, translations: Translations) -> None:
    """Files that `morphlm translate evaluate` reads."""
    for name, seed, lines in _runs_in(translations):
        with atomic_writer(folder / f"{name}.run-{seed}.txt", is_ours=True) as stream:
            stream.writelines(f"{line}\n".encode() for line in lines)
