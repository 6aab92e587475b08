"""Linear interpolation of models of any kind, p = sum_m lambda_m p_m: a mixture is itself a model.

The weights lambda are the same everywhere, or depend on the context: how long it is and how far it can be trusted.
A directory of a mixture holds its components, so that it can be moved and read alone.
"""

from __future__ import annotations

import importlib
import math
import operator
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np

from morphlm.arguments import word_ids
from morphlm.arrays import Float64Array, Int32Array, Int64Array
from morphlm.classes.partition import Partition
from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, FormatError
from morphlm.language_model.addition import Addition
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.guards import (
    AskedWords,
    Words,
    asked_words,
    check_sentences,
    composed_ids,
    no_state,
    state_list,
    states_and_words,
)
from morphlm.language_model.origin import Origin
from morphlm.language_model.perplexity import UnknownContexts
from morphlm.language_model.signature import Signature, in_thousands
from morphlm.modelfile import COMPONENTS, ModelFiles, PartWriter, check_self_test, copy_model, write_model
from morphlm.scoring.contexts import AllContexts, ComponentContexts, Contexts, LastWordContexts, SortsContexts
from morphlm.vectors.vectors import WordVectors
from morphlm.vocabulary.vocabulary import BEGIN_ID, UNK_ID
from morphlm.wording import either

KIND = "mixture"
WEIGHTS, DEV_TOKENS, WEIGHTS_FILE = "weights", "development_tokens", "weights.tsv"

WeightsBy = Literal["none", "context"]
State = tuple[Any, ...]  # the bucket of the context, then the state of each component


@dataclass(frozen=True, eq=False)
class Component:
    """One of the models of a mixture."""

    name: str  # of its folder in the mixture's directory
    model: LanguageModel
    ids: Int32Array | None  # the component's id of each word of the mixture; None: the ids are the same
    directory: Path | None = None  # that it was read from
    digest: str = ""  # of the manifest that was read there

    __repr__ = dataclass_repr

    def score_id(self, state: Any, word: int) -> tuple[float, Any]:
        """ln p of a word by the mixture's id, and the component's next state."""
        return self.model.score_id(state, word if self.ids is None else int(self.ids[word]))

    def score_in_turn(self, state: Any, words: Sequence[int], keep: bool) -> tuple[list[float], list[Any]]:
        """ln p of words one after the other from a state on, and the state after each; None unless they are kept."""
        own = words if self.ids is None else self.ids[words].tolist()
        if not keep:
            return self.model._score_in_turn(own, state), [None] * len(words)
        logprobs, states, score_id = [], [], self.model.score_id
        for word in own:
            logprob, state = score_id(state, word)
            logprobs.append(logprob)
            states.append(state)
        return logprobs, states

    def own_ids(self, tokens: Int32Array) -> Int32Array:
        """Tokens as ids of the component; ids beyond the vocabulary stay."""
        if self.ids is None:
            return tokens
        known = tokens < len(self.ids)
        return np.where(known, self.ids[np.where(known, tokens, UNK_ID)], tokens)

    def score_many(self, states: Sequence[Any], asked: AskedWords, words: Words) -> tuple[Float64Array, list[Any]]:
        """ln p of words after states, and the next states; unknown words are asked as the strings that they are."""
        if asked.unknown:
            return self.model.score_many(states, words)
        return self.model.score_many(states, self.own_ids(asked.ids))

    def distributions(self, states: Sequence[Any]) -> Float64Array:
        """p of every word after every state, by the mixture's ids."""
        probabilities = self.model.distributions(states)
        return probabilities if self.ids is None else probabilities[:, self.ids]

    def write(self, folder: Path) -> None:
        """Into the mixture's directory: as it was read, if that is still there, else anew."""
        if self.directory is not None:
            try:
                return copy_model(self.directory, self.digest, folder)
            except FormatError:
                shutil.rmtree(folder, ignore_errors=True)
        return copy(self.model).save(folder)  # which is moved, so that the model itself need not remember it


def component_scores(components: Sequence[Component], tokens: Int32Array) -> Float64Array:
    """ln p of every token under each component: (tokens, components)."""
    return np.stack([component.model.score_tokens(component.own_ids(tokens)) for component in components], axis=1)


