import gzip
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from morphlm.errors import ConfigError, InputError
from morphlm.text.datasets import get_dataset
from morphlm.text.datasets.own_files import deal_out


@given(st.integers(3, 500), st.integers(0, 2**63))
def test_shares_are_exact_and_no_part_is_empty(blocks: int, seed: int) -> None:
    parts = deal_out(blocks, seed)
    assert parts.count("dev") == parts.count("test") == max(1, round(blocks / 20))
    assert len(parts) == blocks


def lines_of(folder: Path, language: str = "cs") -> dict[str, list[str]]:
    return {
        part: (folder / f"{part}.{language}.txt").read_text(encoding="utf-8").splitlines()
        for part in ("train", "dev", "test")
    }


def test_a_file_is_cut_in_blocks_of_100_neighbours(tmp_path: Path) -> None:
    text = [f"věta {number}" for number in range(4000)]
    (tmp_path / "text.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    get_dataset(tmp_path / "text.txt", tmp_path / "out", language="cs", seed=3)
    parts = lines_of(tmp_path / "out")
    assert {part: len(lines) for part, lines in parts.items()} == {"train": 3600, "dev": 200, "test": 200}
    assert sorted(chain(*parts.values()), key=text.index) == text
    for lines in (parts["dev"], parts["test"]):
        starts = [int(lines[i].split()[1]) for i in (0, 100)]
        assert all(start % 100 == 0 for start in starts)
        assert lines == [f"věta {start + i}" for start in starts for i in range(100)]


def test_the_seed_decides(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("".join(f"{number}\n" for number in range(2000)), encoding="utf-8")
    made = [
        get_dataset(tmp_path / "text.txt", tmp_path / str(i), language="cs", seed=seed).files
        for i, seed in enumerate((1, 1, 2))
    ]
    assert made[0] == made[1] != made[2]


def test_a_folder_is_read_in_the_order_of_names_with_any_compression(tmp_path: Path) -> None:
    source = tmp_path / "in"
    (source / "sub").mkdir(parents=True)
    (source / "sub" / "b.txt").write_text("c\nd", encoding="utf-8")
    (source / "a.txt.gz").write_bytes(gzip.compress(b"a\na\n"))
    (source / ".hidden").write_bytes(b"\x00")
    folder = get_dataset(source, tmp_path / "out", language="cs")
    assert sorted(chain(*lines_of(tmp_path / "out").values())) == ["a", "a", "c", "d"]
    assert list(folder.source["files"]) == ["text: in/a.txt.gz", "text: in/sub/b.txt"]


def test_parallel_files_stay_parallel(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("".join(f"cs {i}\n" for i in range(300)), encoding="utf-8")
    (tmp_path / "b").write_text("".join(f"en {i}\n" for i in range(300)), encoding="utf-8")
    get_dataset(tmp_path / "a", tmp_path / "out", language="cs", parallel="en", parallel_path=tmp_path / "b")
    czech, english = lines_of(tmp_path / "out"), lines_of(tmp_path / "out", "en")
    assert {part: [line.replace("en", "cs") for line in lines] for part, lines in english.items()} == czech


def test_bad_input_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    source, out = tmp_path / "in.txt", tmp_path / "out"
    for content, message in (
        (b"", "the file is empty"),
        (b"a\nb\xff\n", r"in\.txt:2: byte 0xff is not UTF-8"),
        (b"a\r\n", "carriage return"),
        (b"a\nb\n", "too little text, 2 lines"),
    ):
        source.write_bytes(content)
        with pytest.raises(InputError, match=message):
            get_dataset(source, out, language="cs")
    source.write_text("a\nb\nc\nd\n", encoding="utf-8")
    (tmp_path / "short").write_text("a\nb\nc\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"short: the text has 3 lines"):
        get_dataset(source, out, language="cs", parallel="en", parallel_path=tmp_path / "short")
    with pytest.raises(ConfigError, match="parallel= and parallel_path= go together"):
        get_dataset(source, out, language="cs", parallel="en")
    with pytest.raises(ConfigError, match="the language of the text is missing; give language=, such as cs"):
        get_dataset(source, out)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no files in this folder"):
        get_dataset(tmp_path / "empty", out, language="cs")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "in.txt", "short"]


def test_a_changed_source_is_not_taken_for_the_same_data_set(tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text("a\nb\nc\nd\n", encoding="utf-8")
    assert not get_dataset(source, tmp_path / "out", language="cs").reused
    assert get_dataset(source, tmp_path / "out", language="cs").reused
    source.write_text("a\nb\nc\ne\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds another data set"):
        get_dataset(source, tmp_path / "out", language="cs")


def test_a_changed_side_is_noticed_though_both_have_one_name(tmp_path: Path) -> None:
    for side in ("one", "two"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "t.txt").write_text("a\nb\nc\nd\n")
    arguments: dict[str, Any] = {"language": "cs", "parallel": "en", "parallel_path": tmp_path / "two" / "t.txt"}
    get_dataset(tmp_path / "one" / "t.txt", tmp_path / "out", **arguments)
    (tmp_path / "one" / "t.txt").write_text("a\nb\nc\nx\n")
    with pytest.raises(InputError, match="another data set"):
        get_dataset(tmp_path / "one" / "t.txt", tmp_path / "out", **arguments)
