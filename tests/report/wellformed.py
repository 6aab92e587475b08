"""Whether a page is well-formed, by the parser of Python's library: nesting, identities, references."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "hr"}
# An element that may not be inside another of these.
NOT_INSIDE = {
    "p": {"p"},
    "div": {"p", "span"},
    "ul": {"p", "span"},
    "table": {"p", "span"},
    "a": {"a"},
    "section": {"p"},
}


@dataclass
class Element:
    name: str
    attributes: dict[str, str | None]
    text: str = ""  # its own and that of all elements in it


@dataclass(eq=False)
class Page(HTMLParser):
    """The elements of a page in their order; wrong nesting is an AssertionError."""

    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"<{tag}> has an attribute twice: {names}"
        above = {element.name for element in self.open}
        assert not above & NOT_INSIDE.get(tag, set()), f"<{tag}> inside {above}"
        self.elements.append(Element(tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(self.elements[-1])

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data

    def all(self, name: str, **wanted: str) -> list[Element]:
        """The elements of a name, with these attributes (`class_`: among its classes)."""
        return [element for element in self.elements if element.name == name and _has(element, wanted)]

    def one(self, identity: str) -> Element:
        """The element with an id."""
        found = [element for element in self.elements if element.attributes.get("id") == identity]
        assert len(found) == 1, f"{len(found)} elements with the id {identity}"
        return found[0]

    def ids(self) -> list[str]:
        return [identity for element in self.elements if (identity := element.attributes.get("id")) is not None]


def _has(element: Element, wanted: dict[str, str]) -> bool:
    classes = (element.attributes.get("class") or "").split()
    plain = {name: value for name, value in wanted.items() if name != "class_"}
    return ("class_" not in wanted or wanted["class_"] in classes) and plain.items() <= element.attributes.items()


def parsed(text: str) -> Page:
    """The page, if it is well-formed."""
    assert text.startswith("<!DOCTYPE html>\n")
    page = Page()
    page.feed(text)
    page.close()
    assert not page.open, f"not closed: {[element.name for element in page.open]}"
    ids = page.ids()
    assert len(set(ids)) == len(ids)
    for element in page.elements:
        check_references(element, set(ids))
    return page


def check_references(element: Element, ids: set[str]) -> None:
    """Links lead to places in the page; nothing is loaded; nothing runs but the page's own scripts."""
    for name, value in element.attributes.items():
        assert not name.startswith("on"), f"<{element.name}> has {name}"
        if name == "href":
            assert value is not None
            assert value.startswith("#")
            assert value[1:] in ids
        if name in ("for", "aria-labelledby"):
            assert value in ids
        assert name not in ("src", "srcset", "action", "style")
