"""The last stage: mix if that helps, measure, write vectors and the report, find words of the text to try it with."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from morphlm.arrays import Float64Array
from morphlm.files import make_folder
from morphlm.language_model.base import LanguageModel
from morphlm.lazy import cached_property
from morphlm.learning.commands import mixed_models, repeat_commands
from morphlm.learning.directory import LearnDirectory
from morphlm.learning.record import Figures, LearnRecord, ResultRecord
from morphlm.learning.schema import (
    CACHED_KNESER_NEY,
    CACHED_MIXTURE,
    CACHES,
    CLBL,
    KNESER_NEY,
    MIXTURE,
    MORPHEME_CACHE,
)
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.modelfile import MANIFEST, copy_model, read_model
from morphlm.report.document import write_report
from morphlm.report.examples import common_words, content_words, new_words
from morphlm.report.headline import composable_share, headline
from morphlm.report.scored_models import TestText, read_text, score_loaded_models
from morphlm.scoring.loading import load
from morphlm.scoring.mixing import mix_and_test
from morphlm.scoring.mixture import MixtureModel, WeightsBy
from morphlm.scoring.spelling import train_spelling
from morphlm.vectors.export import export_morphemes, export_vectors
from morphlm.vectors.vectors import WordVectors
from morphlm.vocabulary.corpus import count_words

CONTEXT_TOKENS = 500  # a development text of fewer fits one weight a model, not one for each kind of context
SURE = 3.0  # standard errors by which mixtures must be better: their settings and weights were fitted to this text
WORDS, NEW_WORDS, BEGINNINGS, BEGINNING_WORDS = 6, 3, 3, 3


@dataclass(frozen=True)
class Kept:
    """Which model was kept, and how its weights were fitted."""

    kind: str  # MIXTURE or KNESER_NEY
    weights_by: WeightsBy
    caches: tuple[str, ...] | None = None  # that are in the mixture; None: none were tried


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A model with its scores of the development text."""

    model: LanguageModel
    logprobs: Float64Array

    def is_better(self, other: _Candidate) -> bool:
        """Whether the text is more likely under it, by more than chance and our choices explain."""
        gains = self.logprobs - other.logprobs
        return bool(gains.mean() > SURE * gains.std() / math.sqrt(len(gains)))


@dataclass(frozen=True)
class _Mixer:
    """Mixes the models that were trained, with weights that are fitted to the development text."""

    directory: LearnDirectory
    allow_unknown: bool

    @cached_property
    def weights_by(self) -> WeightsBy:
        return "context" if len(self.directory.text("dev").read_bytes().split()) >= CONTEXT_TOKENS else "none"

    def has(self, name: str) -> bool:
        return (self.directory.trained(name) / MANIFEST).is_file()

    def mix(self, names: Sequence[str]) -> MixtureModel:
        return mix_and_test(
            [self.directory.trained(name) for name in names],
            self.directory.text("dev"),
            weights_by=self.weights_by,
            allow_unknown=self.allow_unknown,
            prepared=True,
        ).model

    def candidate(self, model: LanguageModel) -> _Candidate:
        """The text goes on from sentence to sentence: a cache knows of each what was before it, and nothing else."""
        scored = model.score_text(self.directory.text("dev"), allow_unknown=self.allow_unknown, prepared=True)
        return _Candidate(model, scored.logprobs)


def mix_or_keep(directory: LearnDirectory, *, allow_unknown: bool) -> Kept:
    """Write DIR/model: the mixture, with the caches that make it better; or Kneser-Ney alone where there is nothing to
    mix or mixing is no better.
    """
    mixer = _Mixer(directory, allow_unknown)
    if mixer.has(CLBL):
        plain = mixer.candidate(mixer.mix(mixed_models()))
        if plain.is_better(mixer.candidate(load(directory.kneser_ney))):
            best, caches = _try_caches(mixer, plain)
            if caches:
                plain.model.save(directory.plain_mixture)
            best.model.save(directory.model)
            return Kept(MIXTURE, mixer.weights_by, caches)
    shutil.rmtree(directory.model, ignore_errors=True)
    copy_model(directory.kneser_ney, read_model(directory.kneser_ney).digest, directory.model)
    return Kept(KNESER_NEY, mixer.weights_by)


def _try_caches(mixer: _Mixer, plain: _Candidate) -> tuple[_Candidate, tuple[str, ...] | None]:
    """Add one cache after the other to the mixture, if it becomes better; None: there are none."""
    made = [cache for cache in CACHES if mixer.has(cache)]
    best = plain
    caches: tuple[str, ...] = ()
    for cache in made:
        larger = mixer.candidate(mixer.mix(mixed_models((*caches, cache))))
        if larger.is_better(best):
            best, caches = larger, (*caches, cache)
    return best, caches if made else None


