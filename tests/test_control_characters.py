from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.progress import CONTROLS, escaped, notify


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("\0\r\x7f\x9b", "\\x00\\x0d\\x7f\\x9b"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\udc9b\udcff", "\\x9b\udcff"),
        ("žluťoučký\tkůň\n", "žluťoučký\tkůň\n"),
    ],
)
def test_control_characters_are_written_out(text: str, shown: str) -> None:
    assert escaped(text) == shown


@given(st.text())
def test_nothing_that_controls_a_terminal_is_left(text: str) -> None:
    shown = escaped(text)
    assert not {ord(character) for character in shown} & set(CONTROLS)
    assert all(unicodedata.category(character) != "Cc" or character in "\t\n" for character in shown)
    if not {ord(character) for character in text} & set(CONTROLS):
        assert shown == text


def test_messages_have_none(capsys: pytest.CaptureFixture[str]) -> None:
    notify("a\x1b]0;title\x07")
    assert capsys.readouterr().err == "a\\x1b]0;title\\x07\n"
