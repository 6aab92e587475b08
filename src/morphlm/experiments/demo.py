"""The demo: from nothing to trained models, their mixture, word vectors and a report on the default data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.classes.partition import Partition
from morphlm.errors import FetchError
from morphlm.language_model.perplexity import Perplexity, format_table
from morphlm.progress import notify
from morphlm.report.document import write_report
from morphlm.report.examples import content_words, new_words, spread
from morphlm.report.scored_models import read_text, score_loaded_models
from morphlm.scoring.mixing import Mixed, mix_and_test
from morphlm.segmentation.morphemes import Segmentation
from morphlm.text.datasets import DataFolder, get_dataset
from morphlm.text.preparation import paper_options
from morphlm.text.prepare import prepare_files
from morphlm.threads import available_cores
from morphlm.training.inputs import InputOptions, TrainingInputs, find_segmenter, prepare_inputs
from morphlm.training.job import RunOptions
from morphlm.training.pipeline import ARTEFACTS_FOLDER, ModelOptions, Trained, fit
from morphlm.vectors.questions import QueryAnswer, ask
from morphlm.vectors.vectors import WordVectors
from morphlm.vocabulary.corpus import WordCounts, read_corpus
from morphlm.vocabulary.statistics import CorpusStatistics, corpus_statistics, format_statistics
from morphlm.vocabulary.vocabulary import Vocabulary

PARTS = ("train", "dev", "test")
# name, kind and settings of the models
MODELS: tuple[tuple[str, str, dict[str, int]], ...] = (
    *((f"mkn{order}", "mkn", {"order": order}) for order in (2, 3, 4)),
    *((kind, kind, {"width": 100}) for kind in ("clbl", "clbl++")),
)
MIXED = ("mkn4", "clbl++")
SHOWN_WORDS, SHOWN_CLASSES = 10, 5
CONTENT_WORDS, NEW_WORDS, NEIGHBOURS = 3, 2, 6
REPORTED = ("mkn4", "clbl", "clbl++")  # with the mixture
REPORT = "report.html"


@dataclass(frozen=True)
class DemoConfig:
    """What the demo does; the defaults are the paper's for a million tokens."""

    directory: Path  # data, prepared text and models go here
    language: str = "cs"
    kappa: float = 0.2  # share of the singletons that becomes UNK
    seed: int = 1


@dataclass(frozen=True)
class ComposedWord:
    """A word that is not in the training text."""

    morphemes: tuple[str, ...]  # which the model knows, all of them; their vectors are added
    answer: QueryAnswer  # its neighbours

    def to_json(self) -> dict[str, Any]:
        return {"morphemes": list(self.morphemes)} | self.answer.to_json()

    def format(self) -> str:
        """A line with the morphemes and one with the neighbours."""
        return f"  {self.answer.query} = {' + '.join(self.morphemes)}\n    {format_neighbours(self.answer)}"


@dataclass(frozen=True)
class DemoResult:
    """The figures that the demo prints."""

    data: str  # name of the data set
    corpus: list[CorpusStatistics]
    morphemes: list[str]  # some words as their labelled morphemes
    classes: list[list[str]]  # the most frequent words of some classes
    models: list[Path]
    perplexities: list[tuple[str, Perplexity]]  # named by model and text; those of the mixture are the last
    weights: dict[str, float]  # of the mixture, on average over contexts
    neighbours: list[QueryAnswer]  # of some frequent words
    composed: list[ComposedWord]
    report: Path  # a page to look at

    def to_json(self) -> dict[str, Any]:
        return {
            "data": self.data,
            "corpus": [row.to_json() for row in self.corpus],
            "morphemes": self.morphemes,
            "classes": self.classes,
            "models": [str(path) for path in self.models],
            "perplexities": [{"name": name} | result.to_json() for name, result in self.perplexities],
            "weights": self.weights,
            "neighbours": [answer.to_json() for answer in self.neighbours],
            "composed": [word.to_json() for word in self.composed],
            "report": str(self.report),
        }

    def format(self) -> str:
        morphemes = "\n".join(f"  {line}" for line in self.morphemes)
        classes = "\n".join(f"  {' '.join(words)}" for words in self.classes)
        models = "\n".join(f"  {path}" for path in self.models)
        weights = ", ".join(f"{weight:.2f} {name}" for name, weight in self.weights.items())
        neighbours = "\n".join(f"  {answer.query}: {format_neighbours(answer)}" for answer in self.neighbours)
        composed = "\n".join(word.format() for word in self.composed)
        return (
            f"Corpus ({self.data})\n{format_statistics(self.corpus)}\n\n"
            f"Morphemes of some words (prefix, stem, suffix)\n{morphemes}\n\n"
            f"Frequent words of some classes\n{classes}\n\n"
            f"Written: models for `morphlm ppl`, a segmenter for `morphlm segment --load`, classes\n{models}\n\n"
            f"Perplexity\n{format_table(self.perplexities)}\n"
            f"weights of the mixture, by context, on average: {weights}\n\n"
            f"Neighbours of frequent words, with their cosines\n{neighbours}\n\n"
            f"Neighbours of words that are not in the training text, composed of their morphemes\n{composed}\n\n"
            f"A page to look at\n  {self.report}"
        )


