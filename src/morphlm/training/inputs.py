"""What a model needs before its training begins: vocabulary, factors and classes, made from the text or given.

Results are kept in a folder under the hash of all that they depend on, so that the second model on the same text finds
them. Each is written in one step: an interrupted run leaves whole results or none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.artefacts import fingerprint
from morphlm.classes.exchange import cluster
from morphlm.classes.formats import FORMATS, read_classes
from morphlm.classes.frequency import frequency_bins
from morphlm.classes.partition import Partition, average_mutual_information, number_of_classes
from morphlm.errors import ConfigError, FormatError, InputError
from morphlm.files import make_folder
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import Perplexity, ScoredText, text_signature
from morphlm.ngram.training import preparation_record
from morphlm.progress import notify
from morphlm.segmentation.factors import Factors, build_factors
from morphlm.segmentation.segmenter import MorphemeSegmenter, SegmenterConfig, train_segmenter
from morphlm.segmentation.source_spec import FactorInput, as_factorisation
from morphlm.version import __version__
from morphlm.vocabulary.corpus import Corpus, Source, as_paths, describe, read_corpus
from morphlm.vocabulary.vocabulary import Vocabulary, check_kappa, load_vocabulary

CLASS_METHODS = ("exchange", "frequency", "root-frequency")
KAPPA = 0.2  # the paper's rate for a million tokens
DIGITS = 12  # of the hash in a name

FactorChoice = FactorInput | Factors


@dataclass(frozen=True)
class InputOptions:
    """What is given and, of the rest, how it is made."""

    vocabulary: Vocabulary | str | Path | None = None  # None: of the text
    kappa: float | None = None  # share of the singletons that becomes UNK; None: 0.2
    factors: FactorChoice | None = None  # KIND:WHAT, or what such a source gives; None: learned from the vocabulary
    corpus_weight: float = SegmenterConfig.corpus_weight  # of the segmenter that is learned
    classes: Partition | int | str | Path | None = None  # their number, a file (FORMAT:FILE, or a table), or classes
    class_method: str = "exchange"
    seed: int = 1
    allow_unknown: bool = False  # the texts may contain <unk>
    threads: int | None = None  # changes the time only

    def __post_init__(self) -> None:
        """Refuse what cannot be, before any work is done."""
        if self.vocabulary is not None and self.kappa is not None:
            raise ConfigError(
                "a vocabulary is given and kappa too; prune when the vocabulary is made, or give kappa alone"
            )
        if self.kappa is not None:
            check_kappa(self.kappa)
        if self.seed < 0:
            raise ConfigError(f"a seed is a whole number from 0 on, not {self.seed}")
        if self.class_method not in CLASS_METHODS:
            raise ConfigError(f"{self.class_method!r} makes no classes; choose one of {', '.join(CLASS_METHODS)}")
        if not self.corpus_weight > 0:
            raise ConfigError(f"the corpus weight is {self.corpus_weight}; it must be above 0")

    @property
    def rate(self) -> float:
        """kappa, the paper's where none is chosen."""
        return KAPPA if self.kappa is None else self.kappa


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A text to stop by or to test on, and where it came from."""

    corpus: Corpus
    source: Source

    def perplexity(self, model: LanguageModel) -> Perplexity:
        """Its perplexity under a model with the same vocabulary."""
        scored = ScoredText(self.corpus, model.score_tokens(self.corpus.tokens))
        return scored.perplexity(describe(self.source), text_signature(model, self.source))


@dataclass(frozen=True, eq=False)
class TrainingInputs:
    """Texts, and what has been found in them."""

    train: Corpus
    dev: HeldOut
    test: HeldOut | None
    factors: Factors | None  # None: not asked for
    partition: Partition | None  # None: not asked for
    record: dict[str, Any]  # how all of it came about; goes into the manifests of models

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of the texts."""
        return self.train.vocabulary


