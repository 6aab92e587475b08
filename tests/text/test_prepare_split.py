"""`prepare --split`: running text becomes sentences, and nothing of it is lost."""

from __future__ import annotations

from pathlib import Path

from morphlm.text.preparation import Counts, PrepareOptions, paper_options
from morphlm.text.prepare import prepare_files

CZECH = PrepareOptions(language="cs", max_tokens=8)


def test_paragraphs_become_sentences(tmp_path: Path) -> None:
    raw, out = tmp_path / "raw.txt", tmp_path / "out.txt"
    raw.write_text("Přišel domů. Bylo 12 hodin!\n\nTo je věta, která má mnoho slov, a proto je dlouhá.\n")
    record = prepare_files([raw], out, CZECH, split=True)
    lines = out.read_text().splitlines()
    assert lines[:2] == ["přišel domů .", "bylo 00 hodin !"]
    assert " ".join(lines[2:]) == "to je věta , která má mnoho slov , a proto je dlouhá ."
    assert record.counts == Counts(lines=2, kept=2, tokens=21, sentences=len(lines))
    again = prepare_files([out], tmp_path / "again.txt", CZECH)
    assert (tmp_path / "again.txt").read_text() == out.read_text(), "preparing it again changes nothing"
    assert again.counts.lost_tokens == 0


def test_processes_change_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "novels"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.txt").write_text("Věta jedna. Věta druhá.\n" * 50)
    for processes in (1, 2):
        prepare_files([folder], tmp_path / str(processes), CZECH, split=True, processes=processes)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    assert (tmp_path / "1").read_text().count("\n") == 500


def test_what_is_lost_is_counted_in_tokens(tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    raw.write_text("slovo " * 100 + "\nkrátká věta\n")
    counts = prepare_files([raw], tmp_path / "out", paper_options("cs")).counts
    assert (counts.tokens, counts.lost_tokens) == (2, 100)
    assert counts.format() == "1 of 2 lines kept (1 too long), 2 tokens; lost: 100 tokens (98.04 %)"
    assert prepare_files([raw], tmp_path / "out", PrepareOptions()).counts.lost_tokens == 0