def format_neighbours(answer: QueryAnswer) -> str:
    """`word 0.81, other 0.75`."""
    return ", ".join(f"{name} {similarity:.2f}" for name, similarity in answer.neighbours)


def run_demo(config: DemoConfig) -> DemoResult:
    """Get the data, prepare it, train, mix and evaluate."""
    data = get_data(config)
    texts = {part: prepare_part(data, part, config) for part in PARTS}
    words = {part: read_corpus(texts[part]).words for part in PARTS}
    inputs, segmentation, paths = learn_structure(texts, config, data.languages[0])
    models = train_models(inputs, config, data.languages[0])
    mixed = mix_models(models, texts, config.directory / f"{data.languages[0]}.mixture")
    assert inputs.partition is not None
    vectors = mixed.model.vectors  # those of the log-bilinear model in it
    return DemoResult(
        data=data.name,
        corpus=[corpus_statistics(part, words[part], config.kappa) for part in PARTS],
        morphemes=some_words(segmentation, inputs.vocabulary),
        classes=some_classes(inputs.partition),
        models=[*paths, *(path_of(trained) for trained in models.values()), path_of(mixed)],
        perplexities=named_perplexities(models, mixed),
        weights=dict(zip(MIXED, mixed.model.training["weights"], strict=True)),
        neighbours=neighbours_of(vectors, content_words(inputs.partition, CONTENT_WORDS)),
        composed=composed_words(vectors, words["train"], words["test"]),
        report=report_on(models, mixed, texts["test"], config),
    )


def learn_structure(
    texts: dict[str, Path], config: DemoConfig, language: str
) -> tuple[TrainingInputs, Segmentation, list[Path]]:
    """Morphemes and classes of the vocabulary, and the files with readable names that they are written to."""
    paths = [config.directory / f"{language}.segmenter", config.directory / f"{language}.classes.tsv"]
    options, folder = InputOptions(kappa=config.kappa, seed=config.seed), config.directory / ARTEFACTS_FOLDER
    inputs = prepare_inputs(texts["train"], texts["dev"], options, folder, test=texts["test"])
    segmenter = find_segmenter(inputs.vocabulary, options, folder)
    segmenter.save(paths[0])
    assert inputs.partition is not None
    inputs.partition.save(paths[1])
    return inputs, segmenter.segmentation, paths


def train_models(inputs: TrainingInputs, config: DemoConfig, language: str) -> dict[str, Trained]:
    """All models by their names; those that are complete are not trained again, and an interrupted training goes on."""
    run = RunOptions(keep_complete=True, resume_or_restart=True)
    models = {}
    for name, kind, settings in MODELS:
        notify(f"training {name} ...")
        options, out = ModelOptions(settings, seed=config.seed), config.directory / f"{language}.{name}"
        models[name] = fit(kind, inputs, options, run, out)
    return models


