from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from morphlm.report.html import Markup, escape, json_script, names, numbers, table, tag, words
from tests.report.wellformed import Page, parsed

# What no page may hold, whichever way it is written.
FORBIDDEN = {*map(chr, [*range(9), *range(11, 32), *range(127, 160), *range(0xFDD0, 0xFDF0), 0xFFFE, 0xFFFF])}


def page_of(body: str) -> Page:
    return parsed(f"<!DOCTYPE html>\n<html><body>{body}</body></html>")


def as_shown(text: str) -> str:
    return "".join("\ufffd" if character in FORBIDDEN else character for character in text)


def test_elements() -> None:
    assert tag("p", "a<b", class_="x", data_name='"&', hidden=True, title=None, open=False) == (
        '<p class="x" data-name="&quot;&amp;" hidden>a&lt;b</p>'
    )
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'
    assert tag("path", d="M0,0") == '<path d="M0,0"></path>'  # within SVG nothing is closed by itself
    assert tag("td", ["a", None, tag("b", "&")], colspan=2) == '<td colspan="2">a<b>&amp;</b></td>'
    assert escape(Markup("<b>")) == "<b>"


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
def test_any_text_is_shown_as_it_is(text: str, attribute: str) -> None:
    page = page_of(tag("div", tag("p", text, title=attribute, id="here")))
    assert page.one("here").text == as_shown(text)
    assert page.one("here").attributes["title"] == as_shown(attribute)
    assert [element.name for element in page.elements] == ["html", "body", "div", "p"]


@given(st.recursive(st.text(st.characters(codec="utf-8")), lambda inner: st.lists(inner, max_size=4), max_leaves=6))
def test_any_data_comes_back_from_a_script(content: object) -> None:
    script = json_script("data", {"content": content})
    assert script.count("<") == 2
    page = page_of(script)
    assert json.loads(page.one("data").text) == {
        "content": json.loads(as_shown(json.dumps(content, ensure_ascii=False)))
    }


def test_a_script_cannot_be_ended_by_its_data() -> None:
    for text in ("</script>", "<!--<script>", "\u2028", "]]>"):
        page = page_of(json_script("data", text))
        assert json.loads(page.one("data").text) == text
        assert [element.name for element in page.elements] == ["html", "body", "script"]


def test_tables_tell_what_their_columns_hold() -> None:
    columns = [*names("word"), *numbers("count"), *words("near")]
    page = page_of(table(columns, [["<a>", "1", "x y"], ["b", "2", "z"]], "what & why"))
    assert [(cell.attributes["class"], cell.text) for cell in page.all("th", scope="col")] == [
        ("name", "word"),
        ("number", "count"),
        ("words", "near"),
    ]
    assert [cell.text for cell in page.all("th", scope="row")] == ["<a>", "b"]
    assert [cell.text for cell in page.all("td", class_="number")] == ["1", "2"]
    assert page.all("td", **{"data-title": "near"})[1].text == "z"
    assert page.all("table", class_="stack")[0].attributes["aria-label"] == "what & why"
    assert not page_of(table(columns[:2], [["a", "1"]])).all("table", class_="stack")