def prepare_inputs(
    source: Source,
    dev: Source,
    choices: InputOptions,
    folder: str | Path | None = None,
    *,
    test: Source | None = None,
    factors: bool = True,
    classes: bool = True,
) -> TrainingInputs:
    """Read the texts and find or make what a model needs; `folder` keeps what is made.

    All that is given is read before anything is made or written, so that a bad file costs no time and leaves no trace.
    """
    stages = Stages(folder)
    texts = _read_texts(source, dev, test, choices)
    vocabulary = texts.train.vocabulary
    found_factors = _given_factors(choices.factors, vocabulary) if factors else None
    partition = _given_classes(choices, vocabulary) if classes else None
    if choices.vocabulary is None:
        stages.keep_vocabulary(vocabulary, {"text": texts.key, "kappa": choices.rate, "seed": choices.seed})
    if factors and found_factors is None:
        found_factors = stages.factors(vocabulary, choices)
    if classes and partition is None:
        partition = stages.classes(texts.train, choices)
    if partition is not None:
        partition = replace(partition, mutual_information=average_mutual_information(texts.train, partition))
    record = {
        "vocabulary": "of the text" if choices.vocabulary is None else "given",
        "kappa": choices.rate if choices.vocabulary is None else None,
        "sentences": texts.train.sentences,
        "preparation": preparation_record(source),
    }
    return TrainingInputs(texts.train, texts.dev, texts.test, found_factors, partition, record)


# ---------------------------------------------------------------- texts


@dataclass(frozen=True, eq=False)
class _Texts:
    train: Corpus
    dev: HeldOut
    test: HeldOut | None
    key: str  # a hash of the training text as it stands


def _read_texts(source: Source, dev: Source, test: Source | None, choices: InputOptions) -> _Texts:
    _check_standard_input(choices, *([source, dev] if test is None else [source, dev, test]))
    given = choices.vocabulary
    vocabulary = load_vocabulary(given) if isinstance(given, str | Path) else given
    raw, raw_dev, raw_test = (
        None if text is None else read_corpus(text, allow_unknown=choices.allow_unknown) for text in (source, dev, test)
    )
    assert raw is not None
    assert raw_dev is not None
    key = fingerprint({"tokens": raw.tokens, "forms": raw.words.forms})
    if vocabulary is None:
        vocabulary = raw.words.vocabulary(choices.rate, choices.seed)
    train, held_out = raw.encode(vocabulary), HeldOut(raw_dev.encode(vocabulary), dev)
    tested = None if raw_test is None or test is None else HeldOut(raw_test.encode(vocabulary), test)
    if np.array_equal(train.tokens, held_out.corpus.tokens):
        notify(
            "warning: the development text is the training text, so training cannot tell when to stop; hold some out"
        )
    return _Texts(train, held_out, tested, key)


def _check_standard_input(choices: InputOptions, *sources: Source) -> None:
    """It may be the training text, another one, the vocabulary, or what factors or classes are read from."""
    paths = [str(path) for source in sources for path in as_paths(source) or []]
    paths += [str(choices.vocabulary)] if isinstance(choices.vocabulary, str | Path) else []
    given = [choice for choice in (choices.classes, choices.factors) if isinstance(choice, str | Path)]
    paths += [str(choice).rpartition(":")[2] for choice in given]  # KIND:FILE
    if paths.count("-") > 1:
        raise ConfigError("standard input ('-') is named more than once; it can be read only once")


# ---------------------------------------------------------------- what is given


def _given_factors(given: FactorChoice | None, vocabulary: Vocabulary) -> Factors | None:
    """The factors of the vocabulary's words from a source in any of its forms."""
    if given is None or isinstance(given, Factors):
        return given
    return build_factors(vocabulary, as_factorisation(given, vocabulary))


def _given_classes(choices: InputOptions, vocabulary: Vocabulary) -> Partition | None:
    given = choices.classes
    if isinstance(given, int):
        number_of_classes(vocabulary, given)  # refused now, not when all else has been made
    if given is None or isinstance(given, Partition | int):
        return given if isinstance(given, Partition) else None
    file_format, colon, path = str(given).partition(":")
    if not (colon and path and file_format in FORMATS):
        file_format, path = "tsv", str(given)
    file = read_classes(path, file_format, vocabulary)
    if file.missing or file.ignored:
        notify(f"{path}: {file.format()}")
    return file.partition


