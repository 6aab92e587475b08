"""The last stage: mix if that helps, measure, write vectors and the report, find words of the text to try it with."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from morphlm.files import make_folder
from morphlm.language_model.base import LanguageModel
from morphlm.learning.commands import repeat_commands
from morphlm.learning.directory import LearnDirectory
from morphlm.learning.record import Figures, LearnRecord, ResultRecord
from morphlm.learning.schema import CACHES, CLBL, KNESER_NEY, MIXTURE
from morphlm.logbilinear.model import LogBilinearModel
from morphlm.modelfile import MANIFEST, copy_model, read_model
from morphlm.report.document import write_report
from morphlm.report.examples import common_words, content_words, new_words
from morphlm.report.headline import composable_share, headline
from morphlm.report.scored_models import TestText, read_text, score_loaded_models
from morphlm.scoring.loading import load
from morphlm.scoring.mixing import mix_and_test
from morphlm.scoring.mixture import WeightsBy
from morphlm.scoring.spelling import train_spelling
from morphlm.vectors.export import export_morphemes, export_vectors
from morphlm.vectors.vectors import WordVectors
from morphlm.vocabulary.corpus import read_corpus

CONTEXT_TOKENS = 500  # a development text of fewer fits one weight a model, not one for each kind of context
SURE = 3.0  # standard errors by which the mixture must be better: its settings and weights were fitted to this text
WORDS, NEW_WORDS, BEGINNINGS, BEGINNING_WORDS = 6, 3, 3, 3


@dataclass(frozen=True)
class Kept:
    """Which model was kept, and how its weights were fitted."""

    kind: str  # MIXTURE or KNESER_NEY
    weights_by: WeightsBy
    caches: tuple[str, ...] = ()  # that are in the mixture


def mix_or_keep(directory: LearnDirectory, *, allow_unknown: bool) -> Kept:
    """Write DIR/model: the mixture, or Kneser-Ney alone where there is nothing to mix or mixing is no better."""
    dev, parts = directory.text("dev"), [directory.kneser_ney, directory.clbl]
    weights_by: WeightsBy = "context" if len(dev.read_bytes().split()) >= CONTEXT_TOKENS else "none"
    if (directory.clbl / MANIFEST).is_file():
        mixed = mix_and_test(parts, dev, weights_by=weights_by, allow_unknown=allow_unknown, prepared=True)
        if _is_better(mixed.model, load(directory.kneser_ney), dev, allow_unknown):
            adaptive = _with_caches(directory, weights_by, allow_unknown)
            if adaptive is not None and _is_better(adaptive, mixed.model, dev, allow_unknown):
                adaptive.save(directory.model)
                return Kept(MIXTURE, weights_by, CACHES)
            mixed.model.save(directory.model)
            return Kept(MIXTURE, weights_by)
    shutil.rmtree(directory.model, ignore_errors=True)
    copy_model(directory.kneser_ney, read_model(directory.kneser_ney).digest, directory.model)
    return Kept(KNESER_NEY, weights_by)


def _with_caches(directory: LearnDirectory, weights_by: WeightsBy, allow_unknown: bool) -> LanguageModel | None:
    """The mixture with caches; None if they were not made. The development text goes on from sentence to sentence."""
    parts = [directory.kneser_ney, directory.neural_cache, directory.morpheme_cache]
    if not all((part / MANIFEST).is_file() for part in parts):
        return None
    dev = directory.text("dev")
    return mix_and_test(parts, dev, weights_by=weights_by, allow_unknown=allow_unknown, prepared=True).model


def _is_better(mixture: LanguageModel, alone: LanguageModel, dev: Path, allow_unknown: bool) -> bool:
    """Whether the development text is more likely under the mixture, by more than chance and our choices explain."""
    scores = (model.score_text(dev, allow_unknown=allow_unknown, prepared=True).logprobs for model in (mixture, alone))
    gains = np.subtract(*scores)
    return bool(gains.mean() > SURE * gains.std() / math.sqrt(len(gains)))


def describe(directory: LearnDirectory, record: LearnRecord, kept: Kept) -> ResultRecord:
    """Measure all models; write vectors and report."""
    allow_unknown, seed = record.settings["allow_unknown"], record.settings["seed"]
    paths = {KNESER_NEY: directory.kneser_ney, CLBL: directory.clbl, MIXTURE: directory.model}
    shown = [name for name in paths if kept.kind == MIXTURE or name == KNESER_NEY]
    models = {name: load(paths[name]) for name in shown}
    figures = _measure(directory, models, allow_unknown)
    test = str(directory.text("test"))
    text = read_text(test, list(models.values()), allow_unknown=allow_unknown, prepared=True)
    vectors = models[kept.kind].vectors if kept.kind == MIXTURE else None
    composable = composable_share(vectors, text.counts)  # as in the report
    _write_vectors(vectors, directory.vectors)
    named = [(name, str(paths[name]), model) for name, model in models.items()]
    write_report(score_loaded_models(text, named, len(named), seed=seed), directory.report)
    kneser_ney = figures[KNESER_NEY].test if kept.kind == MIXTURE else None
    return ResultRecord(
        kind=kept.kind,
        perplexities=figures,
        composable=composable,
        headline=headline(figures[kept.kind].test, kneser_ney, composable),
        words=_telling_words(models),
        new_words=_new_words(vectors, directory.text("train"), text),
        beginnings=_beginnings(text.sentences),
        commands=repeat_commands(directory, record, kept.kind, weights_by=kept.weights_by, caches=kept.caches),
        caches=kept.caches,
    )


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
    seen = set(read_corpus(train, allow_unknown=True).words.forms)
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
