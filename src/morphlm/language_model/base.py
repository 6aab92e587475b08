"""The one interface of every model: a state, a word, a natural log-probability and the next state."""

from __future__ import annotations

import copy
import importlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from morphlm.arguments import check_token, whole_number
from morphlm.arrays import Float64Array, Int32Array
from morphlm.classes.partition import Partition
from morphlm.display import described, html_facts
from morphlm.errors import ConfigError
from morphlm.language_model.addition import EXTENDED, Addition
from morphlm.language_model.fitting import fit_text
from morphlm.language_model.guards import (
    Words,
    asked_words,
    check_sentences,
    composed_ids,
    guard_methods,
    is_hashable,
    no_state,
    state_list,
    states_and_words,
)
from morphlm.language_model.open_vocabulary import Spelling
from morphlm.language_model.origin import Origin
from morphlm.language_model.perplexity import Perplexity, ScoredText, UnknownContexts, score_text, text_signature
from morphlm.language_model.prefixes import PrefixCache, completions, prefix_logprob, prefix_logprobs
from morphlm.language_model.signature import Signature, in_thousands
from morphlm.lazy import PickledWithoutCaches, cached_property, without_cached
from morphlm.progress import ProgressOption, reports_progress
from morphlm.text.preparation import PrepareOptions, options_of_record
from morphlm.text.prepare import join_tokens
from morphlm.text.raw import tokens_of
from morphlm.text.reading import END, RESERVED
from morphlm.vectors.search import largest
from morphlm.vectors.vectors import WordVectors
from morphlm.version import __version__
from morphlm.vocabulary.corpus import Source, check_tokens, describe
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID, Vocabulary

FEW_WORDS = 32  # up to so many words of a grid are asked one by one, more are looked up in distributions
DISTRIBUTED = 1 << 23  # probabilities of several states that are computed at a time


