"""From text to a modified Kneser-Ney model in one call: read, choose the vocabulary, count, estimate."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from morphlm.errors import ConfigError
from morphlm.machine import machine_type
from morphlm.ngram.counting import count_ngrams
from morphlm.ngram.estimation import estimate
from morphlm.ngram.model import NgramModel
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
    progress: ProgressOption = None,
) -> NgramModel:
    """Train modified Kneser-Ney on a file ('-': standard input), several paths, raw lines, or lists of tokens.

    Raw lines, which are strings, are prepared by the rules of the language.

    `order` is n. Without `open_vocabulary`, words that are not known have no probability.

    Words outside a given vocabulary become UNK; without one the vocabulary is made from the text, where a share
    `kappa` of the words that occur once becomes UNK. `allow_unknown` admits the token <unk> in the text.
    """
    config = NgramConfig(order, kappa, seed, open_vocabulary)
    if vocabulary is not None and kappa:
        raise ConfigError("a vocabulary is given and kappa too; prune when the vocabulary is made, or give kappa alone")
    source = as_text(source, PrepareOptions(language=language))
    raw = read_corpus(source, allow_unknown=allow_unknown)
    warn_if_raw(raw.words, source)
    corpus = raw.encode(raw.words.vocabulary(kappa, seed) if vocabulary is None else vocabulary)
    model = train_ngram_on(corpus, config, preparation_record(source))
    model.training["vocabulary"] = "of the text" if vocabulary is None else "given"
    return model


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
