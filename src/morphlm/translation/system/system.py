"""A translation system: raw text in, translations out, with all that was found in the training text.

It is a directory (see directory.py) that `morphlm translate build` makes. Loading checks every file and runs no code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from morphlm.arguments import check_words, whole_number
from morphlm.artefacts import fingerprint
from morphlm.display import described
from morphlm.errors import ConfigError, FormatError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.progress import notify
from morphlm.scoring.loading import load
from morphlm.scoring.spelled import with_spelling
from morphlm.threads import available_cores, map_in_order
from morphlm.translation.decoder.config import COUNTED, names_of_models
from morphlm.translation.decoder.constrained import Constraint
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.decoder.translation import Translation
from morphlm.translation.grammar.bitext import Bitext, load_bitext
from morphlm.translation.grammar.extra_rules import ExtraRules
from morphlm.translation.grammar.extraction import GrammarExtractor
from morphlm.translation.grammar.reading import read_rules
from morphlm.translation.grammar.rules import FEATURES, RuleTable, join_tables, table_of
from morphlm.translation.recasing.recaser import Recaser
from morphlm.translation.system.config import SOURCE, TARGET, SystemConfig
from morphlm.translation.system.directory import (
    BITEXT,
    EXTRA_RULES,
    MODELS,
    RECASER,
    Manifest,
    Stage,
    check_files,
    read_manifest,
)
from morphlm.translation.system.segments import Segment, SegmentReader
from morphlm.translation.system.truecasing import TextWriter
from morphlm.translation.system.weights import TunedWeights, read_tuned, start_weights
from morphlm.wording import either

Result = TypeVar("Result")
Sentence = str | Sequence[str]  # as a person writes it, or its tokens

NEEDED = (BITEXT, MODELS)  # stages without which nothing can be translated


@dataclass(frozen=True, eq=False)
class SystemOrigin:
    """How a system was loaded, so that other processes can load the same."""

    directory: Path
    options: Mapping[str, Any]  # of `TranslationSystem.load`; the weights among them, whatever is tuned meanwhile

    def load(self) -> TranslationSystem:
        return TranslationSystem.load(self.directory, **self.options)


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
        sentence_grammars: bool = False,
    ) -> None:
        """Without weights, those from which tuning begins are taken; a grammar stands instead of the bitext's rules.

        `unknown_contexts` is as of `Decoder`. With `sentence_grammars`, segments may name files of rules, whose
        features are not known yet: those that have a weight are taken to exist.
        """
        self.config, self.extra, self.grammar = config, tuple(extra), grammar
        for name, model in models.items():
            _warn_of_other_tokens(name, model, config)
        self.extractor = GrammarExtractor(bitext, config.grammar)
        weights = start_weights(list(models)) if weights is None else weights
        self.decoder = Decoder(
            list(models.values()), weights, config.decoder, names=list(models), unknown_contexts=unknown_contexts
        )
        self._expected: tuple[str, ...] = ()  # features that grammars of sentences may have
        if sentence_grammars:
            self._expected = tuple(name for name in self.weights if name not in self.feature_names)
        self._met: set[str] = set()  # those of grammars of sentences so far
        self.decoder.weights.check(self.feature_names)
        self.tuned: TunedWeights | None = None
        self._recaser_path: Path | None = None
        self._recaser: Recaser | None = None  # when it was loaded
        self.identity = ""  # a hash of what weights are tuned for
        self.origin: SystemOrigin | None = None  # if it was loaded from a directory

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
        sentence_grammars: bool = False,
        **search: Any,  # fields of DecoderConfig that are to differ
    ) -> TranslationSystem:
        """Load a directory, with the weights of the best tuning run, or of that with a seed, or with given ones.

        `models` are those of the system, if they are loaded already. With `open_vocabulary`, each unknown word has its
        own share of P(UNK) in them, by its spelling. `sentence_grammars` says that segments may name grammars.
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
        options = {"extra": extra, "grammar": grammar, "open_vocabulary": open_vocabulary, **search}
        identity = identity_of(manifest)
        tuned = read_tuned(directory, identity)
        _check_is_tuned(directory, tuned, run)
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
            sentence_grammars=sentence_grammars,
        )
        system.tuned, system.identity = tuned, identity
        options |= {"weights": system.weights, "unknown_contexts": unknown_contexts}
        system.origin = SystemOrigin(directory, {**options, "sentence_grammars": sentence_grammars})
        system._recaser_path = directory / RECASER if RECASER in stages else None
        return system

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Of every translation, in order."""
        from_files = [*([] if self.grammar is None else [self.grammar]), *self.extra]
        extra = [name for rules in from_files for name in rules.table.feature_names]
        return (
            *dict.fromkeys([*FEATURES, *extra, *self._expected]),
            *COUNTED,
            *names_of_models(self.decoder.models.names),
        )

    @property
    def met_features(self) -> frozenset[str]:
        """Those of grammars of sentences so far."""
        return frozenset(self._met)

    def meet_features(self, names: Iterable[str]) -> None:
        """Take note of what grammars of sentences had that another process has read."""
        self._met.update(names)

    @property
    def missing_features(self) -> list[str]:
        """Features with a weight that no grammar of a sentence had so far: their names may be misspelt."""
        return [name for name in self._expected if name not in self._met]

    @property
    def weights(self) -> dict[str, float]:
        """The weights of all features."""
        return dict(self.decoder.weights.values)

    # ------------------------------------------------------------ translating

    def translate(self, sentence: Sentence) -> Translation:
        """Translate a sentence: text as a person writes it, or a list of tokens as they were prepared for training."""
        return next(self.translate_all([sentence], threads=1))

    def translate_text(self, text: str, *, truecase: bool = False) -> str:
        """Translate a sentence as a person writes it; with `truecase`, the recaser gives it capital letters."""
        if not truecase:
            return self.config.text_of(self.translate(text).tokens)
        writer = TextWriter(self.config, self.load_recaser())
        segment = SegmentReader(self.config, keep_case=True).segment(text)
        return next(self.map_segments(_text_by(writer), [segment], threads=1))

    def load_recaser(self, path: str | Path | None = None) -> Recaser:
        """The recaser of the system, or that in another directory."""
        if not self.config.lowercase:
            raise ConfigError("the text of this system has its capital letters, there is nothing to restore")
        if path is None and self._recaser_path is None:
            build = either("`morphlm translate build ... --recaser`", "`build_system(..., recaser=True)`")
            raise ConfigError(f"this system has no recaser; add one by {build}, or name a directory that has one")
        options = self.config.pair_options().sides[TARGET]
        if path is not None:
            return Recaser.load(path, options)
        if self._recaser is None:
            self._recaser = Recaser.load(cast(Path, self._recaser_path), options)
        return self._recaser

    def translate_all(self, sentences: Iterable[Sentence], *, threads: int | None = None) -> Iterator[Translation]:
        """Translate sentences, several at a time; results come in order."""
        return self.map(lambda translation: translation, sentences, threads=threads)

    def translate_forced(self, sentence: Sentence, target: Sentence) -> Translation | None:
        """Find the best derivation with exactly the words of `target`, text or tokens; None if there is none."""
        return self._constrained(sentence, Constraint(tuple(self._tokens(target, TARGET)), is_whole=True))

    def translate_prefix(self, sentence: Sentence, prefix: Sentence, *, incomplete: bool = False) -> Translation | None:
        """Translate by something that begins with a `prefix`, text or tokens; None if no derivation does.

        If `incomplete`, the last word of the prefix may go on.
        """
        words = tuple(self._tokens(prefix, TARGET))
        return self._constrained(sentence, Constraint(words, is_incomplete=incomplete and bool(words)))

    def _constrained(self, sentence: Sentence, constraint: Constraint) -> Translation | None:
        segment = Segment(tuple(self._tokens(sentence)), constraint=constraint)
        return next(self.map_segments(lambda _, translation: translation, [segment], threads=1))

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

    def map_segments(
        self,
        task: Callable[[Segment, Translation | None], Result],
        segments: Iterable[Segment],
        *,
        threads: int | None = None,
    ) -> Iterator[Result]:
        """The same for segments; `task` gets each with its translation, None if no derivation meets its constraint."""
        count = available_cores() if threads is None else threads
        whole_number("the number of threads", count, at_least=1)

        def work(segment: Segment) -> Result:
            rules = self.segment_rules(segment)
            if segment.constraint is None:
                return task(segment, self.decoder.decode(segment.tokens, rules))
            return task(segment, self.decoder.decode_constrained(segment.tokens, rules, segment.constraint))

        return map_in_order(work, map(self.announced, segments), count)

    def segment_rules(self, segment: Segment) -> RuleTable:
        """The rules for a segment: of its own grammars, else those for its tokens."""
        if not segment.grammars:
            return self._joined_to_extra(self._own_rules(segment.tokens), segment.tokens)
        tables = [read_rules(path) for path in segment.grammars]
        for table in tables:
            self._met.update(table.feature_names)
        return self._joined_to_extra(join_tables([self._no_rules, *tables]), segment.tokens)

    def rules(self, tokens: Sequence[str]) -> RuleTable:
        """The rules for a sentence."""
        return self._joined_to_extra(self._own_rules(tokens), tokens)

    @property
    def _no_rules(self) -> RuleTable:
        return table_of([], (*FEATURES, *self._expected))

    def _own_rules(self, tokens: Sequence[str]) -> RuleTable:
        if self.grammar is not None:
            return self.grammar.joined_to(self._no_rules, tokens)
        rules = self.extractor.extract(tokens)
        return join_tables([self._no_rules, rules]) if self._expected else rules

    def _joined_to_extra(self, rules: RuleTable, tokens: Sequence[str]) -> RuleTable:
        for extra in self.extra:
            rules = extra.joined_to(rules, tokens)
        return rules

    def _tokens(self, sentence: Sentence, side: int = SOURCE) -> list[str]:
        if not isinstance(sentence, str):
            check_words(sentence)
        tokens = self.config.prepare(sentence, side) if isinstance(sentence, str) else list(sentence)
        if side == SOURCE:
            self._announce(len(tokens))
        return tokens

    def announced(self, segment: Segment) -> Segment:
        """The segment; if it is so long that the search is cut short, a message says so."""
        self._announce(len(segment.tokens))
        return segment

    def _announce(self, words: int) -> None:
        widest = self.config.decoder.span_of(words)
        if widest < min(self.config.decoder.max_span, words):
            notify(f"a sentence of {words:,} words: rules cover {widest} of them at most, so that it ends in time")


def _text_by(writer: TextWriter) -> Callable[[Segment, Translation | None], str]:
    return lambda segment, found: "" if found is None else writer.text_of(segment, found.best)


def tuned_weights(directory: str | Path, run: int | None = None) -> dict[str, float]:
    """The weights of a system without loading it: those of a tuning run, or from which tuning begins."""
    manifest = read_manifest(Path(directory))
    tuned = read_tuned(Path(directory), identity_of(manifest))
    _check_is_tuned(directory, tuned, run)
    return start_weights(manifest.models) if tuned is None else dict(tuned.run(run).weights)


def _check_is_tuned(directory: str | Path, tuned: TunedWeights | None, run: int | None) -> None:
    if run is not None and tuned is None:
        raise ConfigError(f"{directory}: there is no tuning run with the seed {run}; this system is not tuned")


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
    stages = {name: stage for name, stage in manifest.stages.items() if name in (*NEEDED, EXTRA_RULES, RECASER)}
    for name in (EXTRA_RULES, RECASER):
        if name in stages and name not in stages[name].files:  # it would not be checked
            raise FormatError(f"{directory}: the digest of {name} is missing; copy or build the system again")
    return stages


def identity_of(manifest: Manifest) -> str:
    """A hash of what weights are tuned for: the rules and the models."""
    stages = {name: dict(stage.files) for name, stage in manifest.stages.items() if name in (*NEEDED, EXTRA_RULES)}
    return fingerprint({"stages": stages, "models": list(manifest.models)})
