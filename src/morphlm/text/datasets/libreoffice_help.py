"""The help pages of LibreOffice as text in 33 languages, paired with English by paragraph.

The same pages exist in every language and a paragraph has the same id in all of them, so the pairs are exact. What is
left out: code, paragraphs that were not translated, the macOS wording where there is a general one, and lines that
occurred before (compared in lower case with digits as 0, as `morphlm prepare` makes them). A paragraph is cut into
sentences where both sides have equally many. Parts are made of whole pages.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

from morphlm.errors import FormatError
from morphlm.progress import notify, progress_bar
from morphlm.text.datasets.debian import Package, fetch_packages, package_files
from morphlm.text.datasets.folder import DatasetOrigin, DatasetRequest, part_of, part_writer
from morphlm.text.datasets.help_languages import ENGLISH, needs_segmenting, package_of
from morphlm.text.datasets.sentences import split_sentences

ParagraphKey = tuple[str, int]  # id, and how many of that id came before it on the page
Pages = dict[str, dict[ParagraphKey, str]]  # page -> its paragraphs, in their order

_HELP_FILE = re.compile(r"^usr/share/libreoffice/help/[^/]+/text/.+\.html$|^usr/share/doc/[^/]+/copyright$")
_PARAGRAPH_ID = re.compile(r"^(?:par|hd)_")
_PARAGRAPH_TAGS = frozenset(("p", "h1", "h2", "h3", "h4", "h5", "h6"))
_CODE_PARAGRAPHS = frozenset(("code", "codeintable", "smathcode"))
_CODE_SPANS = frozenset(("literal", "input", "code"))
_TAG = re.compile(r"""<(/?)([A-Za-z][A-Za-z0-9]*)((?:[^<>"']++|"[^"]*+"|'[^']*+')*+)>""")
_ATTRIBUTE = re.compile(r"""([\w-]+)=["']([^"']*)["']""")
_CONTENT_BEGINS = '<div id="DisplayArea"'
_LEFTOVER = re.compile(r"</?[A-Za-z][^<>]*>|\[\S+ not found\]")  # markup written out, references that lead nowhere
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200e\u200f\ufeff"))


def make_libreoffice_help(directory: Path, request: DatasetRequest) -> DatasetOrigin:
    """Fetch the packages, pair the pages, write the parts."""
    english, foreign = _sides(request)
    if advice := needs_segmenting(request.language):
        notify(f"warning: {advice}")
    with tempfile.TemporaryDirectory(prefix="morphlm-") as folder:
        packages = fetch_packages([package_of(code) for code in (english, foreign) if code], Path(folder))
        pages, licence = read_package(packages[0])
        translated = read_package(packages[1])[0] if foreign is not None else None
    rows = pair_pages(pages, translated) if translated is not None else _alone(pages)
    with part_writer(directory, request.languages) as writer:
        for page, target, source in distinct_rows(rows, by_english=request.language in ENGLISH):
            columns = {english: source, foreign: target}
            writer.write(part_of(page, request.seed), [columns[language] for language in request.languages])
    versions = {package.name: package.version for package in packages}
    return DatasetOrigin(
        f"{licence} (help of LibreOffice, from the Debian packages' copyright file)", {"packages": versions}
    )


def _sides(request: DatasetRequest) -> tuple[str, str | None]:
    """The English to compare with, and the other language if there is one."""
    if request.language in ENGLISH:
        return request.language, request.parallel
    return "en", request.language


def read_package(package: Package) -> tuple[Pages, str]:
    """All pages of a package, and its licence."""
    pages: Pages = {}
    licence = "licence not stated"
    with progress_bar(f"reading {package.name}", unit="page") as bar:
        for path, content in package_files(package.path, _HELP_FILE):
            text = content.decode("utf-8", errors="replace")
            page = path.partition("/text/")[2]
            if page:
                pages[page] = read_page(text)
            else:
                licence = main_licence(text)
            bar.update(1)
    if not pages:
        raise FormatError(f"{package.path.name}: there are no help pages in this package; report its version")
    return pages, licence


def main_licence(copyright_file: str) -> str:
    """The short name of the licence of `Files: *` in a Debian copyright file."""
    for paragraph in re.split(r"\n\s*\n", copyright_file):
        if re.search(r"^Files:\s*\*\s*$", paragraph, re.M) and (
            licence := re.search(r"^License:\s*(.+)$", paragraph, re.M)
        ):
            return licence[1].strip()
    return "licence not stated"


@dataclass
class _Open:
    """An element that has begun: a paragraph or a span."""

    is_paragraph: bool
    kind: str  # "code", "choice" (inline alternatives), "case" (one of them), "mac" (a block for macOS) or "text"
    name: str = ""  # the id of a paragraph, the system or application of a case
    text: list[str] = field(default_factory=list)
    cases: dict[str, str] = field(default_factory=dict)
    is_prose: bool = False  # is there a letter outside code?

    def chosen(self) -> str:
        """The default of the alternatives, or else the first that is not for macOS."""
        if "default" in self.cases:
            return self.cases["default"]
        return next((text for name, text in self.cases.items() if name != "MAC" and text.strip()), "")


class _PageReader:
    """Collects the text of the paragraphs that have an id, and of one alternative wherever the page offers several.

    The pages are made by a program and regular, so a pattern finds the tags; html.parser takes more than twice as long.
    """

    def __init__(self) -> None:
        self.paragraphs: list[tuple[str, str]] = []
        self._open: list[_Open] = []

    def read(self, page: str) -> None:
        """Process the tags of a page and the text between them."""
        position = max(0, page.find(_CONTENT_BEGINS))  # menus and scripts before it are half of the page
        for match in _TAG.finditer(page, position):
            self._text(page[position : match.start()])
            position = match.end()
            is_end, tag, attributes = match.groups()
            if is_end:
                self._end(tag)
            else:
                self._begin(tag, dict(_ATTRIBUTE.findall(attributes)))

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        """Open paragraphs and spans; a line break is a space."""
        if tag == "span":
            self._open.append(self._span(attributes.get("class", ""), attributes.get("id", "")))
        elif tag in _PARAGRAPH_TAGS:
            kind = "code" if attributes.get("class", "") in _CODE_PARAGRAPHS else "text"
            self._open.append(_Open(True, kind, attributes.get("id", "")))
        elif tag == "br":
            self._text(" ")

    def _span(self, style: str, identity: str) -> _Open:
        parent = self._open[-1].kind if self._open else ""
        if style == "switchinline":
            return _Open(False, "choice")
        if parent == "choice":
            return _Open(False, "case", "default" if identity.startswith("default") else style)
        if style == "MAC":
            return _Open(False, "mac")
        return _Open(False, "code" if style in _CODE_SPANS else "text")

    def _text(self, escaped: str) -> None:
        """Text belongs to the innermost open element."""
        if not self._open or not escaped:
            return
        text = unescape(escaped)
        self._open[-1].text.append(text)
        if any(map(str.isalpha, text)) and not any(element.kind == "code" for element in self._open):
            self._open[-1].is_prose = True

    def _end(self, tag: str) -> None:
        """Close paragraphs and spans; a paragraph closes whatever was left open in it."""
        if tag == "span" and self._open and not self._open[-1].is_paragraph:
            self._close_span(self._open.pop())
        elif tag in _PARAGRAPH_TAGS and any(element.is_paragraph for element in self._open):
            while not self._open[-1].is_paragraph:
                self._close_span(self._open.pop())
            self._close_paragraph(self._open.pop())

    def _close_span(self, element: _Open) -> None:
        if not self._open:
            return
        parent, text = self._open[-1], "".join(element.text)
        if element.kind == "case":
            parent.cases.setdefault(element.name, text)
        elif element.kind != "mac":
            parent.text.append(element.chosen() if element.kind == "choice" else text)
        parent.is_prose |= element.is_prose and element.kind != "mac"

    def _close_paragraph(self, element: _Open) -> None:
        in_mac_block = any(outer.kind == "mac" for outer in self._open)
        if _PARAGRAPH_ID.match(element.name) and not in_mac_block:
            text = " ".join("".join(element.text).translate(_INVISIBLE).split())
            # A paragraph that is left out keeps its place: ids are counted alike in every language.
            is_usable = element.is_prose and not _LEFTOVER.search(text)
            self.paragraphs.append((element.name, text if is_usable else ""))


def read_page(page: str) -> dict[ParagraphKey, str]:
    """The paragraphs of a page by id; those that are not prose are left out."""
    reader = _PageReader()
    reader.read(page)
    seen: Counter[str] = Counter()
    paragraphs = {}
    for name, text in reader.paragraphs:
        if text:
            paragraphs[name, seen[name]] = text
        seen[name] += 1
    return paragraphs


Row = tuple[str, str, str]  # page, translation, English


def pair_pages(english: Pages, translated: Pages) -> Iterator[Row]:
    """Pairs of segments in the order of the pages' names; untranslated paragraphs are dropped."""
    for page in sorted(english.keys() & translated.keys()):
        for key, source in english[page].items():
            target = translated[page].get(key)
            if target is not None and _letters(target) != _letters(source):
                for pair in _aligned(target, source):
                    yield page, *pair


def _alone(english: Pages) -> Iterator[Row]:
    for page in sorted(english):
        for text in english[page].values():
            for sentence in split_sentences(text):
                yield page, sentence, sentence


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.casefold()))


def _aligned(target: str, source: str) -> Iterator[tuple[str, str]]:
    """Pairs of sentences if both sides have equally many of similar length, otherwise the paragraphs as they are."""
    targets, sources = split_sentences(target), split_sentences(source)
    if len(targets) == len(sources) and all(map(_similar_length, targets, sources)):
        pairs = zip(targets, sources, strict=True)
        yield from (pair for pair in pairs if _letters(pair[0]) != _letters(pair[1]))
    else:
        yield target, source


def _similar_length(target: str, source: str) -> bool:
    shorter, longer = sorted((len(target), len(source)))
    return longer <= 2 * shorter or longer < 30


def distinct_rows(rows: Iterable[Row], *, by_english: bool) -> Iterator[Row]:
    """Drop every row whose text occurred before, so that no line of one part is also in another."""
    seen = set()
    for row in rows:
        key = re.sub(r"\d", "0", row[2 if by_english else 1].lower())
        if key not in seen:
            seen.add(key)
            yield row
