"""The demo: from nothing to trained models on the default data, with what was found printed on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from morphlm.classes.partition import Partition
from morphlm.errors import FetchError
from morphlm.language_model.perplexity import Perplexity, format_table
from morphlm.ngram.training import NgramConfig, preparation_record, train_ngram_on
from morphlm.progress import say
from morphlm.segmentation.morphemes import Segmentation
from morphlm.text.datasets import DataFolder, get_dataset
from morphlm.text.prepare import PrepareOptions, prepare_files
from morphlm.text.processes import available_cores
from morphlm.training.chain import STAGES_FOLDER, ModelChoices, RunChoices, fit, task_of
from morphlm.training.checkpoint import belongs_to, place_of, remove_checkpoint
from morphlm.training.stages import Materials, StageChoices, Stages, gather
from morphlm.vocabulary.corpus import read_corpus
from morphlm.vocabulary.statistics import CorpusStatistics, corpus_statistics, format_statistics
from morphlm.vocabulary.vocabulary import Vocabulary

PARTS = ("train", "dev", "test")
ORDERS = (2, 3, 4)  # of modified Kneser-Ney
LOGBILINEAR, WIDTH = ("clbl", "clbl++"), 100
SHOWN_WORDS, SHOWN_CLASSES = 10, 5

Item = TypeVar("Item")


@dataclass(frozen=True)
class DemoConfig:
    """What the demo does; the defaults are the paper's for a million tokens."""

    directory: Path  # data, prepared text and models go here
    language: str = "cs"
    kappa: float = 0.2  # share of the singletons that becomes UNK
    seed: int = 1


@dataclass(frozen=True)
class DemoResult:
    """What was found."""

    data: str  # name of the data set
    corpus: list[CorpusStatistics]
    morphemes: list[str]  # some words as their labelled morphemes
    classes: list[list[str]]  # the most frequent words of some classes
    perplexities: list[tuple[str, Perplexity]]  # named by model and text
    models: list[Path]

    def to_json(self) -> dict[str, Any]:
        """All figures under their names."""
        return {
            "data": self.data,
            "corpus": [row.to_json() for row in self.corpus],
            "morphemes": self.morphemes,
            "classes": self.classes,
            "perplexities": [{"name": name} | result.to_json() for name, result in self.perplexities],
            "models": [str(path) for path in self.models],
        }

    def format(self) -> str:
        """For a person."""
        morphemes = "\n".join(f"  {line}" for line in self.morphemes)
        classes = "\n".join(f"  {' '.join(words)}" for words in self.classes)
        models = "\n".join(f"  {path}" for path in self.models)
        return (
            f"Corpus ({self.data})\n{format_statistics(self.corpus)}\n\n"
            f"Morphemes of some words (prefix, stem, suffix)\n{morphemes}\n\n"
            f"Frequent words of some classes\n{classes}\n\n"
            f"Perplexity\n{format_table(self.perplexities)}\n\n"
            f"Written: models for `morphlm ppl`, a segmenter for `morphlm segment --load`, classes\n{models}"
        )


def run_demo(config: DemoConfig) -> DemoResult:
    """Get the data, prepare it, train and evaluate."""
    data = get_data(config)
    texts = {part: prepare_part(data, part, config) for part in PARTS}
    statistics = [corpus_statistics(part, read_corpus(texts[part]).words, config.kappa) for part in PARTS]
    materials, segmentation, models = learn_structure(texts, config, data.languages[0])
    perplexities = []
    for order in ORDERS:
        say(f"training modified Kneser-Ney of order {order} ...")
        ngram_config = NgramConfig(order, config.kappa, config.seed)
        model = train_ngram_on(materials.train, ngram_config, preparation_record(texts["train"]))
        models.append(config.directory / f"{data.languages[0]}.mkn{order}")
        model.save(models[-1])
        perplexities += [(f"mkn {order}-gram, {part}", model.perplexity(texts[part])) for part in ("dev", "test")]
    for kind in LOGBILINEAR:
        say(f"training {kind} ...")
        models.append(config.directory / f"{data.languages[0]}.{kind}")
        perplexities += train_logbilinear(kind, materials, models[-1], config.seed)
    morphemes = some_words(segmentation, materials.vocabulary)
    assert materials.partition is not None
    return DemoResult(data.name, statistics, morphemes, some_classes(materials.partition), perplexities, models)


