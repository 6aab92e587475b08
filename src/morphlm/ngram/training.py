"""From text to a modified Kneser-Ney model in one call: read, choose the vocabulary, count, estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from morphlm.arrays import blocks_of
from morphlm.artefacts import Shelf, complete_message, find_or_make
from morphlm.errors import ConfigError
from morphlm.files import check_can_make, checked_path, make_folder
from morphlm.machine import machine_type
from morphlm.memory import parse_memory
from morphlm.modelfile import MANIFEST, read_model
from morphlm.ngram.bounded.counting import block_sizes, count_on_disk
from morphlm.ngram.bounded.estimation import estimate_on_disk
from morphlm.ngram.bounded.plan import NO_LIMITS, CountingLimits, DiskPlan, plan_counting
from morphlm.ngram.bounded.storage import TemporaryFolder
from morphlm.ngram.counting import check_order, count_ngrams, pruning_thresholds
from morphlm.ngram.discounts import Discounts
from morphlm.ngram.estimation import estimate
from morphlm.ngram.kind import MKN
from morphlm.ngram.model import NgramModel, ngram_from_files
from morphlm.ngram.quantised import quantise as quantise_trie
from morphlm.ngram.trie import NgramTrie
from morphlm.progress import ProgressOption, reports_progress
from morphlm.settings import Settings, setting
from morphlm.text.preparation import PrepareOptions
from morphlm.version import __version__
from morphlm.vocabulary.corpus import Corpus, Source, as_text, preparation_record, read_corpus, warn_if_raw
from morphlm.vocabulary.vocabulary import UNK_ID, Vocabulary
from morphlm.wording import either


@dataclass(frozen=True)
class NgramOptions(Settings):
    """What can be chosen for modified Kneser-Ney where the vocabulary is given."""

    order: int = setting(4, "n of the n-grams.", at_least=1, at_most=100, group="Model")
    seed: int = 1


@dataclass(frozen=True)
class NgramConfig:
    """What defines a modified Kneser-Ney model."""

    order: int = 4  # n
    kappa: float = 0.0  # share of the singletons that becomes UNK; 0 keeps every word, as lmplz does
    seed: int = 1  # chooses those singletons
    open_vocabulary: bool = True  # words never seen share the mass of an unseen word; closed: they get nothing
    prune: tuple[int, ...] = ()  # for each order, the count up to which n-grams go; the last number is for the rest

    quantise: bool = False  # round to 256 values an order, for compact files

    def record(self) -> dict[str, Any]:
        """What models keep of it, and depend on; without the last two it is what it was before there were any."""
        unused = {"prune": not any(self.prune), "quantise": not self.quantise}
        return {name: value for name, value in asdict(self).items() if not unused.get(name)}


@reports_progress
def train_ngram(
    source: Source,
    order: int = 4,
    *,
    kappa: float = 0.0,
    seed: int = 1,
    open_vocabulary: bool = True,
    vocabulary: Vocabulary | None = None,
    allow_unknown: bool = False,
    language: str | None = None,
    prune: Sequence[int] = (),
    quantise: bool = False,
    memory: int | str | None = None,
    temporary: str | Path | None = None,
    out: str | Path | None = None,
    restart: bool = False,
    progress: ProgressOption = None,
) -> NgramModel:
    """Train modified Kneser-Ney on a file ('-': standard input), several paths, raw lines, or lists of tokens.

    Raw lines, which are strings, are prepared by the rules of the language.

    `order` is n. Without `open_vocabulary`, words that are not known have no probability. `prune` leaves out n-grams
    that are rare: (0, 0, 1) those of order 3 and above that occur once, as lmplz does. With `quantise`, probabilities
    and back-offs are rounded to 256 values an order, and the files are a quarter as large.

    `memory`, in bytes or as '4G', bounds what the whole process takes, by default what is available: what does not fit
    is counted on disk, in files in the folder `temporary`. The model is the same.

    Words outside a given vocabulary become UNK; without one the vocabulary is made from the text, where a share
    `kappa` of the words that occur once becomes UNK. `allow_unknown` admits the token <unk> in the text. The model is
    written to `out`; if it stands there already, from the same text with the same settings, it is not trained again
    unless `restart` says so.
    """
    config = NgramConfig(order, kappa, seed, open_vocabulary, tuple(prune), bool(quantise))
    limits = counting_limits(memory, temporary, out)
    check_order(order)
    pruning_thresholds(config.prune, order)
    if vocabulary is not None and kappa:
        raise ConfigError("a vocabulary is given and kappa too; prune when the vocabulary is made, or give kappa alone")
    source = as_text(source, PrepareOptions(language=language))
    raw = read_corpus(source, allow_unknown=allow_unknown, memory=limits.memory, temporary=limits.temporary)
    warn_if_raw(raw.words, source)
    corpus = raw.encode(raw.words.vocabulary(kappa, seed) if vocabulary is None else vocabulary)
    del raw
    preparation, origin = preparation_record(source), "of the text" if vocabulary is None else "given"

    def make() -> NgramModel:
        model = train_ngram_on(corpus, config, preparation, limits)
        model.training["vocabulary"] = origin
        return model

    if out is None:
        return make()
    identity = _identity(corpus, config, preparation=preparation, vocabulary=origin)
    return find_or_make(MKN.producer, identity, _ModelDirectory(Path(out), restart), make).result


def _identity(corpus: Corpus, config: NgramConfig, **record: Any) -> str:
    """A hash of the data, the settings and the revision of the method: the key of the model."""
    words = corpus.vocabulary
    parts = {"train": corpus.tokens, "words": list(words.words), "counts": words.counts, "config": config.record()}
    return MKN.producer.key(**parts, record=record)


class _ModelDirectory(Shelf[NgramModel]):
    """The directory of one model, which knows the hash of what it was trained on; any other is replaced."""

    def __init__(self, out: Path, restart: bool) -> None:
        self._out, self._restart = out, restart
        self.place, self.found_message = str(out), complete_message(out)

    def find(self, key: str) -> NgramModel | None:
        if self._restart or not (self._out / MANIFEST).is_file():
            return None
        files = read_model(self._out)
        if files.training.get("identity") != key:
            return None
        return ngram_from_files(self._out, files)

    def keep(self, key: str, result: NgramModel) -> None:
        result.training["identity"] = key
        result.save(self._out)


def counting_limits(
    memory: int | str | None, temporary: str | Path | None, out: str | Path | None = None
) -> CountingLimits:
    """The limits that somebody gives, checked."""
    folder = None if temporary is None else checked_path(temporary)
    if folder is not None:
        check_can_make(folder / "file")
        make_folder(folder)
    return CountingLimits(
        None if memory is None else parse_memory(memory), folder, None if out is None else checked_path(out)
    )


def train_ngram_on(
    corpus: Corpus,
    config: NgramConfig,
    preparation: dict[str, Any] | None = None,
    limits: CountingLimits = NO_LIMITS,
) -> NgramModel:
    """Train on text that is encoded already."""
    if not config.open_vocabulary and any((tokens == UNK_ID).any() for tokens in blocks_of(corpus.tokens)):
        raise ConfigError(
            "unknown words occur in the training text (kappa, a given vocabulary, or <unk> in it), so the vocabulary "
            f"cannot be closed; {either('leave --closed out', 'leave out open_vocabulary=False')}"
        )
    plan = plan_counting(corpus, config.order, limits, is_pruned=any(config.prune))
    if plan is None:
        counts = count_ngrams(corpus, config.order, config.prune)
        trie, discounts = estimate(counts, open_vocabulary=config.open_vocabulary)
        trie = quantise_trie(trie) if config.quantise else trie
    else:
        trie, discounts = _train_on_disk(corpus, config, limits, plan)
    training: dict[str, Any] = {
        **config.record(),
        "version": __version__,
        "tokens": len(corpus.tokens),
        "sentences": corpus.sentences,
        "discounts": [discount.to_json() for discount in discounts],
        "preparation": preparation,
        "machine": dict(machine_type()),
    }
    return NgramModel(trie, corpus.vocabulary, training)


def _train_on_disk(
    corpus: Corpus, config: NgramConfig, limits: CountingLimits, plan: DiskPlan
) -> tuple[NgramTrie, list[Discounts]]:
    """Count and estimate in files, which are gone when this is done but for those that the trie is a map of."""
    thresholds, sizes = pruning_thresholds(config.prune, config.order), block_sizes(plan.block_bytes)
    with TemporaryFolder(limits.folder, plan.temporary_bytes) as folder:
        counts = count_on_disk(corpus, config.order, thresholds, folder, sizes)
        trie, discounts = estimate_on_disk(
            counts, open_vocabulary=config.open_vocabulary, folder=folder, sizes=sizes, is_pruned=any(thresholds)
        )
        return (quantise_trie(trie, folder.collect) if config.quantise else trie), discounts
