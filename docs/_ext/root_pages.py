"""Pages of the site whose text is a file of the root folder: README, CONTRIBUTING and so on.

Links are written so that they work where the files are read as they are: `../CONTRIBUTING.md` in docs,
`docs/results.md` in the root folder. On the site they lead to the pages.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
FILES = {
    "index": "README.md",
    "contributing": "CONTRIBUTING.md",
    "changelog": "CHANGELOG.md",
    "security": "SECURITY.md",
}
PAGES = {file: f"{page}.md" for page, file in FILES.items()}
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]+)?\)")


def from_root(target: str) -> str:
    """Where a link of a file in the root folder leads, relative to docs."""
    return PAGES.get(target) or (target.removeprefix("docs/") if target.startswith("docs/") else f"../{target}")


def from_docs(target: str, page: str) -> str:
    """Where a link of a page leads: to the page of a file in the root folder if it leads there."""
    up = "../" * len(PurePosixPath(page).parent.parts)
    return up + PAGES[name] if (name := target.removeprefix(f"{up}../")) in PAGES and target != name else target


def read_page(app: Sphinx, page: str, source: list[str]) -> None:
    """The text of a page as the site has it. The front page has the site's contents behind its own text."""
    own = LINK.sub(lambda link: f"]({from_docs(link[1], page)}{link[2] or ''})", source[0])
    if page not in FILES:
        source[0] = own
        return
    app.env.note_dependency(str(ROOT / FILES[page]))
    text = (ROOT / FILES[page]).read_text(encoding="utf-8")
    text = LINK.sub(lambda link: f"]({from_root(link[1])}{link[2] or ''})", text)
    source[0] = text + own.partition("<!-- contents of the site -->")[2]


def setup(app: Sphinx) -> dict[str, bool]:
    """Read the source of a page before Sphinx does."""
    app.connect("source-read", read_page)
    return {"parallel_read_safe": True}
