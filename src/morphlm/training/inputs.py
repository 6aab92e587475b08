"""What a model needs before its training begins: vocabulary, factors and classes, made from the text or given.

What is made is kept in a folder under the hash of all that it depends on (see morphlm.artefacts), so that the second
model on the same text finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from morphlm.artefacts import FolderShelf, NoShelf, Producer, Shelf, find_or_make, fingerprint
from morphlm.classes.formats import FORMATS, read_classes, read_given_classes
from morphlm.classes.methods import ClassOptions, make_classes
from morphlm.classes.partition import Partition, number_of_classes
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, FormatError, InputError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.fitting import fit_to, unknown_share
from morphlm.language_model.perplexity import Perplexity, ScoredText, text_signature
from morphlm.logbilinear.continuing import StartingPoint
from morphlm.progress import notify
from morphlm.segmentation.factors import Factors, build_factors
from morphlm.segmentation.segmenter import MorphemeSegmenter, SegmenterConfig, train_segmenter
from morphlm.segmentation.source_spec import FactorInput, as_factorisation
from morphlm.settings import Settings, same_setting, setting
from morphlm.tables import counted
from morphlm.training.batches import Replay
from morphlm.vocabulary.corpus import (
    Corpus,
    Source,
    WordCounts,
    as_paths,
    describe,
    preparation_of,
    preparation_record,
    read_corpus,
    warn_if_raw,
)
from morphlm.vocabulary.vocabulary import Vocabulary, load_vocabulary
from morphlm.wording import option

VOCABULARY = Producer("vocabulary", 1, ("morphlm.vocabulary", "morphlm.text.reading"))
SEGMENTER = Producer("segmenter", 1, ("morphlm.segmentation",))
CLASSES = Producer("classes", 1, ("morphlm.classes",))

KAPPA = 0.2  # the paper's rate for a million tokens

FactorChoice = FactorInput | Factors
Saved = TypeVar("Saved", Vocabulary, MorphemeSegmenter, Partition)


@dataclass(frozen=True)
class InputOptions(Settings):
    """What is given and, of the rest, how it is made."""

    vocabulary: Vocabulary | str | Path | None = setting(
        None, "Use this vocabulary; other words become UNK.", option="--vocab", metavar="FILE"
    )
    kappa: float | None = setting(
        None,
        "Share of the words occurring once that becomes UNK.",
        at_least=0,
        at_most=1,
        group="Model",
        default_text=str(KAPPA),
    )
    factors: FactorChoice | None = setting(
        None,
        "Where the factors of words come from; see `morphlm factors --help`.",
        metavar="NAME:ARGUMENT",
        group="Model",
        default_text="learn morphemes",
    )
    corpus_weight: float = same_setting(SegmenterConfig, "corpus_weight")
    classes: Partition | int | str | Path | None = setting(
        None,
        "Number of word classes, or a file of them (also paths:FILE, mkcls:FILE).",
        metavar="N|FILE",
        group="Model",
        default_text="sqrt(|V|)",
    )
    class_method: str = same_setting(ClassOptions, "method")
    allow_unknown: bool = setting(False, "The texts may contain <unk>.", option="--allow-unk")
    seed: int = 1
    threads: int | None = None  # results do not depend on it

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.vocabulary is not None and self.kappa is not None:
            raise ConfigError(
                "a vocabulary is given and kappa too; prune when the vocabulary is made, or give kappa alone"
            )
        if not 0 <= self.seed < 2**32:
            raise ConfigError(f"seed is {self.seed}; it must be a whole number from 0 to {2**32 - 1:,}")

    @property
    def pruning_rate(self) -> float:
        """kappa, or the paper's rate where none is chosen."""
        return KAPPA if self.kappa is None else self.kappa


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A text to stop by or to test on, and where it came from."""

    corpus: Corpus
    source: Source

    __repr__ = dataclass_repr

    def perplexity(self, model: LanguageModel) -> Perplexity:
        """Its perplexity under a model with the same vocabulary."""
        scored = ScoredText(self.corpus, model.score_tokens(self.corpus.tokens))
        return scored.perplexity(describe(self.source), text_signature(model, self.source))


@dataclass(frozen=True, eq=False)
class TrainingInputs:
    """Encoded texts, and the factors and classes of their words."""

    train: Corpus
    dev: HeldOut
    test: HeldOut | None
    factors: Factors | None  # None: not asked for
    partition: Partition | None  # None: not asked for
    record: dict[str, Any]  # how all of it came about; goes into the manifests of models
    start: StartingPoint | None = None  # the trained model that is continued; None: there is none
    replay: Replay | None = None  # where the text of that model begins in `train`; None: it is not there

    __repr__ = dataclass_repr

    @property
    def vocabulary(self) -> Vocabulary:
        return self.train.vocabulary


def prepare_inputs(
    source: Source,
    dev: Source,
    options: InputOptions,
    folder: str | Path | None = None,
    *,
    test: Source | None = None,
    factors: bool = True,
    classes: bool = True,
) -> TrainingInputs:
    """Read the texts and find or make what a model needs; `folder` keeps what is made.

    All that is given is read before anything is made or written, so that a bad file costs no time and leaves no trace.
    """
    _check_folder(folder)
    train, held_out, tested, text_key = read_texts(source, dev, test, options)
    vocabulary = train.vocabulary
    word_factors = _read_factors(options.factors, vocabulary) if factors else None
    partition = _read_partition(options.classes, vocabulary) if classes else None
    if options.vocabulary is None:
        _keep_vocabulary(vocabulary, text_key, options, folder)
    if factors and word_factors is None:
        segmenter = find_segmenter(vocabulary, options, folder)
        word_factors = build_factors(vocabulary, as_factorisation(segmenter, vocabulary))
    if classes and partition is None:
        partition = _find_classes(train, options, folder)
    if partition is not None:
        partition = partition.measured_on(train)
    record = {
        "vocabulary": "of the text" if options.vocabulary is None else "given",
        "kappa": options.pruning_rate if options.vocabulary is None else None,
        "sentences": train.sentences,
        "preparation": preparation_record(source),
        "development_unknown": round(unknown_share(held_out.corpus.tokens), 6),
    }
    return TrainingInputs(train, held_out, tested, word_factors, partition, record)


# ---------------------------------------------------------------- texts


def read_texts(
    source: Source,
    dev: Source,
    test: Source | None,
    options: InputOptions,
    choose_vocabulary: Callable[[WordCounts], Vocabulary] | None = None,
) -> tuple[Corpus, HeldOut, HeldOut | None, str]:
    """The encoded texts, and a hash of the training text as it stands.

    The vocabulary is the one that is given, or chosen by the words of the training text: by kappa, if nothing else is
    said.
    """
    if dev is None:
        raise ConfigError(f"there is no development text, which decides when to stop; give {option('--dev')}")
    check_standard_input(options, *([source, dev] if test is None else [source, dev, test]))
    preparation = preparation_of(source)
    dev = fit_to(preparation, dev, what="the training")
    test = None if test is None else fit_to(preparation, test, what="the training")
    vocabulary = options.vocabulary
    if isinstance(vocabulary, str | Path):
        vocabulary = load_vocabulary(vocabulary)
    raw, raw_dev = (read_corpus(text, allow_unknown=options.allow_unknown) for text in (source, dev))
    raw_test = None if test is None else read_corpus(test, allow_unknown=options.allow_unknown)
    warn_if_raw(raw.words, source)
    key = fingerprint({"tokens": raw.tokens, "forms": raw.words.forms})
    if choose_vocabulary is not None:
        vocabulary = choose_vocabulary(raw.words)
    elif vocabulary is None:
        vocabulary = raw.words.vocabulary(options.pruning_rate, options.seed)
    train, held_out = raw.encode(vocabulary), HeldOut(raw_dev.encode(vocabulary), dev)
    tested = None if raw_test is None or test is None else HeldOut(raw_test.encode(vocabulary), test)
    if np.array_equal(train.tokens, held_out.corpus.tokens):
        notify("warning: the development text is the training text, so training cannot tell when to stop; give another")
    return train, held_out, tested, key


def check_standard_input(options: InputOptions, *sources: Source) -> None:
    """It may be the training text, another one, the vocabulary, or what factors or classes are read from."""
    paths = [str(path) for source in sources for path in as_paths(source) or []]
    paths += [str(options.vocabulary)] if isinstance(options.vocabulary, str | Path) else []
    specs = [spec for spec in (options.classes, options.factors) if isinstance(spec, str | Path)]
    paths += [str(spec).rpartition(":")[2] for spec in specs]  # NAME:FILE
    if paths.count("-") > 1:
        raise ConfigError("standard input ('-') is named more than once; it can be read only once")


# ---------------------------------------------------------------- what is given


def _read_factors(source: FactorChoice | None, vocabulary: Vocabulary) -> Factors | None:
    """The factors of the vocabulary's words from a source in any of its forms."""
    if source is None or isinstance(source, Factors):
        return source
    return build_factors(vocabulary, as_factorisation(source, vocabulary))


