"""The last stage: mix if that helps, measure, write vectors and the report, find words of the text to try it with."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

from morphlm.language_model.base import LanguageModel
from morphlm.learning.commands import repeat_commands
from morphlm.learning.directory import LearnDirectory
from morphlm.learning.record import Figures, LearnRecord, ResultRecord
from morphlm.learning.request import LearnRequest
from morphlm.files import make_folder
from morphlm.modelfile import MANIFEST, copy_model, read_model
from morphlm.report.document import write_report
from morphlm.report.examples import common_words, new_words
from morphlm.report.headline import composable_share, headline
from morphlm.report.scored_models import read_text, score_loaded_models
from morphlm.scoring.loading import load
from morphlm.scoring.mixing import mix_and_test
from morphlm.scoring.spelling import train_spelling
from morphlm.vectors.export import export_morphemes, export_vectors
from morphlm.vocabulary.corpus import read_corpus

KNESER_NEY, CLBL, MIXTURE = "mkn", "clbl++", "mixture"
CONTEXT_TOKENS = 2000  # a development text of fewer fits one weight a model, not one for each kind of context
WORDS, NEW_WORDS, BEGINNINGS, BEGINNING_WORDS = 6, 3, 3, 3


def mix_or_keep(directory: LearnDirectory, kneser_ney: Path, clbl: Path, request: LearnRequest) -> tuple[str, str]:
    """Write DIR/model: the mixture, or Kneser-Ney alone where the mixture is no better. Gives its kind, and its weights."""
    dev = directory.text("dev")
    tokens = dev.read_bytes().count(b" ") + 1
    weights_by = "context" if tokens >= CONTEXT_TOKENS else "none"
    if (clbl / MANIFEST).is_file():
        mixed = mix_and_test(
            [kneser_ney, clbl], dev, weights_by=weights_by, allow_unknown=request.allow_unknown, prepared=True
        )
        alone, _, both = (result.including_unknown for result in mixed.development)
        if both < alone:
            mixed.model.save(directory.model)
            return MIXTURE, weights_by
    shutil.rmtree(directory.model, ignore_errors=True)
    copy_model(kneser_ney, read_model(kneser_ney).digest, directory.model)
    return KNESER_NEY, weights_by


def finish(
    directory: LearnDirectory,
    record: LearnRecord,
    kind: str,
    weights_by: str,
    kneser_ney: Path,
    clbl: Path,
    request: LearnRequest,
) -> ResultRecord:
    """Measure all models, write vectors and report."""
    paths = {KNESER_NEY: kneser_ney} | ({CLBL: clbl} if (clbl / MANIFEST).is_file() else {})
    paths |= {MIXTURE: directory.model} if kind == MIXTURE else {}
    models = {name: load(path) for name, path in paths.items()}
    best = models[kind]
    figures = _measure(directory, models, request)
    text = read_text(str(directory.text("test")), allow_unknown=request.allow_unknown)
    composable = None
    unseen: tuple[str, ...] = ()
    if kind == MIXTURE:
        make_folder(directory.vectors)
        export_vectors(best.vectors, directory.vectors / "words.bin", "word2vec-binary")
        export_morphemes(best.vectors, directory.vectors / "morphemes.bin", "word2vec-binary")
        seen = set(read_corpus(directory.text("train"), allow_unknown=True).words.forms)
        never_seen = [word for word in text.counts if word not in seen]
        composable = composable_share(best.vectors, never_seen)
        unseen = tuple(new_words(best.vectors, never_seen, NEW_WORDS))
    named = [(name, str(paths[name]), model) for name, model in models.items()]
    write_report(score_loaded_models(text, named, len(named), seed=request.seed), directory.report)
    mkn = figures[KNESER_NEY].test if kind == MIXTURE else None
    return ResultRecord(
        kind=kind,
        perplexities=figures,
        composable=composable,
        headline=headline(figures[kind].test, mkn, composable),
        words=tuple(common_words(best.vocabulary, WORDS)),
        new_words=unseen,
        beginnings=tuple(_beginnings(text.sentences)),
        commands=repeat_commands(directory, record, kind, weights_by=weights_by),
    )


def _measure(directory: LearnDirectory, models: dict[str, LanguageModel], request: LearnRequest) -> dict[str, Figures]:
    """Perplexities of the development and the test text; all models have the same vocabulary."""
    spelling = train_spelling(next(iter(models.values())).vocabulary)
    figures = {}
    for name, model in models.items():
        results = [
            model.perplexity(
                directory.text(part), spelling=spelling, allow_unknown=request.allow_unknown, prepared=True
            )
            for part in ("dev", "test")
        ]
        spelled = [math.nan if one.open_vocabulary is None else one.open_vocabulary.perplexity for one in results]
        figures[name] = Figures(results[0].including_unknown, results[1].including_unknown, *spelled)
    return figures


def _beginnings(sentences: list[list[str]]) -> list[str]:
    """The first words of some sentences, to be completed."""
    chosen = []
    for sentence in sentences:
        first = sentence[:BEGINNING_WORDS]
        if len(sentence) > BEGINNING_WORDS + 2 and all(word.isalpha() for word in first):
            chosen.append(" ".join(first))
        if len(chosen) == BEGINNINGS:
            break
    return chosen
