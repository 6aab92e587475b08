"""Checks of ids and states: of what every model is asked, before it reaches arrays and compiled code.

A kind of model in another package gets them around its methods when its class is made (`guard_methods`). The kinds of
morphlm check within their methods, which takes less time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import isfunction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from morphlm.arguments import check_token, check_words, shown, word_id, word_ids
from morphlm.arrays import Array, Int32Array
from morphlm.errors import ArgumentTypeError, ConfigError, StateError, WordIdError
from morphlm.tables import counted
from morphlm.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:  # the module of LanguageModel imports this one
    from morphlm.language_model.base import LanguageModel

Method = Callable[..., Any]
Words = Sequence[str] | Sequence[int] | Array  # as strings, or as ids


def no_state(state: object) -> StateError:
    """What to raise for something that is no state of a model."""
    return StateError(f"{shown(state)} is no state of this model; take those that its begin() and score() give")


def is_hashable(state: object) -> bool:
    """Whether something can be a state of some model."""
    try:
        hash(state)
    except TypeError:
        return False
    return True


def state_list(states: Sequence[Any]) -> list[Any]:
    """Several states; a single one that is no sequence is refused."""
    if isinstance(states, str | bytes) or not isinstance(states, Sequence | np.ndarray):
        raise StateError(f"{shown(states)} is no list of states; give one, [state] for a single state")
    return list(states)


class AskedWords(NamedTuple):
    """Words that are asked, by id, and those of them that are strings but not in the vocabulary."""

    ids: Int32Array  # UNK for unknown ones
    unknown: Sequence[tuple[int, str]]  # positions and forms


def asked_words(words: Words, vocabulary: Vocabulary) -> AskedWords:
    """Words as ids or as strings; a single string is no list of words."""
    if isinstance(words, str):
        raise WordIdError(
            f"{shown(words)} is no id of a word and no list of words; give a list, [word] for a single word"
        )
    forms = words.tolist() if isinstance(words, np.ndarray) and words.dtype.kind == "U" else words
    if not (isinstance(forms, list | tuple) and forms and isinstance(forms[0], str)):
        return AskedWords(word_ids(words, len(vocabulary)), ())  # type: ignore[arg-type]
    check_words(forms)
    numbers = list(map(vocabulary.ids.get, forms))
    unknown = [(k, forms[k]) for k, number in enumerate(numbers) if number is None]
    for _, form in unknown:
        check_token(form)
    return AskedWords(vocabulary.encode(forms), unknown)


def states_and_words(states: Sequence[Any], words: Words, vocabulary: Vocabulary) -> tuple[list[Any], AskedWords]:
    """As many states as words."""
    listed, asked = state_list(states), asked_words(words, vocabulary)
    if len(listed) != len(asked.ids):
        raise ConfigError(
            f"{counted(len(listed), 'state')} and {counted(len(asked.ids), 'word')}; give a word for each state"
        )
    return listed, asked


def composed_ids(tokens: Int32Array, forms: Sequence[str], size: int) -> Int32Array:
    """Ids of a text in which V + k, with V = `size` words in the vocabulary, stands for an unknown word forms[k]."""
    check_words(forms)
    return word_ids(tokens, size + len(forms))


def check_sentences(sentences: object) -> None:
    """Refuse what cannot be a text: sentences that are lists of tokens."""
    if isinstance(sentences, str | bytes) or not isinstance(sentences, Iterable):
        raise ArgumentTypeError(f"{shown(sentences)} is no text; give sentences, each a list of tokens")


# ---------------------------------------------------------------- around the methods of other packages' models


def guard_methods(model: type[LanguageModel]) -> None:
    """Put checks around the methods that a class of models defines itself."""
    for name, guard in _GUARDS.items():
        method = vars(model).get(name)
        if isfunction(method):
            setattr(model, name, wraps(method)(guard(method)))


def _guard_score_id(method: Method) -> Method:
    def score_id(self: LanguageModel, state: Any, word: int) -> Any:
        if type(word) is not int or not 0 <= word < len(self.vocabulary.words):
            word = word_id(word, len(self.vocabulary))
        self.check_state(state)
        return method(self, state, word)

    return score_id


def _guard_state(method: Method) -> Method:
    def with_state(self: LanguageModel, state: Any, *rest: Any, **named: Any) -> Any:
        self.check_state(state)
        return method(self, state, *rest, **named)

    return with_state


def _guard_states(method: Method) -> Method:
    def with_states(self: LanguageModel, states: Sequence[Any], *rest: Any, **named: Any) -> Any:
        return method(self, _checked_states(self, states), *rest, **named)

    return with_states


def _guard_states_and_words(method: Method) -> Method:
    def with_words(self: LanguageModel, states: Sequence[Any], words: Any, *rest: Any, **named: Any) -> Any:
        ids = asked_words(words, self.vocabulary).ids
        return method(self, _checked_states(self, states), ids, *rest, **named)

    return with_words


def _guard_tokens(method: Method) -> Method:
    def with_tokens(self: LanguageModel, tokens: Any, *rest: Any, **named: Any) -> Any:
        return method(self, word_ids(tokens, len(self.vocabulary)), *rest, **named)

    return with_tokens


def _guard_composed(method: Method) -> Method:
    def score_composed(self: LanguageModel, tokens: Any, forms: Sequence[str]) -> Any:
        return method(self, composed_ids(tokens, forms, len(self.vocabulary)), forms)

    return score_composed


def _checked_states(model: LanguageModel, states: Sequence[Any]) -> list[Any]:
    listed = state_list(states)
    for state in listed:
        model.check_state(state)
    return listed


_GUARDS: dict[str, Callable[[Method], Method]] = {
    "score_id": _guard_score_id,
    "distribution": _guard_state,
    "next_sentence": _guard_state,
    "bucket_of_state": _guard_state,
    "distributions": _guard_states,
    "score_many": _guard_states_and_words,
    "score_grid": _guard_states_and_words,
    "score_tokens": _guard_tokens,
    "buckets_before": _guard_tokens,
    "score_composed": _guard_composed,
}
