"""Text that is prepared while it is read, so that models and commands can be given what people have.

A file whose record says that it was prepared in the same way is taken as it is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, cast

from morphlm.errors import InputError, MorphlmError, located
from morphlm.files import is_file, open_binary
from morphlm.progress import notify
from morphlm.text.preparation import PrepareOptions, read_preparation
from morphlm.text.prepare import prepare_line
from morphlm.text.reading import Block, Marks, Mending, read_blocks, split_tokens
from morphlm.text.wrapping import is_wrapped

BEGINNING_BYTES = 1 << 15  # of a file that is looked at

LOOKED_AT = 100  # lines, to see what was meant


@dataclass(frozen=True, eq=False)
class RawText:
    """Files or lines, and what is to be done to each line; None: its tokens stand between spaces."""

    source: list[Path] | Iterable[str]
    options: PrepareOptions | None
    encoding: str | None = None  # of the files; None: recognised

    @property
    def paths(self) -> list[Path] | None:
        """The files; None for lines."""
        return list(cast(list[Path], self.source)) if is_paths(self.source) else None

    @property
    def raw_paths(self) -> list[Path]:
        """The files that are not on record as prepared in this way."""
        return [path for path in self.paths or [] if not is_prepared(path, self.options)]

    def lines(self, *, allow_unknown: bool = False) -> Iterator[list[str]]:
        """The tokens of every line, where lines are given."""
        for number, line in enumerate(self.source, 1):
            with located("<lines>", number):
                if not isinstance(line, str):
                    raise InputError("the lines before were strings, this is none; give only raw lines, or only tokens")
                tokens = tokens_of(line, self.options, allow_unknown=allow_unknown)
            yield tokens


def is_prepared(path: str | Path, options: PrepareOptions | None) -> bool:
    """Whether a file is on record as prepared in this way."""
    record = read_preparation(path)
    return record is not None and options is not None and record.options.line_steps == options.line_steps


def looks_wrapped(path: str | Path) -> bool:
    """Whether a file begins with hard-wrapped lines; not for a stream, nor for what cannot be read."""
    with contextlib.suppress(MorphlmError, OSError):
        if is_file(path):
            with open_binary(path) as file:
                beginning = file.read(BEGINNING_BYTES).decode(errors="replace")
            return is_wrapped(beginning.splitlines()[:-1])
    return False


def read_raw_blocks(path: str | Path, *, marks: Marks, encoding: str | None = None) -> Iterator[Block]:
    """Blocks of lines as people have them: encoding, line ends and a byte order mark are no reason to refuse a text."""
    return read_blocks(path, marks=marks, mending=Mending(line_ends_only=True), encoding=encoding)


def prepared_lines(block: Block, options: PrepareOptions | None, *, allow_unknown: bool) -> Iterator[list[str]]:
    """The tokens of every line of a block."""
    for number, line in enumerate(block.lines(), block.first_line):
        with located(block.source, number):
            tokens = tokens_of(line, options, allow_unknown=allow_unknown)
        yield tokens


def tokens_of(line: str, options: PrepareOptions | None, *, allow_unknown: bool = False) -> list[str]:
    """The tokens of a line, prepared or as they stand."""
    return split_tokens(line) if options is None else prepare_line(line, options, allow_unknown=allow_unknown)


# ---------------------------------------------------------------- telling apart what a text is given as


def is_paths(source: Any) -> bool:
    """Whether something is a list of files; those are paths, since strings in a list are lines."""
    return isinstance(source, list | tuple) and bool(source) and all(isinstance(item, Path) for item in source)


def split_lines_from_tokens(source: Iterable[Any]) -> tuple[Iterable[Any], bool]:
    """Something to go through like `source`, and whether its items are strings: raw lines, and no lists of tokens."""
    items = iter(source)
    first = next(items, None)
    if isinstance(first, str) and isinstance(source, list | tuple):
        _refuse_file_names(source)
        _warn_of_words(source)
    return (chain([first], items) if items is source and first is not None else source), isinstance(first, str)


def _refuse_file_names(lines: list[Any] | tuple[Any, ...]) -> None:
    """Until 0.1 a list of strings was a list of files; now it would be trained on the names."""
    if len(lines) <= LOOKED_AT and all(isinstance(line, str) and _is_file(line) for line in lines):
        raise InputError(f"{lines[0]} is a file, and strings in a list are raw lines; give files as pathlib.Path")


def _warn_of_words(lines: list[Any] | tuple[Any, ...]) -> None:
    """Each of ["the", "cat"] is a raw sentence, which may not be what was meant."""
    shown = lines[:LOOKED_AT]
    if len(shown) > 1 and all(isinstance(line, str) and len(line.split()) == 1 for line in shown):
        notify(
            f"warning: {shown[0]!r}, {shown[1]!r}, ... are taken as sentences of one word each; a sentence is a string "
            "of words or a list of tokens, and a text a list of sentences"
        )


def _is_file(line: str) -> bool:
    try:
        return "\n" not in line and Path(line).is_file()
    except (OSError, ValueError):
        return False
