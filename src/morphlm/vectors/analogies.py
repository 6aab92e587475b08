"""Analogies: a is to b as c is to d. How often d is the nearest of all words, the three others left out.

3CosAdd takes the word nearest to b - a + c (Mikolov et al. 2013), 3CosMul the one with the highest product
cos(b) cos(c) / cos(a) (Levy & Goldberg 2014). Words that are not known are composed, and are possible answers then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from morphlm.arrays import Array, Float32Array, Int64Array
from morphlm.display import Row, Tabular, dataclass_repr, flattened
from morphlm.errors import ConfigError, InputError
from morphlm.files import source_name
from morphlm.segmentation.encoding import normalised
from morphlm.tables import format_columns
from morphlm.text.reading import numbered_lines, split_tokens
from morphlm.vectors.base import BaseVectors
from morphlm.vectors.forms import is_lowercased, word_forms
from morphlm.vectors.search import unit_rows

Method = Literal["3CosAdd", "3CosMul"]
METHODS: tuple[Method, ...] = get_args(Method)
QUESTIONS_A_CALL = 32  # their cosines with 200,000 words take 25 MB, three times
EPSILON = 1e-6  # of Levy & Goldberg (2014)
TOTAL = "all"

Question = tuple[str, str, str, str]


@dataclass(frozen=True)
class AnalogyQuestions(Tabular):
    """Questions in sections, as in word2vec's questions-words.txt."""

    name: str
    sections: tuple[tuple[str, tuple[Question, ...]], ...]

    __repr__ = dataclass_repr

    def frame_rows(self) -> list[Row]:
        names = ("a", "b", "c", "d")
        return [
            {"section": section, **dict(zip(names, one, strict=True))}
            for section, asked in self.sections
            for one in asked
        ]

    def __len__(self) -> int:
        return sum(len(questions) for _, questions in self.sections)

    def in_form(self, form: Callable[[str], str]) -> AnalogyQuestions:
        """The questions with their words in the form that a model knows."""
        sections = tuple((name, tuple(tuple(map(form, one)) for one in questions)) for name, questions in self.sections)
        return AnalogyQuestions(self.name, sections)  # type: ignore[arg-type]


def read_analogies(path: str | Path) -> AnalogyQuestions:
    """Read lines of four words, `a b c d`, under lines `: section`; words are taken in Unicode NFC."""
    source, sections = source_name(path), list[tuple[str, list[Question]]]()
    for number, line in numbered_lines(path):
        words = split_tokens(normalised(line))
        if words[:1] == [":"] and len(words) > 1:
            sections.append((" ".join(words[1:]), []))
        elif not sections:
            raise InputError("a section must begin first; put `: name` before this line", source=source, line=number)
        elif len(words) != 4:
            raise InputError("not four words `a b c d`; correct the line", source=source, line=number)
        else:
            sections[-1][1].append((words[0], words[1], words[2], words[3]))
    return AnalogyQuestions(source, tuple((name, tuple(questions)) for name, questions in sections))


# ---------------------------------------------------------------- results


@dataclass(frozen=True)
class AnalogyScore:
    """How many questions of a section were answered rightly, by each method."""

    section: str
    questions: int
    known: int  # questions whose four words are known
    covered: int  # questions whose four words are known or composed
    correct: dict[Method, int]  # of all questions, with words composed
    correct_known: dict[Method, int]  # of those with known words, answered by known words

    def accuracy(self, method: Method) -> float | None:
        """Of all questions; those that are not covered count as wrong."""
        return self.correct[method] / self.questions if self.questions else None

    def accuracy_known(self, method: Method) -> float | None:
        """Of the questions with known words, as other tools measure it."""
        return self.correct_known[method] / self.known if self.known else None

    def row(self) -> list[str]:
        """The cells of a line of the table."""
        shares = [self.accuracy(method) for method in METHODS] + [self.accuracy_known(method) for method in METHODS]
        counts = [str(self.questions), str(self.known), str(self.covered)]
        return [self.section, *counts, *("-" if share is None else f"{100 * share:.1f}" for share in shares)]

    def to_json(self) -> dict[str, Any]:
        accuracy = {method: self.accuracy(method) for method in METHODS}
        return vars(self) | {"accuracy": accuracy, "known_accuracy": {one: self.accuracy_known(one) for one in METHODS}}