def _read_partition(classes: Partition | int | str | Path | None, vocabulary: Vocabulary) -> Partition | None:
    """The classes as an object or from a file, as `FILE` or `FORMAT:FILE`; None if they have to be made."""
    if classes is None or isinstance(classes, Partition):
        return classes
    if isinstance(classes, int):
        number_of_classes(vocabulary, classes)  # refused now, not when all else has been made
        return None
    file_format, colon, path = str(classes).partition(":")
    if not (colon and path and file_format in FORMATS):
        file_format, path = "tsv", str(classes)
    return read_given_classes(path, file_format, vocabulary)


# ---------------------------------------------------------------- what is made and kept


def _check_folder(folder: str | Path | None) -> None:
    if folder is not None and Path(folder).exists() and not Path(folder).is_dir():
        raise InputError("this is a file, so results cannot be kept in it; name a folder", source=str(folder))


def _shelf(
    folder: str | Path | None, producer: Producer, extension: str = "", *, read: Callable[[Path], Saved]
) -> Shelf[Saved]:
    """The part of the folder for one producer; without a folder nothing is kept."""
    if folder is None:
        return NoShelf()
    return FolderShelf(Path(folder), producer, extension, read=read, write=lambda path, result: result.save(path))


def _words(vocabulary: Vocabulary) -> dict[str, Any]:
    return {"words": list(vocabulary.words), "counts": vocabulary.counts}


