"""Word pairs and analogies measured as gensim measures them, so that figures can be compared with its figures.

Words are looked up in any case, of several the first; lines that are not of the format are skipped. Unlike in gensim,
words that are not known count if they can be composed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from morphlm.arrays import Float32Array
from morphlm.errors import InputError
from morphlm.files import open_binary, source_name
from morphlm.vectors.base import BaseVectors
from morphlm.vectors.search import nearest, unit_rows

CANDIDATES = 5  # of which the first that is not asked for is the answer

Section = dict[str, Any]  # section, correct, incorrect


class _Lookup:
    """Words of a test set as known words in any case, or else composed."""

    def __init__(self, vectors: BaseVectors, restrict_vocab: int | None, case_insensitive: bool) -> None:
        self.vectors, self.any_case = vectors, case_insensitive
        words = vectors.index_to_key[:restrict_vocab]
        self.indices = {self.form(word): index for index, word in reversed([*enumerate(words)])}

    def form(self, word: str) -> str:
        return word.upper() if self.any_case else word

    def name(self, word: str) -> str:
        """The known word that is meant, or the word itself."""
        index = self.indices.get(self.form(word))
        return word if index is None else self.vectors.index_to_key[index]

    def has_vectors(self, words: Sequence[str]) -> dict[str, bool]:
        """Whether words take part: known and not too rare, or composed."""
        origins = dict(zip(words, self.vectors.origins(list(words)), strict=True))
        composed = {word for word, origin in origins.items() if origin in ("composed", "affixes")}
        return {word: word in composed or self.form(word) in self.indices for word in words}


def pair_correlations(
    vectors: BaseVectors,
    pairs: str | Path,
    delimiter: str,
    encoding: str,
    restrict_vocab: int | None,
    case_insensitive: bool,
    dummy4unknown: bool,
) -> tuple[Any, Any, float]:
    """Pearson's r and Spearman's rho with their p-values, and the percentage of pairs with words without vectors."""
    lookup = _Lookup(vectors, restrict_vocab, case_insensitive)
    rated = list(_rated_pairs(pairs, delimiter, encoding))
    covered = lookup.has_vectors([word for one, other, _ in rated for word in (one, other)])
    is_covered = [covered[one] and covered[other] for one, other, _ in rated]
    used = [pair for pair, counts in zip(rated, is_covered, strict=True) if counts]
    left, right = (_units_of(lookup, words) for words in ([pair[0] for pair in used], [pair[1] for pair in used]))
    cosines = iter((left * right).sum(axis=1).tolist())
    scores, ratings = [], []
    for (_, _, rating), counts in zip(rated, is_covered, strict=True):
        if counts or dummy4unknown:
            scores.append(next(cosines) if counts else 0.0)
            ratings.append(rating)
    if not scores:
        raise InputError("no pair has ratings and words with vectors; check its format", source=source_name(pairs))
    missing = 100 * is_covered.count(False) / len(rated)
    from scipy import stats  # noqa: PLC0415  # half a second, which other uses of vectors should not wait for

    return stats.pearsonr(ratings, scores), stats.spearmanr(ratings, scores), missing


def _rated_pairs(path: str | Path, delimiter: str, encoding: str) -> Iterator[tuple[str, str, float]]:
    for line in _text_lines(path, encoding):
        fields = line.split(delimiter)
        try:
            if len(fields) == 3 and not line.startswith("#"):
                yield fields[0], fields[1], float(fields[2])
        except ValueError:
            continue


def _text_lines(path: str | Path, encoding: str = "utf8") -> list[str]:
    with open_binary(path) as stream:
        try:
            text = stream.read().decode(encoding)
        except (UnicodeDecodeError, LookupError) as error:
            message = f"it cannot be read as {encoding}; name its encoding, or convert it with iconv"
            raise InputError(message, source=source_name(path)) from error
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


# ---------------------------------------------------------------- analogies


def analogy_accuracy(
    vectors: BaseVectors,
    analogies: str | Path,
    restrict_vocab: int | None,
    case_insensitive: bool,
    dummy4unknown: bool,
) -> tuple[float, list[Section]]:
    """The accuracy of 3CosAdd, and for each section, and for all, what was answered rightly and wrongly."""
    lookup = _Lookup(vectors, restrict_vocab, case_insensitive)
    sections: list[Section] = []
    for name, questions in _sections(analogies):
        covered = lookup.has_vectors([word for question in questions for word in question[:3]])
        usable = [
            question
            for question in questions
            if all(covered[word] for word in question[:3]) and lookup.form(question[3]) in lookup.indices
        ]
        right = dict(zip(usable, _answers_are_right(lookup, usable, restrict_vocab), strict=True))
        section: Section = {"section": name, "correct": [], "incorrect": []}
        for question in questions:
            if question in right or dummy4unknown:
                shown = tuple(map(lookup.form, question))
                section["correct" if right.get(question) else "incorrect"].append(shown)
        sections.append(section)
    total: Section = {"section": "Total accuracy"}
    for key in ("correct", "incorrect"):
        total[key] = [question for section in sections for question in section[key]]
    answered = len(total["correct"]) + len(total["incorrect"])
    return len(total["correct"]) / answered if answered else 0.0, [*sections, total]


def _sections(path: str | Path) -> list[tuple[str, list[tuple[str, ...]]]]:
    sections: list[tuple[str, list[tuple[str, ...]]]] = []
    for number, line in enumerate(_text_lines(path), 1):
        if line.startswith(": "):
            sections.append((line.lstrip(": ").strip(), []))
        elif not sections:
            raise InputError(
                "a section is missing before this line; write `: name`", source=source_name(path), line=number
            )
        elif len(words := tuple(line.split())) == 4:
            sections[-1][1].append(words)
    return sections


def _answers_are_right(lookup: _Lookup, questions: Sequence[tuple[str, ...]], restrict_vocab: int | None) -> list[bool]:
    if not questions:
        return []
    vectors = lookup.vectors
    a, b, c = (_units_of(lookup, [question[k] for question in questions]) for k in range(3))
    end = min(restrict_vocab or len(vectors), len(vectors))
    places = [[lookup.indices.get(lookup.form(word), -1) for word in question[:3]] for question in questions]
    skip = [[index for index in set(row) if 0 <= index < end] for row in places]
    right = []
    for question, (rows, _) in zip(questions, nearest(vectors._units[:end], b - a + c, CANDIDATES, skip), strict=True):
        asked, expected = {*map(lookup.form, question[:3])}, lookup.form(question[3])
        found = [lookup.form(vectors.index_to_key[row]) for row in rows.tolist()]
        answer = next((word for word in found if word not in asked), found[-1] if found else None)
        right.append(answer == expected)
    return right


def _units_of(lookup: _Lookup, words: Sequence[str]) -> Float32Array:
    return unit_rows(np.asarray(lookup.vectors.rows([lookup.name(word) for word in words])))
