"""Every command has its call in Python, and the page that says so names what exists."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, get_type_hints

import click
import pytest

import morphlm
from morphlm.cli.main import morphlm as morphlm_group

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "python" / "commands.md"
ROWS = re.findall(r"^\| `morphlm (.+?)`.*? \| `(.+?)`.* \|$", PAGE.read_text(), re.MULTILINE)


def commands(group: click.Command, before: str = "") -> Iterator[str]:
    """All commands by their full names; those of `train` are kinds of models."""
    if not isinstance(group, click.Group) or before == "train":
        yield before
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        child = group.get_command(context, name)
        assert child is not None
        yield from commands(child, f"{before} {name}".strip())


def command_of(words: str) -> str:
    """`translate extract` of `translate extract --from`."""
    return " ".join(word for word in words.split() if not word.startswith("-") and word not in ("mkn", "..."))


def test_every_command_is_in_the_table() -> None:
    assert {command_of(words) for words, _ in ROWS} - {"analyse"} == set(commands(morphlm_group))


def result_of(function: Any) -> Any:
    """What a function returns; None for types of packages that are imported only when they are needed."""
    with suppress(NameError):
        plain = function.func if isinstance(function, partial) else function
        return get_type_hints(plain).get("return")
    return None


class Resolved(ast.NodeVisitor):
    """What an expression is, by the names and annotations in it; None where that is not known."""

    def resolve(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return morphlm if node.id == "morphlm" else None
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            return None if owner is None else self.attribute(owner, node.attr)
        if isinstance(node, ast.Call):
            called = self.resolve(node.func)
            self.check_arguments(called, node)
            return called if inspect.isclass(called) or called is None else result_of(called)
        return None

    def attribute(self, owner: Any, name: str) -> Any:
        value = inspect.getattr_static(owner, name) if inspect.isclass(owner) else getattr(owner, name)
        if isinstance(value, property):
            return get_type_hints(value.fget)["return"]
        function = value.__func__ if isinstance(value, classmethod) else value
        return partial(function, None) if inspect.isclass(owner) and inspect.isfunction(function) else function

    def check_arguments(self, called: Any, node: ast.Call) -> None:
        for argument in node.args:
            self.resolve(argument)
        if called is None:
            return
        named = {keyword.arg: None for keyword in node.keywords if keyword.arg is not None}
        inspect.signature(called).bind(*node.args, **named)  # a TypeError if it cannot be called so


@pytest.mark.parametrize(("command", "call"), ROWS)
def test_the_names_of_a_call_exist(command: str, call: str) -> None:
    expression = ast.parse(call, mode="eval").body
    assert isinstance(expression, ast.Call), command
    assert Resolved().resolve(expression.func) is not None
    Resolved().resolve(expression)


@pytest.mark.parametrize("package", ["morphlm", "morphlm.experiments", "morphlm.segmentation", "morphlm.translation"])
def test_names_of_packages_are_found_lazily(package: str) -> None:
    module = importlib.import_module(package)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_help_tells_the_main_names() -> None:
    """The docstring groups names that exist."""
    assert morphlm.__doc__ is not None
    table = morphlm.__doc__.partition("The main names")[2].partition("Messages go")[0]
    named = re.findall(r"\b([A-Za-z_]+)\b", re.sub(r"^    \w+ ", "", table, flags=re.MULTILINE))
    names = [name for name in named if name not in {"by", "subject", "and", "below", "it"}]
    assert len(names) > 30
    assert set(names) <= set(dir(morphlm))


def test_calls_of_the_page_do_what_commands_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = [["na", "dům"], ["na", "hrad"], ["pod", "hrad"]] * 5
    Path("train.txt").write_text("".join(" ".join(sentence) + "\n" for sentence in text))
    vocabulary = morphlm.make_vocabulary("train.txt", "vocabulary.tsv", kappa=0.0)
    assert morphlm.load_vocabulary("vocabulary.tsv").words == vocabulary.words
    statistics = morphlm.text_statistics("train.txt")
    assert (statistics.tokens, statistics.types) == (30, 4)
    partition = morphlm.train_classes("train.txt", "classes.tsv", vocabulary="vocabulary.tsv", number=3)
    again = morphlm.read_given_classes("classes.tsv", "tsv", vocabulary)
    assert (again.class_of == partition.class_of).all()
    compared = morphlm.train_kinds("train.txt", "train.txt", "models", ["mkn", "clbl"], epochs=1, width=4, classes=2)
    assert [trained.model.kind for trained in compared.models] == ["mkn", "clbl"]
    assert (tmp_path / "models" / "clbl" / "manifest.json").is_file()
    found = morphlm.tune("clbl", text, text, minutes=0.05, steps=[0.1], decays=[0.1], widths=[4], classes=2)
    assert set(found.settings) == {"step", "decay", "width"}
    Path("raw.txt").write_text("Na dům! Pod hrad.\n")
    record = morphlm.prepare_files("raw.txt", "prepared.txt", morphlm.PrepareOptions(language="cs"))
    assert (record.counts.lines, Path("prepared.txt").read_text()) == (1, "na dům ! pod hrad .\n")