def _keep_vocabulary(vocabulary: Vocabulary, text: str, options: InputOptions, folder: str | Path | None) -> None:
    """For other commands: with the text at hand, making the vocabulary again is as quick as reading it."""
    notify(f"vocabulary: {counted(len(vocabulary), 'entry', 'entries')}")
    key = VOCABULARY.key(text=text, kappa=options.pruning_rate, seed=options.seed)
    find_or_make(VOCABULARY, key, _shelf(folder, VOCABULARY, ".tsv", read=lambda _: vocabulary), lambda: vocabulary)


def find_segmenter(
    vocabulary: Vocabulary, options: InputOptions, folder: str | Path | None = None
) -> MorphemeSegmenter:
    """The segmenter of these words, found in the folder or learned."""
    settings: dict[str, Any] = {"corpus_weight": options.corpus_weight, "seed": options.seed}
    return find_or_make(
        SEGMENTER,
        SEGMENTER.key(**settings, **_words(vocabulary)),
        _shelf(folder, SEGMENTER, read=MorphemeSegmenter.load),
        lambda: train_segmenter(vocabulary, **settings),
        announce="learning morphemes ...",
    ).result


def _find_classes(corpus: Corpus, options: InputOptions, folder: str | Path | None) -> Partition:
    """The classes of the words of a text, found or made."""
    number = options.classes if isinstance(options.classes, int) else None
    class_options = ClassOptions(number, options.class_method, threads=options.threads, seed=options.seed)

    def read(path: Path) -> Partition:
        file = read_classes(path, "tsv", corpus.vocabulary)
        if file.missing or file.ignored:
            raise FormatError(f"{path}: {file.format()}")
        return replace(file.partition, method=options.class_method)

    settings = {"classes": number, "method": options.class_method, "seed": options.seed}
    return find_or_make(
        CLASSES,
        CLASSES.key(**settings, tokens=corpus.tokens, **_words(corpus.vocabulary)),
        _shelf(folder, CLASSES, ".tsv", read=read),
        lambda: make_classes(corpus, class_options),
        announce="partitioning the vocabulary ...",
    ).result
