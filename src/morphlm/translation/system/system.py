"""A translation system: raw text in, translations out, with all that was found in the training text.

It is a directory (see directory.py) that `morphlm translate build` makes. Loading checks every file and runs no code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from morphlm.arguments import check_words
from morphlm.artefacts import fingerprint
from morphlm.display import described
from morphlm.errors import ConfigError, FormatError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.progress import notify
from morphlm.scoring.loading import load
from morphlm.scoring.spelled import with_spelling
from morphlm.translation.decoder.config import COUNTED, names_of_models
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.decoder.translation import Translation
from morphlm.translation.grammar.bitext import Bitext, load_bitext
from morphlm.translation.grammar.extra_rules import ExtraRules
from morphlm.translation.grammar.extraction import GrammarExtractor
from morphlm.translation.grammar.rules import FEATURES, RuleTable, table_of
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.system.directory import (
    BITEXT,
    EXTRA_RULES,
    MODELS,
    Manifest,
    Stage,
    check_files,
    read_manifest,
)
from morphlm.translation.system.weights import TunedWeights, read_tuned, start_weights
from morphlm.wording import either

Result = TypeVar("Result")
Sentence = str | Sequence[str]  # as a person writes it, or its tokens

NEEDED = (BITEXT, MODELS)  # stages without which nothing can be translated


class TranslationSystem:
    """Translates with the rules of a training text, language models and weights."""

    def __init__(
        self,
        config: SystemConfig,
        bitext: Bitext,
        models: Mapping[str, LanguageModel],
        weights: Mapping[str, float] | None = None,
        *,
        extra: Sequence[ExtraRules] = (),
        grammar: ExtraRules | None = None,
        unknown_contexts: UnknownContexts = "unk",
    ) -> None:
        """Without weights, those from which tuning begins are taken; a grammar stands instead of the bitext's rules.

        `unknown_contexts` is as of `Decoder`.
        """
        self.config, self.extra, self.grammar = config, tuple(extra), grammar
        for name, model in models.items():
            _warn_of_other_tokens(name, model, config)
        self.extractor = GrammarExtractor(bitext, config.grammar)
        weights = start_weights(list(models)) if weights is None else weights
        self.decoder = Decoder(
            list(models.values()), weights, config.decoder, names=list(models), unknown_contexts=unknown_contexts
        )
        self.decoder.weights.check(self.feature_names)
        self.tuned: TunedWeights | None = None
        self.identity = ""  # a hash of what weights are tuned for

    def __repr__(self) -> str:
        return described(self, models=list(self.decoder.models.names), bitext=self.extractor.bitext)

    @classmethod
    def load(
        cls,
        directory: str | Path,
        *,
        run: int | None = None,
        weights: Mapping[str, float] | None = None,
        extra: Sequence[ExtraRules] = (),
        grammar: ExtraRules | None = None,
        models: Mapping[str, LanguageModel] | None = None,
        unknown_contexts: UnknownContexts = "unk",
        open_vocabulary: bool = False,
        **search: Any,  # fields of DecoderConfig that are to differ
    ) -> TranslationSystem:
        """Load a directory, with the weights of the best tuning run, or of that with a seed, or with given ones.

        `models` are those of the system, if they are loaded already. With `open_vocabulary`, each unknown word has its
        own share of P(UNK) in them, by its spelling.
        """
        directory = Path(directory)
        manifest = read_manifest(directory)
        stages = _needed_stages(directory, manifest)
        for stage in stages.values():
            check_files(directory, stage)
        if models is None:
            models = {name: load(directory / MODELS / name) for name in manifest.models}
        if open_vocabulary:
            models = {name: with_spelling(model) for name, model in models.items()}
        own = [ExtraRules.read(directory / EXTRA_RULES)] if EXTRA_RULES in stages else []
        config = manifest.config.with_decoder(**search)
        identity = identity_of(manifest)
        tuned = read_tuned(directory, identity)
        if run is not None and tuned is None:
            raise ConfigError(f"{directory}: there is no tuning run with the seed {run}; this system is not tuned")
        if weights is None and tuned is not None:
            weights = tuned.run(run).weights
        system = cls(
            config,
            load_bitext(directory / BITEXT),
            models,
            weights,
            extra=[*own, *extra],
            grammar=grammar,
            unknown_contexts=unknown_contexts,
        )
        system.tuned, system.identity = tuned, identity
        return system

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Of every translation, in order."""
        from_files = [*([] if self.grammar is None else [self.grammar]), *self.extra]
        extra = [name for rules in from_files for name in rules.table.feature_names]
        return (*dict.fromkeys([*FEATURES, *extra]), *COUNTED, *names_of_models(self.decoder.models.names))

    @property
    def weights(self) -> dict[str, float]:
        """The weights of all features."""
        return dict(self.decoder.weights.values)

    # ------------------------------------------------------------ translating

    def translate(self, sentence: Sentence) -> Translation:
        """Translate a sentence: text as a person writes it, or a list of tokens as they were prepared for training."""
        return next(self.translate_all([sentence], threads=1))

    def translate_text(self, text: str) -> str:
        """Translate a sentence as a person writes it."""
        return self.config.text_of(self.translate(text).tokens)

    def translate_all(self, sentences: Iterable[Sentence], *, threads: int | None = None) -> Iterator[Translation]:
        """Translate sentences, several at a time; results come in order."""
        return self.map(lambda translation: translation, sentences, threads=threads)

    def map(
        self,
        task: Callable[[Translation], Result],
        sentences: Iterable[Sentence],
        *,
        weights: Mapping[str, float] | None = None,
        threads: int | None = None,
    ) -> Iterator[Result]:
        """Translate sentences and give what `task` makes of each, so that search graphs need not be kept."""
        decoder = self.decoder if weights is None else self.decoder.with_weights(weights)
        return decoder.map(task, map(self._tokens, sentences), self.rules, threads=threads)

    def rules(self, tokens: Sequence[str]) -> RuleTable:
        """The rules for a sentence."""
        if self.grammar is None:
            rules = self.extractor.extract(tokens)
        else:
            rules = self.grammar.joined_to(table_of([], FEATURES), tokens)
        for extra in self.extra:
            rules = extra.joined_to(rules, tokens)
        return rules

    def _tokens(self, sentence: Sentence) -> list[str]:
        if not isinstance(sentence, str):
            check_words(sentence)
        tokens = self.config.prepare(sentence) if isinstance(sentence, str) else list(sentence)
        widest = self.config.decoder.span_of(len(tokens))
        if widest < min(self.config.decoder.max_span, len(tokens)):
            notify(
                f"a sentence of {len(tokens):,} words: rules cover {widest} of them at most, so that it ends in time"
            )
        return tokens