def contexts_of(components: Sequence[Component], weights_by: WeightsBy) -> Contexts:
    """Those of the first component that has some, else by the word before."""
    if weights_by == "none":
        return AllContexts()
    for index, component in enumerate(components):
        model = component.model
        if isinstance(model, SortsContexts) and model.context_buckets > 1:
            return ComponentContexts(model, index, component.ids)
    return LastWordContexts(components[0].model.vocabulary)


# ---------------------------------------------------------------- the model


class MixtureModel(LanguageModel, checks_itself=True):
    """A linear interpolation of other models, over the vocabulary of the first."""

    kind = KIND
    _one_by_one = 12

    def __init__(
        self,
        components: Sequence[Component],
        weights: Float64Array,
        weights_by: WeightsBy,
        training: dict[str, Any],
        development_tokens: Int64Array | None = None,
    ) -> None:
        """`weights` has a row for each bucket of contexts, which adds up to 1, and a column for each component."""
        self.components, self.weights_by, self.training = tuple(components), weights_by, training
        self.vocabulary = components[0].model.vocabulary
        self.order = max(component.model.order for component in components)
        self.contexts = contexts_of(components, weights_by)
        if weights.shape != (self.contexts.buckets, len(components)):
            raise ConfigError(f"weights of shape {weights.shape} do not fit the components; make the mixture again")
        self.weights = weights
        self.development_tokens = np.zeros(len(weights), np.int64) if development_tokens is None else development_tokens
        with np.errstate(divide="ignore"):  # a weight of 0
            self._log_weights = np.log(weights)
        self._log_rows: list[list[float]] = self._log_weights.tolist()  # single numbers are quicker so
        self._state_size, self._buckets = len(self.components) + 1, len(self._log_rows)

    # ------------------------------------------------------------ scoring

    def begin(self, *, sentence: bool = True, unknown_contexts: UnknownContexts = "unk") -> State:
        """The states of all components, and the bucket of contexts that decides their weights."""
        begins = [component.model.begin for component in self.components]
        states = [begin(sentence=sentence, unknown_contexts=unknown_contexts) for begin in begins]
        return self._state(BEGIN_ID if sentence else UNK_ID, states)

    def is_state(self, state: State) -> bool:
        """The number of a bucket, then a state of each component."""
        if type(state) is not tuple or len(state) != self._state_size:
            return False
        bucket, *states = state
        if type(bucket) is not int or not 0 <= bucket < self._buckets:
            return False
        return all(component.model.is_state(own) for component, own in zip(self.components, states, strict=True))

    def next_sentence(self, state: State) -> State:
        self.check_state(state)
        states = [component.model.next_sentence(own) for component, own in zip(self.components, state[1:], strict=True)]
        return self._state(BEGIN_ID, states)

    def after_text(self, sentences: Iterable[Sequence[str]]) -> MixtureModel:
        check_sentences(sentences)
        if not self.reach:
            return self
        text = [list(sentence) for sentence in sentences]
        parts = [
            replace(part, model=part.model.after_text(text), directory=None, digest="") for part in self.components
        ]
        return MixtureModel(parts, self.weights, self.weights_by, self.training, self.development_tokens)

    def _with_addition(self, addition: Addition) -> MixtureModel:
        """Each component is extended by the same words with the same weights."""
        models = [component.model._with_addition(addition) for component in self.components]
        components = as_components(models, [None] * len(models))
        return MixtureModel(components, self.weights, self.weights_by, self.training, self.development_tokens)

    @property
    def reach(self) -> int:
        return max(component.model.reach for component in self.components)

    def _state(self, word: int, states: Sequence[Any]) -> State:
        return (self.contexts.after(word, states), *states)

    def score_id(self, state: State, word: int) -> tuple[float, State]:
        bucket, *states = self._parts(state)
        # The first component has the mixture's ids, so that it refuses a word before the others map it.
        scored = [component.score_id(own, word) for component, own in zip(self.components, states, strict=True)]
        return self._scored(bucket, word, scored)

    def _score_in_turn(self, words: Sequence[int], state: State) -> list[float]:
        """As `score_id` does; of states only those are made that weights depend on."""
        logprobs, (bucket, *begins) = [], state
        columns, states = zip(
            *(
                component.score_in_turn(own, words, keep=k == self.contexts.decisive)
                for k, (component, own) in enumerate(zip(self.components, begins, strict=True))
            ),
            strict=True,
        )
        for word, row, after in zip(words, zip(*columns, strict=True), zip(*states, strict=True), strict=True):
            logprobs.append(self._joint(bucket, row))
            bucket = self.contexts.after(word, after)
        return logprobs

    def score(self, state: State, word: str) -> tuple[float, State]:
        """Components that compose unknown words in contexts see this one."""
        if isinstance(word, str) and word in self.vocabulary.ids:
            return self.score_id(state, self.vocabulary.ids[word])
        bucket, *states = self._parts(state)
        scored = [component.model.score(own, word) for component, own in zip(self.components, states, strict=True)]
        return self._scored(bucket, UNK_ID, scored)

    def _compile_queries(self) -> None:
        for component in self.components:
            component.model._compile_queries()

    def _parts(self, state: State) -> State:
        """The state, if it has a bucket and as many parts as it must; components check theirs."""
        if type(state) is not tuple or len(state) != self._state_size:
            raise no_state(state)
        bucket = state[0]
        if type(bucket) is not int or not 0 <= bucket < self._buckets:
            raise no_state(state)
        return state

    def _scored(self, bucket: int, word: int, scored: Sequence[tuple[float, Any]]) -> tuple[float, State]:
        """The mixture's ln p and state from what each component says of a word."""
        logprobs, states = zip(*scored, strict=True)
        return self._joint(bucket, logprobs), self._state(word, states)

    def _joint(self, bucket: int, logprobs: Sequence[float]) -> float:
        """ln p of the mixture from that of each component."""
        return _log_sum(list(map(operator.add, self._log_rows[bucket], logprobs)))

    # ------------------------------------------------------------ many states

    def score_many(self, states: Sequence[State], words: Words) -> tuple[Float64Array, list[Any]]:
        listed, asked = states_and_words(states, words, self.vocabulary)
        buckets, parts = self._columns(listed)
        logprobs, after = np.empty((len(listed), len(self.components))), []
        for k, (component, own) in enumerate(zip(self.components, parts, strict=True)):
            logprobs[:, k], next_states = component.score_many(own, asked, words)
            after.append(next_states)
        next_buckets = self.contexts.after_many(asked.ids, after)
        return self.combine(logprobs, buckets), list(zip(next_buckets, *after, strict=True))

    def score_grid(self, states: Sequence[State], words: Words) -> Float64Array:
        ids = asked_words(words, self.vocabulary).ids
        buckets, parts = self._columns(state_list(states))
        grids = [
            component.model.score_grid(own, component.own_ids(ids)) + self._log_weights[buckets, k, None]
            for k, (component, own) in enumerate(zip(self.components, parts, strict=True))
        ]
        return _log_sums(grids)

    def _columns(self, states: list[State]) -> tuple[Int64Array, list[list[Any]]]:
        """The buckets of states, and the states of each component."""
        if not self._are_states(states):
            for state in states:
                self._parts(state)
        buckets, *parts = list(map(list, zip(*states, strict=True))) or [[] for _ in range(self._state_size)]
        return np.array(buckets, np.int64), parts

    def _are_states(self, states: list[State]) -> bool:
        """The usual case, in a third of the time that it takes to look at one state after the other."""
        if not ({tuple}.issuperset(map(type, states)) and {self._state_size}.issuperset(map(len, states))):
            return False
        buckets = [state[0] for state in states]
        return {int}.issuperset(map(type, buckets)) and all(0 <= bucket < self._buckets for bucket in set(buckets))

    def score_tokens(self, tokens: Int32Array) -> Float64Array:
        tokens = word_ids(tokens, len(self.vocabulary))
        return self.combine(component_scores(self.components, tokens), self.contexts.before(tokens))

    def score_composed(self, tokens: Int32Array, forms: Sequence[str]) -> Float64Array:
        """Components that can compose an unknown word in contexts do so."""
        tokens = composed_ids(tokens, forms, len(self.vocabulary))
        known = np.where(tokens < len(self.vocabulary), tokens, np.int32(UNK_ID))
        columns = [component.model.score_composed(component.own_ids(tokens), forms) for component in self.components]
        return self.combine(np.stack(columns, axis=1), self.contexts.before(known))

    def score_sentences(
        self, tokens: Int32Array, forms: Sequence[str] = (), *, after: Int32Array | None = None
    ) -> Float64Array:
        size = len(self.vocabulary)
        tokens = composed_ids(tokens, forms, size)
        before = None if after is None else composed_ids(after, forms, size)
        columns = [
            part.model.score_sentences(
                part.own_ids(tokens), forms, after=None if before is None else part.own_ids(before)
            )
            for part in self.components
        ]
        known = np.where(tokens < size, tokens, np.int32(UNK_ID))
        return self.combine(np.stack(columns, axis=1), self.contexts.before(known))

    @property
    def composes_contexts(self) -> bool:
        """Whether some component composes unknown words in contexts."""
        return any(component.model.composes_contexts for component in self.components)

    def combine(self, logprobs: Float64Array, buckets: Int64Array) -> Float64Array:
        """ln sum_m lambda_m p_m."""
        result: Float64Array = np.logaddexp.reduce(logprobs + self._log_weights[buckets], axis=1)
        return result

    def distribution(self, state: State) -> Float64Array:
        distribution: Float64Array = self.distributions([state])[0]
        return distribution

    def distributions(self, states: Sequence[State]) -> Float64Array:
        buckets, parts = self._columns(state_list(states))
        result = np.zeros((len(buckets), len(self.vocabulary)))
        for k, (component, own) in enumerate(zip(self.components, parts, strict=True)):
            result += self.weights[buckets, k, None] * component.distributions(own)
        return result

    @property
    def scores_unknown(self) -> bool:
        """Whether words that are not known have a probability: one component that has it is enough."""
        used = self.weights.max(axis=0) > 0
        return any(component.model.scores_unknown for component, use in zip(self.components, used, strict=True) if use)

    @property
    def parts(self) -> tuple[LanguageModel, ...]:
        """The models in it, and in the mixtures among them."""
        return tuple(part for component in self.components for part in component.model.parts)

    @property
    def partition(self) -> Partition | None:
        """The classes of the first part that has some."""
        return next((part.partition for part in self.parts if part.partition is not None), None)

    @property
    def vectors(self) -> WordVectors:
        """Those of the first component that has some with morphemes, else of the first that has some."""
        candidates: list[WordVectors] = []
        for component in self.components:
            with suppress(ConfigError):
                candidates.append(component.model.vectors)
        with_morphemes = (vectors for vectors in candidates if vectors.factors is not None)
        return next(with_morphemes, candidates[0]) if candidates else super().vectors

    @property
    def context_buckets(self) -> int:
        """Into how many buckets contexts are sorted."""
        return self.contexts.buckets

    def buckets_before(self, tokens: Int32Array) -> Int64Array:
        """The bucket of the state before every token of encoded sentences."""
        return self.contexts.before(word_ids(tokens, len(self.vocabulary)))

    def bucket_of_state(self, state: State) -> int:
        """The bucket of a state."""
        self.check_state(state)
        return int(state[0])

    def describe_bucket(self, bucket: int) -> str:
        """What the contexts of a bucket have in common."""
        return self.contexts.describe(bucket)

    @property
    def signature(self) -> Signature:
        """The components' fields, joined by + where they differ, and the weights."""
        signatures = [component.model.signature for component in self.components]
        kinds = ",".join(signature.value("model") or "" for signature in signatures)
        fields = {
            "model": f"{KIND}({kinds})",
            "weights": self.weights_by if self.weights_by != "none" else "+".join(f"{x:.3g}" for x in self.weights[0]),
            "n": str(self.order),
        }
        own = {"V": in_thousands(len(self.vocabulary)), "unk": "scored" if self.scores_unknown else "none"}
        for name in dict.fromkeys(name for signature in signatures[::-1] for name, _ in signature.fields):
            values = dict.fromkeys(signature.value(name) for signature in signatures)
            fields.setdefault(name, own.get(name) or "+".join(value for value in values if value is not None))
        return Signature("ppl", tuple(fields.items()))

    # ------------------------------------------------------------ other processes, copies

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By the directory, if there is one, else by the components, each of which may have one."""
        transport = importlib.import_module("morphlm.scoring.transport")
        content = self.components, self.weights, self.weights_by, self.training, self.development_tokens
        return transport.reduce_by_directory(self) or (type(self), content, transport.own_settings(self) or None)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = super().__deepcopy__(memo)
        copies = [replace(component, model=deepcopy(component.model, memo)) for component in self.components]
        other.components, other.contexts = tuple(copies), contexts_of(copies, self.weights_by)
        return other

    # ------------------------------------------------------------ files

    def save(self, directory: str | Path) -> None:
        """Write the mixture with its components; what is there is replaced in one step."""
        names = [component.name for component in self.components]
        files = ModelFiles(
            kind=KIND,
            configuration={"components": names, "weights_by": self.weights_by, "order": self.order},
            training=self.training,
            tensors={WEIGHTS: self.weights, DEV_TOKENS: self.development_tokens},
            texts={WEIGHTS_FILE: self._weights_table()},
            self_test=self.self_test(),
        )
        parts: dict[str, PartWriter] = {component.name: component.write for component in self.components}
        self.origin = Origin.of(self, directory, write_model(directory, files, parts))

    def _weights_table(self) -> str:
        """The weights as a readable table, without buckets that the development text does not reach."""
        rows = [["context", "development tokens", *(component.name for component in self.components)]]
        for bucket in np.flatnonzero((self.development_tokens > 0) | (self.contexts.buckets == 1)).tolist():
            shares = [f"{weight:.6f}" for weight in self.weights[bucket]]
            rows.append([self.contexts.describe(bucket), str(self.development_tokens[bucket]), *shares])
        return "".join("\t".join(row) + "\n" for row in rows)


def _log_sum(numbers: Sequence[float]) -> float:
    """ln sum_m exp(number)."""
    largest = max(numbers)
    if largest == -math.inf:
        return largest
    return largest + math.log(sum(math.exp(number - largest) for number in numbers))


def _log_sums(arrays: Sequence[Float64Array]) -> Float64Array:
    """ln sum_m exp(array), element by element; quicker than `np.logaddexp`."""
    largest = reduce(np.maximum, arrays)
    largest = np.where(largest == -np.inf, 0.0, largest)
    with np.errstate(divide="ignore"):
        result: Float64Array = np.log(sum(np.exp(array - largest) for array in arrays)) + largest
    return result


# ---------------------------------------------------------------- making


def as_components(models: Sequence[LanguageModel], sources: Sequence[tuple[Path, str] | None]) -> list[Component]:
    """Name the models by their kinds and map the words of the first to the ids of each.

    `sources` tell where a model was read and the digest of its manifest.
    """
    names = numbered([model.kind for model in models])
    return [
        Component(name, model, _mapped(models[0], model), *(source or (None, "")))
        for name, model, source in zip(names, models, sources, strict=True)
    ]


def numbered(names: Sequence[str], mark: str = "-") -> list[str]:
    """The names, with a number behind each that comes again: clbl, clbl-2."""
    result: list[str] = []
    for name in names:
        again = (f"{name}{mark}{number}" for number in count(2))
        result.append(name if name not in result else next(other for other in again if other not in result))
    return result


def _mapped(first: LanguageModel, other: LanguageModel) -> Int32Array | None:
    """The other's ids of the first's words; None if they are the same."""
    ours, theirs = first.vocabulary, other.vocabulary
    if ours.words == theirs.words:
        return None
    lacking = next((word for word in ours if word not in theirs.ids), None)
    extra = next((word for word in theirs if word not in ours.ids), None)
    if lacking is not None or extra is not None:
        example = f"only the first has {lacking!r}" if lacking is not None else f"only the second has {extra!r}"
        raise ConfigError(
            f"{first.kind} knows {len(ours):,} words and {other.kind} knows {len(theirs):,}, and they are not the "
            f"same ({example}); train both on one vocabulary, "
            + either(
                "with `morphlm vocab --out V` and `morphlm train ... --vocab V`, or together with `morphlm "
                "train --all`",
                "with `train(..., vocabulary=)`, or together with `train_kinds`",
            )
        )
    return theirs.encode(ours.words)


def mixture_from_files(directory: str | Path, files: ModelFiles, models: Sequence[LanguageModel]) -> MixtureModel:
    """The mixture that a checked directory holds, of its components that were loaded; its self-test is run."""
    names = files.configuration["components"]
    sources = [(Path(directory) / COMPONENTS / name, files.parts[name].digest) for name in names]
    model = MixtureModel(
        as_components(models, sources),
        files.tensors[WEIGHTS],
        files.configuration["weights_by"],
        files.training,
        files.tensors[DEV_TOKENS],
    )
    if [component.name for component in model.components] != names:
        raise FormatError(f"{directory}: the components are not those that it was made of; make it again")
    check_self_test(directory, files.self_test, model._score_for_test)
    return model
