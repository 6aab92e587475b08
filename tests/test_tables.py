"""Numbers with their nouns, and no message that prints a number with a plural of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import morphlm
from morphlm.tables import counted


@pytest.mark.parametrize(
    ("number", "nouns", "text"),
    [
        (0, ("line",), "0 lines"),
        (1, ("line",), "1 line"),
        (2, ("line",), "2 lines"),
        (12345, ("line",), "12,345 lines"),
        (1, ("entry", "entries"), "1 entry"),
        (3, ("entry", "entries"), "3 entries"),
    ],
)
def test_a_number_with_its_noun(number: int, nouns: tuple[str, ...], text: str) -> None:
    assert counted(number, *nouns) == text


def plurals_of_numbers(path: Path) -> Iterator[str]:
    """`{number:,} lines` in an f-string, which would say `1 lines`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, node.values[1:], strict=False):
            if isinstance(value, ast.FormattedValue) and value.format_spec and isinstance(after, ast.Constant):
                word = re.match(r" (\w+s)\b", str(after.value))
                if word and ast.unparse(value.format_spec) == "f','":
                    yield f"{path.name}:{node.lineno}: {ast.unparse(value.value)} {word[1]}"


def test_messages_of_commands_have_no_plurals_of_their_own() -> None:
    folder = Path(morphlm.__file__).parent / "cli"
    assert [place for path in folder.rglob("*.py") for place in plurals_of_numbers(path)] == []


def test_the_check_finds_a_plural(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = f'{len(a):,} lines, {b:,} left, {c} lines'")
    assert list(plurals_of_numbers(tmp_path / "a.py")) == ["a.py:1: len(a) lines"]
