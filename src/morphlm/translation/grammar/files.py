"""Grammars of many sentences as files: one for each of them in a folder, or all their rules once in one file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from morphlm.errors import ConfigError, InputError
from morphlm.files import atomic_writer, check_can_make, make_folder
from morphlm.modelfile import check_can_hold_model
from morphlm.progress import ProgressOption, notify, reports_progress, with_progress
from morphlm.tables import counted
from morphlm.text.reading import read_blocks, split_tokens
from morphlm.threads import available_cores
from morphlm.translation.alignment.parallel_text import read_parallel
from morphlm.translation.alignment.pharaoh import read_pharaoh
from morphlm.translation.grammar.bitext import Bitext, build_bitext, load_bitext
from morphlm.translation.grammar.config import GrammarConfig
from morphlm.translation.grammar.extraction import GrammarExtractor
from morphlm.translation.grammar.rules import Rule, RuleTable, Symbols, write_rules
from morphlm.vocabulary.corpus import Source


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


@reports_progress
def write_grammars(
    bitext: Bitext | str | Path,
    sentences: str | Path | Iterable[Sequence[str]],
    *,
    out: str | Path | None = None,
    folder: str | Path | None = None,
    config: GrammarConfig | None = None,
    threads: int | None = None,
    allow_unknown: bool = False,
    progress: ProgressOption = None,
) -> Written:
    """Find the rules for tokenised sentences, a file or lists of tokens, and write them as cdec has them.

    They go to one file (`out`, '-' is standard output) or to one file for each sentence in a `folder`. `bitext` is one
    of `make_bitext`, or its directory. The rules do not depend on the number of threads.
    """
    if (out is None) == (folder is None):
        raise ConfigError("rules go to one file (out=) or to one for each sentence (folder=); give one of them")
    if folder is not None:
        check_can_hold_grammars(folder)
    loaded = bitext if isinstance(bitext, Bitext) else load_bitext(bitext)
    tokens = read_sentences(sentences, allow_unknown=allow_unknown) if isinstance(sentences, str | Path) else sentences
    tables = GrammarExtractor(loaded, config).extract_all(tokens, threads or available_cores())
    tables = with_progress(tables, "extracting", unit="sentence")
    return write_each(folder, tables) if folder is not None else write_all(out or "-", tables)


@reports_progress
def make_bitext(
    source: Source,
    target: Source,
    alignment: str | Path,
    directory: str | Path | None = None,
    *,
    allow_unknown: bool = False,
    progress: ProgressOption = None,
) -> Bitext:
    """Aligned text, in which rules are found: two tokenised texts, line by line translations, and their alignment.

    The alignment is a file as `write_pharaoh` writes it. With a `directory`, the result is written there.
    """
    if directory is not None:
        check_can_hold_model(directory)
    text = read_parallel(source, target, allow_unknown=allow_unknown)
    links = read_pharaoh(alignment, text)
    notify(f"sorting the suffixes of {counted(len(text), 'pair')}")
    bitext = build_bitext(text, links, str(alignment))
    if directory is not None:
        bitext.save(Path(directory))
    return bitext


def _new_rules(table: RuleTable, seen: set[Symbols]) -> Iterator[Rule]:
    """The rules of source sides that were not seen before: those of one source side are the same in every sentence."""
    new = set()
    for rule in table:
        if rule.source not in seen:
            new.add(rule.source)
            yield rule
    seen |= new