def _warn_of_other_tokens(name: str, model: LanguageModel, config: SystemConfig) -> None:
    """Moses and our tokeniser cut some words differently, which a model of the other one then does not know."""
    options = model.preparation
    if config.tokenise and options is not None and options.tokeniser == "words":
        notify(
            f"WARNING: the words of {name} were cut by another tokeniser ({options.tokeniser_signature}) than those of "
            "this system (Moses), so it does not know some of them; train it on text from "
            + either("`morphlm prepare --tokeniser moses`", "`PrepareOptions(tokeniser='moses')`")
        )


def _needed_stages(directory: Path, manifest: Manifest) -> dict[str, Stage]:
    for name in NEEDED:
        if name not in manifest.stages:
            problem = (
                f"the stage {name} is missing; run the same "
                f"{either('`morphlm translate build`', '`build_system`')} again, it goes on from there"
            )
            raise FormatError(f"{directory}: this system is not complete, {problem}")
    stages = {name: stage for name, stage in manifest.stages.items() if name in (*NEEDED, EXTRA_RULES)}
    if EXTRA_RULES in stages and EXTRA_RULES not in stages[EXTRA_RULES].files:  # it would not be checked
        raise FormatError(f"{directory}: the digest of {EXTRA_RULES} is missing; copy or build the system again")
    return stages


def identity_of(manifest: Manifest) -> str:
    """A hash of what weights are tuned for: the rules and the models."""
    stages = {name: dict(stage.files) for name, stage in manifest.stages.items() if name in (*NEEDED, EXTRA_RULES)}
    return fingerprint({"stages": stages, "models": list(manifest.models)})
