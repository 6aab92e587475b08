"""Numbers with their nouns and in per cent, and no message that prints them in a way of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import morphlm
from morphlm.tables import counted, percent, whole_percent


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


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [(0.2664, 1, "26.6 %"), (-0.059, 1, "−5.9 %"), (-0.0001, 1, "0.0 %"), (0.97, 0, "97 %"), (1, 2, "100.00 %")],
)
def test_shares_in_per_cent(share: float, digits: int, text: str) -> None:
    assert percent(share, digits) == text


def test_whole_per_cent_are_none_or_all_only_where_it_is_true() -> None:
    assert [whole_percent(share) for share in (0.0, 1e-9, 0.424, 0.9999, 1.0)] == [
        "0 %",
        "1 %",
        "42 %",
        "99 %",
        "100 %",
    ]


def test_a_space_stands_before_every_per_cent_sign() -> None:
    """Python's own format of per cent has none: `percent` is what prints them."""
    own_format = re.compile(r"\{[^{}]*:[^{}]*%\}")
    for path in Path(morphlm.__file__).parent.rglob("*.py"):
        assert not own_format.search(path.read_text()), path
