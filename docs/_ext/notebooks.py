"""Notebooks as pages of the site: their cells and the outputs that are stored in them become Markdown.

Nothing is run here: `make notebooks` runs them and stores the outputs, and the tests run them too. That needs no
further package, while MyST-NB and nbsphinx bring Jupyter, a database or pandoc to whoever builds the site.
"""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any

from sphinx.application import Sphinx

SUFFIX = ".ipynb"
FENCE = "`" * 6  # longer than any that a cell or an output has
BEFORE_LINKS = 400  # root_pages.py, of the usual priority 500, changes links in what comes out


def as_markdown(notebook: dict[str, Any], name: str) -> str:
    """The page of a notebook; below its title, the notebook itself can be downloaded."""
    first, *rest = notebook["cells"]
    title, _, introduction = source_of(first).partition("\n")
    note = f"*This page is a notebook: {{download}}`download it <{name}>` and run it in Jupyter.*"
    return "\n\n".join([title, note, introduction, *map(cell_markdown, rest)]) + "\n"


def cell_markdown(cell: dict[str, Any]) -> str:
    """A cell with its outputs."""
    if cell["cell_type"] == "markdown":
        return source_of(cell)
    return "\n\n".join([block("code-block", "python", source_of(cell)), *map(output_markdown, cell["outputs"])])


def output_markdown(output: dict[str, Any]) -> str:
    """A picture, a table, or text; what is written to stderr is not shown."""
    if output["output_type"] == "stream":
        return text_block(joined(output["text"])) if output["name"] == "stdout" else ""
    data = output["data"]
    if "image/png" in data:
        encoded = joined(data["image/png"]).replace("\n", "")
        picture = f'<img alt="output of the cell above" src="data:image/png;base64,{encoded}">'
        return block("raw", "html", f'<p class="notebook-picture">{picture}</p>')
    if "text/html" in data:
        return block("raw", "html", f'<div class="notebook-output">{joined(data["text/html"])}</div>')
    return text_block(joined(data["text/plain"]))


def text_block(text: str) -> str:
    """Output as it was printed."""
    return block("code-block", "text", f":class: notebook-output\n\n{text.rstrip()}")


def block(directive: str, argument: str, body: str) -> str:
    """A directive of MyST."""
    return f"{FENCE}{{{directive}}} {argument}\n{body}\n{FENCE}"


def source_of(cell: dict[str, Any]) -> str:
    """The text of a cell."""
    return joined(cell["source"])


def joined(text: str | list[str]) -> str:
    """Text, which notebooks may hold as a list of lines."""
    return text if isinstance(text, str) else "".join(text)


def read_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Turn the source of a notebook into Markdown before Sphinx reads it."""
    path = PurePosixPath(app.env.doc2path(page))
    if path.suffix == SUFFIX:
        source[0] = as_markdown(json.loads(source[0]), path.name)


def setup(app: Sphinx) -> dict[str, bool]:
    """Read the source of a page before Sphinx does."""
    app.connect("source-read", read_page, priority=BEFORE_LINKS)
    return {"parallel_read_safe": True}
