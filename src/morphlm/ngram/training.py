"""From text to a modified Kneser-Ney model in one call: read, choose the vocabulary, count, estimate."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from morphlm.artefacts import Shelf, complete_message, find_or_make
from morphlm.errors import ConfigError
from morphlm.machine import machine_type
from morphlm.modelfile import MANIFEST, read_model
from morphlm.ngram.counting import count_ngrams
from morphlm.ngram.estimation import estimate
from morphlm.ngram.kind import MKN
from morphlm.ngram.model import NgramModel, ngram_from_files
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
    out: str | Path | None = None,
    restart: bool = False,
    progress: ProgressOption = None,
) -> NgramModel:
    """Train modified Kneser-Ney on a file ('-': standard input), several paths, raw lines, or lists of tokens.

    Raw lines, which are strings, are prepared by the rules of the language.

    `order` is n. Without `open_vocabulary`, words that are not known have no probability.

    Words outside a given vocabulary become UNK; without one the vocabulary is made from the text, where a share
    `kappa` of the words that occur once becomes UNK. `allow_unknown` admits the token <unk> in the text. The model is
    written to `out`; if it stands there already, from the same text with the same settings, it is not trained again
    unless `restart` says so.
    """
    config = NgramConfig(order, kappa, seed, open_vocabulary)
    if vocabulary is not None and kappa:
        raise ConfigError("a vocabulary is given and kappa too; prune when the vocabulary is made, or give kappa alone")
    source = as_text(source, PrepareOptions(language=language))
    raw = read_corpus(source, allow_unknown=allow_unknown)
    warn_if_raw(raw.words, source)
    corpus = raw.encode(raw.words.vocabulary(kappa, seed) if vocabulary is None else vocabulary)
    preparation, origin = preparation_record(source), "of the text" if vocabulary is None else "given"

    def make() -> NgramModel:
        model = train_ngram_on(corpus, config, preparation)
        model.training["vocabulary"] = origin
        return model

    if out is None:
        return make()
    identity = _identity(corpus, config, preparation=preparation, vocabulary=origin)
    return find_or_make(MKN.producer, identity, _ModelDirectory(Path(out), restart), make).result


def _identity(corpus: Corpus, config: NgramConfig, **record: Any) -> str:
    """A hash of the data, the settings and the revision of the method: the key of the model."""
    words = corpus.vocabulary
    parts = {"train": corpus.tokens, "words": list(words.words), "counts": words.counts, "config": asdict(config)}
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


def train_ngram_on(corpus: Corpus, config: NgramConfig, preparation: dict[str, Any] | None = None) -> NgramModel:
    """Train on text that is encoded already."""
    if not config.open_vocabulary and (corpus.tokens == UNK_ID).any():
        raise ConfigError(
            "unknown words occur in the training text (kappa, a given vocabulary, or <unk> in it), so the vocabulary "
            f"cannot be closed; {either('leave --closed out', 'leave out open_vocabulary=False')}"
        )
    trie, discounts = estimate(count_ngrams(corpus, config.order), open_vocabulary=config.open_vocabulary)
    training: dict[str, Any] = {
        **asdict(config),
        "version": __version__,
        "tokens": len(corpus.tokens),
        "sentences": corpus.sentences,
        "discounts": [discount.to_json() for discount in discounts],
        "preparation": preparation,
        "machine": dict(machine_type()),
    }
    return NgramModel(trie, corpus.vocabulary, training)
