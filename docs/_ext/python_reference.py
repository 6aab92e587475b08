"""The Python reference: `{public-names} PACKAGE` documents some public names of a package from their docstrings.

The pages group the names; a test checks that each public name is on a page. Docstrings are plain text with `code` in
single backticks, which becomes what autodoc reads. The fields of a dataclass are listed with the comments beside them.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import textwrap
from typing import Any

from docutils import nodes
from shared_descriptions import ARGUMENTS, METHODS, TABULAR
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from morphlm.display import Tabular
from morphlm.settings import KEY

ROOT = "morphlm"
SPECIAL = re.compile(r"([\\*|]|_\b)")  # what reStructuredText would take for markup
EMPTY = "\\ "  # a body of nothing
FIELD = re.compile(r"^    (\w+): .*?#\s(.+)$", re.MULTILINE)


class PublicNames(SphinxDirective):
    """The names in the body of the directive, in that order."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        package = self.arguments[0]
        names = " ".join(self.content).split()
        text = "\n".join(["```{eval-rst}", *(directive(package, name) for name in names), "```"])
        return self.parse_text_to_nodes(text, allow_section_headings=False)


def directive(package: str, name: str) -> str:
    """What autodoc is asked for."""
    value, path = getattr(importlib.import_module(package), name), f"{package}.{name}"
    if package != ROOT and getattr(importlib.import_module(ROOT), name, None) is value:
        return f":py:obj:`{ROOT}.{name}`\n    The same name of :py:mod:`{ROOT}`.\n"
    if inspect.ismodule(value):
        return f":doc:`{path} <{name}>`\n    {as_markup((value.__doc__ or '').partition(chr(10))[0])}\n"
    if inspect.isclass(value):
        return f".. autoclass:: {path}\n   :members:\n   :undoc-members:\n"
    if inspect.isfunction(value):
        return f".. autofunction:: {path}\n"
    return f".. py:data:: {path}\n"


def as_markup(line: str) -> str:
    """A line of a docstring as reStructuredText."""
    parts = line.split("`")
    if len(parts) % 2 == 0:  # a single backtick
        return SPECIAL.sub(r"\\\1", line.replace("`", "'"))
    return "".join(code(parts, i) if i % 2 else SPECIAL.sub(r"\\\1", part) for i, part in enumerate(parts))


def code(parts: list[str], i: int) -> str:
    """Part i as code; between code and a letter goes an escaped space, which nobody sees."""
    before, after = parts[i - 1][-1:].isalnum(), parts[i + 1][:1].isalnum()
    return f"{EMPTY * before}``{parts[i]}``{EMPTY * after}"


def fields_of(kind: type) -> list[str]:
    """The fields of a dataclass and what the source says about each: its help text or the comment beside it."""
    comments = {}
    for parent in reversed(kind.__mro__[:-1]):
        try:
            comments.update(FIELD.findall(inspect.getsource(parent)))
        except (OSError, TypeError):
            continue
    lines = []
    for field in dataclasses.fields(kind):
        if field.name.startswith("_"):
            continue
        setting = field.metadata.get(KEY)
        text = getattr(setting, "help", "") or comments.get(field.name, "")
        lines += [f"``{field.name}``: {type_name(field.type)}{default_of(field)}", f"   {as_markup(text) or EMPTY}", ""]
    return lines


def type_name(annotation: Any) -> str:
    """The annotation as it is written."""
    name = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return f"``{name}``"


def default_of(field: dataclasses.Field[Any]) -> str:
    """` = 0.2`, if the field has a default."""
    if field.default is dataclasses.MISSING:
        return ""
    return f" = ``{field.default!r}``" if len(repr(field.default)) < 60 else ""


def shared_arguments(function: Any, text: str) -> list[str]:
    """The arguments that the docstring does not name and that mean the same everywhere."""
    lines = []
    for name in inspect.signature(function).parameters:
        if name in ARGUMENTS and not names_argument(text, name):
            lines += [f"``{name}``", f"   {as_markup(ARGUMENTS[name])}", ""]
    return lines


def names_argument(text: str, name: str) -> bool:
    """Whether a docstring names an argument, as code."""
    return re.search(rf"`{name}[`=]", text) is not None


def skip(app: Sphinx, what: str, name: str, value: Any, is_skipped: bool, options: object) -> bool | None:
    """Leave out members without a description; what only overrides is described at its base."""
    function = getattr(value, "fget", None) or getattr(value, "func", None) or value
    if name in METHODS or not callable(function) or getattr(function, "__doc__", None):
        return None
    return True


def process(app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]) -> None:
    """Turn a docstring into markup, in place."""
    text = textwrap.dedent("\n".join(lines)).splitlines()
    if not any(text) and what == "method":
        text = [METHODS.get(name.rpartition(".")[2], "")]
    lines[:] = [as_markup(line) for line in text]
    if inspect.isfunction(value) and what == "function":
        lines += ["", *shared_arguments(value, "\n".join(text))]
    if inspect.isclass(value) and issubclass(value, Tabular):
        lines += ["", as_markup(TABULAR)]
    if inspect.isclass(value) and dataclasses.is_dataclass(value):
        lines += ["", *fields_of(value)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("public-names", PublicNames)
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
