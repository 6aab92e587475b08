"""Grammars of many sentences as files: one for each of them in a folder, or all their rules once in one file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from morphlm.errors import InputError
from morphlm.files import atomic_writer, check_can_make, make_folder
from morphlm.tables import counted
from morphlm.text.reading import read_blocks, split_tokens
from morphlm.translation.grammar.rules import Rule, RuleTable, Symbols, write_rules


@dataclass(frozen=True)
class Written:
    """What was written."""

    sentences: int
    rules: int
    without_rules: int  # sentences for which there is none

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def format(self) -> str:
        none = f"; {self.without_rules:,} without any" if self.without_rules else ""
        return f"{counted(self.sentences, 'sentence')}, {counted(self.rules, 'rule')}{none}"


def read_sentences(path: str | Path, *, allow_unknown: bool = False) -> Iterator[list[str]]:
    """The tokens of each line; an empty line is an empty sentence."""
    for block in read_blocks(path, marks="unk" if allow_unknown else "none"):
        yield from map(split_tokens, block.lines())


def grammar_name(number: int) -> str:
    """The file of a sentence; they are numbered from 0."""
    return f"grammar.{number}.gz"


def check_can_hold_grammars(folder: str | Path) -> None:
    """Refuse, before any work is done, a place that cannot be a folder of grammars."""
    check_can_make(folder)
    if Path(folder).exists() and not Path(folder).is_dir():
        raise InputError("this is a file; name a folder for the grammars", source=str(folder))


def write_each(folder: str | Path, tables: Iterable[RuleTable]) -> Written:
    """A compressed file for each sentence; those of an earlier text with more sentences go."""
    directory, sizes = make_folder(folder), list[int]()
    for number, table in enumerate(tables):
        write_rules(directory / grammar_name(number), table)
        sizes.append(len(table))
    number = len(sizes)
    while (directory / grammar_name(number)).is_file():
        (directory / grammar_name(number)).unlink()
        number += 1
    return Written(len(sizes), sum(sizes), sizes.count(0))


def write_all(path: str | Path, tables: Iterable[RuleTable]) -> Written:
    """One file with the rules of all sentences, each once; '-' is standard output."""
    seen: set[Symbols] = set()
    sentences, rules, without = 0, 0, 0
    with atomic_writer(path) as file:
        for table in tables:
            sentences, without = sentences + 1, without + (not len(table))
            for rule in _new_rules(table, seen):
                file.write(f"{rule.to_line()}\n".encode())
                rules += 1
    return Written(sentences, rules, without)


def _new_rules(table: RuleTable, seen: set[Symbols]) -> Iterator[Rule]:
    """The rules of source sides that were not seen before: those of one source side are the same in every sentence."""
    new = set()
    for rule in table:
        if rule.source not in seen:
            new.add(rule.source)
            yield rule
    seen |= new
