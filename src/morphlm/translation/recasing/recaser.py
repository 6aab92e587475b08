"""The recaser: the likeliest way to write the words of a sentence, under an n-gram model of text with capitals.

The hidden states are the forms of each word that the text has (`may`, `May`, `MAY`), the transitions those of a
modified Kneser-Ney model; Viterbi's algorithm finds the best sequence exactly. The text was learned as if no sentence
began with a capital (see training.py), and the capital of the first word is added afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from morphlm.arguments import check_words
from morphlm.display import described
from morphlm.errors import ConfigError
from morphlm.language_model.base import LanguageModel
from morphlm.lazy import PickledWithoutCaches, cached_property
from morphlm.ngram.model import NgramModel
from morphlm.scoring.loading import load
from morphlm.text.casing import DOTLESS_I
from morphlm.text.preparation import PrepareOptions
from morphlm.text.prepare import prepare_beginning
from morphlm.text.reading import RESERVED
from morphlm.translation.recasing.positions import capital_positions
from morphlm.translation.recasing.unknown import UnknownWords
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID
from morphlm.wording import either

Lowercase = Callable[[str], str]
_Path = tuple[float, int, int]  # ln p, the state before, the form


def lowercase_by(options: PrepareOptions) -> Lowercase:
    """What preparing does to the case of a word."""
    return partial(prepare_beginning, options=options)


class Recaser(PickledWithoutCaches):
    """Gives words in small letters their capitals."""

    def __init__(self, model: LanguageModel, options: PrepareOptions) -> None:
        """`model` is what `train_recaser` gives; `options` say how the text that is recased was prepared."""
        if not isinstance(model, NgramModel):
            raise ConfigError("a recaser is an n-gram model of text with capitals; " + _how_to_train())
        self.model, self.options = model, options
        self._lowercase = lowercase_by(options)
        forms: dict[str, list[int]] = defaultdict(list)
        for number, word in enumerate(model.vocabulary.words[len(RESERVED) :], len(RESERVED)):
            forms[self._lowercase(word)].append(number)
        self._forms = dict(forms)
        if all(model.vocabulary.words[number] == small for small, numbers in forms.items() for number in numbers):
            raise ConfigError("this model knows no word with a capital letter; " + _how_to_train())

    @classmethod
    def load(cls, path: str | Path, options: PrepareOptions) -> Recaser:
        """From the directory that `train_recaser` has written."""
        return cls(load(path), options)

    @property
    def words(self) -> int:
        """How many words it knows, each in one form or several."""
        return len(self._forms)

    def __repr__(self) -> str:
        return described(self, words=self.words, forms=len(self.model.vocabulary) - len(RESERVED))

    def recase(self, tokens: Sequence[str], hints: Mapping[int, str] | None = None) -> list[str]:
        """The tokens, which are in small letters, with capitals.

        `hints` are forms of some of them by their positions, for words that were never seen: names that passed through.
        """
        check_words(tokens)
        return self._with_beginnings(tokens, self._likeliest(tokens, hints or {}))

    def most_frequent(self, tokens: Sequence[str]) -> list[str]:
        """The same by the most frequent form of each word, whatever stands beside it: what to compare with."""
        counts, words = self.model.vocabulary.counts, self.model.vocabulary.words
        best = [
            words[max(self._forms[token], key=lambda number: counts[number])] if token in self._forms else token
            for token in tokens
        ]
        return self._with_beginnings(tokens, best)

    def _likeliest(self, tokens: Sequence[str], hints: Mapping[int, str]) -> list[str]:
        """Viterbi: the best way to each state, word by word; of equal ones, the form that was seen first."""
        reached: dict[int, float] = {self.model.begin(): 0.0}
        steps: list[dict[int, _Path]] = []
        for token in tokens:
            step = self._step(reached, self._forms.get(token, [UNK_ID]))
            reached = {state: path[0] for state, path in step.items()}
            steps.append(step)
        state = max(reached, key=lambda each: reached[each] + self.model.score_id(each, END_ID)[0])
        forms: list[str] = []
        for position in range(len(tokens) - 1, -1, -1):
            _, state, form = steps[position][state]
            if form != UNK_ID:
                forms.append(self.model.vocabulary.words[form])
            else:
                forms.append(hints.get(position) or self._unknown_form(state, tokens[position]))
        return forms[::-1]

    def _unknown_form(self, state: int, word: str) -> str:
        """As rare words are written after the state before; nothing that follows can tell the forms apart."""
        return self._capitalised(word) if self._unknown.has_capital(state, word) else word

    @cached_property
    def _unknown(self) -> UnknownWords:
        return UnknownWords(self.model, self._lowercase)

    def _step(self, reached: Mapping[int, float], forms: Sequence[int]) -> dict[int, _Path]:
        best: dict[int, _Path] = {}
        for state, before in reached.items():
            for form in forms:
                logprob, after = self.model.score_id(state, form)
                if after not in best or best[after][0] < before + logprob:
                    best[after] = before + logprob, state, form
        return best

    def _with_beginnings(self, tokens: Sequence[str], forms: list[str]) -> list[str]:
        for position in capital_positions(tokens):
            if forms[position] == tokens[position]:  # iPhone stays as it is
                forms[position] = self._capitalised(forms[position])
        return forms

    def _capitalised(self, word: str) -> str:
        first = "İ" if word[0] == "i" and self.options.language in DOTLESS_I else word[0].title()
        return first + word[1:]


def _how_to_train() -> str:
    return either("`morphlm translate recaser` trains one", "`train_recaser` trains one")
