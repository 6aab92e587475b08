"""Word classes by a method of one's choice: exchange clustering, or bins of equal frequency."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.classes.exchange import ANNEALED_PASSES, cluster
from morphlm.classes.frequency import frequency_bins
from morphlm.classes.partition import Partition
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.files import check_can_write
from morphlm.progress import ProgressOption, reports_progress
from morphlm.settings import Settings, setting
from morphlm.vocabulary.corpus import Corpus, Source, encode_text, read_corpus, warn_if_raw
from morphlm.vocabulary.vocabulary import Vocabulary, load_vocabulary
from morphlm.wording import option


@dataclass(frozen=True)
class ClassOptions(Settings):
    """How a vocabulary is partitioned."""

    number: int | None = setting(None, "Number of classes.", option="--classes", default_text="sqrt(|V|)")
    method: str = setting(
        "exchange",
        "Exchange clustering, or bins of equal total (root) frequency.",
        choices=("exchange", "frequency", "root-frequency"),
    )
    max_class_size: int | None = setting(None, "Largest number of words in a class (exchange).")
    passes: int = setting(
        ANNEALED_PASSES, "Annealed passes (exchange); more of them find better classes and take longer.", at_least=0
    )
    threads: int | None = setting(
        None, "Number of threads; results do not depend on it.", at_least=1, default_text="all cores"
    )
    seed: int = 1

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_class_size is not None and self.method != "exchange":
            raise ConfigError(
                f"frequency bins have no limit of size; use {option('--method', 'exchange')} or leave out "
                f"{option('--max-class-size')}"
            )


@reports_progress
def train_classes(
    source: Source,
    out: str | Path | None = None,
    *,
    vocabulary: Vocabulary | str | Path | None = None,
    kappa: float = 0.2,
    seed: int = 1,
    threads: int | None = None,
    allow_unknown: bool = False,
    progress: ProgressOption = None,
    **settings: Any,
) -> Partition:
    """Partition the vocabulary of a text into classes whose neighbours tell most about each other.

    `source` is a file, several paths, raw lines, or lists of tokens; `allow_unknown` admits <unk> in it. The
    `vocabulary` is an object or a file; without one it is made from the text, with `kappa` and `seed` as of
    `morphlm.make_vocabulary`. `settings` are `number` (of classes, default the square root of |V|), `method`
    ("exchange", "frequency" or "root-frequency"), `max_class_size` and `passes`. With `out`, the classes are written
    there, `class TAB word TAB count` a line. Results do not depend on the number of threads; `progress` is as of
    `morphlm.train`.
    """
    options = ClassOptions(seed=seed, threads=threads, **settings)
    if out is not None:
        check_can_write(out)
    corpus = read_for_classes(source, vocabulary, kappa, seed, allow_unknown=allow_unknown)
    partition = make_classes(corpus, options)
    if partition.mutual_information is None:
        partition = partition.measured_on(corpus)
    if out is not None:
        partition.save(out)
    return partition


def read_for_classes(
    source: Source, vocabulary: Vocabulary | str | Path | None, kappa: float, seed: int, *, allow_unknown: bool = False
) -> Corpus:
    """A text encoded with a vocabulary that is given, or with its own."""
    if vocabulary is not None:
        given = vocabulary if isinstance(vocabulary, Vocabulary) else load_vocabulary(vocabulary)
        return encode_text(source, given, allow_unknown=allow_unknown)
    raw = read_corpus(source, allow_unknown=allow_unknown)
    warn_if_raw(raw.words, source)
    return raw.encode(raw.words.vocabulary(kappa, seed))


def make_classes(corpus: Corpus, options: ClassOptions) -> Partition:
    """Partition the vocabulary of a text."""
    if options.method != "exchange":
        return frequency_bins(corpus.vocabulary, options.number, root=options.method == "root-frequency")
    return cluster(
        corpus,
        options.number,
        seed=options.seed,
        threads=options.threads,
        max_class_size=options.max_class_size,
        passes=options.passes,
    )
