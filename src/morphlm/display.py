"""How objects show themselves in a Python session: a short repr, a table in notebooks, and a data frame for pandas.

Words, names and paths come from outside and may be anything, so everything that goes into HTML is escaped here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain, islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from morphlm.extras import import_extra

if TYPE_CHECKING:
    from pandas import DataFrame

Item = TypeVar("Item")
Row = Mapping[str, Any]  # a line of a table: column -> value

LONGEST_REPR = 180  # characters
LONGEST_PART = 60  # of it, for one value
LONGEST_CELL = 300  # characters of a value in HTML
SHOWN_ITEMS = 3  # of a collection
SHOWN_ROWS = 20  # of a table in a notebook
# A page may not hold these characters, however they are written, or they turn round the text that follows.
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


# ---------------------------------------------------------------- reprs


def dataclass_repr(instance: Any) -> str:
    """The repr of a dataclass: `Name(field=value, ...)`, without fields that have their default, and short."""
    values = (
        (field.name, field.default, getattr(instance, field.name, None)) for field in fields(instance) if field.repr
    )
    return described(instance, **{name: value for name, default, value in values if not _is_same(value, default)})


def _is_same(value: object, default: object) -> bool:
    return value is default or (
        isinstance(value, str | int | float) and type(value) is type(default) and value == default
    )


def described(instance: object, **facts: Any) -> str:
    """`Name(fact=value, ...)`; what there is no room for is left out."""
    text = f"{type(instance).__name__}("
    for number, (name, value) in enumerate(facts.items()):
        part = f"{', ' if number else ''}{name}={brief(value)}"
        if len(text) + len(part) > LONGEST_REPR:
            return f"{text}, ...)" if number else f"{text}...)"
        text += part
    return f"{text})"


def brief(value: object) -> str:
    """A value in a repr: short, whatever it is, and without looking at all of a large one."""
    if isinstance(value, str | PurePath):
        return repr(_cut(str(value), LONGEST_PART - 2))
    if isinstance(value, float):
        return f"{value:.6g}"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, Mapping | list | tuple | set | frozenset) and type(value).__repr__ in _BUILT_IN:
        return _brief_collection(value)
    if is_dataclass(value) and type(value).__repr__ is not dataclass_repr and not _has_own_repr(value):
        return f"{type(value).__name__}(...)"
    return _cut(" ".join(repr(value).split()), LONGEST_PART)


_BUILT_IN = (dict.__repr__, list.__repr__, tuple.__repr__, set.__repr__, frozenset.__repr__)


def _has_own_repr(value: object) -> bool:
    """Whether somebody wrote it; the one that `dataclass` makes shows everything."""
    return not hasattr(type(value).__repr__, "__wrapped__")


def _brief_collection(items: Collection[object]) -> str:
    if len(items) > SHOWN_ITEMS:
        return f"<{len(items):,} items>"
    if isinstance(items, Mapping):
        text = "{" + ", ".join(f"{brief(key)}: {brief(value)}" for key, value in items.items()) + "}"
    else:
        text = ("({})" if isinstance(items, tuple) else "[{}]").format(", ".join(map(brief, items)))
    return text if len(text) <= LONGEST_PART else f"<{len(items):,} items>"


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


# ---------------------------------------------------------------- HTML


def escape_html(text: str) -> str:
    """Any text as HTML, also within the quotes of an attribute."""
    return html.escape(FORBIDDEN.sub("\ufffd", text))


def html_table(rows: Iterable[Row], caption: str = "") -> str:
    """Rows as a table; of many, the first."""
    iterator = iter(rows)
    shown = list(islice(iterator, SHOWN_ROWS))
    columns = list(dict.fromkeys(name for row in shown for name in row))
    head = "".join(f"<th>{escape_html(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(_cell(row.get(name)) for name in columns)}</tr>" for row in shown)
    more = f"<p>the first {SHOWN_ROWS} rows</p>" if next(iterator, None) is not None else ""
    title = _title(caption) if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def html_facts(facts: Mapping[str, Any], caption: str) -> str:
    """Names and values below one another; what is None is left out."""
    body = "".join(
        f'<tr><th style="text-align: left">{escape_html(name.replace("_", " "))}</th>{_fact(value)}</tr>'
        for name, value in facts.items()
        if value is not None
    )
    return f"<table>{_title(caption)}<tbody>{body}</tbody></table>"


def _title(caption: str) -> str:
    """What a table is, above its first column: over the middle of a wide one nobody finds it."""
    return f'<caption style="text-align: left">{escape_html(caption)}</caption>'


def _fact(value: object) -> str:
    """A value beside its name: to the left, since numbers would else stand far off beside a long signature."""
    return f'<td style="text-align: left; overflow-wrap: anywhere; white-space: normal">{_shown(value)}</td>'


def _cell(value: object) -> str:
    """A value in its column: numbers to the right, so that their digits stand below one another."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f'<td style="text-align: {"right" if is_number else "left"}">{_shown(value)}</td>'


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return escape_html(_cut(value if isinstance(value, str) else brief(value), LONGEST_CELL))
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


# ---------------------------------------------------------------- tables


class Tabular:
    """A result that is a table: shown as one in notebooks, and a data frame for pandas."""

    def frame_rows(self) -> Iterable[Row]:
        """The lines of the table."""
        raise NotImplementedError

    def to_frame(self) -> DataFrame:
        """The result as a `pandas.DataFrame`; needs the extra `pandas`."""
        return frame_of(self.frame_rows())

    def _repr_html_(self) -> str:
        rows = iter(self.frame_rows())
        first = list(islice(rows, 2))
        name = type(self).__name__
        return html_facts(first[0], name) if len(first) == 1 else html_table(chain(first, rows), name)


class ResultList(list[Item]):
    """A list of results of one kind, which is also a table."""

    def to_frame(self) -> DataFrame:
        """The list as a `pandas.DataFrame`, a row for each result; needs the extra `pandas`."""
        return frame_of(map(row_of, self))

    def _repr_html_(self) -> str:
        return html_table(map(row_of, self))


def row_of(result: Any) -> Row:
    """A result as a line of a table."""
    if hasattr(result, "_asdict"):
        row: Row = result._asdict()
        return row
    return flattened(result.to_json() if hasattr(result, "to_json") else vars(result))


def flattened(content: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Values in mappings as columns of their own: {"change": {"low": 1}} becomes {"change_low": 1}."""
    row: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, Mapping):
            row |= flattened(value, f"{before}{name}_")
        else:
            row[before + name] = value
    return row


def frame_of(rows: Iterable[Row]) -> DataFrame:
    """Rows as a data frame of pandas, which is imported only here."""
    pandas = import_extra("pandas", "pandas", "data frames need")
    frame: DataFrame = pandas.DataFrame(list(rows))
    return frame
