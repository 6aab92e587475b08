"""JSON files from outside: what is refused before any schema, what a schema adds, and which files are read at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from morphlm.errors import FormatError
from morphlm.schema import Document, Integer, Record, SchemaError, parse_json, read_document
from tests.schema.forge import encoded, forged_texts, forged_values, nested

SMALL = Document("a small thing", Record({"format": Integer(), "n": Integer(0, 9)}), largest=100, version=1)


@pytest.mark.parametrize("value", [None, True, 0, 2**64 - 1, -(2**63), 1.5, "", "ž\0", [], {}, {"a": [1, {"b": []}]}])
def test_values_of_json(value: Any) -> None:
    assert parse_json(json.dumps(value).encode(), "x") == value
    assert parse_json(json.dumps(value, ensure_ascii=False, indent=1).encode(), "x") == value


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "x is no JSON (Expecting value: line 1 column 1 (char 0))"),
        (b"{}{}", "x is no JSON (Extra data: line 1 column 3 (char 2))"),
        (b"NaN", "x is no JSON (NaN is no number of JSON)"),
        (b"[-Infinity]", "x is no JSON (-Infinity is no number of JSON)"),
        (b"1e999", "x has a number that is not finite"),
        (b"[1, -1e999]", "x has a number that is not finite"),
        (b"18446744073709551616", "x is no JSON (a whole number has more than 64 bits)"),
        (b"-9223372036854775809", "x is no JSON (a whole number has more than 64 bits)"),
        (b"9" * 100_000, "x is no JSON (a whole number has more than 64 bits)"),
        (b'{"a": 1, "a": 1}', "x is no JSON (an object has a key twice)"),
        (b'[{"a": 1, "\\u0061": 2}]', "x is no JSON (an object has a key twice)"),
        (b'"\\ud800"', "x has half of a surrogate pair, which is no character"),
        (b'{"\\udfff": 1}', "x has half of a surrogate pair, which is no character"),
        (b'"\xff"', "x is no JSON (byte 1 is not UTF-8)"),
        (b'"\xed\xa0\x80"', "x is no JSON (byte 1 is not UTF-8)"),
        (b"\xef\xbb\xbf{}", "x is no JSON (Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0))"),
        (b"[" * 100_000, "x is nested too deeply"),
        (encoded(nested(64)), "x is nested more than 64 levels deep"),
    ],
)
def test_what_is_no_json(raw: bytes, message: str) -> None:
    with pytest.raises(SchemaError) as refused:
        parse_json(raw, "x")
    assert str(refused.value) == message


def test_depth() -> None:
    assert parse_json(encoded(nested(62)), "x") == nested(62)
    assert parse_json(b'"\\ud83d\\ude00"', "x") == "\U0001f600"  # a whole pair


def test_a_document_is_checked_against_its_schema_and_version() -> None:
    assert SMALL.parse(b'{"format": 1, "n": 9}', "f") == {"format": 1, "n": 9}
    for raw, message in (
        (b'{"format": 1, "n": 10}', "f: not a small thing (the content.n is 10, not a whole number from 0 to 9); make"),
        (b'{"format": 2, "m": 10}', "f: format 2, this morphlm reads 1; use the version that wrote it"),
        (b'{"format": true}', "f: not a small thing (the content.format is True, not a whole number"),
        (b'{"n": 1}', "f: not a small thing (the content.format is missing); make it again"),
        (b"[]", "f: not a small thing (the content is a list, not an object); make it again"),
    ):
        with pytest.raises(FormatError) as refused:
            SMALL.parse(raw, "f")
        assert str(refused.value).startswith(message)


def test_only_regular_files_of_a_bounded_size_are_read(tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.write_text('{"format": 1, "n": 3}')
    (tmp_path / "link").symlink_to(good)
    assert read_document(good, SMALL) == read_document(tmp_path / "link", SMALL) == {"format": 1, "n": 3}
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero", "."):
        with pytest.raises(FormatError, match="this is no regular file; put the file itself there"):
            read_document(tmp_path / name, SMALL)
    good.write_text('{"format": 1, "n": 3}' + " " * 100)
    with pytest.raises(FormatError, match="121 bytes, of at most 100; make it again"):
        read_document(good, SMALL)
    for name in ("missing", "a\0b"):
        with pytest.raises(FileNotFoundError):
            read_document(tmp_path / name, SMALL)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OSError, match="symbolic links"):
        read_document(tmp_path / "loop", SMALL)


def test_forged_texts_are_refused_or_what_they_say() -> None:
    document = Document("anything small", Record({"format": Integer(), "n": Integer(0, 9)}))
    raw = b'{"format": 1, "n": 3}'
    accepted = [what for what, text in forged_texts(raw) if _is_accepted(document, text)]
    assert accepted == []
    values = list(forged_values({"format": 1, "n": 3}))
    assert len(values) > 80
    kept = [value for _, value in values if _is_accepted(document, encoded(value))]
    assert all(value.keys() == {"format", "n"} and 0 <= value["n"] <= 9 for value in kept)


def _is_accepted(document: Document, raw: bytes) -> bool:
    try:
        document.parse(raw, "f")
    except FormatError as refused:
        assert "\n" not in str(refused) and len(str(refused)) < 500
        return False
    return True
