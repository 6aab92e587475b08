"""The input of a report: named models, a test text that is read once, and its scores under each model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from morphlm.analysis.groups import PairedScores
from morphlm.arrays import BoolArray, Float64Array
from morphlm.errors import InputError
from morphlm.files import source_name
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.fitting import fit_text, warn_if_foreign
from morphlm.language_model.perplexity import Perplexity, ScoredText, text_signature
from morphlm.lazy import cached_property
from morphlm.progress import progress_bar
from morphlm.report.models import model_names, shown, vectors_of
from morphlm.scoring.loading import load
from morphlm.text.reading import END
from morphlm.training.log import read_edited_log
from morphlm.vectors.vectors import WordVectors
from morphlm.vocabulary.corpus import Corpus, Source, TokenEncoder, token_batches
from morphlm.vocabulary.vocabulary import UNK_ID

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, eq=False)
class TestText:
    """The test text as tokens."""

    __test__ = False  # no test of pytest's

    path: str
    forms: list[bytes]  # END after each sentence
    source: Source  # what it was read from

    @property
    def name(self) -> str:
        return source_name(self.path) if self.path == "-" else shown(Path(self.path).name)

    @cached_property
    def sentences(self) -> list[list[str]]:
        return [[form.decode() for form in self.forms[begin : end - 1]] for begin, end in self.spans]

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The range of positions of each sentence, its end included."""
        ends = [position + 1 for position, form in enumerate(self.forms) if form == END.encode()]
        return list(zip([0, *ends], ends, strict=False))

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word occurs, sentence ends left out; words in order of appearance."""
        return Counter(word for sentence in self.sentences for word in sentence)


@dataclass(frozen=True, eq=False)
class ScoredModel:
    """A model with its scores on the test text."""

    name: str
    path: str
    model: LanguageModel
    scored: ScoredText
    perplexity: Perplexity

    @property
    def bits(self) -> Float64Array:
        """-log2 p of each token."""
        bits: Float64Array = np.abs(self.scored.logprobs) / np.log(2)  # not negated: 0 would become -0
        return bits

    @property
    def unknown(self) -> BoolArray:
        unknown: BoolArray = self.scored.corpus.tokens == UNK_ID
        return unknown

    @cached_property
    def vectors(self) -> WordVectors | None:
        return vectors_of(self.model)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words that it knows: only models with the same can be compared."""
        return frozenset(self.model.vocabulary.words)

    @property
    def log(self) -> list[Any]:
        """The training log, which people may have changed; empty if there is none."""
        return read_edited_log(Path(self.path)) if self.path != "-" else []

    @property
    def language(self) -> str | None:
        """The language of its training text, from the record of its tokeniser: `moses.cs`."""
        options = self.model.preparation
        return None if options is None else options.language


@dataclass(frozen=True, eq=False)
class ScoredModels:
    """The input of a report: the test text, and all models with their scores on it."""

    text: TestText
    models: tuple[ScoredModel, ...]
    seed: int = 1

    @property
    def first(self) -> ScoredModel:
        """The model that the others are compared with."""
        return self.models[0]

    @property
    def language(self) -> str | None:
        """The language of the models, if they agree."""
        languages = {scored_model.language for scored_model in self.models}
        return next(iter(languages)) if len(languages) == 1 else None

    def groups(self, key: Callable[[ScoredModel], Key | None]) -> list[list[ScoredModel]]:
        """The models grouped by a key; those whose key is None are left out."""
        groups: dict[Key, list[ScoredModel]] = {}
        for scored_model in self.models:
            if (shared := key(scored_model)) is not None:
                groups.setdefault(shared, []).append(scored_model)
        return list(groups.values())


def names_of(scored_models: Iterable[ScoredModel]) -> str:
    """The names of models, for a sentence."""
    return ", ".join(scored_model.name for scored_model in scored_models)


def score_models(
    paths: Sequence[str],
    test: str,
    *,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
    seed: int = 1,
) -> ScoredModels:
    """Load the models, read the text, prepared as theirs was if it is raw, and score it."""
    _refuse_missing(paths)
    models = [load(path) for path in paths]
    text = read_text(test, models, allow_unknown=allow_unknown, prepared=prepared, encoding=encoding)
    named = zip(model_names(paths), paths, models, strict=True)
    return score_loaded_models(text, named, len(paths), seed=seed)


def _refuse_missing(paths: Sequence[str]) -> None:
    """Fail before the first model is loaded, which takes time."""
    for path in paths:
        if path != "-" and not Path(path).exists():
            load(path)  # says what is wrong


def score_loaded_models(
    text: TestText, models: Iterable[tuple[str, str, LanguageModel]], count: int, *, seed: int = 1
) -> ScoredModels:
    """Score the text under `count` models, each given as (name, path, model)."""
    scored_models = []
    with progress_bar("models", count, unit="model") as bar:
        for name, path, model in models:
            scored_models.append(score_model(name, path, model, text))
            bar.update()
    return ScoredModels(text, tuple(scored_models), seed)


def read_text(
    path: str,
    models: Sequence[LanguageModel],
    *,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
) -> TestText:
    """Read a test text for these models; one without words is refused."""
    source = fit_text(models, path, prepared=prepared, encoding=encoding)
    forms = [token for tokens in token_batches(source, allow_unknown=allow_unknown) for token in tokens]
    text = TestText(str(path), forms, source)
    if not text.counts:
        raise InputError("the text has no words; give at least one sentence", source=source_name(path))
    return text


def paired_scores(text: TestText, baseline: ScoredModel, other: ScoredModel) -> PairedScores:
    """The scores of two models, as the analyses take them."""
    return PairedScores(
        text.name,
        text.forms,
        baseline.scored.corpus.tokens,
        other.scored.corpus.tokens,
        baseline.scored.logprobs,
        other.scored.logprobs,
        (baseline.perplexity.signature, other.perplexity.signature),
    )


def score_model(name: str, path: str, model: LanguageModel, text: TestText) -> ScoredModel:
    """Score the test text under one model."""
    corpus = Corpus(TokenEncoder(model.vocabulary)(text.forms), model.vocabulary)
    warn_if_foreign(model, corpus.tokens, lambda: text.forms, text.name)
    scored = ScoredText(corpus, model.score_tokens(corpus.tokens), text.forms)
    return ScoredModel(name, str(path), model, scored, scored.perplexity(text.name, text_signature(model, text.source)))