@dataclass(frozen=True)
class AnalogyAccuracy(Tabular):
    """The accuracies on one file of analogies."""

    name: str
    sections: tuple[AnalogyScore, ...]
    signature: str

    __repr__ = dataclass_repr

    def frame_rows(self) -> list[Row]:
        return [flattened(vars(score)) for score in (*self.sections, self.total)]

    @property
    def total(self) -> AnalogyScore:
        """All sections together."""

        def added(field: str) -> int:
            return sum(getattr(section, field) for section in self.sections)

        def by_method(field: str) -> dict[Method, int]:
            return {method: sum(getattr(section, field)[method] for section in self.sections) for method in METHODS}

        counts = added("questions"), added("known"), added("covered")
        return AnalogyScore(TOTAL, *counts, by_method("correct"), by_method("correct_known"))

    def format(self) -> str:
        """A table with a line for each section and one for all, and what the figures depend on."""
        header = ["% right", "questions", "known", "covered", *METHODS, *(f"known {method}" for method in METHODS)]
        rows = [section.row() for section in (*self.sections, self.total)]
        return "\n".join([self.name, format_columns(header, rows), self.signature])

    def to_json(self) -> dict[str, Any]:
        sections = [section.to_json() for section in self.sections]
        return {"set": self.name, "total": self.total.to_json(), "sections": sections, "signature": self.signature}


# ---------------------------------------------------------------- measuring


def evaluate_analogies(vectors: BaseVectors, questions: AnalogyQuestions, *, prepared: bool = False) -> AnalogyAccuracy:
    """The share of right answers to `questions`, of `read_analogies`.

    Words are brought to the form of the model's text, unless they are `prepared`.
    """
    if not len(questions):
        raise ConfigError(f"{questions.name}: there are no questions; name a file with lines of four words")
    questions = questions.in_form(word_forms(vectors, prepared=prepared))
    candidates = _Candidates(vectors, questions)
    scores = tuple(_score(name, asked, candidates) for name, asked in questions.sections)
    fields = vectors.signature_fields() | {"case": "lower" if not prepared and is_lowercased(vectors) else "kept"}
    signature = "|".join(["analogies", *(f"{name}:{value}" for name, value in fields.items())])
    return AnalogyAccuracy(questions.name, scores, signature)


class _Candidates:
    """The possible answers: the known words, then the words of the questions that are composed."""

    def __init__(self, vectors: BaseVectors, questions: AnalogyQuestions) -> None:
        asked = list(dict.fromkeys(word for _, some in questions.sections for one in some for word in one))
        origins = dict(zip(asked, vectors.origins(asked), strict=True))
        composed = [word for word in asked if origins[word] in ("composed", "affixes")]
        self.known = len(vectors)
        self.units: Float32Array = np.concatenate([vectors._units, unit_rows(vectors.rows(composed))])
        self.places = {word: vectors._index(word) for word in asked if origins[word] == "known"}
        self.places |= {word: self.known + k for k, word in enumerate(composed)}

    def place(self, word: str) -> int:
        """The row of a word; -1 if it has no vector."""
        return self.places.get(word, -1)


def _score(name: str, questions: Sequence[Question], candidates: _Candidates) -> AnalogyScore:
    places = np.array([[candidates.place(word) for word in one] for one in questions], np.int64).reshape(-1, 4)
    is_covered = (places >= 0).all(axis=1)
    is_known = is_covered & (places < candidates.known).all(axis=1)
    correct, correct_known = (dict.fromkeys(METHODS, 0) for _ in range(2))
    for method, expected, known, answers, known_answers in _answers(places[is_covered], candidates):
        correct[method] += int((answers == expected).sum())
        correct_known[method] += int((known_answers == expected)[known].sum())
    counts = len(questions), int(is_known.sum()), int(is_covered.sum())
    return AnalogyScore(name, *counts, correct, correct_known)


_Answers = tuple[Method, Int64Array, Array, Int64Array, Int64Array]


def _answers(places: Int64Array, candidates: _Candidates) -> Iterator[_Answers]:
    """For some questions at a time: the expected rows, whether all is known, the answers, and those of known words."""
    for begin in range(0, len(places), QUESTIONS_A_CALL):
        block = places[begin : begin + QUESTIONS_A_CALL]
        known = block.max(axis=1) < candidates.known
        cosines = [candidates.units[block[:, k]] @ candidates.units.T for k in range(3)]  # (questions, candidates)
        for method in METHODS:
            scores = _combined(method, *cosines)
            np.put_along_axis(scores, block[:, :3], -np.inf, axis=1)
            answers, known_answers = scores.argmax(axis=1), scores[:, : candidates.known].argmax(axis=1)
            yield method, block[:, 3], known, answers, known_answers


def _combined(method: Method, a: Float32Array, b: Float32Array, c: Float32Array) -> Float32Array:
    if method == "3CosAdd":
        return b - a + c
    one, two = np.float32(1), np.float32(2)
    scores: Float32Array = (one + b) / two * ((one + c) / two) / ((one + a) / two + np.float32(EPSILON))
    return scores
