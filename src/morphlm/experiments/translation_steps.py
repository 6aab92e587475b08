"""The steps of a translation experiment: what each one is, so that its key is known before anything is run.

`bitext` prepares and aligns the parallel text of a pair of languages; `tuning` builds a system of it with language
models and tunes it; `comparison` translates a test text with all systems of a pair and compares them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from morphlm.experiments.graph import Step
from morphlm.experiments.pairs import TEST_YEAR, TUNING_YEAR, Pair
from morphlm.experiments.recipe import TranslationChoices
from morphlm.experiments.texts import TextSource, hashes_of
from morphlm.translation.evaluation.significance import SHUFFLES
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.tuning.loop import TuningConfig

PAIRS_A_BYTE = 0.0125  # of the folder's compressed parallel texts
POP_LIMIT = 100  # of all systems: half of the default, so that the whole table takes hours, not days
TUNING = TuningConfig()
SEED = 1  # of the shuffles that p-values are counted from


@dataclass(frozen=True)
class TranslationSteps:
    """All steps of one pair of languages."""

    pair: Pair
    bitext: Step
    tunings: Mapping[str, Step]  # by the names of systems, the baseline first
    comparison: Step

    def __iter__(self) -> Iterator[Step]:
        """In order."""
        yield self.bitext
        yield from self.tunings.values()
        yield self.comparison


def translation_steps(
    source: TextSource, pair: Pair, models: Mapping[str, Step], choices: TranslationChoices
) -> TranslationSteps:
    """The first of the models alone, and beside each of the others."""
    runs = 1 if str(pair) in choices.single else choices.runs
    bitext = _bitext_step(pair, source.parallel(pair))
    first, *others = models
    tuning = _tested(source, pair, TUNING_YEAR)
    tunings = {
        "+".join(names): _tuning_step(bitext, {name: models[name] for name in names}, tuning, choices.tuning, runs)
        for names in ((first,), *((first, other) for other in others))
    }
    test = _tested(source, pair, TEST_YEAR)
    return TranslationSteps(pair, bitext, tunings, _comparison_step(bitext, tunings, test, choices.test))


def _tested(source: TextSource, pair: Pair, year: int) -> dict[str, Path]:
    """A text in both languages."""
    return {language: source.newstest(year, language) for language in (pair.source, pair.target)}


def system_config(pair: Pair) -> SystemConfig:
    """The settings of all systems of a pair."""
    return SystemConfig((pair.source, pair.target)).with_decoder(pop_limit=POP_LIMIT)


def _bitext_step(pair: Pair, path: Path) -> Step:
    config = system_config(pair)
    settings = {"pair": str(pair), "config": {**config.to_json(), "decoder": None, "grammar": None}}
    hints = {"pair": pair, "path": path, "pairs": int(PAIRS_A_BYTE * path.stat().st_size)}
    return Step("bitext", 1, f"{pair} parallel text", settings, files=hashes_of({"parallel": path}), hints=hints)


def _tuning_step(
    bitext: Step, models: Mapping[str, Step], texts: Mapping[str, Path], sentences: int, runs: int
) -> Step:
    config, pair = system_config(bitext.hints["pair"]), bitext.hints["pair"]
    settings = {
        "sentences": sentences,
        "seeds": list(range(1, runs + 1)),
        "tuning": asdict(TUNING),
        "grammar": asdict(config.grammar),
        "decoder": asdict(config.decoder),
    }
    name = f"{pair} {'+'.join(models)}: tuning"
    hints = {"pair": pair, "models": tuple(models), "texts": dict(texts)}
    return Step("tuning", 1, name, settings, (bitext, *models.values()), hashes_of(texts), hints=hints)


def _comparison_step(bitext: Step, tunings: Mapping[str, Step], texts: Mapping[str, Path], sentences: int) -> Step:
    pair = bitext.hints["pair"]
    settings = {"sentences": sentences, "shuffles": SHUFFLES, "shuffle_seed": SEED}
    hints = {"pair": pair, "bitext": bitext, "systems": tuple(tunings), "texts": dict(texts)}
    return Step("comparison", 2, f"{pair}: test", settings, tuple(tunings.values()), hashes_of(texts), hints=hints)


def runs_of(tuning: Step) -> Sequence[int]:
    """The seeds of its runs."""
    return [int(seed) for seed in tuning.settings["seeds"]]