def learn_structure(
    texts: dict[str, Path], config: DemoConfig, language: str
) -> tuple[Materials, Segmentation, list[Path]]:
    """Morphemes and classes of the vocabulary, and where they are kept under names for people."""
    places = [config.directory / f"{language}.segmenter", config.directory / f"{language}.classes.tsv"]
    choices, folder = StageChoices(kappa=config.kappa, seed=config.seed), config.directory / STAGES_FOLDER
    materials = gather(texts["train"], texts["dev"], choices, folder, test=texts["test"])
    segmenter = Stages(folder).segmenter(materials.vocabulary, choices)
    segmenter.save(places[0])
    assert materials.partition is not None
    materials.partition.save(places[1])
    return materials, segmenter.segmentation, places


def train_logbilinear(kind: str, materials: Materials, out: Path, seed: int) -> list[tuple[str, Perplexity]]:
    """Train a model, unless it is there; a demo that was interrupted goes on."""
    choices = ModelChoices(width=WIDTH, seed=seed)
    forget_others(out, task_of(kind, materials, choices).identity)
    run = RunChoices(resume=place_of(out).exists())
    trained = fit(kind, materials, choices, run, out, keep_complete=True)
    assert trained.test is not None
    return [(f"{kind}, dev", trained.development), (f"{kind}, test", trained.test)]


def forget_others(out: Path, identity: str) -> None:
    """A demo with another seed or language may have been interrupted here; this one does not go on with that."""
    place = place_of(out)
    if place.exists() and not belongs_to(place, identity):
        say(f"{place}: this is of a demo with other data or another seed; it is removed, and training begins anew")
        remove_checkpoint(place)


def some_classes(partition: Partition) -> list[list[str]]:
    """Frequent words of some classes that are not too small."""
    large = [words for words, size in zip(partition.examples(8), partition.sizes, strict=True) if size >= 8]
    return spread(large, SHOWN_CLASSES)


def some_words(segmentation: Segmentation, vocabulary: Vocabulary) -> list[str]:
    """Words of two morphemes or more, from the frequent to the rare."""
    composed = [word for word in vocabulary if len(segmentation.analyses.get(word, ())) > 1]
    return [" + ".join(map(str, segmentation[word])) for word in spread(composed, SHOWN_WORDS)]


def spread(items: Sequence[Item], count: int) -> list[Item]:
    """So many items, evenly spaced."""
    return [items[k * len(items) // count] for k in range(min(count, len(items)))]


def get_data(config: DemoConfig) -> DataFolder:
    """The default data set; where it cannot be had, the generated language, saying so. Its parts depend on the seed."""
    mark = "" if config.seed == DemoConfig.seed else f".seed{config.seed}"
    try:
        say(f"getting libreoffice-help ({config.language}) ...")
        directory = config.directory / f"libreoffice-help.{config.language}{mark}"
        return get_dataset("libreoffice-help", directory, language=config.language, seed=config.seed)
    except FetchError as error:
        say(f"{error}\nfalling back to a generated language, so the figures below are not of a real one")
        return get_dataset("generated", config.directory / f"generated{mark}", seed=config.seed)


def prepare_part(data: DataFolder, part: str, config: DemoConfig) -> Path:
    """Tokenise and normalise one part as the paper does; generated text is tokenised already."""
    language = data.languages[0]
    out = config.directory / f"{part}.{language}.prepared.txt"
    say(f"preparing {part} ...")
    options = PrepareOptions(language="en" if data.name == "generated" else language, tokenise=data.name != "generated")
    preparation = prepare_files([data.path(part, language)], out, options, processes=available_cores())
    say(f"  {preparation.counts.format()}")
    return out