def mix_models(models: dict[str, Trained], texts: dict[str, Path], out: Path) -> Mixed:
    """Interpolate two of them, with weights by context."""
    notify(f"mixing {' and '.join(MIXED)} ...")
    return mix_and_test([path_of(models[name]) for name in MIXED], texts["dev"], out, test=texts["test"])


def report_on(models: dict[str, Trained], mixed: Mixed, test: Path, config: DemoConfig) -> Path:
    """The page on the models that are most worth looking at; they are in memory already."""
    notify("writing the report ...")
    shown: dict[str, Trained | Mixed] = {name: models[name] for name in REPORTED} | {" + ".join(MIXED): mixed}
    named = [(name, str(path_of(written)), written.model) for name, written in shown.items()]
    out = config.directory / REPORT
    text = read_text(str(test), [model for _, _, model in named])
    write_report(score_loaded_models(text, named, len(named), seed=config.seed), out)
    return out


def path_of(written: Trained | Mixed) -> Path:
    """Where a model was written; in a demo all are."""
    assert written.out is not None
    return written.out


def named_perplexities(models: dict[str, Trained], mixed: Mixed) -> list[tuple[str, Perplexity]]:
    """Those of the models, then of the mixture, on both texts."""
    results = {name: (trained.development, trained.test) for name, trained in models.items()}
    results[" + ".join(MIXED)] = (mixed.development[-1], mixed.test[-1])
    return [
        (f"{name}, {part}", result)
        for name, pair in results.items()
        for part, result in zip(("dev", "test"), pair, strict=True)
        if result is not None
    ]


def some_classes(partition: Partition) -> list[list[str]]:
    """Frequent words of some classes that are not too small."""
    large = [words for words, size in zip(partition.examples(8), partition.sizes, strict=True) if size >= 8]
    return spread(large, SHOWN_CLASSES)


def some_words(segmentation: Segmentation, vocabulary: Vocabulary) -> list[str]:
    """Words of two morphemes or more, from the frequent to the rare."""
    composed = [word for word in vocabulary if len(segmentation.analyses.get(word, ())) > 1]
    return [" + ".join(map(str, segmentation[word])) for word in spread(composed, SHOWN_WORDS)]


def composed_words(vectors: WordVectors, train: WordCounts, test: WordCounts) -> list[ComposedWord]:
    """The neighbours of some words that only the test text has."""
    seen = set(train.forms)
    unseen = new_words(vectors, (word for word in test.forms if word not in seen), NEW_WORDS)
    answers = neighbours_of(vectors, list(unseen))
    return [ComposedWord(morphemes, answer) for morphemes, answer in zip(unseen.values(), answers, strict=True)]


def neighbours_of(vectors: WordVectors, words: list[str]) -> list[QueryAnswer]:
    """The nearest words of each, with their cosines."""
    return ask(vectors, words, k=NEIGHBOURS) if words else []


def get_data(config: DemoConfig) -> DataFolder:
    """The default data set; where it cannot be had, the generated language, saying so. Its parts depend on the seed."""
    mark = "" if config.seed == DemoConfig.seed else f".seed{config.seed}"
    try:
        notify(f"getting libreoffice-help ({config.language}) ...")
        directory = config.directory / f"libreoffice-help.{config.language}{mark}"
        return get_dataset("libreoffice-help", directory, language=config.language, seed=config.seed)
    except FetchError as error:
        notify(f"{error}\nfalling back to a generated language, so the figures below are not of a real one")
        return get_dataset("generated", config.directory / f"generated{mark}", seed=config.seed)


def prepare_part(data: DataFolder, part: str, config: DemoConfig) -> Path:
    """Tokenise and normalise one part as the paper does; generated text is tokenised already."""
    language = data.languages[0]
    out = config.directory / f"{part}.{language}.prepared.txt"
    notify(f"preparing {part} ...")
    is_generated = data.name == "generated"
    options = paper_options("en" if is_generated else language, tokeniser="none" if is_generated else "moses")
    preparation = prepare_files([data.path(part, language)], out, options, processes=available_cores())
    notify(f"  {preparation.counts.format()}")
    return out
