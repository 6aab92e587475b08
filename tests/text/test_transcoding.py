"""Text in any encoding, read as lines: recognised, given, arriving piece by piece, refused where it is not valid."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from morphlm.errors import ConfigError, InputError
from morphlm.text.encodings import NotTextError
from morphlm.text.preparation import PrepareOptions
from morphlm.text.prepare import prepare_files
from morphlm.text.reading import Mending, read_blocks
from morphlm.text.transcoding import Utf8Reader

CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy.\nŠťastná žena řekla, že přijde později.\n" * 5
ENCODINGS = ("cp1250", "iso8859-2", "utf-16", "utf-16-le", "utf-32", "utf-8", "utf-8-sig")


class Pieces(io.RawIOBase):
    """A stream from which few bytes can be read at a time, as from a pipe."""

    def __init__(self, data: bytes, size: int) -> None:
        self._data, self._size = io.BytesIO(data), size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._data.read(min(self._size, len(buffer)))
        buffer[: len(piece)] = piece
        return len(piece)


def read_all(data: bytes, encoding: str | None, size: int = 1 << 20, repairs: Counter[str] | None = None) -> str:
    reader = Utf8Reader(io.BufferedReader(Pieces(data, size), size), "<test>", encoding, repairs)
    return b"".join(iter(lambda: reader.read1(size), b"")).decode()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_lines_are_recognised_and_that_is_said(
    encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_bytes(CZECH.encode(encoding))
    mending = Mending(line_ends_only=True)
    blocks = list(read_blocks(tmp_path / "text", mending=mending, encoding=None))
    assert b"".join(block.data for block in blocks).decode() == CZECH
    said = capsys.readouterr().err
    assert said.startswith("" if encoding.startswith("utf-8") else f"{tmp_path}/text: read as {encoding}")
    assert said.count("\n") == (not encoding.startswith("utf-8"))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("encoding", ["cp1250", "utf-16", "utf-16-be", "utf-8", "shift_jis", "koi8-r"])
def test_a_given_encoding_however_the_bytes_arrive(encoding: str, size: int) -> None:
    text = {"shift_jis": "日本語の文\n", "koi8-r": "Пример текста\n"}.get(encoding, CZECH)
    assert read_all(text.encode(encoding), encoding, max(size, 2)).lstrip("\ufeff") == text


def test_the_first_bytes_that_are_not_ascii_decide() -> None:
    plain = "only ASCII here\n" * 1000
    assert read_all((plain + CZECH).encode("cp1250"), None, 8000) == plain + CZECH


def test_what_is_not_valid_is_refused_after_the_lines_before_it(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes("jedna\ndvě\n".encode("cp1250") + b"t\x81i\n")
    lines, blocks = [], read_blocks(tmp_path / "text", encoding="cp1250")
    with pytest.raises(InputError, match=r"text:3: byte 0x81 is not cp1250; name the right encoding with encoding="):
        for block in blocks:
            lines += block.lines()
    assert lines == ["jedna", "dvě"]


def test_what_is_not_valid_is_removed_where_text_is_mended(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes("dvě\n".encode("cp1250") + b"t\x81i\n")
    mending = Mending()
    (block,) = read_blocks(tmp_path / "text", mending=mending, encoding="cp1250")
    assert block.lines() == ["dvě", "ti"]
    assert mending.repairs == {"places that are not cp1250 removed": 1}


def test_few_bad_bytes_are_no_other_encoding(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes("dvě\n".encode() + b"t\xffi\n")
    with pytest.raises(InputError, match=r"text:2: byte 0xff is not UTF-8; name its encoding with encoding=, or"):
        list(read_blocks(tmp_path / "text", encoding=None))


def test_files_of_other_programs_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"%PDF-1.4\n" + CZECH.encode())
    with pytest.raises(NotTextError, match="this is a PDF; convert it to text"):
        list(read_blocks(tmp_path / "text", encoding=None))


@pytest.mark.parametrize("split", [True, False])
def test_text_is_prepared_alike_in_any_encoding(split: bool, tmp_path: Path) -> None:
    results = set()
    for number, encoding in enumerate(ENCODINGS[:-1]):
        (tmp_path / str(number)).write_bytes(CZECH.encode(encoding))
        for given in (None, encoding):
            out = tmp_path / "out"
            prepare_files(tmp_path / str(number), out, PrepareOptions(language="cs"), split=split, encoding=given)
            results.add(out.read_text())
    assert len(results) == 1 and "příliš žluťoučký kůň" in results.pop()
    with pytest.raises(ConfigError, match="there is no encoding 'cp12500'; do you mean cp1250"):
        prepare_files(tmp_path / "1", tmp_path / "x", PrepareOptions(), split=split, encoding="cp12500")