# ---------------------------------------------------------------- what is made and kept


class Stages:
    """The folder of results; without one nothing is kept."""

    def __init__(self, folder: str | Path | None = None) -> None:
        """Nothing is written before there is a result."""
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None and self.folder.exists() and not self.folder.is_dir():
            raise InputError(
                "this is no folder, so results cannot be kept in it; name another", source=str(self.folder)
            )

    def keep_vocabulary(self, vocabulary: Vocabulary, depends_on: dict[str, Any]) -> None:
        """Keep it for other commands; with the text at hand, making it again is as quick as reading it."""
        place = self._place("vocabulary", depends_on, ".tsv")
        notify(f"vocabulary: {len(vocabulary):,} entries")
        if place is not None and not _found("vocabulary", place):
            make_folder(place.parent)
            vocabulary.save(place)

    def factors(self, vocabulary: Vocabulary, choices: InputOptions) -> Factors:
        """Surface forms and morphemes, by a segmenter that is found or learned."""
        return build_factors(vocabulary, as_factorisation(self.segmenter(vocabulary, choices), vocabulary))

    def segmenter(self, vocabulary: Vocabulary, choices: InputOptions) -> MorphemeSegmenter:
        """The segmenter of these words, found or learned."""
        settings = {"corpus_weight": choices.corpus_weight, "seed": choices.seed}
        place = self._place("segmenter", settings | _contents(vocabulary))
        if place is not None and _found("segmenter", place):
            try:
                return MorphemeSegmenter.load(place)
            except FormatError:
                notify("segmenter: that one is damaged; it is learned again")
        notify("segmenter: learning morphemes ...")
        segmenter = train_segmenter(vocabulary, corpus_weight=choices.corpus_weight, seed=choices.seed)
        if place is not None:
            make_folder(place.parent)
            segmenter.save(place)
        return segmenter

    def classes(self, corpus: Corpus, choices: InputOptions) -> Partition:
        """The classes of the words of a text, found or made."""
        number = choices.classes if isinstance(choices.classes, int) else None
        settings = {"classes": number, "method": choices.class_method, "seed": choices.seed, "tokens": corpus.tokens}
        place = self._place("classes", settings | _contents(corpus.vocabulary), ".tsv")
        if place is not None and _found("classes", place):
            partition = _read_again(place, corpus.vocabulary)
            if partition is not None:
                return replace(partition, method=choices.class_method)
        notify("classes: partitioning the vocabulary ...")
        partition = _make_classes(corpus, number, choices)
        if place is not None:
            make_folder(place.parent)
            partition.save(place)
        return partition

    def _place(self, name: str, depends_on: dict[str, Any], extension: str = "") -> Path | None:
        """Where a result stands that depends on this and on the version."""
        if self.folder is None:
            return None
        key = fingerprint(depends_on | {"stage": name, "version": __version__})
        return self.folder / f"{name}-{key[:DIGITS]}{extension}"


def _contents(vocabulary: Vocabulary) -> dict[str, Any]:
    return {"words": list(vocabulary.words), "counts": vocabulary.counts}


def _found(name: str, place: Path) -> bool:
    if place.exists():
        notify(f"{name}: found in {place}")
    return place.exists()


def _read_again(place: Path, vocabulary: Vocabulary) -> Partition | None:
    """The classes of a file that we wrote; None if it is not whole."""
    try:
        file = read_classes(place, "tsv", vocabulary)
    except InputError:
        file = None
    if file is None or file.missing or file.ignored:
        notify("classes: that file is damaged; they are made again")
        return None
    return file.partition


def _make_classes(corpus: Corpus, number: int | None, choices: InputOptions) -> Partition:
    if choices.class_method == "exchange":
        return cluster(corpus, number, seed=choices.seed, threads=choices.threads)
    return frequency_bins(corpus.vocabulary, number, root=choices.class_method == "root-frequency")
