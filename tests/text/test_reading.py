from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import InputError
from morphlm.text import reading
from morphlm.text.reading import MAX_LINE_BYTES, Mending, read_blocks, split_tokens

LONG = b"x" * MAX_LINE_BYTES

BAD = {
    "utf8": (b"good\nbad \xff\n", 2, "0xff is not UTF-8"),
    "nul": (b"good\ngood\nb\0d\n", 3, "NUL byte"),
    "crlf": (b"good\nbad\r\n", 2, "carriage return"),
    "bom": (b"\xef\xbb\xbfgood\n", 1, "byte order mark"),
    "long": (b"good\n" + LONG + b"\n", 2, "1,000,000 bytes or more"),
    "begin": (b"good\na <s> b\n", 2, "contains <s>"),
    "end": (b"a </s>\n", 1, "contains </s>"),
    "unk": (b"<unk>\n", 1, "contains <unk>"),
}


def read(path: Path, **options: object) -> list[str]:
    return [line for block in read_blocks(path, **options) for line in block.lines()]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", BAD)
def test_bad_text_is_refused_with_file_line_and_cure(tmp_path: Path, name: str) -> None:
    content, line, what = BAD[name]
    path = tmp_path / "text"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    assert what in message
    assert "; " in message


@pytest.mark.parametrize("name", ["nul", "crlf", "bom", "long"])
def test_tables_are_not_sent_to_prepare(tmp_path: Path, name: str) -> None:
    content, line, what = BAD[name]
    (tmp_path / "table").write_bytes(content)
    with pytest.raises(InputError, match=rf"table:{line}: .*{what}.*; ") as caught:
        read(tmp_path / "table", marks="any")
    assert "prepare" not in str(caught.value)
    with pytest.raises(InputError, match=r"`prepare_files\(..., mend=True\)` does it"):
        read(tmp_path / "table", marks="unk")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"")
    with pytest.raises(InputError, match="text: the file is empty"):
        read(tmp_path / "text")


def test_marks_inside_words_and_on_demand_are_text(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("a<s>b <s>c x</s> <unk>\n")
    assert read(path, marks="unk") == ["a<s>b <s>c x</s> <unk>"]
    path.write_text("<s>\t5\n")
    assert read(path, marks="any") == ["<s>\t5"]


def test_blank_lines_and_a_missing_last_newline_are_kept(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a\n\nb")
    assert read(tmp_path / "text") == ["a", "", "b"]


def test_mending_repairs_and_counts(tmp_path: Path) -> None:
    path = tmp_path / "text"
    lines = [b"\xef\xbb\xbfone\r\n", b"t\0wo <s> x\n", b"bad \xff\n", LONG + LONG + b"\n", b"last </s>"]
    path.write_bytes(b"".join(lines))
    mending = Mending()
    assert read(path, mending=mending) == ["one", "two  x", "last "]
    assert mending.repairs == {
        "byte order marks removed": 1,
        "CRLF line ends replaced": 1,
        "NUL bytes removed": 1,
        "reserved marks removed": 2,
        "lines dropped for bad UTF-8": 1,
        "lines dropped for their length": 1,
    }


def test_lines_are_numbered_as_in_the_file_after_a_long_one_was_dropped(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"first\n" + LONG + LONG + b"\nthird\n")
    blocks = list(read_blocks(path, mending=Mending()))
    assert [(block.first_line, block.lines()) for block in blocks] == [(1, ["first"]), (3, ["third"])]


@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r\0\ufeff", exclude_categories=["Cs"]))), st.integers(1, 40)
)
def test_lines_do_not_depend_on_where_blocks_are_cut(lines: list[str], size: int) -> None:
    import tempfile

    content = "".join(line + "\n" for line in lines)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "text"
        path.write_text(content, newline="")
        patch.setattr(reading, "BLOCK_BYTES", size)
        if lines:
            numbered = [
                (block.first_line + k, line)
                for block in read_blocks(path, marks="any")
                for k, line in enumerate(block.lines())
            ]
            assert numbered == list(enumerate(lines, 1))


def test_only_spaces_and_tabs_separate_tokens() -> None:
    assert split_tokens(" a\u00a0b\tc \u2028 d ") == ["a\u00a0b", "c", "\u2028", "d"]


@pytest.mark.parametrize("first", [b"bad \xff\n", b"n\0l\n", b"a <s>\n", b"cr\r\n"])
@pytest.mark.parametrize("second", [b"bad \xff\n", b"n\0l\n", b"a <s>\n", b"cr\r\n"])
def test_lines_before_the_first_refused_one_are_given(tmp_path: Path, first: bytes, second: bytes) -> None:
    """Whatever else is wrong further down."""
    path = tmp_path / "text"
    path.write_bytes(b"one\ntwo\n" + first + b"three\n" + second)
    blocks = read_blocks(path)
    assert next(blocks).data == b"one\ntwo\n"
    with pytest.raises(InputError, match=r"text:3: "):
        next(blocks)
