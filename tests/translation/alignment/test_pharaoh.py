from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import InputError
from morphlm.translation.alignment import pharaoh
from morphlm.translation.alignment.links import alignments_of
from morphlm.translation.alignment.parallel_text import read_parallel
from morphlm.translation.alignment.pharaoh import read_pharaoh, write_pharaoh

link = st.tuples(st.integers(0, 9_999_999), st.integers(0, 120))


def test_the_text_is_exactly_this(tmp_path: Path) -> None:
    write_pharaoh(tmp_path / "a", alignments_of([[(1, 2), (0, 0), (10, 109)], [], [(7, 0)]]))
    assert (tmp_path / "a").read_text() == "0-0 1-2 10-109\n\n7-0\n"


@given(sentences=st.lists(st.lists(link, max_size=9), min_size=1, max_size=8))
def test_what_is_written_is_read(
    sentences: list[list[tuple[int, int]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "links"
    write_pharaoh(path, alignments_of(sentences))
    found = read_pharaoh(path)
    assert [found.links(k) for k in range(len(found))] == [sorted(set(links)) for links in sentences]


def test_many_lines_are_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pharaoh, "_WRITTEN_AT_ONCE", 3)
    write_pharaoh(tmp_path / "a.gz", alignments_of([[(k, k)] if k % 3 else [] for k in range(10)]))
    found = read_pharaoh(tmp_path / "a.gz")
    assert [found.links(k) for k in range(len(found))] == [[(k, k)] if k % 3 else [] for k in range(10)]


def test_other_tools_write_spaces_tabs_repetitions_and_any_order(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b" 2-1  0-0\t2-1 \n\n0-3 0-1")
    found = read_pharaoh(tmp_path / "a")
    assert [found.links(k) for k in range(3)] == [[(0, 0), (2, 1)], [], [(0, 1), (0, 3)]]


@pytest.mark.parametrize(
    "wrong",
    ["0", "0-", "-0", "0-0-0", "a-0", "0:0", "1-2x", "1--2", "-1-0", "0-99999999999999999999", "123456789-1", "é-1"],
)
def test_what_is_no_link_is_named_with_its_line(wrong: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(f"0-0\n1-1 {wrong} 2-2\n")
    with pytest.raises(InputError) as error:
        read_pharaoh(tmp_path / "a")
    assert str(error.value).startswith(f"{tmp_path / 'a'}:2: {wrong!r} is no link; ")


def test_links_must_be_inside_of_the_sentences(tmp_path: Path) -> None:
    text = read_parallel([["a", "b"], ["a"]], [["x"], ["x", "y", "z"]])
    path = tmp_path / "a"
    path.write_text("1-0\n0-2\n")
    assert read_pharaoh(path, text).links(1) == [(0, 2)]
    for content, line, which in [("1-1\n\n", 1, "1-1"), ("\n1-0\n", 2, "1-0"), ("2-0\n\n", 1, "2-0")]:
        path.write_text(content)
        with pytest.raises(InputError, match=f"a:{line}: the link {which} is outside of the sentences"):
            read_pharaoh(path, text)
    path.write_text("\n\n\n")
    with pytest.raises(InputError, match="it has 3 lines, and the text 2 pairs"):
        read_pharaoh(path, text)
