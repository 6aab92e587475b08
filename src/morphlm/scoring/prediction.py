"""Predicts the next word of a text, or completes a prefix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arguments import check_word
from morphlm.arrays import Int64Array
from morphlm.display import ResultList, Row, Tabular, dataclass_repr, described
from morphlm.errors import located
from morphlm.language_model.base import LanguageModel
from morphlm.language_model.fitting import line_preparer
from morphlm.language_model.prefixes import likeliest, prefix_range
from morphlm.text.raw import read_raw_blocks
from morphlm.text.reading import RESERVED
from morphlm.vocabulary.corpus import check_tokens
from morphlm.vocabulary.vocabulary import END_ID, UNK_ID


@dataclass(frozen=True)
class Prediction:
    """A word that may come next."""

    word: str
    probability: float  # under the model
    share: float  # of the probability of all words that were asked for: those with the prefix

    __repr__ = dataclass_repr

    def to_json(self) -> dict[str, Any]:
        return {"word": self.word, "probability": self.probability, "share": self.share}


@dataclass(frozen=True)
class Continuations(Tabular):
    """The likely next words after a text."""

    line: int  # the number of the text, from 1
    tokens: tuple[str, ...]  # its words, as they were given
    prefix: str
    unknown: int  # how many of its words the model does not know; it reads them as UNK
    words: tuple[Prediction, ...]

    __repr__ = dataclass_repr

    def frame_rows(self) -> list[Row]:
        return [word.to_json() for word in self.words]

    def to_json(self) -> dict[str, Any]:
        return {
            "line": self.line,
            "text": " ".join(self.tokens),
            "prefix": self.prefix,
            "unknown": self.unknown,
            "words": [word.to_json() for word in self.words],
        }


class Predictor:
    """Answers many queries to one model, which keeps the distributions of the last states (see `prefix`)."""

    def __init__(self, model: LanguageModel, *, prepared: bool | None = None) -> None:
        """Raw text is prepared like the model's training text; `prepared` is as of `LanguageModel.perplexity`."""
        self.model = model
        self._prepared = prepared

    def __repr__(self) -> str:
        return described(self, model=self.model)

    def next_words(
        self, text: str | Sequence[str], k: int = 10, prefix: str = "", *, end: bool = True, unknown: bool = False
    ) -> ResultList[Prediction]:
        """The k likeliest words after a sentence so far, raw or as tokens, of equal ones the more frequent first.

        With a prefix, only words that begin with it. Without, `end` admits the sentence's end and `unknown` UNK.
        """
        check_word(prefix)
        entries = self._with_prefix(prefix) if prefix else self._all(end, unknown)
        state = self.state_after(self.tokens(text) if isinstance(text, str) else text)
        ids, probabilities, mass = likeliest(self.model, state, entries, k)
        words = [self.model.vocabulary.words[number] for number in ids.tolist()]
        return ResultList(
            Prediction(word, probability, probability / mass if mass else 0.0)
            for word, probability in zip(words, probabilities.tolist(), strict=True)
        )

    def state_after(self, tokens: Sequence[str]) -> Any:
        """The state after the words of a sentence; only as many count as the model looks back."""
        check_tokens(tokens, allow_unknown=True, number=1)
        state = self.model.begin()
        look_back = max(self.model.order - 1, self.model.reach)
        for token in tokens[max(0, len(tokens) - look_back) :]:
            _, state = self.model.score(state, token)
        return state

    def tokens(self, text: str) -> list[str]:
        """The tokens of a text, as the model's training text was prepared."""
        return line_preparer(self.model, prepared=self._prepared, allow_unknown=True)(text)

    def count_unknown(self, tokens: Sequence[str]) -> int:
        """How many tokens the model does not know."""
        return sum(token not in self.model.vocabulary for token in tokens)

    def _with_prefix(self, prefix: str) -> slice:
        return slice(*prefix_range(self.model, prefix, prepared=self._prepared is True))

    def _all(self, end: bool, unknown: bool) -> Int64Array:
        marks = [number for number, shown in ((UNK_ID, unknown), (END_ID, end)) if shown]
        return np.concatenate([np.array(marks, np.int64), np.arange(len(RESERVED), len(self.model.vocabulary))])


def next_words(
    model: LanguageModel, text: str | Sequence[str], k: int = 10, prefix: str = ""
) -> ResultList[Prediction]:
    """The k likeliest words after a `text`, raw or as tokens. For many queries make one `Predictor`."""
    return Predictor(model).next_words(text, k, prefix)


def split_query(predictor: Predictor, text: str, complete: bool) -> tuple[list[str], str]:
    """The words of a text and the prefix of the next: with `complete`, its last word unless a space follows it."""
    tokens = predictor.tokens(text)
    if not complete or not tokens or text.endswith((" ", "\t")):
        return tokens, ""
    return tokens[:-1], tokens[-1]


def predict_texts(
    predictor: Predictor,
    texts: Sequence[str],
    *,
    k: int = 10,
    prefix: str = "",
    complete: bool = False,
    end: bool = True,
    unknown: bool = False,
    source: str = "<texts>",
    first: int = 1,
) -> list[Continuations]:
    """The likely next words after each of `texts`; messages call the first one line `first` of `source`."""
    results = []
    for number, text in enumerate(texts, first):
        tokens, begun = split_query(predictor, text, complete)
        begun = prefix or begun
        with located(source, number):
            words = predictor.next_words(tokens, k, begun, end=end, unknown=unknown)
            new = predictor.count_unknown(tokens)
        results.append(Continuations(number, tuple(tokens), begun, new, tuple(words)))
    return results


def predict_lines(
    predictor: Predictor, path: str | Path, *, encoding: str | None = None, **ask: Any
) -> Iterator[list[Continuations]]:
    """The likely next words after each line of a text ('-': standard input), as lines arrive.

    The `encoding` is recognised unless it is named; `ask` are arguments of `predict_texts`.
    """
    for block in read_raw_blocks(path, marks="unk", encoding=encoding):
        for number, line in enumerate(block.lines(), block.first_line):
            yield predict_texts(predictor, [line], source=block.source, first=number, **ask)
