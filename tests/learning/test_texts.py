"""From raw text to three prepared texts: nothing is lost, and what there is no time for is counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm.errors import InputError
from morphlm.learning.directory import LearnDirectory
from morphlm.learning.pace import TextSize
from morphlm.learning.record import TextRecord
from morphlm.learning.request import LearnRequest
from morphlm.learning.texts import make_texts, write_part
from morphlm.text.preparation import read_preparation
from tests.learning.small import paragraphs, write_text


def texts_of(
    text: Path,
    *,
    is_late: Callable[[], bool] = lambda: False,
    affordable: Callable[[TextSize], int] = lambda size: size.tokens,
    processes: int = 1,
    **options: object,
) -> tuple[TextRecord, LearnDirectory]:
    directory = LearnDirectory(text.parent / "out")
    request = LearnRequest((text,), directory.root, processes=processes, **{"language": "cs", **options})  # type: ignore[arg-type]
    return make_texts(request, directory, lambda message: None, is_late=is_late, affordable=affordable), directory


def test_a_line_of_a_megabyte_is_split_and_nothing_is_lost(tmp_path: Path) -> None:
    words = " ".join(paragraphs(40)).replace(".", "").lower().split() * 170
    (tmp_path / "text.txt").write_text(" ".join(words) + "\n")
    assert (tmp_path / "text.txt").stat().st_size > 1_000_000
    record, directory = texts_of(tmp_path / "text.txt")
    assert record.tokens == len(words) and record.lost_tokens == 0
    longest = max(len(line.split()) for line in directory.text("train").read_text().splitlines())
    assert 40 < longest <= 80
    assert record.format_losses() == "no token was lost on the way"


def test_the_bytes_do_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    found = []
    for processes in (1, 2):
        folder = tmp_path / str(processes)
        folder.mkdir()
        _, directory = texts_of(write_text(folder / "text.txt", 300), processes=processes)
        found.append([directory.text(part).read_bytes() for part in ("train", "dev", "test")])
    assert found[0] == found[1]


def test_every_text_has_a_record_of_its_preparation(text: Path) -> None:
    record, directory = texts_of(text, case="keep")
    for part in ("train", "dev", "test"):
        preparation = read_preparation(directory.text(part))
        assert preparation is not None
        assert (preparation.options.language, preparation.options.case) == ("cs", "keep")
        assert preparation.counts.tokens == record.parts[part].tokens
    assert not (directory.work / "collected.txt").exists()


def test_reading_ends_when_the_time_for_it_is_over_and_the_rest_is_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "texts").mkdir()
    for number in range(30):
        write_text(tmp_path / "texts" / f"{number:02}.txt", 40, seed=number)
    whole, _ = texts_of(tmp_path / "texts", is_late=lambda: True)
    assert whole.documents == 30 and whole.left_out == 0  # small documents, which take no time
    monkeypatch.setattr("morphlm.learning.collecting.SAMPLE_CHARACTERS", 1)
    asked = iter([False] * 9 + [True] * 100)
    record, _ = texts_of(tmp_path / "texts", is_late=lambda: next(asked))
    assert record.documents == 10
    assert record.left_out == pytest.approx(2 / 3 * whole.tokens, rel=0.05)
    assert "WARNING: much of the text was lost" in record.format_losses()
    assert any("not read to its end" in note for note in record.notes)


def test_only_as_much_training_text_is_kept_as_there_is_time_for(text: Path) -> None:
    sizes: list[TextSize] = []

    def affordable(size: TextSize) -> int:
        sizes.append(size)
        return 1000

    record, directory = texts_of(text, affordable=affordable)
    assert record.parts["train"].tokens == pytest.approx(1000, abs=100)
    assert record.left_out == sizes[0].tokens - record.parts["train"].tokens
    assert record.parts["dev"].tokens > 250  # held-out text stays
    words = set(directory.text("train").read_text().split())
    assert sizes[0].words >= len(words)


def test_a_part_of_a_text_consists_of_its_lines_in_order(text: Path, tmp_path: Path) -> None:
    _, directory = texts_of(text)
    write_part(directory.text("train"), tmp_path / "part.txt", 700)
    lines, part = (path.read_text().splitlines() for path in (directory.text("train"), tmp_path / "part.txt"))
    rest = iter(lines)
    assert all(line in rest for line in part)
    assert sum(len(line.split()) for line in part) == pytest.approx(700, abs=80)


def test_a_folder_of_prepared_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    write_text(tmp_path / "texts" / "a.txt")
    with pytest.raises(InputError, match="this is a folder; name the files of prepared text"):
        texts_of(tmp_path / "texts", prepared=True)