def describe(directory: LearnDirectory, record: LearnRecord, kept: Kept) -> ResultRecord:
    """Measure all models; write vectors and report."""
    allow_unknown, seed = record.settings["allow_unknown"], record.settings["seed"]
    paths = _shown_models(directory, kept)
    models = {name: load(path) for name, path in paths.items()}
    figures = _measure(directory, models | _cached_kneser_ney(directory, kept, allow_unknown), allow_unknown)
    test = str(directory.text("test"))
    text = read_text(test, list(models.values()), allow_unknown=allow_unknown, prepared=True)
    vectors = models[kept.kind].vectors if kept.kind == MIXTURE else None
    composable = composable_share(vectors, text.counts)  # as in the report
    _write_vectors(vectors, directory.vectors)
    named = [(name, str(paths[name]), model) for name, model in models.items()]
    write_report(score_loaded_models(text, named, len(named), seed=seed), directory.report)
    kneser_ney = figures[KNESER_NEY].test if kept.kind == MIXTURE else None
    with_caches = figures[CACHED_MIXTURE].test if kept.caches else None
    return ResultRecord(
        kind=kept.kind,
        perplexities=figures,
        composable=composable,
        headline=headline(figures[kept.kind].test, kneser_ney, composable, with_caches),
        words=_telling_words(models),
        new_words=_new_words(vectors, directory.text("train"), text),
        beginnings=_beginnings(text.sentences),
        commands=repeat_commands(directory, record, kept.kind, weights_by=kept.weights_by, caches=kept.caches or ()),
        caches=kept.caches,
    )


def _shown_models(directory: LearnDirectory, kept: Kept) -> dict[str, Path]:
    """Those of the report: Kneser-Ney and, if it is mixed, CLBL++ and the mixture, without caches and with them."""
    if kept.kind == KNESER_NEY:
        return {KNESER_NEY: directory.kneser_ney}
    models = {KNESER_NEY: directory.kneser_ney, CLBL: directory.clbl}
    if kept.caches:
        return models | {MIXTURE: directory.plain_mixture, CACHED_MIXTURE: directory.model}
    return models | {MIXTURE: directory.model}


def _cached_kneser_ney(directory: LearnDirectory, kept: Kept, allow_unknown: bool) -> dict[str, LanguageModel]:
    """Kneser-Ney with a cache, so that one model that learns from the text before can be compared with another."""
    mixer = _Mixer(directory, allow_unknown)
    if not kept.caches or not mixer.has(MORPHEME_CACHE):
        return {}
    return {CACHED_KNESER_NEY: mixer.mix((KNESER_NEY, MORPHEME_CACHE))}


def _measure(directory: LearnDirectory, models: dict[str, LanguageModel], allow_unknown: bool) -> dict[str, Figures]:
    """Perplexities of the development and the test text; all models have the same vocabulary."""
    spelling = train_spelling(models[KNESER_NEY].vocabulary)
    figures = {}
    for name, model in models.items():
        dev, test = (
            model.perplexity(directory.text(part), spelling=spelling, allow_unknown=allow_unknown, prepared=True)
            for part in ("dev", "test")
        )
        assert dev.open_vocabulary is not None
        assert test.open_vocabulary is not None
        spelled = (dev.open_vocabulary.perplexity, test.open_vocabulary.perplexity)
        figures[name] = Figures(dev.including_unknown, test.including_unknown, *spelled)
    return figures


def _new_words(vectors: WordVectors | None, train: Path, text: TestText) -> tuple[str, ...]:
    """Some words of the test text that the training text does not have, and that can be composed."""
    if vectors is None:
        return ()
    seen = set(count_words(train, allow_unknown=True).forms)
    return tuple(new_words(vectors, (word for word in text.counts if word not in seen), NEW_WORDS))


def _telling_words(models: Mapping[str, LanguageModel]) -> tuple[str, ...]:
    """Frequent words of content, of different classes; without classes, any frequent ones."""
    model = models.get(CLBL)
    found = []
    if isinstance(model, LogBilinearModel) and model.partition is not None:
        found = content_words(model.partition, WORDS)
    return tuple(found or common_words(models[KNESER_NEY].vocabulary, WORDS))


def _write_vectors(vectors: WordVectors | None, folder: Path) -> None:
    if vectors is not None:
        make_folder(folder)
        export_vectors(vectors, folder / "words.bin", "word2vec-binary")
        export_morphemes(vectors, folder / "morphemes.bin", "word2vec-binary")


def _beginnings(sentences: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The first words of some sentences, to be completed."""
    firsts = (sentence[:BEGINNING_WORDS] for sentence in sentences if len(sentence) > BEGINNING_WORDS + 2)
    worded = (" ".join(words) for words in firsts if all(word.isalpha() for word in words))
    return tuple(dict.fromkeys(worded))[:BEGINNINGS]
