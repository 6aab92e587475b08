"""Builds HTML safely: every text is escaped unless it is `Markup`, which only `tag` makes.

Words of a vocabulary and of a test text may be anything, `<script>` and `"&` too.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from morphlm.display import FORBIDDEN, escape_html
from morphlm.report.numbers import probability

VOID = frozenset({"meta", "input", "br", "hr"})  # elements that hold nothing and are not closed
AXIS = ("1 %", "10 %", "50 %")  # of a ranking; style.css knows where they are
_IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


class Markup(str):
    """A string of HTML, which is not escaped again."""

    __slots__ = ()


Child = str | None | Iterable["Child"]  # None is nothing


def escape(text: str) -> Markup:
    """Any text as HTML, also within the quotes of an attribute."""
    return text if isinstance(text, Markup) else Markup(escape_html(text))


def tag(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """An element. `class_` and `data_name` are the attributes `class` and `data-name`; None and False leave one out."""
    opening = f"<{name}{''.join(_attribute(key, value) for key, value in attributes.items())}>"
    return Markup(opening if name in VOID and not children else f"{opening}{joined(children)}</{name}>")


def _attribute(key: str, value: str | int | bool | None) -> str:
    if value is None or value is False:
        return ""
    named = key.rstrip("_").replace("_", "-")
    return f" {named}" if value is True else f' {named}="{escape(str(value))}"'


def joined(children: Iterable[Child], between: str = "") -> Markup:
    """Concatenate children, escaped unless they are Markup."""
    return Markup(escape(between).join(_flat(child) for child in children))


def _flat(child: Child) -> Markup:
    if child is None:
        return Markup("")
    return escape(child) if isinstance(child, str) else joined(child)


def json_script(identity: str, content: Any) -> Markup:
    """Data for a script. Nothing in it can end the element: what HTML would read is written as JSON escapes."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = FORBIDDEN.sub("\ufffd", text)
    for character, written in _IN_SCRIPT.items():
        text = text.replace(character, written)
    return tag("script", Markup(text), type="application/json", id=identity)


# ---------------------------------------------------------------- what sections are made of


def paragraph(*children: Child, class_: str | None = None) -> Markup:
    """A <p> element."""
    return tag("p", *children, class_=class_)


def missing(reason: str) -> Markup:
    """A note on why something is not shown."""
    return paragraph(reason, class_="missing")


@dataclass(frozen=True)
class Column:
    """The heading of a column, and the kind of its cells."""

    title: str
    kind: Literal["name", "number", "words"] = "number"


def names(*titles: str) -> list[Column]:
    """Columns of names."""
    return [Column(title, "name") for title in titles]


def numbers(*titles: str) -> list[Column]:
    """Columns of numbers, aligned to the right."""
    return [Column(title) for title in titles]


def words(title: str) -> list[Column]:
    """A column of words, as wide as possible."""
    return [Column(title, "words")]


def table(columns: Sequence[Column], rows: Iterable[Sequence[Child]], caption: str | None = None) -> Markup:
    """A table whose first column names its rows. On a narrow screen it scrolls or, if it has words, its cells stand
    under one another.
    """
    stacked = any(column.kind == "words" for column in columns)
    head = tag("thead", tag("tr", (tag("th", column.title, scope="col", class_=column.kind) for column in columns)))
    body = tag("tbody", (_row(columns, row) for row in rows))
    element = tag("table", head, body, class_="stack" if stacked else None, aria_label=caption)
    above = None if caption is None else paragraph(caption, class_="note above")
    return joined([above, tag("div", element, class_="table")])


def _row(columns: Sequence[Column], row: Sequence[Child]) -> Markup:
    first = tag("th", row[0], scope="row")
    cells = [
        tag("td", cell, class_=column.kind, data_title=column.title)
        for column, cell in zip(columns[1:], row[1:], strict=True)
    ]
    return tag("tr", first, cells)


@dataclass(frozen=True)
class RankedWord:
    """A word of a ranking and its probability."""

    name: Markup
    probability: float
    is_answer: bool = False  # the word that the text has


def ranking(words: Iterable[RankedWord]) -> Markup:
    """Words with bars, whose lengths are roots, so that 3 % can be seen beside 90 %; an axis tells how to read them."""
    rows = [
        tag(
            "li",
            tag("span", word.name, class_="name"),
            tag("progress", class_="bar", max=1, value=f"{math.sqrt(word.probability):.3f}", aria_hidden="true"),
            tag("span", probability(word.probability), class_="value"),
            class_="is-answer" if word.is_answer else None,
        )
        for word in words
    ]
    ticks = tag("span", (tag("span", name) for name in AXIS), class_="ticks")
    return tag("ol", rows, tag("li", ticks, class_="axis", aria_hidden="true"), class_="ranking")


def direction(words: Iterable[str]) -> str:
    """`rtl` for a text that is written from right to left: by the first letter that says so."""
    sides = (unicodedata.bidirectional(character) for word in words for character in word)
    return "rtl" if next((side for side in sides if side in ("L", "R", "AL")), "L") != "L" else "ltr"


def foreign(text: str, language: str | None) -> Markup:
    """Words of the models' language, in whichever direction they are written; `lang` is empty if it is not known."""
    return tag("span", text, lang=language or "", dir="auto")
