"""The lines of a table, checked as all text is, with their numbers for messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from morphlm.text.reading import read_blocks


def numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Number and content of each line of a UTF-8 file; words of a table may look like our own marks."""
    for block in read_blocks(path, marks="any"):
        yield from enumerate(block.lines(), block.first_line)
