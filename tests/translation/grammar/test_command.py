from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from morphlm.translation.grammar.config import GrammarConfig
from morphlm.translation.grammar.extraction import GrammarExtractor
from morphlm.translation.grammar.files import grammar_name, write_all, write_each
from morphlm.translation.grammar.reading import read_rules
from tests.conftest import Outcome

from .test_extraction import PAIRS, bitext_of

Command = Callable[..., Outcome]
SENTENCES = [["das", "haus"], [], ["nichts"], ["das", "haus", "!"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "s").write_text("".join(" ".join(source) + "\n" for source, _, _ in PAIRS))
    (tmp_path / "t").write_text("".join(" ".join(target) + "\n" for _, target, _ in PAIRS))
    (tmp_path / "a").write_text("".join(" ".join(f"{s}-{t}" for s, t in links) + "\n" for _, _, links in PAIRS))
    (tmp_path / "in").write_text("".join(" ".join(sentence) + "\n" for sentence in SENTENCES))
    return tmp_path


def test_a_grammar_for_each_sentence_and_one_for_all(folder: Path) -> None:
    tables = [GrammarExtractor(bitext_of(PAIRS)).extract(sentence) for sentence in SENTENCES]
    written = write_each(folder / "g", tables)
    assert written.to_json() == {"sentences": 4, "rules": sum(map(len, tables)), "without_rules": 2}
    for number, table in enumerate(tables):
        again = read_rules(folder / "g" / grammar_name(number))
        assert [rule.to_line() for rule in again] == [rule.to_line() for rule in table]
    assert written.format() == f"4 sentences, {sum(map(len, tables))} rules; 2 without any"
    all_lines = [rule.to_line() for table in tables for rule in table]
    assert write_all(folder / "all", tables).rules == len(set(all_lines)) < len(all_lines)
    assert (folder / "all").read_text().splitlines() == list(dict.fromkeys(all_lines))


def test_the_command(folder: Path, morphlm_command: Command) -> None:
    parts = [folder / name for name in "sta"]
    made = morphlm_command("translate", "extract", folder / "b", "--from", *parts, "--json")
    assert (made.status, json.loads(made.stdout)) == (0, {"pairs": 4})
    options = ["--max-symbols", "3", "--max-targets", "1", "--min-gap", "2", "--unlinked-rules", "--threads", "2"]
    done = morphlm_command("translate", "extract", folder / "b", folder / "in", "--folder", folder / "g", *options)
    assert done.status == 0
    assert done.stdout.startswith("4 sentences, ") and done.stdout.endswith("; 2 without any\n")
    config = GrammarConfig(max_symbols=3, max_targets=1, min_gap=2, linked_word=False)
    expected = [rule.to_line() for rule in GrammarExtractor(bitext_of(PAIRS), config).extract(SENTENCES[3])]
    assert [rule.to_line() for rule in read_rules(folder / "g" / "grammar.3.gz")] == expected
    one = morphlm_command("translate", "extract", folder / "b", folder / "in", "--json")
    assert json.loads(one.stderr)["rules"] == len(one.stdout.splitlines())


def test_what_cannot_be_done_is_said(folder: Path, morphlm_command: Command) -> None:
    (folder / "short").write_text("0-0\n")
    (folder / "outside").write_text("0-0\n0-7\n\n\n")
    parts = [folder / name for name in "st"]
    for alignment, what in (("short", "1 line, and the text 4 pairs"), ("outside", "outside:2: the link 0-7")):
        outcome = morphlm_command("translate", "extract", folder / "b", "--from", *parts, folder / alignment)
        assert outcome.status == 2 and what in outcome.stderr and not (folder / "b").exists()
    outcome = morphlm_command(
        "translate", "extract", folder / "b", "--from", folder / "s", folder / "short", folder / "a"
    )
    assert outcome.status == 2 and "has 4 lines" in outcome.stderr and "has 1" in outcome.stderr
    bitext_of(PAIRS).save(folder / "b")
    (folder / "in").write_text("das haus\ndas <unk>\n")
    outcome = morphlm_command("translate", "extract", folder / "b", folder / "in", "--out", folder / "out")
    assert outcome.status == 2 and "in:2: the text contains <unk>" in outcome.stderr and not (folder / "out").exists()
    outcome = morphlm_command(
        "translate", "extract", folder / "b", folder / "in", "--out", folder / "out", "--allow-unk"
    )
    assert outcome.status == 0 and len(read_rules(folder / "out")) > 5
    outcome = morphlm_command("translate", "extract", folder / "no", folder / "in")
    assert outcome.status == 2 and "there is no such model" in outcome.stderr
    outcome = morphlm_command("translate", "extract", folder / "no", "--out", "x", "--folder", "y")
    assert outcome.status == 2 and "give one of them" in outcome.stderr
    outcome = morphlm_command("translate", "extract", folder / "no", "--folder", folder / "in")
    assert outcome.status == 2 and "this is a file" in outcome.stderr