class LanguageModel(PickledWithoutCaches, ABC):
    """What scoring, decoding and the analyses need of a model. Log-probabilities are natural.

    Methods refuse what is no id of a word (WordIdError) and what is no state of the model (StateError).
    """

    kind: str  # "mkn", "clbl++", ...
    order: int  # n: a word depends on the n - 1 words before it
    vocabulary: Vocabulary
    training: dict[str, Any]  # how the model came about; stored in its manifest
    origin: Origin | None = None  # the directory that the model was read from or saved to
    _one_by_one = 0  # sentences of at most so many tokens are scored word by word, which is quicker
    prefix_cache_megabytes: float = 32.0  # for each thread that asks for prefixes: distributions of the last states

    def __init_subclass__(cls, *, checks_itself: bool = False, **named: Any) -> None:
        """Check ids and states before the methods of a class, unless it says that they do so themselves."""
        super().__init_subclass__(**named)
        if not checks_itself:
            guard_methods(cls)

    def __repr__(self) -> str:
        directory = None if self.origin is None else str(self.origin.directory)
        facts = {"kind": self.kind, "order": self.order, "words": len(self.vocabulary)}
        return described(self, **facts, **({} if directory is None else {"directory": directory}))

    def _repr_html_(self) -> str:
        training = self.training
        facts = {
            "kind": self.kind,
            "order": self.order,
            "words": len(self.vocabulary),
            "training tokens": training.get("tokens"),
            "development perplexity": training.get("development_perplexity"),
            "directory": None if self.origin is None else str(self.origin.directory),
            "signature": str(self.signature),
        }
        return html_facts(facts, type(self).__name__)

    @abstractmethod
    def begin(self, *, sentence: bool = True, unknown_contexts: UnknownContexts = "unk") -> Any:
        """The state at the start of a sentence, or with `sentence=False` one that knows nothing of the words before.

        States can be hashed; equal ones have the same future. `unknown_contexts` says what stands for an unknown word
        in the states that follow: UNK, or ("composed") the sum of its known factors.
        """

    def is_state(self, state: Any) -> bool:
        """Whether something can be a state of this model; by default anything that can be hashed can."""
        return is_hashable(state)

    def check_state(self, state: Any) -> None:
        """Raise StateError for what is no state of this model."""
        if not self.is_state(state):
            raise no_state(state)

    def next_sentence(self, state: Any) -> Any:
        """The state at the start of the sentence after a state; `begin()` unless the model looks back further."""
        self.check_state(state)
        return self.begin()

    def after_text(self, sentences: Iterable[Sequence[str]]) -> LanguageModel:
        """The model for sentences after a text; itself, unless the words of the text count in it."""
        check_sentences(sentences)
        return self

    @property
    def reach(self) -> int:
        """How many words before a sentence count in it: 0 but for models with wide contexts.

        Those take the sentences of a text as consecutive.
        """
        return 0

    @abstractmethod
    def score_id(self, state: Any, word: int) -> tuple[float, Any]:
        """ln p(word | state) and the state after it, for a word's id."""

    @abstractmethod
    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        """ln p of every token of encoded sentences, each ending with END."""

    @abstractmethod
    def distribution(self, state: Any) -> Float64Array:
        """p of every word of the vocabulary after a state, by id; sums to 1."""

    @abstractmethod
    def save(self, directory: str | Path) -> None:
        """Write the model directory; one that is there is replaced in one step."""

    def score(self, state: Any, word: str) -> tuple[float, Any]:
        """ln p(word | state) and the state after it; words that are not known are scored as UNK."""
        number = self.vocabulary.ids.get(word) if isinstance(word, str) else None
        if number is None:
            check_token(word)
            number = UNK_ID
        return self.score_id(state, number)

    # ------------------------------------------------------------ many at once; models may have faster versions

    def score_many(self, states: Sequence[Any], words: Words) -> tuple[Float64Array, list[Any]]:
        """ln p(words[k] | states[k]) for every k, and the states after; words are strings or ids."""
        listed, asked = states_and_words(states, words, self.vocabulary)
        scored = list(map(self.score_id, listed, asked.ids.tolist()))
        for k, form in asked.unknown:
            scored[k] = self.score(listed[k], form)
        return np.array([logprob for logprob, _ in scored], np.float64), [state for _, state in scored]

    def score_grid(self, states: Sequence[Any], words: Words) -> Float64Array:
        """ln p of every word after every state, (states, words); words are strings or ids."""
        listed, asked = state_list(states), asked_words(words, self.vocabulary)
        if len(asked.ids) <= FEW_WORDS:
            logprobs, _ = self.score_many(_repeated(listed, len(asked.ids)), np.tile(asked.ids, len(listed)))
            return logprobs.reshape(len(listed), len(asked.ids))
        with np.errstate(divide="ignore"):
            return np.log(self.distributions(listed)[:, asked.ids])

    def distributions(self, states: Sequence[Any]) -> Float64Array:
        """p of every word of the vocabulary after every state, (states, words)."""
        listed = state_list(states)
        if not listed:
            return np.empty((0, len(self.vocabulary)))
        return np.stack([self.distribution(state) for state in listed])

    def top_words(self, states: Sequence[Any], k: int) -> list[list[tuple[str, float]]]:
        """The k most probable words after every state with their ln p, the best first."""
        k, words, rows = whole_number("k", k), self.vocabulary.words, []
        listed, step = state_list(states), max(1, DISTRIBUTED // len(words))
        for begin in range(0, len(listed), step):
            for probabilities in self.distributions(listed[begin : begin + step]):
                best = largest(probabilities, k).tolist()
                rows.append([(words[word], math.log(probabilities[word])) for word in best if probabilities[word] > 0])
        return rows

    # ------------------------------------------------------------ beginnings of words

    def prefix(self, state: Any, prefix: str) -> float:
        """ln p of all words of the vocabulary that begin with a string, after a state; -inf if there are none.

        The string is prepared like the words of the training text: composed, lowercased if they were. Reserved tokens
        are no words, UNK included, so the empty prefix has ln of 1 - p(UNK) - p(END).
        """
        return prefix_logprob(self, state, prefix)

    def prefixes(self, states: Sequence[Any], prefixes: Sequence[str]) -> Float64Array:
        """`prefix` of states[k] and prefixes[k], for every k."""
        return prefix_logprobs(self, states, prefixes)

    def completions(self, state: Any, prefix: str, k: int = 10) -> list[tuple[str, float]]:
        """The k likeliest words after a state that begin with a string, with their ln p, the best first."""
        return completions(self, state, prefix, k)

    @cached_property
    def _prefix_cache(self) -> PrefixCache:
        return PrefixCache()

    @property
    def preparation(self) -> PrepareOptions | None:
        """How the training text was prepared; None if that is not on record."""
        return options_of_record(self.training.get("preparation"))

    def tokens(self, sentence: str) -> list[str]:
        """The tokens of a raw sentence, prepared as the training text was; without a record, those between spaces."""
        return tokens_of(sentence, self.preparation, allow_unknown=True)

    def join(self, tokens: Sequence[str]) -> str:
        """Tokens put together as a person would write them; without a record, with spaces between them."""
        return join_tokens(tokens, self.preparation)

    def sentence(self, sentence: str | Sequence[str], *, bos: bool = True, eos: bool = True) -> list[float]:
        """ln p of every token of a sentence, raw or as a list of tokens, and of the sentence's end.

        Without `bos`, nothing is known of what stands before the first token; without `eos`, the end is not scored.
        """
        ids = self._ids_of(self.tokens(sentence) if isinstance(sentence, str) else sentence)
        if bos and len(ids) > self._one_by_one:
            self._compile_queries()
            logprobs: list[float] = self.score_tokens(np.array(ids, np.int32)).tolist()
        else:
            logprobs = self._score_in_turn(ids, self.begin(sentence=bos))
        return logprobs if eos else logprobs[:-1]

    def _ids_of(self, tokens: Sequence[str]) -> list[int]:
        """The ids of a sentence's tokens and of its end. What are words of the vocabulary need no other check."""
        if type(tokens) is list and tokens:
            ids: list[Any] = []
            try:  # `suppress` would take as long as all the rest
                ids += map(self.vocabulary.ids.get, tokens)
                if min(ids) > END_ID:
                    ids.append(END_ID)
                    return ids
            except TypeError:  # an unknown word's None has no order, and not everything can be looked up
                pass
        check_tokens(tokens, allow_unknown=True, number=1)
        return [*self.vocabulary.encode(tokens).tolist(), END_ID]

    def _score_in_turn(self, words: Sequence[int], state: Any) -> list[float]:
        """ln p of words, one by one, from a state on."""
        logprobs, score_id = [], self.score_id
        for word in words:
            logprob, state = score_id(state, word)
            logprobs.append(logprob)
        return logprobs

    def _compile_queries(self) -> None:
        """Make ready for queries what is made ready at the first one."""

    def score_composed(self, tokens: Int32Array, forms: Sequence[str]) -> Float64Array:
        """ln p of every token, where id V + k, with V words in the vocabulary, stands for an unknown word forms[k].

        It is scored as UNK; contexts see it as the sum of its known factors, if the model has factors there.
        """
        ids = composed_ids(tokens, forms, len(self.vocabulary))
        return self.score_tokens(np.where(ids < len(self.vocabulary), ids, np.int32(UNK_ID)))

    def score_sentences(
        self, tokens: Int32Array, forms: Sequence[str] = (), *, after: Int32Array | None = None
    ) -> Float64Array:
        """ln p of every token of sentences that are no neighbours: each comes right after a text, or after none.

        `tokens`, and those of the text `after` which they come, are as of `score_composed` if there are `forms`.
        """
        if not self.reach:
            return self._score_as(tokens, forms)
        # The text stands before every sentence, with empty sentences, which say nothing, before it until the sentence
        # before is out of reach. So many sentences take a seventh of the time that they take one by one.
        before = np.zeros(0, np.int32) if after is None else after[-self.reach :]
        filler = np.concatenate([np.full(self.reach - len(before), END_ID, np.int32), before])
        ends, order = np.flatnonzero(tokens == END_ID), np.arange(len(tokens))
        sentence = np.searchsorted(ends, order)
        positions = order + self.reach * (sentence + 1)
        text = np.empty(len(tokens) + self.reach * (int(sentence.max(initial=-1)) + 1), np.int32)
        is_filler = np.ones(len(text), bool)
        is_filler[positions] = False
        text[positions], text[is_filler] = tokens, np.resize(filler, int(is_filler.sum()))
        logprobs: Float64Array = self._score_as(text, forms)[positions]
        return logprobs

    def _score_as(self, tokens: Int32Array, forms: Sequence[str]) -> Float64Array:
        return self.score_composed(tokens, forms) if forms else self.score_tokens(tokens)

    @property
    def composes_contexts(self) -> bool:
        """Whether `score_composed` differs from scoring with UNK in contexts."""
        return False

    @reports_progress
    def perplexity(
        self,
        source: Source,
        *,
        allow_unknown: bool = False,
        spelling: Spelling | None = None,
        unknown_contexts: UnknownContexts = "unk",
        prepared: bool | None = None,
        encoding: str | None = None,
        progress: ProgressOption = None,
    ) -> Perplexity:
        """Perplexity of a file, several paths, raw lines, or lists of tokens; `allow_unknown` admits <unk> in them.

        Raw text is prepared as the training text was. `prepared` says that a file is prepared already (True) or that it
        is raw (False), for models of Moses tokens, which else take files as they stand. The `encoding` of raw text is
        recognised unless it is named.

        With `spelling`, of `train_spelling(model.vocabulary)`, also with unknown words that share P(UNK) by how they
        are spelled. Where `unknown_contexts` are "composed", contexts see them as the sum of their known factors.
        """
        source = fit_text(self, source, prepared=prepared, encoding=encoding)
        scored = score_text(
            self, source, allow_unknown=allow_unknown, spelling=spelling, unknown_contexts=unknown_contexts
        )
        return scored.perplexity(describe(source), text_signature(self, source))

    @reports_progress
    def score_text(
        self,
        source: Source,
        *,
        allow_unknown: bool = False,
        spelling: Spelling | None = None,
        unknown_contexts: UnknownContexts = "unk",
        prepared: bool | None = None,
        encoding: str | None = None,
        progress: ProgressOption = None,
    ) -> ScoredText:
        """The log-probability of every token, with rows for sentences and tokens; arguments as of `perplexity`."""
        return score_text(
            self,
            fit_text(self, source, prepared=prepared, encoding=encoding),
            allow_unknown=allow_unknown,
            keep_forms=True,
            spelling=spelling,
            unknown_contexts=unknown_contexts,
        )

    # ------------------------------------------------------------ other processes, copies

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By the model's directory, if it has one, else by its files; so other processes get it, see `transport`."""
        transport = importlib.import_module("morphlm.scoring.transport")  # it can load models, so it stands above
        return (
            transport.reduce_by_directory(self) or transport.reduce_by_content(self) or super().__reduce_ex__(protocol)
        )

    def __copy__(self) -> Self:
        """One with settings and caches of its own, which shares what it knows, since that does not change."""
        other = object.__new__(type(self))
        vars(other).update(without_cached(self))
        return other

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy that has its own record of the training, too."""
        other = memo[id(self)] = copy.copy(self)
        other.training = copy.deepcopy(self.training, memo)
        return other

    # ------------------------------------------------------------ more words

    def extended(
        self, words: Iterable[str] | Mapping[str, float], text: Source | None = None, *, prepared: bool | None = None
    ) -> LanguageModel:
        """The model with more words, which share P(UNK) by their composed vectors; known words keep their probability.

        `words` may be a mapping to counts in a text as long as the training text. A `text` that has the words tells how
        frequent they are; without, that is estimated from known words of the same shape. Words are brought to the form
        of the training text, unless they are `prepared`. `morphlm.extend` also tells what became of each word.
        """
        extending = importlib.import_module("morphlm.scoring.extending")  # it works with all kinds, so it stands above
        model: LanguageModel = extending.extend(self, words, text, prepared=prepared).model
        return model

    def _with_addition(self, addition: Addition) -> LanguageModel:
        """The model with words that share P(UNK)."""
        raise ConfigError(
            f"a model of the kind {self.kind} cannot be extended by words; extend n-grams, log-bilinear "
            "models with output factors, caches, or mixtures of them"
        )

    @property
    def parts(self) -> tuple[LanguageModel, ...]:
        """The models that this one mixes, also those of mixtures in it; itself, unless it is a mixture."""
        return (self,)

    @property
    def partition(self) -> Partition | None:
        """The word classes that the model predicts by; None if it has none."""
        return None

    @property
    def vectors(self) -> WordVectors:
        """The vectors of words and morphemes, also of words never seen; n-gram models have none."""
        raise ConfigError(
            f"a model of the kind {self.kind} has no word vectors; ask a log-bilinear one (lbl, ..., clbl++) or a "
            "mixture with one"
        )

    def self_test(self) -> list[dict[str, Any]]:
        """Sentences with their scores, for the manifest: likely words, rare ones, and one that cannot be known."""
        words = self.vocabulary.words[len(RESERVED) :]
        unknown = [["\N{SNOWMAN}\N{SNOWMAN}"]] if self.scores_unknown else []
        sentences: list[list[str]] = [[], list(words[:5]), list(words[-5:]), *unknown]
        return [{"tokens": s, "logprobs": [round(p, 5) for p in self._score_for_test(s)]} for s in sentences]

    def _score_for_test(self, tokens: Sequence[str]) -> list[float]:
        """`sentence` by the way that takes least memory."""
        return list(map(float, self.score_tokens(self.vocabulary.encode([*tokens, END]))))

    @property
    def scores_unknown(self) -> bool:
        """Whether words that are not known have a probability."""
        return True

    @property
    def signature(self) -> Signature:
        """What defines the model; part of every number it gives."""
        preparation = self.training.get("preparation") or {}
        fields = {
            "model": self.kind,
            "n": str(self.order),
            "V": in_thousands(len(self.vocabulary)),
            **({"added": in_thousands(self.training[EXTENDED])} if EXTENDED in self.training else {}),
            "kappa": "given" if self.training.get("vocabulary") == "given" else _plain(self.training.get("kappa")),
            "unk": "scored" if self.scores_unknown else "none",
            "eos": "yes",
            "tok": preparation.get("tokeniser") or "as-is",
            "norm": preparation.get("normalisation") or "as-is",
            "seed": _plain(self.training.get("seed")),
            "v": ".".join(self.training.get("version", __version__).split(".")[:2]),
        }
        return Signature("ppl", tuple(fields.items()))


def _repeated(states: list[Any], times: int) -> list[Any]:
    return [state for state in states for _ in range(times)]


def _plain(number: float | None) -> str:
    return "-" if number is None else f"{number:g}"
