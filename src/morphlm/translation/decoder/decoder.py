"""The decoder: language models, weights and settings in one object that translates sentences, several at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

from morphlm.arguments import whole_number
from morphlm.display import described
from morphlm.errors import ConfigError
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.threads import available_cores, map_in_order
from morphlm.translation.decoder.config import DecoderConfig, Weights
from morphlm.translation.decoder.constrained import Constraint, search_constrained
from morphlm.translation.decoder.models import Caches, prepare_models
from morphlm.translation.decoder.search import search
from morphlm.translation.decoder.sentence_grammar import PreparedRules, prepare_rules, sentence_grammar
from morphlm.translation.decoder.translation import Translation
from morphlm.translation.grammar.rules import RuleTable

Result = TypeVar("Result")
Rules = RuleTable | PreparedRules
RuleSource = Callable[[Sequence[str]], Rules]  # the rules for a sentence


class Decoder:
    """Translates by hierarchical rules with any number of language models inside the search.

    Models are of any kind; `LM0`, `LM1`, ... are their features unless names are given. Contexts beyond a sentence are
    fixed: as if nothing came before, or by `after_text`.
    """

    def __init__(
        self,
        models: Sequence[LanguageModel] = (),
        weights: Weights | Mapping[str, float] | None = None,
        config: DecoderConfig | None = None,
        *,
        names: Sequence[str] | None = None,
        unknown_contexts: UnknownContexts = "unk",
    ) -> None:
        """Compiles the models for queries, which takes seconds for large ones.

        `unknown_contexts` says what stands for an unknown word in contexts: UNK or, in models that can, the sum of its
        known factors. In models `with_spelling`, unknown words have their shares of P(UNK).
        """
        self.models, self.unknown_contexts = prepare_models(models, names, unknown_contexts), unknown_contexts
        self.weights = weights if isinstance(weights, Weights) else Weights(dict(weights or {}))
        self.config = config or DecoderConfig()
        self._given, self._free_caches = tuple(models), list[Caches]()
        self._originals = self._given  # as they were before a text was given

    def __repr__(self) -> str:
        return described(self, models=list(self.models.names), weights=self.weights.values, config=self.config)

    def __reduce__(self) -> tuple[Any, ...]:
        """By the models, which another process compiles again."""
        given = self._given, self.weights, self.config, self.models.names, self.unknown_contexts, self._originals
        return _restored_decoder, given

    def __copy__(self) -> Decoder:
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def with_weights(self, weights: Weights | Mapping[str, float]) -> Decoder:
        """A decoder with other weights, which shares models and caches with this one."""
        other = copy(self)
        other.weights = weights if isinstance(weights, Weights) else Weights(dict(weights))
        return other

    def with_caches(self, megabytes: float) -> Decoder:
        """A decoder with caches of its own of this size, for a text that is decoded again and again."""
        other = copy(self)
        other.config, other._free_caches = replace(self.config, cache_megabytes=megabytes), list[Caches]()
        return other

    def after_text(self, sentences: Iterable[Sequence[str]]) -> Decoder:
        """A decoder for the sentence after a text in the target language, whose words count in wide contexts."""
        text = [list(sentence) for sentence in sentences]
        fixed = [model.after_text(text) for model in self._originals]
        other = Decoder(
            fixed, self.weights, self.config, names=self.models.names, unknown_contexts=self.unknown_contexts
        )
        other._originals = self._originals
        return other

    def prepare(self, rules: Rules) -> PreparedRules:
        """Prepare rules for many sentences, so that it is done once; prepared ones only get this decoder's weights."""
        if not isinstance(rules, PreparedRules):
            with self._caches() as caches:
                return prepare_rules(rules, self.models, self.weights, caches)
        if rules.models is not self.models:
            raise ConfigError("these rules were prepared for a decoder with other models; use their table")
        return rules if rules.weights == self.weights else rules.with_weights(self.weights)

    def decode(self, tokens: Sequence[str], rules: Rules) -> Translation:
        """Translate the tokens of a sentence with its rules."""
        grammar = sentence_grammar(self.prepare(rules), tokens)
        with self._caches() as caches:
            return Translation(search(grammar, self.config, caches), self.config)

    def decode_forced(self, tokens: Sequence[str], target: Sequence[str], rules: Rules) -> Translation | None:
        """Find the best derivation that translates the tokens by exactly the words of `target`; None if there is none.

        Nothing is pruned, whatever the pop limit, so that the score is the highest of all derivations.
        """
        return self.decode_constrained(tokens, rules, Constraint(tuple(target), is_whole=True))

    def decode_prefix(
        self, tokens: Sequence[str], prefix: Sequence[str], rules: Rules, *, incomplete: bool = False
    ) -> Translation | None:
        """Translate the tokens by something that begins with the words of `prefix`; None if no derivation does.

        If `incomplete`, the last of these words may go on: a word that begins with it stands there.
        """
        return self.decode_constrained(tokens, rules, Constraint(tuple(prefix), is_incomplete=incomplete))

    def decode_constrained(self, tokens: Sequence[str], rules: Rules, constraint: Constraint) -> Translation | None:
        """Translate under a constraint; None if no derivation meets it."""
        grammar = sentence_grammar(self.prepare(rules), tokens)
        with self._caches() as caches:
            chart = search_constrained(grammar, self.config, caches, constraint)
            return None if chart is None else Translation(chart, self.config)

    def decode_all(
        self,
        sentences: Iterable[Sequence[str]],
        rules: Rules | RuleSource,
        *,
        threads: int | None = None,
    ) -> Iterator[Translation]:
        """Translate sentences, several at a time; results come in order.

        Instead of rules, a function may give those for a sentence; it is called by several threads.
        """
        return self.map(lambda translation: translation, sentences, rules, threads=threads)

    def map(
        self,
        task: Callable[[Translation], Result],
        sentences: Iterable[Sequence[str]],
        rules: Rules | RuleSource,
        *,
        threads: int | None = None,
    ) -> Iterator[Result]:
        """Translate sentences and give what `task` makes of each, so that search graphs need not be kept."""
        if not callable(rules):
            rules = self.prepare(rules)
        count = available_cores() if threads is None else threads
        whole_number("the number of threads", count, at_least=1)

        def work(tokens: Sequence[str]) -> Result:
            return task(self.decode(tokens, rules(tokens) if callable(rules) else rules))

        return map_in_order(work, sentences, count)

    @contextmanager
    def _caches(self) -> Iterator[Caches]:
        """Caches for one thread, taken from those that are free."""
        try:
            caches = self._free_caches.pop()
        except IndexError:
            caches = self.models.new_caches(self.config.cache_megabytes)
        try:
            yield caches
        finally:
            self._free_caches.append(caches)


def _restored_decoder(
    models: Sequence[LanguageModel],
    weights: Weights,
    config: DecoderConfig,
    names: Sequence[str],
    unknown_contexts: UnknownContexts,
    originals: tuple[LanguageModel, ...],
) -> Decoder:
    decoder = Decoder(models, weights, config, names=names, unknown_contexts=unknown_contexts)
    decoder._originals = originals
    return decoder
