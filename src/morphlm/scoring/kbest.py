"""Parses and writes k-best lists of decoders; fields that are not changed stay byte for byte.

Moses writes `id ||| hypothesis ||| Name= value value Other= value ||| score`, sometimes with alignments after it; cdec
writes `Name=value` instead. A plain table has the same in columns.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from morphlm.display import dataclass_repr
from morphlm.errors import ConfigError, InputError, located
from morphlm.files import is_file
from morphlm.tables import counted
from morphlm.text.reading import parse_number, read_blocks
from morphlm.wording import either, option

FormatName = Literal["auto", "moses", "cdec", "tsv"]
FORMATS: tuple[FormatName, ...] = ("auto", "moses", "cdec", "tsv")
Values = Mapping[str, tuple[float, ...]]  # of features, or their weights; a feature may have several

_BAR = re.compile(r"(?<![^ ])\|\|\|(?![^ ])")  # only as a token of its own
# `morphlm translate decode` writes a backslash before a word that is the separator
_ESCAPED_BAR = re.compile(r"(?<![^ ])\\(\\*)\|\|\|(?![^ ])")
_MOSES, _OLD_MOSES, _CDEC = "= ", ": ", "="  # separators of a feature's name and its value


@dataclass(frozen=True)
class Hypothesis:
    """One line of a k-best list."""

    line: int  # its number in the file, from 1
    fields: tuple[str, ...]  # what the separators separate, spaces and all
    id: str  # of the sentence it is a hypothesis for
    text: str

    __repr__ = dataclass_repr


@dataclass(frozen=True)
class Columns:
    """The columns of a plain table, numbered from 1."""

    id: int = 1
    text: int = 2
    score: int | None = None  # 0: there is none; None: the third, where a line has it

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        if min(self.id, self.text) < 1 or (self.score or 0) < 0:
            raise ConfigError(
                f"columns are numbered from 1 on ({option('--score-column', 0, name='score')}: there is none)"
            )


class KBestFormat(ABC):
    """Parses and writes the lines of a k-best list. An InputError it raises names neither file nor line."""

    @abstractmethod
    def parse(self, line: str, number: int) -> Hypothesis:
        """Split a line into its fields."""

    @abstractmethod
    def score(self, hypothesis: Hypothesis) -> float:
        """The total score that the decoder gave."""

    @abstractmethod
    def features(self, hypothesis: Hypothesis) -> Values:
        """The values of all features by their names."""

    @abstractmethod
    def has_feature(self, hypothesis: Hypothesis, name: str) -> bool:
        """Whether there is a feature of this name."""

    @abstractmethod
    def render(self, hypothesis: Hypothesis, added: Mapping[str, float], total: float | None) -> str:
        """The line with more features and, unless None, another total score."""


@dataclass(frozen=True)
class BarFormat(KBestFormat):
    """Fields between ` ||| `: id, hypothesis, features, score, and anything."""

    mark: str = _MOSES  # separator of a feature's name and its value

    def parse(self, line: str, number: int) -> Hypothesis:
        fields = tuple(_BAR.split(line))
        if len(fields) < 3:
            flag = option("--format", name="layout")
            raise InputError(f"not `id ||| hypothesis ||| features ||| score`; mend the line or give the right {flag}")
        if len(fields) > 3:
            _number(fields[3].strip(), "score")
        text = _ESCAPED_BAR.sub(r"\1|||", fields[1].strip(" "))
        return Hypothesis(number, fields, _checked_id(fields[0]), text)

    def score(self, hypothesis: Hypothesis) -> float:
        if len(hypothesis.fields) == 3:
            raise InputError(f"there is no total score to add to; write one, or give all {option('--weights')}")
        return _number(hypothesis.fields[3].strip(), "score")

    def features(self, hypothesis: Hypothesis) -> Values:
        return parse_values(hypothesis.fields[2])

    def has_feature(self, hypothesis: Hypothesis, name: str) -> bool:
        return f" {name}{self.mark}" in f" {hypothesis.fields[2]} "

    def render(self, hypothesis: Hypothesis, added: Mapping[str, float], total: float | None) -> str:
        """Features go to the end of the third field; the total takes the place of the fourth."""
        fields = list(hypothesis.fields)
        if total is not None:
            fields[3:4] = [_replaced(fields[3] if len(fields) > 3 else "", format_number(total))]
        more = [f"{name}{self.mark}{format_number(value)}" for name, value in added.items()]
        fields[2] = _extended(fields[2], more, last=len(fields) == 3)
        return "|||".join(fields)


@dataclass(frozen=True)
class TabFormat(KBestFormat):
    """A plain table. Each column is a feature whose name is its number; what is added becomes columns at the end."""

    columns: Columns = Columns()

    def parse(self, line: str, number: int) -> Hypothesis:
        cells = tuple(line.split("\t"))
        needed = max(self.columns.id, self.columns.text)
        if len(cells) < needed:
            raise InputError(f"{counted(len(cells), 'column')} between tabs instead of {needed} or more; mend the line")
        return Hypothesis(number, cells, _checked_id(cells[self.columns.id - 1]), cells[self.columns.text - 1])

    def score(self, hypothesis: Hypothesis) -> float:
        """0 if the table has no score."""
        column = 3 if self.columns.score is None else self.columns.score
        if column > len(hypothesis.fields) and self.columns.score is not None:
            raise InputError(
                f"{counted(len(hypothesis.fields), 'column')}, the score was to be in {column}; mend the line"
            )
        if column == 0 or column > len(hypothesis.fields):
            return 0.0
        return _number(hypothesis.fields[column - 1].strip(), f"score in column {column}")

    def features(self, hypothesis: Hypothesis) -> Values:
        """Each column that holds a number, except the id and the text."""
        others = [
            (str(column), _maybe_number(cell))
            for column, cell in enumerate(hypothesis.fields, 1)
            if column not in (self.columns.id, self.columns.text)
        ]
        return {name: (value,) for name, value in others if value is not None}

    def has_feature(self, hypothesis: Hypothesis, name: str) -> bool:
        """New columns have names of their own only in messages."""
        return False

    def render(self, hypothesis: Hypothesis, added: Mapping[str, float], total: float | None) -> str:
        """The values added are columns in their order, the total is the last."""
        more = [*added.values(), *([] if total is None else [total])]
        return "\t".join([*hypothesis.fields, *map(format_number, more)])


def find_format(name: FormatName, first_line: str, columns: Columns | None = None) -> KBestFormat:
    """The format of that name; for `auto`, the one that the first line of the list has."""
    if name == "tsv" or (name == "auto" and not _BAR.search(first_line) and "\t" in first_line):
        return TabFormat(columns or Columns())
    if columns is not None and columns != Columns():
        raise ConfigError(
            "columns are chosen but the list is none of columns; leave the options out or say "
            + option("--format", "tsv", name="layout")
        )
    if name != "auto":
        return BarFormat(_MOSES if name == "moses" else _CDEC)
    return BarFormat(_mark_of(first_line))


def _mark_of(line: str) -> str:
    fields = _BAR.split(line)
    tokens = fields[2].split() if len(fields) > 2 else []
    if any(token.endswith("=") for token in tokens):
        return _MOSES
    if any("=" in token for token in tokens):
        return _CDEC
    return _OLD_MOSES if any(token.endswith(":") for token in tokens) else _MOSES


def parse_values(text: str) -> Values:
    """`Name= 1 2 Other= 3` or `Name=1 Other=3` (or, as Moses once wrote, `name: 1 2`) as numbers by names.

    Numbers before the first name have the name ''.
    """
    values_of: dict[str, tuple[float, ...]] = {}
    name = ""
    for token in text.split():
        if token.endswith(("=", ":")):
            name = _new_name(token[:-1], values_of)
            values_of[name] = ()
            continue
        before, equals, value = token.rpartition("=")
        if equals:
            name = _new_name(before, values_of)
        values_of[name] = (*values_of.get(name, ()), _number(value, f"value of the feature {name!r}"))
    return values_of


def _new_name(name: str, earlier: Values) -> str:
    if not name:
        raise InputError("a feature has no name; mend the line")
    if name in earlier:
        raise InputError(f"the feature {name!r} is here twice; mend the line")
    return name


def read_weights(source: str) -> Values:
    """Weights from a file, or as they stand: `Name=1 Other= 2 3`.

    A file has the same on any number of lines, or `Name 1` on each as cdec's, or is a moses.ini, whose section [weight]
    is taken.
    """
    weights = _weights_of_file(source) if is_file(source) or "=" not in source else _weights_of_option(source)
    if not all(math.isfinite(weight) for values in weights.values() for weight in values):
        raise ConfigError(f"{either('--weights', 'weights')}: a weight is not finite; give numbers")
    return weights


def _weights_of_option(text: str) -> Values:
    try:
        weights = parse_values(text)
    except InputError as error:
        raise ConfigError(
            f"{either('--weights', 'weights')}: {error.what}; write 'Name=1 Other=0.5' or name a file"
        ) from error
    if not weights or "" in weights:
        raise ConfigError(
            f"{either('--weights', 'weights')}: there are no names; write 'Name=1 Other=0.5' or name a file"
        )
    return weights


def _weights_of_file(path: str) -> Values:
    weights: dict[str, tuple[float, ...]] = {}
    section: str | None = None
    for block in read_blocks(path, marks="any"):
        for number, line in enumerate(block.lines(), block.first_line):
            content = line.partition("#")[0].strip()
            if content.startswith("[") and content.endswith("]"):
                section = content
            elif content and section in (None, "[weight]"):
                with located(block.source, number):
                    weights |= _weights_of_line(content, weights)
    if not weights:
        raise InputError("there are no weights in it; write `Name= 1` on its lines", source=path)
    return weights


def _weights_of_line(content: str, before: Values) -> Values:
    name, *values = content.split()
    weights = parse_values(content if "=" in content else f"{name}= {' '.join(values)}")
    for name, numbers in weights.items():
        if not name or not numbers:
            raise InputError("not `Name= weight ...` or `Name weight`; mend the line")
        _new_name(name, before)
    return weights


def check_feature_name(name: str) -> None:
    """Refuse a name that could not be parsed again."""
    if not name.isprintable() or "=" in name or name.endswith(":") or "|||" in name or len(name.split()) != 1:
        raise ConfigError(f"{name!r} cannot be the name of a feature; leave out spaces, = and |||, and a : at the end")


def format_number(value: float) -> str:
    """Four decimals, which do not depend on what was scored together; whole numbers of words as they are."""
    return str(value) if isinstance(value, int) else f"{value:.4f}"


def _checked_id(field: str) -> str:
    name = field.strip(" ")
    if not name:
        raise InputError("the id of the sentence is missing; put it first on the line")
    return name


def _number(text: str, description: str) -> float:
    number = _maybe_number(text)
    if number is None:
        raise InputError(f"the {description} is {text!r}, which is not a number; mend the line")
    return number


def _maybe_number(text: str) -> float | None:
    try:
        number = parse_number(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _extended(field: str, more: list[str], *, last: bool) -> str:
    """More at the end of a field, before the spaces that end it; a space ends every field but the last."""
    content = field.rstrip(" ")
    spaces = field[len(content) :] if content else ""
    return " ".join([content, *more]) + (spaces or ("" if last else " "))


def _replaced(field: str, content: str) -> str:
    """Other content in a field, with the spaces that end it."""
    return f" {content}{field[len(field.rstrip(' ')) :] if field.strip(' ') else ''}"
