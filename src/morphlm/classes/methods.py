"""Word classes by a method of one's choice: exchange clustering, or bins of equal frequency."""

from __future__ import annotations

from dataclasses import dataclass

from morphlm.classes.exchange import ANNEALED_PASSES, cluster
from morphlm.classes.frequency import frequency_bins
from morphlm.classes.partition import Partition
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError
from morphlm.settings import Settings, setting
from morphlm.vocabulary.corpus import Corpus
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
